/* A plan as JSON. */
#include "query/plan/show_plan.h"

#include <math.h>

#include "query/plan/bias.h"
#include "query/price/error_bar.h"

static void add_number(json_t *json, const char *name, double number)
{
    if (!isnan(number))
        json_object_set_new(json, name, json_real(number));
}

static void add_selection_error(json_t *json, const brume_plan *plan, size_t index)
{
    brume_selection_error known = brume_plan_selection_error(plan, index);
    add_number(json, "rank_error_95", known.rank_95);
    add_number(json, "count_error_95", known.count_95);
    add_number(json, "gap_95", known.gap_95);
}

static void add_noise(json_t *json, const brume_plan *plan, size_t index)
{
    const brume_measure *measure = &plan->measures[index];
    brume_noise_kind noise = brume_measure_noise(measure, plan->price.noise);
    json_object_set_new(json, noise == BRUME_NOISE_DISCRETE_LAPLACE ? "scale" : "sigma",
                        json_real(brume_plan_step(plan, measure) * measure->scale));
    json_object_set_new(json, "error_95", json_real(brume_plan_width(plan, index, 0.05)));
    if (measure->kind == BRUME_MEASURE_PRIVATE_MODE)
        json_object_set_new(json, "threshold", json_integer((json_int_t)measure->threshold));
}

static json_t *measure_to_json(const brume_plan *plan, size_t index)
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
        json_object_set_new(json, "rate", json_real(measure->scale));
    else
        add_noise(json, plan, index);
    add_selection_error(json, plan, index);
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
        if (json_array_append_new(list, measure_to_json(plan, i)) != 0) {
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
