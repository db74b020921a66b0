/* Gaussian, Laplace and worst pure losses on the line.
 *
 * With A = (c + 1/2) a, theta = y a, t = tanh A:
 *   pure:     psi = cos theta + i t sin theta,           |psi|^2 = 1 - sin^2 theta / cosh^2 A
 *   Laplace:  psi = [cos theta + i t sin theta + (t cos theta + i sin theta)/(2 (c+1/2+iy))] / D,
 *             D = 1 + t/(2c+1)
 * and psi - 1 is formed without cancellation. Promise: the errors stated hold for every parameter
 * within BRUME_PARAMETER_UNITS of a, for theta with a relative error of 12 units in all. */
#include "accountant/law/law.h"

#include <math.h>

static const double unit = BRUME_UNIT;

brume_log_psi brume_log_psi_of(double z_re, double z_im, double z_error)
{
    brume_log_psi out;
    double square = 2 * z_re + z_re * z_re + z_im * z_im; /* |psi|^2 - 1 */
    double modulus = brume_modulus(1 + z_re, z_im);
    if (modulus < 1e-150)
        modulus = 1e-150;
    out.re = square > -0.75 ? 0.5 * log1p(square) : log(modulus);
    out.im = atan2(z_im, 1 + z_re);
    /* |log(psi + d) - log psi| <= 1.1 |d/psi| for |d/psi| <= 0.15; the square costs 4 roundings of
     * its terms, halved, over |psi|^2; log1p and atan2 cost 2 ulp of their values. */
    double rounding = 2 * unit * (2 * fabs(z_re) + z_re * z_re + z_im * z_im) /
                          (modulus * modulus) +
                      4 * unit * (fabs(out.re) + fabs(out.im));
    if (square <= -0.75)
        rounding += 8 * unit / modulus;
    double ratio = z_error / modulus;
    out.error = ratio <= 0.15 ? 1.1 * ratio + 1.1 * rounding : 1;
    /* log(modulus + z_error) <= log modulus + ratio, of which re is a rounding */
    out.ceiling = fmin(0, out.error <= 0.15 ? out.re + ratio + 1.1 * rounding
                                            : log(modulus + z_error) + 8 * unit);
    return out;
}

brume_log_psi brume_gaussian_node(const brume_law *law, double y)
{
    /* log psi = -(a y)^2/2 + i a^2 (c+1/2) y: twice the parameter's 8 units, y's 3, four products
     */
    double a = law->a;
    brume_log_psi out = {.re = -0.5 * (a * y) * (a * y), .im = a * a * law->tilt * y};
    out.error = 32 * unit * (fabs(out.re) + fabs(out.im));
    out.ceiling = out.re * (1 - 64 * unit);
    return out;
}

brume_log_psi brume_pure_node(const brume_law *law, double y)
{
    double theta = y * law->a, s, c, t = law->tanh_a, size = fabs(theta);
    sincos(theta, &s, &c);
    double lost = s * s * law->sech2; /* 1 - |psi|^2 */
    double square = fmax(c * c + t * t * s * s, 1e-300);
    double sine_error = unit * (12 * size + 4 * fmin(1, size));
    brume_log_psi out;
    out.re = lost < 0.75 ? 0.5 * log1p(-lost) : 0.5 * log(square);
    out.im = atan2(t * s, c);
    double lost_error = law->sech2 * (2 * fabs(s) * sine_error + sine_error * sine_error) +
                        lost * unit * (20 * fmin(law->tilt * law->a, 400) + 16);
    double angle_error = t * (sine_error + 14 * unit * fabs(s) + unit * (12 * size + 4) * fabs(s)) /
                         square;
    out.error = 1.1 * (0.5 * lost_error / square + angle_error) +
                4 * unit * (fabs(out.re) + fabs(out.im));
    if (lost >= 0.75) /* then the square itself was rounded: cos^2 and t^2 sin^2 by 32 units */
        out.error += 32 * unit * (1 + size * fabs(s * c) / square);
    if (!(out.error <= 0.15))
        out.error = 1;
    /* the real part alone: half of log(1 - lost), or of log(square) */
    if (lost < 0.75 && lost_error < 0.01)
        out.ceiling = fmin(0, out.re * (1 - 4 * unit) + 0.55 * lost_error / square);
    else
        out.ceiling = fmin(0, 0.5 * log(fmin(1, square + lost_error + 16 * unit)) + 4 * unit);
    return out;
}

/* sin x - x */
static double sine_rest(double x)
{
    if (fabs(x) >= 1)
        return sin(x) - x;
    double q = x * x, sum = 0;
    for (int j = 19; j >= 5; j -= 2)
        sum = (1 - sum) * q / (double)(j * (j - 1));
    return -x * q / 6 * (1 - sum);
}

/* tanh x - x, x >= 0, to 10 units relative */
static double tanh_rest(double x)
{
    if (x >= 0.02)
        return (double)(tanhl((long double)x) - (long double)x);
    double q = x * x;
    return -x * q *
           (1.0 / 3 - q * (2.0 / 15 - q * (17.0 / 315 - q * (62.0 / 2835 - q * 1382.0 / 155925))));
}

