/* Delta as a sum of terms, each computed by a ray or only bounded from above. See ray.h. */
#include "accountant/ray/ray.h"

#include <math.h>

#include "accountant/ray/transform.h"

static const double unit = BRUME_UNIT;
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

double brume_fallback_delta(const brume_parts *whole, double epsilon)
{
    double best = 1;
    for (double y = 2; y < 16; y += 1) {
        brume_parts parts = *whole;
        double beyond = 0;
        for (size_t i = 0; i < parts.count; i++) {
            brume_part *part = &parts.part[i];
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
double brume_ray_ceiling(const brume_parts *parts, double z, double epsilon)
{
    double c = parts->reversed ? -z : z - 1, far = parts->origin, sum = 0;
    for (size_t i = 0; i < parts->count; i++) {
        const brume_part *part = &parts->part[i];
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

static brume_ray *open_ray(const brume_parts *parts, const brume_ray_aim *aim)
{
    brume_ray_aim first = *aim, second = *aim;
    brume_ray_lower(parts, &first, false);
    brume_ray *ray = brume_ray_open(parts, &first);
    if (ray)
        return ray;
    brume_ray_lower(parts, &second, true);
    return second.start == first.start ? NULL : brume_ray_open(parts, &second);
}

static bool add_term(brume_ray_split *p, double epsilon, double delta, double most)
{
    size_t i = p->term_count;
    brume_ray_aim aim = brume_ray_aim_for(&p->parts[i], epsilon, 0);
    aim.target = log(delta);
    brume_ray_aim lower = aim;
    brume_ray_lower(&p->parts[i], &lower, false);
    if (!(brume_ray_lost(&p->parts[i], &lower) < most))
        return false;
    p->rays[i] = open_ray(&p->parts[i], &aim);
    if (!p->rays[i])
        return false;
    p->nodes += brume_ray_nodes(p->rays[i]);
    p->term_count++;
    return true;
}

void brume_ray_split_confine(brume_parts *parts, double delta, double share)
{
    for (size_t i = 0; i < parts->count; i++) {
        brume_part *part = &parts->part[i];
        double mean, sigma, mass = delta * share / (double)parts->count / part->count;
        brume_transform_normal(part->law, &mean, &sigma);
        part->cut = mean + (1 / sigma + sqrt(-2 * log(mass))) / sigma;
    }
}

/* The saddle point at epsilon of the draws confined to all but a tenth of exp(log_delta). */
static brume_ray_aim calm_aim(const brume_parts *whole, double epsilon, double log_delta)
{
    brume_parts truncated = *whole;
    if (!whole->reversed)
        brume_ray_split_confine(&truncated, exp(log_delta), 0.1);
    return brume_ray_aim_for(&truncated, epsilon, 0);
}

brume_ray_aim brume_ray_split_aim(const brume_parts *whole, double epsilon, double *delta)
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
        const brume_part *part = &p->parts[0].part[i];
        p->beyond += part->count * exp(log_mass_above(part->law, part->cut));
    }
    return add_term(p, epsilon, delta, cut || p->whole.reversed ? INFINITY : most_lost);
}

/* The number of large draws, those above `at`, that must be counted: more of them have a
 * probability of less than a negligible share of delta. */
static double large_draws_needed(const brume_part *part, double at, double delta)
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
    const brume_part *part = &p->whole.part[0];
    double most = large_draws_needed(part, at, delta), total = 0;
    if (most >= BRUME_RAY_SPLIT_TERMS)
        return false;
    if (most + 1 <= part->count)
        p->beyond = exp(log_choose(part->count, most + 1) * (1 + 1e-9) + 1e-9 +
                        (most + 1) * log_mass_above(part->law, at));
    p->ceiling_epsilon = epsilon;
    for (double j = 0; j <= most; j++) {
        size_t i = p->term_count;
        brume_parts *parts = &p->parts[i];
        *parts = p->whole;
        parts->count = 0;
        if (j < part->count)
            parts->part[parts->count++] = (brume_part){part->law, -INFINITY, at, part->count - j};
        if (j > 0)
            parts->part[parts->count++] = (brume_part){part->law, at, INFINITY, j};
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
static double split_point(const brume_parts *whole, double epsilon, double delta)
{
    const brume_part *part = &whole->part[0];
    double mean, sigma, best = NAN, best_score = 1e9;
    if (whole->count > 1 || whole->reversed)
        return NAN;
    brume_transform_normal(part->law, &mean, &sigma);
    for (double y = 1; y < 13; y += 0.6) {
        double at = mean + y / sigma, loss = log1p(exp(at));
        double large = large_draws_needed(part, at, delta);
        if (large >= BRUME_RAY_SPLIT_TERMS)
            continue;
        brume_parts parts = *whole;
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
        if (!brume_ray_evaluate(p->rays[i], epsilon, &v, &s, &e))
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
