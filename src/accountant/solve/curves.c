/* Composing terms of which some are known by their moments only. See the header. */
#include "accountant/solve/curves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <brume/account/diagnostics.h>

#include "accountant/contour/line.h"
#include "accountant/renyi/renyi.h"
#include "accountant/solve/solve.h"
#include "base/error.h"
#include "number/rounding.h"

/* A pair from curves: the lower convex hull of what their moments say of the profile.
 *
 * Promise: the profile of the pair, its mass at +infinity included, is nowhere below that of any
 * releases with these moments. Masses are rounded up, one by one; they need not add up to 1. */

enum { WHOLE = 64, ORDERS = 257 + WHOLE, MOST_VERTICES = 700 };

static const double unit = BRUME_UNIT;
static const double finest = 0.1;   /* spacing of losses times the order, where it matters */
static const double coarsest = 0.1; /* ... in deviations of the pair, at most */

/* --- all curves together --- */

static bool only_curve(const brume_cost *cost)
{
    return cost->loss == BRUME_ABSENT && cost->pure == BRUME_ABSENT && brume_renyi_known(cost);
}

/* Is its curve the line rho alpha? */
static bool is_line(const brume_cost *cost)
{
    return cost->concentrated != BRUME_ABSENT &&
           (cost->renyi == BRUME_ABSENT || !cost->renyi_upper ||
            cost->renyi_upper == brume_renyi_rho_upper);
}

/* The terms with neither a law nor a pure epsilon. False if memory ran out. */
static bool curve_sum_open(const brume_term *terms, size_t count, brume_curve_sum *out)
{
    brume_term *own = malloc((count + 1) * sizeof *own);
    if (!own)
        return false;
    size_t used = 0;
    double rho = 0;
    for (size_t i = 0; i < count; i++) {
        const brume_cost *cost = &terms[i].cost;
        if (!only_curve(cost))
            continue;
        own[used++] = terms[i];
        double all = brume_multiply_up(brume_count_up(terms[i].count), cost->rho); /* up */
        rho = is_line(cost) ? brume_add_up(rho, all) : INFINITY;
    }
    *out = (brume_curve_sum){.list = {own, used}, .rho = isfinite(rho) ? rho : 0};
    return true;
}

static void curve_sum_close(brume_curve_sum *curves)
{
    free((void *)curves->list.terms);
    curves->list = (brume_term_list){NULL, 0};
}

double brume_curve_sum_upper(const brume_curve_sum *curves, double c)
{
    if (curves->rho > 0) /* rho c (c+1): three roundings */
        return curves->rho * c * (c + 1) * (1 + 4 * unit);
    brume_curve curve = brume_renyi_total(&curves->list);
    /* the order 1 + c rounded up: divergences grow with it; then two roundings */
    double k = c * curve.at(curve.context, (1 + c) * (1 + 2 * unit)) * (1 + 4 * unit);
    return isnan(k) ? INFINITY : k;
}

double brume_curve_sum_slope(const brume_curve_sum *curves, double c)
{
    if (curves->rho > 0)
        return curves->rho * (2 * c + 1);
    double step = 1e-3 * c;
    return (brume_curve_sum_upper(curves, c + step) - brume_curve_sum_upper(curves, c - step)) /
           (2 * step);
}

/* --- what they say of the profile --- */

typedef struct order {
    double c, k, tail; /* K(c) <= k; tail = c log c - (c+1) log(c+1) */
} order;

static order order_at(const brume_curve_sum *curves, double c)
{
    /* -log1p(c) - c log1p(1/c): nothing cancels */
    return (order){c, brume_curve_sum_upper(curves, c), -log1p(c) - c * log1p(1 / c)};
}

/* log D(e^eps) <= K(c) - c eps + c log c - (c+1) log(c+1), up by more than its roundings. */
static double log_profile_at(const order *at, double epsilon)
{
    double bound = at->k - at->c * epsilon + at->tail;
    return bound + 1e-14 * (1 + fabs(at->k) + fabs(at->c * epsilon) + fabs(at->tail));
}

