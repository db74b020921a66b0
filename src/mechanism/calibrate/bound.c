/* The bound that a calibration brings down to its target, at one value of the unknown.
 *
 * Promise: a certified bound is one of the whole expression with that value, rounded up. A trial
 * whose cost is that of an earlier one is not made again: many values of a sensitivity of integers
 * cost the same. */
#include <math.h>
#include <stdlib.h>

#include "accountant/search.h"
#include "accountant/solve/compose.h"
#include "base/error.h"
#include "mechanism/calibrate/calibrate.h"

bool brume_calibrate_same_cost(const brume_cost *a, const brume_cost *b)
{
    return a->pure == b->pure && a->epsilon == b->epsilon && a->concentrated == b->concentrated &&
           a->rho == b->rho && a->renyi == b->renyi && a->renyi_upper == b->renyi_upper &&
           a->loss == b->loss && a->law.kind == b->law.kind && a->law.a == b->law.a &&
           a->law.rate == b->law.rate && a->law.shift == b->law.shift &&
           a->delta_failure == b->delta_failure;
}

double brume_calibrate_number(const brume_search_for *c, double log_x)
{
    double x = exp(log_x), number = c->inverted ? 1 / x : x;
    if (c->whole)
        number = floor(number * (1 + 1e-12));
    return fmin(fmax(number, c->low), c->high);
}

double brume_calibrate_value_of(const brume_search_for *c, double number)
{
    return c->squared ? sqrt(number) : number;
}

bool brume_calibrate_undecided(const brume_finding *f)
{
    return f->known && f->upper > 0 && f->lower <= 0;
}

bool brume_calibrate_is_curved(const brume_search_for *c)
{
    for (size_t i = 0; i < c->expression->count; i++) {
        const brume_cost *cost = &c->terms[i].cost;
        if (cost->loss == BRUME_ABSENT && cost->pure == BRUME_ABSENT)
            return true;
    }
    return false;
}

/* Is a term a sample of something other than a Gaussian? Of its upper end alone nothing is known
 * but that it is one. */
static bool is_thinned(const brume_search_for *c)
{
    for (size_t i = 0; i < c->expression->count; i++)
        if (c->terms[i].cost.law.rate > 0 &&
            c->terms[i].cost.law.kind != BRUME_LOSS_POISSON_GAUSSIAN)
            return true;
    return false;
}

double brume_calibrate_excess(double bound, double target)
{
    double excess = log(bound / target);
    return bound <= target ? fmin(excess, 0) : fmax(excess, 1e-300);
}

double brume_calibrate_upper_excess(const brume_interval *bound, double target)
{
    return brume_calibrate_excess(bound->upper, target);
}

/* By the certified composition, as near as asked. */
static brume_status certify(const brume_search_for *c, const brume_term *terms, size_t count,
                            double tolerance, brume_finding *out, brume_error *error)
{
    brume_composition near;
    double excess;
    brume_asked asked = {
        .at = c->epsilon, .width = tolerance, .upper_end = !c->both_ends, .sought = c->delta};
    BRUME_TRY(brume_account_delta_near(terms, count, &asked, &near, &excess, error));
    *out = (brume_finding){.upper = brume_calibrate_upper_excess(&near.value, c->delta),
                           .lower = log(near.value.lower / c->delta),
                           .by_laws = near.has_lower};
    brume_calibrate_estimate(&near.value, excess, out);
    return BRUME_OK;
}

brume_status brume_calibrate_delta(const brume_search_for *c, double tolerance,
                                   brume_interval *delta, bool *by_laws, brume_error *error)
{
    brume_composition near;
    double excess;
    brume_asked asked = {.at = c->epsilon, .width = tolerance, .upper_end = !is_thinned(c)};
    BRUME_TRY(
        brume_account_delta_near(c->terms, c->expression->count, &asked, &near, &excess, error));
    *delta = near.value;
    *by_laws = near.has_lower && !brume_calibrate_is_curved(c);
    if (excess > 0 && near.value.upper - excess > near.value.lower)
        delta->lower = near.value.upper - excess;
    return BRUME_OK;
}

