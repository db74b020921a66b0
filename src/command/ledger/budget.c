/* brume budget: what was spent and what is left. */
#include "command/command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/frame/output.h"
#include "command/host.h"
#include "command/ledger/open_ledger.h"
#include "command/owner/register.h"
#include "command/user/user.h"
#include "ledger/user.h"
#include "number/decimal.h"

/* What is the user's own of it: "mine", null where there is no allotment. */
static brume_status add_mine(const brume_call *call, brume_ledger *ledger, const char *dataset,
                             json_t *object, brume_error *error)
{
    brume_filter filter;
    bool has = false;
    if (!call->host || !call->host->user)
        return BRUME_OK;
    BRUME_TRY(brume_ledger_allotment(ledger, call->host->user, dataset, &has, &filter, error));
    json_t *mine = has ? json_object() : json_null();
    if (json_object_set_new(object, "mine", mine) != 0)
        return brume_no_memory(error, "the answer");
    return has ? brume_filter_to_json(&filter, mine, error) : BRUME_OK;
}

/* ---- windows ---- */

enum { SHOWN_RUNS = 12 };

static brume_status add_windows(brume_ledger *ledger, const brume_dataset *dataset, json_t *object,
                                brume_error *error)
{
    brume_windows_left left;
    const brume_filter *budget = &dataset->window_budget;
    if (!dataset->has_windows)
        return BRUME_OK;
    BRUME_TRY(brume_ledger_windows(ledger, dataset, &left, error));
    json_t *made = json_pack("{s:{s:f,s:f},s:o,s:o,s:o}", "budget", "epsilon",
                             brume_decimal_nearest(&budget->epsilon), "delta",
                             brume_decimal_nearest(&budget->delta), "runs", left.runs, "untouched",
                             brume_left_to_json(&left.untouched), "undated",
                             dataset->no_budget ? json_null() : brume_left_to_json(&left.undated));
    bool good = made && json_object_set_new(object, "windows", made) == 0;
    if (good && dataset->no_budget) /* the numbers that are there are those of a window */
        good = json_object_set_new(object, "no_budget", json_true()) == 0;
    return good ? BRUME_OK : brume_no_memory(error, "the answer");
}

/* "epsilon 0.2 of 1 left" */
static void write_left(const brume_call *call, const json_t *left, double of)
{
    const json_t *rho = json_object_get(left, "rho");
    bool concentrated = json_is_number(rho);
    fprintf(call->out, "%s %s of %s left", concentrated ? "rho" : "epsilon",
            brume_shortest(json_number_value(concentrated ? rho : json_object_get(left, "epsilon")))
                .text,
            brume_shortest(of).text);
}

/* Runs of windows with what each has left, the newest first; all others; rows without a date. */
static brume_status write_windows(const brume_call *call, brume_ledger *ledger,
                                  const brume_dataset *dataset, brume_error *error)
{
    brume_windows_left left;
    brume_window_grid grid;
    const char **values = NULL;
    char each[BRUME_EACH_WINDOW] = "";
    if (!dataset->has_windows)
        return BRUME_OK;
    BRUME_TRY(brume_ledger_windows(ledger, dataset, &left, error));
    if (brume_dataset_grid(dataset->policy, &grid, &values))
        brume_each_window(&grid, each);
    free(values);
    double of = brume_decimal_shown_down(&dataset->window_budget.limit);
    size_t count = json_array_size(left.runs), i = 0;
    size_t shown = brume_call_has(call, "windows") || count <= SHOWN_RUNS ? count : SHOWN_RUNS;
    for (; i < shown; i++) {
        const json_t *run = json_array_get(left.runs, i);
        const char *first = json_string_value(json_object_get(run, "first"));
        const char *last = json_string_value(json_object_get(run, "last"));
        bool one = strcmp(first, last) == 0, always = strncmp(first, "0001", 4) == 0;
        char run_text[2 * BRUME_WINDOW_LABEL + 8];
        snprintf(run_text, sizeof run_text, "%s%s%s", always ? "up to " : first,
                 one || always ? "" : "..", one && !always ? "" : last);
        fprintf(call->out, "  %-14s %-22s  ", i ? "" : each, run_text);
        write_left(call, json_object_get(run, "left"), of);
        fputc('\n', call->out);
    }
    json_decref(left.runs);
    if (count > shown)
        fprintf(call->out, "  %-14s and %zu more runs of windows: --windows\n", "", count - shown);
    json_t *untouched = brume_left_to_json(&left.untouched);
    fprintf(call->out, "  %-14s %-22s  ", count ? "" : each,
            count ? "all other windows" : "every window");
    write_left(call, untouched, of);
    json_decref(untouched);
    if (dataset->no_budget) {
        fputc('\n', call->out);
        brume_write_wrapped(call->out, brume_no_budget_means, 0, 2);
        return BRUME_OK;
    }
    json_t *undated = brume_left_to_json(&left.undated);
    fprintf(call->out, "; rows without a date: ");
    write_left(call, undated, brume_decimal_shown_down(&dataset->filter.limit));
    fputc('\n', call->out);
    json_decref(undated);
    return BRUME_OK;
}

