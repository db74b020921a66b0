/* What is shown of a series: decoded from published numbers alone. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ledger/series.h"
#include "query/series/series.h"
#include "query/series/spec.h"

/* A series as it is recorded, ready to be decoded. */
typedef struct series_record {
    json_t *series; /* as brume_ledger_series gives it */
    const json_t *terms;
    brume_series_spec spec;
    brume_running *running;
    uint64_t closed;
    size_t number_count; /* of one cell, of all published windows */
    brume_i128 *numbers; /* cell by cell, in the order of windows */
} series_record;

static void close_record(series_record *record)
{
    free(record->numbers);
    brume_running_close(record->running);
    json_decref(record->series);
    *record = (series_record){0};
}

static brume_status damaged(brume_error *error)
{
    return brume_fail(error, BRUME_EDAMAGED, "run 'brume ledger verify'",
                      "points of a series cannot be read");
}

static bool read_wide(const char *text, brume_i128 *out)
{
    brume_i128 value = 0;
    bool negative = text && *text == '-';
    const char *digits = text ? text + negative : "";
    size_t length = strlen(digits);
    if (length == 0 || length > 37)
        return false;
    for (; *digits; digits++) {
        if (*digits < '0' || *digits > '9')
            return false;
        value = 10 * value + (*digits - '0');
    }
    *out = negative ? -value : value;
    return true;
}

/* The numbers of one point stand window by window and then cell by cell. */
static bool read_point(series_record *record, const json_t *point)
{
    const json_t *numbers = json_object_get(point, "numbers");
    uint64_t first = (uint64_t)json_integer_value(json_object_get(point, "first"));
    uint64_t last = (uint64_t)json_integer_value(json_object_get(point, "last"));
    size_t at = 0;
    if (last >= record->closed)
        return false;
    for (uint64_t t = first; t <= last; t++) {
        size_t count = brume_running_numbers(record->running, t);
        size_t place = brume_running_numbers_before(record->running, t);
        for (size_t cell = 0; cell < record->spec.cell_count; cell++)
            for (size_t i = 0; i < count; i++)
                if (!read_wide(json_string_value(json_array_get(numbers, at++)),
                               &record->numbers[cell * record->number_count + place + i]))
                    return false;
    }
    return at == json_array_size(numbers);
}

static brume_status read_points(brume_ledger *ledger, const char *name, series_record *record,
                                brume_error *error)
{
    json_t *points = NULL, *point = NULL;
    size_t i = 0;
    uint64_t closed = 0;
    BRUME_TRY(brume_ledger_series_points(ledger, name, &points, error));
    size_t count = json_array_size(points);
    if (count > 0) /* maybe more than a moment ago */
        closed = (uint64_t)json_integer_value(
                     json_object_get(json_array_get(points, count - 1), "last")) +
                 1;
    bool good = closed <= record->spec.shape.horizon;
    record->closed = closed;
    record->number_count = good ? brume_running_numbers_before(record->running, closed) : 0;
    record->numbers =
        calloc(record->number_count * record->spec.cell_count + 1, sizeof *record->numbers);
    brume_status status = record->numbers ? BRUME_OK : brume_no_memory(error, "a series");
    json_array_foreach (points, i, point)
        good = good && status == BRUME_OK && read_point(record, point);
    json_decref(points);
    return status == BRUME_OK && !good ? damaged(error) : status;
}

static brume_status open_record(brume_ledger *ledger, const char *name, series_record *record,
                                brume_error *error)
{
    BRUME_TRY(brume_ledger_series(ledger, name, &record->series, error));
    record->terms = json_object_get(record->series, "terms");
    BRUME_TRY(brume_series_spec_read(record->terms, &record->spec, error));
    BRUME_TRY(brume_running_open(&record->spec.shape, &record->running, error));
    if (json_array_size(json_object_get(record->terms, "cells")) != record->spec.cell_count)
        return damaged(error);
    return read_points(ledger, name, record, error);
}

/* ---- which windows ---- */

/* Windows `first` .. `last` of the series, under one name. */
typedef struct shown_range {
    uint64_t first, last;
    char label[BRUME_WINDOW_LABEL];
} shown_range;

/* The number of a window that was typed (NULL: `otherwise`), cut to those that are published. */
static brume_status find_end(const series_record *record, const char *text, uint64_t otherwise,
                             uint64_t *out, brume_error *error)
{
    int64_t window = record->spec.first + (int64_t)otherwise;
    if (text)
        BRUME_TRY(brume_window_parse(&record->spec.grid, text, &window, error));
    int64_t at = window - record->spec.first, most = (int64_t)record->closed - 1;
    *out = (uint64_t)(at < 0 ? 0 : at > most ? most : at);
    return BRUME_OK;
}

