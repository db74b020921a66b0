/* Tables of text, aligned: a column is as wide as its widest cell, counted in characters of UTF-8;
 * columns are two spaces apart; no line ends in spaces. In a last column that may be broken, what
 * does not fit in BRUME_LINE goes on in further lines: in its column if there is room, else below.
 */
#include "command/frame/table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "command/frame/output.h"

enum { GAP = 2, LONG = 24, BELOW = 4 };

struct brume_table {
    const char *const *columns;
    char **heads; /* of a table of text */
    size_t column_count;
    char **cells;
    size_t cell_count, room;
    bool failed;
};

brume_table *brume_table_open(const char *const *columns)
{
    brume_table *table = calloc(1, sizeof *table);
    size_t count = 0;
    while (columns[count])
        count++;
    char **heads = calloc(count + 1, sizeof *heads);
    if (!table || !heads) {
        free(table);
        free(heads);
        return NULL;
    }
    *table = (brume_table){.columns = columns, .heads = heads, .column_count = count};
    return table;
}

static void close_table(brume_table *table)
{
    for (size_t i = 0; i < table->cell_count; i++)
        free(table->cells[i]);
    for (size_t i = 0; i < table->column_count; i++)
        free(table->heads[i]);
    free(table->heads);
    free(table->cells);
    free(table);
}

void brume_table_cell(brume_table *table, const char *format, ...)
{
    if (!table)
        return;
    if (table->cell_count == table->room) {
        size_t room = table->room ? 2 * table->room : 64;
        char **cells = realloc(table->cells, room * sizeof *cells);
        if (!cells) {
            table->failed = true;
            return;
        }
        table->cells = cells;
        table->room = room;
    }
    va_list arguments;
    va_start(arguments, format);
    char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0)
        table->failed = true;
    else
        table->cells[table->cell_count++] = text;
    va_end(arguments);
}

static const char *heading(const char *column)
{
    return column[0] == '>' || column[0] == '~' ? column + 1 : column;
}

/* One line: spaces wait until something follows them. */
typedef struct table_line {
    FILE *out;
    size_t spaces;
} table_line;

static void write_cell(table_line *line, const char *text, size_t width, bool right)
{
    size_t own = brume_text_width(text), padding = width > own ? width - own : 0;
    line->spaces += right ? padding : 0;
    if (*text) {
        fprintf(line->out, "%*s%s", (int)line->spaces, "", text);
        line->spaces = 0;
    }
    line->spaces += (right ? 0 : padding) + GAP;
}

static void end_line(table_line *line)
{
    fputc('\n', line->out);
    line->spaces = 0;
}

/* The last cell of a row, a long text. */
static void write_long(table_line *line, const char *text, size_t before)
{
    bool below = before + LONG > BRUME_LINE;
    size_t indent = below ? BELOW : before;
    if (below)
        end_line(line);
    fprintf(line->out, "%*s", (int)(below ? BELOW : line->spaces), "");
    brume_write_wrapped(line->out, text, indent, indent);
    line->spaces = 0;
}

/* Headings and cells as a terminal may show them: in a table of text nobody looks for the bytes. A
 * text that is broken into lines keeps its line ends. */
static bool make_visible(brume_table *table)
{
    size_t columns = table->column_count;
    for (size_t i = 0; i < columns; i++) {
        free(table->heads[i]);
        if (!(table->heads[i] = brume_visible_text(heading(table->columns[i]), "")))
            return false;
    }
    for (size_t i = 0; i < table->cell_count; i++) {
        bool is_broken = table->columns[i % columns][0] == '~';
        char *visible = brume_visible_text(table->cells[i], is_broken ? "\n" : "");
        if (!visible)
            return false;
        free(table->cells[i]);
        table->cells[i] = visible;
    }
    return true;
}

/* How wide each column is; is there a heading? */
static bool measure(const brume_table *table, size_t *widths)
{
    bool headed = false;
    for (size_t i = 0; i < table->column_count; i++) {
        widths[i] = brume_text_width(table->heads[i]);
        headed |= widths[i] > 0;
    }
    for (size_t i = 0; table->column_count > 0 && i < table->cell_count; i++) {
        size_t width = brume_text_width(table->cells[i]), column = i % table->column_count;
        if (width > widths[column])
            widths[column] = width;
    }
    return headed;
}

static void write_text(const brume_table *table, const brume_call *call, size_t *widths)
{
    size_t columns = table->column_count, before = 0;
    table_line line = {call->out, 0};
    bool headed = measure(table, widths);
    for (size_t i = 0; i + 1 < columns; i++)
        before += widths[i] + GAP;
    bool broken = table->columns[columns - 1][0] == '~' && widths[columns - 1] > LONG &&
                  before + widths[columns - 1] > BRUME_LINE;
    bool below = broken && before + LONG > BRUME_LINE; /* write_long: on a line of its own */
    for (size_t i = 0; headed && i < columns; i++) {
        if (below && i + 1 == columns) {
            end_line(&line);
            line.spaces = BELOW;
        }
        fputs(brume_bold(call), call->out);
        write_cell(&line, table->heads[i], widths[i], table->columns[i][0] == '>');
        fputs(brume_plain(call), call->out);
    }
    if (headed)
        end_line(&line);
    for (size_t i = 0; i < table->cell_count; i++) {
        size_t column = i % columns;
        bool last = column + 1 == columns;
        if (last && broken && *table->cells[i]) {
            write_long(&line, table->cells[i], before);
            continue;
        }
        write_cell(&line, table->cells[i], widths[column], table->columns[column][0] == '>');
        if (last)
            end_line(&line);
    }
}

brume_status brume_table_write(brume_table *table, const brume_call *call, brume_error *error)
{
    size_t *widths = table ? calloc(table->column_count + 1, sizeof *widths) : NULL;
    bool good = widths && !table->failed && table->column_count > 0 && make_visible(table);
    if (good)
        write_text(table, call, widths);
    free(widths);
    if (table)
        close_table(table);
    return good ? BRUME_OK : brume_no_memory(error, "a table");
}

static void write_markdown_cell(FILE *out, const char *text)
{
    fputs("| ", out);
    for (; *text; text++) {
        if (*text == '|' || *text == '\\')
            fputc('\\', out);
        if (*text == '\n')
            fputs("<br>", out);
        else
            fputc(*text, out);
    }
    fputc(' ', out);
}

static void write_markdown(const brume_table *table, const brume_call *call)
{
    for (size_t i = 0; i < table->column_count; i++)
        write_markdown_cell(call->out, heading(table->columns[i]));
    fputs("|\n", call->out);
    for (size_t i = 0; i < table->column_count; i++)
        fputs(table->columns[i][0] == '>' ? "|---:" : "|---", call->out);
    fputs("|\n", call->out);
    for (size_t i = 0; i < table->cell_count; i++) {
        write_markdown_cell(call->out, table->cells[i]);
        if ((i + 1) % table->column_count == 0)
            fputs("|\n", call->out);
    }
}

brume_status brume_table_write_markdown(brume_table *table, const brume_call *call,
                                        brume_error *error)
{
    bool good = table && !table->failed && table->column_count > 0;
    if (good)
        write_markdown(table, call);
    if (table)
        close_table(table);
    return good ? BRUME_OK : brume_no_memory(error, "a table");
}
