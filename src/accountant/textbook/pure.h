/* Compositions of steps known by (epsilon, delta) alone: basic, advanced, optimal.
 *
 * Every result is an upper bound, rounded up; every formula holds for adaptively chosen mechanisms
 * with these guarantees fixed in advance. A step is `count` releases of the same guarantee. */
#ifndef BRUME_ACCOUNTANT_TEXTBOOK_PURE_H
#define BRUME_ACCOUNTANT_TEXTBOOK_PURE_H

#include <stddef.h>
#include <stdint.h>

#include <brume/interval.h>
#include <brume/status.h>

typedef struct brume_pure_step {
    double epsilon, delta; /* >= 0; delta < 1 */
    uint64_t count;        /* >= 1 */
} brume_pure_step;

/* 1 - prod (1 - delta_i)^count_i: the probability that any step fails, rounded up, and never
 * above the sum that basic composition adds up: for one step it is its delta.  [KOV15, Thm 3.3] */
double brume_pure_failure_upper(const brume_pure_step *steps, size_t n);

/* Sum of count * epsilon, rounded up. */
double brume_basic_epsilon_upper(const brume_pure_step *steps, size_t n);

/* The same where every epsilon is exactly the shortest decimal that reads as it, and so is the sum,
 * rounded up where it has more digits than a double: 3 times 0.1 is 0.3, and 100 times is 10,
 * although the doubles next to 0.1 and 0.3 are above and below these decimals. */
double brume_basic_decimal_upper(const brume_pure_step *steps, size_t n);

/* epsilon' = sqrt(2 ln(1/delta') sum eps^2) + a mean term, total delta 1 - (1-failure)(1-delta').
 * With V = sum eps^2 and in the order of looseness for small epsilon: */
typedef enum brume_advanced_form {
    BRUME_ADVANCED_DOUBLE = 1,  /* 2 V:                    a lecture note's */
    BRUME_ADVANCED_EXPONENTIAL, /* sum eps (e^eps - 1):   [DRV10, Thm III.3] */
    BRUME_ADVANCED_HALF,        /* V / 2:                 [BS16, Prop 1.4] */
    BRUME_ADVANCED_TANH,        /* sum eps tanh(eps/2):   the exact worst mean, the best of these */
} brume_advanced_form;

/* The formula at a total delta, and at an epsilon. No comparison with basic composition is made
 * here: the formula may be larger. Infinite where delta does not exceed the failure probability;
 * 1 where epsilon does not exceed the mean term. */
double brume_advanced_epsilon_upper(brume_advanced_form form, const brume_pure_step *steps,
                                    size_t n, double delta);
double brume_advanced_delta_upper(brume_advanced_form form, const brume_pure_step *steps, size_t n,
                                  double epsilon);

/* The exact profile of the worst mechanisms with these guarantees, and the least epsilon >= 0 with
 * that delta <= delta, rounded up; infinite if there is none. For any count, by the certified
 * composition of randomized responses: within 1e-8 of epsilon and 1e-5 of delta where delta is not
 * below 1e-30. Errors: BRUME_EMEMORY.                                         [KOV15, Thm 3.3] */
BRUME_MUST_USE brume_status brume_optimal_delta(const brume_pure_step *steps, size_t n,
                                                double epsilon, brume_interval *delta,
                                                brume_error *error);
BRUME_MUST_USE brume_status brume_optimal_epsilon_upper(const brume_pure_step *steps, size_t n,
                                                        double delta, double *epsilon,
                                                        brume_error *error);

/* A group of k: (k eps, the k-th iterate from 0 of min(delta + e^eps x, 1 - e^-eps (1 - delta -
 * x))), rounded up; 1 above 100,000 steps. Attained (proofs/guarantees.md). */
void brume_group_upper(double epsilon, double delta, uint64_t k, double *group_epsilon,
                       double *group_delta);

#endif
