/* The Gaussian loss: log phi(s) = a^2 s (s + 1)/2, a = mu, the sensitivity over sigma.
 *
 * log psi is a parabola: no table, nothing to prepare, and every error is a few roundings and what
 * is known of a. Promise: as law.h. */
#include "accountant/law/family.h"

static const double unit = BRUME_UNIT;

static long double cumulant(brume_law *law, double c, double *slope, double *error)
{
    long double square = (long double)law->a * law->a, value = square * c * (c + 1.0L) / 2;
    if (slope)
        *slope = (double)(square * (c + 0.5L));
    if (error) /* the parameter twice, the long doubles' own */
        *error = 17 * unit * (double)value;
    return value;
}

static brume_log_psi node(brume_law *law, long index, double h)
{
    /* log psi = -(a y)^2/2 + i a^2 (c+1/2) y: twice the parameter's 8 units, y's 3, four products
     */
    double a = law->a, y = (double)index * h;
    brume_log_psi out = {.re = -0.5 * (a * y) * (a * y), .im = a * a * law->tilt * y};
    out.error = 32 * unit * (fabs(out.re) + fabs(out.im));
    out.ceiling = out.re * (1 - 64 * unit);
    return out;
}

/* |psi| falls with y. */
static double envelope(brume_law *law, double low, double high)
{
    (void)high;
    return -0.5 * (law->a * low) * (law->a * low) * (1 - 1e-12);
}

static const brume_law_family family = {
    .name = "gaussian", .cumulant = cumulant, .node = node, .envelope = envelope};

brume_status brume_gaussian_open(brume_law *law, brume_error *error)
{
    (void)error;
    law->family = &family;
    return BRUME_OK;
}

bool brume_law_is_gaussian(const brume_law *law)
{
    return law->family == &family;
}
