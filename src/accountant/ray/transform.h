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

#include <complex.h>

#include "accountant/law/law.h"

/* Points of the complex plane. clang hides glibc's CMPLX, which makes one from its two parts
 * without arithmetic on infinities; the builtin behind it is the same in both compilers. */
#ifndef CMPLX
#define CMPLX(re, im) __builtin_complex((double)(re), (double)(im))
#endif

typedef double complex brume_point;

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

/* What the contour of a transform is made of. */
enum { BRUME_TRANSFORM_PANELS = 120, BRUME_TRANSFORM_RIM = 36 };

/* A place on the polygon or around it: log |f| = log_size + a lambda - b theta. */
typedef struct brume_contour_place {
    double log_size, lambda, theta;
} brume_contour_place;

typedef struct brume_place_node {
    brume_contour_place at;
    brume_point t, weight;
    brume_point density;    /* of the normal law, with the rule's weight; without the base */
    double density_size;    /* its modulus */
    double length;          /* |log(1 + e^T)| */
    double angle;           /* the argument of f is angle + a theta + b lambda */
    double fixed, per_size; /* relative error: fixed + |z| per_size */
    unsigned generation;    /* of its turns */
} brume_place_node;

typedef struct brume_place_panel {
    double half;                                  /* of its length */
    brume_contour_place rim[BRUME_TRANSFORM_RIM]; /* around the ellipse, with the slack free of z */
    double rim_slack[BRUME_TRANSFORM_RIM];
    bool kept; /* else its integral is bounded, not summed */
} brume_place_panel;

/* Functions of u = x half log(1 + e^T) for the 12 x > 0. Small turns, |u| <= 1/2: cosh u - 1 and
 * sinh u. Others: the modulus of e^u, the inverse, and its direction. */
typedef struct brume_turns {
    double first_re[BRUME_GAUSS_HALF], first_im[BRUME_GAUSS_HALF];
    double second_re[BRUME_GAUSS_HALF], second_im[BRUME_GAUSS_HALF];
} brume_turns;

struct brume_contour {
    double mean, sigma, base, angle, start;
    double mean_error;           /* in units */
    double left_re, left_im;     /* the polygon begins there, */
    bool closed;                 /* or comes from -infinity to there on a level; */
    bool open;                   /* and may go on to infinity from `right` in direction `slope` */
    bool from_one;               /* sums are of Phi - 1: (1 + e^T)^z - 1 against the density */
    double beyond, beyond_error; /* from_one: P(T > cut) and a bound of its error */
    double density_missed;       /* from_one: of the density, by rules and ends; a bound */
    brume_point right, slope;
    double half_re, half_im; /* of the path's panel that the turns are for */
    brume_turns *turns;      /* for each node; NULL: none yet */
    unsigned generation;     /* of turns for the present half */
    size_t panel_count, node_count;
    brume_place_panel panels[BRUME_TRANSFORM_PANELS];
    brume_place_node nodes[BRUME_TRANSFORM_PANELS * BRUME_GAUSS_NODES];
};

#endif
