/* From laws to intervals: laws put on one lattice or moved to either side, then the routes; and
 * epsilon at a delta, the one place where delta is inverted: it is asked for at one epsilon after
 * another. A route that was opened is asked again as long as it is sharp. The search only proposes;
 * an end is moved only to a point at which delta was certified. */
#include "accountant/solve/solve.h"

#include <math.h>
#include <stdlib.h>

#include "accountant/contour/line.h"
#include "accountant/law/shift_parameters.h"
#include "accountant/ray/solve.h"
#include "accountant/solve/route.h"

/* delta at one epsilon: routes are opened in the order of their estimated work until an interval is
 * final. */

static const double coarse_goal = 1e-7; /* a goal above it is for finding out where to look */
static const double coarse_cut = 1e-8;  /* of such a goal: what a line may leave out */

bool brume_task_aim(brume_task *task)
{
    if (task->aimed)
        return true;
    task->line = (brume_line){.laws = task->laws, .law_count = task->count};
    if (task->width > coarse_goal) /* some digits are enough: fewer nodes */
        task->line.tolerance = coarse_cut * task->width;
    if (!brume_task_aim_line(task))
        return false;
    task->own = 1024 * BRUME_UNIT * task->line.c * fabs(task->epsilon);
    task->aimed = true;
    return true;
}

bool brume_task_aim_line(brume_task *task)
{
    brume_line *line = &task->line;
    brume_line_aim(line, task->epsilon);
    for (size_t i = 0; i < task->count; i++)
        if (!brume_law_settle(&task->laws[i], line->c))
            return false;
    task->line_size = brume_line_size(line, task->epsilon);
    bool ends = line->unit > 0 ||
                brume_line_decays(line, task->epsilon, task->line_size, BRUME_LINE_LONG);
    task->line_width = ends ? 0 : 1 / fmax(line->c, 0.5);
    return true;
}

bool brume_task_is_decided(const brume_task *task)
{
    return task->certified.value.upper < 0.3 * task->sought ||
           (task->sought > 0 && task->certified.value.lower > 3 * task->sought);
}

bool brume_task_is_met(const brume_task *task)
{
    return task->upper_end && task->certified.excess > 0 &&
           task->certified.excess <= 1.15 * task->width * task->certified.value.upper;
}

void brume_task_take(brume_task *task, const brume_delta_bounds *opened)
{
    brume_certified *certified = &task->certified, one = {.value = {0, INFINITY}};
    brume_delta_bounds_take(opened, task->epsilon, &one);
    if (one.value.upper < certified->value.upper) {
        certified->value.upper = one.value.upper;
        certified->route = one.route;
        certified->balls = one.balls;
    }
    certified->value.lower = fmax(certified->value.lower, one.value.lower);
    certified->rounds++;
    certified->nodes += opened->nodes;
    task->taken = (brume_kept){*opened, one.value};
}

void brume_delta_bounds_close(brume_delta_bounds *opened)
{
    if (opened->delta && opened->close)
        opened->close(opened->context);
    *opened = (brume_delta_bounds){0};
}

static bool contains(brume_interval outer, brume_interval inner)
{
    return outer.lower <= inner.lower && inner.upper <= outer.upper;
}

/* Keep an open route, if other epsilons will be asked for and it knows something that the others
 * kept do not; close those that know no more than it does. */
static void keep_or_close(brume_task *task, brume_delta_bounds *opened)
{
    if (!opened->delta)
        return;
    brume_interval at = task->taken.at; /* evaluated already, or at little cost */
    if (task->taken.route.context != opened->context)
        at = (brume_interval){opened->delta(opened->context, task->epsilon, BRUME_LOWER_SIDE),
                              opened->delta(opened->context, task->epsilon, BRUME_UPPER_SIDE)};
    size_t left = 0;
    bool useful = task->searching;
    for (size_t i = 0; i < task->kept_count; i++) {
        useful = useful && !contains(at, task->kept[i].at);
        if (useful && contains(task->kept[i].at, at))
            brume_delta_bounds_close(&task->kept[i].route);
        else
            task->kept[left++] = task->kept[i];
    }
    task->kept_count = left;
    if (useful && left < BRUME_MOST_KEPT)
        task->kept[task->kept_count++] = (brume_kept){*opened, at};
    else
        brume_delta_bounds_close(opened);
}

