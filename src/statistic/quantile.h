/* What the files of the quantile share. */
#ifndef BRUME_STATISTIC_QUANTILE_H
#define BRUME_STATISTIC_QUANTILE_H

#include <stdbool.h>
#include <brume/statistic/quantile.h>

struct brume_quantile {
    brume_quantile_rule rule;
    size_t n;
    size_t rank;       /* m; 0 without data */
    bool exact_median; /* the median under add-remove, one value per unit: clause 2 */
    bool size_private;
    int64_t *sorted;
};

/* x_i for any i, with the bounds beyond the ends. */
static inline int64_t quantile_at(const brume_quantile *quantile, int64_t i)
{
    if (i <= 0)
        return quantile->rule.lower;
    if ((uint64_t)i > quantile->n)
        return quantile->rule.upper;
    return quantile->sorted[i - 1];
}

/* x_j - x_i for i <= j, which fits. */
static inline uint64_t quantile_gap(const brume_quantile *quantile, int64_t i, int64_t j)
{
    return (uint64_t)quantile_at(quantile, j) - (uint64_t)quantile_at(quantile, i);
}

#endif
