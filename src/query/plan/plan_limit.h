/* The limits of a plan: which there are, what is known of them, and what they make of the measures.
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

#include <jansson.h>

#include "query/plan/plan.h"

/* Does clause 1 hold for the query? */
bool brume_plan_limits_totals(const brume_query *query);

/* The limits of plan->measures; typed and owner's ones are known. `fixed`: the owner's ceilings are
 * the limits.
 * Errors: BRUME_EARGUMENT a typed limit that is none or belongs to nothing; BRUME_EPOLICY one above
 * the owner's ceiling, or fixed limits without ceilings. */
BRUME_MUST_USE brume_status brume_plan_find_limits(brume_plan *plan, const brume_payment *payment,
                                                   bool fixed, brume_error *error);

/* Where totals are not limited: EUNSUPPORTED if a limit was typed, unless it is of a count of
 * values (plan_distinct.h). */
BRUME_MUST_USE brume_status brume_plan_check_typed(const brume_plan *plan,
                                                   const brume_payment *payment,
                                                   brume_error *error);

/* The limit by the rule, from the histogram in it; and what it is where no limit was found: the
 * ceiling, 1 for counts, else none. */
void brume_plan_choose_limit(const brume_plan *plan, brume_plan_limit *limit, double cells);

/* A limit above the owner's ceiling becomes the ceiling; its bin is then the last one whose units
 * the ceiling does not cut. */
void brume_plan_cap_limit(brume_plan_limit *limit);

/* Price the plan: what choosing takes, if any limit is not known yet, and the
 * noise of the measures; then apply the limits. From plan->amount, allowed_delta and step. */
BRUME_MUST_USE brume_status brume_plan_price_limited(brume_plan *plan, brume_error *error);

/* EARGUMENT or EUNSUPPORTED where 'brume limits' would have nothing to choose, or choose among
 * private groups. */
BRUME_MUST_USE brume_status brume_plan_check_choice(const brume_plan *plan, brume_error *error);

/* Sensitivities, scales and shifts of the measures under the limits; those that are not known count
 * as 1. */
void brume_plan_apply_limits(brume_plan *plan);

/* Forget what was chosen, as after a rehearsal, and price anew; of one limit, what was chosen. */
BRUME_MUST_USE brume_status brume_plan_forget_limits(brume_plan *plan, brume_error *error);
void brume_plan_forget_limit(brume_plan_limit *limit);

/* The limit of a measure; NULL: it has none. */
const brume_plan_limit *brume_plan_measure_limit(const brume_plan *plan, size_t measure);

/* Half-width at 95 % of a measure's noise if its limit were T, in the units of the query; of a
 * quantile in ranks, of a declared mode in rows. */
double brume_plan_width_at(const brume_plan *plan, size_t measure, double limit);

/* Does one row add 1 to what is limited? Then the first count comes before the histogram (tail.h).
 */
bool brume_plan_limit_counts(const brume_plan_limit *limit);

/* What is bought of choosing whatever is drawn: first counts, and histograms where a sum is
 * limited.
 */
brume_choice_step brume_plan_first_step(const brume_plan *plan);

/* The histogram of a limit, for the rule: it ends with the owner's ceiling, its last bin is open.
 * And for what was cut: the tail was counted beyond the ceiling, and it alone tells where the units
 * of the open bin are, so that `noisy`, which is filled in, has none there. */
brume_limit_histogram brume_plan_histogram(const brume_plan_limit *limit);
brume_limit_histogram brume_plan_counted(const brume_plan_limit *limit,
                                         double noisy[BRUME_LIMIT_BINS]);

/* The limit that an aggregate is mostly about; NULL: it has none. */
const brume_plan_limit *brume_plan_limit_of(const brume_plan *plan, size_t aggregate);

/* Was the limit looked for in a histogram, and not found? It is then the ceiling or, of counts, 1.
 */
bool brume_plan_limit_not_found(const brume_plan_limit *limit);

/* Was it found in a histogram, so that the units above it were counted too? Nobody counted those
 * above a limit that was typed or registered. */
bool brume_plan_limit_is_counted(const brume_plan_limit *limit);

/* A count or a sum whose limit was not found, without a ceiling: nobody knows what was cut of it.
 */
bool brume_plan_cut_is_unknown(const brume_plan *plan, size_t aggregate);

/* The limit in grid steps, rounded up. */
double brume_plan_limit_value(const brume_plan_limit *limit);

/* What one grid step of a limit is in the units of the query. */
double brume_plan_limit_step(const brume_plan *plan, const brume_plan_limit *limit);

/* How many limits of the groups are still to be chosen. */
size_t brume_plan_group_choices(const brume_plan *plan);

/* Which part of the price is for choosing limits, by the steps that were bought; of the groups'
 * limits alone. */
double brume_plan_choice_share(const brume_plan *plan);
double brume_plan_groups_choice_share(const brume_plan *plan);

/* "auto", "typed", "policy", "ledger" or "none": of several limits the one that costs most. */
const char *brume_plan_limits_word(const brume_plan *plan);
const char *brume_limit_source_word(brume_limit_source source);

/* What the ledger has of a limit that is chosen all the same, if anything, as "earlier". */
void brume_plan_limit_add_earlier(const brume_plan_limit *limit, json_t *json);

#endif
