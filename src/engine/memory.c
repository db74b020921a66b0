/* A DuckDB that has nothing but the tables that are put into it: see the header. */
#include "engine/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/error.h"
#include "base/text.h"
#include "engine/duckdb.h"
#include "engine/libduckdb.h"

struct brume_memory {
    duckdb_database database;
    duckdb_connection connection;
    bool (*stopped)(void *context);
    void *context;
};

double brume_memory_clock(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Insertion order counts: a table without ORDER BY is shown as its inner queries were. */
static bool lock_down(duckdb_connection connection)
{
    static const char *const settings[] = {
        "SET threads = 1",
        "SET memory_limit = '512MB'",
        "SET preserve_insertion_order = true",
        "SET enable_external_access = false",
        "SET lock_configuration = true",
    };
    if (!brume_duckdb_settle(connection))
        return false;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (!brume_duckdb_run(connection, settings[i]))
            return false;
    return true;
}

brume_status brume_memory_open(bool (*stopped)(void *context), void *context, brume_memory **out,
                               brume_error *error)
{
    BRUME_TRY(brume_libduckdb_load(error));
    brume_memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        return brume_no_memory(error, NULL);
    memory->stopped = stopped;
    memory->context = context;
    if (duckdb_open(NULL, &memory->database) != DuckDBSuccess ||
        duckdb_connect(memory->database, &memory->connection) != DuckDBSuccess ||
        !lock_down(memory->connection)) {
        brume_memory_close(memory);
        return brume_fail(error, BRUME_EENGINE, NULL, "DuckDB cannot be started");
    }
    *out = memory;
    return BRUME_OK;
}

void brume_memory_close(brume_memory *memory)
{
    if (!memory)
        return;
    if (memory->connection)
        duckdb_disconnect(&memory->connection);
    if (memory->database)
        duckdb_close(&memory->database);
    free(memory);
}

/* ---- tables ---- */

static void put_name(FILE *out, const char *name)
{
    fputc('"', out);
    for (; *name; name++)
        fputs(*name == '"' ? "\"\"" : (char[]){*name, 0}, out);
    fputc('"', out);
}

static const char *type_word(brume_type type, char room[BRUME_TYPE_NAME_SIZE])
{
    switch (type.kind) {
    case BRUME_TYPE_TEXT:
    case BRUME_TYPE_REFUSED:
        return "VARCHAR";
    default:
        return brume_type_name(type, room);
    }
}

brume_status brume_memory_table(brume_memory *memory, const char *name,
                                const brume_memory_column *columns, size_t count,
                                brume_error *error)
{
    char *sql = NULL, room[BRUME_TYPE_NAME_SIZE];
    size_t length = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcasecmp(columns[i].name, columns[j].name) == 0)
                return brume_fail(error, BRUME_EUNSUPPORTED, "give one of them another name by AS",
                                  "an inner query has two columns of the name '%.60s'",
                                  columns[i].name);
    FILE *out = open_memstream(&sql, &length);
    if (!out)
        return brume_no_memory(error, NULL);
    fputs("CREATE TABLE ", out);
    put_name(out, name);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ", " : " (", out);
        put_name(out, columns[i].name);
        fprintf(out, " %s", type_word(columns[i].type, room));
    }
    fputs(")", out);
    bool made = fclose(out) == 0 && brume_duckdb_run(memory->connection, sql);
    free(sql);
    return made ? BRUME_OK
                : brume_fail(error, BRUME_EENGINE, NULL, "a released table cannot be made");
}

static bool append(duckdb_appender appender, const brume_memory_cell *cell)
{
    switch (cell->kind) {
    case BRUME_MEMORY_BOOLEAN:
        return duckdb_append_bool(appender, cell->integer != 0) == DuckDBSuccess;
    case BRUME_MEMORY_INTEGER:
        return duckdb_append_int64(appender, cell->integer) == DuckDBSuccess;
    case BRUME_MEMORY_REAL:
        return duckdb_append_double(appender, cell->real) == DuckDBSuccess;
    case BRUME_MEMORY_TEXT:
        return duckdb_append_varchar_length(appender, cell->text.data, cell->text.length) ==
               DuckDBSuccess;
    case BRUME_MEMORY_NULL:
        break;
    }
    return duckdb_append_null(appender) == DuckDBSuccess;
}

brume_status brume_memory_add(brume_memory *memory, const char *table,
                              const brume_memory_cell *cells, size_t columns, size_t rows,
                              brume_error *error)
{
    duckdb_appender appender;
    bool good = duckdb_appender_create(memory->connection, NULL, table, &appender) == DuckDBSuccess;
    for (size_t i = 0; good && i < rows; i++) {
        for (size_t j = 0; good && j < columns; j++)
            good = append(appender, &cells[i * columns + j]);
        good = good && duckdb_appender_end_row(appender) == DuckDBSuccess;
    }
    good = good && duckdb_appender_flush(appender) == DuckDBSuccess;
    good = duckdb_appender_destroy(&appender) == DuckDBSuccess && good;
    return good ? BRUME_OK
                : brume_fail(error, BRUME_EUNSUPPORTED, NULL,
                             "a released value does not fit the type of its column");
}

bool brume_memory_set(brume_memory *memory, const char *sql)
{
    return brume_duckdb_run(memory->connection, sql);
}

/* ---- rows ---- */

