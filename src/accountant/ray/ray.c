/* Laying and summing a ray. See the header. */
#include "accountant/ray/ray.h"

#include <math.h>
#include <stdlib.h>

#include "accountant/ray/transform.h"

static const double unit = BRUME_UNIT;
static const double tolerance = 1e-12;   /* of one panel or of the rest, relative to the whole */
static const double most_cancelled = 13; /* a log: beyond, rounding is larger */

enum { MOST_PANELS = 120, MOST_LOOKS = 260, AROUND = 3 };

typedef struct ray_node {
    double a, b;   /* z - start */
    double re, im; /* the integrand without e^{-(z - start) x}, with the rule's weight */
    double error;  /* bound of its error, absolute */
    double weight_re, weight_im;
} ray_node;

typedef struct ray_panel {
    double a[AROUND], log_bound[AROUND]; /* around its ellipse, kernel and rule included */
    brume_point middle, half;            /* z - start */
} ray_panel;

struct brume_ray {
    const brume_parts *parts;
    brume_contour *contours[BRUME_MOST_PARTS];
    double start, angle;
    double scale;            /* log of the product at the start, beyond the bases; exact */
    long double base;        /* sum n base, and the scale: nothing overflows */
    double rest_a, rest_log; /* bound of the path's end */
    double rest_b;           /* how high it is */
    int looks;               /* at panels that might be, for all angles */
    size_t node_count, panel_count;
    ray_panel panels[MOST_PANELS];
    ray_node nodes[MOST_PANELS * BRUME_GAUSS_NODES];
};

/* log of an upper bound of prod |Phi|^n at start + a + ib, minus the base */
static double log_bound(const brume_ray *ray, double a, double b)
{
    double sum = -ray->scale;
    for (size_t i = 0; i < ray->parts->count; i++)
        sum += ray->parts->part[i].count *
               brume_transform_bound(ray->contours[i], ray->start + a, b);
    return sum;
}

/* The distance from `pole` to the rectangle around the ellipse. */
static double distance(brume_point middle, brume_point half, double pole)
{
    brume_point there = (pole - middle) / half;
    double x = fmax(fabs(creal(there)) - BRUME_GAUSS_LONG, 0);
    double y = fmax(fabs(cimag(there)) - BRUME_GAUSS_WIDE, 0);
    return hypot(x, y) * cabs(half) * (1 - 1e-9);
}

/* The larger of two bounds; infinite if one is not a number, which fmax would pass over: a sum that
 * overflowed bounds nothing. */
static double larger(double a, double b)
{
    return isnan(a) || isnan(b) ? INFINITY : fmax(a, b);
}

/* log of a bound of prod |Phi|^n on the whole line Re z = start + a, less the base: the real value.
 */
static double log_real(const brume_ray *ray, double a)
{
    double sum = -ray->scale;
    for (size_t i = 0; i < ray->parts->count; i++) {
        double re, im, rounding, z = ray->start + a;
        brume_transform_sum(ray->contours[i], z, 0, &re, &im, &rounding);
        double missed = exp(brume_transform_missed(ray->contours[i], z, 0));
        double above = fabs(re) + rounding + missed;
        if (brume_transform_offset(ray->contours[i]) > 0)
            above = re + rounding + missed; /* Phi > 0 is at most 1 + that */
        double value = brume_transform_offset(ray->contours[i]) > 0 ? log1p(above) : log(above);
        sum += ray->parts->part[i].count * (value + 4 * unit * (1 + fabs(value)));
    }
    return isnan(sum) ? INFINITY : sum; /* an overflow says nothing */
}

/* Upper bounds on the ellipse around the panel from `from` to `to`, which say how much the rule of
 * this panel may miss. Returns the log of that at x; stops at a bound below `enough`.
 *
 * The ellipse lies in a rectangle. Phi is real on the real line, so the part of the rectangle below
 * it is mirrored above. On a rectangle above the real line the integral of |integrand| is
 * log-convex and does not grow with b: its largest value is at a corner; the corner of largest b
 * need not be looked at, since the segment between its two neighbours lies below it. On a rectangle
 * that crosses the real line the largest value is at an end of the interval of real parts. There is
 * a second bound, by the values on the real line, which are log-convex too: the lesser of both is
 * taken. */
