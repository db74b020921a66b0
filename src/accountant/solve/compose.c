/* The public composition: terms in, merged laws, both orders, the atom at infinity, intervals out.
 */
#include "accountant/solve/compose.h"

#include <math.h>
#include <stdlib.h>

#include <brume/account/method.h>

#include "accountant/contour/line.h"
#include "accountant/exact/one_sampled.h"
#include "accountant/law/law.h"
#include "accountant/law/shift_parameters.h"
#include "accountant/ray/solve.h"
#include "accountant/renyi/renyi.h"
#include "accountant/solve/curves.h"
#include "accountant/solve/solve.h"
#include "accountant/textbook/pure.h"
#include "base/error.h"
#include "number/ball.h"
#include "number/rounding.h"

static const double standard_width = 1e-10;

/* What is asked of both orders of the neighbours, and the larger of their intervals so far. */
typedef struct both_orders {
    brume_asked asked;
    brume_certified certified;
    brume_composition result;
} both_orders;

static brume_status no_memory(brume_error *error)
{
    return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory while composing");
}

/* delta without the atom at infinity: (delta - failure)/(1 - failure), and its relative error. */
static double finite_delta(const brume_merged *merged, double delta, double *error)
{
    double failure = merged->failure;
    if (failure == 0) {
        *error = BRUME_UNIT;
        return delta;
    }
    double excess = delta - failure;
    *error = 16 * BRUME_UNIT * (1 + (failure + delta) / fabs(excess));
    return excess / (1 - failure);
}

/* --- the second order, where the first one's interval is certainly the larger --- */

/* If the second order's interval is not above this, it need not be computed: the first order's
 * upper end, if that is nearly the truth; else its lower end, because the second order may have a
 * better lower end. */
static double end_to_beat(const brume_certified *first)
{
    return brume_certified_is_narrow(first, 1e-6) ? first->value.upper : first->value.lower;
}

/* Is the second order's delta(epsilon) certainly at most `delta`? By what is cheap for its laws. */
static bool certainly_below(brume_merged *merged, double epsilon, double delta)
{
    bool sampled = brume_rays_apply(merged->laws, merged->law_count);
    return (sampled ? brume_rays_below : brume_moments_below)(merged->laws, merged->law_count,
                                                              epsilon, delta);
}

/* An end of the first order's interval that the second order's is certainly not above: then the
 * second order need not be computed. NAN if there is none. `finite` is the delta that is asked for,
 * without failures, rounded down. */
static double not_above(brume_merged *merged, const both_orders *both, double finite)
{
    const brume_certified *first = &both->certified;
    double end = end_to_beat(first), upper = first->value.upper, at = both->asked.at;
    /* shifted laws have a poor lower end, which is not waited for */
    double room = brume_shifted_needed(merged->laws, merged->law_count) ? upper : end;
    bool rays = brume_rays_apply(merged->laws, merged->law_count);
    if (both->asked.of_delta) {
        if (upper == 0 && rays)
            return 0; /* delta(0) is the total variation of both */
        if (end > 0 && certainly_below(merged, end, finite))
            return end;
        return room > 0 && brume_solve_below(merged->laws, merged->law_count, room, finite) ? room
                                                                                            : NAN;
    }
    double failure = merged->failure_ends.upper;
    double sure = (end - failure) * (1 - 1e-9);
    room = (room - failure) * (1 - 1e-9);
    bool below = (at == 0 && rays) || (sure > 0 && certainly_below(merged, at, sure)) ||
                 (room > 0 && brume_solve_below(merged->laws, merged->law_count, at, room));
    return below ? 0 : NAN;
}

/* --- one order --- */

static brume_status solve_order(brume_merged *merged, const brume_asked *asked,
                                brume_certified *out, brume_error *error)
{
    *out = (brume_certified){.value = {0, 0}, .route = "nothing but failure"};
    if (merged->law_count > 0 && !brume_solve(merged->laws, merged->law_count, asked, out))
        return no_memory(error);
    return BRUME_OK;
}

/* Has no epsilon this delta? Then *out says why. */
static bool is_infinite(const brume_merged *merged, double delta, bool at_failure,
                        brume_certified *out)
{
    if (!merged->infinite && (delta > merged->failure_ends.lower || at_failure) &&
        !(at_failure && !merged->bounded))
        return false;
    bool unbounded = !(merged->failure_ends.lower > 0) && !merged->infinite;
    *out = (brume_certified){.value = {INFINITY, INFINITY},
                             .route = unbounded ? "the loss is unbounded and delta is 0"
                                                : "delta is not above the probability of failure"};
    return true;
}

static brume_status epsilon_of_order(both_orders *both, bool second, brume_merged *merged,
                                     brume_certified *out, brume_error *error)
{
    brume_asked asked = both->asked;
    double delta = asked.at;
    bool at_failure = merged->failure_error == 0 && delta == merged->failure;
    if (is_infinite(merged, delta, at_failure, out)) {
        both->result.infinite = true;
        return BRUME_OK;
    }
    if (at_failure) { /* nothing may be left to the finite losses: all must be below epsilon */
        *out = (brume_certified){.route = "largest possible loss"};
        return brume_shifted_top(merged->laws, merged->law_count, &out->value) ? BRUME_OK
                                                                               : no_memory(error);
    }
    asked.at = finite_delta(merged, delta, &asked.delta_error);
    if (!(asked.at > 0) || !(asked.delta_error < 0.5)) {
        *out = (brume_certified){.value = {0, INFINITY},
                                 .route = "delta is at the probability of failure"};
        brume_interval top;
        if (merged->failure_ends.upper <= delta &&
            brume_shifted_top(merged->laws, merged->law_count, &top))
            out->value.upper = top.upper;
        return BRUME_OK;
    }
    double end = second ? not_above(merged, both, asked.at * (1 - 2 * asked.delta_error)) : NAN;
    if (isnan(end))
        return solve_order(merged, &asked, out, error);
    *out = (brume_certified){.value = {0, end}};
    return BRUME_OK;
}

