/* The interquartile range x_{m2} - x_{m1} of bounded integers, m1 = ceil(N/4), m2 = ceil(3N/4),
 * with what noise fitted to the data needs. Without data it is 0.
 *
 * 1. A unit is up to values_per_unit values. With one value per unit a change moves the range by no
 *    more than it moves one of the two quartiles: both move outwards, or both inwards, never. So
 *    L_k is the larger of the quartiles' L_k, and their sum for more values per unit.
 * 2. As for quantiles, L_k(x) <= L_{k+1}(x') for neighbours, and L_0 bounds the change.
 * 3. Everything here is a function of the data without noise: secret. */
#ifndef BRUME_INTERQUARTILE_H
#define BRUME_INTERQUARTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/adjacency.h>
#include <brume/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct brume_interquartile brume_interquartile;

/* Bounds and units as in brume_quantile_rule.  Errors: BRUME_EARGUMENT, BRUME_EMEMORY. */
BRUME_API BRUME_MUST_USE brume_status brume_interquartile_open(
    int64_t lower, int64_t upper, uint64_t values_per_unit, brume_adjacency adjacency,
    const int64_t *values, size_t n, brume_interquartile **out, brume_error *error);
BRUME_API void brume_interquartile_close(brume_interquartile *range);

BRUME_API uint64_t brume_interquartile_value(const brume_interquartile *range);
BRUME_API uint64_t brume_interquartile_global(const brume_interquartile *range);
BRUME_API uint64_t brume_interquartile_local(const brume_interquartile *range, uint64_t k);

/* The least k with L_k > bound; UINT64_MAX if there is none. */
BRUME_API uint64_t brume_interquartile_distance(const brume_interquartile *range, uint64_t bound);

/* A t-smooth bound on the local sensitivity; see brume_quantile_smooth. */
BRUME_API BRUME_MUST_USE brume_status brume_interquartile_smooth(const brume_interquartile *range,
                                                                 double t, double *out,
                                                                 brume_error *error);

/* Which of the bins [edges[0], edges[1]), [edges[1], edges[2]), ... holds the range, and in how
 * many replacements it could leave it, less one: what brume_stable_release asks.      [DL09, Sec.
 * 4] The first bin has no lower, the last no upper end. The edges must be public and ascending.
 * Requires: BRUME_REPLACE with one value per unit, and values; else BRUME_EARGUMENT.
 * *distance is UINT64_MAX if nothing can leave the bin. */
BRUME_API BRUME_MUST_USE brume_status brume_interquartile_bin(const brume_interquartile *range,
                                                              const uint64_t *edges,
                                                              size_t edge_count, size_t *bin,
                                                              uint64_t *distance,
                                                              brume_error *error);

#ifdef __cplusplus
}
#endif

#endif