static double surround(const brume_ray *ray, brume_point from, brume_point to, double x,
                       double enough, ray_panel *out)
{
    brume_point middle = 0.5 * (from + to), half = 0.5 * (to - from);
    double kernel = distance(middle + ray->start, half, 0) * distance(middle + ray->start, half, 1);
    if (!(kernel > 0))
        return INFINITY;
    double rule = log(BRUME_GAUSS_ERROR * cabs(half) / kernel) + 1e-9;
    double worst = -INFINITY, low = INFINITY, high = -INFINITY, lowest = INFINITY;
    for (int i = 0; i < AROUND; i++) {
        /* leftmost, lowest, rightmost: the path goes up, and not to the left */
        brume_point corner = middle + half * CMPLX(i == 2 ? BRUME_GAUSS_LONG : -BRUME_GAUSS_LONG,
                                                   i == 0 ? BRUME_GAUSS_WIDE : -BRUME_GAUSS_WIDE);
        double a = creal(corner), b = cimag(corner);
        low = fmin(low, a), high = fmax(high, a), lowest = fmin(lowest, b);
        out->a[i] = a;
        out->log_bound[i] = b;
    }
    for (int i = 0; i < AROUND && lowest > 0; i++) {
        out->log_bound[i] = log_bound(ray, out->a[i], out->log_bound[i]) + rule;
        worst = larger(worst, out->log_bound[i] - out->a[i] * x);
    }
    if (lowest > 0 && worst <= enough)
        return worst;
    double left = log_real(ray, low) + rule, right = log_real(ray, high) + rule;
    double other = larger(left - low * x, right - high * x);
    if (lowest > 0 && !(other < worst))
        return worst;
    for (int i = 0; i < AROUND; i++)
        out->log_bound[i] = -INFINITY;
    out->a[0] = low, out->log_bound[0] = left;
    out->a[1] = high, out->log_bound[1] = right;
    return other;
}

/* log of offset + re + i im, and a bound of its error in units of 2^-53, which leaves room for two
 * more roundings. Near 1, r = |re| + |im| <= 1/2: |v| <= 2.5 r to 4 units, 1 + v >= 1/4, so the
 * logarithm to 26 r, and it and the angle are at most 3 r. */
static brume_point log_of(double re, double im, double offset, double *units)
{
    double near = fabs(re) + fabs(im), whole = offset + re;
    if (offset > 0 && near <= 0.5) {
        *units = 64 * near;
        return CMPLX(0.5 * log1p(re * (2 + re) + im * im), atan2(im, whole));
    }
    double angle = atan2(im, whole), log_size = log(hypot(whole, im));
    *units = 12 + 8 * fabs(angle) + 4 * fabs(log_size);
    return CMPLX(log_size, angle);
}

