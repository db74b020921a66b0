/* brume loss: the privacy-loss variable, of an expression or of two distributions that are typed.
 *
 * Promises: probabilities of an expression are certified intervals; those of typed distributions,
 * and all means, variances and divergences, are right to some twelve digits. */
#include "command/account/loss.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/solve/loss.h"
#include "command/account/releases.h"
#include "command/frame/table.h"

static const double standard_orders[] = {1, 2, 4, 8, 16, 32};
enum { STANDARD = sizeof standard_orders / sizeof *standard_orders };

/* ---- an expression ---- */

static brume_status term_moments(const brume_loss_source *source, bool reversed, double *mean,
                                 double *variance, brume_error *error)
{
    return brume_loss_moments(source->terms, source->count, reversed, mean, variance, error);
}

static brume_status term_tail(const brume_loss_source *source, bool reversed, double epsilon,
                              double goal, brume_interval *out, brume_error *error)
{
    return brume_loss_tail(source->terms, source->count, reversed, epsilon, goal, out, error);
}

static brume_status term_renyi(const brume_loss_source *source, bool reversed, double order,
                               double *out, brume_error *error)
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

static brume_status one_direction(const brume_call *call, const brume_loss_source *source,
                                  bool reversed, json_t **out, brume_error *error)
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

static brume_status answer(brume_call *call, const brume_loss_source *source, brume_error *error)
{
    json_t *forward = NULL, *reverse = NULL;
    const char *plot = brume_call_text(call, "plot");
    brume_status status = one_direction(call, source, false, &forward, error);
    if (status == BRUME_OK && source->differ)
        status = one_direction(call, source, true, &reverse, error);
    if (status == BRUME_OK && plot)
        status = brume_plot_loss(plot, source, error);
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

static brume_status run_expression(brume_call *call, brume_loss_source *source, brume_error *error)
{
    brume_expression expression;
    brume_term *terms = NULL;
    static const char *const others[] = {"p", "q", "lln", "shift", "stretch"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (brume_call_has(call, others[i])) /* which refuses them together with an expression */
            return brume_loss_open_typed(call, source, error);
    BRUME_TRY(brume_call_expression(call, &expression, error));
    brume_status status = brume_account_terms(expression.events, expression.count, 1,
                                              BRUME_METHOD_AUTO, &terms, error);
    size_t count = expression.count;
    brume_expression_free(&expression);
    if (status != BRUME_OK)
        return status;
    *source = (brume_loss_source){.title = brume_call_operand(call, 0),
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
    brume_loss_source source = {.title = "two distributions"};
    if (brume_call_operand(call, 0))
        return run_expression(call, &source, error);
    brume_status status = brume_loss_open_typed(call, &source, error);
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
