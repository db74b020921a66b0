/* An answer on the terminal or in a file: a table with notes below it, Markdown,
 * CSV, HTML, JSON. */
#include "command/query/write_answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv_write.h"
#include "base/error.h"
#include "base/text.h"
#include "command/frame/output.h"
#include "command/frame/table.h"
#include "command/query/ask.h"

/* ---- the notes below a table ---- */

/* An epsilon is said as it was typed. A rho is computed: four digits, what it cost rounded up, what
 * is left down. */
static brume_number_text few_digits(const brume_answer_price *price, bool up)
{
    if (!price->concentrated || !(price->amount > 0))
        return brume_shortest(price->amount);
    return up ? brume_digits_up(price->amount, 4) : brume_digits_down(price->amount, 4);
}

/* What each window paid: a line of its own, where there are windows. */
static void write_windows(FILE *out, const brume_query_answer *answer)
{
    const json_t *windows = answer->windows, *price = json_object_get(windows, "price");
    const json_t *rho = json_object_get(price, "rho");
    bool concentrated = json_is_number(rho);
    if (windows)
        fprintf(out, "\nread: %s; %s paid %s %s", brume_windows_words(windows, true).text,
                json_integer_value(json_object_get(windows, "count")) == 1 ? "it" : "each",
                concentrated ? "rho" : "epsilon",
                brume_rounded_up(
                    json_number_value(concentrated ? rho : json_object_get(price, "epsilon")))
                    .text);
}

static void write_price(FILE *out, const brume_query_answer *answer)
{
    const brume_answer_price *cost = &answer->cost, *left = &answer->remaining;
    const char *unit = cost->concentrated ? "rho" : "epsilon";
    bool nothing = answer->cached && !(cost->amount > 0) && !(cost->delta > 0);
    if (nothing)
        fputs("free: computed from answers that are paid for", out);
    else
        fprintf(out, "%s %s %s", answer->cached ? "read again for free (it cost" : "cost", unit,
                few_digits(cost, true).text);
    if (cost->delta > 0)
        fprintf(out, ", delta %s%s", brume_rounded_up(cost->delta).text,
                answer->delta_by_default ? " by default" : "");
    fputs(answer->cached && !nothing ? ")" : "", out);
    fprintf(out, "; left%s: %s %s", answer->windows ? " there" : "", unit,
            few_digits(left, false).text);
    if (left->delta > 0)
        fprintf(out, ", delta %s", brume_digits_down(left->delta, 4).text);
    write_windows(out, answer);
}

/* What was asked first: "first: SELECT AVG(x) FROM t: 41.2 ± 0.3, for epsilon 0.5". */
static void write_stages(FILE *out, const json_t *stages)
{
    for (size_t i = 0; i < json_array_size(stages); i++) {
        const json_t *one = json_array_get(stages, i), *value = json_object_get(one, "value");
        const json_t *bar = json_object_get(one, "error_95"), *cost = json_object_get(one, "cost");
        const json_t *rho = json_object_get(cost, "rho");
        bool concentrated = json_is_number(rho);
        const json_t *amount = concentrated ? rho : json_object_get(cost, "epsilon");
        size_t rows = json_array_size(json_object_get(one, "rows"));
        fprintf(out, "\nfirst: %s: ", json_string_value(json_object_get(one, "sql")));
        if (json_object_get(one, "rows"))
            fprintf(out, "%zu row%s", rows, rows == 1 ? "" : "s");
        else if (json_is_number(value))
            fputs(brume_shortest(json_number_value(value)).text, out);
        else
            fputs(json_is_string(value) ? json_string_value(value) : "NULL", out);
        double cut = json_number_value(json_object_get(one, "cut_allowance")); /* 0: none */
        if (json_is_number(bar) && !json_is_false(json_object_get(one, "cut_known")))
            fprintf(out, " ± %s", brume_rounded_up(json_number_value(bar) + cut).text);
        fprintf(out, ", for %s %s", concentrated ? "rho" : "epsilon",
                brume_shortest(json_number_value(amount)).text);
    }
}