/* The nodes of the panel from `from` to `to`: the product of the transforms, and the kernel. */
static bool push_panel(brume_ray *ray, brume_point from, brume_point to, const double *missed)
{
    brume_point middle = 0.5 * (from + to), half = 0.5 * (to - from);
    brume_transform_values values[BRUME_MOST_PARTS];
    for (size_t i = 0; i < ray->parts->count; i++)
        if (!brume_transform_panel(ray->contours[i], ray->start + creal(middle), cimag(middle),
                                   creal(half), cimag(half), &values[i]))
            return false;
    for (int j = 0; j < BRUME_GAUSS_NODES; j++) {
        brume_point place = middle + half * brume_gauss_place(j),
                    weight = brume_gauss_weight(j) * half;
        double log_size = -ray->scale, turn = 0, error = 0, ceiling = -ray->scale;
        for (size_t i = 0; i < ray->parts->count; i++) {
            double count = ray->parts->part[i].count;
            double off = values[i].rounding[j] + missed[i], units;
            double offset = brume_transform_offset(ray->contours[i]);
            brume_point log_value = log_of(values[i].re[j], values[i].im[j], offset, &units);
            double size = hypot(offset + values[i].re[j], values[i].im[j]);
            log_size += count * creal(log_value);
            turn += count * cimag(log_value);
            ceiling += count * (log((size + off) * (1 + 1e-12)));
            /* |log(1 + w)| <= |w| (1 + 1.1 |w|) for |w| <= 1/20 */
            error += count * (off / size * (1 + 1.1 * off / size) * (1 + 1e-9) + units * unit);
            if (!(off < 0.05 * size))
                error = INFINITY;
        }
        /* start - 1 is exact, z - 1 would not be: the start may be close to 1 */
        brume_point kernel = weight / ((ray->start + place) * (ray->start - 1 + place));
        double length = cabs(kernel);
        ray_node *node = &ray->nodes[ray->node_count++];
        *node = (ray_node){.a = creal(place), .b = cimag(place)};
        node->weight_re = creal(weight);
        node->weight_im = cimag(weight);
        if (error < 0.1) {
            double size = exp(log_size), s, co;
            sincos(turn, &s, &co);
            brume_point value = size * CMPLX(co, s) * kernel;
            node->re = creal(value);
            node->im = cimag(value);
            /* |e^w - 1| <= |w| (1 + |w|) */
            node->error = size * length * (error * (1 + error) * (1 + 1e-9) + 40 * unit);
        } else {
            node->error = exp(ceiling) * length * (1 + 1e-9);
        }
    }
    return true;
}

static double rounded(double x, int bits)
{
    int exponent;
    double fraction = frexp(x, &exponent);
    return ldexp(rint(ldexp(fraction, bits)), exponent - bits);
}

/* Is a + b a double? What a two-sum leaves is then 0. */
static bool exact_sum(double a, double b)
{
    double sum = a + b, second = sum - a;
    return (a - (sum - second)) + (b - second) == 0;
}

/* log of how much one panel, or the ray beyond the last panel, may miss: the share of the goal that
 * each is allowed. */
static double goal_of(const brume_ray *ray, const brume_ray_aim *at)
{
    double log_goal = log(at->width / fabs(at->start * (at->start - 1))) + log_real(ray, 0);
    if (!isnan(at->target)) { /* what cancels along the path must be sharper than what is left */
        double scale = ray->scale + (ray->parts->reversed ? 0 : at->x - ray->parts->origin);
        for (size_t i = 0; i < ray->parts->count; i++)
            scale += ray->parts->part[i].count * brume_transform_base(ray->contours[i]);
        double left = at->target - (scale - ray->start * at->x);
        log_goal = fmin(log_goal, fmax(left, log_goal - most_cancelled));
    }
    return log_goal + log(tolerance);
}

/* Do the bounds fall below the goal somewhere along the ray, so that finitely many panels do? */
static bool falls(const brume_ray *ray, const brume_ray_aim *at, double log_goal)
{
    double least = INFINITY;
    for (double far = at->width; far < 1e9 * at->width; far *= 2) {
        double a = far * cos(ray->angle), b = far * sin(ray->angle);
        double rest = log_bound(ray, a, b) - a * at->x - log(b);
        if (rest < log_goal || !(rest < least + 1))
            return rest < log_goal;
        least = fmin(least, rest);
    }
    return false;
}

/* The nodes of all panels. */
static bool push_panels(brume_ray *ray)
{
    double before[BRUME_MOST_PARTS] = {0}, missed[BRUME_MOST_PARTS] = {0};
    for (size_t i = 0; i < ray->parts->count; i++)
        before[i] = brume_transform_missed(ray->contours[i], ray->start, 0);
    for (size_t j = 0; j < ray->panel_count; j++) {
        const ray_panel *panel = &ray->panels[j];
        brume_point from = panel->middle - panel->half, to = panel->middle + panel->half;
        for (size_t i = 0; i < ray->parts->count; i++) {
            double after =
                brume_transform_missed(ray->contours[i], ray->start + creal(to), cimag(to));
            missed[i] = exp(larger(before[i], after)); /* its log is convex */
            before[i] = after;
        }
        if (!push_panel(ray, from, to, missed))
            return false;
    }
    return true;
}

