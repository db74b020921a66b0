/* brume account: what releases cost together. */
#include "command/account/releases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/renyi/renyi.h"
#include "command/account/curves.h"
#include "command/frame/table.h"
#include "command/frame/wrap.h"

/* One question about one list of terms: epsilon at a delta, or delta at an epsilon. */
typedef struct question {
    const brume_term *terms;
    size_t count;
    bool of_delta; /* delta is given, epsilon is asked */
    double at;
} question;

static brume_status ask(const question *q, brume_method method, brume_bound *bound,
                        brume_error *error)
{
    if (q->of_delta)
        return brume_account_epsilon(method, q->terms, q->count, q->at, bound, error);
    return brume_account_delta(method, q->terms, q->count, q->at, bound, error);
}

static const char *asked(const question *q)
{
    return q->of_delta ? "epsilon" : "delta";
}

/* --------------------------------------------------------------------------- one answer */

/* At which order the Renyi curves gave it; 0: they did not. */
static double order_of(const question *q, const brume_bound *bound)
{
    brume_term_list list = {q->terms, q->count};
    brume_curve curve = brume_renyi_total(&list);
    double pass = 1; /* the probability that nothing fails, about */
    for (size_t i = 0; i < q->count; i++)
        pass *= pow(1 - q->terms[i].cost.delta_failure, (double)q->terms[i].count);
    double given = q->of_delta ? (q->at - (1 - pass)) / pass : q->at;
    if (bound->method != BRUME_METHOD_RDP || bound->infinite || (q->of_delta && !(given > 0)))
        return 0;
    double order = brume_renyi_best_order(&curve, given, q->of_delta);
    return order < 1e9 ? order : 0; /* beyond it the pure epsilon is the bound */
}

static json_t *answer_object(const question *q, const brume_call *call, const brume_bound *bound)
{
    json_t *upper = brume_json_real(bound->upper);
    json_t *lower = bound->has_lower ? brume_json_real(bound->lower) : json_null();
    json_t *object = json_pack(
        "{s:o, s:o, s:o, s:s, s:s, s:s}", q->of_delta ? "epsilon_upper" : "delta_upper", upper,
        q->of_delta ? "epsilon_lower" : "delta_lower", lower, q->of_delta ? "delta" : "epsilon",
        brume_json_real(q->at), "method", brume_method_word(bound->method), "route", bound->route,
        "adjacency", brume_call_adjacency_word(call));
    if (object && bound->infinite)
        json_object_set_new(object, "infinite", json_true());
    if (object && order_of(q, bound) > 0)
        json_object_set_new(object, "order", brume_json_real(order_of(q, bound)));
    return object;
}

/* Infinite because no epsilon is large enough, or because its bound has left the doubles? */
static const char *why_infinite(const question *q)
{
    if (!(q->at > 0))
        return "at delta = 0 only pure epsilons without failure add up";
    for (size_t i = 0; i < q->count; i++)
        if (q->terms[i].cost.delta_failure > 0)
            return "delta does not exceed the probability that a release fails";
    return "the bound is above the largest number there is here, about 1.8e308";
}

static void print_answer(const question *q, brume_call *call, const brume_bound *bound)
{
    FILE *out = call->out;
    fprintf(out, "%s%s <= %s%s", brume_bold(call), asked(q),
            bound->infinite ? "infinity" : brume_shortest(bound->upper).text, brume_plain(call));
    fprintf(out, "  at %s = %s, %s\n", q->of_delta ? "delta" : "epsilon",
            brume_shortest(q->at).text, brume_call_adjacency_word(call));
    if (bound->infinite)
        fprintf(out, "no finite epsilon: %s\n", why_infinite(q));
    else if (bound->has_lower)
        fprintf(out, "%s >= %s: the truth lies between%s\n", asked(q),
                brume_shortest(bound->lower).text,
                brume_call_has(call, "method") ? "" : ", certified");
    fprintf(out, "%smethod: %s (%s", brume_dim(call), brume_method_word(bound->method),
            bound->route);
    if (order_of(q, bound) > 0)
        fprintf(out, ", order %.4g", order_of(q, bound));
    fprintf(out, ")%s\n", brume_plain(call));
}

