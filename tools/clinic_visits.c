/* clinic_visits FILE [VISITS [PATIENTS [SKEW]]]: write a Parquet (or CSV) file of generated clinic
 * visits.
 *
 * With SKEW 1.3, unless said, most patients have about as many visits; with 2 a few have very many:
 * of a million visits of 200,000 patients one has some 2,200.
 * Columns: patient, ward, diagnosis, age, stay (days), cost, day. Nothing in it is real; it is the
 * same for the same numbers on every machine, because every value is a hash of its row. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <duckdb.h>

/* h(k): a number in [0, 1) that depends on the row and on k; p(k): on the patient and on k. */
static const char select_text[] =
    "SELECT patient,"
    " CASE WHEN w < .30 THEN 'emergency' WHEN w < .52 THEN 'medicine' WHEN w < .70 THEN 'surgery'"
    "  WHEN w < .82 THEN 'maternity' WHEN w < .91 THEN 'cardiology' WHEN w < .97 THEN 'neurology'"
    "  ELSE 'oncology' END AS ward,"
    " CASE WHEN d < .00002 THEN 'kuru' WHEN d < .0004 THEN 'leprosy'"
    "  WHEN d < .02 THEN 'tuberculosis' WHEN d < .10 THEN 'diabetes' WHEN d < .22 THEN 'asthma'"
    "  WHEN d < .36 THEN 'fracture' WHEN d < .55 THEN 'hypertension'"
    "  WHEN d < .75 THEN 'infection' ELSE 'other' END AS diagnosis,"
    " CAST(100 * (1 - sqrt(1 - .98 * a)) AS INTEGER) AS age,"
    " CAST(-3 * ln(1 - .999 * s) + 1 AS INTEGER) AS stay,"
    " round(200 + 5000 * c * c * c, 2) AS cost,"
    " DATE '2026-01-01' + CAST(floor(180 * t) AS INTEGER) AS day"
    " FROM (SELECT CAST(floor(%llu * power(hash(i, 1) / 18446744073709551616.0, %.3f)) AS BIGINT)"
    "   AS patient, hash(i, 2) / 18446744073709551616.0 AS w,"
    "  hash(i, 3) / 18446744073709551616.0 AS d, hash(patient, 4) / 18446744073709551616.0 AS a,"
    "  hash(i, 5) / 18446744073709551616.0 AS s, hash(i, 6) / 18446744073709551616.0 AS c,"
    "  hash(i, 7) / 18446744073709551616.0 AS t FROM range(%llu) AS r(i))";

static int run(duckdb_connection connection, const char *sql)
{
    duckdb_result result;
    int failed = duckdb_query(connection, sql, &result) != DuckDBSuccess;
    if (failed)
        fprintf(stderr, "clinic_visits: %s\n", duckdb_result_error(&result));
    duckdb_destroy_result(&result);
    return failed;
}

int main(int argc, char **argv)
{
    if (argc < 2 || strchr(argv[1], '\'')) {
        fprintf(stderr, "usage: clinic_visits FILE [VISITS [PATIENTS [SKEW]]]\n");
        return 2;
    }
    unsigned long long visits = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000;
    unsigned long long patients = argc > 3 ? strtoull(argv[3], NULL, 10) : 200000;
    double skew = argc > 4 ? strtod(argv[4], NULL) : 1.3;
    char select[sizeof select_text + 64], sql[sizeof select + 4096 + 64];
    snprintf(select, sizeof select, select_text, patients, skew, visits);
    size_t length = strlen(argv[1]);
    int csv = length > 4 && strcmp(argv[1] + length - 4, ".csv") == 0;
    if (length > 4000)
        return 2;
    snprintf(sql, sizeof sql, "COPY (%s) TO '%s' (FORMAT %s)", select, argv[1],
             csv ? "csv, HEADER" : "parquet");
    duckdb_database database;
    duckdb_connection connection;
    if (duckdb_open(NULL, &database) != DuckDBSuccess ||
        duckdb_connect(database, &connection) != DuckDBSuccess)
        return 1;
    int failed = run(connection, sql);
    duckdb_disconnect(&connection);
    duckdb_close(&database);
    return failed;
}
