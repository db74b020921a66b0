/* brume loss: the privacy-loss variable, of an expression or of two distributions that are typed,
 * or are those of Laplace-log-normal noise on two neighbours.
 *
 * Promises: probabilities of an expression are certified intervals; those of typed distributions,
 * and all means, variances and divergences, are right to some twelve digits. An integral over a
 * line is a sum over the points of a quadrature, whose ends must not count. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/solve/loss.h"
#include "base/error.h"
#include "command/account/account.h"
#include "command/frame/bar_chart.h"
#include "command/frame/call.h"
#include "command/frame/table.h"
#include "mechanism/smooth/smooth_lln.h"

/* A loss variable: of terms, or of two distributions of `count` values. */
typedef struct loss_source loss_source;
struct loss_source {
    const char *title;
    const brume_term *terms;
    double *p, *q;
    size_t count;
    bool quadrature;         /* the values are points of an integral, no atoms */
    bool differ;             /* the two directions do */
    double infinite_mass[2]; /* of each direction */
    brume_status (*moments)(const loss_source *source, bool reversed, double *mean,
                            double *variance, brume_error *error);
    brume_status (*tail)(const loss_source *source, bool reversed, double epsilon, double goal,
                         brume_interval *out, brume_error *error);
    brume_status (*renyi)(const loss_source *source, bool reversed, double order, double *out,
                          brume_error *error);
    /* The least delta at epsilon, where it is known here; or NULL. */
    double (*delta)(const loss_source *source, bool reversed, double epsilon);
};

/* ---- two distributions that are typed ---- */

/* The finite part of ln(p/q) under p, and the mass where q is 0. */
static brume_status typed_moments(const loss_source *source, bool reversed, double *mean,
                                  double *variance, brume_error *error)
{
    const double *p = reversed ? source->q : source->p, *q = reversed ? source->p : source->q;
    double first = 0, second = 0;
    (void)error;
    for (size_t i = 0; i < source->count; i++)
        if (p[i] > 0 && q[i] > 0) {
            double loss = log(p[i]) - log(q[i]);
            first += p[i] * loss;
            second += p[i] * loss * loss;
        } else if (p[i] > 0) {
            first = second = INFINITY;
        }
    *mean = first;
    *variance = isfinite(first) ? fmax(second - first * first, 0) : INFINITY;
    return BRUME_OK;
}

static brume_status typed_tail(const loss_source *source, bool reversed, double epsilon,
                               double goal, brume_interval *out, brume_error *error)
{
    const double *p = reversed ? source->q : source->p, *q = reversed ? source->p : source->q;
    double sum = 0;
    (void)goal;
    (void)error;
    for (size_t i = 0; i < source->count; i++) /* an atom at epsilon itself is not above it */
        if (p[i] > 0 && (!(q[i] > 0) || log(p[i]) - log(q[i]) > epsilon + 1e-12))
            sum += p[i];
    sum = fmin(sum, 1);
    *out = (brume_interval){fmax(sum * (1 - 1e-12), 0), fmin(sum * (1 + 1e-12), 1)};
    return BRUME_OK;
}

/* The logarithm of a term of the divergence's sum; -INFINITY where there is no mass. */
static double log_term(double p, double q, double order)
{
    if (!(p > 0))
        return -INFINITY;
    if (!(q > 0))
        return order > 1 ? INFINITY : -INFINITY;
    return order * log(p) + (1 - order) * log(q);
}