/* What it cost and what is to be kept in mind: a line each, wrapped. */
static brume_status write_notes(const brume_call *call, const brume_query_answer *answer,
                                brume_error *error)
{
    char *text = NULL;
    size_t length = 0;
    FILE *notes = open_memstream(&text, &length);
    if (!notes)
        return brume_no_memory(error, NULL);
    if (answer->is_public)
        fputs("public tables only: exact, and free of charge", notes);
    else if (answer->is_dummy)
        fputs("dummy: a table made from the policy, not the data; nothing was spent", notes);
    else
        write_price(notes, answer);
    write_stages(notes, answer->stages);
    json_t *said = brume_query_answer_notes(answer);
    for (size_t i = 0; i < json_array_size(said); i++)
        fprintf(notes, "\n%s", json_string_value(json_array_get(said, i)));
    bool failed = !said;
    json_decref(said);
    for (size_t i = 0; i < json_array_size(answer->warnings); i++)
        fprintf(notes, "\nwarning: %s", json_string_value(json_array_get(answer->warnings, i)));
    if (fclose(notes) != 0 || failed) {
        free(text);
        return brume_no_memory(error, NULL);
    }
    fprintf(call->out, "\n%s", brume_dim(call));
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n"));)
        brume_write_sentence(call->out, "%s", line);
    fputs(brume_plain(call), call->out);
    free(text);
    return BRUME_OK;
}

/* ---- a table for reading ---- */

/* Is there a column of error bars behind this one? Not where nothing was measured for it, as in the
 * answer of 'limits'. */
static bool has_bars(const brume_query_answer *answer, size_t column)
{
    bool barred = answer->columns[column].mechanism != NULL;
    for (size_t row = 0; !barred && row < answer->row_count; row++)
        barred = !isnan(brume_query_answer_bar(answer, row * answer->column_count + column));
    return barred && !answer->columns[column].is_key;
}

/* Quantiles have an interval in place of an error bar. */
static bool is_quantile(const brume_answer_column *column)
{
    return !isnan(column->rank_error_95);
}

/* In a table of several answers (`bars` not NULL) a column has them where one of the answers does.
 */
static bool shows_bars(const brume_query_answer *answer, const bool *bars, size_t column)
{
    return bars ? bars[column] : has_bars(answer, column);
}

/* The heads of the table, NULL at the end: a value is followed by its error bar. */
static char **table_heads(const brume_query_answer *answer, const bool *bars)
{
    size_t used = 0;
    char **heads = calloc(2 * answer->column_count + 1, sizeof *heads);
    for (size_t i = 0; heads && i < answer->column_count; i++) {
        const brume_answer_column *column = &answer->columns[i];
        size_t size = strlen(column->name) + 2;
        if ((heads[used] = malloc(size)))
            snprintf(heads[used++], size, "%s%s", column->is_key ? "" : ">", column->name);
        if (shows_bars(answer, bars, i))
            heads[used++] = strdup(is_quantile(column) ? ">95 %" : ">± 95 %");
    }
    return heads;
}

static void free_heads(char **heads)
{
    for (size_t i = 0; heads && heads[i]; i++)
        free(heads[i]);
    free(heads);
}

/* What is said of a quantile or a mode in place of an error bar. */
static void write_statement(brume_table *table, const brume_answer_column *column)
{
    const struct {
        const char *word;
        double number;
    } said[] = {
        {"rank", column->rank_error_95}, {"rows", column->count_error_95}, {"gap", column->gap_95}};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (!isnan(said[i].number)) {
            char number[2 * sizeof(brume_number_text)];
            brume_text_group(brume_rounded_up(said[i].number).text, number, sizeof number);
            brume_table_cell(table, "%s %s", said[i].word, number);
            return;
        }
    brume_table_cell(table, "%s", "");
}

static bool is_whole(const brume_value *value)
{
    return value->number == floor(value->number) && fabs(value->number) < 0x1p53;
}

