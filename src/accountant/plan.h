/* How delta of subsampled Gaussians near one epsilon is put together from rays.
 *
 * All draws in one term; or every T confined, what is beyond bounded by its probability; or split
 * by how many T are above a place, each number of jumps with a ray of its own. Any plan is right, a
 * bad one is wide. proofs/accountant.md, section 14, Jumps. */
#ifndef BRUME_ACCOUNTANT_PLAN_H
#define BRUME_ACCOUNTANT_PLAN_H

#include "accountant/ray.h"

enum { BRUME_PLAN_TERMS = 14 };

/* Of delta: what may be left out. */
#define BRUME_PLAN_NEGLIGIBLE 1e-13

enum { BRUME_PLAN_WHOLE = 0, BRUME_PLAN_CONFINED = 1, BRUME_PLAN_SPLIT = 2 };

/* delta = sum over terms of weight * ray, plus at most `beyond`, plus the ceilings. */
typedef struct brume_plan {
    brume_parts whole; /* all laws, T not confined */
    size_t term_count;
    brume_parts parts[BRUME_PLAN_TERMS];
    brume_ray *rays[BRUME_PLAN_TERMS]; /* NULL: only bounded, by its moment at `moment` */
    double log_weight[BRUME_PLAN_TERMS], ceiling[BRUME_PLAN_TERMS];
    double moment[BRUME_PLAN_TERMS]; /* ceiling -infinity: the term is 0 above this epsilon */
    double ceiling_epsilon;
    double beyond;
    uint64_t nodes;
} brume_plan;

/* A plan near epsilon, where delta is about `delta`, for p->whole; false: not in this way. */
bool brume_plan_make(brume_plan *p, double epsilon, double delta, int way);
void brume_plan_close(brume_plan *p);

/* Confine every T to where what is beyond has some share of delta. */
void brume_plan_confine(brume_parts *parts, double delta, double share);

/* The saddle at epsilon, single draws far out left out; and a guess of delta: what they make, or
 * what the others make. */
brume_ray_aim brume_plan_aim(const brume_parts *whole, double epsilon, double *delta);

/* The sum of the rays, its slope, a bound of its error, and what may come on top; false if that
 * says nothing of this epsilon. */
bool brume_plan_evaluate(const brume_plan *p, double epsilon, double *value, double *slope,
                         double *error, double *above);

/* What may come on top of the rays at epsilon, and at every larger one; false if that is not known
 * there. */
bool brume_plan_above(const brume_plan *p, double epsilon, double *above);

/* Certified ends of delta(epsilon); 0 and 1 if nothing is known. */
void brume_plan_certify(const brume_plan *p, double epsilon, double *lower, double *upper);

/* Where the first path starts. */
double brume_plan_start(const brume_plan *p);

#endif