/* The order at which a line's bound at epsilon is least: K'(c) - log(1 + 1/c) = epsilon; Newton's
 * steps in log c, from any start. Any c would do. */
static double line_order(double rho, double epsilon, double start)
{
    double at = log(start);
    for (int i = 0; i < 40; i++) {
        double c = exp(at), excess = rho * (2 * c + 1) - log1p(1 / c) - epsilon;
        double move = excess / (2 * rho * c + 1 / (c + 1));
        at -= fmin(fmax(move, -2), 2);
        if (fabs(move) < 1e-7)
            break;
    }
    return exp(at);
}

typedef struct curve_table {
    const brume_curve_sum *curves;
    double last;          /* the order used last */
    order orders[ORDERS]; /* of curves that are no lines */
} curve_table;

static double log_profile(curve_table *table, double epsilon)
{
    if (table->curves->rho > 0) {
        table->last = line_order(table->curves->rho, epsilon, table->last);
        order at = order_at(table->curves, table->last);
        return fmin(0, log_profile_at(&at, epsilon));
    }
    double best = 0;
    for (int i = 0; i < ORDERS; i++)
        best = fmin(best, log_profile_at(&table->orders[i], epsilon)); /* fmin passes over a NaN */
    return best;
}

/* An upper bound of D at u = e^eps; for eps < 0 by D(u) = 1 - u + u D'(1/u), D' the other order,
 * which has the same curve. */
static double profile_upper(curve_table *table, double epsilon)
{
    double up = 1 + 1e-14, tiny = 1e-300; /* of roundings, and of what underflows */
    if (epsilon >= 0)
        return fmin(1, exp(log_profile(table, epsilon)) * up + tiny);
    return fmin(1, (-expm1(epsilon) + exp(epsilon + log_profile(table, -epsilon))) * up + tiny);
}

/* --- the hull --- */

/* The slope in u between two vertices, times u of the first or of the second; no e^x, so that no
 * loss is too large. A difference of doubles is rounded once, that of the places by one unit of
 * itself, expm1 by two: 8 units, and for the first as many more as the places lie apart. */
static double slope_after(double x, double d, double later_x, double later_d)
{
    return (later_d - d) / expm1(later_x - x);
}

static double slope_before(double x, double d, double earlier_x, double earlier_d)
{
    return (d - earlier_d) / -expm1(earlier_x - x);
}

/* The slope before vertex i; before the first vertex from (0, 1). */
static double slope_left(const double *x, const double *d, size_t i)
{
    return i > 0 ? slope_before(x[i], d[i], x[i - 1], d[i - 1]) : d[0] - 1;
}

/* Keep the lower convex hull of (0, 1) and the points (e^x, d), x increasing; returns how many. A
 * point that rounding leaves out is a bound that is not used. */
static size_t convex_hull(double *x, double *d, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        while (kept > 0 &&
               !(slope_after(x[kept - 1], d[kept - 1], x[i], d[i]) > slope_left(x, d, kept - 1)))
            kept--;
        x[kept] = x[i];
        d[kept] = d[i];
        kept++;
    }
    return kept;
}

/* The loss at which the bound of the profile comes down to e^target, as near as it matters. */
static double loss_of(curve_table *table, double target, double start)
{
    double low = 0, high = start;
    for (int i = 0; i < 40 && log_profile(table, high) > target; i++)
        high = 2 * (low = high);
    while (high - low > 1e-9 * high) {
        double middle = 0.5 * (low + high);
        *(log_profile(table, middle) > target ? &low : &high) = middle;
    }
    return high;
}

/* Places of the losses: about the loss that order c makes likely, in deviations of the pair,
 * densely near it and less densely further away. */
