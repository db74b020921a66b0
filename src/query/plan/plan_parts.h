/* The parts that brume_query_plan_make is made of. */
#ifndef BRUME_QUERY_PLAN_PARTS_H
#define BRUME_QUERY_PLAN_PARTS_H

#include "query/expression/build.h"
#include "query/plan/plan.h"

/* Fill in the plan's keys: public, with all groups, or private. EOVERFLOW: too many groups. */
BRUME_MUST_USE brume_status brume_plan_keys(brume_plan *plan, const brume_plan_table *tables,
                                            brume_error *error);

/* Scales, thresholds and the charge, from what was typed. */
BRUME_MUST_USE brume_status brume_plan_pay(brume_plan *plan, const brume_plan_table *tables,
                                           const brume_payment *payment, brume_error *error);

/* WHERE of the query and, where keys are public, that the row's group is one that is answered:
 * lists too long for an expression are left out. NULL: no condition, or the builder failed. */
brume_node brume_plan_answered_rows(const brume_plan *plan, brume_builder *builder);

/* WHERE of the query and, where keys are public, that the row is in a group of every grouping set:
 * its value of each key that some set has not is a declared one. NULL: the builder failed, or there
 * is no condition. */
brume_node brume_plan_declared_rows(const brume_plan *plan, brume_builder *builder);

/* A query like the plan's of which each group is parted by the values of `argument`, as one key
 * more and the last: of the rows that are answered and have a value. EMEMORY names `what`. */
BRUME_MUST_USE brume_status brume_plan_pairs(const brume_plan *plan,
                                             const brume_expression *argument, const char *what,
                                             brume_query **out, brume_error *error);

#endif
