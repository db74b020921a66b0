/* Laying and summing a ray. See the header. */
#include "accountant/ray/ray.h"

#include <math.h>
#include <stdlib.h>

#include "accountant/law/law.h"
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
    const brume_ray_parts *parts;
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

static bool ray_draw(const brume_ray_parts *parts, const brume_ray_aim *at,
                     brume_contour **contours, double *angle);

brume_ray *brume_ray_open(const brume_ray_parts *parts, const brume_ray_aim *aim)
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
    bool good = ray_draw(parts, aim, ray->contours, &ray->angle);
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

static void ray_erase(const brume_ray_parts *parts, brume_contour **contours);

void brume_ray_close(brume_ray *ray)
{
    if (ray)
        ray_erase(ray->parts, ray->contours);
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

/* The integral at epsilon >= 0, its slope, and a bound of its error; false if it is of no use
 * there: it is sharp near the epsilon aimed at. */
static bool ray_evaluate(const brume_ray *ray, double epsilon, double *value, double *slope,
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

/* ---- delta as a sum of terms, each computed by a ray or only bounded from above ---- */

static const double split_gain = 0.2;
static const double most_lost = 20; /* in units, a log: then another way is tried first */

/* --- bounds without rays --- */

/* An upper bound of log P(T > at) for one draw; a record removed: P is the mixture. */
static double log_mass_above(const brume_law *law, double at)
{
    double mean, sigma;
    brume_transform_normal(law, &mean, &sigma);
    double d = sigma * (at - mean) * (1 - 1e-12) - 1e-12 * (1 + sigma * fabs(mean));
    double mass = 0.5 * erfc(d / sqrt(2));
    if (!law->reversed)
        mass += law->rate * 0.5 * erfc((d - (1 + 1e-12) / sigma - 1e-12) / sqrt(2));
    return log(mass) + 1e-9;
}

double brume_one_large_draw_delta(const brume_law *law, double epsilon)
{
    double mu = 1 / law->a, q = law->rate, e = log1p(expm1(epsilon) / q) / mu;
    double left = 0.5 * erfc((e - mu / 2) / sqrt(2)), right = 0.5 * erfc((e + mu / 2) / sqrt(2));
    return law->count * (q * left - (expm1(epsilon) + q) * right);
}

double brume_one_large_draw_epsilon(const brume_law *law, double delta)
{
    double low = -60, high = 8;
    for (int i = 0; i < 40; i++) {
        double middle = 0.5 * (low + high);
        *(brume_one_large_draw_delta(law, exp(middle)) > delta ? &low : &high) = middle;
    }
    return exp(0.5 * (low + high));
}

double brume_fallback_delta(const brume_ray_parts *whole, double epsilon)
{
    double best = 1;
    for (double y = 2; y < 16; y += 1) {
        brume_ray_parts parts = *whole;
        double beyond = 0;
        for (size_t i = 0; i < parts.count; i++) {
            brume_ray_part *part = &parts.part[i];
            double mean, sigma;
            brume_transform_normal(part->law, &mean, &sigma);
            part->cut = mean + y / sigma;
            beyond += part->count * exp(log_mass_above(part->law, part->cut));
        }
        if (!(beyond < best))
            continue;
        brume_ray_aim aim = brume_ray_aim_for(&parts, epsilon, 0);
        double sum = (beyond + exp(brume_ray_ceiling(&parts, aim.start, epsilon))) * (1 + 1e-9);
        if (sum < best)
            best = sum;
    }
    return best + 1e-300; /* masses below the smallest double */
}

/* (1 - e^{-t})_+ <= e^{ct} c^c/(c+1)^{c+1}, c = z - 1 (added: -z) */
double brume_ray_ceiling(const brume_ray_parts *parts, double z, double epsilon)
{
    double c = parts->reversed ? -z : z - 1, far = parts->origin, sum = 0;
    for (size_t i = 0; i < parts->count; i++) {
        const brume_ray_part *part = &parts->part[i];
        brume_transform_aim goal = {z, fabs(z), 0.2, -2, part->from, part->cut};
        brume_contour *contour = brume_transform_open(part->law, &goal);
        if (!contour)
            return INFINITY;
        sum += part->count * (brume_transform_bound(contour, z, 0) + brume_transform_base(contour));
        brume_transform_close(contour);
    }
    double size = fabs(sum) + fabs(z) * (far + epsilon);
    sum += -c * epsilon + (parts->reversed ? c * far : -z * far);
    /* the parameters, as in the origin and in the contours; rounding */
    double off = fabs(z) * parts->origin_error + 1e-9 + 1e-13 * size;
    return sum + c * log(c / (c + 1)) - log1p(c) + off;
}

/* --- rays --- */

/* log C(n, j), an upper bound to 1e-9 relative. */
static double log_choose(double n, double j)
{
    double sum = 0;
    for (double i = 0; i < j; i++)
        sum += log((n - i) / (i + 1));
    return sum;
}

void brume_ray_split_close(brume_ray_split *p)
{
    for (size_t i = 0; i < p->term_count; i++)
        brume_ray_close(p->rays[i]);
    p->term_count = 0;
}

static brume_ray *open_ray(const brume_ray_parts *parts, const brume_ray_aim *aim)
{
    brume_ray_aim first = *aim, second = *aim;
    brume_ray_lower(parts, &first, false);
    brume_ray *ray = brume_ray_open(parts, &first);
    if (ray)
        return ray;
    brume_ray_lower(parts, &second, true);
    return second.start == first.start ? NULL : brume_ray_open(parts, &second);
}

static double ray_lost(const brume_ray_parts *parts, const brume_ray_aim *aim);

static bool add_term(brume_ray_split *p, double epsilon, double delta, double most)
{
    size_t i = p->term_count;
    brume_ray_aim aim = brume_ray_aim_for(&p->parts[i], epsilon, 0);
    aim.target = log(delta);
    brume_ray_aim lower = aim;
    brume_ray_lower(&p->parts[i], &lower, false);
    if (!(ray_lost(&p->parts[i], &lower) < most))
        return false;
    p->rays[i] = open_ray(&p->parts[i], &aim);
    if (!p->rays[i])
        return false;
    p->nodes += brume_ray_nodes(p->rays[i]);
    p->term_count++;
    return true;
}

void brume_ray_split_confine(brume_ray_parts *parts, double delta, double share)
{
    for (size_t i = 0; i < parts->count; i++) {
        brume_ray_part *part = &parts->part[i];
        double mean, sigma, mass = delta * share / (double)parts->count / part->count;
        brume_transform_normal(part->law, &mean, &sigma);
        part->cut = mean + (1 / sigma + sqrt(-2 * log(mass))) / sigma;
    }
}

/* The saddle point at epsilon of the draws confined to all but a tenth of exp(log_delta). */
static brume_ray_aim calm_aim(const brume_ray_parts *whole, double epsilon, double log_delta)
{
    brume_ray_parts truncated = *whole;
    if (!whole->reversed)
        brume_ray_split_confine(&truncated, exp(log_delta), 0.1);
    return brume_ray_aim_for(&truncated, epsilon, 0);
}

brume_ray_aim brume_ray_split_aim(const brume_ray_parts *whole, double epsilon, double *delta)
{
    double least = 1e-280;
    for (size_t i = 0; i < whole->count && !whole->reversed; i++)
        least = fmax(least, brume_one_large_draw_delta(whole->part[i].law, epsilon));
    /* what the saddle says falls as more is left out: its own delta is between */
    double low = log(least), high = 0;
    brume_ray_aim aim = calm_aim(whole, epsilon, low);
    high = fmin(aim.log_delta, high);
    double at = high;
    for (int tries = 0; tries < 10 && high - low > 1 && !whole->reversed; tries++) {
        aim = calm_aim(whole, epsilon, at);
        *(aim.log_delta > at ? &low : &high) = at;
        if (fabs(aim.log_delta - at) < 0.5)
            break;
        at = 0.5 * (low + high);
    }
    *delta = exp(fmax(at, log(least)));
    return aim;
}

/* All draws in one term. */
static bool plan_one(brume_ray_split *p, double epsilon, double delta, bool cut)
{
    p->parts[0] = p->whole;
    p->log_weight[0] = 0;
    if (cut)
        brume_ray_split_confine(&p->parts[0], delta, BRUME_RAY_SPLIT_NEGLIGIBLE);
    for (size_t i = 0; cut && i < p->whole.count; i++) {
        const brume_ray_part *part = &p->parts[0].part[i];
        p->beyond += part->count * exp(log_mass_above(part->law, part->cut));
    }
    return add_term(p, epsilon, delta, cut || p->whole.reversed ? INFINITY : most_lost);
}

/* The number of large draws, those above `at`, that must be counted: more of them have a
 * probability of less than a negligible share of delta. */
static double large_draws_needed(const brume_ray_part *part, double at, double delta)
{
    double log_mass = log_mass_above(part->law, at), goal = log(delta * BRUME_RAY_SPLIT_NEGLIGIBLE);
    for (double j = 0; j < BRUME_RAY_SPLIT_TERMS; j++)
        if (j + 1 > part->count || log_choose(part->count, j + 1) + (j + 1) * log_mass < goal)
            return j;
    return BRUME_RAY_SPLIT_TERMS;
}

/* The terms of one law by the number of its draws above `at`. */
static bool plan_split(brume_ray_split *p, double epsilon, double delta, double at)
{
    const brume_ray_part *part = &p->whole.part[0];
    double most = large_draws_needed(part, at, delta), total = 0;
    if (most >= BRUME_RAY_SPLIT_TERMS)
        return false;
    if (most + 1 <= part->count)
        p->beyond = exp(log_choose(part->count, most + 1) * (1 + 1e-9) + 1e-9 +
                        (most + 1) * log_mass_above(part->law, at));
    p->ceiling_epsilon = epsilon;
    for (double j = 0; j <= most; j++) {
        size_t i = p->term_count;
        brume_ray_parts *parts = &p->parts[i];
        *parts = p->whole;
        parts->count = 0;
        if (j < part->count)
            parts->part[parts->count++] =
                (brume_ray_part){part->law, -INFINITY, at, part->count - j};
        if (j > 0)
            parts->part[parts->count++] = (brume_ray_part){part->law, at, INFINITY, j};
        p->log_weight[i] = log_choose(part->count, j);
        double top = part->count * log1p(exp(at)) * (1 + 1e-9);
        if (j == 0 && top < parts->origin - parts->origin_error + epsilon) {
            p->ceiling[i] = -INFINITY; /* no loss is above epsilon, nor above a larger one */
            p->moment[i] = top - (parts->origin - parts->origin_error);
            p->rays[i] = NULL;
            p->term_count++;
            continue;
        }
        brume_ray_aim aim = brume_ray_aim_for(parts, epsilon, 0);
        p->rays[i] = NULL;
        p->moment[i] = aim.start;
        if (aim.log_delta + p->log_weight[i] <
            log(fmax(total, delta) * BRUME_RAY_SPLIT_NEGLIGIBLE)) {
            p->ceiling[i] = brume_ray_ceiling(parts, aim.start, epsilon);
            p->term_count++;
            continue;
        }
        aim.target = log(delta) - p->log_weight[i];
        p->rays[i] = open_ray(parts, &aim);
        if (!p->rays[i])
            return false;
        p->nodes += brume_ray_nodes(p->rays[i]);
        p->term_count++;
        total += exp(aim.log_delta + p->log_weight[i]);
    }
    return true;
}

/* The split point above which a draw of the one law is called large, for this epsilon; NaN if there
 * is no good one. At a good one few large draws need to be counted, and the tilted density of the
 * other draws is small, so that truncating it there leaves a smooth transform. */
static double split_point(const brume_ray_parts *whole, double epsilon, double delta)
{
    const brume_ray_part *part = &whole->part[0];
    double mean, sigma, best = NAN, best_score = 1e9;
    if (whole->count > 1 || whole->reversed)
        return NAN;
    brume_transform_normal(part->law, &mean, &sigma);
    for (double y = 1; y < 13; y += 0.6) {
        double at = mean + y / sigma, loss = log1p(exp(at));
        double large = large_draws_needed(part, at, delta);
        if (large >= BRUME_RAY_SPLIT_TERMS)
            continue;
        brume_ray_parts parts = *whole;
        parts.part[0].cut = at;
        bool none = part->count * loss < whole->origin + epsilon;
        brume_ray_aim aim = brume_ray_aim_for(&parts, epsilon, 0);
        double end = -0.5 * y * y + log(sigma / 2.5) + aim.start * loss;
        double falls = none ? 30 : brume_ray_log_sum(&parts.part[0], aim.start) - end;
        double need = none ? 0 : 4 + 25 * loss / aim.x;
        /* the nearer to what one large draw must be, the less cancels */
        double score = large + fmax(need - falls, 0) - (none ? 1 + split_gain * y : 0);
        if (score < best_score)
            best_score = score, best = at;
    }
    return best;
}

bool brume_ray_split_make(brume_ray_split *p, double epsilon, double delta, int way)
{
    p->term_count = 0;
    p->beyond = 0;
    bool good = false;
    if (way == BRUME_RAY_WHOLE) {
        good = plan_one(p, epsilon, delta, false);
    } else if (way == BRUME_RAY_CONFINED) {
        good = plan_one(p, epsilon, delta, true);
    } else if (way == BRUME_RAY_BY_LARGE_DRAWS) {
        double at = split_point(&p->whole, epsilon, delta);
        good = !isnan(at) && plan_split(p, epsilon, delta, at);
    }
    if (!good)
        brume_ray_split_close(p);
    return good;
}

bool brume_ray_split_above(const brume_ray_split *p, double epsilon, double *above)
{
    *above = p->beyond * (1 + 1e-9);
    for (size_t i = 0; i < p->term_count; i++) {
        if (p->rays[i])
            continue;
        /* a smaller epsilon moves the moment bound by e^{c (old - new)} */
        double moved = (p->moment[i] - 1) * (p->ceiling_epsilon - epsilon);
        if (moved > 0)
            moved *= 1 + 1e-9;
        if (p->ceiling[i] == -INFINITY && !(epsilon > p->moment[i]))
            return false;
        *above += exp(p->ceiling[i] + p->log_weight[i] + moved) * (1 + 1e-9);
    }
    return isfinite(*above);
}

/* The sum of the rays, its slope in epsilon, a bound of its error, and in *above an upper bound of
 * what the rays leave out. False if that says nothing of this epsilon. */
static bool evaluate(const brume_ray_split *p, double epsilon, double *value, double *slope,
                     double *error, double *above)
{
    *value = *slope = *error = 0;
    if (!brume_ray_split_above(p, epsilon, above))
        return false;
    for (size_t i = 0; i < p->term_count; i++) {
        double weight = exp(p->log_weight[i]), v, s, e;
        if (!p->rays[i])
            continue;
        if (!ray_evaluate(p->rays[i], epsilon, &v, &s, &e))
            return false;
        *value += weight * v;
        *slope += weight * s;
        *error += weight * (e * (1 + 1e-9) + (100 + 16 * p->log_weight[i]) * unit * fabs(v));
    }
    /* delta is not below 0: a sum that says so is a fault, and nothing else of it is used */
    return isfinite(*value) && isfinite(*error) && *value + *error + *above >= 0;
}

void brume_ray_split_certify(const brume_ray_split *p, double epsilon, double *lower, double *upper)
{
    double value, slope, error, above;
    *lower = 0;
    *upper = 1;
    if (!evaluate(p, epsilon, &value, &slope, &error, &above))
        return;
    *lower = fmax(0, value - error);
    *upper = fmin(1, value + error + above);
}

/* Where a ray should start: the saddle point, by coarse sums. Nothing here is a
 * certified bound: a bad choice makes an answer wider, never wrong. */

static const double far_mass = 9.5;        /* at a path's start, minus a log */
static const double most_digits_lost = 17; /* by what cancels and by rounding, a log */

bool brume_parts_gather(const brume_law *laws, size_t count, brume_ray_parts *out)
{
    if (count == 0 || count > BRUME_MOST_PARTS)
        return false;
    *out = (brume_ray_parts){.count = count, .reversed = laws[0].reversed};
    for (size_t i = 0; i < count; i++) {
        if (!brume_law_is_sampled_gaussian(&laws[i]))
            return false;
        double rate = laws[i].rate, one = -log1p(-rate);
        out->part[i] = (brume_ray_part){&laws[i], -INFINITY, INFINITY, laws[i].count};
        out->origin += laws[i].count * one;
        /* the rate by 8 units, the logarithm and the sum */
        out->origin_error += unit * laws[i].count *
                             (10 * rate / (1 - rate) + (8 + (double)count) * one);
    }
    return true;
}

typedef struct tilted {
    double log_sum, mean, variance; /* of log(1 + e^T) under the law tilted by z */
} tilted;

static tilted tilt(const brume_ray_part *part, double z)
{
    double mean, sigma;
    brume_transform_normal(part->law, &mean, &sigma);
    double square = sigma * sigma, low = mean - 8 / sigma, high = mean + 8 / sigma;
    double step = 0.3 / sigma;
    if (z > 0) {
        double t = mean + z / square;
        for (int i = 0; i < 60; i++)
            t = mean + z / square / (1 + exp(-t));
        high = fmax(high, t + 8 / sigma);
    } else {
        double left = mean + z / square, right = mean;
        for (int i = 0; i < 50; i++) {
            double t = 0.5 * (left + right);
            *(square * (t - mean) > z / (1 + exp(-t)) ? &right : &left) = t;
        }
        low = fmin(low, left - 8 / sigma);
        double share = 1 / (1 + exp(-left));
        step = 0.3 / sqrt(square - z * share * (1 - share));
        high = fmin(high, left + 12 / sigma);
    }
    low = fmax(low, part->from);
    high = fmin(fmax(high, low + 8 / sigma), part->cut);
    step = fmax(step, (high - low) / 4000);
    double top = -INFINITY, sum = 0, first = 0, second = 0;
    for (double t = low; t < high; t += step) {
        double l = t > 0 ? t + log1p(exp(-t)) : log1p(exp(t)), d = sigma * (t - mean);
        double v = -0.5 * d * d + z * l;
        if (v > top) {
            double shrink = exp(top - v);
            sum *= shrink, first *= shrink, second *= shrink;
            top = v;
        }
        double w = exp(v - top);
        sum += w, first += w * l, second += w * l * l;
    }
    first /= sum;
    return (tilted){top + log(sum * step * sigma) - 0.5 * log(2 * M_PI), first,
                    fmax(second / sum - first * first, 0)};
}

double brume_ray_log_sum(const brume_ray_part *part, double z)
{
    return tilt(part, z).log_sum;
}

/* The saddle's epsilon and delta if the path starts at z. */
static brume_ray_aim aim_at(const brume_ray_parts *parts, double z)
{
    double k = 0, slope = 0, bend = 0;
    for (size_t i = 0; i < parts->count; i++) {
        tilted t = tilt(&parts->part[i], z);
        k += parts->part[i].count * t.log_sum;
        slope += parts->part[i].count * t.mean;
        bend += parts->part[i].count * t.variance;
    }
    brume_ray_aim out = {.start = z, .x = slope - 1 / z - 1 / (z - 1), .target = NAN};
    out.epsilon = parts->reversed ? parts->origin - out.x : out.x - parts->origin;
    out.width = 1 / sqrt(bend + 1 / (z * z) + 1 / ((z - 1) * (z - 1)));
    out.log_delta = k - z * out.x - log(fabs(z * (z - 1))) + (parts->reversed ? 0 : out.epsilon) +
                    log(out.width) - 0.5 * log(2 * M_PI);
    return out;
}

/* log of the integrand at the real z, and of its rounding in units. */
static double size_at(const brume_ray_parts *parts, double z, double x, double *log_units)
{
    double sum = -z * x - log(fabs(z * (z - 1))), units = 60;
    for (size_t i = 0; i < parts->count; i++) {
        double one = tilt(&parts->part[i], z).log_sum, count = parts->part[i].count;
        sum += count * one;
        units += count * fmin(300, 1300 * fabs(one)); /* near 1 less is rounded */
    }
    *log_units = log(units);
    return sum;
}

brume_ray_aim brume_ray_aim_for(const brume_ray_parts *parts, double epsilon, double log_delta)
{
    double low = -16, high = 24; /* of log c */
    brume_ray_aim at = {.target = NAN};
    for (int i = 0; i < 40 && high - low > 0.01; i++) {
        double middle = 0.5 * (low + high), c = exp(middle);
        at = aim_at(parts, parts->reversed ? -c : 1 + c);
        bool more = isnan(epsilon) ? at.log_delta > log_delta : at.epsilon < epsilon;
        /* far out the sums are of no use: come back */
        more &= isfinite(at.log_delta) && isfinite(at.epsilon);
        *(more ? &low : &high) = middle;
    }
    if (!isnan(epsilon))
        at.x = parts->reversed ? parts->origin - epsilon : parts->origin + epsilon;
    return at;
}

void brume_ray_lower(const brume_ray_parts *parts, brume_ray_aim *aim, bool lean)
{
    double least = INFINITY, clean = INFINITY, units;
    for (size_t i = 0; i < parts->count; i++) {
        double mean, sigma;
        brume_transform_normal(parts->part[i].law, &mean, &sigma);
        if (isfinite(parts->part[i].cut))
            continue;
        /* the mass far out is e^{z m + z^2/(2 sigma^2)}; the larger z of two */
        double mass = far_mass + log1p(parts->part[i].count / 1000);
        double square = mean * mean - 2 * mass / (sigma * sigma);
        clean = fmin(clean, square > 0 ? sigma * sigma * (sqrt(square) - mean) : 0);
        least = fmin(least, sigma * sigma * (0.5 - mean));
    }
    if (parts->reversed || !(aim->start < INFINITY))
        return;
    double size = size_at(parts, aim->start, aim->x, &units), start = aim->start;
    double scale = aim->x - parts->origin - aim->target;
    if (least > 1.5 && least < start) {
        double other = size_at(parts, least, aim->x, &units);
        if (other < size + 9 && (lean || other + scale + units < most_digits_lost))
            aim->start = least;
    }
    if (aim->start == start && clean > 1.5 && clean < start &&
        size_at(parts, clean, aim->x, &units) < size + 4)
        aim->start = clean;
    if (aim->start < start)
        aim->width = aim_at(parts, aim->start).width;
}

/* log of how large the rounding errors of a ray from aim->start are, over exp(target) and over
 * 2^-53; an estimate. */
static double ray_lost(const brume_ray_parts *parts, const brume_ray_aim *aim)
{
    double units, size = size_at(parts, aim->start, aim->x, &units);
    double target = fmax(aim->target, aim->log_delta); /* epsilon may be aimed too low */
    return size + units - target + (parts->reversed ? 0 : aim->x - parts->origin);
}

/* --- the contours of the transforms on a ray --- */

static void ray_erase(const brume_ray_parts *parts, brume_contour **contours)
{
    for (size_t i = 0; i < parts->count; i++) {
        brume_transform_close(contours[i]);
        contours[i] = NULL;
    }
}

/* The form of all polygons: see brume_transform_aim. */
typedef struct form {
    double height, rise, reach;
    bool few; /* few draws make the loss: it is enough to leave the real line where few draws are;
                 if many do, the whole polygon is made lower instead */
} form;

/* The integrals of |integrand| are e^excess times the |integrals|, about e^near of that from where
 * the polygon leaves the real line: make the polygon lower, or let it leave further right. */
static void shrink(form *f, double excess, double near, const brume_ray_aim *at, bool many)
{
    if (f->few && f->rise < 0 && near > 0.3 * excess) {
        f->rise += 1;
        return;
    }
    if (excess > 60 && many) /* a peak and no tail */
        f->reach = fmin(f->reach, fabs(at->start) + 12 * at->width);
    f->height *= excess > 60 ? fmax(sqrt(12 / excess), 0.05) : 0.7;
}

/* For many confined draws the polygon must be above the real line where most of their variance
 * comes from, near T = m + 2/sigma^2. */
static double rise_of(const form *f, const brume_ray_part *part)
{
    double mean, sigma;
    brume_transform_normal(part->law, &mean, &sigma);
    double middle = mean + (2 / sigma - 0.5) / sigma;
    return f->few || isinf(part->cut) ? f->rise : fmin(f->rise, middle + log(f->reach));
}

/* A guess of `near` above: the mass of the density where the polygon has left the real line. */
static double excess_near(const brume_ray_parts *parts, const form *f)
{
    double sum = 0;
    for (size_t i = 0; i < parts->count; i++) {
        double mean, sigma;
        brume_transform_normal(parts->part[i].law, &mean, &sigma);
        double high = f->height * fmin(parts->reversed ? M_PI / 4 : M_PI / 2, 1.5 / sigma);
        double middle = rise_of(f, &parts->part[i]) - log(f->reach) + 0.5 * fmin(1, 1 / sigma);
        sum += parts->part[i].count * 0.5 * erfc(sigma * (middle - mean) * M_SQRT1_2) *
               expm1(0.5 * sigma * sigma * high * high);
    }
    return sum;
}

/* A contour for the transform of each part, so near the real line that the product over all draws
 * of the integrals of |integrand| is at most e^12 times the product of the |integrals|: so much may
 * cancel. *angle is the least angle of a ray on which no integrand grows. False if no contour is
 * found. */
static bool ray_draw(const brume_ray_parts *parts, const brume_ray_aim *at,
                     brume_contour **contours, double *angle)
{
    form f = {1, -2, fabs(at->start) + 150 / at->x,
              !parts->reversed && at->x > 1.4 * parts->origin};
    bool many = parts->origin > 0.5;
    for (double near; (near = excess_near(parts, &f)) > 15 && f.height > 1e-3;)
        shrink(&f, near, near, at, many);
    for (int tries = 0; tries < 16; tries++) {
        double excess = 0;
        *angle = 0;
        for (size_t i = 0; i < parts->count; i++) {
            const brume_ray_part *part = &parts->part[i];
            brume_transform_aim goal = {.start = at->start, .reach = f.reach, .height = f.height};
            goal.rise = rise_of(&f, part);
            goal.from = part->from;
            goal.cut = part->cut;
            brume_contour *contour = brume_transform_open(part->law, &goal);
            if (!contour)
                return false;
            contours[i] = contour;
            double re, im, rounding;
            brume_transform_sum(contour, at->start, 0, &re, &im, &rounding);
            excess += parts->part[i].count * (brume_transform_bound(contour, at->start, 0) -
                                              log(fabs(brume_transform_offset(contour) + re)));
            *angle = fmax(*angle, brume_transform_angle(contour));
        }
        if (excess < 12)
            return true;
        ray_erase(parts, contours);
        shrink(&f, excess, excess_near(parts, &f), at, many);
    }
    return false;
}
