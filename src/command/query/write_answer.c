/* An answer on the terminal or in a file: a table with notes below it, Markdown,
 * CSV, HTML, JSON. */
#include "command/query/write_answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv_write.h"
#include "command/frame/readable.h"
#include "command/frame/table.h"
#include "command/frame/wrap.h"
#include "command/query/ask.h"

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

/* The heads of the table, NULL at the end: a value is followed by its error bar. */
static char **table_heads(const brume_query_answer *answer)
{
    size_t used = 0;
    char **heads = calloc(2 * answer->column_count + 1, sizeof *heads);
    for (size_t i = 0; heads && i < answer->column_count; i++) {
        const brume_answer_column *column = &answer->columns[i];
        size_t size = strlen(column->name) + 2;
        if ((heads[used] = malloc(size)))
            snprintf(heads[used++], size, "%s%s", column->is_key ? "" : ">", column->name);
        if (has_bars(answer, i))
            heads[used++] = strdup(">± 95 %");
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
            brume_table_cell(table, "%s %s", said[i].word, brume_rounded_up(said[i].number).text);
            return;
        }
    brume_table_cell(table, "%s", "");
}

static bool is_whole(const brume_value *value)
{
    return value->number == floor(value->number) && fabs(value->number) < 0x1p53;
}

char *brume_value_text(const brume_value *value, const char *null, bool exactly)
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

/* A number and its error bar, in the same decimals. */
static void write_number(brume_table *table, double value, double error)
{
    bool whole = value == floor(value) && error == floor(error);
    brume_readable shown = brume_value_and_error(value + 0.0, error, whole); /* there is no -0 */
    brume_table_cell(table, "%s", shown.value.text);
    brume_table_cell(table, "%s", shown.error.text);
}

static void write_cells(brume_table *table, const brume_query_answer *answer, size_t row)
{
    for (size_t i = 0; i < answer->column_count; i++) {
        size_t cell = row * answer->column_count + i;
        const brume_value *value = &answer->values[cell];
        double error = brume_query_answer_bar(answer, cell);
        bool is_key = answer->columns[i].is_key, barred = !is_key && !isnan(error);
        if (barred && value->kind == BRUME_VALUE_NUMBER && isfinite(value->number)) {
            write_number(table, value->number, error);
            continue;
        }
        char *text = brume_value_text(value, "NULL", false);
        brume_table_cell(table, "%s", text ? text : "");
        free(text);
        if (barred)
            brume_table_cell(table, "%s", brume_rounded_up(error).text);
        else if (has_bars(answer, i))
            write_statement(table, &answer->columns[i]);
    }
}

/* ---- notes below it ---- */

/* " (cut: 1.5 %": how many of the units, in per cent; nothing where there is no estimate. */
static const char *write_percent(FILE *out, const char *open, const char *word, double some,
                                 double units)
{
    if (isnan(some))
        return open;
    fprintf(out, "%s%s: %.1f %%", open, word, units >= 1 ? 100 * fmin(1, some / units) : 0);
    return ", ";
}

/* Which values limits or bounds may move and, where the owner allows it, how many units that
 * concerns. */
static void write_bias(FILE *out, const brume_query_answer *answer)
{
    const char *between = "\nmay be biased by limits and bounds: ";
    for (size_t i = 0; i < answer->column_count; i++) {
        const brume_answer_column *column = &answer->columns[i];
        const brume_answer_bias *bias = &column->bias;
        if (!column->biased)
            continue;
        fprintf(out, "%s%s", between, column->name);
        between = ", ";
        if (isnan(bias->units))
            continue;
        const char *open = write_percent(out, " (", "cut", bias->cut, bias->units);
        write_percent(out, open, "clamped", bias->clamped, bias->units);
        fprintf(out, " of about %.0f units, ± %s)", bias->units,
                brume_rounded_up(bias->error_95).text);
    }
}

/* MIN and MAX are answered as quantiles. */
static void write_extremes(FILE *out, const brume_query_answer *answer)
{
    const char *before = "\na minimum or maximum is one person's value, so a quantile is shown: ";
    for (size_t i = 0; i < answer->column_count; i++) {
        const brume_answer_column *column = &answer->columns[i];
        if (column->is_key || isnan(column->quantile))
            continue;
        fprintf(out, "%s%s: %s", before, column->name, brume_shortest(column->quantile).text);
        before = ", ";
    }
}

/* "total: no limit was found ..." */
static void write_not_found(FILE *out, const brume_answer_column *column)
{
    fprintf(out,
            "\n%s: no limit on what one unit adds was found, because there are too few units for "
            "this price",
            column->name);
    if (isnan(column->limit))
        fputs(", so there is no value", out);
    else
        fprintf(out, "; %s is used, and what was cut is not known",
                brume_shortest(column->limit).text);
    fputs("; pay more, or type --limit", out);
}

