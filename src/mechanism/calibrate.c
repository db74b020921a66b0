/* Calibration: the value of `?` that meets a target, by a monotone search on certified bounds.
 *
 * Promise: at the value returned the certified bound itself was at most the target; the value is
 * within 1e-9 of the least noise for which it is (a whole number: the best one). The card says
 * which way the cost moves; the search runs on x or 1/x so that it falls. */
#include <brume/account.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/search.h"
#include "base/error.h"
#include "mechanism/calibrate.h"

/* The cost of the unknown's term at a value, or the error in place of an epsilon. */
static bool cost_at(brume_search_for *c, double value, brume_cost *cost)
{
    const brume_unknown *unknown = &c->expression->unknown;
    const brume_event *event = &c->expression->events[unknown->event];
    *cost = (brume_cost){0};
    if (brume_expression_solve(c->expression, value, NULL) != BRUME_OK)
        return false;
    if (c->accuracy)
        return brume_event_alpha(event, c->delta, &cost->epsilon, NULL) == BRUME_OK;
    return brume_event_cost(event, cost, NULL) == BRUME_OK;
}

/* Does the cost (or the error) move at all? Some numbers serve the other one alone. */
static brume_status check_moves(brume_search_for *c, brume_error *error)
{
    const brume_parameter *parameter = c->expression->unknown.parameter;
    double most = parameter->most, middle = fmin(fmax(1, parameter->least), most);
    if (c->expression->unknown.slot == BRUME_SLOT_COUNT && !c->accuracy)
        return BRUME_OK;
    const double places[] = {middle, middle + 1, middle * 0.5, fmin(4 * middle, most),
                             fmin(1e6 + middle, most)};
    brume_cost first, other;
    int known = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (!cost_at(c, c->whole ? ceil(places[i]) : places[i], &other))
            continue;
        if (known++ == 0)
            first = other;
        else if (!brume_calibrate_same_cost(&first, &other))
            return BRUME_OK;
    }
    return known > 1 ? brume_calibrate_not_moved(c, error) : BRUME_OK;
}

/* The search variable is 1/value: a cost falls with a parameter of more noise, an error grows with
 * it; but the error of a choice by scores grows with their sensitivity, as the cost of noise does.
 */
static bool is_inverted(const brume_search_for *c)
{
    const brume_unknown *unknown = &c->expression->unknown;
    const brume_card *card = brume_card_by_id(c->expression->events[unknown->event].mechanism);
    bool less_noise = unknown->parameter->direction == BRUME_LESS_NOISE;
    if (c->accuracy && unknown->slot == BRUME_SLOT_SENSITIVITY &&
        strcmp(card->sensitivity, "score") == 0)
        return less_noise;
    return less_noise != c->accuracy;
}

/* Do the other terms alone cost more than the target, for certain? Asked where one of them is
 * sampled and moments do not say that they fit: there every step of a search is dear. */
static brume_status check_others(brume_search_for *c, brume_error *error)
{
    size_t count = c->expression->count, unknown = c->expression->unknown.event, others = 0;
    if (c->accuracy || !(c->delta > 0) || count < 2)
        return BRUME_OK;
    brume_term *terms = calloc(count, sizeof *terms);
    if (!terms)
        return brume_no_memory(error, NULL);
    bool sampled = false;
    for (size_t i = 0; i < count; i++) {
        if (i == unknown)
            continue;
        terms[others++] = c->terms[i];
        sampled |= c->terms[i].cost.law.rate > 0;
    }
    brume_bound rough;
    brume_composition sharp;
    brume_compose_options options = {.tolerance = 1e-3};
    bool too_much =
        sampled &&
        brume_account_epsilon(BRUME_METHOD_RDP, terms, others, c->delta, &rough, NULL) ==
            BRUME_OK &&
        rough.upper > c->epsilon &&
        brume_compose_epsilon(terms, others, c->delta, &options, &sharp, NULL) == BRUME_OK &&
        sharp.has_lower && !sharp.contradictory && sharp.value.lower > c->epsilon;
    free(terms);
    return too_much ? brume_calibrate_no_value(c, error) : BRUME_OK;
}

/* Do the other terms fail more often than delta already? Then no value helps. */
static bool others_fail(const brume_search_for *c)
{
    double log_survival = 0;
    for (size_t i = 0; i < c->expression->count; i++)
        if (i != c->expression->unknown.event)
            log_survival += (double)c->terms[i].count * log1p(-c->terms[i].cost.delta_failure);
    return !c->accuracy && -expm1(log_survival) * (1 - 1e-9) > c->delta;
}

static brume_status solve(brume_search_for *c, brume_calibration *out, brume_error *error)
{
    const brume_parameter *parameter = c->expression->unknown.parameter;
    brume_direction direction = parameter->direction;
    if (direction == BRUME_NOT_MONOTONE || parameter->type == BRUME_PARAMETER_FLAG ||
        parameter->type == BRUME_PARAMETER_MECHANISM)
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL,
                          "'%s' cannot be calibrated: the cost does not move one way with it",
                          parameter->name);
    c->inverted = is_inverted(c);
    c->whole = parameter->type == BRUME_PARAMETER_INTEGER;
    BRUME_TRY(check_moves(c, error));
    if (others_fail(c))
        return brume_calibrate_no_value(c, error);
    BRUME_TRY(check_others(c, error));
    double value = NAN;
    if (c->whole)
        BRUME_TRY(brume_calibrate_whole(c, &value, error));
    else
        BRUME_TRY(brume_calibrate_real(c, &value, error));
    BRUME_TRY(brume_expression_solve(c->expression, value, error));
    *out = (brume_calibration){.value = value, .delta = c->delta, .everywhere = c->everywhere};
    if (c->whole)
        out->whole = c->inverted ? 1 : -1;
    return BRUME_OK;
}

