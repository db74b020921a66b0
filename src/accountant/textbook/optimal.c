/* Optimal composition of (epsilon, delta) guarantees, whatever their number. The worst mechanisms
 * of such guarantees are randomized responses that fail with probability delta [KOV15, Thm 3.3]:
 * laws of the certified composition. Promise: the upper end is at or above the exact worst case,
 * and not by more than pure.h says.
 *
 * A short sum is computed as it stands in the textbook; a long one would take seconds where the
 * composition takes milliseconds. Where the composition is not narrow (a delta far below any of
 * use), the long sum is still there. */
#include <math.h>
#include <stdlib.h>

#include <brume/compose.h>

#include "accountant/textbook/pure.h"
#include "base/error.h"

static const double short_sum = 512; /* terms: some 20 ms for an epsilon */
static const double epsilon_width = 1e-8, delta_width = 1e-5;

static bool narrow(const brume_composition *c, double width)
{
    return c->infinite || c->value.upper - c->value.lower <= width * c->value.upper;
}

static brume_status compose(const brume_pure_step *steps, size_t n, bool of_delta, double at,
                            brume_composition *out, brume_error *error)
{
    brume_term *terms = calloc(n, sizeof *terms);
    if (!terms)
        return brume_no_memory(error, "the guarantees");
    for (size_t i = 0; i < n; i++)
        terms[i] = (brume_term){.cost = {.pure = BRUME_EXACT,
                                         .epsilon = steps[i].epsilon,
                                         .delta_failure = steps[i].delta},
                                .count = steps[i].count};
    brume_status status = of_delta ? brume_compose_epsilon(terms, n, at, NULL, out, error)
                                   : brume_compose_delta(terms, n, at, NULL, out, error);
    free(terms);
    return status;
}

brume_status brume_optimal_delta(const brume_pure_step *steps, size_t n, double epsilon,
                                 brume_interval *delta, brume_error *error)
{
    brume_composition composition;
    if (brume_optimal_sum_terms(steps, n) <= short_sum)
        return brume_optimal_sum_delta(steps, n, epsilon, delta, error);
    BRUME_TRY(compose(steps, n, false, epsilon, &composition, error));
    if (!narrow(&composition, delta_width))
        return brume_optimal_sum_delta(steps, n, epsilon, delta, error);
    *delta = composition.value;
    return BRUME_OK;
}

brume_status brume_optimal_epsilon_upper(const brume_pure_step *steps, size_t n, double delta,
                                         double *epsilon, brume_error *error)
{
    brume_composition composition;
    if (brume_optimal_sum_terms(steps, n) <= short_sum)
        return brume_optimal_sum_epsilon_upper(steps, n, delta, epsilon, error);
    BRUME_TRY(compose(steps, n, true, delta, &composition, error));
    if (!narrow(&composition, epsilon_width))
        return brume_optimal_sum_epsilon_upper(steps, n, delta, epsilon, error);
    *epsilon = composition.value.upper;
    /* basic composition is a bound too, without the units that the largest loss is rounded by */
    if (brume_pure_failure_upper(steps, n) <= delta)
        *epsilon = fmin(*epsilon, brume_basic_epsilon_upper(steps, n));
    return BRUME_OK;
}
