/* brume accuracy: how far off a release may be, and how likely. */
#include "command/command.h"

#include <brume/mechanism/expression.h>
#include <brume/mechanism/mechanism.h>

#include "command/frame/bar_chart.h"
#include "command/mechanism/term.h"

/* How far the mean of n records, each within `range`, is from the population's, with probability
 * 0.95: Hoeffding's range sqrt(ln(2/0.05)/(2n)), rounded up. NaN: not asked. */
static double sampling_error(const brume_call *call)
{
    if (!brume_call_has(call, "population"))
        return NAN;
    double n = (double)brume_call_count(call, "population", 1);
    return brume_call_real(call, "range", 1) * sqrt(log(40) / (2 * n)) * (1 + 0x1p-48);
}

/* ---- the picture ---- */

enum { POINTS = 120, BESIDE = 5 };

/* Where the least likely error shown lies. */
static brume_status widest(const brume_event *events, size_t count, double *most,
                           brume_error *error)
{
    *most = 0;
    for (size_t i = 0; i < count; i++) {
        double alpha;
        BRUME_TRY(brume_event_alpha(&events[i], 1e-6, &alpha, error));
        if (isfinite(alpha))
            *most = fmax(*most, alpha);
    }
    *most = *most > 0 ? *most : 1;
    return BRUME_OK;
}

static brume_status draw(FILE *file, const brume_event *events, size_t count, double most,
                         brume_error *error)
{
    const brume_panel panel = {
        76, 56, 420, 300, {"error", 0, most, false}, {"P[error >= x]", 1e-6, 1, true}};
    brume_svg_begin(file, 540, 420 + 20 * (double)count, "how likely errors are");
    brume_svg_panel(file, &panel, "tail of the error");
    for (size_t i = 0; i < count; i++) {
        double x[POINTS], y[POINTS];
        char text[300];
        for (int j = 0; j < POINTS; j++) {
            x[j] = most * j / (POINTS - 1);
            BRUME_TRY(brume_event_beta(&events[i], x[j], &y[j], error));
        }
        brume_svg_line(file, &panel, (int)i, x, y, POINTS);
        BRUME_TRY(brume_event_write(&events[i], text, sizeof text, error));
        brume_svg_legend(file, 76, 410 + 20 * (double)i, (int)i, text);
    }
    brume_svg_end(file);
    return BRUME_OK;
}

/* The operand and every --beside in one picture. */
static brume_status plot(const brume_call *call, const brume_event *event, brume_error *error)
{
    brume_event events[1 + BESIDE] = {*event};
    size_t count = 1;
    for (size_t i = 0; i < brume_call_times(call, "beside"); i++) {
        if (count > BESIDE)
            return brume_fail(error, BRUME_EARGUMENT, NULL, "more than %d '--beside'", (int)BESIDE);
        BRUME_TRY(
            brume_read_term(call, brume_call_text_at(call, "beside", i), &events[count++], error));
    }
    double most;
    BRUME_TRY(widest(events, count, &most, error));
    const char *path = brume_call_text(call, "plot");
    FILE *file;
    BRUME_TRY(brume_svg_open(path, &file, error));
    return brume_svg_close(file, path, draw(file, events, count, most, error), error);
}

static brume_status run(brume_call *call, brume_error *error)
{
    brume_event event;
    BRUME_TRY(brume_call_one_of(call, "beta", "alpha", error));
    BRUME_TRY(brume_call_term(call, &event, error));
    double alpha = brume_call_real(call, "alpha", 0), beta = brume_call_real(call, "beta", 0);
    if (brume_call_has(call, "beta"))
        BRUME_TRY(brume_event_alpha(&event, beta, &alpha, error));
    else
        BRUME_TRY(brume_event_beta(&event, alpha, &beta, error));
    if (brume_call_has(call, "beside") && !brume_call_has(call, "plot"))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'--beside' goes with '--plot'");
    if (brume_call_has(call, "range") && !brume_call_has(call, "population"))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'--range' goes with '--population'");
    if (brume_call_has(call, "plot"))
        BRUME_TRY(plot(call, &event, error));
    double sampling = sampling_error(call);
    const char *statement = brume_card_by_id(event.mechanism)->accuracy;
    if (call->json) {
        json_t *answer = json_pack("{s:o, s:o, s:s?}", "alpha", brume_json_real(alpha), "beta",
                                   brume_json_real(beta), "statement", statement);
        if (answer && isinf(alpha))
            json_object_set_new(answer, "infinite", json_true());
        if (answer && !isnan(sampling))
            json_object_set_new(answer, "sampling_error_95", brume_json_real(sampling));
        return brume_call_write_json(call, answer, error);
    }
    fprintf(call->out, "P[error >= %s] <= %s\n", brume_shortest(alpha).text,
            brume_shortest(beta).text);
    if (statement)
        fprintf(call->out, "%serror: %s%s\n", brume_dim(call), statement, brume_plain(call));
    if (!isnan(sampling))
        fprintf(call->out,
                "sampling: a mean of so many records is within %s of the population's with "
                "probability 0.95, and that error is beside the noise\n",
                brume_shortest(sampling).text);
    return BRUME_OK;
}

const brume_command brume_command_accuracy = {
    .name = "accuracy",
    .summary = "say how far off one release may be, and how likely",
    .usage = "EXPR (--beta B | --alpha A) [OPTION...]",
    .description = "Prints alpha and beta with P[error >= alpha] <= beta for one release of the "
                   "mechanism. Both are upper bounds: rounding never makes the mechanism look "
                   "more accurate than it is. What counts as the error is said with the answer.\n\n"
                   "It is the error against the answer without noise on the same data. With "
                   "--population the error of that answer against the population comes beside it: "
                   "the records are then taken for independent draws from it.",
    BRUME_OPERANDS(BRUME_OPERAND(EXPRESSION, "EXPR",
                                 "one mechanism with its parameters, e.g. 'laplace(scale=10)'")),
    BRUME_OPTIONS(
        BRUME_PROBABILITY_OPTION("beta", "B",
                                 "find the error that is reached with probability at most B"),
        BRUME_OPTION(REAL, "alpha", "A", "find how likely an error of A or more is",
                     BRUME_FROM_TO(0, INFINITY)),
        BRUME_OPTION(COUNT, "population", "N",
                     "of a mean or share of N records: also how far it is from the population's",
                     BRUME_FROM_TO(1, 0x1p53)),
        BRUME_POSITIVE_OPTION("range", "R", "the records lie within a range of R: 1 unless given"),
        BRUME_OPTION(FILE, "plot", "FILE.svg", "draw how likely errors are"),
        BRUME_OPTION(TEXT, "beside", "EXPR", "another mechanism in the same picture",
                     .repeated = true)),
    BRUME_EXAMPLES(
        "accuracy 'laplace(scale=1)' --beta 0.05", "accuracy 'gaussian(sigma=2)' --alpha 5 --json",
        "accuracy 'laplace(scale=1e-6)' --beta 0.05 --population 1000000",
        "accuracy 'gaussian(sigma=1)' --beta 0.05 --plot noise.svg --beside 'laplace(scale=0.70710678)'"),
    .run = run,
};
