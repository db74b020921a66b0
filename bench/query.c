/* query: what privacy costs in time. brume's answers beside the engine's plain GROUP BY and beside
 * the window-function SQL that bounds contributions inside the engine, in one run, interleaved.
 *
 *   query [ROWS [ROUNDS]]
 *       DuckDB on 10,000,000 rows and 3 rounds unless said; then reading, small and postgresql
 *   query reading [ROWS [ROUNDS]]
 *       a CSV of 10,000,000 rows, by brume's reader and by DuckDB's own
 *   query small [ROUNDS]
 *       one query by the command line on a CSV of 1,000 rows
 *   query postgresql [ROWS [ROUNDS]]
 *       on a private cluster; 1,000,000 rows unless said
 *   query linear [MOST [ROUNDS]]
 *       DuckDB on 1, 10, 100 ... million rows up to MOST (100,000,000)
 *
 * Data: 1,000 groups; a sparse file in which nearly every row is another (unit, group) pair, and a
 * dense one with 200 rows a unit. Times are the best of the rounds; memory is the peak of a process
 * of its own. Run from the top folder, as ./run does. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <duckdb.h>
#include <libpq-fe.h>

#include "query/release/ask.h"
#include "reading.h"

enum { GROUPS = 1000, MOST_ROUNDS = 20 };

static char folder[64];
static char program[PATH_MAX]; /* this one */
static int asked;              /* makes every question a new one */

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

/* ---- PostgreSQL by itself ---- */

static void run_postgresql(const char *sql)
{
    PGconn *connection = PQconnectdb(getenv("BRUME_TEST_POSTGRESQL"));
    if (PQstatus(connection) != CONNECTION_OK)
        stop("PostgreSQL does not answer");
    PGresult *result = PQexec(connection, "SET work_mem = '1GB'"); /* the SQL beside us in memory */
    PQclear(result);
    result = PQexec(connection, sql);
    if (PQresultStatus(result) != PGRES_COMMAND_OK && PQresultStatus(result) != PGRES_TUPLES_OK)
        stop(PQresultErrorMessage(result));
    PQclear(result);
    PQfinish(connection);
}

static void make_table(const char *name, unsigned long long rows, unsigned long long units)
{
    char sql[1024];
    snprintf(sql, sizeof sql,
             "CREATE TABLE %s AS SELECT abs(hashint8extended(i, 1) %% %llu) AS person,"
             " abs(hashint8extended(i, 2) %% %d) AS place,"
             " abs(hashint8extended(i, 3) %% 1000) AS amount FROM generate_series(1, %llu) AS r(i)",
             name, units, GROUPS, rows);
    run_postgresql(sql);
    snprintf(sql, sizeof sql, "VACUUM ANALYZE %s", name);
    run_postgresql(sql);
}

/* ---- brume ---- */

/* A ledger for each dataset: one source may not have two budgets in one of them. */
static brume_ledger *open_ledger(const char *dataset, brume_ledger_mode mode)
{
    brume_error error = {0};
    brume_ledger *ledger = NULL;
    char path[160];
    snprintf(path, sizeof path, "%s/%s.db", folder, dataset);
    must(brume_ledger_open(path, mode, &ledger, &error), &error);
    return ledger;
}

static void register_source(const char *name, const char *location, const char *table,
                            const char *unit, uint64_t max_groups)
{
    brume_error error = {0};
    brume_engine *engine = NULL;
    brume_description description = {0};
    brume_policy *policy = NULL;
    brume_filter filter;
    brume_decimal epsilon, delta;
    brume_source where = {.location = location, .table = table};
    must(brume_engine_open(&where, 1, &engine, &error), &error);
    must(brume_engine_describe(engine, 0, &description, &error), &error);
    brume_engine_close(engine);
    must(brume_policy_make(location, table, &description, &policy, &error), &error);
    if (unit)
        must(brume_policy_set_unit(policy, unit, &error), &error);
    must(brume_policy_set_bounds(policy, "amount", "0", "1000", &error), &error);
    policy->max_groups = max_groups;
    must(brume_decimal_parse("1000000", &epsilon, &error), &error);
    must(brume_decimal_parse("0.1", &delta, &error), &error);
    must(brume_filter_make(BRUME_RULE_APPROXIMATE, &epsilon, &delta, NULL, &filter, &error),
         &error);
    json_t *json = brume_policy_to_json(policy);
    brume_registration registration = {.name = name,
                                       .source = description.identity,
                                       .data_version = "",
                                       .adjacency = BRUME_ADD_REMOVE,
                                       .filter = &filter,
                                       .policy = json};
    brume_ledger *ledger = open_ledger(name, BRUME_LEDGER_CREATE);
    must(brume_ledger_register(ledger, &registration, &error), &error);
    brume_ledger_close(ledger);
    json_decref(json);
    brume_policy_close(policy);
    brume_description_clear(&description);
}

