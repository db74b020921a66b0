/* The bound that a calibration brings down to its target, at one value of the unknown.
 *
 * Promise: a certified bound is one of the whole expression with that value, rounded up. A trial
 * whose cost is that of an earlier one is not made again: many values of a sensitivity of integers
 * cost the same. */
#include "mechanism/calibrate.h"

#include <math.h>

#include "accountant/search.h"
#include "base/error.h"

double brume_calibrate_target(const brume_search_for *c)
{
    return c->accuracy || !(c->delta > 0) ? c->epsilon : c->delta;
}

/* The cheapest bound that is near: rho, but not where sampling makes it far too large. */
static brume_method rough_method(const brume_search_for *c)
{
    for (size_t i = 0; i < c->expression->count; i++)
        if (c->terms[i].cost.law.rate > 0 ||
            !brume_method_applies(BRUME_METHOD_ZCDP, &c->terms[i].cost))
            return BRUME_METHOD_RDP;
    return BRUME_METHOD_ZCDP;
}

bool brume_calibrate_same_cost(const brume_cost *a, const brume_cost *b)
{
    return a->pure == b->pure && a->epsilon == b->epsilon && a->concentrated == b->concentrated &&
           a->rho == b->rho && a->renyi == b->renyi && a->renyi_upper == b->renyi_upper &&
           a->loss == b->loss && a->law.kind == b->law.kind && a->law.a == b->law.a &&
           a->law.rate == b->law.rate && a->law.shift == b->law.shift &&
           a->delta_failure == b->delta_failure;
}

/* 1 - prod (1 - delta_i)^n_i, about. */
static double failure_of(const brume_search_for *c)
{
    double log_survival = 0;
    for (size_t i = 0; i < c->expression->count; i++)
        log_survival += (double)c->terms[i].count * log1p(-c->terms[i].cost.delta_failure);
    return -expm1(log_survival);
}

bool brume_calibrate_split_failure(brume_search_for *c, double value, brume_error *error)
{
    const brume_unknown *unknown = &c->expression->unknown;
    const brume_event *event = &c->expression->events[unknown->event];
    brume_cost first, other;
    double bound;
    if (brume_expression_solve(c->expression, value, error) != BRUME_OK ||
        brume_event_cost(event, &first, error) != BRUME_OK ||
        brume_expression_solve(c->expression, 2 * value, error) != BRUME_OK ||
        brume_event_cost(event, &other, error) != BRUME_OK ||
        first.delta_failure == other.delta_failure)
        return false;
    other.delta_failure = first.delta_failure;
    c->tolerance = 2e-10;
    if (!brume_calibrate_same_cost(&first, &other) ||
        brume_calibrate_bound(c, value, &bound, error) != BRUME_OK)
        return false;
    double failure = failure_of(c);
    c->finite = (bound - failure) / (1 - failure);
    c->only_failure = c->finite >= 0 && c->finite < 1;
    return c->only_failure;
}

static const brume_trial *recall(const brume_search_for *c, const brume_term *term)
{
    size_t kept = c->tried_count < BRUME_TRIED ? c->tried_count : BRUME_TRIED;
    for (size_t i = 0; i < kept; i++) {
        const brume_tried *tried = &c->tried[i];
        if (tried->look == c->look && tried->tolerance <= c->tolerance &&
            tried->count == term->count && brume_calibrate_same_cost(&tried->cost, &term->cost))
            return &tried->trial;
    }
    return NULL;
}

static void keep(brume_search_for *c, const brume_term *term)
{
    c->tried[c->tried_count++ % BRUME_TRIED] = (brume_tried){.cost = term->cost,
                                                             .count = term->count,
                                                             .look = c->look,
                                                             .tolerance = c->tolerance,
                                                             .trial = c->trial};
}

/* Does the interval not say on which side of the target the truth is, and may a sharper one? Where
 * nothing is known of the lower end, a bound falls by its tolerance at most, down to a thousandth.
 */
static bool undecided(const brume_search_for *c, const brume_composition *near, double tolerance)
{
    const brume_interval *value = &near->value;
    if (value->upper <= c->delta)
        return false;
    if (value->lower > 0.5 * value->upper)
        return value->lower <= c->delta && tolerance > 1e-10;
    return tolerance > 1e-3;
}

/* By the certified composition, as near as c->tolerance; for a whole number ever nearer, until it
 * is decided. */