static size_t lay_places(curve_table *table, double c, double log_delta, double *x)
{
    /* as of the line through this point of the curve, which may have kinks */
    const brume_curve_sum *curves = table->curves;
    double rho = brume_curve_sum_upper(curves, c) / (c * (c + 1)), deviation = sqrt(2 * rho);
    double middle = rho * (2 * c + 1) - log1p(1 / c);
    middle = 0.5 * (middle + hypot(middle, deviation)); /* not below 0 */
    double least = fmin(log_delta, 0) - 18, reach = sqrt(-2 * least), farthest = reach;
    if (!(curves->rho > 0)) /* a curve that rises faster than a line has larger losses */
        farthest = fmax(farthest,
                        (loss_of(table, least, middle + deviation * reach) - middle) / deviation);
    double above = asinh(farthest), below = asinh(middle / deviation + reach);
    double step = 1 / (1 / coarsest + c * deviation / finest);
    size_t count = (size_t)fmin(ceil((above + below) / step), MOST_VERTICES - 2) + 1;
    step = (above + below) / (double)(count - 1);
    size_t used = 0;
    double last = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        double place = middle + deviation * sinh((double)i * step - below);
        if (isfinite(place) && place > last)
            x[used++] = last = place;
    }
    return used;
}

brume_status brume_curve_pair(const brume_curve_sum *curves, double c, double log_delta,
                              brume_law *law, double *failure, brume_error *error)
{
    double x[MOST_VERTICES], d[MOST_VERTICES], mass[MOST_VERTICES];
    curve_table table = {.curves = curves, .last = c};
    if (!(curves->rho > 0))
        for (int i = 0; i < ORDERS; i++) /* whole ones too: some curves have their kinks there */
            table.orders[i] =
                order_at(curves, i < WHOLE ? i + 1 : c * exp2((i - WHOLE - 128) / 16.0));
    size_t points = lay_places(&table, c, log_delta, x);
    for (size_t i = 0; i < points; i++)
        d[i] = profile_upper(&table, x[i]);
    points = convex_hull(x, d, points);
    for (size_t i = 0; i < points; i++) {
        bool last = i + 1 == points;
        double left = slope_left(x, d, i), apart = last ? 0 : x[i + 1] - x[i];
        double right = last ? 0 : slope_after(x[i], d[i], x[i + 1], d[i + 1]);
        /* u times the jump of the slope, up */
        double p = right - left + unit * (12 * fabs(left) + (12 + 2 * apart) * fabs(right));
        mass[i] = log(fmax(p, 1e-300) * (1 + 8 * unit));
    }
    /* beyond the last vertex D is at most its value there: that much lies at +infinity */
    *failure = points > 0 ? d[points - 1] : 1;
    if (points == 0) { /* nothing finite at all */
        x[0] = mass[0] = 0;
        points = 1;
    }
    return brume_law_open_table(x, mass, points, 16 * unit, 1, law, error);
}

static const char route_moments[] = "moments of all terms (a term has no loss law)";
static const char route_pairs[] = "exact composition with a pair that dominates the moments";

bool brume_is_from_curves(const char *route)
{
    return route == route_moments || route == route_pairs;
}

bool brume_curves_needed(const brume_term *terms, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (terms[i].cost.loss == BRUME_ABSENT && terms[i].cost.pure == BRUME_ABSENT)
            return true;
    return false;
}

/* Is there a term with a loss law, too? If not, a pair gives the same bound as moments. */
static bool has_laws(const brume_term *terms, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (terms[i].cost.loss != BRUME_ABSENT || terms[i].cost.pure != BRUME_ABSENT)
            return true;
    return false;
}

static double all_moments(const brume_term *terms, size_t count, brume_asked q)
{
    brume_term_list list = {terms, count};
    brume_curve curve = brume_renyi_total(&list);
    return q.of_delta ? brume_renyi_epsilon_upper(&curve, q.at)
                      : brume_renyi_delta_upper(&curve, q.at);
}

