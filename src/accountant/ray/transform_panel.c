/* Sums over a contour at the 24 nodes of a panel of the path at once. See transform.h.
 *
 * exp(z log(1 + e^T)) is turned from the panel's middle: one product more than in
 * brume_transform_sum, which is in the 90 units of each node, and |middle| + |half| for |z|. Where
 * the turn u is small a node's term is that of the middle, less 1, and that of the middle times e^u
 * - 1 = (cosh u - 1) + sinh u, of modulus at most 1.3 |u|, whose own errors are below 100 units of
 * that, in addition to the node's. */
#include <math.h>
#include <stdlib.h>

#include "accountant/ray/transform.h"
#include "number/elementary.h"
#include "number/paths.h"

static const double unit = BRUME_UNIT;
static const double small_turn = 0.5; /* most |u| of a node with a small turn: transform.h */

enum { HALF = BRUME_GAUSS_HALF, NODES = BRUME_GAUSS_NODES };

/* 1/(2k+1)! and 1/(2k+2)! */
static const double sinh_series[] = {
    1.0,          1.0 / 6,        1.0 / 120,        1.0 / 5040,
    1.0 / 362880, 1.0 / 39916800, 1.0 / 6227020800, 1.0 / 1307674368000};
static const double cosh_series[] = {
    1.0 / 2,       1.0 / 24,        1.0 / 720,         1.0 / 40320,
    1.0 / 3628800, 1.0 / 479001600, 1.0 / 87178291200, 1.0 / 20922789888000};
enum { SERIES = sizeof sinh_series / sizeof *sinh_series };

/* How many of its terms are enough for |u| <= size: what is left out is below 1e-18 |u|. */
BRUME_BODY int series_length(double size)
{
    return size < 1e-3 ? 3 : size < 0.03 ? 4 : size < 0.15 ? 6 : SERIES;
}

/* factor times the series at w = square, for all 12 nodes at once. */
BRUME_BODY void sum_series(const double *series, int length, const double *square_re,
                           const double *square_im, const double *factor_re,
                           const double *factor_im, double *re, double *im)
{
    double sum_re[HALF], sum_im[HALF];
    for (int j = 0; j < HALF; j++) {
        sum_re[j] = series[length - 1];
        sum_im[j] = 0;
    }
    for (int k = length - 2; k >= 0; k--)
        for (int j = 0; j < HALF; j++) {
            double next = sum_re[j] * square_re[j] - sum_im[j] * square_im[j] + series[k];
            sum_im[j] = sum_re[j] * square_im[j] + sum_im[j] * square_re[j];
            sum_re[j] = next;
        }
    for (int j = 0; j < HALF; j++) {
        re[j] = sum_re[j] * factor_re[j] - sum_im[j] * factor_im[j];
        im[j] = sum_re[j] * factor_im[j] + sum_im[j] * factor_re[j];
    }
}

/* Small turns: cosh u - 1 and sinh u by their series, |u| <= 1/2: each is rounded by less than 16
 * units of |u|. */