static brume_status delta_of_order(both_orders *both, bool second, brume_merged *merged,
                                   brume_certified *out, brume_error *error)
{
    *out = (brume_certified){.value = {0, 0}};
    double failure = merged->failure;
    brume_asked asked = both->asked;
    asked.sought = fmax(asked.sought - failure, 0) / (1 - failure);
    if (!second || isnan(not_above(merged, both, 0)))
        BRUME_TRY(solve_order(merged, &asked, out, error));
    if (failure > 0) { /* dinf + (1 - dinf) delta, 16 units each way */
        out->value.lower = (failure + (1 - failure) * out->value.lower) * (1 - 16 * BRUME_UNIT);
        out->value.upper = (failure + (1 - failure) * out->value.upper) * (1 + 16 * BRUME_UNIT);
        out->excess *= 1 - failure;
    }
    out->value.upper = fmin(out->value.upper, 1);
    return BRUME_OK;
}

static brume_status visit_order(void *context, bool again, brume_merged *merged, bool *done,
                                brume_error *error)
{
    both_orders *both = context;
    brume_certified one;
    BRUME_TRY((both->asked.of_delta ? epsilon_of_order : delta_of_order)(both, again, merged, &one,
                                                                         error));
    brume_certified_take_larger(&both->certified, &one);
    *done = both->result.infinite;
    both->result.value = both->certified.value;
    both->result.has_lower = merged->has_lower;
    both->result.failure = merged->failure_ends;
    both->result.route = both->certified.route;
    both->result.contradictory = both->certified.contradictory;
    return BRUME_OK;
}

/* --- all terms --- */

/* Pure terms with a small rho may be known by it: then the laws are composed only if they may say
 * more. The lower end would be that of the stated epsilons. */
static brume_status brume_compose(const brume_term *terms, size_t count, const brume_asked *asked,
                                  brume_composition *out, brume_diagnostics *diagnostics,
                                  brume_error *error)
{
    brume_asked q = {.of_delta = asked->of_delta, .at = asked->at};
    brume_composition curves = {.value = {0, INFINITY}};
    brume_diagnostics work = {0};
    bool only = brume_curves_needed(terms, count);
    bool helped = only || (brume_curves_help(terms, count) && (!q.of_delta || q.at > 0));
    if (helped)
        BRUME_TRY(brume_curves_compose(terms, count, q, &curves, &work, error));
    if (!only && !(helped && brume_curves_suffice(terms, count, q, curves.value.upper))) {
        both_orders both = {.asked = *asked};
        if (!(both.asked.width > 0))
            both.asked.width = standard_width;
        BRUME_TRY(brume_each_order(terms, count, visit_order, &both, error));
        bool better = helped && !both.result.infinite &&
                      curves.value.upper < both.result.value.upper;
        if (!better) {
            curves = both.result;
            work = (brume_diagnostics){both.certified.nodes, both.certified.rounds,
                                       both.certified.excess};
        }
    }
    *out = curves;
    if (diagnostics)
        *diagnostics = work;
    return BRUME_OK;
}

static brume_status with_options(const brume_term *terms, size_t count, bool of_delta, double at,
                                 const brume_compose_options *options, brume_composition *out,
                                 brume_error *error)
{
    brume_asked asked = {.of_delta = of_delta, .at = at, .width = options ? options->tolerance : 0};
    return brume_compose(terms, count, &asked, out, options ? options->diagnostics : NULL, error);
}

brume_status brume_compose_epsilon(const brume_term *terms, size_t count, double delta,
                                   const brume_compose_options *options, brume_composition *out,
                                   brume_error *error)
{
    if (!(delta >= 0 && delta < 1))
        return brume_fail(error, BRUME_EARGUMENT, "a probability of failure, such as 1e-6",
                          "'delta' is %.17g, must be in [0, 1)", delta);
    return with_options(terms, count, true, delta, options, out, error);
}

brume_status brume_compose_delta(const brume_term *terms, size_t count, double epsilon,
                                 const brume_compose_options *options, brume_composition *out,
                                 brume_error *error)
{
    if (!(epsilon >= 0 && epsilon < INFINITY))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'epsilon' is %.17g, must be a finite number not below 0", epsilon);
    return with_options(terms, count, false, epsilon, options, out, error);
}

/* About delta of the finite losses: by a closed form where there is one that takes no time. */
static double guess_delta(brume_law *laws, size_t count, double epsilon)
{
    if (!brume_rays_apply(laws, count))
        return brume_saddle_delta(laws, count, epsilon);
    if (count > 1 || laws[0].count > 1)
        return brume_rays_guess_delta(laws, count, epsilon);
    brume_delta_bounds one = brume_sampled_doubles_bounds(laws);
    return one.delta(one.context, epsilon, BRUME_UPPER_SIDE);
}

bool brume_compose_guess(const brume_term *terms, size_t count, double epsilon, double *delta)
{
    /* the order of a record removed, which is nearly always the larger */
    brume_merged merged;
    if (brume_merge_terms(terms, count, false, &merged, NULL) != BRUME_OK)
        return false;
    bool known = merged.curve_count == 0;
    double finite = 0, failure = merged.failure;
    if (known && merged.law_count > 0)
        finite = guess_delta(merged.laws, merged.law_count, epsilon);
    known = known && isfinite(finite);
    brume_merged_close(&merged);
    if (known)
        *delta = failure + (1 - failure) * finite;
    return known;
}