void brume_laplace_settle(brume_law *law)
{
    double big = law->tilt * law->a;
    law->tanh_a = tanh(big);
    law->tanh_rest = tanh_rest(big);
    double inverse = big > 350 ? 0 : 1 / cosh(big);
    law->sech2 = inverse * inverse;
    law->denominator = 1 + law->tanh_a / (2 * law->tilt);
}

/* psi - 1 and a bound of its error, absolute */
void brume_laplace_rest(const brume_law *law, double y, double *re, double *im, double *bound)
{
    double theta = y * law->a, size = fabs(theta), s, c, t = law->tanh_a, tilt = law->tilt;
    sincos(theta, &s, &c);
    double half = sin(0.5 * theta), v = 2 * half * half; /* 1 - cos theta */
    double rho = tilt * tilt + y * y, root = sqrt(rho);
    double w = tilt * sine_rest(theta) - y * law->tanh_rest; /* tilt sin theta - t y */
    double below = 2 * tilt * rho;
    double z_re = (-v + (w * y - t * tilt * tilt * v) / below) / law->denominator;
    double z_im = (t * s + (w * tilt + t * tilt * v * y) / below) / law->denominator;
    /* errors, in units: v: 40|theta| h; t sin: 30 t|theta|; t v: 54 t|theta| h; sin x - x: 200
     * min(|x|^3/6, |x|); t - A: 40 relative; h = min(1, |theta|/2). Rounded up below. */
    double h = fmin(1, 0.5 * size);
    double error =
        60 * size * h + 45 * t * size + 80 * t * size * h / (2 * root) +
        (220 * tilt * fmin(size * size * size / 6, size) + 60 * fabs(y * law->tanh_rest)) /
            (2 * tilt * root);
    error = unit * error / law->denominator + 24 * unit * (fabs(z_re) + fabs(z_im));
    *re = z_re;
    *im = z_im;
    *bound = error;
}

brume_log_psi brume_laplace_node(const brume_law *law, double y)
{
    double re, im, error;
    brume_laplace_rest(law, y, &re, &im, &error);
    return brume_log_psi_of(re, im, error);
}

/* phi - 1 = m sum_{n>=2} a^n b_n/n!, m = c(c+1), b_2 = 1, b_3 = -1, b_{n+1} = m b_{n-1} - b_n, for
 * (2c+1) a < 0.01: the twelfth term is below 1e-22 of the first. */
static double cumulant_near_zero(double a, double c, double *slope)
{
    double m = c * (c + 1), before = 1, b = -1, bent_before = 0, bent = 0; /* and d b_n/dm */
    double factor = a * a / 2, sum = factor, sum_bent = 0;
    for (int n = 3; n < 12; n++) {
        factor *= a / n;
        sum += factor * b;
        sum_bent += factor * bent;
        double next = m * before - b, next_bent = before + m * bent_before - bent;
        before = b;
        b = next;
        bent_before = bent;
        bent = next_bent;
    }
    if (slope)
        *slope = (2 * c + 1) * (sum + m * sum_bent) / (1 + m * sum);
    return log1p(m * sum);
}

double brume_laplace_cumulant_rough(const brume_law *law, double c, double *slope)
{
    double a = law->a, big = (2 * c + 1) * a;
    if (law->kind == BRUME_LAW_LAPLACE && big < 0.01)
        return cumulant_near_zero(a, c, slope);
    double small = exp(-big);
    if (law->kind == BRUME_LAW_PURE) {
        if (slope)
            *slope = a * (1 - 2 * small / (1 + small));
        return big < 1 ? log1p(2 * sinh(c * a / 2) * sinh((c + 1) * a / 2) / cosh(a / 2))
                       : c * a + log1p(small) - log1p(exp(-a));
    }
    double r = 1 / (2 * c + 1), mass = (c + 1) * r + c * r * small;
    if (slope)
        *slope = a + (-r * r + r * r * small - 2 * a * c * r * small) / mass;
    return c * a + log(mass);
}