/* Lay panels until the bound of the integral beyond them is below the goal; then compute all nodes.
 */
static bool lay(brume_ray *ray, const brume_ray_aim *at, double log_goal)
{
    /* few bits: then all ends, middles and halves of panels are exact */
    brume_point direction = CMPLX(rounded(cos(ray->angle), 18), rounded(sin(ray->angle), 18));
    double done = 0, half = rounded(0.5 * at->width, 8), longest = 0;
    ray->node_count = ray->panel_count = 0;
    for (int refused = 0; ray->panel_count < MOST_PANELS;) {
        brume_point from = done * direction, to = (done + 2 * half) * direction;
        if (!exact_sum(creal(from), creal(to)) || !exact_sum(cimag(from), cimag(to)) ||
            !exact_sum(creal(to), -creal(from)) || !exact_sum(cimag(to), -cimag(from)))
            return false;
        if (ray->looks++ > MOST_LOOKS)
            return false; /* it would be found, if at all, by more work than it is worth */
        double worst = surround(ray, from, to, at->x, log_goal, &ray->panels[ray->panel_count]);
        if (!(worst <= log_goal)) {
            if (refused++ > 60)
                return false;
            half = rounded(0.7 * half, 8);
            if (half < 0.1 * longest)
                return false; /* growth lies ahead */
            continue;
        }
        refused = 0;
        longest = fmax(longest, half);
        ray->panels[ray->panel_count].middle = 0.5 * (from + to);
        ray->panels[ray->panel_count].half = 0.5 * (to - from);
        ray->panel_count++;
        done += 2 * half;
        /* the path goes on straight up, where everything falls: |z(z-1)| >= b^2 */
        ray->rest_a = creal(to);
        ray->rest_b = cimag(to);
        ray->rest_log = log_bound(ray, creal(to), cimag(to)) - log(cimag(to)) + 1e-9;
        if (ray->rest_log - ray->rest_a * at->x < log_goal)
            return push_panels(ray);
        double spare = log_goal - worst;
        half = rounded(half * (spare > 8 ? 2 : spare > 2 ? 1.5 : 1), 8);
    }
    return false;
}

brume_ray *brume_ray_open(const brume_parts *parts, const brume_ray_aim *aim)
{
    if (!(aim->x > 0) || !isfinite(aim->x) || !(aim->width > 0))
        return NULL;
    brume_ray *ray = malloc(sizeof *ray);
    if (!ray)
        return NULL;
    ray->parts = parts;
    ray->start = aim->start;
    ray->node_count = ray->panel_count = 0;
    ray->looks = 0;
    ray->base = 0;
    for (size_t i = 0; i < BRUME_MOST_PARTS; i++)
        ray->contours[i] = NULL;
    ray->scale = 0;
    bool good = brume_ray_draw(parts, aim, ray->contours, &ray->angle);
    if (good)
        ray->scale = log_real(ray, 0);
    good = good && isfinite(ray->scale);
    if (good) { /* if something grows to the right, lean less */
        double lean = M_PI / 2 - ray->angle;
        double log_goal = goal_of(ray, aim);
        good = false;
        for (int tries = 0; tries < 7 && !good; tries++, lean *= 0.5) {
            ray->angle = M_PI / 2 - lean;
            good = falls(ray, aim, log_goal) && lay(ray, aim, log_goal);
        }
    }
    for (size_t i = 0; i < parts->count && good; i++)
        ray->base += (long double)parts->part[i].count * brume_transform_base(ray->contours[i]);
    ray->base += ray->scale;
    if (!good) {
        brume_ray_close(ray);
        return NULL;
    }
    return ray;
}

void brume_ray_close(brume_ray *ray)
{
    if (ray)
        brume_ray_erase(ray->parts, ray->contours);
    free(ray);
}

