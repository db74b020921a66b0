/* brume calibrate: how much noise a target needs. */
#include "command/account/releases.h"

#include <math.h>
#include <string.h>

#include <brume/noise/gaussian.h>
#include <brume/mechanism/mechanism.h>

#include "command/frame/table.h"

static brume_status solve(brume_call *call, brume_expression *expression, brume_calibration *result,
                          brume_error *error)
{
    double delta = brume_call_real(call, "delta", 0);
    if (brume_call_has(call, "epsilon"))
        return brume_calibrate(expression, brume_call_real(call, "epsilon", 0), delta, result,
                               error);
    return brume_calibrate_accuracy(expression, brume_call_real(call, "alpha", 0),
                                    brume_call_real(call, "beta", 0), delta, result, error);
}

static brume_status show(brume_call *call, const brume_expression *expression,
                         const brume_calibration *result, brume_error *error)
{
    const char *name = expression->unknown.parameter->name;
    char term[400];
    BRUME_TRY(brume_event_write(&expression->events[expression->unknown.event], term, sizeof term,
                                error));
    if (call->json) {
        json_t *object = json_pack("{s:s, s:o, s:o, s:o, s:s, s:s}", "parameter", name, "value",
                                   brume_json_real(result->value), "epsilon_upper",
                                   brume_json_real(result->epsilon_upper), "delta",
                                   brume_json_real(result->delta), "term", term, "adjacency",
                                   brume_call_adjacency_word(call));
        if (object && result->whole != 0)
            json_object_set_new(object, "choice",
                                json_string(result->whole > 0 ? "largest" : "smallest"));
        if (object && result->everywhere)
            json_object_set_new(object, "everywhere", json_true());
        if (object && isinf(result->epsilon_upper))
            json_object_set_new(object, "infinite", json_true());
        if (object && brume_call_has(call, "alpha")) {
            json_object_set_new(object, "alpha",
                                brume_json_real(brume_call_real(call, "alpha", 0)));
            json_object_set_new(object, "beta", brume_json_real(brume_call_real(call, "beta", 0)));
        }
        return brume_call_write_json(call, object, error);
    }
    fprintf(call->out, "%s%s = %s%s%s\n", brume_bold(call), name,
            brume_shortest(result->value).text, brume_plain(call),
            result->everywhere && result->whole > 0
                ? ", where the search ends: every value up to it meets the target"
            : result->everywhere ? ", the end of its range: every value meets the target"
            : result->whole > 0  ? ", the largest that meets the target"
            : result->whole < 0  ? ", the smallest that meets the target"
                                 : "");
    fprintf(call->out, "epsilon <= %s at delta = %s, %s\n",
            isinf(result->epsilon_upper) ? "infinity" : brume_shortest(result->epsilon_upper).text,
            brume_shortest(result->delta).text, brume_call_adjacency_word(call));
    fprintf(call->out, "%s%s%s\n", brume_dim(call), term, brume_plain(call));
    return BRUME_OK;
}

/* The classical formula for one Gaussian release, proven for epsilon <= 1. */
static brume_status classical(const brume_call *call, const brume_expression *expression,
                              double *sigma, char *why, size_t size)
{
    const brume_event *event = &expression->events[expression->unknown.event];
    brume_error error = {0};
    bool fits = expression->count == 1 && event->count == 1 && brume_call_has(call, "epsilon") &&
                strcmp(brume_card_by_id(event->mechanism)->name, "gaussian") == 0 &&
                strcmp(expression->unknown.parameter->name, "sigma") == 0;
    if (!fits) {
        snprintf(why, size, "for sigma of one gaussian release only");
        return BRUME_EUNSUPPORTED;
    }
    brume_status status = brume_gaussian_sigma_classical(brume_call_real(call, "epsilon", 0),
                                                         brume_call_real(call, "delta", 0),
                                                         event->sensitivity, sigma, &error);
    snprintf(why, size, "%s", error.message);
    return status;
}

