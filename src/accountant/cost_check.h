/* Is this a cost at all? */
#ifndef BRUME_ACCOUNTANT_COST_CHECK_H
#define BRUME_ACCOUNTANT_COST_CHECK_H

#include <brume/account/cost.h>

/* Refuse (BRUME_EARGUMENT) a stated number that no release can have: a negative or undefined
 * epsilon, rho or law, a probability outside [0, 1], a shift of nothing. What is absent is not
 * looked at, and infinity is allowed: it says nothing, and that is sound. */
BRUME_MUST_USE brume_status brume_cost_check(const brume_cost *cost, brume_error *error);

#endif
