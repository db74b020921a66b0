/* The memory of an answer. */
#include "query/release/answer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"

/* Answers as JSON: the one place where it is written and read. */

/* Numbers that are said of a column where they are there. */
typedef struct member {
    const char *name;
    size_t offset;
} member;

static const member column_numbers[] = {
    {"limit", offsetof(brume_answer_column, limit)},
    {"cut_units", offsetof(brume_answer_column, cut_units)},
    {"cut_allowance", offsetof(brume_answer_column, cut_allowance)},
    {"cut_hidden", offsetof(brume_answer_column, cut_hidden)},
    {"reach", offsetof(brume_answer_column, reach)},
    {"clamp_low", offsetof(brume_answer_column, clamp_low)},
    {"clamp_high", offsetof(brume_answer_column, clamp_high)},
    {"rank_error_95", offsetof(brume_answer_column, rank_error_95)},
    {"count_error_95", offsetof(brume_answer_column, count_error_95)},
    {"gap_95", offsetof(brume_answer_column, gap_95)},
    {"quantile", offsetof(brume_answer_column, quantile)},
};

static const member bias_numbers[] = {
    {"units", offsetof(brume_answer_bias, units)},
    {"error_95", offsetof(brume_answer_bias, error_95)},
    {"cut", offsetof(brume_answer_bias, cut)},
    {"clamped", offsetof(brume_answer_bias, clamped)},
};

enum {
    COLUMN_NUMBERS = sizeof column_numbers / sizeof *column_numbers,
    BIAS_NUMBERS = sizeof bias_numbers / sizeof *bias_numbers
};

/* Words of the enums in a record; NULL stands for leaving it out. */
static const char *const counts_words[] = {NULL, "rows", "sum", "groups", "values", "votes", NULL};

static const char *const origin_words[] = {NULL, "typed", "policy", NULL};

static const char *const side_words[] = {NULL, "higher", "lower", NULL};

static const char *query_answer_bar_why(const brume_query_answer *answer, size_t cell);

static int word_index(const char *const *words, const json_t *word)
{
    for (int i = 1; json_is_string(word) && words[i]; i++)
        if (strcmp(words[i], json_string_value(word)) == 0)
            return i;
    return 0;
}

/* ---- writing: what returns bool is false when memory is out ---- */

static bool set(json_t *object, const char *name, json_t *value)
{
    return json_object_set_new(object, name, value) == 0;
}

static bool write_numbers(json_t *object, const member *members, size_t count, const void *from)
{
    for (size_t i = 0; i < count; i++) {
        double number;
        memcpy(&number, (const char *)from + members[i].offset, sizeof number);
        if (isfinite(number) && !set(object, members[i].name, json_real(number)))
            return false;
    }
    return true;
}

static json_t *real_or_null(double number)
{
    return isfinite(number) ? json_real(number) : json_null();
}

static json_t *value_to_json(const brume_value *value)
{
    switch (value->kind) {
    case BRUME_VALUE_NULL:
    case BRUME_VALUE_DATE: /* in an answer times are texts */
    case BRUME_VALUE_TIMESTAMP:
        break;
    case BRUME_VALUE_BOOLEAN:
        return json_boolean(value->boolean);
    case BRUME_VALUE_NUMBER:
        if (value->text)
            return json_integer((json_int_t)brume_value_whole(value));
        if (value->number == floor(value->number) && fabs(value->number) < 0x1p53)
            return json_integer((json_int_t)value->number);
        return real_or_null(value->number);
    case BRUME_VALUE_TEXT:
        return json_stringn(value->text, value->length);
    }
    return json_null();
}

/* Where there is a limit, what is not known of it is null. */
static bool write_limit(const brume_answer_column *column, json_t *json)
{
    if (!column->is_limited)
        return true;
    return set(json, "limit", real_or_null(column->limit)) &&
           set(json, "cut_units", real_or_null(column->cut_units)) &&
           set(json, "cut_allowance", real_or_null(column->cut_allowance)) &&
           (!column->limit_not_found || set(json, "limit_found", json_false())) &&
           (!column->cut_not_known || set(json, "cut_known", json_false())) &&
           (!column->cut_in_bar || set(json, "cut_in_bar", json_true()));
}