static void register_file(const char *name, const char *file, const char *unit, uint64_t max_groups)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s.parquet", folder, file);
    register_source(name, path, NULL, unit, max_groups);
}

static void ask(const char *dataset)
{
    brume_error error = {0};
    brume_bits *bits = NULL;
    brume_query_answer *answer = NULL;
    char sql[256];
    snprintf(sql, sizeof sql,
             "SELECT place, COUNT(*), SUM(amount), AVG(amount) FROM %s WHERE amount < %d "
             "GROUP BY place",
             dataset, 5000 + asked++);
    brume_payment payment = {.epsilon = "1", .delta = "1e-6"};
    brume_ledger *ledger = open_ledger(dataset, BRUME_LEDGER_WRITE);
    must(brume_bits_open(&bits, &error), &error);
    must(brume_ask(ledger, sql, &payment, NULL, bits, NULL, &answer, &error), &error);
    brume_query_answer_close(answer);
    brume_bits_close(bits);
    brume_ledger_close(ledger);
}

/* ---- measuring ---- */

typedef struct subject {
    const char *name;
    const char *dataset;    /* ask brume; NULL: run `sql` */
    const char *sql;        /* with %s for the source */
    const char *source;     /* "x.parquet": DuckDB; else a table of PostgreSQL */
    double best, processor; /* least seconds, and of the processors in this process */
    long peak;              /* KiB */
} subject;

static void perform(const subject *one)
{
    if (one->dataset) {
        ask(one->dataset);
        return;
    }
    bool file = strchr(one->source, '.');
    char path[256], sql[1024];
    snprintf(path, sizeof path, "'%s/%s'", folder, one->source);
    snprintf(sql, sizeof sql, one->sql, file ? path : one->source);
    if (file)
        run_duckdb(sql);
    else
        run_postgresql(sql);
}

static double processor_time(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void measure(subject *subjects, size_t count, int rounds)
{
    for (int round = 0; round < rounds; round++)
        for (size_t i = 0; i < count; i++) {
            double start = now(), before = processor_time();
            perform(&subjects[i]);
            double took = now() - start, processor = processor_time() - before;
            subjects[i].best = round ? fmin(subjects[i].best, took) : took;
            subjects[i].processor = round ? fmin(subjects[i].processor, processor) : processor;
        }
}

/* Peak memory of the same work in a child process. */
static void measure_memory(subject *one)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        execl(program, "query", "--one", folder, one->dataset ? one->dataset : "",
              one->source ? one->source : "", one->sql ? one->sql : "", (char *)NULL);
        _exit(127);
    }
    struct rusage usage;
    int status = 0;
    if (wait4(child, &status, 0, &usage) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        one->peak = usage.ru_maxrss;
}

/* The processors' time is known where the engine is in this process. */
static void report(subject *subjects, size_t count, const char *engine, bool inside,
                   unsigned long long rows, int rounds)
{
    printf("%s, %llu rows, %d groups, best of %d rounds\n", engine, rows, GROUPS, rounds);
    printf("%-28s %10s %8s", "", "seconds", "x plain");
    printf(inside ? " %10s %8s %10s\n" : "%.0s%.0s %10s\n", "processor", "x plain", "peak MiB");
    for (size_t i = 0; i < count; i++) {
        measure_memory(&subjects[i]);
        printf("%-28s %10.3f %8.2f", subjects[i].name, subjects[i].best,
               subjects[i].best / subjects[0].best);
        if (inside)
            printf(" %10.3f %8.2f", subjects[i].processor,
                   subjects[i].processor / subjects[0].processor);
        printf(" %10.0f\n", (double)subjects[i].peak / 1024);
    }
    puts("");
}

static const char plain_sql[] = "SELECT place, COUNT(*), SUM(amount), AVG(amount) FROM %s GROUP BY "
                                "place";
static const char window_sql[] =
    "SELECT place, COUNT(*), SUM(amount), AVG(amount) FROM (SELECT *, dense_rank() OVER (PARTITION "
    "BY person ORDER BY hash(person, place, 7)) AS g, row_number() OVER (PARTITION BY person, place "
    "ORDER BY hash(amount, 9)) AS r FROM %s) WHERE g <= 4 AND r <= 1 GROUP BY place";
