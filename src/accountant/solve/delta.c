/* delta at one epsilon: routes are opened in the order of their estimated work until an interval is
 * final. See route.h. */
#include "accountant/solve/route.h"

#include <math.h>
#include <stdlib.h>

#include "accountant/solve/solve.h"

static const double coarse_width = 1e-7; /* a goal above it is for finding out where to look */
static const double coarse_cut = 1e-8;   /* of such a goal: what a line may leave out */

bool brume_task_aim(brume_task *task)
{
    if (task->aimed)
        return true;
    task->line = (brume_line){.laws = task->laws, .law_count = task->count};
    if (task->width > coarse_width) /* some digits are enough: fewer nodes */
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

bool brume_task_ask_kept(const brume_task *task, double epsilon, brume_side side, double *out)
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

void brume_task_close_kept(brume_task *task)
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

bool brume_task_ask(brume_task *task)
{
    size_t count;
    const brume_route *routes = brume_routes(&count), *route;
    double work[BRUME_MOST_ROUTES] = {0};
    bool estimated[BRUME_MOST_ROUTES] = {false};
    brume_outcome outcome = BRUME_ROUTE_PASSED;
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
