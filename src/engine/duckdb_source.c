/* The files of DuckDB: how they are read, and whether they are what they were.
 *
 * All are read by brume (text_source.c, parquet_source.c), and DuckDB opens none itself. Each
 * source is a view. */
#include "engine/duckdb_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "engine/driver.h"
#include "engine/parquet_source.h"
#include "engine/text_source.h"

brume_status brume_duckdb_describe(const brume_duckdb_source *source,
                                   brume_description *description, brume_error *error)
{
    if (source->files.format == BRUME_FILE_PARQUET)
        BRUME_TRY(brume_parquet_source_describe(&source->table, description, error));
    else
        BRUME_TRY(brume_text_source_describe(&source->table, description, error));
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
        return brume_text_source_open(recorded, &source->files, &source->table, &source->options,
                                      error);
    source->options = strdup("");
    if (!source->options)
        return brume_no_memory(error, NULL);
    return brume_parquet_source_open(recorded, &source->files, &source->table, error);
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