static brume_status typed_renyi(const loss_source *source, bool reversed, double order, double *out,
                                brume_error *error)
{
    const double *p = reversed ? source->q : source->p, *q = reversed ? source->p : source->q;
    double sum = 0, most = -INFINITY, mean, variance;
    size_t last = source->count - 1;
    if (isinf(order) && !source->quadrature) { /* the largest loss */
        *out = 0;
        for (size_t i = 0; i <= last; i++)
            *out = p[i] > 0 ? fmax(*out, q[i] > 0 ? log(p[i]) - log(q[i]) : INFINITY) : *out;
        return BRUME_OK;
    }
    if (isinf(order))
        return brume_fail(error, BRUME_EUNSUPPORTED, "use a finite order",
                          "of '--lln' the largest loss is not computed");
    if (order == 1) {
        BRUME_TRY(typed_moments(source, reversed, &mean, &variance, error));
        *out = mean;
        return BRUME_OK;
    }
    for (size_t i = 0; i <= last; i++)
        most = fmax(most, log_term(p[i], q[i], order));
    if (!isfinite(most)) { /* p has mass where q has none, or nothing is in common */
        *out = INFINITY;
        return BRUME_OK;
    }
    for (size_t i = 0; i <= last; i++)
        sum += exp(log_term(p[i], q[i], order) - most);
    double first_end = log_term(p[0], q[0], order), last_end = log_term(p[last], q[last], order);
    if (source->quadrature && fmax(first_end, last_end) - most > log(1e-13))
        return brume_fail(error, BRUME_EUNSUPPORTED, "use a smaller order or stretch",
                          "the divergence of order %g lies in tails that are not computed", order);
    *out = fmax((most + log(sum)) / (order - 1), 0);
    return BRUME_OK;
}

static brume_status read_distribution(const brume_call *call, const char *option, double **out,
                                      size_t *count, brume_error *error)
{
    char *copy = strdup(brume_call_text(call, option)), *rest = copy, *word;
    size_t room = 1, used = 0;
    for (const char *c = copy; c && *c; c++)
        room += *c == ',';
    double *values = calloc(room, sizeof *values), sum = 0;
    brume_status status = copy && values ? BRUME_OK : brume_no_memory(error, "a distribution");
    while (status == BRUME_OK && (word = strsep(&rest, ","))) {
        status = brume_read_real(word, "a probability", &values[used], error);
        if (status == BRUME_OK && !(values[used] >= 0 && values[used] <= 1))
            status = brume_fail(error, BRUME_EARGUMENT, NULL,
                                "'--%s' has %s, which is no probability", option, word);
        sum += values[used++];
    }
    if (status == BRUME_OK && !(fabs(sum - 1) <= 1e-6))
        status = brume_fail(error, BRUME_EARGUMENT, "write them with enough digits",
                            "the probabilities of '--%s' sum to %.9g, not to 1", option, sum);
    for (size_t i = 0; status == BRUME_OK && i < used; i++)
        values[i] /= sum;
    free(copy);
    if (status != BRUME_OK) {
        free(values);
        return status;
    }
    *out = values;
    *count = used;
    return BRUME_OK;
}

/* delta at epsilon: the mass of p above e^epsilon q. */
static double typed_delta(const loss_source *source, bool reversed, double epsilon)
{
    const double *p = reversed ? source->q : source->p, *q = reversed ? source->p : source->q;
    double sum = 0;
    for (size_t i = 0; i < source->count; i++)
        sum += fmax(p[i] - exp(epsilon) * q[i], 0);
    return fmin(sum, 1);
}

/* What both kinds have once p, q and count are there. */
static void complete(loss_source *source)
{
    source->moments = typed_moments;
    source->tail = typed_tail;
    source->renyi = typed_renyi;
    for (size_t i = 0; i < source->count; i++) {
        source->infinite_mass[0] += source->q[i] > 0 ? 0 : source->p[i];
        source->infinite_mass[1] += source->p[i] > 0 ? 0 : source->q[i];
        source->differ |= source->p[i] != source->q[i];
    }
}

static brume_status open_noise(const brume_call *call, loss_source *source, brume_error *error)
{
    if (brume_call_has(call, "epsilon"))
        return brume_fail(error, BRUME_EARGUMENT,
                          "leave '--epsilon' out, or ask 'brume account' for a mechanism's delta",
                          "of '--lln' moments and divergences are computed, not the tail");
    BRUME_TRY(brume_log_normal_pair(
        brume_call_real(call, "lln", 0), brume_call_real(call, "shift", 0),
        brume_call_real(call, "stretch", 0), &source->p, &source->q, &source->count, error));
    source->quadrature = true;
    complete(source);
    return BRUME_OK;
}

