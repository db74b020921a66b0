/* query: what privacy costs in time. brume's answers beside DuckDB's plain GROUP BY and beside the
 * window-function SQL that bounds contributions inside the engine, in one run, interleaved.
 *
 *   query [ROWS [ROUNDS]]       10,000,000 rows and 3 rounds unless said
 *
 * Data: 1,000 groups; a sparse file in which nearly every row is another (unit, group) pair, and a
 * dense one with 50,000 units. Times are the best of the rounds; memory is the peak of a process of
 * its own. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <duckdb.h>

#include "query/answer.h"

enum { GROUPS = 1000, MOST_ROUNDS = 20 };

static char folder[64];
static brume_ledger *ledger;
static int asked; /* makes every question a new one */

static void stop(const char *what)
{
    fprintf(stderr, "query: %s\n", what);
    exit(1);
}

static void must(brume_status status, const brume_error *error)
{
    if (status != BRUME_OK)
        stop(error->message);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* ---- DuckDB by itself ---- */

static void run_duckdb(const char *sql)
{
    duckdb_database database;
    duckdb_connection connection;
    duckdb_result result;
    if (duckdb_open(NULL, &database) != DuckDBSuccess ||
        duckdb_connect(database, &connection) != DuckDBSuccess)
        stop("DuckDB does not open");
    if (duckdb_query(connection, sql, &result) != DuckDBSuccess)
        stop(duckdb_result_error(&result));
    duckdb_destroy_result(&result);
    duckdb_disconnect(&connection);
    duckdb_close(&database);
}

static void make_data(const char *name, unsigned long long rows, unsigned long long units)
{
    char sql[1024];
    snprintf(sql, sizeof sql,
             "COPY (SELECT CAST(hash(i) %% %llu AS BIGINT) AS person,"
             " CAST(hash(i + 1000000007) %% %d AS BIGINT) AS place,"
             " CAST(hash(i + 2000000011) %% 1000 AS BIGINT) AS amount FROM range(%llu) AS r(i))"
             " TO '%s/%s.parquet' (FORMAT parquet)",
             units, GROUPS, rows, folder, name);
    run_duckdb(sql);
}

/* ---- brume ---- */

static void register_file(const char *name, const char *file, const char *unit, uint64_t max_groups)
{
    brume_error error = {0};
    char path[256], source[320];
    brume_engine *engine = NULL;
    brume_description description = {0};
    brume_policy *policy = NULL;
    brume_filter filter;
    brume_decimal epsilon, delta;
    snprintf(path, sizeof path, "%s/%s.parquet", folder, file);
    brume_source where = {.location = path};
    must(brume_engine_open(&where, 1, &engine, &error), &error);
    must(brume_engine_describe(engine, 0, &description, &error), &error);
    brume_engine_close(engine);
    must(brume_policy_make(path, NULL, &description, &policy, &error), &error);
    if (unit)
        must(brume_policy_set_unit(policy, unit, &error), &error);
    must(brume_policy_set_bounds(policy, "amount", "0", "1000", &error), &error);
    policy->max_groups = max_groups;
    must(brume_decimal_parse("1000000", &epsilon, &error), &error);
    must(brume_decimal_parse("0.1", &delta, &error), &error);
    must(brume_filter_make(BRUME_RULE_APPROXIMATE, &epsilon, &delta, NULL, &filter, &error),
         &error);
    json_t *json = brume_policy_to_json(policy);
    snprintf(source, sizeof source, "%s as %s", description.identity, name);
    brume_registration registration = {.name = name,
                                       .source = source,
                                       .data_version = "",
                                       .adjacency = BRUME_ADD_REMOVE,
                                       .filter = &filter,
                                       .policy = json};
    must(brume_ledger_register(ledger, &registration, &error), &error);
    json_decref(json);
    brume_policy_close(policy);
    brume_description_clear(&description);
}

static void ask(const char *dataset)
{
    brume_error error = {0};
    brume_bits *bits = NULL;
    json_t *answer = NULL;
    char sql[256];
    snprintf(sql, sizeof sql,
             "SELECT place, COUNT(*), SUM(amount), AVG(amount) FROM %s WHERE amount < %d "
             "GROUP BY place",
             dataset, 5000 + asked++);
    brume_payment payment = {"1", "1e-6", NULL};
    must(brume_bits_open(&bits, &error), &error);
    must(brume_answer(ledger, sql, &payment, NULL, bits, NULL, &answer, &error), &error);
    json_decref(answer);
    brume_bits_close(bits);
}

/* ---- measuring ---- */

typedef struct subject {
    const char *name, *file, *dataset; /* dataset: ask brume; else run `sql` */
    const char *sql;                   /* with %s for the file */
    double best;
    long peak; /* KiB */
} subject;

static void perform(const subject *one)
{
    if (one->dataset) {
        ask(one->dataset);
        return;
    }
    char path[256], sql[1024];
    snprintf(path, sizeof path, "'%s/%s.parquet'", folder, one->file);
    snprintf(sql, sizeof sql, one->sql, path);
    run_duckdb(sql);
}

static void measure(subject *one)
{
    double start = now();
    perform(one);
    one->best = fmin(one->best, now() - start);
}

/* Peak memory of the same work in a child process. */
static void measure_memory(subject *one)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "query", "--one", folder, one->dataset ? one->dataset : "",
              one->file, one->dataset ? "" : one->sql, (char *)NULL);
        _exit(127);
    }
    struct rusage usage;
    int status = 0;
    if (wait4(child, &status, 0, &usage) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        one->peak = usage.ru_maxrss;
}

