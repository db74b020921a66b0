/* From an accuracy to a price: the least epsilon for which every value is within a given distance
 * of its noiseless value with a given probability. The plan is a public function from prices to
 * errors that only falls; it is searched, and nothing is spent. */
#ifndef BRUME_QUERY_TARGET_H
#define BRUME_QUERY_TARGET_H

#include "query/plan/question.h"
#include "query/plan/plan_terms.h"

typedef struct brume_target {
    double within;     /* counts, sums, means, variances: at most this far off; 0: not asked */
    double rank;       /* quantiles: at most this many rows off in rank; 0: not asked */
    double confidence; /* with at least this probability, 0.95 unless said */
    bool joint;        /* for all values at once */
    double at_least; /* means and variances: for groups with at least so many values; 0: not said */
} brume_target;

/* The half-width at 95 % that an aggregate will have, noise and what its limit cuts together, as
 * far as it can be known without a row: low = high where its limit is known, or can be foreseen
 * from what the ledger has of it; else the range for limits of one row to a hundred, or to the
 * owner's ceiling. For a mean by what the ledger's looks say of the number of rows and of their
 * sum. False: it depends on the data (other means, quantiles, modes, and whatever is computed from
 * them). */
typedef struct brume_bar_range {
    double low, high;
    bool about;        /* another look at the limit will be bought, and may change it */
    double rows;       /* of a mean: it is for a group with about so many values; else 0 */
    double sure_below; /* of a count: under a declared ceiling below this, in rows, the bar would be
                          shorter, and a theorem; else 0 */
} brume_bar_range;

bool brume_target_bar(const brume_terms *terms, size_t aggregate, brume_bar_range *out);

enum { BRUME_PRICE_TEXT = 32 };

/* Makes the terms of every plan that is tried: with the limits that are in the ledger, for where it
 * will be answered. */
typedef struct brume_plan_hook {
    brume_status (*terms)(void *context, brume_plan *plan, brume_terms **out, brume_error *error);
    void *context;
} brume_plan_hook;

/* Write the least price, a decimal with six places, to `epsilon`. From the payment delta and the
 * limits are read. `hook` NULL: nothing is known of limits. Errors: BRUME_EARGUMENT a target that
 * is not one, means without at_least, joint over private keys, limits that are not known yet;
 * BRUME_EUNSUPPORTED values that have no such promise; BRUME_EBUDGET if what is left does not carry
 * it (with what it would take, where that is known). */
BRUME_MUST_USE brume_status brume_target_price(const brume_question *question,
                                               const brume_target *target,
                                               const brume_payment *payment,
                                               const brume_plan_hook *hook,
                                               char epsilon[BRUME_PRICE_TEXT], brume_error *error);

#endif