static bool write_value_column(const brume_answer_column *column, json_t *json)
{
    bool good =
        set(json, "mechanism", column->mechanism ? json_string(column->mechanism) : json_null()) &&
        set(json, "error_95", real_or_null(column->error_95)) &&
        set(json, "biased", json_boolean(column->biased)) &&
        write_numbers(json, column_numbers, COLUMN_NUMBERS, column) && write_limit(column, json);
    good = good &&
           (!counts_words[column->counts] ||
            set(json, "limit_counts", json_string(counts_words[column->counts]))) &&
           (!origin_words[column->origin] ||
            set(json, "limit_chosen", json_string(origin_words[column->origin]))) &&
           (!side_words[column->side] ||
            set(json, "true_if_cut", json_string(side_words[column->side]))) &&
           (!column->clamps || set(json, "clamps", json_true())) &&
           (!column->adds_up || set(json, "adds_up", json_true())) &&
           (!column->bar_why || set(json, "bar_why", json_string(column->bar_why)));
    if (good && column->threshold >= 0)
        good = set(json, "threshold", json_integer((json_int_t)column->threshold));
    if (!good || isnan(column->bias.units))
        return good;
    json_t *bias = json_object();
    good = bias && write_numbers(bias, bias_numbers, BIAS_NUMBERS, &column->bias);
    return set(json, "bias", bias) && good;
}

static bool write_key_column(const brume_answer_column *column, json_t *json)
{
    return (isnan(column->limit) || set(json, "limit", json_real(column->limit))) &&
           (!column->period || set(json, "period", json_string(column->period)));
}

static bool write_columns(const brume_query_answer *answer, json_t *out)
{
    json_t *columns = json_array();
    if (!set(out, "columns", columns))
        return false;
    for (size_t i = 0; i < answer->column_count; i++) {
        const brume_answer_column *column = &answer->columns[i];
        json_t *json =
            json_pack("{s:s,s:s}", "name", column->name, "role", column->is_key ? "key" : "value");
        bool good = json && (column->is_key ? write_key_column(column, json)
                                            : write_value_column(column, json));
        if (json_array_append_new(columns, json) != 0 || !good)
            return false;
    }
    return true;
}

/* The number of every cell; `numbers` NULL: its value. */
static bool write_cells(const brume_query_answer *answer, const char *name, const double *numbers,
                        json_t *out)
{
    json_t *rows = json_array();
    if (!set(out, name, rows))
        return false;
    for (size_t r = 0; r < answer->row_count; r++) {
        json_t *row = json_array();
        if (json_array_append_new(rows, row) != 0)
            return false;
        for (size_t i = 0; i < answer->column_count; i++) {
            size_t cell = r * answer->column_count + i;
            json_t *json = numbers ? real_or_null(numbers[cell])
                                   : value_to_json(&answer->values[cell]);
            if (json_array_append_new(row, json) != 0)
                return false;
        }
    }
    return true;
}

/* For every cell whether it holds; nothing where `cells` is NULL. */
static bool write_flags(const brume_query_answer *answer, const char *name, const bool *cells,
                        json_t *out)
{
    json_t *rows = cells ? json_array() : NULL;
    if (!cells)
        return true;
    if (!set(out, name, rows))
        return false;
    for (size_t r = 0; r < answer->row_count; r++) {
        json_t *row = json_array();
        if (json_array_append_new(rows, row) != 0)
            return false;
        for (size_t i = 0; i < answer->column_count; i++)
            if (json_array_append_new(row, json_boolean(cells[r * answer->column_count + i])) != 0)
                return false;
    }
    return true;
}

/* "bar_95" of each column of values, the largest of its rows, or "bar_why"; where rows differ, the
 * bars of all in "rows_bar_95". They follow from what is recorded. */
static bool write_bars(const brume_query_answer *answer, json_t *out)
{
    size_t columns = answer->column_count;
    json_t *rows = json_array();
    bool vary = false, good = rows != NULL;
    for (size_t i = 0; good && i < columns; i++) {
        json_t *json = json_array_get(json_object_get(out, "columns"), i);
        double most = NAN;
        if (answer->columns[i].is_key)
            continue;
        for (size_t r = 0; r < answer->row_count; r++) {
            double bar = brume_query_answer_bar(answer, r * columns + i);
            vary = vary || (r > 0 && bar != most && !(isnan(bar) && isnan(most)));
            most = fmax(most, bar); /* skips NaN */
        }
        good = set(json, "bar_95", real_or_null(most)) &&
               (isfinite(most) || answer->row_count == 0 ||
                set(json, "bar_why", json_string(query_answer_bar_why(answer, i))));
    }
    for (size_t r = 0; good && r < answer->row_count; r++) {
        json_t *row = json_array();
        good = json_array_append_new(rows, row) == 0;
        for (size_t i = 0; good && i < columns; i++) {
            double bar =
                answer->columns[i].is_key ? NAN : brume_query_answer_bar(answer, r * columns + i);
            good = json_array_append_new(row, real_or_null(bar)) == 0;
        }
    }
    if (good && vary)
        return set(out, "rows_bar_95", rows);
    json_decref(rows);
    return good;
}

