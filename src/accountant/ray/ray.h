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

typedef struct brume_part {
    const brume_law *law; /* its own count is not used */
    double from, cut;     /* T is in between */
    double count;
} brume_part;

typedef struct brume_parts {
    brume_part part[BRUME_MOST_PARTS];
    size_t count;
    bool reversed;               /* a record added */
    double origin, origin_error; /* -sum n log(1-q) and a bound of its error */
} brume_parts;

/* All draws of the laws, T not confined; false if one is not a subsampled Gaussian, or if they are
 * too many. `laws` must outlive it. */
bool brume_parts_gather(const brume_law *laws, size_t count, brume_parts *out);

/* Where a path should start, and what to expect; an estimate. */
typedef struct brume_ray_aim {
    double start, x, epsilon;
    double width;     /* of the integrand's peak */
    double log_delta; /* at `epsilon`, by the saddle */
    double target;    /* log of what the integral must be small against; NaN: its own size */
} brume_ray_aim;

typedef struct brume_ray brume_ray;

/* The saddle at epsilon, or, if that is NaN, the one whose delta is exp(log_delta). */
brume_ray_aim brume_ray_aim_for(const brume_parts *parts, double epsilon, double log_delta);

/* Start a ray for aim->target lower where that is better, a record removed: where e^{zT} puts no
 * mass at T > 1/2 the path may lean over, if not too much cancels then, or if it must `lean`; where
 * it puts little mass far out the sums are sharp. */
void brume_ray_lower(const brume_parts *parts, brume_ray_aim *aim, bool lean);

/* A contour for the transform of each part, low enough that the moduli of all draws together exceed
 * the values by little; *angle is the steepest that a ray may have. False if there are none. */
bool brume_ray_draw(const brume_parts *parts, const brume_ray_aim *aim, brume_contour **contours,
                    double *angle);
void brume_ray_erase(const brume_parts *parts, brume_contour **contours);

/* log of the rounding of a ray from aim->start, in units of exp(target); an estimate. */
double brume_ray_lost(const brume_parts *parts, const brume_ray_aim *aim);

/* log Phi of one draw at the real z; an estimate. */
double brume_ray_log_sum(const brume_part *part, double z);

/* `parts` must outlive the ray. NULL if nothing can be certified or memory ran out. */
brume_ray *brume_ray_open(const brume_parts *parts, const brume_ray_aim *aim);
void brume_ray_close(brume_ray *ray);
size_t brume_ray_nodes(const brume_ray *ray);
double brume_ray_start(const brume_ray *ray);

/* The integral at epsilon >= 0, its slope, and a bound of its error; false if it is of no use
 * there: it is sharp near the epsilon aimed at. */
bool brume_ray_evaluate(const brume_ray *ray, double epsilon, double *value, double *slope,
                        double *error);

/* What a sum over the nodes and spans below needs beside them. */
typedef struct brume_ray_frame {
    const brume_parts *parts;
    double start;
    long double base;                /* log of what the nodes leave out, but for e^{-start x} */
    double rest_a, rest_b, rest_log; /* the path ends at start + a + ib; a bound of what is beyond,
                                        but for e^{-ax} */
} brume_ray_frame;
brume_ray_frame brume_ray_frame_of(const brume_ray *ray);

/* For the audit: a node at z = start + a + ib, the rule's weight, and weight times
 * exp(-scale) prod (Phi exp(-base))^n/(z(z-1)) with a bound of its error. False beyond the last. */
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

#endif