static bool task_ask_kept(const brume_task *task, double epsilon, brume_side side, double *out)
{
    double best = side == BRUME_UPPER_SIDE ? 1 : 0;
    for (size_t i = 0; i < task->kept_count; i++) {
        const brume_delta_bounds *route = &task->kept[i].route;
        if (epsilon < route->least)
            return false;
        double delta = route->delta(route->context, epsilon, side);
        best = side == BRUME_UPPER_SIDE ? fmin(best, delta) : fmax(best, delta);
    }
    *out = best;
    return task->kept_count > 0;
}

static void task_close_kept(brume_task *task)
{
    while (task->kept_count > 0)
        brume_delta_bounds_close(&task->kept[--task->kept_count].route);
}

/* The route with the least work left; NULL if there is none. What is estimated only when it may be
 * the least: some estimates take longer than a cheap route. */
static const brume_route *next_route(brume_task *task, const brume_route *routes, size_t count,
                                     double *work, bool *estimated)
{
    for (;;) {
        size_t least = 0;
        for (size_t i = 1; i < count; i++)
            if (work[i] < work[least])
                least = i;
        if (!(work[least] < INFINITY))
            return NULL;
        if (estimated[least])
            return &routes[least];
        estimated[least] = true;
        work[least] = routes[least].suits(task)
                          ? fmax(routes[least].work(task), routes[least].least_work)
                          : INFINITY;
    }
}

/* Ask the routes; the interval is in the task. With `searching` those are left open in `kept` whose
 * bounds none of the others improves at both ends. False if memory ran out. */
static bool task_ask(brume_task *task)
{
    size_t count;
    const brume_route *routes = brume_routes(&count), *route;
    double work[BRUME_MOST_ROUTES] = {0};
    bool estimated[BRUME_MOST_ROUTES] = {false};
    brume_route_outcome outcome = BRUME_ROUTE_PASSED;
    task->certified = (brume_certified){.value = {0, 1}, .route = brume_route_plain};
    for (size_t i = 0; i < count; i++)
        work[i] = routes[i].least_work;
    while (outcome < BRUME_ROUTE_FINAL && !brume_task_is_decided(task) &&
           (route = next_route(task, routes, count, work, estimated)) != NULL) {
        brume_delta_bounds opened = {0};
        outcome = route->open(task, &opened);
        keep_or_close(task, &opened);
        size_t index = (size_t)(route - routes);
        estimated[index] = outcome != BRUME_ROUTE_AGAIN;
        work[index] = estimated[index] ? INFINITY : route->least_work;
    }
    return outcome != BRUME_ROUTE_FAILED;
}

static const double coarse_width = 1e-3; /* of delta, while the place is sought */

static const char route_moments[] = "moments of the loss";

/* delta as a function of epsilon: the last point, since both sides are asked for at one point. */
typedef struct solve_profile {
    brume_task task;
    brume_interval at;
    double epsilon; /* both bounds in `at` are of this one; NAN: of none */
    double checked; /* the open routes were sharp here; NAN: nowhere */
    double sharp;   /* the relative width where the open routes were opened */
    const char *route;
    uint64_t nodes;
    bool failed; /* memory ran out */
} solve_profile;

static double relative_width(brume_interval value)
{
    return value.upper > value.lower ? (value.upper - value.lower) / value.upper : 0;
}

/* By the open routes, if they are about as sharp here as where they were opened: asked for both
 * sides, unless that was seen next to here. */
static bool ask_open_routes(solve_profile *p, double epsilon, brume_side side)
{
    double *end = side == BRUME_UPPER_SIDE ? &p->at.upper : &p->at.lower;
    if (fabs(epsilon - p->checked) <= 1e-4 * epsilon) {
        p->epsilon = NAN; /* one end only */
        return task_ask_kept(&p->task, epsilon, side, end);
    }
    if (!task_ask_kept(&p->task, epsilon, BRUME_UPPER_SIDE, &p->at.upper) ||
        !task_ask_kept(&p->task, epsilon, BRUME_LOWER_SIDE, &p->at.lower) ||
        !(relative_width(p->at) <= 2 * fmax(p->task.width, p->sharp)))
        return false;
    p->checked = p->epsilon = epsilon;
    return true;
}