static char *value_text(const brume_value *value, const char *null, bool exactly)
{
    char *text = NULL;
    switch (value->kind) {
    case BRUME_VALUE_TEXT:
        return strdup(value->text);
    case BRUME_VALUE_BOOLEAN:
        return strdup(value->boolean ? "true" : "false");
    case BRUME_VALUE_NUMBER:
        if (!isfinite(value->number))
            break;
        if (value->text)
            return strdup(value->text);
        if (exactly && !is_whole(value))
            return strdup(brume_shortest(value->number).text);
        if (asprintf(&text, is_whole(value) ? "%.0f" : "%.6g", value->number + 0.0) < 0)
            return NULL; /* + 0.0: there is no -0 */
        return text;
    case BRUME_VALUE_NULL:
    case BRUME_VALUE_DATE: /* in an answer times are texts */
    case BRUME_VALUE_TIMESTAMP:
        break;
    }
    return strdup(null);
}

/* The first of a period as its name: 2024-01-01 00:00:00 is 2024-01 where months are. */
static char *period_text(const char *time, const char *period)
{
    char *text = NULL;
    int month = strlen(time) >= 10 ? atoi(time + 5) : 0;
    if (month < 1 || month > 12 || time[4] != '-')
        return strdup(time);
    if (strcmp(period, "year") == 0)
        return strndup(time, 4);
    if (strcmp(period, "month") == 0)
        return strndup(time, 7);
    if (strcmp(period, "day") == 0 || strcmp(period, "week") == 0)
        return strndup(time, 10);
    if (strcmp(period, "quarter") != 0)
        return strdup(time);
    return asprintf(&text, "%.4s-Q%d", time, (month + 2) / 3) < 0 ? NULL : text;
}

/* The same with commas between thousands; takes `text`. */
static char *grouped(char *text)
{
    size_t size = text ? 2 * strlen(text) + 2 : 0;
    char *out = text ? malloc(size) : NULL;
    if (out)
        brume_text_group(text, out, size);
    free(text);
    return out;
}

/* Is the cell noise alone, or so small that it may be? */
static bool is_too_few(const brume_query_answer *answer, size_t cell)
{
    return answer->too_few && answer->too_few[cell];
}

char *brume_cell_text(const brume_query_answer *answer, size_t cell, const char *null, bool exactly)
{
    const brume_answer_column *column = &answer->columns[cell % answer->column_count];
    const brume_value *value = &answer->values[cell];
    if (answer->totals && answer->totals[cell])
        return strdup("total");
    if (is_too_few(answer, cell) && !exactly)
        return strdup("too few");
    if (column->period && value->kind == BRUME_VALUE_TEXT)
        return period_text(value->text, column->period);
    char *text = value_text(value, null, exactly);
    bool counts = !exactly && !column->is_key && value->kind == BRUME_VALUE_NUMBER;
    return counts ? grouped(text) : text;
}

/* A number and its error bar, in the same decimals, with commas between thousands. */
typedef struct number_texts {
    char value[2 * sizeof(brume_number_text)], error[2 * sizeof(brume_number_text)];
} number_texts;

static number_texts number_and_error(double value, double error)
{
    number_texts out;
    bool whole = value == floor(value) && error == floor(error);
    brume_readable shown = brume_value_and_error(value + 0.0, error, whole); /* there is no -0 */
    brume_text_group(shown.value.text, out.value, sizeof out.value);
    brume_text_group(shown.error.text, out.error, sizeof out.error);
    return out;
}

/* An end of an interval as text; six digits, which leave no part of the interval out. */
static char *end_text(const brume_value *end, bool upper)
{
    brume_value shown = *end;
    if (end->kind == BRUME_VALUE_NUMBER && isfinite(end->number) && !is_whole(end)) {
        double step = pow(10, floor(log10(fabs(end->number))) - 5);
        double steps = end->number / step;
        shown.number = (upper ? ceil(steps) : floor(steps)) * step;
    }
    char *text = value_text(&shown, "NULL", false);
    return end->kind == BRUME_VALUE_NUMBER ? grouped(text) : text;
}

/* "26 to 31"; NULL: the cell has no interval, or there is no memory. The caller frees it. */
static char *interval_text(const brume_query_answer *answer, size_t cell)
{
    const brume_value *ends = brume_query_answer_interval(answer, cell);
    char *low = ends ? end_text(&ends[0], false) : NULL;
    char *high = ends ? end_text(&ends[1], true) : NULL, *text = NULL;
    if (low && high && asprintf(&text, "%s to %s", low, high) < 0)
        text = NULL;
    free(low);
    free(high);
    return text;
}