/* "; up to 52 units may have more, which the bar does not cover" */
static void write_hidden(FILE *out, const brume_answer_column *column)
{
    if (column->cut_hidden > 0)
        fprintf(out, "; up to %.0f unit%s may have %s, which the bar does not cover",
                column->cut_hidden, column->cut_hidden == 1 ? "" : "s",
                column->cut_allowance > 0 ? "far more" : "more");
}

/* Arithmetic on aggregates, which may have several limits. */
static void write_cut(FILE *out, const brume_answer_column *column)
{
    if (column->cut_not_known)
        fprintf(out,
                "\n%s: how much limits cut of it cannot be told at this price, so there is no bar: "
                "pay more, or type --limit",
                column->name);
    else if (column->cut_allowance > 0)
        fprintf(out, "\n%s: by estimate limits moved it by up to %s, which the bar allows for",
                column->name, brume_rounded_up(column->cut_allowance).text);
    else if (column->cut_hidden > 0)
        fprintf(out, "\n%s: it is under a limit", column->name);
    write_hidden(out, column);
}

/* The limits, and what was cut by them. */
static void write_limits(FILE *out, const brume_query_answer *answer)
{
    for (size_t i = 0; i < answer->column_count; i++) {
        const brume_answer_column *column = &answer->columns[i];
        if (column->limit_not_found)
            write_not_found(out, column);
        else if (!column->is_key && isnan(column->limit))
            write_cut(out, column);
        if (column->is_key || column->limit_not_found || isnan(column->limit))
            continue;
        bool selects = !isnan(column->rank_error_95) || !isnan(column->count_error_95);
        fprintf(out, "\n%s: %s %s%s", column->name,
                !isnan(column->gap_95) ? "each unit votes for"
                : selects              ? "the rows of one unit count as at most"
                                       : "one unit adds at most",
                brume_shortest(column->limit).text,
                isnan(column->gap_95) ? ""
                : column->limit == 1  ? " value, chosen at random among its own"
                                      : " values at most, chosen at random among its own");
        if (column->cut_not_known)
            fputs("; how much some have beyond that cannot be told at this price, so there is no "
                  "bar: pay more, or type --limit",
                  out);
        if (column->cut_allowance > 0)
            fprintf(out, "; by estimate some had %s more together, which the bar allows for",
                    brume_rounded_up(column->cut_allowance).text);
        write_hidden(out, column);
    }
}

static void write_price(FILE *out, const brume_query_answer *answer)
{
    const brume_answer_price *cost = &answer->cost, *left = &answer->remaining;
    const char *unit = cost->concentrated ? "rho" : "epsilon";
    fprintf(out, "%s %s %s", answer->cached ? "read again for free (it cost" : "cost", unit,
            brume_shortest(cost->amount).text);
    if (cost->delta > 0)
        fprintf(out, ", delta %s%s", brume_rounded_up(cost->delta).text,
                answer->delta_by_default ? " by default" : "");
    fputs(answer->cached ? ")" : "", out);
    fprintf(out, "; left: %s %s", unit, brume_shortest(left->amount).text);
    if (left->delta > 0)
        fprintf(out, ", delta %s", brume_digits_down(left->delta, 4).text);
}

