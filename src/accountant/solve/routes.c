/* The routes of routes.def but `contour`: when each suits, what it is expected to take, and how it
 * is opened. Nothing here decides what is true: what is put into an interval is certified where it
 * comes from. */
#include "accountant/solve/route.h"

#include <math.h>
#include <stdlib.h>

#include "accountant/exact/one_sampled.h"
#include "accountant/exact/atom_sum.h"
#include "accountant/ray/solve.h"
#include "accountant/ray/with_atoms.h"
#include "accountant/solve/solve.h"

static const double ray_width = 1e-8;    /* rays this narrow are not followed by a line */
static const double line_width = 1e-9;   /* likewise a line of subsampled Gaussians alone */
static const double few_patterns = 5e3;  /* patterns times draws */
static const double many_patterns = 4e4; /* ... some 10 ms */
static const double late = 1e8;          /* work of a route that others come before */
static const double kept_room = 0.97; /* a sum for a search is opened for smaller epsilons, too */

const char brume_route_top[] = "largest possible loss";

static bool always(brume_task *task)
{
    (void)task;
    return true;
}

/* Work of a route whose estimate is the constant of routes.def. */
static double as_listed(brume_task *task)
{
    (void)task;
    return 0;
}

static brume_outcome final_if(bool narrow)
{
    return narrow ? BRUME_ROUTE_FINAL : BRUME_ROUTE_PASSED;
}

/* --- the largest loss --- */

#define top_atom_suits always
#define top_atom_work  as_listed
static brume_outcome top_atom_open(brume_task *task, brume_delta_bounds *out)
{
    double top, log_mass, slack = (20 + 2 * (double)task->count) * BRUME_UNIT;
    brume_interval *value = &task->certified.value;
    (void)out;
    if (brume_top_atom(task->laws, task->count, &top, &log_mass)) {
        if (task->epsilon >= top * (1 + slack)) {
            value->upper = 0;
            task->certified.route = brume_route_top;
            return BRUME_ROUTE_FINAL;
        }
        double low = top * (1 - slack);
        if (task->epsilon < low) /* the top atom alone, mass and place rounded down */
            value->lower = -expm1(task->epsilon - low) * exp(log_mass * (1 + slack) - 1e-14) *
                           (1 - 1e-15);
    }
    value->lower = fmax(value->lower, -expm1(fmin(task->epsilon, 0)) * (1 - 1e-15));
    return BRUME_ROUTE_PASSED;
}

/* --- closed forms --- */

static bool one_sampled_gaussian_suits(brume_task *task)
{
    return task->count == 1 && brume_law_is_sampled_gaussian(&task->laws[0]) &&
           task->laws[0].count == 1;
}

#define one_sampled_gaussian_work as_listed
static brume_outcome one_sampled_gaussian_open(brume_task *task, brume_delta_bounds *out)
{
    *out = brume_sampled_doubles_bounds(task->laws);
    brume_task_take(task, out);
    return final_if(brume_certified_is_narrow(&task->certified, fmax(task->width, line_width)));
}

static bool one_sampled_suits(brume_task *task)
{
    return task->count == 1;
}

#define one_sampled_work as_listed
static brume_outcome one_sampled_open(brume_task *task, brume_delta_bounds *out)
{
    if (!brume_one_sampled_bounds(task->laws, out))
        return BRUME_ROUTE_PASSED;
    brume_task_take(task, out);
    return BRUME_ROUTE_FINAL;
}

static bool gaussian_suits(brume_task *task)
{
    return task->count == 1 && brume_law_is_gaussian(&task->laws[0]) && task->laws[0].count == 1 &&
           !brume_certified_is_narrow(&task->certified, task->width);
}

#define gaussian_work as_listed
static brume_outcome gaussian_open(brume_task *task, brume_delta_bounds *out)
{
    *out = brume_gaussian_bounds(task->laws);
    brume_task_take(task, out);
    return BRUME_ROUTE_FINAL;
}

/* --- subsampled Gaussians --- */

static bool rays_suits(brume_task *task)
{
    return task->epsilon >= 0 && brume_rays_apply(task->laws, task->count) &&
           !one_sampled_gaussian_suits(task);
}

/* Many draws of several kinds, with a line that ends soon? Rays cannot split them, and rarely give
 * narrower bounds. */
static bool has_short_line(brume_task *task)
{
    double draws = 0;
    for (size_t i = 0; i < task->count; i++)
        draws += task->laws[i].count;
    return task->count > 1 && draws > 1000 && brume_task_aim(task) &&
           brume_line_decays(&task->line, task->epsilon, task->line_size, 2000);
}

static double rays_work(brume_task *task)
{
    bool first = brume_rays_suit(task->laws, task->count) || task->certified.rounds > 0;
    return first && !has_short_line(task) ? 0 : late;
}

static brume_outcome rays_open(brume_task *task, brume_delta_bounds *out)
{
    if (task->lines > 0 &&
        (brume_task_is_met(task) || brume_certified_is_narrow(&task->certified, ray_width)))
        return BRUME_ROUTE_FINAL; /* a line was sharp */
    double before = task->certified.value.upper;
    bool narrow = brume_rays_delta(task->laws, task->count, task->epsilon, task->width,
                                   fmax(task->width, ray_width), &task->certified, out);
    task->rays_asked = true;
    if (task->certified.value.upper < before)
        task->certified.excess = 0; /* the estimate was a line's */
    return final_if(narrow);
}

