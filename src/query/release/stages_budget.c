/* Do the budgets and allotments carry all stages of a query? See the header. */
#include "query/release/ask.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ledger/user.h"
#include "query/plan/question.h"

/* What is left of a dataset's budget, and of the user's allotment on it, after the stages that were
 * counted so far. */
typedef struct rest {
    char *dataset;
    brume_decimal left;
    size_t last_stage; /* the last that took its price from it: 1 + its place */
} rest;

typedef struct rests {
    rest *list;
    size_t count;
} rests;

static void free_rests(rests *all)
{
    for (size_t i = 0; i < all->count; i++)
        free(all->list[i].dataset);
    free(all->list);
}

static brume_status find_rest(rests *all, brume_ledger *ledger, const brume_dataset *dataset,
                              rest **found, brume_error *error)
{
    brume_charge left;
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->list[i].dataset, dataset->name) == 0) {
            *found = &all->list[i];
            return BRUME_OK;
        }
    BRUME_TRY(brume_ledger_left(ledger, dataset, &left, error));
    rest *list = realloc(all->list, (all->count + 1) * sizeof *list);
    if (!list)
        return brume_no_memory(error, "a query");
    all->list = list;
    list[all->count] = (rest){.dataset = strdup(dataset->name), .left = left.amount};
    if (!list[all->count].dataset)
        return brume_no_memory(error, "a query");
    *found = &list[all->count++];
    return BRUME_OK;
}

/* Take the price of a stage from all datasets that it reads, once from each. */
static brume_status take(rests *all, brume_ledger *ledger, const brume_question *question,
                         size_t stage, const brume_payment *payment, const brume_decimal *amount,
                         brume_error *error)
{
    const brume_query *query = question->query;
    for (size_t i = 0; query && i < query->table_count; i++) {
        const brume_dataset *dataset = question->datasets[query->tables[i].table];
        rest *one = NULL;
        if (dataset->filter.rule == BRUME_RULE_CONCENTRATED && payment->epsilon)
            continue;
        BRUME_TRY(find_rest(all, ledger, dataset, &one, error));
        if (one->last_stage == stage + 1)
            continue;
        one->last_stage = stage + 1;
        if (brume_decimal_compare(&one->left, amount) < 0)
            return brume_fail(error, BRUME_EBUDGET, "pay less; nothing was spent",
                              "what may be spent of '%s' does not carry all stages of the query",
                              dataset->name);
        BRUME_TRY(brume_decimal_subtract(&one->left, amount, &one->left, error));
    }
    return BRUME_OK;
}

brume_status brume_stages_check_budget(brume_ledger *ledger, const brume_stage_price *list,
                                       size_t count, brume_error *error)
{
    rests all = {0};
    brume_status status = BRUME_OK;
    for (size_t i = 0; status == BRUME_OK && i < count; i++) {
        const brume_payment *payment = list[i].payment;
        const char *typed = payment->epsilon ? payment->epsilon : payment->rho;
        brume_question *question = NULL;
        brume_decimal amount;
        brume_error ignored;
        status = brume_decimal_parse(typed ? typed : "0", &amount, error);
        if (status == BRUME_OK &&
            brume_question_open_any(ledger, list[i].sql, &question, &ignored) == BRUME_OK)
            status = take(&all, ledger, question, i, payment, &amount, error);
        brume_question_close(question);
    }
    free_rests(&all);
    return status;
}
