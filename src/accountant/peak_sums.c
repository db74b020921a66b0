/* Sums of e^{i omega m} (m0/m)^i over m >= m0, all i at once, uniformly in omega.
 *
 * By residues, with x = a + iu, a = m0 - 1/2,
 *   sum = i e^{i omega a} int e^{-omega u} (m0/x)^i / (1 + e^{-2 pi u}) du over the real line,
 * which decays like u^{-2} at worst (omega = 0). With u = b sinh v, b = 0.29, the trapezoid rule in
 * v of step 5/32 has an error that falls like e^{-2 pi d/step}, d the width of a strip in which
 * |1 + e^{-2 pi u}| >= 0.587 max(1, |e^{-2 pi u}|) and |x| >= sqrt(a^2 - b^2) cos d; every d <= 1
 * serves. Promise: |error| <= error[], rounding included. */
#include <math.h>

#include "accountant/peaks.h"

static const double unit = BRUME_UNIT;
static const double step = 5.0 / 32; /* exact, so are its multiples */
static const double stretch = 0.29;

void brume_peak_sums(double omega, double first, int count, double *re, double *im, double *error)
{
    double a = first - 0.5, absolute = 0, cut = 0;
    int nodes = 0;
    for (int i = 0; i < count; i++)
        re[i] = im[i] = 0;
    for (int side = 0; side < 2; side++)
        for (int j = side ? 1 : 0;; j++) {
            double v = side ? -j * step : j * step, u = stretch * sinh(v), weight;
            double fade = exp(-2 * M_PI * fabs(u));
            if (u < 0)
                weight = exp((2 * M_PI - omega) * u) / (1 + fade);
            else
                weight = exp(-omega * u) / (1 + fade);
            /* this node (b cosh v < 1.01|u| there), and the integral beyond: the integrand falls */
            if (u < -13) {
                cut += (0.5 + 0.2 * fabs(u)) * exp(M_PI * u) * first / a * first / a;
                break;
            }
            if (u > 2 * first && weight * first * first / u < 1e-16) {
                cut += 1.2 * weight * first * first / u + 1e-18;
                break;
            }
            weight *= step * stretch * cosh(v);
            double size = a * a + u * u, g_re = first * a / size, g_im = -first * u / size;
            double t_re = weight * (g_re * g_re - g_im * g_im), t_im = weight * 2 * g_re * g_im;
            absolute += weight * (g_re * g_re + g_im * g_im) *
                        (1 + omega * fabs(u) + 2 * M_PI * fabs(u) * (u < 0 ? 1 : fade));
            for (int i = 0; i < count && fabs(t_re) + fabs(t_im) > 1e-40; i++) {
                re[i] += t_re; /* what is left out is below 1e-30 in all: |g| < 1.1 */
                im[i] += t_im;
                double old = t_re;
                t_re = old * g_re - t_im * g_im;
                t_im = old * g_im + t_im * g_re;
            }
            nodes++;
        }
    double s, co;
    sincos(omega * a, &s, &co);
    double lean = first / a, power = lean * lean; /* (m0/|x|)^i <= lean^{i-2} (m0/|x|)^2 */
    double strip = first / sqrt(a * a - stretch * stretch);
    const double widths[] = {1, 0.8, 0.6, 0.4};
    for (int i = 0; i < count; i++, power *= lean) {
        double old = re[i], best = INFINITY;
        re[i] = -(old * s + im[i] * co); /* times i e^{i omega a} */
        im[i] = old * co - im[i] * s;
        for (int d = 0; d < 4; d++)
            best = fmin(best, 30 * first * pow(strip / cos(widths[d]), i + 2) /
                                  expm1(2 * M_PI * widths[d] / step));
        /* u: 6 units; the weight: 12 units and 8 of its exponents; g: 24 units a power; the sum:
         * one a node; e^{i omega a}: 4 units of its angle */
        double rounding = unit * (64 + 32 * (i + 2) + 2 * nodes + 8 * omega * a);
        error[i] = 1.01 * (best + (cut + rounding * absolute) * power) + 1e-30;
    }
}
