/* The routes of routes.def: when each suits, what it is expected to take, and how it
 * is opened. Nothing here decides what is true: what is put into an interval is certified where it
 * comes from. */
#include <math.h>
#include <stdlib.h>

#include "accountant/exact/atom_sum.h"
#include "accountant/exact/one_sampled.h"
#include "accountant/ray/solve.h"
#include "accountant/ray/with_atoms.h"
#include "accountant/solve/route.h"
#include "accountant/solve/solve.h"

/* The contour integral as a route: a line that is laid again with a narrower band until it is
 * sharp. Every time it is opened one line is laid, and the work of the next is estimated, so that
 * other routes may come first. */

static const double band_width = 1e-9; /* a banded line this narrow is not laid again */
/* Of mixtures: a line of more work than this is laid only for a width, in epsilon, above that. */
static const double refining_work = 8.5e7, enough_width = 5.5e-7;
static const double sampled_refining_work = 1.2e7; /* ... of mixtures with a sample: two orders */
static const double most_work = 9e7;               /* nanoseconds or so of one line */
static const double sampled_work = 1e7;            /* the same for a law on a Poisson sample */
static const double quick_work = 2.5e6;            /* ... if only the upper end is of use */

const char brume_route_plain[] = "contour integral of the loss transform";
static const char route_fold[] = "contour integral folded onto the lattice of losses";
static const char route_band[] = "contour integral between two band-limited functions";

/* --- a laid line as an open route --- */

/* What it said last is kept: both sides are asked for at one epsilon. */
typedef struct open_line {
    brume_line line;
    double epsilon, lower, upper;
    double band; /* what the band leaves open there: an estimate */
    bool both;   /* else the upper side alone */
} open_line;

static double line_delta(void *context, double epsilon, brume_side side)
{
    open_line *open = context;
    bool both = side == BRUME_LOWER_SIDE;
    if (open->epsilon != epsilon || both > open->both) {
        open->upper = 1;
        open->band =
            brume_line_certify(&open->line, epsilon, both ? &open->lower : NULL, &open->upper);
        open->epsilon = epsilon;
        open->both = both;
    }
    if (side == BRUME_UPPER_SIDE)
        return open->upper < 1 ? open->upper : 1; /* also if it is not a number */
    return open->lower > 0 ? open->lower : 0;
}

static void close_line(void *context)
{
    open_line *open = context;
    brume_line_close(&open->line);
    free(open);
}

/* Takes the line over. If memory runs out: false, and the line is closed. */
static bool keep_line(brume_line *line, brume_delta_bounds *out)
{
    open_line *open = malloc(sizeof *open);
    if (!open) {
        brume_line_close(line);
        return false;
    }
    *open = (open_line){.line = *line, .epsilon = NAN};
    *out = (brume_delta_bounds){.delta = line_delta,
                                .context = open,
                                .route = line->unit > 0    ? route_fold
                                         : line->width > 0 ? route_band
                                                           : brume_route_plain,
                                .slope = line->saddle > 0 ? line->saddle : line->c,
                                .close = close_line,
                                .doubles = true,
                                .nodes = line->count};
    return true;
}

/* --- how it is laid --- */

/* Of subsampled Gaussians alone a line that needs a band takes seconds and is not sharper than
 * rays. To be asked of an aimed task. */
static bool task_band_is_useless(const brume_task *task)
{
    if (!(task->line_width > 0))
        return false;
    for (size_t i = 0; i < task->count; i++)
        if (!brume_law_is_sampled_gaussian(&task->laws[i]))
            return false;
    return task->certified.value.upper < 1 || !task->rays_asked;
}

static bool brume_contour_suits(brume_task *task)
{
    return brume_task_aim(task) && !task_band_is_useless(task);
}

static double brume_contour_work(brume_task *task)
{
    return task->line_work;
}

/* How much a line may take: its estimate is rough, and both orders of neighbours are asked. */
static double work_limit(const brume_task *task)
{
    for (size_t i = 0; i < task->count; i++)
        if (task->laws[i].orders_differ && !brume_law_is_sampled_gaussian(&task->laws[i]))
            return task->upper_end ? quick_work : sampled_work;
    return most_work;
}

/* What a laid line took, in nanoseconds or so. */
static double cost_of(const brume_line *line)
{
    return brume_line_node_cost(line) * (double)line->count;
}

/* A smaller width for the next line: what it certifies narrows with the square of the width, and
 * its work grows with the inverse. 0 if that is too much work. `near`: the gap is so small that it
 * follows that law. */
static double next_width(const brume_task *task, const brume_line *line, double gap, double goal,
                         bool near, double *work)
{
    double cost = cost_of(line);
    double factor = sqrt(1.1 * gap / goal);
    factor = fmin(fmax(factor > 16 ? 1.15 * factor : factor, 1.5), near ? 500 : 16);
    factor = fmin(factor, work_limit(task) / cost);
    *work = cost * fmax(factor, 1.5);
    if (factor < 1.5 || line->band.width < 1e-14)
        return 0;
    return line->band.width / factor;
}

/* How narrow, relative, a line has to be; a banded one: what that amounts to in epsilon. */
static double width_to_reach(const brume_task *task, const brume_line *line, double of_epsilon)
{
    if (task->upper_end || !(line->width > 0))
        return task->width;
    /* where epsilon is small, it moves by more than delta does */
    double in_delta = fmin(fmax(line->saddle * task->epsilon, task->searching ? 0.25 : 1), 200);
    return fmax(task->width, of_epsilon * in_delta);
}

