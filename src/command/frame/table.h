/* Tables of text, aligned: cells in, lines out. */
#ifndef BRUME_COMMAND_TABLE_H
#define BRUME_COMMAND_TABLE_H

#include "command/command.h"

typedef struct brume_table brume_table;

/* Columns as "name" (left) or ">name" (right-aligned, for numbers), NULL ends. The last may be
 * "~name": long texts, which are broken to fit a line. */
brume_table *brume_table_open(const char *const *columns);

/* The next cell, row by row, formatted as printf does. Memory that runs out, here or before, is
 * reported when the table is written. */
void brume_table_cell(brume_table *table, const char *format, ...) BRUME_PRINTF(2, 3);

/* Write heading (bold on a terminal; none if all names are empty) and rows to call->out, and free
 * the table, also after a failure. */
BRUME_MUST_USE brume_status brume_table_write(brume_table *table, const brume_call *call,
                                              brume_error *error);
/* The same as a table of Markdown, with its line of dashes; a cell's own | is escaped. */
BRUME_MUST_USE brume_status brume_table_write_markdown(brume_table *table, const brume_call *call,
                                                       brume_error *error);

#endif
