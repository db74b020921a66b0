/* Lines through subsampled Gaussians alone. See the header. Coarse sums say where to look; what is
 * returned is certified by the line at its own point. */
#include "accountant/ray/line.h"

#include <math.h>

#include "accountant/law/sampled_gaussian.h"
#include "accountant/ray/transform.h"
#include "accountant/ray/split.h"

static const double most_time = 1.2e6;  /* nanoseconds or so: beyond, rays are tried first, */
static const double most_added = 4e6;   /* which rarely work for a record added */
static const double most_points = 6000; /* of a table */
static const double no_time = 2e5;      /* before the first look at the envelope */

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

/* The saddle at epsilon, and tables for it. */
static bool prepare(brume_law *laws, size_t count, double epsilon, brume_ray_aim *aim)
{
    brume_parts parts;
    double c, delta;
    if (!brume_parts_gather(laws, count, &parts))
        return false;
    *aim = brume_ray_split_aim(&parts, epsilon, &delta);
    return brume_sampled_line_cover(laws, count, aim, &c);
}

/* Aim at epsilon; false if the envelope does not end the line soon, or if memory ran out. */
static bool aim_at(brume_line *line, double epsilon, double *goal)
{
    brume_line_aim(line, epsilon);
    for (size_t i = 0; i < line->law_count; i++)
        if (!brume_law_settle(&line->laws[i], line->c))
            return false;
    *goal = brume_line_size(line, epsilon);
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

double brume_width_in_delta(double c, double epsilon)
{
    return fmin(fmax(0.7 * c * epsilon, 1), 12);
}

bool brume_sampled_line_open(brume_law *laws, size_t count, double epsilon, brume_line *out)
{
    brume_line line = {.laws = laws, .law_count = count};
    brume_ray_aim aim;
    double goal;
    if (prepare(laws, count, epsilon, &aim) && aim_at(&line, epsilon, &goal) &&
        brume_line_lay(&line, epsilon, goal) && !line.cut) {
        *out = line;
        return true;
    }
    brume_sampled_line_close(&line);
    return false;
}

void brume_sampled_line_close(brume_line *line)
{
    for (size_t i = 0; i < line->law_count; i++) /* other routes may take longer tables */
        brume_sampled_gaussian_limit(&line->laws[i], 0);
    brume_line_close(line);
}