long double brume_laplace_cumulant(const brume_law *law, double at, double *slope, double *error)
{
    long double c = at, a = law->a, big = (2 * c + 1) * a, small = expl(-big);
    long double value, mass;
    if (law->kind == BRUME_LAW_PURE) {
        /* phi = e^{ca} (1 + e^{-(2c+1)a}) / (1 + e^{-a}); near 0: 2 sinh sinh / cosh; for small c
         * phi - 1 = [e^{ca} - 1 + e^{-a} (e^{-ca} - 1)]/(1 + e^{-a}): the value is of the size of
         * c, and many draws multiply its error */
        if (big < 1)
            value = log1pl(2 * sinhl(c * a / 2) * sinhl((c + 1) * a / 2) / coshl(a / 2));
        else if (c * a < 0.5L)
            value = log1pl((expm1l(c * a) + expl(-a) * expm1l(-c * a)) / (1 + expl(-a)));
        else
            value = c * a + log1pl(small) - log1pl(expl(-a));
        mass = 1 + small;
        if (slope)
            *slope = (double)(a * (1 - 2 * small / mass));
    } else {
        long double r = 1 / (2 * c + 1);
        mass = (c + 1) * r + c * r * small;
        if (big < 0.5L) {
            /* phi - 1 = e^{-a/2} [2 sinh(ca/2) sinh((c+1)a/2) + (c(c+1)/2) sum_j a^{2j+1} S_j /
             * (2j+1)!], S_1 = 1, S_{j+1} = (c+1/2)^2 S_j + 4^{-j} */
            long double tilt2 = (c + 0.5L) * (c + 0.5L) * a * a, quarter = a * a / 4, power = 1;
            long double partial = 1, factor = a / 6, sum = 0;
            for (int j = 1; j < 14; j++) {
                sum += factor * partial;
                power *= quarter;
                partial = tilt2 * partial + power;
                factor /= (long double)((2 * j + 2) * (2 * j + 3));
            }
            value = log1pl(expl(-a / 2) * (2 * sinhl(c * a / 2) * sinhl((c + 1) * a / 2) +
                                           c * (c + 1) * a * a / 2 * sum));
        } else if (c * a < 0.5L) { /* phi - 1: terms of the size of c that cancel by 1/8 at most */
            value = log1pl(((c + 1) * expm1l(c * a) + c * expm1l(-(c + 1) * a)) * r);
        } else {
            value = c * a + logl(mass);
        }
        if (slope)
            *slope = (double)(a + (-r * r + r * r * small - 2 * a * c * r * small) / mass);
    }
    if (error) /* |d log phi / d log a| <= 1.2 c a min(1, (c+1) a), x tanh x having slopes up
                * to 1.2: 8 units and the long doubles' own */
        *error = unit * (double)(10 * c * a * fminl(1, (c + 1) * a) + 0.01L * fabsl(value) +
                                 0.01L * fminl(1, c * a));
    return value;
}

/* Is there a zero of the sine in [low, high], or next to it? */
static bool passes_zero(double low, double high)
{
    return !(high < 1e12) || floor(low / M_PI - 1e-9) < floor(high / M_PI + 1e-9);
}

/* From |sin low|, where no zero is between. */
static double sine_square_from(double sine_low, double high)
{
    double least = fmin(sine_low, fabs(sin(high))) - 4e-15 * high;
    return least > 0 ? least * least * (1 - 1e-12) : 0;
}

double brume_smallest_sine_square(double low, double high)
{
    return passes_zero(low, high) ? 0 : sine_square_from(fabs(sin(low)), high);
}

/* |psi| <= g(x)/D, g(x) = sqrt(1-x) + sqrt(t^2+x)/(2 sigma), where x = sin^2 theta / cosh^2 A >=
 * lost and sigma = |c + 1/2 + iy| grows with y. g is concave in x with its top at x* = (1 - 4
 * sigma^2 t^2)
 * /(1 + 4 sigma^2). The second term, the continuous part, is also at most its mass D - 1 at y = 0.
 * Summed without cancellation from g - D. */
double brume_laplace_bound(const brume_law *law, double lost, double y)
{
    double t = law->tanh_a, tilt = law->tilt, sigma = sqrt(tilt * tilt + y * y);
    double twice = 4 * sigma * sigma, x = fmax(lost, (1 - twice * t * t) / (1 + twice));
    x = fmin(x, 1);
    double atoms = x / (1 + sqrt(1 - x)), wave = x / (sqrt(t * t + x) + t + 1e-300) / (2 * sigma);
    double fall = 0.5 * t * y * y / (tilt * sigma * (tilt + sigma)); /* t/(2 tilt) - t/(2 sigma) */
    /* t errs by 14 units, x by 1e-12 of itself, y by 12 units: each term by less than 1e-12 */
    double above = wave * (1 + 1e-12) - (atoms + fall) * (1 - 1e-12);
    above = fmin(above, -lost / (1 + sqrt(1 - fmin(lost, 1))) * (1 - 1e-12));
    return log1p(fmax(above / law->denominator, -1 + 1e-15)) * (1 - 1e-12);
}

double brume_laplace_envelope(brume_law *law, double low, double high)
{
    bool laplace = law->kind == BRUME_LAW_LAPLACE; /* else two atoms */
    if (law->band_low != low) {                    /* several ends are tried for one `low` */
        law->band_low = low;
        law->band_near = law->band_far = NAN; /* |sin(low a)|; the bound where the sine may be 0 */
    }
    if (passes_zero(low * law->a, high * law->a)) {
        if (!laplace)
            return 0;
        if (isnan(law->band_far))
            law->band_far = brume_laplace_bound(law, 0, low);
        return law->band_far;
    }
    if (isnan(law->band_near))
        law->band_near = fabs(sin(low * law->a));
    /* |cosh(A + i theta)|^2 / cosh^2 A = 1 - sin^2 theta / cosh^2 A */
    double lost = law->sech2 * sine_square_from(law->band_near, high * law->a) * (1 - 1e-12);
    return laplace ? brume_laplace_bound(law, lost, low)
                   : fmin(0, 0.5 * log1p(-lost) * (1 - 1e-12));
}
