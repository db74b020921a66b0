/* The columns of CSV and JSON files: see the header. Nothing here looks at a row. */
#include "engine/text_source.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "engine/driver.h"
#include "reader/format.h"
#include "reader/guess.h"
#include "reader/header.h"
#include "reader/text_files.h"

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

static brume_status open_files(const brume_files *files, const brume_text_format *format,
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

brume_status brume_text_source_open(const brume_source *source, const brume_files *files,
                                    brume_duckdb_table *table, char **options, brume_error *error)
{
    brume_text_format format;
    BRUME_TRY(find_format(source, &format, error));
    table->format = &brume_text_rows; /* from here on it can be cleared */
    BRUME_TRY(find_columns(source, files, &format, table, error));
    BRUME_TRY(open_files(files, &format, table, error));
    *options = brume_text_format_print(&format);
    return *options ? BRUME_OK : brume_no_memory(error, NULL);
}

brume_status brume_text_source_describe(const brume_duckdb_table *table,
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
