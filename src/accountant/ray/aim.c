/* Where a ray should start: the saddle point, by coarse sums. See ray.h. Nothing here is a
 * certified bound: a bad choice makes an answer wider, never wrong. */
#include <math.h>

#include "accountant/ray/transform.h"
#include "accountant/ray/ray.h"

static const double unit = BRUME_UNIT;
static const double far_mass = 9.5; /* at a path's start, minus a log */
static const double most_lost = 17; /* by what cancels and by rounding, a log */

bool brume_parts_gather(const brume_law *laws, size_t count, brume_parts *out)
{
    if (count == 0 || count > BRUME_MOST_PARTS)
        return false;
    *out = (brume_parts){.count = count, .reversed = laws[0].reversed};
    for (size_t i = 0; i < count; i++) {
        if (!brume_law_is_sampled_gaussian(&laws[i]))
            return false;
        double rate = laws[i].rate, one = -log1p(-rate);
        out->part[i] = (brume_part){&laws[i], -INFINITY, INFINITY, laws[i].count};
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

static tilted tilt(const brume_part *part, double z)
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

double brume_ray_log_sum(const brume_part *part, double z)
{
    return tilt(part, z).log_sum;
}

/* The saddle's epsilon and delta if the path starts at z. */
static brume_ray_aim aim_at(const brume_parts *parts, double z)
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
static double size_at(const brume_parts *parts, double z, double x, double *log_units)
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

brume_ray_aim brume_ray_aim_for(const brume_parts *parts, double epsilon, double log_delta)
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

void brume_ray_lower(const brume_parts *parts, brume_ray_aim *aim, bool lean)
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
        if (other < size + 9 && (lean || other + scale + units < most_lost))
            aim->start = least;
    }
    if (aim->start == start && clean > 1.5 && clean < start &&
        size_at(parts, clean, aim->x, &units) < size + 4)
        aim->start = clean;
    if (aim->start < start)
        aim->width = aim_at(parts, aim->start).width;
}

double brume_ray_lost(const brume_parts *parts, const brume_ray_aim *aim)
{
    double units, size = size_at(parts, aim->start, aim->x, &units);
    double target = fmax(aim->target, aim->log_delta); /* epsilon may be aimed too low */
    return size + units - target + (parts->reversed ? 0 : aim->x - parts->origin);
}

/* --- the contours of the transforms on a ray --- */

void brume_ray_erase(const brume_parts *parts, brume_contour **contours)
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
static double rise_of(const form *f, const brume_part *part)
{
    double mean, sigma;
    brume_transform_normal(part->law, &mean, &sigma);
    double middle = mean + (2 / sigma - 0.5) / sigma;
    return f->few || isinf(part->cut) ? f->rise : fmin(f->rise, middle + log(f->reach));
}

/* A guess of `near` above: the mass of the density where the polygon has left the real line. */
static double excess_near(const brume_parts *parts, const form *f)
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

bool brume_ray_draw(const brume_parts *parts, const brume_ray_aim *at, brume_contour **contours,
                    double *angle)
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
            const brume_part *part = &parts->part[i];
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
        brume_ray_erase(parts, contours);
        shrink(&f, excess, excess_near(parts, &f), at, many);
    }
    return false;
}
