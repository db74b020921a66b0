/* The routes to epsilon at a delta: the cheapest that is sharp. Newton's steps only propose; what
 * is returned was certified at its own point: the upper epsilon has a certified upper delta below
 * the target, the lower epsilon a certified lower delta above it. */
#include "accountant/solve/routes.h"

#include <math.h>

#include "accountant/exact/atom_sum.h"
#include "accountant/ray/with_atoms.h"
#include "accountant/exact/closed_form.h"
#include "accountant/contour/line_invert.h"
#include "accountant/ray/solve.h"
#include "accountant/ray/line.h"
#include "accountant/contour/saddle.h"

static const double unit = BRUME_UNIT;
static const double light_effort = 2e3; /* patterns without a first look */
static const double tiny_effort = 150;  /* patterns before anything else */

/* The same for epsilon at a delta, inside the interval already certified. */
static bool try_patterns_inverse(const brume_law *laws, size_t count, double delta,
                                 double delta_error, double guess, double effort,
                                 brume_answer *answer)
{
    brume_pattern *pattern = brume_pattern_open(laws, count, answer->value.lower, effort);
    if (!pattern)
        return false;
    brume_closed closed = brume_pattern_form(pattern);
    brume_closed_epsilon(&closed, delta, delta_error, guess, answer);
    brume_pattern_close(pattern);
    return true;
}

/* The same for epsilon at a delta. */
static bool try_atoms_inverse(const brume_law *laws, size_t count, double delta, double delta_error,
                              double guess, brume_answer *answer)
{
    brume_atom_sum *sum = brume_atom_sum_open(laws, count, answer->value.lower, delta);
    if (!sum)
        return false;
    brume_closed closed = brume_atom_sum_form(sum);
    brume_closed_epsilon(&closed, delta, delta_error, guess, answer);
    answer->balls = false;
    answer->nodes += brume_atom_sum_size(sum);
    brume_atom_sum_close(sum);
    return true;
}

