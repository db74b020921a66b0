/* The reciprocal of a count: 1/f, whose sensitivity is unbounded.
 *
 * One unit more or less changes f by at most 1 (BRUME_ADD_REMOVE; also BRUME_REPLACE for a count of
 * rows with a property). LS(f) = 1/(f (f-1)), infinite for f <= 1, so no finite smooth bound
 * exists. What helps: propose a bound (brume_reciprocal_distance), or use 1/max(f, c), which has
 * one. Everything here but the global sensitivity is a function of the data without noise: secret.
 */
#ifndef BRUME_RECIPROCAL_H
#define BRUME_RECIPROCAL_H

#include <stdint.h>

#include <brume/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* max(0, f - f0), f0 the largest count whose local sensitivity exceeds `bound`: the distance to
 * sensitive data.   Requires: bound > 0 and >= 2^-60; else BRUME_EARGUMENT. */
BRUME_API BRUME_MUST_USE brume_status brume_reciprocal_distance(uint64_t count, double bound,
                                                                uint64_t *out, brume_error *error);

/* 1/max(f, c), c >= 1: at most 1/(c (c+1)) apart for any neighbours. Rounded up. */
BRUME_API BRUME_MUST_USE brume_status brume_reciprocal_global_upper(uint64_t least, double *out,
                                                                    brume_error *error);

/* Local sensitivity of 1/max(f, c) within distance k: 1/(h (h-1)), h = max(f-k, c+1). Rounded up.
 */
BRUME_API BRUME_MUST_USE brume_status brume_reciprocal_local_upper(uint64_t count, uint64_t least,
                                                                   uint64_t k, double *out,
                                                                   brume_error *error);

/* A t-smooth bound on it, as brume_quantile_smooth. */
BRUME_API BRUME_MUST_USE brume_status brume_reciprocal_smooth(uint64_t count, uint64_t least,
                                                              double t, double *out,
                                                              brume_error *error);

#ifdef __cplusplus
}
#endif

#endif