static brume_status open_typed(const brume_call *call, loss_source *source, brume_error *error)
{
    size_t others = 0;
    bool noise = brume_call_has(call, "lln"), typed = brume_call_has(call, "p");
    if (brume_call_operand(call, 0) || typed != brume_call_has(call, "q") || typed == noise)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "give an expression, or both '--p' and '--q', or '--lln'");
    if (!noise && (brume_call_has(call, "shift") || brume_call_has(call, "stretch")))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'--shift' and '--stretch' are for '--lln' only");
    if (noise)
        return open_noise(call, source, error);
    BRUME_TRY(read_distribution(call, "p", &source->p, &source->count, error));
    BRUME_TRY(read_distribution(call, "q", &source->q, &others, error));
    if (others != source->count)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'--p' has %zu values, '--q' has %zu",
                          source->count, others);
    source->delta = typed_delta;
    complete(source);
    return BRUME_OK;
}

/* ---- the picture ---- */

enum { POINTS = 80 };

typedef struct lines {
    double x[POINTS], y[POINTS];
} lines;

/* Where most of the loss lies, of both directions. */
static brume_status range(const loss_source *source, double *low, double *high, brume_error *error)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (int reversed = 0; reversed <= source->differ; reversed++) {
        double mean, variance;
        BRUME_TRY(source->moments(source, reversed, &mean, &variance, error));
        if (!isfinite(mean) || !isfinite(variance))
            mean = variance = 1;
        *low = fmin(*low, mean - 4 * sqrt(variance));
        *high = fmax(*high, mean + 4 * sqrt(variance));
    }
    if (!(*high - *low > 1e-9)) {
        *low -= .5;
        *high += .5;
    }
    return BRUME_OK;
}

static brume_status trace_tail(const loss_source *source, bool reversed, double low, double high,
                               lines *out, brume_error *error)
{
    for (int i = 0; i < POINTS; i++) {
        brume_interval p;
        out->x[i] = low + (high - low) * (i + .37) / POINTS; /* not on atoms, most often */
        BRUME_TRY(source->tail(source, reversed, out->x[i], 1e-2, &p, error));
        out->y[i] = (p.lower + p.upper) / 2;
    }
    return BRUME_OK;
}

static brume_status trace_renyi(const loss_source *source, bool reversed, lines *out, double *most,
                                brume_error *error)
{
    for (int i = 0; i < POINTS; i++) {
        out->x[i] = pow(64, (double)i / (POINTS - 1)); /* orders 1 to 64 */
        BRUME_TRY(source->renyi(source, reversed, out->x[i], &out->y[i], error));
        if (isfinite(out->y[i]))
            *most = fmax(*most, out->y[i]);
    }
    return BRUME_OK;
}

static brume_status picture(FILE *file, const loss_source *source, brume_error *error)
{
    static const char *const names[] = {"P against Q", "Q against P"};
    lines tails[2], curves[2];
    int directions = source->differ ? 2 : 1;
    double low, high, most = 1e-9;
    BRUME_TRY(range(source, &low, &high, error));
    for (int i = 0; i < directions; i++) {
        BRUME_TRY(trace_tail(source, i, low, high, &tails[i], error));
        BRUME_TRY(trace_renyi(source, i, &curves[i], &most, error));
    }
    const brume_panel panels[2] = {
        {76, 56, 370, 300, {"epsilon", low, high, false}, {"P[L > epsilon]", 0, 1, false}},
        {536, 56, 300, 300, {"order", 1, 64, true}, {"divergence", 0, most * 1.02, false}},
    };
    brume_svg_begin(file, 872, 470, source->title);
    brume_svg_panel(file, &panels[0], "tail of the privacy loss");
    brume_svg_panel(file, &panels[1], "Renyi divergence");
    for (int i = 0; i < directions; i++) {
        brume_svg_line(file, &panels[0], i, tails[i].x, tails[i].y, POINTS);
        brume_svg_line(file, &panels[1], i, curves[i].x, curves[i].y, POINTS);
        brume_svg_legend(file, 76, 420 + 20 * i, i, source->differ ? names[i] : source->title);
    }
    brume_svg_end(file);
    return BRUME_OK;
}