static brume_status certify(brume_search_for *c, size_t count, brume_error *error)
{
    bool decide = c->whole || c->decide;
    brume_composition near;
    brume_compose_options options = {.tolerance = c->tolerance,
                                     .upper_end = !decide && !c->both_ends};
    BRUME_TRY(brume_account_delta_near(c->terms, count, c->epsilon, &options, &near, error));
    /* so coarse that the laws were not looked at? */
    bool vague = near.has_lower && near.value.lower < 0.5 * near.value.upper;
    if (!decide && vague && options.tolerance > 1e-3) {
        options.tolerance = 1e-3;
        BRUME_TRY(brume_account_delta_near(c->terms, count, c->epsilon, &options, &near, error));
    }
    while (decide && undecided(c, &near, options.tolerance)) {
        options.tolerance = fmax(options.tolerance / 20, 1e-10);
        BRUME_TRY(brume_account_delta_near(c->terms, count, c->epsilon, &options, &near, error));
    }
    c->trial = (brume_trial){.bound = near.value.upper,
                             .lower = near.value.lower,
                             .excess = near.excess,
                             .nodes = (double)near.nodes};
    return BRUME_OK;
}

static brume_status try_terms(brume_search_for *c, const brume_term *term, brume_error *error)
{
    size_t count = c->expression->count;
    c->trial = (brume_trial){.bound = INFINITY};
    if (c->look == BRUME_LOOK_SADDLE && c->only_failure) {
        double failure = failure_of(c);
        c->trial.bound = failure + (1 - failure) * c->finite;
        return BRUME_OK;
    }
    if (c->look == BRUME_LOOK_SADDLE) {
        if (!brume_compose_guess(c->terms, count, c->epsilon, &c->trial.bound))
            return brume_fail(error, BRUME_EUNSUPPORTED, NULL, "no guess");
        return BRUME_OK;
    }
    brume_method method = BRUME_METHOD_AUTO;
    if (!(c->delta > 0)) /* exact to the last place */
        method = BRUME_METHOD_BASIC;
    else if (c->look == BRUME_LOOK_MOMENTS)
        method = rough_method(c);
    if (!brume_method_applies(method, &term->cost))
        return BRUME_OK; /* so extreme that nothing is known: too little noise */
    if (method == BRUME_METHOD_AUTO)
        return certify(c, count, error);
    brume_bound result;
    if (c->delta > 0)
        BRUME_TRY(brume_account_delta(method, c->terms, count, c->epsilon, &result, error));
    else
        BRUME_TRY(brume_account_epsilon(method, c->terms, count, 0, &result, error));
    c->trial.bound = result.upper;
    return BRUME_OK;
}

brume_status brume_calibrate_bound(brume_search_for *c, double value, double *bound,
                                   brume_error *error)
{
    const brume_unknown *unknown = &c->expression->unknown;
    BRUME_TRY(brume_expression_solve(c->expression, value, error));
    const brume_event *event = &c->expression->events[unknown->event];
    if (c->accuracy)
        return brume_event_alpha(event, c->delta, bound, error);
    brume_term *term = &c->terms[unknown->event];
    BRUME_TRY(brume_event_cost(event, &term->cost, error));
    term->count = event->count;
    const brume_trial *known = recall(c, term);
    if (known) {
        c->trial = *known;
    } else {
        BRUME_TRY(try_terms(c, term, error));
        keep(c, term);
    }
    *bound = c->trial.bound;
    return BRUME_OK;
}

brume_status brume_calibrate_bound_at(void *context, double x, double *bound, brume_error *error)
{
    brume_search_for *c = context;
    double value = c->inverted ? 1 / x : x;
    return brume_calibrate_bound(c, c->whole ? floor(value * (1 + 1e-12)) : value, bound, error);
}

brume_status brume_calibrate_excess(brume_search_for *c, double log_x, double *excess,
                                    brume_error *error)
{
    double bound, target = brume_calibrate_target(c);
    BRUME_TRY(brume_calibrate_bound_at(c, exp(log_x), &bound, error));
    *excess = log(bound / target);
    /* what counts is the comparison, not its logarithm, which may be 0 for a bound a unit above */
    if (bound <= target)
        *excess = fmin(*excess, 0);
    else if (!(*excess > 0) && !isnan(bound))
        *excess = 1e-300;
    return BRUME_OK;
}

bool brume_calibrate_is_sampled(const brume_search_for *c)
{
    for (size_t i = 0; i < c->expression->count; i++)
        if (c->terms[i].cost.law.rate > 0)
            return true;
    return false;
}

bool brume_calibrate_is_thinned(const brume_search_for *c)
{
    for (size_t i = 0; i < c->expression->count; i++)
        if (c->terms[i].cost.law.rate > 0 &&
            c->terms[i].cost.law.kind != BRUME_LOSS_POISSON_GAUSSIAN)
            return true;
    return false;
}

enum { MOST_PLACES = 32 };

