/* The polygon of a contour and its panels. See transform.h. Any polygon gives valid bounds; a badly
 * chosen one gives large ones. */
#include "accountant/ray/transform.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

#include "accountant/law/law.h"
#include "number/elementary.h"
#include "number/paths.h"

/* A log below which a term is left out: of modulus below 2e-22. */
#define BRUME_TRANSFORM_NEGLIGIBLE (-50.0)

#define BRUME_TRANSFORM_LEFT_OUT 2e-22

static const double unit = BRUME_UNIT;
static const double most_from_one = 1; /* |log| of the largest value for which Phi is near 1 */

const double brume_gauss[BRUME_GAUSS_HALF][2] = {
    {0.064056892862605626085, 0.12793819534675215697},
    {0.19111886747361630916, 0.12583745634682829612},
    {0.31504267969616337439, 0.1216704729278033912},
    {0.43379350762604513849, 0.11550566805372560135},
    {0.54542147138883953566, 0.10744427011596563478},
    {0.64809365193697556925, 0.09761865210411388827},
    {0.74012419157855436424, 0.086190161531953275917},
    {0.82000198597390292195, 0.073346481411080305734},
    {0.88641552700440103421, 0.059298584915436780746},
    {0.93827455200273275852, 0.044277438817419806169},
    {0.9747285559713094982, 0.028531388628933663181},
    {0.99518721999702136018, 0.012341229799987199547},
};

void brume_transform_normal(const brume_law *law, double *mean, double *sigma)
{
    *sigma = law->a;
    long double rate = law->rate, a = law->a;
    *mean = (double)(logl(rate) - log1pl(-rate) - 1 / (2 * a * a));
}

/* log(1 + e^T), analytic where Re T < 0, where Re T > 0, and where |Im T| < pi */
static brume_point log_ratio(brume_point t)
{
    double x = creal(t), y = cimag(t), size = exp(-fabs(x)), cosine = cos(y), sine = sin(y);
    double re = 0.5 * log1p(size * (2 * cosine + size));
    double im = atan2(size * sine, 1 + size * cosine);
    return x <= 0 ? CMPLX(re, im) : CMPLX(x + re, y - im);
}

static bool inside_domain(brume_point middle, double x_reach, double y_reach)
{
    return creal(middle) + x_reach < 0 || creal(middle) - x_reach > 0 ||
           fabs(cimag(middle)) + y_reach < M_PI;
}

/* A bound of |d^2/dT^2 log(1 + e^T)| = 1/(2 (cosh x + cos y)) within `radius` of T. */
static double curl_near(brume_point t, double radius)
{
    double x = fmax(fabs(creal(t)) - radius, 0), y = fabs(cimag(t));
    double cosine = y - radius < M_PI && y + radius > M_PI ? -1
                    : y + radius <= M_PI                   ? cos(y + radius)
                                                           : fmin(cos(y - radius), cos(y + radius));
    if (y + radius >= 3 * M_PI || radius > 2)
        cosine = -1;
    double below = 2 * (cosh(fmin(x, 700)) + cosine);
    return below > 1e-9 ? (1 + 1e-9) / below : INFINITY;
}

/* |e^T/(1 + e^T)|, l being log(1 + e^T) */
static double share_of(brume_point t, brume_point l)
{
    return exp(creal(t) - creal(l)) * (1 + 1e-12);
}

static brume_contour_place place_at(const brume_contour *c, brume_point t, brume_point l)
{
    brume_point d = t - c->mean, g = -0.5 * c->sigma * c->sigma * d * d;
    return (brume_contour_place){.log_size = creal(g) + log(c->sigma) - 0.5 * log(2 * M_PI) -
                                             c->base,
                                 .lambda = creal(l),
                                 .theta = cimag(l)};
}

/* The points on the ellipse around the panel from `from` to `to` at which the integrand is bounded;
 * false if the ellipse leaves the domain where log(1 + e^T) is analytic. */
