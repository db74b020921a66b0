/* The mode of an expression whose values nobody declared: what is collected for it. */
#include "query/plan/private_mode.h"

#include <string.h>

#include "base/error.h"
#include "query/plan/plan_parts.h"
#include "query/price/price_parts.h"

static const uint64_t most_pairs = UINT64_C(1) << 26; /* what the bounding keeps of a unit */

/* The rows that are answered and have a value. */
static brume_node condition(brume_builder *builder, const brume_plan *plan,
                            const brume_expression *argument)
{
    brume_node rows = brume_plan_answered_rows(plan, builder);
    brume_node both[] = {rows, brume_build_test(builder, BRUME_OPERATION_IS_NOT_NULL, argument)};
    if (builder->status != BRUME_OK || !rows)
        return both[1];
    return brume_build_logic(builder, BRUME_OPERATION_AND, both, 2);
}

brume_status brume_private_mode_plan(brume_plan *plan, size_t index, brume_error *error)
{
    brume_measurement *mode = &plan->measurements[index];
    const brume_query *query = plan->query;
    uint64_t groups = brume_shape_groups(&plan->shape);
    if (groups > most_pairs || (groups && plan->shape.max_rows > most_pairs / groups))
        return brume_fail(error, BRUME_EOVERFLOW,
                          "ask the owner to declare the column's values with --domain",
                          "a unit may have too many rows for MODE of undeclared values");
    brume_builder builder = {.arena = query->arena, .error = error};
    brume_key *keys = brume_arena_allocate(query->arena, (query->key_count + 1) * sizeof *keys);
    brume_query *pairs = brume_arena_copy(query->arena, query, sizeof *query);
    if (!keys || !pairs)
        return brume_no_memory(error, "a mode");
    memcpy(keys, query->keys, query->key_count * sizeof *keys);
    keys[query->key_count] = (brume_key){.expression = mode->mode.argument};
    pairs->keys = keys;
    pairs->key_count = query->key_count + 1;
    pairs->aggregate_count = 0;
    pairs->set_count = 1;
    pairs->where = condition(&builder, plan, mode->mode.argument);
    if (!pairs->where || builder.status != BRUME_OK)
        return builder.status;
    mode->collection = (brume_collection){.query = pairs,
                                          .max_groups = brume_shape_pairs(&plan->shape),
                                          .max_rows = 1,
                                          .bounded = plan->bounded || plan->by_totals};
    return BRUME_OK;
}
