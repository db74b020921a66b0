/* A plan as JSON. */
#include "query/plan/show_plan.h"

#include <math.h>

#include "number/decimal.h"
#include "query/plan/bias.h"
#include "query/plan/plan_distinct.h"
#include "query/plan/plan_limit.h"
#include "query/price/error_bar.h"
#include "query/price/price.h"

static void add_number(json_t *json, const char *name, double number)
{
    if (!isnan(number))
        json_object_set_new(json, name, json_real(number));
}

static void add_selection_error(json_t *json, const brume_terms *terms, size_t index)
{
    brume_selection_error known = brume_terms_selection_error(terms, index);
    add_number(json, "rank_error_95", known.rank_95);
    add_number(json, "count_error_95", known.count_95);
    add_number(json, "gap_95", known.gap_95);
}

/* The limit that a measure has; what is still to be chosen says what the noise is for a limit of 1,
 * and has no scale of its own. True: it is still to be chosen. */
static bool add_limit(json_t *json, const brume_terms *terms, size_t index)
{
    const brume_found_limit *limit = brume_terms_measure_limit(terms, index);
    if (!limit)
        return false;
    if (limit->known) {
        json_object_set_new(
            json, "limit",
            json_real(brume_found_value(limit) * brume_plan_limit_step(terms->plan, limit->of)));
        return false;
    }
    json_object_set_new(json, "sensitivity", json_null());
    json_object_set_new(json, "limit", json_null());
    if (!brume_measure_is_selection(&terms->measures[index]))
        json_object_set_new(json, "noise_per_sensitivity", json_real(terms->measures[index].noise));
    return true;
}

static void add_noise(json_t *json, const brume_terms *terms, size_t index)
{
    const brume_measure *measure = &terms->measures[index];
    if (add_limit(json, terms, index))
        return;
    brume_noise_kind noise = brume_measure_noise(measure, terms->plan->noise);
    json_object_set_new(json, noise == BRUME_NOISE_DISCRETE_LAPLACE ? "scale" : "sigma",
                        json_real(brume_plan_step(terms->plan, measure) * measure->scale));
    json_object_set_new(json, "error_95", json_real(brume_terms_width(terms, index, 0.05)));
    if (measure->kind == BRUME_MEASURE_PRIVATE_MODE)
        json_object_set_new(json, "threshold", json_integer((json_int_t)measure->threshold));
}

/* Most that all numbers of a measure move by together between neighbours, in the norm of its noise
 * (L1 for Laplace, L2 for Gaussian): where a unit is replaced its old cells move as well as its
 * new ones. For quantiles and declared modes the rows of one unit. */
static double sensitivity_of(const brume_terms *terms, size_t index)
{
    const brume_plan *plan = terms->plan;
    const brume_measure *measure = &terms->measures[index];
    const brume_shape *shape = &plan->shape;
    bool private_mode = measure->kind == BRUME_MEASURE_PRIVATE_MODE;
    double one = brume_plan_step(plan, measure) * measure->sensitivity, moved;
    if (brume_measure_is_selection(measure) && !private_mode)
        return one;
    int p = brume_measure_noise(measure, plan->noise) == BRUME_NOISE_DISCRETE_LAPLACE ? 1 : 2;
    if (private_mode) {
        moved = (shape->replace ? 2 : 1) * (double)brume_shape_pairs(shape);
    } else if (plan->by_totals) {
        brume_limited_shape limited = {.cells = shape->private_keys ? 0 : shape->cells,
                                       .replace = shape->replace};
        moved = brume_limited_distance(measure, &limited, p);
    } else {
        double stay = brume_stay_up(measure, 1, shape, p, true, false);
        moved = brume_total_up(shape, 1, stay, 0);
    }
    return one * (p == 1 ? moved : sqrt(moved));
}

static brume_limited_shape shape_of(const brume_terms *terms)
{
    return (brume_limited_shape){.cells = terms->plan->shape.cells,
                                 .replace = terms->plan->shape.replace,
                                 .equal_shares = terms->step == BRUME_CHOICE_AGAIN};
}

/* `weights`: of all measures together. */
static json_t *measure_to_json(const brume_terms *terms, size_t index, double weights)
{
    const brume_plan *plan = terms->plan;
    const brume_measure *measure = &terms->measures[index];
    bool private_mode = measure->kind == BRUME_MEASURE_PRIVATE_MODE;
    const brume_limited_shape limited = shape_of(terms);
    double part = brume_limited_weight(terms->measures, plan->measure_count, index, &limited) /
                  weights;
    json_t *json = json_pack(
        "{s:s,s:s,s:f,s:f}", "measure", brume_measure_word(measure->kind), "mechanism",
        brume_plan_mechanism(plan, index), "sensitivity", sensitivity_of(terms, index), "share",
        (brume_plan_joint_share(plan) - brume_terms_groups_choice_share(terms)) * part);
    if (!json)
        return NULL;
    if (!brume_measure_is_selection(measure) || private_mode) {
        add_noise(json, terms, index);
        add_selection_error(json, terms, index);
    } else if (!add_limit(json, terms, index)) {
        json_object_set_new(json, "rate", json_real(measure->scale));
        if (brume_measure_has_interval(measure))
            json_object_set_new(json, "interval_rate",
                                json_real(brume_interval_rate_down(measure, plan->noise)));
        add_selection_error(json, terms, index);
    }
    if (brume_measure_has_interval(measure)) /* of the measure's */
        json_object_set_new(json, "interval_share", json_real(0.5));
    if (measure->kind != BRUME_MEASURE_UNITS && measure->kind != BRUME_MEASURE_ROWS &&
        measure->kind != BRUME_MEASURE_PRESENCE && !private_mode) {
        const brume_plan_value *value = &plan->values[measure->expression];
        json_object_set_new(json, "expression", json_integer((json_int_t)measure->expression + 1));
        json_object_set_new(json, "step", json_real(value->step));
        if (!value->declared && value->low < value->high)
            json_object_set_new(json, "bounds",
                                json_pack("[f,f]",
                                          value->step * (double)(value->origin + value->low),
                                          value->step * (double)(value->origin + value->high)));
    }
    return json;
}

