/* The files of DuckDB: how they are read, and whether they are what they were. */
#ifndef BRUME_ENGINE_DUCKDB_SOURCE_H
#define BRUME_ENGINE_DUCKDB_SOURCE_H

#include "engine/libduckdb.h"
#include "engine/duckdb.h"
#include "engine/duckdb_reader.h"
#include "engine/files.h"

typedef struct brume_duckdb_source {
    brume_files files;
    char *options; /* how the lines of text files are read, to be recorded */
    brume_duckdb_table table;
    char *number; /* of a source that is held: the name of the column that numbers its rows */
} brume_duckdb_source;

/* Make the view main.source_INDEX over files that were found; *table is what follows FROM. ESOURCE
 * unless they still are what was recorded; EARGUMENT where the declared columns do not fit. *source
 * stays where it is, and is cleared after the database is closed. */
BRUME_MUST_USE brume_status brume_duckdb_open_source(brume_duckdb_instance *instance, size_t index,
                                                     const brume_source *recorded,
                                                     brume_duckdb_source *source, char **table,
                                                     brume_error *error);

/* Copy an opened source into the table main.held_INDEX, with one more column that numbers the rows;
 * *table is then what follows FROM. *made is false where DuckDB failed, and nothing changed. */
BRUME_MUST_USE brume_status brume_duckdb_hold_source(duckdb_connection connection, size_t index,
                                                     brume_duckdb_source *source, char **table,
                                                     bool *made, brume_error *error);

void brume_duckdb_source_clear(brume_duckdb_source *source);

/* Columns, identity and options of an opened source. */
BRUME_MUST_USE brume_status brume_duckdb_describe(const brume_duckdb_source *source,
                                                  brume_description *description,
                                                  brume_error *error);

#endif
