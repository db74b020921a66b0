/* What windows have left, and what they are called: for people. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ledger/dataset.h"
#include "ledger/page_of_windows.h"
#include "number/decimal.h"

static brume_status no_memory(brume_error *error)
{
    return brume_no_memory(error, "the windows");
}

static json_t *left_to_json(const brume_charge *left)
{
    double amount = brume_decimal_shown_down(&left->amount);
    double delta = brume_decimal_shown_down(&left->delta);
    bool concentrated = left->rule == BRUME_RULE_CONCENTRATED;
    return json_pack("{s:o,s:f,s:o}", "epsilon", concentrated ? json_null() : json_real(amount),
                     "delta", delta, "rho", concentrated ? json_real(amount) : json_null());
}

brume_status brume_ledger_name_windows(brume_ledger *ledger, const char *dataset,
                                       const brume_window_set *set, json_t **out,
                                       brume_error *error)
{
    brume_dataset *known = NULL;
    brume_window_grid grid;
    const char **values = NULL;
    BRUME_TRY(brume_ledger_dataset(ledger, dataset, &known, error));
    json_t *list = brume_dataset_grid(known->policy, &grid, &values) ? json_array() : NULL;
    bool good = list != NULL;
    for (size_t i = 0; good && i < set->count; i++) {
        char first[BRUME_WINDOW_LABEL], last[BRUME_WINDOW_LABEL];
        good = json_array_append_new(
                   list, json_pack("[s,s]", brume_window_label(&grid, set->ranges[i].first, first),
                                   brume_window_label(&grid, set->ranges[i].last, last))) == 0;
    }
    free(values);
    brume_dataset_close(known);
    if (!good) {
        json_decref(list);
        return no_memory(error);
    }
    *out = list;
    return BRUME_OK;
}

/* Runs with what each has left, the newest first. */
static brume_status list_runs(const brume_dataset *dataset, const brume_window_runs *runs,
                              const brume_window_grid *grid, json_t *list, brume_error *error)
{
    const brume_window_sum limit = brume_window_sum_of_limit(&dataset->window_budget);
    for (size_t i = runs->count; i-- > 0;) {
        const brume_window_run *run = &runs->list[i];
        char first[BRUME_WINDOW_LABEL], last[BRUME_WINDOW_LABEL];
        brume_charge left;
        BRUME_TRY(
            brume_window_left(dataset->window_budget.rule, &limit, &run->spent, &left, error));
        if (json_array_append_new(list, json_pack("{s:s,s:s,s:o}", "first",
                                                  brume_window_label(grid, run->first, first),
                                                  "last", brume_window_label(grid, run->last, last),
                                                  "left", left_to_json(&left))) != 0)
            return no_memory(error);
    }
    return BRUME_OK;
}

brume_status brume_ledger_windows(brume_ledger *ledger, const brume_dataset *dataset,
                                  brume_windows_left *out, brume_error *error)
{
    brume_windows_left made = {.runs = json_array()};
    brume_window_runs runs = {0};
    brume_window_sum undated = {0, 0};
    brume_window_grid grid;
    const char **values = NULL;
    const brume_window_sum whole = brume_window_sum_of_limit(&dataset->filter);
    if (!made.runs || !brume_dataset_grid(dataset->policy, &grid, &values)) {
        json_decref(made.runs);
        return no_memory(error);
    }
    brume_status status = brume_filter_left(&dataset->window_budget, &made.untouched, error);
    if (status == BRUME_OK)
        status = brume_window_pages_read(ledger, dataset->name, &runs, &undated, error);
    if (status == BRUME_OK)
        status = brume_window_left(dataset->filter.rule, &whole, &undated, &made.undated, error);
    if (status == BRUME_OK)
        status = list_runs(dataset, &runs, &grid, made.runs, error);
    brume_window_runs_free(&runs);
    free(values);
    if (status != BRUME_OK) {
        json_decref(made.runs);
        return status;
    }
    *out = made;
    return BRUME_OK;
}

static void take_less(brume_charge *least, const brume_charge *left)
{
    if (brume_decimal_compare(&left->amount, &least->amount) < 0)
        least->amount = left->amount;
    if (brume_decimal_compare(&left->delta, &least->delta) < 0)
        least->delta = left->delta;
}

