/* The polygon of a contour and its panels. See transform.h. Any polygon gives valid bounds; a badly
 * chosen one gives large ones. */
#include "accountant/ray/transform.h"

#include <math.h>
#include <stdlib.h>

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

static brume_place place_at(const brume_contour *c, brume_point t, brume_point l)
{
    brume_point d = t - c->mean, g = -0.5 * c->sigma * c->sigma * d * d;
    return (brume_place){.log_size = creal(g) + log(c->sigma) - 0.5 * log(2 * M_PI) - c->base,
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
            (c->from_one &&
             log(brume_transform_panel_missed(p, 0, 0)) > BRUME_TRANSFORM_NEGLIGIBLE) ||
            log(brume_transform_panel_missed(p, aim->start, 0)) > BRUME_TRANSFORM_NEGLIGIBLE ||
            log(brume_transform_panel_missed(p, aim->start + far * cos(angle), far * sin(angle))) >
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

/* An upper bound of what the rules, and the parts beyond both ends of the polygon, miss of the
 * density's own integral.
 */
static double density_missed(const brume_contour *c)
{
    double sum = brume_transform_ends_missed(c, 0, 0);
    for (size_t i = 0; i < c->panel_count; i++)
        sum += brume_transform_panel_missed(&c->panels[i], 0, 0);
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
