/* Rows of brume's own readers (reader/rows.h) as a table of DuckDB: a table function that gives the
 * wanted columns of the parts, each part on one of DuckDB's threads. */
#ifndef BRUME_ENGINE_DUCKDB_READER_H
#define BRUME_ENGINE_DUCKDB_READER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdatomic.h>

#include "engine/libduckdb.h"
#include "reader/rows.h"
#include "engine/engine.h"

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

/* Rows of a DuckDB query taken by DuckDB's own threads, where they are made.
 *
 * The query is wrapped into SELECT sum(brume_take(its columns)), and brume_take is a scalar
 * function that hands its vectors to the taker and gives 1 for each row: nothing is copied or
 * queued, and the taker's work is spread over DuckDB's threads. A function with an effect is
 * nothing that SQL promises to call once a row; so it is declared volatile, and at the end DuckDB's
 * own sum must be the number of rows taken: rows that were taken twice, or not at all, are an
 * error. */

typedef struct brume_duckdb_scan brume_duckdb_scan;

/* Register brume_take; *scan outlives the connection's database. EENGINE, EMEMORY. */
BRUME_MUST_USE brume_status brume_duckdb_scan_open(duckdb_connection connection,
                                                   brume_duckdb_scan **scan, brume_error *error);
void brume_duckdb_scan_close(brume_duckdb_scan *scan);

/* What a chunk's vectors are as columns; `texts` has room for the rows of each TEXT column. */
void brume_duckdb_columns(duckdb_data_chunk chunk, const brume_wire *wires, size_t wire_count,
                          brume_text *const *texts, brume_chunk_column *columns);

/* Run one SELECT and give all its rows to `take`, which several threads call at once. *broken says
 * that DuckDB itself failed (the caller knows the message); else the taker's error, EINTERNAL for
 * another query than a SELECT with these columns, ECANCELLED when *cancelled was set. */
BRUME_MUST_USE brume_status brume_duckdb_scan_run(brume_duckdb_scan *scan,
                                                  duckdb_connection connection, const char *sql,
                                                  const brume_wire *wires, size_t wire_count,
                                                  brume_row_taker take, void *context,
                                                  atomic_bool *cancelled, bool *broken,
                                                  brume_error *error);

#endif