/* Beside the rows: [low, high] of each quantile, else null. */
static bool write_intervals(const brume_query_answer *answer, json_t *out)
{
    json_t *rows = json_array();
    if (!set(out, "rows_interval_95", rows))
        return false;
    for (size_t r = 0; r < answer->row_count; r++) {
        json_t *row = json_array();
        if (json_array_append_new(rows, row) != 0)
            return false;
        for (size_t i = 0; i < answer->column_count; i++) {
            const brume_value *ends =
                brume_query_answer_interval(answer, r * answer->column_count + i);
            json_t *cell =
                ends ? json_pack("[o,o]", value_to_json(&ends[0]), value_to_json(&ends[1]))
                     : json_null();
            if (json_array_append_new(row, cell) != 0)
                return false;
        }
    }
    return true;
}

static bool write_near(const brume_query_answer *answer, json_t *out)
{
    json_t *near = json_array();
    if (!set(out, "near_threshold", near))
        return false;
    for (size_t r = 0; r < answer->row_count; r++)
        if (json_array_append_new(near, json_boolean(answer->near[r])) != 0)
            return false;
    return true;
}

static json_t *price_to_json(const brume_answer_price *price)
{
    if (price->concentrated)
        return json_pack("{s:n,s:f,s:f}", "epsilon", "delta", price->delta, "rho", price->amount);
    return json_pack("{s:f,s:f}", "epsilon", price->amount, "delta", price->delta);
}

static bool write_cost(const brume_query_answer *answer, json_t *out)
{
    json_t *cost = price_to_json(&answer->cost);
    bool good = cost && (answer->cost.concentrated || set(cost, "rho", json_null()));
    good = set(out, "cost", cost) && good;
    if (good && answer->events)
        good = json_object_set(out, "events", answer->events) == 0;
    if (good && answer->windows)
        good = json_object_set(out, "windows", answer->windows) == 0;
    if (good && answer->limits_chosen)
        good = set(
            out, "limits",
            json_pack("{s:s,s:f}", "chosen", answer->limits_chosen, "share", answer->limits_share));
    good = good && set(out, "delta_by_default", json_boolean(answer->delta_by_default)) &&
           (!answer->data_version || set(out, "data_version", json_string(answer->data_version)));
    if (good && answer->threshold >= 0)
        good = set(out, "threshold", json_integer((json_int_t)answer->threshold));
    return good;
}

brume_windows_text brume_windows_words(const json_t *windows, bool counted)
{
    brume_windows_text out = {""};
    const json_t *ranges = json_object_get(windows, "ranges");
    bool undated = json_is_true(json_object_get(windows, "undated"));
    long long count = (long long)json_integer_value(json_object_get(windows, "count")) - undated;
    size_t used = 0, size = sizeof out.text, shown = json_array_size(ranges);
    const char *length = json_string_value(json_object_get(windows, "length"));
    bool plain = length && !strpbrk(length, " s"); /* not "14d from ...", not "values" */
    const char *begin = json_string_value(json_array_get(json_array_get(ranges, 0), 0));
    bool always = begin && strncmp(begin, "0001", 4) == 0; /* from the calendar's first day on */
    if (always && counted)
        used = (size_t)snprintf(out.text, size, "all %ss ", plain ? length : "window");
    else if (counted && count > 0)
        used = (size_t)snprintf(out.text, size, "%lld %s%s, ", count, plain ? length : "window",
                                count == 1 ? "" : "s");
    for (size_t i = 0; i < shown && i < 4 && used < size; i++) {
        const char *first = json_string_value(json_array_get(json_array_get(ranges, i), 0));
        const char *last = json_string_value(json_array_get(json_array_get(ranges, i), 1));
        bool one = first && last && strcmp(first, last) == 0;
        if (i == 0 && always)
            used += (size_t)snprintf(out.text + used, size - used, "up to %s", last ? last : "");
        else
            used += (size_t)snprintf(out.text + used, size - used, "%s%s%s%s", i ? ", " : "",
                                     first ? first : "", one ? "" : "..", one || !last ? "" : last);
    }
    if (shown > 4 && used < size)
        used += (size_t)snprintf(out.text + used, size - used, " and %zu more", shown - 4);
    if (undated && used < size)
        snprintf(out.text + used, size - used, "%s%s", shown ? ", and " : "",
                 plain ? "rows without a date" : "undated rows");
    return out;
}

