/* One node of a line: the factors of psi, the kernel, and bounds of both. See line.h and
 * proofs/accountant/contour.md, section contour.1 and law.2.
 *
 * Promise: a node's parts are within its errors of the truth; of a node that is not summed the
 * errors bound the parts themselves. */
#include "accountant/contour/line.h"

#include <math.h>

#include "accountant/contour/band.h"

static const double unit = BRUME_UNIT;

/* The complex inverse of 1 - exp(-z a), z = x + iy. */
static void inverse_step(double x, double y, double a, double *re, double *im)
{
    double s = sin(y * a), half = sin(0.5 * y * a), decay = exp(-x * a);
    double below_re = -expm1(-x * a) + decay * 2 * half * half, below_im = decay * s;
    double square = below_re * below_re + below_im * below_im;
    *re = below_re / square;
    *im = -below_im / square;
}

/* The logarithm of psi at one node, summed over laws. */
typedef struct log_sum {
    double re, im, size, error, ceiling;
    bool usable;
} log_sum;

static void add_laws(const brume_line *line, bool expensive, long index, log_sum *sum)
{
    for (size_t i = 0; i < line->law_count; i++) {
        brume_law *law = &line->laws[i];
        if (brume_law_is_expensive(law) != expensive)
            continue;
        brume_log_psi psi = brume_law_node(law, index, line->h);
        double part_re = law->count * psi.re, part_im = law->count * psi.im;
        sum->re += part_re;
        sum->im += part_im;
        sum->size += fabs(part_re) + fabs(part_im);
        sum->ceiling += law->count * psi.ceiling;
        sum->error += law->count * psi.error;
        sum->usable &= psi.error <= 0.15;
    }
}

/* What psi is multiplied by: see brume_node. */
typedef struct kernel_parts {
    double first_re, first_im, second_re, second_im;
    double size, second_size, lever;
    double error, second_error, absolute; /* two relative, and one for both */
} kernel_parts;

static kernel_parts kernel_at(const brume_line *line, double y)
{
    kernel_parts k = {.error = 16 * unit};
    double c = line->c, second_decay = 0;
    if (line->unit > 0) {
        /* kappa(s) = e^{-s x0} [(1 - e^{-t}) + e^{-(s+1)a} (e^{a-t} - 1)] alpha beta, t = x0 - eps,
         * alpha = 1/(1-e^{-sa}), beta = 1/(1-e^{-(s+1)a}): two terms that do not cancel */
        double a = line->unit, alpha_re, alpha_im, beta_re, beta_im, si, co;
        inverse_step(c, y, a, &alpha_re, &alpha_im);
        inverse_step(c + 1, y, a, &beta_re, &beta_im);
        k.first_re = alpha_re * beta_re - alpha_im * beta_im;
        k.first_im = alpha_re * beta_im + alpha_im * beta_re;
        sincos(y * a, &si, &co);
        double decay = exp(-(c + 1) * a);
        k.second_re = decay * (k.first_re * co + k.first_im * si);
        k.second_im = decay * (k.first_im * co - k.first_re * si);
        k.lever = hypot(beta_re, beta_im);
        /* relative: the unit by 12 units in 1 - e^{-za}: at most |z a| e^{-Re za}/|1 - e^{-za}| */
        k.error = unit * (96 + 16 * (c * a + y * a) * exp(-c * a) * hypot(alpha_re, alpha_im) +
                          16 * ((c + 1) * a + y * a) * decay * k.lever);
        /* second: and e^{-(s+1)a} itself */
        second_decay = decay;
        k.second_error = k.error + unit * (16 + 16 * ((c + 1) * a + y * a));
    } else if (line->band.width > 0) {
        brume_band_pair pair = brume_band_at(&line->band, y);
        k.first_re = pair.upper_re;
        k.first_im = pair.upper_im;
        k.second_re = pair.lower_re;
        k.second_im = pair.lower_im;
        k.absolute = pair.error;
    } else {
        double below_re = c * (c + 1) - y * y, below_im = (2 * c + 1) * y;
        double square = (c * c + y * y) * ((c + 1) * (c + 1) + y * y);
        k.first_re = below_re / square;
        k.first_im = -below_im / square;
    }
    k.size = hypot(k.first_re, k.first_im);
    k.second_size = line->band.width > 0 ? hypot(k.second_re, k.second_im) : k.size * second_decay;
    k.second_error = fmax(k.error, k.second_error);
    return k;
}

/* A node of which nothing is known but |psi| <= bound: it is not summed, its bound is. */
static brume_node bounded_node(double y, const kernel_parts *k, double bound)
{
    brume_node node = {.y = y};
    node.error = bound * (k->size + k->absolute) * (1 + 1e-9) + 1e-300;
    node.second_error = bound * (k->second_size + k->absolute) * (1 + 1e-9) + 1e-300;
    return node;
}

brume_node brume_line_node(const brume_line *line, long index, double least, double *log_size)
{
    double y = (double)index * line->h;
    log_sum sum = {.usable = true};
    kernel_parts k = kernel_at(line, y);
    /* how much of the folded kernel there is: (1 - e^{-t}) + ... <= a, up to the lattice's step */
    double share = line->unit > 0 ? -expm1(-line->unit) : 1;
    add_laws(line, false, index, &sum);
    double bound = fmin(0, sum.ceiling);
    if (bound + log(k.size) < least) { /* the expensive laws are not asked */
        *log_size = bound + log(k.size * share);
        return bounded_node(y, &k, exp(bound));
    }
    add_laws(line, true, index, &sum);
    double error = sum.error + ((double)line->law_count + 8) * unit * sum.size;
    /* exp and sincos of the sum, the kernel (products and quotients): 24 units beside it */
    error += 24 * unit + 4 * unit * (fabs(sum.re) + fabs(sum.im));
    if (!sum.usable || !(error <= 0.15)) {
        bound = fmin(0, sum.ceiling);
        *log_size = bound + log(k.size * share);
        return bounded_node(y, &k, exp(bound));
    }
    brume_node node = {.y = y};
    double s, co, modulus = exp(sum.re);
    sincos(sum.im, &s, &co);
    double psi_re = modulus * co, psi_im = modulus * s;
    node.first_re = psi_re * k.first_re - psi_im * k.first_im;
    node.first_im = psi_re * k.first_im + psi_im * k.first_re;
    node.second_re = psi_re * k.second_re - psi_im * k.second_im;
    node.second_im = psi_re * k.second_im + psi_im * k.second_re;
    node.lever = modulus * k.lever;
    node.error = modulus * (k.size * (1.1 * error + k.error) + 1.2 * k.absolute);
    node.second_error = modulus *
                        (k.second_size * (1.1 * error + k.second_error) + 1.2 * k.absolute);
    *log_size = sum.re + log(k.size * share);
    return node;
}