static brume_status plot_loss(const char *path, const loss_source *source, brume_error *error)
{
    FILE *file;
    BRUME_TRY(brume_svg_open(path, &file, error));
    return brume_svg_close(file, path, picture(file, source, error), error);
}

/* ---- the command ---- */

static const double standard_orders[] = {1, 2, 4, 8, 16, 32};
enum { STANDARD = sizeof standard_orders / sizeof *standard_orders };

/* ---- an expression ---- */

static brume_status term_moments(const loss_source *source, bool reversed, double *mean,
                                 double *variance, brume_error *error)
{
    return brume_loss_moments(source->terms, source->count, reversed, mean, variance, error);
}

static brume_status term_tail(const loss_source *source, bool reversed, double epsilon, double goal,
                              brume_interval *out, brume_error *error)
{
    return brume_loss_tail(source->terms, source->count, reversed, epsilon, goal, out, error);
}

static brume_status term_renyi(const loss_source *source, bool reversed, double order, double *out,
                               brume_error *error)
{
    return brume_loss_renyi(source->terms, source->count, reversed, order, out, error);
}

/* ---- the answer ---- */

static const double largest_order = 1e6; /* but for infinity */

static brume_status order_at(const brume_call *call, size_t i, double *order, brume_error *error)
{
    *order = standard_orders[i < STANDARD ? i : 0];
    if (!brume_call_has(call, "order"))
        return BRUME_OK;
    const char *text = brume_call_text_at(call, "order", i);
    if (strcmp(text, "inf") == 0)
        *order = INFINITY;
    else
        BRUME_TRY(brume_read_real(text, "--order", order, error));
    if (!(*order > 0) || (*order > largest_order && isfinite(*order)))
        return brume_fail(error, BRUME_EARGUMENT, "inf is the largest loss",
                          "'--order' is '%.100s', must be above 0 and at most 1e6, or inf", text);
    return BRUME_OK;
}

static size_t order_count(const brume_call *call)
{
    return brume_call_has(call, "order") ? brume_call_times(call, "order") : STANDARD;
}

static brume_status one_direction(const brume_call *call, const loss_source *source, bool reversed,
                                  json_t **out, brume_error *error)
{
    double mean, variance;
    json_t *tail = json_array(), *renyi = json_array();
    brume_status status = source->moments(source, reversed, &mean, &variance, error);
    for (size_t i = 0; status == BRUME_OK && i < brume_call_times(call, "epsilon"); i++) {
        brume_interval p;
        double epsilon = strtod(brume_call_text_at(call, "epsilon", i), NULL);
        status = source->tail(source, reversed, epsilon, 1e-9, &p, error);
        if (status != BRUME_OK)
            break;
        json_t *row = json_pack("{s:f,s:f,s:f}", "epsilon", epsilon, "probability_upper", p.upper,
                                "probability_lower", p.lower);
        if (source->delta)
            json_object_set_new(row, "delta", json_real(source->delta(source, reversed, epsilon)));
        json_array_append_new(tail, row);
    }
    for (size_t i = 0; status == BRUME_OK && i < order_count(call); i++) {
        double divergence, order = 1;
        status = order_at(call, i, &order, error);
        if (status == BRUME_OK)
            status = source->renyi(source, reversed, order, &divergence, error);
        if (status == BRUME_OK)
            json_array_append_new(renyi,
                                  json_pack("{s:o,s:o,s:o}", "order", brume_json_real(order),
                                            "divergence", brume_json_real(divergence),
                                            "risk_multiplier", brume_json_real(exp(divergence))));
    }
    if (status == BRUME_OK)
        *out = json_pack("{s:o,s:o,s:O,s:O,s:f}", "mean", brume_json_real(mean), "variance",
                         brume_json_real(variance), "tail", tail, "renyi", renyi, "infinite_mass",
                         source->infinite_mass[reversed]);
    json_decref(tail);
    json_decref(renyi);
    return status == BRUME_OK && !*out ? brume_no_memory(error, "an answer") : status;
}