json_t *brume_terms_to_json(const brume_terms *terms)
{
    const brume_plan *plan = terms->plan;
    if (plan->selection)
        return json_pack("[{s:s,s:s,s:f,s:f,s:I}]", "measure", "keys", "mechanism", "key_selection",
                         "sensitivity",
                         (plan->shape.replace ? 2.0 : 1.0) * (double)plan->shape.max_groups,
                         "share", 1.0, "half_shown_at", (json_int_t)terms->price.threshold);
    json_t *list = json_array();
    const brume_limited_shape limited = shape_of(terms);
    double weights = brume_limited_weights(terms->measures, plan->measure_count, &limited);
    for (size_t i = 0; list && i < plan->measure_count; i++)
        if (json_array_append_new(list, measure_to_json(terms, i, weights)) != 0) {
            json_decref(list);
            return NULL;
        }
    for (size_t i = 0; list && i < plan->measurement_count; i++)
        if (plan->measurements[i].kind == BRUME_MEASUREMENT_DISTINCT &&
            !brume_distinct_add_json(terms, i, list)) {
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

/* For a quantile in ranks, for a mode in rows. */
static json_t *ladder_to_json(const brume_terms *terms, size_t measure, double step)
{
    static const char *const names[] = {"error_95", "rank_error_95", "count_error_95"};
    brume_measure_kind kind = terms->measures[measure].kind;
    const char *name = names[kind == BRUME_MEASURE_QUANTILES ? 1
                             : kind == BRUME_MEASURE_MODE    ? 2
                                                             : 0];
    json_t *ladder = json_array();
    double limit = 1;
    for (int i = 0; i < 6; i++, limit *= 10)
        json_array_append_new(ladder,
                              json_pack("{s:f,s:f}", "limit", limit, name,
                                        brume_terms_width_at(terms, measure, limit / step)));
    return ladder;
}

/* The measure whose error the limit is explained by: the first that it is summed in, else the
 * first.
 */
static int measure_of(const brume_plan *plan, size_t limit)
{
    int found = BRUME_NOT_MEASURED;
    for (size_t j = plan->measure_count; j-- > 0;)
        if (brume_plan_limit_index(plan, j) == (int)limit &&
            (found < 0 || !brume_measure_is_selection(&plan->measures[j]) ||
             brume_measure_is_selection(&plan->measures[found])))
            found = (int)j;
    return found;
}

json_t *brume_terms_limits_to_json(const brume_terms *terms)
{
    const brume_plan *plan = terms->plan;
    static const char *const statistics[] = {[BRUME_TOTAL_PRESENCE] = "groups",
                                             [BRUME_TOTAL_ROWS] = "rows",
                                             [BRUME_TOTAL_VALUES] = "values",
                                             [BRUME_TOTAL_SUM] = "sum"};
    json_t *list = json_array();
    for (size_t i = 0; list && i < plan->limit_count; i++) {
        const brume_found_limit *limit = &terms->limits[i];
        double step = brume_plan_limit_step(plan, limit->of);
        json_t *one = json_pack("{s:s,s:s}", "statistic",
                                limit->of->of.root ? "squares" : statistics[limit->of->of.kind],
                                "chosen", brume_limit_source_word(limit->source));
        if (limit->known)
            json_object_set_new(one, "limit", json_real(brume_found_value(limit) * step));
        if (brume_found_earlier_word(limit))
            json_object_set_new(one, "earlier", json_string(brume_found_earlier_word(limit)));
        if (limit->of->ceiling)
            json_object_set_new(one, "ceiling", json_real((double)limit->of->ceiling * step));
        int shown = measure_of(plan, i);
        if (!limit->known && shown >= 0)
            json_object_set_new(one, "ladder", ladder_to_json(terms, (size_t)shown, step));
        if (json_array_append_new(list, one) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    for (size_t i = 0; list && i < plan->measurement_count; i++)
        if (plan->measurements[i].kind == BRUME_MEASUREMENT_DISTINCT &&
            !brume_distinct_add_limit(terms, i, list)) {
            json_decref(list);
            return NULL;
        }
    return list;
}

json_t *brume_plan_cost_to_json(const brume_plan *plan)
{
    double amount = brume_decimal_shown_up(&plan->charge.amount);
    double delta = brume_decimal_shown_up(&plan->charge.delta);
    if (plan->rule == BRUME_RULE_CONCENTRATED)
        return json_pack("{s:n,s:f,s:f}", "epsilon", "delta", delta, "rho", amount);
    return json_pack("{s:f,s:f,s:n}", "epsilon", amount, "delta", delta, "rho");
}
