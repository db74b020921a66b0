/* Subsampled Gaussians, a record removed, composed with lattice laws and a few Laplace losses. The
 * transforms of those do not fall off, so that a vertical line through them would need too many
 * nodes.
 *
 * Lattice laws are atoms; a Laplace loss has the transform
 *
 *     e^{sa} (s+1)/(2s+1) + e^{-(s+1)a} s/(2s+1),
 *
 * so the transform of all is a sum of e^{sl} times powers of two rational functions times that of
 * the subsampled Gaussians, and delta(eps) is a sum of their integrals at eps - l: by the same rays
 * for all l (ray.h). proofs/accountant/ray.md, section ray.2. */
#ifndef BRUME_ACCOUNTANT_RAY_WITH_ATOMS_H
#define BRUME_ACCOUNTANT_RAY_WITH_ATOMS_H

#include "accountant/exact/delta_bounds.h"
#include "accountant/ray/ray.h"

typedef struct brume_ray_atoms brume_ray_atoms;

/* Can this route take these laws? Not one subsampled Gaussian with atoms alone: that has a sharper
 * route (exact/one_sampled.h). */
bool brume_ray_atoms_suits(const brume_law *laws, size_t count);

/* Bounds of delta with a relative width of `goal` where that can be reached. NULL if the laws are
 * of other kinds, if there are too many terms, or if memory ran out: then another route is taken.
 */
brume_ray_atoms *brume_ray_atoms_open(const brume_law *laws, size_t count, double goal);
void brume_ray_atoms_close(brume_ray_atoms *atoms);

/* Narrow the interval; false if brume_ray_atoms_open refuses. `keep`, if not NULL, is given the
 * open sum for other epsilons, unless it has too many terms to be asked often. */
bool brume_ray_atoms_delta(const brume_law *laws, size_t count, double epsilon, double goal,
                           brume_certified *certified, brume_delta_bounds *keep);

/* A ray of subsampled Gaussians, a record removed, together with Laplace draws: the same path, the
 * integrand multiplied by so many factors z/(2z-1) and (z-1)/(2z-1). proofs/accountant/ray.md,
 * section ray.2. */
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
