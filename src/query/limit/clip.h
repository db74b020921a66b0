/* Clipping: a unit's vector over the cells, scaled into a ball of radius T and put on a grid.
 *
 * Steps of the grid are 2^-shift of the totals' own; a negative shift is a coarser grid. With
 * t = T 2^shift and f = min(1, T/|v|_p):
 *
 *   y_k = sign(v_k) floor(|v_k| 2^shift f)         towards zero, also for negative totals
 *
 * Promise: |y|_p <= t. Where nothing is cut (|v|_p <= T) and shift >= 0, y = v 2^shift exactly. y
 * is a function of v and T alone: norms are integers, the same in every order.
 *
 * p = 1 is exact in integers. For p = 2, and for totals that follow the factor of another vector
 * (the sums of x follow the number of values of x), f is a double that is 2^-40 too small, far more
 * than its roundings are worth. proofs/limits.md. */
#ifndef BRUME_QUERY_LIMIT_CLIP_H
#define BRUME_QUERY_LIMIT_CLIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "number/wide.h"

enum { BRUME_LIMIT_FINE = 20, BRUME_LIMIT_COARSE = 44 }; /* 2^20 <= t <= 2^44 where it can be */

/* The shift for a reach of `reach` steps (T, or T times the largest size of a value): 0, or with
 * `refine` the least that makes t at least 2^20; less than that, even below 0, where t would be
 * above 2^44 or t * noise (the noise's scale for t = 1) above 2^49. */
int brume_limit_shift(double reach, bool refine, double noise);

/* One unit's factor, worked out once. */
typedef struct brume_limit_factor {
    bool cuts;       /* |v|_p > T */
    brume_u128 norm; /* as brume_limit_part adds it up */
    double factor;   /* not above T/|v|_p, where it cuts (0 of an endless norm); else 1 */
} brume_limit_factor;

brume_limit_factor brume_limit_factor_of(brume_u128 norm, uint64_t limit, int p);

/* The same for p = 2 and T = the square root of `square`, above 0. */
brume_limit_factor brume_limit_factor_within(brume_u128 norm, uint64_t square);

/* y of one total of the vector that the norm belongs to: |y|_p <= t over the cells (p = 1, or
 * p = 2). */
int64_t brume_limit_clip(brume_i128 total, const brume_limit_factor *factor, uint64_t limit,
                         int shift, int p);

/* y of a total that follows the factor: where |total_k| <= h |v_k| for every cell, |y|_p <= h t. */
int64_t brume_limit_follow(brume_i128 total, const brume_limit_factor *factor, int shift);

/* Values that are ranked or counted and not summed: what each value of a unit weighs, in steps of
 * 2^-BRUME_LIMIT_WEIGHT_BITS, where the unit has `values` of them in all cells together.
 * Promise: values * weight <= limit * 2^BRUME_LIMIT_WEIGHT_BITS; exactly 1 where values <= limit.
 */
enum { BRUME_LIMIT_WEIGHT_BITS = 16 };
uint32_t brume_limit_weight(brume_u128 values, uint64_t limit);

#endif
