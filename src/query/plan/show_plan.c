/* A plan as JSON. */
#include "query/plan/show_plan.h"

#include <math.h>

#include "query/plan/bias.h"
#include "query/price/error_bar.h"

/* P[rank error >= t] <= W exp(-eta t) for one quantile; for several the levels add and the grid is
 * refined by 32 bits. */
static double rank_error(const brume_measure *measure, double beta)
{
    double width = (double)measure->high - (double)measure->low + 1;
    size_t m = measure->fraction_count;
    if (m == 1)
        return log(width / beta) / measure->scale;
    double levels = floor(log2((double)m)) + 1;
    return levels * (log(width / beta * (double)m) + 32 * M_LN2) / measure->scale;
}

/* Quantiles and declared modes have a rate and no error in their own units. */
static void add_selection(json_t *json, const brume_measure *measure)
{
    json_object_set_new(json, "rate", json_real(measure->scale));
    if (measure->kind == BRUME_MEASURE_QUANTILES)
        json_object_set_new(json, "rank_error_95", json_real(rank_error(measure, 0.05)));
    else /* P[the chosen value has t rows fewer than the mode] <= k exp(-eta t), k values */
        json_object_set_new(json, "count_error_95",
                            json_real(log(((double)measure->high + 1) / 0.05) / measure->scale));
}

static void add_noise(json_t *json, const brume_plan *plan, size_t index)
{
    const brume_measure *measure = &plan->measures[index];
    brume_noise_kind noise = brume_measure_noise(measure, plan->price.noise);
    json_object_set_new(json, noise == BRUME_NOISE_DISCRETE_LAPLACE ? "scale" : "sigma",
                        json_real(brume_plan_step(plan, measure) * measure->scale));
    json_object_set_new(json, "error_95", json_real(brume_plan_width(plan, index, 0.05)));
    if (measure->kind == BRUME_MEASURE_PRIVATE_MODE) {
        /* Two given values whose units differ by more: the rarer one wins in 5 % at most. */
        const double scale[] = {measure->scale, measure->scale}, signs[] = {1, -1};
        json_object_set_new(json, "threshold", json_integer((json_int_t)measure->threshold));
        json_object_set_new(json, "gap_95",
                            json_real(brume_error_width_combined(noise, scale, signs, 2, 0.1)));
    }
}

json_t *brume_plan_measure_to_json(const brume_plan *plan, size_t index)
{
    const brume_measure *measure = &plan->measures[index];
    bool private_mode = measure->kind == BRUME_MEASURE_PRIVATE_MODE;
    json_t *json = json_pack("{s:s,s:s,s:f,s:f}", "measure", brume_measure_word(measure->kind),
                             "mechanism", brume_plan_mechanism(plan, index), "sensitivity",
                             brume_plan_step(plan, measure) * measure->sensitivity, "share",
                             brume_plan_joint_share(plan) / (double)plan->measure_count);
    if (!json)
        return NULL;
    if (brume_measure_is_selection(measure) && !private_mode)
        add_selection(json, measure);
    else
        add_noise(json, plan, index);
    if (measure->kind != BRUME_MEASURE_UNITS && measure->kind != BRUME_MEASURE_ROWS &&
        !private_mode) {
        const brume_plan_value *value = &plan->values[measure->expression];
        json_object_set_new(json, "expression", json_integer((json_int_t)measure->expression + 1));
        json_object_set_new(json, "step", json_real(value->step));
        if (!value->declared && value->low < value->high)
            json_object_set_new(json, "bounds",
                                json_pack("[f,f]", value->step * (double)value->low,
                                          value->step * (double)value->high));
    }
    return json;
}

json_t *brume_plan_to_json(const brume_plan *plan)
{
    if (plan->selection)
        return json_pack("[{s:s,s:s,s:f,s:f,s:I}]", "measure", "keys", "mechanism", "key_selection",
                         "sensitivity", 1.0, "share", 1.0, "half_shown_at",
                         (json_int_t)plan->price.threshold);
    json_t *list = json_array();
    for (size_t i = 0; list && i < plan->measure_count; i++)
        if (json_array_append_new(list, brume_plan_measure_to_json(plan, i)) != 0) {
            json_decref(list);
            return NULL;
        }
    for (size_t i = 0; list && i < plan->measurement_count; i++)
        if (plan->measurements[i].kind == BRUME_MEASUREMENT_BIAS &&
            !brume_bias_add_json(&plan->measurements[i], list)) {
            json_decref(list);
            return NULL;
        }
    return list;
}

json_t *brume_plan_cost_to_json(const brume_plan *plan)
{
    double amount = brume_decimal_nearest(&plan->charge.amount);
    double delta = brume_decimal_nearest(&plan->charge.delta);
    if (plan->rule == BRUME_RULE_CONCENTRATED)
        return json_pack("{s:n,s:f,s:f}", "epsilon", "delta", delta, "rho", amount);
    return json_pack("{s:f,s:f,s:n}", "epsilon", amount, "delta", delta, "rho");
}