/* --- bounded terms apart from the rest ---
 *
 * Where a loss is A + B and B is never above t,
 *
 *   E(1 - e^{eps - A - B})_+ <= E(1 - e^{(eps - t) - A})_+ ,
 *
 * in either order of the neighbours, so delta(eps) <= delta_A(eps - t), and epsilon is at most t
 * plus that of the rest. It is the sharper bound where nearly all of the loss is in A and no line
 * follows the mixture down to a tiny delta. */

/* A term whose loss is never above its epsilon. */
static bool is_bounded(const brume_term *term)
{
    return term->cost.pure != BRUME_ABSENT && isfinite(term->cost.epsilon) &&
           term->cost.delta_failure == 0;
}

/* delta falls with epsilon. Far beyond the epsilons of any delta of use a line says little of so
 * small a delta; but if a tiny one is certified at a smaller epsilon, it is certified here. */
static brume_status by_tiny_delta(const brume_term *terms, size_t count, double epsilon,
                                  double *upper, brume_error *error)
{
    const double tiny = 1e-32; /* not a delta that is asked for: there a search would stop short */
    for (size_t i = 0; i < count; i++)
        if (terms[i].cost.loss == BRUME_ABSENT || terms[i].cost.delta_failure >= tiny)
            return BRUME_OK;
    brume_asked asked = {.of_delta = true, .at = tiny, .width = 1e-6};
    brume_composition composition;
    if (!(*upper > tiny))
        return BRUME_OK;
    BRUME_TRY(brume_compose(terms, count, &asked, &composition, NULL, error));
    if (!composition.infinite && composition.value.upper <= epsilon)
        *upper = tiny;
    return BRUME_OK;
}

static brume_status of_rest(const brume_term *rest, size_t count, bool of_delta, bool composed,
                            double at, double *upper, brume_error *error)
{
    brume_composition composition = {.value = {0, 1}};
    brume_asked asked = {.of_delta = of_delta, .at = at, .width = 1e-6, .upper_end = !of_delta};
    if (of_delta || !composed)
        BRUME_TRY(brume_compose(rest, count, &asked, &composition, NULL, error));
    *upper = composition.value.upper;
    bool rough = !of_delta && composition.value.lower < 0.125 * composition.value.upper;
    return rough ? by_tiny_delta(rest, count, at, upper, error) : BRUME_OK;
}

/* Epsilon at the delta `at`, or delta at the epsilon `at`, rounded up: of the terms without a pure
 * epsilon alone, moved by the sum of the pure epsilons. Without terms of both kinds infinite, or 1;
 * but where what is known of a delta is `rough`, a tiny delta that is met at a smaller epsilon. */
static brume_status split_bounded_terms(const brume_term *terms, size_t count, bool of_delta,
                                        double at, bool rough, double *upper, brume_error *error)
{
    double most = 0; /* the largest loss of the bounded terms, up */
    size_t rest_count = 0;
    brume_term *rest = malloc(count * sizeof *rest);
    if (!rest)
        return brume_no_memory(error, NULL);
    for (size_t i = 0; i < count; i++) {
        if (is_bounded(&terms[i]))
            most = brume_add_up(
                most, brume_multiply_up(brume_count_up(terms[i].count), terms[i].cost.epsilon));
        else
            rest[rest_count++] = terms[i];
    }
    *upper = of_delta ? INFINITY : 1;
    bool whole = rest_count == count;                            /* nothing is taken apart */
    double left = of_delta ? at : brume_subtract_down(at, most); /* down: delta falls with it */
    double found = *upper;
    brume_status status = BRUME_OK;
    if (rest_count > 0 && left >= 0 && (!whole || (rough && !of_delta)))
        status = of_rest(rest, rest_count, of_delta, whole, left, &found, error);
    free(rest);
    BRUME_TRY(status);
    *upper = of_delta ? brume_add_up(found, most) : found;
    return BRUME_OK;
}

/* The trade-off function of a composition, from certified bounds of its profile.
 *
 * f(a) = sup over u > 0 of g(u) = 1 - D(u) - u a, D convex and decreasing, so g is concave. Any u
 * gives a lower end. The upper end rests on convexity: in a cell of a short grid around the optimum
 * D lies above the extended chords of both neighbouring cells, and outside the grid g falls because
 * the certified end chords say so. See proofs/accountant/solve.md, section solve.3. */

enum { ZOOM_POINTS = 13, GRID_POINTS = 9 };

typedef struct profile_point {
    double u, lower, upper; /* D(u) in [lower, upper] */
} profile_point;

typedef struct tradeoff_profile {
    brume_merged *merged;
    brume_diagnostics *work; /* its counters grow */
    bool expensive;          /* the upper end alone costs half and less */
    bool contradictory;
    bool alive;
} tradeoff_profile;

static profile_point evaluate(tradeoff_profile *p, double epsilon, double width, bool upper_end)
{
    brume_certified certified = {.value = {0, 0}, .route = "nothing but failure"};
    brume_asked asked = {.at = epsilon, .width = width, .upper_end = upper_end && p->expensive};
    if (p->merged->law_count > 0)
        p->alive &= brume_solve(p->merged->laws, p->merged->law_count, &asked, &certified);
    else
        certified.value.lower = certified.value.upper = fmax(0, -expm1(epsilon));
    p->work->nodes += certified.nodes;
    p->work->rounds += certified.rounds;
    p->contradictory |= certified.contradictory;
    double failure = p->merged->failure, slack = 16 * BRUME_UNIT;
    profile_point point = {.u = exp(epsilon)};
    point.lower = (failure + (1 - failure) * certified.value.lower) * (1 - slack);
    point.upper = fmin(1, (failure + (1 - failure) * certified.value.upper) * (1 + slack));
    return point;
}

