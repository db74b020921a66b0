/* The columns of Parquet files: see the header. They are those of the files' footers. */
#include "engine/parquet_source.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "engine/driver.h"
#include "reader/parquet/parquet.h"

/* Nanoseconds are cut to microseconds, decimals of more than 38 digits are read as doubles. */
static brume_leaf leaf_of(const brume_parquet_column *column)
{
    bool cut = column->meaning == PARQUET_MEANS_NANOS ||
               column->meaning == PARQUET_MEANS_JULIAN_DAY || column->meaning == PARQUET_MEANS_WIDE;
    return cut ? BRUME_LEAF_CUT : BRUME_LEAF_PLAIN;
}

brume_status brume_parquet_source_describe(const brume_duckdb_table *table,
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
    brume_status status = brume_parquet_source_describe(table, &now, error);
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

brume_status brume_parquet_source_open(const brume_source *source, const brume_files *files,
                                       brume_duckdb_table *table, brume_error *error)
{
    table->format = &brume_parquet_format; /* from here on it can be cleared */
    BRUME_TRY(brume_parquet_open(files->location, (const char *const *)files->paths, files->count,
                                 &table->files, error));
    BRUME_TRY(check_recorded(source, table, error));
    return take_columns(table, files->location, error);
}