/* A delta of 0: the sum of the pure epsilons, exact to the last place. */
static brume_status add_epsilons(const brume_search_for *c, const brume_term *terms, size_t count,
                                 brume_finding *out, brume_error *error)
{
    brume_bound sum = {.upper = INFINITY};
    bool applies = true;
    for (size_t i = 0; i < count; i++)
        applies &= brume_method_applies(BRUME_METHOD_BASIC, &terms[i].cost);
    if (applies)
        BRUME_TRY(brume_account_epsilon(BRUME_METHOD_BASIC, terms, count, 0, &sum, error));
    *out =
        (brume_finding){.upper = brume_calibrate_excess(sum.upper, c->epsilon), .lower = -INFINITY};
    out->estimate = out->upper;
    return BRUME_OK;
}

static brume_status compose(const brume_search_for *c, const brume_term *terms, size_t count,
                            double tolerance, brume_finding *out, brume_error *error)
{
    return c->delta > 0 ? certify(c, terms, count, tolerance, out, error)
                        : add_epsilons(c, terms, count, out, error);
}

static const brume_finding *recall(const brume_search_for *c, const brume_term *term,
                                   double tolerance)
{
    for (size_t i = 0; i < BRUME_TRIED; i++) {
        const brume_tried *tried = &c->tried[i]; /* of a count of 0 where there is none yet */
        bool near = tried->tolerance <= tolerance ||
                    (tried->finding.known && tried->finding.gap <= tolerance);
        if (near && tried->both_ends >= c->both_ends && tried->count == term->count &&
            brume_calibrate_same_cost(&tried->cost, &term->cost))
            return &tried->finding;
    }
    return NULL;
}

/* The chance of an error of alpha or more, over beta. */
static brume_status try_error(const brume_search_for *c, const brume_event *event,
                              brume_finding *out, brume_error *error)
{
    double beta;
    BRUME_TRY(brume_event_beta(event, c->epsilon, &beta, error));
    *out = (brume_finding){.upper = brume_calibrate_excess(beta, c->delta), .lower = -INFINITY};
    out->estimate = out->upper;
    return BRUME_OK;
}

brume_status brume_calibrate_try(brume_search_for *c, double value, double tolerance,
                                 brume_finding *out, brume_error *error)
{
    const brume_unknown *unknown = &c->expression->unknown;
    BRUME_TRY(brume_expression_solve(c->expression, value, error));
    const brume_event *event = &c->expression->events[unknown->event];
    if (c->accuracy)
        return try_error(c, event, out, error);
    brume_term *term = &c->terms[unknown->event];
    BRUME_TRY(brume_event_cost(event, &term->cost, error));
    term->count = event->count;
    c->both_ends |= c->whole || is_thinned(c);
    tolerance = fmin(tolerance, c->coarsest);
    const brume_finding *known = recall(c, term, tolerance);
    if (known) {
        *out = *known;
        return BRUME_OK;
    }
    brume_finding finding;
    BRUME_TRY(compose(c, c->terms, c->expression->count, tolerance, &finding, error));
    c->tried[c->tried_count++ % BRUME_TRIED] = (brume_tried){.cost = term->cost,
                                                             .count = term->count,
                                                             .tolerance = tolerance,
                                                             .both_ends = c->both_ends,
                                                             .finding = finding};
    if (!finding.known && !brume_calibrate_is_curved(c))
        c->coarsest = 1e-6; /* so coarse that no law was looked at? */
    *out = finding;
    return BRUME_OK;
}

brume_status brume_calibrate_try_others(brume_search_for *c, double tolerance, brume_finding *out,
                                        brume_error *error)
{
    size_t count = c->expression->count, others = 0;
    brume_term *terms = calloc(count, sizeof *terms);
    if (!terms)
        return brume_no_memory(error, NULL);
    for (size_t i = 0; i < count; i++)
        if (i != c->expression->unknown.event)
            terms[others++] = c->terms[i];
    *out = (brume_finding){.upper = -INFINITY, .lower = -INFINITY, .estimate = -INFINITY};
    brume_status status = BRUME_OK;
    if (others > 0 && !c->accuracy)
        status = compose(c, terms, others, tolerance, out, error);
    free(terms);
    return status;
}

brume_status brume_calibrate_no_value(const brume_search_for *c, brume_error *error)
{
    const char *hint = c->accuracy || c->delta > 0
                           ? "the other terms alone may cost more than that"
                           : "at delta = 0 every release needs a pure epsilon: give a delta";
    return brume_fail(error, BRUME_EUNSUPPORTED, hint, "no value of '%s' meets the target",
                      c->expression->unknown.parameter->name);
}
