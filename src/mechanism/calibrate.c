/* Calibration: the value of `?` that meets a target, by a monotone search on certified bounds.
 *
 * Promise: at the value returned the certified bound itself was at most the target; the value is
 * within 1e-9 of the least noise for which it is (a whole number: the best one). The card says
 * which way the cost moves; the search runs on x or 1/x so that it falls. */
#include <brume/account.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "accountant/search.h"
#include "base/error.h"

typedef struct calibration {
    brume_expression *expression;
    brume_term *terms;
    bool inverted;         /* the search variable is 1/value */
    bool accuracy;         /* the bound is an error, not a delta or epsilon */
    bool rough;            /* by Renyi divergence, to find out where to look */
    double tolerance;      /* of the certified bound: how wide its interval may be */
    bool tight;            /* the answer lies where the bound crosses the target */
    double epsilon, delta; /* the target; or alpha, beta */
} calibration;

/* The cheapest bound that is near: rho, but not where sampling makes it far too large. */
static brume_method rough_method(const calibration *c)
{
    for (size_t i = 0; i < c->expression->count; i++)
        if (c->terms[i].cost.law.kind == BRUME_LOSS_POISSON_GAUSSIAN ||
            !brume_method_applies(BRUME_METHOD_ZCDP, &c->terms[i].cost))
            return BRUME_METHOD_RDP;
    return BRUME_METHOD_ZCDP;
}

/* What must come down to the target at this value of the unknown. */
static brume_status bound_at(calibration *c, double value, double *bound, brume_error *error)
{
    const brume_unknown *unknown = &c->expression->unknown;
    BRUME_TRY(brume_expression_solve(c->expression, value, error));
    const brume_event *event = &c->expression->events[unknown->event];
    if (c->accuracy)
        return brume_event_alpha(event, c->delta, bound, error);
    BRUME_TRY(brume_event_cost(event, &c->terms[unknown->event].cost, error));
    c->terms[unknown->event].count = event->count;
    const brume_cost *cost = &c->terms[unknown->event].cost;
    size_t count = c->expression->count;
    brume_method method = BRUME_METHOD_AUTO;
    if (!(c->delta > 0)) /* exact to the last place */
        method = BRUME_METHOD_BASIC;
    else if (c->rough)
        method = rough_method(c);
    if (!brume_method_applies(method, cost)) {
        *bound = INFINITY; /* so extreme that nothing is known: too little noise */
        return BRUME_OK;
    }
    if (method == BRUME_METHOD_AUTO) {
        brume_composition composition;
        brume_compose_options options = {.tolerance = c->tolerance};
        brume_status status =
            brume_compose_delta(c->terms, count, c->epsilon, &options, &composition, NULL);
        if (status == BRUME_OK && composition.has_lower) {
            *bound = composition.value.upper;
            return BRUME_OK;
        }
    }
    brume_bound result;
    if (c->delta > 0)
        BRUME_TRY(brume_account_delta(method, c->terms, count, c->epsilon, &result, error));
    else
        BRUME_TRY(brume_account_epsilon(method, c->terms, count, 0, &result, error));
    *bound = result.upper;
    return BRUME_OK;
}

static double target_of(const calibration *c)
{
    return c->accuracy || !(c->delta > 0) ? c->epsilon : c->delta;
}

static brume_status bound_at_search_point(void *context, double x, double *bound,
                                          brume_error *error)
{
    calibration *c = context;
    return bound_at(c, c->inverted ? 1 / x : x, bound, error);
}

static brume_status no_value(const calibration *c, brume_error *error)
{
    const char *hint = c->accuracy || c->delta > 0
                           ? "the other terms alone may cost more than that"
                           : "at delta = 0 every release needs a pure epsilon: give a delta";
    return brume_fail(error, BRUME_EUNSUPPORTED, hint, "no value of '%s' meets the target",
                      c->expression->unknown.parameter->name);
}

/* Does the bound move at all between these whole numbers? Some serve the accuracy alone. */
static brume_status check_moves(calibration *c, double least, double most, brume_error *error)
{
    const double places[] = {least, least + 1, fmin(most, least + 1e6)};
    double bound[3];
    for (int i = 0; i < 3; i++)
        BRUME_TRY(bound_at(c, places[i], &bound[i], error));
    if (bound[0] != bound[1] || bound[0] != bound[2])
        return BRUME_OK;
    return brume_fail(error, BRUME_EUNSUPPORTED,
                      c->accuracy ? "ask for a cost: --epsilon and --delta"
                                  : "ask for an accuracy: --alpha and --beta",
                      "'%s' cannot be calibrated: the %s does not depend on it",
                      c->expression->unknown.parameter->name, c->accuracy ? "error" : "cost");
}

