/* Lines through subsampled Gaussians alone. See the header. Coarse sums say where to look; what is
 * returned is certified by the line at its own point. */
#include "accountant/ray/line.h"

#include <math.h>

#include "accountant/ray/transform.h"
#include "accountant/contour/line_invert.h"
#include "accountant/law/sampled_gaussian.h"
#include "accountant/ray/split.h"

static const char route[] = "contour integral of the loss transform";
static const double most_time = 1.2e6;  /* nanoseconds or so: beyond, rays are tried first, */
static const double most_added = 4e6;   /* which rarely work for a record added */
static const double most_points = 6000; /* of a table */
static const double no_time = 2e5;      /* before the first look at the envelope */
enum { MOST_MOVES = 4 };

bool brume_sampled_line_answered(const brume_answer *answer)
{
    return answer->route == route;
}

/* A record removed: does e^{zT} put mass far out, which the transform at c and a little above has
 * in it, though so far out there is nothing? */
static bool humped(const brume_law *law, double c)
{
    double mean, sigma, z = 1.1 * (c + 1);
    brume_transform_normal(law, &mean, &sigma);
    double far = z / (sigma * sigma);
    return !law->reversed && far > 4 && mean + far > 0 && z * (mean + 0.5 * far) > -30;
}

bool brume_sampled_line_cover(brume_law *laws, size_t count, const brume_ray_aim *aim, double *c)
{
    *c = laws[0].reversed ? -aim->start : aim->start - 1;
    if (!(*c < 1e12) || !isfinite(aim->epsilon))
        return false;
    for (size_t i = 0; i < count; i++)
        if (humped(&laws[i], *c))
            return false;
    for (size_t i = 0; i < count; i++) {
        brume_sampled_gaussian_limit(&laws[i], most_points);
        if (!brume_sampled_gaussian_cover(&laws[i], 1.6 * *c) &&
            !brume_sampled_gaussian_cover(&laws[i], *c))
            return false;
    }
    return true;
}

/* The saddle at epsilon or, if that is NaN, at delta, and tables for it. */
static bool prepare(brume_law *laws, size_t count, double epsilon, double delta, brume_ray_aim *aim)
{
    brume_parts parts;
    double c;
    if (!brume_parts_gather(laws, count, &parts))
        return false;
    if (isnan(epsilon)) {
        if (!parts.reversed)
            brume_ray_split_confine(&parts, delta, BRUME_RAY_SPLIT_NEGLIGIBLE);
        *aim = brume_ray_aim_for(&parts, NAN, log(delta));
    } else {
        *aim = brume_ray_split_aim(&parts, epsilon, &delta);
    }
    return brume_sampled_line_cover(laws, count, aim, &c);
}

/* Aim at epsilon; false if the envelope does not end the line soon, or if memory ran out. */
static bool aim_at(brume_line *line, double epsilon, double log_delta, double *goal)
{
    brume_line_aim(line, epsilon);
    for (size_t i = 0; i < line->law_count; i++)
        if (!brume_law_settle(&line->laws[i], line->c))
            return false;
    *goal = fmin(brume_line_size(line, epsilon), log_delta);
    double base = (double)(line->cumulant - (long double)line->c * epsilon);
    double cost = brume_line_node_cost(line);
    double most = (line->laws[0].reversed ? most_added : most_time) / cost;
    for (double nodes = fmax(64, no_time / cost); nodes < most; nodes *= 2) {
        double y = nodes * line->h, bound = base - log(y);
        for (size_t i = 0; i < line->law_count; i++)
            bound += line->laws[i].count * brume_law_envelope(&line->laws[i], y, INFINITY);
        if (bound < log(BRUME_LINE_TOLERANCE) + *goal)
            return true;
    }
    return false;
}

/* Other routes may take longer tables. */
static void lift_limits(brume_law *laws, size_t count)
{
    for (size_t i = 0; i < count; i++)
        brume_sampled_gaussian_limit(&laws[i], 0);
}

double brume_width_in_delta(double c, double epsilon)
{
    return fmin(fmax(0.7 * c * epsilon, 1), 12);
}

static bool narrow(const brume_answer *answer, double width)
{
    return answer->value.upper < INFINITY &&
           answer->value.upper - answer->value.lower <= width * answer->value.upper;
}

bool brume_sampled_line_delta(brume_law *laws, size_t count, double epsilon, double width,
                              brume_answer *answer)
{
    brume_line line = {.laws = laws, .law_count = count};
    brume_ray_aim aim;
    double goal, lower, upper;
    bool good = prepare(laws, count, epsilon, 0, &aim) && aim_at(&line, epsilon, INFINITY, &goal) &&
                brume_line_lay(&line, epsilon, goal) && !line.cut;
    if (good) {
        brume_line_certify(&line, epsilon, &lower, &upper);
        answer->rounds++;
        answer->nodes += line.count;
        if (upper < answer->value.upper) {
            answer->value.upper = upper;
            answer->route = route;
        }
        answer->value.lower = fmax(answer->value.lower, lower);
    }
    brume_line_close(&line);
    lift_limits(laws, count);
    return good && narrow(answer, width * brume_width_in_delta(line.c, epsilon));
}

bool brume_sampled_line_epsilon(brume_law *laws, size_t count, double delta, double delta_error,
                                double width, brume_answer *answer)
{
    brume_line line = {.laws = laws, .law_count = count};
    brume_ray_aim aim = {0}; /* read, and not used, where there is none */
    double goal, low = answer->value.lower, high = answer->value.upper;
    bool good = prepare(laws, count, NAN, delta, &aim);
    double epsilon = fmin(fmax(aim.epsilon, low), high);
    for (int moves = 0; good; moves++) {
        good = aim_at(&line, epsilon, log(delta), &goal) && brume_line_lay(&line, epsilon, goal) &&
               !line.cut;
        if (!good)
            break;
        answer->nodes += line.count;
        answer->rounds++;
        double start = epsilon;
        epsilon = brume_line_newton(&line, epsilon, delta, low, high, moves < MOST_MOVES);
        if (!(fabs(epsilon - start) > 1 / line.c && moves < MOST_MOVES))
            break; /* else the line was aimed too far away */
    }
    if (good) {
        double before = answer->value.upper;
        brume_line_ends(&line, epsilon, delta, delta_error, &answer->value);
        if (answer->value.upper < before)
            answer->route = route;
    }
    brume_line_close(&line);
    lift_limits(laws, count);
    return good && narrow(answer, width);
}
