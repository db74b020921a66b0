/* A database of DuckDB in memory, locked down: what a query over files runs in.
 *
 * To open one takes longer than most queries do. So one that is done with is kept for the next
 * engine of the process, if every statement in it came to its end: then nothing of the old sources
 * is left in it, no view, no rows, and no pointer to them. One engine at a time has it. */
#ifndef BRUME_ENGINE_DUCKDB_H
#define BRUME_ENGINE_DUCKDB_H

#include "engine/duckdb_reader.h"

typedef struct brume_duckdb_instance brume_duckdb_instance;

/* Run a statement of brume's own whose result does not matter. */
bool brume_duckdb_run(duckdb_connection connection, const char *sql);

/* Pin the settings that change the meaning of SQL; nothing goes to disk. */
bool brume_duckdb_settle(duckdb_connection connection);

/* The one that is idle, or a new one. EENGINE, EMEMORY. */
BRUME_MUST_USE brume_status brume_duckdb_instance_take(brume_duckdb_instance **out,
                                                       brume_error *error);

/* Back with it, or close it: keep it only where every statement came to its end and nothing but
 * the views of the tables that were put into it was made. NULL is nothing to give back. */
void brume_duckdb_instance_give(brume_duckdb_instance *instance, bool keep);

duckdb_connection brume_duckdb_instance_connection(const brume_duckdb_instance *instance);

/* From now on brume_read_INDEX() is this table, until the instance is given back; `view` is a
 * statement that makes main.source_INDEX of it. */
BRUME_MUST_USE brume_status brume_duckdb_instance_put(brume_duckdb_instance *instance, size_t index,
                                                      brume_duckdb_table *table, const char *view,
                                                      brume_error *error);

#endif