/* Is the cell a number with an error bar? */
static bool is_barred(const brume_query_answer *answer, size_t cell)
{
    const brume_value *value = &answer->values[cell];
    return !answer->columns[cell % answer->column_count].is_key &&
           value->kind == BRUME_VALUE_NUMBER && isfinite(value->number) &&
           !is_too_few(answer, cell) && !isnan(brume_query_answer_bar(answer, cell));
}

/* The bar of a cell without a number to read; nothing where there is none. */
static number_texts bar_alone(double error)
{
    return isnan(error) ? (number_texts){"", ""} : number_and_error(0, error);
}

static void write_cells(brume_table *table, const brume_query_answer *answer, const bool *bars,
                        size_t row)
{
    for (size_t i = 0; i < answer->column_count; i++) {
        size_t cell = row * answer->column_count + i;
        double error = brume_query_answer_bar(answer, cell);
        if (is_barred(answer, cell)) {
            number_texts shown = number_and_error(answer->values[cell].number, error);
            brume_table_cell(table, "%s", shown.value);
            brume_table_cell(table, "%s", shown.error);
            continue;
        }
        char *text = brume_cell_text(answer, cell, "NULL", false);
        char *interval = interval_text(answer, cell);
        brume_table_cell(table, "%s", text ? text : "");
        free(text);
        if (interval)
            brume_table_cell(table, "%s", interval);
        else if (!answer->columns[i].is_key &&
                 (!isnan(error) || (shows_bars(answer, bars, i) && is_too_few(answer, cell))))
            brume_table_cell(table, "%s", bar_alone(error).error);
        else if (shows_bars(answer, bars, i))
            write_statement(table, &answer->columns[i]);
        free(interval);
    }
}

static brume_status write_table(brume_call *call, const brume_query_answer *answer, bool markdown,
                                brume_error *error)
{
    char **heads = table_heads(answer, NULL);
    if (!heads)
        return brume_no_memory(error, NULL);
    brume_table *table = brume_table_open((const char *const *)heads);
    for (size_t i = 0; i < answer->row_count; i++)
        write_cells(table, answer, NULL, i);
    brume_status status = markdown ? brume_table_write_markdown(table, call, error)
                                   : brume_table_write(table, call, error);
    free_heads(heads);
    BRUME_TRY(status);
    if (answer->row_count == 0)
        fprintf(call->out,
                answer->threshold < 0 ? "(no rows)\n" : "(no group passed the threshold)\n");
    return write_notes(call, answer, error);
}

/* ---- formats for programs ---- */

static void write_html_cell(FILE *out, const char *tag, bool number, const char *text)
{
    fprintf(out, "<%s%s>", tag, number ? " style=\"text-align: right\"" : "");
    brume_write_escaped(out, text);
    fprintf(out, "</%s>", tag);
}

/* A row for a reader: a value in the decimals of its bar, which follows it. */
static void write_html_row(FILE *out, const brume_query_answer *answer, size_t row)
{
    fputs("<tr>", out);
    for (size_t i = 0; i < answer->column_count; i++) {
        size_t cell = row * answer->column_count + i;
        bool barred = is_barred(answer, cell), is_key = answer->columns[i].is_key;
        double error = brume_query_answer_bar(answer, cell);
        number_texts shown = bar_alone(is_too_few(answer, cell) ? error : NAN);
        if (barred)
            shown = number_and_error(answer->values[cell].number, error);
        char *text = barred ? NULL : brume_cell_text(answer, cell, "", false);
        char *interval = interval_text(answer, cell);
        write_html_cell(out, "td", !is_key, text ? text : shown.value);
        free(text);
        if (!is_key)
            write_html_cell(out, "td", true, interval ? interval : shown.error);
        free(interval);
    }
    fputs("</tr>\n", out);
}

