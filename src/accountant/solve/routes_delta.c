/* The routes to delta at an epsilon: the cheapest that is sharp. Every route certifies what it
 * says; the order of the routes only decides how soon it is sharp enough. */
#include "accountant/solve/routes.h"

#include <math.h>
#include <stdlib.h>

#include "accountant/exact/atom_sum.h"
#include "accountant/ray/with_atoms.h"
#include "accountant/exact/closed_form.h"
#include "accountant/ray/solve.h"
#include "accountant/ray/line.h"

static const double unit = BRUME_UNIT;
static const double pattern_nodes = 8e3; /* of a line that is as dear as patterns */
static const double coarse_width = 1e-7; /* a goal above it is for finding out where to look */
static const double coarse_cut = 1e-8;   /* of such a goal: what a line may leave out */

/* Room below epsilon for a route that is kept open while epsilon is sought. */
static const double kept_room = 0.97;

static void close_pattern(void *context)
{
    brume_pattern_close(context);
}

static void close_atoms(void *context)
{
    brume_atom_sum_close(context);
}

/* Hand an open route over, or close it. */
static void keep_or_close(brume_closed closed, bool kept, brume_closed *keep)
{
    if (kept && keep && !keep->delta)
        *keep = closed;
    else
        closed.close(closed.context);
}

/* Narrow the answer by the sum over sign patterns, if that is quick. */
static bool try_patterns(const brume_law *laws, size_t count, double epsilon, double effort,
                         brume_answer *answer, brume_closed *keep)
{
    double least = keep ? kept_room * epsilon : epsilon;
    brume_pattern *pattern = brume_pattern_open(laws, count, least, effort);
    if (!pattern && least != epsilon) {
        least = epsilon;
        pattern = brume_pattern_open(laws, count, least, effort);
    }
    if (!pattern)
        return false;
    brume_closed closed = brume_pattern_form(pattern);
    closed.least = least;
    closed.close = close_pattern;
    brume_closed_delta(&closed, epsilon, answer);
    keep_or_close(closed, true, keep);
    return true;
}

/* Narrow the answer by the sum over the atoms of lattice laws, if there are few. */
static bool try_atoms(const brume_law *laws, size_t count, double epsilon, double delta,
                      double width_goal, brume_answer *answer, brume_closed *keep)
{
    double least = keep ? kept_room * epsilon : epsilon;
    brume_atom_sum *sum = brume_atom_sum_open(laws, count, least, delta);
    if (!sum)
        return false;
    brume_closed closed = brume_atom_sum_form(sum);
    closed.least = least;
    closed.close = close_atoms;
    brume_closed_delta(&closed, epsilon, answer);
    answer->balls = false;
    answer->nodes += brume_atom_sum_size(sum);
    bool narrow = brume_answer_is_narrow(answer, width_goal);
    keep_or_close(closed, narrow, keep);
    return narrow;
}

/* A line that is kept open. */
static double kept_line_delta(void *context, double epsilon, brume_side side)
{
    double lower, upper;
    brume_line_certify(context, epsilon, side == BRUME_LOWER_SIDE ? &lower : NULL,
                       side == BRUME_UPPER_SIDE ? &upper : NULL);
    return side == BRUME_UPPER_SIDE ? fmin(upper, 1) : fmax(lower, 0);
}

static void close_kept_line(void *context)
{
    brume_line_close(context);
    free(context);
}

/* Close the line, unless it can be kept. */
static void keep_line(brume_line *line, bool kept, brume_closed *keep)
{
    brume_line *own = kept && keep && !keep->delta ? malloc(sizeof *own) : NULL;
    if (!own) {
        brume_line_close(line);
        return;
    }
    *own = *line;
    *keep = (brume_closed){.delta = kept_line_delta,
                           .context = own,
                           .route = brume_route_name(line),
                           .slope = line->saddle > 0 ? line->saddle : line->c,
                           .close = close_kept_line};
}

