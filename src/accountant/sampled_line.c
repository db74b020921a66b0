/* Lines through subsampled Gaussians alone. See the header. Coarse sums say where to look; what is
 * returned is certified by the line at its own point. */
#include "accountant/sampled_line.h"

#include <math.h>

#include "accountant/invert.h"
#include "accountant/ray.h"

static const char route[] = "contour integral of the loss transform";
static const double most_time = 1.2e6; /* nanoseconds or so: beyond, rays are tried first */
static const double no_time = 2e5;     /* before the first look at the envelope */
enum { MOST_MOVES = 4 };

bool brume_sampled_line_answered(const brume_answer *answer)
{
    return answer->route == route;
}

bool brume_sampled_line_cover(brume_law *laws, size_t count, const brume_ray_aim *aim, double *c)
{
    *c = laws[0].reversed ? -aim->start : aim->start - 1;
    if (!(*c < 1e12) || !isfinite(aim->epsilon))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!brume_sampled_cover(&laws[i], 1.6 * *c))
            return false;
    return true;
}

static bool prepare(brume_law *laws, size_t count, double epsilon, double log_delta,
                    brume_ray_aim *aim)
{
    brume_parts parts;
    double c;
    if (!brume_parts_gather(laws, count, &parts))
        return false;
    *aim = brume_ray_aim_for(&parts, epsilon, log_delta);
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
    for (double nodes = fmax(64, no_time / cost); nodes < most_time / cost; nodes *= 2) {
        double y = nodes * line->h, bound = base - log(y);
        for (size_t i = 0; i < line->law_count; i++)
            bound += line->laws[i].count * brume_law_envelope(&line->laws[i], y, INFINITY);
        if (bound < log(BRUME_LINE_TOLERANCE) + *goal)
            return true;
    }
    return false;
}

bool brume_sampled_line_delta(brume_law *laws, size_t count, double epsilon, brume_answer *answer)
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
    return good;
}

bool brume_sampled_line_epsilon(brume_law *laws, size_t count, double delta, double delta_error,
                                brume_answer *answer)
{
    brume_line line = {.laws = laws, .law_count = count};
    brume_ray_aim aim;
    double goal, low = answer->value.lower, high = answer->value.upper;
    bool good = prepare(laws, count, NAN, log(delta), &aim);
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
    return good;
}
