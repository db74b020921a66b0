/* One question of each window. Promises: each.h. */
#include "command/query/each.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "command/query/write_answer.h"
#include "ledger/user.h"
#include "number/decimal.h"
#include "query/release/explain.h"

typedef struct each {
    brume_ledger *ledger;
    const char *sql;
    brume_payment payment;
    const brume_target *target;
    brume_bits *bits;
    const brume_watch *watch;
    brume_dataset *dataset;
    brume_window_set windows; /* all, and those of them that are to be paid */
    brume_window_set new;
    brume_decimal price, window_price; /* of all new ones together; the largest of one window */
    size_t count;
    char (*labels)[BRUME_WINDOW_LABEL];
    brume_query_answer **answers;
} each;

static void clear(each *all)
{
    for (size_t i = 0; all->answers && i < all->count; i++)
        brume_query_answer_close(all->answers[i]);
    free(all->answers);
    free(all->labels);
    brume_window_set_free(&all->windows);
    brume_window_set_free(&all->new);
    brume_dataset_close(all->dataset);
}

static brume_status explain(each *all, const char *windows, json_t **made, brume_error *error)
{
    brume_payment payment = all->payment;
    payment.windows = windows;
    return brume_explain(all->ledger, all->sql, &payment, all->target, made, error);
}

static brume_status add_label(each *all, const char *label, brume_error *error)
{
    if (all->count == BRUME_EACH_MOST)
        return brume_fail(error, BRUME_EARGUMENT,
                          "bound the dates in WHERE or with --windows FIRST..LAST",
                          "'--each' is of %d windows at most", (int)BRUME_EACH_MOST);
    snprintf(all->labels[all->count++], BRUME_WINDOW_LABEL, "%s", label);
    return BRUME_OK;
}

/* Which windows the question touches, one by one. */
static brume_status list_windows(each *all, const json_t *windows, const brume_window_grid *grid,
                                 brume_error *error)
{
    size_t i;
    json_t *range;
    all->labels = calloc(BRUME_EACH_MOST, sizeof *all->labels);
    if (!all->labels)
        return brume_no_memory(error, "the windows");
    json_array_foreach (json_object_get(windows, "ranges"), i, range) {
        int64_t first = 0, last = 0;
        BRUME_TRY(
            brume_window_parse(grid, json_string_value(json_array_get(range, 0)), &first, error));
        BRUME_TRY(
            brume_window_parse(grid, json_string_value(json_array_get(range, 1)), &last, error));
        for (int64_t window = first; window <= last; window++) {
            char label[BRUME_WINDOW_LABEL];
            BRUME_TRY(add_label(all, brume_window_label(grid, window, label), error));
        }
        BRUME_TRY(brume_window_set_add(&all->windows, first, last, error));
    }
    if (json_is_true(json_object_get(windows, "undated"))) {
        all->windows.undated = true;
        BRUME_TRY(add_label(all, "undated", error));
    }
    return BRUME_OK;
}

/* The amount of a cost, and what it adds to. */
static brume_status amount_of(const json_t *cost, brume_decimal *out, brume_error *error)
{
    const json_t *rho = json_object_get(cost, "rho");
    double amount = json_number_value(json_is_number(rho) ? rho : json_object_get(cost, "epsilon"));
    return brume_decimal_from_double_shortest(amount, out, error);
}

/* What one window would cost; nothing, if its answer is recorded. */
static brume_status add_price(each *all, const brume_window_grid *grid, size_t index,
                              const json_t *made, brume_error *error)
{
    int64_t window = 0;
    brume_decimal amount, paid;
    if (json_is_true(json_object_get(made, "recorded")))
        return BRUME_OK;
    BRUME_TRY(amount_of(json_object_get(made, "cost"), &amount, error));
    BRUME_TRY(amount_of(json_object_get(json_object_get(made, "windows"), "price"), &paid, error));
    BRUME_TRY(brume_decimal_add(&all->price, &amount, &all->price, error));
    if (brume_decimal_compare(&paid, &all->window_price) > 0)
        all->window_price = paid;
    if (strcmp(all->labels[index], "undated") == 0) {
        all->new.undated = true;
        return BRUME_OK;
    }
    BRUME_TRY(brume_window_parse(grid, all->labels[index], &window, error));
    return brume_window_set_add(&all->new, window, window, error);
}

