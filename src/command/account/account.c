/* brume account: what releases cost together; with --plot delta over epsilon, and type II over type
 * I error.
 *
 * A trade-off curve is drawn from its profile: each certified point (eps, delta) gives the lines
 * 1 - delta - e^eps a and e^-eps (1 - delta - a) below it, and the greatest of them is a bound. */
#include "command/account/account.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <brume/account/account.h>
#include <brume/mechanism/mechanism.h>
#include <brume/noise/gaussian.h>

#include "accountant/renyi/renyi.h"
#include "base/error.h"
#include "command/command.h"
#include "command/frame/bar_chart.h"
#include "command/frame/output.h"
#include "command/frame/table.h"
#include "command/host.h"

extern const char *const brume_method_choices[];

/* The operand and options that accounting commands share.
 *
 * The operand and options that accounting commands share: an expression of releases, the adjacency
 * its sensitivities are meant under, and the method. */

const char *const brume_adjacency_choices[] = {"add-remove", "replace", NULL};
/* in the order of brume_method */
const char *const brume_method_choices[] = {
    "auto",    "basic", "advanced",    "advanced-half", "advanced-exp", "advanced-2",
    "optimal", "zcdp",  "zcdp-closed", "rdp",           "pld",          NULL};

/* The adjacency asked for, as a value and as its word. */
static const char *call_adjacency_word(const brume_call *call)
{
    const char *word = brume_call_text(call, "adjacency");
    return word ? word : brume_adjacency_choices[0];
}

static brume_adjacency call_adjacency(const brume_call *call)
{
    return strcmp(call_adjacency_word(call), "replace") == 0 ? BRUME_REPLACE : BRUME_ADD_REMOVE;
}

static const char *method_word(brume_method method)
{
    return brume_method_choices[method];
}

/* The method asked for; auto if none was. */
static brume_method call_method(const brume_call *call)
{
    const char *word = brume_call_text(call, "method");
    for (int i = 0; word && brume_method_choices[i]; i++)
        if (strcmp(word, brume_method_choices[i]) == 0)
            return (brume_method)i;
    return BRUME_METHOD_AUTO;
}

/* What users of a server may have worked out: what it costs grows with the terms, by more than in
 * proportion. At the shell, and in the library, the bound is that of the parser. */
enum { USER_TERMS = 1000, USER_BYTES = 65536 };

brume_status brume_call_expression(const brume_call *call, brume_expression *out,
                                   brume_error *error)
{
    const char *text = brume_call_operand(call, 0);
    bool of_user = call->host && call->host->user;
    if (of_user && strlen(text) > USER_BYTES)
        return brume_fail(error, BRUME_EARGUMENT, "equal terms are written once, with *COUNT",
                          "the expression has more than 64 KiB");
    BRUME_TRY(brume_expression_parse(text, call_adjacency(call), out, error));
    if (!of_user || out->count <= USER_TERMS)
        return BRUME_OK;
    brume_status status = brume_fail(
        error, BRUME_EARGUMENT, "equal terms are written once, with *COUNT",
        "the expression has %zu terms, at most %d are possible here", out->count, USER_TERMS);
    brume_expression_free(out);
    return status;
}

/* ---- the picture ---- */

enum { POINTS = 90, MOST_OTHERS = 6 };

static const double least_delta = 1e-10;

typedef struct plotted_curve {
    double epsilon[POINTS], delta[POINTS];     /* the profile, upper ends */
    double type_one[POINTS], type_two[POINTS]; /* the trade-off curve, lower ends */
} plotted_curve;

static brume_status delta_at(const brume_term *terms, size_t count, double epsilon, double *delta,
                             brume_error *error)
{
    brume_composition composition;
    brume_compose_options rough = {.tolerance = 1e-3}; /* less than the width of a line */
    if (brume_compose_delta(terms, count, epsilon, &rough, &composition, NULL) == BRUME_OK) {
        *delta = composition.value.upper;
        return BRUME_OK;
    }
    brume_bound bound;
    BRUME_TRY(brume_account_delta(BRUME_METHOD_AUTO, terms, count, epsilon, &bound, error));
    *delta = bound.upper;
    return BRUME_OK;
}

static double guarantee(const plotted_curve *c, double type_one)
{
    double best = 0;
    for (int i = 0; i < POINTS; i++) {
        double growth = exp(c->epsilon[i]), rest = 1 - c->delta[i];
        best = fmax(best, fmax(rest - growth * type_one, (rest - type_one) / growth));
    }
    return best;
}

static brume_status trace(const brume_term *terms, size_t count, double most_epsilon,
                          plotted_curve *out, brume_error *error)
{
    for (int i = 0; i < POINTS; i++) {
        out->epsilon[i] = most_epsilon * i / (POINTS - 1);
        BRUME_TRY(delta_at(terms, count, out->epsilon[i], &out->delta[i], error));
    }
    for (int i = 0; i < POINTS; i++) {
        double share = (double)i / (POINTS - 1);
        out->type_one[i] = share * share; /* finer where it is steep */
        out->type_two[i] = guarantee(out, out->type_one[i]);
    }
    return BRUME_OK;
}