/* The first line of what DuckDB says. */
static brume_status refused(const char *text, brume_error *error)
{
    size_t length = text ? strcspn(text, "\n") : 0;
    brume_status status =
        brume_fail(error, BRUME_EUNSUPPORTED,
                   "the part around the inner queries is run by DuckDB on their answers", "%.*s",
                   (int)(length < 300 ? length : 300), text ? text : "");
    if (error)
        brume_utf8_mend(error->message);
    return status;
}

/* Stop a query, and work until it has stopped: what it holds is freed then. */
static void interrupt(brume_memory *memory, duckdb_pending_result pending)
{
    double until = brume_memory_clock() + 5; /* SQL that does not stop may leave something behind */
    duckdb_interrupt(memory->connection);
    while (brume_memory_clock() < until) {
        duckdb_pending_state state = duckdb_pending_execute_task(pending);
        if (state == DUCKDB_PENDING_ERROR || duckdb_pending_execution_is_finished(state))
            return;
    }
}

/* Work until the result is there. */
static brume_status wait_for(brume_memory *memory, duckdb_pending_result pending, double until,
                             brume_error *error)
{
    for (;;) {
        duckdb_pending_state state = duckdb_pending_execute_task(pending);
        if (state == DUCKDB_PENDING_ERROR || duckdb_pending_execution_is_finished(state))
            return BRUME_OK; /* whoever takes the result sees an error there */
        if (memory->stopped && memory->stopped(memory->context))
            return brume_fail(error, BRUME_ECANCELLED, NULL, "the query was stopped");
        if (brume_memory_clock() > until)
            return brume_fail(error, BRUME_EUNSUPPORTED, "make it simpler",
                              "the SQL over released tables takes too long");
    }
}

static brume_status take_chunk(duckdb_data_chunk chunk, size_t columns, brume_text *row,
                               brume_memory_taker take, void *context, brume_error *error)
{
    size_t count = duckdb_data_chunk_get_size(chunk);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < columns; j++) {
            duckdb_vector vector = duckdb_data_chunk_get_vector(chunk, j);
            uint64_t *valid = duckdb_vector_get_validity(vector);
            duckdb_string_t *text = (duckdb_string_t *)duckdb_vector_get_data(vector) + i;
            row[j] = (brume_text){.data = NULL};
            if (!valid || duckdb_validity_row_is_valid(valid, i))
                row[j] = (brume_text){.data = duckdb_string_t_data(text),
                                      .length = duckdb_string_t_length(*text)};
        }
        BRUME_TRY(take(context, row, columns, error));
    }
    return BRUME_OK;
}

static brume_status take_rows(duckdb_result *result, brume_memory_taker take, void *context,
                              brume_error *error)
{
    size_t columns = duckdb_column_count(result);
    brume_text *row = calloc(columns + 1, sizeof *row);
    brume_status status = row ? BRUME_OK : brume_no_memory(error, NULL);
    for (size_t i = 0; status == BRUME_OK && i < columns; i++)
        if (duckdb_column_type(result, i) != DUCKDB_TYPE_VARCHAR)
            status =
                brume_fail(error, BRUME_EINTERNAL, NULL, "result column %zu is no text", i + 1);
    duckdb_data_chunk chunk;
    while (status == BRUME_OK && (chunk = duckdb_fetch_chunk(*result))) {
        status = take_chunk(chunk, columns, row, take, context, error);
        duckdb_destroy_data_chunk(&chunk);
    }
    free(row);
    return status;
}

static brume_status run(brume_memory *memory, duckdb_prepared_statement statement, double until,
                        brume_memory_taker take, void *context, brume_error *error)
{
    duckdb_pending_result pending;
    duckdb_result result;
    if (duckdb_pending_prepared(statement, &pending) != DuckDBSuccess) {
        duckdb_destroy_pending(&pending);
        return refused("the statement cannot be run", error);
    }
    brume_status status = wait_for(memory, pending, until, error);
    if (status == BRUME_OK) {
        status = duckdb_execute_pending(pending, &result) == DuckDBSuccess
                     ? take_rows(&result, take, context, error)
                     : refused(duckdb_result_error(&result), error);
        duckdb_destroy_result(&result);
    } else {
        interrupt(memory, pending);
    }
    duckdb_destroy_pending(&pending);
    return status;
}

brume_status brume_memory_select(brume_memory *memory, const char *sql, double seconds,
                                 brume_memory_taker take, void *context, brume_error *error)
{
    duckdb_extracted_statements statements;
    duckdb_prepared_statement statement = NULL;
    double until = brume_memory_clock() + seconds;
    idx_t count = duckdb_extract_statements(memory->connection, sql, &statements);
    bool prepared = count == 1 &&
                    duckdb_prepare_extracted_statement(memory->connection, statements, 0,
                                                       &statement) == DuckDBSuccess;
    brume_status status = BRUME_OK;
    if (count > 1 ||
        (prepared && duckdb_prepared_statement_type(statement) != DUCKDB_STATEMENT_TYPE_SELECT))
        status = brume_fail(error, BRUME_EINTERNAL, NULL, "only a single SELECT may run");
    else if (!prepared)
        status =
            refused(statement ? duckdb_prepare_error(statement) : "DuckDB cannot read it", error);
    else
        status = run(memory, statement, until, take, context, error);
    if (statement)
        duckdb_destroy_prepare(&statement);
    duckdb_destroy_extracted(&statements);
    return status;
}
