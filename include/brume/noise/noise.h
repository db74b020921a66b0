/* Integer noise with an exact law: geometric, discrete Laplace, discrete Gaussian, and the
 * continuous Laplace and Gaussian rounded to integers.
 *
 * A brume_noise is a prepared law: open it once per parameter, draw from it as often as you like,
 * from any thread (it is read-only), with a bit source of your own. Parameters are taken as the
 * exact value of the double (or the exact ratio); round them towards more noise before calling.
 *
 * 1. One draw and a batch of n give the same values from the same bits, on every processor.
 * 2. Batches allocate nothing, but where a draw is so near the border of two values that only
 *    arithmetic of higher precision can decide it (Laplace: one in 2^45 / scale).
 * 3. |draw| is at most 2^63 - 1: beyond it saturates, a clamp that does not depend on data.
 * 4. On error nothing of the output is meaningful: it is set to zero. */
#ifndef BRUME_NOISE_H
#define BRUME_NOISE_H

#include <stddef.h>
#include <stdint.h>

#include <brume/bits.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct brume_noise brume_noise;

/* P[X = k] = (1-q)/(1+q) q^|k|, q = exp(-1/scale).   Requires 0 < scale <= 2^56, finite. */
BRUME_API BRUME_MUST_USE brume_status brume_noise_open_discrete_laplace(double scale,
                                                                        brume_noise **out,
                                                                        brume_error *error);
/* The same with scale = num/den, an exact ratio; both >= 1. */
BRUME_API BRUME_MUST_USE brume_status brume_noise_open_discrete_laplace_ratio(uint64_t num,
                                                                              uint64_t den,
                                                                              brume_noise **out,
                                                                              brume_error *error);

/* P[X = k] = (1-q) q^k for k >= 0, q = exp(-1/scale).   Requires 0 < scale <= 2^56, finite. */
BRUME_API BRUME_MUST_USE brume_status brume_noise_open_geometric(double scale, brume_noise **out,
                                                                 brume_error *error);
BRUME_API BRUME_MUST_USE brume_status brume_noise_open_geometric_ratio(uint64_t num, uint64_t den,
                                                                       brume_noise **out,
                                                                       brume_error *error);

/* P[X = k] proportional to exp(-k^2 / (2 sigma^2)).   Requires 0 < sigma <= 2^50, finite. */
BRUME_API BRUME_MUST_USE brume_status brume_noise_open_discrete_gaussian(double sigma,
                                                                         brume_noise **out,
                                                                         brume_error *error);
/* The same with sigma^2 = num/den, an exact ratio; both >= 1. */
BRUME_API BRUME_MUST_USE brume_status brume_noise_open_discrete_gaussian_ratio(uint64_t num,
                                                                               uint64_t den,
                                                                               brume_noise **out,
                                                                               brume_error *error);

/* X = the integer nearest to a continuous Laplace of that scale (ties have probability 0). A
 * rounded sum of an integer and continuous noise is post-processing of the continuous mechanism:
 * its privacy is exactly that of the Laplace mechanism.   Requires 0 < scale <= 2^50. */
BRUME_API BRUME_MUST_USE brume_status brume_noise_open_rounded_laplace(double scale,
                                                                       brume_noise **out,
                                                                       brume_error *error);

/* X = the integer nearest to a continuous Gaussian of that sigma.   Requires 0 < sigma <= 2^50. */
BRUME_API BRUME_MUST_USE brume_status brume_noise_open_rounded_gaussian(double sigma,
                                                                        brume_noise **out,
                                                                        brume_error *error);

/* Free; NULL is allowed. */
BRUME_API void brume_noise_close(brume_noise *noise);

/* One draw. */
BRUME_API BRUME_MUST_USE brume_status brume_noise_draw(const brume_noise *noise, brume_bits *bits,
                                                       int64_t *out, brume_error *error);

/* n draws. */
BRUME_API BRUME_MUST_USE brume_status brume_noise_fill(const brume_noise *noise, brume_bits *bits,
                                                       int64_t *out, size_t n, brume_error *error);

/* out[i] = values[i] + one draw each, saturating at +-(2^63 - 1). `out` may be `values`. */
BRUME_API BRUME_MUST_USE brume_status brume_noise_add(const brume_noise *noise, brume_bits *bits,
                                                      const int64_t *values, int64_t *out, size_t n,
                                                      brume_error *error);

#ifdef __cplusplus
}
#endif

#endif
