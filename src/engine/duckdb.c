/* DuckDB in process: CSV, Parquet and JSON files.
 *
 * The database is locked down, and each source becomes a view in it. After that
 * only a prepared statement that DuckDB itself calls a SELECT is executed. How files are read is in
 * duckdb_source.c. */
#include "engine/duckdb.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <stdatomic.h>

#include "base/error.h"
#include "base/regular.h"
#include "engine/driver.h"
#include "engine/duckdb_reader.h"
#include "engine/duckdb_source.h"
#include "engine/libduckdb.h"
#include "engine/like.h"
#include "engine/plain_form.h"

/* ---- functions of texts ----
 *
 * Functions of texts for DuckDB whose time does not depend on what the texts hold:
 *
 *   brume_like(text, pattern), brume_ilike(text, pattern)   engine/like.h
 *   brume_matches(text, pattern)                            base/regular.h
 *   brume_plain(text, form)                                 engine/plain_form.h: what is between
 * the blanks of a text of that form, else NULL
 *
 * DuckDB's own LIKE tries again and again: with three % its time grows with the cube of the text.
 * Its regular expressions are built while they run, so that the first text of a form costs
 * milliseconds. */

/* The second argument, which is the same in every row. */
static duckdb_string_t *constant(duckdb_data_chunk input)
{
    return duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 1));
}

/* ---- LIKE ---- */

typedef bool matcher(const void *pattern, const char *text, size_t length);

static bool match_like(const void *pattern, const char *text, size_t length)
{
    return brume_like_match(pattern, text, length);
}

static bool match_pattern(const void *pattern, const char *text, size_t length)
{
    return brume_regular_match(pattern, text, length);
}

/* What is NULL in the text is NULL in the result. */
static void match_rows(matcher *match, const void *pattern, duckdb_vector column, size_t count,
                       duckdb_vector output)
{
    duckdb_string_t *texts = duckdb_vector_get_data(column);
    uint64_t *valid = duckdb_vector_get_validity(column), *result = NULL;
    bool *matched = duckdb_vector_get_data(output);
    if (valid) {
        duckdb_vector_ensure_validity_writable(output);
        result = duckdb_vector_get_validity(output);
    }
    for (size_t i = 0; i < count; i++)
        if (!valid || duckdb_validity_row_is_valid(valid, i))
            matched[i] =
                match(pattern, duckdb_string_t_data(&texts[i]), duckdb_string_t_length(texts[i]));
        else
            duckdb_validity_set_row_invalid(result, i);
}

static void like_rows(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    size_t count = duckdb_data_chunk_get_size(input);
    if (count == 0)
        return;
    duckdb_string_t *pattern = constant(input);
    bool folds = duckdb_scalar_function_get_extra_info(info) != NULL;
    brume_like *like =
        brume_like_open(duckdb_string_t_data(pattern), duckdb_string_t_length(*pattern), folds);
    if (!like) {
        duckdb_scalar_function_set_error(info, "out of memory");
        return;
    }
    match_rows(match_like, like, duckdb_data_chunk_get_vector(input, 0), count, output);
    brume_like_close(like);
}

/* ---- regular expressions ---- */

static void pattern_rows(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    size_t count = duckdb_data_chunk_get_size(input);
    if (count == 0)
        return;
    duckdb_string_t *typed = constant(input);
    const char *why = NULL;
    char *text = strndup(duckdb_string_t_data(typed), duckdb_string_t_length(*typed));
    brume_regular *pattern = text ? brume_regular_open(text, false, false, &why) : NULL;
    free(text);
    if (!pattern) {
        duckdb_scalar_function_set_error(info, why ? why : "out of memory");
        return;
    }
    match_rows(match_pattern, pattern, duckdb_data_chunk_get_vector(input, 0), count, output);
    brume_regular_close(pattern);
}

/* ---- plain forms ---- */

/* "integer", "decimal 30" ...; false: none. */
static bool read_form(duckdb_string_t *word, brume_plain_form *form, size_t *whole)
{
    static const char *const words[] = {[BRUME_PLAIN_INTEGER] = "integer",
                                        [BRUME_PLAIN_DECIMAL] = "decimal",
                                        [BRUME_PLAIN_REAL] = "real",
                                        [BRUME_PLAIN_DATE] = "date",
                                        [BRUME_PLAIN_TIMESTAMP] = "timestamp"};
    char text[16] = "";
    size_t length = duckdb_string_t_length(*word);
    memcpy(text, duckdb_string_t_data(word), length < sizeof text ? length : sizeof text - 1);
    char *blank = strchr(text, ' ');
    *whole = blank ? strtoul(blank + 1, NULL, 10) : 0;
    if (blank)
        *blank = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(text, words[i]) == 0) {
            *form = (brume_plain_form)i;
            return true;
        }
    return false;
}

