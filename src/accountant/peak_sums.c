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

void brume_peak_rule_open(double first, brume_peak_rule *rule)
{
    double a = first - 0.5;
    rule->first = first;
    rule->left = rule->right = 0;
    for (int side = 0; side < 2; side++)
        for (int j = side ? 1 : 0; j < BRUME_PEAK_SIDE; j++) {
            double v = side ? -j * step : j * step, u = stretch * sinh(v);
            if (u < -13 || (u > 2 * first && first * first / u < 1e-16))
                break;
            int at = side ? BRUME_PEAK_SIDE + rule->left++ : rule->right++;
            double size = a * a + u * u, fade = exp(-2 * M_PI * fabs(u));
            rule->u[at] = u;
            rule->fade[at] = u < 0 ? 1 : fade; /* only where its exponent's error counts */
            rule->weight[at] = step * stretch * cosh(v) / (1 + fade);
            rule->g_re[at] = first * a / size;
            rule->g_im[at] = -first * u / size;
        }
}

/* Add four nodes' powers from the second on; a weight of 0 adds nothing. */
static void add_powers(const double *weight, const double *g_re, const double *g_im, int count,
                       double *re, double *im)
{
    double t_re[4], t_im[4];
    for (int k = 0; k < 4; k++) {
        t_re[k] = weight[k] * (g_re[k] * g_re[k] - g_im[k] * g_im[k]);
        t_im[k] = weight[k] * 2 * g_re[k] * g_im[k];
    }
    for (int i = 0; i < count; i++) {
        re[i] += (t_re[0] + t_re[1]) + (t_re[2] + t_re[3]);
        im[i] += (t_im[0] + t_im[1]) + (t_im[2] + t_im[3]);
        for (int k = 0; k < 4; k++) {
            double old = t_re[k];
            t_re[k] = old * g_re[k] - t_im[k] * g_im[k];
            t_im[k] = old * g_im[k] + t_im[k] * g_re[k];
        }
        if (i % 4 == 3) {
            double left = 0;
            for (int k = 0; k < 4; k++)
                left += fabs(t_re[k]) + fabs(t_im[k]);
            if (left < 1e-40)
                break; /* what is left out is below 1e-30 in all: |g| < 1.1 */
        }
    }
}

void brume_peak_sums(const brume_peak_rule *rule, double omega, int count, double *re, double *im,
                     double *error)
{
    double first = rule->first, a = first - 0.5, absolute = 0, cut = 1e-18;
    int nodes = 0;
    for (int i = 0; i < count; i++)
        re[i] = im[i] = 0;
    for (int side = 0; side < 2; side++) {
        int start = side ? BRUME_PEAK_SIDE : 0, length = side ? rule->left : rule->right;
        bool ended = false;
        for (int j = 0; j < length && !ended; j += 4) {
            double weight[4] = {0}, g_re[4] = {0}, g_im[4] = {0};
            for (int k = 0; k < 4 && j + k < length; k++) {
                int at = start + j + k;
                double u = rule->u[at], wave = exp(u < 0 ? (2 * M_PI - omega) * u : -omega * u);
                /* the integral beyond falls like 1/u: 1.2 times this node's bound covers it and
                 * the trapezoids (b cosh v < 1.01|u| there) */
                if (u > 2 * first && wave * first * first / u < 1e-16) {
                    cut += 1.2 * wave * first * first / u;
                    ended = true;
                    break;
                }
                weight[k] = wave * rule->weight[at];
                g_re[k] = rule->g_re[at];
                g_im[k] = rule->g_im[at];
                absolute += weight[k] * (g_re[k] * g_re[k] + g_im[k] * g_im[k]) *
                            (1 + omega * fabs(u) + 2 * M_PI * fabs(u) * rule->fade[at]);
                nodes++;
            }
            add_powers(weight, g_re, g_im, count, re, im);
        }
        if (side == 0 && !ended) /* the rule itself has ended */
            cut += 1.2 * first * first / rule->u[rule->right - 1];
        if (side == 1) /* it ends before u = -13 e^{-step}: this node and the integral beyond */
            cut += (0.5 + 0.2 * 13 * 1.2) * exp(-13 * M_PI) * first / a * first / a;
    }
    double s, co;
    sincos(omega * a, &s, &co);
    double lean = first / a, power = lean * lean; /* (m0/|x|)^i <= lean^{i-2} (m0/|x|)^2 */
    double strip = first / sqrt(a * a - stretch * stretch);
    const double widths[] = {1, 0.8, 0.6, 0.4};
    double edge[4]; /* 30 m0 [m0/(sqrt(a^2-b^2) cos d)]^i / (e^{2 pi d/step} - 1), i = 2 .. */
    for (int d = 0; d < 4; d++)
        edge[d] = 30 * first * pow(strip / cos(widths[d]), 2) / expm1(2 * M_PI * widths[d] / step);
    for (int i = 0; i < count; i++, power *= lean) {
        double old = re[i], best = INFINITY;
        re[i] = -(old * s + im[i] * co); /* times i e^{i omega a} */
        im[i] = old * co - im[i] * s;
        for (int d = 0; d < 4; d++) {
            best = fmin(best, edge[d]);
            edge[d] *= strip / cos(widths[d]);
        }
        /* u: 6 units; the weight: 12 units and 8 of its exponents; g: 24 units a power; the sum:
         * one a node; e^{i omega a}: 4 units of its angle */
        double rounding = unit * (64 + 32 * (i + 2) + 2 * nodes + 8 * omega * a);
        error[i] = 1.01 * (best + (cut + rounding * absolute) * power) + 1e-30;
    }
}
