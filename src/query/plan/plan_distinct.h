/* COUNT(DISTINCT x) of any x: how many different values the rows of a group have.
 *
 * A value counts once, whoever has it, and one unit may bring many. So a unit counts with at most L
 * pairs of a group and a value, chosen by keyed hash among its own; what is counted in each group
 * is the values that some unit's pairs have. One unit more or less moves these counts by L
 * together, one replaced by 2 L, or by L where there is one group (proofs/distinct.md). L is known
 * where a unit has one row, or by the owner's ceilings, or typed, or from an earlier choice in the
 * ledger; else it is chosen from a noisy histogram of the numbers of pairs, as other limits are,
 * and the units above it are counted. */
#ifndef BRUME_QUERY_PLAN_DISTINCT_H
#define BRUME_QUERY_PLAN_DISTINCT_H

#include <jansson.h>

#include "query/plan/plan_terms.h"

/* The measurement of the values of `argument`, the same for all aggregates that ask for it. */
int brume_distinct_add(brume_plan *plan, const brume_expression *argument);

/* What is collected for each, and what is known of its limit. EPOLICY: the limits are fixed, and
 * there is none. */
BRUME_MUST_USE brume_status brume_distinct_plan(brume_plan *plan, const brume_plan_table *tables,
                                                brume_error *error);

/* Is a typed limit ("T" or "COLUMN=T") that of a count of values? T alone: where nothing else of
 * the query has a limit, and there is one such count. */
bool brume_distinct_is_typed(const brume_plan *plan, const char *text);

/* Buy them: of what is left of *price (epsilon for p = 1, rho for p = 2) each has as much as a
 * measure of the groups. Typed limits are taken from the payment. Where only the choice of limits
 * is bought (plan->limits_only), those whose limits are known have nothing, and the groups have
 * nothing either once it is known that none of their limits is to be chosen.
 * Errors: EARGUMENT, EPOLICY: a typed limit that is none, or is above the owner's ceiling. */
BRUME_MUST_USE brume_status brume_distinct_pay(brume_plan *plan, const brume_payment *payment,
                                               int p, double *price, brume_error *error);

/* Fill in the scales that its part of the price buys, for a limit that is chosen or is known. */
BRUME_MUST_USE brume_status brume_distinct_price(const brume_plan *plan,
                                                 const brume_measurement *measurement,
                                                 brume_distinct_terms *distinct,
                                                 brume_error *error);

/* Is the limit of a count of values chosen for a share of this price? And how many are there in the
 * plan, unless the ledger has them? */
bool brume_distinct_chooses(const brume_distinct_terms *distinct);
size_t brume_distinct_choices(const brume_plan *plan);

/* Which part of the plan's price the choice of its limit has. */
double brume_distinct_choice_share(const brume_plan *plan, const brume_measurement *distinct);

/* "discrete_laplace" or the like. */
const char *brume_distinct_mechanism(const brume_measurement *distinct);

/* As brume_terms_to_json and brume_terms_limits_to_json have it; false: memory is out. */
bool brume_distinct_add_json(const brume_terms *terms, size_t measurement, json_t *list);
bool brume_distinct_add_limit(const brume_terms *terms, size_t measurement, json_t *list);

#endif
