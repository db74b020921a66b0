/* The mode of an expression whose values nobody declared: what is collected for it.
 *
 * A histogram over pairs of a group's key and a value, with noise on the number of units in each
 * pair that occurs (draw_mode.h). Of each unit at most max_groups * max_rows pairs are kept, by
 * keyed hash; each counts once. Rows whose value is NULL have no pair. Price: price.h,
 * PRIVATE_MODE; proofs/private-mode.md. */
#ifndef BRUME_QUERY_PRIVATE_MODE_H
#define BRUME_QUERY_PRIVATE_MODE_H

#include "query/plan/plan.h"

/* Fill in the collection of plan->measurements[index]: the pairs, the value as the last key.
 * BRUME_EOVERFLOW if a unit could have too many pairs. */
BRUME_MUST_USE brume_status brume_private_mode_plan(brume_plan *plan, size_t index,
                                                    brume_error *error);

#endif
