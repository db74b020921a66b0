/* write_parquet SELECT PATH [OPTION]: a Parquet file for the tests of the command line. OPTION is
 * one of DuckDB's, for instance "COMPRESSION uncompressed". */
#include <stdio.h>

#include <duckdb.h>

int main(int argc, char **argv)
{
    duckdb_database database;
    duckdb_connection connection;
    char sql[2000];
    if (argc != 3 && argc != 4)
        return 2;
    snprintf(sql, sizeof sql, "COPY (%s) TO '%s' (FORMAT parquet%s%s)", argv[1], argv[2],
             argc == 4 ? ", " : "", argc == 4 ? argv[3] : "");
    if (duckdb_open(NULL, &database) != DuckDBSuccess ||
        duckdb_connect(database, &connection) != DuckDBSuccess ||
        duckdb_query(connection, sql, NULL) != DuckDBSuccess)
        return 1;
    duckdb_disconnect(&connection);
    duckdb_close(&database);
    return 0;
}