/* The largest whole number (or the smallest, where larger costs less) that meets the target. */
static brume_status search_whole(calibration *c, bool largest, double *value, brume_error *error)
{
    const brume_parameter *parameter = c->expression->unknown.parameter;
    double least = parameter->least_open ? floor(parameter->least) + 1 : ceil(parameter->least);
    if (parameter->optional && parameter->standard == 0)
        least = fmax(least, 1); /* 0 means that it is not said */
    double most =
        fmin(parameter->most_open ? ceil(parameter->most) - 1 : floor(parameter->most), 0x1p53);
    double good = largest ? least : most, bad = largest ? most : least, bound;
    BRUME_TRY(check_moves(c, least, most, error));
    BRUME_TRY(bound_at(c, good, &bound, error));
    if (!(bound <= target_of(c)))
        return no_value(c, error);
    if (largest) /* gallop: a large count is expensive to try */
        for (double step = 1; good + step < most; step *= 2) {
            BRUME_TRY(bound_at(c, good + step, &bound, error));
            if (!(bound <= target_of(c))) {
                bad = good + step;
                break;
            }
            good += step;
        }
    BRUME_TRY(bound_at(c, bad, &bound, error));
    if (bound <= target_of(c)) {
        *value = bad;
        return BRUME_OK;
    }
    while (fabs(bad - good) > 1) {
        double middle = floor((good + bad) / 2);
        BRUME_TRY(bound_at(c, middle, &bound, error));
        *(bound <= target_of(c) ? &good : &bad) = middle;
    }
    *value = good;
    return BRUME_OK;
}

/* A number of few digits a hair away that meets the target too is the nicer answer: 10, not
 * 10.000000000003. */
static brume_status prefer_short(calibration *c, double *value, brume_error *error)
{
    for (int digits = 1; digits <= 6; digits++) {
        char text[40];
        snprintf(text, sizeof text, "%.*e", digits - 1, *value);
        double candidate = strtod(text, NULL), bound;
        if (!(fabs(candidate / *value - 1) <= 5e-10))
            continue;
        BRUME_TRY(bound_at(c, candidate, &bound, error));
        if (bound <= target_of(c))
            *value = candidate;
        return BRUME_OK;
    }
    return BRUME_OK;
}

/* log(bound/target) at log x; infinite where one of them is 0 or infinite. */
static brume_status excess_at(calibration *c, double log_x, double *excess, brume_error *error)
{
    double bound;
    BRUME_TRY(bound_at_search_point(c, exp(log_x), &bound, error));
    *excess = log(bound / target_of(c));
    if (bound <= target_of(c))
        *excess = fmin(*excess, 0); /* what counts is the comparison, not its logarithm */
    return BRUME_OK;
}

/* How fast the logarithm of the bound falls at x, by the cheap bound. */
static brume_status rough_slope(calibration *c, double x, double *slope, brume_error *error)
{
    double here, beside;
    c->rough = true;
    brume_status status = excess_at(c, log(x), &here, error);
    if (status == BRUME_OK)
        status = excess_at(c, log(x) + 0.01, &beside, error);
    c->rough = false;
    if (status == BRUME_OK)
        *slope = (here - beside) / 0.01;
    return status;
}

/* From a point near the answer to one that is certified and within a billionth: secant steps in
 * logarithms, by ever sharper certificates, the last ones aimed a little to the safe side. *found
 * is false where that does not settle: a kink, a bound too rough, a start too far away. */
static brume_status polish(calibration *c, double *x, double slope, bool *found, brume_error *error)
{
    static const double tolerances[] = {0.02, 1e-3, 1e-5};
    double at = log(*x), here, last_at = NAN, last = NAN;
    *found = false;
    for (int step = 0; step < 10; step++) {
        bool sharp = step >= 3;
        c->tolerance = sharp ? 3e-10 * fmin(slope, 100) : tolerances[step];
        BRUME_TRY(excess_at(c, at, &here, error));
        if (sharp && here <= 0 && here >= -6e-10 * slope) {
            *x = exp(at); /* the very point that was tried */
            *found = c->tight = true;
            return BRUME_OK;
        }
        double secant = (last - here) / (at - last_at);
        if (fabs(at - last_at) > 1e-7 && secant > slope / 4 && secant < slope * 4)
            slope = secant; /* a secant over less than the bounds' own width says nothing */
        if (!isfinite(here) || !isfinite(slope) || !(slope > 0.01) || fabs(here / slope) > 3)
            return BRUME_OK;
        last_at = at, last = here;
        at += here / slope + (step >= 2 ? 2e-10 : 0);
    }
    return BRUME_OK;
}

