/* Do the budgets carry all stages of a query? Asked before the first is charged, because otherwise
 * the first would be paid for nothing. Whoever spends meanwhile may still prevent a later one.
 *
 * A stage takes its price once from every dataset that it reads, so datasets that only one stage
 * reads have to carry the price of that one alone. */
#ifndef BRUME_QUERY_STAGES_BUDGET_H
#define BRUME_QUERY_STAGES_BUDGET_H

#include "ledger/ledger.h"
#include "query/plan/plan.h"

/* A stage that is going to be charged. */
typedef struct brume_stage_price {
    const char *sql;
    const brume_payment *payment;
} brume_stage_price;

/* EBUDGET, which names the dataset, if one does not carry what the stages take of it together. A
 * price in epsilon on a budget in rho, and a stage that has stages itself, are left to the charge.
 */
BRUME_MUST_USE brume_status brume_stages_check_budget(brume_ledger *ledger,
                                                      const brume_stage_price *list, size_t count,
                                                      brume_error *error);

#endif
