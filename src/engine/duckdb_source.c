/* The files of DuckDB: how they are read, and whether they are what they were.
 *
 * CSV and JSON are read with the columns and dialect recorded at registration and skip lines that
 * do not fit them: whether such a line exists must not show. The header line of every CSV must name
 * the recorded columns, since lines are read by position; every Parquet file must have them, by
 * name and type. */
#include "engine/duckdb_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "engine/csv_header.h"
#include "engine/driver.h"

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

/* ---- reading ---- */

/* One row of text columns. */
static bool query_texts(duckdb_connection connection, const char *sql, char **texts, size_t count)
{
    duckdb_result result;
    bool done = duckdb_query(connection, sql, &result) == DuckDBSuccess &&
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
static brume_status sniff_csv(duckdb_connection connection, brume_duckdb_source *source,
                              brume_error *error)
{
    enum { FIELDS = 7 };
    static const char *const names[FIELDS] = {"delim",  "quote",      "escape",         "comment",
                                              "header", "dateformat", "timestampformat"};
    char *sql = NULL, *values[FIELDS] = {0};
    brume_sql_append(
        &sql, "SELECT Delimiter, Quote, Escape, Comment, CAST(HasHeader AS VARCHAR), "
              "CAST(DateFormat AS VARCHAR), CAST(TimestampFormat AS VARCHAR) FROM sniff_csv(");
    brume_sql_append_quoted(&sql, source->files.paths[0]);
    brume_sql_append(&sql, ", ignore_errors = true)");
    bool sniffed = sql && query_texts(connection, sql, values, FIELDS);
    free(sql);
    char *options = sniffed ? strdup("") : NULL;
    /* Where no quote was seen yet, one may still come: then it quotes, as everywhere. */
    bool open_quote = sniffed && strcmp(values[1], "(empty)") == 0 &&
                      brume_csv_starts_without_quotes(source->files.paths[0]);
    for (size_t i = 0; sniffed && i < FIELDS; i++) {
        if (i >= 5 && !*values[i])
            continue;
        const char *value = strcmp(values[i], "(empty)") == 0 ? "" : values[i];
        if (open_quote && (i == 1 || i == 2))
            value = "\"";
        /* Quotes in a quoted text are doubled where nothing else was seen yet. */
        else if (i == 2 && !*value && strcmp(values[1], "(empty)") != 0)
            value = values[1];
        brume_sql_append(&options, ", ");
        brume_sql_append(&options, names[i]);
        brume_sql_append(&options, " = ");
        brume_sql_append_quoted(&options, value);
    }
    for (size_t i = 0; i < FIELDS; i++)
        free(values[i]);
    if (!sniffed)
        return brume_fail(error, BRUME_ESOURCE, "is it a CSV file with a header line?",
                          "cannot make out the columns of '%s'", source->files.location);
    source->options = options;
    return options ? BRUME_OK : brume_no_memory(error, NULL);
}

/* The first byte of the file that is no white space; EOF if there is none. */
static brume_status first_byte(const char *path, int *out, brume_error *error)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return brume_fail(error, BRUME_ESOURCE, NULL, "cannot read '%s'", path);
    int c = fgetc(file);
    while (c == ' ' || c == '\t' || c == '\n' || c == '\r')
        c = fgetc(file);
    fclose(file);
    *out = c;
    return BRUME_OK;
}

/* Only line by line can a record that does not fit be skipped: in an array it would make every
 * query fail, and so tell that it is there. */
static brume_status sniff_json(brume_duckdb_source *source, brume_error *error)
{
    for (size_t i = 0; i < source->files.count; i++) {
        int first = EOF;
        BRUME_TRY(first_byte(source->files.paths[i], &first, error));
        if (first == '[')
            return brume_fail(error, BRUME_EUNSUPPORTED, "write one record a line",
                              "a JSON file that is one array cannot be read privately");
    }
    source->options = strdup(", format = 'newline_delimited', ignore_errors = true");
    return source->options ? BRUME_OK : brume_no_memory(error, NULL);
}

/* May several threads read the files? Which rows there are does not depend on it: what is small,
 * and what may have quotes, is read by one. */
static bool read_by_threads(const brume_duckdb_source *source)
{
    enum { SMALL = 1 << 24 };
    struct stat file;
    bool threads = false;
    for (size_t i = 0; i < source->files.count; i++)
        threads = threads || (stat(source->files.paths[i], &file) == 0 && file.st_size >= SMALL);
    for (size_t i = 0; threads && i < source->files.count; i++)
        threads = brume_csv_has_no_quotes(source->files.paths[i], source->options);
    return threads;
}

/* How a recorded CSV is read. A line that does not fit is skipped, alone: DuckDB's strict mode
 * would fail at a carriage return in a line, and lose what follows a text behind a closing quote,
 * and so tell that they are there. */
static void append_csv_rules(char **sql, const brume_duckdb_source *source)
{
    brume_sql_append(sql, ", auto_detect = false, strict_mode = false");
    brume_sql_append(sql, read_by_threads(source) ? "" : ", parallel = false");
}