json_t *brume_as_of_json(const char *read, const char *data_version, const json_t *windows)
{
    char seconds[24]; /* "2026-11-18T06:09:02Z" */
    if (!*read)
        return json_null();
    snprintf(seconds, sizeof seconds, "%.19sZ", read);
    json_t *made =
        json_pack("{s:s,s:s}", "read", seconds, "data_version", data_version ? data_version : "");
    if (!made || !windows)
        return made;
    json_t *open = json_object_get(windows, "open");
    if (json_object_set_new(made, "windows",
                            json_string(brume_windows_words(windows, false).text)) == 0 &&
        json_object_set(made, "open", open) == 0)
        return made;
    json_decref(made);
    return NULL;
}

brume_status brume_query_answer_record(const brume_query_answer *answer, json_t **out,
                                       brume_error *error)
{
    json_t *made = json_object();
    bool good =
        made && write_columns(answer, made) && write_cells(answer, "rows", NULL, made) &&
        (!answer->errors_vary || write_cells(answer, "row_error_95", answer->errors, made)) &&
        (!answer->cuts || write_cells(answer, "rows_cut_allowance", answer->cuts, made)) &&
        (!answer->intervals || write_intervals(answer, made)) &&
        write_flags(answer, "rows_total", answer->totals, made) &&
        write_flags(answer, "rows_too_few", answer->too_few, made) &&
        (!answer->near || write_near(answer, made)) &&
        (!answer->joint_sets || (set(made, "joint_sets", json_true()) &&
                                 set(made, "joint_factor", json_real(answer->joint_factor)))) &&
        write_cost(answer, made);
    if (!good) {
        json_decref(made);
        return brume_no_memory(error, "the answer");
    }
    *out = made;
    return BRUME_OK;
}

brume_status brume_query_answer_to_json(const brume_query_answer *answer, json_t **out,
                                        brume_error *error)
{
    json_t *made = NULL;
    BRUME_TRY(brume_query_answer_record(answer, &made, error));
    json_object_del(made, "data_version"); /* it is in "as_of" */
    bool is_free = answer->is_public || answer->is_dummy;
    json_t *remaining = is_free ? json_null() : price_to_json(&answer->remaining);
    if (!set(made, "remaining", remaining) ||
        (answer->is_dummy && !set(made, "dummy", json_true())) ||
        (answer->is_public && !set(made, "public", json_true())) ||
        (answer->post_processed && !set(made, "post_processed", json_true())) ||
        !set(made, "cached", json_boolean(answer->cached)) ||
        !set(made, "as_of",
             brume_as_of_json(answer->read, answer->data_version, answer->windows)) ||
        !write_bars(answer, made) || !set(made, "notes", brume_query_answer_notes(answer)) ||
        (json_array_size(answer->stages) > 0 &&
         !set(made, "stages", json_incref(answer->stages))) ||
        (json_array_size(answer->warnings) > 0 &&
         !set(made, "warnings", json_incref(answer->warnings)))) {
        json_decref(made);
        return brume_no_memory(error, "the answer");
    }
    *out = made;
    return BRUME_OK;
}

json_t *brume_query_answer_stage(const brume_query_answer *answer, const char *sql)
{
    json_t *whole = NULL;
    if (brume_query_answer_to_json(answer, &whole, NULL) != BRUME_OK)
        return NULL;
    json_t *value = json_array_get(json_array_get(json_object_get(whole, "rows"), 0), 0);
    double bar = answer->errors[0], cut = answer->columns[0].cut_allowance;
    json_t *made = json_pack("{s:s,s:O,s:o,s:O,s:b}", "sql", sql, "value", value, "error_95",
                             isfinite(bar) ? json_real(bar) : json_null(), "cost",
                             json_object_get(whole, "cost"), "cached", answer->cached);
    if (isfinite(cut))
        json_object_set_new(made, "cut_allowance", json_real(cut));
    if (answer->columns[0].cut_not_known)
        json_object_set_new(made, "cut_known", json_false());
    json_decref(whole);
    return made;
}

