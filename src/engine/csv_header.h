/* The beginning of a CSV: does its header line still name the columns that were recorded? */
#ifndef BRUME_ENGINE_CSV_HEADER_H
#define BRUME_ENGINE_CSV_HEADER_H

#include "engine/engine.h"

/* ESOURCE unless the first line of the file at `path` (plain or gzip) names the columns that
 * `recorded` has, in their order, under the dialect of `options` (see duckdb.c). A dialect without
 * a header line: nothing to check. No message quotes the file. */
BRUME_MUST_USE brume_status brume_csv_check_header(const char *path, const char *options,
                                                   const brume_source *recorded,
                                                   brume_error *error);

/* No '"' is in the first 2^20 bytes. For registration, where the dialect is found out. */
bool brume_csv_starts_without_quotes(const char *path);

#endif
