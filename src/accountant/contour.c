/* Polygons, panels and sums. See the header. Nothing here chooses a right or wrong answer: a bad
 * polygon has large bounds. */
#include "accountant/contour.h"

#include <math.h>
#include <stdlib.h>

#include "accountant/point.h"

static const double unit = BRUME_UNIT;
static const double negligible = -50;

/* Added to the logarithm of every bound: its own rounding. */
static double slack(double a, double b)
{
    return 1e-9 + 1e-13 * hypot(a, b);
}

enum { MOST_PANELS = 120, RIM = 36 };

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

/* A place on the polygon or around it: log |f| = log_size + a lambda - b theta. */
typedef struct place {
    double log_size, lambda, theta;
} place;

typedef struct node {
    place at;
    point t, weight;
    double angle;           /* the argument of f is angle + a theta + b lambda */
    double fixed, per_size; /* relative error: fixed + |z| per_size */
    unsigned generation;    /* of its turns */
} node;

typedef struct panel {
    double half;    /* of its length */
    place rim[RIM]; /* around the ellipse, with the slack that does not depend on z */
    double rim_slack[RIM];
    bool kept; /* else its integral is bounded, not summed */
} panel;

/* exp(w), w = x half log(1 + e^T): its modulus, the inverse, and its direction. */
typedef struct turn {
    double size, inverse, cosine, sine;
} turn;

struct brume_contour {
    double mean, sigma, base, angle, start;
    double mean_error;       /* in units */
    double left_re, left_im; /* the polygon begins there, */
    bool closed;             /* or comes from -infinity to there on a level; */
    bool open;               /* and may go on to infinity from `right` in direction `slope` */
    point right, slope;
    double half_re, half_im; /* of the path's panel that the turns are for */
    turn *turns;             /* 12 for each node; NULL: none yet */
    unsigned generation;     /* of turns for the present half */
    size_t panel_count, node_count;
    panel panels[MOST_PANELS];
    node nodes[MOST_PANELS * BRUME_GAUSS_NODES];
};

void brume_contour_normal(const brume_law *law, double *mean, double *sigma)
{
    *sigma = law->a;
    long double rate = law->rate, a = law->a;
    *mean = (double)(logl(rate) - log1pl(-rate) - 1 / (2 * a * a));
}

/* log(1 + e^T), analytic where Re T < 0, where Re T > 0, and where |Im T| < pi */
static point log_ratio(point t)
{
    double x = creal(t), y = cimag(t), size = exp(-fabs(x)), cosine = cos(y), sine = sin(y);
    double re = 0.5 * log1p(size * (2 * cosine + size));
    double im = atan2(size * sine, 1 + size * cosine);
    return x <= 0 ? CMPLX(re, im) : CMPLX(x + re, y - im);
}

static bool inside_domain(point middle, double x_reach, double y_reach)
{
    return creal(middle) + x_reach < 0 || creal(middle) - x_reach > 0 ||
           fabs(cimag(middle)) + y_reach < M_PI;
}

/* A bound of |d^2/dT^2 log(1 + e^T)| = 1/(2 (cosh x + cos y)) within `radius` of T. */
static double curl_near(point t, double radius)
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

static place place_at(const brume_contour *c, point t)
{
    point l = log_ratio(t), d = t - c->mean, g = -0.5 * c->sigma * c->sigma * d * d;
    return (place){.log_size = creal(g) + log(c->sigma) - 0.5 * log(2 * M_PI) - c->base,
                   .lambda = creal(l),
                   .theta = cimag(l)};
}

static double log_at(const place *p, double a, double b)
{
    return p->log_size + a * p->lambda - b * p->theta;
}

/* The supremum over the ellipse, which is on its rim, times what it counts. For a panel that is not
 * summed, that is its length. */
static double panel_missed(const panel *p, double a, double b)
{
    double size = hypot(a, b), top = -INFINITY;
    for (int i = 0; i < RIM; i++) {
        double at = log_at(&p->rim[i], a, b) + size * p->rim_slack[i];
        top = isnan(at) ? INFINITY : fmax(top, at); /* fmax would pass over it */
    }
    return (p->kept ? BRUME_GAUSS_ERROR : 2) * p->half * exp(top);
}

