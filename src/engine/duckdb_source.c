/* The files of DuckDB: how they are read, and whether they are what they were.
 *
 * CSV and JSON are read by brume (text_source.c), Parquet by DuckDB: every Parquet file must have
 * the recorded columns, by name and type. Each source is a view. */
#include "engine/duckdb_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "engine/driver.h"
#include "engine/text_source.h"

/* ---- text of SQL ---- */

void brume_sql_append(char **text, const char *more)
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

void brume_sql_append_quoted(char **text, const char *value)
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
    brume_sql_append(text, quoted);
    free(quoted);
}

static void append_files(char **text, const brume_duckdb_source *source)
{
    brume_sql_append(text, "[");
    for (size_t i = 0; i < source->files.count; i++) {
        brume_sql_append(text, i ? "," : "");
        brume_sql_append_quoted(text, source->files.paths[i]);
    }
    brume_sql_append(text, "]");
}

bool brume_duckdb_run(duckdb_connection connection, const char *sql)
{
    duckdb_result result;
    bool done = duckdb_query(connection, sql, &result) == DuckDBSuccess;
    duckdb_destroy_result(&result);
    return done;
}

/* FROM text that reads the files of a source. */
static char *reader(const brume_duckdb_source *source, size_t index)
{
    char *sql = NULL;
    if (source->table.format)
        return brume_engine_format("brume_read_%zu()", index);
    brume_sql_append(&sql, "read_parquet(");
    append_files(&sql, source);
    brume_sql_append(&sql, ")");
    return sql;
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

/* The columns of a view or a SELECT. */
static brume_status describe_columns(duckdb_connection connection, const char *from,
                                     const char *named, brume_description *description,
                                     brume_error *error)
{
    char *sql = brume_engine_format("SELECT column_name, column_type FROM (DESCRIBE %s)", from);
    if (!sql)
        return brume_no_memory(error, NULL);
    duckdb_result result;
    brume_status status = BRUME_OK;
    if (duckdb_query(connection, sql, &result) != DuckDBSuccess)
        status = brume_fail(error, BRUME_ESOURCE,
                            "is it whole, and of the kind that its name says?",
                            "cannot make out the columns of '%s'", named);
    free(sql);
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
                status = brume_no_memory(error, NULL);
            }
            free(name);
            free(native);
        }
        duckdb_destroy_data_chunk(&chunk);
    }
    duckdb_destroy_result(&result);
    return status;
}

brume_status brume_duckdb_describe(duckdb_connection connection, size_t index,
                                   const brume_duckdb_source *source,
                                   brume_description *description, brume_error *error)
{
    char view[48];
    snprintf(view, sizeof view, "main.source_%zu", index);
    if (source->table.format)
        BRUME_TRY(brume_text_source_describe(&source->table, description, error));
    else
        BRUME_TRY(describe_columns(connection, view, source->files.location, description, error));
    description->identity = strdup(source->files.identity);
    description->options = strdup(source->options);
    return description->identity && description->options ? BRUME_OK : brume_no_memory(error, NULL);
}

/* ---- checks ---- */

/* Every file has the columns of the first: DuckDB would cast what has another type, and fail at a
 * value that does not fit. */
static brume_status check_all_parquet(duckdb_connection connection,
                                      const brume_duckdb_source *source,
                                      const brume_description *first, brume_error *error)
{
    brume_source expected = {.columns = first->columns, .column_count = first->column_count};
    brume_status status = BRUME_OK;
    for (size_t i = 1; status == BRUME_OK && i < source->files.count; i++) {
        brume_description other = {0};
        char *from = NULL;
        brume_sql_append(&from, "SELECT * FROM read_parquet(");
        brume_sql_append_quoted(&from, source->files.paths[i]);
        brume_sql_append(&from, ")");
        status = from ? describe_columns(connection, from, source->files.location, &other, error)
                      : brume_no_memory(error, NULL);
        if (status == BRUME_OK && (other.column_count != first->column_count ||
                                   brume_engine_check_columns(&expected, &other, NULL) != BRUME_OK))
            status = brume_fail(error, BRUME_ESOURCE,
                                "all of them must have the same columns, of the same types",
                                "the files of '%s' have different columns", source->files.location);
        free(from);
        brume_description_clear(&other);
    }
    return status;
}

/* ---- open ---- */

static brume_status make_view(duckdb_connection connection, size_t index,
                              const brume_duckdb_source *source, brume_error *error)
{
    char *from = reader(source, index);
    char *sql =
        from ? brume_engine_format("CREATE VIEW main.source_%zu AS SELECT * FROM %s", index, from)
             : NULL;
    free(from);
    if (!sql)
        return brume_no_memory(error, NULL);
    bool made = brume_duckdb_run(connection, sql);
    free(sql);
    return made ? BRUME_OK
                : brume_fail(error, BRUME_ESOURCE,
                             "is it whole, and of the kind that its name says?", "cannot read '%s'",
                             source->files.location);
}

static brume_status open_text(duckdb_connection connection, size_t index,
                              const brume_source *recorded, brume_duckdb_source *source,
                              brume_error *error)
{
    char name[48];
    BRUME_TRY(
        brume_text_source_open(recorded, &source->files, &source->table, &source->options, error));
    snprintf(name, sizeof name, "brume_read_%zu", index);
    return brume_duckdb_table_make(connection, name, &source->table, error);
}

/* A Parquet file says its columns itself. */
static brume_status check_parquet(duckdb_connection connection, size_t index,
                                  const brume_source *recorded, const brume_duckdb_source *source,
                                  brume_error *error)
{
    brume_description now = {0};
    brume_status status = brume_duckdb_describe(connection, index, source, &now, error);
    if (status == BRUME_OK)
        status = brume_engine_check_columns(recorded, &now, error);
    if (status == BRUME_OK)
        status = check_all_parquet(connection, source, &now, error);
    brume_description_clear(&now);
    return status;
}

brume_status brume_duckdb_open_source(duckdb_connection connection, size_t index,
                                      const brume_source *recorded, brume_duckdb_source *source,
                                      char **table, brume_error *error)
{
    bool parquet = source->files.format == BRUME_FILE_PARQUET;
    if (!parquet)
        BRUME_TRY(open_text(connection, index, recorded, source, error));
    else if (!(source->options = strdup("")))
        return brume_no_memory(error, NULL);
    BRUME_TRY(make_view(connection, index, source, error));
    *table = brume_engine_format("\"memory\".\"main\".\"source_%zu\"", index);
    if (!*table)
        return brume_no_memory(error, NULL);
    return parquet ? check_parquet(connection, index, recorded, source, error) : BRUME_OK;
}

void brume_duckdb_source_clear(brume_duckdb_source *source)
{
    brume_duckdb_table_clear(&source->table);
    brume_files_clear(&source->files);
    free(source->options);
}
