/* Subsampled Gaussians by a path that leaves the vertical line.
 *
 * The loss of a subsampled Gaussian has a hard lower end, log(1-q), and its transform falls along a
 * vertical line only like exp(-(sigma log y)^2/2). But exp(-s eps) phi(s) falls exponentially to
 * the right (a record added: to the left): with z = s + 1 (added: z = -s), x = eps - sum n log(1-q)
 * (added: x = -eps - sum n log(1-q)) and Phi as in transform.h
 *
 *     delta(eps) = (e^eps or 1)/pi Im int over the path of e^{-zx} prod Phi(z)^n / (z(z-1)) dz
 *
 * for every path from a real z > 1 (added: z < 0) up and to the right. It is a straight ray here,
 * cut into panels with Gauss-Legendre rules; every error is bounded. A part is a law whose T is
 * confined to an interval: the sum is then the part of delta from the event that all T are in
 * theirs. proofs/accountant/ray.md, section ray.1. */
#ifndef BRUME_ACCOUNTANT_RAY_RAY_H
#define BRUME_ACCOUNTANT_RAY_RAY_H

#include "accountant/ray/transform.h"
#include "accountant/law/law.h"

enum { BRUME_MOST_PARTS = 16 };

typedef struct brume_ray_part {
    const brume_law *law; /* its own count is not used */
    double from, cut;     /* T is in between */
    double count;
} brume_ray_part;

typedef struct brume_ray_parts {
    brume_ray_part part[BRUME_MOST_PARTS];
    size_t count;
    bool reversed;               /* a record added */
    double origin, origin_error; /* -sum n log(1-q) and a bound of its error */
} brume_ray_parts;

/* All draws of the laws, T not confined; false if one is not a subsampled Gaussian, or if they are
 * too many. `laws` must outlive it. */
bool brume_parts_gather(const brume_law *laws, size_t count, brume_ray_parts *out);

/* Where a path should start, and what to expect; an estimate. */
typedef struct brume_ray_aim {
    double start, x, epsilon;
    double width;     /* of the integrand's peak */
    double log_delta; /* at `epsilon`, by the saddle */
    double target;    /* log of what the integral must be small against; NaN: its own size */
} brume_ray_aim;

typedef struct brume_ray brume_ray;

/* The saddle at epsilon, or, if that is NaN, the one whose delta is exp(log_delta). */
brume_ray_aim brume_ray_aim_for(const brume_ray_parts *parts, double epsilon, double log_delta);

/* A record removed: move aim->start below the saddle point where that makes the sum sharper against
 * aim->target. Two reasons: if the density tilted by e^{zT} has no mass at T > 1/2, the ray may be
 * flatter, so that the integrand falls faster (unless too much cancels; `lean` asks for it all the
 * same); and with little tilted mass far out the rounding of the sums is smaller. */
void brume_ray_lower(const brume_ray_parts *parts, brume_ray_aim *aim, bool lean);

/* log Phi of one draw at the real z; an estimate. */
double brume_ray_log_sum(const brume_ray_part *part, double z);

/* `parts` must outlive the ray. NULL if nothing can be certified or memory ran out. */
brume_ray *brume_ray_open(const brume_ray_parts *parts, const brume_ray_aim *aim);
void brume_ray_close(brume_ray *ray);
size_t brume_ray_nodes(const brume_ray *ray);

/* For the audit, which sums a ray again in balls: what it needs of the whole ray. */
typedef struct brume_ray_frame {
    const brume_ray_parts *parts;
    double start;
    long double base;                /* log of what the nodes leave out, but for e^{-start x} */
    double rest_a, rest_b, rest_log; /* the path ends at start + a + ib; a bound of what is beyond,
                                        but for e^{-ax} */
} brume_ray_frame;
brume_ray_frame brume_ray_frame_of(const brume_ray *ray);

/* A node at z = start + a + ib, the rule's weight, and in (re, im) that weight times
 * exp(-scale) prod (Phi exp(-base))^n/(z(z-1)), with a bound of its error. brume_ray_probe and
 * brume_ray_span_at are false beyond the last node or panel. */