/* The certified bound is dear far from the target and where it must be sharp. So look first by one
 * that is cheap, then by ever sharper certificates; bisect only where that fails. */
static brume_status search_in_stages(calibration *c, brume_search *search, double guess, double *at,
                                     brume_error *error)
{
    search->relative = 1e-15;
    if (c->accuracy || !(c->delta > 0)) /* cheap: go to the last places at once */
        return brume_search_least(search, guess, at, error);
    bool found = false;
    search->relative = 0.01;
    c->rough = true;
    brume_status status = brume_search_least(search, guess, at, NULL);
    c->rough = false;
    if (status == BRUME_OK && search->least < *at && *at < search->most) {
        double slope;
        guess = *at, search->step = 0.05;
        BRUME_TRY(rough_slope(c, guess, &slope, error));
        BRUME_TRY(polish(c, at, slope, &found, error));
    }
    if (found)
        return BRUME_OK;
    c->tolerance = 0.02;
    BRUME_TRY(brume_search_least(search, guess, at, error));
    guess = *at, search->step = 0.02;
    search->relative = 2e-10;
    c->tolerance = 1e-9;
    return brume_search_least(search, guess, at, error);
}

static brume_status search_real(calibration *c, double *value, brume_error *error)
{
    const brume_parameter *parameter = c->expression->unknown.parameter;
    double low = fmax(parameter->least, 1e-290), high = fmin(parameter->most, 1e290);
    if (parameter->least_open && low == parameter->least)
        low = nextafter(low, INFINITY);
    if (parameter->most_open && high == parameter->most)
        high = nextafter(high, 0);
    double guess = fmin(fmax(1, low), high), at;
    brume_search search = {bound_at_search_point, c, target_of(c), low, high, 0, 0};
    if (c->inverted)
        search.least = 1 / high, search.most = 1 / low, guess = 1 / guess;
    brume_error why = {0};
    brume_status status = search_in_stages(c, &search, guess, &at, &why);
    if (status == BRUME_EUNSUPPORTED)
        return no_value(c, error);
    if (status != BRUME_OK) {
        if (error)
            *error = why;
        return status;
    }
    *value = c->inverted ? 1 / at : at; /* the very number that was tried */
    return prefer_short(c, value, error);
}

static brume_status solve(calibration *c, brume_calibration *out, brume_error *error)
{
    const brume_parameter *parameter = c->expression->unknown.parameter;
    brume_direction direction = parameter->direction;
    if (direction == BRUME_NOT_MONOTONE || parameter->type == BRUME_PARAMETER_FLAG ||
        parameter->type == BRUME_PARAMETER_MECHANISM)
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL,
                          "'%s' cannot be calibrated: the cost does not move one way with it",
                          parameter->name);
    /* a cost falls with a parameter of more noise; an error grows with it */
    c->inverted = (direction == BRUME_LESS_NOISE) != c->accuracy;
    double value = NAN;
    if (parameter->type == BRUME_PARAMETER_INTEGER)
        BRUME_TRY(search_whole(c, c->inverted, &value, error));
    else
        BRUME_TRY(search_real(c, &value, error));
    BRUME_TRY(brume_expression_solve(c->expression, value, error));
    *out = (brume_calibration){.value = value, .delta = c->delta};
    if (parameter->type == BRUME_PARAMETER_INTEGER)
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
    brume_bound bound;
    brume_status status =
        brume_account_epsilon(BRUME_METHOD_AUTO, terms, expression->count, delta, &bound, error);
    free(terms);
    BRUME_TRY(status);
    *epsilon = bound.upper;
    return BRUME_OK;
}

brume_status brume_calibrate(brume_expression *expression, double epsilon, double delta,
                             brume_calibration *out, brume_error *error)
{
    if (!(epsilon > 0) || isinf(epsilon) || !(delta >= 0 && delta < 1))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "a target has a finite 'epsilon' above 0 and a 'delta' in [0, 1)");
    calibration c = {.expression = expression, .epsilon = epsilon, .delta = delta};
    BRUME_TRY(open_terms(expression, &c.terms, error));
    brume_calibration result;
    brume_status status = solve(&c, &result, error);
    free(c.terms);
    BRUME_TRY(status);
    /* the bound of delta at the target is at most delta, so the target is a bound of epsilon; a
     * better one is worth computing only where the search stopped short of the crossing */
    result.epsilon_upper = epsilon;
    if (!c.tight) {
        double better;
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
    calibration c = {.expression = expression, .accuracy = true, .epsilon = alpha, .delta = beta};
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
