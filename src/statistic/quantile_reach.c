/* The exact local sensitivities of a quantile under add-remove, for any q.
 *
 * Data of N values has the quantile at rank m(N) = max(1, ceil(q N)), m(0) = 0. Between data of N'
 * values and a neighbour the quantile moves across one gap of adjacent order statistics, the one
 * with L values on its left: L = m(N'+1) - 1 for an added value, L = m(N'-1) for a removed one. So
 * one change can move the quantile by the gap with L values on its left and U on its right
 * if and only if (L, U) is one of these pairs, N' = L + U.
 *
 * To make x_i and x_{i+w+1} adjacent takes w removals; to have L values on the left in place of i
 * and U on the right in place of u = N - i - w takes |L - i| + |U - u| changes, at the bounds. So
 * LS_k is the widest x_{i+w+1} - x_i with w + min over pairs of (|L - i| + |U - u|) <= k. For a
 * fixed w that cost does not fall as i moves away from a pair: both L and U grow with N'. */
#include <brume/statistic/instability.h>

#include <stdlib.h>

#include "base/error.h"
#include "statistic/quantile.h"

static int64_t rank_of(const brume_quantile *quantile, int64_t n)
{
    uint64_t p = quantile->rule.numerator, d = quantile->rule.denominator;
    if (n <= 0)
        return 0;
    int64_t rank = (int64_t)(((uint64_t)n * p + d - 1) / d);
    return rank == 0 ? 1 : rank;
}

/* |L - i| + |U - u| to the nearest pair, for all places (i, u) of a square around the pair of the
 * data's own size: distances in steps along the axes, so two sweeps find them. What is kept is FAR
 * less the distance, and 0 for more. */
typedef struct places {
    int64_t i0, u0, side; /* place (i, u) is nearness[(i - i0) side + u - u0] */
    int16_t *nearness;
} places;

enum { FAR = 8000 }; /* above every distance that is asked for */

static int64_t distance_at(const places *map, int64_t i, int64_t u)
{
    return FAR - map->nearness[(i - map->i0) * map->side + (u - map->u0)];
}

static void mark(const places *map, int64_t left, int64_t size)
{
    int64_t i = left - map->i0, u = size - left - map->u0;
    if (left >= 0 && size >= left && i >= 0 && i < map->side && u >= 0 && u < map->side)
        map->nearness[i * map->side + u] = FAR;
}

static void raise_to(int16_t *at, int16_t neighbour)
{
    if (*at < neighbour - 1)
        *at = (int16_t)(neighbour - 1);
}

/* The square reaches `most` and a little more in every direction from its middle, (l, n - l) with
 * the l of an added value. With N' neither L nor U falls, so that L <= l + 1 and U <= n - l + 1
 * where N' <= n, and L >= l - 1 and U >= n - l - 1 where N' >= n. Let a place (i, u) with i + u =
 * n - w cost w + d <= `most`, d = |L - i| + |U - u|, with N' <= n. Then i <= L + d <= l + 1 + most,
 * and i = n - w - u >= n - w - d - U >= l - 1 - most; N' >= n - w - d, so that L = N' - U is at
 * least l - 1 - most, too. The same holds of u and U, and where N' >= n. So places that cost at
 * most `most`, and their pairs, are within `most` + 1 of the middle, and the places where a walk
 * ends within `most` + 2. */
static brume_status map_places(const brume_quantile *quantile, int64_t most, places *map,
                               brume_error *error)
{
    int64_t n = (int64_t)quantile->n, left = rank_of(quantile, n + 1) - 1;
    int64_t side = 2 * most + 9, cells = side * side;
    int16_t *at = calloc((size_t)cells, sizeof *at);
    if (!at)
        return brume_no_memory(error, "the local sensitivities");
    *map = (places){left - most - 4, n - left - most - 4, side, at};
    /* All sizes that have a place in the square; `mark` leaves out what is no pair. */
    for (int64_t size = n - side; size <= n + side; size++) {
        mark(map, rank_of(quantile, size + 1) - 1, size);
        mark(map, rank_of(quantile, size - 1), size);
    }
    for (int64_t cell = 0; cell < cells; cell++) {
        if (cell >= side)
            raise_to(&at[cell], at[cell - side]);
        if (cell % side > 0)
            raise_to(&at[cell], at[cell - 1]);
    }
    for (int64_t cell = cells - 1; cell >= 0; cell--) {
        if (cell < cells - side)
            raise_to(&at[cell], at[cell + side]);
        if (cell % side < side - 1)
            raise_to(&at[cell], at[cell + 1]);
    }
    return BRUME_OK;
}

/* Windows of width w from i on in one direction, as far as they cost at most `most`. */
static void walk(const brume_quantile *quantile, const places *map, int64_t w, int64_t i,
                 int64_t direction, int64_t most, uint64_t *local)
{
    int64_t rest = (int64_t)quantile->n - w;
    for (; i >= 0 && i <= rest; i += direction) {
        int64_t cost = w + distance_at(map, i, rest - i);
        if (cost > most)
            return;
        uint64_t gap = quantile_gap(quantile, i, i + w + 1);
        if (gap > local[cost])
            local[cost] = gap;
    }
}

brume_status brume_quantile_reach(const brume_quantile *quantile, uint64_t most, uint64_t *local,
                                  brume_error *error)
{
    if (quantile->rule.adjacency != BRUME_ADD_REMOVE || quantile->rule.values_per_unit != 1)
        return brume_fail(error, BRUME_EARGUMENT, "use add-remove and one value per unit",
                          "exact local sensitivities are not known for this 'adjacency'");
    if (most > 1000)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'most' is %llu, must be at most 1000",
                          (unsigned long long)most);
    places map = {0};
    BRUME_TRY(map_places(quantile, (int64_t)most, &map, error));
    for (uint64_t k = 0; k <= most; k++)
        local[k] = 0;
    int64_t n = (int64_t)quantile->n;
    for (int64_t w = 0; w <= n && w <= (int64_t)most; w++) {
        int64_t start = rank_of(quantile, n - w + 1) - 1; /* L of the pair of that size */
        walk(quantile, &map, w, start, 1, (int64_t)most, local);
        walk(quantile, &map, w, start - 1, -1, (int64_t)most, local);
    }
    free(map.nearness);
    for (uint64_t k = 1; k <= most; k++)
        local[k] = local[k] > local[k - 1] ? local[k] : local[k - 1];
    return BRUME_OK;
}