/* The certified value beside the textbook's. */
static brume_status show_all(brume_call *call, const brume_expression *expression,
                             const brume_calibration *result, brume_error *error)
{
    static const char *const columns[] = {"method", ">value", "~how", NULL};
    static const char how[] = "the least that is certified", text[] = "sqrt(2 ln(1.25/delta)) "
                                                                      "times sensitivity/epsilon";
    char why[480] = "";
    double sigma = NAN;
    bool applies = classical(call, expression, &sigma, why, sizeof why) == BRUME_OK;
    if (call->json)
        return brume_call_write_json(
            call,
            json_pack("{s:s, s:o, s:o, s:[{s:s, s:o, s:s}, {s:s, s:o, s:s}]}", "parameter",
                      expression->unknown.parameter->name, "value", brume_json_real(result->value),
                      "epsilon_upper", brume_json_real(result->epsilon_upper), "methods", "method",
                      "certified", "value", brume_json_real(result->value), "how", how, "method",
                      "classical", "value", brume_json_real(applies ? sigma : NAN), "how",
                      applies ? text : why),
            error);
    brume_table *table = brume_table_open(columns);
    brume_table_cell(table, "certified");
    brume_table_cell(table, "%s", brume_shortest(result->value).text);
    brume_table_cell(table, "%s", how);
    brume_table_cell(table, "classical");
    brume_table_cell(table, "%s", applies ? brume_shortest(sigma).text : "-");
    brume_table_cell(table, "%s", applies ? text : why);
    return brume_table_write(table, call, error);
}

static brume_status run(brume_call *call, brume_error *error)
{
    BRUME_TRY(brume_call_one_of(call, "epsilon", "alpha", error));
    if (brume_call_has(call, "alpha") != brume_call_has(call, "beta"))
        return brume_fail(error, BRUME_EARGUMENT, "P[error >= alpha] <= beta",
                          "'--alpha' and '--beta' go together");
    brume_expression expression;
    brume_calibration result;
    BRUME_TRY(brume_call_expression(call, &expression, error));
    brume_status status = solve(call, &expression, &result, error);
    if (status == BRUME_OK)
        status = (brume_call_has(call, "all") ? show_all : show)(call, &expression, &result, error);
    brume_expression_free(&expression);
    return status;
}

const brume_command brume_command_calibrate = {
    .name = "calibrate",
    .summary = "find the noise that meets a target",
    .description =
        "Exactly one parameter of the expression, or the count of a term, is written ?. The answer "
        "is the value with the "
        "least noise for which the certified cost of all releases together meets the target; it "
        "errs to more noise, by at most a billionth where every term has "
        "a loss law (bounds by moments may jump). With --alpha and --beta it is the value with "
        "the most noise whose error still meets them, and what that costs.",
    .usage = "EXPR (--epsilon E | --alpha A --beta B) [--delta D] [--adjacency A]",
    BRUME_OPERANDS(BRUME_OPERAND(
        EXPRESSION, "EXPR", "releases with one parameter written ?, e.g. 'gaussian(sigma=?)*100'")),
    BRUME_OPTIONS(
        BRUME_POSITIVE_OPTION("epsilon", "E",
                              "the least noise for which all of it is (E, D)-private"),
        BRUME_DELTA_OPTION("0 unless given"),
        BRUME_POSITIVE_OPTION("alpha", "A",
                              "instead of epsilon: the most noise that errs by A or more ..."),
        BRUME_PROBABILITY_OPTION("beta", "B", "... with probability at most B"),
        BRUME_FLAG("all", "the textbook's value beside it"), BRUME_ADJACENCY_OPTION),
    BRUME_EXAMPLES(
        "calibrate 'gaussian(sigma=?)*100 + laplace(scale=100)' --epsilon 1 --delta 1e-6",
        "calibrate 'laplace(scale=?)' --epsilon 0.5 --json",
        "calibrate 'laplace(scale=?)' --alpha 10 --beta 0.05",
        "calibrate 'laplace(scale=100)*?' --epsilon 1 --delta 1e-6",
        "calibrate 'gaussian(sigma=?)' --epsilon 1 --delta 1e-5 --all"),
    .run = run,
};
