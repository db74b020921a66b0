/* What all routes share. See the header. */
#include "accountant/solve/routes.h"

#include <math.h>

#include "accountant/contour/line.h"

static const double most_work = 6e7;     /* nanoseconds or so of one line */
static const double lopsided_work = 1e7; /* the same for a law on a Poisson sample */
static const double quick_work = 2.5e6;  /* ... if only the upper end is of use */

const char brume_route_plain[] = "contour integral of the loss transform";
const char brume_route_top[] = "largest possible loss";
const char brume_route_moments[] = "moments of the loss";
static const char route_fold[] = "contour integral folded onto the lattice of losses";
static const char route_band[] = "contour integral between two band-limited functions";

const char *brume_route_name(const brume_line *line)
{
    return line->unit > 0 ? route_fold : line->width > 0 ? route_band : brume_route_plain;
}

bool brume_route_aim(brume_line *line, double epsilon, double log_delta, double *goal,
                     double *width)
{
    brume_line_aim(line, epsilon);
    for (size_t i = 0; i < line->law_count; i++)
        if (!brume_law_settle(&line->laws[i], line->c))
            return false;
    *goal = fmin(brume_line_size(line, epsilon), log_delta);
    if (*width < 0)
        *width = line->unit > 0 || brume_line_decays(line, epsilon, *goal, BRUME_LINE_LONG)
                     ? 0
                     : 1 / fmax(line->c, 0.5);
    return true;
}

bool brume_alone_and_gaussian(const brume_law *laws, size_t count)
{
    return count == 1 && brume_law_is_gaussian(&laws[0]) && laws[0].count == 1;
}

bool brume_alone_and_sampled(const brume_law *laws, size_t count)
{
    return count == 1 && brume_law_is_sampled_gaussian(&laws[0]) && laws[0].count == 1;
}

bool brume_alone_and_amplified(brume_law *laws, size_t count, brume_closed *closed)
{
    return count == 1 && laws[0].unit == 0 && brume_amplified_form(laws, closed);
}

bool brume_only_sampled(const brume_law *laws, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!brume_law_is_sampled_gaussian(&laws[i]))
            return false;
    return count > 0;
}

double brume_sampled_draws(const brume_law *laws, size_t count)
{
    double draws = 0;
    for (size_t i = 0; i < count; i++)
        draws += brume_law_is_sampled_gaussian(&laws[i]) ? laws[i].count : 0;
    return draws;
}

bool brume_answer_is_narrow(const brume_answer *answer, double width_goal)
{
    return answer->value.upper < INFINITY &&
           answer->value.upper - answer->value.lower <= width_goal * answer->value.upper;
}

double brume_route_next_width(const brume_line *line, double gap, double goal, bool near,
                              bool quick)
{
    double most = most_work;
    for (size_t i = 0; i < line->law_count; i++)
        if (line->laws[i].orders_differ && !brume_law_is_sampled_gaussian(&line->laws[i]))
            most = quick ? quick_work : lopsided_work; /* both orders, both sides */
    double cost = brume_line_node_cost(line) * (double)line->count;
    double factor = fmin(fmax(sqrt(1.08 * gap / goal), 1.5), near ? 256 : 16);
    factor = fmin(factor, most / cost);
    if (factor < 1.5 || line->band.width < 1e-14)
        return 0;
    return line->band.width / factor;
}

double brume_route_band_part(const brume_line *line, double epsilon)
{
    return fmax(brume_line_evaluate(line, epsilon).value -
                    brume_line_evaluate_lower(line, epsilon).value,
                0);
}

double brume_ray_atoms_goal(double width_goal)
{
    return fmax(width_goal, 0.1 * BRUME_RAY_WIDTH);
}
