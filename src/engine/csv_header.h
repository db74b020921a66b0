/* The beginning of a CSV: does its header line still name the columns that were recorded? */
#ifndef BRUME_ENGINE_CSV_HEADER_H
#define BRUME_ENGINE_CSV_HEADER_H

#include "engine/engine.h"

/* ESOURCE unless the first line of the file at `path` (plain or gzip) names the columns that
 * `recorded` has, in their order, under the dialect of `options` (see duckdb.c). A dialect without
 * a header line: nothing to check. No message quotes the file; it is called `named`. */
BRUME_MUST_USE brume_status brume_csv_check_header(const char *path, const char *options,
                                                   const brume_source *recorded, const char *named,
                                                   brume_error *error);

/* Of the rows in the first 2^20 bytes, how many have `columns` fields and how many have not; both
 * are added to. Comments, and the empty lines of a file with several columns, are no rows. For
 * registration, where the owner looks at the data. */
BRUME_MUST_USE brume_status brume_csv_count_rows(const char *path, const char *options,
                                                 size_t columns, size_t *fitting, size_t *others,
                                                 brume_error *error);

/* No '"' is in the first 2^20 bytes. For registration, where the dialect is found out. */
bool brume_csv_starts_without_quotes(const char *path);

/* The file is plain text without the quote of the dialect: then every end of a line ends a row, and
 * several threads read the same rows as one. False also where that cannot be said. */
bool brume_csv_has_no_quotes(const char *path, const char *options);

#endif
