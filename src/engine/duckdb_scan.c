/* Rows of a DuckDB query taken by DuckDB's own threads: see the header. */
#include "engine/duckdb_scan.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "engine/driver.h"

struct brume_duckdb_scan {
    /* of the scan that runs: */
    const brume_wire *wires;
    size_t wire_count;
    brume_row_taker take;
    void *context;
    atomic_bool *cancelled;
    atomic_uint_fast64_t taken;
    pthread_mutex_t lock; /* guards the three below */
    bool failed;
    brume_status status; /* of the first taker that failed */
    brume_error error;
};

static const duckdb_type travels[] = {[BRUME_WIRE_INTEGER] = DUCKDB_TYPE_BIGINT,
                                      [BRUME_WIRE_REAL] = DUCKDB_TYPE_DOUBLE,
                                      [BRUME_WIRE_TEXT] = DUCKDB_TYPE_VARCHAR};

void brume_duckdb_columns(duckdb_data_chunk chunk, const brume_wire *wires, size_t wire_count,
                          brume_text *const *texts, brume_chunk_column *columns)
{
    enum { INLINED_MOST = 12 };
    size_t count = duckdb_data_chunk_get_size(chunk);
    for (size_t i = 0; i < wire_count; i++) {
        duckdb_vector vector = duckdb_data_chunk_get_vector(chunk, i);
        void *data = duckdb_vector_get_data(vector);
        columns[i] = (brume_chunk_column){
            .wire = wires[i],
            .integers = wires[i] == BRUME_WIRE_INTEGER ? data : NULL,
            .reals = wires[i] == BRUME_WIRE_REAL ? data : NULL,
            .texts = wires[i] == BRUME_WIRE_TEXT ? texts[i] : NULL,
            .valid = duckdb_vector_get_validity(vector),
        };
        if (wires[i] != BRUME_WIRE_TEXT)
            continue;
        const duckdb_string_t *strings = data;
        for (size_t j = 0; j < count; j++) {
            size_t length = strings[j].value.inlined.length;
            const char *text = length <= INLINED_MOST ? strings[j].value.inlined.inlined
                                                      : strings[j].value.pointer.ptr;
            texts[i][j] = brume_chunk_is_null(&columns[i], j) ? (brume_text){"", 0}
                                                              : (brume_text){text, length};
        }
    }
}

/* ---- the function ---- */

static brume_status take_columns(brume_duckdb_scan *scan, duckdb_data_chunk input, size_t count,
                                 brume_error *error)
{
    if (duckdb_data_chunk_get_column_count(input) != scan->wire_count)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "the result has other columns");
    size_t text_columns = 0;
    for (size_t i = 0; i < scan->wire_count; i++)
        text_columns += scan->wires[i] == BRUME_WIRE_TEXT;
    brume_chunk_column *columns = calloc(scan->wire_count, sizeof *columns);
    brume_text **texts = calloc(scan->wire_count, sizeof *texts);
    brume_text *room = malloc((text_columns * count + 1) * sizeof *room), *next = room;
    brume_status status = columns && texts && room ? BRUME_OK : brume_no_memory(error, NULL);
    if (status == BRUME_OK) {
        for (size_t i = 0; i < scan->wire_count; i++)
            if (scan->wires[i] == BRUME_WIRE_TEXT) {
                texts[i] = next;
                next += count;
            }
        brume_duckdb_columns(input, scan->wires, scan->wire_count, texts, columns);
        brume_chunk chunk = {count, scan->wire_count, columns};
        status = scan->take(scan->context, &chunk, error);
    }
    free(columns);
    free((void *)texts);
    free(room);
    return status;
}

static void note_failure(brume_duckdb_scan *scan, brume_status status, const brume_error *error)
{
    pthread_mutex_lock(&scan->lock);
    if (!scan->failed) {
        scan->failed = true;
        scan->status = status;
        scan->error = *error;
    }
    pthread_mutex_unlock(&scan->lock);
}

static void brume_take(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    brume_duckdb_scan *scan = duckdb_scalar_function_get_extra_info(info);
    size_t count = duckdb_data_chunk_get_size(input);
    int64_t *ones = duckdb_vector_get_data(output);
    brume_error error = {0};
    for (size_t i = 0; i < count; i++)
        ones[i] = 1;
    brume_status status = BRUME_OK;
    if (atomic_load(scan->cancelled))
        status = brume_fail(&error, BRUME_ECANCELLED, NULL, "interrupted");
    else if (count > 0)
        status = take_columns(scan, input, count, &error);
    if (status != BRUME_OK) {
        note_failure(scan, status, &error);
        duckdb_scalar_function_set_error(info, "stopped");
        return;
    }
    atomic_fetch_add(&scan->taken, count);
}

/* The columns must travel as planned: no cast is made silently. */
static void bind_take(duckdb_bind_info info)
{
    brume_duckdb_scan *scan = duckdb_scalar_function_bind_get_extra_info(info);
    bool fits = duckdb_scalar_function_bind_get_argument_count(info) == scan->wire_count;
    for (size_t i = 0; fits && i < scan->wire_count; i++) {
        duckdb_expression argument = duckdb_scalar_function_bind_get_argument(info, i);
        duckdb_logical_type type = duckdb_expression_return_type(argument);
        fits = duckdb_get_type_id(type) == travels[scan->wires[i]];
        duckdb_destroy_logical_type(&type);
        duckdb_destroy_expression(&argument);
    }
    if (fits)
        return;
    brume_error error = {0};
    brume_status status = brume_fail(&error, BRUME_EINTERNAL, NULL, "the result has other columns");
    note_failure(scan, status, &error);
    duckdb_scalar_function_bind_set_error(info, "other columns");
}

