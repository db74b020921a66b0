/* write_parquet SELECT PATH: a Parquet file for the tests of the command line. */
#include <stdio.h>

#include <duckdb.h>

int main(int argc, char **argv)
{
    duckdb_database database;
    duckdb_connection connection;
    char sql[2000];
    if (argc != 3)
        return 2;
    snprintf(sql, sizeof sql, "COPY (%s) TO '%s' (FORMAT parquet)", argv[1], argv[2]);
    if (duckdb_open(NULL, &database) != DuckDBSuccess ||
        duckdb_connect(database, &connection) != DuckDBSuccess ||
        duckdb_query(connection, sql, NULL) != DuckDBSuccess)
        return 1;
    duckdb_disconnect(&connection);
    duckdb_close(&database);
    return 0;
}
