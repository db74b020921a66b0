/* What the two halves of the filter share. */
#ifndef BRUME_ACCOUNTANT_BUDGET_FILTER_H
#define BRUME_ACCOUNTANT_BUDGET_FILTER_H

#include <brume/filter.h>

/* Is the budget in range for its rule, and does it justify the limits? BRUME_EARGUMENT otherwise.
 */
BRUME_MUST_USE brume_status brume_filter_limits_check(const brume_filter *filter,
                                                      brume_error *error);

#endif
