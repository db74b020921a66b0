/* Private quantiles of a list of grid integers, by the exponential mechanism over all grid points.
 *
 * Values may have weights: weights[i] stands for weights[i] 2^-BRUME_LIMIT_WEIGHT_BITS equal rows
 * (limit/clip.h); without weights (NULL) each value is one row. #{...} below and N are then sums of
 * weights. Utilities below -2^62 of their steps (the weights' times the fraction's) count as that:
 * ranks no draw reaches. */
#ifndef BRUME_QUERY_RANK_H
#define BRUME_QUERY_RANK_H

#include <stddef.h>
#include <stdint.h>

#include <brume/bits.h>
#include <brume/status.h>

#include "query/limit/ranked.h"

/* One quantile q = num/den of `values` (in any order). Law: P[v] proportional to
 * exp(rate * u(v)) on low .. high, u(v) = -max(0, #{x < v} - qN, qN - #{x <= v}).
 * An empty list gives a uniform point: that it is empty is private too. */
BRUME_MUST_USE brume_status brume_rank_one(brume_bits *bits, const int64_t *values,
                                           const uint32_t *weights, size_t count, int64_t low,
                                           int64_t high, int64_t num, int64_t den, double rate,
                                           int64_t *out, brume_error *error);

/* The same of values that are in order, for several quantiles that are drawn each by itself. */
BRUME_MUST_USE brume_status brume_rank_in(brume_bits *bits, const brume_ranked *list, int64_t low,
                                          int64_t high, int64_t num, int64_t den, double rate,
                                          int64_t *out, brume_error *error);

/* Cells of low .. high that depend on these two alone: whole steps up to 512 from 0, then 256 to an
 * octave, the same below 0; and none longer than 1/1024 of the whole. */
typedef struct brume_cells {
    int64_t *first; /* of each cell, ascending; a cell ends where the next one begins */
    size_t count;
    int64_t high; /* where the last one ends */
} brume_cells;

BRUME_MUST_USE brume_status brume_cells_open(int64_t low, int64_t high, brume_cells *out,
                                             brume_error *error);
void brume_cells_close(brume_cells *cells);

/* An interval that holds the quantile q = num/den with a chance of 95 %: P[out[0] <= v <= out[1]]
 * >= 0.95 where #{x < v} <= qN <= #{x <= v}; and as surely that of all rows, where limits have left
 * out rows of the list that weigh no more than `cut`. Both ends are drawn by themselves, at this
 * rate: with b = ln(40 cells)/rate + (1 - q) cut (rounded up to whole steps of the utility) the
 * lower one is the first value of a cell [g, h) with probability proportional to exp(rate * u), u =
 * -max(0, #{x < g} - qN + b, qN - b - #{x < h}); or `low`, for ranks below all cells, u = -max(0,
 * qN - b). The upper one is the last value of a cell, with -b for b, where b has q cut; or `high`,
 * for ranks above all cells, u = -max(0, N - qN - b). */
BRUME_MUST_USE brume_status brume_rank_interval(brume_bits *bits, const brume_ranked *list,
                                                const brume_cells *cells, int64_t num, int64_t den,
                                                double rate, double cut, int64_t out[2],
                                                brume_error *error);

/* Several quantiles, ascending: the middle one on all values, then each side on its own part, at
 * the same rate. `breaker` (one per value, uniform) splits equal values in the right proportion.
 * out[i] is the quantile of fractions[i]; they come out ascending. */
BRUME_MUST_USE brume_status brume_rank_many(brume_bits *bits, const int64_t *values,
                                            const uint32_t *weights, const uint32_t *breaker,
                                            size_t count, int64_t low, int64_t high,
                                            const int64_t (*fractions)[2], size_t fraction_count,
                                            double rate, int64_t *out, brume_error *error);

#endif