/* Subsampled Gaussians beside atoms, where no short line ends by itself? */
static bool beside_lines(brume_law *laws, size_t count, double epsilon)
{
    brume_line line = {.laws = laws, .law_count = count};
    double width = 0, goal;
    return brume_ray_atoms_suits(laws, count) &&
           brume_route_aim(&line, epsilon, INFINITY, &goal, &width) &&
           !brume_line_decays(&line, epsilon, goal, BRUME_LINE_SHORT);
}

/* Many draws of several kinds of subsampled Gaussians, with a line that ends soon? Rays cannot
 * split them, and seldom know more. */
static bool short_line(brume_law *laws, size_t count, double epsilon)
{
    brume_line line = {.laws = laws, .law_count = count};
    double width = 0, goal;
    return count > 1 && brume_only_sampled(laws, count) &&
           brume_sampled_draws(laws, count) > 1000 &&
           brume_route_aim(&line, epsilon, INFINITY, &goal, &width) &&
           brume_line_decays(&line, epsilon, goal, 2000);
}

bool brume_routes_delta(brume_law *laws, size_t count, double epsilon, double width_goal,
                        bool upper_end, brume_answer *out, brume_closed *keep)
{
    brume_answer answer = {.value = {0, 1}, .route = brume_route_plain};
    double top, log_mass, slack = (20 + 2 * (double)count) * unit;
    if (brume_top_atom(laws, count, &top, &log_mass)) {
        if (epsilon >= top * (1 + slack)) {
            answer.value.upper = 0;
            answer.route = brume_route_top;
            *out = answer;
            return true;
        }
        double low = top * (1 - slack);
        if (epsilon < low) /* the top atom alone, mass and place rounded down */
            answer.value.lower = -expm1(epsilon - low) * exp(log_mass * (1 + slack) - 1e-14) *
                                 (1 - 1e-15);
    }
    answer.value.lower = fmax(answer.value.lower, -expm1(fmin(epsilon, 0)) * (1 - 1e-15));
    if (count == 1 && brume_rare_jumps_delta(laws, epsilon, &answer)) {
        *out = answer;
        return true;
    }
    brume_closed once;
    if (brume_alone_and_amplified(laws, count, &once)) {
        brume_closed_delta(&once, epsilon, &answer);
        *out = answer;
        return true;
    }
    if (brume_alone_and_sampled(laws, count)) {
        brume_sampled_once_delta(laws, epsilon, fmax(width_goal, BRUME_LINE_WIDTH), &answer);
        *out = answer;
        return true;
    }
    if (epsilon >= 0 && brume_sampled_line_delta(laws, count, epsilon,
                                                 fmax(width_goal, BRUME_LINE_WIDTH), &answer)) {
        *out = answer;
        return true;
    }
    bool rays_first = (brume_rays_suit(laws, count) || answer.rounds > 0) &&
                      !short_line(laws, count, epsilon);
    if (epsilon >= 0 && rays_first &&
        brume_rays_delta(laws, count, epsilon, width_goal, fmax(width_goal, BRUME_RAY_WIDTH),
                         &answer)) {
        *out = answer;
        return true;
    }
    if (beside_lines(laws, count, epsilon) &&
        brume_ray_atoms_delta(laws, count, epsilon, brume_ray_atoms_goal(width_goal), &answer,
                              keep) &&
        brume_answer_is_narrow(&answer, fmax(width_goal, BRUME_RAY_WIDTH))) {
        *out = answer;
        return true;
    }
    if (keep && keep->delta) { /* not sharp: others are asked */
        keep->close(keep->context);
        *keep = (brume_closed){0};
    }
    brume_line line = {.laws = laws, .law_count = count};
    if (width_goal > coarse_width) /* some digits are enough: fewer nodes */
        line.tolerance = coarse_cut * width_goal;
    double width = -1, goal;
    bool alive = brume_route_aim(&line, epsilon, INFINITY, &goal, &width);
    /* a line that only a band ends takes seconds and is not sharper than rays */
    bool closed = alive && width > 0 && brume_only_sampled(laws, count) &&
                  (answer.value.upper < 1 || !rays_first);
    /* no route is much sharper than what the parameters' own units do to delta */
    double own = 1024 * unit * line.c * fabs(epsilon);
    closed = closed ||
             (alive && width > 0 &&
              try_atoms(laws, count, epsilon, exp(fmin(goal, 0)), width_goal, &answer, keep));
    closed = closed || (alive && width > 0 &&
                        try_patterns(laws, count, epsilon, BRUME_SOME_EFFORT, &answer, keep));
    bool patterns_tried = false;
    while (alive && !closed) {
        line.width = width;
        alive = brume_line_lay(&line, epsilon, goal);
        if (!alive)
            break;
        double before = answer.value.upper - answer.value.lower;
        double lower, upper;
        brume_line_certify(&line, epsilon, &lower, &upper);
        answer.rounds++;
        answer.nodes += line.count;
        answer.route = brume_route_name(&line);
        if (lower > answer.value.lower)
            answer.value.lower = lower;
        /* few atoms make kinks, where the estimate fails: only for the many of a dense line */
        bool dense = width > 0 && line.dense.count > 0;
        double band = width > 0 ? brume_route_band_part(&line, epsilon) : 0;
        if (upper < answer.value.upper) {
            answer.value.upper = upper;
            answer.excess = dense ? BRUME_BAND_SHARE * band : 0;
        }
        double gap = answer.value.upper - answer.value.lower;
        if (upper_end && width > 0)
            gap = fmin(gap, answer.excess > 0 ? answer.excess : gap);
        /* an estimate a little above the goal is not worth another round */
        double narrowest = width_goal; /* a band's: of the epsilon that it amounts to */
        if (!upper_end && width > 0)
            narrowest =
                fmax(width_goal, BRUME_BAND_WIDTH * fmin(fmax(0.7 * line.saddle * epsilon, 1), 60));
        bool wide = gap > (upper_end ? 1.15 : 1) * fmax(narrowest, own) * answer.value.upper;
        if (width == 0 && wide && line.tolerance > 0) { /* delta is smaller than the line's size */
            line.tolerance = 0;
            alive = brume_route_aim(&line, epsilon, INFINITY, &goal, &width);
            continue;
        }
        if (width == 0 && wide)
            try_patterns(laws, count, epsilon, BRUME_PATTERN_EFFORT, &answer, keep);
        /* rounding, which no band narrows? */
        bool rounded = band < 0.2 * (answer.value.upper - answer.value.lower);
        if (width == 0 || !wide || line.cut || (answer.rounds > 3 && gap > 0.8 * before) ||
            (rounded && !upper_end))
            break;
        width = brume_route_next_width(&line, gap, narrowest * answer.value.upper,
                                       gap < 1e-2 * answer.value.upper, upper_end);
        /* patterns are exact, and cheaper than a line of many nodes */
        double nodes = width > 0 ? (double)line.count * line.width / width : INFINITY;
        if (!patterns_tried && nodes > pattern_nodes) {
            patterns_tried = true;
            closed = try_patterns(laws, count, epsilon, BRUME_PATTERN_EFFORT, &answer, keep) &&
                     brume_answer_is_narrow(&answer, fmax(narrowest, own));
        }
        if (width == 0)
            break;
    }
    keep_line(&line, alive && line.count > 0 && !line.cut, keep);
    bool enough = upper_end && answer.excess > 0 &&
                  answer.excess <= 1.15 * width_goal * answer.value.upper;
    if (alive && width > 0 && !closed && !patterns_tried && !enough &&
        !brume_answer_is_narrow(&answer, 1e-8))
        try_patterns(laws, count, epsilon, BRUME_PATTERN_EFFORT, &answer, keep);
    if (alive && epsilon >= 0 && !rays_first && !enough &&
        !brume_answer_is_narrow(&answer, BRUME_RAY_WIDTH)) {
        double before = answer.value.upper;
        brume_rays_delta(laws, count, epsilon, width_goal, BRUME_RAY_WIDTH, &answer);
        if (answer.value.upper < before)
            answer.excess = 0; /* that was of the line */
    }
    if (alive && brume_alone_and_gaussian(laws, count) &&
        !brume_answer_is_narrow(&answer, width_goal)) {
        brume_closed gaussian = brume_gaussian_form(laws); /* doubles do not reach so far */
        brume_closed_delta(&gaussian, epsilon, &answer);
    }
    if (alive)
        *out = answer;
    return alive;
}
