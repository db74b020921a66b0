/* Privacy profiles of single mechanisms in closed form: delta(epsilon), the least delta for which
 * the pair is (epsilon, delta)-indistinguishable, as certified intervals.       [BW18, Thm 8] */
#ifndef BRUME_ACCOUNTANT_EXACT_PROFILE_H
#define BRUME_ACCOUNTANT_EXACT_PROFILE_H

#include <brume/interval.h>

/* All real epsilon, the negative ones too. Parameters are the exact values of the doubles. */

/* Gaussian, mu = L2 sensitivity / sigma >= 0. */
brume_interval brume_profile_gaussian(double mu, double epsilon);

/* The least sigma/sensitivity whose profile at epsilon is at most delta, rounded up: the analytic
 * Gaussian mechanism. Infinite for delta <= 0. Requires epsilon >= 0.           [BW18, Alg. 1] */
double brume_profile_gaussian_sigma_upper(double epsilon, double delta);

#endif
