/* DuckDB in process: CSV, Parquet and JSON files.
 *
 * The database is locked down (duckdb_instance.c), and each source becomes a view in it. After that
 * only a prepared statement that DuckDB itself calls a SELECT is executed. How files are read is in
 * duckdb_source.c. */
#include "engine/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/libduckdb.h"

#include "base/error.h"
#include "engine/duckdb_instance.h"
#include "engine/duckdb_source.h"

typedef struct duckdb_state_of_engine {
    brume_duckdb_instance *instance;
    duckdb_connection connection; /* the instance's */
    brume_duckdb_source *sources;
    size_t source_count;
    size_t unfinished; /* statements that did not come to their end */
    bool held;         /* there are copies of sources */
} engine_state;

typedef struct duckdb_state_of_rows {
    duckdb_prepared_statement statement;
    duckdb_pending_result pending;
    duckdb_result result;
    bool has_result;
    duckdb_data_chunk chunk;
    brume_text **texts; /* per TEXT column, of chunk size */
} rows_state;

/* ---- open ---- */

static brume_status duckdb_driver_open(brume_engine *engine, const brume_source *sources,
                                       size_t count, brume_error *error)
{
    engine_state *state = calloc(1, sizeof *state);
    if (!state)
        return brume_no_memory(error, NULL);
    engine->state = state;
    state->sources = calloc(count, sizeof *state->sources);
    if (!state->sources)
        return brume_no_memory(error, NULL);
    state->source_count = count;
    for (size_t i = 0; i < count; i++)
        BRUME_TRY(brume_files_find(sources[i].location, &state->sources[i].files, error));
    BRUME_TRY(brume_duckdb_instance_take(&state->instance, error));
    state->connection = brume_duckdb_instance_connection(state->instance);
    state->unfinished = 1;
    for (size_t i = 0; i < count; i++)
        BRUME_TRY(brume_duckdb_open_source(state->instance, i, &sources[i], &state->sources[i],
                                           &engine->tables[i], error));
    state->unfinished = 0;
    return BRUME_OK;
}

static void duckdb_driver_close(brume_engine *engine)
{
    engine_state *state = engine->state;
    if (!state)
        return;
    bool sound = state->unfinished == 0 && !state->held && !atomic_load(&engine->cancelled);
    brume_duckdb_instance_give(state->instance, sound);
    for (size_t i = 0; i < state->source_count; i++)
        brume_duckdb_source_clear(&state->sources[i]);
    free(state->sources);
    free(state);
    engine->state = NULL;
}

/* ---- describe ---- */

static brume_status duckdb_driver_marks(brume_engine *engine, size_t index, bool contents,
                                        brume_marks *marks, brume_error *error)
{
    const engine_state *state = engine->state;
    const brume_duckdb_source *source = &state->sources[index];
    const brume_duckdb_table *table = &source->table;
    if (!contents)
        return brume_files_mark(&source->files, NULL, marks, error);
    /* A file without rows is no copy of another one: else what an owner may register would tell
     * that there are none. */
    brume_status status = BRUME_OK;
    bool *has_rows = calloc(source->files.count + 1, sizeof *has_rows);
    if (!has_rows)
        return brume_no_memory(error, NULL);
    for (size_t i = 0; status == BRUME_OK && i < source->files.count; i++)
        status = brume_file_has_rows(table->format, table->files, i, &has_rows[i], error);
    if (status == BRUME_OK)
        status = brume_files_mark(&source->files, has_rows, marks, error);
    free(has_rows);
    return status;
}

static brume_status duckdb_driver_describe(brume_engine *engine, size_t index,
                                           brume_description *description, brume_error *error)
{
    const engine_state *state = engine->state;
    return brume_duckdb_describe(&state->sources[index], description, error);
}

static brume_status engine_failed(const engine_state *state, brume_error *error)
{
    for (size_t i = 0; i < state->source_count; i++)
        BRUME_TRY(brume_duckdb_table_failure(&state->sources[i].table, error));
    for (size_t i = 0; i < state->source_count; i++)
        for (size_t j = 0; j < state->sources[i].files.count; j++)
            if (access(state->sources[i].files.paths[j], R_OK) != 0)
                return brume_fail(error, BRUME_ESOURCE, "put the file back and ask again",
                                  "the file '%s' is gone or may not be read any more",
                                  state->sources[i].files.location);
    return brume_fail(error, BRUME_EENGINE,
                      "check that the source is whole, and that there is memory",
                      "DuckDB failed while it ran the query");
}

static brume_status duckdb_driver_hold(brume_engine *engine, size_t index, const char **number,
                                       brume_error *error)
{
    engine_state *state = engine->state;
    bool made = false;
    state->held = true;
    BRUME_TRY(brume_duckdb_hold_source(state->connection, index, &state->sources[index],
                                       &engine->tables[index], &made, error));
    *number = state->sources[index].number;
    return made ? BRUME_OK : engine_failed(state, error);
}

/* ---- rows ---- */