bool brume_ray_probe(const brume_ray *ray, size_t index, brume_ray_node *out)
{
    if (index >= ray->node_count)
        return false;
    const ray_node *n = &ray->nodes[index];
    *out = (brume_ray_node){ray->start, n->a,  n->b,     n->weight_re, n->weight_im,
                            n->re,      n->im, n->error, ray->scale};
    return true;
}

brume_ray_frame brume_ray_frame_of(const brume_ray *ray)
{
    return (brume_ray_frame){ray->parts,  ray->start,  ray->base,
                             ray->rest_a, ray->rest_b, ray->rest_log};
}

const brume_contour *brume_ray_contour(const brume_ray *ray, size_t part)
{
    return ray->contours[part];
}

size_t brume_ray_nodes(const brume_ray *ray)
{
    return ray->node_count;
}

/* log of what the rule on this panel misses at x. */
static double panel_log_bound(const ray_panel *panel, double x)
{
    double worst = -INFINITY;
    for (int j = 0; j < AROUND; j++)
        worst = larger(worst, panel->log_bound[j] - panel->a[j] * x);
    return worst;
}

bool brume_ray_span_at(const brume_ray *ray, size_t index, double x, brume_ray_span *out)
{
    if (index >= ray->panel_count)
        return false;
    const ray_panel *panel = &ray->panels[index];
    *out = (brume_ray_span){
        ray->start,         ray->scale,         creal(panel->middle),     cimag(panel->middle),
        creal(panel->half), cimag(panel->half), panel_log_bound(panel, x)};
    return true;
}

bool brume_ray_evaluate(const brume_ray *ray, double epsilon, double *value, double *slope,
                        double *error)
{
    double x = ray->parts->reversed ? ray->parts->origin - epsilon : ray->parts->origin + epsilon;
    double moved = ray->parts->origin_error + 2 * unit * (ray->parts->origin + epsilon);
    long double total = 0; /* what cancels is not rounded again */
    double tilt = 0, absolute = 0;
    double missed = exp(ray->rest_log - ray->rest_a * x) * (1 + 1e-6);
    for (size_t i = 0; i < ray->node_count; i++) {
        const ray_node *node = &ray->nodes[i];
        double s, co, fall = exp(-node->a * x);
        missed += fall * node->error;
        if (node->re == 0 && node->im == 0)
            continue;
        sincos(-node->b * x, &s, &co);
        double re = fall * (node->re * co - node->im * s);
        double im = fall * (node->im * co + node->re * s), size = fabs(re) + fabs(im);
        total += im;
        tilt -= (ray->start + node->a) * im + node->b * re; /* d/dx multiplies by -z */
        absolute += fabs(im);
        /* the phase, by x's error and by rounding */
        missed += size * (hypot(node->a, node->b) * (moved + 8 * unit * x) + 16 * unit);
    }
    double sum = (double)total;
    missed += unit * 0x1p-10 * (double)ray->node_count * absolute + unit * fabs(sum);
    for (size_t i = 0; i < ray->panel_count; i++)
        missed += exp(panel_log_bound(&ray->panels[i], x)) * (1 + 1e-6);
    long double exponent = ray->base - (long double)ray->start * x;
    if (!ray->parts->reversed)
        exponent += epsilon;
    /* x's error, the sum in long doubles, exp */
    double off = fabs(ray->start) * moved +
                 unit * 0x1p-8 * (double)(fabsl(ray->base) + fabsl(ray->start * (long double)x)) +
                 unit * (16 + 8 * (double)fabsl(exponent));
    double scale = exp((double)exponent) / M_PI;
    *value = scale * sum;
    *slope = ray->parts->reversed ? -scale * tilt : scale * (tilt + sum);
    *error = scale * (missed * (1 + 2 * off) + 1.1 * off * fabs(sum)) * (1 + 1e-9) + 1e-300;
    return isfinite(*value) && isfinite(*error) && off < 0.1;
}
