/* Tables of text, aligned: a column is as wide as its widest cell, counted in characters of UTF-8;
 * columns are two spaces apart; no line ends in spaces. */
#include "cli/table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { GAP = 2 };

struct brume_table {
    const char *const *columns;
    size_t column_count;
    char **cells;
    size_t cell_count, room;
    bool failed;
};

brume_status brume_table_open(const char *const *columns, brume_table **out, brume_error *error)
{
    brume_table *table = calloc(1, sizeof *table);
    if (!table)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory for a table");
    table->columns = columns;
    while (columns[table->column_count])
        table->column_count++;
    *out = table;
    return BRUME_OK;
}

void brume_table_close(brume_table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->cell_count; i++)
        free(table->cells[i]);
    free(table->cells);
    free(table);
}

void brume_table_cell(brume_table *table, const char *format, ...)
{
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

/* Characters, not bytes: continuation bytes of UTF-8 do not count. */
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

static const char *heading(const char *column)
{
    return column[0] == '>' ? column + 1 : column;
}

static void write_cell(FILE *out, const char *text, size_t width, bool right, bool last)
{
    size_t padding = width > width_of(text) ? width - width_of(text) : 0;
    if (right)
        fprintf(out, "%*s", (int)padding, "");
    fputs(text, out);
    if (!last)
        fprintf(out, "%*s", (int)((right ? 0 : padding) + GAP), "");
}

brume_status brume_table_write(brume_table *table, const brume_call *call, brume_error *error)
{
    size_t columns = table->column_count;
    size_t *widths = calloc(columns + 1, sizeof *widths);
    if (!widths || table->failed || columns == 0) {
        free(widths);
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory for a table");
    }
    bool headed = false;
    for (size_t i = 0; i < columns; i++) {
        widths[i] = width_of(heading(table->columns[i]));
        headed |= widths[i] > 0;
    }
    for (size_t i = 0; i < table->cell_count; i++) {
        size_t width = width_of(table->cells[i]);
        if (width > widths[i % columns])
            widths[i % columns] = width;
    }
    for (size_t i = 0; headed && i < columns; i++) {
        fputs(brume_bold(call), call->out);
        write_cell(call->out, heading(table->columns[i]), widths[i], table->columns[i][0] == '>',
                   i + 1 == columns);
        fputs(brume_plain(call), call->out);
    }
    if (headed)
        fputc('\n', call->out);
    for (size_t i = 0; i < table->cell_count; i++) {
        size_t column = i % columns;
        bool last = column + 1 == columns;
        write_cell(call->out, table->cells[i], widths[column], table->columns[column][0] == '>',
                   last);
        if (last)
            fputc('\n', call->out);
    }
    free(widths);
    return BRUME_OK;
}
