/* Sums over a contour, and bounds of what they miss. See contour.h.
 *
 * Where Phi is near 1 the sums are of Phi - 1 = the density against (1 + e^T)^z - 1, the density's
 * own integral being 1: then rounding is relative to that. */
#include <math.h>
#include <stdlib.h>

#include "accountant/contour_shape.h"

static const double unit = BRUME_UNIT;
static const double left_out_term = 2e-22; /* exp(-50) */
static const double calm = 0.5;            /* most |u| of a calm node, see contour_shape.h */

/* Added to the logarithm of every bound: its own rounding. */
static double slack(double a, double b)
{
    return 1e-9 + 1e-13 * hypot(a, b);
}

/* To 4 units; quicker than hypot, and no number here is near the ends of the range. */
static double modulus(point value)
{
    return sqrt(creal(value) * creal(value) + cimag(value) * cimag(value));
}

static double log_at(const brume_place *p, double a, double b)
{
    return p->log_size + a * p->lambda - b * p->theta;
}

double brume_contour_panel_missed(const brume_place_panel *panel, double a, double b)
{
    double size = hypot(a, b), top = -INFINITY;
    for (int i = 0; i < BRUME_CONTOUR_RIM; i++) {
        double at = log_at(&panel->rim[i], a, b) + size * panel->rim_slack[i];
        top = isnan(at) ? INFINITY : fmax(top, at); /* fmax would pass over it */
    }
    return (panel->kept ? BRUME_GAUSS_ERROR : 2) * panel->half * exp(top);
}

/* Left of the polygon: a level with 0 <= Im T <= pi/2, where 1 <= |1 + e^T| <= 1 + e^{left} and
 * 0 <= arg <= 1.6 e^{left}. Right of it: |1 + e^T| <= e^{Re T} (1 + e^{-X}), X = Re right >= 1. */
double brume_contour_ends_missed(const brume_contour *c, double a, double b)
{
    double square = c->sigma * c->sigma, y = c->left_im, d = c->sigma * (c->mean - c->left_re);
    double log_left = 0.5 * square * y * y + fmax(a, 0) * log1p(exp(c->left_re)) +
                      fmax(-b, 0) * 1.6 * exp(c->left_re) - 0.5 * d * d - c->base;
    double sum = c->closed ? 0 : d > 0 ? exp(log_left) : INFINITY;
    if (!c->open)
        return sum;
    double x = creal(c->right), up = cimag(c->right), cosine = creal(c->slope),
           sine = cimag(c->slope), far = x - c->mean;
    double falls = square * (far * cosine - up * sine) - fmax(a, 0) * cosine + b * sine;
    double log_right = -0.5 * square * (far * far - up * up) + fmax(a, 0) * (x + log1p(exp(-x))) -
                       b * up + fabs(b) * asin(exp(-x)) + log(c->sigma) - 0.5 * log(2 * M_PI) -
                       c->base;
    return sum + (falls > 0 && cosine > sine ? exp(log_right) / falls : INFINITY);
}

/* The rules summed over moduli: |f| along a panel is analytic, too, and continued it is at most the
 * geometric mean of |f| at two places of the ellipse, so that the rules miss as little. */
double brume_contour_bound(const brume_contour *contour, double a, double b)
{
    double sum = exp(brume_contour_missed(contour, a, b)), size = hypot(a, b);
    for (size_t i = 0; i < contour->node_count; i++) {
        const brume_place_node *n = &contour->nodes[i];
        double exponent = log_at(&n->at, a, b);
        if (exponent > BRUME_CONTOUR_NEGLIGIBLE)
            sum += exp(exponent) * (1 + n->fixed + size * n->per_size);
    }
    /* the sum itself: one unit a node */
    double bound = log(sum + 2e-22 * (double)contour->node_count) + 1e-14 +
                   unit * (double)contour->node_count;
    return isnan(bound) ? INFINITY : bound;
}

