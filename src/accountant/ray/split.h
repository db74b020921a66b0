/* How delta of subsampled Gaussians near one epsilon is put together from rays.
 *
 * All draws in one term; or every T confined, what is beyond bounded by its probability; or split
 * by how many T are above a place, each number of jumps with a ray of its own. Any plan is right, a
 * bad one is wide. proofs/accountant/ray.md, section ray.1, Jumps. */
#ifndef BRUME_ACCOUNTANT_RAY_SPLIT_H
#define BRUME_ACCOUNTANT_RAY_SPLIT_H

#include "accountant/ray/ray.h"

enum { BRUME_RAY_SPLIT_TERMS = 14 };

/* Of delta: what may be left out. */
#define BRUME_RAY_SPLIT_NEGLIGIBLE 1e-13

enum { BRUME_RAY_WHOLE = 0, BRUME_RAY_CONFINED = 1, BRUME_RAY_BY_JUMPS = 2 };

/* delta = sum over terms of weight * ray, plus at most `beyond`, plus the ceilings. */
typedef struct brume_ray_split {
    brume_parts whole; /* all laws, T not confined */
    size_t term_count;
    brume_parts parts[BRUME_RAY_SPLIT_TERMS];
    brume_ray *rays[BRUME_RAY_SPLIT_TERMS]; /* NULL: only bounded, by its moment at `moment` */
    double log_weight[BRUME_RAY_SPLIT_TERMS], ceiling[BRUME_RAY_SPLIT_TERMS];
    double moment[BRUME_RAY_SPLIT_TERMS]; /* ceiling -infinity: the term is 0 above this epsilon */
    double ceiling_epsilon;
    double beyond;
    uint64_t nodes;
} brume_ray_split;

/* A plan near epsilon, where delta is about `delta`, for p->whole; false: not in this way. */
bool brume_ray_split_make(brume_ray_split *p, double epsilon, double delta, int way);
void brume_ray_split_close(brume_ray_split *p);

/* Confine every T to where what is beyond has some share of delta. */
void brume_ray_split_confine(brume_parts *parts, double delta, double share);

/* The saddle at epsilon, single draws far out left out; and a guess of delta: what they make, or
 * what the others make. */
brume_ray_aim brume_ray_split_aim(const brume_parts *whole, double epsilon, double *delta);

/* The sum of the rays, its slope, a bound of its error, and what may come on top; false if that
 * says nothing of this epsilon. */
bool brume_ray_split_evaluate(const brume_ray_split *p, double epsilon, double *value,
                              double *slope, double *error, double *above);

/* What may come on top of the rays at epsilon, and at every larger one; false if that is not known
 * there. */
bool brume_ray_split_above(const brume_ray_split *p, double epsilon, double *above);

/* Certified ends of delta(epsilon); 0 and 1 if nothing is known. */
void brume_ray_split_certify(const brume_ray_split *p, double epsilon, double *lower,
                             double *upper);

/* Where the first path starts. */
double brume_ray_split_start(const brume_ray_split *p);

/* --- bounds without rays --- */

/* An upper bound of log P(T > at) for one draw; a record removed: P is the mixture. */
double brume_fallback_log_mass(const brume_law *law, double at);

/* delta of one draw times their number, in doubles, and the epsilon at which that is delta: about
 * what a single draw far out makes of a removed record; estimates. */
double brume_one_jump(const brume_law *law, double epsilon);
double brume_one_jump_epsilon(const brume_law *law, double delta);

/* log of a bound of the integral by its moment at the real z > 1 (added: z < 0). */
double brume_ray_ceiling(const brume_parts *parts, double z, double epsilon);

/* An upper end of delta at epsilon, where no ray is narrow: with phi_t of the draws confined to T
 * <= t,
 *
 *     delta(eps) <= sum n P(T > t) + e^{-c eps} phi_t(c) c^c/(c+1)^{c+1},
 *
 * the best of some t and c. */
double brume_fallback_delta(const brume_parts *whole, double epsilon);

#endif
