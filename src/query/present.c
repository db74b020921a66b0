/* Present: from drawn numbers to the rows of an answer.
 *
 * An aggregate has a raw value (for arithmetic between aggregates), a shown value (clamped to what
 * is possible; HAVING and ORDER BY see this one) and an interval that holds the noiseless value
 * with the stated probability. */
#include "query/present.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/error_bar.h"
#include "query/release.h"

static const double whole_beta = 0.05;

static brume_status out_of_memory(brume_error *error)
{
    return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory for the answer");
}

/* ---- one aggregate of one group ---- */

typedef struct shown_value {
    brume_value raw, shown;
    brume_interval interval;
    bool has_interval;
} shown_value;

static brume_value number_value(double x)
{
    return (brume_value){.kind = BRUME_VALUE_NUMBER, .number = x};
}

static brume_noisy_moments moments_of(const brume_plan *plan, const brume_drawn *drawn,
                                      const brume_plan_aggregate *from, size_t group)
{
    const brume_measure *centred = &plan->measures[from->centred];
    double centre = (double)brume_measure_centre(centred);
    brume_noisy_moments moments = {
        .count = brume_drawn_number(drawn, from->count, group),
        .sum = brume_drawn_number(drawn, from->centred, group),
        .count_scale = plan->measures[from->count].scale,
        .sum_scale = centred->scale,
        .low = (double)centred->low - centre,
        .high = (double)centred->high - centre,
    };
    if (from->squares >= 0) {
        moments.half_square = (double)brume_measure_half_square(&plan->measures[from->squares]);
        moments.squares = brume_drawn_number(drawn, from->squares, group);
        moments.squares_scale = plan->measures[from->squares].scale;
    }
    return moments;
}

static shown_value around(double raw, double shown, double width)
{
    return (shown_value){number_value(raw), number_value(shown), {raw - width, raw + width}, true};
}

static shown_value show_count(const brume_plan *plan, const brume_drawn *drawn,
                              const brume_plan_aggregate *from, size_t group, double beta)
{
    double raw = brume_drawn_number(drawn, from->count, group);
    return around(raw, fmax(0, raw), brume_plan_width(plan, (size_t)from->count, beta));
}

static shown_value show_sum(const brume_plan *plan, const brume_drawn *drawn,
                            const brume_plan_aggregate *from, size_t group, double beta)
{
    const brume_plan_value *value = &plan->values[from->value];
    double raw = 0, width = 0;
    if (from->direct >= 0) {
        raw = brume_drawn_number(drawn, from->direct, group) * value->step;
        width = brume_plan_width(plan, (size_t)from->direct, beta);
    } else {
        const brume_measure *centred = &plan->measures[from->centred];
        double centre = (double)brume_measure_centre(centred);
        double scale[] = {centred->scale, plan->measures[from->count].scale};
        double coefficient[] = {1, centre};
        raw = (brume_drawn_number(drawn, from->centred, group) +
               centre * brume_drawn_number(drawn, from->count, group)) *
              value->step;
        width = brume_error_width_combined(plan->price.noise, scale, coefficient, 2, beta) *
                value->step;
    }
    double shown = value->low >= 0 ? fmax(0, raw) : value->high <= 0 ? fmin(0, raw) : raw;
    return around(raw, shown, width);
}

static shown_value nothing(void)
{
    return (shown_value){0};
}

static shown_value show_mean(const brume_plan *plan, const brume_drawn *drawn,
                             const brume_plan_aggregate *from, size_t group, double beta)
{
    brume_noisy_moments moments = moments_of(plan, drawn, from, group);
    if (moments.count < 1)
        return nothing();
    const brume_measure *centred = &plan->measures[from->centred];
    double step = plan->values[from->value].step, centre = (double)brume_measure_centre(centred);
    double mean = moments.sum / moments.count;
    brume_interval bar = brume_error_mean(plan->price.noise, &moments, beta);
    double half_step = plan->values[from->value].argument->type.kind == BRUME_TYPE_DOUBLE
                           ? step / 2
                           : 0; /* rounding of each value to the grid */
    shown_value out = {
        number_value((centre + mean) * step),
        number_value((centre + fmin(fmax(mean, moments.low), moments.high)) * step),
        {(centre + bar.lower) * step - half_step, (centre + bar.upper) * step + half_step},
        true};
    return out;
}