BRUME_BODY void make_calm(double re, double im, brume_turns *t)
{
    double u_re[HALF], u_im[HALF], square_re[HALF], square_im[HALF];
    int length = series_length((fabs(re) + fabs(im)) * (1 + 1e-9));
    for (int j = 0; j < HALF; j++) {
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

BRUME_BODY void make_turns(const brume_place_node *n, double half_re, double half_im, bool is_small,
                           brume_turns *t)
{
    double re = half_re * n->at.lambda - half_im * n->at.theta;
    double im = half_re * n->at.theta + half_im * n->at.lambda;
    if (is_small) {
        make_calm(re, im, t);
        return;
    }
    double exponent[HALF], angle[HALF];
    for (int j = 0; j < HALF; j++) {
        exponent[j] = brume_gauss[j][0] * re;
        angle[j] = brume_gauss[j][0] * im;
    }
    brume_vector_exp(exponent, t->first_re, HALF);
    brume_vector_sincos(angle, t->second_im, t->second_re, HALF);
    for (int j = 0; j < HALF; j++)
        t->first_im[j] = 1 / t->first_re[j];
}

BRUME_BODY void add_block(brume_transform_values *block, brume_transform_values *out)
{
    for (int j = 0; j < NODES; j++) {
        out->re[j] += block->re[j];
        out->im[j] += block->im[j];
        out->rounding[j] += block->rounding[j];
    }
    *block = (brume_transform_values){0};
}

/* What all 24 nodes of a panel of the path have in common. */
typedef struct common {
    double re, im, error;
} common;

/* The modulus and direction of the nodes of one panel of the contour at the path's middle. Near 1,
 * |grows| + |turns| < 1: e^grows - 1 for the modulus, half the angle. */
typedef struct middles {
    double exponent[NODES], grows[NODES], angle[NODES];
    double size[NODES], less_one[NODES], sine[NODES], cosine[NODES];
    bool near_one[NODES];
} middles;

BRUME_BODY void find_middles(const brume_contour *c, const brume_place_node *nodes, double re,
                             double im, middles *m)
{
    for (int i = 0; i < NODES; i++) {
        const brume_place *at = &nodes[i].at;
        double turns = re * at->theta + im * at->lambda;
        m->grows[i] = re * at->lambda - im * at->theta;
        m->exponent[i] = at->log_size + re * at->lambda - im * at->theta;
        m->near_one[i] = c->from_one && fabs(m->grows[i]) + fabs(turns) < 1;
        m->angle[i] = m->near_one[i] ? 0.5 * turns : nodes[i].angle + turns;
    }
    brume_vector_exp(m->exponent, m->size, NODES);
    if (c->from_one)
        brume_vector_expm1(m->grows, m->less_one, NODES);
    brume_vector_sincos(m->angle, m->sine, m->cosine, NODES);
}

/* density ((1 + e^T)^z - 1) and density (1 + e^T)^z of one node at the middle, and a number at
 * least the modulus of the first: 16 units of it are its rounding, in addition to those of the
 * node. */
typedef struct terms {
    double less_re, less_im, whole_re, whole_im, size;
} terms;

BRUME_BODY terms terms_at(const brume_place_node *n, const middles *m, int i)
{
    double re = creal(n->density), im = cimag(n->density), s = m->sine[i], co = m->cosine[i];
    if (m->near_one[i]) {
        double e = m->less_one[i];
        double a = e * (1 - 2 * s * s) - 2 * s * s, b = (1 + e) * 2 * s * co;
        double size = n->density_size * (fabs(e) + 2 * s * s + (1 + e) * 2 * fabs(s));
        double less_re = re * a - im * b, less_im = re * b + im * a;
        return (terms){less_re, less_im, re + less_re, im + less_im, size};
    }
    double size = m->size[i], whole_re = size * co, whole_im = size * s;
    return (terms){whole_re - re, whole_im - im, whole_re, whole_im, size + n->density_size};
}

BRUME_BODY void add_calm(const terms *at, const brume_turns *t, brume_transform_values *block)
{
    double re = at->whole_re, im = at->whole_im;
    double *minus_re = block->re, *plus_re = block->re + HALF;
    double *minus_im = block->im, *plus_im = block->im + HALF;
    for (int j = 0; j < HALF; j++) {
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

BRUME_BODY void add_wild(double re, double im, double absolute, const brume_turns *t,
                         brume_transform_values *block)
{
    double *minus_re = block->re, *plus_re = block->re + HALF;
    double *minus_im = block->im, *plus_im = block->im + HALF;
    double *minus_error = block->rounding, *plus_error = block->rounding + HALF;
    for (int j = 0; j < HALF; j++) {
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

/* A panel of the path. */
typedef struct span {
    double middle_re, middle_im, half_re, half_im;
} span;

/* No product of sizes so different: each node by itself. */
static void sum_singly(const brume_contour *c, const span *p, brume_transform_values *out)
{
    for (int j = 0; j < NODES; j++) {
        double x = brume_gauss_place(j);
        brume_transform_sum(c, p->middle_re + x * p->half_re, p->middle_im + x * p->half_im,
                            &out->re[j], &out->im[j], &out->rounding[j]);
    }
}

BRUME_BODY void sum_panel_body(brume_contour *c, const span *p, brume_transform_values *out)
{
    *out = (brume_transform_values){0};
    double half = hypot(p->half_re, p->half_im);
    double size_most = hypot(p->middle_re, p->middle_im) + 2 * half;
    double reach = size_most + c->start, lost = 0;
    double adding = brume_transform_summing(c); /* of each term, for the sum */
    common all = {-c->beyond, 0, c->beyond_error};
    for (size_t from = 0; from < c->node_count; from += NODES) {
        brume_transform_values block = {0};
        common part = {0};
        middles m;
        find_middles(c, &c->nodes[from], p->middle_re, p->middle_im, &m);
        for (int i = 0; i < NODES; i++) {
            brume_place_node *n = &c->nodes[from + (size_t)i];
            double exponent = m.exponent[i];
            double swing = fabs(p->half_re * n->at.lambda - p->half_im * n->at.theta);
            if (brume_transform_left_out(c, n, exponent + swing, size_most)) {
                lost += BRUME_TRANSFORM_LEFT_OUT;
                continue;
            }
            bool is_small = c->from_one && half * n->length <= small_turn;
            if (c->from_one && !is_small) {
                part.re -= creal(n->density), part.im -= cimag(n->density);
                part.error += n->density_size * (n->fixed + adding);
                if (exponent + swing < BRUME_TRANSFORM_NEGLIGIBLE) {
                    lost += BRUME_TRANSFORM_LEFT_OUT;
                    continue;
                }
            }
            if (!(swing < 300)) {
                sum_singly(c, p, out);
                return;
            }
            brume_turns *t = &c->turns[from + (size_t)i];
            if (n->generation != c->generation) {
                make_turns(n, p->half_re, p->half_im, is_small, t);
                n->generation = c->generation;
            }
            terms at = terms_at(n, &m, i);
            if (is_small) {
                double size = sqrt(at.whole_re * at.whole_re + at.whole_im * at.whole_im);
                add_calm(&at, t, &block);
                part.re += at.less_re, part.im += at.less_im;
                part.error += at.size * (n->fixed + 16 * unit + adding) +
                              size * (1.3 * half * n->length * (n->fixed + 100 * unit + adding) +
                                      1.7 * reach * n->per_size);
            } else {
                double size = m.size[i], error = n->fixed + reach * n->per_size + adding;
                add_wild(at.whole_re, at.whole_im, size * error, t, &block);
            }
        }
        add_block(&block, out);
        all.re += part.re, all.im += part.im, all.error += part.error;
    }
    for (int j = 0; j < NODES; j++) {
        out->re[j] += all.re;
        out->im[j] += all.im;
        out->rounding[j] = (out->rounding[j] + all.error) * (1 + 1e-6) + lost +
                           2 * unit * (fabs(out->re[j]) + fabs(out->im[j]));
    }
}

BRUME_PATHS(static, sum_panel, (brume_contour * c, const span *p, brume_transform_values *out),
            (c, p, out))

bool brume_transform_panel(brume_contour *contour, double middle_re, double middle_im,
                           double half_re, double half_im, brume_transform_values *out)
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
    const span p = {middle_re, middle_im, half_re, half_im};
    sum_panel(c, &p, out);
    return true;
}