static void plain_rows(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    size_t count = duckdb_data_chunk_get_size(input), whole = 0, length = 0;
    brume_plain_form form;
    if (count == 0)
        return;
    if (!read_form(constant(input), &form, &whole)) {
        duckdb_scalar_function_set_error(info, "no such form");
        return;
    }
    duckdb_vector column = duckdb_data_chunk_get_vector(input, 0);
    duckdb_string_t *texts = duckdb_vector_get_data(column);
    uint64_t *valid = duckdb_vector_get_validity(column);
    duckdb_vector_ensure_validity_writable(output);
    uint64_t *result = duckdb_vector_get_validity(output);
    for (size_t i = 0; i < count; i++) {
        const char *from = NULL;
        bool there = !valid || duckdb_validity_row_is_valid(valid, i);
        if (there && brume_plain_match(form, whole, duckdb_string_t_data(&texts[i]),
                                       duckdb_string_t_length(texts[i]), &from, &length))
            duckdb_vector_assign_string_element_len(output, i, from, length);
        else
            duckdb_validity_set_row_invalid(result, i);
    }
}

/* ---- registering ---- */

static bool register_one(duckdb_connection connection, const char *name, duckdb_type result,
                         duckdb_scalar_function_t rows, void *extra)
{
    duckdb_scalar_function function = duckdb_create_scalar_function();
    duckdb_logical_type text = duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR);
    duckdb_logical_type type = duckdb_create_logical_type(result);
    duckdb_scalar_function_set_name(function, name);
    duckdb_scalar_function_add_parameter(function, text);
    duckdb_scalar_function_add_parameter(function, text);
    duckdb_scalar_function_set_return_type(function, type);
    duckdb_scalar_function_set_special_handling(function); /* NULLs come too */
    duckdb_scalar_function_set_extra_info(function, extra, NULL);
    duckdb_scalar_function_set_function(function, rows);
    bool made = duckdb_register_scalar_function(connection, function) == DuckDBSuccess;
    duckdb_destroy_logical_type(&text);
    duckdb_destroy_logical_type(&type);
    duckdb_destroy_scalar_function(&function);
    return made;
}

/* Make them known to the connection's database. Pattern and form must be the same in every row. */
static bool register_text_functions(duckdb_connection connection)
{
    static char folds;
    return register_one(connection, "brume_like", DUCKDB_TYPE_BOOLEAN, like_rows, NULL) &&
           register_one(connection, "brume_ilike", DUCKDB_TYPE_BOOLEAN, like_rows, &folds) &&
           register_one(connection, "brume_matches", DUCKDB_TYPE_BOOLEAN, pattern_rows, NULL) &&
           register_one(connection, "brume_plain", DUCKDB_TYPE_VARCHAR, plain_rows, NULL);
}

/* Databases of DuckDB that are used again: see the header.
 *
 * Lock-down, in this order: the database is in memory (so that no stored macro can shadow a
 * function); the settings that change the meaning of SQL are pinned; what does not fit into memory
 * fails instead of going to disk; external access is switched off (files are read by brume); the
 * configuration is locked. Sources come after that. */

/* Where a function finds its table, which changes from engine to engine. */
typedef struct duckdb_place {
    brume_duckdb_table *table; /* NULL: there is no view of it */
} duckdb_place;

struct brume_duckdb_instance {
    duckdb_database database;
    duckdb_connection connection;
    brume_duckdb_scan *scan; /* NULL until it is needed */
    duckdb_place **places;   /* of brume_read_0(), brume_read_1() ... */
    size_t place_count;
    pid_t process; /* DuckDB's threads are this one's */
};

static _Atomic(brume_duckdb_instance *) idle;
/* After a fork, that of the parent: it has no threads here, so it can be neither used nor closed.
 */
static _Atomic(brume_duckdb_instance *) foreign;

bool brume_duckdb_run(duckdb_connection connection, const char *sql)
{
    duckdb_result result;
    bool done = duckdb_query(connection, sql, &result) == DuckDBSuccess;
    duckdb_destroy_result(&result);
    return done;
}

