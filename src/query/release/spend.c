/* Spending: reserve, read and draw, record. */
#include "query/release/spend.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "ledger/review.h"
#include "number/decimal.h"

static void enter(const brume_watch *watch, brume_phase phase, brume_engine *engine)
{
    if (watch)
        watch->enter(watch->context, phase, engine);
}

static const char *why_stopped(const brume_watch *watch)
{
    return watch ? watch->stopped(watch->context) : NULL;
}

static brume_status cancelled(const brume_watch *watch, brume_error *error)
{
    const char *why = why_stopped(watch);
    return brume_fail(error, BRUME_ECANCELLED, "'brume history' shows it", "%s",
                      why ? why : "interrupted");
}

brume_status brume_spend_limit(const brume_watch *watch, double cap, const char *dataset,
                               brume_error *error)
{
    if (!watch || !(cap > 0))
        return BRUME_OK;
    if (watch->timeout > cap) {
        char hint[80];
        snprintf(hint, sizeof hint, "the owner allows %g seconds", cap);
        return brume_fail(error, BRUME_EPOLICY, hint,
                          "'--timeout' is above the cap of the dataset '%s'", dataset);
    }
    watch->limit(watch->context, cap);
    return BRUME_OK;
}

/* The same error, which also says what it cost. */
static void say_spent(brume_error *error)
{
    static const char said[] = "; the price stays spent";
    size_t length = error ? strlen(error->message) : 0;
    if (error && length + sizeof said <= sizeof error->message)
        memcpy(error->message + length, said, sizeof said);
}

brume_status brume_spend(brume_ledger *ledger, const brume_reservation *reservation,
                         brume_engine *engine, brume_make_answer make, void *context,
                         const brume_watch *watch, json_t **answer, brume_error *error)
{
    uint64_t id = 0;
    json_t *made = NULL;
    if (why_stopped(watch))
        return brume_fail(error, BRUME_ECANCELLED, NULL, "%s; nothing was spent",
                          why_stopped(watch));
    enter(watch, BRUME_PHASE_RESERVING, NULL);
    brume_status status = brume_ledger_reserve(ledger, reservation, &id, error);
    if (status != BRUME_OK) {
        enter(watch, BRUME_PHASE_FREE, NULL);
        return status;
    }
    enter(watch, BRUME_PHASE_RUNNING, engine);
    status = why_stopped(watch) ? cancelled(watch, error) : make(context, engine, id, &made, error);
    enter(watch, BRUME_PHASE_SPENT, NULL);
    /* an engine does not know of the ledger, and one that was told to stop may fail in its own way
     */
    if (why_stopped(watch) || status == BRUME_ECANCELLED)
        status = cancelled(watch, error);
    if (status == BRUME_OK) {
        status = brume_ledger_commit(ledger, id, made, error);
    } else {
        brume_status failed = brume_ledger_fail(ledger, id, status, NULL);
        (void)failed; /* if that cannot be recorded it stays reserved, and charged either way */
    }
    if (status != BRUME_OK) {
        say_spent(error);
        json_decref(made);
        return status;
    }
    enter(watch, BRUME_PHASE_RECORDED, NULL);
    status = brume_review_check(ledger, id, error); /* one that is held stays in the ledger */
    if (status != BRUME_OK) {
        say_spent(error);
        json_decref(made);
        return status;
    }
    *answer = made;
    return BRUME_OK;
}

json_t *brume_left_to_json(const brume_charge *left)
{
    double amount = brume_decimal_shown_down(&left->amount),
           delta = brume_decimal_shown_down(&left->delta);
    if (left->rule == BRUME_RULE_CONCENTRATED)
        return json_pack("{s:n,s:f,s:f}", "epsilon", "delta", delta, "rho", amount);
    return json_pack("{s:f,s:f}", "epsilon", amount, "delta", delta);
}

json_t *brume_budget_left(const brume_filter *filter)
{
    brume_charge left;
    return brume_filter_left(filter, &left, NULL) == BRUME_OK ? brume_left_to_json(&left) : NULL;
}

brume_status brume_spend_split(const char *typed, size_t parts, char first[BRUME_DECIMAL_TEXT],
                               char last[BRUME_DECIMAL_TEXT], brume_error *error)
{
    brume_decimal whole, part, taken;
    BRUME_TRY(brume_decimal_parse(typed, &whole, error));
    double share = brume_decimal_lower(&whole) / (double)parts;
    /* not more than an equal part; nextafter: the least doubles are not less than themselves */
    for (double at = share;; at = nextafter(at * (1 - 1e-11), 0)) {
        snprintf(first, BRUME_DECIMAL_TEXT, "%.12g", at);
        BRUME_TRY(brume_decimal_parse(first, &part, error));
        BRUME_TRY(brume_decimal_multiply(&part, parts, &taken, error));
        if (brume_decimal_compare(&taken, &whole) <= 0)
            break;
    }
    BRUME_TRY(brume_decimal_multiply(&part, parts - 1, &taken, error));
    BRUME_TRY(brume_decimal_subtract(&whole, &taken, &whole, error));
    brume_decimal_print(&whole, last, BRUME_DECIMAL_TEXT);
    return BRUME_OK;
}

double brume_spend_add(double a, double b)
{
    brume_decimal x, y;
    if (brume_decimal_from_double_shortest(a, &x, NULL) != BRUME_OK ||
        brume_decimal_from_double_shortest(b, &y, NULL) != BRUME_OK ||
        brume_decimal_add(&x, &y, &x, NULL) != BRUME_OK)
        return nextafter(a + b, INFINITY);
    return brume_decimal_shown_up(&x);
}
