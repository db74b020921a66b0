/* The routes to delta at an epsilon, cheapest first. Every route certifies what it says; their
 * order only decides how soon the answer is sharp enough. See route.h and routes.def. */
#include "accountant/solve/routes.h"

#include <math.h>
#include <stdlib.h>

#include "accountant/exact/atom_sum.h"
#include "accountant/ray/line.h"
#include "accountant/ray/solve.h"
#include "accountant/ray/with_atoms.h"
#include "accountant/solve/route.h"

static const double unit = BRUME_UNIT;
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

static bool always(brume_question *q)
{
    (void)q;
    return true;
}

static brume_outcome final_if(bool narrow)
{
    return narrow ? BRUME_ROUTE_FINAL : BRUME_ROUTE_PASSED;
}

bool brume_question_is_met(const brume_question *q)
{
    return q->upper_end && q->answer.excess > 0 &&
           q->answer.excess <= 1.15 * q->width * q->answer.value.upper;
}

/* --- the largest loss --- */

#define top_atom_suits always
static brume_outcome top_atom_ask(brume_question *q)
{
    double top, log_mass, slack = (20 + 2 * (double)q->count) * unit;
    brume_interval *value = &q->answer.value;
    if (brume_top_atom(q->laws, q->count, &top, &log_mass)) {
        if (q->epsilon >= top * (1 + slack)) {
            value->upper = 0;
            q->answer.route = brume_route_top;
            return BRUME_ROUTE_FINAL;
        }
        double low = top * (1 - slack);
        if (q->epsilon < low) /* the top atom alone, mass and place rounded down */
            value->lower = -expm1(q->epsilon - low) * exp(log_mass * (1 + slack) - 1e-14) *
                           (1 - 1e-15);
    }
    value->lower = fmax(value->lower, -expm1(fmin(q->epsilon, 0)) * (1 - 1e-15));
    return BRUME_ROUTE_PASSED;
}

/* --- closed forms --- */

static bool rare_jumps_suits(brume_question *q)
{
    return q->count == 1;
}

static brume_outcome rare_jumps_ask(brume_question *q)
{
    return final_if(brume_rare_jumps_delta(q->laws, q->epsilon, &q->answer));
}

static bool one_sampled_laplace_suits(brume_question *q)
{
    brume_closed form;
    return brume_alone_and_amplified(q->laws, q->count, &form);
}

static brume_outcome one_sampled_laplace_ask(brume_question *q)
{
    brume_closed form;
    if (!brume_alone_and_amplified(q->laws, q->count, &form))
        return BRUME_ROUTE_PASSED;
    brume_closed_delta(&form, q->epsilon, &q->answer);
    return BRUME_ROUTE_FINAL;
}

static bool one_sampled_gaussian_suits(brume_question *q)
{
    return brume_alone_and_sampled(q->laws, q->count);
}

static brume_outcome one_sampled_gaussian_ask(brume_question *q)
{
    brume_sampled_once_delta(q->laws, q->epsilon, fmax(q->width, BRUME_LINE_WIDTH), &q->answer);
    return BRUME_ROUTE_FINAL;
}

static bool gaussian_suits(brume_question *q)
{
    return brume_alone_and_gaussian(q->laws, q->count) &&
           !brume_answer_is_narrow(&q->answer, q->width);
}

static brume_outcome gaussian_ask(brume_question *q)
{
    brume_closed form = brume_gaussian_form(q->laws);
    brume_closed_delta(&form, q->epsilon, &q->answer);
    return BRUME_ROUTE_FINAL;
}

/* --- subsampled Gaussians --- */

static bool sampled_line_suits(brume_question *q)
{
    return q->epsilon >= 0;
}

static brume_outcome sampled_line_ask(brume_question *q)
{
    return final_if(brume_sampled_line_delta(q->laws, q->count, q->epsilon,
                                             fmax(q->width, BRUME_LINE_WIDTH), &q->answer));
}

static bool rays_suits(brume_question *q)
{
    q->rays_first = (brume_rays_suit(q->laws, q->count) || q->answer.rounds > 0) &&
                    !short_line(q->laws, q->count, q->epsilon);
    return q->epsilon >= 0 && q->rays_first;
}

static brume_outcome rays_ask(brume_question *q)
{
    return final_if(brume_rays_delta(q->laws, q->count, q->epsilon, q->width,
                                     fmax(q->width, BRUME_RAY_WIDTH), &q->answer));
}

static bool late_rays_suits(brume_question *q)
{
    return q->epsilon >= 0 && !q->rays_first && !brume_question_is_met(q) &&
           !brume_answer_is_narrow(&q->answer, BRUME_RAY_WIDTH);
}

static brume_outcome late_rays_ask(brume_question *q)
{
    double before = q->answer.value.upper;
    brume_rays_delta(q->laws, q->count, q->epsilon, q->width, BRUME_RAY_WIDTH, &q->answer);
    if (q->answer.value.upper < before)
        q->answer.excess = 0; /* the estimate was the line's */
    return BRUME_ROUTE_PASSED;
}

