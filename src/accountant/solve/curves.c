/* Composing terms of which some are known by their moments only. See the header. */
#include "accountant/contour/line.h"
#include "accountant/solve/curves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/renyi/renyi.h"
#include "base/error.h"

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
typedef struct found {
    brume_composition result;
    brume_diagnostics work;
} found;

/* The upper end of both orders by the pair, if it is below the result. */
static brume_status take_pair(const brume_term *terms, size_t count, brume_asked q, found *best,
                              brume_error *error)
{
    brume_curve_sum curves;
    if (!brume_curve_sum_open(terms, count, &curves))
        return brume_no_memory(error, "composing");
    brume_curve_bound bound = {.curves = &curves, .asked = q, .work = best->work};
    brume_status status = brume_each_order(terms, count, visit_order, &bound, error);
    brume_curve_sum_close(&curves);
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
                                    found *best, brume_error *error)
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
                            found *best, brume_error *error)
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
    found best = {.work = {0}};
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
