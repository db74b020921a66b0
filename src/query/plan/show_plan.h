/* A plan and its terms as JSON: for explain, for the columns of an answer and for the ledger. */
#ifndef BRUME_QUERY_SHOW_PLAN_H
#define BRUME_QUERY_SHOW_PLAN_H

#include <jansson.h>

#include "query/plan/plan_terms.h"

/* The plan as JSON, for explain and for the ledger's events: every measure with its sensitivity
 * (of all groups together, under the adjacency that is charged), scale and share, the bounds, keys
 * and threshold. NULL if memory is out. */
json_t *brume_terms_to_json(const brume_terms *terms);

/* The limits on what one unit adds: [{"statistic","chosen","limit","ceiling","ladder"}]. The ladder
 * of one that is still to be chosen is what the error bar of its first measure would be for limits
 * of 1, 10, 100, ... NULL if memory is out. */
json_t *brume_terms_limits_to_json(const brume_terms *terms);

/* {"epsilon","delta","rho"}: the price; NULL if memory is out. */
json_t *brume_plan_cost_to_json(const brume_plan *plan);

#endif