brume_status brume_ledger_least_left(brume_ledger *ledger, const brume_dataset *dataset,
                                     const brume_window_set *set, brume_charge *least,
                                     brume_error *error)
{
    const brume_window_sum limits[] = {brume_window_sum_of_limit(&dataset->window_budget),
                                       brume_window_sum_of_limit(&dataset->filter)};
    const brume_window_sum nothing = {0, 0};
    brume_window_runs runs = {0};
    brume_window_sum undated = {0, 0};
    brume_charge found, one;
    brume_rule rule = dataset->filter.rule;
    BRUME_TRY(brume_window_left(rule, &limits[0], &nothing, &found, error));
    BRUME_TRY(brume_window_pages_read(ledger, dataset->name, &runs, &undated, error));
    brume_status status = BRUME_OK;
    for (size_t i = 0; status == BRUME_OK && i < runs.count; i++) {
        brume_window_run *run = &runs.list[i];
        const brume_window_set alone = {&(brume_window_range){run->first, run->last}, 1, false};
        brume_window_set both = {0};
        status = brume_window_set_intersect(set, &alone, &both, error);
        if (status == BRUME_OK && both.count)
            status = brume_window_left(rule, &limits[0], &run->spent, &one, error);
        if (status == BRUME_OK && both.count)
            take_less(&found, &one);
        brume_window_set_free(&both);
    }
    brume_window_runs_free(&runs);
    if (status == BRUME_OK && set->undated) {
        status = brume_window_left(rule, &limits[1], &undated, &one, error);
        if (status == BRUME_OK)
            take_less(&found, &one);
    }
    if (status == BRUME_OK)
        *least = found;
    return status;
}

/* ---- charges that are not made ---- */

struct brume_window_rest {
    brume_window_runs spent, undated; /* `undated` as window 0 of runs of its own */
};

brume_status brume_window_rest_open(brume_ledger *ledger, const brume_dataset *dataset,
                                    brume_window_rest **out, brume_error *error)
{
    const brume_window_set alone = {&(brume_window_range){0, 0}, 1, false};
    brume_window_sum undated = {0, 0};
    brume_window_rest *made = calloc(1, sizeof *made);
    if (!made)
        return no_memory(error);
    brume_status status =
        brume_window_pages_read(ledger, dataset->name, &made->spent, &undated, error);
    if (status == BRUME_OK)
        status = brume_window_runs_add(&made->undated, &alone, &undated, error);
    if (status == BRUME_OK)
        *out = made;
    else
        brume_window_rest_close(made);
    return status;
}

/* Add the price to a set's windows, if all have room for it. */
static brume_status take_from(brume_window_runs *spent, const brume_window_set *set,
                              const brume_window_sum *price, const brume_filter *budget,
                              brume_window_run *lacking, bool *fits, brume_error *error)
{
    const brume_window_sum limit = brume_window_sum_of_limit(budget);
    *fits = brume_window_runs_fit(spent, set, price, &limit, lacking);
    return *fits ? brume_window_runs_add(spent, set, price, error) : BRUME_OK;
}

brume_status brume_window_rest_take(brume_window_rest *rest, const brume_dataset *dataset,
                                    const brume_window_set *set, const brume_charge *price,
                                    const char *what, brume_error *error)
{
    const brume_window_set alone = {&(brume_window_range){0, 0}, 1, false};
    const brume_window_sum asked = brume_window_sum_of_price(price);
    brume_window_run lacking = {0};
    brume_window_grid grid;
    const char **values = NULL;
    char first[BRUME_WINDOW_LABEL] = "undated", last[BRUME_WINDOW_LABEL] = "undated";
    bool fits = true;
    BRUME_TRY(
        take_from(&rest->spent, set, &asked, &dataset->window_budget, &lacking, &fits, error));
    if (!fits && brume_dataset_grid(dataset->policy, &grid, &values)) {
        brume_window_label(&grid, lacking.first, first);
        brume_window_label(&grid, lacking.last, last);
        free(values);
    }
    if (fits && set->undated)
        BRUME_TRY(
            take_from(&rest->undated, &alone, &asked, &dataset->filter, &lacking, &fits, error));
    if (fits)
        return BRUME_OK;
    bool one = strcmp(first, last) == 0;
    return brume_fail(error, BRUME_EBUDGET, "pay less, or ask of other windows; nothing was spent",
                      "what may be spent of '%s' in %s%s%s does not carry all %s", dataset->name,
                      first, one ? "" : " to ", one ? "" : last, what);
}

void brume_window_rest_close(brume_window_rest *rest)
{
    if (!rest)
        return;
    brume_window_runs_free(&rest->spent);
    brume_window_runs_free(&rest->undated);
    free(rest);
}
