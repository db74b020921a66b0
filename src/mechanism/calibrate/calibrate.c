/* Calibration: the value of `?` that meets a target, by a monotone search on certified bounds.
 *
 * Promise: at the value returned the certified bound itself was at most the target; the value is
 * within 1e-9 of the least noise for which it is (a whole number: the best one). The card says
 * which way the cost moves; the search runs on x or 1/x so that it falls. */
#include <brume/account/account.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mechanism/calibrate/calibrate.h"

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

static brume_status not_moved(const brume_search_for *c, brume_error *error)
{
    return brume_fail(error, BRUME_EUNSUPPORTED,
                      c->accuracy ? "ask for a cost: --epsilon and --delta"
                                  : "ask for an accuracy: --alpha and --beta",
                      "'%s' cannot be calibrated: the %s does not depend on it",
                      c->expression->unknown.parameter->name, c->accuracy ? "error" : "cost");
}

/* Does the cost (or the error) move at all? Some numbers serve the other one alone. */
static brume_status check_moves(brume_search_for *c, brume_error *error)
{
    if (c->expression->unknown.slot == BRUME_SLOT_COUNT && !c->accuracy)
        return BRUME_OK;
    static const double places[] = {1, 2, 0.5, 4, 1e6}; /* where it is defined there */
    brume_cost first, other;
    int known = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (!cost_at(c, places[i], &other))
            continue;
        if (known++ == 0)
            first = other;
        else if (!brume_calibrate_same_cost(&first, &other))
            return BRUME_OK;
    }
    return known > 1 ? not_moved(c, error) : BRUME_OK;
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

/* Do the other terms fail more often than delta already? Then no value helps. */
static bool others_fail(const brume_search_for *c)
{
    double log_survival = 0;
    for (size_t i = 0; i < c->expression->count; i++)
        if (i != c->expression->unknown.event)
            log_survival += (double)c->terms[i].count * log1p(-c->terms[i].cost.delta_failure);
    return !c->accuracy && -expm1(log_survival) * (1 - 1e-9) > c->delta;
}

/* Does the cost stay the same from here to there? */
static bool stays(brume_search_for *c, double here, double there)
{
    brume_cost one, other;
    return cost_at(c, here, &one) && cost_at(c, there, &other) &&
           brume_calibrate_same_cost(&one, &other);
}

/* Does the cost move in steps, with the whole numbers of a sensitivity of integers, or with those
 * of its square, for vectors of them? */
static void find_steps(brume_search_for *c)
{
    if (c->accuracy || c->expression->unknown.slot != BRUME_SLOT_SENSITIVITY)
        return;
    c->whole = stays(c, 3, 3.25) && stays(c, 3, 3.75);
    c->squared = !c->whole && stays(c, sqrt(10.25), sqrt(10.75));
    c->whole |= c->squared;
}

/* The end of a step: the largest value that costs the same, but a whole number where there is one.
 */
static double end_of_step(brume_search_for *c, double value)
{
    double low = value, high = sqrt(value * value + 1);
    if (!c->squared || value == floor(value))
        return value;
    while (high - low > 1e-10 * low) {
        double middle = low + (high - low) / 2;
        *(stays(c, value, middle) ? &low : &high) = middle;
    }
    return low;
}

/* The range of a value: whole numbers from 1 on, for 0 means that it is not said and integers
 * change by 1; reals above 0. */
static void set_range(brume_search_for *c)
{
    const brume_parameter *parameter = c->expression->unknown.parameter;
    if (c->whole) {
        c->low = fmax(parameter->least, 1), c->high = fmin(parameter->most, 0x1p53);
        return;
    }
    c->low = 1e-290, c->high = fmin(parameter->most, 1e290);
    if (parameter->most_open && c->high == parameter->most)
        c->high = nextafter(c->high, 0);
}

static brume_status search(brume_search_for *c, double *value, brume_error *error)
{
    if (c->whole)
        return brume_calibrate_whole(c, value, error);
    bool failure_only;
    BRUME_TRY(brume_calibrate_failure(c, &failure_only, value, error));
    return failure_only ? BRUME_OK : brume_calibrate_real(c, value, error);
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
    bool integer = parameter->type == BRUME_PARAMETER_INTEGER;
    c->inverted = is_inverted(c);
    c->whole = integer;
    BRUME_TRY(check_moves(c, error));
    if (others_fail(c))
        return brume_calibrate_no_value(c, error);
    find_steps(c);
    set_range(c);
    c->power = c->whole && c->inverted ? 1 : 2;
    double value = NAN;
    BRUME_TRY(search(c, &value, error));
    value = end_of_step(c, value); /* of the same cost as what was certified */
    BRUME_TRY(brume_expression_solve(c->expression, value, error));
    *out = (brume_calibration){.value = value, .delta = c->delta, .everywhere = c->everywhere};
    if (integer)
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

brume_status brume_calibrate(brume_expression *expression, double epsilon, double delta,
                             brume_calibration *out, brume_error *error)
{
    if (!(epsilon > 0) || isinf(epsilon) || !(delta >= 0 && delta < 1))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "a target has a finite 'epsilon' above 0 and a 'delta' in [0, 1)");
    brume_search_for c = {.expression = expression,
                          .epsilon = epsilon,
                          .delta = delta,
                          .coarsest = 1e-3,
                          .others = NAN};
    BRUME_TRY(open_terms(expression, &c.terms, error));
    brume_calibration result;
    brume_status status = solve(&c, &result, error);
    /* the bound of delta at the target is at most delta, so the target is a bound of epsilon; a
     * better one is worth computing only where the search stopped short of the crossing */
    result.epsilon_upper = epsilon;
    if (status == BRUME_OK && !c.tight)
        status = brume_calibrate_epsilon(&c, result.value, &result.epsilon_upper, error);
    free(c.terms);
    BRUME_TRY(status);
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
    brume_search_for c = {.expression = expression,
                          .accuracy = true,
                          .epsilon = alpha,
                          .delta = beta,
                          .coarsest = 1e-3};
    BRUME_TRY(open_terms(expression, &c.terms, error));
    brume_calibration result;
    brume_status status = solve(&c, &result, error);
    free(c.terms);
    BRUME_TRY(status);
    result.delta = delta;
    BRUME_TRY(brume_calibrate_epsilon_at(expression, delta, &result.epsilon_upper, error));
    *out = result;
    return BRUME_OK;
}