/* One zoom: the best of the points between low and high, and its neighbours as the new ends. */
static double zoom(tradeoff_profile *p, double type_one, double width, double *low, double *high,
                   double *best_value)
{
    double best = -INFINITY, place = *low, step = (*high - *low) / (ZOOM_POINTS - 1);
    for (int i = 0; i < ZOOM_POINTS; i++) {
        double epsilon = *low + step * i;
        profile_point point = evaluate(p, epsilon, width, true);
        /* down: u by 4 units, two sums */
        double value = 1 - point.upper - point.u * type_one * (1 + 8 * BRUME_UNIT) - 4 * BRUME_UNIT;
        if (value > best) {
            best = value;
            place = epsilon;
        }
    }
    *low = place - step;
    *high = place + step;
    *best_value = fmax(*best_value, best);
    return step;
}

/* The largest of 1 - max(two chords) - u a over the cell [b, c], its neighbours a and d given. */
static double cell_upper(const profile_point *a, const profile_point *b, const profile_point *c,
                         const profile_point *d, double type_one)
{
    double left = (b->lower - a->upper) / (b->u - a->u);  /* not above the slope of D left of b */
    double right = (d->upper - c->lower) / (d->u - c->u); /* not below the slope of D right of c */
    double best = fmax(1 - b->lower - b->u * type_one, 1 - c->lower - c->u * type_one);
    double places[3] = {b->u, c->u, b->u};
    if (left != right) {
        double crossing = (c->lower - right * c->u - b->lower + left * b->u) / (left - right);
        if (crossing > b->u && crossing < c->u)
            places[2] = crossing;
    }
    best = -INFINITY;
    for (int i = 0; i < 3; i++) {
        double u = places[i], one = b->lower + left * (u - b->u);
        double two = c->lower - right * (c->u - u);
        best = fmax(best, 1 - fmax(one, two) - u * type_one);
    }
    return best;
}

static void order_ends(tradeoff_profile *p, double type_one, double width, brume_interval *ends)
{
    double low = -30, high = 60, step = 1, lower = 0, upper = -INFINITY;
    double finest = p->expensive ? 1e-4 : 1e-5;
    if (p->expensive)
        width = fmax(width, 1e-6);
    if (type_one > 0)
        high = fmin(high, -log(type_one) + 1); /* u a <= 1 at the optimum */
    for (int round = 0; round < 8 && step > finest && p->alive; round++)
        step = zoom(p, type_one, 1e-6, &low, &high, &lower);
    double centre = 0.5 * (low + high);
    step = fmax(finest, step);
    if (p->expensive) { /* chords over a grid finer than the distance of the two bounds say nothing
                         */
        profile_point middle = evaluate(p, centre, width, false);
        double gap = fmax(middle.upper - middle.lower, 0);
        step = fmin(fmax(step, 3 * sqrt(gap)), 0.5);
        p->expensive = gap > 1e-9; /* else nothing is expensive from here on */
    }
    profile_point grid[GRID_POINTS];
    for (int i = 0; i < GRID_POINTS; i++) {
        grid[i] = evaluate(p, centre + step * (i - GRID_POINTS / 2), width, false);
        lower = fmax(lower, 1 - grid[i].upper - grid[i].u * type_one * (1 + 8 * BRUME_UNIT) -
                                4 * BRUME_UNIT);
    }
    for (int i = 1; i + 2 < GRID_POINTS; i++)
        upper =
            fmax(upper, cell_upper(&grid[i - 1], &grid[i], &grid[i + 1], &grid[i + 2], type_one));
    /* at a kink of D the best point is the kink itself: go on to it for the lower end */
    bool useful = true;
    int rounds = p->expensive ? 3 : 10;
    for (int round = 0; round < rounds && upper - lower > 1e-10 && p->alive && useful; round++) {
        double before = lower;
        zoom(p, type_one, width, &low, &high, &lower);
        useful = !p->expensive || lower - before > 0.05 * (upper - before);
    }
    const profile_point *last = &grid[GRID_POINTS - 2], *before = &grid[GRID_POINTS - 3];
    double rise = (grid[2].upper - grid[1].lower) / (grid[2].u - grid[1].u);
    double fall = (last->lower - before->upper) / (last->u - before->u);
    /* The chords of the outermost cells that were bounded say that g, concave, falls to the left of
     * grid[1] and to the right of the last but one. Those of the cells outside would not: g might
     * have its top in them. */
    bool closed = rise + type_one * (1 - 1e-12) <= 0 && fall + type_one * (1 + 1e-12) >= 0;
    double roof = fmin(1 - type_one + 4 * BRUME_UNIT, 1 - p->merged->failure_ends.lower);
    ends->lower = fmin(ends->lower, lower);
    ends->upper =
        fmin(ends->upper, closed ? fmin(roof, upper + 1e-15 * (4 + 4 * last->u * type_one)) : roof);
    if (ends->upper < ends->lower) { /* a fault: the guarantee is the smaller */
        *ends = (brume_interval){ends->upper, ends->lower};
        p->contradictory = true;
    }
}

/* The smaller type II error of both orders so far. */
typedef struct tradeoff_both_orders {
    double type_one, width;
    brume_composition result;
    brume_diagnostics work;
} tradeoff_both_orders;

static brume_status visit_tradeoff_order(void *context, bool again, brume_merged *merged,
                                         bool *done, brume_error *error)
{
    tradeoff_both_orders *both = context;
    brume_composition *result = &both->result;
    (void)again;
    (void)done;
    result->has_lower = merged->has_lower;
    result->failure = merged->failure_ends;
    if (merged->curve_count > 0)
        return brume_fail(error, BRUME_EUNSUPPORTED, "its Renyi curve bounds epsilon and delta",
                          "a term is known by its moments only: no trade-off function");
    if (both->type_one == 1) {
        result->value = (brume_interval){0, 0};
    } else if (both->type_one == 0) { /* never wrong: only what fails is told apart */
        result->value.lower = brume_subtract_down(1, merged->failure_ends.upper);
        result->value.upper = brume_subtract_up(1, merged->failure_ends.lower);
    } else {
        tradeoff_profile p = {.merged = merged, .work = &both->work, .alive = true};
        p.expensive = brume_shifted_needed(merged->laws, merged->law_count);
        order_ends(&p, both->type_one, both->width, &result->value);
        result->contradictory |= p.contradictory;
        if (!p.alive)
            return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory while composing");
    }
    return BRUME_OK;
}