static void ask_routes(solve_profile *p, double epsilon)
{
    brume_task *task = &p->task;
    task_close_kept(task);
    *task = (brume_task){.laws = task->laws,
                         .count = task->count,
                         .epsilon = epsilon,
                         .width = task->width,
                         .searching = true,
                         .sought = task->sought};
    p->failed = !task_ask(task);
    if (brume_task_is_decided(task))
        task_close_kept(task); /* nothing sharp was opened */
    p->at = task->certified.value;
    p->sharp = relative_width(p->at);
    p->route = task->certified.route;
    p->nodes += task->certified.nodes;
    p->checked = p->epsilon = epsilon;
}

static double delta_at(void *context, double epsilon, brume_side side)
{
    solve_profile *p = context;
    if (p->epsilon != epsilon && !p->failed && !ask_open_routes(p, epsilon, side))
        ask_routes(p, epsilon);
    if (p->failed)
        return side == BRUME_UPPER_SIDE ? 1 : 0; /* always true, and says nothing */
    return side == BRUME_UPPER_SIDE ? p->at.upper : p->at.lower;
}

/* The largest loss bounds epsilon; where it is likely enough, from below too. */
static void take_top_atom(const brume_law *laws, size_t count, const brume_asked *asked,
                          brume_certified *certified)
{
    double top, log_mass, slack = (20 + 2 * (double)count) * BRUME_UNIT;
    if (!brume_top_atom(laws, count, &top, &log_mass))
        return;
    certified->value.upper = top * (1 + slack);
    /* delta(eps) >= p (1 - e^{eps - top}) > delta for eps below top + log(1 - delta/p) */
    double log_delta = log(asked->at), x = log_delta - log_mass * (1 + slack);
    x += asked->delta_error + 8 * BRUME_UNIT * (2 + fabs(log_delta) + fabs(log_mass)); /* up */
    if (x < -1e-9)
        certified->value.lower =
            fmax(0, top * (1 - slack) + log1p(-exp(x) * (1 + 4 * BRUME_UNIT)) * (1 + 1e-12));
}

/* Moments bound epsilon from above; for so many draws that doubles cannot follow their waves mean
 * and deviation bound it from below. Returns a guess, by the saddle point. */
static double take_moments(brume_law *laws, size_t count, const brume_asked *asked,
                           brume_certified *certified)
{
    double moments, place;
    double guess =
        brume_chernoff_epsilon(laws, count, asked->at, asked->delta_error, &moments, &place);
    double saddle = brume_saddle_epsilon(laws, count, log(asked->at), place);
    if (moments < certified->value.upper) {
        certified->value.upper = moments;
        certified->route = route_moments;
    }
    for (size_t i = 0; i < count; i++)
        if (laws[i].count > 0x1p53 && asked->at < 0.3)
            certified->value.lower = fmax(certified->value.lower, brume_mean_epsilon(laws, count));
    return saddle > 0 && saddle < guess ? saddle : guess;
}

/* Ask for delta at one epsilon after another, from a guess on: first coarsely, until the place is
 * known, then as narrowly as asked. */
