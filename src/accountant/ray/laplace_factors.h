/* A ray of subsampled Gaussians, a record removed, beside Laplace draws: the same path, the
 * integrand multiplied by so many factors z/(2z-1) and (z-1)/(2z-1). proofs/accountant/ray.md,
 * section ray.2. */
#ifndef BRUME_ACCOUNTANT_RAY_LAPLACE_FACTORS_H
#define BRUME_ACCOUNTANT_RAY_LAPLACE_FACTORS_H

#include "accountant/ray/ray.h"

typedef struct brume_ray_factors brume_ray_factors;

/* `ray` must outlive it. NULL if memory ran out or a record is added. */
brume_ray_factors *brume_ray_factors_open(const brume_ray *ray, unsigned first, unsigned second);
void brume_ray_factors_close(brume_ray_factors *beside);

/* The integral at epsilon, which is known up to epsilon_error, and a bound of its error; false if
 * it is of no use there. epsilon may be negative. */
bool brume_ray_factors_evaluate(const brume_ray_factors *beside, double epsilon,
                                double epsilon_error, double *value, double *error);

#endif