static void write_threshold(FILE *out, const brume_query_answer *answer)
{
    size_t near = 0;
    for (size_t i = 0; answer->near && i < answer->row_count; i++)
        near += answer->near[i];
    double groups = NAN;
    for (size_t i = 0; i < answer->column_count; i++)
        groups = answer->columns[i].is_key ? answer->columns[i].limit : groups;
    if (answer->threshold >= 0)
        fprintf(out, "\ngroups with fewer than about %lld units are not shown",
                (long long)answer->threshold);
    if (answer->threshold >= 0 && !isnan(groups))
        fprintf(out, "; for that each unit counts in %.0f of its groups", groups);
    if (near)
        fprintf(out,
                "; of those shown %zu %s hardly larger: counts there are more often too large than "
                "too small",
                near, near == 1 ? "is" : "are");
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
        fprintf(out, "\nfirst: %s: ", json_string_value(json_object_get(one, "sql")));
        if (json_is_number(value))
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

/* What it cost and what is to be kept in mind, below the table: a line each, wrapped. */
static brume_status write_notes(const brume_call *call, const brume_query_answer *answer,
                                brume_error *error)
{
    char *text = NULL;
    size_t length = 0;
    FILE *notes = open_memstream(&text, &length);
    if (!notes)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    if (answer->is_public)
        fputs("public tables only: exact, and free of charge", notes);
    else if (answer->is_dummy)
        fputs("dummy: a table made from the policy, not the data; nothing was spent", notes);
    else
        write_price(notes, answer);
    write_stages(notes, answer->stages);
    write_threshold(notes, answer);
    write_extremes(notes, answer);
    write_limits(notes, answer);
    write_bias(notes, answer);
    for (size_t i = 0; i < json_array_size(answer->warnings); i++)
        fprintf(notes, "\nwarning: %s", json_string_value(json_array_get(answer->warnings, i)));
    if (fclose(notes) != 0) {
        free(text);
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    }
    fprintf(call->out, "\n%s", brume_dim(call));
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n"));)
        brume_write_sentence(call->out, "%s", line);
    fputs(brume_plain(call), call->out);
    free(text);
    return BRUME_OK;
}

static brume_status write_table(brume_call *call, const brume_query_answer *answer, bool markdown,
                                brume_error *error)
{
    brume_table *table = NULL;
    char **heads = table_heads(answer);
    brume_status status = heads ? brume_table_open((const char *const *)heads, &table, error)
                                : brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    for (size_t i = 0; status == BRUME_OK && i < answer->row_count; i++)
        write_cells(table, answer, i);
    if (status == BRUME_OK)
        status = markdown ? brume_table_write_markdown(table, call, error)
                          : brume_table_write(table, call, error);
    brume_table_close(table);
    free_heads(heads);
    if (status == BRUME_OK && answer->row_count == 0)
        fprintf(call->out,
                answer->threshold < 0 ? "(no rows)\n" : "(no group passed the threshold)\n");
    return status == BRUME_OK ? write_notes(call, answer, error) : status;
}

/* ---- formats for programs ---- */

static void write_html_cell(FILE *out, const char *tag, const char *text)
{
    fprintf(out, "<%s>", tag);
    for (; *text; text++)
        switch (*text) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        default:
            fputc(*text, out);
        }
    fprintf(out, "</%s>", tag);
}

typedef enum grid_format { GRID_CSV, GRID_HTML } grid_format;

static void write_grid_cell(FILE *out, grid_format format, bool head, bool first, const char *text)
{
    if (format == GRID_HTML) {
        write_html_cell(out, head ? "th" : "td", text);
        return;
    }
    if (!first)
        fputc(',', out);
    brume_csv_write_field(out, text);
}

/* Values with full precision, each value column followed by its error bar, that of tables: the
 * noise alone would look like all of the error in a file that is passed on. */
static void write_grid_row(FILE *out, grid_format format, const brume_query_answer *answer,
                           size_t row)
{
    fputs(format == GRID_HTML ? "<tr>" : "", out);
    for (size_t i = 0; i < answer->column_count; i++) {
        size_t cell = row * answer->column_count + i;
        char *text = brume_value_text(&answer->values[cell], "", true);
        write_grid_cell(out, format, false, i == 0, text ? text : "");
        free(text);
        if (answer->columns[i].is_key)
            continue;
        double error = brume_query_answer_bar(answer, cell);
        write_grid_cell(out, format, false, false, isnan(error) ? "" : brume_shortest(error).text);
    }
    fputs(format == GRID_HTML ? "</tr>\n" : "\n", out);
}

static void write_grid_head(FILE *out, grid_format format, const brume_query_answer *answer)
{
    fputs(format == GRID_HTML ? "<tr>" : "", out);
    for (size_t i = 0; i < answer->column_count; i++) {
        char bar[160];
        write_grid_cell(out, format, true, i == 0, answer->columns[i].name);
        snprintf(bar, sizeof bar, "%.120s_error_95", answer->columns[i].name);
        if (!answer->columns[i].is_key)
            write_grid_cell(out, format, true, false, bar);
    }
    fputs(format == GRID_HTML ? "</tr>\n" : "\n", out);
}

static void write_grid(const brume_call *call, grid_format format, const brume_query_answer *answer)
{
    if (format == GRID_HTML)
        fputs("<table>\n", call->out);
    write_grid_head(call->out, format, answer);
    for (size_t i = 0; i < answer->row_count; i++)
        write_grid_row(call->out, format, answer, i);
    if (format == GRID_HTML)
        fputs("</table>\n", call->out);
}

static brume_status write_json(brume_call *call, const brume_query_answer *answer,
                               brume_error *error)
{
    json_t *json = NULL;
    BRUME_TRY(brume_query_answer_to_json(answer, &json, error));
    return brume_call_write_json(call, json, error);
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
    write_grid(call, strcmp(format, "html") == 0 ? GRID_HTML : GRID_CSV, answer);
    return BRUME_OK;
}
