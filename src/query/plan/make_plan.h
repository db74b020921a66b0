/* Making the plan of a query, from its parsed text, the policies and the payment. */
#ifndef BRUME_QUERY_MAKE_PLAN_H
#define BRUME_QUERY_MAKE_PLAN_H

#include "query/expression/query.h"
#include "query/plan/plan.h"

/* Make the plan. `tables` are those of the catalog, in its order.
 * Errors: BRUME_EARGUMENT the payment; BRUME_EPOLICY rules or adjacencies that do not go together,
 * private keys under the pure rule; BRUME_EOVERFLOW domains or noise too large;
 * BRUME_EUNSUPPORTED what cannot be planned. */
BRUME_MUST_USE brume_status brume_query_plan_make(brume_query *query,
                                                  const brume_plan_table *tables,
                                                  const brume_payment *payment, brume_plan **out,
                                                  brume_error *error);

/* The types of a query's outputs, known without a row: for explain, and for protocols that must
 * describe an answer before it is asked for. */

/* BOOLEAN, BIGINT (counts, ranks and whole keys), DOUBLE, TEXT, DATE or TIMESTAMP. Every value that
 * the output can have is of this type or NULL. */
brume_type_kind brume_output_type(const brume_query *query, const brume_query_output *output);

#endif
