/* Certified statements: an interval that holds a number (brume_certified), and bounds of delta that
 * can be evaluated at any epsilon (brume_delta_bounds), of which delta_bounds.c also makes epsilon
 * at a delta. Sums, closed forms, lines and rays are handed on in this form. */
#ifndef BRUME_ACCOUNTANT_EXACT_DELTA_BOUNDS_H
#define BRUME_ACCOUNTANT_EXACT_DELTA_BOUNDS_H

#include <brume/interval.h>

#include "accountant/law/law.h"

typedef struct brume_certified {
    brume_interval value;
    uint64_t nodes;
    unsigned rounds;
    const char *route;
    bool balls;         /* the upper end comes from ball arithmetic already */
    double excess;      /* of a delta: the band's part of the upper end, an estimate */
    bool contradictory; /* certified statements contradicted each other: a fault */
} brume_certified;

/* Is the interval as narrow as asked, relative to its upper end? */
bool brume_certified_is_narrow(const brume_certified *certified, double width);

/* The bounds of an interval whose statements were all taken: where the lower one is above the upper
 * one they change places, and the interval is contradictory. Every interval passes here before it
 * is used. */
void brume_certified_settle(brume_certified *certified);

/* Take the lower end of laws that the laws of `certified` dominate, in place of its own; take the
 * upper end of laws that dominate those of `certified`, if it is below. Both settle it. */
void brume_certified_take_lower(brume_certified *certified, const brume_certified *lower);
void brume_certified_take_upper(brume_certified *certified, const brume_certified *upper);

/* The larger of two numbers: both ends take the larger. */
void brume_certified_take_larger(brume_certified *certified, const brume_certified *other);

typedef enum brume_side { BRUME_LOWER_SIDE = -1, BRUME_UPPER_SIDE = 1 } brume_side;

/* delta(epsilon) bounded from above and from below, for every parameter within its 8 units. */
typedef struct brume_delta_bounds {
    double (*delta)(void *context, double epsilon, brume_side side);
    void *context;
    const char *route;
    double slope; /* how fast log delta falls near the guess, if known: else 0 */
    double gap;   /* about how far apart the two sides are, relative to delta, if known: else 0 */
    double least; /* it holds for epsilons from here on; 0: for all */
    void (*close)(void *context); /* NULL: there is nothing to free */
    bool doubles;   /* computed in doubles with error bounds, else in ball arithmetic */
    uint64_t nodes; /* points of an integrand or terms of a sum behind it, so far */
} brume_delta_bounds;

/* Narrow certified->value, which must contain the epsilon at delta, from a guess inside it. */
void brume_delta_bounds_invert(const brume_delta_bounds *bounds, double delta, double delta_error,
                               double guess, brume_certified *certified);

/* Narrow certified->value around delta(epsilon). */
void brume_delta_bounds_take(const brume_delta_bounds *bounds, double epsilon,
                             brume_certified *certified);

/* --- sums over sign patterns: few draws of Laplace, pure and small discrete laws --- */
typedef struct brume_pattern brume_pattern;

/* NULL if a law is of another kind, if the patterns with a loss above `epsilon` times (Laplace
 * draws + half the laws + 6) exceed `effort`, or if memory ran out. */
brume_pattern *brume_pattern_open(const brume_law *laws, size_t count, double epsilon,
                                  double effort);
void brume_pattern_close(brume_pattern *pattern);
brume_delta_bounds brume_pattern_bounds(brume_pattern *pattern);

/* --- all Gaussians together: a law of that kind is one draw --- */
brume_delta_bounds brume_gaussian_bounds(brume_law *law);

/* All real epsilon, the negative ones too. Parameters are the exact values of the doubles. */

/* Gaussian, mu = L2 sensitivity / sigma >= 0. */
brume_interval brume_profile_gaussian(double mu, double epsilon);

/* The least sigma/sensitivity whose profile at epsilon is at most delta, rounded up: the analytic
 * Gaussian mechanism. Infinite for delta <= 0. Requires epsilon >= 0.           [BW18, Alg. 1] */
double brume_profile_gaussian_sigma_upper(double epsilon, double delta);

#endif
