/* Interquartile range: two quantiles of one data, and the distances between its bins. */
#include "statistic/interquartile.h"

#include <stdlib.h>

#include "base/error.h"
#include "statistic/smooth.h"

brume_status brume_interquartile_open(int64_t lower, int64_t upper, uint64_t values_per_unit,
                                      brume_adjacency adjacency, const int64_t *values, size_t n,
                                      brume_interquartile **out, brume_error *error)
{
    brume_interquartile *range = calloc(1, sizeof *range);
    if (!range)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory");
    brume_quantile_rule rule = {.numerator = 1,
                                .denominator = 4,
                                .values_per_unit = values_per_unit,
                                .adjacency = adjacency,
                                .lower = lower,
                                .upper = upper};
    brume_status status = brume_quantile_open(&rule, values, n, &range->low, error);
    rule.numerator = 3;
    if (status == BRUME_OK)
        status = brume_quantile_open(&rule, values, n, &range->high, error);
    if (status != BRUME_OK) {
        brume_interquartile_close(range);
        return status;
    }
    range->one_value_per_unit = values_per_unit == 1;
    *out = range;
    return BRUME_OK;
}

void brume_interquartile_close(brume_interquartile *range)
{
    if (!range)
        return;
    brume_quantile_close(range->low);
    brume_quantile_close(range->high);
    free(range);
}

uint64_t brume_interquartile_value(const brume_interquartile *range)
{
    return (uint64_t)brume_quantile_value(range->high) - (uint64_t)brume_quantile_value(range->low);
}

uint64_t brume_interquartile_global(const brume_interquartile *range)
{
    return brume_quantile_global(range->low);
}

static uint64_t join(const brume_interquartile *range, uint64_t low, uint64_t high)
{
    uint64_t global = brume_interquartile_global(range);
    uint64_t larger = low > high ? low : high;
    if (range->one_value_per_unit)
        return larger;
    return low + high < global ? low + high : global; /* each is at most 2^62 */
}

uint64_t brume_interquartile_local(const brume_interquartile *range, uint64_t k)
{
    return join(range, brume_quantile_local(range->low, k), brume_quantile_local(range->high, k));
}

uint64_t brume_interquartile_distance(const brume_interquartile *range, uint64_t bound)
{
    if (brume_interquartile_global(range) <= bound)
        return UINT64_MAX;
    if (range->one_value_per_unit) {
        uint64_t low = brume_quantile_distance(range->low, bound);
        uint64_t high = brume_quantile_distance(range->high, bound);
        return low < high ? low : high;
    }
    if (brume_interquartile_local(range, 0) > bound)
        return 0;
    uint64_t low = 0, high = 1;
    while (brume_interquartile_local(range, high) <= bound) {
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (brume_interquartile_local(range, middle) > bound)
            high = middle;
        else
            low = middle;
    }
    return high;
}

brume_status brume_interquartile_smooth(const brume_interquartile *range, double t, double *out,
                                        brume_error *error)
{
    double low, high;
    BRUME_TRY(brume_quantile_smooth(range->low, t, &low, error));
    BRUME_TRY(brume_quantile_smooth(range->high, t, &high, error));
    /* The larger of two t-smooth bounds is t-smooth, and so is their sum; the sum rounds by 2^-53,
     * which the quantiles' own slack (2^-42 against 2^-41 taken) covers. */
    *out = range->one_value_per_unit ? (low > high ? low : high) : low + high;
    return BRUME_OK;
}

/* Can k replacements make the range `width` or more? Each moves one of the quartiles out by a rank.
 */
static bool can_widen(const brume_interquartile *range, int64_t k, uint64_t width)
{
    int64_t first = (int64_t)range->low->rank, second = (int64_t)range->high->rank;
    for (int64_t j = 0; j <= k; j++)
        if (quantile_gap(range->low, first - (k - j), second + j) >= width)
            return true;
    return false;
}

/* The least number of replacements after which the range can be `width` or more. */
static uint64_t distance_to_at_least(const brume_interquartile *range, uint64_t width)
{
    if (width > brume_interquartile_global(range))
        return UINT64_MAX;
    int64_t low = 0,
            high = 1; /* the range is below `width` now; n + 1 replacements reach both ends */
    while (!can_widen(range, high, width)) {
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (can_widen(range, middle, width))
            high = middle;
        else
            low = middle;
    }
    return (uint64_t)high;
}

/* The least number of replacements after which the range can be below `width`, width > 0: bring all
 * but the allowed outsiders into some [v, v + width). */
static uint64_t distance_to_below(const brume_interquartile *range, uint64_t width)
{
    const int64_t *sorted = range->low->sorted;
    size_t n = range->low->n, first = range->low->rank, second = range->high->rank;
    uint64_t least = UINT64_MAX;
    for (size_t below = 0, reach = 0; below < n; below++) {
        if (below > 0 && sorted[below] == sorted[below - 1])
            continue; /* #{x < v} is `below` for the first of equal values only */
        while (reach < n && (uint64_t)sorted[reach] - (uint64_t)sorted[below] < width)
            reach++;
        size_t beyond = n - reach;
        uint64_t from_left = below > first - 1 ? below - (first - 1) : 0;
        uint64_t from_right = beyond > n - second ? beyond - (n - second) : 0;
        if (from_left + from_right < least)
            least = from_left + from_right;
    }
    return least;
}

brume_status brume_interquartile_bin(const brume_interquartile *range, const uint64_t *edges,
                                     size_t edge_count, size_t *bin, uint64_t *distance,
                                     brume_error *error)
{
    if (range->low->size_private)
        return brume_fail(error, BRUME_EARGUMENT, "use replace and one value per unit",
                          "bins of the interquartile range need a public number of values");
    if (range->low->n == 0 || edge_count < 1)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "no values or no bins");
    uint64_t value = brume_interquartile_value(range);
    size_t index = 0;
    while (index + 1 < edge_count && edges[index + 1] <= value)
        index++;
    uint64_t nearest = UINT64_MAX;
    bool constant = range->low->rank == range->high->rank; /* one value: the range is always 0 */
    if (index > 0 && !constant)
        nearest = distance_to_below(range, edges[index]);
    if (index + 1 < edge_count && !constant) {
        uint64_t above = distance_to_at_least(range, edges[index + 1]);
        nearest = above < nearest ? above : nearest;
    }
    *bin = index;
    *distance = nearest == UINT64_MAX ? UINT64_MAX : nearest - 1;
    return BRUME_OK;
}
