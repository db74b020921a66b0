/* Sums over a contour, and bounds of what they miss. See transform.h.
 *
 * Where Phi is near 1 the sums are of Phi - 1 = the density against (1 + e^T)^z - 1, the density's
 * own integral being 1: then rounding is relative to that. */
#include <math.h>
#include <stdlib.h>

#include "accountant/ray/transform.h"
#include "number/elementary.h"

static const double unit = BRUME_UNIT;

/* Added to the logarithm of every upper bound, so that its own rounding cannot make it too small.
 */
static double slack(double a, double b)
{
    return 1e-9 + 1e-13 * hypot(a, b);
}

/* The modulus, wrong by at most 4 units of 2^-53; quicker than hypot, and no number here is near
 * overflow or underflow. */
static double modulus(brume_point value)
{
    return sqrt(creal(value) * creal(value) + cimag(value) * cimag(value));
}

static double log_at(const brume_place *p, double a, double b)
{
    return p->log_size + a * p->lambda - b * p->theta;
}

double brume_transform_panel_missed(const brume_place_panel *panel, double a, double b)
{
    double size = hypot(a, b), top = -INFINITY;
    double doubt = 0; /* not a number as soon as one is not, or not finite: no maximum sees that */
    for (int i = 0; i < BRUME_TRANSFORM_RIM; i++) {
        double at = log_at(&panel->rim[i], a, b) + size * panel->rim_slack[i];
        doubt += at - at;
        top = at > top ? at : top;
    }
    if (isnan(doubt))
        return INFINITY;
    return (panel->kept ? BRUME_GAUSS_ERROR : 2) * panel->half * exp(top);
}

/* Left of the polygon: a level with 0 <= Im T <= pi/2, where 1 <= |1 + e^T| <= 1 + e^{left} and
 * 0 <= arg <= 1.6 e^{left}. Right of it: |1 + e^T| <= e^{Re T} (1 + e^{-X}), X = Re right >= 1. */
double brume_transform_ends_missed(const brume_contour *c, double a, double b)
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
double brume_transform_bound(const brume_contour *contour, double a, double b)
{
    double sum = exp(brume_transform_missed(contour, a, b)), size = hypot(a, b);
    double exponent[BRUME_GAUSS_NODES], power[BRUME_GAUSS_NODES];
    for (size_t from = 0; from < contour->node_count; from += BRUME_GAUSS_NODES) {
        const brume_place_node *n = &contour->nodes[from];
        for (int i = 0; i < BRUME_GAUSS_NODES; i++)
            exponent[i] = log_at(&n[i].at, a, b);
        brume_vector_exp(exponent, power, BRUME_GAUSS_NODES);
        for (int i = 0; i < BRUME_GAUSS_NODES; i++)
            sum += power[i] * (1 + n[i].fixed + size * n[i].per_size);
    }
    /* the sum itself: one unit a node */
    double bound = log(sum + 2e-22 * (double)contour->node_count) + 1e-14 +
                   unit * (double)contour->node_count;
    return isnan(bound) ? INFINITY : bound;
}

double brume_transform_missed(const brume_contour *contour, double a, double b)
{
    double sum = brume_transform_ends_missed(contour, a, b) + contour->density_missed;
    for (size_t i = 0; i < contour->panel_count; i++)
        sum += brume_transform_panel_missed(&contour->panels[i], a, b);
    double bound = log(sum) + slack(a, b);
    return isnan(bound) ? INFINITY : bound;
}

/* An upper bound of the rounding of the sum of all terms, from their moduli: the nodes of a panel
 * are added first, then the sums of the panels. */
double brume_transform_summing(const brume_contour *contour)
{
    return unit * (double)(BRUME_GAUSS_NODES + contour->node_count / BRUME_GAUSS_NODES);
}

/* density ((1 + e^T)^z - 1) and density (1 + e^T)^z of one node, and a number at least the modulus
 * of the first: 16 units of it are its rounding, in addition to those of the node. */
typedef struct terms {
    brume_point less_one, whole;
    double size;
} terms;

static terms terms_at(const brume_place_node *n, double a, double b)
{
    double grows = a * n->at.lambda - b * n->at.theta, turns = a * n->at.theta + b * n->at.lambda;
    double s, co;
    if (fabs(grows) + fabs(turns) < 1) {
        double e = expm1(grows);
        sincos(0.5 * turns, &s, &co);
        brume_point less = CMPLX(e * (1 - 2 * s * s) - 2 * s * s, (1 + e) * 2 * s * co);
        double size = n->density_size * (fabs(e) + 2 * s * s + (1 + e) * 2 * fabs(s));
        less = CMPLX(creal(n->density) * creal(less) - cimag(n->density) * cimag(less),
                     creal(n->density) * cimag(less) + cimag(n->density) * creal(less));
        return (terms){less, n->density + less, size};
    }
    double size = exp(n->at.log_size + grows);
    sincos(n->angle + turns, &s, &co);
    brume_point whole = CMPLX(size * co, size * s);
    return (terms){whole - n->density, whole, size + n->density_size};
}

/* Is the term of a node left out, of every z up to `reach`, and up to `swing` above log_at? */
bool brume_transform_left_out(const brume_contour *c, const brume_place_node *n, double exponent,
                              double reach)
{
    if (!c->from_one)
        return exponent < BRUME_TRANSFORM_NEGLIGIBLE;
    if (n->density_size < BRUME_TRANSFORM_LEFT_OUT / 2 && exponent < BRUME_TRANSFORM_NEGLIGIBLE - 1)
        return true;
    /* |e^w - 1| <= |w| e^|w| */
    double most = n->length * reach;
    return most < 1 && n->density_size * most < BRUME_TRANSFORM_LEFT_OUT / 3;
}

static void sum_from_one(const brume_contour *c, double a, double b, double *re, double *im,
                         double *rounding)
{
    double reach = hypot(a, b), sum_re = 0, sum_im = 0, error = 0,
           adding = brume_transform_summing(c);
    for (size_t from = 0; from < c->node_count; from += BRUME_GAUSS_NODES) {
        double block_re = 0, block_im = 0;
        for (size_t i = from; i < from + BRUME_GAUSS_NODES; i++) {
            const brume_place_node *n = &c->nodes[i];
            if (brume_transform_left_out(c, n, log_at(&n->at, a, b), reach)) {
                error += BRUME_TRANSFORM_LEFT_OUT;
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

void brume_transform_sum(const brume_contour *contour, double a, double b, double *re, double *im,
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
            if (exponent < BRUME_TRANSFORM_NEGLIGIBLE) {
                absolute += BRUME_TRANSFORM_LEFT_OUT;
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
                brume_transform_summing(contour) * (hypot(sum_re, sum_im) + fixed / (90 * unit));
}

bool brume_transform_node(const brume_contour *contour, size_t index, double *t_re, double *t_im,
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