/* Is a pure epsilon, not attained, also known by a rho below that of the worst pure law? */
static bool has_better_rho(const brume_cost *cost)
{
    bool pure = cost->loss == BRUME_ABSENT
                    ? cost->pure != BRUME_ABSENT
                    : cost->loss == BRUME_UPPER && cost->law.kind == BRUME_LOSS_PURE;
    return pure && cost->pure != BRUME_ABSENT && cost->concentrated != BRUME_ABSENT &&
           cost->rho < 0.99 * cost->epsilon * tanh(cost->epsilon / 2);
}

/* May a curve say more of it than the law that stands for it? */
static bool has_better_curve(const brume_cost *cost)
{
    bool own = cost->renyi != BRUME_ABSENT && cost->renyi_upper &&
               cost->renyi_upper != brume_renyi_pure_upper &&
               cost->renyi_upper != brume_renyi_rho_upper;
    bool line = cost->concentrated != BRUME_ABSENT && cost->pure == BRUME_ABSENT;
    return cost->loss != BRUME_EXACT && (own || line || has_better_rho(cost));
}

static brume_status visit_order(void *context, bool again, brume_merged *merged, bool *done,
                                brume_error *error)
{
    (void)again;
    (void)done;
    return brume_curve_bound_order(context, merged, error);
}

/* What was found so far. */
typedef struct curves_found {
    brume_composition result;
    brume_diagnostics work;
} curves_found;

/* The upper end of both orders by the pair, if it is below the result. */
static brume_status take_pair(const brume_term *terms, size_t count, brume_asked q,
                              curves_found *best, brume_error *error)
{
    brume_curve_sum curves;
    if (!curve_sum_open(terms, count, &curves))
        return brume_no_memory(error, "composing");
    brume_curve_bound bound = {.curves = &curves, .asked = q, .work = best->work};
    brume_status status = brume_each_order(terms, count, visit_order, &bound, error);
    curve_sum_close(&curves);
    BRUME_TRY(status);
    if (bound.upper < best->result.value.upper) {
        best->result.value.upper = bound.upper;
        best->result.route = bound.paired ? route_pairs : route_moments;
        best->work = bound.work;
    }
    return BRUME_OK;
}

/* A copy of the terms with those pure ones among the curves, by their rho; NULL if memory ran out.
 */
static brume_term *widened(const brume_term *terms, size_t count)
{
    brume_term *wider = malloc(count * sizeof *wider);
    if (!wider)
        return NULL;
    memcpy(wider, terms, count * sizeof *wider);
    for (size_t i = 0; i < count; i++)
        if (has_better_rho(&wider[i].cost)) {
            wider[i].cost.pure = wider[i].cost.loss = wider[i].cost.renyi = BRUME_ABSENT;
            wider[i].cost.renyi_upper = NULL;
        }
    return wider;
}

static brume_status take_wider_pair(const brume_term *terms, size_t count, brume_asked q,
                                    curves_found *best, brume_error *error)
{
    brume_term *wider = widened(terms, count);
    if (!wider)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory while composing");
    brume_status status = has_laws(wider, count) ? take_pair(wider, count, q, best, error)
                                                 : BRUME_OK;
    free(wider);
    return status;
}

bool brume_curves_help(const brume_term *terms, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (has_better_rho(&terms[i].cost))
            return true;
    return false;
}

