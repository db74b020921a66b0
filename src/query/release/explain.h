/* Explaining a query: its plan, price and expected errors, from public numbers only. */
#ifndef BRUME_QUERY_EXPLAIN_H
#define BRUME_QUERY_EXPLAIN_H

#include <jansson.h>

#include "query/plan/target.h"

/* The plan, the price and the expected errors; spends nothing and reads no row. "sql" is the text
 * as it was typed, "normal" what brume understood; "columns" are those of the answer, with their
 * types (make_plan.h); "stages" are the scalar subqueries that are asked first (stages.c);
 * "datasets": those whose budgets pay; of the stages, each has its own; "recorded": the same
 * question was answered at the same price, and is free. */
BRUME_MUST_USE brume_status brume_explain(brume_ledger *ledger, const char *sql,
                                          const brume_payment *payment, const brume_target *target,
                                          json_t **explanation, brume_error *error);

/* For a query without them. */
BRUME_MUST_USE brume_status brume_explain_whole(brume_ledger *ledger, const char *sql,
                                                const brume_payment *payment,
                                                const brume_target *target, json_t **explanation,
                                                brume_error *error);

/* For a query that reads public tables alone, with what stages released that cost something: it is
 * not free as a whole. Its columns are exact functions of these, of types that the engine says. */
BRUME_MUST_USE brume_status brume_explain_paid(brume_ledger *ledger, const char *sql,
                                               json_t *explanation, brume_error *error);

#endif