static shown_value show_variance(const brume_plan *plan, const brume_drawn *drawn,
                                 const brume_plan_aggregate *from, brume_aggregate_kind kind,
                                 size_t group, double beta)
{
    brume_noisy_moments moments = moments_of(plan, drawn, from, group);
    bool sample = kind == BRUME_AGGREGATE_VAR_SAMP || kind == BRUME_AGGREGATE_STDDEV_SAMP;
    bool root = kind == BRUME_AGGREGATE_STDDEV_POP || kind == BRUME_AGGREGATE_STDDEV_SAMP;
    if (moments.count < (sample ? 2 : 1))
        return nothing();
    double width = moments.high - moments.low, most = width * width / 4;
    double mean = fmin(fmax(moments.sum / moments.count, moments.low), moments.high);
    double raw = moments.half_square + moments.squares / moments.count - mean * mean;
    double factor = sample ? moments.count / (moments.count - 1) : 1;
    double step = plan->values[from->value].step, unit = step * step;
    double shown = fmin(fmax(raw, 0), most) * factor;
    shown = sample ? fmin(shown, width * width / 2) : shown;
    brume_interval bar = brume_error_variance(plan->price.noise, &moments, beta);
    bar = (brume_interval){bar.lower * factor * unit, bar.upper * factor * unit};
    shown *= unit;
    if (root)
        return (shown_value){number_value(sqrt(shown)),
                             number_value(sqrt(shown)),
                             {sqrt(bar.lower), sqrt(bar.upper)},
                             true};
    return (shown_value){number_value(raw * factor * unit), number_value(shown), bar, true};
}

/* A quantile of a group that, as far as the released counts say, is empty, is NULL. */
static bool seems_empty(const brume_plan *plan, const brume_drawn *drawn, size_t group)
{
    return plan->units >= 0 && brume_drawn_number(drawn, plan->units, group) < 1;
}

static shown_value show_selection(const brume_plan *plan, const brume_drawn *drawn,
                                  const brume_plan_aggregate *from, size_t group)
{
    const brume_plan_value *value = &plan->values[from->value];
    int64_t chosen = brume_drawn_selected(plan, drawn, from->selection, group, from->fraction);
    if (seems_empty(plan, drawn, group))
        return nothing();
    shown_value out = {0};
    if (value->declared) {
        const char *text = value->declared->domain[chosen];
        out.raw = (brume_value){.kind = BRUME_VALUE_TEXT, .text = text, .length = strlen(text)};
    } else {
        out.raw = number_value((double)chosen * value->step);
    }
    out.shown = out.raw;
    return out;
}

static shown_value show(const brume_plan *plan, const brume_drawn *drawn, size_t aggregate,
                        size_t group, double beta)
{
    const brume_plan_aggregate *from = &plan->aggregates[aggregate];
    brume_aggregate_kind kind = plan->query->aggregates[aggregate].kind;
    switch (kind) {
    case BRUME_AGGREGATE_COUNT_ROWS:
    case BRUME_AGGREGATE_COUNT:
    case BRUME_AGGREGATE_COUNT_UNITS:
        return show_count(plan, drawn, from, group, beta);
    case BRUME_AGGREGATE_SUM:
        return show_sum(plan, drawn, from, group, beta);
    case BRUME_AGGREGATE_AVG:
        return show_mean(plan, drawn, from, group, beta);
    case BRUME_AGGREGATE_VAR_POP:
    case BRUME_AGGREGATE_VAR_SAMP:
    case BRUME_AGGREGATE_STDDEV_POP:
    case BRUME_AGGREGATE_STDDEV_SAMP:
        return show_variance(plan, drawn, from, kind, group, beta);
    case BRUME_AGGREGATE_QUANTILE:
    case BRUME_AGGREGATE_MODE:
        break;
    }
    return show_selection(plan, drawn, from, group);
}

