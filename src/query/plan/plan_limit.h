/* The limits of a plan: which there are, and what is known of them before a row is read.
 *
 * 1. Queries on tables whose units may have several rows, that ask for an aggregate, limit each
 *    unit's totals as a whole. The count of rows, the count of an expression's values and the sum
 *    of an expression have a limit each; means and variances follow the limit of their count. Of
 *    quantiles and declared modes a unit's values weigh no more than a limit on their number. Modes
 *    of undeclared values count units that vote for one value, or for as many as the owner's
 *    ceilings allow. Keys alone are bounded by max_groups.
 * 2. A limit is typed, or the owner's (a ceiling of at most two rows, or a policy that fixes the
 *    limits), or in the ledger; else it is chosen, which takes a share of the price. */
#ifndef BRUME_QUERY_PLAN_LIMIT_H
#define BRUME_QUERY_PLAN_LIMIT_H

#include "query/plan/plan.h"

/* Does clause 1 hold for the query? */
bool brume_plan_limits_totals(const brume_query *query);

/* The limits of plan->measures; typed and owner's ones are known. `fixed`: the owner's ceilings are
 * the limits.
 * Errors: BRUME_EARGUMENT a typed limit that is none or belongs to nothing; BRUME_EPOLICY one above
 * the owner's ceiling, or fixed limits without ceilings. */
BRUME_MUST_USE brume_status brume_plan_find_limits(brume_plan *plan, const brume_payment *payment,
                                                   bool fixed, brume_error *error);

/* EARGUMENT or EUNSUPPORTED where 'brume limits' would have nothing to choose, or choose among
 * private groups. */
BRUME_MUST_USE brume_status brume_plan_check_choice(const brume_plan *plan, brume_error *error);

/* Which of the plan's limits a measure has; BRUME_NOT_MEASURED: none. */
int brume_plan_limit_index(const brume_plan *plan, size_t measure);

/* The limit that an aggregate is mostly about; NULL: it has none. */
const brume_plan_limit *brume_plan_limit_of(const brume_plan *plan, size_t aggregate);

/* What one grid step of a limit is in the units of the query. */
double brume_plan_limit_step(const brume_plan *plan, const brume_plan_limit *limit);

const char *brume_limit_source_word(brume_limit_source source);

#endif
