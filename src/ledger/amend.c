/* Amending a dataset: its policy stated anew, under the sums that were spent. */
#include "ledger/amend.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ledger/dataset.h"
#include "ledger/journal.h"
#include "ledger/user_row.h"
#include "ledger/page_of_windows.h"

/* Are the limits those that brume_filter_make gives to this filter's budget? */
static bool has_usual_limits(const brume_filter *filter)
{
    brume_filter fresh;
    bool pure = filter->rule == BRUME_RULE_PURE;
    return brume_filter_make(filter->rule, &filter->epsilon, pure ? NULL : &filter->delta, NULL,
                             &fresh, NULL) == BRUME_OK &&
           brume_decimal_compare(&fresh.limit_delta, &filter->limit_delta) == 0;
}

brume_status brume_amended_filter(const brume_filter *before, const brume_decimal *epsilon,
                                  const brume_decimal *delta, brume_filter *after,
                                  brume_error *error)
{
    brume_filter made;
    if (!has_usual_limits(before))
        return brume_fail(error, BRUME_EPOLICY, NULL,
                          "a budget with a share for failures of its own cannot be amended");
    BRUME_TRY(brume_filter_make(before->rule, epsilon, delta, NULL, &made, error));
    if (brume_decimal_compare(&before->spent, &made.limit) > 0 ||
        brume_decimal_compare(&before->spent_delta, &made.limit_delta) > 0)
        return brume_fail(error, BRUME_EPOLICY, "what was spent stays spent: see 'brume budget'",
                          "the new budget is smaller than what was spent");
    made.spent = before->spent;
    made.spent_delta = before->spent_delta;
    made.charges = before->charges;
    *after = made;
    return BRUME_OK;
}

/* The filter's state after the amendment, as text. */
static brume_status amend_filter(const brume_dataset *dataset, const brume_amendment *amendment,
                                 char text[BRUME_FILTER_TEXT], brume_error *error)
{
    brume_decimal epsilon, delta;
    brume_filter after = dataset->filter;
    if (dataset->no_budget && amendment->epsilon)
        return brume_fail(error, BRUME_EPOLICY, "--window-budget can be amended",
                          "'%s' was registered with 'budget: none', and nothing was summed that a "
                          "budget could be held against",
                          dataset->name);
    if (dataset->no_budget && amendment->window_budget) {
        after = *amendment->window_budget;
        after.charges = dataset->filter.charges;
    }
    if (amendment->epsilon) {
        BRUME_TRY(brume_decimal_parse(amendment->epsilon, &epsilon, error));
        if (amendment->delta)
            BRUME_TRY(brume_decimal_parse(amendment->delta, &delta, error));
        BRUME_TRY(brume_amended_filter(&dataset->filter, &epsilon, amendment->delta ? &delta : NULL,
                                       &after, error));
    }
    return brume_filter_print(&after, text, error);
}

/* The budget of each window after the amendment, as text; *has is false without windows. What any
 * window has spent must fit. */
static brume_status amend_windows(brume_ledger *ledger, const brume_dataset *dataset,
                                  const brume_amendment *amendment, const char *filter, bool *has,
                                  char text[BRUME_FILTER_TEXT], brume_error *error)
{
    brume_window_grid grid;
    const char **values = NULL;
    brume_filter whole;
    const brume_filter *now = amendment->window_budget ? amendment->window_budget
                              : dataset->has_windows   ? &dataset->window_budget
                                                       : NULL;
    *has =
        brume_dataset_grid(amendment->policy ? amendment->policy : dataset->policy, &grid, &values);
    free(values);
    if (*has != (now != NULL))
        return brume_fail(error, BRUME_EARGUMENT, "give --window-budget as well",
                          "windows need a budget for each");
    if (!*has)
        return BRUME_OK;
    if (now->rule != dataset->filter.rule)
        return brume_fail(error, BRUME_EARGUMENT, "the rule of a dataset stays",
                          "the window budget is of the rule %s, that of '%s' is %s",
                          brume_rule_word(now->rule), dataset->name,
                          brume_rule_word(dataset->filter.rule));
    if (dataset->no_budget)
        BRUME_TRY(brume_window_cover_check(amendment->policy ? amendment->policy : dataset->policy,
                                           error));
    BRUME_TRY(brume_filter_parse(filter, &whole, error));
    BRUME_TRY(brume_window_budget_check(now, dataset->no_budget ? NULL : &whole, error));
    brume_window_sum limit = brume_window_sum_of_limit(now), undated;
    brume_window_runs runs = {0};
    BRUME_TRY(brume_window_pages_read(ledger, dataset->name, &runs, &undated, error));
    bool fits = true;
    for (size_t i = 0; i < runs.count; i++)
        fits = fits && runs.list[i].spent.amount <= limit.amount &&
               runs.list[i].spent.delta <= limit.delta;
    brume_window_runs_free(&runs);
    brume_window_sum whole_limit = brume_window_sum_of_limit(&whole);
    fits = fits && (dataset->no_budget ||
                    (undated.amount <= whole_limit.amount && undated.delta <= whole_limit.delta));
    if (!fits)
        return brume_fail(error, BRUME_EPOLICY, "what was spent stays spent: see 'brume budget'",
                          "the new budget is smaller than what a window has spent");
    return brume_filter_print(now, text, error);
}

