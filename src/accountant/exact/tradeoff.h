/* Trade-off functions in closed form: f(type1) is the least type-II error of any test between the
 * two worlds whose type-I error is at most `type1`.                            [DRS22, Sec. 2]
 *
 * All of them are symmetric: f is its own inverse, so the same function gives the least type-I
 * error for a type-II error. Certified intervals; `type1` outside [0, 1] is cut to it. */
#ifndef BRUME_ACCOUNTANT_EXACT_TRADEOFF_H
#define BRUME_ACCOUNTANT_EXACT_TRADEOFF_H

#include <brume/interval.h>

/* The worst (epsilon, delta)-DP mechanism: max{0, 1-delta-e^eps a, e^-eps (1-delta-a)}. */
brume_interval brume_tradeoff_approximate(double epsilon, double delta, double type1);

/* Gaussian, mu = sensitivity / sigma: Phi(Phi^-1(1-a) - mu). */
brume_interval brume_tradeoff_gaussian(double mu, double type1);

/* Laplace, epsilon0 = sensitivity / scale. */
brume_interval brume_tradeoff_laplace(double epsilon0, double type1);

#endif
