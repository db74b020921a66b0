/* Tails and thresholds of discrete Laplace noise, certified. */
#ifndef BRUME_MECHANISM_STABILITY_TAIL_H
#define BRUME_MECHANISM_STABILITY_TAIL_H

#include <stdint.h>

#include <brume/status.h>

/* P[X >= m] for X discrete Laplace of `scale`: a^m/(1+a), a = exp(-1/scale). Rounded up. */
double brume_discrete_tail_upper(double scale, uint64_t m);

/* The least m >= 0 whose tail, rounded up, is at most delta. */
BRUME_MUST_USE brume_status brume_discrete_tail_threshold(double scale, double delta, uint64_t *m,
                                                          double *delta_upper, brume_error *error);

/* A scale with noise * scale >= amount, so that the noise costs at most epsilon: amount/epsilon,
 * up. One step further than the quotient, because a typed decimal may be a little below its double.
 */
double brume_scale_upper(double amount, double epsilon);

/* 1-(1-delta)^(1/keys), rounded down: what each of `keys` independent failures may take. */
double brume_delta_share_lower(double delta, uint64_t keys);

/* 1-(1-p)^keys, rounded up. */
double brume_delta_joint_upper(double p, uint64_t keys);

#endif
