/* A filter with another budget, for who amends one and for who verifies that it was done right. */
#ifndef BRUME_LEDGER_AMEND_H
#define BRUME_LEDGER_AMEND_H

#include <brume/account/filter.h>

/* The limits of a fresh filter of this budget under the same rule, with the sums of `before`.
 * `delta` NULL: none. BRUME_EPOLICY if a sum is above its limit, or if `before` keeps another share
 * of delta for failures than a tenth; BRUME_EARGUMENT if the rule does not take the budget. */
BRUME_MUST_USE brume_status brume_amended_filter(const brume_filter *before,
                                                 const brume_decimal *epsilon,
                                                 const brume_decimal *delta, brume_filter *after,
                                                 brume_error *error);

#endif
