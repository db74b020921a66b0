/* The nodes of a line (psi times the kernel, and bounds of both), their sum, and what the sum
 * certifies. See line.h and proofs/accountant/contour.md, sections contour.1 and contour.2.
 *
 * Promise: a node's parts are within its errors of the truth; of a node that is not summed the
 * errors bound the parts themselves. */
#include "accountant/contour/line.h"

#include <math.h>

#include "accountant/contour/band.h"
#include "number/elementary.h"

static const double unit = BRUME_UNIT;

/* --- one node --- */

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

/* A node of which only |psi| <= bound is known: it adds nothing to the sum, and its bound to the
 * error. */
static brume_node bounded_node(double y, const kernel_parts *k, double bound)
{
    brume_node node = {.y = y};
    node.error = bound * (k->size + k->absolute) * (1 + 1e-9) + 1e-300;
    node.second_error = bound * (k->second_size + k->absolute) * (1 + 1e-9) + 1e-300;
    return node;
}

brume_node brume_line_node(const brume_line *line, long index, double least, double *size)
{
    double y = (double)index * line->h;
    log_sum sum = {.usable = true};
    kernel_parts k = kernel_at(line, y);
    /* how much of the folded kernel there is: (1 - e^{-t}) + ... <= a, up to the lattice's step */
    double share = line->unit > 0 ? -expm1(-line->unit) : 1;
    add_laws(line, false, index, &sum);
    double bound = fmin(0, sum.ceiling);
    if (bound + log(k.size) < least) { /* the expensive laws are not asked */
        *size = exp(bound) * k.size * share;
        return bounded_node(y, &k, exp(bound));
    }
    add_laws(line, true, index, &sum);
    double error = sum.error + ((double)line->law_count + 8) * unit * sum.size;
    /* 24 units of 2^-53 more than the error of the logarithm: exp and sincos of it, and the
     * products and quotients of the kernel */
    error += 24 * unit + 4 * unit * (fabs(sum.re) + fabs(sum.im));
    if (!sum.usable || !(error <= 0.15)) {
        bound = fmin(0, sum.ceiling);
        *size = exp(bound) * k.size * share;
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
    *size = modulus * k.size * share;
    return node;
}

/* --- the sum --- */

static const double chernoff_factors[BRUME_CHERNOFF_POINTS] = {1.03, 1.06, 1.12, 1.25, 1.5, 2, 3};

double brume_chernoff_point(double c, int i)
{
    return c * chernoff_factors[i] + (i > 3 ? fmin(0.5, c) : 0);
}

/* An upper bound of the error of a loss on the lattice and of eps - centre, as computed: 12 units
 * of 2^-53 of a, and the roundings of the sums and of the quotient below. */
static double displacement(const brume_line *line, double inside)
{
    return 18 * unit * (fabs(inside) + 2 * line->unit) + line->centre_error;
}

double brume_line_place(const brume_line *line, double epsilon)
{
    double offset = line->half ? 0.5 : 0, inside = epsilon - line->centre; /* one unit */
    return floor((inside - displacement(line, inside)) / line->unit - offset) + 1 + offset;
}

/* Sines and cosines of y * by for the nodes of a block. */
enum { BLOCK = 64 };

static void phases(const brume_line *line, size_t from, double by, double *s, double *co)
{
    double angle[BLOCK] = {0};
    size_t count = line->count - from < BLOCK ? line->count - from : BLOCK;
    for (size_t j = 0; j < count; j++)
        angle[j] = line->nodes[from + j].y * by;
    brume_vector_sincos(angle, s, co, count);
}

static brume_line_sum evaluate_folded(const brume_line *line, double epsilon)
{
    double a = line->unit, c = line->c, inside = epsilon - line->centre;
    /* `start`, from the centre: the smallest loss that may be above eps. The loss before it is
     * surely not; if eps is beyond `start`, then by no more than it may have moved, and delta is
     * convex: the slope before `start`, which the lever bounds, is the steeper one. */
    double start = brume_line_place(line, epsilon) * a;
    double above = fmin(fmax(start - inside, 0), a);
    double near = -expm1(-above), far = expm1(a - above), decay = exp(-above);
    double moved = displacement(line, inside);
    if (above == 0)
        moved *= 2.5; /* eps may lie beyond it */
    double sum = 0, slope = 0, error = 0, absolute = 0, whole = exp(a);
    double sines[BLOCK], cosines[BLOCK];
    for (size_t i = 0; i < line->count; i++) {
        if (i % BLOCK == 0)
            phases(line, i, start, sines, cosines);
        const brume_node *node = &line->nodes[i];
        double half = i ? 1 : 0.5, s = sines[i % BLOCK], co = cosines[i % BLOCK];
        if (node->first_re == 0 && node->first_im == 0) { /* not summed */
            error += (node->error * near + node->second_error * far) * (1 + 1e-9);
            continue;
        }
        double first = node->first_re * co + node->first_im * s;
        double second = node->second_re * co + node->second_im * s;
        double term = half * (near * first + far * second);
        sum += term;
        slope -= half * decay * (first - second * whole);
        absolute += fabs(near * first) + fabs(far * second);
        double size = near * (fabs(node->first_re) + fabs(node->first_im)) +
                      far * (fabs(node->second_re) + fabs(node->second_im));
        /* the node's own; a in e^{a-t}; the phase y start; t, through d/dt = e^{-t} psi beta */
        error += node->error * near + node->second_error * far +
                 size * (16 * unit + 14 * unit * a + node->y * moved) + 1.1 * node->lever * moved;
    }
    absolute *= 1.1;
    error += unit * ((double)line->count + 4) * absolute;
    long double exponent = line->cumulant - (long double)c * ((long double)start + line->centre);
    /* the lattice, 12 units */
    double shift = line->cumulant_error + c * (14 * unit * fabs(start) + line->centre_error);
    double scale = exp((double)exponent) * (1 + 8 * unit * (1 + (double)fabsl(exponent)));
    double weight = 2 / line->fold;
    brume_line_sum out = {.value = scale * weight * sum, .slope = scale * weight * slope};
    out.error =
        scale *
            ((weight * error + line->skipped) * (1 + expm1(shift)) +
             weight * fabs(sum) * (expm1(shift) + 16 * unit * (1 + (double)fabsl(exponent)))) *
            1.0001 +
        1e-300;
    return out;
}

/* Sums over the nodes' first parts, or over their second ones. */
typedef struct plain_sum {
    double sum, slope, error, absolute;
} plain_sum;

static inline void add_node(plain_sum *to, double y, double re, double im, double own, double s,
                            double co, double c, double turn, double away)
{
    double value = re * co + im * s;
    to->sum += value;
    to->slope -= c * value - y * (im * co - re * s); /* d/d eps multiplies by -s */
    to->absolute += fabs(value);
    to->error += own + (fabs(re) + fabs(im)) * (unit * (12 + 4 * y * turn) + y * away);
}

static brume_line_sum finish_plain(const brume_line *line, double epsilon, const plain_sum *all)
{
    double error = all->error + unit * ((double)line->count + 4) * all->absolute;
    long double exponent = line->cumulant - (long double)line->c * epsilon;
    double shift = line->cumulant_error + 2 * unit * line->c * fabs(epsilon);
    double scale = exp((double)exponent), weight = line->h / M_PI;
    double size = 16 * unit * (1 + (double)fabsl(exponent));
    brume_line_sum out = {.value = scale * weight * all->sum, .slope = scale * weight * all->slope};
    out.error = scale *
                    ((weight * error + line->skipped) * (1 + expm1(shift) + size) +
                     weight * fabs(all->sum) * (expm1(shift) + size)) *
                    1.0001 +
                1e-300;
    return out;
}

/* The plain sum; `lower`, if not NULL, is given that of the nodes' second parts. */
static brume_line_sum evaluate_plain(const brume_line *line, double epsilon, brume_line_sum *lower)
{
    double c = line->c, turn = epsilon - line->centre;
    /* error of turn */
    double away = line->centre == 0 ? 0 : unit * fabs(epsilon) + line->centre_error;
    plain_sum first = {0}, second = {0};
    double sines[BLOCK], cosines[BLOCK];
    for (size_t i = 0; i < line->count; i++) {
        if (i % BLOCK == 0)
            phases(line, i, turn, sines, cosines);
        const brume_node *n = &line->nodes[i];
        double half = i ? 1 : 0.5, s = half * sines[i % BLOCK], co = half * cosines[i % BLOCK];
        add_node(&first, n->y, n->first_re, n->first_im, n->error, s, co, c, fabs(turn), away);
        if (lower)
            add_node(&second, n->y, n->second_re, n->second_im, n->second_error, s, co, c,
                     fabs(turn), away);
    }
    if (lower)
        *lower = finish_plain(line, epsilon, &second);
    return finish_plain(line, epsilon, &first);
}

brume_line_sum brume_line_evaluate(const brume_line *line, double epsilon)
{
    if (line->unit > 0)
        return evaluate_folded(line, epsilon);
    return evaluate_plain(line, epsilon, NULL);
}

brume_line_sum brume_line_evaluate_both(const brume_line *line, double epsilon,
                                        brume_line_sum *lower)
{
    if (line->unit == 0 && line->band.width > 0)
        return evaluate_plain(line, epsilon, lower);
    return *lower = brume_line_evaluate(line, epsilon);
}

/* A bound of the part of the error of the rough cumulant that does not shrink with it: 1e-14 a
 * draw.
 */
static double rough_slack(const brume_line *line)
{
    double slack = 0;
    for (size_t i = 0; i < line->law_count; i++)
        slack += 1e-14 * line->laws[i].count;
    return slack;
}

/* T is delta(eps) plus aliases, terms >= 0 from other places than eps: an upper bound of their sum.
 */
static double aliases_upper(brume_line *line, double epsilon)
{
    double spacing = 2 * M_PI / line->h, c = line->c, best = INFINITY;
    double below = 1 / expm1(c * spacing); /* sum over n < 0, delta <= 1 */
    for (int i = 0; i < BRUME_CHERNOFF_POINTS; i++) {
        double other = brume_chernoff_point(c, i), ratio = exp(-(other - c) * spacing);
        if (ratio > 0.99)
            continue;
        double slack = rough_slack(line);
        bool many = slack > 1e-6; /* then the careful sum */
        double k =
            (double)brume_cumulant(line->laws, line->law_count, other, NULL, many ? &slack : NULL);
        double bound = k - other * epsilon + other * log(other / (other + 1)) - log1p(other);
        slack += BRUME_ROUGH * (1 + fabs(k) + other * fabs(epsilon));
        bound = exp(bound + slack) * ratio / (1 - ratio);
        best = fmin(best, bound);
    }
    return (below + best) * 1.0001;
}

double brume_line_certify(brume_line *line, double epsilon, double *lower, double *upper)
{
    brume_line_sum below = {0}, at;
    if (lower)
        at = brume_line_evaluate_both(line, epsilon, &below);
    else
        at = brume_line_evaluate(line, epsilon);
    if (upper)
        *upper = at.value + at.error; /* T >= delta */
    if (lower)
        *lower = below.value - below.error - aliases_upper(line, epsilon);
    return lower ? fmax(at.value - below.value, 0) : 0;
}