/* The rim of the panel from `from` to `to`; false if it leaves the domain. */
static bool make_panel(const brume_contour *c, point from, point to, panel *out)
{
    point middle = 0.5 * (from + to), half = 0.5 * (to - from);
    double size = cabs(half), square = c->sigma * c->sigma;
    double long_x = fabs(creal(half)), long_y = fabs(cimag(half));
    if (!inside_domain(middle, BRUME_GAUSS_LONG * long_x + BRUME_GAUSS_WIDE * long_y,
                       BRUME_GAUSS_LONG * long_y + BRUME_GAUSS_WIDE * long_x))
        return false;
    *out = (panel){.half = size, .kept = true};
    /* a point of the ellipse is within `gap` of the rim's, along it */
    double gap = size * BRUME_GAUSS_LONG * M_PI / RIM * (1 + 1e-9);
    for (int i = 0; i < RIM; i++) {
        double angle = 2 * M_PI * i / RIM;
        point t = middle +
                  half * CMPLX(BRUME_GAUSS_LONG * cos(angle), BRUME_GAUSS_WIDE * sin(angle));
        point e = cexp(creal(t) > 0 ? -t : t);
        double share = cabs((creal(t) > 0 ? 1 : e) / (1 + e));
        out->rim[i] = place_at(c, t);
        out->rim[i].log_size += gap * square * cabs(t - c->mean) + 0.5 * gap * gap * square;
        out->rim_slack[i] = gap * share * (1 + 1e-9) + 0.5 * gap * gap * curl_near(t, gap);
    }
    return true;
}

/* The 24 nodes of a panel. */
static void push_nodes(brume_contour *c, point from, point to)
{
    point middle = 0.5 * (from + to), half = 0.5 * (to - from);
    double square = c->sigma * c->sigma;
    for (int i = 0; i < BRUME_GAUSS_NODES; i++) {
        const double *rule = brume_gauss[i / 2];
        point t = middle + half * (i % 2 ? rule[0] : -rule[0]), d = t - c->mean;
        point g = -0.5 * square * d * d, l = log_ratio(t), e = cexp(creal(t) > 0 ? -t : t);
        double share = cabs((creal(t) > 0 ? 1 : e) / (1 + e));
        node *n = &c->nodes[c->node_count++];
        n->generation = 0;
        n->t = t;
        n->weight = rule[1] * half;
        n->at = place_at(c, t);
        n->at.log_size += log(rule[1] * cabs(half));
        n->angle = cimag(g) + carg(half);
        /* sigma by 8 units twice, m by its error, T by 4 units, and the arithmetic of g; the path's
         * own nodes by 4 units, through the derivative by z */
        double spread = cabs(middle) + cabs(half);
        n->fixed = unit * (16 * square * cabs(d) * cabs(d) +
                           square * cabs(d) * (c->mean_error + 4 * spread) + 8 * fabs(c->base) +
                           8 * fabs(n->at.log_size) + 90);
        n->per_size = unit * (28 * cabs(l) + 4 * spread * share);
    }
}

/* The panels of one side of the polygon, each from where the last one ended: long ones where
 * (1 + e^T)^z turns little, shorter ones elsewhere and near the zeros of 1 + e^T. */