bool brume_routes_epsilon(brume_law *laws, size_t count, double delta, double delta_error,
                          double width_goal, brume_answer *out)
{
    brume_answer answer = {.value = {0, INFINITY}, .route = brume_route_top};
    double top = INFINITY, log_mass = -INFINITY, slack = (20 + 2 * (double)count) * unit;
    bool bounded = brume_top_atom(laws, count, &top, &log_mass);
    if (bounded) {
        answer.value.upper = top * (1 + slack);
        /* delta(eps) >= p (1 - e^{eps - top}) > delta for eps below top + log(1 - delta/p) */
        double x = log(delta) - log_mass * (1 + slack);
        x += delta_error + 8 * unit * (2 + fabs(log(delta)) + fabs(log_mass)); /* up, for certain */
        if (x < -1e-9)
            answer.value.lower =
                fmax(0, top * (1 - slack) + log1p(-exp(x) * (1 + 4 * unit)) * (1 + 1e-12));
        if (answer.value.upper - answer.value.lower <= width_goal * answer.value.upper) {
            *out = answer;
            return true;
        }
    }
    if (count == 1 && brume_rare_jumps_epsilon(laws, delta, delta_error, &answer)) {
        *out = answer;
        return true;
    }
    brume_closed once;
    if (brume_alone_and_amplified(laws, count, &once)) {
        brume_closed_epsilon(&once, delta, delta_error, NAN, &answer);
        *out = answer;
        return true;
    }
    if (brume_alone_and_sampled(laws, count)) {
        brume_sampled_once_epsilon(laws, delta, delta_error, fmax(width_goal, BRUME_LINE_WIDTH),
                                   &answer);
        *out = answer;
        return true;
    }
    if (brume_sampled_line_epsilon(laws, count, delta, delta_error,
                                   fmax(width_goal, BRUME_LINE_WIDTH), &answer)) {
        *out = answer;
        return true;
    }
    bool rays_first = brume_rays_suit(laws, count) || answer.rounds > 0;
    if (rays_first)
        brume_rays_epsilon(laws, count, delta, delta_error, width_goal, &answer);
    if (answer.rounds > 0 && brume_answer_is_narrow(&answer, fmax(width_goal, BRUME_RAY_WIDTH))) {
        *out = answer;
        return true;
    }
    bool countless = false; /* so many draws that doubles cannot follow their waves */
    for (size_t i = 0; i < count; i++)
        countless |= laws[i].count > 0x1p53;
    if (countless && delta < 0.3)
        answer.value.lower = fmax(answer.value.lower, brume_mean_epsilon(laws, count));
    double moments, place;
    double epsilon = brume_chernoff_epsilon(laws, count, delta, delta_error, &moments, &place);
    double saddle = brume_saddle_epsilon(laws, count, log(delta), place);
    if (saddle > 0 && saddle < epsilon)
        epsilon = saddle;
    if (moments < answer.value.upper) {
        answer.value.upper = moments;
        answer.route = brume_route_moments;
    }
    if (countless && brume_answer_is_narrow(&answer, 1e-6)) {
        *out = answer;
        return true;
    }
    double floor_ = answer.value.lower, roof = answer.value.upper;
    epsilon = fmin(fmax(epsilon, floor_), roof);
    if (bounded && epsilon >= roof)
        epsilon = 0.5 * (floor_ + roof);
    brume_line line = {.laws = laws, .law_count = count};
    double width = -1, goal;
    bool alive = true;
    bool banded = false;
    for (int moves = 0; alive;) {
        bool first = width < 0;
        alive = brume_route_aim(&line, epsilon, log(delta), &goal, &width);
        if (alive && first && width > 0 && brume_only_sampled(laws, count) &&
            answer.value.upper < INFINITY)
            break;
        if (alive && first && brume_ray_atoms_suits(laws, count) &&
            !brume_line_decays(&line, epsilon, goal, BRUME_LINE_SHORT) &&
            brume_ray_atoms_epsilon(laws, count, delta, delta_error,
                                    brume_ray_atoms_goal(width_goal), epsilon, &answer) &&
            brume_answer_is_narrow(&answer, fmax(width_goal, BRUME_RAY_WIDTH)))
            break;
        if (alive && first && width > 0 &&
            try_atoms_inverse(laws, count, delta, delta_error, epsilon, &answer) &&
            brume_answer_is_narrow(&answer, width_goal))
            break;
        if (alive && first && width > 0 &&
            try_patterns_inverse(laws, count, delta, delta_error, epsilon, tiny_effort, &answer))
            break;
        if (alive && first && width > 0 &&
            try_patterns_inverse(laws, count, delta, delta_error, epsilon, light_effort, &answer))
            break;
        banded |= width > 0;
        line.width = width;
        alive = alive && brume_line_lay(&line, epsilon, goal);
        if (!alive)
            break;
        answer.nodes += line.count;
        answer.rounds++;
        if (line.cut && line.width == 0)
            break; /* too many draws for doubles: the moments must do */
        double start = epsilon;
        epsilon = brume_line_newton(&line, epsilon, delta, floor_, roof, moves < 4);
        if (fabs(epsilon - start) > 1 / line.c && moves++ < 4)
            continue; /* the line was aimed too far away */
        brume_interval before = answer.value;
        brume_line_ends(&line, epsilon, delta, delta_error, &answer.value);
        if (answer.value.upper < before.upper)
            answer.route = brume_route_name(&line);
        double gap = answer.value.upper - answer.value.lower;
        double narrowest = width == 0 ? width_goal : fmax(width_goal, BRUME_BAND_WIDTH);
        bool wide = gap > fmax(narrowest * answer.value.upper, 8 * delta_error / line.c);
        bool stuck = answer.rounds > 3 && gap > 0.8 * (before.upper - before.lower);
        /* rounding, which no band narrows? */
        stuck |= width > 0 && brume_route_band_part(&line, epsilon) < 0.2 * gap * line.c * delta;
        if (wide &&
            try_patterns_inverse(laws, count, delta, delta_error, epsilon,
                                 width > 0 ? BRUME_SOME_EFFORT : BRUME_PATTERN_EFFORT, &answer))
            break;
        if (width == 0 || !wide || line.cut || stuck)
            break;
        width = brume_route_next_width(&line, gap, narrowest * answer.value.upper,
                                       gap * line.c < 1e-2 /* of delta, relative */, false);
        if (width == 0)
            break;
    }
    brume_line_close(&line);
    if (alive && banded && !brume_answer_is_narrow(&answer, 1e-9))
        try_patterns_inverse(laws, count, delta, delta_error, answer.value.upper,
                             BRUME_PATTERN_EFFORT, &answer);
    if (alive && !rays_first && !brume_answer_is_narrow(&answer, BRUME_RAY_WIDTH))
        brume_rays_epsilon(laws, count, delta, delta_error, width_goal, &answer);
    if (alive && brume_alone_and_gaussian(laws, count) &&
        !brume_answer_is_narrow(&answer, width_goal)) {
        brume_closed gaussian = brume_gaussian_form(laws); /* doubles do not reach so far */
        brume_closed_epsilon(&gaussian, delta, delta_error, answer.value.upper, &answer);
    }
    if (alive)
        *out = answer;
    return alive;
}
