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

/* Narrow the interval; false if brume_ray_atoms_open refuses. `keep`, if not NULL, is given the
 * open sum for other epsilons, unless it has too many terms to be asked often. */
bool brume_ray_atoms_delta(const brume_law *laws, size_t count, double epsilon, double goal,
                           brume_certified *certified, brume_delta_bounds *keep);

#endif
