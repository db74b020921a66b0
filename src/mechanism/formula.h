/* The formulas that costs are made of, each rounded up (or down) as its name says.
 *
 * Arguments are exact doubles, finite and positive unless said; results may be +infinity. */
#ifndef BRUME_MECHANISM_FORMULA_H
#define BRUME_MECHANISM_FORMULA_H

#include <stdint.h>

#include <brume/account/cost.h>

#include "accountant/renyi/renyi.h"
#include "number/rounding.h"

/* rho of Gaussian noise: >= sensitivity^2/(2 sigma^2); and for a squared change, >= square/(2
 * sigma^2). [BS16, Prop. 1.6] */
double brume_gaussian_rho_upper(double sensitivity, double sigma);
double brume_square_rho_upper(double square, double sigma);

/* Fill in all that pure epsilon implies: the worst pure law, its rho and its Renyi curve. The
 * quality says whether the mechanism attains them. */
void brume_cost_of_pure(double epsilon, brume_quality quality, brume_cost *cost);

/* The same for what costs this except with probability `delta`. */
void brume_cost_of_failing(double epsilon, double delta, brume_cost *cost);

/* Fill in all that rho implies: the Renyi curve alpha rho. */
void brume_cost_of_rho(double rho, brume_quality quality, brume_cost *cost);

/* rho of a pure epsilon-DP mechanism: epsilon tanh(epsilon/2); epsilon >= 0.   [BS16; HM25] */
double brume_pure_rho_upper(double epsilon);

/* rho of one Laplace release: epsilon + exp(-epsilon) - 1; epsilon >= 0.             [HM25] */
double brume_laplace_rho_upper(double epsilon);

/* rho of an epsilon-bounded-range mechanism: epsilon^2/8.                            [DDR20] */
double brume_bounded_range_rho_upper(double epsilon);

/* ln(1 + rate (exp(epsilon) - 1)): pure epsilon after Poisson sampling.              [BBG18] */
double brume_sampled_epsilon_upper(double epsilon, double rate);

/* The greatest integer that a stated bound on an integer allows: its floor, but the next integer
 * where the bound is within a millionth below it, because such a bound was meant to be it and lost
 * its last digits. */
double brume_integer_bound(double bound);

#endif
