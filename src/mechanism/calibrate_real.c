/* A real unknown: look by a cheap bound, end on sharp certificates, bisect only where that fails.
 *
 * Promise: at the value returned the certified bound itself was at most the target. Guesses (the
 * saddle point, moments, how far a band lifts a bound) only choose where to look: they can cost
 * time or a little noise, never privacy. */
#include "mechanism/calibrate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "accountant/search.h"
#include "base/error.h"

/* A number of few digits a hair away that meets the target too is the nicer answer: 10, not
 * 10.000000000003. */
static brume_status prefer_short(brume_search_for *c, double *value, brume_error *error)
{
    for (int digits = 1; digits <= 6; digits++) {
        char text[40];
        snprintf(text, sizeof text, "%.*e", digits - 1, *value);
        double candidate = strtod(text, NULL), bound;
        bool noisier = (candidate > *value) != c->inverted;
        if (!(fabs(candidate / *value - 1) <= (noisier ? 5e-11 : 1e-9)))
            continue;
        BRUME_TRY(brume_calibrate_bound(c, candidate, &bound, error));
        if (bound <= brume_calibrate_target(c))
            *value = candidate;
        return BRUME_OK;
    }
    return BRUME_OK;
}

/* Do the other terms alone cost too much? Asked where a guess says so. */
static brume_status check_reach(brume_search_for *c, const brume_search *search, double guess,
                                brume_error *error)
{
    double most = 0, far = fmin(search->most, 1e6 * guess); /* the very end may be dear */
    c->look = BRUME_LOOK_SADDLE;
    bool guessed = brume_calibrate_bound_at(c, guess, &most, NULL) == BRUME_OK &&
                   !brume_calibrate_is_sampled(c) &&
                   brume_calibrate_bound_at(c, far, &most, NULL) == BRUME_OK &&
                   !brume_calibrate_is_sampled(c); /* a rate of 1 is no sampling, less is */
    c->look = BRUME_LOOK_CERTIFIED, c->tolerance = 0.02;
    if (guessed && most > 1.1 * search->target) {
        BRUME_TRY(brume_calibrate_bound_at(c, search->most, &most, error));
        if (most > 1.1 * search->target)
            return brume_fail(error, BRUME_EUNSUPPORTED, NULL, "the least cost is too large");
    }
    return BRUME_OK;
}

/* A bound that is cheap, to its last places; but where it jumps, as an error in whole numbers does,
 * only as near as an answer must be. */
static brume_status search_to_last_place(brume_search *search, double guess, double *at,
                                         brume_error *error)
{
    double bound;
    search->relative = 2e-10;
    BRUME_TRY(brume_search_least(search, guess, at, error));
    BRUME_TRY(search->value(search->context, *at, &bound, error));
    if (bound < search->target * (1 - 1e-6))
        return BRUME_OK;
    search->relative = 1e-15, search->step = 4e-10;
    return brume_search_least(search, *at, at, error);
}

/* Does the cost move in steps, as with the sensitivity of integers? */
static bool moves_in_steps(brume_search_for *c, double value)
{
    const brume_unknown *unknown = &c->expression->unknown;
    const brume_event *event = &c->expression->events[unknown->event];
    brume_cost here, beside;
    return brume_expression_solve(c->expression, value * 1.25, NULL) == BRUME_OK &&
           brume_event_cost(event, &here, NULL) == BRUME_OK &&
           brume_expression_solve(c->expression, value * 1.26, NULL) == BRUME_OK &&
           brume_event_cost(event, &beside, NULL) == BRUME_OK &&
           brume_calibrate_same_cost(&here, &beside);
}

/* Then a step fits or it does not: as coarse a certificate as says so will do. */
static brume_status search_steps(brume_search_for *c, brume_search *search, double guess,
                                 double *at, brume_error *error)
{
    double slope;
    if (brume_calibrate_look(c, BRUME_LOOK_SADDLE, search->least, search->most, guess, 0, at,
                             &slope))
        guess = *at;
    c->decide = true;
    c->tolerance = 0.02;
    search->step = 0.2;
    search->relative = 2e-10;
    return brume_search_least(search, guess, at, error);
}

/* Does the saddle point say that moments are far too large at x? Certificates of a tiny delta are
 * dear: better to look elsewhere first. */
static bool far_below(brume_search_for *c, double x)
{
    double excess = 0;
    c->look = BRUME_LOOK_SADDLE;
    bool known = brume_calibrate_excess(c, log(x), &excess, NULL) == BRUME_OK;
    c->look = BRUME_LOOK_CERTIFIED;
    return known && excess < -3;
}

