/* How much clamping may have biased an answer: private counts of the units concerned. (How many
 * units a limit cuts is counted where it is chosen: limit/tail.h.)
 *
 * Where the owner allows it (brume_policy.bias_share), a share of a query's price buys, for the
 * whole query and not by group:
 *   units     with a row in the query,
 *   clamped   of them, for each value: with a row whose value is outside its bounds.
 * Each moves by at most 1 when a unit comes, goes or is replaced. The share is public; the numbers
 * are one more release in addition to the others, and basic composition (or the sum of rho) adds
 * them up. proofs/query-price.md. */
#ifndef BRUME_QUERY_BIAS_H
#define BRUME_QUERY_BIAS_H

#include <jansson.h>

#include "query/plan/plan.h"

/* May clamping move this argument of an aggregate? From the query alone. */
bool brume_bias_may_clamp(const brume_expression *argument);

/* Add the measurement to the plan's list, unless the policies do not allow it or nothing can be
 * clamped. plan->measurements has room for it. */
BRUME_MUST_USE brume_status brume_bias_plan(brume_plan *plan, const brume_plan_table *tables,
                                            brume_error *error);

/* Append the measures to the JSON list of a plan; false: memory is out. */
bool brume_bias_add_json(const brume_measurement *bias, json_t *list);

#endif
