/* The rows of a file that no ledger has, as a CSV file in memory: for releases that nobody accounts
 * for. Every row is a unit. */
#ifndef BRUME_QUERY_FILE_ROWS_H
#define BRUME_QUERY_FILE_ROWS_H

#include "query/collect/unit_rows.h"

/* Does an engine have to read it: a Parquet or JSON file? Anything else is taken as CSV. */
bool brume_file_needs_engine(const char *location);

/* Read it. Of a JSON file the named fields, as text; a Parquet file has its own columns. Close with
 * brume_rows_file_close.
 * Errors: those of brume_engine_open; EARGUMENT if no column of it can be read. */
BRUME_MUST_USE brume_status brume_file_rows(const char *location, const char *const *names,
                                            size_t name_count, brume_bits *bits,
                                            brume_rows_file *out, brume_error *error);

#endif
