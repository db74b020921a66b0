/* DuckDB in process: CSV, Parquet and JSON files.
 *
 * Lock-down, in this order: the database is in memory (so that no stored macro can shadow a
 * function); the settings that change the meaning of SQL are pinned; the source files alone are
 * allowed and external access is switched off; each source becomes a view; the configuration is
 * locked. After that only a prepared statement that DuckDB itself calls a SELECT is executed.
 *
 * CSV and JSON are read with the columns and dialect recorded at registration and skip lines that
 * do not fit them: whether such a line exists must not show. The header line of every CSV must name
 * the recorded columns, since lines are read by position. */
#include "engine/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <duckdb.h>

#include "base/error.h"
#include "engine/csv_header.h"
#include "engine/files.h"

typedef struct file_source {
    brume_files files;
    char *options;
} file_source;

typedef struct duckdb_state_of_engine {
    duckdb_database database;
    duckdb_connection connection;
    file_source *sources;
    size_t source_count;
} engine_state;

typedef struct duckdb_state_of_rows {
    duckdb_prepared_statement statement;
    duckdb_pending_result pending;
    duckdb_result result;
    bool has_result;
    duckdb_data_chunk chunk;
    brume_text **texts; /* per TEXT column, of chunk size */
} rows_state;

static brume_status out_of_memory(brume_error *error)
{
    return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
}

/* ---- text of SQL ---- */

/* Append to *text (owned, may be NULL); on failure frees it and leaves NULL. */
static void append(char **text, const char *more)
{
    size_t length = *text ? strlen(*text) : 0, extra = strlen(more);
    char *grown = realloc(*text, length + extra + 1);
    if (!grown) {
        free(*text);
        *text = NULL;
        return;
    }
    memcpy(grown + length, more, extra + 1);
    *text = grown;
}

static void append_quoted(char **text, const char *value)
{
    char *quoted = malloc(2 * strlen(value) + 3), *end = quoted;
    if (!quoted)
        return;
    *end++ = '\'';
    for (; *value; value++) {
        if (*value == '\'')
            *end++ = '\'';
        *end++ = *value;
    }
    *end++ = '\'';
    *end = 0;
    append(text, quoted);
    free(quoted);
}

static void append_files(char **text, const file_source *source)
{
    append(text, "[");
    for (size_t i = 0; i < source->files.count; i++) {
        append(text, i ? "," : "");
        append_quoted(text, source->files.paths[i]);
    }
    append(text, "]");
}

/* Run a statement of brume's own whose result does not matter. */
static bool run(engine_state *state, const char *sql)
{
    duckdb_result result;
    bool done = duckdb_query(state->connection, sql, &result) == DuckDBSuccess;
    duckdb_destroy_result(&result);
    return done;
}

/* ---- open ---- */

static bool settle(engine_state *state)
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
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (!run(state, settings[i]))
            return false;
    return true;
}

/* One row of text columns. */
static bool query_texts(engine_state *state, const char *sql, char **texts, size_t count)
{
    duckdb_result result;
    bool done = duckdb_query(state->connection, sql, &result) == DuckDBSuccess &&
                duckdb_column_count(&result) == count;
    duckdb_data_chunk chunk = done ? duckdb_fetch_chunk(result) : NULL;
    done = chunk && duckdb_data_chunk_get_size(chunk) >= 1;
    for (size_t i = 0; done && i < count; i++) {
        duckdb_vector vector = duckdb_data_chunk_get_vector(chunk, i);
        uint64_t *valid = duckdb_vector_get_validity(vector);
        duckdb_string_t *strings = duckdb_vector_get_data(vector);
        bool is_null = valid && !(valid[0] & 1);
        texts[i] = is_null ? strdup("")
                           : strndup(duckdb_string_t_data(&strings[0]),
                                     duckdb_string_t_length(strings[0]));
        done = texts[i] != NULL;
    }
    if (chunk)
        duckdb_destroy_data_chunk(&chunk);
    duckdb_destroy_result(&result);
    return done;
}