brume_status brume_compose_tradeoff(const brume_term *terms, size_t count, double type_one,
                                    const brume_compose_options *options, brume_composition *out,
                                    brume_error *error)
{
    if (!(type_one >= 0 && type_one <= 1))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'type_one' is %.17g, must be in [0, 1]",
                          type_one);
    tradeoff_both_orders both = {
        .type_one = type_one,
        .width = options && options->tolerance > 0 ? options->tolerance : 1e-12,
        .result = {.value = {1, 1}, .route = "tangents of the certified profile"}};
    BRUME_TRY(brume_each_order(terms, count, visit_tradeoff_order, &both, error));
    *out = both.result;
    if (options && options->diagnostics)
        *options->diagnostics = both.work;
    return BRUME_OK;
}

/* The methods, side by side. Promise: every bound is sound and rounded up; a method that does not
 * apply to a term is refused, never replaced by another. */

static const brume_method_card cards[] = {
    {BRUME_METHOD_BASIC, "basic", "epsilons and deltas add", "a pure epsilon"},
    {BRUME_METHOD_ADVANCED, "advanced",
     "sqrt(2 ln(1/delta') sum eps^2) + sum eps tanh(eps/2), or basic if smaller",
     "a pure epsilon or Gaussian noise"},
    {BRUME_METHOD_ADVANCED_HALF, "advanced-half", "advanced with mean term sum eps^2 / 2",
     "a pure epsilon or Gaussian noise"},
    {BRUME_METHOD_ADVANCED_EXP, "advanced-exp", "advanced with mean term sum eps (e^eps - 1)",
     "a pure epsilon or Gaussian noise"},
    {BRUME_METHOD_ADVANCED_2, "advanced-2", "advanced with mean term 2 sum eps^2",
     "a pure epsilon or Gaussian noise"},
    {BRUME_METHOD_OPTIMAL, "optimal", "exact worst case of (epsilon, delta) guarantees",
     "a pure epsilon"},
    {BRUME_METHOD_ZCDP, "zcdp", "rhos add, tight conversion", "a rho"},
    {BRUME_METHOD_ZCDP_CLOSED, "zcdp-closed", "rhos add, rho + 2 sqrt(rho ln(1/delta))", "a rho"},
    {BRUME_METHOD_RDP, "rdp", "Renyi curves add, tight conversion at the best order",
     "a Renyi curve"},
    {BRUME_METHOD_PLD, "pld", "certified composition of privacy-loss laws", "any stated guarantee"},
};
enum { METHODS = sizeof cards / sizeof *cards };

const brume_method_card *brume_methods(size_t *count)
{
    *count = METHODS;
    return cards;
}

static bool is_pure(const brume_cost *cost)
{
    return cost->pure != BRUME_ABSENT && isfinite(cost->epsilon);
}

/* Advanced composition takes it for (epsilon, delta)-DP. */
static bool is_gaussian(const brume_cost *cost)
{
    return !is_pure(cost) && cost->loss != BRUME_ABSENT && cost->law.kind == BRUME_LOSS_GAUSSIAN &&
           cost->delta_failure == 0;
}

bool brume_method_applies(brume_method method, const brume_cost *cost)
{
    switch (method) {
    case BRUME_METHOD_BASIC:
    case BRUME_METHOD_OPTIMAL:
        return is_pure(cost);
    case BRUME_METHOD_ADVANCED:
    case BRUME_METHOD_ADVANCED_HALF:
    case BRUME_METHOD_ADVANCED_EXP:
    case BRUME_METHOD_ADVANCED_2:
        return is_pure(cost) || is_gaussian(cost);
    case BRUME_METHOD_ZCDP:
    case BRUME_METHOD_ZCDP_CLOSED:
        return isfinite(brume_rho_upper(cost));
    case BRUME_METHOD_RDP:
    case BRUME_METHOD_PLD:
    case BRUME_METHOD_AUTO:
        return brume_renyi_known(cost);
    }
    return false;
}

static brume_status check(brume_method method, const brume_term *terms, size_t count,
                          brume_error *error)
{
    if (count == 0 || (unsigned)method > BRUME_METHOD_PLD)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "nothing to account for");
    for (size_t i = 0; i < count; i++) {
        if (terms[i].count == 0 || terms[i].count > INT64_MAX)
            return brume_fail(error, BRUME_EARGUMENT, NULL, "a count must be in 1 .. 2^63-1");
        BRUME_TRY(brume_cost_check(&terms[i].cost, error));
        if (!brume_method_applies(method, &terms[i].cost))
            return brume_fail(error, BRUME_EUNSUPPORTED, NULL,
                              "method '%s' does not apply to term %zu: it needs %s",
                              method == BRUME_METHOD_AUTO ? "auto" : cards[method - 1].name, i + 1,
                              method == BRUME_METHOD_AUTO ? "some guarantee"
                                                          : cards[method - 1].needs);
    }
    return BRUME_OK;
}

/* ---------------------------------------------------------------- (epsilon, delta) methods */

static double gaussian_count(const brume_term *terms, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        if (is_gaussian(&terms[i].cost))
            sum = brume_add_up(sum, brume_count_up(terms[i].count));
    return sum;
}

