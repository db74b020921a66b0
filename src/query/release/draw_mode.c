/* The mode of an expression whose values nobody declared.
 *
 * Promise: noise goes on every pair that some unit keeps, and on no other; what is chosen is a
 * function of the noisy numbers alone. */
#include "query/release/draw_mode.h"

#include <stdlib.h>

#include "base/error.h"

static void choose(const brume_terms *terms, const brume_measure *measure,
                   const brume_bounded_group *pairs, const double *noisy, size_t pair_count,
                   const brume_bounded_group *const *groups, size_t count,
                   const brume_key_value **chosen)
{
    size_t keys = terms->plan->query->key_count, group = 0;
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
}

/* noisy[i] = units of the pair i, with the noise of the measure. */
static brume_status add_noise(const brume_terms *terms, const brume_measure *measure,
                              const brume_bounded_group *pairs, size_t count, brume_bits *bits,
                              double *noisy, brume_error *error)
{
    int64_t *units = calloc(count + 1, sizeof *units);
    if (!units)
        return brume_no_memory(error, "a mode");
    for (size_t i = 0; i < count; i++)
        units[i] = (int64_t)pairs[i].units;
    brume_status status = brume_draw_counts(brume_measure_noise(measure, terms->plan->noise),
                                            measure->scale, units, count, bits, noisy, error);
    free(units);
    return status;
}

brume_status brume_draw_mode(const brume_terms *terms, size_t index, const brume_collected *pairs,
                             brume_bits *bits, brume_drawn *drawn, brume_error *error)
{
    const brume_measure *measure = &terms->measures[terms->plan->measurements[index].mode.measure];
    size_t pair_count = 0;
    const brume_bounded_group *found = brume_collected_groups(pairs, &pair_count);
    double *noisy = calloc(pair_count + 1, sizeof *noisy);
    const brume_key_value **chosen = calloc(drawn->count + 1, sizeof *chosen);
    brume_status status = noisy && chosen
                              ? add_noise(terms, measure, found, pair_count, bits, noisy, error)
                              : brume_no_memory(error, "a mode");
    if (status == BRUME_OK)
        choose(terms, measure, found, noisy, pair_count, drawn->groups, drawn->count, chosen);
    free(noisy);
    drawn->results[index].chosen = chosen; /* closed with the rest, also on failure */
    return status;
}
