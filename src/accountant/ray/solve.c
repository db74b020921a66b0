/* Epsilon and delta of subsampled Gaussians by rays. See the header. */
#include "accountant/ray/solve.h"

#include <math.h>
#include <stdlib.h>

#include "accountant/exact/closed_form.h"
#include "accountant/ray/fallback_bounds.h"
#include "accountant/ray/split.h"
#include "accountant/ray/line.h"
#include "accountant/contour/saddle.h"

static const double unit = BRUME_UNIT;
static const char route[] = "integral along a ray through the loss transform";
static const char route_variation[] = "total variation, draw by draw";
static const char route_moment[] = "moments of the loss";
static const double many_draws = 100, many_divergence = 0.5;
/* sigma: below, a single draw may outweigh the others; of rare draws, and of others */
static const double little_noise = 1.5, much_noise = 4, rare_rate = 0.03;
static const double few_divergence = 0.02; /* below, one jump makes delta */

enum { MOST_ROUNDS = 4 };

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

bool brume_rays_answered(const brume_answer *answer)
{
    return answer->route == route;
}

/* Which way first: all draws as they are; confined, where no single draw matters; confined, where
 * one may, but is not far above the others. */
enum { SINGLE, SMOOTH, NOISY };
static const int ways[3][3] = {
    [SINGLE] = {BRUME_RAY_WHOLE, BRUME_RAY_BY_JUMPS, BRUME_RAY_CONFINED},
    [SMOOTH] = {BRUME_RAY_CONFINED, BRUME_RAY_WHOLE, BRUME_RAY_BY_JUMPS},
    [NOISY] = {BRUME_RAY_CONFINED, BRUME_RAY_BY_JUMPS, BRUME_RAY_WHOLE},
};

/* Newton's method on log delta; only proposes. */
static double root_near(const brume_ray_split *p, double epsilon, double delta, double most)
{
    double value, slope, error, above, limit = 0;
    for (size_t i = 0; i < p->term_count; i++)
        if (p->rays[i])
            limit = fmax(limit, 3 / fabs(brume_ray_start(p->rays[i])));
    for (int i = 0; i < 30; i++) {
        if (!brume_ray_split_evaluate(p, epsilon, &value, &slope, &error, &above) || !(value > 0) ||
            !(slope < 0))
            return epsilon;
        double step = log(value / delta) * value / -slope;
        step = fmin(fmax(step, -limit), limit);
        double next = fmin(fmax(epsilon + step, 0), most);
        if (fabs(next - epsilon) <= 1e-14 * next || fabs(next - epsilon) * -slope < 0.2 * error)
            return next;
        epsilon = next;
    }
    return epsilon;
}

/* Move both ends of `value` to points near `root` at which the plan certifies them. */
static void certify_ends(const brume_ray_split *p, double root, double delta, double delta_error,
                         brume_interval *value)
{
    double sum, slope, error, above, lower, upper;
    double low_target = delta * (1 + delta_error), high_target = delta * (1 - delta_error);
    if (!brume_ray_split_evaluate(p, root, &sum, &slope, &error, &above) || !(slope < 0))
        return;
    if (root == 0) {
        brume_ray_split_certify(p, 0, &lower, &upper);
        if (upper <= high_target)
            value->upper = 0;
    }
    double step = (1.01 * error + above + 2 * delta * delta_error + fmax(sum - delta, 0)) / -slope +
                  4 * unit * root;
    for (int i = 0; i < 8 && root + step < value->upper; i++, step *= 2) {
        brume_ray_split_certify(p, root + step, &lower, &upper);
        if (upper <= high_target)
            value->upper = root + step;
    }
    step = (1.01 * error + 2 * delta * delta_error + fmax(delta - sum, 0)) / -slope +
           4 * unit * root;
    for (int i = 0; i < 8 && root - step > value->lower; i++, step *= 2) {
        brume_ray_split_certify(p, root - step, &lower, &upper);
        if (lower > low_target)
            value->lower = root - step;
    }
}

static bool narrow(const brume_interval *value, double width)
{
    return value->upper < INFINITY && value->upper - value->lower <= width * value->upper;
}

