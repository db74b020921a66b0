/* Grouping sets that add up: where the groups of ROLLUP, CUBE and GROUPING SETS are public, the
 * noisy numbers of all sets are fitted to each other (synthetic/consistent.h), so that every total
 * is the sum of its parts and no number has more noise than by itself. The fit comes after the
 * noise and costs nothing: prices, limits and what is drawn stay as they are
 * (proofs/joint-sets.md). Called "joint sets" in answers.
 *
 * For totals to be sums of parts a row counts in all sets or in none: those with a
 * value outside the declared ones are left out of every set. */
#ifndef BRUME_QUERY_PLAN_SETS_H
#define BRUME_QUERY_PLAN_SETS_H

#include "query/plan/plan.h"

/* When it is known what is collected for the groups: fill in plan->fitted and leave the other rows
 * out, or fill in plan->fitted_why. EMEMORY. */
BRUME_MUST_USE brume_status brume_plan_fit_sets(brume_plan *plan, brume_error *error);

/* Is this measure fitted? Its numbers in a group are the sums of those in the groups that it is
 * made of: units that are in several groups do not add up. */
bool brume_plan_is_fitted(const brume_plan *plan, size_t measure);

/* The grouping set of a group; -1: GROUP BY has no more than one. */
int brume_plan_set_of(const brume_plan *plan, const brume_key_value *keys);

#endif