/* ---- reading a record ---- */

static brume_status damaged(brume_error *error)
{
    return brume_fail(error, BRUME_EDAMAGED, "run 'brume ledger verify'",
                      "a recorded answer is not as brume writes them");
}

static void read_numbers(const json_t *object, const member *members, size_t count, void *to)
{
    for (size_t i = 0; i < count; i++) {
        const json_t *found = json_object_get(object, members[i].name);
        double number = json_is_number(found) ? json_number_value(found) : NAN;
        memcpy((char *)to + members[i].offset, &number, sizeof number);
    }
}

static int64_t read_count(const json_t *object, const char *name)
{
    const json_t *found = json_object_get(object, name);
    return json_is_integer(found) ? json_integer_value(found) : -1;
}

/* A copy of a text that may be null; false: memory is out. */
static bool read_text(const json_t *text, char **out)
{
    *out = json_is_string(text) ? strdup(json_string_value(text)) : NULL;
    return *out || !json_is_string(text);
}

static brume_status read_column(const json_t *json, brume_answer_column *column, brume_error *error)
{
    const char *role = json_string_value(json_object_get(json, "role"));
    if (!role || !json_is_string(json_object_get(json, "name")))
        return damaged(error);
    if (!read_text(json_object_get(json, "name"), &column->name) ||
        !read_text(json_object_get(json, "mechanism"), &column->mechanism) ||
        !read_text(json_object_get(json, "period"), &column->period) ||
        !read_text(json_object_get(json, "bar_why"), &column->bar_why))
        return brume_no_memory(error, "the answer");
    const json_t *bar = json_object_get(json, "error_95");
    column->is_key = strcmp(role, "key") == 0;
    column->error_95 = json_is_number(bar) ? json_number_value(bar) : NAN;
    column->biased = json_is_true(json_object_get(json, "biased"));
    column->threshold = read_count(json, "threshold");
    column->is_limited = json_object_get(json, "cut_units") != NULL;
    column->limit_not_found = json_is_false(json_object_get(json, "limit_found"));
    column->counts =
        (brume_answer_counts)word_index(counts_words, json_object_get(json, "limit_counts"));
    column->origin =
        (brume_answer_origin)word_index(origin_words, json_object_get(json, "limit_chosen"));
    column->side = (brume_answer_side)word_index(side_words, json_object_get(json, "true_if_cut"));
    column->clamps = json_is_true(json_object_get(json, "clamps"));
    column->adds_up = json_is_true(json_object_get(json, "adds_up"));
    column->cut_not_known = json_is_false(json_object_get(json, "cut_known"));
    column->cut_in_bar = json_is_true(json_object_get(json, "cut_in_bar"));
    read_numbers(json, column_numbers, COLUMN_NUMBERS, column);
    read_numbers(json_object_get(json, "bias"), bias_numbers, BIAS_NUMBERS, &column->bias);
    return BRUME_OK;
}

static brume_value read_value(const json_t *json, char room[32])
{
    if (json_is_boolean(json))
        return (brume_value){.kind = BRUME_VALUE_BOOLEAN, .boolean = json_is_true(json)};
    if (json_is_number(json)) {
        brume_value number = {.kind = BRUME_VALUE_NUMBER, .number = json_number_value(json)};
        if (json_is_integer(json) && fabs(number.number) >= 0x1p53) {
            number.length = (size_t)snprintf(room, 32, "%lld", (long long)json_integer_value(json));
            number.text = room;
        }
        return number;
    }
    if (json_is_string(json))
        return (brume_value){.kind = BRUME_VALUE_TEXT,
                             .text = json_string_value(json),
                             .length = json_string_length(json)};
    return (brume_value){.kind = BRUME_VALUE_NULL};
}

static brume_status read_interval(const json_t *json, size_t row, size_t column,
                                  brume_query_answer *answer, brume_error *error)
{
    char room[2][32];
    brume_value ends[2];
    if (!json_is_array(json))
        return BRUME_OK;
    for (size_t i = 0; i < 2; i++)
        ends[i] = read_value(json_array_get(json, i), room[i]);
    return brume_query_answer_set_interval(answer, row, column, ends, error);
}

