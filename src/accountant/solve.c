/* From lines to answers. Newton's steps only propose; what is returned was certified at its own
 * point: the upper epsilon has a certified upper delta below the target, the lower epsilon a
 * certified lower delta above it. */
#include "accountant/solve.h"

#include <math.h>

#include "accountant/atom_sum.h"
#include "accountant/beside.h"
#include "accountant/crowd.h"
#include "accountant/start.h"
#include "accountant/invert.h"
#include "accountant/closed.h"
#include "accountant/dense.h"
#include "accountant/jumps.h"
#include "accountant/lattice.h"
#include "accountant/moved.h"
#include "accountant/once.h"
#include "accountant/peaks.h"
#include "accountant/sampled_line.h"

static const double unit = BRUME_UNIT;
static const double most_work = 6e7;      /* nanoseconds or so of one line */
static const double worst_width = 1e-4;   /* where this wide, a dominating law may be lower */
static const double lopsided_work = 1e7;  /* the same for a law on a Poisson sample */
static const double quick_work = 2.5e6;   /* ... if only the upper end is of use */
static const double pattern_effort = 4e4; /* patterns times draws, some 4 ms each time */
static const double some_effort = 5e3;    /* patterns before a line is laid finer */
static const double light_effort = 2e3;   /* patterns without a first look */
static const double tiny_effort = 150;    /* patterns before anything else */
static const double pattern_nodes = 8e3;  /* of a line that is as dear as patterns */
static const double line_width = 1e-9;    /* ... line ... by a ray */
static const double crowd_work = 2e5;     /* nodes times atoms, some 5 ms */
static const double joined_work = 4e4;    /* the same, in place of a fold */
static const double crowd_width = 1e-9;   /* of a sum in balls that is next to a step */
static const double tiny_delta = 1e-25;   /* what such a sum leaves out is far below it */
static const double ray_width = 1e-8;     /* a ray this narrow is not followed by a line */
static const double coarse_width = 1e-7;  /* a goal above it is for finding out where to look */
static const double coarse_cut = 1e-8;    /* of such a goal: what a line may leave out */
static const double band_width = 8e-10;   /* a banded line this narrow is not laid again */

static const char route_plain[] = "contour integral of the loss transform";
static const char route_fold[] = "contour integral folded onto the lattice of losses";
static const char route_band[] = "contour integral between two band-limited functions";
static const char route_top[] = "largest possible loss";
static const char route_moments[] = "moments of the loss";

static const char *route_of(const brume_line *line)
{
    return line->unit > 0 ? route_fold : line->width > 0 ? route_band : route_plain;
}

bool brume_top_atom(const brume_law *laws, size_t count, double *top, double *log_mass)
{
    double sum = 0, mass = 0;
    for (size_t i = 0; i < count; i++) {
        if (!laws[i].bounded)
            return false;
        sum += laws[i].count * laws[i].top;
        mass += laws[i].count * laws[i].log_top_mass;
    }
    *top = sum;
    *log_mass = mass;
    return true;
}

/* Aim at epsilon and decide on a band: 0 where the laws decay or fold. */
static bool aim(brume_line *line, double epsilon, double log_delta, double *goal, double *width)
{
    brume_line_aim(line, epsilon);
    for (size_t i = 0; i < line->law_count; i++)
        if (!brume_law_settle(&line->laws[i], line->c))
            return false;
    *goal = fmin(brume_line_size(line, epsilon), log_delta);
    if (*width < 0)
        *width = line->unit > 0 || brume_line_decays(line, epsilon, *goal, BRUME_LINE_LONG)
                     ? 0
                     : 1 / fmax(line->c, 0.5);
    return true;
}

static bool alone_and_gaussian(const brume_law *laws, size_t count)
{
    return count == 1 && laws[0].kind == BRUME_LAW_GAUSSIAN && laws[0].count == 1;
}

static bool alone_and_sampled(const brume_law *laws, size_t count)
{
    return count == 1 && laws[0].kind == BRUME_LAW_SAMPLED && laws[0].count == 1;
}