/* Is the deviation of all draws not far below the largest loss of one, but for a tenth of delta? */
static int kind_at(const brume_law *laws, const brume_parts *whole, double delta)
{
    brume_parts calm = *whole;
    double largest = 0, least_sigma = INFINITY, rate = 0;
    if (whole->reversed)
        return SINGLE;
    brume_ray_split_confine(&calm, delta, 0.1);
    for (size_t i = 0; i < whole->count; i++) {
        largest = fmax(largest, log1p(exp(calm.part[i].cut)) + log1p(-laws[i].rate));
        least_sigma = fmin(least_sigma, laws[i].a);
        rate = fmax(rate, laws[i].rate);
    }
    if (largest * largest < 9 * divergence(laws, whole->count))
        return SMOOTH;
    return least_sigma >= (rate < rare_rate ? little_noise : much_noise) ? NOISY : SINGLE;
}

/* What one jump makes of one law, and what all draws make. */
static double guess_epsilon(const brume_law *laws, const brume_parts *whole, double delta,
                            bool smooth)
{
    brume_parts calm = *whole;
    double guess = 0;
    brume_ray_split_confine(&calm, delta, smooth ? 0.1 : BRUME_RAY_SPLIT_NEGLIGIBLE);
    if (smooth || whole->reversed || whole->count > 1 ||
        divergence(laws, whole->count) > few_divergence)
        guess = fmax(brume_ray_aim_for(&calm, NAN, log(delta)).epsilon, 0);
    for (size_t i = 0; i < whole->count && !whole->reversed; i++)
        guess = fmax(guess, brume_one_jump_epsilon(&laws[i], delta));
    return guess;
}

/* Where no ray is narrow: a coarse upper end, and what one draw alone costs. */
static void coarse_ends(const brume_law *laws, const brume_parts *whole, double delta,
                        double delta_error, brume_answer *answer)
{
    double upper = brume_fallback_epsilon(whole, delta * (1 - delta_error));
    if (upper < answer->value.upper) {
        answer->value.upper = upper;
        answer->route = route_moment;
    }
    brume_law one = laws[0];
    brume_answer single = {.value = {0, answer->value.upper}};
    brume_closed closed = brume_sampled_form(&one);
    brume_closed_epsilon(&closed, delta, delta_error, 0.5 * answer->value.upper, &single);
    answer->value.lower = fmax(answer->value.lower, single.value.lower);
}

/* Two certified ends cannot cross. If they do there is a fault: nothing of the rays is believed,
 * and the answer says so. */