/* An error bar that is the same in all rows is recorded with the column only. */
static brume_status read_row(const json_t *row, const json_t *errors, const json_t *intervals,
                             size_t number, brume_query_answer *answer, brume_error *error)
{
    if (json_array_size(row) != answer->column_count)
        return damaged(error);
    for (size_t i = 0; i < answer->column_count; i++) {
        char room[32];
        brume_value value = read_value(json_array_get(row, i), room);
        BRUME_TRY(brume_query_answer_set(answer, number, i, &value, error));
        const json_t *bar = json_array_get(errors, i);
        answer->errors[number * answer->column_count + i] = !errors ? answer->columns[i].error_95
                                                            : json_is_number(bar)
                                                                ? json_number_value(bar)
                                                                : NAN;
        BRUME_TRY(read_interval(json_array_get(intervals, i), number, i, answer, error));
    }
    return BRUME_OK;
}

static brume_answer_price read_price(const json_t *json)
{
    bool concentrated = json_is_number(json_object_get(json, "rho"));
    return (brume_answer_price){
        concentrated, json_number_value(json_object_get(json, concentrated ? "rho" : "epsilon")),
        json_number_value(json_object_get(json, "delta"))};
}

static brume_status read_near(const json_t *near, brume_query_answer *answer, brume_error *error)
{
    if (!near)
        return BRUME_OK;
    answer->near = calloc(answer->row_count + 1, sizeof *answer->near);
    if (!answer->near)
        return brume_no_memory(error, "the answer");
    for (size_t r = 0; r < answer->row_count; r++)
        answer->near[r] = json_is_true(json_array_get(near, r));
    return BRUME_OK;
}

static brume_status read_flags(const json_t *rows, brume_query_answer *answer, bool **out,
                               brume_error *error)
{
    size_t columns = answer->column_count;
    if (!rows)
        return BRUME_OK;
    *out = calloc(answer->row_count * columns + 1, sizeof **out);
    if (!*out)
        return brume_no_memory(error, "the answer");
    for (size_t i = 0; i < answer->row_count * columns; i++)
        (*out)[i] = json_is_true(json_array_get(json_array_get(rows, i / columns), i % columns));
    return BRUME_OK;
}

static brume_status read_cuts(const json_t *rows, brume_query_answer *answer, brume_error *error)
{
    size_t columns = answer->column_count;
    if (!rows)
        return BRUME_OK;
    answer->cuts = calloc(answer->row_count * columns + 1, sizeof *answer->cuts);
    if (!answer->cuts)
        return brume_no_memory(error, "the answer");
    for (size_t i = 0; i < answer->row_count * columns; i++) {
        const json_t *cut = json_array_get(json_array_get(rows, i / columns), i % columns);
        answer->cuts[i] = json_is_number(cut) ? json_number_value(cut) : NAN;
    }
    return BRUME_OK;
}

static brume_status read_table(const json_t *record, brume_query_answer *answer, brume_error *error)
{
    const json_t *columns = json_object_get(record, "columns");
    const json_t *rows = json_object_get(record, "rows");
    const json_t *errors = json_object_get(record, "row_error_95");
    for (size_t i = 0; i < answer->column_count; i++)
        BRUME_TRY(read_column(json_array_get(columns, i), &answer->columns[i], error));
    const json_t *intervals = json_object_get(record, "rows_interval_95");
    for (size_t r = 0; r < answer->row_count; r++)
        BRUME_TRY(read_row(json_array_get(rows, r), json_array_get(errors, r),
                           json_array_get(intervals, r), r, answer, error));
    answer->errors_vary = errors != NULL;
    BRUME_TRY(read_cuts(json_object_get(record, "rows_cut_allowance"), answer, error));
    BRUME_TRY(read_flags(json_object_get(record, "rows_total"), answer, &answer->totals, error));
    BRUME_TRY(read_flags(json_object_get(record, "rows_too_few"), answer, &answer->too_few, error));
    return read_near(json_object_get(record, "near_threshold"), answer, error);
}