bool brume_duckdb_settle(duckdb_connection connection)
{
    static const char *const settings[] = {
        "SET TimeZone = 'UTC'",
        "SET Calendar = 'gregorian'",
        "SET default_collation = ''",
        "SET integer_division = false",
        "SET ieee_floating_point_ops = true",
        "SET old_implicit_casting = false",
        "SET default_null_order = 'NULLS LAST'",
        "SET default_order = 'ASC'",
        "SET preserve_insertion_order = false",
        "SET autoinstall_known_extensions = false",
        "SET autoload_known_extensions = false",
        "SET enable_progress_bar = false",
        "SET errors_as_json = false",
        "SET scalar_subquery_error_on_multiple_rows = true",
        "SET temp_directory = ''", /* rows are never written to disk */
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (!brume_duckdb_run(connection, settings[i]))
            return false;
    return true;
}

static void close_instance(brume_duckdb_instance *instance)
{
    if (instance->connection)
        duckdb_disconnect(&instance->connection);
    if (instance->database)
        duckdb_close(&instance->database);
    brume_duckdb_scan_close(instance->scan);
    for (size_t i = 0; i < instance->place_count; i++)
        free(instance->places[i]);
    free((void *)instance->places);
    free(instance);
}

static brume_status open_instance(brume_duckdb_instance *instance, brume_error *error)
{
    if (duckdb_open(NULL, &instance->database) != DuckDBSuccess ||
        duckdb_connect(instance->database, &instance->connection) != DuckDBSuccess ||
        !brume_duckdb_settle(instance->connection) ||
        !register_text_functions(instance->connection))
        return brume_fail(error, BRUME_EENGINE, NULL, "DuckDB cannot be started");
    if (!brume_duckdb_run(instance->connection, "SET enable_external_access = false") ||
        !brume_duckdb_run(instance->connection, "SET lock_configuration = true"))
        return brume_fail(error, BRUME_EENGINE, NULL, "DuckDB cannot be locked down");
    return BRUME_OK;
}

brume_status brume_duckdb_instance_take(brume_duckdb_instance **out, brume_error *error)
{
    brume_duckdb_instance *instance = atomic_exchange(&idle, NULL);
    if (instance && instance->process == getpid()) {
        *out = instance;
        return BRUME_OK;
    }
    if (instance)
        atomic_store(&foreign, instance);
    BRUME_TRY(brume_libduckdb_load(error));
    instance = calloc(1, sizeof *instance);
    if (!instance)
        return brume_no_memory(error, NULL);
    instance->process = getpid();
    brume_status status = open_instance(instance, error);
    if (status == BRUME_OK)
        *out = instance;
    else
        close_instance(instance);
    return status;
}

/* Nothing of the sources stays. */
static bool clear(brume_duckdb_instance *instance)
{
    bool cleared = true;
    for (size_t i = 0; i < instance->place_count; i++) {
        char sql[64];
        if (!instance->places[i]->table)
            continue;
        instance->places[i]->table = NULL;
        snprintf(sql, sizeof sql, "DROP VIEW main.source_%zu", i);
        cleared = brume_duckdb_run(instance->connection, sql) && cleared;
    }
    return cleared;
}

void brume_duckdb_instance_give(brume_duckdb_instance *instance, bool keep)
{
    brume_duckdb_instance *none = NULL;
    if (!instance)
        return;
    if (!keep || !clear(instance) || !atomic_compare_exchange_strong(&idle, &none, instance))
        close_instance(instance);
}

duckdb_connection brume_duckdb_instance_connection(const brume_duckdb_instance *instance)
{
    return instance->connection;
}

/* What gives rows to brume, made when it is first asked for. EENGINE, EMEMORY. */
static brume_status instance_scan(brume_duckdb_instance *instance, brume_duckdb_scan **out,
                                  brume_error *error)
{
    if (!instance->scan)
        BRUME_TRY(brume_duckdb_scan_open(instance->connection, &instance->scan, error));
    *out = instance->scan;
    return BRUME_OK;
}

/* Functions brume_read_0() .. brume_read_INDEX(). */
static brume_status make_places(brume_duckdb_instance *instance, size_t index, brume_error *error)
{
    while (instance->place_count <= index) {
        size_t count = instance->place_count;
        duckdb_place **wider = realloc((void *)instance->places, (count + 1) * sizeof *wider);
        duckdb_place *made = calloc(1, sizeof *made);
        if (wider)
            instance->places = wider;
        if (!wider || !made) {
            free(made);
            return brume_no_memory(error, NULL);
        }
        instance->places[instance->place_count++] = made;
        char name[48];
        snprintf(name, sizeof name, "brume_read_%zu", count);
        BRUME_TRY(brume_duckdb_table_make(instance->connection, name, &made->table, error));
    }
    return BRUME_OK;
}

brume_status brume_duckdb_instance_put(brume_duckdb_instance *instance, size_t index,
                                       brume_duckdb_table *table, const char *view,
                                       brume_error *error)
{
    BRUME_TRY(make_places(instance, index, error));
    instance->places[index]->table = table;
    return brume_duckdb_run(instance->connection, view)
               ? BRUME_OK
               : brume_fail(error, BRUME_EENGINE, NULL, "DuckDB does not take the columns");
}

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
    BRUME_TRY(instance_scan(state->instance, &scan, error));
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