brume_status brume_answer_html(FILE *out, const brume_query_answer *answer, brume_error *error)
{
    json_t *notes = brume_query_answer_notes(answer);
    if (!notes)
        return brume_no_memory(error, NULL);
    fputs("<table>\n<thead>\n<tr>", out);
    for (size_t i = 0; i < answer->column_count; i++) {
        bool is_key = answer->columns[i].is_key;
        write_html_cell(out, "th", !is_key, answer->columns[i].name);
        if (!is_key)
            write_html_cell(out, "th", true, is_quantile(&answer->columns[i]) ? "95 %" : "± 95 %");
    }
    fputs("</tr>\n</thead>\n<tbody>\n", out);
    for (size_t i = 0; i < answer->row_count; i++)
        write_html_row(out, answer, i);
    fputs("</tbody>\n</table>\n", out);
    for (size_t i = 0; i < json_array_size(notes); i++) {
        fputs("<p>", out);
        brume_write_escaped(out, json_string_value(json_array_get(notes, i)));
        fputs("</p>\n", out);
    }
    json_decref(notes);
    return BRUME_OK;
}

static void write_csv_head(FILE *out, const brume_query_answer *answer)
{
    for (size_t i = 0; i < answer->column_count; i++) {
        static const char *const names[] = {"low", "high", "error"};
        bool ends = is_quantile(&answer->columns[i]);
        fputs(i ? "," : "", out);
        brume_csv_write_field(out, answer->columns[i].name);
        for (size_t j = ends ? 0 : 2; !answer->columns[i].is_key && j < (ends ? 2 : 3); j++) {
            char bar[160];
            snprintf(bar, sizeof bar, "%.120s_%s_95", answer->columns[i].name, names[j]);
            fputc(',', out);
            brume_csv_write_field(out, bar);
        }
    }
    fputc('\n', out);
}

/* The two ends of a quantile's interval. */
static void write_csv_interval(FILE *out, const brume_query_answer *answer, size_t cell)
{
    const brume_value *ends = brume_query_answer_interval(answer, cell);
    for (size_t i = 0; i < 2; i++) {
        char *text = ends ? value_text(&ends[i], "", true) : NULL;
        fputc(',', out);
        brume_csv_write_field(out, text ? text : "");
        free(text);
    }
}

/* `first`: what stands before each row; NULL: nothing. */
static void write_csv_rows(FILE *out, const brume_query_answer *answer, const char *first)
{
    for (size_t cell = 0; cell < answer->row_count * answer->column_count; cell++) {
        size_t column = cell % answer->column_count;
        double error = brume_query_answer_bar(answer, cell);
        char *text = brume_cell_text(answer, cell, "", true);
        if (column == 0 && first) {
            brume_csv_write_field(out, first);
            fputc(',', out);
        }
        fputs(column ? "," : "", out);
        brume_csv_write_field(out, text ? text : "");
        free(text);
        if (is_quantile(&answer->columns[column]))
            write_csv_interval(out, answer, cell);
        else if (!answer->columns[column].is_key)
            fprintf(out, ",%s", isnan(error) ? "" : brume_shortest(error).text);
        fputs(column + 1 == answer->column_count ? "\n" : "", out);
    }
}

void brume_answer_csv(FILE *out, const brume_query_answer *answer)
{
    write_csv_head(out, answer);
    write_csv_rows(out, answer, NULL);
}

static brume_status write_json(brume_call *call, const brume_query_answer *answer,
                               brume_error *error)
{
    json_t *json = NULL;
    BRUME_TRY(brume_query_answer_to_json(answer, &json, error));
    return brume_call_write_json(call, json, error);
}

/* ---- a question of each window ---- */

/* What the answers say, each sentence once, with the first window of which it is said. */
static void write_each_notes(FILE *out, const char (*windows)[BRUME_WINDOW_LABEL],
                             const brume_query_answer *const *answers, size_t count)
{
    enum { MOST = 8 };
    json_t *seen = json_object();
    size_t written = 0;
    for (size_t i = 0; seen && i < count; i++) {
        json_t *notes = brume_query_answer_notes(answers[i]);
        for (size_t j = 0; j < json_array_size(notes); j++) {
            const char *note = json_string_value(json_array_get(notes, j));
            if (json_object_get(seen, note) || json_object_set_new(seen, note, json_true()) != 0)
                continue;
            if (written++ < MOST)
                brume_write_sentence(out, "%s: %s", windows[i], note);
        }
        json_decref(notes);
    }
    if (written > MOST)
        brume_write_sentence(out, "%zu more sentences are in --json.", written - MOST);
    json_decref(seen);
}

