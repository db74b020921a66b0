/* The profile of one Poisson-subsampled Gaussian as polynomials on panels, with certified errors.
 *
 * f(x) = e^{-x/2} delta(x), x any real number. In f every law that is its own reverse is even: a
 * loss l of mass p has the weight p e^{-l/2}, and so has -l; and a Laplace draw takes f to
 *   e^{-e/2}/2 [f(x-e) + f(x+e) + (J(x-e) - J(x+e))/2],  J(x) = integral of f from x on,
 * so that sums over other laws are sums of f and of its repeated integrals, which cost a polynomial
 * each instead of a closed form. proofs/accountant.md, section 22. */
#ifndef BRUME_ACCOUNTANT_SAMPLED_TABLE_H
#define BRUME_ACCOUNTANT_SAMPLED_TABLE_H

#include "accountant/sampled_draw.h"

enum { BRUME_PANEL_NODES = 16, BRUME_TABLE_ORDERS = 32 };

typedef struct brume_sampled_panel {
    double low, high;     /* of x */
    double centre, scale; /* y = (x - centre) scale is in [-1, 1] */
} brume_sampled_panel;

typedef struct brume_sampled_table {
    size_t count, orders;
    brume_sampled_panel *panels; /* next to each other, from low to high */
    double *rows;   /* [panel][order][power of y]: the integral of that order; 0 is f itself */
    double *errors; /* [panel][order]: of the polynomial, anywhere in the panel */
    double *slopes; /* [panel][order]: a bound of the derivative's modulus there */
    double beyond[BRUME_TABLE_ORDERS]; /* right of the last panel the orders are at most that */
} brume_sampled_table;

/* The law's draw (NULL: none, a loss of 0) between `low` and `high`, for parameters within 8 units
 * of the law's; it ends early where delta is below `floor_`. `orders`: 1 + the number of integrals.
 * False if the law does not suit, if it would take too many panels, or if memory ran out. */
BRUME_MUST_USE bool brume_sampled_table_open(const brume_law *law, double low, double high,
                                             double floor_, size_t orders,
                                             brume_sampled_table *out);
void brume_sampled_table_close(brume_sampled_table *table);

#endif
