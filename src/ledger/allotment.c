/* Allotments: what one user may take of a dataset's budget.
 *
 * Promise: a charge goes to the dataset's filter and to the user's allotment in one transaction, or
 * to neither; the state of an allotment is the one that journal row `last` gives it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ledger/amend.h"
#include "ledger/journal.h"
#include "ledger/user_row.h"
#include "number/decimal.h"
#include "number/rounding.h"

static brume_status contradiction(const char *user, brume_error *error)
{
    return brume_fail(error, BRUME_EDAMAGED, "run 'brume ledger verify'",
                      "the ledger's record of an allotment of '%s' is not what its journal says",
                      user);
}

void brume_project_holder(const char *project, char holder[BRUME_HOLDER_TEXT])
{
    snprintf(holder, BRUME_HOLDER_TEXT, "project:%.54s", project);
}

const char *brume_ledger_holder(const brume_ledger *ledger, char holder[BRUME_HOLDER_TEXT])
{
    if (!ledger->project)
        return ledger->user;
    brume_project_holder(ledger->project, holder);
    return holder;
}

/* The state that a row of the journal gives to this allotment: a `user` or `project` row, or a
 * reservation. */
static const char *state_in_journal(const json_t *body, const char *user, const char *dataset)
{
    char holder[BRUME_HOLDER_TEXT];
    const json_t *list = json_object_get(body, "allotments");
    const char *of = json_string_value(json_object_get(body, list ? "name" : "user"));
    const char *project = json_string_value(json_object_get(body, "project"));
    const char *key = list ? "filter" : "allotment";
    if (project) {
        brume_project_holder(project, holder);
        of = holder;
    }
    if (!of || strcmp(of, user) != 0)
        return NULL;
    if (!list)
        list = json_object_get(body, "charges");
    size_t i = 0;
    json_t *entry = NULL;
    json_array_foreach (list, i, entry) {
        const char *name = json_string_value(json_object_get(entry, "dataset"));
        if (name && strcmp(name, dataset) == 0)
            return json_string_value(json_object_get(entry, key));
    }
    return NULL;
}

static brume_status check_state(brume_ledger *ledger, const char *user, const char *dataset,
                                const char *state, uint64_t last, brume_error *error)
{
    json_t *body = NULL;
    BRUME_TRY(brume_journal_body(ledger, last, &body, error));
    const char *recorded = state_in_journal(body, user, dataset);
    bool same = recorded && strcmp(recorded, state) == 0;
    json_decref(body);
    return same ? BRUME_OK : contradiction(user, error);
}

brume_status brume_ledger_allotment(brume_ledger *ledger, const char *user, const char *dataset,
                                    bool *has, brume_filter *out, brume_error *error)
{
    brume_statement *statement = NULL;
    bool found = false;
    char state[BRUME_FILTER_TEXT] = "";
    uint64_t last = 0;
    if (ledger->schema < 4) {
        *has = false;
        return BRUME_OK;
    }
    BRUME_TRY(brume_store_prepare(
        ledger, &statement, error,
        "SELECT filter, last FROM allotment WHERE \"user\" = ?1 AND dataset = ?2", "tt", user,
        dataset));
    brume_status status = brume_store_step(ledger, statement, &found, error);
    if (status == BRUME_OK && found) {
        snprintf(state, sizeof state, "%s", brume_store_text(statement, 0));
        last = (uint64_t)brume_store_int(statement, 1);
    }
    brume_store_finish(statement);
    if (status == BRUME_OK && found)
        status = check_state(ledger, user, dataset, state, last, error);
    if (status == BRUME_OK && found)
        status = brume_filter_parse(state, out, error);
    if (status == BRUME_OK)
        *has = found;
    return status;
}

brume_status brume_ledger_left(brume_ledger *ledger, const brume_dataset *dataset,
                               brume_charge *left, brume_error *error)
{
    brume_charge whole, mine;
    brume_filter filter;
    bool has = false;
    char text[BRUME_HOLDER_TEXT];
    const char *holder = brume_ledger_holder(ledger, text);
    BRUME_TRY(brume_filter_left(&dataset->filter, &whole, error));
    if (holder)
        BRUME_TRY(brume_ledger_allotment(ledger, holder, dataset->name, &has, &filter, error));
    if (has) {
        BRUME_TRY(brume_filter_left(&filter, &mine, error));
        if (brume_decimal_compare(&mine.amount, &whole.amount) < 0)
            whole.amount = mine.amount;
        if (brume_decimal_compare(&mine.delta, &whole.delta) < 0)
            whole.delta = mine.delta;
    }
    *left = whole;
    return BRUME_OK;
}

