/* From laws to intervals: laws put on one lattice or moved to either side, then the routes; and
 * epsilon at a delta, the one place where delta is inverted: it is asked for at one epsilon after
 * another. A route that was opened is asked again as long as it is sharp. The search only proposes;
 * an end is moved only to a point at which delta was certified. */
#include "accountant/solve/solve.h"

#include <math.h>

#include "accountant/contour/line.h"
#include "accountant/law/shift_parameters.h"
#include "accountant/ray/solve.h"
#include "accountant/solve/route.h"

static const double coarse_width = 1e-3; /* of delta, while the place is sought */

static const char route_moments[] = "moments of the loss";

/* delta as a function of epsilon: the last point, since both sides are asked for at one point. */
typedef struct profile {
    brume_task task;
    brume_interval at;
    double epsilon; /* both bounds in `at` are of this one; NAN: of none */
    double checked; /* the open routes were sharp here; NAN: nowhere */
    double sharp;   /* the relative width where the open routes were opened */
    const char *route;
    uint64_t nodes;
    bool failed; /* memory ran out */
} profile;

static double relative_width(brume_interval value)
{
    return value.upper > value.lower ? (value.upper - value.lower) / value.upper : 0;
}

/* By the open routes, if they are about as sharp here as where they were opened: asked for both
 * sides, unless that was seen next to here. */
static bool ask_open_routes(profile *p, double epsilon, brume_side side)
{
    double *end = side == BRUME_UPPER_SIDE ? &p->at.upper : &p->at.lower;
    if (fabs(epsilon - p->checked) <= 1e-4 * epsilon) {
        p->epsilon = NAN; /* one end only */
        return brume_task_ask_kept(&p->task, epsilon, side, end);
    }
    if (!brume_task_ask_kept(&p->task, epsilon, BRUME_UPPER_SIDE, &p->at.upper) ||
        !brume_task_ask_kept(&p->task, epsilon, BRUME_LOWER_SIDE, &p->at.lower) ||
        !(relative_width(p->at) <= 2 * fmax(p->task.width, p->sharp)))
        return false;
    p->checked = p->epsilon = epsilon;
    return true;
}

static void ask_routes(profile *p, double epsilon)
{
    brume_task *task = &p->task;
    brume_task_close_kept(task);
    *task = (brume_task){.laws = task->laws,
                         .count = task->count,
                         .epsilon = epsilon,
                         .width = task->width,
                         .searching = true,
                         .sought = task->sought};
    p->failed = !brume_task_ask(task);
    if (brume_task_is_decided(task))
        brume_task_close_kept(task); /* nothing sharp was opened */
    p->at = task->certified.value;
    p->sharp = relative_width(p->at);
    p->route = task->certified.route;
    p->nodes += task->certified.nodes;
    p->checked = p->epsilon = epsilon;
}

static double delta_at(void *context, double epsilon, brume_side side)
{
    profile *p = context;
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
    profile p = {.task = {.laws = laws, .count = count}, .epsilon = NAN, .checked = NAN};
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
    brume_task_close_kept(&p.task);
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
        if (!brume_task_ask(&task))
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
