/* An answer on the terminal or in a file: a table with notes below it, Markdown,
 * CSV, HTML, JSON. */
#include "command/query/write_answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv_write.h"
#include "command/frame/readable.h"
#include "command/frame/table.h"
#include "command/query/ask.h"
#include "command/query/write_notes.h"

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
    return status == BRUME_OK ? brume_write_notes(call, answer, error) : status;
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
