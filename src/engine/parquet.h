/* Writing a Parquet file, by DuckDB. */
#ifndef BRUME_ENGINE_PARQUET_H
#define BRUME_ENGINE_PARQUET_H

#include <stddef.h>

#include <brume/status.h>

typedef enum brume_parquet_type {
    BRUME_PARQUET_TEXT,
    BRUME_PARQUET_INTEGER,
    BRUME_PARQUET_REAL,
} brume_parquet_type;

/* Write the rows of a CSV file, whose first line names the columns and in which an empty field is
 * NULL, as a Parquet file of these columns and types. What is at `path` is replaced.
 * BRUME_EENGINE if DuckDB fails, BRUME_EMEMORY. */
BRUME_MUST_USE brume_status brume_parquet_write(const char *csv, const char *const *names,
                                                const brume_parquet_type *types, size_t count,
                                                const char *path, brume_error *error);

#endif
