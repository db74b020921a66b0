/* How easily a statistic of this data changes: its local sensitivity, its smooth sensitivity and
 * its distance to instability, by their definitions. For teaching and for choosing methods: every
 * number here is a function of the data without noise and must not be published.
 *
 * Write LS_k for the largest change that one more change of the data can make to the statistic,
 * over all data at most k changes away (changes as the adjacency says: rows or edges).
 *
 * 1. local = LS_0; smooth = max over k of exp(-t k) LS_k; distance = the least k with LS_k > bound,
 *    UINT64_MAX if there is none. With bound = 0 that is the number of changes that surely leave
 *    the value as it is: distance to instability.
 * 2. local_exact, smooth_exact: whether the number is that, up to rounding (of smooth: a relative
 *    2^-40 and exp(2^-34/t)). Otherwise local and smooth are upper bounds, as the private releases
 *    use them; smooth_exact speaks of distance too, which is a lower bound otherwise.
 * 3. Requires 2^-30 <= t <= 64; else BRUME_EARGUMENT. Errors: BRUME_EMEMORY. */
#ifndef BRUME_INSTABILITY_H
#define BRUME_INSTABILITY_H

#include <stdbool.h>
#include <stdint.h>

#include <brume/statistic/interquartile.h>
#include <brume/statistic/quantile.h>
#include <brume/statistic/regression.h>
#include <brume/statistic/triangle.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct brume_instability {
    double local, smooth; /* in steps of the statistic; infinite where unbounded */
    uint64_t distance;
    bool local_exact, smooth_exact;
} brume_instability;

/* Exact for values_per_unit = 1, but smooth and distance under BRUME_ADD_REMOVE for q other than
 * 1/2 only as far as LS_k is needed for k <= 1000. */
BRUME_API BRUME_MUST_USE brume_status brume_quantile_instability(const brume_quantile *quantile,
                                                                 double t, uint64_t bound,
                                                                 brume_instability *out,
                                                                 brume_error *error);

/* Exact for values_per_unit = 1, but smooth and distance under BRUME_ADD_REMOVE. */
BRUME_API BRUME_MUST_USE brume_status
brume_interquartile_instability(const brume_interquartile *range, double t, uint64_t bound,
                                brume_instability *out, brume_error *error);

BRUME_API BRUME_MUST_USE brume_status brume_triangle_instability(const brume_graph *graph, double t,
                                                                 uint64_t bound,
                                                                 brume_instability *out,
                                                                 brume_error *error);

/* A statistic that is a name, such as the mode: its values are at distance 1 from each other, so
 * that LS_k is 1 where another answer is k + 1 changes away, and 0 before. `distance` is what
 * brume_top_k and its kin give; a bound of 1 or more is never exceeded. */
BRUME_API BRUME_MUST_USE brume_status brume_answer_instability(uint64_t distance, double t,
                                                               uint64_t bound,
                                                               brume_instability *out,
                                                               brume_error *error);

/* For ln q, q as in brume/statistic/regression.h, in nats: local is the bound ln(l/(l-1))/2,
 * infinite for l <= 1, smooth is infinite whatever the data is. distance is that of
 * brume_regression_distance; of a bound below 2^-8 nats it is 0. Nothing here is exact. */
BRUME_API BRUME_MUST_USE brume_status brume_regression_instability(const brume_gram *gram,
                                                                   double bound,
                                                                   brume_instability *out,
                                                                   brume_error *error);

/* LS_0 .. LS_most of a quantile under BRUME_ADD_REMOVE with one value per unit, exactly; see
 * proofs/quantile.md. Time O(most^2). Requires most <= 1000 and that rule; else
 * BRUME_EARGUMENT. */
BRUME_API BRUME_MUST_USE brume_status brume_quantile_reach(const brume_quantile *quantile,
                                                           uint64_t most, uint64_t *local,
                                                           brume_error *error);

#ifdef __cplusplus
}
#endif

#endif
