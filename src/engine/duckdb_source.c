/* The files of DuckDB: how they are read, and whether they are what they were.
 *
 * All are read by brume, and DuckDB opens none itself. Each
 * source is a view. */
#include "engine/duckdb_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "engine/driver.h"
#include "engine/duckdb.h"
#include "engine/duckdb_reader.h"
#include "engine/files.h"
#include "engine/libduckdb.h"
#include "reader/format.h"
#include "reader/guess.h"
#include "reader/parquet/parquet.h"
#include "reader/text_files.h"

/* The columns of Parquet files: see the header. They are those of the files' footers. */

/* Nanoseconds are cut to microseconds, decimals of more than 38 digits are read as doubles. */
static brume_leaf leaf_of(const brume_parquet_column *column)
{
    bool cut = column->meaning == PARQUET_MEANS_NANOS ||
               column->meaning == PARQUET_MEANS_JULIAN_DAY || column->meaning == PARQUET_MEANS_WIDE;
    return cut ? BRUME_LEAF_CUT : BRUME_LEAF_PLAIN;
}

/* What is described of the columns, also of those that cannot be read. */
static brume_status parquet_source_describe(const brume_duckdb_table *table,
                                            brume_description *description, brume_error *error)
{
    size_t count = 0;
    const brume_parquet_column *columns = brume_parquet_columns(table->files, &count);
    for (size_t i = 0; i < count; i++)
        BRUME_TRY(brume_engine_add_column(description, columns[i].name, columns[i].native,
                                          columns[i].type, leaf_of(&columns[i]), false, error));
    return BRUME_OK;
}

static brume_status check_recorded(const brume_source *source, const brume_duckdb_table *table,
                                   brume_error *error)
{
    brume_description now = {0};
    brume_status status = parquet_source_describe(table, &now, error);
    if (status == BRUME_OK)
        status = brume_engine_check_columns(source, &now, error);
    brume_description_clear(&now);
    return status;
}

static brume_status take_columns(brume_duckdb_table *table, const char *location,
                                 brume_error *error)
{
    size_t count = 0;
    const brume_parquet_column *columns = brume_parquet_columns(table->files, &count);
    table->columns = calloc(count + 1, sizeof *table->columns);
    if (!table->columns)
        return brume_no_memory(error, NULL);
    for (size_t i = 0; i < count; i++) {
        if (columns[i].type.kind == BRUME_TYPE_REFUSED)
            continue;
        char *name = strdup(columns[i].name);
        if (!name)
            return brume_no_memory(error, NULL);
        table->columns[table->column_count++] = (brume_reader_column){name, columns[i].type};
    }
    if (table->column_count == 0)
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL,
                          "'%s' has no column of a type that brume reads", location);
    return BRUME_OK;
}

/* Open the files: ESOURCE unless they are sound and have the same columns, those that `source`
 * recorded among them. Fills the first four fields of `table`, with the columns that can be read.
 */
static brume_status parquet_source_open(const brume_source *source, const brume_files *files,
                                        brume_duckdb_table *table, brume_error *error)
{
    table->format = &brume_parquet_format; /* from here on it can be cleared */
    BRUME_TRY(brume_parquet_open(files->location, (const char *const *)files->paths, files->count,
                                 &table->files, error));
    BRUME_TRY(check_recorded(source, table, error));
    return take_columns(table, files->location, error);
}

/* The columns of CSV and JSON files: see the header. Nothing here looks at a row. */

static const brume_type text_type = {BRUME_TYPE_TEXT, 0, 0};

static brume_status add_column(brume_duckdb_table *table, const char *name, brume_type type,
                               brume_error *error)
{
    brume_reader_column *grown = realloc(table->columns, (table->column_count + 1) * sizeof *grown);
    if (!grown)
        return brume_no_memory(error, NULL);
    table->columns = grown;
    char *copy = strdup(name);
    if (!copy)
        return brume_no_memory(error, NULL);
    grown[table->column_count++] = (brume_reader_column){copy, type};
    return BRUME_OK;
}

/* ---- at registration ---- */

static brume_status check_declared(const brume_source *source, brume_error *error)
{
    for (size_t i = 0; i < source->declared_count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcasecmp(source->declared[i].name, source->declared[j].name) == 0)
                return brume_fail(error, BRUME_EARGUMENT, "declare a column once",
                                  "the column '%s' is declared twice", source->declared[i].name);
    return BRUME_OK;
}