/* A walk of brume_calibrate_look: the points on both sides of its target, and the last one. */
typedef struct walk {
    brume_search_for *search_for;
    double target;
    double low, low_excess, high, high_excess; /* logarithms; NAN: not yet known */
    double last, last_bound;
    double places[MOST_PLACES], bounds[MOST_PLACES]; /* where it has been, in order */
    size_t count;
} walk;

/* Where the bound was first less than 3 times what it comes down to: there the unknown begins to
 * count for less than the other terms. */
static double place_of_bend(const walk *w)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->bounds[i] < 3 * w->last_bound)
            return w->places[i];
    return NAN;
}

/* The bound at a point of a walk. Given up where a cheap bound stays above the target, unmoved by
 * ever more noise: the other terms alone cost more than that, by this bound. */
static brume_status walk_to(void *context, double x, double *bound, brume_error *error)
{
    walk *w = context;
    BRUME_TRY(brume_calibrate_bound_at(w->search_for, x, bound, error));
    double at = log(x), excess = log(*bound / w->target), moved = at - w->last;
    if (w->count < MOST_PLACES)
        w->places[w->count] = x, w->bounds[w->count++] = *bound;
    if (w->search_for->look != BRUME_LOOK_CERTIFIED && !w->search_for->only_failure && moved > 2 &&
        *bound > w->target && *bound < 0.5 && fabs(log(*bound / w->last_bound)) < 1e-3 * moved) {
        w->search_for->hint = place_of_bend(w);
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL, "more noise does not help");
    }
    if (excess > 0 && !(at <= w->low))
        w->low = at, w->low_excess = excess;
    if (excess <= 0 && !(at >= w->high))
        w->high = at, w->high_excess = excess;
    w->last = at, w->last_bound = *bound;
    return BRUME_OK;
}

/* The slope at *at, where the walk ended: by its two sides, if that is all that is needed, else by
 * a point beside it. */
static bool slope_at(brume_search_for *c, const walk *w, double at, bool beside_it, double *slope)
{
    double here, beside;
    *slope = (w->low_excess - w->high_excess) / (w->high - w->low);
    if (!beside_it && isfinite(*slope) && *slope > 0)
        return true;
    if (brume_calibrate_excess(c, at, &here, NULL) != BRUME_OK)
        return false;
    /* near the largest loss a hair more noise costs nothing at all: look closer there */
    for (double step_aside = 0.01; step_aside > 1e-9; step_aside /= 8) {
        if (brume_calibrate_excess(c, at + step_aside, &beside, NULL) != BRUME_OK)
            return false;
        *slope = (here - beside) / step_aside;
        if (isfinite(*slope))
            return true;
    }
    return false;
}

bool brume_calibrate_look(brume_search_for *c, brume_looking by, double least, double most,
                          double guess, double step, double *at, double *slope)
{
    double target = brume_calibrate_target(c);
    if (by == BRUME_LOOK_MOMENTS) /* such a bound is some 7 times the truth where it is near */
        target = fmin(7 * target, sqrt(target));
    bool near = by == BRUME_LOOK_SADDLE && !brume_calibrate_is_sampled(c);
    double relative = by == BRUME_LOOK_SADDLE && c->only_failure ? 1e-12
                      : near                                     ? 1e-3
                      : by == BRUME_LOOK_CERTIFIED               ? 0.5
                                                                 : 0.05;
    walk w = {.search_for = c, .target = target, .low = NAN, .high = NAN, .last = NAN};
    brume_search search = {.value = walk_to,
                           .context = &w,
                           .target = target,
                           .least = least,
                           .most = most,
                           .relative = relative,
                           .step = step};
    c->look = by, c->tolerance = 0.02, c->hint = NAN;
    bool found = brume_search_least(&search, guess, at, NULL) == BRUME_OK && least < *at &&
                 *at < most && slope_at(c, &w, log(*at), near || c->only_failure, slope);
    c->look = BRUME_LOOK_CERTIFIED;
    return found;
}

brume_status brume_calibrate_no_value(const brume_search_for *c, brume_error *error)
{
    const char *hint = c->accuracy || c->delta > 0
                           ? "the other terms alone may cost more than that"
                           : "at delta = 0 every release needs a pure epsilon: give a delta";
    return brume_fail(error, BRUME_EUNSUPPORTED, hint, "no value of '%s' meets the target",
                      c->expression->unknown.parameter->name);
}

brume_status brume_calibrate_not_moved(const brume_search_for *c, brume_error *error)
{
    return brume_fail(error, BRUME_EUNSUPPORTED,
                      c->accuracy ? "ask for a cost: --epsilon and --delta"
                                  : "ask for an accuracy: --alpha and --beta",
                      "'%s' cannot be calibrated: the %s does not depend on it",
                      c->expression->unknown.parameter->name, c->accuracy ? "error" : "cost");
}
