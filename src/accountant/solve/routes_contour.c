/* The contour integral as a route: a line that is laid again with a narrower band until it is
 * sharp. Every time it is opened one line is laid, and the work of the next is estimated, so that
 * other routes may come first. */
#include "accountant/solve/route.h"

#include <math.h>
#include <stdlib.h>

#include "accountant/solve/solve.h"

static const double band_width = 1e-9; /* a banded line this narrow is not laid again */
/* Of mixtures: a line of more work than this is laid only for a width, in epsilon, above that. */
static const double refining_work = 7e7, enough_width = 5.5e-7;
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

bool brume_task_band_is_useless(const brume_task *task)
{
    if (!(task->line_width > 0))
        return false;
    for (size_t i = 0; i < task->count; i++)
        if (!brume_law_is_sampled_gaussian(&task->laws[i]))
            return false;
    return task->certified.value.upper < 1 || !task->rays_asked;
}

bool brume_contour_suits(brume_task *task)
{
    return brume_task_aim(task) && !brume_task_band_is_useless(task);
}

double brume_contour_work(brume_task *task)
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
static brume_outcome plan_next_line(brume_task *task, const brume_line *line, double band,
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

brume_outcome brume_contour_open(brume_task *task, brume_delta_bounds *out)
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
    brume_outcome outcome = plan_next_line(task, laid, band, before);
    if (!usable)
        brume_delta_bounds_close(out); /* it says nothing of other epsilons */
    return outcome;
}
