/* A ray of subsampled Gaussians, a record removed, beside Laplace draws: the same path, the
 * integrand multiplied by so many factors z/(2z-1) and (z-1)/(2z-1). proofs/accountant.md,
 * section 23. */
#ifndef BRUME_ACCOUNTANT_RAY_BESIDE_H
#define BRUME_ACCOUNTANT_RAY_BESIDE_H

#include "accountant/ray.h"

typedef struct brume_ray_beside brume_ray_beside;

/* `ray` must outlive it. NULL if memory ran out or a record is added. */
brume_ray_beside *brume_ray_beside_open(const brume_ray *ray, unsigned first, unsigned second);
void brume_ray_beside_close(brume_ray_beside *beside);

/* The integral at epsilon, which is known up to epsilon_error, and a bound of its error; false if
 * it is of no use there. epsilon may be negative. */
bool brume_ray_beside_evaluate(const brume_ray_beside *beside, double epsilon, double epsilon_error,
                               double *value, double *error);

#endif