brume_status brume_duckdb_scan_open(duckdb_connection connection, brume_duckdb_scan **out,
                                    brume_error *error)
{
    brume_duckdb_scan *scan = calloc(1, sizeof *scan);
    if (!scan)
        return brume_no_memory(error, NULL);
    pthread_mutex_init(&scan->lock, NULL);
    duckdb_scalar_function function = duckdb_create_scalar_function();
    duckdb_logical_type any = duckdb_create_logical_type(DUCKDB_TYPE_ANY);
    duckdb_logical_type integer = duckdb_create_logical_type(DUCKDB_TYPE_BIGINT);
    duckdb_scalar_function_set_name(function, "brume_take");
    duckdb_scalar_function_set_varargs(function, any);
    duckdb_scalar_function_set_return_type(function, integer);
    duckdb_scalar_function_set_special_handling(function); /* NULLs come too */
    duckdb_scalar_function_set_volatile(function);
    duckdb_scalar_function_set_extra_info(function, scan, NULL);
    duckdb_scalar_function_set_bind(function, bind_take);
    duckdb_scalar_function_set_function(function, brume_take);
    bool made = duckdb_register_scalar_function(connection, function) == DuckDBSuccess;
    duckdb_destroy_logical_type(&any);
    duckdb_destroy_logical_type(&integer);
    duckdb_destroy_scalar_function(&function);
    if (!made) {
        brume_duckdb_scan_close(scan);
        return brume_fail(error, BRUME_EENGINE, NULL, "DuckDB does not take a function");
    }
    *out = scan;
    return BRUME_OK;
}

void brume_duckdb_scan_close(brume_duckdb_scan *scan)
{
    if (!scan)
        return;
    pthread_mutex_destroy(&scan->lock);
    free(scan);
}

/* ---- the query ---- */

/* The one number of the result; false if there is none. */
static bool read_sum(duckdb_result result, uint64_t *sum)
{
    duckdb_data_chunk chunk = duckdb_fetch_chunk(result);
    if (!chunk)
        return false;
    int64_t *numbers = duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, 0));
    bool there = duckdb_data_chunk_get_size(chunk) == 1;
    if (there)
        *sum = (uint64_t)numbers[0];
    duckdb_destroy_data_chunk(&chunk);
    return there;
}

/* Work until the query is done, and sleep where only other threads have work left: DuckDB by itself
 * would ask for some without a pause. An error shows when the result is fetched. */
static void work(duckdb_pending_result pending)
{
    const struct timespec moment = {.tv_nsec = 50000};
    duckdb_pending_state state;
    while (!duckdb_pending_execution_is_finished(state = duckdb_pending_execute_task(pending)))
        if (state == DUCKDB_PENDING_NO_TASKS_AVAILABLE)
            nanosleep(&moment, NULL);
}

static bool run(duckdb_prepared_statement statement, uint64_t *sum)
{
    duckdb_pending_result pending = NULL;
    duckdb_result result = {0};
    bool good = duckdb_pending_prepared(statement, &pending) == DuckDBSuccess;
    if (good) {
        work(pending);
        good = duckdb_execute_pending(pending, &result) == DuckDBSuccess && read_sum(result, sum);
        duckdb_destroy_result(&result);
    }
    duckdb_destroy_pending(&pending);
    return good;
}

static brume_status execute(brume_duckdb_scan *scan, duckdb_connection connection, const char *sql,
                            bool *broken, brume_error *error)
{
    duckdb_extracted_statements statements;
    duckdb_prepared_statement statement = NULL;
    uint64_t sum = 0;
    idx_t count = duckdb_extract_statements(connection, sql, &statements);
    bool prepared = count == 1 && duckdb_prepare_extracted_statement(connection, statements, 0,
                                                                     &statement) == DuckDBSuccess;
    bool other = count != 1 || (prepared && duckdb_prepared_statement_type(statement) !=
                                                DUCKDB_STATEMENT_TYPE_SELECT);
    duckdb_destroy_extracted(&statements);
    *broken = !other && !(prepared && run(statement, &sum));
    duckdb_destroy_prepare(&statement);
    if (other)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "only a single SELECT may run");
    if (!scan->failed && !*broken && sum != atomic_load(&scan->taken))
        return brume_fail(error, BRUME_EINTERNAL, NULL,
                          "DuckDB did not give every row exactly once");
    return BRUME_OK;
}

brume_status brume_duckdb_scan_run(brume_duckdb_scan *scan, duckdb_connection connection,
                                   const char *sql, const brume_wire *wires, size_t wire_count,
                                   brume_row_taker take, void *context, atomic_bool *cancelled,
                                   bool *broken, brume_error *error)
{
    /* *COLUMNS(*) is all the columns as arguments, so that their number is seen by bind_take */
    char *wrapped = brume_engine_format(
        "SELECT CAST(coalesce(sum(brume_take(*COLUMNS(*))), 0) AS BIGINT) FROM (%s) AS t", sql);
    if (!wrapped)
        return brume_no_memory(error, NULL);
    scan->wires = wires;
    scan->wire_count = wire_count;
    scan->take = take;
    scan->context = context;
    scan->cancelled = cancelled;
    scan->failed = false;
    atomic_store(&scan->taken, 0);
    brume_status status = execute(scan, connection, wrapped, broken, error);
    free(wrapped);
    if (!scan->failed)
        return status;
    *broken = false;
    if (error)
        *error = scan->error;
    return scan->status;
}