double brume_contour_missed(const brume_contour *contour, double a, double b)
{
    double sum = brume_contour_ends_missed(contour, a, b) + contour->density_missed;
    for (size_t i = 0; i < contour->panel_count; i++)
        sum += brume_contour_panel_missed(&contour->panels[i], a, b);
    double bound = log(sum) + slack(a, b);
    return isnan(bound) ? INFINITY : bound;
}

/* Of the sizes of all terms: what their sum is rounded by, block by block of a panel's nodes, which
 * are added then. */
static double summing(const brume_contour *contour)
{
    return unit * (double)(BRUME_GAUSS_NODES + contour->node_count / BRUME_GAUSS_NODES);
}

/* density ((1 + e^T)^z - 1) and density (1 + e^T)^z of one node, and a number at least the modulus
 * of the first: 16 units of it are its rounding beside those of the node. */
typedef struct terms {
    point less_one, whole;
    double size;
} terms;

static terms terms_at(const brume_place_node *n, double a, double b)
{
    double grows = a * n->at.lambda - b * n->at.theta, turns = a * n->at.theta + b * n->at.lambda;
    double s, co;
    if (fabs(grows) + fabs(turns) < 1) {
        double e = expm1(grows);
        sincos(0.5 * turns, &s, &co);
        point less = CMPLX(e * (1 - 2 * s * s) - 2 * s * s, (1 + e) * 2 * s * co);
        double size = n->density_size * (fabs(e) + 2 * s * s + (1 + e) * 2 * fabs(s));
        less = CMPLX(creal(n->density) * creal(less) - cimag(n->density) * cimag(less),
                     creal(n->density) * cimag(less) + cimag(n->density) * creal(less));
        return (terms){less, n->density + less, size};
    }
    double size = exp(n->at.log_size + grows);
    sincos(n->angle + turns, &s, &co);
    point whole = CMPLX(size * co, size * s);
    return (terms){whole - n->density, whole, size + n->density_size};
}

/* Is the term of a node left out, of every z up to `reach`, and up to `swing` above log_at? */
static bool left_out(const brume_contour *c, const brume_place_node *n, double exponent,
                     double reach)
{
    if (!c->from_one)
        return exponent < BRUME_CONTOUR_NEGLIGIBLE;
    if (n->density_size < left_out_term / 2 && exponent < BRUME_CONTOUR_NEGLIGIBLE - 1)
        return true;
    /* |e^w - 1| <= |w| e^|w| */
    double most = n->length * reach;
    return most < 1 && n->density_size * most < left_out_term / 3;
}

static void sum_from_one(const brume_contour *c, double a, double b, double *re, double *im,
                         double *rounding)
{
    double reach = hypot(a, b), sum_re = 0, sum_im = 0, error = 0, adding = summing(c);
    for (size_t from = 0; from < c->node_count; from += BRUME_GAUSS_NODES) {
        double block_re = 0, block_im = 0;
        for (size_t i = from; i < from + BRUME_GAUSS_NODES; i++) {
            const brume_place_node *n = &c->nodes[i];
            if (left_out(c, n, log_at(&n->at, a, b), reach)) {
                error += left_out_term;
                continue;
            }
            terms t = terms_at(n, a, b);
            block_re += creal(t.less_one);
            block_im += cimag(t.less_one);
            error += t.size * (n->fixed + 16 * unit + adding) +
                     modulus(t.whole) * (reach + c->start) * n->per_size;
        }
        sum_re += block_re;
        sum_im += block_im;
    }
    *re = sum_re - c->beyond;
    *im = sum_im;
    *rounding = error * (1 + 1e-6) + c->beyond_error + 2 * unit * fabs(*re);
}

