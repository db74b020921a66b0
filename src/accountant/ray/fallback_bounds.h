/* Coarse ends for subsampled Gaussians, where no ray is narrow:
 *
 *     delta(eps) <= sum n P(T > t) + e^{-c eps} phi_t(c) c^c/(c+1)^{c+1},
 *
 * phi_t of the draws confined to T <= t. Every t and c gives a bound; the best of some is taken.
 * proofs/accountant/ray.md, section ray.1. */
#ifndef BRUME_ACCOUNTANT_RAY_FALLBACK_BOUNDS_H
#define BRUME_ACCOUNTANT_RAY_FALLBACK_BOUNDS_H

#include "accountant/ray/ray.h"

/* An upper bound of log P(T > at) for one draw; a record removed: P is the mixture. */
double brume_fallback_log_mass(const brume_law *law, double at);

/* delta of one draw times their number, in doubles, and the epsilon at which that is delta: about
 * what a single draw far out makes of a removed record; estimates. */
double brume_one_jump(const brume_law *law, double epsilon);
double brume_one_jump_epsilon(const brume_law *law, double delta);

/* An upper end of delta at epsilon. */
double brume_fallback_delta(const brume_parts *whole, double epsilon);

#endif
