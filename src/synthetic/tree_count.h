/* Tables counted over rows, and how far one is from another, in integers. proofs/tree.md. */
#ifndef BRUME_SYNTHETIC_TREE_COUNT_H
#define BRUME_SYNTHETIC_TREE_COUNT_H

#include <stddef.h>
#include <stdint.h>

#include <brume/status.h>

enum { BRUME_TREE_GRID = 16 }; /* scores are in steps of 1/16 record */

#define BRUME_TREE_ABSOLUTE 0.7978845608028654 /* E|N(0, 1)| */

/* counts[cell] of the table of these columns: `map` of a column sends its values to bins; NULL, or
 * a map that is NULL: each value is one. `most[i]` is the number of values that may occur. */
BRUME_MUST_USE brume_status brume_tree_count(size_t columns, const uint16_t *const *data,
                                             const uint16_t *const *map, const uint32_t *bins,
                                             const uint32_t *most, uint64_t n, uint32_t *counts,
                                             brume_error *error);

/* The L1 distance, in steps, of true counts to those of rows, scaled and rounded to the grid: a sum
 * of integers. *floor: what is expected of the right model, at most `most` a cell. *rounding: how
 * far rounding moved the model's counts, in steps. */
int64_t brume_tree_distance(const uint32_t *truth, const uint32_t *rows, size_t cells, double scale,
                            double most, double *floor, double *rounding);

/* An upper bound on z with P[N(0, 1) > z] = q. */
double brume_tree_normal_upper(double q);

#endif