/* Terms of every event; the unknown's is filled at each try. */
static brume_status open_terms(brume_expression *expression, brume_term **terms, brume_error *error)
{
    if (!expression->has_unknown)
        return brume_fail(error, BRUME_EARGUMENT, "write one parameter as ?, e.g. laplace(scale=?)",
                          "there is nothing to calibrate: no parameter is '?'");
    brume_term *result = calloc(expression->count, sizeof *result);
    if (!result)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    for (size_t i = 0; i < expression->count; i++) {
        result[i].count = expression->events[i].count;
        if (i == expression->unknown.event)
            continue;
        brume_status status = brume_event_cost(&expression->events[i], &result[i].cost, error);
        if (status != BRUME_OK) {
            free(result);
            return status;
        }
    }
    *terms = result;
    return BRUME_OK;
}

static brume_status epsilon_of(const brume_expression *expression, double delta, double *epsilon,
                               brume_error *error)
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
    brume_compose_options options = {.tolerance = tolerance, .upper_end = true};
    brume_composition near;
    if (brume_account_delta_near(c->terms, c->expression->count, epsilon, &options, &near, NULL) !=
        BRUME_OK)
        return false;
    *excess = near.value.upper <= c->delta ? fmin(log(near.value.upper / c->delta), 0)
                                           : fmax(log(near.value.upper / c->delta), 1e-300);
    return isfinite(*excess);
}

/* How fast the logarithm of delta falls with epsilon, guessed. */
static bool guess_slope(const brume_search_for *c, double *slope)
{
    double here, beside;
    size_t count = c->expression->count;
    if (!brume_compose_guess(c->terms, count, c->epsilon, &here) ||
        !brume_compose_guess(c->terms, count, 0.999 * c->epsilon, &beside))
        return false;
    *slope = log(beside / here) / (1e-3 * c->epsilon);
    return *slope > 0 && isfinite(*slope);
}

/* The epsilon of a whole number that does not reach the target: certified where its delta is, and
 * less than a millionth above the least. False where it is not found in a few steps. */
static bool epsilon_near_target(brume_search_for *c, double value, double *epsilon)
{
    double bound, slope, at = c->epsilon, excess, found = NAN;
    c->tolerance = 0.02; /* as in the search, which remembers it */
    if (c->accuracy || !(c->delta > 0) || brume_calibrate_bound(c, value, &bound, NULL) ||
        !guess_slope(c, &slope))
        return false;
    excess = log(bound / c->delta);
    if (!(c->trial.lower > 0.999 * bound && isfinite(excess)) && !excess_of(c, at, 1e-3, &excess))
        return false;
    for (int step = 0; step < 6; step++) {
        double next = at + excess / slope + 5e-8 * at, there;
        if (!(next > 0.2 * c->epsilon) ||
            !excess_of(c, next, fmin(3e-8 * slope * next, 1e-3), &there))
            return false;
        if (there <= 0) {
            found = next;
            if (-there <= 5e-7 * slope * next) {
                *epsilon = fmin(found, c->epsilon);
                return true;
            }
        }
        double secant = (there - excess) / (at - next);
        if (fabs(at - next) > 1e-5 * at && secant > 0.5 * slope && secant < 2 * slope)
            slope = secant;
        at = next, excess = there;
    }
    return false;
}

brume_status brume_calibrate(brume_expression *expression, double epsilon, double delta,
                             brume_calibration *out, brume_error *error)
{
    if (!(epsilon > 0) || isinf(epsilon) || !(delta >= 0 && delta < 1))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "a target has a finite 'epsilon' above 0 and a 'delta' in [0, 1)");
    brume_search_for c = {.expression = expression, .epsilon = epsilon, .delta = delta};
    BRUME_TRY(open_terms(expression, &c.terms, error));
    brume_calibration result;
    brume_status status = solve(&c, &result, error);
    double better;
    bool shown = status == BRUME_OK && !c.tight && epsilon_near_target(&c, result.value, &better);
    free(c.terms);
    BRUME_TRY(status);
    /* the bound of delta at the target is at most delta, so the target is a bound of epsilon; a
     * better one is worth computing only where the search stopped short of the crossing */
    result.epsilon_upper = epsilon;
    if (!c.tight) {
        if (!shown)
            BRUME_TRY(epsilon_of(expression, delta, &better, error));
        result.epsilon_upper = fmin(better, epsilon);
    }
    *out = result;
    return BRUME_OK;
}

brume_status brume_calibrate_accuracy(brume_expression *expression, double alpha, double beta,
                                      double delta, brume_calibration *out, brume_error *error)
{
    if (!(alpha > 0) || isinf(alpha) || !(beta > 0 && beta < 1) || !(delta >= 0 && delta < 1))
        return brume_fail(
            error, BRUME_EARGUMENT, NULL,
            "an accuracy has a finite 'alpha' above 0 and a 'beta' in (0, 1); 'delta' is in [0, 1)");
    brume_search_for c = {
        .expression = expression, .accuracy = true, .epsilon = alpha, .delta = beta};
    BRUME_TRY(open_terms(expression, &c.terms, error));
    brume_calibration result;
    brume_status status = solve(&c, &result, error);
    free(c.terms);
    BRUME_TRY(status);
    result.delta = delta;
    BRUME_TRY(epsilon_of(expression, delta, &result.epsilon_upper, error));
    *out = result;
    return BRUME_OK;
}
