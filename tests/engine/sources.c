/* Files of a folder of its own, and engines over them. */
#include "sources.h"

#include "check.h"
#include "columns.h"

#include <stdlib.h>

#include <duckdb.h>

char folder[64];
brume_error error;

void write_file(const char *name, const char *text)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

void write_parquet(const char *select, const char *path)
{
    duckdb_database database;
    duckdb_connection connection;
    char sql[512];
    snprintf(sql, sizeof sql, "COPY (%s) TO '%s' (FORMAT parquet)", select, path);
    assert_int_equal(duckdb_open(NULL, &database), DuckDBSuccess);
    assert_int_equal(duckdb_connect(database, &connection), DuckDBSuccess);
    assert_int_equal(duckdb_query(connection, sql, NULL), DuckDBSuccess);
    duckdb_disconnect(&connection);
    duckdb_close(&database);
}

const char *path_of(const char *name)
{
    static char path[4][160];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

brume_engine *open_one(const char *location, const char *table)
{
    brume_source source = {.location = location, .table = table};
    brume_engine *engine = NULL;
    assert_ok(brume_engine_open(&source, 1, &engine, &error));
    return engine;
}

brume_engine *open_declared(const char *location, const char *declared)
{
    declared_columns read;
    columns_read(declared, &read);
    brume_source source = columns_source(location, &read);
    brume_engine *engine = NULL;
    assert_ok(brume_engine_open(&source, 1, &engine, &error));
    return engine;
}

brume_status sum(brume_engine *engine, const char *sql, int64_t *total, size_t *count)
{
    brume_rows *rows = NULL;
    brume_wire wire = BRUME_WIRE_INTEGER;
    brume_status status = brume_engine_select(engine, sql, &wire, 1, &rows, &error);
    if (status != BRUME_OK)
        return status;
    *total = 0;
    *count = 0;
    const brume_chunk *chunk;
    while ((status = brume_rows_next(rows, &chunk, &error)) == BRUME_OK && chunk)
        for (size_t i = 0; i < chunk->row_count; i++) {
            ++*count;
            if (!brume_chunk_is_null(&chunk->columns[0], i))
                *total += chunk->columns[0].integers[i];
        }
    brume_rows_close(rows);
    return status;
}

int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/brume-engine.XXXXXX");
    return mkdtemp(folder) ? 0 : 1;
}

int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}