/* -------------------------------------------------------------------------- side by side */

typedef struct row {
    const char *name, *how;
    double upper, lower;
    bool applies, has_lower;
    char why[480]; /* if it does not apply */
} row;

enum { MOST_ROWS = 16 };

static brume_status all_rows(const question *q, row *rows, size_t *count, brume_error *error)
{
    size_t methods;
    const brume_method_card *cards = brume_methods(&methods);
    *count = 0;
    for (size_t i = 0; i < methods; i++) {
        brume_bound bound;
        brume_error why = {0};
        row *r = &rows[(*count)++];
        *r = (row){.name = cards[i].name, .how = cards[i].summary};
        brume_status status = ask(q, cards[i].method, &bound, &why);
        if (status != BRUME_OK && status != BRUME_EUNSUPPORTED) {
            *error = why;
            return status;
        }
        if (status == BRUME_OK) {
            r->applies = true;
            r->upper = bound.upper;
            r->lower = bound.lower;
            r->has_lower = bound.has_lower;
        } else {
            snprintf(r->why, sizeof r->why, "%s", why.message);
        }
    }
    return BRUME_OK;
}

static int by_tightness(const void *a, const void *b)
{
    const row *x = a, *y = b;
    if (x->applies != y->applies)
        return x->applies ? -1 : 1;
    return x->upper < y->upper ? -1 : x->upper > y->upper;
}

static brume_status print_all(const question *q, brume_call *call, const row *rows, size_t count,
                              const brume_bound *best, brume_error *error)
{
    const char *const columns[] = {"method", q->of_delta ? ">epsilon" : ">delta", ">times best",
                                   "~how", NULL};
    brume_write_sentence(call->out, "%s, at %s = %s, %s", brume_call_operand(call, 0),
                         q->of_delta ? "delta" : "epsilon", brume_shortest(q->at).text,
                         brume_call_adjacency_word(call));
    fputc('\n', call->out);
    brume_table *table = brume_table_open(columns);
    for (size_t i = 0; i < count; i++) {
        brume_table_cell(table, "%s", rows[i].name);
        if (!rows[i].applies) {
            brume_table_cell(table, "-");
            brume_table_cell(table, "-");
            const char *fault = strstr(rows[i].why, "does not apply"); /* its name is in front */
            brume_table_cell(table, "%s", fault ? fault : rows[i].why);
            continue;
        }
        brume_table_cell(table, "%s",
                         isinf(rows[i].upper) ? "infinite"
                                              : brume_digits_up(rows[i].upper, 10).text);
        brume_table_cell(table, best->upper > 0 && isfinite(rows[i].upper) ? "%.4g" : "",
                         rows[i].upper / best->upper);
        brume_table_cell(table, "%s", rows[i].how);
    }
    return brume_table_write(table, call, error);
}

static brume_status show_all(const question *q, brume_call *call, brume_error *error)
{
    row rows[MOST_ROWS];
    size_t count;
    brume_bound best;
    BRUME_TRY(ask(q, BRUME_METHOD_AUTO, &best, error));
    BRUME_TRY(all_rows(q, rows, &count, error));
    qsort(rows, count, sizeof *rows, by_tightness);
    if (!call->json)
        return print_all(q, call, rows, count, &best, error);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *entry = json_pack(
            "{s:s, s:b, s:o, s:o, s:o, s:s}", "method", rows[i].name, "applies", rows[i].applies,
            q->of_delta ? "epsilon_upper" : "delta_upper",
            rows[i].applies ? brume_json_real(rows[i].upper) : json_null(),
            q->of_delta ? "epsilon_lower" : "delta_lower",
            rows[i].has_lower ? brume_json_real(rows[i].lower) : json_null(), "looseness",
            rows[i].applies && best.upper > 0 ? brume_json_real(rows[i].upper / best.upper)
                                              : json_null(),
            "how", rows[i].applies ? rows[i].how : rows[i].why);
        json_array_append_new(list, entry);
    }
    json_t *object = answer_object(q, call, &best);
    if (object)
        json_object_set_new(object, "methods", list);
    else
        json_decref(list);
    return brume_call_write_json(call, object, error);
}

