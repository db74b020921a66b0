/* The plan of a query: its parts in words and numbers, and its end. */
#include "query/plan/plan.h"

#include <stdlib.h>

#include <brume/mechanism/stable_histogram.h>

#include "synthetic/consistent.h"

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
    brume_consistent_close(plan->fitted);
    free(plan->fractions);
    free(plan->limits);
    free(plan->measure_limit);
    free(plan);
}

size_t brume_plan_counted(const brume_plan *plan, size_t value)
{
    while (plan->values[value].counted_by)
        value = plan->values[value].counted_by - 1;
    return value;
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
    case BRUME_MEASURE_HOLDERS:
        return "units with a value";
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
    case BRUME_MEASURE_DEVIATION:
        return "sum of deviations";
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
    switch (brume_measure_noise(&plan->measures[measure], plan->noise)) {
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
    case BRUME_MEASURE_DEVIATION:
        return plan->values[measure->expression].step;
    case BRUME_MEASURE_SQUARES:
        return plan->values[measure->expression].step * plan->values[measure->expression].step;
    case BRUME_MEASURE_UNITS:
    case BRUME_MEASURE_PRESENCE:
    case BRUME_MEASURE_HOLDERS:
    case BRUME_MEASURE_ROWS:
    case BRUME_MEASURE_VALUES:
    case BRUME_MEASURE_QUANTILES:
    case BRUME_MEASURE_MODE:
    case BRUME_MEASURE_PRIVATE_MODE:
        break;
    }
    return 1;
}