/* The dialect of a CSV, as arguments of read_csv. */
static brume_status sniff_csv(engine_state *state, file_source *source, brume_error *error)
{
    enum { FIELDS = 7 };
    static const char *const names[FIELDS] = {"delim",  "quote",      "escape",         "comment",
                                              "header", "dateformat", "timestampformat"};
    char *sql = NULL, *values[FIELDS] = {0};
    append(&sql, "SELECT Delimiter, Quote, Escape, Comment, CAST(HasHeader AS VARCHAR), "
                 "CAST(DateFormat AS VARCHAR), CAST(TimestampFormat AS VARCHAR) FROM sniff_csv(");
    append_quoted(&sql, source->files.paths[0]);
    append(&sql, ", ignore_errors = true)");
    bool sniffed = sql && query_texts(state, sql, values, FIELDS);
    free(sql);
    char *options = sniffed ? strdup("") : NULL;
    /* Where no quote was seen yet, one may still come: then it quotes, as everywhere. */
    bool open_quote = sniffed && strcmp(values[1], "(empty)") == 0 &&
                      brume_csv_starts_without_quotes(source->files.paths[0]);
    for (size_t i = 0; sniffed && i < FIELDS; i++) {
        if (i >= 5 && !*values[i])
            continue;
        append(&options, ", ");
        append(&options, names[i]);
        append(&options, " = ");
        append_quoted(&options, open_quote && (i == 1 || i == 2)    ? "\""
                                : strcmp(values[i], "(empty)") == 0 ? ""
                                                                    : values[i]);
    }
    for (size_t i = 0; i < FIELDS; i++)
        free(values[i]);
    if (!sniffed)
        return brume_fail(error, BRUME_ESOURCE, "is it a CSV file with a header line?",
                          "cannot make out the columns of '%s'", source->files.paths[0]);
    source->options = options;
    return options ? BRUME_OK : out_of_memory(error);
}

static brume_status sniff_json(file_source *source, brume_error *error)
{
    FILE *file = fopen(source->files.paths[0], "r");
    if (!file)
        return brume_fail(error, BRUME_ESOURCE, NULL, "cannot read '%s'", source->files.paths[0]);
    int c = fgetc(file);
    while (c == ' ' || c == '\t' || c == '\n' || c == '\r')
        c = fgetc(file);
    fclose(file);
    /* Only line by line can a record that does not fit be skipped: in an array it would make every
     * query fail, and so tell that it is there. */
    if (c == '[')
        return brume_fail(error, BRUME_EUNSUPPORTED, "write one record a line",
                          "a JSON file that is one array cannot be read privately");
    source->options = strdup(", format = 'newline_delimited', ignore_errors = true");
    return source->options ? BRUME_OK : out_of_memory(error);
}

/* FROM text that reads the files of a source. */
static char *reader(const file_source *source, const brume_source *recorded)
{
    static const char *const functions[] = {"read_csv(", "read_parquet(", "read_json("};
    char *sql = NULL;
    append(&sql, functions[source->files.format]);
    append_files(&sql, source);
    if (source->files.format == BRUME_FILE_PARQUET) {
        append(&sql, ")");
        return sql;
    }
    append(&sql, source->options);
    append(&sql, source->files.format == BRUME_FILE_CSV ? ", ignore_errors = true" : "");
    if (recorded->columns) {
        if (source->files.format == BRUME_FILE_CSV)
            append(&sql, ", auto_detect = false");
        append(&sql, ", columns = {");
        for (size_t i = 0; i < recorded->column_count; i++) {
            append(&sql, i ? ", " : "");
            append_quoted(&sql, recorded->columns[i].name);
            append(&sql, ": ");
            append_quoted(&sql, recorded->columns[i].native);
        }
        append(&sql, "}");
    }
    append(&sql, ")");
    return sql;
}

static brume_status describe_source(engine_state *state, size_t index,
                                    brume_description *description, brume_error *error);

