/* The memory of an answer. */
#include "query/release/answer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"

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

const char *brume_query_answer_bar_why(const brume_query_answer *answer, size_t cell)
{
    const brume_answer_column *column = &answer->columns[cell % answer->column_count];
    if (answer->too_few && answer->too_few[cell])
        return "too few";
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