static bool make_panel(const brume_contour *c, brume_point from, brume_point to,
                       brume_place_panel *out)
{
    brume_point middle = 0.5 * (from + to), half = 0.5 * (to - from);
    double size = cabs(half), square = c->sigma * c->sigma;
    double long_x = fabs(creal(half)), long_y = fabs(cimag(half));
    if (!inside_domain(middle, BRUME_GAUSS_LONG * long_x + BRUME_GAUSS_WIDE * long_y,
                       BRUME_GAUSS_LONG * long_y + BRUME_GAUSS_WIDE * long_x))
        return false;
    *out = (brume_place_panel){.half = size, .kept = true};
    /* every point of the ellipse is within `gap` of one of these, along the ellipse */
    double gap = size * BRUME_GAUSS_LONG * M_PI / BRUME_TRANSFORM_RIM * (1 + 1e-9);
    for (int i = 0; i < BRUME_TRANSFORM_RIM; i++) {
        double angle = 2 * M_PI * i / BRUME_TRANSFORM_RIM;
        brume_point t = middle +
                        half * CMPLX(BRUME_GAUSS_LONG * cos(angle), BRUME_GAUSS_WIDE * sin(angle));
        brume_point l = log_ratio(t);
        double share = share_of(t, l);
        out->rim[i] = place_at(c, t, l);
        out->rim[i].log_size += gap * square * cabs(t - c->mean) + 0.5 * gap * gap * square;
        out->rim_slack[i] = gap * share * (1 + 1e-9) + 0.5 * gap * gap * curl_near(t, gap);
    }
    return true;
}

/* The 24 nodes of a panel. */
static void push_nodes(brume_contour *c, brume_point from, brume_point to)
{
    brume_point middle = 0.5 * (from + to), half = 0.5 * (to - from);
    double square = c->sigma * c->sigma, size = cabs(half), direction = carg(half);
    for (int i = 0; i < BRUME_GAUSS_NODES; i++) {
        double weight = brume_gauss_weight(i);
        brume_point t = middle + half * brume_gauss_place(i), d = t - c->mean;
        brume_point g = -0.5 * square * d * d, l = log_ratio(t);
        brume_place_node *n = &c->nodes[c->node_count++];
        n->generation = 0;
        n->t = t;
        n->weight = weight * half;
        n->at = place_at(c, t, l);
        n->at.log_size += log(weight * size);
        n->angle = cimag(g) + direction;
        n->length = cabs(l);
        n->density_size = exp(n->at.log_size);
        n->density = n->density_size * CMPLX(cos(n->angle), sin(n->angle));
        /* sigma by 8 units twice, m by its error, T by 4 units, and the arithmetic of g; the path's
         * own nodes by 4 units, through the derivative by z */
        double spread = cabs(middle) + size, share = share_of(t, l);
        n->fixed = unit * (16 * square * cabs(d) * cabs(d) +
                           square * cabs(d) * (c->mean_error + 4 * spread) + 8 * fabs(c->base) +
                           8 * fabs(n->at.log_size) + 90);
        n->per_size = unit * (28 * cabs(l) + 4 * spread * share);
    }
}

static double transform_panel_missed(const brume_place_panel *panel, double a, double b);

/* The panels of one side of the polygon, each from where the last one ended: long ones where
 * (1 + e^T)^z turns little, shorter ones elsewhere and near the zeros of 1 + e^T. */
static bool push_side(brume_contour *c, brume_point from, brume_point to,
                      const brume_transform_aim *aim)
{
    double square = c->sigma * c->sigma;
    for (brume_point here = from; cabs(to - here) > 0;) {
        double left = cabs(to - here), size = 1.5 / c->sigma, low = cimag(here);
        brume_point step = (to - here) / left, end;
        for (int tries = 0;; tries++) {
            if (tries > 120 || c->panel_count == BRUME_TRANSFORM_PANELS)
                return false;
            end = 2 * size < left * (1 - 1e-9) ? here + 2 * size * step : to;
            double used = cabs(end - here), lowest = fmin(low, cimag(end));
            /* (1 + e^T)^z may turn by a few radians, or the ellipse must stay above the line */
            double share = 1 / (1 + exp(-creal(here) - 1.7 * used));
            double most = fmax(4 / (aim->reach * share), (creal(here) < 0 ? 0.45 : 0.3) * lowest);
            most = fmin(most, 3 / (square * fmax(low, cimag(end)) + 1e-9));
            if (used / 2 > most) {
                size = fmax(0.35 * used, 0.6 * most);
                continue;
            }
            if (make_panel(c, here, end, &c->panels[c->panel_count]))
                break;
            size = 0.35 * used;
        }
        /* negligible at the start of the path and where it ends: not summed */
        brume_place_panel *p = &c->panels[c->panel_count++];
        double far = aim->reach, angle = c->angle;
        p->kept = false;
        p->kept =
            (c->from_one && log(transform_panel_missed(p, 0, 0)) > BRUME_TRANSFORM_NEGLIGIBLE) ||
            log(transform_panel_missed(p, aim->start, 0)) > BRUME_TRANSFORM_NEGLIGIBLE ||
            log(transform_panel_missed(p, aim->start + far * cos(angle), far * sin(angle))) >
                BRUME_TRANSFORM_NEGLIGIBLE;
        if (p->kept)
            push_nodes(c, here, end);
        here = end;
    }
    return true;
}

