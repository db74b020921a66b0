/* The table of an answer as JSON: its columns with what is said of each, its rows and error bars.
 */
#include "query/release/present_parts.h"

#include <math.h>

#include "base/error.h"
#include "query/plan/bias.h"
#include "query/plan/show_plan.h"
#include "query/release/measurement.h"

static json_t *value_to_json(const brume_value *value)
{
    char time[BRUME_TIME_TEXT];
    switch (value->kind) {
    case BRUME_VALUE_NULL:
        break;
    case BRUME_VALUE_BOOLEAN:
        return json_boolean(value->boolean);
    case BRUME_VALUE_NUMBER:
        if (value->number == floor(value->number) && fabs(value->number) < 0x1p53)
            return json_integer((json_int_t)value->number);
        return isfinite(value->number) ? json_real(value->number) : json_null();
    case BRUME_VALUE_TEXT:
        return json_stringn(value->text, value->length);
    case BRUME_VALUE_DATE:
    case BRUME_VALUE_TIMESTAMP:
        brume_value_time(value, time);
        return json_string(time);
    }
    return json_null();
}

static json_t *error_to_json(double error)
{
    return isfinite(error) ? json_real(error) : json_null();
}

/* The measure that an output mostly rests on, for the name of its mechanism. */
static const char *mechanism_of(const brume_plan *plan, const brume_formula *formula)
{
    if (formula->kind == BRUME_FORMULA_AGGREGATE) {
        const brume_plan_aggregate *from = &plan->aggregates[formula->index];
        int measure = from->selection >= 0 ? from->selection
                      : from->direct >= 0  ? from->direct
                      : from->centred >= 0 ? from->centred
                                           : from->count;
        return brume_plan_mechanism(plan, (size_t)measure);
    }
    for (size_t i = 0; i < formula->argument_count; i++) {
        const char *mechanism = mechanism_of(plan, formula->arguments[i]);
        if (mechanism)
            return mechanism;
    }
    return NULL;
}

/* Does clamping move a value that the output uses? */
static bool may_clamp(const brume_plan *plan, const brume_formula *formula)
{
    if (formula->kind == BRUME_FORMULA_AGGREGATE) {
        const brume_aggregate *aggregate = &plan->query->aggregates[formula->index];
        return aggregate->argument && aggregate->kind != BRUME_AGGREGATE_COUNT &&
               brume_bias_may_clamp(aggregate->argument);
    }
    for (size_t i = 0; i < formula->argument_count; i++)
        if (may_clamp(plan, formula->arguments[i]))
            return true;
    return false;
}

/* What is said of a quantile or a mode in place of an error bar, and what the measurements add. */
static void add_details(const brume_answer_table *all, json_t *json, size_t aggregate)
{
    static const char *const statements[] = {"rank_error_95", "count_error_95", "gap_95",
                                             "threshold"};
    int selection = all->plan->aggregates[aggregate].selection;
    json_t *measure = selection >= 0 ? brume_plan_measure_to_json(all->plan, (size_t)selection)
                                     : NULL;
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        json_t *said = json_object_get(measure, statements[i]);
        if (said)
            json_object_set(json, statements[i], said);
    }
    json_decref(measure);
    for (size_t i = 0; i < all->plan->measurement_count; i++)
        brume_measurement_show(all->plan, i, all->drawn, aggregate, json);
}

static json_t *column_to_json(const brume_answer_table *all, size_t output)
{
    const brume_query_output *column = &all->plan->query->outputs[output];
    bool value = brume_count_aggregates(column->value) > 0;
    double largest = NAN;
    for (size_t i = 0; i < all->count; i++)
        largest = fmax(largest, all->rows[i].errors[output]); /* fmax skips NaN */
    json_t *json = json_pack("{s:s,s:s}", "name", column->name, "role", value ? "value" : "key");
    if (!json || !value)
        return json;
    const char *mechanism = mechanism_of(all->plan, column->value);
    json_object_set_new(json, "mechanism", mechanism ? json_string(mechanism) : json_null());
    json_object_set_new(json, "error_95", error_to_json(largest));
    json_object_set_new(json, "biased",
                        json_boolean(all->plan->bounded || may_clamp(all->plan, column->value)));
    const brume_formula *whole = column->value;
    if (whole->kind == BRUME_FORMULA_DATE || whole->kind == BRUME_FORMULA_TIMESTAMP)
        whole = whole->arguments[0];
    if (whole->kind != BRUME_FORMULA_AGGREGATE)
        return json;
    const brume_aggregate *aggregate = &all->plan->query->aggregates[whole->index];
    if (whole->extreme)
        json_object_set_new(
            json, "quantile",
            json_real((double)aggregate->fraction[0] / (double)aggregate->fraction[1]));
    add_details(all, json, whole->index);
    return json;
}

static json_t *near_to_json(const brume_answer_table *all)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < all->count; i++)
        json_array_append_new(list, json_boolean(all->rows[i].near));
    return list;
}

brume_status brume_answer_table_to_json(const brume_answer_table *all, json_t **out,
                                        brume_error *error)
{
    const brume_query *query = all->plan->query;
    json_t *columns = json_array(), *rows = json_array(), *errors = json_array();
    bool vary = false, good = columns && rows && errors;
    for (size_t i = 0; good && i < query->output_count; i++) {
        good = json_array_append_new(columns, column_to_json(all, i)) == 0;
        vary = vary || (brume_count_aggregates(query->outputs[i].value) > 0 &&
                        brume_error_varies(all->plan, query->outputs[i].value));
    }
    for (size_t r = 0; good && r < all->count; r++) {
        json_t *row = json_array(), *bars = json_array();
        for (size_t i = 0; good && i < query->output_count; i++)
            good = json_array_append_new(row, value_to_json(&all->rows[r].outputs[i])) == 0 &&
                   json_array_append_new(bars, error_to_json(all->rows[r].errors[i])) == 0;
        good = json_array_append_new(rows, row) == 0 && good;
        good = json_array_append_new(errors, bars) == 0 && good;
    }
    json_t *result = good ? json_pack("{s:O,s:O}", "columns", columns, "rows", rows) : NULL;
    if (result && vary)
        json_object_set(result, "row_error_95", errors);
    if (result && brume_flags_near(all->plan))
        json_object_set_new(result, "near_threshold", near_to_json(all));
    json_decref(columns);
    json_decref(rows);
    json_decref(errors);
    if (!result)
        return brume_no_memory(error, "the answer");
    *out = result;
    return BRUME_OK;
}