/* One release whose profile is known, and needs no line. */
static bool alone_and_amplified(brume_law *laws, size_t count, brume_closed *closed)
{
    return count == 1 && laws[0].unit == 0 && brume_amplified_form(laws, closed);
}

static bool only_sampled(const brume_law *laws, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (laws[i].kind != BRUME_LAW_SAMPLED)
            return false;
    return count > 0;
}

/* Cells of two draws are for where no line ends by itself. */
static double sampled_draws(const brume_law *laws, size_t count)
{
    double draws = 0;
    for (size_t i = 0; i < count; i++)
        draws += laws[i].kind == BRUME_LAW_SAMPLED ? laws[i].count : 0;
    return draws;
}

/* Narrow the answer by the sum over sign patterns, if that is quick. */
static bool try_patterns(const brume_law *laws, size_t count, double epsilon, double effort,
                         brume_answer *answer)
{
    brume_pattern *pattern = brume_pattern_open(laws, count, epsilon, effort);
    if (!pattern)
        return false;
    brume_closed closed = brume_pattern_form(pattern);
    brume_closed_delta(&closed, epsilon, answer);
    brume_pattern_close(pattern);
    return true;
}

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

/* Narrow the answer by the sum over the atoms of lattice laws, if there are few. */
static bool try_atoms(const brume_law *laws, size_t count, double epsilon, double delta,
                      brume_answer *answer)
{
    brume_atom_sum *sum = brume_atom_sum_open(laws, count, epsilon, delta);
    if (!sum)
        return false;
    brume_closed closed = brume_atom_sum_form(sum);
    brume_closed_delta(&closed, epsilon, answer);
    answer->balls = false;
    answer->nodes += brume_atom_sum_size(sum);
    brume_atom_sum_close(sum);
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

/* Is the interval as narrow as asked? */
static bool narrow(const brume_answer *answer, double width_goal)
{
    return answer->value.upper < INFINITY &&
           answer->value.upper - answer->value.lower <= width_goal * answer->value.upper;
}

/* A smaller width for the next round: what it certifies narrows with the square of the width, and
 * the nodes grow with its inverse. 0 if that is too much work. `near`: the gap is so small that it
 * follows that law. */
static double next_width(const brume_line *line, double gap, double goal, bool near, bool quick)
{
    double most = most_work;
    for (size_t i = 0; i < line->law_count; i++)
        if (brume_law_is_lopsided(&line->laws[i]) && line->laws[i].kind != BRUME_LAW_SAMPLED)
            most = quick ? quick_work : lopsided_work; /* both orders, both sides */
    double cost = line->dense.count > 0 ? brume_dense_cost(line)
                                        : brume_line_node_cost(line) * (double)line->count;
    /* what a sieve passes over counts, too */
    double spare =
        line->dense.count > 0 && line->dense.tried < 0.5 * line->band.end / line->h ? 1.2 : 1.08;
    double factor = fmin(fmax(sqrt(spare * gap / goal), 1.5), near ? 256 : 16);
    factor = fmin(factor, most / cost);
    if (factor < 1.5 || line->band.width < 1e-14)
        return 0;
    return line->band.width / factor;
}

/* What the band leaves open at epsilon, without rounding. */
static double band_part(const brume_line *line, double epsilon)
{
    return fmax(brume_line_evaluate(line, epsilon).value -
                    brume_line_evaluate_lower(line, epsilon).value,
                0);
}

/* Cells narrow with the square of their number: a goal between what is asked and what is enough. */
static double once_goal(double width_goal)
{
    return fmax(width_goal, 0.5 * ray_width);
}

/* Rays narrow to what their rounding allows, at little cost. */
static double beside_goal(double width_goal)
{
    return fmax(width_goal, 0.1 * ray_width);
}

/* Subsampled Gaussians beside atoms, where no short line ends by itself? */
static bool beside_lines(brume_law *laws, size_t count, double epsilon)
{
    brume_line line = {.laws = laws, .law_count = count};
    double width = 0, goal;
    return brume_beside_suits(laws, count) && aim(&line, epsilon, INFINITY, &goal, &width) &&
           !brume_line_decays(&line, epsilon, goal, BRUME_LINE_SHORT);
}

/* Without a sampled draw, lines are sharper. */
static double once_width(const brume_law *laws, size_t count, double width_goal)
{
    for (size_t i = 0; i < count; i++)
        if (laws[i].kind == BRUME_LAW_SAMPLED)
            return fmax(width_goal, ray_width);
    return width_goal;
}

/* What both certify. Sums that are not narrow are kept aside until the lines are done: those stop
 * where they narrow nothing. */
static void meet(brume_answer *answer, brume_answer *aside)
{
    if (aside->value.upper < answer->value.upper) {
        answer->value.upper = aside->value.upper;
        answer->route = aside->route;
        answer->balls = false;
        answer->excess = 0;
    }
    answer->value.lower = fmax(answer->value.lower, aside->value.lower);
    answer->nodes += aside->nodes;
    answer->rounds += aside->rounds;
    aside->nodes = aside->rounds = 0;
}

/* Many draws of several kinds of subsampled Gaussians, with a line that ends soon? Rays cannot
 * split them, and seldom know more. */
static bool short_line(brume_law *laws, size_t count, double epsilon)
{
    brume_line line = {.laws = laws, .law_count = count};
    double width = 0, goal;
    return count > 1 && only_sampled(laws, count) && sampled_draws(laws, count) > 1000 &&
           aim(&line, epsilon, INFINITY, &goal, &width) &&
           brume_line_decays(&line, epsilon, goal, 2000);
}

/* delta of laws as they are; `upper_end`: the goal is of the estimated excess of the upper end. */
static bool delta_by_routes(brume_law *laws, size_t count, double epsilon, double width_goal,
                            bool upper_end, brume_answer *out)
{
    brume_answer answer = {.value = {0, 1}, .route = route_plain};
    double top, log_mass, slack = (20 + 2 * (double)count) * unit;
    if (brume_top_atom(laws, count, &top, &log_mass)) {
        if (epsilon >= top * (1 + slack)) {
            answer.value.upper = 0;
            answer.route = route_top;
            *out = answer;
            return true;
        }
        double low = top * (1 - slack);
        if (epsilon < low) /* the top atom alone, mass and place rounded down */
            answer.value.lower = -expm1(epsilon - low) * exp(log_mass * (1 + slack) - 1e-14) *
                                 (1 - 1e-15);
    }
    answer.value.lower = fmax(answer.value.lower, -expm1(fmin(epsilon, 0)) * (1 - 1e-15));
    if (count == 1 && brume_rare_delta(laws, epsilon, &answer)) {
        *out = answer;
        return true;
    }
    brume_closed once;
    if (alone_and_amplified(laws, count, &once)) {
        brume_closed_delta(&once, epsilon, &answer);
        *out = answer;
        return true;
    }
    if (alone_and_sampled(laws, count)) {
        brume_sampled_once_delta(laws, epsilon, fmax(width_goal, line_width), &answer);
        *out = answer;
        return true;
    }
    brume_answer one = answer;
    if (brume_crowd_is_one(laws, count) &&
        brume_crowd_delta(laws, count, epsilon, tiny_delta, crowd_work, &one) &&
        narrow(&one, fmax(width_goal, crowd_width))) {
        *out = one;
        return true;
    }
    if (epsilon >= 0 &&
        brume_sampled_line_delta(laws, count, epsilon, fmax(width_goal, line_width), &answer)) {
        *out = answer;
        return true;
    }
    bool rays_first = (brume_jumps_suit(laws, count) || answer.rounds > 0) &&
                      !short_line(laws, count, epsilon);
    if (epsilon >= 0 && rays_first &&
        brume_jumps_delta(laws, count, epsilon, width_goal, fmax(width_goal, ray_width), &answer)) {
        *out = answer;
        return true;
    }
    brume_answer aside = {.value = {0, 1}};
    if (sampled_draws(laws, count) <= 1 &&
        brume_once_delta(laws, count, epsilon, once_goal(width_goal), BRUME_ONCE_QUICK, &aside) &&
        narrow(&aside, fmax(width_goal, ray_width))) {
        meet(&answer, &aside);
        *out = answer;
        return true;
    }
    if (beside_lines(laws, count, epsilon) &&
        brume_beside_delta(laws, count, epsilon, beside_goal(width_goal), &answer) &&
        narrow(&answer, fmax(width_goal, ray_width))) {
        *out = answer;
        return true;
    }
    brume_line line = {.laws = laws, .law_count = count};
    if (width_goal > coarse_width) /* some digits are enough: fewer nodes */
        line.tolerance = coarse_cut * width_goal;
    double width = -1, goal;
    bool alive = aim(&line, epsilon, INFINITY, &goal, &width);
    /* a line that only a band ends takes seconds and is not sharper than rays */
    bool closed = alive && width > 0 && only_sampled(laws, count) &&
                  (answer.value.upper < 1 || !rays_first);
    /* no route is much sharper than what the parameters' own units do to delta */
    double own = 1024 * unit * line.c * fabs(epsilon);
    if (alive && !closed && width > 0 &&
        brume_once_delta(laws, count, epsilon, once_goal(width_goal), BRUME_ONCE_LONG, &aside) &&
        narrow(&aside, 3 * once_width(laws, count, width_goal))) { /* lines take 50 times as long */
        meet(&answer, &aside);
        closed = true;
    }
    closed = closed || (alive && count == 1 && brume_peaks_delta(laws, epsilon, &answer) &&
                        narrow(&answer, fmax(width_goal, own)));
    closed = closed ||
             (alive && width > 0 && try_atoms(laws, count, epsilon, exp(fmin(goal, 0)), &answer) &&
              narrow(&answer, width_goal));
    /* a banded line takes as long as one over the root of what is asked of it */
    double work = fmin(crowd_work * sqrt(1e-8 / width_goal), crowd_work);
    closed = closed ||
             (alive && width > 0 &&
              brume_crowd_delta(laws, count, epsilon, exp(fmin(goal, 0)), work, &answer) &&
              narrow(&answer, fmax(width_goal, own)));
    closed = closed ||
             (alive && width > 0 && try_patterns(laws, count, epsilon, some_effort, &answer));
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
        answer.route = route_of(&line);
        if (lower > answer.value.lower)
            answer.value.lower = lower;
        /* few atoms make kinks, where the estimate fails: only for the many of a dense line */
        bool dense = width > 0 && line.dense.count > 0;
        double band = width > 0 ? band_part(&line, epsilon) : 0;
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
                fmax(width_goal, band_width * fmin(fmax(0.7 * line.saddle * epsilon, 1), 60));
        bool wide = gap > (upper_end ? 1.15 : 1) * fmax(narrowest, own) * answer.value.upper;
        if (width == 0 && wide && line.tolerance > 0) { /* delta is smaller than the line's size */
            line.tolerance = 0;
            alive = aim(&line, epsilon, INFINITY, &goal, &width);
            continue;
        }
        if (width == 0 && wide)
            try_patterns(laws, count, epsilon, pattern_effort, &answer);
        /* rounding, which no band narrows? */
        bool rounded = band < 0.2 * (answer.value.upper - answer.value.lower);
        if (width == 0 || !wide || line.cut || (answer.rounds > 3 && gap > 0.8 * before) ||
            (rounded && !upper_end))
            break;
        width = next_width(&line, gap, narrowest * answer.value.upper,
                           gap < 1e-2 * answer.value.upper, upper_end);
        /* patterns are exact, and cheaper than a line of many nodes */
        double nodes = width > 0 ? (double)line.count * line.width / width : INFINITY;
        if (!patterns_tried && nodes > pattern_nodes) {
            patterns_tried = true;
            closed = try_patterns(laws, count, epsilon, pattern_effort, &answer) &&
                     narrow(&answer, fmax(narrowest, own));
        }
        if (width == 0)
            break;
    }
    brume_line_close(&line);
    bool enough = upper_end && answer.excess > 0 &&
                  answer.excess <= 1.15 * width_goal * answer.value.upper;
    if (alive && width > 0 && !closed && !patterns_tried && !enough && !narrow(&answer, 1e-8))
        try_patterns(laws, count, epsilon, pattern_effort, &answer);
    if (alive && sampled_draws(laws, count) > 1 && !enough && !narrow(&answer, ray_width)) {
        double before = answer.value.upper;
        brume_once_delta(laws, count, epsilon, once_goal(width_goal), BRUME_ONCE_QUICK, &answer);
        if (answer.value.upper < before)
            answer.excess = 0; /* that was of the line */
    }
    if (alive)
        meet(&answer, &aside);
    if (alive && epsilon >= 0 && !rays_first && !enough && !narrow(&answer, ray_width)) {
        double before = answer.value.upper;
        brume_jumps_delta(laws, count, epsilon, width_goal, ray_width, &answer);
        if (answer.value.upper < before)
            answer.excess = 0; /* that was of the line */
    }
    if (alive && alone_and_gaussian(laws, count) && !narrow(&answer, width_goal)) {
        brume_closed gaussian = brume_gaussian_form(laws); /* doubles do not reach so far */
        brume_closed_delta(&gaussian, epsilon, &answer);
    }
    if (alive)
        *out = answer;
    return alive;
}

