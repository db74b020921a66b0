/* The Kaiser-Bessel smoothing. See the header, and proofs/accountant.md, section 6. */
#include "accountant/smoothing.h"

#include <math.h>

#include "accountant/law.h"

static const double unit = BRUME_UNIT;
static const double shape = 38; /* exp(-38) of the mass of k lies beyond |y| = shape/width */

double brume_smoothing_cumulant(double width, double c)
{
    if (width == 0)
        return 0;
    /* z - b = w^2 c^2/(z + b); sinh z = e^z/2 to 2^-100 for z >= 38 */
    double z = hypot(shape, width * c), rise = width * c * (width * c) / (z + shape);
    return rise - log1p(rise / shape);
}

double brume_smoothing_drift(double width)
{
    return brume_smoothing_cumulant(width, 1);
}

void brume_smoothing_node(double width, double c, double y, double *re, double *im, double *error)
{
    *re = *im = *error = 0;
    if (width == 0)
        return;
    double wc = width * c, wy = width * y;
    double square_re = shape * shape + wc * wc - wy * wy, square_im = 2 * wc * wy;
    double modulus = hypot(square_re, square_im);
    double large = sqrt(0.5 * (modulus + fabs(square_re)));
    double small = large > 0 ? fabs(square_im) / (2 * large) : 0;
    double z_re = square_re >= 0 ? large : small, z_im = square_re >= 0 ? small : large;
    double s, co, decay = exp(-2 * z_re);
    sincos(z_im, &s, &co);
    /* sinh z = e^{z_re}/2 [(1 - decay) cos + i (1 + decay) sin] */
    double sinh_re = (z_re < 0.1 ? -expm1(-2 * z_re) : 1 - decay) * co, sinh_im = (1 + decay) * s;
    double size = fmax(hypot(sinh_re, sinh_im), 1e-300);
    double radius = fmax(hypot(z_re, z_im), 1e-300);
    double real = hypot(shape, wc); /* log k(c) = real - log(2 real) - constants */
    *re = z_re - real + log(size) - log(radius / real);
    *im = atan2(sinh_im, sinh_re) - atan2(z_im, z_re);
    *error = unit *
             (40 + 6 * (shape * shape + wc * wc + wy * wy) / fmax(radius, 1e-3) + 8 * radius +
              4 * real) *
             fmax(1, (1 + decay) / size);
    if (radius < 1e-3 || size < 1e-9)
        *error = 1;
}

double brume_smoothing_end(double width)
{
    return shape / width;
}

void brume_smoothing_factor(double width, double c, double y, double *re, double *im, double *error)
{
    double wc = width * c, wy = width * y, real = sqrt(shape * shape + wc * wc);
    double square_re = shape * shape + wc * wc - wy * wy, square_im = 2 * wc * wy;
    double modulus = sqrt(square_re * square_re + square_im * square_im), radius = sqrt(modulus);
    double large = sqrt(0.5 * (modulus + fabs(square_re)));
    double small = large > 0 ? square_im / (2 * large) : 0;
    double z_re = square_re >= 0 ? large : small, z_im = square_re >= 0 ? small : large;
    double growth = exp(z_re - real), fade = growth > 1e-4 ? 0 : exp(-real - z_re);
    /* 2 sinh z e^{-real} = (growth - fade) cos + i (growth + fade) sin; fade/growth < 2^-83 where
     * it is left out */
    double size = growth + fade;
    if (radius < 0.01) { /* |sinh z/z| <= cosh |z| < 1.0001 */
        *re = *im = 0;
        *error = 2.001 * real * exp(-real);
        return;
    }
    double s, co;
    sincos(z_im, &s, &co);
    double sinh_re = (growth - fade) * co, sinh_im = size * s, scale = real / modulus;
    *re = scale * (sinh_re * z_re + sinh_im * z_im);
    *im = scale * (sinh_im * z_re - sinh_re * z_im);
    /* z: 6 units of its square's terms over 2|z|, and 4 of itself; exp, sine and products: 40;
     * growth - fade is off by as much of size */
    double terms = shape * shape + wc * wc + wy * wy;
    *error = 1.1 * unit * size * real / radius * (40 + 6 * terms / radius + 8 * radius + 4 * real);
}

double brume_smoothing_envelope(double width, double c, double y)
{
    if (width == 0)
        return 0;
    /* for q = w^2(y^2 - c^2) - b^2 > 0: |Im z| >= sqrt q, Re z <= w^2 c y / sqrt q, decreasing in
     * y; |sinh z / z| <= cosh(Re z)/|Im z| */
    double square = width * width * (y * y - c * c) - shape * shape;
    if (square <= 0)
        return 0; /* |k(c + iy)| <= k(c) */
    double imaginary = sqrt(square), real = width * width * c * y / imaginary;
    if (real > 30)
        return 0;
    double base = hypot(shape, width * c); /* log k(c) + log(sinh b/b) = base - log(2 base) */
    return fmin(0, log(cosh(real) / imaginary) - (base - log(2 * base)) + 1e-9);
}

double brume_smoothing_share(double width)
{
    double below, above, mean, drift = brume_smoothing_drift(width);
    brume_smoothing_moments(width, &below, &above, &mean);
    double shares = mean / below + mean / above;
    double variance = expm1(brume_smoothing_cumulant(width, 2) - 2 * drift);
    return fmin(variance / (width * width) * (1 - shares) / shares, 1);
}

void brume_smoothing_moments(double width, double *below, double *above, double *mean_upper)
{
    double drift = brume_smoothing_drift(width);
    *below = -expm1(-width - drift) * (1 - 1e-14);
    *above = expm1(width - drift) * (1 - 1e-14);
    /* E|1 - V|/2 <= sqrt(Var V)/2, Var V = k(2)/k(1)^2 - 1 */
    double variance = expm1(brume_smoothing_cumulant(width, 2) - 2 * drift);
    *mean_upper = 0.5 * sqrt(fabs(variance) * (1 + 1e-6)) * (1 + 1e-6) + 1e-14 * width;
}