/* Added to a list that is the call's. */
static brume_status add_json(const brume_call *call, brume_ledger *ledger,
                             const brume_dataset *dataset, json_t *list, brume_error *error)
{
    json_t *object = json_pack("{s:s,s:s,s:s}", "dataset", dataset->name, "rule",
                               brume_rule_word(dataset->filter.rule), "adjacency",
                               brume_adjacency_word(dataset->adjacency));
    if (json_array_append_new(list, object) != 0)
        return brume_no_memory(error, "the answer");
    BRUME_TRY(brume_filter_to_json(&dataset->filter, object, error));
    if (json_object_set_new(object, "queries", json_integer((json_int_t)dataset->queries)) != 0)
        return brume_no_memory(error, "the answer");
    BRUME_TRY(add_windows(ledger, dataset, object, error));
    return add_mine(call, ledger, dataset->name, object, error);
}

/* "12.34 of 50" as a bar of `width` characters: what is left in full blocks. */
static void write_bar(FILE *out, double left, double of, int width)
{
    double share = of > 0 ? fmin(fmax(left / of, 0), 1) : 0;
    int full = (int)floor(share * width + 0.5);
    if (full == 0 && left > 0)
        full = 1;
    for (int i = 0; i < width; i++)
        fputs(i < full ? "█" : "░", out);
}

/* What is left of delta: as it is where that is short, else four digits, rounded down. */
static brume_number_text delta_left(const brume_decimal *left)
{
    enum { SHORT = 10 };
    char exact[BRUME_DECIMAL_TEXT];
    brume_number_text text;
    brume_decimal_print(left, exact, sizeof exact);
    if (strlen(exact) > SHORT)
        return brume_digits_down(brume_decimal_nearest(left), 4);
    snprintf(text.text, sizeof text.text, "%s", exact);
    return text;
}

static void write_mine(const brume_call *call, brume_ledger *ledger, const char *dataset)
{
    brume_filter filter;
    brume_charge left;
    bool has = false;
    char amount[BRUME_DECIMAL_TEXT], limit[BRUME_DECIMAL_TEXT];
    if (!call->host || !call->host->user ||
        brume_ledger_allotment(ledger, call->host->user, dataset, &has, &filter, NULL) !=
            BRUME_OK ||
        !has || brume_filter_left(&filter, &left, NULL) != BRUME_OK)
        return;
    brume_decimal_print(&left.amount, amount, sizeof amount);
    brume_decimal_print(&filter.limit, limit, sizeof limit);
    fprintf(call->out, "%39syours: %s %s of %s left\n", "",
            filter.rule == BRUME_RULE_CONCENTRATED ? "rho" : "epsilon", amount, limit);
}

/* An epsilon as it was typed; a rho, which is computed from it, with four digits, never more than
 * it is. */
static void print_amount(const brume_decimal *amount, bool rho, char text[BRUME_DECIMAL_TEXT])
{
    double nearest = brume_decimal_nearest(amount);
    if (rho && nearest > 0)
        snprintf(text, BRUME_DECIMAL_TEXT, "%s", brume_digits_down(nearest, 4).text);
    else
        brume_decimal_print(amount, text, BRUME_DECIMAL_TEXT);
}

/* In place of a bar: histories have no budget, windows have. */
static void write_none(const brume_call *call, const brume_dataset *dataset)
{
    fprintf(call->out, "%s%-16s%s no budget for a unit's whole history, one for each window\n",
            brume_bold(call), dataset->name, brume_plain(call));
    fprintf(call->out, "%39s%s%llu %s, rule %s%s\n", "", brume_dim(call),
            (unsigned long long)dataset->queries, dataset->queries == 1 ? "query" : "queries",
            brume_rule_word(dataset->filter.rule), brume_plain(call));
}