/* epsilon of laws as they are. */
static bool epsilon_by_routes(brume_law *laws, size_t count, double delta, double delta_error,
                              double width_goal, brume_answer *out)
{
    brume_answer answer = {.value = {0, INFINITY}, .route = route_top};
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
    if (count == 1 && brume_rare_epsilon(laws, delta, delta_error, &answer)) {
        *out = answer;
        return true;
    }
    brume_closed once;
    if (alone_and_amplified(laws, count, &once)) {
        brume_closed_epsilon(&once, delta, delta_error, NAN, &answer);
        *out = answer;
        return true;
    }
    brume_answer one = answer;
    if (brume_crowd_is_one(laws, count) &&
        brume_crowd_epsilon(laws, count, delta, delta_error, NAN, crowd_work, &one) &&
        narrow(&one, fmax(width_goal, crowd_width))) {
        *out = one;
        return true;
    }
    if (alone_and_sampled(laws, count)) {
        brume_sampled_once_epsilon(laws, delta, delta_error, fmax(width_goal, line_width), &answer);
        *out = answer;
        return true;
    }
    if (brume_sampled_line_epsilon(laws, count, delta, delta_error, fmax(width_goal, line_width),
                                   &answer)) {
        *out = answer;
        return true;
    }
    bool rays_first = brume_jumps_suit(laws, count) || answer.rounds > 0;
    if (rays_first)
        brume_jumps_epsilon(laws, count, delta, delta_error, width_goal, &answer);
    if (answer.rounds > 0 && narrow(&answer, fmax(width_goal, ray_width))) {
        *out = answer;
        return true;
    }
    brume_answer aside = answer;
    aside.nodes = aside.rounds = 0;
    if (sampled_draws(laws, count) <= 1 &&
        brume_once_epsilon(laws, count, delta, delta_error, once_goal(width_goal), BRUME_ONCE_QUICK,
                           &aside) &&
        narrow(&aside, fmax(width_goal, ray_width))) {
        meet(&answer, &aside);
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
        answer.route = route_moments;
    }
    if (countless && narrow(&answer, 1e-6)) {
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
        alive = aim(&line, epsilon, log(delta), &goal, &width);
        if (alive && first && width > 0 && only_sampled(laws, count) &&
            answer.value.upper < INFINITY)
            break;
        if (alive && first && brume_beside_suits(laws, count) &&
            !brume_line_decays(&line, epsilon, goal, BRUME_LINE_SHORT) &&
            brume_beside_epsilon(laws, count, delta, delta_error, beside_goal(width_goal), epsilon,
                                 &answer) &&
            narrow(&answer, fmax(width_goal, ray_width)))
            break;
        if (first) /* a place to start from */
            aside.value.upper = fmin(aside.value.upper, answer.value.upper);
        if (alive && first && width > 0 &&
            brume_once_epsilon(laws, count, delta, delta_error, once_goal(width_goal),
                               BRUME_ONCE_LONG, &aside) &&
            narrow(&aside, once_width(laws, count, width_goal)))
            break;
        if (alive && first && width > 0 &&
            try_atoms_inverse(laws, count, delta, delta_error, epsilon, &answer) &&
            narrow(&answer, width_goal))
            break;
        if (alive && first && width > 0 &&
            brume_crowd_epsilon(laws, count, delta, delta_error, epsilon, 0.12 * crowd_work,
                                &answer) &&
            narrow(&answer, width_goal))
            break;
        if (alive && first && width > 0 &&
            try_patterns_inverse(laws, count, delta, delta_error, epsilon, tiny_effort, &answer))
            break;
        if (alive && first && count == 1 &&
            brume_peaks_epsilon(laws, delta, delta_error, epsilon, &answer) &&
            narrow(&answer, width_goal))
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
            answer.route = route_of(&line);
        double gap = answer.value.upper - answer.value.lower;
        double narrowest = width == 0 ? width_goal : fmax(width_goal, band_width);
        bool wide = gap > fmax(narrowest * answer.value.upper, 8 * delta_error / line.c);
        bool stuck = answer.rounds > 3 && gap > 0.8 * (before.upper - before.lower);
        /* rounding, which no band narrows? */
        stuck |= width > 0 && band_part(&line, epsilon) < 0.2 * gap * line.c * delta;
        if (wide && try_patterns_inverse(laws, count, delta, delta_error, epsilon,
                                         width > 0 ? some_effort : pattern_effort, &answer))
            break;
        if (width == 0 || !wide || line.cut || stuck)
            break;
        width = next_width(&line, gap, narrowest * answer.value.upper,
                           gap * line.c < 1e-2 /* of delta, relative */, false);
        if (width == 0)
            break;
    }
    brume_line_close(&line);
    if (alive)
        meet(&answer, &aside);
    if (alive && banded && !narrow(&answer, 1e-9))
        try_patterns_inverse(laws, count, delta, delta_error, answer.value.upper, pattern_effort,
                             &answer);
    if (alive && sampled_draws(laws, count) > 1 && !narrow(&answer, ray_width))
        brume_once_epsilon(laws, count, delta, delta_error, once_goal(width_goal), BRUME_ONCE_QUICK,
                           &answer);
    if (alive && !rays_first && !narrow(&answer, ray_width))
        brume_jumps_epsilon(laws, count, delta, delta_error, width_goal, &answer);
    if (alive && alone_and_gaussian(laws, count) && !narrow(&answer, width_goal)) {
        brume_closed gaussian = brume_gaussian_form(laws); /* doubles do not reach so far */
        brume_closed_epsilon(&gaussian, delta, delta_error, answer.value.upper, &answer);
    }
    if (alive)
        *out = answer;
    return alive;
}