/* ---- keys ---- */

/* Year, month, day of a number of days since 1970-01-01. */
static void date_of(int64_t days, char *text, size_t size)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097, of_era = days - era * 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * of_year + 2) / 153, day = of_year - (153 * month + 2) / 5 + 1;
    month += month < 10 ? 3 : -9;
    snprintf(text, size, "%04d-%02d-%02d", (int)(year + era * 400 + (month <= 2)), (int)month,
             (int)day);
}

static void timestamp_of(int64_t microseconds, char *text, size_t size)
{
    int64_t day = INT64_C(86400000000), days = microseconds / day, rest = microseconds % day;
    if (rest < 0) {
        rest += day;
        days--;
    }
    char date[40];
    date_of(days, date, sizeof date);
    int64_t seconds = rest / 1000000;
    int used = snprintf(text, size, "%s %02d:%02d:%02d", date, (int)(seconds / 3600),
                        (int)(seconds / 60 % 60), (int)(seconds % 60));
    if (rest % 1000000)
        snprintf(text + used, size - (size_t)used, ".%06d", (int)(rest % 1000000));
}

/* A decimal from its units of 10^-scale, scale at most 18: those that travel as integers. */
static void decimal_of(int64_t units, int scale, char *text, size_t size)
{
    char digits[32];
    int count = snprintf(digits, sizeof digits, "%019llu",
                         units < 0 ? 0 - (unsigned long long)units : (unsigned long long)units);
    int whole = count - scale, first = 0;
    while (first < whole - 1 && digits[first] == '0')
        first++;
    snprintf(text, size, "%s%.*s.%s", units < 0 ? "-" : "", whole - first, digits + first,
             digits + whole);
}

void brume_present_integer(brume_type type, int64_t value, char *text, size_t size)
{
    if (type.kind == BRUME_TYPE_DATE)
        date_of(value, text, size);
    else if (type.kind == BRUME_TYPE_TIMESTAMP)
        timestamp_of(value, text, size);
    else if (type.kind == BRUME_TYPE_BOOLEAN)
        snprintf(text, size, "%s", value ? "true" : "false");
    else if (type.kind == BRUME_TYPE_DECIMAL && type.scale > 0 && type.scale <= 18)
        decimal_of(value, type.scale, text, size);
    else
        snprintf(text, size, "%lld", (long long)value);
}

/* A key as a value; `room` holds texts that have to be made. */
static brume_value key_value(brume_type type, const brume_key_value *key, char *room, size_t size)
{
    brume_value value = {.kind = BRUME_VALUE_NULL};
    if (key->null)
        return value;
    switch (type.kind) {
    case BRUME_TYPE_BOOLEAN:
        return (brume_value){.kind = BRUME_VALUE_BOOLEAN, .boolean = key->integer != 0};
    case BRUME_TYPE_INTEGER:
    case BRUME_TYPE_BIGINT:
        return number_value((double)key->integer);
    case BRUME_TYPE_DATE:
        date_of(key->integer, room, size);
        break;
    case BRUME_TYPE_TIMESTAMP:
        timestamp_of(key->integer, room, size);
        break;
    case BRUME_TYPE_DECIMAL:
        if (key->wire == BRUME_WIRE_INTEGER)
            return number_value((double)key->integer / pow(10, type.scale));
        return (brume_value){
            .kind = BRUME_VALUE_TEXT, .text = key->text.data, .length = key->text.length};
    case BRUME_TYPE_DOUBLE:
        return number_value(key->real);
    case BRUME_TYPE_TEXT:
    case BRUME_TYPE_REFUSED:
        return (brume_value){
            .kind = BRUME_VALUE_TEXT, .text = key->text.data, .length = key->text.length};
    }
    return (brume_value){.kind = BRUME_VALUE_TEXT, .text = room, .length = strlen(room)};
}