static const char *real_text(const json_t *value, brume_number_text *room)
{
    if (!json_is_number(value))
        return "infinite";
    *room = brume_shortest(json_number_value(value));
    return room->text;
}

static void print_direction(brume_call *call, const json_t *one, const char *title)
{
    brume_number_text a, b, c;
    const json_t *tail = json_object_get(one, "tail"), *renyi = json_object_get(one, "renyi");
    fprintf(call->out, "%s%s%s\n", brume_bold(call), title, brume_plain(call));
    fprintf(call->out, "  mean %s, variance %s\n", real_text(json_object_get(one, "mean"), &a),
            real_text(json_object_get(one, "variance"), &b));
    if (json_number_value(json_object_get(one, "infinite_mass")) > 0)
        fprintf(call->out, "  infinite with probability %s\n",
                real_text(json_object_get(one, "infinite_mass"), &a));
    for (size_t i = 0; i < json_array_size(tail); i++) {
        const json_t *row = json_array_get(tail, i);
        fprintf(call->out, "  P[L > %s] is from %s to %s",
                real_text(json_object_get(row, "epsilon"), &a),
                real_text(json_object_get(row, "probability_lower"), &b),
                real_text(json_object_get(row, "probability_upper"), &c));
        if (json_object_get(row, "delta"))
            fprintf(call->out, "; delta(%s) = %s", a.text,
                    real_text(json_object_get(row, "delta"), &b));
        fputc('\n', call->out);
    }
    for (size_t i = 0; i < json_array_size(renyi); i++) {
        const json_t *row = json_array_get(renyi, i);
        const json_t *order = json_object_get(row, "order");
        fprintf(call->out, "  Renyi divergence of order %s: %s, risk multiplier %s\n",
                json_is_null(order) ? "infinity" : real_text(order, &a),
                real_text(json_object_get(row, "divergence"), &b),
                real_text(json_object_get(row, "risk_multiplier"), &c));
    }
}

static brume_status answer(brume_call *call, const loss_source *source, brume_error *error)
{
    json_t *forward = NULL, *reverse = NULL;
    const char *plot = brume_call_text(call, "plot");
    brume_status status = one_direction(call, source, false, &forward, error);
    if (status == BRUME_OK && source->differ)
        status = one_direction(call, source, true, &reverse, error);
    if (status == BRUME_OK && plot)
        status = plot_loss(plot, source, error);
    if (status == BRUME_OK && !call->json) {
        bool typed = source->p != NULL;
        print_direction(call, forward,
                        !source->differ ? "the privacy loss L, in both directions"
                        : typed         ? "L = ln(P/Q) under P"
                                        : "the privacy loss L of a record removed");
        if (reverse)
            print_direction(call, reverse, typed ? "L = ln(Q/P) under Q" : "and of a record added");
    } else if (status == BRUME_OK) {
        if (reverse)
            json_object_set(forward, "reverse", reverse);
        status = brume_call_write_json(call, json_incref(forward), error);
    }
    json_decref(forward);
    json_decref(reverse);
    return status;
}

