/* Rows of brume's readers as a table of DuckDB: see the header. Values are read straight into
 * DuckDB's vectors where both store them alike; decimals of few digits are copied. The bytes of
 * texts stay where the reader has them, which is until its next call: DuckDB is done with a chunk
 * before it asks for the next, and what keeps a text copies it (buffered results, cached chunks,
 * hash tables, aggregates, sorts: tests/engine/test_lifetime.c tries them all, and must pass with
 * another version of DuckDB before it is used).
 *
 * The function's first column is nobody's: where no column is wanted, as for COUNT(*), DuckDB asks
 * for the first, and nothing is read. */
#include "engine/duckdb_reader.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <stdatomic.h>

#include "base/error.h"
#include "engine/driver.h"

enum { VALID_WORDS = BRUME_BATCH_ROWS / 64 };

/* A scan of the table: which columns are wanted, and which part is next. */
typedef struct table_scan {
    brume_duckdb_table *table;
    size_t *columns; /* of the table, in the order of `outputs` */
    size_t *outputs; /* where they go in DuckDB's chunk */
    size_t count;
    atomic_size_t next_part;
} table_scan;

/* What a thread of a scan has. */
typedef struct thread_state {
    const brume_row_format *format;
    brume_row_part *part;
    brume_batch_column *columns;
    void **copies; /* room for values that are copied; NULL: read in place */
    uint64_t (*valid)[VALID_WORDS];
    size_t count;
} thread_state;

static void note_failure(brume_duckdb_table *table, brume_status status, const brume_error *error)
{
    pthread_mutex_lock(&table->lock);
    if (!table->failed) {
        table->failed = true;
        table->status = status;
        table->error = *error;
    }
    pthread_mutex_unlock(&table->lock);
}

brume_status brume_duckdb_table_failure(brume_duckdb_table *table, brume_error *error)
{
    if (!table->format || !table->failed)
        return BRUME_OK;
    table->failed = false;
    if (error)
        *error = table->error;
    return table->status;
}

/* ---- bind: the columns ---- */

static duckdb_logical_type type_in_duckdb(brume_type type)
{
    static const duckdb_type types[] = {
        [BRUME_TYPE_BOOLEAN] = DUCKDB_TYPE_BOOLEAN,     [BRUME_TYPE_INTEGER] = DUCKDB_TYPE_INTEGER,
        [BRUME_TYPE_BIGINT] = DUCKDB_TYPE_BIGINT,       [BRUME_TYPE_DOUBLE] = DUCKDB_TYPE_DOUBLE,
        [BRUME_TYPE_TEXT] = DUCKDB_TYPE_VARCHAR,        [BRUME_TYPE_DATE] = DUCKDB_TYPE_DATE,
        [BRUME_TYPE_TIMESTAMP] = DUCKDB_TYPE_TIMESTAMP,
    };
    if (type.kind == BRUME_TYPE_DECIMAL)
        return duckdb_create_decimal_type((uint8_t)type.precision, (uint8_t)type.scale);
    return duckdb_create_logical_type(types[type.kind]);
}

static void bind_table(duckdb_bind_info info)
{
    brume_duckdb_table *const *place = duckdb_bind_get_extra_info(info);
    const brume_duckdb_table *table = *place;
    if (!table) {
        duckdb_bind_set_error(info, "no table");
        return;
    }
    for (size_t i = 0; i <= table->column_count; i++) {
        char name[24];
        brume_type boolean = {BRUME_TYPE_BOOLEAN, 0, 0};
        duckdb_logical_type type = type_in_duckdb(i ? table->columns[i - 1].type : boolean);
        snprintf(name, sizeof name, "%zu", i);
        duckdb_bind_add_result_column(info, name, type);
        duckdb_destroy_logical_type(&type);
    }
    /* About so many rows has a part: for which side of a join is the smaller one. */
    duckdb_bind_set_cardinality(info, 100000 * table->format->part_count(table->files), false);
}

/* ---- init: a scan, and its threads ---- */

static void free_scan(void *state)
{
    table_scan *scan = state;
    if (!scan)
        return;
    free(scan->columns);
    free(scan->outputs);
    free(scan);
}