static brume_status search_in_stages(brume_search_for *c, brume_search *search, double guess,
                                     double *at, brume_error *error)
{
    if (c->accuracy || !(c->delta > 0))
        return search_to_last_place(search, guess, at, error);
    if (moves_in_steps(c, c->inverted ? 1 / guess : guess))
        return search_steps(c, search, guess, at, error);
    double least_failure = c->inverted ? 1 / search->most : search->most;
    if (!brume_calibrate_split_failure(c, least_failure, NULL))
        BRUME_TRY(check_reach(c, search, guess, error));
    bool moments_first = brume_calibrate_is_sampled(c) && !c->only_failure;
    const brume_looking ways[] = {moments_first ? BRUME_LOOK_MOMENTS : BRUME_LOOK_SADDLE,
                                  moments_first ? BRUME_LOOK_SADDLE : BRUME_LOOK_MOMENTS,
                                  BRUME_LOOK_CERTIFIED};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        bool found = false;
        double slope;
        if (!brume_calibrate_look(c, ways[i], search->least, search->most, guess, search->step, at,
                                  &slope)) {
            guess = c->hint > search->least && c->hint < search->most ? c->hint : guess;
            continue;
        }
        double start = *at;
        if (ways[i] == BRUME_LOOK_MOMENTS && far_below(c, start))
            continue;
        BRUME_TRY(brume_calibrate_polish(c, search->least, search->most, at, slope, &found, error));
        if (found)
            return BRUME_OK;
        guess = start, search->step = 0.3;
    }
    c->tolerance = 0.02;
    search->relative = 0.01;
    BRUME_TRY(brume_search_least(search, guess, at, error));
    guess = *at, search->step = 0.02;
    search->relative = 2e-10;
    c->tolerance = 1e-9;
    return brume_search_least(search, guess, at, error);
}

/* The least of a sensitivity: that of integers is at least 1. */
static double least_value(brume_search_for *c, double low)
{
    const brume_unknown *unknown = &c->expression->unknown;
    brume_cost cost;
    if (unknown->slot != BRUME_SLOT_SENSITIVITY || low >= 1 ||
        brume_expression_solve(c->expression, low, NULL) != BRUME_OK ||
        brume_event_cost(&c->expression->events[unknown->event], &cost, NULL) != BRUME_EARGUMENT)
        return low;
    return 1;
}

/* Integers change by whole numbers: where the next one below costs the same, it is the answer. */
static void prefer_whole(brume_search_for *c, double *value)
{
    const brume_unknown *unknown = &c->expression->unknown;
    const brume_event *event = &c->expression->events[unknown->event];
    double below = floor(*value);
    brume_cost here, there;
    if (unknown->slot == BRUME_SLOT_SENSITIVITY && !c->accuracy && below >= 1 &&
        brume_expression_solve(c->expression, *value, NULL) == BRUME_OK &&
        brume_event_cost(event, &here, NULL) == BRUME_OK &&
        brume_expression_solve(c->expression, below, NULL) == BRUME_OK &&
        brume_event_cost(event, &there, NULL) == BRUME_OK &&
        brume_calibrate_same_cost(&here, &there))
        *value = below;
}

brume_status brume_calibrate_real(brume_search_for *c, double *value, brume_error *error)
{
    const brume_parameter *parameter = c->expression->unknown.parameter;
    double low = fmax(parameter->least, 1e-290), high = fmin(parameter->most, 1e290);
    if (parameter->least_open && low == parameter->least)
        low = nextafter(low, INFINITY);
    if (parameter->most_open && high == parameter->most)
        high = nextafter(high, 0);
    low = least_value(c, low);
    double guess = fmin(fmax(1, low), high), at;
    brume_search search = {brume_calibrate_bound_at, c, brume_calibrate_target(c), low, high, 0, 0};
    if (c->inverted)
        search.least = 1 / high, search.most = 1 / low, guess = 1 / guess;
    brume_error why = {0};
    brume_status status = search_in_stages(c, &search, guess, &at, &why);
    if (status == BRUME_EUNSUPPORTED)
        return brume_calibrate_no_value(c, error);
    if (status != BRUME_OK) {
        if (error)
            *error = why;
        return status;
    }
    *value = c->inverted ? 1 / at : at; /* the very number that was tried */
    c->everywhere = at <= search.least * (1 + 1e-12);
    prefer_whole(c, value);
    return prefer_short(c, value, error);
}