/* The rightmost place at which the tilted density has a slope of 0. */
static double tilted_centre(double mean, double sigma, double z)
{
    double t = mean + fmax(z, 0) / (sigma * sigma);
    if (z < 0) { /* a record added: sigma^2 (T - m) = z share, one root, to the left */
        double low = mean + z / (sigma * sigma), high = mean;
        for (int i = 0; i < 80; i++) {
            t = 0.5 * (low + high);
            if (sigma * sigma * (t - mean) > z / (1 + exp(-t)))
                high = t;
            else
                low = t;
        }
        return t;
    }
    for (int i = 0; i < 200; i++)
        t = mean + z / (sigma * sigma) / (1 + exp(-t));
    return t;
}

static bool draw(brume_contour *c, const brume_transform_aim *aim)
{
    double mean = c->mean, sigma = c->sigma, z = aim->start;
    double centre = tilted_centre(mean, sigma, z);
    /* a record added: |1 + e^T|^z must not grow where Re z < 0 */
    double height = aim->height * fmin(z < 0 ? M_PI / 4 : M_PI / 2, 1.5 / sigma);
    double left = fmin(mean, centre) - 9.5 / sigma, rise = aim->rise - log(aim->reach);
    double ramp = fmin(2, 2 / sigma);
    double slope = tan(M_PI / 6);
    double hump = mean + fmax(z, 0) / (sigma * sigma); /* where e^{zT} would put the mass */
    if (hump > 0)
        slope = fmin(slope, aim->height * 1.3 / sigma / hump);
    double level = fmax(atan(slope), 0.02), cone = fmin(0.38 * height, 0.5 * level);
    c->open = isinf(aim->cut);
    if (!c->open)
        cone = 0.38 * height;
    c->angle = M_PI / 2 - cone;
    double right = c->open ? fmax(fmax(mean, hump), 0) + 12 / sigma : aim->cut;
    brume_point corner[6];
    int count = 0;
    c->closed = !isinf(aim->from);
    if (c->closed) /* rise at once */
        left = rise = aim->from;
    bool low = c->closed || rise > left;
    corner[count++] = CMPLX(left, low ? 0 : height);
    if (c->open) {
        right = fmax(right, 1);
        if (low) {
            rise = c->closed ? rise : fmin(rise, -ramp - 0.1);
            if (!c->closed)
                corner[count++] = CMPLX(rise, 0);
            corner[count++] = CMPLX(rise + ramp, height);
        }
        if (creal(corner[count - 1]) < 0)
            corner[count++] = CMPLX(0, height);
        c->slope = CMPLX(cos(level), sin(level));
        corner[count] = corner[count - 1] +
                        (right - creal(corner[count - 1])) / cos(level) * c->slope;
        c->right = corner[count++];
    } else {
        double back = ramp;
        if (low && rise + ramp < right - back) {
            if (!c->closed)
                corner[count++] = CMPLX(rise, 0);
            corner[count++] = CMPLX(rise + ramp, height);
            corner[count++] = CMPLX(right - back, height);
        } else if (!low) {
            corner[count++] = CMPLX(right - back, height);
        }
        corner[count++] = CMPLX(right, 0);
    }
    c->left_re = left;
    c->left_im = cimag(corner[0]);
    for (int i = 0; i + 1 < count; i++)
        if (!push_side(c, corner[i], corner[i + 1], aim))
            return false;
    return true;
}

