/* Laplace noise on integers and reals.
 *
 * Integers get discrete Laplace noise, P[k] proportional to exp(-|k|/scale); reals get continuous
 * Laplace noise and the sum is rounded to a grid that does not depend on data. Both are pure
 * epsilon-DP, epsilon = L1 sensitivity/scale, for any number of coordinates.
 * Proofs: proofs/laplace.md. The events to record are
 * laplace(scale=) and discrete_laplace(scale=) with their sensitivity. */
#ifndef BRUME_LAPLACE_H
#define BRUME_LAPLACE_H

#include <stddef.h>
#include <stdint.h>

#include <brume/bits.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The scale that makes a query of that L1 sensitivity epsilon-DP: their quotient, rounded up.
 * Requires both > 0 and finite; else BRUME_EARGUMENT. BRUME_EOVERFLOW if it is no double. */
BRUME_API BRUME_MUST_USE brume_status brume_laplace_scale(double sensitivity, double epsilon,
                                                          double *scale, brume_error *error);

/* out[i] = values[i] + discrete Laplace noise of that scale, independent; `out` may be `values`.
 * Values are clamped to -+2^62 before and sums to -+(2^62 - 1) after: both clamps are the same for
 * all data, so they cost nothing, and noise beyond 2^63 cannot show.
 * Requires: 0 < scale <= 2^50; else BRUME_EARGUMENT.
 * On error: `out` is untouched if an argument was refused, else all of it is set to zero. */
BRUME_API BRUME_MUST_USE brume_status brume_discrete_laplace_add(brume_bits *bits, double scale,
                                                                 const int64_t *values,
                                                                 int64_t *out, size_t n,
                                                                 brume_error *error);

/* The same with continuous Laplace noise: out[i] = the whole number nearest to values[i] + noise.
 * Values and scale are in units of a grid that was chosen without the data, so this is the Laplace
 * mechanism on that grid, rounded: its cost is exactly that of laplace(scale=). */
BRUME_API BRUME_MUST_USE brume_status brume_laplace_add(brume_bits *bits, double scale,
                                                        const int64_t *values, int64_t *out,
                                                        size_t n, brume_error *error);

#ifdef __cplusplus
}
#endif

#endif
