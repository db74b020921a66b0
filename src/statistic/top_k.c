/* The k largest counts and the distance to another answer.
 *
 * Only pairs that are neighbours in the ranking decide: for the set the pair at its border, for the
 * order every pair down to the border. In a pair the lower key must gain on the upper; a unit added
 * or removed changes their gap by 1, a unit replaced by 2; where the lower key comes first among
 * equals it needs to draw level, else to get ahead. */
#include <brume/statistic/top_k.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

typedef struct top_ranked {
    uint64_t count;
    size_t key;
} top_ranked;

static int higher_first(const void *left, const void *right)
{
    const top_ranked *a = left, *b = right;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return a->key < b->key ? -1 : a->key > b->key;
}

/* Units to change until the key with count `lower` passes the one with count `upper`. */
static uint64_t to_pass(uint64_t upper, uint64_t lower, bool wins_ties, brume_adjacency adjacency)
{
    uint64_t gap = upper - lower;
    if (adjacency == BRUME_ADD_REMOVE)
        return wins_ties ? gap : gap + 1;
    return wins_ties ? gap / 2 + gap % 2 : gap / 2 + 1;
}

/* Move the `room` highest-ranked keys to the front, in rank order, in O(keys + room log room) for
 * room much less than keys. */
static void rank_front(top_ranked *ranking, size_t keys, size_t room)
{
    size_t first = 0, end = keys;
    while (end - first > 32 && room < end) {
        top_ranked pivot = ranking[first + (end - first) / 2];
        size_t i = first, j = end - 1;
        for (;;) {
            while (higher_first(&ranking[i], &pivot) < 0)
                i++;
            while (higher_first(&pivot, &ranking[j]) < 0)
                j--;
            if (i >= j)
                break;
            top_ranked swap = ranking[i];
            ranking[i] = ranking[j];
            ranking[j] = swap;
            i++;
            j--;
        }
        if (room <= j + 1)
            end = j + 1;
        else
            first = j + 1;
    }
    qsort(ranking, room < end ? end : room, sizeof *ranking, higher_first);
}

static int by_key(const void *left, const void *right)
{
    const size_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

brume_status brume_top_k(const brume_top_k_rule *rule, const uint64_t *counts, size_t keys,
                         uint64_t units, size_t *winners, size_t *winner_count, uint64_t *distance,
                         brume_error *error)
{
    if (rule->adjacency != BRUME_ADD_REMOVE && rule->adjacency != BRUME_REPLACE)
        return brume_fail(error, BRUME_EARGUMENT, "use add-remove or replace",
                          "top-k is not defined under this 'adjacency'");
    if (rule->k == 0 || (!rule->open_domain && rule->k > keys))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'k' is %zu, must be at least 1 and at most the number of keys", rule->k);
    size_t present = 0;
    for (size_t i = 0; i < keys; i++)
        present += counts[i] > 0;
    if (units == 0 || present == 0 || (rule->open_domain && present < rule->k)) {
        *winner_count = 0;
        /* Nothing can be added where the size is public and 0. */
        *distance = units == 0 && rule->adjacency == BRUME_REPLACE ? UINT64_MAX : 0;
        return BRUME_OK;
    }
    top_ranked *ranking = malloc(keys * sizeof *ranking);
    if (!ranking)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for %zu keys", keys);
    for (size_t i = 0; i < keys; i++)
        ranking[i] = (top_ranked){counts[i], i};
    rank_front(ranking, keys, rule->k < keys ? rule->k + 1 : keys);
    uint64_t least = rule->adjacency == BRUME_ADD_REMOVE ? units : UINT64_MAX;
    for (size_t upper = rule->ordered ? 0 : rule->k - 1; upper < rule->k; upper++) {
        uint64_t passing = UINT64_MAX;
        if (upper + 1 < keys)
            passing = to_pass(ranking[upper].count, ranking[upper + 1].count,
                              ranking[upper + 1].key < ranking[upper].key, rule->adjacency);
        if (passing < least)
            least = passing;
    }
    if (rule->open_domain) {
        uint64_t passing = to_pass(ranking[rule->k - 1].count, 0, true, rule->adjacency);
        least = passing < least ? passing : least;
    }
    for (size_t i = 0; i < rule->k; i++)
        winners[i] = ranking[i].key;
    if (!rule->ordered)
        qsort(winners, rule->k, sizeof *winners, by_key);
    free(ranking);
    *winner_count = rule->k;
    *distance = least == UINT64_MAX ? UINT64_MAX : least == 0 ? 0 : least - 1;
    return BRUME_OK;
}