/* The epsilon of one Gaussian of norm mu at its delta: mu sqrt(2 ln(1.25/delta)), the classical
 * formula, which is proven up to 1; beyond by the tail of the loss, N(mu^2/2, mu^2). Up. */
static double gaussian_epsilon(double mu, double delta)
{
    double classical = brume_multiply_up(
        mu, brume_sqrt_up(brume_multiply_up(2, brume_log_up(brume_divide_up(1.25, delta)))));
    if (classical <= 1)
        return classical;
    double reach = brume_multiply_up(
        mu, brume_sqrt_up(brume_multiply_up(2, brume_log_up(brume_divide_up(1, delta)))));
    return brume_add_up(brume_multiply_up(mu, mu) / 2, reach);
}

/* Each release as (epsilon, delta)-DP. Gaussians have half of `delta` in equal parts; it is not
 * looked at where there are none. */
static brume_status pure_steps(const brume_term *terms, size_t count, double delta,
                               brume_pure_step **out, brume_error *error)
{
    brume_pure_step *steps = malloc(count * sizeof *steps);
    if (!steps)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    double part = brume_divide_down(delta / 2, fmax(gaussian_count(terms, count), 1));
    for (size_t i = 0; i < count; i++)
        steps[i] = is_gaussian(&terms[i].cost)
                       ? (brume_pure_step){part > 0 ? gaussian_epsilon(terms[i].cost.law.a, part)
                                                    : INFINITY,
                                           part, terms[i].count}
                       : (brume_pure_step){terms[i].cost.epsilon, terms[i].cost.delta_failure,
                                           terms[i].count};
    *out = steps;
    return BRUME_OK;
}

/* The form of advanced composition that a method is; 0 if it is none of the textbooks'. */
static brume_advanced_form textbook_form(brume_method method)
{
    return method == BRUME_METHOD_ADVANCED_HALF  ? BRUME_ADVANCED_HALF
           : method == BRUME_METHOD_ADVANCED_EXP ? BRUME_ADVANCED_EXPONENTIAL
           : method == BRUME_METHOD_ADVANCED_2   ? BRUME_ADVANCED_DOUBLE
                                                 : 0;
}

/* Basic composition: of typed decimals as decimals. */
static double basic_epsilon(const brume_term *terms, const brume_pure_step *steps, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!terms[i].cost.epsilon_is_decimal)
            return brume_basic_epsilon_upper(steps, count);
    return brume_basic_decimal_upper(steps, count);
}

static brume_status pure_epsilon(brume_method method, const brume_term *terms,
                                 const brume_pure_step *steps, size_t count, double delta,
                                 double *epsilon, brume_error *error)
{
    if (method == BRUME_METHOD_OPTIMAL)
        return brume_optimal_epsilon_upper(steps, count, delta, epsilon, error);
    if (textbook_form(method)) { /* as printed, also where basic is smaller */
        *epsilon = brume_advanced_epsilon_upper(textbook_form(method), steps, count, delta);
        return BRUME_OK;
    }
    /* basic: any delta not below the probability of failure, for which basic needs its sum */
    double basic = INFINITY;
    if (brume_pure_failure_upper(steps, count) <= delta)
        basic = basic_epsilon(terms, steps, count);
    *epsilon = basic;
    if (method == BRUME_METHOD_ADVANCED)
        *epsilon =
            fmin(basic, brume_advanced_epsilon_upper(BRUME_ADVANCED_TANH, steps, count, delta));
    return BRUME_OK;
}

static brume_status pure_delta(brume_method method, const brume_term *terms,
                               const brume_pure_step *steps, size_t count, double epsilon,
                               double *delta, brume_error *error)
{
    if (method == BRUME_METHOD_OPTIMAL) {
        brume_interval interval;
        BRUME_TRY(brume_optimal_delta(steps, count, epsilon, &interval, error));
        *delta = interval.upper;
        return BRUME_OK;
    }
    if (textbook_form(method)) {
        *delta = brume_advanced_delta_upper(textbook_form(method), steps, count, epsilon);
        return BRUME_OK;
    }
    double basic = 1;
    if (basic_epsilon(terms, steps, count) <= epsilon)
        basic = brume_pure_failure_upper(steps, count);
    *delta = basic;
    if (method == BRUME_METHOD_ADVANCED)
        *delta =
            fmin(basic, brume_advanced_delta_upper(BRUME_ADVANCED_TANH, steps, count, epsilon));
    return BRUME_OK;
}

/* The least delta of which the epsilon is within `epsilon`: Gaussians have another guarantee at
 * each delta. Any delta that meets it is a bound. */
static brume_status delta_of_gaussians(brume_method method, const brume_term *terms, size_t count,
                                       double epsilon, double *delta, brume_error *error)
{
    double low = log(0x1p-1000), high = 0;
    while (high - low > 1e-13 * (1 - high)) {
        double middle = low + (high - low) / 2, found = INFINITY;
        brume_pure_step *steps = NULL;
        BRUME_TRY(pure_steps(terms, count, exp(middle), &steps, error));
        brume_status status = pure_epsilon(method, terms, steps, count, exp(middle), &found, error);
        free(steps);
        BRUME_TRY(status);
        *(found <= epsilon ? &high : &low) = middle;
    }
    *delta = exp(high);
    return BRUME_OK;
}

static brume_status by_steps(brume_method method, const brume_term *terms, size_t count,
                             bool of_delta, double at, double *upper, brume_error *error)
{
    brume_pure_step *steps = NULL;
    if (!of_delta && gaussian_count(terms, count) > 0)
        return delta_of_gaussians(method, terms, count, at, upper, error);
    BRUME_TRY(pure_steps(terms, count, of_delta ? at : 0, &steps, error));
    brume_status status = of_delta ? pure_epsilon(method, terms, steps, count, at, upper, error)
                                   : pure_delta(method, terms, steps, count, at, upper, error);
    free(steps);
    return status;
}