/* ---- error bars of outputs ---- */

/* How many aggregates an output uses. */
static size_t count_aggregates(const brume_release *release)
{
    size_t count = release->kind == BRUME_RELEASE_AGGREGATE;
    for (size_t i = 0; i < release->argument_count; i++)
        count += count_aggregates(release->arguments[i]);
    return count;
}

static brume_interval multiply(brume_interval a, brume_interval b)
{
    double ends[] = {a.lower * b.lower, a.lower * b.upper, a.upper * b.lower, a.upper * b.upper};
    brume_interval out = {ends[0], ends[0]};
    for (int i = 1; i < 4; i++) {
        out.lower = fmin(out.lower, ends[i]);
        out.upper = fmax(out.upper, ends[i]);
    }
    return out;
}

/* Interval arithmetic over the tree; false where there is no finite interval. */
static bool interval_of(const brume_release *release, const shown_value *aggregates,
                        brume_interval *out)
{
    brume_interval part[2] = {{0, 0}, {0, 0}};
    if (release->argument_count > 2)
        return false;
    for (size_t i = 0; i < release->argument_count; i++)
        if (!interval_of(release->arguments[i], aggregates, &part[i]))
            return false;
    switch (release->kind) {
    case BRUME_RELEASE_AGGREGATE:
        *out = aggregates[release->index].interval;
        return aggregates[release->index].has_interval;
    case BRUME_RELEASE_LITERAL:
        *out = (brume_interval){release->value.number, release->value.number};
        return release->value.kind == BRUME_VALUE_NUMBER;
    case BRUME_RELEASE_ADD:
        *out = (brume_interval){part[0].lower + part[1].lower, part[0].upper + part[1].upper};
        return true;
    case BRUME_RELEASE_SUBTRACT:
        *out = (brume_interval){part[0].lower - part[1].upper, part[0].upper - part[1].lower};
        return true;
    case BRUME_RELEASE_NEGATE:
        *out = (brume_interval){-part[0].upper, -part[0].lower};
        return true;
    case BRUME_RELEASE_MULTIPLY:
        *out = multiply(part[0], part[1]);
        return true;
    case BRUME_RELEASE_DIVIDE:
        if (!(part[1].lower > 0))
            return false; /* the divisor may be nothing but noise */
        *out = multiply(part[0], (brume_interval){1 / part[1].upper, 1 / part[1].lower});
        return true;
    case BRUME_RELEASE_ROUND: {
        double half = 0.5 * pow(10, -release->digits);
        *out = (brume_interval){part[0].lower - half, part[0].upper + half};
        return true;
    }
    case BRUME_RELEASE_SQRT:
        *out = (brume_interval){sqrt(fmax(0, part[0].lower)), sqrt(fmax(0, part[0].upper))};
        return true;
    default:
        return false;
    }
}

/* Does the half-width differ from row to row? Counts and sums have one for all. */
static bool varies(const brume_plan *plan, const brume_release *release)
{
    if (release->kind != BRUME_RELEASE_AGGREGATE)
        return true;
    brume_aggregate_kind kind = plan->query->aggregates[release->index].kind;
    return kind != BRUME_AGGREGATE_COUNT_ROWS && kind != BRUME_AGGREGATE_COUNT &&
           kind != BRUME_AGGREGATE_COUNT_UNITS && kind != BRUME_AGGREGATE_SUM;
}

/* ---- rows ---- */

typedef struct answer_row {
    brume_value *keys, *shown, *raw;
    brume_value *outputs;
    double *errors; /* NaN: none */
    char (*texts)[48];
} answer_row;

typedef struct presentation {
    const brume_plan *plan;
    const brume_drawn *drawn;
    answer_row *rows;
    size_t count;
} presentation;

static void free_row(answer_row *row)
{
    free(row->keys);
    free(row->shown);
    free(row->raw);
    free(row->outputs);
    free(row->errors);
    free(row->texts);
}

