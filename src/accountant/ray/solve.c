/* Epsilon and delta of subsampled Gaussians by rays. See the header. */
#include "accountant/ray/solve.h"

#include <math.h>
#include <stdlib.h>

#include "accountant/exact/one_sampled.h"
#include "accountant/ray/ray.h"
#include "accountant/contour/line.h"

static const char route[] = "integral along a ray through the loss transform";
static const char route_variation[] = "total variation, draw by draw";
static const char route_moment[] = "moments of the loss";
static const double many_draws = 100, many_divergence = 0.5;
/* The sigma below which a single draw may outweigh all others: for small rates, and for others. */
static const double little_noise = 1.5, much_noise = 4, rare_rate = 0.03;
static const double few_divergence = 0.02; /* below, one large draw makes most of delta */

/* The chi-square divergence of all draws: sum n q^2 (e^{1/sigma^2} - 1). */
static double divergence(const brume_law *laws, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count && brume_law_is_sampled_gaussian(&laws[i]); i++)
        sum += laws[i].count * laws[i].rate * laws[i].rate * expm1(1 / (laws[i].a * laws[i].a));
    return sum;
}

bool brume_rays_apply(const brume_law *laws, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!brume_law_is_sampled_gaussian(&laws[i]))
            return false;
    return count > 0;
}

bool brume_rays_suit(const brume_law *laws, size_t count)
{
    double draws = 0;
    for (size_t i = 0; i < count && brume_law_is_sampled_gaussian(&laws[i]); i++)
        draws += laws[i].count;
    return draws < many_draws || divergence(laws, count) < many_divergence;
}

/* In which order the ways of ray.h are tried. SINGLE: one draw may make most of the loss. SMOOTH:
 * no single draw matters. NOISY: one may, but its loss is not far above that of the others. */
enum { SINGLE, SMOOTH, NOISY };
static const int ways[3][3] = {
    [SINGLE] = {BRUME_RAY_WHOLE, BRUME_RAY_BY_LARGE_DRAWS, BRUME_RAY_CONFINED},
    [SMOOTH] = {BRUME_RAY_CONFINED, BRUME_RAY_WHOLE, BRUME_RAY_BY_LARGE_DRAWS},
    [NOISY] = {BRUME_RAY_CONFINED, BRUME_RAY_BY_LARGE_DRAWS, BRUME_RAY_WHOLE},
};

static bool narrow(const brume_interval *value, double width)
{
    return value->upper < INFINITY && value->upper - value->lower <= width * value->upper;
}

/* Compares the standard deviation of the sum of all losses with the largest loss of one draw, large
 * losses whose probability is a tenth of delta left out. */
static int kind_at(const brume_law *laws, const brume_ray_parts *whole, double delta)
{
    brume_ray_parts truncated = *whole;
    double largest = 0, least_sigma = INFINITY, rate = 0;
    if (whole->reversed)
        return SINGLE;
    brume_ray_split_confine(&truncated, delta, 0.1);
    for (size_t i = 0; i < whole->count; i++) {
        largest = fmax(largest, log1p(exp(truncated.part[i].cut)) + log1p(-laws[i].rate));
        least_sigma = fmin(least_sigma, laws[i].a);
        rate = fmax(rate, laws[i].rate);
    }
    if (largest * largest < 9 * divergence(laws, whole->count))
        return SMOOTH;
    return least_sigma >= (rate < rare_rate ? little_noise : much_noise) ? NOISY : SINGLE;
}

/* Two certified ends cannot cross. If they do there is a fault: nothing of the rays is used,
 * and the interval says so. */
static void keep_if_sound(const brume_certified *before, brume_certified *certified)
{
    if (certified->value.lower <= certified->value.upper)
        return;
    *certified = *before;
    certified->contradictory = true;
}

/* An upper bound of delta(0): the total variation of one draw is q erf(1/(2 sqrt(2) sigma)), that
 * of all at most their sum. Up: the parameters' 8 units, of which erf passes on no more, and erf.
 */
static double total_variation(const brume_law *laws, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += laws[i].count * laws[i].rate * erf(M_SQRT1_2 / (2 * laws[i].a));
    return sum * (1 + 1e-12);
}