static bool push_side(brume_contour *c, point from, point to, const brume_contour_aim *aim)
{
    double square = c->sigma * c->sigma;
    for (point here = from; cabs(to - here) > 0;) {
        double left = cabs(to - here), size = 1.5 / c->sigma, low = cimag(here);
        point step = (to - here) / left, end;
        for (int tries = 0;; tries++) {
            if (tries > 120 || c->panel_count == MOST_PANELS)
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
        panel *p = &c->panels[c->panel_count++];
        double far = aim->reach, angle = c->angle;
        p->kept = false;
        p->kept = log(panel_missed(p, aim->start, 0)) > negligible ||
                  log(panel_missed(p, aim->start + far * cos(angle), far * sin(angle))) >
                      negligible;
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

static bool draw(brume_contour *c, const brume_contour_aim *aim)
{
    double mean = c->mean, sigma = c->sigma, z = aim->start;
    double centre = tilted_centre(mean, sigma, z);
    /* a record added: |1 + e^T|^z must not grow where Re z < 0 */
    double height = aim->height * fmin(z < 0 ? M_PI / 4 : M_PI / 2, 1.5 / sigma);
    double left = fmin(mean, centre) - 9.5 / sigma, rise = -log(aim->reach) - 2;
    double ramp = fmin(2, 2 / sigma);
    double slope = tan(M_PI / 6);
    double hump = mean + fmax(z, 0) / (sigma * sigma); /* where e^{zT} would put the mass */
    if (hump > 0)
        slope = fmin(slope, aim->height * 1.3 / sigma / hump);
    double level = fmax(atan(slope), 0.02), cone = fmin(0.38 * height, 0.6 * level);
    c->open = isinf(aim->cut);
    if (!c->open)
        cone = 0.38 * height;
    c->angle = M_PI / 2 - cone;
    double right = c->open ? fmax(fmax(mean, hump), 0) + 12 / sigma : aim->cut;
    point corner[6];
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

brume_contour *brume_contour_open(const brume_law *law, const brume_contour_aim *aim)
{
    brume_contour *c = malloc(sizeof *c);
    if (!c)
        return NULL;
    c->panel_count = c->node_count = 0;
    c->base = 0;
    c->start = fabs(aim->start);
    c->half_re = c->half_im = NAN;
    c->turns = NULL;
    c->generation = 0;
    brume_contour_normal(law, &c->mean, &c->sigma);
    c->mean_error = 10 / (1 - law->rate) + 10 / (law->a * law->a) + 2 * fabs(c->mean);
    /* log of the largest value on the real line: near log Phi(start) */
    double centre = tilted_centre(c->mean, c->sigma, aim->start), high = -INFINITY;
    for (int i = 0; i < 2; i++) {
        double t = fmin(fmax(i ? fmin(c->mean, centre) : centre, aim->from), aim->cut),
               d = c->sigma * (t - c->mean);
        high = fmax(high, -0.5 * d * d + aim->start * (t > 0 ? t + log1p(exp(-t)) : log1p(exp(t))));
    }
    c->base = high;
    if (!draw(c, aim)) {
        free(c);
        return NULL;
    }
    return c;
}

void brume_contour_close(brume_contour *contour)
{
    if (contour)
        free(contour->turns);
    free(contour);
}

double brume_contour_angle(const brume_contour *contour)
{
    return contour->angle;
}

double brume_contour_base(const brume_contour *contour)
{
    return contour->base;
}

/* Left of the polygon: a level with 0 <= Im T <= pi/2, where 1 <= |1 + e^T| <= 1 + e^{left} and
 * 0 <= arg <= 1.6 e^{left}. Right of it: |1 + e^T| <= e^{Re T} (1 + e^{-X}), X = Re right >= 1. */
static double ends_missed(const brume_contour *c, double a, double b)
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
        const node *n = &contour->nodes[i];
        double exponent = log_at(&n->at, a, b);
        if (exponent > negligible)
            sum += exp(exponent) * (1 + n->fixed + size * n->per_size);
    }
    /* the sum itself: one unit a node */
    double bound = log(sum + 2e-22 * (double)contour->node_count) + 1e-14 +
                   unit * (double)contour->node_count;
    return isnan(bound) ? INFINITY : bound;
}

double brume_contour_missed(const brume_contour *contour, double a, double b)
{
    double sum = ends_missed(contour, a, b);
    for (size_t i = 0; i < contour->panel_count; i++)
        sum += panel_missed(&contour->panels[i], a, b);
    double bound = log(sum) + slack(a, b);
    return isnan(bound) ? INFINITY : bound;
}

/* Of the sizes of all terms: what their sum is rounded by, block by block of a panel's nodes, which
 * are added then. */
static double summing(const brume_contour *contour)
{
    return unit * (double)(BRUME_GAUSS_NODES + contour->node_count / BRUME_GAUSS_NODES);
}

void brume_contour_sum(const brume_contour *contour, double a, double b, double *re, double *im,
                       double *rounding)
{
    double sum_re = 0, sum_im = 0, fixed = 0, per_size = 0, absolute = 0;
    for (size_t from = 0; from < contour->node_count; from += BRUME_GAUSS_NODES) {
        double block_re = 0, block_im = 0;
        for (size_t i = from; i < from + BRUME_GAUSS_NODES; i++) {
            const node *n = &contour->nodes[i];
            double exponent = log_at(&n->at, a, b);
            if (exponent < negligible) {
                absolute += 2e-22; /* exp(-50), left out */
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
    const node *n = &contour->nodes[index];
    *t_re = creal(n->t);
    *t_im = cimag(n->t);
    *weight_re = creal(n->weight);
    *weight_im = cimag(n->weight);
    return true;
}

static void make_turns(const node *n, double half_re, double half_im, turn *turns)
{
    double re = half_re * n->at.lambda - half_im * n->at.theta;
    double im = half_re * n->at.theta + half_im * n->at.lambda;
    for (int j = 0; j < BRUME_GAUSS_HALF; j++) {
        turn *t = &turns[j];
        sincos(brume_gauss[j][0] * im, &t->sine, &t->cosine);
        t->size = exp(brume_gauss[j][0] * re);
        t->inverse = 1 / t->size;
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

/* As brume_contour_sum, but exp(z log(1 + e^T)) is turned from the panel's middle: one product more
 * than there, which is in the 90 units of each node, and |middle| + |half| for |z|. */
bool brume_contour_panel(brume_contour *contour, double middle_re, double middle_im, double half_re,
                         double half_im, brume_contour_values *out)
{
    brume_contour *c = contour;
    if (!c->turns)
        c->turns = calloc(c->node_count * BRUME_GAUSS_HALF, sizeof *c->turns);
    if (!c->turns)
        return false;
    if (!(c->half_re == half_re && c->half_im == half_im)) {
        c->half_re = half_re;
        c->half_im = half_im;
        c->generation++;
    }
    *out = (brume_contour_values){0};
    double half = hypot(half_re, half_im);
    double reach = hypot(middle_re, middle_im) + 2 * half + c->start, left_out = 0;
    double adding = summing(c); /* of each term, for the sum */
    brume_contour_values block = {0};
    for (size_t i = 0; i < c->node_count; i++) {
        node *n = &c->nodes[i];
        if (i % BRUME_GAUSS_NODES == 0)
            add_block(&block, out);
        double exponent = log_at(&n->at, middle_re, middle_im);
        double swing = fabs(half_re * n->at.lambda - half_im * n->at.theta);
        if (exponent + swing < negligible) {
            left_out += 2e-22; /* exp(-50) */
            continue;
        }
        if (!(swing < 300)) { /* no product of such sizes: each node by itself */
            for (int j = 0; j < BRUME_GAUSS_NODES; j++) {
                double x = brume_gauss[j / 2][0] * (j % 2 ? 1 : -1);
                brume_contour_sum(c, middle_re + x * half_re, middle_im + x * half_im, &out->re[j],
                                  &out->im[j], &out->rounding[j]);
            }
            return true;
        }
        double s, co, size = exp(exponent), error = n->fixed + reach * n->per_size + adding;
        sincos(n->angle + middle_re * n->at.theta + middle_im * n->at.lambda, &s, &co);
        double re = size * co, im = size * s;
        turn *t = &c->turns[i * BRUME_GAUSS_HALF];
        if (n->generation != c->generation) {
            make_turns(n, half_re, half_im, t);
            n->generation = c->generation;
        }
        for (int j = 0; j < BRUME_GAUSS_HALF; j++, t++) {
            double same = re * t->cosine, cross = im * t->sine;
            double other = im * t->cosine, mixed = re * t->sine;
            block.re[2 * j] += t->inverse * (same + cross);
            block.im[2 * j] += t->inverse * (other - mixed);
            block.rounding[2 * j] += t->inverse * size * error;
            block.re[2 * j + 1] += t->size * (same - cross);
            block.im[2 * j + 1] += t->size * (other + mixed);
            block.rounding[2 * j + 1] += t->size * size * error;
        }
    }
    add_block(&block, out);
    for (int j = 0; j < BRUME_GAUSS_NODES; j++)
        out->rounding[j] = out->rounding[j] * (1 + 1e-6) + left_out;
    return true;
}
