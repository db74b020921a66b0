/* Bounded terms apart from the rest. Where a loss is A + B and B is never above t,
 *
 *   E(1 - e^{eps - A - B})_+ <= E(1 - e^{(eps - t) - A})_+ ,
 *
 * in either order of the neighbours, so delta(eps) <= delta_A(eps - t), and epsilon is at most t
 * plus that of the rest. It is the sharper bound where nearly all of the loss is in A and no line
 * follows the mixture down to a tiny delta. */
#include "accountant/solve/compose.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "number/rounding.h"

/* A term whose loss is never above its epsilon. */
static bool is_bounded(const brume_term *term)
{
    return term->cost.pure != BRUME_ABSENT && isfinite(term->cost.epsilon) &&
           term->cost.delta_failure == 0;
}

/* delta falls with epsilon. Far beyond the epsilons of any delta of use a line says little of so
 * small a delta; but if a tiny one is certified at a smaller epsilon, it is certified here. */
static brume_status by_tiny_delta(const brume_term *terms, size_t count, double epsilon,
                                  double *upper, brume_error *error)
{
    const double tiny = 1e-32; /* not a delta that is asked for: there a search would stop short */
    for (size_t i = 0; i < count; i++)
        if (terms[i].cost.loss == BRUME_ABSENT || terms[i].cost.delta_failure >= tiny)
            return BRUME_OK;
    brume_asked asked = {.of_delta = true, .at = tiny, .width = 1e-6};
    brume_composition composition;
    if (!(*upper > tiny))
        return BRUME_OK;
    BRUME_TRY(brume_compose(terms, count, &asked, false, &composition, NULL, error));
    if (!composition.infinite && composition.value.upper <= epsilon)
        *upper = tiny;
    return BRUME_OK;
}

static brume_status of_rest(const brume_term *rest, size_t count, bool of_delta, bool composed,
                            double at, double *upper, brume_error *error)
{
    brume_composition composition = {.value = {0, 1}};
    brume_asked asked = {.of_delta = of_delta, .at = at, .width = 1e-6, .upper_end = !of_delta};
    if (of_delta || !composed)
        BRUME_TRY(brume_compose(rest, count, &asked, false, &composition, NULL, error));
    *upper = composition.value.upper;
    bool rough = !of_delta && composition.value.lower < 0.125 * composition.value.upper;
    return rough ? by_tiny_delta(rest, count, at, upper, error) : BRUME_OK;
}

brume_status brume_split_bounded_terms(const brume_term *terms, size_t count, bool of_delta,
                                       double at, bool rough, double *upper, brume_error *error)
{
    double most = 0; /* the largest loss of the bounded terms, up */
    size_t rest_count = 0;
    brume_term *rest = malloc(count * sizeof *rest);
    if (!rest)
        return brume_no_memory(error, NULL);
    for (size_t i = 0; i < count; i++) {
        if (is_bounded(&terms[i]))
            most = brume_add_up(
                most, brume_multiply_up(brume_count_up(terms[i].count), terms[i].cost.epsilon));
        else
            rest[rest_count++] = terms[i];
    }
    *upper = of_delta ? INFINITY : 1;
    bool whole = rest_count == count;                            /* nothing is taken apart */
    double left = of_delta ? at : brume_subtract_down(at, most); /* down: delta falls with it */
    double found = *upper;
    brume_status status = BRUME_OK;
    if (rest_count > 0 && left >= 0 && (!whole || (rough && !of_delta)))
        status = of_rest(rest, rest_count, of_delta, whole, left, &found, error);
    free(rest);
    BRUME_TRY(status);
    *upper = of_delta ? brume_add_up(found, most) : found;
    return BRUME_OK;
}
