/* See the header. The search only proposes; an end is moved only to a point at which a route
 * certified delta. */
#include "accountant/solve/invert.h"

#include <math.h>

#include "accountant/contour/saddle.h"
#include "accountant/ray/line.h"
#include "accountant/ray/solve.h"
#include "accountant/solve/routes.h"

/* delta as a function of epsilon: the last point, as both sides are asked for at one point, and the
 * route that answered it, if it may serve the next. */
typedef struct profile {
    brume_law *laws;
    size_t count;
    double goal;
    double epsilon;
    brume_interval at;
    brume_closed open; /* delta NULL: none */
    double sharp;      /* the relative width where it was opened */
    const char *route;
    uint64_t nodes;
    bool failed; /* memory ran out */
} profile;

static void close_route(profile *p)
{
    if (p->open.delta)
        p->open.close(p->open.context);
    p->open = (brume_closed){0};
}

static double relative_width(brume_interval value)
{
    return value.upper > value.lower ? (value.upper - value.lower) / value.upper : 0;
}

/* By the open route, if it is about as sharp here as where it was opened. */
static bool ask_open_route(profile *p, double epsilon)
{
    if (!p->open.delta || epsilon < p->open.least)
        return false;
    p->at.upper = p->open.delta(p->open.context, epsilon, BRUME_UPPER_SIDE);
    p->at.lower = p->open.delta(p->open.context, epsilon, BRUME_LOWER_SIDE);
    return relative_width(p->at) <= 2 * fmax(p->goal, p->sharp);
}

static double delta_at(void *context, double epsilon, brume_side side)
{
    profile *p = context;
    if (p->epsilon != epsilon && !p->failed && !ask_open_route(p, epsilon)) {
        brume_answer answer = {0};
        close_route(p);
        p->failed =
            !brume_routes_delta(p->laws, p->count, epsilon, p->goal, false, &answer, &p->open);
        p->at = answer.value;
        p->sharp = relative_width(p->at);
        p->route = answer.route;
        p->nodes += answer.nodes;
    }
    p->epsilon = epsilon;
    if (p->failed)
        return side == BRUME_UPPER_SIDE ? 1 : 0; /* always true, and says nothing */
    return side == BRUME_UPPER_SIDE ? p->at.upper : p->at.lower;
}

/* The largest loss bounds epsilon; where it is likely enough, from below too. */
static void take_top_atom(const brume_law *laws, size_t count, double delta, double delta_error,
                          brume_answer *answer)
{
    double top, log_mass, slack = (20 + 2 * (double)count) * BRUME_UNIT;
    if (!brume_top_atom(laws, count, &top, &log_mass))
        return;
    answer->value.upper = top * (1 + slack);
    /* delta(eps) >= p (1 - e^{eps - top}) > delta for eps below top + log(1 - delta/p) */
    double x = log(delta) - log_mass * (1 + slack);
    x += delta_error + 8 * BRUME_UNIT * (2 + fabs(log(delta)) + fabs(log_mass)); /* up */
    if (x < -1e-9)
        answer->value.lower =
            fmax(0, top * (1 - slack) + log1p(-exp(x) * (1 + 4 * BRUME_UNIT)) * (1 + 1e-12));
}

/* Moments bound epsilon from above; for so many draws that doubles cannot follow their waves mean
 * and deviation bound it from below. Returns a guess, by the saddle point. */
static double take_moments(brume_law *laws, size_t count, double delta, double delta_error,
                           brume_answer *answer)
{
    double moments, place;
    double guess = brume_chernoff_epsilon(laws, count, delta, delta_error, &moments, &place);
    double saddle = brume_saddle_epsilon(laws, count, log(delta), place);
    if (moments < answer->value.upper) {
        answer->value.upper = moments;
        answer->route = brume_route_moments;
    }
    for (size_t i = 0; i < count; i++)
        if (laws[i].count > 0x1p53 && delta < 0.3)
            answer->value.lower = fmax(answer->value.lower, brume_mean_epsilon(laws, count));
    return saddle > 0 && saddle < guess ? saddle : guess;
}

/* Subsampled Gaussians alone have searches of their own: each of their points costs a whole line or
 * several rays. True if the answer is narrow. */
static bool sampled_alone(brume_law *laws, size_t count, double delta, double delta_error,
                          double width_goal, brume_answer *answer)
{
    double width = fmax(width_goal, BRUME_LINE_WIDTH);
    if (!brume_rays_apply(laws, count))
        return false;
    if (brume_alone_and_sampled(laws, count)) {
        brume_sampled_once_epsilon(laws, delta, delta_error, width, answer);
        return true;
    }
    if (brume_sampled_line_epsilon(laws, count, delta, delta_error, width, answer))
        return true;
    brume_rays_epsilon(laws, count, delta, delta_error, width_goal, answer);
    return answer->rounds > 0 && brume_answer_is_narrow(answer, fmax(width_goal, BRUME_RAY_WIDTH));
}

/* Would points of subsampled Gaussians alone add nothing to what their own searches found? Only a
 * band would end a line there, which takes seconds and is not sharper than rays. */
static bool sampled_is_exhausted(brume_law *laws, size_t count, double guess,
                                 const brume_answer *answer)
{
    brume_line line = {.laws = laws, .law_count = count};
    double width = -1, size;
    return brume_rays_apply(laws, count) && answer->value.upper < INFINITY &&
           brume_route_aim(&line, fmin(guess, answer->value.upper), INFINITY, &size, &width) &&
           width > 0;
}

/* Ask for delta at one epsilon after another, from a guess on. */
static bool search(profile *p, double delta, double delta_error, double guess, brume_answer *answer)
{
    brume_closed closed = {
        .delta = delta_at, .context = p, .route = "certified deltas, one epsilon after another"};
    brume_closed_epsilon(&closed, delta, delta_error, guess, answer);
    if (answer->route == closed.route && p->route)
        answer->route = p->route;
    answer->balls = false;
    answer->nodes += p->nodes;
    close_route(p);
    return !p->failed;
}

bool brume_invert_delta(brume_law *laws, size_t count, double delta, double delta_error,
                        double width_goal, brume_answer *out)
{
    brume_answer answer = {.value = {0, INFINITY}, .route = brume_route_top};
    take_top_atom(laws, count, delta, delta_error, &answer);
    if (!brume_answer_is_narrow(&answer, width_goal) &&
        !sampled_alone(laws, count, delta, delta_error, width_goal, &answer)) {
        profile p = {.laws = laws, .count = count, .goal = width_goal, .epsilon = NAN};
        double guess = take_moments(laws, count, delta, delta_error, &answer);
        if (!sampled_is_exhausted(laws, count, guess, &answer) &&
            !search(&p, delta, delta_error, guess, &answer))
            return false;
    }
    *out = answer;
    return true;
}
