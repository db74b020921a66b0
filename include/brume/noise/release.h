/* Reals released with continuous noise, on a grid.
 *
 * The real number value + noise is rounded once to a multiple of 2^exponent. The grid is fixed
 * without the data, so rounding is post-processing: the cost is exactly that of laplace(scale=) or
 * gaussian(sigma=) with the sensitivity of the values, which need not lie on the grid. A double's
 * own gaps are never seen. Proofs: proofs/laplace.md, proofs/gaussian.md, proofs/grid_noise.md.
 *
 * Values must be finite, so clamp them first: an error that depends on data is an answer. For many
 * integers see brume/noise/laplace.h and brume/noise/gaussian.h: same guarantee, thousands of times
 * faster. */
#ifndef BRUME_RELEASE_H
#define BRUME_RELEASE_H

#include <stddef.h>

#include <brume/bits.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An exponent that suits noise of that scale or sigma: steps of 2^-40 of it, from the noise alone.
 * Requires 0 < spread <= 2^960; else BRUME_EARGUMENT. */
BRUME_API BRUME_MUST_USE brume_status brume_release_exponent(double spread, int *exponent,
                                                             brume_error *error);

/* out[i] = values[i] + Laplace(scale), rounded to a multiple of 2^exponent and clamped to 2^62 of
 * them; coordinates are independent; `out` may be `values`.
 * Requires: 0 < scale, finite; -1074 <= exponent <= 900; finite values; else BRUME_EARGUMENT.
 * On error: `out` is untouched if an argument was refused, else all of it is set to zero. */
BRUME_API BRUME_MUST_USE brume_status brume_release_laplace(brume_bits *bits, double scale,
                                                            int exponent, const double *values,
                                                            double *out, size_t n,
                                                            brume_error *error);

/* The same with Gaussian noise of standard deviation sigma. */
BRUME_API BRUME_MUST_USE brume_status brume_release_gaussian(brume_bits *bits, double sigma,
                                                             int exponent, const double *values,
                                                             double *out, size_t n,
                                                             brume_error *error);

#ifdef __cplusplus
}
#endif

#endif