static brume_status open_source(engine_state *state, size_t index, const brume_source *recorded,
                                char **table, brume_error *error)
{
    file_source *source = &state->sources[index];
    if (recorded->options) {
        source->options = strdup(recorded->options);
        if (!source->options)
            return out_of_memory(error);
    } else if (source->files.format == BRUME_FILE_CSV) {
        BRUME_TRY(sniff_csv(state, source, error));
    } else if (source->files.format == BRUME_FILE_JSON) {
        BRUME_TRY(sniff_json(source, error));
    } else {
        source->options = strdup("");
    }
    for (size_t i = 0;
         recorded->columns && source->files.format == BRUME_FILE_CSV && i < source->files.count;
         i++)
        BRUME_TRY(brume_csv_check_header(source->files.paths[i], source->options, recorded, error));
    char *from = reader(source, recorded);
    char *sql =
        from ? brume_engine_format("CREATE VIEW main.source_%zu AS SELECT * FROM %s", index, from)
             : NULL;
    *table = brume_engine_format("\"memory\".\"main\".\"source_%zu\"", index);
    free(from);
    if (!sql || !*table) {
        free(sql);
        return out_of_memory(error);
    }
    bool made = run(state, sql);
    free(sql);
    if (!made)
        return brume_fail(error, BRUME_ESOURCE, "is it whole, and of the kind that its name says?",
                          "cannot read '%s' as %s", source->files.paths[0],
                          source->files.format == BRUME_FILE_CSV       ? "CSV"
                          : source->files.format == BRUME_FILE_PARQUET ? "Parquet"
                                                                       : "JSON");
    /* CSV and JSON were given the recorded columns; a Parquet file says its own. */
    if (!recorded->columns || source->files.format != BRUME_FILE_PARQUET)
        return BRUME_OK;
    brume_description now = {0};
    brume_status status = describe_source(state, index, &now, error);
    if (status == BRUME_OK)
        status = brume_engine_check_columns(recorded, &now, error);
    brume_description_clear(&now);
    return status;
}

static brume_status duckdb_driver_open(brume_engine *engine, const brume_source *sources,
                                       size_t count, brume_error *error)
{
    engine_state *state = calloc(1, sizeof *state);
    if (!state)
        return out_of_memory(error);
    engine->state = state;
    state->sources = calloc(count, sizeof *state->sources);
    if (!state->sources)
        return out_of_memory(error);
    state->source_count = count;
    for (size_t i = 0; i < count; i++)
        BRUME_TRY(brume_files_find(sources[i].location, &state->sources[i].files, error));
    if (duckdb_open(NULL, &state->database) != DuckDBSuccess ||
        duckdb_connect(state->database, &state->connection) != DuckDBSuccess || !settle(state))
        return brume_fail(error, BRUME_EENGINE, NULL, "DuckDB cannot be started");
    char *sql = NULL;
    append(&sql, "SET allowed_paths = [");
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < state->sources[i].files.count; j++) {
            append(&sql, i + j ? "," : "");
            append_quoted(&sql, state->sources[i].files.paths[j]);
        }
    append(&sql, "]");
    bool locked = sql && run(state, sql) && run(state, "SET enable_external_access = false");
    free(sql);
    if (!locked)
        return brume_fail(error, BRUME_EENGINE, NULL, "DuckDB cannot be locked down");
    for (size_t i = 0; i < count; i++)
        BRUME_TRY(open_source(state, i, &sources[i], &engine->tables[i], error));
    if (!run(state, "SET lock_configuration = true"))
        return brume_fail(error, BRUME_EENGINE, NULL, "DuckDB cannot be locked down");
    return BRUME_OK;
}

static void duckdb_driver_close(brume_engine *engine)
{
    engine_state *state = engine->state;
    if (!state)
        return;
    if (state->connection)
        duckdb_disconnect(&state->connection);
    if (state->database)
        duckdb_close(&state->database);
    for (size_t i = 0; i < state->source_count; i++) {
        brume_files_clear(&state->sources[i].files);
        free(state->sources[i].options);
    }
    free(state->sources);
    free(state);
    engine->state = NULL;
}

/* ---- describe ---- */

