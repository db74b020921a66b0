/* The Renyi curves that costs carry, and the rho of a curve.
 *
 * Arguments are exact doubles, finite and positive unless said; results may be +infinity. */
#ifndef BRUME_ACCOUNTANT_RENYI_KNOWN_CURVES_H
#define BRUME_ACCOUNTANT_RENYI_KNOWN_CURVES_H

#include <stdbool.h>

#include <brume/account/cost.h>

/* Renyi divergences of order alpha > 1, for brume_cost.renyi_upper. The law of the cost, or its
 * rho, says which. For alpha <= 1 they return the value at the next order above 1, which bounds it.
 */
double brume_renyi_pure_upper(const brume_cost *cost, double alpha); /* at most alpha rho too */
double brume_renyi_laplace_upper(const brume_cost *cost, double alpha);
double brume_renyi_discrete_laplace_upper(const brume_cost *cost, double alpha);
double brume_renyi_kary_upper(const brume_cost *cost, double alpha);
double brume_renyi_rho_upper(const brume_cost *cost, double alpha); /* alpha rho */

/* The curve of a Gaussian on a Poisson sample, law.a = sigma over sensitivity and law.rate; also
 * that of integer Gaussian noise, whose loss law is another: there the cost's `loss` is absent. */
double brume_renyi_sampled_gaussian_upper(const brume_cost *cost, double alpha);

/* The least rho of a cost that has a Renyi curve and a pure epsilon: an upper bound of
 * D_alpha/alpha over all alpha > 1, at most 2e-4 above it. Tens of curve evaluations. */
double brume_rho_of_renyi_upper(const brume_cost *cost);

#endif
