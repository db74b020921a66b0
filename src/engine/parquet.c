/* Writing a Parquet file: a private DuckDB in memory copies a CSV file of brume's own making. */
#include "engine/parquet.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/libduckdb.h"

#include "base/error.h"

static void write_quoted(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text; text++) {
        if (*text == '\'')
            fputc('\'', out);
        fputc(*text, out);
    }
    fputc('\'', out);
}

/* COPY (SELECT * FROM read_csv('...', columns={'a': 'VARCHAR', ...})) TO '...' */
static void write_copy(FILE *out, const char *csv, const char *const *names,
                       const brume_parquet_type *types, size_t count, const char *path)
{
    static const char *const words[] = {"VARCHAR", "BIGINT", "DOUBLE"};
    fputs("COPY (SELECT * FROM read_csv(", out);
    write_quoted(out, csv);
    fputs(", header=true, auto_detect=false, delim=',', quote='\"', escape='\"', nullstr='', "
          "max_line_size=67108864, columns={",
          out);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ", " : "", out);
        write_quoted(out, names[i]);
        fprintf(out, ": '%s'", words[types[i]]);
    }
    fputs("})) TO ", out);
    write_quoted(out, path);
    fputs(" (FORMAT parquet)", out);
}

static brume_status run(const char *sql, brume_error *error)
{
    BRUME_TRY(brume_libduckdb_load(error));
    duckdb_database database = NULL;
    duckdb_connection connection = NULL;
    duckdb_result result = {0};
    bool good = duckdb_open(NULL, &database) == DuckDBSuccess &&
                duckdb_connect(database, &connection) == DuckDBSuccess;
    if (good) {
        /* nothing of the rows goes to disk but the file itself */
        good = duckdb_query(connection, "SET temp_directory = ''", NULL) == DuckDBSuccess &&
               duckdb_query(connection, sql, &result) == DuckDBSuccess;
        duckdb_destroy_result(&result);
    }
    duckdb_disconnect(&connection);
    duckdb_close(&database);
    return good ? BRUME_OK
                : brume_fail(error, BRUME_EENGINE, "write a .csv instead",
                             "DuckDB cannot write the Parquet file");
}

brume_status brume_parquet_write(const char *csv, const char *const *names,
                                 const brume_parquet_type *types, size_t count, const char *path,
                                 brume_error *error)
{
    char *sql = NULL;
    size_t length = 0;
    FILE *text = open_memstream(&sql, &length);
    if (!text)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    write_copy(text, csv, names, types, count, path);
    brume_status status = fclose(text) == 0
                              ? run(sql, error)
                              : brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    free(sql);
    return status;
}