static bool rays_with_atoms_suits(brume_task *task)
{
    return brume_ray_atoms_suits(task->laws, task->count);
}

static double rays_with_atoms_work(brume_task *task)
{
    bool line = brume_task_aim(task) &&
                brume_line_decays(&task->line, task->epsilon, task->line_size, BRUME_LINE_SHORT);
    /* it is exact, or fails, in some milliseconds: a line is enough for a coarse interval */
    return line ? INFINITY : task->width > 1e-5 ? INFINITY : 0;
}

static brume_outcome rays_with_atoms_open(brume_task *task, brume_delta_bounds *out)
{
    /* rays narrow to what their rounding allows, at little cost */
    double goal = fmax(task->width, 0.1 * ray_width);
    bool opened =
        brume_ray_atoms_delta(task->laws, task->count, task->epsilon, goal, &task->certified, out);
    return final_if(opened &&
                    brume_certified_is_narrow(&task->certified, fmax(task->width, ray_width)));
}

/* --- sums that replace the line where only a band would end it --- */

static bool needs_band(brume_task *task)
{
    return brume_task_aim(task) && task->line_width > 0 && !brume_task_band_is_useless(task);
}

/* A line sums what is below epsilon to 0 only up to rounding, which is too much next to a point of
 * a wide lattice. */
static bool is_narrow_discrete_gaussian(const brume_task *task)
{
    return task->count == 1 && task->laws[0].source.kind == BRUME_LOSS_DISCRETE_GAUSSIAN &&
           task->laws[0].a < 0.5;
}

static bool atom_sum_suits(brume_task *task)
{
    return (is_narrow_discrete_gaussian(task) && brume_task_aim(task)) || needs_band(task);
}

#define atom_sum_work as_listed
static void close_atoms(void *context)
{
    brume_atom_sum_close(context);
}

/* The sum for deltas of the size of `delta`. */
static bool open_atoms(brume_task *task, double delta, brume_delta_bounds *out)
{
    double least = task->searching ? kept_room * task->epsilon : task->epsilon;
    brume_atom_sum *sum = brume_atom_sum_open(task->laws, task->count, least, delta);
    if (!sum)
        return false;
    *out = brume_atom_sum_bounds(sum);
    out->least = least;
    out->close = close_atoms;
    out->doubles = true;
    out->nodes = brume_atom_sum_size(sum);
    brume_task_take(task, out);
    return true;
}

static brume_outcome atom_sum_open(brume_task *task, brume_delta_bounds *out)
{
    double delta = exp(fmin(task->line_size, 0));
    bool opened = open_atoms(task, delta, out);
    /* in a wide lattice delta may be far below the line's size */
    for (int i = 0; i < 3 && opened && is_narrow_discrete_gaussian(task) &&
                    !brume_certified_is_narrow(&task->certified, 1e-12);
         i++) {
        brume_delta_bounds_close(out);
        delta = fmax(fmin(task->certified.value.lower, 1e-10 * delta), 1e-40 * delta);
        opened = open_atoms(task, delta, out);
    }
    return final_if(opened && brume_certified_is_narrow(&task->certified, task->width));
}

static void close_pattern(void *context)
{
    brume_pattern_close(context);
}

static bool open_patterns(brume_task *task, double effort, brume_delta_bounds *out)
{
    double least = task->searching ? kept_room * task->epsilon : task->epsilon;
    brume_pattern *pattern = brume_pattern_open(task->laws, task->count, least, effort);
    if (!pattern && task->searching) {
        least = task->epsilon;
        pattern = brume_pattern_open(task->laws, task->count, least, effort);
    }
    if (!pattern)
        return false;
    *out = brume_pattern_bounds(pattern);
    out->least = least;
    out->close = close_pattern;
    brume_task_take(task, out);
    return true;
}

#define few_patterns_suits needs_band
#define few_patterns_work  as_listed
static brume_outcome few_patterns_open(brume_task *task, brume_delta_bounds *out)
{
    return final_if(open_patterns(task, few_patterns, out));
}

static bool many_patterns_suits(brume_task *task)
{
    return (task->lines > 0 || needs_band(task)) && !brume_task_band_is_useless(task) &&
           !brume_task_is_met(task) && !brume_certified_is_narrow(&task->certified, 1e-8);
}

#define many_patterns_work as_listed
static brume_outcome many_patterns_open(brume_task *task, brume_delta_bounds *out)
{
    return final_if(open_patterns(task, many_patterns, out));
}

#define contour_suits brume_contour_suits
#define contour_work  brume_contour_work
#define contour_open  brume_contour_open

const brume_route *brume_routes(size_t *count)
{
    static const brume_route routes[] = {
#define ROUTE(name, least) {#name, least, name##_suits, name##_work, name##_open},
#include "accountant/solve/routes.def"
#undef ROUTE
    };
    _Static_assert(sizeof routes / sizeof *routes <= BRUME_MOST_ROUTES, "more routes than allowed");
    *count = sizeof routes / sizeof *routes;
    return routes;
}