/* ------------------------------------------------------------------------ Renyi methods */

static double rho_total(const brume_term *terms, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) /* every product and sum rounded up */
        sum = brume_add_up(sum, brume_multiply_up(brume_count_up(terms[i].count),
                                                  brume_rho_upper(&terms[i].cost)));
    return sum;
}

/* 1 - prod(1 - delta_i)^count_i, rounded up, and never above the sum: exact for one release. */
static double failure_upper(const brume_term *terms, size_t count)
{
    double worst = 0;
    arb_t sum, term, all;
    arb_init(sum), arb_init(term), arb_init(all);
    for (size_t i = 0; i < count; i++) {
        arb_set_d(term, terms[i].cost.delta_failure);
        arb_addmul_ui(all, term, terms[i].count, 128);
        worst = fmax(worst, terms[i].cost.delta_failure);
        if (terms[i].cost.delta_failure > 0 && terms[i].cost.delta_failure < 1) {
            arb_set_d(term, -terms[i].cost.delta_failure);
            arb_log1p(term, term, 128);
            arb_addmul_ui(sum, term, terms[i].count, 128);
        }
    }
    arb_expm1(sum, sum, 128);
    arb_neg(sum, sum);
    double result = worst >= 1 ? 1 : fmin(fmin(brume_ball_upper(sum), brume_ball_upper(all)), 1);
    arb_clear(sum), arb_clear(term), arb_clear(all);
    return result;
}

/* Sum of pure epsilons, where every term has one: Renyi divergence of order infinity. */
static double pure_total(const brume_term *terms, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (terms[i].cost.pure == BRUME_ABSENT)
            return INFINITY;
        sum = brume_add_up(
            sum, brume_multiply_up(brume_count_up(terms[i].count), terms[i].cost.epsilon));
    }
    return sum;
}

static double renyi_epsilon(brume_method method, const brume_term *terms, size_t count,
                            double delta)
{
    double failure = failure_upper(terms, count);
    /* order infinity: divergence <= sum of pure epsilons, no delta beyond the failure */
    double pure = method == BRUME_METHOD_RDP && failure <= delta ? pure_total(terms, count)
                                                                 : INFINITY;
    if (!(delta > failure))
        return pure;
    /* (delta - failure)/(1 - failure), rounded down */
    double rest =
        brume_divide_down(brume_subtract_down(delta, failure), brume_subtract_up(1, failure));
    if (!(rest > 0))
        return pure;
    if (method == BRUME_METHOD_ZCDP)
        return brume_concentrated_epsilon_upper(rho_total(terms, count), rest);
    if (method == BRUME_METHOD_ZCDP_CLOSED)
        return brume_concentrated_epsilon_closed_upper(rho_total(terms, count), rest);
    brume_term_list all = {terms, count};
    brume_curve curve = brume_renyi_total(&all);
    return fmin(pure, brume_renyi_epsilon_upper(&curve, rest));
}

static double renyi_delta(brume_method method, const brume_term *terms, size_t count,
                          double epsilon)
{
    double failure = failure_upper(terms, count), finite;
    if (method == BRUME_METHOD_ZCDP) {
        finite = brume_concentrated_delta_upper(rho_total(terms, count), epsilon);
    } else if (method == BRUME_METHOD_ZCDP_CLOSED) {
        finite = brume_concentrated_delta_closed_upper(rho_total(terms, count), epsilon);
    } else {
        brume_term_list all = {terms, count};
        brume_curve curve = brume_renyi_total(&all);
        finite = brume_renyi_delta_upper(&curve, epsilon);
        if (pure_total(terms, count) <= epsilon)
            finite = 0;
    }
    /* failure + (1 - failure) finite, rounded up */
    double rest = brume_multiply_up(brume_subtract_up(1, failure), finite);
    return fmin(brume_add_up(failure, rest), 1);
}

/* ------------------------------------------------------------------------------ dispatch */

static brume_status one(brume_method method, const brume_term *terms, size_t count, bool of_delta,
                        double at, brume_bound *out, brume_error *error)
{
    brume_bound bound = {.method = method, .route = cards[method - 1].summary};
    if (method == BRUME_METHOD_PLD) {
        brume_composition composition;
        BRUME_TRY(of_delta ? brume_compose_epsilon(terms, count, at, NULL, &composition, error)
                           : brume_compose_delta(terms, count, at, NULL, &composition, error));
        bound.upper = composition.value.upper;
        bound.lower = composition.value.lower;
        bound.has_lower = composition.has_lower;
        bound.infinite = composition.infinite;
        bound.contradictory = composition.contradictory;
        if (composition.route)
            bound.route = composition.route;
    } else if (method <= BRUME_METHOD_OPTIMAL) {
        BRUME_TRY(by_steps(method, terms, count, of_delta, at, &bound.upper, error));
    } else {
        bound.upper = of_delta ? renyi_epsilon(method, terms, count, at)
                               : renyi_delta(method, terms, count, at);
    }
    if (of_delta && isinf(bound.upper))
        bound.infinite = true;
    *out = bound;
    return BRUME_OK;
}

/* Is another method's upper bound below a lower bound that holds for the mechanisms themselves?
 * Each is rounded away from the truth, so then one of them is wrong. */
static bool contradicts(bool found, const brume_bound *result, double upper)
{
    return found && result->has_lower && upper < result->lower;
}

/* Take another bound of the same: a contradiction makes the safe hull of both. */
static void take(brume_bound other, bool *found, brume_bound *result)
{
    if (contradicts(*found, result, other.upper)) {
        result->lower = other.upper;
        result->contradictory = true;
        return;
    }
    /* The lower bound stays. Where it holds for the stated guarantees only, it may lie above the
     * new upper bound. */
    other.lower = fmin(result->lower, other.upper);
    other.has_lower = *found && result->has_lower;
    other.contradictory = result->contradictory;
    *result = other;
    *found = true;
}