static void keep_if_sound(const brume_answer *before, brume_answer *answer)
{
    if (answer->value.lower <= answer->value.upper)
        return;
    *answer = *before;
    answer->contradictory = true;
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

void brume_rays_epsilon(const brume_law *laws, size_t count, double delta, double delta_error,
                        double width, brume_answer *answer)
{
    brume_ray_split *p = calloc(1, sizeof *p);
    if (!p || !brume_parts_gather(laws, count, &p->whole)) {
        free(p);
        return;
    }
    brume_answer old_answer = *answer;
    delta_error = delta_error * (1 + 1e-9) + 2 * unit;
    if (total_variation(laws, count) <= delta * (1 - delta_error)) {
        answer->value.upper = 0;
        answer->route = route_variation;
        answer->rounds++;
        free(p);
        return;
    }
    int kind = kind_at(laws, &p->whole, delta);
    double guess = guess_epsilon(laws, &p->whole, delta, kind != SINGLE);
    for (int i = 0; i < 3; i++) {
        int way = ways[kind][i];
        if (i == 2 && count == 1 && narrow(&answer->value, 1e-6))
            break; /* rarely useful, and expensive */
        double epsilon = guess, before = INFINITY;
        if (narrow(&answer->value, 0.1))
            epsilon = 0.5 * (answer->value.lower + answer->value.upper);
        for (int round = 0; round < MOST_ROUNDS && brume_ray_split_make(p, epsilon, delta, way);
             round++) {
            double aimed = epsilon, start = fabs(brume_ray_split_start(p));
            epsilon = root_near(p, fmin(epsilon, answer->value.upper), delta, answer->value.upper);
            brume_interval old = answer->value;
            certify_ends(p, epsilon, delta, delta_error, &answer->value);
            if (answer->value.upper < old.upper)
                answer->route = route;
            answer->rounds++;
            brume_ray_split_close(p);
            double gap = answer->value.upper - answer->value.lower;
            double moved = fabs(epsilon - aimed); /* hardly: no better aim */
            bool near = moved * start < 0.3 && moved < 0.1 * (aimed + p->whole.origin);
            if (narrow(&answer->value, 100 * width) || near || (round > 0 && !(gap < 0.5 * before)))
                break;
            before = gap;
        }
        if (narrow(&answer->value, 100 * width))
            break;
    }
    if (!narrow(&answer->value, 1e-3))
        coarse_ends(laws, &p->whole, delta, delta_error, answer);
    answer->nodes += p->nodes;
    keep_if_sound(&old_answer, answer);
    free(p);
}

/* Take the certified bounds of delta, then free the split. */
static void take_delta(brume_ray_split *p, double epsilon, brume_answer *answer)
{
    double lower, upper;
    brume_ray_split_certify(p, epsilon, &lower, &upper);
    if (upper < answer->value.upper) {
        answer->value.upper = upper;
        answer->route = route;
    }
    answer->value.lower = fmax(answer->value.lower, lower);
    answer->rounds++;
    brume_ray_split_close(p);
}

bool brume_rays_delta(const brume_law *laws, size_t count, double epsilon, double width,
                      double enough, brume_answer *answer)
{
    brume_ray_split *p = calloc(1, sizeof *p);
    if (!p || !brume_parts_gather(laws, count, &p->whole)) {
        free(p);
        return false;
    }
    brume_answer old_answer = *answer;
    double guess;
    brume_ray_aim aim = brume_ray_split_aim(&p->whole, epsilon, &guess);
    int kind = kind_at(laws, &p->whole, guess);
    /* rays are narrow or fail; what is enough of epsilon is more of delta */
    enough = fmax(enough, fmin(100 * width, 1e-6));
    enough *= brume_width_in_delta(laws[0].reversed ? -aim.start : aim.start - 1, epsilon);
    double draws = 0;
    for (size_t i = 0; i < count; i++)
        draws += laws[i].count;
    /* a coarse line is cheaper than rays, but for few draws, and where no single one matters */
    int most = width < 1e-4 ? 3 : draws < many_draws || kind != SINGLE;
    for (int i = 0; i < most && !narrow(&answer->value, enough); i++) {
        int way = ways[kind][i];
        double before = fmax(guess, answer->value.lower);
        bool made = brume_ray_split_make(p, epsilon, before, way);
        if (!made && way == BRUME_RAY_WHOLE && !p->whole.reversed && !narrow(&answer->value, 0.5))
            made =
                brume_ray_split_make(p, epsilon, before * 1e4, way); /* the guess may be too low */
        if (made)
            take_delta(p, epsilon, answer);
        /* once more, if delta is known now and the guess was bad */
        if (made && narrow(&answer->value, 1e-2) && !narrow(&answer->value, enough) &&
            fabs(log(answer->value.lower / before)) > 1 &&
            brume_ray_split_make(p, epsilon, answer->value.lower, way))
            take_delta(p, epsilon, answer);
    }
    double ceiling =
        narrow(&answer->value, enough) ? 1 : exp(brume_ray_ceiling(&p->whole, aim.start, epsilon));
    if (ceiling < answer->value.upper) {
        answer->value.upper = ceiling;
        answer->route = route_moment;
    }
    double coarse = narrow(&answer->value, 0.5) ? 1 : brume_fallback_delta(&p->whole, epsilon);
    if (coarse < answer->value.upper) {
        answer->value.upper = coarse;
        answer->route = route_moment;
    }
    answer->nodes += p->nodes;
    keep_if_sound(&old_answer, answer);
    free(p);
    return narrow(&answer->value, enough);
}

bool brume_rays_below(brume_law *laws, size_t count, double epsilon, double delta)
{
    brume_parts parts;
    if (!brume_parts_gather(laws, count, &parts))
        return false;
    double least = parts.origin + parts.origin_error;
    if (parts.reversed && epsilon >= least * (1 + 1e-14))
        return true; /* the largest loss */
    brume_answer answer = {.value = {0, 1}};
    if (count == 1 && laws[0].count == 1) {
        brume_sampled_once_delta(laws, epsilon, 1, &answer);
        return answer.value.upper <= delta;
    }
    double c, target = log(delta) - 1e-9;
    brume_ray_aim aim = brume_ray_aim_for(&parts, epsilon, 0);
    /* by a moment, if it looks so much smaller; else by the line, or by a ray */
    bool much = aim.log_delta < target - 2,
         covered = brume_sampled_line_cover(laws, count, &aim, &c);
    if (much && covered && brume_moment_log_delta(laws, count, epsilon, c) < target)
        return true;
    if (much && !covered && brume_moments_below(laws, count, epsilon, delta))
        return true;
    bool known = brume_sampled_line_delta(laws, count, epsilon, 1e-8, &answer);
    if (!known && !(answer.value.upper <= delta) && brume_rays_suit(laws, count))
        brume_rays_delta(laws, count, epsilon, 1e-6, 1e-6, &answer);
    return answer.value.upper <= delta;
}