/* Every declared name must be in the header. */
static brume_status check_names(const brume_source *source, const brume_header *header,
                                brume_error *error)
{
    for (size_t i = 0; i < source->declared_count; i++) {
        const char *name = source->declared[i].name;
        size_t j = 0;
        while (j < header->count && strcmp(header->names[j], name) != 0)
            j++;
        if (j < header->count)
            continue;
        char hint[BRUME_COLUMN_HINT];
        brume_text_column_hint(name, (const char *const *)header->names, header->count, hint);
        return brume_fail(error, BRUME_EARGUMENT, hint, "the file has no column '%s'", name);
    }
    return BRUME_OK;
}

static brume_type declared_type(const brume_source *source, const char *name)
{
    for (size_t i = 0; i < source->declared_count; i++)
        if (strcmp(source->declared[i].name, name) == 0)
            return source->declared[i].type;
    return text_type;
}

static brume_status take_header(const brume_source *source, const brume_files *files,
                                const brume_text_format *format, brume_duckdb_table *table,
                                brume_error *error)
{
    brume_text_file file;
    brume_header header = {0};
    BRUME_TRY(brume_text_file_look(files->paths[0], files->location, &file, error));
    BRUME_TRY(brume_header_read(&file, format, &header, error));
    brume_status status = brume_header_check_distinct(&header, files->location, error);
    if (status == BRUME_OK)
        status = check_names(source, &header, error);
    for (size_t i = 0; status == BRUME_OK && i < header.count; i++)
        status = add_column(table, header.names[i], declared_type(source, header.names[i]), error);
    brume_header_clear(&header);
    return status;
}

static brume_status take_declared(const brume_source *source, bool json, brume_duckdb_table *table,
                                  brume_error *error)
{
    if (source->declared_count == 0)
        return brume_fail(error, BRUME_EARGUMENT,
                          "name them, with their types: --columns 'person text, age integer'; "
                          "'brume inspect' proposes some",
                          "the columns of a %s must be declared",
                          json ? "JSON file" : "CSV without a header");
    for (size_t i = 0; i < source->declared_count; i++)
        BRUME_TRY(add_column(table, source->declared[i].name, source->declared[i].type, error));
    return BRUME_OK;
}

static brume_status find_columns(const brume_source *source, const brume_files *files,
                                 const brume_text_format *format, brume_duckdb_table *table,
                                 brume_error *error)
{
    bool json = files->format == BRUME_FILE_JSON;
    for (size_t i = 0; source->columns && i < source->column_count; i++)
        BRUME_TRY(add_column(table, source->columns[i].name, source->columns[i].type, error));
    if (source->columns)
        return BRUME_OK;
    BRUME_TRY(check_declared(source, error));
    return json || !format->header ? take_declared(source, json, table, error)
                                   : take_header(source, files, format, table, error);
}

/* ---- open ---- */

static brume_status find_format(const brume_source *source, brume_text_format *format,
                                brume_error *error)
{
    const char *options = source->options;
    *format = brume_text_format_of(source->location);
    if (options && *options == ',')
        return brume_fail(error, BRUME_ESOURCE,
                          "declare its columns: brume amend NAME --columns 'person text, ...'",
                          "'%s' was registered by an older version, which found its columns out "
                          "from rows",
                          source->location);
    return options && *options ? brume_text_format_parse(options, format, error) : BRUME_OK;
}

static brume_status open_text_files(const brume_files *files, const brume_text_format *format,
                                    brume_duckdb_table *table, brume_error *error)
{
    brume_text_table text = {.paths = (const char *const *)files->paths,
                             .path_count = files->count,
                             .named = files->location,
                             .json = files->format == BRUME_FILE_JSON,
                             .format = *format,
                             .columns = table->columns,
                             .column_count = table->column_count};
    return brume_text_files_open(&text, &table->files, error);
}

/* Open the files of `source`: with recorded columns those, and ESOURCE unless every header line
 * names them; without (registration) what its header and the declared columns say: EARGUMENT where
 * they do not fit or say nothing. Fills the first four fields of `table`; *options is how the lines
 * are read, to be recorded. */
static brume_status text_source_open(const brume_source *source, const brume_files *files,
                                     brume_duckdb_table *table, char **options, brume_error *error)
{
    brume_text_format format;
    BRUME_TRY(find_format(source, &format, error));
    table->format = &brume_text_rows; /* from here on it can be cleared */
    BRUME_TRY(find_columns(source, files, &format, table, error));
    BRUME_TRY(open_text_files(files, &format, table, error));
    *options = brume_text_format_print(&format);
    return *options ? BRUME_OK : brume_no_memory(error, NULL);
}

