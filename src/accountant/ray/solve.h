/* Compositions of Poisson-subsampled Gaussians alone, by rays.
 *
 * A record removed: delta may come from the one draw in which the record was in the sample and the
 * noise was small, T far out, while z large enough for the rest would blow up its transform. So the
 * draws are split at a T: delta = sum over j of C(n, j) [part in which j draws lie above it], each
 * with a path of its own, and the parts beyond the last j together at most C(n, j+1) P(T
 * above)^{j+1}. proofs/accountant/ray.md, section ray.1. */
#ifndef BRUME_ACCOUNTANT_RAY_SOLVE_H
#define BRUME_ACCOUNTANT_RAY_SOLVE_H

#include "accountant/exact/delta_bounds.h"
#include "accountant/ray/ray.h"

/* Are all laws subsampled Gaussians? Then the two orders are those of one pair. */
bool brume_rays_apply(const brume_law *laws, size_t count);

/* Rays before lines? Not where many draws make the transform fall off by itself: a line needs few
 * nodes there. */
bool brume_rays_suit(const brume_law *laws, size_t count);

/* About the epsilon at delta: a place to start, not a bound. NAN if a law is of another kind. */
double brume_rays_guess(const brume_law *laws, size_t count, double delta);

/* About delta at an epsilon, likewise. */
double brume_rays_guess_delta(const brume_law *laws, size_t count, double epsilon);

/* Narrow certified->value around delta(epsilon), epsilon >= 0. True if that is now as narrow as
 * `enough`, or as `enough` of epsilon makes it. `keep`, if not NULL, is given the rays that were
 * laid last, for other epsilons, if there are any. Nothing happens if a law is of another kind, or
 * if memory ran out. */
bool brume_rays_delta(const brume_law *laws, size_t count, double epsilon, double width,
                      double enough, brume_certified *certified, brume_delta_bounds *keep);

/* Is delta(epsilon) certainly at most `delta`? By one moment, one line or one ray; no, if a law is
 * of another kind. */
bool brume_rays_below(brume_law *laws, size_t count, double epsilon, double delta);

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
