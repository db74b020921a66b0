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
    *excess = brume_calibrate_upper_excess(&near.value, c->delta);
    return isfinite(*excess);
}

/* A smaller epsilon at which delta is certified too, within a millionth or so of the least; false
 * where none is found in a few steps. */
static bool step_down(const brume_search_for *c, double excess, double *epsilon)
{
    brume_epsilon_walk w;
    if (!brume_calibrate_begin_epsilon(c, excess, &w))
        return false;
    for (int step = 0; step < MOST_STEPS; step++) {
        double there;
        if (!excess_of(c, w.next, w.tolerance, &there))
            return false;
        if (there <= 0 && -there <= 1e-6 * w.slope * w.next) {
            *epsilon = fmin(w.next, c->epsilon);
            return true;
        }
        if (!brume_calibrate_next_epsilon(c, there, &w))
            return false;
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
        if (f.estimate > -5 && step_down(c, f.estimate, &better)) {
            *epsilon = better;
            return BRUME_OK;
        }
    }
    BRUME_TRY(brume_calibrate_epsilon_at(c->expression, c->delta, &better, error));
    *epsilon = fmin(better, c->epsilon);
    return BRUME_OK;
}
