/* Calibration: the value of `?` that meets a target, by a monotone search on certified bounds.
 *
 * Promise: at the value returned the certified bound itself was at most the target; the value is
 * within 1e-9 of the least noise for which it is (a whole number: the best one). The card says
 * which way the cost moves; the search runs on x or 1/x so that it falls.
 *
 * Guesses (the saddle point, moments, how far smoothing lifts a bound) only choose where to look:
 * they can cost time or a little noise, never privacy. */
#include <brume/account.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "accountant/search.h"
#include "base/error.h"

/* By which bound to search. */
typedef enum looking { CERTIFIED, BY_SADDLE, BY_MOMENTS } looking;

typedef struct calibration {
    brume_expression *expression;
    brume_term *terms;
    bool inverted;         /* the search variable is 1/value */
    bool whole;            /* the value is a whole number */
    bool accuracy;         /* the bound is an error, not a delta or epsilon */
    looking rough;         /* a cheap bound, to find out where to look */
    double tolerance;      /* of the certified bound: how far above the truth it may lie */
    double excess;         /* of the last certified bound over the truth, estimated */
    double nodes;          /* what the last certified bound took */
    bool tight;            /* the answer lies where the bound crosses the target */
    double epsilon, delta; /* the target; or alpha, beta */
} calibration;