/* The window of a coarser grid that a window begins in. */
static int64_t coarse_of(const series_record *record, const brume_window_grid *by, uint64_t at)
{
    return brume_window_of_instant(
        by, brume_window_first_instant(&record->spec.grid, record->spec.first + (int64_t)at));
}

/* The ranges that are shown; the caller frees them. */
static brume_status list_ranges(const series_record *record, const brume_series_part *part,
                                shown_range **out, size_t *count, brume_error *error)
{
    uint64_t first = 0, last = 0;
    brume_window_grid by = record->spec.grid;
    if (part->by)
        BRUME_TRY(brume_window_grid_parse(part->by, NULL, &by, error));
    if (by.length == BRUME_WINDOW_VALUES)
        return brume_fail(error, BRUME_EARGUMENT, "week, month, quarter or year",
                          "'--by' must be a length of time");
    by.offset = record->spec.grid.offset;
    *count = 0;
    *out = calloc(record->closed + 1, sizeof **out);
    if (!*out)
        return brume_no_memory(error, "a series");
    if (record->closed == 0)
        return BRUME_OK;
    BRUME_TRY(find_end(record, part->from, 0, &first, error));
    BRUME_TRY(find_end(record, part->to, record->closed - 1, &last, error));
    if (last < first)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'--to' is before '--from'");
    for (uint64_t t = first; t <= last; t++) {
        shown_range *now = *count ? &(*out)[*count - 1] : NULL;
        int64_t coarse = part->by ? coarse_of(record, &by, t) : 0;
        if (part->by && now && coarse_of(record, &by, now->first) == coarse) {
            now->last = t;
            continue;
        }
        now = &(*out)[(*count)++];
        now->first = now->last = t;
        brume_window_label(part->by ? &by : &record->spec.grid,
                           part->by ? coarse : record->spec.first + (int64_t)t, now->label);
    }
    return BRUME_OK;
}

/* ---- numbers ---- */

/* A decoded number in the units of the query; whole for counts. */
static double shown(const series_record *record, double total)
{
    double value = total * record->spec.step;
    return record->spec.is_count ? round(value) : value;
}

/* What a bar covers: rounding to whole numbers too. */
static double bar(const series_record *record, double error_95)
{
    return record->spec.is_count ? ceil(error_95 + 0.5) : error_95;
}

/* Widths of a range, which all cells share. */
typedef struct shown_bars {
    double total, in_window;
} shown_bars;

static brume_status add_point(const series_record *record, const shown_range *range, size_t cell,
                              const shown_bars *bars, json_t *points, brume_error *error)
{
    const brume_i128 *numbers = &record->numbers[cell * record->number_count];
    char from[BRUME_WINDOW_LABEL], to[BRUME_WINDOW_LABEL];
    double total = 0, inside = 0;
    BRUME_TRY(brume_running_total(record->running, numbers, 0, range->last, &total, error));
    BRUME_TRY(
        brume_running_total(record->running, numbers, range->first, range->last, &inside, error));
    brume_window_label(&record->spec.grid, record->spec.first + (int64_t)range->first, from);
    brume_window_label(&record->spec.grid, record->spec.first + (int64_t)range->last, to);
    json_t *point =
        json_pack("{s:s,s:s,s:s,s:O,s:f,s:f,s:f,s:f}", "window", range->label, "from", from, "to",
                  to, "keys", json_array_get(json_object_get(record->terms, "cells"), cell),
                  "total", shown(record, total), "error_95", bar(record, bars->total), "in_window",
                  shown(record, inside), "in_window_error_95", bar(record, bars->in_window));
    return json_array_append_new(points, point) == 0 ? BRUME_OK
                                                     : brume_no_memory(error, "a series");
}

static brume_status list_points(const series_record *record, const brume_series_part *part,
                                json_t *points, brume_error *error)
{
    shown_range *ranges = NULL;
    size_t count = 0;
    brume_status status = list_ranges(record, part, &ranges, &count, error);
    for (size_t i = 0; status == BRUME_OK && i < count; i++) {
        shown_bars bars = {0};
        status = brume_series_error_95(&record->spec, record->running, 0, ranges[i].last,
                                       &bars.total, error);
        if (status == BRUME_OK)
            status = brume_series_error_95(&record->spec, record->running, ranges[i].first,
                                           ranges[i].last, &bars.in_window, error);
        for (size_t cell = 0; status == BRUME_OK && cell < record->spec.cell_count; cell++)
            status = add_point(record, &ranges[i], cell, &bars, points, error);
    }
    free(ranges);
    return status;
}

