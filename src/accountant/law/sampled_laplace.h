/* The panels of a Laplace loss on a Poisson sample: laid and settled by sampled_laplace.c, summed
 * by sampled_laplace_node.c. */
#ifndef BRUME_ACCOUNTANT_LAW_SAMPLED_LAPLACE_H
#define BRUME_ACCOUNTANT_LAW_SAMPLED_LAPLACE_H

#include "accountant/law/law.h"

/* The Gauss-Legendre rule of 40 points: the positive places, and the weights of either sign. */
enum { BRUME_LEGENDRE_PAIRS = 20 };

typedef struct brume_legendre_pair {
    long double place, weight;
} brume_legendre_pair;

extern const brume_legendre_pair brume_legendre_rule[BRUME_LEGENDRE_PAIRS];

enum {
    BRUME_SAMPLED_LAPLACE_POINTS = 2 * BRUME_LEGENDRE_PAIRS,
    BRUME_SAMPLED_LAPLACE_DEGREES = 28,
    BRUME_SAMPLED_LAPLACE_PANELS = 128,
    BRUME_SAMPLED_LAPLACE_RHOS = 5
};

extern const double brume_sampled_laplace_rhos[BRUME_SAMPLED_LAPLACE_RHOS];

/* Points of panel p are p * POINTS ..., the upper half of the rule first, then the lower one. */
typedef struct brume_panels {
    size_t count;
    double tilt;   /* the c that they were laid for */
    double spread; /* half the distance of the end atoms */
    bool able;     /* they cover everything */
    long double start[BRUME_SAMPLED_LAPLACE_PANELS],
        half[BRUME_SAMPLED_LAPLACE_PANELS];         /* v at the left end, half
                                       the length */
    long double rise[BRUME_SAMPLED_LAPLACE_PANELS]; /* X at the left end */
    long double loss[BRUME_SAMPLED_LAPLACE_PANELS * BRUME_SAMPLED_LAPLACE_POINTS];
    long double
        mass[BRUME_SAMPLED_LAPLACE_PANELS * BRUME_SAMPLED_LAPLACE_POINTS]; /* under the first law */
    long double top, bottom, top_mass, bottom_mass;                        /* v of the atoms */

    /* on the line */
    double top_share, bottom_share, share[BRUME_SAMPLED_LAPLACE_PANELS];
    double length[BRUME_SAMPLED_LAPLACE_PANELS],
        centre[BRUME_SAMPLED_LAPLACE_PANELS]; /* half; of the loss */
    double even[BRUME_SAMPLED_LAPLACE_PANELS * BRUME_LEGENDRE_PAIRS],
        odd[BRUME_SAMPLED_LAPLACE_PANELS * BRUME_LEGENDRE_PAIRS];
    double series[BRUME_SAMPLED_LAPLACE_DEGREES][BRUME_SAMPLED_LAPLACE_PANELS];
    double size, widest;                           /* E|L|; the largest half */
    double series_error;                           /* of the expansions, all panels together */
    double series_size;                            /* sum of their coefficients' sizes */
    double quadrature[BRUME_SAMPLED_LAPLACE_RHOS]; /* logs of the rule's error on each rho's
                                                      ellipse, y = 0 */
    double ends, middle;                           /* the density at its ends, added; its share */
    double doubt;                                  /* a bound of the relative error of all shares */
} brume_panels;

/* As law.h. */
brume_log_psi brume_sampled_laplace_node(brume_law *law, long index, double h);

#endif
