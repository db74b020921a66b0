/* The rows of Parquet files as text, for tests: one line a row, fields parted by tabs. NULL is \N;
 * booleans are true and false, decimals have all their decimals, doubles are printed as %.17g,
 * dates are days and timestamps microseconds since 1970-01-01. */
#ifndef BRUME_TESTS_PARQUET_TEXT_H
#define BRUME_TESTS_PARQUET_TEXT_H

#include <brume/status.h>

#include "reader/parquet/parquet.h"

/* Of all columns that are not refused, in order; of several threads' parts one after the other.
 * *text is the caller's to free. */
BRUME_MUST_USE brume_status parquet_text(const char *const *paths, size_t count, char **text,
                                         size_t *length, brume_error *error);

/* The columns: "name native type", one a line. */
char *parquet_columns_text(const brume_row_files *files);

#endif