static void init_scan(duckdb_init_info info)
{
    brume_duckdb_table *const *place = duckdb_init_get_extra_info(info);
    brume_duckdb_table *table = *place;
    size_t wanted = duckdb_init_get_column_count(info),
           parts = table->format->part_count(table->files);
    table_scan *scan = calloc(1, sizeof *scan);
    size_t *columns = calloc(wanted + 1, sizeof *columns);
    size_t *outputs = calloc(wanted + 1, sizeof *outputs);
    if (!scan || !columns || !outputs) {
        free(scan);
        free(columns);
        free(outputs);
        duckdb_init_set_error(info, "out of memory");
        return;
    }
    *scan = (table_scan){.table = table, .columns = columns, .outputs = outputs};
    for (size_t i = 0; i < wanted; i++) {
        idx_t column = duckdb_init_get_column_index(info, i);
        if (column >= 1 && column <= table->column_count) {
            scan->columns[scan->count] = column - 1;
            scan->outputs[scan->count++] = i;
        }
    }
    atomic_init(&scan->next_part, 0);
    duckdb_init_set_max_threads(info, parts > 0 ? parts : 1);
    duckdb_init_set_init_data(info, scan, free_scan);
}

static void free_thread(void *data)
{
    thread_state *thread = data;
    if (!thread)
        return;
    if (thread->format)
        thread->format->part_close(thread->part);
    for (size_t i = 0; thread->copies && i < thread->count; i++)
        free(thread->copies[i]);
    free((void *)thread->copies);
    free(thread->columns);
    free((void *)thread->valid);
    free(thread);
}

static void init_thread(duckdb_init_info info)
{
    thread_state *thread = calloc(1, sizeof *thread);
    if (thread)
        duckdb_init_set_init_data(info, thread, free_thread);
    else
        duckdb_init_set_error(info, "out of memory");
}

/* Bytes of a value that is copied: a text, or a decimal that DuckDB stores in fewer; 0: none. */
static size_t copied_size(brume_type type)
{
    if (type.kind == BRUME_TYPE_TEXT)
        return sizeof(brume_text);
    return type.kind == BRUME_TYPE_DECIMAL && type.precision <= 9 ? sizeof(int64_t) : 0;
}

static brume_status make_room(thread_state *thread, const table_scan *scan, brume_error *error)
{
    thread->columns = calloc(scan->count + 1, sizeof *thread->columns);
    thread->copies = calloc(scan->count + 1, sizeof *thread->copies);
    thread->valid = calloc(scan->count + 1, sizeof *thread->valid);
    if (!thread->columns || !thread->copies || !thread->valid)
        return brume_no_memory(error, NULL);
    thread->count = scan->count;
    thread->format = scan->table->format;
    for (size_t i = 0; i < scan->count; i++) {
        size_t size = copied_size(scan->table->columns[scan->columns[i]].type);
        thread->columns[i].valid = thread->valid[i];
        thread->copies[i] = size ? malloc(size * BRUME_BATCH_ROWS) : NULL;
        if (size && !thread->copies[i])
            return brume_no_memory(error, NULL);
    }
    return BRUME_OK;
}

/* ---- rows ---- */

/* A text that is longer than texts may be is NULL: no expression sees it
 * (query/print/print_expression.c). */
static void put_texts(duckdb_vector vector, const brume_text *texts, uint64_t *valid, size_t count)
{
    duckdb_string_t *strings = duckdb_vector_get_data(vector);
    for (size_t i = 0; i < count; i++) {
        size_t length = texts[i].length;
        memset(&strings[i], 0, sizeof strings[i]); /* what is NULL points nowhere */
        if (!(valid[i / 64] >> (i % 64) & 1))
            continue;
        if (length > BRUME_TEXT_BYTES_MOST) {
            valid[i / 64] &= ~((uint64_t)1 << (i % 64));
            continue;
        }
        strings[i].value.inlined.length = (uint32_t)length;
        if (length <= sizeof strings->value.inlined.inlined) {
            memcpy(strings[i].value.inlined.inlined, texts[i].data, length);
        } else {
            memcpy(strings[i].value.pointer.prefix, texts[i].data,
                   sizeof strings->value.pointer.prefix);
            strings[i].value.pointer.ptr = (char *)texts[i].data;
        }
    }
}

static void put_small_decimals(duckdb_vector vector, int precision, const int64_t *values,
                               size_t count)
{
    void *data = duckdb_vector_get_data(vector);
    if (precision <= 4)
        for (size_t i = 0; i < count; i++)
            ((int16_t *)data)[i] = (int16_t)values[i];
    else
        for (size_t i = 0; i < count; i++)
            ((int32_t *)data)[i] = (int32_t)values[i];
}