/* How much work a line may be that narrows more than the goal of mixtures asks for. (A Gaussian
 * among the laws would end the line without a band.) */
static double refining_limit(const brume_task *task)
{
    for (size_t i = 0; i < task->count; i++)
        if (task->laws[i].orders_differ)
            return sampled_refining_work;
    return task->count > 1 ? refining_work : INFINITY;
}

/* After a line: is the interval narrow, or is there a line that is worth laying? `before`: how wide
 * the interval was. */
static brume_route_outcome plan_next_line(brume_task *task, const brume_line *line, double band,
                                          double before)
{
    brume_certified *certified = &task->certified;
    double gap = certified->value.upper - certified->value.lower,
           goal = width_to_reach(task, line, band_width);
    bool banded = line->width > 0;
    bool rounded = band < 0.2 * gap; /* mostly rounding, which no band narrows */
    if (task->upper_end && banded)
        gap = fmin(gap, certified->excess > 0 ? certified->excess : gap);
    /* an estimate a little above the goal is not worth another line */
    if (!(gap > (task->upper_end ? 1.15 : 1) * fmax(goal, task->own) * certified->value.upper))
        return BRUME_ROUTE_FINAL;
    if (!banded && task->line.tolerance > 0) { /* delta is smaller than the line's size */
        task->line.tolerance = 0;
        return brume_task_aim_line(task) ? BRUME_ROUTE_AGAIN : BRUME_ROUTE_FAILED;
    }
    if (brume_task_is_decided(task))
        return BRUME_ROUTE_FINAL;
    if (!banded || line->cut || task->spent > 2 * most_work ||
        (task->lines > 3 && gap > 0.8 * before) || (rounded && !task->upper_end))
        return BRUME_ROUTE_PASSED;
    bool near = gap < 1e-2 * certified->value.upper;
    double ignored, enough = width_to_reach(task, line, enough_width) * certified->value.upper;
    task->line_width =
        next_width(task, line, gap, goal * certified->value.upper, near, &task->line_work);
    task->enough_width = gap > enough ? next_width(task, line, gap, enough, near, &ignored) : 0;
    return task->line_width > 0 ? BRUME_ROUTE_AGAIN : BRUME_ROUTE_PASSED;
}

/* Few draws make kinks, where the estimate of what a band adds fails. */
static bool has_many_draws(const brume_line *line)
{
    double draws = 0;
    for (size_t i = 0; i < line->law_count; i++)
        draws += line->laws[i].count;
    return draws >= 30;
}

static brume_route_outcome brume_contour_open(brume_task *task, brume_delta_bounds *out)
{
    brume_line line = task->line; /* as aimed */
    line.width = task->line_width;
    if (task->lines > 0 && !task->upper_end && task->line_work > refining_limit(task)) {
        line.width = task->enough_width;
        if (!(line.width > 0))
            return BRUME_ROUTE_FINAL; /* it is narrow enough for so much work */
    }
    if (!brume_line_lay(&line, task->epsilon, task->line_size)) {
        brume_line_close(&line);
        return BRUME_ROUTE_FAILED;
    }
    task->lines++;
    bool usable = line.count > 0 && !line.cut;
    double before = task->certified.value.upper - task->certified.value.lower,
           upper = task->certified.value.upper;
    if (!keep_line(&line, out))
        return BRUME_ROUTE_FAILED;
    brume_task_take(task, out);
    const open_line *open = out->context; /* evaluated at task->epsilon, both sides */
    const brume_line *laid = &open->line;
    task->spent += cost_of(laid);
    double band = laid->width > 0 ? open->band : 0;
    out->gap = band / open->upper; /* 0 where there is no band */
    if (task->certified.value.upper < upper)
        task->certified.excess = has_many_draws(laid) ? BRUME_BAND_SHARE * band : 0;
    brume_route_outcome outcome = plan_next_line(task, laid, band, before);
    if (!usable)
        brume_delta_bounds_close(out); /* it says nothing of other epsilons */
    return outcome;
}

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

static brume_route_outcome final_if(bool narrow)
{
    return narrow ? BRUME_ROUTE_FINAL : BRUME_ROUTE_PASSED;
}

/* --- the largest loss --- */

#define top_atom_suits always
#define top_atom_work  as_listed
static brume_route_outcome top_atom_open(brume_task *task, brume_delta_bounds *out)
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
static brume_route_outcome one_sampled_gaussian_open(brume_task *task, brume_delta_bounds *out)
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
static brume_route_outcome one_sampled_open(brume_task *task, brume_delta_bounds *out)
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
static brume_route_outcome gaussian_open(brume_task *task, brume_delta_bounds *out)
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

static brume_route_outcome rays_open(brume_task *task, brume_delta_bounds *out)
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

static brume_route_outcome rays_with_atoms_open(brume_task *task, brume_delta_bounds *out)
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
    return brume_task_aim(task) && task->line_width > 0 && !task_band_is_useless(task);
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

static brume_route_outcome atom_sum_open(brume_task *task, brume_delta_bounds *out)
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
static brume_route_outcome few_patterns_open(brume_task *task, brume_delta_bounds *out)
{
    return final_if(open_patterns(task, few_patterns, out));
}

static bool many_patterns_suits(brume_task *task)
{
    return (task->lines > 0 || needs_band(task)) && !task_band_is_useless(task) &&
           !brume_task_is_met(task) && !brume_certified_is_narrow(&task->certified, 1e-8);
}

#define many_patterns_work as_listed
static brume_route_outcome many_patterns_open(brume_task *task, brume_delta_bounds *out)
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
