/* The trade-off function of a composition, from certified bounds of its profile.
 *
 * f(a) = sup over u > 0 of g(u) = 1 - D(u) - u a, D convex and decreasing, so g is concave. Any u
 * gives a lower end. The upper end rests on convexity: in a cell of a short grid around the optimum
 * D lies above the extended chords of both neighbouring cells, and outside the grid g falls because
 * the certified end chords say so. See proofs/accountant/solve.md, section solve.3. */
#include "accountant/solve/compose.h"

#include <math.h>

#include "accountant/law/shift_parameters.h"
#include "accountant/solve/merge_terms.h"
#include "base/error.h"
#include "number/rounding.h"

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

static brume_status visit_order(void *context, bool again, brume_merged *merged, bool *done,
                                brume_error *error)
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
    BRUME_TRY(brume_each_order(terms, count, visit_order, &both, error));
    *out = both.result;
    if (options && options->diagnostics)
        *options->diagnostics = both.work;
    return BRUME_OK;
}