double brume_rays_guess(const brume_law *laws, size_t count, double delta)
{
    brume_ray_parts whole;
    if (!brume_parts_gather(laws, count, &whole))
        return NAN;
    bool smooth = kind_at(laws, &whole, delta) != SINGLE;
    brume_ray_parts truncated = whole;
    double guess = 0;
    brume_ray_split_confine(&truncated, delta, smooth ? 0.1 : BRUME_RAY_SPLIT_NEGLIGIBLE);
    /* what all draws make, and what one large draw of one law makes */
    if (smooth || whole.reversed || count > 1 || divergence(laws, count) > few_divergence)
        guess = fmax(brume_ray_aim_for(&truncated, NAN, log(delta)).epsilon, 0);
    for (size_t i = 0; i < count && !whole.reversed; i++)
        guess = fmax(guess, brume_one_large_draw_epsilon(&laws[i], delta));
    return guess;
}

double brume_rays_guess_delta(const brume_law *laws, size_t count, double epsilon)
{
    brume_ray_parts whole;
    double delta;
    if (!brume_parts_gather(laws, count, &whole))
        return NAN;
    brume_ray_split_aim(&whole, epsilon, &delta);
    return delta;
}

/* An open split, and what it said last: both sides are asked for at one epsilon. */
typedef struct opened {
    brume_ray_split split;
    brume_interval at;
    double epsilon;
} opened;

static double split_delta(void *context, double epsilon, brume_side side)
{
    opened *o = context;
    if (o->epsilon != epsilon)
        brume_ray_split_certify(&o->split, epsilon, &o->at.lower, &o->at.upper);
    o->epsilon = epsilon;
    return side == BRUME_UPPER_SIDE ? o->at.upper : o->at.lower;
}

static void close_split(void *context)
{
    opened *o = context;
    brume_ray_split_close(&o->split);
    free(o);
}

/* Make a split for epsilon, in place of the one that is open, and take its bounds of delta. */
static bool take_split(opened *o, double epsilon, double delta, int way, brume_certified *certified)
{
    brume_ray_split_close(&o->split);
    if (!brume_ray_split_make(&o->split, epsilon, delta, way))
        return false;
    o->epsilon = NAN;
    double upper = split_delta(o, epsilon, BRUME_UPPER_SIDE);
    if (upper < certified->value.upper) {
        certified->value.upper = upper;
        certified->route = route;
    }
    certified->value.lower = fmax(certified->value.lower, o->at.lower);
    certified->rounds++;
    return true;
}

/* Where no ray gives sharp bounds. Lower end: what one draw alone costs. Upper end: the bound by
 * moments. */
static void take_coarse_bounds(const brume_law *laws, const brume_ray_parts *whole, double start,
                               double epsilon, brume_certified *certified)
{
    double upper = exp(brume_ray_ceiling(whole, start, epsilon));
    if (!narrow(&certified->value, 0.5))
        upper = fmin(upper, brume_fallback_delta(whole, epsilon)); /* fmin passes over a NaN */
    if (upper < certified->value.upper) {
        certified->value.upper = upper;
        certified->route = route_moment;
    }
    if (narrow(&certified->value, 1e-3))
        return;
    brume_law one = laws[0]; /* all draws together are at least as far apart as one of them */
    brume_delta_bounds single;
    one.count = 1;
    if (brume_one_sampled_bounds(&one, &single))
        certified->value.lower =
            fmax(certified->value.lower, single.delta(single.context, epsilon, BRUME_LOWER_SIDE));
}

/* About the relative change of delta over that of epsilon, c being the order of the saddle point.
 */
static double width_in_delta(double c, double epsilon)
{
    return fmin(fmax(0.7 * c * epsilon, 1), 12);
}