static void open_ledger(brume_ledger_mode mode)
{
    brume_error error = {0};
    char path[128];
    snprintf(path, sizeof path, "%s/brume.db", folder);
    must(brume_ledger_open(path, mode, &ledger, &error), &error);
}

static const char plain_sql[] = "SELECT place, COUNT(*), SUM(amount), AVG(amount) FROM %s GROUP BY "
                                "place";
static const char window_sql[] =
    "SELECT place, COUNT(*), SUM(amount), AVG(amount) FROM (SELECT *, dense_rank() OVER (PARTITION "
    "BY person ORDER BY hash(person, place, 7)) AS g, row_number() OVER (PARTITION BY person, place "
    "ORDER BY hash(amount, 9)) AS r FROM %s) WHERE g <= 4 AND r <= 1 GROUP BY place";

int main(int argc, char **argv)
{
    if (argc == 6 && strcmp(argv[1], "--one") == 0) {
        snprintf(folder, sizeof folder, "%s", argv[2]);
        subject one = {.file = argv[4], .dataset = *argv[3] ? argv[3] : NULL, .sql = argv[5]};
        asked = 100000;
        open_ledger(BRUME_LEDGER_WRITE);
        perform(&one);
        brume_ledger_close(ledger);
        return 0;
    }
    unsigned long long rows = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000;
    int rounds = argc > 2 ? atoi(argv[2]) : 3;
    if (rows < 1000 || rounds < 1 || rounds > MOST_ROUNDS)
        stop("usage: query [ROWS [ROUNDS]]");
    snprintf(folder, sizeof folder, "/tmp/brume-bench-XXXXXX");
    if (!mkdtemp(folder))
        stop("no temporary folder");
    open_ledger(BRUME_LEDGER_CREATE);
    make_data("sparse", rows, rows / 10);
    make_data("dense", rows, rows / 200);
    register_file("row", "sparse", NULL, 1);
    register_file("sparse", "sparse", "person", 4);
    register_file("dense", "dense", "person", 4);
    subject subjects[] = {
        {"plain GROUP BY", "sparse", NULL, plain_sql, INFINITY, 0},
        {"brume, a row is a unit", "sparse", "row", "", INFINITY, 0},
        {"brume, units sparse", "sparse", "sparse", "", INFINITY, 0},
        {"window functions, sparse", "sparse", NULL, window_sql, INFINITY, 0},
        {"brume, units dense", "dense", "dense", "", INFINITY, 0},
        {"window functions, dense", "dense", NULL, window_sql, INFINITY, 0},
    };
    size_t count = sizeof subjects / sizeof *subjects;
    for (int round = 0; round < rounds; round++)
        for (size_t i = 0; i < count; i++)
            measure(&subjects[i]);
    brume_ledger_close(ledger);
    for (size_t i = 0; i < count; i++)
        measure_memory(&subjects[i]);
    printf("%llu rows, %d groups, best of %d rounds\n", rows, GROUPS, rounds);
    printf("%-28s %10s %8s %10s\n", "", "seconds", "x plain", "peak MiB");
    for (size_t i = 0; i < count; i++)
        printf("%-28s %10.3f %8.2f %10.0f\n", subjects[i].name, subjects[i].best,
               subjects[i].best / subjects[0].best, (double)subjects[i].peak / 1024);
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) != 0;
}
