/* Making the plan of a query, from its parsed text, the policies and the payment. */
#ifndef BRUME_QUERY_MAKE_PLAN_H
#define BRUME_QUERY_MAKE_PLAN_H

#include "query/plan/plan.h"

/* Make the plan. `tables` are those of the catalog, in its order.
 * Errors: BRUME_EARGUMENT the payment; BRUME_EPOLICY rules or adjacencies that do not go together,
 * private keys under the pure rule; BRUME_EOVERFLOW domains or noise too large;
 * BRUME_EUNSUPPORTED what cannot be planned. */
BRUME_MUST_USE brume_status brume_query_plan_make(brume_query *query,
                                                  const brume_plan_table *tables,
                                                  const brume_payment *payment, brume_plan **out,
                                                  brume_error *error);

#endif