brume_status brume_query_answer_recorded(const json_t *record, brume_query_answer **out,
                                         brume_error *error)
{
    const json_t *columns = json_object_get(record, "columns");
    const json_t *rows = json_object_get(record, "rows");
    brume_query_answer *answer = NULL;
    if (!json_is_array(columns) || !json_is_array(rows))
        return damaged(error);
    BRUME_TRY(
        brume_query_answer_open(json_array_size(columns), json_array_size(rows), &answer, error));
    brume_status status = read_table(record, answer, error);
    if (status != BRUME_OK) {
        brume_query_answer_close(answer);
        return status;
    }
    answer->cost = read_price(json_object_get(record, "cost"));
    answer->events = json_incref(json_object_get(record, "events"));
    answer->windows = json_incref(json_object_get(record, "windows"));
    answer->delta_by_default = json_is_true(json_object_get(record, "delta_by_default"));
    answer->joint_sets = json_is_true(json_object_get(record, "joint_sets"));
    answer->joint_factor =
        answer->joint_sets ? json_number_value(json_object_get(record, "joint_factor")) : 1;
    const json_t *limits = json_object_get(record, "limits");
    answer->limits_share = json_number_value(json_object_get(limits, "share"));
    if (!read_text(json_object_get(limits, "chosen"), &answer->limits_chosen) ||
        !read_text(json_object_get(record, "data_version"), &answer->data_version)) {
        brume_query_answer_close(answer);
        return brume_no_memory(error, "the answer");
    }
    answer->threshold = read_count(record, "threshold");
    *out = answer;
    return BRUME_OK;
}

brume_answer_column brume_answer_column_empty(void)
{
    return (brume_answer_column){.error_95 = NAN,
                                 .limit = NAN,
                                 .cut_units = NAN,
                                 .cut_allowance = NAN,
                                 .cut_hidden = NAN,
                                 .reach = NAN,
                                 .clamp_low = NAN,
                                 .clamp_high = NAN,
                                 .rank_error_95 = NAN,
                                 .count_error_95 = NAN,
                                 .gap_95 = NAN,
                                 .quantile = NAN,
                                 .threshold = -1,
                                 .bias = {NAN, NAN, NAN, NAN}};
}

brume_status brume_query_answer_open(size_t column_count, size_t row_count,
                                     brume_query_answer **out, brume_error *error)
{
    size_t cells = column_count * row_count;
    brume_query_answer *answer = calloc(1, sizeof *answer);
    if (answer) {
        answer->threshold = -1;
        answer->columns = calloc(column_count + 1, sizeof *answer->columns);
        answer->values = calloc(cells + 1, sizeof *answer->values);
        answer->errors = calloc(cells + 1, sizeof *answer->errors);
    }
    if (!answer || !answer->columns || !answer->values || !answer->errors) {
        brume_query_answer_close(answer);
        return brume_no_memory(error, "the answer");
    }
    answer->words = brume_words_plain();
    answer->joint_factor = 1;
    answer->column_count = column_count;
    answer->row_count = row_count;
    for (size_t i = 0; i < column_count; i++)
        answer->columns[i] = brume_answer_column_empty();
    for (size_t i = 0; i < cells; i++)
        answer->errors[i] = NAN;
    *out = answer;
    return BRUME_OK;
}

void brume_query_answer_close(brume_query_answer *answer)
{
    if (!answer)
        return;
    for (size_t i = 0; i < answer->column_count; i++) {
        free(answer->columns[i].name);
        free(answer->columns[i].mechanism);
        free(answer->columns[i].period);
        free(answer->columns[i].bar_why);
    }
    for (size_t i = 0; i < answer->column_count * answer->row_count; i++) {
        free((char *)answer->values[i].text);
        for (int end = 0; answer->intervals && end < 2; end++)
            free((char *)answer->intervals[i][end].text);
    }
    free(answer->intervals);
    free(answer->columns);
    free(answer->values);
    free(answer->errors);
    free(answer->cuts);
    free(answer->totals);
    free(answer->too_few);
    free(answer->near);
    free(answer->limits_chosen);
    free(answer->data_version);
    json_decref(answer->events);
    json_decref(answer->windows);
    json_decref(answer->warnings);
    json_decref(answer->stages);
    free(answer);
}

double brume_query_answer_bar(const brume_query_answer *answer, size_t cell)
{
    const brume_answer_column *column = &answer->columns[cell % answer->column_count];
    if (column->cut_not_known)
        return NAN;
    bool own = answer->cuts && !isnan(answer->cuts[cell]);
    return answer->errors[cell] + fmax(0, own ? answer->cuts[cell] : column->cut_allowance);
}