/* The cheapest bound that is near: rho, but not where sampling makes it far too large. */
static brume_method rough_method(const calibration *c)
{
    for (size_t i = 0; i < c->expression->count; i++)
        if (c->terms[i].cost.law.rate > 0 ||
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
    if (c->rough == BY_SADDLE) {
        if (!brume_compose_guess(c->terms, count, c->epsilon, bound))
            return brume_fail(error, BRUME_EUNSUPPORTED, NULL, "no guess");
        return BRUME_OK;
    }
    if (!(c->delta > 0)) /* exact to the last place */
        method = BRUME_METHOD_BASIC;
    else if (c->rough == BY_MOMENTS)
        method = rough_method(c);
    if (!brume_method_applies(method, cost)) {
        *bound = INFINITY; /* so extreme that nothing is known: too little noise */
        return BRUME_OK;
    }
    c->excess = 0;
    if (method == BRUME_METHOD_AUTO) {
        brume_composition near;
        brume_compose_options options = {.tolerance = c->tolerance, .upper_end = !c->whole};
        BRUME_TRY(brume_account_delta_near(c->terms, count, c->epsilon, &options, &near, error));
        if (c->whole && near.value.upper > c->delta && near.value.lower <= c->delta)
            BRUME_TRY(brume_account_delta_near(c->terms, count, c->epsilon, NULL, &near, error));
        *bound = near.value.upper;
        c->excess = near.excess;
        c->nodes = (double)near.nodes;
        return BRUME_OK;
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
    double value = c->inverted ? 1 / x : x;
    return bound_at(c, c->whole ? floor(value * (1 + 1e-12)) : value, bound, error);
}

static brume_status no_value(const calibration *c, brume_error *error)
{
    const char *hint = c->accuracy || c->delta > 0
                           ? "the other terms alone may cost more than that"
                           : "at delta = 0 every release needs a pure epsilon: give a delta";
    return brume_fail(error, BRUME_EUNSUPPORTED, hint, "no value of '%s' meets the target",
                      c->expression->unknown.parameter->name);
}

/* A number of few digits a hair away that meets the target too is the nicer answer: 10, not
 * 10.000000000003. */
static brume_status prefer_short(calibration *c, double *value, brume_error *error)
{
    for (int digits = 1; digits <= 6; digits++) {
        char text[40];
        snprintf(text, sizeof text, "%.*e", digits - 1, *value);
        double candidate = strtod(text, NULL), bound;
        bool noisier = (candidate > *value) != c->inverted;
        if (!(fabs(candidate / *value - 1) <= (noisier ? 5e-11 : 1e-9)))
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
    /* what counts is the comparison, not its logarithm, which may be 0 for a bound a unit above */
    if (bound <= target_of(c))
        *excess = fmin(*excess, 0);
    else if (!(*excess > 0) && !isnan(bound))
        *excess = 1e-300;
    return BRUME_OK;
}

/* How fast the logarithm of the bound falls at x, by the bound that is searched on. */
static brume_status slope_at(calibration *c, double x, double *slope, brume_error *error)
{
    double here, beside;
    BRUME_TRY(excess_at(c, log(x), &here, error));
    BRUME_TRY(excess_at(c, log(x) + 0.01, &beside, error));
    *slope = (here - beside) / 0.01;
    return BRUME_OK;
}

/* What was tried last: where, and how far the truth is believed to lie above the target there. */
typedef struct trail {
    double at[3], excess[3]; /* the newest first */
    double doubt;            /* of the newest: how much of it was smoothing's */
    int count;
} trail;

static void remember(trail *t, double at, double excess, double doubt)
{
    t->doubt = doubt;
    for (int i = 2; i > 0; i--)
        t->at[i] = t->at[i - 1], t->excess[i] = t->excess[i - 1];
    t->at[0] = at, t->excess[0] = excess;
    t->count++;
}

/* How far from the newest point the target is met: by the slope, bent by the third newest point
 * where nothing was smoothed and that says nearly the same. */
static double step_to_target(const trail *t, double slope)
{
    double straight = t->excess[0] / slope;
    if (t->count < 3 || t->doubt > 0)
        return straight;
    const double *x = t->at, *y = t->excess;
    double first = (x[0] - x[1]) / (y[0] - y[1]), second = (x[1] - x[2]) / (y[1] - y[2]);
    double bent = -y[0] * first + y[0] * y[1] * (first - second) / (y[0] - y[2]);
    return fabs(x[0] - x[1]) > 1e-7 && fabs(bent - straight) <= 0.2 * fabs(straight) ? bent
                                                                                     : straight;
}

/* From a point near the answer to one that is certified and within a billionth: secant steps in
 * logarithms, by ever sharper certificates, the last ones aimed a little to the safe side. Where
 * smoothing makes a sharp certificate dear, its excess is taken off before aiming, and the sharp
 * one waits until the aim is sure. *found is false where that does not settle: a kink, a bound too
 * rough, a start too far away. */
static brume_status polish(calibration *c, double *x, double slope, bool *found, brume_error *error)
{
    static const double tolerances[] = {0.02, 1e-3, 1e-5, 5e-7};
    double at = log(*x), here;
    trail tried = {.count = 0};
    bool sharp = false, smoothed = false;
    double share = 0; /* of the value: how far above the truth a sharp bound may lie */
    *found = false;
    for (int step = 0; step < 12; step++) {
        c->tolerance = sharp ? share * fmin(slope, 100) : tolerances[step < 3 ? step : 3];
        BRUME_TRY(excess_at(c, at, &here, error));
        double truth = here + log1p(-fmin(c->excess / target_of(c) / exp(here), 0.5));
        smoothed = c->excess > 0;
        double doubt = here - truth;
        /* where smoothing cannot be made as small as that, the certified bound itself decides */
        bool estimated = smoothed && doubt <= 1.3 * share * slope;
        if (sharp && here <= 0 && (estimated ? truth + 3e-10 * slope : here) >= -6e-10 * slope) {
            *x = exp(at); /* the very point that was tried */
            *found = c->tight = true;
            return BRUME_OK;
        }
        double last = tried.excess[0], secant = (last - truth) / (at - tried.at[0]);
        /* a secant over less than the bounds' own width says nothing */
        if (tried.count > 0 && fabs(at - tried.at[0]) > 1e-7 && secant > slope / 4 &&
            secant < slope * 4 && fabs(last - truth) >= 2 * fmax(doubt, tried.doubt))
            slope = secant;
        if (!isfinite(truth) || !isfinite(slope) || !(slope > 0.01) || fabs(truth / slope) > 3)
            return BRUME_OK;
        remember(&tried, at, truth, doubt);
        at += step_to_target(&tried, slope);
        bool sure = step >= 3 && 0.05 * fabs(truth * last) < 1e-10 * slope &&
                    fabs(truth) < 1.5e-7 * slope;
        bool was_sharp = sharp;
        sharp = step >= 1 && (!smoothed || sure || step >= 6);
        /* at most 1e-9 together with how far below the target it is aimed */
        double fine = c->nodes * sqrt(doubt / (1e-10 * slope));
        share = !smoothed ? 3e-10 : fine < 2e4 ? 1.5e-10 : 6.5e-10;
        if (sharp)
            at += 2e-10 + (!smoothed ? 0 : was_sharp ? doubt / slope : share);
    }
    return BRUME_OK;
}

/* Where the bound to search on comes down to about the target; false where it never does. */
static bool look(calibration *c, looking by, brume_search *search, double guess, double *at,
                 double *slope)
{
    double target = search->target;
    search->relative = 0.02;
    if (by == BY_MOMENTS) /* such a bound is some 7 times the truth where it is near */
        search->target = fmin(7 * target, sqrt(target));
    c->rough = by, c->tolerance = 0.02;
    brume_status status = brume_search_least(search, guess, at, NULL);
    bool found = status == BRUME_OK && search->least < *at && *at < search->most &&
                 slope_at(c, *at, slope, NULL) == BRUME_OK;
    c->rough = CERTIFIED, search->target = target;
    return found;
}

/* A whole number that meets the target and one that does not. */
typedef struct whole_ends {
    double good, bad;               /* NAN: not yet known */
    double good_excess, bad_excess; /* log(bound/target) there */
    double least, most, slope;
    bool largest; /* the largest number that meets the target, not the least */
} whole_ends;

/* The next one to try: between the ends where both are known, else a step beyond the one that is,
 * by the slope in logarithms. */
static double next_whole(const whole_ends *e, bool halve)
{
    double direction = e->largest ? 1 : -1;
    if (isnan(e->bad) || isnan(e->good)) {
        bool good = isnan(e->bad);
        double at = good ? e->good : e->bad, excess = good ? e->good_excess : e->bad_excess;
        double step = fmin(ceil(1.05 * at * fabs(excess) / e->slope), ceil(at / 2));
        double next = at + (good ? direction : -direction) * fmax(step, 1);
        return fmin(fmax(next, e->least), e->most);
    }
    double next = (e->good + e->bad) / 2;
    if (!halve && isfinite(e->good_excess) && isfinite(e->bad_excess))
        next = exp(log(e->good) +
                   log(e->bad / e->good) * e->good_excess / (e->good_excess - e->bad_excess));
    next = e->largest ? floor(next) : ceil(next);
    if (next == e->good)
        next += direction;
    return next == e->bad ? e->bad - direction : next;
}

/* The whole number by few certificates, where a cheap bound says where to look. */
static brume_status search_whole_near(calibration *c, double least, double most, double *value,
                                      bool *found, brume_error *error)
{
    if (c->accuracy || !(c->delta > 0) || !(least >= 1 && most > least + 1))
        return BRUME_OK;
    brume_search search = {bound_at_search_point, c, target_of(c), least, most, 0, 0};
    if (c->inverted)
        search.least = 1 / most, search.most = 1 / least;
    double at, slope = NAN;
    if (!look(c, BY_SADDLE, &search, 1 / sqrt(least), &at, &slope) &&
        !look(c, BY_MOMENTS, &search, 1 / sqrt(least), &at, &slope))
        return BRUME_OK;
    double tried = fmin(fmax(floor(c->inverted ? 1 / at : at), least), most);
    whole_ends ends = {NAN, NAN, 0, 0, least, most, slope > 1 ? slope : 1, c->inverted};
    c->tolerance = 1e-4;
    for (int step = 0; step < 200; step++) {
        double excess;
        BRUME_TRY(bound_at(c, tried, &excess, error));
        bool good = excess <= target_of(c);
        excess = log(excess / target_of(c));
        *(good ? &ends.good : &ends.bad) = tried;
        *(good ? &ends.good_excess : &ends.bad_excess) = excess;
        bool at_end = tried == (good == ends.largest ? most : least);
        if (fabs(ends.good - ends.bad) <= 1 || (good && at_end)) {
            *value = ends.good;
            *found = true;
            return BRUME_OK;
        }
        if (at_end && isnan(ends.good))
            return BRUME_OK;
        tried = next_whole(&ends, step % 4 == 3);
    }
    return BRUME_OK;
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
    bool found = false;
    BRUME_TRY(search_whole_near(c, least, most, value, &found, error));
    if (found)
        return BRUME_OK;
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

/* The certified bound is dear far from the target and where it must be sharp. So look first by one
 * that is cheap, then by ever sharper certificates; bisect only where that fails. */
static brume_status search_in_stages(calibration *c, brume_search *search, double guess, double *at,
                                     brume_error *error)
{
    search->relative = 1e-15;
    if (c->accuracy || !(c->delta > 0)) /* cheap: go to the last places at once */
        return brume_search_least(search, guess, at, error);
    double slope, most = 0;
    c->rough = BY_SADDLE;
    double far = fmin(search->most, 1e6 * guess); /* some costs are dear at the very end */
    bool guessed = bound_at_search_point(c, far, &most, NULL) == BRUME_OK;
    c->rough = CERTIFIED, c->tolerance = 0.02;
    if (guessed && most > 1.1 * search->target) { /* the other terms alone? */
        BRUME_TRY(bound_at_search_point(c, search->most, &most, error));
        if (most > 1.1 * search->target)
            return brume_fail(error, BRUME_EUNSUPPORTED, NULL, "the least cost is too large");
    }
    static const looking ways[] = {BY_SADDLE, BY_MOMENTS, CERTIFIED};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        bool found = false;
        if (!look(c, ways[i], search, guess, at, &slope))
            continue;
        double start = *at;
        BRUME_TRY(polish(c, at, slope, &found, error));
        if (found)
            return BRUME_OK;
        guess = start, search->step = 0.05;
    }
    c->tolerance = 0.02;
    search->relative = 0.01;
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
    c->whole = parameter->type == BRUME_PARAMETER_INTEGER;
    double value = NAN;
    if (c->whole)
        BRUME_TRY(search_whole(c, c->inverted, &value, error));
    else
        BRUME_TRY(search_real(c, &value, error));
    BRUME_TRY(brume_expression_solve(c->expression, value, error));
    *out = (brume_calibration){.value = value, .delta = c->delta};
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
    brume_compose_options quick = {.tolerance = 1e-7}; /* to be shown, and still certified */
    brume_composition composition;
    if (delta > 0 &&
        brume_compose_epsilon(terms, expression->count, delta, &quick, &composition, NULL) ==
            BRUME_OK &&
        composition.has_lower && composition.failure.upper < delta &&
        composition.value.upper <= composition.value.lower * (1 + 1e-6)) {
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