brume_status brume_allotment_charge(brume_ledger *ledger, const char *dataset,
                                    const brume_charge *price, char state[BRUME_FILTER_TEXT],
                                    brume_error *error)
{
    brume_filter filter;
    bool has = false;
    state[0] = 0;
    char text[BRUME_HOLDER_TEXT];
    const char *holder = brume_ledger_holder(ledger, text);
    if (!holder)
        return BRUME_OK;
    BRUME_TRY(brume_ledger_allotment(ledger, holder, dataset, &has, &filter, error));
    if (!has && ledger->project)
        return brume_fail(error, BRUME_EPOLICY, "'brume project list' shows what it may ask",
                          "the project '%s' has no allotment on '%s'", ledger->project, dataset);
    if (!has)
        return BRUME_OK;
    brume_error reason = {0};
    brume_status status = brume_filter_charge(&filter, price, &reason);
    if (status != BRUME_OK)
        return brume_fail(
            error, status,
            status == BRUME_EBUDGET ? "ask for less, or ask the owner for more" : reason.hint,
            ledger->project ? "the project's allotment on '%s': %s" : "your allotment on '%s': %s",
            dataset, reason.message);
    return brume_filter_print(&filter, state, error);
}

brume_status brume_allotment_store(brume_ledger *ledger, const char *user, const char *dataset,
                                   const char *state, uint64_t id, brume_error *error)
{
    return brume_store_execute(
        ledger, error,
        "INSERT INTO allotment(\"user\", dataset, filter, last) VALUES(?1,?2,?3,?4) "
        "ON CONFLICT(\"user\", dataset) DO UPDATE SET filter=?3, last=?4",
        "ttti", user, dataset, state, (int64_t)id);
}

/* ---- new ones ---- */

/* The share of the dataset's delta that epsilon is of its epsilon, rounded down. */
static brume_status usual_delta(const brume_dataset *dataset, const brume_decimal *epsilon,
                                brume_decimal *out, brume_error *error)
{
    const brume_filter *whole = &dataset->filter;
    double share =
        brume_divide_down(brume_decimal_lower(epsilon), brume_decimal_upper(&whole->epsilon));
    double delta = brume_multiply_down(fmin(share, 1), brume_decimal_lower(&whole->delta));
    return brume_decimal_from_double_down(delta, 17, out, error);
}

brume_status brume_allotment_filter(const brume_dataset *dataset, const brume_allotment *typed,
                                    const brume_filter *before, brume_filter *out,
                                    brume_error *error)
{
    brume_decimal epsilon, delta = {0};
    brume_rule rule = dataset->filter.rule;
    if (json_is_true(json_object_get(dataset->policy, "public")))
        return brume_fail(error, BRUME_EARGUMENT, "leave it out",
                          "'%s' is public and has no budget to take from", dataset->name);
    BRUME_TRY(brume_decimal_parse(typed->epsilon, &epsilon, error));
    if (typed->delta && rule == BRUME_RULE_PURE)
        return brume_fail(error, BRUME_EARGUMENT, "leave delta out",
                          "the budget of '%s' is of the rule pure, which has no delta",
                          dataset->name);
    if (typed->delta)
        BRUME_TRY(brume_decimal_parse(typed->delta, &delta, error));
    else if (rule != BRUME_RULE_PURE)
        BRUME_TRY(usual_delta(dataset, &epsilon, &delta, error));
    const brume_decimal *second = rule == BRUME_RULE_PURE ? NULL : &delta;
    if (before) {
        brume_status status = brume_amended_filter(before, &epsilon, second, out, error);
        if (status == BRUME_EPOLICY)
            return brume_fail(error, status, "what was spent stays spent: see 'brume user list'",
                              "the allotment on '%s' would be smaller than what was spent of it",
                              dataset->name);
        return status;
    }
    return brume_filter_make(rule, &epsilon, second, NULL, out, error);
}

brume_status brume_allotment_give(brume_ledger *ledger, const char *holder,
                                  const brume_allotment *typed, uint64_t id, json_t *list,
                                  brume_error *error)
{
    brume_dataset *dataset = NULL;
    brume_filter before, after;
    bool has = false;
    char state[BRUME_FILTER_TEXT];
    BRUME_TRY(brume_ledger_dataset(ledger, typed->dataset, &dataset, error));
    brume_status status =
        brume_ledger_allotment(ledger, holder, typed->dataset, &has, &before, error);
    if (status == BRUME_OK)
        status = brume_allotment_filter(dataset, typed, has ? &before : NULL, &after, error);
    brume_dataset_close(dataset);
    if (status == BRUME_OK)
        status = brume_filter_print(&after, state, error);
    if (status == BRUME_OK)
        status = brume_allotment_store(ledger, holder, typed->dataset, state, id, error);
    if (status != BRUME_OK)
        return status;
    json_t *entry = json_pack("{s:s,s:s}", "dataset", typed->dataset, "filter", state);
    return json_array_append_new(list, entry) == 0 ? BRUME_OK
                                                   : brume_no_memory(error, "writing the ledger");
}