static bool search(brume_law *laws, size_t count, const brume_asked *asked, double guess,
                   brume_certified *certified)
{
    solve_profile p = {.task = {.laws = laws, .count = count}, .epsilon = NAN, .checked = NAN};
    brume_delta_bounds bounds = {.delta = delta_at,
                                 .context = &p,
                                 .route = "certified deltas, one epsilon after another",
                                 .doubles = true};
    p.task.width = fmax(asked->width, coarse_width);
    p.task.sought = asked->at;
    brume_delta_bounds_invert(&bounds, asked->at, asked->delta_error, guess, certified);
    p.task.width = asked->width;
    p.task.sought = 0;
    if (!p.failed && !brume_certified_is_narrow(certified, asked->width)) {
        if (certified->value.upper < INFINITY)
            guess = 0.5 * (certified->value.lower + certified->value.upper);
        ask_routes(&p, guess); /* routes are sharpest where they are opened */
        if (p.task.kept_count > 0)
            bounds.slope = p.task.kept[0].route.slope;
        if (p.task.kept_count == 1)
            bounds.gap = p.task.kept[0].route.gap;
        brume_delta_bounds_invert(&bounds, asked->at, asked->delta_error, guess, certified);
    }
    if (certified->route == bounds.route && p.route)
        certified->route = p.route;
    certified->nodes += p.nodes;
    task_close_kept(&p.task);
    return !p.failed;
}

/* Of laws as they are: the least epsilon >= 0 with delta(epsilon) <= delta. The one place where
 * delta is inverted: it is asked for at one epsilon after another (exact/delta_bounds.c). */
static bool invert_delta(brume_law *laws, size_t count, const brume_asked *asked,
                         brume_certified *out)
{
    brume_certified certified = {.value = {0, INFINITY}, .route = brume_route_top};
    take_top_atom(laws, count, asked, &certified);
    if (!brume_certified_is_narrow(&certified, asked->width)) {
        /* moments of subsampled Gaussians take long tables, and say little at small rates */
        bool rays = brume_rays_apply(laws, count);
        double guess = rays ? brume_rays_guess(laws, count, asked->at)
                            : take_moments(laws, count, asked, &certified);
        if (!rays && !(guess < INFINITY)) { /* beyond what doubles hold, whatever is searched */
            *out = certified;
            return true;
        }
        if (!search(laws, count, asked, guess, &certified))
            return false;
        if (rays && !brume_certified_is_narrow(&certified, 0.5))
            take_moments(laws, count, asked, &certified);
    }
    *out = certified;
    return true;
}

static const double worst_width = 1e-4; /* where this wide, a dominating law may be lower */

/* Of laws as they are. */
static bool solve_plain(brume_law *laws, size_t count, const brume_asked *asked,
                        brume_certified *out)
{
    if (asked->of_delta) {
        if (!invert_delta(laws, count, asked, out))
            return false;
    } else {
        brume_task task = {.laws = laws,
                           .count = count,
                           .epsilon = asked->at,
                           .width = asked->width,
                           .upper_end = asked->upper_end,
                           .sought = asked->sought};
        if (!task_ask(&task))
            return false;
        *out = task.certified;
    }
    brume_certified_settle(out);
    return true;
}

bool brume_solve(brume_law *laws, size_t count, const brume_asked *asked, brume_certified *out)
{
    brume_joined joined;
    bool shifted = brume_shifted_needed(laws, count);
    if (shifted) {
        if (!brume_shifted_open(laws, count, asked->upper_end, &joined))
            return false;
    } else if (!brume_lattice_join(laws, count, &joined)) {
        return solve_plain(laws, count, asked, out);
    }
    brume_certified certified, other;
    bool alive = solve_plain(joined.upper, count, asked, &certified);
    brume_law *worst = alive && !brume_certified_is_narrow(&certified, worst_width)
                           ? brume_shifted_worst(joined.upper, count)
                           : NULL;
    if (worst && solve_plain(worst, count, asked, &other))
        brume_certified_take_upper(&certified, &other);
    brume_shifted_close(worst, count);
    if (alive && asked->upper_end && shifted)
        certified.value.lower =
            0; /* for the shifted laws only: it does not hold for the originals */
    if (alive && joined.lower != joined.upper) {
        alive = solve_plain(joined.lower, count, asked, &other);
        if (alive)
            brume_certified_take_lower(&certified, &other);
    }
    brume_joined_close(&joined);
    if (alive)
        *out = certified;
    return alive;
}

bool brume_solve_below(brume_law *laws, size_t count, double epsilon, double target)
{
    brume_asked coarse = {.at = epsilon, .width = 0.03, .upper_end = true};
    brume_certified certified;
    return brume_solve(laws, count, &coarse, &certified) && certified.value.upper <= target;
}