/* Phi - 1 is summed if Phi is near 1 at the start: then what is near 1 is not rounded. P(T > cut)
 * is missing from the 1. Its error: 14 units of d, those of m and cut, |d log Q/dd| <= d + 1. */
static bool start_from_one(brume_contour *c, const brume_transform_aim *aim, double high)
{
    double d = c->sigma * (aim->cut - c->mean);
    if (!(fabs(high) < most_from_one) || !isinf(aim->from) || !(d >= 1))
        return false;
    c->beyond = isinf(d) ? 0 : 0.5 * erfc(d * M_SQRT1_2);
    c->beyond_error =
        isinf(d)
            ? 0
            : unit * c->beyond *
                      (16 + (d + 1) * (14 * d + c->sigma * (c->mean_error + 2 * fabs(aim->cut)))) +
                  1e-300;
    return true;
}

static double transform_ends_missed(const brume_contour *c, double a, double b);

/* An upper bound of what the rules, and the parts beyond both ends of the polygon, miss of the
 * density's own integral.
 */
static double density_missed(const brume_contour *c)
{
    double sum = transform_ends_missed(c, 0, 0);
    for (size_t i = 0; i < c->panel_count; i++)
        sum += transform_panel_missed(&c->panels[i], 0, 0);
    return isnan(sum) ? INFINITY : sum * (1 + 1e-6);
}

brume_contour *brume_transform_open(const brume_law *law, const brume_transform_aim *aim)
{
    brume_contour *c = malloc(sizeof *c);
    if (!c)
        return NULL;
    c->panel_count = c->node_count = 0;
    c->base = c->beyond = c->beyond_error = c->density_missed = 0;
    c->start = fabs(aim->start);
    c->half_re = c->half_im = NAN;
    c->turns = NULL;
    c->generation = 0;
    brume_transform_normal(law, &c->mean, &c->sigma);
    c->mean_error = 10 / (1 - law->rate) + 10 / (law->a * law->a) + 2 * fabs(c->mean);
    /* log of the largest value on the real line: near log Phi(start) */
    double centre = tilted_centre(c->mean, c->sigma, aim->start), high = -INFINITY;
    for (int i = 0; i < 2; i++) {
        double t = fmin(fmax(i ? fmin(c->mean, centre) : centre, aim->from), aim->cut),
               d = c->sigma * (t - c->mean);
        high = fmax(high, -0.5 * d * d + aim->start * (t > 0 ? t + log1p(exp(-t)) : log1p(exp(t))));
    }
    c->from_one = start_from_one(c, aim, high);
    c->base = c->from_one ? 0 : high;
    if (!draw(c, aim)) {
        free(c);
        return NULL;
    }
    if (c->from_one)
        c->density_missed = density_missed(c);
    return c;
}

void brume_transform_close(brume_contour *contour)
{
    if (contour)
        free(contour->turns);
    free(contour);
}

double brume_transform_angle(const brume_contour *contour)
{
    return contour->angle;
}

double brume_transform_base(const brume_contour *contour)
{
    return contour->base;
}

double brume_transform_offset(const brume_contour *contour)
{
    return contour->from_one ? 1 : 0;
}

/* Sums over a contour at the 24 nodes of a panel of the path at once.
 *
 * exp(z log(1 + e^T)) is turned from the panel's middle: one product more than in
 * brume_transform_sum, which is in the 90 units of each node, and |middle| + |half| for |z|. Where
 * the turn u is small a node's term is that of the middle, less 1, and that of the middle times e^u
 * - 1 = (cosh u - 1) + sinh u, of modulus at most 1.3 |u|, whose own errors are below 100 units of
 * that, in addition to the node's. */

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

/* How many of its panel_terms are enough for |u| <= size: what is left out is below 1e-18 |u|. */
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
        const brume_contour_place *at = &nodes[i].at;
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
typedef struct panel_terms {
    double less_re, less_im, whole_re, whole_im, size;
} panel_terms;