/* A look before the first charge; the ledger looks again at each. */
static brume_status check_budgets(each *all, brume_error *error)
{
    brume_charge left;
    if (brume_window_set_is_empty(&all->new))
        return BRUME_OK;
    if (!all->dataset->no_budget) {
        BRUME_TRY(brume_ledger_left(all->ledger, all->dataset, &left, error));
        if (brume_decimal_compare(&left.amount, &all->price) < 0)
            return brume_fail(error, BRUME_EBUDGET, "pay less, or ask of fewer windows",
                              "what may be spent of '%s' does not carry all %llu windows; nothing "
                              "was charged",
                              all->dataset->name,
                              (unsigned long long)brume_window_set_size(&all->new));
    }
    BRUME_TRY(brume_ledger_least_left(all->ledger, all->dataset, &all->new, &left, error));
    if (brume_decimal_compare(&left.amount, &all->window_price) < 0)
        return brume_fail(error, BRUME_EBUDGET, "'brume budget' shows what each window has",
                          "not every window of '%s' has enough left; nothing was charged",
                          all->dataset->name);
    return BRUME_OK;
}

static brume_status check_all(each *all, const brume_window_grid *grid, brume_error *error)
{
    for (size_t i = 0; i < all->count; i++) {
        json_t *made = NULL;
        BRUME_TRY(explain(all, all->labels[i], &made, error));
        brume_status status = add_price(all, grid, i, made, error);
        json_decref(made);
        BRUME_TRY(status);
        if (all->watch && all->watch->stopped(all->watch->context))
            return brume_fail(error, BRUME_ECANCELLED, NULL, "%s; nothing was spent",
                              all->watch->stopped(all->watch->context));
    }
    return check_budgets(all, error);
}

static brume_status find_windows(each *all, brume_error *error)
{
    json_t *made = NULL;
    brume_window_grid grid = {0};
    const char **values = NULL;
    BRUME_TRY(explain(all, all->payment.windows, &made, error));
    const json_t *windows = json_object_get(made, "windows");
    const char *name = json_string_value(json_object_get(windows, "dataset"));
    brume_status status = BRUME_OK;
    if (!name)
        status = brume_fail(error, BRUME_EARGUMENT, "leave it out",
                            "'--each' is for tables with windows, and the query reads none");
    else if (json_object_get(windows, "others"))
        status = brume_fail(error, BRUME_EUNSUPPORTED, "ask with --windows, one by one",
                            "'--each' is of one dataset with windows, and the query reads several");
    if (status == BRUME_OK)
        status = brume_ledger_dataset(all->ledger, name, &all->dataset, error);
    if (status == BRUME_OK && !brume_dataset_grid(all->dataset->policy, &grid, &values))
        status = brume_fail(error, BRUME_EDAMAGED, NULL, "a dataset has not its windows");
    if (status == BRUME_OK)
        status = list_windows(all, windows, &grid, error);
    if (status == BRUME_OK)
        status = check_all(all, &grid, error);
    free(values);
    json_decref(made);
    return status;
}

static brume_status ask_all(each *all, brume_error *error)
{
    all->answers = calloc(all->count + 1, sizeof *all->answers);
    if (!all->answers)
        return brume_no_memory(error, "the windows");
    for (size_t i = 0; i < all->count; i++) {
        brume_payment payment = all->payment;
        payment.windows = all->labels[i];
        brume_status status = brume_ask(all->ledger, all->sql, &payment, all->target, all->bits,
                                        all->watch, &all->answers[i], error);
        if (status != BRUME_OK) {
            brume_error inner = *error;
            return brume_fail(error, status, *inner.hint ? inner.hint : NULL,
                              "%s: %.300s; the windows before it are recorded, and free when asked "
                              "again",
                              all->labels[i], inner.message);
        }
        if (all->watch)
            all->watch->enter(all->watch->context, BRUME_PHASE_FREE, NULL);
    }
    return BRUME_OK;
}

brume_status brume_ask_each(brume_call *call, brume_ledger *ledger, const char *sql,
                            const brume_payment *payment, const brume_target *target,
                            brume_bits *bits, const brume_watch *watch, brume_error *error)
{
    each all = {.ledger = ledger,
                .sql = sql,
                .payment = *payment,
                .target = target,
                .bits = bits,
                .watch = watch};
    brume_status status = find_windows(&all, error);
    if (status == BRUME_OK)
        status = ask_all(&all, error);
    if (status == BRUME_OK)
        status = brume_write_each(call, (const char(*)[BRUME_WINDOW_LABEL])all.labels,
                                  (const brume_query_answer *const *)all.answers, all.count, error);
    clear(&all);
    return status;
}
