/* Which groups some unit keeps, where each keeps a limited number of its own: for counts of
 * distinct values.
 *
 * What a unit keeps is a function of its own rows and the key alone: those groups whose pairs with
 * the unit have the smallest keyed hashes. The upper half of a hash is kept with the totals; should
 * two be equal, the keys of the groups decide. */
#include <stdlib.h>

#include "base/error.h"
#include "query/collect/bound_pairs.h"
#include "query/collect/totals.h"

typedef struct ranked_pair {
    brume_bounder *bounder;
    uint32_t unit, group, rank;
} ranked_pair;

static int compare_pairs(const void *left, const void *right)
{
    const ranked_pair *a = left, *b = right;
    if (a->unit != b->unit)
        return a->unit < b->unit ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->group == b->group)
        return 0;
    return brume_bound_key_before(a->bounder, a->group, b->group) ? -1 : 1;
}

/* The pairs of units that have more than the limit; returns how many. Marks those of the others. */
static size_t find_pairs(brume_bounder *bounder, const shard *own, uint64_t limit,
                         const bool *shown, uint64_t *of_unit, ranked_pair *pairs, bool *kept)
{
    size_t count = 0;
    memset(of_unit, 0, (own->unit_count + 1) * sizeof *of_unit);
    for (size_t i = 0; i < own->totals.count; i++) {
        const total *one = total_in(bounder, own, i);
        of_unit[one->unit] += !shown || shown[one->group];
    }
    for (size_t i = 0; i < own->place_room; i++) {
        if (!own->places[i])
            continue;
        const total *one = total_in(bounder, own, (uint32_t)own->places[i] - 1);
        if (shown && !shown[one->group])
            continue;
        if (of_unit[one->unit] <= limit)
            kept[one->group] = true;
        else
            pairs[count++] =
                (ranked_pair){bounder, one->unit, one->group, (uint32_t)(own->places[i] >> 32)};
    }
    return count;
}

brume_status brume_totals_distinct(brume_bounder *bounder, uint64_t limit, const bool *shown,
                                   bool *kept, brume_error *error)
{
    memset(kept, 0, bounder->result_groups * sizeof *kept);
    for (size_t s = 0; s < SHARDS; s++) {
        const shard *own = &bounder->shards[s];
        uint64_t *of_unit = malloc((own->unit_count + 1) * sizeof *of_unit);
        ranked_pair *pairs = malloc((own->totals.count + 1) * sizeof *pairs);
        if (!of_unit || !pairs) {
            free(of_unit);
            free(pairs);
            return brume_no_memory(error, "the units and groups");
        }
        size_t count = find_pairs(bounder, own, limit, shown, of_unit, pairs, kept);
        qsort(pairs, count, sizeof *pairs, compare_pairs);
        uint64_t taken = 0;
        for (size_t i = 0; i < count; i++) {
            taken = i > 0 && pairs[i].unit == pairs[i - 1].unit ? taken + 1 : 0;
            if (taken < limit)
                kept[pairs[i].group] = true;
        }
        free(of_unit);
        free(pairs);
    }
    return BRUME_OK;
}
