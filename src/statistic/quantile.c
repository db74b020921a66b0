/* Quantile: value, local sensitivity at distance k, distance to sensitive data.
 *
 * General case. L_k is the widest x_{i+w} - x_i, w = (k+1) R, over the windows i <= m <= i + w, R
 * the values per unit; where the size is private, the whole range once k units less one leave no
 * data.
 *
 * The median under add-remove with R = 1 is exact and simpler than that: a pair (i, j) can be made
 * adjacent order statistics around the median at a cost that depends on j alone (when i + j > n) or
 * on i alone, so for each k the widest pair is one of two nested ones. */
#include "statistic/quantile.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/sort.h"

static brume_status check_rule(const brume_quantile_rule *rule, brume_error *error)
{
    if (rule->adjacency != BRUME_ADD_REMOVE && rule->adjacency != BRUME_REPLACE)
        return brume_fail(error, BRUME_EARGUMENT, "use add-remove or replace",
                          "a quantile is not defined under this 'adjacency'");
    if (rule->denominator == 0 || rule->denominator > UINT64_C(1) << 20 ||
        rule->numerator > rule->denominator)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'q' must be a ratio in [0, 1]");
    if (rule->values_per_unit == 0 || rule->values_per_unit > UINT32_MAX)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'values_per_unit' is %llu, must be in [1, 2^32 - 1]",
                          (unsigned long long)rule->values_per_unit);
    if (rule->lower > rule->upper || (uint64_t)rule->upper - (uint64_t)rule->lower > UINT64_C(1)
                                                                                         << 62)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "the bounds must be ordered and at most 2^62 steps apart");
    return BRUME_OK;
}

brume_status brume_quantile_open(const brume_quantile_rule *rule, const int64_t *values, size_t n,
                                 brume_quantile **out, brume_error *error)
{
    BRUME_TRY(check_rule(rule, error));
    if (n > UINT64_C(1) << 40)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "more than 2^40 values");
    brume_quantile *quantile = malloc(sizeof *quantile);
    int64_t *sorted = malloc((n + 1) * sizeof *sorted);
    if (!quantile || !sorted) {
        free(quantile);
        free(sorted);
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for %zu values", n);
    }
    for (size_t i = 0; i < n; i++)
        sorted[i] = values[i] < rule->lower   ? rule->lower
                    : values[i] > rule->upper ? rule->upper
                                              : values[i];
    brume_status status = brume_sort_integers(sorted, n, rule->lower, rule->upper, error);
    if (status != BRUME_OK) {
        free(quantile);
        free(sorted);
        return status;
    }
    /* ceil(q n): n <= 2^40 and the denominator <= 2^20, so nothing overflows. */
    size_t rank = (n * rule->numerator + rule->denominator - 1) / rule->denominator;
    *quantile = (brume_quantile){
        .rule = *rule,
        .n = n,
        .rank = n == 0      ? 0
                : rank == 0 ? 1
                            : rank,
        .exact_median = rule->adjacency == BRUME_ADD_REMOVE && rule->values_per_unit == 1 &&
                        2 * rule->numerator == rule->denominator,
        .size_private = rule->adjacency == BRUME_ADD_REMOVE || rule->values_per_unit > 1,
        .sorted = sorted,
    };
    *out = quantile;
    return BRUME_OK;
}

void brume_quantile_close(brume_quantile *quantile)
{
    if (!quantile)
        return;
    explicit_bzero(quantile->sorted, quantile->n * sizeof *quantile->sorted);
    free(quantile->sorted);
    free(quantile);
}

int64_t brume_quantile_value(const brume_quantile *quantile)
{
    return quantile_at(quantile, (int64_t)quantile->rank);
}

uint64_t brume_quantile_global(const brume_quantile *quantile)
{
    return (uint64_t)quantile->rule.upper - (uint64_t)quantile->rule.lower;
}

uint64_t brume_quantile_emptying(const brume_quantile *quantile)
{
    if (!quantile->size_private)
        return UINT64_MAX;
    if (quantile->exact_median)
        return quantile->n;
    uint64_t units = (quantile->n + quantile->rule.values_per_unit - 1) /
                     quantile->rule.values_per_unit;
    return units == 0 ? 0 : units - 1;
}

/* The median under add-remove: x_j - x_{n+1-j} is within reach at distance 2j - n - 2, and
 * x_{n-i} - x_i at distance n - 1 - 2i. */
static uint64_t median_local(const brume_quantile *quantile, uint64_t k)
{
    int64_t n = (int64_t)quantile->n;
    if (k >= quantile->n)
        return brume_quantile_global(quantile);
    int64_t distance = (int64_t)k;
    int64_t j = (distance + n + 2) / 2;
    int64_t i = (n - distance) / 2; /* ceil((n - 1 - k) / 2) */
    /* 2j >= n + 1 and 2i <= n: both pairs are in order. */
    uint64_t outward = quantile_gap(quantile, n + 1 - j, j);
    uint64_t inward = quantile_gap(quantile, i, n - i);
    return outward > inward ? outward : inward;
}

uint64_t brume_quantile_local(const brume_quantile *quantile, uint64_t k)
{
    if (quantile->exact_median)
        return median_local(quantile, k);
    uint64_t per_unit = quantile->rule.values_per_unit;
    if (k >= brume_quantile_emptying(quantile) || k >= quantile->n / per_unit)
        return brume_quantile_global(quantile); /* (k+1) R > n: a window from bound to bound */
    int64_t width = (int64_t)((k + 1) * per_unit), rank = (int64_t)quantile->rank;
    uint64_t widest = 0;
    for (int64_t j = 0; j <= width; j++) {
        uint64_t gap = quantile_gap(quantile, rank + j - width, rank + j);
        if (gap > widest)
            widest = gap;
    }
    return widest;
}

uint64_t brume_quantile_distance(const brume_quantile *quantile, uint64_t bound)
{
    if (brume_quantile_global(quantile) <= bound)
        return UINT64_MAX;
    /* L_k grows with k and reaches the whole range at the latest for k = n. */
    uint64_t low = 0, high = 1;
    if (brume_quantile_local(quantile, 0) > bound)
        return 0;
    while (brume_quantile_local(quantile, high) <= bound) {
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (brume_quantile_local(quantile, middle) > bound)
            high = middle;
        else
            low = middle;
    }
    return high;
}
