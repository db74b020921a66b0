/* When a private key may be shown: thresholds of the noisy number of units in it.
 *
 * A key is shown iff 1 + m <= units + noise. A key that only one of two neighbours has, has one
 * unit there: it is shown with probability P[noise >= m], and that must be at most what delta
 * allows for the at most G such keys. The noise and the tail are of one kind.
 * Proof: proofs/key-threshold.md. */
#ifndef BRUME_QUERY_KEY_THRESHOLD_H
#define BRUME_QUERY_KEY_THRESHOLD_H

#include <stdint.h>

#include <brume/status.h>

#include "query/price/noise_tail.h"

/* Least m >= 1 with P[discrete Laplace(scale) >= m] <= 1-(1-delta)^(1/groups), and the delta then
 * used, 1-(1-P)^groups rounded up. */
BRUME_MUST_USE brume_status brume_key_threshold_laplace(double scale, uint64_t groups, double delta,
                                                        uint64_t *m, double *delta_upper,
                                                        brume_error *error);

/* The same for discrete Gaussian noise, for the filter's failure delta. */
BRUME_MUST_USE brume_status brume_key_threshold_discrete_gaussian(double sigma, uint64_t groups,
                                                                  double delta, uint64_t *m,
                                                                  double *delta_upper,
                                                                  brume_error *error);

/* Rounded Gaussian under (epsilon, delta): least m for which the whole query, key test included,
 * is (epsilon, delta)-DP, where a gained or lost cell moves the noised vector by `cell` = A and a
 * cell that a replaced unit stays in by `stay` = B (squared, in units of the noise). */
BRUME_MUST_USE brume_status brume_key_threshold_gaussian(double sigma, uint64_t groups, double cell,
                                                         double stay, int replace, double epsilon,
                                                         double delta, uint64_t *m,
                                                         double *delta_upper, brume_error *error);

/* The probability, rounded up, that a threshold shows one of `groups` keys with one unit each. It
 * is the delta that the functions above say is used; for rounded Gaussian noise a part of it. */
double brume_key_shown_upper(brume_noise_tail_upper tail, double scale, uint64_t groups,
                             uint64_t threshold);

#endif
