/* The epsilon that is shown with a calibrated value.
 *
 * Promise: it is certified of the expression with that value; where the target is met by delta at
 * the target's epsilon, that epsilon holds, and a smaller one is sought near it by steps whose
 * deltas are certified too. */
#include <math.h>
#include <stdlib.h>

#include "accountant/search.h"
#include "accountant/solve/compose.h"
#include "base/error.h"
#include "mechanism/calibrate/calibrate.h"

enum { MOST_STEPS = 6 };

brume_status brume_calibrate_epsilon_at(const brume_expression *expression, double delta,
                                        double *epsilon, brume_error *error)
{
    brume_term *terms;
    BRUME_TRY(brume_account_terms(expression->events, expression->count, 1, BRUME_METHOD_AUTO,
                                  &terms, error));
    brume_compose_options quick = {.tolerance = 1e-6}; /* to be shown, and still certified */
    brume_composition composition;
    if (delta > 0 &&
        brume_compose_epsilon(terms, expression->count, delta, &quick, &composition, NULL) ==
            BRUME_OK &&
        composition.failure.upper < delta &&
        composition.value.upper <= composition.value.lower * (1 + 1e-5)) {
        free(terms);
        *epsilon = composition.value.upper;
        return BRUME_OK;
    }
    brume_bound bound;
    brume_status status =
        brume_account_epsilon(BRUME_METHOD_AUTO, terms, expression->count, delta, &bound, error);
    free(terms);
    BRUME_TRY(status);
    *epsilon = bound.upper;
    return BRUME_OK;
}

/* The bound of delta at an epsilon, as log(bound/delta). */
static bool excess_of(const brume_search_for *c, double epsilon, double tolerance, double *excess)
{
    brume_asked asked = {.at = epsilon, .width = tolerance, .upper_end = true};
    brume_composition near;
    double ignored;
    if (brume_account_delta_near(c->terms, c->expression->count, &asked, &near, &ignored, NULL) !=
        BRUME_OK)
        return false;
    *excess = log(near.value.upper / c->delta);
    *excess = near.value.upper <= c->delta ? fmin(*excess, 0) : fmax(*excess, 1e-300);
    return isfinite(*excess);
}

static bool guess(const brume_search_for *c, double epsilon, double *delta)
{
    size_t count = c->expression->count;
    brume_bound bound;
    if (!c->by_moments)
        return brume_compose_guess(c->terms, count, epsilon, delta);
    if (brume_account_delta(BRUME_METHOD_RDP, c->terms, count, epsilon, &bound, NULL) != BRUME_OK)
        return false;
    *delta = bound.upper;
    return true;
}

/* The epsilon below the target's at which the guess is so much larger, and how fast its logarithm
 * falls there; false where nothing is guessed. */
static bool guess_step(const brume_search_for *c, double larger, double *epsilon, double *slope)
{
    double at = c->epsilon, here, nearby;
    if (!guess(c, at, &here) || !guess(c, 0.999 * at, &nearby))
        return false;
    *slope = log(nearby / here) / (1e-3 * at);
    double first = log(here) + larger, last = at, excess = -larger;
    for (int step = 0; step < 3 && *slope > 0; step++) {
        at = last + excess / *slope;
        if (!(at > 0.2 * c->epsilon) || !guess(c, at, &nearby))
            return false;
        double there = log(nearby) - first, secant = (there - excess) / (last - at);
        if (fabs(last - at) > 1e-4 * c->epsilon && secant > 0)
            *slope = secant;
        last = at, excess = there;
    }
    *epsilon = last + excess / *slope;
    return *slope > 0 && isfinite(*slope) && *epsilon > 0.2 * c->epsilon;
}

/* A smaller epsilon at which delta is certified too, within a millionth or so of the least; false
 * where none is found in a few steps. The first certificate is as sharp as the guess is believed to
 * be. */
static bool step_down(const brume_search_for *c, double excess, double *epsilon)
{
    double slope, at = c->epsilon, next;
    if (!guess_step(c, -excess, &next, &slope))
        return false;
    next = fmin(next + 1e-7 * at, at);
    double tolerance = fmax(3e-8 * slope * at, 1e-3 * fabs(excess));
    for (int step = 0; step < MOST_STEPS; step++) {
        double there;
        if (!(next > 0.2 * c->epsilon) || !excess_of(c, next, fmin(tolerance, 1e-3), &there))
            return false;
        if (there <= 0 && -there <= 1e-6 * slope * next) {
            *epsilon = fmin(next, c->epsilon);
            return true;
        }
        double secant = (there - excess) / (at - next);
        if (fabs(at - next) > 1e-5 * at && secant > 0.1 * slope && secant < 10 * slope)
            slope = secant;
        at = next, excess = there;
        next = at + excess / slope + 1e-7 * at;
        tolerance = 3e-8 * slope * at;
    }
    return false;
}

brume_status brume_calibrate_epsilon(brume_search_for *c, double value, double *epsilon,
                                     brume_error *error)
{
    brume_finding f;
    double better;
    if (c->delta > 0) {
        BRUME_TRY(brume_calibrate_try(c, value, 1e-3, &f, error)); /* the search remembers it */
        if (f.truth > -5 && step_down(c, f.truth, &better)) {
            *epsilon = better;
            return BRUME_OK;
        }
    }
    BRUME_TRY(brume_calibrate_epsilon_at(c->expression, c->delta, &better, error));
    *epsilon = fmin(better, c->epsilon);
    return BRUME_OK;
}