bool brume_curves_suffice(const brume_term *terms, size_t count, brume_asked q, double upper)
{
    brume_merged merged;
    if (brume_merge_terms(terms, count, false, &merged, NULL) != BRUME_OK)
        return false;
    bool yes = merged.curve_count > 0; /* the laws alone say nothing of all terms */
    double factor = 3;                 /* by which the saddle point's estimate may be wrong */
    for (size_t i = 0; i < merged.law_count; i++)
        if (brume_law_is_sampled_gaussian(&merged.laws[i]) &&
            merged.laws[i].count * merged.laws[i].rate < 20)
            factor = 100; /* few draws that count */
    if (!yes && merged.law_count > 0 && isfinite(upper)) {
        double epsilon = q.of_delta ? upper : q.at, failure = merged.failure;
        double target = q.of_delta ? q.at : upper;
        double guess = brume_saddle_delta(merged.laws, merged.law_count, epsilon);
        yes = failure + (1 - failure) * guess > failure + factor * (target - failure);
    }
    brume_merged_close(&merged);
    return yes;
}

static brume_status by_both(const brume_term *terms, size_t count, brume_asked q, double finite,
                            curves_found *best, brume_error *error)
{
    brume_composition *result = &best->result;
    bool laws = has_laws(terms, count), better = !laws, wider = false, curves = false;
    for (size_t i = 0; i < count; i++) {
        const brume_cost *cost = &terms[i].cost;
        bool known = cost->loss != BRUME_ABSENT || cost->pure != BRUME_ABSENT;
        wider |= has_better_rho(cost);
        better |= known && has_better_curve(cost);
        curves |= !known;
    }
    double worst = q.of_delta ? INFINITY : 1;
    result->value.upper = worst;
    if (laws && curves) /* without curves the laws are composed in compose.c */
        BRUME_TRY(take_pair(terms, count, q, best, error));
    if (wider)
        BRUME_TRY(take_wider_pair(terms, count, q, best, error));
    if (better || !(result->value.upper < worst)) { /* each curve as good as it is */
        brume_asked rest = {.of_delta = q.of_delta, .at = q.of_delta ? finite : q.at};
        double upper = all_moments(terms, count, rest), failed = result->failure.upper;
        if (wider) { /* of an epsilon and a rho together there may be two best orders */
            brume_term *lines = widened(terms, count);
            if (!lines)
                return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory while composing");
            upper = fmin(upper, all_moments(lines, count, rest));
            free(lines);
        }
        if (!q.of_delta) /* failure + (1 - failure) delta, up */
            upper = fmin(1, (failed + (1 - failed) * upper) * (1 + 8 * BRUME_UNIT));
        if (upper < result->value.upper) {
            result->value.upper = upper;
            result->route = route_moments;
        }
    }
    return BRUME_OK;
}

/* Failure and finite delta of the terms themselves; *finite is rounded down, 0 if there is none. */
static brume_status look(const brume_term *terms, size_t count, double delta, double *finite,
                         brume_composition *out, brume_error *error)
{
    brume_merged merged;
    BRUME_TRY(brume_merge_terms(terms, count, false, &merged, error));
    brume_merged_close(&merged);
    *out = (brume_composition){.failure = merged.failure_ends, .route = route_moments};
    double excess = delta - merged.failure_ends.upper;
    *finite = excess > 0 ? excess / (1 - merged.failure_ends.lower) * (1 - 8 * BRUME_UNIT) : 0;
    out->infinite = merged.infinite || delta <= merged.failure_ends.lower;
    return BRUME_OK;
}

brume_status brume_curves_compose(const brume_term *terms, size_t count, brume_asked asked,
                                  brume_composition *out, brume_diagnostics *work,
                                  brume_error *error)
{
    curves_found best = {.work = {0}};
    double finite;
    BRUME_TRY(look(terms, count, asked.of_delta ? asked.at : 1, &finite, &best.result, error));
    if (!asked.of_delta) {
        best.result.infinite = false;
        best.result.value.lower = best.result.failure.lower;
    }
    if (best.result.infinite) {
        best.result.value = (brume_interval){INFINITY, INFINITY};
        best.result.route = "delta is not above the probability of failure";
    } else {
        BRUME_TRY(by_both(terms, count, asked, finite, &best, error));
    }
    *out = best.result;
    *work = best.work;
    return BRUME_OK;
}