static bool delta_of(brume_law *laws, size_t count, double epsilon, double width_goal,
                     bool upper_end, brume_answer *out)
{
    if (!delta_by_routes(laws, count, epsilon, width_goal, upper_end, out))
        return false;
    brume_answer_settle(out);
    return true;
}

static bool epsilon_of(brume_law *laws, size_t count, double delta, double delta_error,
                       double width_goal, brume_answer *out)
{
    if (!epsilon_by_routes(laws, count, delta, delta_error, width_goal, out))
        return false;
    brume_answer_settle(out);
    return true;
}

/* Is the lattice that all laws were put on so fine that a sum over few atoms may be cheaper? */
static bool fine_lattice(const brume_joined *joined)
{
    double most = 1;
    for (size_t i = 0; i < joined->count; i++)
        most = fmax(most, joined->upper[i].multiple);
    return most > 24;
}

static bool delta_by_crowd(brume_law *laws, size_t count, double epsilon, double goal,
                           brume_answer *out)
{
    brume_answer answer = {.value = {0, 1}};
    double delta = fmin(fmax(brume_saddle_delta(laws, count, epsilon), 1e-100), 1);
    if (!brume_crowd_delta(laws, count, epsilon, delta, joined_work, &answer) ||
        !narrow(&answer, goal))
        return false;
    brume_answer_settle(&answer);
    *out = answer;
    return true;
}

