/* The plan of a query: its parts in words and numbers, and its end. */
#include "query/plan/plan.h"

#include <math.h>
#include <stdlib.h>

#include <brume/mechanism/stable_histogram.h>

#include "query/price/error_bar.h"

void brume_query_plan_close(brume_plan *plan)
{
    if (!plan)
        return;
    free(plan->measures);
    free(plan->values);
    free(plan->aggregates);
    free(plan->domain);
    free(plan->domain_size);
    free(plan->measurements);
    brume_key_selection_close(plan->selection);
    free(plan->fractions);
    free(plan->limits);
    free(plan->measure_limit);
    free(plan);
}

double brume_plan_joint_share(const brume_plan *plan)
{
    double share = 1;
    for (size_t i = 0; i < plan->measurement_count; i++)
        share -= plan->measurements[i].share;
    return share;
}

const char *brume_measure_word(brume_measure_kind kind)
{
    switch (kind) {
    case BRUME_MEASURE_UNITS:
    case BRUME_MEASURE_PRESENCE:
        return "units";
    case BRUME_MEASURE_ROWS:
        return "rows";
    case BRUME_MEASURE_VALUES:
        return "values";
    case BRUME_MEASURE_CENTRED:
        return "centred sum";
    case BRUME_MEASURE_SQUARES:
        return "centred squares";
    case BRUME_MEASURE_DIRECT:
        return "sum";
    case BRUME_MEASURE_QUANTILES:
        return "quantiles";
    case BRUME_MEASURE_MODE:
        return "mode";
    case BRUME_MEASURE_PRIVATE_MODE:
        return "units of each value";
    }
    return "";
}

const char *brume_plan_mechanism(const brume_plan *plan, size_t measure)
{
    if (plan->measures[measure].kind == BRUME_MEASURE_QUANTILES)
        return "exponential";
    if (plan->measures[measure].kind == BRUME_MEASURE_MODE)
        return "permute_and_flip";
    switch (brume_measure_noise(&plan->measures[measure], plan->price.noise)) {
    case BRUME_NOISE_DISCRETE_LAPLACE:
        return "discrete_laplace";
    case BRUME_NOISE_ROUNDED_GAUSSIAN:
        return "gaussian";
    case BRUME_NOISE_DISCRETE_GAUSSIAN:
        break;
    }
    return "discrete_gaussian";
}

double brume_plan_step(const brume_plan *plan, const brume_measure *measure)
{
    switch (measure->kind) {
    case BRUME_MEASURE_CENTRED:
    case BRUME_MEASURE_DIRECT:
        return plan->values[measure->expression].step;
    case BRUME_MEASURE_SQUARES:
        return plan->values[measure->expression].step * plan->values[measure->expression].step;
    case BRUME_MEASURE_UNITS:
    case BRUME_MEASURE_PRESENCE:
    case BRUME_MEASURE_ROWS:
    case BRUME_MEASURE_VALUES:
    case BRUME_MEASURE_QUANTILES:
    case BRUME_MEASURE_MODE:
    case BRUME_MEASURE_PRIVATE_MODE:
        break;
    }
    return 1;
}

double brume_plan_width(const brume_plan *plan, size_t measure, double beta)
{
    const brume_measure *one = &plan->measures[measure];
    return brume_plan_step(plan, one) *
           ldexp(brume_error_width(brume_measure_noise(one, plan->price.noise),
                                   ldexp(one->scale, one->shift), beta),
                 -one->shift);
}

/* P[rank error >= t] <= W exp(-eta t) for one quantile; for several the levels add and the grid is
 * refined by 32 bits. P[a mode has t rows fewer] <= k exp(-eta t), k values. */
double brume_plan_selection_width(const brume_measure *measure, double rate, double beta)
{
    double width = (double)measure->high - (double)measure->low + 1;
    size_t m = measure->fraction_count;
    if (m <= 1)
        return log(width / beta) / rate;
    double levels = floor(log2((double)m)) + 1;
    return levels * (log(width / beta * (double)m) + 32 * M_LN2) / rate;
}

brume_selection_error brume_plan_selection_error(const brume_plan *plan, size_t index)
{
    const brume_measure *measure = &plan->measures[index];
    brume_selection_error known = {NAN, NAN, NAN};
    if (measure->kind == BRUME_MEASURE_QUANTILES) {
        known.rank_95 = brume_plan_selection_width(measure, measure->scale, 0.05);
    } else if (measure->kind == BRUME_MEASURE_MODE) {
        known.count_95 = brume_plan_selection_width(measure, measure->scale, 0.05);
    } else if (measure->kind == BRUME_MEASURE_PRIVATE_MODE) {
        const double scale[] = {measure->scale, measure->scale}, signs[] = {1, -1};
        brume_noise_kind noise = brume_measure_noise(measure, plan->price.noise);
        known.gap_95 = brume_error_width_combined(noise, scale, signs, 2, 0.1);
    }
    return known;
}