/* FROM text that reads the files of a source. */
static char *reader(const brume_duckdb_source *source, const brume_source *recorded)
{
    static const char *const functions[] = {"read_csv(", "read_parquet(", "read_json("};
    char *sql = NULL;
    brume_sql_append(&sql, functions[source->files.format]);
    append_files(&sql, source);
    if (source->files.format == BRUME_FILE_PARQUET) {
        brume_sql_append(&sql, ")");
        return sql;
    }
    brume_sql_append(&sql, source->options);
    brume_sql_append(&sql, source->files.format == BRUME_FILE_CSV ? ", ignore_errors = true" : "");
    if (recorded->columns) {
        if (source->files.format == BRUME_FILE_CSV)
            append_csv_rules(&sql, source);
        brume_sql_append(&sql, ", columns = {");
        for (size_t i = 0; i < recorded->column_count; i++) {
            brume_sql_append(&sql, i ? ", " : "");
            brume_sql_append_quoted(&sql, recorded->columns[i].name);
            brume_sql_append(&sql, ": ");
            brume_sql_append_quoted(&sql, recorded->columns[i].native);
        }
        brume_sql_append(&sql, "}");
    }
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
    BRUME_TRY(describe_columns(connection, view, source->files.location, description, error));
    description->identity = strdup(source->files.identity);
    description->options = strdup(source->options);
    return description->identity && description->options ? BRUME_OK : brume_no_memory(error, NULL);
}

/* ---- checks ---- */

/* Every file has the columns of the first: DuckDB would cast what has another type, and fail at a
 * value that does not fit. */
static brume_status check_parquet(duckdb_connection connection, const brume_duckdb_source *source,
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

/* At registration: what was made out of a CSV must be what the file is. DuckDB makes something of
 * every text, and skips the lines that do not fit it. */
static brume_status check_new_csv(const brume_duckdb_source *source, const brume_description *found,
                                  brume_error *error)
{
    brume_source made = {.columns = found->columns, .column_count = found->column_count};
    size_t fitting = 0, others = 0;
    for (size_t i = 0; i < source->files.count; i++) {
        const char *path = source->files.paths[i];
        brume_status status = brume_csv_check_header(path, source->options, &made, path, error);
        if (status == BRUME_ESOURCE)
            return brume_fail(error, BRUME_ESOURCE,
                              "every file must begin with the same header line, with nothing "
                              "before it",
                              "the first line of '%s' does not name the columns", path);
        BRUME_TRY(status);
        BRUME_TRY(brume_csv_count_rows(path, source->options, found->column_count, &fitting,
                                       &others, error));
    }
    if (fitting + others == 0)
        return brume_fail(error, BRUME_ESOURCE, "register it when it has rows",
                          "'%s' has no rows that would tell the types of its columns",
                          source->files.location);
    if (others > fitting)
        return brume_fail(error, BRUME_ESOURCE,
                          "the first line must be the header, with nothing before it",
                          "most lines of '%s' have more or fewer fields than its %zu columns",
                          source->files.location, found->column_count);
    return BRUME_OK;
}

/* ---- open ---- */

static const char *format_word(const brume_duckdb_source *source)
{
    static const char *const words[] = {
        [BRUME_FILE_CSV] = "CSV", [BRUME_FILE_PARQUET] = "Parquet", [BRUME_FILE_JSON] = "JSON"};
    return words[source->files.format];
}

static brume_status find_options(duckdb_connection connection, const brume_source *recorded,
                                 brume_duckdb_source *source, brume_error *error)
{
    if (recorded->options) {
        source->options = strdup(recorded->options);
        return source->options ? BRUME_OK : brume_no_memory(error, NULL);
    }
    if (source->files.format == BRUME_FILE_CSV)
        return sniff_csv(connection, source, error);
    if (source->files.format == BRUME_FILE_JSON)
        return sniff_json(source, error);
    source->options = strdup("");
    return source->options ? BRUME_OK : brume_no_memory(error, NULL);
}

static brume_status make_view(duckdb_connection connection, size_t index,
                              const brume_source *recorded, const brume_duckdb_source *source,
                              brume_error *error)
{
    char *from = reader(source, recorded);
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
                             "is it whole, and of the kind that its name says?",
                             "cannot read '%s' as %s", source->files.location, format_word(source));
}

brume_status brume_duckdb_open_source(duckdb_connection connection, size_t index,
                                      const brume_source *recorded, brume_duckdb_source *source,
                                      char **table, brume_error *error)
{
    brume_file_format format = source->files.format;
    BRUME_TRY(find_options(connection, recorded, source, error));
    for (size_t i = 0; recorded->columns && format == BRUME_FILE_CSV && i < source->files.count;
         i++)
        BRUME_TRY(brume_csv_check_header(source->files.paths[i], source->options, recorded,
                                         source->files.location, error));
    BRUME_TRY(make_view(connection, index, recorded, source, error));
    *table = brume_engine_format("\"memory\".\"main\".\"source_%zu\"", index);
    if (!*table)
        return brume_no_memory(error, NULL);
    /* CSV and JSON were given the recorded columns; a Parquet file says its own. */
    if (recorded->columns && format != BRUME_FILE_PARQUET)
        return BRUME_OK;
    brume_description now = {0};
    brume_status status = brume_duckdb_describe(connection, index, source, &now, error);
    if (status == BRUME_OK)
        status = brume_engine_check_columns(recorded, &now, error);
    if (status == BRUME_OK && format == BRUME_FILE_PARQUET)
        status = check_parquet(connection, source, &now, error);
    if (status == BRUME_OK && format == BRUME_FILE_CSV)
        status = check_new_csv(source, &now, error);
    brume_description_clear(&now);
    return status;
}
