/* A quantile of bounded integers with everything that noise fitted to the data needs: its local
 * sensitivity, the same at distance k, a smooth sensitivity, and the distance to sensitive data.
 *
 * Data. Values are integers (grid steps); what lies outside [lower, upper] is clamped to it. Sorted
 * they are x_1 <= ... <= x_N, with x_i = lower for i <= 0 and x_i = upper for i > N. The quantile
 * is x_m, m = max(1, ceil(q N)): for q = 1/2 the lower median. Without data it is `lower`.
 *
 * 1. Under BRUME_REPLACE with values_per_unit = 1 the number of values is public. In every other
 *    case it is private: a unit is up to values_per_unit values, and it is added, removed or
 *    replaced by up to as many others.
 * 2. L_k, "the local sensitivity at distance k", is at least the change that one unit can make to
 *    the quantile of any data at most k units away. It is exactly that under BRUME_REPLACE with
 *    values_per_unit = 1, and for the median under BRUME_ADD_REMOVE with values_per_unit = 1.
 * 3. For neighbours x, x': L_k(x) <= L_{k+1}(x'). Smooth sensitivity and distance rest on 2 and 3
 *    alone; proofs/quantile.md proves both.
 * 4. Everything here is a function of the data without noise: secret. */
#ifndef BRUME_QUANTILE_H
#define BRUME_QUANTILE_H

#include <stddef.h>
#include <stdint.h>

#include <brume/adjacency.h>
#include <brume/bits.h>
#include <brume/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct brume_quantile_rule {
    uint64_t numerator, denominator; /* q = numerator/denominator in [0, 1], denominator <= 2^20 */
    uint64_t values_per_unit;        /* >= 1 */
    brume_adjacency adjacency;       /* BRUME_ADD_REMOVE or BRUME_REPLACE */
    int64_t lower, upper;            /* lower <= upper, upper - lower <= 2^62 */
} brume_quantile_rule;

typedef struct brume_quantile brume_quantile;

/* Sort a clamped copy of `values`.  Time O(n); close with brume_quantile_close.
 * Errors: BRUME_EARGUMENT for a bad rule, BRUME_EMEMORY. */
BRUME_API BRUME_MUST_USE brume_status brume_quantile_open(const brume_quantile_rule *rule,
                                                          const int64_t *values, size_t n,
                                                          brume_quantile **out, brume_error *error);
BRUME_API void brume_quantile_close(brume_quantile *quantile);

/* x_m. */
BRUME_API int64_t brume_quantile_value(const brume_quantile *quantile);

/* The most a unit can change the quantile of any data: upper - lower. */
BRUME_API uint64_t brume_quantile_global(const brume_quantile *quantile);

/* L_k.  Time O(1) for the median under BRUME_ADD_REMOVE, else O(k values_per_unit). */
BRUME_API uint64_t brume_quantile_local(const brume_quantile *quantile, uint64_t k);

/* The least k with L_k > bound; UINT64_MAX if there is none. It is 0 where L_0 > bound, and changes
 * by at most 1 between neighbours.  Time O(N log N), less for a near answer. */
BRUME_API uint64_t brume_quantile_distance(const brume_quantile *quantile, uint64_t bound);

/* A bound S on the local sensitivity that is t-smooth: L_0 <= S, and S(x) <= exp(t) S(x') for
 * neighbours, exactly, with all rounding included. S is the least such bound made of the L_k,
 * max_k exp(-t k) L_k, times at most (1 + 2^-40) exp(2^-34 / t), and never below 2^-64; it is 0 if
 * and only if lower = upper.
 * Requires: 2^-30 <= t <= 64; else BRUME_EARGUMENT.
 * Time: O(N log N), and O(1/t log 1/t) for the usual t. */
BRUME_API BRUME_MUST_USE brume_status brume_quantile_smooth(const brume_quantile *quantile,
                                                            double t, double *out,
                                                            brume_error *error);

/* The quantile by the exponential mechanism over all integers of [lower, upper]: pure epsilon.
 * An integer v is as bad as its rank is far from q N: b(v) = max(0, #{x < v} - q N, q N - #{x <=
 * v}), and is drawn with weight exp(-eta b(v)), eta = epsilon/(2 R max(q, 1-q)) under
 * BRUME_ADD_REMOVE and epsilon/(2 R) under BRUME_REPLACE, R = values_per_unit; epsilon/R under
 * both for q = 0 and q = 1, whose b is a single count. Exact: doubles decide only where an error
 * bound makes the draw certain. Accuracy: P[b >= r] <= (upper - lower + 1) exp(-eta r). Requires:
 * 2^-30 <= epsilon <= 700; else BRUME_EARGUMENT.  Errors: BRUME_ERANDOM, BRUME_EMEMORY. */
BRUME_API BRUME_MUST_USE brume_status brume_quantile_exponential(const brume_quantile *quantile,
                                                                 double epsilon, brume_bits *bits,
                                                                 int64_t *out, brume_error *error);

/* That eta, rounded down. */
BRUME_API double brume_quantile_exponential_rate(const brume_quantile_rule *rule, double epsilon);

#ifdef __cplusplus
}
#endif

#endif