void brume_contour_sum(const brume_contour *contour, double a, double b, double *re, double *im,
                       double *rounding)
{
    if (contour->from_one) {
        sum_from_one(contour, a, b, re, im, rounding);
        return;
    }
    double sum_re = 0, sum_im = 0, fixed = 0, per_size = 0, absolute = 0;
    for (size_t from = 0; from < contour->node_count; from += BRUME_GAUSS_NODES) {
        double block_re = 0, block_im = 0;
        for (size_t i = from; i < from + BRUME_GAUSS_NODES; i++) {
            const brume_place_node *n = &contour->nodes[i];
            double exponent = log_at(&n->at, a, b);
            if (exponent < BRUME_CONTOUR_NEGLIGIBLE) {
                absolute += left_out_term;
                continue;
            }
            double s, co, size = exp(exponent);
            sincos(n->angle + a * n->at.theta + b * n->at.lambda, &s, &co);
            block_re += size * co;
            block_im += size * s;
            fixed += size * n->fixed;
            per_size += size * n->per_size;
        }
        sum_re += block_re;
        sum_im += block_im;
    }
    *re = sum_re;
    *im = sum_im;
    /* of the sum: each fixed is at least 90 units */
    *rounding = (fixed + (hypot(a, b) + contour->start) * per_size) * (1 + 1e-6) + absolute +
                summing(contour) * (hypot(sum_re, sum_im) + fixed / (90 * unit));
}

bool brume_contour_node(const brume_contour *contour, size_t index, double *t_re, double *t_im,
                        double *weight_re, double *weight_im)
{
    if (index >= contour->node_count)
        return false;
    const brume_place_node *n = &contour->nodes[index];
    *t_re = creal(n->t);
    *t_im = cimag(n->t);
    *weight_re = creal(n->weight);
    *weight_im = cimag(n->weight);
    return true;
}

/* 1/(2k+1)! and 1/(2k+2)! */
static const double sinh_series[] = {
    1.0,          1.0 / 6,        1.0 / 120,        1.0 / 5040,
    1.0 / 362880, 1.0 / 39916800, 1.0 / 6227020800, 1.0 / 1307674368000};
static const double cosh_series[] = {
    1.0 / 2,       1.0 / 24,        1.0 / 720,         1.0 / 40320,
    1.0 / 3628800, 1.0 / 479001600, 1.0 / 87178291200, 1.0 / 20922789888000};
enum { SERIES = sizeof sinh_series / sizeof *sinh_series };

/* How many of its terms are enough for |u| <= size: what is left out is below 1e-18 |u|. */
static int series_length(double size)
{
    return size < 1e-3 ? 3 : size < 0.03 ? 4 : size < 0.15 ? 6 : SERIES;
}

/* factor times the series at w = square, for all 12 nodes at once. */
static void sum_series(const double *series, int length, const double *square_re,
                       const double *square_im, const double *factor_re, const double *factor_im,
                       double *re, double *im)
{
    double sum_re[BRUME_GAUSS_HALF], sum_im[BRUME_GAUSS_HALF];
    for (int j = 0; j < BRUME_GAUSS_HALF; j++) {
        sum_re[j] = series[length - 1];
        sum_im[j] = 0;
    }
    for (int k = length - 2; k >= 0; k--)
        for (int j = 0; j < BRUME_GAUSS_HALF; j++) {
            double next = sum_re[j] * square_re[j] - sum_im[j] * square_im[j] + series[k];
            sum_im[j] = sum_re[j] * square_im[j] + sum_im[j] * square_re[j];
            sum_re[j] = next;
        }
    for (int j = 0; j < BRUME_GAUSS_HALF; j++) {
        re[j] = sum_re[j] * factor_re[j] - sum_im[j] * factor_im[j];
        im[j] = sum_re[j] * factor_im[j] + sum_im[j] * factor_re[j];
    }
}

/* Calm: cosh u - 1 and sinh u by their series, |u| <= 1/2: each is rounded by less than 16 units of
 * |u|. */