bool brume_rays_delta(const brume_law *laws, size_t count, double epsilon, double width,
                      double enough, brume_certified *certified, brume_delta_bounds *keep)
{
    opened *o = calloc(1, sizeof *o);
    if (!o || !brume_parts_gather(laws, count, &o->split.whole)) {
        free(o);
        return false;
    }
    brume_ray_parts *whole = &o->split.whole;
    brume_certified before_rays = *certified;
    double guess, draws = 0;
    brume_ray_aim aim = brume_ray_split_aim(whole, epsilon, &guess);
    int kind = kind_at(laws, whole, guess);
    /* Rays are either sharp or fail, so a little more is enough; and the relative width of epsilon
     * that is enough is a larger one of delta. */
    enough = fmax(enough, fmin(100 * width, 1e-6));
    enough *= width_in_delta(laws[0].reversed ? -aim.start : aim.start - 1, epsilon);
    for (size_t i = 0; i < count; i++)
        draws += laws[i].count;
    double variation = total_variation(laws, count); /* delta falls with epsilon */
    if (variation < certified->value.upper) {
        certified->value.upper = variation;
        certified->route = route_variation;
    }
    /* If little sharpness is asked for, a line is cheaper than rays, unless draws are few or no
     * single one matters. */
    int most = width < 1e-4 ? 3 : draws < many_draws || kind != SINGLE;
    bool made = false;
    for (int i = 0; i < most && !narrow(&certified->value, i > 0 ? enough : width); i++) {
        int way = ways[kind][i];
        double before = fmax(guess, certified->value.lower);
        made = take_split(o, epsilon, before, way, certified);
        if (!made && way == BRUME_RAY_WHOLE && !whole->reversed && !narrow(&certified->value, 0.5))
            made =
                take_split(o, epsilon, before * 1e4, way, certified); /* the guess may be too low */
        /* once more, if delta is known now and the guess was bad */
        if (made && narrow(&certified->value, 1e-2) && !narrow(&certified->value, enough) &&
            fabs(log(certified->value.lower / before)) > 1)
            made = take_split(o, epsilon, certified->value.lower, way, certified);
    }
    if (!narrow(&certified->value, enough))
        take_coarse_bounds(laws, whole, aim.start, epsilon, certified);
    certified->nodes += o->split.nodes;
    keep_if_sound(&before_rays, certified);
    if (keep && made)
        *keep = (brume_delta_bounds){.delta = split_delta,
                                     .context = o,
                                     .route = route,
                                     .doubles = true,
                                     .close = close_split};
    else
        close_split(o);
    return narrow(&certified->value, enough);
}

/* An upper end of delta by one line, where that is short; else 1. */
static double upper_by_line(brume_law *laws, size_t count, double epsilon)
{
    brume_line line = {.laws = laws, .law_count = count};
    double upper = 1, goal;
    brume_line_aim(&line, epsilon);
    for (size_t i = 0; i < count; i++)
        if (!brume_law_settle(&laws[i], line.c))
            return upper;
    goal = brume_line_size(&line, epsilon);
    if (brume_line_decays(&line, epsilon, goal, BRUME_LINE_SHORT) &&
        brume_line_lay(&line, epsilon, goal))
        brume_line_certify(&line, epsilon, NULL, &upper);
    brume_line_close(&line);
    return upper;
}

bool brume_rays_below(brume_law *laws, size_t count, double epsilon, double delta)
{
    brume_ray_parts parts;
    if (!brume_parts_gather(laws, count, &parts))
        return false;
    double least = parts.origin + parts.origin_error;
    if (parts.reversed && epsilon >= least * (1 + 1e-14))
        return true; /* the largest loss */
    brume_certified certified = {.value = {0, 1}};
    if (count == 1 && laws[0].count == 1) {
        brume_delta_bounds one = brume_sampled_doubles_bounds(laws);
        return one.delta(one.context, epsilon, BRUME_UPPER_SIDE) <= delta;
    }
    /* by a moment where delta looks much smaller than asked; else by a ray, or by a line */
    brume_ray_aim aim = brume_ray_aim_for(&parts, epsilon, 0);
    if (aim.log_delta < log(delta) - 2 && brume_moments_below(laws, count, epsilon, delta))
        return true;
    if (brume_rays_suit(laws, count))
        brume_rays_delta(laws, count, epsilon, 1e-6, 1e-6, &certified, NULL);
    else
        certified.value.upper = upper_by_line(laws, count, epsilon);
    return certified.value.upper <= delta;
}