static brume_status check_allowed(const brume_dataset *dataset, const brume_amendment *amendment,
                                  brume_error *error)
{
    if (dataset->stated != amendment->stated)
        return brume_fail(error, BRUME_EPOLICY, "look at it with 'brume show', and amend it again",
                          "'%s' was amended by somebody else meanwhile", dataset->name);
    if (amendment->moves_units && dataset->filter.charges > 0)
        return brume_fail(
            error, BRUME_EPOLICY,
            "what was paid says nothing about other units; register the source again "
            "with --new-budget",
            "something was spent on '%s' already: whose row is whose can no longer be "
            "amended",
            dataset->name);
    return BRUME_OK;
}

static brume_status write_amendment(brume_ledger *ledger, const brume_dataset *dataset,
                                    const brume_amendment *amendment, brume_error *error)
{
    char filter[BRUME_FILTER_TEXT], window[BRUME_FILTER_TEXT];
    bool has_windows = false;
    uint64_t id = 0;
    const char *version = amendment->data_version ? amendment->data_version : dataset->data_version;
    const char *cap = amendment->cap ? amendment->cap : dataset->cap;
    BRUME_TRY(check_allowed(dataset, amendment, error));
    BRUME_TRY(amend_filter(dataset, amendment, filter, error));
    BRUME_TRY(amend_windows(ledger, dataset, amendment, filter, &has_windows, window, error));
    BRUME_TRY(brume_journal_next(ledger, &id, error));
    BRUME_TRY(brume_store_execute(ledger, error,
                                  "UPDATE dataset SET registered=?2, last=?2, data_version=?3, "
                                  "filter=?4 WHERE name=?1",
                                  "titt", dataset->name, (int64_t)id, version, filter));
    json_t *body = json_pack(
        "{s:s,s:s,s:s,s:s,s:s,s:s?,s:O,s:b,s:O?,s:s*,s:o*}", "dataset", dataset->name, "source",
        dataset->source, "data_version", version, "adjacency",
        brume_adjacency_word(dataset->adjacency), "filter", filter, "cap", cap && *cap ? cap : NULL,
        "policy", amendment->policy ? amendment->policy : dataset->policy, "moves_units",
        amendment->moves_units, "changes", amendment->changes, "window_filter",
        has_windows ? window : NULL, "no_budget", dataset->no_budget ? json_true() : NULL);
    return brume_journal_append(ledger, "amend", body, error);
}

/* Public it was registered, or protected, and so it stays. */
static brume_status check_protection(const brume_dataset *dataset, const brume_amendment *amendment,
                                     brume_error *error)
{
    bool before = json_is_true(json_object_get(dataset->policy, "public"));
    bool after = json_is_true(
        json_object_get(amendment->policy ? amendment->policy : dataset->policy, "public"));
    return before == after ? BRUME_OK
                           : brume_fail(error, BRUME_EPOLICY, NULL,
                                        "whether '%s' is public was settled when it was registered",
                                        dataset->name);
}

static brume_status amend_now(brume_ledger *ledger, const brume_amendment *amendment,
                              brume_error *error)
{
    brume_dataset *dataset = NULL;
    BRUME_TRY(brume_journal_check_head(ledger, error));
    BRUME_TRY(brume_user_check_owner(ledger, error));
    BRUME_TRY(brume_ledger_dataset(ledger, amendment->name, &dataset, error));
    brume_status status = check_protection(dataset, amendment, error);
    if (status == BRUME_OK)
        status = write_amendment(ledger, dataset, amendment, error);
    brume_dataset_close(dataset);
    return status;
}

brume_status brume_ledger_amend(brume_ledger *ledger, const brume_amendment *amendment,
                                brume_error *error)
{
    BRUME_TRY(brume_store_begin(ledger, error));
    brume_status status = amend_now(ledger, amendment, error);
    if (status == BRUME_OK)
        return brume_store_commit(ledger, error);
    brume_store_undo(ledger);
    return status;
}
