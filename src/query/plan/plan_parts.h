/* The parts that brume_query_plan_make is made of. */
#ifndef BRUME_QUERY_PLAN_PARTS_H
#define BRUME_QUERY_PLAN_PARTS_H

#include "query/expression/build.h"
#include "query/plan/plan.h"

/* Fill in the plan's keys: public, with all groups, or private. EOVERFLOW: too many groups. */
BRUME_MUST_USE brume_status brume_plan_keys(brume_plan *plan, const brume_plan_table *tables,
                                            brume_error *error);

/* A grid for each of the plan's values, from their bounds or declared domains. */
BRUME_MUST_USE brume_status brume_plan_grid_values(brume_plan *plan, brume_error *error);

/* Scales, thresholds and the charge, from what was typed. */
BRUME_MUST_USE brume_status brume_plan_pay(brume_plan *plan, const brume_plan_table *tables,
                                           const brume_payment *payment, brume_error *error);

/* WHERE of the query and, where keys are public, that the row's group is one that is answered:
 * lists too long for an expression are left out. NULL: no condition, or the builder failed. */
brume_node brume_plan_answered_rows(const brume_plan *plan, brume_builder *builder);

/* A query like the plan's of which each group is parted by the values of `argument`, as one key
 * more and the last: of the rows that are answered and have a value. EMEMORY names `what`. */
BRUME_MUST_USE brume_status brume_plan_pairs(const brume_plan *plan,
                                             const brume_expression *argument, const char *what,
                                             brume_query **out, brume_error *error);

/* Bounds of a number, in its own units. */
void brume_plan_bounds(const brume_expression *x, double *low, double *high);

/* The square of a number with bounds, as a double. */
BRUME_MUST_USE brume_status brume_plan_square(const brume_plan *plan, const brume_expression *x,
                                              const brume_expression **square, brume_error *error);

/* Two numbers with bounds, each less the middle of its own, multiplied: as a double. `middle` gets
 * the middles. */
BRUME_MUST_USE brume_status brume_plan_product(const brume_plan *plan, const brume_expression *x,
                                               const brume_expression *y, double middle[2],
                                               const brume_expression **product,
                                               brume_error *error);

#endif