typedef struct brume_ray_node {
    double start, a, b, weight_re, weight_im, re, im, error, scale;
} brume_ray_node;
typedef struct brume_ray_span {
    double start, scale, middle_re, middle_im, half_re, half_im; /* z = start + middle + u half */
    double log_missed; /* of e^{-(z-start)x} times the above without weights, by the rule */
} brume_ray_span;
bool brume_ray_span_at(const brume_ray *ray, size_t index, double x, brume_ray_span *out);
bool brume_ray_probe(const brume_ray *ray, size_t index, brume_ray_node *out);
const brume_contour *brume_ray_contour(const brume_ray *ray, size_t part);

/* How delta of subsampled Gaussians near one epsilon is put together from rays, in one of three
 * ways:
 *
 * - WHOLE: one ray for all draws.
 * - CONFINED: one ray for the event that every T is below its cut; the probability of the
 *   complement is an upper bound of what is missing.
 * - BY_LARGE_DRAWS: a draw is called large if its T is above a split point; one ray for each number
 *   of large draws.
 *
 * Each way gives valid bounds of delta; a badly chosen one gives wide bounds.
 * proofs/accountant/ray.md, section ray.1, Large draws. */
enum { BRUME_RAY_SPLIT_TERMS = 14 };

/* What may be left out of delta. */
#define BRUME_RAY_SPLIT_NEGLIGIBLE 1e-13

enum { BRUME_RAY_WHOLE = 0, BRUME_RAY_CONFINED = 1, BRUME_RAY_BY_LARGE_DRAWS = 2 };

/* delta is at least the sum over terms of weight * ray, and at most that plus `beyond` plus the
 * ceilings of the terms that have no ray. */
typedef struct brume_ray_split {
    brume_ray_parts whole; /* all laws, T not confined */
    size_t term_count;
    brume_ray_parts parts[BRUME_RAY_SPLIT_TERMS];
    brume_ray *rays[BRUME_RAY_SPLIT_TERMS]; /* NULL: only bounded, by its moment at `moment` */
    double log_weight[BRUME_RAY_SPLIT_TERMS], ceiling[BRUME_RAY_SPLIT_TERMS];
    double moment[BRUME_RAY_SPLIT_TERMS]; /* ceiling -infinity: the term is 0 above this epsilon */
    double ceiling_epsilon;
    double beyond;
    uint64_t nodes;
} brume_ray_split;

/* Lay the rays for p->whole near epsilon, where delta is about `delta`. False if that cannot be
 * done in this way. */
bool brume_ray_split_make(brume_ray_split *p, double epsilon, double delta, int way);
void brume_ray_split_close(brume_ray_split *p);

/* Set the cut of every part so that all draws together exceed theirs with a probability of about
 * share * delta. */
void brume_ray_split_confine(brume_ray_parts *parts, double delta, double share);

/* The saddle point at epsilon of the draws confined as above; in *delta a guess of delta: the
 * larger of what the confined draws cost and of what one single draw far out costs. */
brume_ray_aim brume_ray_split_aim(const brume_ray_parts *whole, double epsilon, double *delta);

/* That upper bound alone; it holds at epsilon and at every larger one. False if none is known. */
bool brume_ray_split_above(const brume_ray_split *p, double epsilon, double *above);

/* Certified bounds of delta(epsilon); 0 and 1 if nothing is known. */
void brume_ray_split_certify(const brume_ray_split *p, double epsilon, double *lower,
                             double *upper);

/* --- bounds without rays --- */

/* Estimates for a removed record where one draw far out makes the loss: the delta of one draw times
 * the number of draws, and the epsilon at which that is `delta`. */
double brume_one_large_draw_delta(const brume_law *law, double epsilon);
double brume_one_large_draw_epsilon(const brume_law *law, double delta);

/* log of an upper bound of the integral, by the moment of order z, real, z > 1 (added: z < 0). */
double brume_ray_ceiling(const brume_ray_parts *parts, double z, double epsilon);

/* An upper bound of delta at epsilon for where no ray is sharp. With phi_t the transform of the
 * draws confined to T <= t,
 *
 *     delta(eps) <= sum n P(T > t) + e^{-c eps} phi_t(c) c^c/(c+1)^{c+1},
 *
 * for every t and c; the least over some of them. */
double brume_fallback_delta(const brume_ray_parts *whole, double epsilon);

#endif