static brume_status run_expression(brume_call *call, loss_source *source, brume_error *error)
{
    brume_expression expression;
    brume_term *terms = NULL;
    static const char *const others[] = {"p", "q", "lln", "shift", "stretch"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (brume_call_has(call, others[i])) /* which refuses them together with an expression */
            return open_typed(call, source, error);
    BRUME_TRY(brume_call_expression(call, &expression, error));
    brume_status status = brume_account_terms(expression.events, expression.count, 1,
                                              BRUME_METHOD_AUTO, &terms, error);
    size_t count = expression.count;
    brume_expression_free(&expression);
    if (status != BRUME_OK)
        return status;
    *source = (loss_source){.title = brume_call_operand(call, 0),
                            .terms = terms,
                            .count = count,
                            .moments = term_moments,
                            .tail = term_tail,
                            .renyi = term_renyi};
    status = brume_loss_look(terms, count, &source->differ, &source->infinite_mass[0], error);
    source->infinite_mass[1] = source->infinite_mass[0];
    if (status == BRUME_OK)
        status = answer(call, source, error);
    free(terms);
    return status;
}

static brume_status run(brume_call *call, brume_error *error)
{
    loss_source source = {.title = "two distributions"};
    if (brume_call_operand(call, 0))
        return run_expression(call, &source, error);
    brume_status status = open_typed(call, &source, error);
    if (status == BRUME_OK)
        status = answer(call, &source, error);
    free(source.p);
    free(source.q);
    return status;
}

const brume_command brume_command_loss = {
    .name = "loss",
    .summary = "the privacy-loss variable: mean, variance, tail, Renyi divergences",
    .usage = "(EXPR | --p P1,P2,... --q Q1,Q2,... | --lln SIGMA) [OPTION...]",
    .description =
        "The privacy loss of an output y is L = ln(P(y)/Q(y)), P and Q the laws of the output on two "
        "neighbouring databases; as y is drawn from P it is a random variable, and losses of "
        "independent releases add. If P[L > epsilon] <= delta in both directions, the releases are "
        "(epsilon, delta)-DP; 'brume account' has the exact delta, which is smaller.\n\n"
        "For an expression P and Q are the pair that dominates all neighbours. The probability is "
        "certified to lie between the two ends. Where the two directions differ (sampling; typed "
        "distributions) both are shown; with --json the other one is 'reverse'. A probability of "
        "failure is mass at infinity; mean, variance and divergences are of the rest.\n\n"
        "An output multiplies an adversary's odds between the two databases by e^L. The risk "
        "multiplier of order a is the mean of that factor, (E e^((a-1)L))^(1/(a-1)), which is e to "
        "the divergence; post-processing and composition bound it as they bound the divergence.\n\n"
        "For typed distributions delta(E) is the least delta with which P is within e^E of Q. With "
        "--lln the two laws are those that noise scaled to smooth sensitivity has on neighbours, in "
        "units of its scale (proofs/smooth_noise.md).\n\n"
        "The divergence of order 1 is the mean, the Kullback-Leibler divergence, that of order inf "
        "the largest loss, which is the pure epsilon. It grows with the order; of an order a below 1 "
        "it is a/(1-a) times the one of order 1-a the other way round. What is infinite is null in "
        "JSON.",
    BRUME_OPERANDS(BRUME_OPERAND(EXPRESSION, "EXPR", "releases, such as laplace(scale=10)*5",
                                 .optional = true)),
    BRUME_OPTIONS(
        BRUME_OPTION(REAL, "epsilon", "E", "the tail P[L > E]", .repeated = true),
        BRUME_OPTION(
            TEXT, "order", "A|inf",
            "the Renyi divergence of this order, above 0; inf: the largest loss; 1, 2, 4 ... 32 "
            "unless typed",
            .repeated = true),
        BRUME_OPTION(TEXT, "p", "P1,P2,...", "a distribution, in place of an expression"),
        BRUME_OPTION(TEXT, "q", "Q1,Q2,...", "and another"),
        BRUME_OPTION(
            REAL, "lln", "SIGMA",
            "in place of an expression: P is the law of Laplace-log-normal noise Z, Q that of "
            "U + e^T Z",
            BRUME_FROM_TO(0.05, 2)),
        BRUME_OPTION(REAL, "shift", "U", "U, 0 unless typed", BRUME_FROM_TO(-100, 100)),
        BRUME_OPTION(REAL, "stretch", "T", "T, 0 unless typed", BRUME_FROM_TO(-10, 10)),
        BRUME_OPTION(FILE, "plot", "FILE.svg",
                     "draw the tail of the loss and its divergences, in both directions"),
        BRUME_ADJACENCY_OPTION),
    BRUME_EXAMPLES(
        "loss 'gaussian(sigma=2)*10' --epsilon 1 --epsilon 3",
        "loss 'poisson(rate=0.1, gaussian(sigma=1))' --order 2 --json",
        "loss --p 0.5,0.5 --q 0.3333333333,0.6666666667 --order 0.5 --order 2 --order inf",
        "loss --lln 0.5 --shift 0.5 --stretch 0.1 --order 2"),
    .run = run,
};
