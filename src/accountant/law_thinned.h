/* The panels of a Laplace loss on a Poisson sample: laid and settled by law_thinned.c, summed by
 * law_thinned_node.c. */
#ifndef BRUME_ACCOUNTANT_LAW_THINNED_H
#define BRUME_ACCOUNTANT_LAW_THINNED_H

#include "accountant/law.h"
#include "accountant/thinned_rule.h"

enum {
    BRUME_THINNED_POINTS = 2 * THINNED_PAIRS,
    BRUME_THINNED_DEGREES = 28,
    BRUME_THINNED_PANELS = 128,
    BRUME_THINNED_RHOS = 5
};

extern const double brume_thinned_rhos[BRUME_THINNED_RHOS];

/* Points of panel p are p * POINTS ..., the upper half of the rule first, then the lower one. */
struct brume_panels {
    size_t count;
    double tilt; /* the c that they were laid for */
    bool able;   /* they cover everything */
    long double start[BRUME_THINNED_PANELS], half[BRUME_THINNED_PANELS]; /* v at the left end, half
                                                                            the length */
    long double rise[BRUME_THINNED_PANELS];                              /* X at the left end */
    long double loss[BRUME_THINNED_PANELS * BRUME_THINNED_POINTS];
    long double mass[BRUME_THINNED_PANELS * BRUME_THINNED_POINTS]; /* under the first law */
    long double top, bottom, top_mass, bottom_mass;                /* v of the atoms */

    /* on the line */
    double top_share, bottom_share, share[BRUME_THINNED_PANELS];
    double length[BRUME_THINNED_PANELS], centre[BRUME_THINNED_PANELS]; /* half; of the loss */
    double even[BRUME_THINNED_PANELS * THINNED_PAIRS], odd[BRUME_THINNED_PANELS * THINNED_PAIRS];
    double series[BRUME_THINNED_DEGREES][BRUME_THINNED_PANELS];
    double size, widest; /* E|L|; the largest half */
    double series_error; /* of the expansions, all panels together */
    double series_size;  /* sum of their coefficients' sizes */
    double
        quadrature[BRUME_THINNED_RHOS]; /* logs of the rule's error on each rho's ellipse, y = 0 */
    double ends, middle;                /* the density at its ends, added; its share */
    double doubt;                       /* a bound of the relative error of all shares */
};

#endif