static const char window_postgresql[] =
    "SELECT place, COUNT(*), SUM(amount), AVG(amount) FROM (SELECT *, dense_rank() OVER (PARTITION "
    "BY person ORDER BY hashint8extended(place, hashint8extended(person, 7))) AS g, row_number() "
    "OVER (PARTITION BY person, place ORDER BY hashint8extended(amount, 9)) AS r FROM %s) AS t WHERE "
    "g <= 4 AND r <= 1 GROUP BY place";

static void clear_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'/*", folder);
    if (system(command) != 0)
        stop("the temporary folder cannot be emptied");
}

static void measure_duckdb(unsigned long long rows, int rounds)
{
    make_data("sparse", rows, rows / 10);
    make_data("dense", rows, rows / 200);
    register_file("row", "sparse", NULL, 1);
    register_file("sparse", "sparse", "person", 4);
    register_file("dense", "dense", "person", 4);
    subject subjects[] = {
        {"plain GROUP BY", NULL, plain_sql, "sparse.parquet", 0, 0, 0},
        {"brume, a row is a unit", "row", NULL, NULL, 0, 0, 0},
        {"brume, units sparse", "sparse", NULL, NULL, 0, 0, 0},
        {"window functions, sparse", NULL, window_sql, "sparse.parquet", 0, 0, 0},
        {"brume, units dense", "dense", NULL, NULL, 0, 0, 0},
        {"window functions, dense", NULL, window_sql, "dense.parquet", 0, 0, 0},
    };
    size_t count = sizeof subjects / sizeof *subjects;
    measure(subjects, count, rounds);
    report(subjects, count, "DuckDB", true, rows, rounds);
    clear_folder();
}

static void measure_postgresql(unsigned long long rows, int rounds)
{
    const char *server = getenv("BRUME_TEST_POSTGRESQL");
    if (!server) { /* again, beside a server */
        char row_text[32], round_text[32];
        snprintf(row_text, sizeof row_text, "%llu", rows);
        snprintf(round_text, sizeof round_text, "%d", rounds);
        fflush(stdout);
        execl("tests/support/with-cluster", "with-cluster", program, "postgresql", row_text,
              round_text, (char *)NULL);
        stop("run it from the top folder: tests/support/with-cluster is not there");
    }
    make_table("sparse", rows, rows / 10);
    make_table("dense", rows, rows / 200);
    register_source("row", server, "sparse", NULL, 1);
    register_source("units", server, "sparse", "person", 4);
    register_source("few", server, "dense", "person", 4);
    subject subjects[] = {
        {"plain GROUP BY", NULL, plain_sql, "sparse", 0, 0, 0},
        {"brume, a row is a unit", "row", NULL, NULL, 0, 0, 0},
        {"brume, units sparse", "units", NULL, NULL, 0, 0, 0},
        {"window functions, sparse", NULL, window_postgresql, "sparse", 0, 0, 0},
        {"brume, units dense", "few", NULL, NULL, 0, 0, 0},
        {"window functions, dense", NULL, window_postgresql, "dense", 0, 0, 0},
    };
    size_t count = sizeof subjects / sizeof *subjects;
    measure(subjects, count, rounds);
    report(subjects, count, "PostgreSQL (memory without the server's)", false, rows, rounds);
}

static void measure_linear(unsigned long long most, int rounds)
{
    static const char *const heads[] = {"plain", "row unit", "sparse", "dense"};
    printf("DuckDB, nanoseconds a row of the clock and of the processors, best of %d rounds, and "
           "peak MiB\n(sparse: 10 rows a unit, dense: 200)\n",
           rounds);
    printf("%12s", "rows");
    for (size_t i = 0; i < 4; i++)
        printf(" %9s %7s %6s", heads[i], "cpu", "MiB");
    puts("");
    for (unsigned long long rows = 1000000; rows <= most; rows *= 10) {
        make_data("sparse", rows, rows / 10);
        make_data("dense", rows, rows / 200);
        register_file("row", "sparse", NULL, 1);
        register_file("sparse", "sparse", "person", 4);
        register_file("dense", "dense", "person", 4);
        subject subjects[] = {
            {"plain", NULL, plain_sql, "sparse.parquet", 0, 0, 0},
            {"row", "row", NULL, NULL, 0, 0, 0},
            {"sparse", "sparse", NULL, NULL, 0, 0, 0},
            {"dense", "dense", NULL, NULL, 0, 0, 0},
        };
        measure(subjects, 4, rounds);
        printf("%12llu", rows);
        for (size_t i = 0; i < 4; i++) {
            measure_memory(&subjects[i]);
            printf(" %9.1f %7.1f %6.0f", subjects[i].best / (double)rows * 1e9,
                   subjects[i].processor / (double)rows * 1e9, (double)subjects[i].peak / 1024);
        }
        puts("");
        fflush(stdout);
        clear_folder();
    }
}