BRUME_BODY panel_terms panel_terms_at(const brume_place_node *n, const middles *m, int i)
{
    double re = creal(n->density), im = cimag(n->density), s = m->sine[i], co = m->cosine[i];
    if (m->near_one[i]) {
        double e = m->less_one[i];
        double a = e * (1 - 2 * s * s) - 2 * s * s, b = (1 + e) * 2 * s * co;
        double size = n->density_size * (fabs(e) + 2 * s * s + (1 + e) * 2 * fabs(s));
        double less_re = re * a - im * b, less_im = re * b + im * a;
        return (panel_terms){less_re, less_im, re + less_re, im + less_im, size};
    }
    double size = m->size[i], whole_re = size * co, whole_im = size * s;
    return (panel_terms){whole_re - re, whole_im - im, whole_re, whole_im, size + n->density_size};
}

BRUME_BODY void add_calm(const panel_terms *at, const brume_turns *t, brume_transform_values *block)
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

static double transform_summing(const brume_contour *contour);
static bool transform_left_out(const brume_contour *c, const brume_place_node *n, double exponent,
                               double reach);

BRUME_BODY void sum_panel_body(brume_contour *c, const span *p, brume_transform_values *out)
{
    *out = (brume_transform_values){0};
    double half = hypot(p->half_re, p->half_im);
    double size_most = hypot(p->middle_re, p->middle_im) + 2 * half;
    double reach = size_most + c->start, lost = 0;
    double adding = transform_summing(c); /* of each term, for the sum */
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
            if (transform_left_out(c, n, exponent + swing, size_most)) {
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
            panel_terms at = panel_terms_at(n, &m, i);
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

/* Sums over a contour, and bounds of what they miss.
 *
 * Where Phi is near 1 the sums are of Phi - 1 = the density against (1 + e^T)^z - 1, the density's
 * own integral being 1: then rounding is relative to that. */

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

static double log_at(const brume_contour_place *p, double a, double b)
{
    return p->log_size + a * p->lambda - b * p->theta;
}

/* The supremum over the panel's ellipse at z = a + ib times what it counts: the rule's error, or,
 * for a panel that is not summed, its length. */
static double transform_panel_missed(const brume_place_panel *panel, double a, double b)
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

/* What lies left and right of the polygon, a bound.
 *
 * Left of the polygon: a level with 0 <= Im T <= pi/2, where 1 <= |1 + e^T| <= 1 + e^{left} and
 * 0 <= arg <= 1.6 e^{left}. Right of it: |1 + e^T| <= e^{Re T} (1 + e^{-X}), X = Re right >= 1. */
static double transform_ends_missed(const brume_contour *c, double a, double b)
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
    double sum = transform_ends_missed(contour, a, b) + contour->density_missed;
    for (size_t i = 0; i < contour->panel_count; i++)
        sum += transform_panel_missed(&contour->panels[i], a, b);
    double bound = log(sum) + slack(a, b);
    return isnan(bound) ? INFINITY : bound;
}

/* From the sizes of all terms: what their sum is rounded by, block by block of a panel's nodes,
 * which are added then.
 *
 * An upper bound of the rounding of the sum of all terms, from their moduli: the nodes of a panel
 * are added first, then the sums of the panels. */
static double transform_summing(const brume_contour *contour)
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

/* Is the term of a node left out, of every z up to `reach`, and up to `swing` above log_at?
 *
 * Is the term of a node left out, of every z up to `reach`, and up to `swing` above log_at? */
static bool transform_left_out(const brume_contour *c, const brume_place_node *n, double exponent,
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
    double reach = hypot(a, b), sum_re = 0, sum_im = 0, error = 0, adding = transform_summing(c);
    for (size_t from = 0; from < c->node_count; from += BRUME_GAUSS_NODES) {
        double block_re = 0, block_im = 0;
        for (size_t i = from; i < from + BRUME_GAUSS_NODES; i++) {
            const brume_place_node *n = &c->nodes[i];
            if (transform_left_out(c, n, log_at(&n->at, a, b), reach)) {
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
                transform_summing(contour) * (hypot(sum_re, sum_im) + fixed / (90 * unit));
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