static double error_of(const presentation *all, const brume_release *release, size_t group,
                       const brume_value *value)
{
    const brume_query *query = all->plan->query;
    size_t used = count_aggregates(release);
    if (used == 0 || value->kind != BRUME_VALUE_NUMBER)
        return NAN;
    shown_value *aggregates = calloc(query->aggregate_count + 1, sizeof *aggregates);
    if (!aggregates)
        return NAN;
    for (size_t i = 0; i < query->aggregate_count; i++)
        aggregates[i] = show(all->plan, all->drawn, i, group, whole_beta / (double)used);
    brume_interval bar;
    double error = NAN;
    if (interval_of(release, aggregates, &bar)) {
        double centre = value->number;
        if (release->kind == BRUME_RELEASE_AGGREGATE && !varies(all->plan, release))
            centre = aggregates[release->index].raw.number; /* the width does not see the clamp */
        error = fmax(bar.upper - centre, centre - bar.lower);
    }
    free(aggregates);
    return error;
}

static brume_status fill_row(presentation *all, size_t group, answer_row *row, brume_error *error)
{
    const brume_query *query = all->plan->query;
    row->keys = calloc(query->key_count + 1, sizeof *row->keys);
    row->shown = calloc(query->aggregate_count + 1, sizeof *row->shown);
    row->raw = calloc(query->aggregate_count + 1, sizeof *row->raw);
    row->outputs = calloc(query->output_count + 1, sizeof *row->outputs);
    row->errors = calloc(query->output_count + 1, sizeof *row->errors);
    row->texts = calloc(query->key_count + 1, sizeof *row->texts);
    if (!row->keys || !row->shown || !row->raw || !row->outputs || !row->errors || !row->texts)
        return out_of_memory(error);
    for (size_t i = 0; i < query->key_count; i++)
        row->keys[i] = key_value(query->keys[i].expression->type,
                                 &all->drawn->groups[group]->keys[i], row->texts[i],
                                 sizeof row->texts[i]);
    for (size_t i = 0; i < query->aggregate_count; i++) {
        shown_value one = show(all->plan, all->drawn, i, group, whole_beta);
        row->shown[i] = one.shown;
        row->raw[i] = one.raw;
    }
    for (size_t i = 0; i < query->output_count; i++) {
        const brume_release *release = query->outputs[i].value;
        bool plain = release->kind == BRUME_RELEASE_AGGREGATE;
        row->outputs[i] = brume_release_evaluate(release, row->keys, plain ? row->shown : row->raw);
        row->errors[i] = error_of(all, release, group, &row->outputs[i]);
    }
    return BRUME_OK;
}

static int compare_rows(const void *left, const void *right, void *context)
{
    const answer_row *a = left, *b = right;
    const brume_query *query = context;
    for (size_t i = 0; i < query->order_count; i++) {
        const brume_query_order *order = &query->order[i];
        brume_value x = brume_release_evaluate(order->value, a->keys, a->shown);
        brume_value y = brume_release_evaluate(order->value, b->keys, b->shown);
        bool null_x = x.kind == BRUME_VALUE_NULL, null_y = y.kind == BRUME_VALUE_NULL;
        if (null_x != null_y)
            return null_x == order->nulls_first ? -1 : 1;
        int sign = null_x ? 0 : brume_value_compare(&x, &y);
        if (sign != 0)
            return order->descending ? -sign : sign;
    }
    for (size_t i = 0; i < query->key_count; i++) {
        int sign = brume_value_compare(&a->keys[i], &b->keys[i]);
        if (sign != 0)
            return sign;
    }
    return 0;
}