/* Why a value has no bar, in a few words. */
static const char *query_answer_bar_why(const brume_query_answer *answer, size_t cell)
{
    const brume_answer_column *column = &answer->columns[cell % answer->column_count];
    if (answer->too_few && answer->too_few[cell])
        return "too few";
    if (column->bar_why)
        return column->bar_why;
    if (column->limit_not_found || column->cut_not_known)
        return "what limits leave out is not known at this price";
    if (brume_query_answer_interval(answer, cell))
        return "a quantile has an interval";
    if (!isnan(column->rank_error_95))
        return "a quantile has an error in ranks";
    if (!isnan(column->count_error_95) || !isnan(column->gap_95))
        return "a mode has none in its own units";
    return answer->values[cell].kind == BRUME_VALUE_NUMBER ? "no bound on its error is known"
                                                           : "there is no number";
}

brume_status brume_query_answer_flag(const brume_query_answer *answer, bool **flags, size_t row,
                                     size_t column, brume_error *error)
{
    size_t cells = answer->row_count * answer->column_count;
    if (!*flags && !(*flags = calloc(cells + 1, sizeof **flags)))
        return brume_no_memory(error, "the answer");
    (*flags)[row * answer->column_count + column] = true;
    return BRUME_OK;
}

/* A copy in place of what is there; a time as its text. */
static brume_status put(brume_value *cell, const brume_value *value, brume_error *error)
{
    char time[BRUME_WHEN_TEXT];
    brume_value shown = *value;
    if (value->kind == BRUME_VALUE_DATE || value->kind == BRUME_VALUE_TIMESTAMP) {
        brume_value_time(value, time);
        shown = (brume_value){.kind = BRUME_VALUE_TEXT, .text = time, .length = strlen(time)};
        value = &shown;
    }
    brume_value copy = *value;
    copy.text = NULL;
    if (value->text) { /* of a number: its digits */
        char *text = malloc(value->length + 1);
        if (!text)
            return brume_no_memory(error, "the answer");
        memcpy(text, value->text, value->length);
        text[value->length] = '\0';
        copy.text = text;
    }
    free((char *)cell->text);
    *cell = copy;
    return BRUME_OK;
}

brume_status brume_query_answer_set(brume_query_answer *answer, size_t row, size_t column,
                                    const brume_value *value, brume_error *error)
{
    return put(&answer->values[row * answer->column_count + column], value, error);
}

brume_status brume_query_answer_set_interval(brume_query_answer *answer, size_t row, size_t column,
                                             const brume_value ends[2], brume_error *error)
{
    size_t cells = answer->row_count * answer->column_count;
    if (!answer->intervals)
        answer->intervals = calloc(cells + 1, sizeof *answer->intervals);
    if (!answer->intervals)
        return brume_no_memory(error, "the answer");
    brume_value *cell = answer->intervals[row * answer->column_count + column];
    BRUME_TRY(put(&cell[0], &ends[0], error));
    return put(&cell[1], &ends[1], error);
}

const brume_value *brume_query_answer_interval(const brume_query_answer *answer, size_t cell)
{
    bool there = answer->intervals && answer->intervals[cell][0].kind != BRUME_VALUE_NULL;
    return there ? answer->intervals[cell] : NULL;
}

/* ---- its date ---- */

static bool read_time(const char *text, struct tm *out)
{
    *out = (struct tm){0};
    return strptime(text, "%Y-%m-%dT%H:%M:%S", out) != NULL;
}

double brume_age_of(const char *read)
{
    struct tm at;
    double age = read_time(read, &at) ? difftime(time(NULL), timegm(&at)) : 0;
    return age > 0 ? age : 0;
}

brume_as_of_text brume_as_of(const char *read)
{
    static const struct {
        double seconds;
        const char *name;
    } units[] = {{86400, "day"}, {3600, "hour"}, {60, "minute"}};
    brume_as_of_text out = {""};
    struct tm at;
    char day[32], ago[32] = "just now";
    if (!read_time(read, &at))
        return out;
    double age = brume_age_of(read);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (age >= units[i].seconds) {
            double count = floor(age / units[i].seconds);
            snprintf(ago, sizeof ago, "%.0f %s%s ago", count, units[i].name, count < 2 ? "" : "s");
            break;
        }
    strftime(day, sizeof day, "%Y-%m-%d %H:%M", &at);
    snprintf(out.text, sizeof out.text, "as of %s UTC, %s", day, ago);
    return out;
}
