/* Tails of the noises a query uses. */
#include "query/price/tail.h"

#include <math.h>

#include "number/rounding.h"

double brume_tail_laplace_upper(double scale, double m)
{
    double a_down = brume_exp_down(-brume_divide_up(1, scale));
    double power_up = brume_exp_up(-brume_divide_down(m, scale));
    return brume_divide_up(power_up, brume_add_down(1, a_down));
}

/* P[N(0,sigma^2) >= t] = erfc(t / (sigma sqrt 2)) / 2; erfc falls, so its argument goes down. */
static double gaussian_upper(double sigma, double t)
{
    double root = brume_sqrt_up(2);
    double divisor = t >= 0 ? brume_multiply_up(sigma, root)
                            : brume_multiply_down(sigma, brume_sqrt_down(2));
    return brume_multiply_up(0.5, brume_erfc_up(brume_divide_down(t, divisor)));
}

double brume_tail_rounded_gaussian_upper(double sigma, double m)
{
    return gaussian_upper(sigma, brume_subtract_down(m, 0.5));
}

/* The least of two bounds on sum_{x>=m} f(x) / Theta, f(x) = exp(-x^2/(2 sigma^2)):
 *  - f(m+j) <= f(m) exp(-jm/sigma^2) and Theta >= 1: f(m) / (1 - exp(-m/sigma^2));
 *  - where m - 1/2 >= sigma f is convex from m - 1/2 on, so f(x) <= integral of f over x -+ 1/2,
 * and Theta >= sigma sqrt(2 pi): P[N >= m - 1/2]. */
double brume_tail_discrete_gaussian_upper(double sigma, double m)
{
    double variance_up = brume_multiply_up(sigma, sigma);
    double exponent_down =
        brume_divide_down(brume_multiply_down(m, m), brume_multiply_up(2, variance_up));
    double gap_down = -brume_expm1_up(-brume_divide_down(m, variance_up));
    double bound = gap_down > 0 ? brume_divide_up(brume_exp_up(-exponent_down), gap_down) : 1;
    if (m - 0.5 >= sigma)
        bound = fmin(bound, gaussian_upper(sigma, m - 0.5));
    return fmin(bound, 1);
}