/* What is described of the columns. */
static brume_status text_source_describe(const brume_duckdb_table *table,
                                         brume_description *description, brume_error *error)
{
    for (size_t i = 0; i < table->column_count; i++) {
        char native[BRUME_TYPE_NAME_SIZE];
        BRUME_TRY(brume_engine_add_column(description, table->columns[i].name,
                                          brume_type_name(table->columns[i].type, native),
                                          table->columns[i].type, BRUME_LEAF_PLAIN, false, error));
    }
    return BRUME_OK;
}

brume_status brume_duckdb_describe(const brume_duckdb_source *source,
                                   brume_description *description, brume_error *error)
{
    if (source->files.format == BRUME_FILE_PARQUET)
        BRUME_TRY(parquet_source_describe(&source->table, description, error));
    else
        BRUME_TRY(text_source_describe(&source->table, description, error));
    description->identity = strdup(source->files.identity);
    description->options = strdup(source->options);
    return description->identity && description->options ? BRUME_OK : brume_no_memory(error, NULL);
}

/* ---- open ---- */

/* CREATE VIEW main.source_3 AS SELECT "1" AS "person", "2" AS "age" FROM brume_read_3() */
static char *print_view(size_t index, const brume_duckdb_table *table)
{
    char *sql = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&sql, &length);
    bool good = out != NULL;
    if (good)
        fprintf(out, "CREATE VIEW main.source_%zu AS SELECT", index);
    for (size_t i = 0; good && i < table->column_count; i++) {
        char *name = brume_engine_quote(table->columns[i].name);
        good = name && fprintf(out, "%s \"%zu\" AS %s", i ? "," : "", i + 1, name) > 0;
        free(name);
    }
    if (good)
        fprintf(out, " FROM brume_read_%zu()", index);
    if (out && fclose(out) == 0 && good)
        return sql;
    free(sql);
    return NULL;
}

static brume_status open_files(const brume_source *recorded, brume_duckdb_source *source,
                               brume_error *error)
{
    if (source->files.format != BRUME_FILE_PARQUET)
        return text_source_open(recorded, &source->files, &source->table, &source->options, error);
    source->options = strdup("");
    if (!source->options)
        return brume_no_memory(error, NULL);
    return parquet_source_open(recorded, &source->files, &source->table, error);
}

brume_status brume_duckdb_open_source(brume_duckdb_instance *instance, size_t index,
                                      const brume_source *recorded, brume_duckdb_source *source,
                                      char **table, brume_error *error)
{
    pthread_mutex_init(&source->table.lock, NULL);
    BRUME_TRY(open_files(recorded, source, error));
    char *view = print_view(index, &source->table);
    brume_status status =
        view ? brume_duckdb_instance_put(instance, index, &source->table, view, error)
             : brume_no_memory(error, NULL);
    free(view);
    if (status != BRUME_OK)
        return status;
    *table = brume_engine_format("\"memory\".\"main\".\"source_%zu\"", index);
    return *table ? BRUME_OK : brume_no_memory(error, NULL);
}

brume_status brume_duckdb_hold_source(duckdb_connection connection, size_t index,
                                      brume_duckdb_source *source, char **table, bool *made,
                                      brume_error *error)
{
    if (source->number) {
        *made = true;
        return BRUME_OK;
    }
    /* a name longer than every other one is none of them */
    size_t longest = 0;
    for (size_t i = 0; i < source->table.column_count; i++) {
        size_t length = strlen(source->table.columns[i].name);
        longest = length > longest ? length : longest;
    }
    char *number = malloc(longest + 2), *name = NULL;
    char *sql = NULL;
    if (number) {
        memset(number, 'n', longest + 1);
        number[longest + 1] = 0;
        sql = brume_engine_format("CREATE TABLE held.main.held_%zu AS SELECT *, "
                                  "(row_number() OVER () - 1)::BIGINT AS \"%s\" FROM "
                                  "main.source_%zu",
                                  index, number, index);
        name = brume_engine_format("\"held\".\"main\".\"held_%zu\"", index);
    }
    if (!sql || !name) {
        free(number);
        free(sql);
        free(name);
        return brume_no_memory(error, NULL);
    }
    *made = brume_duckdb_run(connection, "ATTACH IF NOT EXISTS ':memory:' AS held (COMPRESS)") &&
            brume_duckdb_run(connection, sql) && brume_duckdb_run(connection, "CHECKPOINT held");
    free(sql);
    if (!*made) {
        free(number);
        free(name);
        return BRUME_OK;
    }
    free(*table);
    *table = name;
    source->number = number;
    return BRUME_OK;
}

void brume_duckdb_source_clear(brume_duckdb_source *source)
{
    free(source->number);
    brume_duckdb_table_clear(&source->table);
    brume_files_clear(&source->files);
    free(source->options);
}