/* The command line itself, from its start to its end. */
static void measure_small(int rounds)
{
    char command[PATH_MAX + 512], brume[PATH_MAX];
    snprintf(brume, sizeof brume, "%s", program);
    for (int i = 0; i < 2; i++)
        *strrchr(brume, '/') = 0; /* build/bench/query */
    snprintf(
        command, sizeof command,
        "cd '%s' && awk 'BEGIN { print \"person,place,amount\"; for (i = 0; i < 1000; i++) print "
        "i %% 300 \",\" i %% 7 \",\" i * 37 %% 1001 }' > small.csv && '%s/src/cli/brume' register "
        "small small.csv --ledger small.db --budget epsilon=1000,delta=0.1 --unit person --bounds "
        "amount=0..1000 --max-groups 3 >/dev/null",
        folder, brume);
    if (system(command) != 0)
        stop("the small CSV cannot be registered");
    double best = INFINITY;
    for (int round = 0; round < rounds; round++) {
        snprintf(
            command, sizeof command,
            "cd '%s' && exec '%s/src/cli/brume' query 'SELECT place, COUNT(*), AVG(amount) FROM "
            "small WHERE amount < %d GROUP BY place' --ledger small.db --epsilon 1 --delta 1e-6 "
            ">/dev/null",
            folder, brume, 2000 + round);
        double start = now();
        if (system(command) != 0)
            stop("the small CSV cannot be queried");
        best = fmin(best, now() - start);
    }
    printf("brume query on a CSV of 1,000 rows, start to answer, best of %d: %.0f ms\n\n", rounds,
           best * 1e3);
}

static unsigned long long number(int argc, char **argv, int index, unsigned long long otherwise)
{
    return argc > index ? strtoull(argv[index], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
    if (argc == 6 && strcmp(argv[1], "--one") == 0) {
        snprintf(folder, sizeof folder, "%s", argv[2]);
        subject one = {.dataset = *argv[3] ? argv[3] : NULL, .source = argv[4], .sql = argv[5]};
        asked = 100000;
        perform(&one);
        return 0;
    }
    bool named = argc > 1 && (argv[1][0] < '0' || argv[1][0] > '9');
    const char *what = named ? argv[1] : "";
    int first = named ? 2 : 1;
    bool small = strcmp(what, "small") == 0, linear = strcmp(what, "linear") == 0;
    bool postgresql = strcmp(what, "postgresql") == 0, reading = strcmp(what, "reading") == 0;
    unsigned long long rows = small ? 1000
                                    : number(argc, argv, first,
                                             linear       ? 100000000
                                             : postgresql ? 1000000
                                                          : 10000000);
    unsigned long long rounds = number(argc, argv, small ? first : first + 1,
                                       small    ? 10
                                       : linear ? 2
                                                : 3);
    if ((named && !small && !linear && !postgresql && !reading) || rows < 1000 || rounds < 1 ||
        rounds > MOST_ROUNDS)
        stop("usage: query [reading|small|postgresql|linear] [ROWS [ROUNDS]]");
    snprintf(folder, sizeof folder, "/tmp/brume-bench-XXXXXX");
    if (!realpath("/proc/self/exe", program) || !mkdtemp(folder))
        stop("no temporary folder");
    if (small)
        measure_small((int)rounds);
    else if (linear)
        measure_linear(rows, (int)rounds);
    else if (reading)
        measure_reading(folder, rows, (int)rounds);
    else if (!postgresql) {
        measure_duckdb(rows, (int)rounds);
        measure_reading(folder, rows, (int)rounds);
        measure_small(10);
    } else {
        measure_postgresql(rows, (int)rounds);
    }
    clear_folder();
    if (rmdir(folder) != 0)
        stop("the temporary folder stays");
    if (!named)
        measure_postgresql(1000000, (int)rounds); /* ends as another process */
    return 0;
}
