/* Tails and point masses of the noises, as balls and in named directions: what accuracy statements
 * and laws are made of. Scale and sigma are exact doubles, finite and positive. */
#ifndef BRUME_MECHANISM_TAIL_H
#define BRUME_MECHANISM_TAIL_H

#include <stdbool.h>
#include <stdint.h>
#include <brume/status.h>

#include "mechanism/ball.h"

/* P[|X| >= alpha] for one coordinate; alpha >= 0. The discrete Gaussian's is an upper bound (within
 * a factor 1 + 1/sigma^2 or so) where an exact sum would be too long. */
void brume_tail_laplace(arb_t out, double scale, double alpha);
void brume_tail_discrete_laplace(arb_t out, double scale, double alpha);
void brume_tail_gaussian(arb_t out, double sigma, double alpha);
void brume_tail_discrete_gaussian(arb_t out, double sigma, double alpha);

/* P[X = k] of the integer noises, and of the continuous ones rounded to the nearest integer. */
void brume_mass_discrete_laplace(arb_t out, double scale, int64_t k);
void brume_mass_discrete_gaussian(arb_t out, double sigma, int64_t k);
void brume_mass_rounded_laplace(arb_t out, double scale, int64_t k);
void brume_mass_rounded_gaussian(arb_t out, double sigma, int64_t k);

/* P[X >= m] of discrete Laplace noise, for an m of either sign. */
void brume_reach_discrete_laplace(arb_t out, double scale, int64_t m);

/* From a tail to an accuracy statement, for the largest of m independent errors.
 * beta_upper: P[it >= alpha] <= result. alpha_upper: the least double (whole number if `whole`)
 * with beta_upper(alpha) <= beta, up to what 200 halvings of the first power of two times the
 * parameter leave. The tail must fall with alpha. BRUME_EOVERFLOW if no double is large enough. */
typedef void brume_tail(arb_t out, double parameter, double alpha);
double brume_tail_beta_upper(brume_tail *tail, double parameter, double m, double alpha);
brume_status brume_tail_alpha_upper(brume_tail *tail, double parameter, double m, double beta,
                                    bool whole, double *alpha, brume_error *error);

#endif
