/* Reading files: see the header. Both readers are asked the same query by the same DuckDB, with the
 * same types, turn by turn; the answers must agree. */
#include "reading.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "engine/duckdb_reader.h"
#include "engine/libduckdb.h"
#include "reader/parquet/parquet.h"
#include "reader/text_files.h"

static const brume_reader_column columns[] = {
    {"id", {BRUME_TYPE_BIGINT, 0, 0}},     {"town", {BRUME_TYPE_TEXT, 0, 0}},
    {"street", {BRUME_TYPE_TEXT, 0, 0}},   {"income", {BRUME_TYPE_INTEGER, 0, 0}},
    {"weight", {BRUME_TYPE_DOUBLE, 0, 0}}, {"day", {BRUME_TYPE_DATE, 0, 0}},
};
static const char types[] = "{'id': 'BIGINT', 'town': 'VARCHAR', 'street': 'VARCHAR', 'income': "
                            "'INTEGER', 'weight': 'DOUBLE', 'day': 'DATE'}";

static void fail(const char *what)
{
    fprintf(stderr, "query: %s\n", what);
    exit(1);
}

static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* The result of one row and column, in memory of its own. */
static char *ask(duckdb_connection connection, const char *sql)
{
    duckdb_result result;
    if (duckdb_query(connection, sql, &result) != DuckDBSuccess)
        fail(duckdb_result_error(&result));
    char *text = NULL;
    if (duckdb_column_count(&result) == 1 && duckdb_row_count(&result) == 1)
        text = duckdb_value_varchar(&result, 0, 0);
    char *copy = strdup(text ? text : "");
    duckdb_free(text);
    duckdb_destroy_result(&result);
    return copy;
}

typedef enum kind { UNQUOTED, QUOTED, PARQUET } kind;
static const char *const names[] = {"unquoted", "quoted", "parquet"};

static void write_file(duckdb_connection connection, const char *path, unsigned long long rows,
                       kind which)
{
    static const char *const formats[] = {"csv, HEADER", "csv, HEADER, FORCE_QUOTE (town, street)",
                                          "parquet"};
    bool quoted = which == QUOTED;
    char sql[1200];
    snprintf(
        sql, sizeof sql,
        "COPY (SELECT i AS id, ['Lyon', 'Lille', 'Paris', 'Saint-Denis'][1 + CAST(hash(i) %% 4 AS BIGINT)] AS "
        "town, 'Rue %s ' || (hash(i + 7) %% 5000) || %s AS street, "
        "CAST(hash(i + 1) %% 100000 AS INTEGER) AS income, round((hash(i + 2) %% 100000) / 1000.0, 2) AS weight, DATE '2000-01-01' + "
        "CAST(hash(i + 3) %% 9000 AS INTEGER) AS day FROM range(%llu) AS r(i)) TO '%s' (FORMAT "
        "%s)",
        quoted ? "de la \"République\"," : "de la Republique", quoted ? "', bis'" : "''", rows,
        path, formats[which]);
    free(ask(connection, sql));
}

typedef struct timing {
    double wall, cpu;
} timing;

static timing least(timing a, timing b)
{
    return (timing){fmin(a.wall, b.wall), fmin(a.cpu, b.cpu)};
}

static timing measure(duckdb_connection connection, const char *select, const char *from,
                      char **answer)
{
    char sql[1200];
    snprintf(sql, sizeof sql, "SELECT CAST(ROW(%s) AS VARCHAR) FROM %s", select, from);
    timing start = {now(CLOCK_MONOTONIC), now(CLOCK_PROCESS_CPUTIME_ID)};
    *answer = ask(connection, sql);
    return (timing){now(CLOCK_MONOTONIC) - start.wall, now(CLOCK_PROCESS_CPUTIME_ID) - start.cpu};
}

