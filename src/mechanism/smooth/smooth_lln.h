/* The two laws that neighbours give Laplace-log-normal noise, as sums over the same points.
 *
 * Z = X e^(sigma Y), X standard Laplace, Y standard normal. With noise scaled to smooth sensitivity
 * the outputs of neighbours are, in units of one scale, Z and shift + e^stretch Z, |shift| <= s and
 * |stretch| <= t. */
#ifndef BRUME_MECHANISM_SMOOTH_SMOOTH_LLN_H
#define BRUME_MECHANISM_SMOOTH_SMOOTH_LLN_H

#include <stddef.h>
#include <brume/status.h>

/* Points and weights of a quadrature of the line: p[i] is the weight times the density of Z, q[i]
 * that of shift + e^stretch Z. Both sum to 1 within 1e-12, and so do sums of smooth functions of
 * their ratio where these are finite; points where either is below 1e-280 are left out. The caller
 * frees p and q.
 *
 * Requires .05 <= sigma <= 2, |shift| <= 100, |stretch| <= 10: BRUME_EARGUMENT. */
BRUME_MUST_USE brume_status brume_log_normal_pair(double sigma, double shift, double stretch,
                                                  double **p, double **q, size_t *count,
                                                  brume_error *error);

#endif
