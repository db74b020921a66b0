/* What the contour of a transform is made of: transform.c draws it, transform_sum.c and
 * transform_panel.c sum over it. */
#ifndef BRUME_ACCOUNTANT_RAY_TRANSFORM_SHAPE_H
#define BRUME_ACCOUNTANT_RAY_TRANSFORM_SHAPE_H

#include "accountant/ray/transform.h"
#include "accountant/complex_point.h"

enum { BRUME_TRANSFORM_PANELS = 120, BRUME_TRANSFORM_RIM = 36 };

/* A log below which a term is left out: of modulus below 2e-22. */
#define BRUME_TRANSFORM_NEGLIGIBLE (-50.0)
#define BRUME_TRANSFORM_LEFT_OUT   2e-22

/* A place on the polygon or around it: log |f| = log_size + a lambda - b theta. */
typedef struct brume_place {
    double log_size, lambda, theta;
} brume_place;

typedef struct brume_place_node {
    brume_place at;
    point t, weight;
    point density;          /* of the normal law, with the rule's weight; without the base */
    double density_size;    /* its modulus */
    double length;          /* |log(1 + e^T)| */
    double angle;           /* the argument of f is angle + a theta + b lambda */
    double fixed, per_size; /* relative error: fixed + |z| per_size */
    unsigned generation;    /* of its turns */
} brume_place_node;

typedef struct brume_place_panel {
    double half;                          /* of its length */
    brume_place rim[BRUME_TRANSFORM_RIM]; /* around the ellipse, with the slack free of z */
    double rim_slack[BRUME_TRANSFORM_RIM];
    bool kept; /* else its integral is bounded, not summed */
} brume_place_panel;

/* Of u = x half log(1 + e^T) for the 12 x > 0. Calm nodes, |u| <= 1/2: cosh u - 1 and sinh u.
 * Others: the modulus of e^u, the inverse, and its direction. */
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
    point right, slope;
    double half_re, half_im; /* of the path's panel that the turns are for */
    brume_turns *turns;      /* for each node; NULL: none yet */
    unsigned generation;     /* of turns for the present half */
    size_t panel_count, node_count;
    brume_place_panel panels[BRUME_TRANSFORM_PANELS];
    brume_place_node nodes[BRUME_TRANSFORM_PANELS * BRUME_GAUSS_NODES];
};

/* Of the sizes of all terms: what their sum is rounded by, block by block of a panel's nodes, which
 * are added then. */
double brume_transform_summing(const brume_contour *contour);

/* Is the term of a node left out, of every z up to `reach`, and up to `swing` above log_at? */
bool brume_transform_left_out(const brume_contour *c, const brume_place_node *n, double exponent,
                              double reach);

/* The supremum over the panel's ellipse at z = a + ib times what it counts: the rule's error, or,
 * for a panel that is not summed, its length. */
double brume_transform_panel_missed(const brume_place_panel *panel, double a, double b);

/* What lies left and right of the polygon, a bound. */
double brume_transform_ends_missed(const brume_contour *contour, double a, double b);

#endif