/* HAVING, ORDER BY, LIMIT and OFFSET. */
static void arrange(presentation *all)
{
    const brume_query *query = all->plan->query;
    size_t kept = 0;
    for (size_t i = 0; i < all->count; i++) {
        if (!query->having ||
            brume_release_is_true(query->having, all->rows[i].keys, all->rows[i].shown))
            all->rows[kept++] = all->rows[i];
        else
            free_row(&all->rows[i]);
    }
    if (kept)
        qsort_r(all->rows, kept, sizeof *all->rows, compare_rows, (void *)query);
    size_t first = query->offset < 0 ? 0 : (size_t)query->offset;
    first = first < kept ? first : kept;
    size_t last = query->limit < 0 || (uint64_t)query->limit > kept - first
                      ? kept
                      : first + (size_t)query->limit;
    for (size_t i = 0; i < kept; i++)
        if (i < first || i >= last)
            free_row(&all->rows[i]);
    memmove(all->rows, all->rows + first, (last - first) * sizeof *all->rows);
    all->count = last - first;
}

/* ---- JSON ---- */

static json_t *value_to_json(const brume_value *value)
{
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
    }
    return json_null();
}

static json_t *error_to_json(double error)
{
    return isfinite(error) ? json_real(error) : json_null();
}

/* The measure that an output mostly rests on, for the name of its mechanism. */
static const char *mechanism_of(const brume_plan *plan, const brume_release *release)
{
    if (release->kind == BRUME_RELEASE_AGGREGATE) {
        const brume_plan_aggregate *from = &plan->aggregates[release->index];
        int measure = from->selection >= 0 ? from->selection
                      : from->direct >= 0  ? from->direct
                      : from->centred >= 0 ? from->centred
                                           : from->count;
        return brume_plan_mechanism(plan, (size_t)measure);
    }
    for (size_t i = 0; i < release->argument_count; i++) {
        const char *mechanism = mechanism_of(plan, release->arguments[i]);
        if (mechanism)
            return mechanism;
    }
    return NULL;
}

static json_t *column_to_json(const presentation *all, size_t output)
{
    const brume_query_output *column = &all->plan->query->outputs[output];
    bool value = count_aggregates(column->value) > 0;
    double largest = NAN;
    for (size_t i = 0; i < all->count; i++)
        largest = fmax(largest, all->rows[i].errors[output]); /* fmax skips NaN */
    json_t *json = json_pack("{s:s,s:s}", "name", column->name, "role", value ? "value" : "key");
    if (!json || !value)
        return json;
    const char *mechanism = mechanism_of(all->plan, column->value);
    json_object_set_new(json, "mechanism", mechanism ? json_string(mechanism) : json_null());
    json_object_set_new(json, "error_95", error_to_json(largest));
    json_object_set_new(json, "biased", json_boolean(all->plan->bounded));
    return json;
}

static brume_status to_json(const presentation *all, json_t **out, brume_error *error)
{
    const brume_query *query = all->plan->query;
    json_t *columns = json_array(), *rows = json_array(), *errors = json_array();
    bool vary = false, good = columns && rows && errors;
    for (size_t i = 0; good && i < query->output_count; i++) {
        good = json_array_append_new(columns, column_to_json(all, i)) == 0;
        vary = vary || (count_aggregates(query->outputs[i].value) > 0 &&
                        varies(all->plan, query->outputs[i].value));
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
    json_decref(columns);
    json_decref(rows);
    json_decref(errors);
    if (!result)
        return out_of_memory(error);
    *out = result;
    return BRUME_OK;
}

brume_status brume_present(const brume_plan *plan, const brume_drawn *drawn, json_t **out,
                           brume_error *error)
{
    presentation all = {plan, drawn, calloc(drawn->count + 1, sizeof *all.rows), 0};
    if (!all.rows)
        return out_of_memory(error);
    brume_status status = BRUME_OK;
    for (size_t i = 0; status == BRUME_OK && i < drawn->count; i++) {
        all.count = i + 1;
        status = fill_row(&all, i, &all.rows[i], error);
    }
    if (status == BRUME_OK) {
        arrange(&all);
        status = to_json(&all, out, error);
    }
    for (size_t i = 0; i < all.count; i++)
        free_row(&all.rows[i]);
    free(all.rows);
    return status;
}
