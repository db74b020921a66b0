/* The parts that brume_plan_make is made of. */
#ifndef BRUME_QUERY_PLAN_PARTS_H
#define BRUME_QUERY_PLAN_PARTS_H

#include "query/plan.h"

/* A grid for each of the plan's values, from their bounds or declared domains. */
BRUME_MUST_USE brume_status brume_plan_grid_values(brume_plan *plan, brume_error *error);

/* Scales, thresholds and the charge, from what was typed. */
BRUME_MUST_USE brume_status brume_plan_pay(brume_plan *plan, const brume_plan_table *tables,
                                           const brume_payment *payment, brume_error *error);

#endif
