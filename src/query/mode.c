/* The mode of an expression whose values nobody declared.
 *
 * Promise: noise goes on every pair that some unit keeps, and on no other; what is chosen is a
 * function of the noisy numbers alone. */
#include "query/mode.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/draw.h"
#include "query/plan_parts.h"
#include "query/price_parts.h"

static const uint64_t most_pairs = UINT64_C(1) << 26; /* what the bounding keeps of a unit */

/* ---- how pairs are collected ---- */

/* The rows that are answered and have a value. */
static brume_node condition(brume_builder *builder, const brume_plan *plan,
                            const brume_plan_mode *mode)
{
    brume_node rows = brume_plan_answered_rows(plan, builder);
    brume_node both[] = {rows,
                         brume_build_test(builder, BRUME_OPERATION_IS_NOT_NULL, mode->argument)};
    if (builder->status != BRUME_OK || !rows)
        return both[1];
    return brume_build_logic(builder, BRUME_OPERATION_AND, both, 2);
}

brume_status brume_mode_plan(brume_plan *plan, size_t index, brume_error *error)
{
    brume_plan_mode *mode = &plan->modes[index];
    const brume_query *query = plan->query;
    uint64_t groups = brume_shape_groups(&plan->shape);
    if (groups > most_pairs || plan->shape.max_rows > most_pairs / groups)
        return brume_fail(error, BRUME_EOVERFLOW,
                          "ask the owner to declare the column's values with --domain",
                          "a unit may have too many rows for MODE of undeclared values");
    brume_builder builder = {.arena = query->arena, .error = error};
    brume_key *keys = brume_arena_allocate(query->arena, (query->key_count + 1) * sizeof *keys);
    mode->query = brume_arena_copy(query->arena, query, sizeof *query);
    mode->pairs = calloc(1, sizeof *mode->pairs);
    if (!keys || !mode->query || !mode->pairs)
        return brume_no_memory(error, "a mode");
    memcpy(keys, query->keys, query->key_count * sizeof *keys);
    keys[query->key_count] = (brume_key){.expression = mode->argument};
    mode->query->keys = keys;
    mode->query->key_count = query->key_count + 1;
    mode->query->aggregate_count = 0;
    mode->query->where = condition(&builder, plan, mode);
    if (!mode->query->where || builder.status != BRUME_OK)
        return builder.status;
    *mode->pairs = (brume_plan){
        .query = mode->query,
        .rule = plan->rule,
        .adjacency = plan->adjacency,
        .bounded = plan->bounded,
        .shape = {.max_groups = groups * plan->shape.max_rows,
                  .max_rows = 1,
                  .replace = plan->shape.replace,
                  .private_keys = true},
    };
    return BRUME_OK;
}

/* ---- the choice ---- */

static brume_status choose(const brume_plan *plan, const brume_measure *measure,
                           const brume_bounded_group *pairs, const double *noisy, size_t pair_count,
                           const brume_bounded_group *const *groups, size_t count,
                           const brume_key_value **chosen)
{
    size_t keys = plan->query->key_count, group = 0;
    double largest = 0;
    for (size_t i = 0; i < pair_count; i++) { /* both lists are in the order of the keys */
        while (group < count && brume_keys_compare(groups[group]->keys, pairs[i].keys, keys) < 0)
            group++;
        if (group == count)
            break;
        if (noisy[i] < (double)measure->threshold ||
            brume_keys_compare(groups[group]->keys, pairs[i].keys, keys) != 0)
            continue;
        if (!chosen[group] || noisy[i] > largest) { /* of equals the first in order */
            chosen[group] = &pairs[i].keys[keys];
            largest = noisy[i];
        }
    }
    return BRUME_OK;
}

brume_status brume_mode_draw(const brume_plan *plan, size_t index, const brume_collected *pairs,
                             const brume_bounded_group *const *groups, size_t count,
                             brume_bits *bits, const brume_key_value **chosen, brume_error *error)
{
    const brume_measure *measure = &plan->measures[plan->modes[index].measure];
    size_t pair_count = 0;
    const brume_bounded_group *found = brume_collected_groups(pairs, &pair_count);
    int64_t *units = calloc(pair_count + 1, sizeof *units);
    double *noisy = calloc(pair_count + 1, sizeof *noisy);
    brume_status status = units && noisy ? BRUME_OK : brume_no_memory(error, "a mode");
    for (size_t i = 0; status == BRUME_OK && i < pair_count; i++)
        units[i] = (int64_t)found[i].units;
    if (status == BRUME_OK)
        status = brume_draw_counts(brume_measure_noise(measure, plan->price.noise), measure->scale,
                                   units, pair_count, bits, noisy, error);
    for (size_t i = 0; i < count; i++)
        chosen[i] = NULL;
    if (status == BRUME_OK)
        status = choose(plan, measure, found, noisy, pair_count, groups, count, chosen);
    free(units);
    free(noisy);
    return status;
}