static void type_of_native(const char *native, brume_type *type, brume_leaf *leaf)
{
    static const struct {
        const char *native;
        brume_type type;
        brume_leaf leaf;
    } known[] = {
        {"BOOLEAN", {BRUME_TYPE_BOOLEAN, 0, 0}, BRUME_LEAF_PLAIN},
        {"TINYINT", {BRUME_TYPE_INTEGER, 0, 0}, BRUME_LEAF_CAST},
        {"SMALLINT", {BRUME_TYPE_INTEGER, 0, 0}, BRUME_LEAF_CAST},
        {"UTINYINT", {BRUME_TYPE_INTEGER, 0, 0}, BRUME_LEAF_CAST},
        {"USMALLINT", {BRUME_TYPE_INTEGER, 0, 0}, BRUME_LEAF_CAST},
        {"INTEGER", {BRUME_TYPE_INTEGER, 0, 0}, BRUME_LEAF_PLAIN},
        {"UINTEGER", {BRUME_TYPE_BIGINT, 0, 0}, BRUME_LEAF_CAST},
        {"BIGINT", {BRUME_TYPE_BIGINT, 0, 0}, BRUME_LEAF_PLAIN},
        {"UBIGINT", {BRUME_TYPE_DECIMAL, 20, 0}, BRUME_LEAF_CAST},
        {"FLOAT", {BRUME_TYPE_DOUBLE, 0, 0}, BRUME_LEAF_FINITE},
        {"DOUBLE", {BRUME_TYPE_DOUBLE, 0, 0}, BRUME_LEAF_FINITE},
        {"VARCHAR", {BRUME_TYPE_TEXT, 0, 0}, BRUME_LEAF_PLAIN},
        {"UUID", {BRUME_TYPE_TEXT, 0, 0}, BRUME_LEAF_CAST},
        {"DATE", {BRUME_TYPE_DATE, 0, 0}, BRUME_LEAF_CALENDAR},
        {"TIMESTAMP", {BRUME_TYPE_TIMESTAMP, 0, 0}, BRUME_LEAF_CALENDAR},
        {"TIMESTAMP_NS", {BRUME_TYPE_TIMESTAMP, 0, 0}, BRUME_LEAF_CALENDAR},
        {"TIMESTAMP WITH TIME ZONE", {BRUME_TYPE_TIMESTAMP, 0, 0}, BRUME_LEAF_ZONED},
    };
    *type = (brume_type){BRUME_TYPE_REFUSED, 0, 0};
    *leaf = BRUME_LEAF_PLAIN;
    int precision = 0, scale = 0, end = 0;
    if (sscanf(native, "DECIMAL(%2d,%2d)%n", &precision, &scale, &end) == 2 && end > 0 &&
        !native[end])
        *type = (brume_type){BRUME_TYPE_DECIMAL, precision, scale};
    if (strncmp(native, "ENUM(", 5) == 0 && brume_engine_ends_with(native, ")")) {
        *type = (brume_type){BRUME_TYPE_TEXT, 0, 0};
        *leaf = BRUME_LEAF_CAST;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(native, known[i].native) == 0) {
            *type = known[i].type;
            *leaf = known[i].leaf;
        }
}

static brume_status describe_source(engine_state *state, size_t index,
                                    brume_description *description, brume_error *error)
{
    char sql[96];
    snprintf(sql, sizeof sql, "SELECT column_name, column_type FROM (DESCRIBE main.source_%zu)",
             index);
    duckdb_result result;
    brume_status status = BRUME_OK;
    if (duckdb_query(state->connection, sql, &result) != DuckDBSuccess)
        status = brume_fail(error, BRUME_ESOURCE, NULL, "cannot make out the columns of '%s'",
                            state->sources[index].files.paths[0]);
    duckdb_data_chunk chunk;
    while (status == BRUME_OK && (chunk = duckdb_fetch_chunk(result))) {
        duckdb_string_t *names = duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, 0));
        duckdb_string_t *types = duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, 1));
        for (idx_t i = 0; status == BRUME_OK && i < duckdb_data_chunk_get_size(chunk); i++) {
            char *name = strndup(duckdb_string_t_data(&names[i]), duckdb_string_t_length(names[i]));
            char *native =
                strndup(duckdb_string_t_data(&types[i]), duckdb_string_t_length(types[i]));
            brume_type type;
            brume_leaf leaf;
            if (name && native) {
                type_of_native(native, &type, &leaf);
                status =
                    brume_engine_add_column(description, name, native, type, leaf, false, error);
            } else {
                status = out_of_memory(error);
            }
            free(name);
            free(native);
        }
        duckdb_destroy_data_chunk(&chunk);
    }
    duckdb_destroy_result(&result);
    BRUME_TRY(status);
    description->identity = strdup(state->sources[index].files.identity);
    description->options = strdup(state->sources[index].options);
    return description->identity && description->options ? BRUME_OK : out_of_memory(error);
}

static brume_status duckdb_driver_marks(brume_engine *engine, size_t index, bool contents,
                                        brume_marks *marks, brume_error *error)
{
    const engine_state *state = engine->state;
    return brume_files_mark(&state->sources[index].files, contents, marks, error);
}

static brume_status duckdb_driver_describe(brume_engine *engine, size_t index,
                                           brume_description *description, brume_error *error)
{
    return describe_source(engine->state, index, description, error);
}

/* ---- rows ---- */