static void make_calm(double re, double im, brume_turns *t)
{
    double u_re[BRUME_GAUSS_HALF], u_im[BRUME_GAUSS_HALF];
    double square_re[BRUME_GAUSS_HALF], square_im[BRUME_GAUSS_HALF];
    int length = series_length((fabs(re) + fabs(im)) * (1 + 1e-9));
    for (int j = 0; j < BRUME_GAUSS_HALF; j++) {
        double x = brume_gauss[j][0];
        u_re[j] = x * re;
        u_im[j] = x * im;
        square_re[j] = (u_re[j] - u_im[j]) * (u_re[j] + u_im[j]);
        square_im[j] = 2 * u_re[j] * u_im[j];
    }
    sum_series(cosh_series, length, square_re, square_im, square_re, square_im, t->first_re,
               t->first_im);
    sum_series(sinh_series, length, square_re, square_im, u_re, u_im, t->second_re, t->second_im);
}

static void make_turns(const brume_place_node *n, double half_re, double half_im, bool is_calm,
                       brume_turns *t)
{
    double re = half_re * n->at.lambda - half_im * n->at.theta;
    double im = half_re * n->at.theta + half_im * n->at.lambda;
    if (is_calm) {
        make_calm(re, im, t);
        return;
    }
    for (int j = 0; j < BRUME_GAUSS_HALF; j++) {
        double x = brume_gauss[j][0];
        sincos(x * im, &t->second_im[j], &t->second_re[j]);
        t->first_re[j] = exp(x * re);
        t->first_im[j] = 1 / t->first_re[j];
    }
}

static void add_block(brume_contour_values *block, brume_contour_values *out)
{
    for (int j = 0; j < BRUME_GAUSS_NODES; j++) {
        out->re[j] += block->re[j];
        out->im[j] += block->im[j];
        out->rounding[j] += block->rounding[j];
    }
    *block = (brume_contour_values){0};
}

/* What all 24 nodes of a panel of the path have in common. */
typedef struct common {
    double re, im, error;
} common;

static void add_calm(const terms *at, const brume_turns *t, brume_contour_values *block)
{
    double re = creal(at->whole), im = cimag(at->whole);
    double *minus_re = block->re, *plus_re = block->re + BRUME_GAUSS_HALF;
    double *minus_im = block->im, *plus_im = block->im + BRUME_GAUSS_HALF;
    for (int j = 0; j < BRUME_GAUSS_HALF; j++) {
        double even_re = re * t->first_re[j] - im * t->first_im[j];
        double even_im = re * t->first_im[j] + im * t->first_re[j];
        double odd_re = re * t->second_re[j] - im * t->second_im[j];
        double odd_im = re * t->second_im[j] + im * t->second_re[j];
        minus_re[j] += even_re - odd_re;
        minus_im[j] += even_im - odd_im;
        plus_re[j] += even_re + odd_re;
        plus_im[j] += even_im + odd_im;
    }
}

static void add_wild(double re, double im, double absolute, const brume_turns *t,
                     brume_contour_values *block)
{
    double *minus_re = block->re, *plus_re = block->re + BRUME_GAUSS_HALF;
    double *minus_im = block->im, *plus_im = block->im + BRUME_GAUSS_HALF;
    double *minus_error = block->rounding, *plus_error = block->rounding + BRUME_GAUSS_HALF;
    for (int j = 0; j < BRUME_GAUSS_HALF; j++) {
        double same = re * t->second_re[j], cross = im * t->second_im[j];
        double other = im * t->second_re[j], mixed = re * t->second_im[j];
        minus_re[j] += t->first_im[j] * (same + cross);
        minus_im[j] += t->first_im[j] * (other - mixed);
        minus_error[j] += t->first_im[j] * absolute;
        plus_re[j] += t->first_re[j] * (same - cross);
        plus_im[j] += t->first_re[j] * (other + mixed);
        plus_error[j] += t->first_re[j] * absolute;
    }
}