static bool epsilon_by_crowd(brume_law *laws, size_t count, double delta, double delta_error,
                             double goal, brume_answer *out)
{
    double moments, place;
    double guess = brume_chernoff_epsilon(laws, count, delta, delta_error, &moments, &place);
    double saddle = brume_saddle_epsilon(laws, count, log(delta), place);
    brume_answer answer = {.value = {0, moments}, .route = route_moments};
    guess = saddle > 0 && saddle < guess ? saddle : guess;
    if (!(guess > 0) || !(moments < INFINITY) ||
        !brume_crowd_epsilon(laws, count, delta, delta_error, guess, 0.2 * joined_work, &answer) ||
        !narrow(&answer, goal))
        return false;
    brume_answer_settle(&answer);
    *out = answer;
    return true;
}

static bool solve_delta(brume_law *laws, size_t count, double epsilon, double goal, bool upper_end,
                        brume_answer *out)
{
    brume_joined joined;
    if (brume_moved_needed(laws, count)) {
        if (!brume_moved_open(laws, count, upper_end, &joined))
            return false;
    } else if (!brume_lattice_join(laws, count, &joined)) {
        return delta_of(laws, count, epsilon, goal, upper_end, out);
    } else if (fine_lattice(&joined) && delta_by_crowd(laws, count, epsilon, goal, out)) {
        brume_joined_close(&joined);
        return true;
    }
    brume_answer upper, lower;
    bool alive = delta_of(joined.upper, count, epsilon, goal, upper_end, &upper);
    brume_law *worst =
        alive && !narrow(&upper, worst_width) ? brume_moved_worst(joined.upper, count) : NULL;
    if (worst && delta_of(worst, count, epsilon, goal, upper_end, &lower))
        brume_answer_take_upper(&upper, &lower);
    brume_moved_close(worst, count);
    if (alive && upper_end && brume_moved_needed(laws, count))
        upper.value.lower = 0; /* that was of laws moved up, and is of no use */
    if (alive && joined.lower != joined.upper) {
        alive = delta_of(joined.lower, count, epsilon, goal, upper_end, &lower);
        if (alive)
            brume_answer_take_lower(&upper, &lower);
    }
    brume_joined_close(&joined);
    if (alive)
        *out = upper;
    return alive;
}

