/* Rows of brume's own readers (reader/rows.h) as a table of DuckDB: a table function that gives the
 * wanted columns of the parts, each part on one of DuckDB's threads. */
#ifndef BRUME_ENGINE_DUCKDB_READER_H
#define BRUME_ENGINE_DUCKDB_READER_H

#include <pthread.h>
#include <stdbool.h>

#include "engine/libduckdb.h"

#include "reader/rows.h"

typedef struct brume_duckdb_table {
    const brume_row_format *format; /* NULL: there is no table */
    brume_row_files *files;         /* owned */
    brume_reader_column *columns;   /* owned, with their names */
    size_t column_count;
    pthread_mutex_t lock; /* guards the three below */
    bool failed;          /* a part failed: */
    brume_status status;
    brume_error error;
} brume_duckdb_table;

/* Make the function `name`, without arguments, over a table whose first five fields are set. Its
 * columns are called "1", "2" and so on; "0" is nobody's, and there for DuckDB to count rows by.
 * `place` outlives the database; *place is the table while a query runs, else it may be NULL.
 * EENGINE, EMEMORY. */
BRUME_MUST_USE brume_status brume_duckdb_table_make(duckdb_connection connection, const char *name,
                                                    brume_duckdb_table **place, brume_error *error);

/* Why the last query over the table failed, if reading did; BRUME_OK otherwise. Asked once: then it
 * is forgotten. */
BRUME_MUST_USE brume_status brume_duckdb_table_failure(brume_duckdb_table *table,
                                                       brume_error *error);

void brume_duckdb_table_clear(brume_duckdb_table *table);

#endif