/* ---- the answer ---- */

static const char *last_label(const series_record *record, char label[BRUME_WINDOW_LABEL])
{
    return record->closed
               ? brume_window_label(&record->spec.grid,
                                    record->spec.first + (int64_t)record->closed - 1, label)
               : NULL;
}

static const char *next_close(const series_record *record, char text[BRUME_SERIES_MOMENT])
{
    bool over = record->closed >= record->spec.shape.horizon ||
                json_is_true(json_object_get(record->series, "ended"));
    return over ? NULL
                : brume_series_moment(brume_series_close_of(&record->spec, record->closed), text);
}

static json_t *head_of(const series_record *record)
{
    char label[BRUME_WINDOW_LABEL], next[BRUME_SERIES_MOMENT];
    const json_t *terms = record->terms;
    return json_pack(
        "{s:O,s:O,s:O,s:O,s:O,s:O,s:I,s:O,s:O,s:O,s:s?,s:s?}", "series",
        json_object_get(record->series, "name"), "dataset", json_object_get(terms, "dataset"),
        "sql", json_object_get(terms, "sql"), "opened", json_object_get(record->series, "opened"),
        "ended", json_object_get(record->series, "ended"), "first", json_object_get(terms, "first"),
        "horizon", (json_int_t)record->spec.shape.horizon, "limit", json_object_get(terms, "limit"),
        "protects", json_object_get(terms, "protects"), "cost", json_object_get(terms, "cost"),
        "closed_until", last_label(record, label), "next", next_close(record, next));
}

brume_status brume_series_show(brume_ledger *ledger, const char *name,
                               const brume_series_part *part, json_t **out, brume_error *error)
{
    series_record record = {0};
    json_t *points = json_array(), *made = NULL;
    char length[BRUME_SERIES_LENGTH];
    brume_status status = points ? open_record(ledger, name, &record, error)
                                 : brume_no_memory(error, "a series");
    if (status == BRUME_OK)
        status = list_points(&record, part, points, error);
    if (status == BRUME_OK) {
        made = head_of(&record);
        if (!made || json_object_set(made, "keys", json_object_get(record.terms, "keys")) != 0 ||
            json_object_set(made, "value", json_object_get(record.terms, "value")) != 0 ||
            json_object_set_new(
                made, "close_after",
                json_string(brume_series_length(record.spec.close_after, length))) != 0 ||
            json_object_set_new(made, "error_covers", json_string("noise")) != 0 ||
            json_object_set_new(made, "late_rows", json_string("in part")) != 0 ||
            json_object_set_new(made, "cut_known", json_false()) != 0 ||
            json_object_set(made, "points", points) != 0)
            status = brume_no_memory(error, "a series");
    }
    json_decref(points);
    close_record(&record);
    if (status != BRUME_OK) {
        json_decref(made);
        return status;
    }
    *out = made;
    return BRUME_OK;
}

static brume_status add_head(brume_ledger *ledger, const char *name, json_t *all,
                             brume_error *error)
{
    series_record record = {0};
    BRUME_TRY(brume_ledger_series(ledger, name, &record.series, error));
    record.terms = json_object_get(record.series, "terms");
    record.closed = (uint64_t)json_integer_value(json_object_get(record.series, "closed"));
    brume_status status = brume_series_spec_read(record.terms, &record.spec, error);
    if (status == BRUME_OK && json_array_append_new(all, head_of(&record)) != 0)
        status = brume_no_memory(error, "a series");
    close_record(&record);
    return status;
}

brume_status brume_series_list(brume_ledger *ledger, json_t **out, brume_error *error)
{
    json_t *names = NULL, *all = json_array(), *name = NULL;
    size_t i = 0;
    brume_status status = all ? brume_ledger_series_names(ledger, &names, error)
                              : brume_no_memory(error, "a series");
    json_array_foreach (names, i, name)
        if (status == BRUME_OK)
            status = add_head(ledger, json_string_value(name), all, error);
    json_decref(names);
    if (status != BRUME_OK) {
        json_decref(all);
        return status;
    }
    *out = all;
    return BRUME_OK;
}