/* DuckDB is quicker where it knows that nothing is NULL. */
static void put_validity(duckdb_vector vector, const uint64_t *valid, size_t count)
{
    size_t words = (count + 63) / 64;
    uint64_t last = count % 64 ? ((uint64_t)1 << (count % 64)) - 1 : UINT64_MAX;
    bool all = (valid[words - 1] & last) == last;
    for (size_t i = 0; all && i + 1 < words; i++)
        all = valid[i] == UINT64_MAX;
    if (all)
        return;
    duckdb_vector_ensure_validity_writable(vector);
    memcpy(duckdb_vector_get_validity(vector), valid, words * sizeof *valid);
}

static void put_column(duckdb_vector vector, brume_type type, const thread_state *thread,
                       size_t column, size_t count)
{
    void *copies = thread->copies[column]; /* NULL: read in place */
    if (copies && type.kind == BRUME_TYPE_TEXT)
        put_texts(vector, copies, thread->valid[column], count);
    else if (copies)
        put_small_decimals(vector, type.precision, copies, count);
    put_validity(vector, thread->valid[column], count);
}

/* Rows of the thread's part, or of the next one that is nobody's; 0 after the last. */
static brume_status next_rows(table_scan *scan, thread_state *thread, size_t *rows,
                              brume_error *error)
{
    const brume_duckdb_table *table = scan->table;
    size_t parts = table->format->part_count(table->files);
    *rows = 0;
    for (;;) {
        if (thread->part) {
            BRUME_TRY(table->format->part_next(thread->part, thread->columns, rows, error));
            if (*rows > 0)
                return BRUME_OK;
            table->format->part_close(thread->part);
            thread->part = NULL;
        }
        size_t index = atomic_fetch_add(&scan->next_part, 1);
        if (index >= parts)
            return BRUME_OK;
        BRUME_TRY(table->format->part_open(table->files, index, scan->columns, scan->count,
                                           &thread->part, error));
    }
}

static brume_status fill_chunk(table_scan *scan, thread_state *thread, duckdb_data_chunk output,
                               brume_error *error)
{
    if (!thread->columns)
        BRUME_TRY(make_room(thread, scan, error));
    for (size_t i = 0; i < scan->count; i++) {
        duckdb_vector vector = duckdb_data_chunk_get_vector(output, scan->outputs[i]);
        thread->columns[i].values = thread->copies[i] ? thread->copies[i]
                                                      : duckdb_vector_get_data(vector);
    }
    size_t rows;
    BRUME_TRY(next_rows(scan, thread, &rows, error));
    for (size_t i = 0; rows > 0 && i < scan->count; i++)
        put_column(duckdb_data_chunk_get_vector(output, scan->outputs[i]),
                   scan->table->columns[scan->columns[i]].type, thread, i, rows);
    duckdb_data_chunk_set_size(output, rows);
    return BRUME_OK;
}

static void read_table(duckdb_function_info info, duckdb_data_chunk output)
{
    table_scan *scan = duckdb_function_get_init_data(info);
    thread_state *thread = duckdb_function_get_local_init_data(info);
    brume_error error = {0};
    brume_status status = fill_chunk(scan, thread, output, &error);
    if (status == BRUME_OK)
        return;
    note_failure(scan->table, status, &error);
    duckdb_function_set_error(info, "stopped");
}

/* ---- the function ---- */

brume_status brume_duckdb_table_make(duckdb_connection connection, const char *name,
                                     brume_duckdb_table **place, brume_error *error)
{
    duckdb_table_function function = duckdb_create_table_function();
    duckdb_table_function_set_name(function, name);
    duckdb_table_function_set_extra_info(function, (void *)place, NULL);
    duckdb_table_function_set_bind(function, bind_table);
    duckdb_table_function_set_init(function, init_scan);
    duckdb_table_function_set_local_init(function, init_thread);
    duckdb_table_function_set_function(function, read_table);
    duckdb_table_function_supports_projection_pushdown(function, true);
    bool made = duckdb_vector_size() >= BRUME_BATCH_ROWS &&
                duckdb_register_table_function(connection, function) == DuckDBSuccess;
    duckdb_destroy_table_function(&function);
    return made ? BRUME_OK
                : brume_fail(error, BRUME_EENGINE, NULL, "DuckDB does not take a function");
}

void brume_duckdb_table_clear(brume_duckdb_table *table)
{
    if (!table->format)
        return;
    table->format->close(table->files);
    for (size_t i = 0; i < table->column_count; i++)
        free((char *)table->columns[i].name);
    free(table->columns);
    *table = (brume_duckdb_table){0};
}

/* ---- rows of a DuckDB query taken by DuckDB's own threads: see the header ---- */

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

static void note_scan_failure(brume_duckdb_scan *scan, brume_status status,
                              const brume_error *error)
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
        note_scan_failure(scan, status, &error);
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
    note_scan_failure(scan, status, &error);
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
