/* The exact profile of the worst mechanisms with given guarantees, by the textbook's sum in ball
 * arithmetic, to compare brume_optimal_delta with.                            [KOV15, Thm 3.3] */
#ifndef TESTS_ACCOUNTANT_OPTIMAL_SUM_H
#define TESTS_ACCOUNTANT_OPTIMAL_SUM_H

#include "accountant/textbook/pure.h"

/* How many terms the sum has. */
double optimal_sum_terms(const brume_pure_step *steps, size_t n);

/* delta at an epsilon, and the least epsilon >= 0 of a delta, rounded up; infinite if there is
 * none. One distinct epsilon: at most 10^7 releases; several: at most 2^20 sign patterns, else
 * BRUME_EUNSUPPORTED. */
brume_status optimal_sum_delta(const brume_pure_step *steps, size_t n, double epsilon,
                               brume_interval *delta, brume_error *error);
brume_status optimal_sum_epsilon_upper(const brume_pure_step *steps, size_t n, double delta,
                                       double *epsilon, brume_error *error);

#endif