static brume_status write_each_table(brume_call *call, const char (*windows)[BRUME_WINDOW_LABEL],
                                     const brume_query_answer *const *answers, size_t count,
                                     bool markdown, brume_error *error)
{
    size_t width = 0, new = 0, free_ones = 0;
    bool *bars = calloc(answers[0]->column_count + 1, sizeof *bars);
    for (size_t i = 0; bars && i < count; i++)
        for (size_t column = 0; column < answers[i]->column_count; column++)
            bars[column] = bars[column] || has_bars(answers[i], column);
    char **heads = bars ? table_heads(answers[0], bars) : NULL;
    while (heads && heads[width])
        width++;
    const char **columns = calloc(width + 2, sizeof *columns);
    if (!heads || !columns) {
        free_heads(heads);
        free(bars);
        free(columns);
        return brume_no_memory(error, NULL);
    }
    columns[0] = "window";
    memcpy(columns + 1, heads, width * sizeof *columns);
    brume_table *table = brume_table_open(columns);
    for (size_t i = 0; i < count; i++) {
        new += !answers[i]->cached;
        free_ones += answers[i]->cached;
        for (size_t row = 0; row < answers[i]->row_count; row++) {
            brume_table_cell(table, "%s", windows[i]);
            write_cells(table, answers[i], bars, row);
        }
    }
    brume_status status = markdown ? brume_table_write_markdown(table, call, error)
                                   : brume_table_write(table, call, error);
    free(bars);
    free(columns);
    free_heads(heads);
    BRUME_TRY(status);
    const brume_answer_price *cost = &answers[0]->cost;
    const char *unit = cost->concentrated ? "rho" : "epsilon";
    fputc('\n', call->out);
    if (new)
        brume_write_sentence(call->out,
                             "%zu window%s paid for, each %s %s; a whole history pays it "
                             "for each of them",
                             new, new == 1 ? "" : "s", unit, few_digits(cost, true).text);
    if (free_ones)
        brume_write_sentence(call->out, "%zu window%s read again for free", free_ones,
                             free_ones == 1 ? "" : "s");
    write_each_notes(call->out, windows, answers, count);
    return BRUME_OK;
}

brume_status brume_write_each(brume_call *call, const char (*windows)[BRUME_WINDOW_LABEL],
                              const brume_query_answer *const *answers, size_t count,
                              brume_error *error)
{
    const char *format = brume_call_text(call, "format");
    bool table = !format || strcmp(format, "table") == 0;
    bool markdown = format && strcmp(format, "markdown") == 0;
    bool csv = format && strcmp(format, "csv") == 0;
    if (count == 0)
        return BRUME_OK;
    if (!call->json && (table || markdown))
        return write_each_table(call, windows, answers, count, markdown, error);
    if (!call->json && csv) {
        fputs("window,", call->out);
        write_csv_head(call->out, answers[0]);
        for (size_t i = 0; i < count; i++)
            write_csv_rows(call->out, answers[i], windows[i]);
        return BRUME_OK;
    }
    for (size_t i = 0; i < count; i++)
        BRUME_TRY(brume_write_answer(call, answers[i], error));
    return BRUME_OK;
}

brume_status brume_write_answer(brume_call *call, const brume_query_answer *answer,
                                brume_error *error)
{
    const char *format = brume_call_text(call, "format");
    if (call->json || (format && strcmp(format, "json") == 0))
        return write_json(call, answer, error);
    bool markdown = format && strcmp(format, "markdown") == 0;
    if (!format || markdown || strcmp(format, "table") == 0)
        return write_table(call, answer, markdown, error);
    if (strcmp(format, "html") == 0)
        return brume_answer_html(call->out, answer, error);
    brume_answer_csv(call->out, answer);
    return BRUME_OK;
}
