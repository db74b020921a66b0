/* The mode of an expression whose values nobody declared: a histogram over pairs of a group's key
 * and a value, with noise on the number of units in each pair that occurs. A value may be the mode
 * of its group if its noisy number of units reaches a threshold; the largest one is.
 *
 * Of each unit at most max_groups * max_rows pairs are kept, by keyed hash; each counts once. Rows
 * whose value is NULL have no pair. Price: price.h, PRIVATE_MODE; proofs/private-mode.md. */
#ifndef BRUME_QUERY_MODE_H
#define BRUME_QUERY_MODE_H

#include "query/collect.h"

/* How the pairs of plan->modes[index] are collected: fills its query and its plan.
 * BRUME_EOVERFLOW if a unit could have too many pairs. */
BRUME_MUST_USE brume_status brume_mode_plan(brume_plan *plan, size_t index, brume_error *error);

/* For each of `groups`, in the order of their keys, the value of plan->modes[index]; NULL where no
 * value reaches the threshold. What `chosen` points to lives as long as `pairs`. */
BRUME_MUST_USE brume_status brume_mode_draw(const brume_plan *plan, size_t index,
                                            const brume_collected *pairs,
                                            const brume_bounded_group *const *groups, size_t count,
                                            brume_bits *bits, const brume_key_value **chosen,
                                            brume_error *error);

#endif
