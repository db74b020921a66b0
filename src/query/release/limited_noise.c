/* Noise and limit of one answer belong together.
 *
 * Promise: no number of a limited measure is drawn unless its noise is what the price buys for the
 * very limit that the rows were clipped with. The reach of a measure is worked out here from what
 * the collection subtracted, not from what the planner says. */
#include "query/release/limited_noise.h"

#include <math.h>

#include "base/error.h"
#include "query/plan/plan_limit.h"

/* Both are made of a few roundings of the same numbers. */
static bool agree(double a, double b)
{
    return fabs(a - b) <= 0x1p-40 * b;
}

/* Does the vector that is limited have at least as many rows in every group as the measure has
 * values? Then what follows it moves by the reach of a value for each of them at most. */
static bool counts_values(const brume_plan *plan, const brume_total *of,
                          const brume_measure *measure)
{
    return of->kind == BRUME_TOTAL_ROWS ||
           (of->kind == BRUME_TOTAL_VALUES &&
            of->value == brume_plan_counted(plan, measure->expression));
}

/* The most that one value adds, once the centre is subtracted: x is within [low, high]. */
static double reach_of(const brume_plan_value *value)
{
    brume_measure bounds = {.low = value->low, .high = value->high};
    double centre = (double)brume_measure_centre(&bounds);
    return fmax(1, fmax((double)value->high - centre, centre - (double)value->low));
}

/* The norm of what one unit adds to the measure over all groups; NaN: it has no bound. */
static double norm_of(const brume_plan *plan, const brume_measure *measure,
                      const brume_clipped *clipped)
{
    double limit = clipped->limit.square ? sqrt((double)clipped->limit.square)
                                         : (double)clipped->limit.limit;
    double reach, half = (double)clipped->sum.half_square;
    switch (measure->kind) {
    case BRUME_MEASURE_CENTRED:
        return counts_values(plan, &clipped->limit.of, measure)
                   ? limit * reach_of(&plan->values[measure->expression])
                   : NAN;
    case BRUME_MEASURE_SQUARES: /* within [0, reach^2], less half */
        reach = reach_of(&plan->values[measure->expression]);
        return counts_values(plan, &clipped->limit.of, measure)
                   ? limit * fmax(1, fmax(half, reach * reach - half))
                   : NAN;
    case BRUME_MEASURE_HOLDERS: /* at most 1 where the unit is present */
        return clipped->limit.of.kind == BRUME_TOTAL_PRESENCE ? limit : NAN;
    case BRUME_MEASURE_QUANTILES:
    case BRUME_MEASURE_MODE:
        return counts_values(plan, &clipped->limit.of, measure) ? limit : NAN;
    default: /* the limited vector itself */
        return limit;
    }
}

/* `noise` is what the price buys for a norm of 1. */
static bool belongs(const brume_terms *terms, size_t index, const brume_collected *collected,
                    double noise)
{
    const brume_plan *plan = terms->plan;
    const brume_measure *measure = &terms->measures[index];
    bool selects = brume_measure_is_selection(measure);
    const brume_clipped *clipped = selects ? brume_collected_listed(collected, measure->expression)
                                           : brume_collected_clipped(collected, index);
    if (!clipped)
        return false;
    double scale = norm_of(plan, measure, clipped) * noise;
    if (selects)
        return agree(measure->scale, 1 / scale);
    /* a ball of the 1-norm is within that of the 2-norm */
    return agree(measure->scale, scale) && clipped->sum.kind == measure->kind &&
           clipped->sum.value == measure->expression && clipped->sum.shift == measure->shift &&
           (clipped->p == 1 || plan->noise != BRUME_NOISE_DISCRETE_LAPLACE);
}

brume_status brume_check_limited_noise(const brume_terms *terms, const brume_collected *collected,
                                       brume_error *error)
{
    brume_terms *again = NULL;
    if (!terms->plan->by_totals)
        return BRUME_OK;
    BRUME_TRY(brume_terms_make(terms->plan, terms, terms->groups, &again, error));
    brume_status status = BRUME_OK;
    for (size_t i = 0; status == BRUME_OK && i < terms->plan->measure_count; i++) {
        const brume_found_limit *limit = brume_terms_measure_limit(terms, i);
        if (limit && limit->known && !belongs(terms, i, collected, again->measures[i].noise))
            status = brume_fail(error, BRUME_EINTERNAL, "please report this query",
                                "the noise of measure %zu is not for the limit of its rows", i);
    }
    brume_terms_close(again);
    return status;
}