static void compare(duckdb_connection connection, const char *path, kind which, const char *named,
                    int threads, int rounds)
{
    static const struct {
        const char *name, *select;
    } queries[] = {
        {"all columns", "count(*), sum(id), max(town), max(street), sum(income), "
                        "round(sum(weight)), max(day)"},
        {"two columns", "count(*), sum(income), max(town)"},
    };
    char from[600], set[64];
    snprintf(
        from, sizeof from,
        which == PARQUET
            ? "read_parquet('%s')"
            : "read_csv('%s', auto_detect = false, header = true, delim = ',', quote = '\"', escape "
              "= '\"', columns = %s)",
        path, types);
    snprintf(set, sizeof set, "SET threads = %d", threads);
    free(ask(connection, set));
    for (size_t q = 0; q < sizeof queries / sizeof *queries; q++) {
        timing ours = {INFINITY, INFINITY}, theirs = ours;
        for (int round = 0; round < rounds; round++) {
            char *answers[2];
            char function[120];
            snprintf(function, sizeof function,
                     "%s() AS t(nobody, id, town, street, income, weight, day)", named);
            theirs = least(theirs, measure(connection, queries[q].select, from, &answers[0]));
            ours = least(ours, measure(connection, queries[q].select, function, &answers[1]));
            if (strcmp(answers[0], answers[1]) != 0)
                fail("the two readers disagree");
            free(answers[0]);
            free(answers[1]);
        }
        printf("  %-10s %d thread%s  %-12s DuckDB %6.2f s  brume %6.2f s  ratio %.2f  (of "
               "processor time %.2f)\n",
               names[which], threads, threads > 1 ? "s" : " ", queries[q].name, theirs.wall,
               ours.wall, ours.wall / theirs.wall, ours.cpu / theirs.cpu);
    }
}

static void open_text(const char *path, brume_duckdb_table *table)
{
    brume_error error = {0};
    const char *const paths[] = {path};
    brume_text_table text = {.paths = paths,
                             .path_count = 1,
                             .named = path,
                             .format = brume_text_format_of(path),
                             .columns = columns,
                             .column_count = sizeof columns / sizeof *columns};
    table->format = &brume_text_rows;
    if (brume_text_files_open(&text, &table->files, &error) != BRUME_OK)
        fail(error.message);
}

static void open_parquet(const char *path, brume_duckdb_table *table)
{
    brume_error error = {0};
    const char *const paths[] = {path};
    table->format = &brume_parquet_format;
    if (brume_parquet_open(path, paths, 1, &table->files, &error) != BRUME_OK)
        fail(error.message);
}

static void compare_file(duckdb_connection connection, const char *folder, kind which,
                         unsigned long long rows, int rounds)
{
    char path[200], name[40];
    brume_error error = {0};
    snprintf(name, sizeof name, "own_%s", names[which]);
    snprintf(path, sizeof path, "%s/%s.%s", folder, name, which == PARQUET ? "parquet" : "csv");
    write_file(connection, path, rows, which);
    brume_duckdb_table table = {.columns = (brume_reader_column *)columns,
                                .column_count = sizeof columns / sizeof *columns,
                                .lock = PTHREAD_MUTEX_INITIALIZER};
    brume_duckdb_table *place = &table;
    if (which == PARQUET)
        open_parquet(path, &table);
    else
        open_text(path, &table);
    if (brume_duckdb_table_make(connection, name, &place, &error) != BRUME_OK)
        fail(error.message);
    int cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    compare(connection, path, which, name, 1, rounds);
    if (cores > 1)
        compare(connection, path, which, name, cores, rounds);
    table.format->close(table.files);
    unlink(path);
}

void measure_reading(const char *folder, unsigned long long rows, int rounds)
{
    duckdb_database database;
    duckdb_connection connection;
    brume_error error = {0};
    if (brume_libduckdb_load(&error) != BRUME_OK)
        fail(error.message);
    if (duckdb_open(NULL, &database) != DuckDBSuccess ||
        duckdb_connect(database, &connection) != DuckDBSuccess)
        fail("DuckDB does not open");
    printf("reading CSV and Parquet files of %llu rows and 6 columns, best of %d\n", rows, rounds);
    for (kind which = UNQUOTED; which <= PARQUET; which++)
        compare_file(connection, folder, which, rows, rounds);
    printf("\n");
    duckdb_disconnect(&connection);
    duckdb_close(&database);
}
