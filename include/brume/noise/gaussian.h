/* Gaussian noise on integers, and how much of it is needed.
 *
 * rho = D^2/(2 sigma^2) for L2 sensitivity D, continuous and discrete. For (epsilon, delta) there
 * are three ways to a sigma; each result is an upper end, certified. Proof: proofs/gaussian.md. The
 * events to record are gaussian(sigma=) and discrete_gaussian(sigma=, coordinates=) with their
 * sensitivity. */
#ifndef BRUME_GAUSSIAN_H
#define BRUME_GAUSSIAN_H

#include <stddef.h>
#include <stdint.h>

#include <brume/bits.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The least sigma, up to 1e-12 relative, for which continuous Gaussian noise on a query of L2
 * sensitivity `sensitivity` is (epsilon, delta)-DP: the analytic one, right for every epsilon.
 * Requires epsilon > 0, sensitivity > 0, both finite, 0 < delta < 1/2; else BRUME_EARGUMENT.
 * BRUME_EOVERFLOW if it is no double. [BW18, Thm 8] */
BRUME_API BRUME_MUST_USE brume_status brume_gaussian_sigma(double epsilon, double delta,
                                                           double sensitivity, double *sigma,
                                                           brume_error *error);

/* sensitivity sqrt(2 ln(1.25/delta))/epsilon, rounded up: the textbook's, for comparison. It is
 * proven for epsilon <= 1 and wrong for large ones: BRUME_EARGUMENT above 1. [DR14, Thm A.1] */
BRUME_API BRUME_MUST_USE brume_status brume_gaussian_sigma_classical(double epsilon, double delta,
                                                                     double sensitivity,
                                                                     double *sigma,
                                                                     brume_error *error);

/* A sigma for which discrete Gaussian noise on ONE integer of sensitivity floor(sensitivity) >= 1
 * is (epsilon, delta)-DP, by its own profile: it needs a little more than the continuous one.
 * Requires as above, sensitivity < 2^53. */
BRUME_API BRUME_MUST_USE brume_status brume_discrete_gaussian_sigma(double epsilon, double delta,
                                                                    double sensitivity,
                                                                    double *sigma,
                                                                    brume_error *error);

/* The least sigma for a rho: sensitivity/sqrt(2 rho), rounded up; continuous and discrete, one
 * number or many. Requires rho > 0, sensitivity > 0, finite. */
BRUME_API BRUME_MUST_USE brume_status brume_gaussian_sigma_of_rho(double rho, double sensitivity,
                                                                  double *sigma,
                                                                  brume_error *error);

/* out[i] = values[i] + discrete Gaussian noise of that sigma, independent; `out` may be `values`.
 * Clamps and errors as brume_discrete_laplace_add. Requires 0 < sigma <= 2^50. */
BRUME_API BRUME_MUST_USE brume_status brume_discrete_gaussian_add(brume_bits *bits, double sigma,
                                                                  const int64_t *values,
                                                                  int64_t *out, size_t n,
                                                                  brume_error *error);

/* The same with continuous Gaussian noise: out[i] = the whole number nearest to values[i] + noise.
 * Values and sigma are in units of a grid that was chosen without the data: the Gaussian mechanism
 * on that grid, rounded, at exactly the cost of gaussian(sigma=). */
BRUME_API BRUME_MUST_USE brume_status brume_gaussian_add(brume_bits *bits, double sigma,
                                                         const int64_t *values, int64_t *out,
                                                         size_t n, brume_error *error);

#ifdef __cplusplus
}
#endif

#endif
