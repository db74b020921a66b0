/* A ray of subsampled Gaussians, a record removed, together with Laplace draws: the same path, the
 * integrand multiplied by so many factors z/(2z-1) and (z-1)/(2z-1). proofs/accountant/ray.md,
 * section ray.2. */
#ifndef BRUME_ACCOUNTANT_RAY_LAPLACE_FACTORS_H
#define BRUME_ACCOUNTANT_RAY_LAPLACE_FACTORS_H

#include "accountant/ray/ray.h"

/* One term of the product of Laplace transforms: weight e^{-s loss}, and so many of each factor. */
typedef struct brume_laplace_pattern {
    double loss, weight;
    unsigned first, second;
} brume_laplace_pattern;

/* Multiply the terms so far by all draws of a Laplace law. False if they would be more than `most`.
 */
BRUME_MUST_USE bool brume_laplace_patterns_add(const brume_law *law,
                                               brume_laplace_pattern *patterns, size_t *count,
                                               size_t most);

typedef struct brume_ray_factors brume_ray_factors;

/* `ray` must outlive it. NULL if memory ran out or a record is added. */
brume_ray_factors *brume_ray_factors_open(const brume_ray *ray, unsigned first, unsigned second);
void brume_ray_factors_close(brume_ray_factors *factors);

/* The integral at epsilon, which is known up to epsilon_error, and a bound of its error; false if
 * it is of no use there. epsilon may be negative. */
bool brume_ray_factors_evaluate(const brume_ray_factors *factors, double epsilon,
                                double epsilon_error, double *value, double *error);

#endif