/* ------------------------------------------------------------------------------- command */

static brume_status answer(brume_call *call, const brume_expression *expression, question *q,
                           brume_error *error)
{
    const char *plot = brume_call_text(call, "plot");
    if (plot)
        BRUME_TRY(
            brume_plot_curves(plot, brume_call_operand(call, 0), expression, q->terms, error));
    if (brume_call_has(call, "all"))
        return show_all(q, call, error);
    brume_bound bound;
    BRUME_TRY(ask(q, brume_call_method(call), &bound, error));
    if (call->json)
        return brume_call_write_json(call, answer_object(q, call, &bound), error);
    print_answer(q, call, &bound);
    if (plot)
        fprintf(call->out, "%sprofile and trade-off curve: %s%s\n", brume_dim(call), plot,
                brume_plain(call));
    return BRUME_OK;
}

static brume_status run(brume_call *call, brume_error *error)
{
    BRUME_TRY(brume_call_one_of(call, "delta", "epsilon", error));
    brume_expression expression;
    BRUME_TRY(brume_call_expression(call, &expression, error));
    brume_status status = BRUME_OK;
    if (expression.has_unknown)
        status = brume_fail(error, BRUME_EARGUMENT, "brume calibrate finds it",
                            "'%s' is not known: account needs every parameter",
                            expression.unknown.parameter->name);
    brume_term *terms = NULL;
    brume_method method = brume_call_has(call, "all") ? BRUME_METHOD_AUTO : brume_call_method(call);
    if (status == BRUME_OK)
        status = brume_account_terms(expression.events, expression.count,
                                     brume_call_count(call, "group", 1), method, &terms, error);
    if (status == BRUME_OK) {
        bool of_delta = brume_call_has(call, "delta");
        question q = {terms, expression.count, of_delta,
                      brume_call_real(call, of_delta ? "delta" : "epsilon", 0)};
        status = answer(call, &expression, &q, error);
    }
    free(terms);
    brume_expression_free(&expression);
    return status;
}

const brume_command brume_command_account = {
    .name = "account",
    .summary = "say what releases cost together, with a certificate",
    .description =
        "The releases are taken as fixed in advance. With --delta the answer is the least epsilon "
        "at which they are together (epsilon, delta)-differentially private, with --epsilon the "
        "least delta; both ends of the interval are certified where there are two.\n\n"
        "Whether one more query fits a budget is another question, which the ledger answers by a "
        "filter that stays sound when queries are chosen after seeing answers.",
    .usage = "EXPR (--delta D | --epsilon E) [--method M] [--adjacency A] [--group K] [--all] "
             "[--plot FILE.svg]",
    BRUME_OPERANDS(BRUME_OPERAND(EXPRESSION, "EXPR",
                                 "releases, e.g. 'laplace(scale=10)*5 + gaussian(sigma=2)'")),
    BRUME_OPTIONS(
        BRUME_DELTA_OPTION("find epsilon at this delta"),
        BRUME_OPTION(REAL, "epsilon", "E", "find delta at this epsilon",
                     BRUME_FROM_BELOW(0, INFINITY)),
        BRUME_OPTION(CHOICE, "method", "M",
                     "how to bound it; auto, the tightest sound one, unless given",
                     .choices = brume_method_choices),
        BRUME_ADJACENCY_OPTION,
        BRUME_OPTION(COUNT, "group", "K", "protect groups of K units, not one",
                     BRUME_FROM_TO(1, 9007199254740992.0)),
        BRUME_FLAG("all", "every method side by side"),
        BRUME_OPTION(FILE, "plot", "FILE.svg", "draw the privacy profile and the trade-off curve")),
    BRUME_EXAMPLES("account 'laplace(scale=10)*100' --delta 1e-6",
                   "account 'gaussian(sigma=50)*100 + laplace(scale=20)' --delta 1e-6 --json",
                   "account 'gaussian(sigma=2)' --epsilon 1",
                   "account 'randomized_response(epsilon=0.1)*100' --delta 1e-6 --all",
                   "account 'laplace(scale=10)' --delta 0 --group 3"),
    .run = run,
};
