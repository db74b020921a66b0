/* Comma-separated values: read row by row, in constant memory per row; fields written.
 *
 * 1. The first line names the columns. A byte-order mark before it is skipped.
 * 2. Fields are parted by commas, rows by LF, CRLF or CR. A field in double quotes may hold commas
 * and line ends, and "" for a quote. A quote elsewhere in a field is an ordinary character; what
 *    follows a closing quote up to the comma is kept; a quote that is never closed ends with the
 * file.
 * 3. A row with too few fields has the rest missing; fields beyond the header are ignored; empty
 *    lines are skipped, but in a file of ONE column an empty line is a row whose value is missing:
 *    so it is written, and the number of rows counts. So no row can make reading fail: only an
 * unreadable file can. */
#ifndef BRUME_BASE_CSV_H
#define BRUME_BASE_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <brume/status.h>

typedef struct brume_csv brume_csv;

/* Errors: BRUME_ESOURCE if the file cannot be read, BRUME_EMEMORY. */
BRUME_MUST_USE brume_status brume_csv_open(const char *path, brume_csv **out, brume_error *error);
void brume_csv_close(brume_csv *csv);

/* Index of a column by its name; SIZE_MAX if there is none. */
size_t brume_csv_column(const brume_csv *csv, const char *name);

/* The same where there must be one: BRUME_EUNKNOWN with the nearest name as the hint. */
BRUME_MUST_USE brume_status brume_csv_find(const brume_csv *csv, const char *name, size_t *column,
                                           brume_error *error);

/* The number of columns, and a name. */
size_t brume_csv_columns(const brume_csv *csv);
const char *brume_csv_name(const brume_csv *csv, size_t column);

/* Step to the next row; *more becomes false after the last.
 * Errors: BRUME_ESOURCE if reading fails, BRUME_EMEMORY. */
BRUME_MUST_USE brume_status brume_csv_next(brume_csv *csv, bool *more, brume_error *error);

/* A field of the row: its bytes (followed by a 0), valid until the next step; NULL if missing. */
const char *brume_csv_field(const brume_csv *csv, size_t column, size_t *length);

/* A field as a number: true and *out if it is a decimal, "inf" or "infinity" with spaces around at
 * most; false for a missing, empty or other text, and for NaN. */
bool brume_csv_number(const brume_csv *csv, size_t column, double *out);

/* A field that reads back as `text`: in quotes always, or only where it needs them. */
void brume_csv_write_quoted(FILE *out, const char *text);
void brume_csv_write_field(FILE *out, const char *text);

#endif
