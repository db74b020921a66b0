/* A CSV with a header, row by row as texts: for statistics that read one file once.
 *
 * Lines and fields are those of every reader (reader/rows.h, reader/csv_line.h): every line is a
 * row, and what cannot be read is missing. So no row can make reading fail: only an unreadable file
 * can. */
#ifndef BRUME_READER_CSV_ROWS_H
#define BRUME_READER_CSV_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "reader/format.h"

typedef struct brume_csv brume_csv;

/* Open a file with a header, also a pipe or a terminal, which is read to its end at once. `format`
 * NULL: the defaults of the name. Errors: BRUME_ESOURCE if the file or its header cannot be read,
 * BRUME_EMEMORY. */
BRUME_MUST_USE brume_status brume_csv_open(const char *path, const brume_text_format *format,
                                           brume_csv **out, brume_error *error);
void brume_csv_close(brume_csv *csv);

/* Index of a column by its name; SIZE_MAX if there is none. */
size_t brume_csv_column(const brume_csv *csv, const char *name);

/* The same where there must be one: BRUME_EUNKNOWN with the nearest name as the hint. */
BRUME_MUST_USE brume_status brume_csv_find(const brume_csv *csv, const char *name, size_t *column,
                                           brume_error *error);

/* The number of columns. */
size_t brume_csv_columns(const brume_csv *csv);

/* Step to the next row; *more becomes false after the last.
 * Errors: BRUME_ESOURCE if reading fails, BRUME_EMEMORY. */
BRUME_MUST_USE brume_status brume_csv_next(brume_csv *csv, bool *more, brume_error *error);

/* A field of the row: its bytes (followed by a 0), valid until the next step; NULL if missing. */
const char *brume_csv_field(const brume_csv *csv, size_t column, size_t *length);

/* A field as a number (reader/value.h): false, and *out is untouched, if it is missing or none. */
bool brume_csv_number(const brume_csv *csv, size_t column, double *out);

#endif
