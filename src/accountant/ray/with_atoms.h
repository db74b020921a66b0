/* Subsampled Gaussians, a record removed, beside lattice laws and few Laplace losses, which do not
 * let a line end.
 *
 * Lattice laws are atoms; a Laplace loss has the transform
 *
 *     e^{sa} (s+1)/(2s+1) + e^{-(s+1)a} s/(2s+1),
 *
 * so the transform of all is a sum of e^{sl} times powers of two rational functions times that of
 * the subsampled Gaussians, and delta(eps) is a sum of their integrals at eps - l: by the same rays
 * for all l (plan.h). proofs/accountant/ray.md, section ray.2. */
#ifndef BRUME_ACCOUNTANT_RAY_WITH_ATOMS_H
#define BRUME_ACCOUNTANT_RAY_WITH_ATOMS_H

#include "accountant/exact/closed_form.h"

typedef struct brume_ray_atoms brume_ray_atoms;

/* Is it a route for these laws, other than that of one subsampled Gaussian beside atoms alone? */
bool brume_ray_atoms_suits(const brume_law *laws, size_t count);

/* Certified down to `goal`, relative, where that can be. NULL if the laws are others, if there are
 * too many terms, or if memory ran out: other routes remain. */
brume_ray_atoms *brume_ray_atoms_open(const brume_law *laws, size_t count, double goal);
void brume_ray_atoms_close(brume_ray_atoms *atoms);

/* Narrow the answer; false if brume_ray_atoms_open refuses. `keep`, if not NULL, is given the open
 * sum for other epsilons, unless it has too many terms to be asked often. */
bool brume_ray_atoms_delta(const brume_law *laws, size_t count, double epsilon, double goal,
                           brume_answer *answer, brume_closed *keep);

#endif