static bool rays_with_atoms_suits(brume_question *q)
{
    return beside_lines(q->laws, q->count, q->epsilon);
}

static brume_outcome rays_with_atoms_ask(brume_question *q)
{
    if (brume_ray_atoms_delta(q->laws, q->count, q->epsilon, brume_ray_atoms_goal(q->width),
                              &q->answer, q->keep) &&
        brume_answer_is_narrow(&q->answer, fmax(q->width, BRUME_RAY_WIDTH)))
        return BRUME_ROUTE_FINAL;
    if (q->keep && q->keep->delta) { /* not sharp: others are asked */
        q->keep->close(q->keep->context);
        *q->keep = (brume_closed){0};
    }
    return BRUME_ROUTE_PASSED;
}

/* --- the line, and what replaces it where only a band would end it --- */

#define aim_suits always
static brume_outcome aim_ask(brume_question *q)
{
    q->line = (brume_line){.laws = q->laws, .law_count = q->count};
    if (q->width > coarse_width) /* some digits are enough: fewer nodes */
        q->line.tolerance = coarse_cut * q->width;
    q->line_width = -1;
    if (!brume_route_aim(&q->line, q->epsilon, INFINITY, &q->line_size, &q->line_width))
        return BRUME_ROUTE_FAILED;
    q->own = 1024 * unit * q->line.c * fabs(q->epsilon);
    return BRUME_ROUTE_PASSED;
}

/* Of subsampled Gaussians alone a banded line takes seconds and is not sharper than rays. */
static bool band_is_useless(const brume_question *q)
{
    return q->line_width > 0 && brume_only_sampled(q->laws, q->count) &&
           (q->answer.value.upper < 1 || !q->rays_first);
}

static bool atom_sum_suits(brume_question *q)
{
    return q->line_width > 0 && !band_is_useless(q);
}

static brume_outcome atom_sum_ask(brume_question *q)
{
    double least = q->keep ? kept_room * q->epsilon : q->epsilon;
    brume_atom_sum *sum = brume_atom_sum_open(q->laws, q->count, least, exp(fmin(q->line_size, 0)));
    if (!sum)
        return BRUME_ROUTE_PASSED;
    brume_closed closed = brume_atom_sum_form(sum);
    closed.least = least;
    closed.close = close_atoms;
    brume_closed_delta(&closed, q->epsilon, &q->answer);
    q->answer.balls = false;
    q->answer.nodes += brume_atom_sum_size(sum);
    bool narrow = brume_answer_is_narrow(&q->answer, q->width);
    keep_or_close(closed, narrow, q->keep);
    return final_if(narrow);
}

bool brume_ask_patterns(brume_question *q, double effort)
{
    double least = q->keep ? kept_room * q->epsilon : q->epsilon;
    brume_pattern *pattern = brume_pattern_open(q->laws, q->count, least, effort);
    if (!pattern && least != q->epsilon) {
        least = q->epsilon;
        pattern = brume_pattern_open(q->laws, q->count, least, effort);
    }
    if (!pattern)
        return false;
    brume_closed closed = brume_pattern_form(pattern);
    closed.least = least;
    closed.close = close_pattern;
    brume_closed_delta(&closed, q->epsilon, &q->answer);
    keep_or_close(closed, true, q->keep);
    return true;
}

#define few_patterns_suits atom_sum_suits
static brume_outcome few_patterns_ask(brume_question *q)
{
    return final_if(brume_ask_patterns(q, BRUME_SOME_EFFORT));
}

bool brume_contour_suits(brume_question *q)
{
    return !band_is_useless(q);
}
#define contour_suits brume_contour_suits
#define contour_ask   brume_contour_ask

static bool many_patterns_suits(brume_question *q)
{
    return q->line_width > 0 && !band_is_useless(q) && !q->patterns_tried &&
           !brume_question_is_met(q) && !brume_answer_is_narrow(&q->answer, 1e-8);
}

static brume_outcome many_patterns_ask(brume_question *q)
{
    brume_ask_patterns(q, BRUME_PATTERN_EFFORT);
    return BRUME_ROUTE_PASSED;
}

static const brume_route routes[] = {
#define ROUTE(name) {#name, name##_suits, name##_ask},
#include "accountant/solve/routes.def"
#undef ROUTE
};

bool brume_routes_delta(brume_law *laws, size_t count, double epsilon, double width_goal,
                        bool upper_end, brume_answer *out, brume_closed *keep)
{
    brume_question q = {.laws = laws,
                        .count = count,
                        .epsilon = epsilon,
                        .width = width_goal,
                        .upper_end = upper_end,
                        .keep = keep,
                        .answer = {.value = {0, 1}, .route = brume_route_plain}};
    brume_outcome outcome = BRUME_ROUTE_PASSED;
    for (size_t i = 0; i < sizeof routes / sizeof *routes && outcome == BRUME_ROUTE_PASSED; i++)
        if (routes[i].suits(&q))
            outcome = routes[i].ask(&q);
    if (outcome == BRUME_ROUTE_FAILED)
        return false;
    *out = q.answer;
    return true;
}