static brume_status engine_failed(const engine_state *state, brume_error *error)
{
    for (size_t i = 0; i < state->source_count; i++)
        for (size_t j = 0; j < state->sources[i].files.count; j++)
            if (access(state->sources[i].files.paths[j], R_OK) != 0)
                return brume_fail(error, BRUME_ESOURCE, "put the file back and ask again",
                                  "the file '%s' is gone or may not be read any more",
                                  state->sources[i].files.paths[j]);
    return brume_fail(error, BRUME_EENGINE,
                      "check that the source is whole, and that there is memory and disk space",
                      "DuckDB failed while it ran the query");
}

static brume_status duckdb_driver_select(brume_engine *engine, const char *sql, brume_rows *rows,
                                         brume_error *error)
{
    static const duckdb_type travels[] = {[BRUME_WIRE_INTEGER] = DUCKDB_TYPE_BIGINT,
                                          [BRUME_WIRE_REAL] = DUCKDB_TYPE_DOUBLE,
                                          [BRUME_WIRE_TEXT] = DUCKDB_TYPE_VARCHAR};
    engine_state *state = engine->state;
    rows_state *own = calloc(1, sizeof *own);
    if (!own)
        return out_of_memory(error);
    rows->state = own;
    own->texts = calloc(rows->wire_count, sizeof *own->texts);
    if (!own->texts)
        return out_of_memory(error);
    for (size_t i = 0; i < rows->wire_count; i++)
        if (rows->wires[i] == BRUME_WIRE_TEXT) {
            own->texts[i] = calloc(duckdb_vector_size(), sizeof **own->texts);
            if (!own->texts[i])
                return out_of_memory(error);
        }
    duckdb_extracted_statements statements;
    idx_t statement_count = duckdb_extract_statements(state->connection, sql, &statements);
    bool prepared = statement_count == 1 &&
                    duckdb_prepare_extracted_statement(state->connection, statements, 0,
                                                       &own->statement) == DuckDBSuccess;
    duckdb_destroy_extracted(&statements);
    if (statement_count != 1 || (prepared && duckdb_prepared_statement_type(own->statement) !=
                                                 DUCKDB_STATEMENT_TYPE_SELECT))
        return brume_fail(error, BRUME_EINTERNAL, NULL, "only a single SELECT may run");
    if (!prepared)
        return engine_failed(state, error);
    if (duckdb_pending_prepared_streaming(own->statement, &own->pending) != DuckDBSuccess)
        return engine_failed(state, error);
    if (duckdb_execute_pending(own->pending, &own->result) != DuckDBSuccess) {
        duckdb_destroy_result(&own->result);
        if (atomic_exchange(&engine->cancelled, false))
            return brume_fail(error, BRUME_ECANCELLED, NULL, "interrupted");
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
        rows->chunk.row_count = 0;
        return BRUME_OK;
    }
    size_t count = duckdb_data_chunk_get_size(own->chunk);
    for (size_t i = 0; i < rows->wire_count; i++) {
        duckdb_vector vector = duckdb_data_chunk_get_vector(own->chunk, i);
        void *data = duckdb_vector_get_data(vector);
        brume_chunk_column *column = &rows->columns[i];
        column->valid = duckdb_vector_get_validity(vector);
        column->integers = rows->wires[i] == BRUME_WIRE_INTEGER ? data : NULL;
        column->reals = rows->wires[i] == BRUME_WIRE_REAL ? data : NULL;
        column->texts = own->texts[i];
        if (rows->wires[i] != BRUME_WIRE_TEXT)
            continue;
        duckdb_string_t *strings = data;
        for (size_t j = 0; j < count; j++)
            own->texts[i][j] = brume_chunk_is_null(column, j)
                                   ? (brume_text){"", 0}
                                   : (brume_text){duckdb_string_t_data(&strings[j]),
                                                  duckdb_string_t_length(strings[j])};
    }
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

static void duckdb_driver_cancel(brume_engine *engine)
{
    engine_state *state = engine->state;
    duckdb_interrupt(state->connection);
}

const brume_driver brume_driver_duckdb = {
    .dialect = BRUME_DIALECT_DUCKDB,
    .capabilities = BRUME_ENGINE_PARALLEL,
    .open = duckdb_driver_open,
    .close = duckdb_driver_close,
    .describe = duckdb_driver_describe,
    .marks = duckdb_driver_marks,
    .select = duckdb_driver_select,
    .next = duckdb_driver_next,
    .finish = duckdb_driver_finish,
    .cancel = duckdb_driver_cancel,
};