static brume_status duckdb_driver_select(brume_engine *engine, const char *sql, brume_rows *rows,
                                         brume_error *error)
{
    static const duckdb_type travels[] = {[BRUME_WIRE_INTEGER] = DUCKDB_TYPE_BIGINT,
                                          [BRUME_WIRE_REAL] = DUCKDB_TYPE_DOUBLE,
                                          [BRUME_WIRE_TEXT] = DUCKDB_TYPE_VARCHAR};
    engine_state *state = engine->state;
    rows_state *own = calloc(1, sizeof *own);
    if (!own)
        return brume_no_memory(error, NULL);
    rows->state = own;
    state->unfinished++;
    own->texts = calloc(rows->wire_count, sizeof *own->texts);
    if (!own->texts)
        return brume_no_memory(error, NULL);
    for (size_t i = 0; i < rows->wire_count; i++)
        if (rows->wires[i] == BRUME_WIRE_TEXT) {
            own->texts[i] = calloc(duckdb_vector_size(), sizeof **own->texts);
            if (!own->texts[i])
                return brume_no_memory(error, NULL);
        }
    duckdb_extracted_statements statements;
    idx_t statement_count = duckdb_extract_statements(state->connection, sql, &statements);
    bool prepared = statement_count == 1 &&
                    duckdb_prepare_extracted_statement(state->connection, statements, 0,
                                                       &own->statement) == DuckDBSuccess;
    duckdb_destroy_extracted(&statements);
    /* none: it cannot be read, which the engine says */
    if (statement_count > 1 || (prepared && duckdb_prepared_statement_type(own->statement) !=
                                                DUCKDB_STATEMENT_TYPE_SELECT))
        return brume_fail(error, BRUME_EINTERNAL, NULL, "only a single SELECT may run");
    if (!prepared)
        return engine_failed(state, error);
    if (duckdb_pending_prepared_streaming(own->statement, &own->pending) != DuckDBSuccess)
        return engine_failed(state, error);
    if (duckdb_execute_pending(own->pending, &own->result) != DuckDBSuccess) {
        duckdb_destroy_result(&own->result);
        return engine_failed(state, error);
    }
    own->has_result = true;
    if (duckdb_column_count(&own->result) != rows->wire_count)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "the result has other columns");
    for (size_t i = 0; i < rows->wire_count; i++)
        if (duckdb_column_type(&own->result, i) != travels[rows->wires[i]])
            return brume_fail(error, BRUME_EINTERNAL, NULL, "result column %zu has another type",
                              i + 1);
    return BRUME_OK;
}

static brume_status duckdb_driver_next(brume_rows *rows, brume_error *error)
{
    rows_state *own = rows->state;
    if (own->chunk)
        duckdb_destroy_data_chunk(&own->chunk);
    own->chunk = duckdb_fetch_chunk(own->result);
    if (!own->chunk) {
        /* The end, unless the stream broke: then the result has an error. */
        const char *broken = duckdb_result_error(&own->result);
        if (broken && *broken)
            return engine_failed(rows->engine->state, error);
        ((engine_state *)rows->engine->state)->unfinished--;
        rows->chunk.row_count = 0;
        return BRUME_OK;
    }
    size_t count = duckdb_data_chunk_get_size(own->chunk);
    brume_duckdb_columns(own->chunk, rows->wires, rows->wire_count, own->texts, rows->columns);
    rows->chunk.row_count = count;
    return count > 0 ? BRUME_OK : duckdb_driver_next(rows, error);
}

static void duckdb_driver_finish(brume_rows *rows)
{
    rows_state *own = rows->state;
    if (!own)
        return;
    if (own->chunk)
        duckdb_destroy_data_chunk(&own->chunk);
    if (own->has_result)
        duckdb_destroy_result(&own->result);
    if (own->pending)
        duckdb_destroy_pending(&own->pending);
    if (own->statement)
        duckdb_destroy_prepare(&own->statement);
    for (size_t i = 0; own->texts && i < rows->wire_count; i++)
        free(own->texts[i]);
    free(own->texts);
    free(own);
}

static brume_status duckdb_driver_scan(brume_engine *engine, const char *sql,
                                       const brume_wire *wires, size_t wire_count,
                                       brume_row_taker take, void *context, brume_error *error)
{
    engine_state *state = engine->state;
    brume_duckdb_scan *scan = NULL;
    bool broken = false;
    BRUME_TRY(brume_duckdb_instance_scan(state->instance, &scan, error));
    state->unfinished++;
    BRUME_TRY(brume_duckdb_scan_run(scan, state->connection, sql, wires, wire_count, take, context,
                                    &engine->cancelled, &broken, error));
    if (broken)
        return engine_failed(state, error);
    state->unfinished--;
    return BRUME_OK;
}

static void duckdb_driver_cancel(brume_engine *engine)
{
    engine_state *state = engine->state;
    duckdb_interrupt(state->connection);
}

const brume_driver brume_driver_duckdb = {
    .dialect = BRUME_DIALECT_DUCKDB,
    .open = duckdb_driver_open,
    .close = duckdb_driver_close,
    .hold = duckdb_driver_hold,
    .describe = duckdb_driver_describe,
    .marks = duckdb_driver_marks,
    .select = duckdb_driver_select,
    .next = duckdb_driver_next,
    .finish = duckdb_driver_finish,
    .scan = duckdb_driver_scan,
    .cancel = duckdb_driver_cancel,
};