bool brume_solve_delta(brume_law *laws, size_t count, double epsilon, double width_goal,
                       brume_answer *out)
{
    return solve_delta(laws, count, epsilon, width_goal, false, out);
}

bool brume_solve_delta_upper(brume_law *laws, size_t count, double epsilon, double goal,
                             brume_answer *out)
{
    return solve_delta(laws, count, epsilon, goal, true, out);
}

bool brume_solve_below(brume_law *laws, size_t count, double epsilon, double target)
{
    brume_answer answer;
    return brume_moved_needed(laws, count) &&
           solve_delta(laws, count, epsilon, 0.03, true, &answer) && answer.value.upper <= target;
}

bool brume_solve_epsilon(brume_law *laws, size_t count, double delta, double delta_error,
                         double width_goal, brume_answer *out)
{
    brume_joined joined;
    if (brume_moved_needed(laws, count)) {
        if (!brume_moved_open(laws, count, false, &joined))
            return false;
    } else if (!brume_lattice_join(laws, count, &joined)) {
        return epsilon_of(laws, count, delta, delta_error, width_goal, out);
    } else if (fine_lattice(&joined) &&
               epsilon_by_crowd(laws, count, delta, delta_error, width_goal, out)) {
        brume_joined_close(&joined);
        return true;
    }
    brume_answer upper, lower;
    bool alive = epsilon_of(joined.upper, count, delta, delta_error, width_goal, &upper);
    brume_law *worst =
        alive && !narrow(&upper, worst_width) ? brume_moved_worst(joined.upper, count) : NULL;
    if (worst && epsilon_of(worst, count, delta, delta_error, width_goal, &lower))
        brume_answer_take_upper(&upper, &lower);
    brume_moved_close(worst, count);
    if (alive && joined.lower != joined.upper) {
        alive = epsilon_of(joined.lower, count, delta, delta_error, width_goal, &lower);
        if (alive)
            brume_answer_take_lower(&upper, &lower);
    }
    brume_joined_close(&joined);
    if (alive)
        *out = upper;
    return alive;
}