/* The least of the other methods that apply, if it is below `result` (or, where `exact`, at it). */
static brume_status take_others(const brume_term *terms, size_t count, bool of_delta, double at,
                                bool exact, bool *found, brume_bound *result, brume_error *error)
{
    bool rough = *found && result->lower < 0.125 * result->upper;
    bool known = *found && result->lower >= (1 - 1e-6) * result->upper;
    /* Their composition has used the curves already, and a term known by a curve alone has none of
     * the methods that come before rdp. */
    bool curved = *found && !exact && brume_is_from_curves(result->route);
    for (int method = BRUME_METHOD_RDP; method >= BRUME_METHOD_BASIC; method--) {
        brume_bound other;
        bool never_least = textbook_form((brume_method)method) ||
                           method == BRUME_METHOD_ZCDP_CLOSED || method == BRUME_METHOD_OPTIMAL;
        if (never_least || (curved && method >= BRUME_METHOD_ZCDP) ||
            check((brume_method)method, terms, count, NULL))
            continue; /* optimal equals pld on what it applies to; curves were asked */
        BRUME_TRY(one((brume_method)method, terms, count, of_delta, at, &other, error));
        if (!*found || other.upper < result->upper ||
            (exact && isfinite(other.upper) && other.upper <= result->upper))
            take(other, found, result);
    }
    brume_bound apart = {.method = BRUME_METHOD_PLD,
                         .route = "unbounded terms alone, moved by the largest loss of the others"};
    /* One more bound, which may fail: then what was found stands. It bounds the stated guarantees,
     * so it cannot help where their composition is already known. */
    if (known)
        return BRUME_OK;
    if (split_bounded_terms(terms, count, of_delta, at, rough, &apart.upper, NULL) == BRUME_OK &&
        *found && apart.upper < result->upper)
        take(apart, found, result);
    return BRUME_OK;
}

/* The certified composition, unless it has no lower end to show that it is tight; then the least of
 * all that apply. Where delta is that of failure, 0 for one, basic composition is exact to the last
 * place. */
static brume_status best(const brume_term *terms, size_t count, bool of_delta, double at,
                         brume_bound *out, brume_error *error)
{
    brume_bound result = {.upper = of_delta ? INFINITY : 1, .method = BRUME_METHOD_PLD};
    brume_error why = {0};
    brume_status status = one(BRUME_METHOD_PLD, terms, count, of_delta, at, &result, &why);
    bool found = status == BRUME_OK, exact = of_delta && at <= failure_upper(terms, count);
    /* Near the largest loss delta changes by far more than its parameters do. */
    double near = of_delta ? 1e-6 : 1e-3;
    bool tight = found && result.has_lower && result.upper <= result.lower * (1 + near) && !exact;
    if (!tight)
        BRUME_TRY(take_others(terms, count, of_delta, at, exact, &found, &result, error));
    if (!found) {
        if (error)
            *error = why;
        return status;
    }
    *out = result;
    return BRUME_OK;
}

brume_status brume_account_delta_near(const brume_term *terms, size_t count,
                                      const brume_asked *asked, brume_composition *out,
                                      double *excess, brume_error *error)
{
    brume_composition near = {.value = {0, 1}};
    brume_diagnostics work = {0};
    brume_error why = {0};
    brume_status status = brume_compose(terms, count, asked, &near, &work, &why);
    bool found = status == BRUME_OK;
    /* Far below any useful delta a line gives a poor bound, and moments may give a better one. */
    bool rough = near.value.upper > 8 * near.value.lower;
    /* Far from the delta it is compared with, on a known side: the other methods are not needed. */
    bool decided = found &&
                   (near.value.upper < 0.3 * asked->sought ||
                    (near.has_lower && asked->sought > 0 && near.value.lower > 3 * asked->sought));
    if (!decided && (!found || !near.has_lower || rough)) {
        brume_bound bound = {.lower = near.value.lower,
                             .upper = near.value.upper,
                             .has_lower = near.has_lower,
                             .route = near.route,
                             .contradictory = near.contradictory};
        BRUME_TRY(take_others(terms, count, false, asked->at, false, &found, &bound, error));
        if (bound.upper < near.value.upper) { /* nothing of it is a band's */
            near.value.upper = bound.upper;
            work.excess = 0;
        }
        near.value.lower = fmin(bound.lower, near.value.upper);
        near.contradictory = bound.contradictory;
    }
    if (!found) {
        if (error)
            *error = why;
        return status;
    }
    *out = near;
    *excess = work.excess;
    return BRUME_OK;
}

brume_status brume_account_epsilon(brume_method method, const brume_term *terms, size_t count,
                                   double delta, brume_bound *out, brume_error *error)
{
    if (!(delta >= 0 && delta < 1))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'delta' is %.17g, must be in [0, 1)",
                          delta);
    BRUME_TRY(check(method, terms, count, error));
    if (method == BRUME_METHOD_AUTO)
        return best(terms, count, true, delta, out, error);
    return one(method, terms, count, true, delta, out, error);
}

brume_status brume_account_delta(brume_method method, const brume_term *terms, size_t count,
                                 double epsilon, brume_bound *out, brume_error *error)
{
    if (!(epsilon >= 0) || isinf(epsilon))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'epsilon' is %.17g, must be a finite number of at least 0", epsilon);
    BRUME_TRY(check(method, terms, count, error));
    if (method == BRUME_METHOD_AUTO)
        return best(terms, count, false, epsilon, out, error);
    return one(method, terms, count, false, epsilon, out, error);
}
