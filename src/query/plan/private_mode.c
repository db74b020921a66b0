/* The mode of an expression whose values nobody declared: what is collected for it. */
#include "query/plan/private_mode.h"

#include "base/error.h"
#include "query/plan/plan_parts.h"
#include "query/price/price_parts.h"

static const uint64_t most_pairs = UINT64_C(1) << 26; /* what the bounding keeps of a unit */

brume_status brume_private_mode_plan(brume_plan *plan, size_t index, brume_error *error)
{
    brume_measurement *mode = &plan->measurements[index];
    uint64_t groups = brume_shape_groups(&plan->shape);
    if (groups > most_pairs || (groups && plan->shape.max_rows > most_pairs / groups))
        return brume_fail(error, BRUME_EOVERFLOW,
                          "ask the owner to declare the column's values with --domain",
                          "a unit may have too many rows for MODE of undeclared values");
    brume_query *pairs = NULL;
    BRUME_TRY(brume_plan_pairs(plan, mode->mode.argument, "a mode", &pairs, error));
    mode->collection = (brume_collection){.query = pairs,
                                          .max_groups = brume_shape_pairs(&plan->shape),
                                          .bounded = plan->bounded || plan->by_totals};
    return BRUME_OK;
}
