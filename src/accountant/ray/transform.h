/* The transform of one Poisson-subsampled Gaussian along a path in the plane of the loss.
 *
 * With T = log(q/(1-q)) + (2x-1)/(2 sigma^2), normal of mean m = log(q/(1-q)) - 1/(2 sigma^2) and
 * deviation 1/sigma under N0, the ratio of the densities is (1-q)(1 + e^T). So everything is
 *
 *     Phi(z) = E (1 + e^T)^z,    a record removed: phi(s) = (1-q)^{s+1} Phi(s+1),
 *                                a record added:   phi(s) = (1-q)^{-s} Phi(-s).
 *
 * The integral is taken over a polygon that leaves the real line where |z| e^T reaches 1, so that
 * the integrand decays for z far from the real line, too, instead of cancelling; Gauss-Legendre
 * rules with 24 points on its panels. What the rules miss, and |Phi| itself, are bounded by
 * functions of z whose logarithms are convex. proofs/accountant/ray.md, section ray.1. */
#ifndef BRUME_ACCOUNTANT_RAY_TRANSFORM_H
#define BRUME_ACCOUNTANT_RAY_TRANSFORM_H

#include "accountant/law/law.h"

enum { BRUME_GAUSS_HALF = 12, BRUME_GAUSS_NODES = 24 };

/* Nodes in (0, 1) and their weights. */
extern const double brume_gauss[BRUME_GAUSS_HALF][2];

/* All 24 in [-1, 1]: the negative ones first. */
static inline double brume_gauss_place(int index)
{
    return index < BRUME_GAUSS_HALF ? -brume_gauss[index][0]
                                    : brume_gauss[index - BRUME_GAUSS_HALF][0];
}

static inline double brume_gauss_weight(int index)
{
    return brume_gauss[index % BRUME_GAUSS_HALF][1];
}

/* The rule of 24 nodes on [-1, 1] errs by at most this times the supremum over the ellipse with
 * foci -1, 1 and semi-axes 1.45, 1.05. */
#define BRUME_GAUSS_LONG  1.45
#define BRUME_GAUSS_WIDE  1.05
#define BRUME_GAUSS_ERROR 4.1e-19

typedef struct brume_contour brume_contour;

/* Where the contour should be good: from z = start along e^{i turn} to size |z| = reach. */
typedef struct brume_transform_aim {
    double start, reach;
    double height;    /* of the polygon over the real line, as a share of what suits the law */
    double rise;      /* log |z| e^T at |z| = reach where the polygon leaves the real line */
    double from, cut; /* the integral runs over from < T < cut; both may be infinite */
} brume_transform_aim;

/* m and sigma of a sampled law. */
void brume_transform_normal(const brume_law *law, double *mean, double *sigma);

/* NULL if memory ran out, or if the polygon has too many panels. */
brume_contour *brume_transform_open(const brume_law *law, const brume_transform_aim *aim);
void brume_transform_close(brume_contour *contour);

/* The least angle of a path on which the integrand does not grow. */
double brume_transform_angle(const brume_contour *contour);

/* All values are those of exp(-base) Phi(z); base is an exact double near log Phi(start). Sums are
 * of that minus the offset, which is 1 where Phi is near 1, and then base is 0; else it is 0. */
double brume_transform_base(const brume_contour *contour);
double brume_transform_offset(const brume_contour *contour);

/* log of a bound of the integral of the modulus, so of |Phi(a + ib)|, for every real a and b. */
double brume_transform_bound(const brume_contour *contour, double a, double b);

/* log of a bound of what the rules and the ends leave out. */
double brume_transform_missed(const brume_contour *contour, double a, double b);

/* The sum of the rules at the 24 nodes middle + x half of a panel of the path, in the order of
 * brume_gauss_place; a bound of the rounding of each. False if memory ran out. */
typedef struct brume_transform_values {
    double re[BRUME_GAUSS_NODES], im[BRUME_GAUSS_NODES], rounding[BRUME_GAUSS_NODES];
} brume_transform_values;
BRUME_MUST_USE bool brume_transform_panel(brume_contour *contour, double middle_re,
                                          double middle_im, double half_re, double half_im,
                                          brume_transform_values *out);

/* A node of the rules: T, and the rule's weight times the panel's direction. False beyond the last.
 */
bool brume_transform_node(const brume_contour *contour, size_t index, double *t_re, double *t_im,
                          double *weight_re, double *weight_im);

/* The sum of the rules, and a bound of its rounding. */
void brume_transform_sum(const brume_contour *contour, double a, double b, double *re, double *im,
                         double *rounding);

#endif