/* As brume_contour_sum, but exp(z log(1 + e^T)) is turned from the panel's middle: one product more
 * than there, which is in the 90 units of each node, and |middle| + |half| for |z|. A calm node's
 * term is that of the middle, less 1, and that of the middle times e^u - 1 = (cosh u - 1) + sinh u,
 * of modulus at most 1.3 |u|, whose own errors are below 100 units of that beside the node's. */
bool brume_contour_panel(brume_contour *contour, double middle_re, double middle_im, double half_re,
                         double half_im, brume_contour_values *out)
{
    brume_contour *c = contour;
    if (!c->turns)
        c->turns = malloc(c->node_count * sizeof *c->turns);
    if (!c->turns)
        return false;
    if (!(c->half_re == half_re && c->half_im == half_im)) {
        c->half_re = half_re;
        c->half_im = half_im;
        c->generation++;
    }
    *out = (brume_contour_values){0};
    double half = hypot(half_re, half_im), size_most = hypot(middle_re, middle_im) + 2 * half;
    double reach = size_most + c->start, lost = 0;
    double adding = summing(c); /* of each term, for the sum */
    brume_contour_values block = {0};
    common all = {-c->beyond, 0, c->beyond_error}, part = {0};
    for (size_t i = 0; i < c->node_count; i++) {
        brume_place_node *n = &c->nodes[i];
        if (i % BRUME_GAUSS_NODES == 0) {
            add_block(&block, out);
            all.re += part.re, all.im += part.im, all.error += part.error;
            part = (common){0};
        }
        double exponent = log_at(&n->at, middle_re, middle_im);
        double swing = fabs(half_re * n->at.lambda - half_im * n->at.theta);
        if (left_out(c, n, exponent + swing, size_most)) {
            lost += left_out_term;
            continue;
        }
        bool is_calm = c->from_one && half * n->length <= calm;
        if (c->from_one && !is_calm) {
            part.re -= creal(n->density), part.im -= cimag(n->density);
            part.error += n->density_size * (n->fixed + adding);
            if (exponent + swing < BRUME_CONTOUR_NEGLIGIBLE) {
                lost += left_out_term;
                continue;
            }
        }
        if (!(swing < 300)) { /* no product of such sizes: each node by itself */
            for (int j = 0; j < BRUME_GAUSS_NODES; j++) {
                double x = brume_gauss_place(j);
                brume_contour_sum(c, middle_re + x * half_re, middle_im + x * half_im, &out->re[j],
                                  &out->im[j], &out->rounding[j]);
            }
            return true;
        }
        brume_turns *t = &c->turns[i];
        if (n->generation != c->generation) {
            make_turns(n, half_re, half_im, is_calm, t);
            n->generation = c->generation;
        }
        if (is_calm) {
            terms at = terms_at(n, middle_re, middle_im);
            double size = modulus(at.whole);
            add_calm(&at, t, &block);
            part.re += creal(at.less_one), part.im += cimag(at.less_one);
            part.error += at.size * (n->fixed + 16 * unit + adding) +
                          size * (1.3 * half * n->length * (n->fixed + 100 * unit + adding) +
                                  1.7 * reach * n->per_size);
        } else {
            double s, co, size = exp(exponent), error = n->fixed + reach * n->per_size + adding;
            sincos(n->angle + middle_re * n->at.theta + middle_im * n->at.lambda, &s, &co);
            add_wild(size * co, size * s, size * error, t, &block);
        }
    }
    add_block(&block, out);
    all.re += part.re, all.im += part.im, all.error += part.error;
    for (int j = 0; j < BRUME_GAUSS_NODES; j++) {
        out->re[j] += all.re;
        out->im[j] += all.im;
        out->rounding[j] = (out->rounding[j] + all.error) * (1 + 1e-6) + lost +
                           2 * unit * (fabs(out->re[j]) + fabs(out->im[j]));
    }
    return true;
}
