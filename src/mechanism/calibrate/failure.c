/* An unknown that moves a probability of failure and nothing else, such as the delta of a stable
 * release: one certificate of all that it does not move is enough.
 *
 * With D the delta of everything if the unknown's term never failed, and f the probability that one
 * of its n releases fails, the delta of all is f + (1 - f) D: the failures are an atom at
 * +infinity.
 *
 * Promise: at the value returned f + (1 - f) D, rounded up, was at most the target, with D
 * certified. */
#include <math.h>

#include "base/error.h"
#include "mechanism/calibrate/calibrate.h"

static const double most_loss = 7e-10; /* of the value, by what is not known of D */
static const double start = 0.25;      /* a value within every range */

/* The cost at a value; false where it has none. */
static bool cost_at(const brume_search_for *c, double value, brume_cost *cost)
{
    return brume_expression_solve(c->expression, value, NULL) == BRUME_OK &&
           brume_event_cost(&c->expression->events[c->expression->unknown.event], cost, NULL) ==
               BRUME_OK;
}

/* In proportion to the value? */
static bool moves_failure_only(const brume_search_for *c, double value, brume_cost *cost)
{
    brume_cost other;
    if (!cost_at(c, value, cost) || !cost_at(c, value / 2, &other) ||
        !(fabs(cost->delta_failure - 2 * other.delta_failure) <= 1e-12 * cost->delta_failure) ||
        !(cost->delta_failure > 0))
        return false;
    other.delta_failure = cost->delta_failure;
    return brume_calibrate_same_cost(cost, &other);
}

/* f + (1 - f) D, up, with f = 1 - (1 - d)^n: log1p, expm1, products and the sum of what is not
 * negative are within a few units each. */
static double together_upper(double failure, double count, double rest)
{
    double any = -expm1(count * log1p(-failure));
    return (any + (1 - any) * rest) * (1 + 0x1p-48);
}

/* Is the rest of the cost the one that D was certified with? */
static bool has_same_rest(const brume_search_for *c, brume_cost cost)
{
    cost.delta_failure = 0;
    return brume_calibrate_same_cost(&cost, &c->terms[c->expression->unknown.event].cost);
}

/* The largest value that meets the target, given D = `rest` and the failure at `start`; NAN where
 * it is not found. */
static double largest_value(const brume_search_for *c, double count, double rest, double failure)
{
    double left = (c->delta - rest) / (1 - rest);
    double wanted = -expm1(log1p(-left) / count); /* of one release */
    double value = fmin(fmax(start * (wanted / failure), c->low), c->high);
    brume_cost cost;
    /* down, by as much as rounding asks for */
    for (double aside = 0x1p-53; aside < 1e-10; aside *= 2) {
        if (!cost_at(c, value, &cost))
            return NAN;
        if (together_upper(cost.delta_failure, count, rest) <= c->delta)
            return has_same_rest(c, cost) ? value : NAN;
        value = fmax(value * (1 - aside), c->low);
    }
    return NAN;
}

brume_status brume_calibrate_failure(brume_search_for *c, bool *applies, double *value,
                                     brume_error *error)
{
    size_t unknown = c->expression->unknown.event;
    double tolerance = 1e-3;
    brume_cost cost;
    *applies = !c->accuracy && c->delta > 0 && c->inverted && moves_failure_only(c, start, &cost);
    if (!*applies)
        return BRUME_OK;
    c->power = 1; /* delta is straight along the value */
    brume_term *term = &c->terms[unknown];
    term->cost = cost;
    term->cost.delta_failure = 0;
    term->count = c->expression->events[unknown].count;
    for (int sharper = 0; sharper < 2; sharper++) {
        brume_interval rest;
        BRUME_TRY(brume_calibrate_delta(c, tolerance, &rest, applies, error));
        if (!*applies && rest.upper < c->delta) { /* about there, for moments are not so exact */
            double near = largest_value(c, (double)term->count, rest.upper, cost.delta_failure);
            c->hint = near > 0 ? -log(near) : 0;
        }
        if (!*applies)
            return BRUME_OK;
        if (rest.lower >= c->delta || (sharper > 0 && rest.upper >= c->delta))
            return brume_calibrate_no_value(c, error);
        double share = fmax(c->delta / rest.upper - 1, 1e-2); /* what the failure may be of D */
        tolerance = fmin(most_loss * share, 1e-3);
        if (rest.upper < c->delta && rest.upper - rest.lower <= tolerance * rest.upper)
            sharper = 1;
        if (sharper == 0)
            continue;
        *value = largest_value(c, (double)term->count, rest.upper, cost.delta_failure);
    }
    *applies = isfinite(*value);
    c->everywhere = *value == c->high;
    c->tight = !c->everywhere;
    return BRUME_OK;
}