/* Where the profile has fallen to the bottom of the picture, or to its failure probability. */
static brume_status range(const brume_term *terms, size_t count, double *most, brume_error *error)
{
    *most = 10;
    for (double delta = least_delta; delta < 1; delta *= 10) {
        brume_bound bound;
        BRUME_TRY(brume_account_epsilon(BRUME_METHOD_AUTO, terms, count, delta, &bound, error));
        if (bound.infinite)
            continue;
        *most = bound.upper > 0 ? bound.upper * 1.02 : 1;
        break;
    }
    return BRUME_OK;
}

static void draw(FILE *file, const brume_panel panels[2], int stroke, const plotted_curve *c)
{
    brume_svg_line(file, &panels[0], stroke, c->epsilon, c->delta, POINTS);
    brume_svg_line(file, &panels[1], stroke, c->type_one, c->type_two, POINTS);
}

static brume_status picture(FILE *file, const char *title, const brume_expression *expression,
                            const brume_term *terms, brume_error *error)
{
    size_t count = expression->count, others = count > 1 ? count : 0;
    if (others > MOST_OTHERS)
        others = MOST_OTHERS;
    double most, height = 450 + 20 * (double)(others + (count > others && others ? 1 : 0));
    BRUME_TRY(range(terms, count, &most, error));
    const brume_panel panels[2] = {
        {76, 56, 370, 300, {"epsilon", 0, most, false}, {"delta", least_delta, 1, true}},
        {536, 56, 300, 300, {"type I error", 0, 1, false}, {"type II error", 0, 1, false}},
    };
    brume_svg_begin(file, 872, height, title);
    brume_svg_panel(file, &panels[0], "privacy profile");
    brume_svg_panel(file, &panels[1], "trade-off curve");
    brume_svg_line(file, &panels[1], BRUME_STROKE_GUIDE, (double[]){0, 1}, (double[]){1, 0}, 2);
    plotted_curve c;
    double top = 420;
    for (size_t i = 0; i < others; i++) {
        char text[300];
        BRUME_TRY(trace(&terms[i], 1, most, &c, error));
        draw(file, panels, (int)i + 1, &c);
        BRUME_TRY(brume_event_write(&expression->events[i], text, sizeof text, error));
        brume_svg_legend(file, 76, top + 20 * (double)(i + 1), (int)i + 1, text);
    }
    if (count > others && others)
        brume_svg_note(file, 110, top + 20 * (double)(others + 1) + 4,
                       "further terms are in the total only");
    BRUME_TRY(trace(terms, count, most, &c, error));
    draw(file, panels, BRUME_STROKE_MAIN, &c);
    char total[300];
    snprintf(total, sizeof total, "%s%.240s%s", others ? "together: " : "", title,
             strlen(title) > 240 ? " ..." : "");
    brume_svg_legend(file, 76, top, BRUME_STROKE_MAIN, total);
    brume_svg_note(file, 640, 76, "dashed: perfect privacy");
    brume_svg_end(file);
    return BRUME_OK;
}

static brume_status plot_curves(const char *path, const char *title,
                                const brume_expression *expression, const brume_term *terms,
                                brume_error *error)
{
    FILE *file;
    BRUME_TRY(brume_svg_open(path, &file, error));
    return brume_svg_close(file, path, picture(file, title, expression, terms, error), error);
}

/* ---- the command ---- */

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
        brume_json_real(q->at), "method", method_word(bound->method), "route", bound->route,
        "adjacency", call_adjacency_word(call));
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
            brume_shortest(q->at).text, call_adjacency_word(call));
    if (bound->infinite)
        fprintf(out, "no finite epsilon: %s\n", why_infinite(q));
    else if (bound->has_lower)
        fprintf(out, "%s >= %s: the truth lies between%s\n", asked(q),
                brume_shortest(bound->lower).text,
                brume_call_has(call, "method") ? "" : ", certified");
    fprintf(out, "%smethod: %s (%s", brume_dim(call), method_word(bound->method), bound->route);
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
                         call_adjacency_word(call));
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
        BRUME_TRY(plot_curves(plot, brume_call_operand(call, 0), expression, q->terms, error));
    if (brume_call_has(call, "all"))
        return show_all(q, call, error);
    brume_bound bound;
    BRUME_TRY(ask(q, call_method(call), &bound, error));
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
    brume_method method = brume_call_has(call, "all") ? BRUME_METHOD_AUTO : call_method(call);
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

/* brume calibrate: how much noise a target needs. */

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
                                   call_adjacency_word(call));
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
            brume_shortest(result->delta).text, call_adjacency_word(call));
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
static brume_status show_scales(brume_call *call, const brume_expression *expression,
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

static brume_status run_calibrate(brume_call *call, brume_error *error)
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
        status =
            (brume_call_has(call, "all") ? show_scales : show)(call, &expression, &result, error);
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
    .run = run_calibrate,
};