static void write_text(const brume_call *call, const brume_dataset *dataset)
{
    const brume_filter *filter = &dataset->filter;
    brume_charge left;
    char amount[BRUME_DECIMAL_TEXT], limit[BRUME_DECIMAL_TEXT], most[BRUME_DECIMAL_TEXT];
    if (brume_filter_left(filter, &left, NULL) != BRUME_OK)
        return;
    bool rho = filter->rule == BRUME_RULE_CONCENTRATED;
    print_amount(&left.amount, rho, amount);
    print_amount(&filter->limit, rho, limit);
    brume_decimal_print(&filter->limit_delta, most, sizeof most);
    fprintf(call->out, "%s%-16s%s ", brume_bold(call), dataset->name, brume_plain(call));
    write_bar(call->out, brume_decimal_nearest(&left.amount), brume_decimal_nearest(&filter->limit),
              20);
    fprintf(call->out, "  %s %s of %s left%s", rho ? "rho" : "epsilon", amount, limit,
            dataset->has_windows ? " for a unit's whole history" : "");
    if (rho) {
        char epsilon[BRUME_DECIMAL_TEXT], delta[BRUME_DECIMAL_TEXT];
        brume_decimal_print(&filter->epsilon, epsilon, sizeof epsilon);
        brume_decimal_print(&filter->delta, delta, sizeof delta);
        fprintf(call->out, ", of epsilon %s, delta %s", epsilon, delta);
    }
    if (filter->rule != BRUME_RULE_PURE)
        fprintf(call->out, "\n%39sdelta %s of %s left", "", delta_left(&left.delta).text, most);
    fprintf(call->out, "\n%39s%s%llu %s, rule %s%s\n", "", brume_dim(call),
            (unsigned long long)dataset->queries, dataset->queries == 1 ? "query" : "queries",
            brume_rule_word(filter->rule), brume_plain(call));
}

static bool is_public(const brume_dataset *dataset)
{
    return json_is_true(json_object_get(dataset->policy, "public"));
}

static brume_status write_one(brume_call *call, brume_ledger *ledger, const char *name,
                              json_t *list, brume_error *error)
{
    brume_dataset *dataset = NULL;
    BRUME_TRY(brume_call_open_dataset(call, ledger, name, &dataset, error));
    if (is_public(dataset) && brume_call_operand(call, 0))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'%s' is public and has no budget", name);
    if (is_public(dataset))
        return BRUME_OK;
    if (call->json)
        return add_json(call, ledger, dataset, list, error);
    if (dataset->no_budget)
        write_none(call, dataset);
    else
        write_text(call, dataset);
    BRUME_TRY(write_windows(call, ledger, dataset, error));
    write_mine(call, ledger, name);
    return BRUME_OK;
}

static brume_status run(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    json_t *names = NULL, *list = json_array();
    const char *name = brume_call_operand(call, 0);
    BRUME_TRY(brume_call_keep_json(call, list, error));
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_READ, &ledger, error));
    if (name) {
        BRUME_TRY(write_one(call, ledger, name, list, error));
        return call->json ? brume_call_write_json(call, json_incref(json_array_get(list, 0)), error)
                          : BRUME_OK;
    }
    BRUME_TRY(brume_ledger_names(ledger, &names, error));
    BRUME_TRY(brume_call_keep_json(call, names, error));
    for (size_t i = 0; i < json_array_size(names); i++)
        BRUME_TRY(
            write_one(call, ledger, json_string_value(json_array_get(names, i)), list, error));
    return call->json ? brume_call_write_json(call, json_pack("{s:O}", "budgets", list), error)
                      : BRUME_OK;
}

const brume_command brume_command_budget = {
    .name = "budget",
    .summary = "show what was spent and what is left",
    .description =
        "The budget, the sum of what was charged, and what may still be spent. Under the rule "
        "concentrated the account is kept in rho. Through a server also what is left of the "
        "user's own allotment.\n\nA table with windows has a budget for each of them too: runs of "
        "windows that have as much left are one line, the newest first.",
    BRUME_OPERANDS(BRUME_OPERAND(TEXT, "NAME", "a registered dataset; all of them without it",
                                 .optional = true)),
    BRUME_OPTIONS(BRUME_FLAG("windows", "every run of windows, and not twelve"),
                  BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES("budget visits"),
    .run = run,
};
