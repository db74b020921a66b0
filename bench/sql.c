/* sql: which queries of two public benchmarks, which questions about statistics and which about
 * what people do over time are answered as they are, and what that costs in time beside DuckDB's
 * plain answer.
 *
 *   sql [tpch|clickbench|statistics|timeline|released|analysts|all [SIZE [ROUNDS [QUERY]]]]
 *   sql --units [SIZE [ROUNDS [QUERY]]]
 *       SIZE 1 unless said: TPC-H at scale 0.1 times SIZE, ClickBench on 1,000,000 times SIZE rows,
 *       statistics of 20,000 times SIZE people and 200,000 times SIZE rows, timeline of as many
 *       users; 5 rounds unless said;
 *       QUERY is a number: this one alone
 *
 * `--units` asks for what bounding costs: 10,000,000 times SIZE rows of a Parquet file, of a tenth
 * as many people, beside the totals by person and group that DuckDB makes by itself and hands over
 * as one number. Each is asked in a process of its own, in turn, on one processor and on two:
 * medians of the processor times, and the largest memory.
 *
 * `analysts` are 120 questions that were written before they were tried, and those refused again in
 * other words. `released` are twenty questions of analysts whose outer part reads groups
 * only (docs/sql.md), of 100,000 times SIZE orders and 50,000 times SIZE stays: most of their time
 * is their error bars.
 * Queries of TPC-H that are refused as they are come again with a small change. bench/sql/ has the
 * texts of the queries, where they are published, and how the tables are made.
 * A query that explain refuses is refused before it costs anything, and its reason is printed. One
 * that explain accepts must be answered, or the bench fails. Times are processor time of this
 * process, the least of the rounds; in each round DuckDB and brume answer in turn. At the end: the
 * mean over the answered queries of all tables.
 *
 * A plain COUNT(*) is a number in the file's footer: DuckDB reads no row for it. An answer that
 * bounds what one person adds must read to whom each row belongs. For such a query the time that
 * DuckDB itself takes for a count of at most so many rows of each person is printed too, and the
 * means are given without these queries too. Run from the top folder, as ./run does. */
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <duckdb.h>

#include "query/release/ask.h"
#include "query/release/explain.h"

enum { MOST_STATEMENTS = 100, MOST_WORDS = 8 };

static char folder[64] = "/tmp/brume-sql-XXXXXX";
static duckdb_database database;
static duckdb_connection connection;
static brume_ledger *ledger;
static int asked;       /* makes every question a new one */
static int wanted = -1; /* the only query; -1: all */
static const char *ledger_name = "ledger";

static void stop(const char *what, const char *why)
{
    fprintf(stderr, "sql: %s: %s\n", what, why);
    exit(1);
}

static double processor_time(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* ---- statements of a file ---- */

typedef struct word {
    const char *name;
    long value;
} word;

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t size = 0;
    if (!file || getdelim(&text, &size, '\0', file) < 0)
        stop(path, "cannot be read");
    fclose(file);
    return text;
}

/* The text without its comment lines, and with numbers for the words. */
static char *filled_in(const char *text, const word *words)
{
    char *out = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&out, &size);
    bool at_line = true;
    while (stream && *text) {
        if (at_line && strncmp(text, "--", 2) == 0) {
            text += strcspn(text, "\n");
            text += *text == '\n';
            continue;
        }
        const word *found = NULL;
        for (const word *each = words; each && each->name && !found; each++)
            if (strncmp(text, each->name, strlen(each->name)) == 0)
                found = each;
        at_line = *text == '\n';
        if (found) {
            fprintf(stream, "%ld", found->value);
            text += strlen(found->name);
        } else {
            fputc(*text++, stream);
        }
    }
    if (!stream || fclose(stream) != 0)
        stop("statements", "out of memory");
    return out;
}

/* Each statement of a file ends with ; at the end of a line. The caller frees them. */
static size_t statements_of(const char *path, const word *words, char *statements[MOST_STATEMENTS])
{
    char *raw = read_file(path), *text = filled_in(raw, words), *rest = text, *end;
    size_t count = 0;
    for (; count < MOST_STATEMENTS && (end = strstr(rest, ";\n")); rest = end + 2)
        statements[count++] = strndup(rest, (size_t)(end - rest));
    free(raw);
    free(text);
    return count;
}

/* ---- DuckDB by itself ---- */

static void run_plain(const char *sql)
{
    duckdb_result result;
    if (duckdb_query(connection, sql, &result) != DuckDBSuccess)
        stop(sql, duckdb_result_error(&result));
    duckdb_destroy_result(&result);
}

/* Make the tables, write each as a Parquet file, and keep a view of the file in its place. */
static void make_tables(const char *path, const word *words, const char *const *tables)
{
    char *statements[MOST_STATEMENTS], sql[4 * PATH_MAX];
    size_t count = statements_of(path, words, statements);
    for (size_t i = 0; i < count; i++) {
        run_plain(statements[i]);
        free(statements[i]);
    }
    for (size_t i = 0; tables[i]; i++) {
        snprintf(sql, sizeof sql, "COPY %s TO '%s/%s.parquet' (FORMAT parquet)", tables[i], folder,
                 tables[i]);
        run_plain(sql);
        snprintf(sql, sizeof sql, "DROP TABLE %s", tables[i]);
        run_plain(sql);
        snprintf(sql, sizeof sql, "CREATE VIEW %s AS SELECT * FROM '%s/%s.parquet'", tables[i],
                 folder, tables[i]);
        run_plain(sql);
    }
}

/* ---- one query ---- */

/* Ratios of processor times, by their logarithms. */
typedef struct ratios {
    size_t count;
    double logarithms, largest;
} ratios;

typedef struct tally {
    size_t queries, answered, free, refused;
    ratios all;
} tally;

/* Of all tables together; `reading`: of the queries for which DuckDB reads rows. */
static ratios every, reading;

static void add_ratio(ratios *to, double ratio)
{
    to->count++;
    to->logarithms += log(ratio);
    to->largest = fmax(to->largest, ratio);
}

static double mean_of(const ratios *all)
{
    return exp(all->logarithms / (double)all->count);
}

static void pay(brume_payment *payment, char epsilon[32])
{
    snprintf(epsilon, 32, "1.%06d", ++asked);
    *payment = (brume_payment){.epsilon = epsilon};
}

static double plain_time(const char *sql)
{
    double start = processor_time();
    run_plain(sql);
    return processor_time() - start;
}

/* Does DuckDB's plan of the query read a file? Else the answer is made of what is known of it. */
static bool reads_rows(const char *sql)
{
    duckdb_result result;
    char *explain = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&explain, &size);
    if (!stream || fprintf(stream, "EXPLAIN %s", sql) < 0 || fclose(stream) != 0)
        stop(sql, "out of memory");
    if (duckdb_query(connection, explain, &result) != DuckDBSuccess)
        stop(explain, duckdb_result_error(&result));
    bool found = false;
    for (idx_t i = 0; i < duckdb_row_count(&result); i++) {
        char *plan = duckdb_value_varchar(&result, 1, i);
        found = found || strstr(plan, "PARQUET");
        duckdb_free(plan);
    }
    duckdb_destroy_result(&result);
    free(explain);
    return found;
}

static double private_time(const char *sql, brume_bits *bits, size_t *rows)
{
    char epsilon[32];
    brume_error error;
    brume_payment payment;
    brume_query_answer *answer = NULL;
    pay(&payment, epsilon);
    double start = processor_time();
    if (brume_ask(ledger, sql, &payment, NULL, bits, NULL, &answer, &error) != BRUME_OK)
        stop(sql, error.message);
    double time = processor_time() - start;
    *rows = answer->row_count;
    brume_query_answer_close(answer);
    return time;
}

/* The least times of both, in turn: what else the machine does meets both alike. */
typedef struct times {
    double plain, own, bounded;
    size_t rows;
} times;

static times least_times(const char *sql, const char *bounded, int rounds, brume_bits *bits)
{
    times least = {INFINITY, INFINITY, INFINITY, 0};
    for (int i = 0; i < rounds; i++) {
        least.plain = fmin(least.plain, plain_time(sql));
        least.own = fmin(least.own, private_time(sql, bits, &least.rows));
        if (bounded)
            least.bounded = fmin(least.bounded, plain_time(bounded));
    }
    return least;
}

/* `bounded`: the least that an answer must do which bounds what one person adds to a count of all
 * rows. */
static void ask(const char *sql, size_t number, const char *bounded, int rounds, brume_bits *bits,
                tally *all)
{
    brume_error error;
    brume_payment payment;
    char epsilon[32];
    json_t *plan = NULL;
    pay(&payment, epsilon);
    all->queries++;
    if (brume_explain(ledger, sql, &payment, NULL, &plan, &error) != BRUME_OK) {
        all->refused++;
        printf("%5zu  refused   %s%s%s\n", number, error.message, *error.hint ? "; " : "",
               error.hint);
        return;
    }
    bool is_free = json_is_true(json_object_get(plan, "public"));
    json_decref(plan);
    bool reads = is_free || reads_rows(sql);
    times least = least_times(sql, reads ? NULL : bounded, rounds, bits);
    double ratio = least.own / least.plain;
    all->answered++;
    all->free += is_free;
    add_ratio(&all->all, ratio);
    add_ratio(&every, ratio);
    printf("%5zu  %-8s  %8zu  %8.1f  %8.1f  %6.1f\n", number, is_free ? "public" : "answered",
           least.rows, 1e3 * least.plain, 1e3 * least.own, ratio);
    if (reads)
        add_ratio(&reading, ratio);
    else if (bounded)
        printf("       DuckDB reads no row for it. Bounded by person it takes %.1f ms by itself, "
               "%.1f times as long,\n       and brume %.1f times that: %s\n",
               1e3 * least.bounded, least.bounded / least.plain, least.own / least.bounded,
               bounded);
    fflush(stdout);
}

/* `numbers`: of the statements in turn; NULL: they count from `first`. */
static void ask_all(const char *title, const char *path, const size_t *numbers, size_t first,
                    const char *bounded, int rounds)
{
    char *statements[MOST_STATEMENTS];
    size_t count = statements_of(path, NULL, statements);
    tally all = {0};
    brume_error error;
    brume_bits *bits = NULL;
    if (brume_bits_open(&bits, &error) != BRUME_OK)
        stop("random bits", error.message);
    printf("\n%s: epsilon 1 for each query; processor time in ms\n\n", title);
    printf("query  outcome       rows    DuckDB     brume   ratio\n");
    for (size_t i = 0; i < count; i++) {
        size_t number = numbers ? numbers[i] : first + i;
        if (wanted < 0 || number == (size_t)wanted)
            ask(statements[i], number, bounded, rounds, bits, &all);
        free(statements[i]);
    }
    printf("\n%zu of %zu answered%s (%zu of them public, exact and free), %zu refused before they "
           "cost anything\n",
           all.answered, all.queries, numbers ? "" : " as they are", all.free, all.refused);
    if (all.answered)
        printf("ratio of processor times: geometric mean %.1f, largest %.1f\n", mean_of(&all.all),
               all.all.largest);
    brume_bits_close(bits);
}

/* ---- the two benchmarks ---- */

/* brume with the words that follow, in the folder. */
static void command(const char *words)
{
    char line[3 * PATH_MAX], here[PATH_MAX];
    if (!getcwd(here, sizeof here))
        stop("the folder", "has no name");
    snprintf(line, sizeof line, "cd '%s' && '%s/build/src/cli/brume' %s --ledger %s >/dev/null",
             folder, here, words, ledger_name);
    if (system(line) != 0) /* NOLINT(cert-env33-c): a bench */
        stop("brume", words);
}

static void open_ledger(void)
{
    char path[PATH_MAX];
    brume_error error;
    snprintf(path, sizeof path, "%s/%s", folder, ledger_name);
    if (brume_ledger_open(path, BRUME_LEDGER_WRITE, &ledger, &error) != BRUME_OK)
        stop(path, error.message);
}

static void close_ledger(void)
{
    brume_ledger_close(ledger);
    ledger = NULL;
}

static void tpch(double size, int rounds)
{
    static const char *const tables[] = {"region",   "nation", "supplier", "part", "partsupp",
                                         "customer", "orders", "lineitem", NULL};
    const word words[] = {{"SUPPLIERS", lround(1000 * size)},
                          {"PARTS", lround(20000 * size)},
                          {"CUSTOMERS", lround(15000 * size)},
                          {"ORDERS", lround(150000 * size)},
                          {NULL, 0}};
    char line[2 * PATH_MAX];
    make_tables("bench/sql/tpch_data.sql", words, tables);
    snprintf(line, sizeof line, "cp bench/sql/tpch.yaml '%s/'", folder);
    if (system(line) != 0) /* NOLINT(cert-env33-c): a bench */
        stop("cp", line);
    run_plain(
        "CREATE MACRO clamp(x, low, high) AS least(greatest(x, low), high)"); /* brume's own */
    command("register tpch --policy tpch.yaml");
    open_ledger();
    static const size_t rewritten[MOST_STATEMENTS] = {3, 10, 15, 17, 18};
    ask_all("TPC-H, unit customer", "bench/sql/tpch.sql", NULL, 1, NULL, rounds);
    ask_all("TPC-H, rewritten", "bench/sql/tpch_rewritten.sql", rewritten, 0, NULL, rounds);
    close_ledger();
}

static void clickbench(double size, int rounds)
{
    static const char *const tables[] = {"hits", NULL};
    const word words[] = {{"ROWS", lround(1e6 * size)}, {"USERS", lround(1e5 * size)}, {NULL, 0}};
    make_tables("bench/sql/hits_data.sql", words, tables);
    char line[2 * PATH_MAX];
    snprintf(line, sizeof line,
             "register hits '%s/hits.parquet' --unit UserID --budget epsilon=100000,delta=0.01 "
             "--bounds AdvEngineID=0..100 --bounds ResolutionWidth=0..4000 "
             "--bounds IsRefresh=0..1",
             folder);
    command(line);
    open_ledger();
    ask_all("ClickBench, unit UserID", "bench/sql/clickbench.sql", NULL, 0,
            "SELECT sum(least(n, 100)) FROM (SELECT count(*) AS n FROM hits GROUP BY UserID)",
            rounds);
    close_ledger();
}

/* In a schema and with a ledger of their own, because some tables are called as those of TPC-H. */
static void statistics(double size, int rounds)
{
    static const char *const tables[] = {"products", "customers", "orders", "events",
                                         "patients", "stays",     "x",      NULL};
    const word words[] = {
        {"PEOPLE", lround(20000 * size)}, {"ROWS", lround(2e5 * size)}, {NULL, 0}};
    char line[2 * PATH_MAX];
    run_plain("CREATE SCHEMA statistics");
    run_plain("USE statistics");
    make_tables("bench/sql/statistics_data.sql", words, tables);
    run_plain("CREATE MACRO clamp(x, low, high) AS least(greatest(x, low), high)");
    run_plain("CREATE MACRO width_bucket(x, low, high, n) AS CASE WHEN x < low THEN 0 WHEN x >= "
              "high THEN n + 1 ELSE CAST(floor((x - low) * n / (high - low)) AS INTEGER) + 1 END");
    snprintf(line, sizeof line, "cp bench/sql/statistics_*.yaml '%s/'", folder);
    if (system(line) != 0) /* NOLINT(cert-env33-c): a bench */
        stop("cp", line);
    ledger_name = "statistics";
    command("register shop --policy statistics_shop.yaml");
    command("register hospital --policy statistics_hospital.yaml");
    snprintf(line, sizeof line,
             "register x '%s/x.parquet' --unit row --budget epsilon=100000,delta=0.01 "
             "--bounds v2=1..15 --bounds v3=0..100",
             folder);
    command(line);
    open_ledger();
    ask_all("Statistics of a shop, a hospital and a table of groups", "bench/sql/statistics.sql",
            NULL, 1, NULL, rounds);
    close_ledger();
}

/* In a schema and with a ledger of their own, as those. */
static void timeline(double size, int rounds)
{
    static const char *const tables[] = {"users",    "sessions", "events", "orders",
                                         "patients", "stays",    "labs",   NULL};
    const word words[] = {{"USERS", lround(20000 * size)},    {"SESSIONS", lround(100000 * size)},
                          {"EVENTS", lround(400000 * size)},  {"ORDERS", lround(60000 * size)},
                          {"PATIENTS", lround(10000 * size)}, {"STAYS", lround(30000 * size)},
                          {"LABS", lround(200000 * size)},    {NULL, 0}};
    char line[2 * PATH_MAX];
    run_plain("CREATE SCHEMA timeline");
    run_plain("USE timeline");
    make_tables("bench/sql/timeline_data.sql", words, tables);
    snprintf(line, sizeof line, "cp bench/sql/timeline_*.yaml '%s/'", folder);
    if (system(line) != 0) /* NOLINT(cert-env33-c): a bench */
        stop("cp", line);
    ledger_name = "timeline";
    command("register shop --policy timeline_shop.yaml");
    command("register ward --policy timeline_ward.yaml");
    open_ledger();
    ask_all("Timelines of users and of patients", "bench/sql/timeline.sql", NULL, 1, NULL, rounds);
    close_ledger();
}

static void print_all(void)
{
    printf("\nall tables: %zu answered, ratio of processor times: geometric mean %.2f, largest "
           "%.1f\n",
           every.count, mean_of(&every), every.largest);
    if (reading.count < every.count)
        printf("without the %zu for which DuckDB reads no row: geometric mean %.2f, largest %.1f\n",
               every.count - reading.count, mean_of(&reading), reading.largest);
}

static void released(double size, int rounds)
{
    static const char *const tables[] = {"orders", "regions", "stays", "beds", NULL};
    static const char *const options[] = {
        "--unit customer --bounds amount=0..200 --domain region=north,south,east,west --domain "
        "product=p1,p2,p3,p4,p5 --budget epsilon=100000,delta=0.01",
        "--public",
        "--unit patient --bounds nights=0..30 --bounds age=0..110 --domain "
        "ward=cardio,ortho,neuro,derma --domain diagnosis=A,B,C --budget epsilon=100000,delta=0.01",
        "--public"};
    const word words[] = {{"ROWS", lround(1e5 * size)},
                          {"CUSTOMERS", lround(2e4 * size)},
                          {"STAYS", lround(5e4 * size)},
                          {"PATIENTS", lround(2e4 * size)},
                          {NULL, 0}};
    run_plain("CREATE SCHEMA released");
    run_plain("USE released");
    ledger_name = "released";
    make_tables("bench/sql/released_data.sql", words, tables);
    for (size_t i = 0; tables[i]; i++) {
        char line[1000];
        snprintf(line, sizeof line, "register %s '%s/%s.parquet' %s", tables[i], folder, tables[i],
                 options[i]);
        command(line);
    }
    open_ledger();
    ask_all("SQL over released tables", "bench/sql/released.sql", NULL, 1, NULL, rounds);
    close_ledger();
}

/* Four sets of questions that were written before anybody tried them. */
static void analysts(double size, int rounds)
{
    static const char *const tables[] = {
        "products",    "customers", "orders",       "sessions", "events",  "patients",
        "admissions",  "diagnoses", "labs",         "beds",     "plans",   "cells",
        "subscribers", "calls",     "data_usage",   "bills",    "tickets", "x",
        "clients",     "accounts",  "transactions", "loans",    NULL};
    const word words[] = {
        {"PEOPLE", lround(20000 * size)}, {"ROWS", lround(2e5 * size)}, {NULL, 0}};
    char line[2 * PATH_MAX];
    run_plain("CREATE SCHEMA analysts");
    run_plain("USE analysts");
    run_plain("CREATE MACRO width_bucket(x, low, high, n) AS CASE WHEN x < low THEN 0 WHEN x >= "
              "high THEN n + 1 ELSE CAST(floor((x - low) * n / (high - low)) AS INTEGER) + 1 END");
    run_plain("CREATE MACRO clamp(x, low, high) AS least(greatest(x, low), high)");
    run_plain("CREATE MACRO to_char(x, f) AS strftime(x, '%Y-%m')");
    make_tables("bench/sql/analysts_data.sql", words, tables);
    snprintf(line, sizeof line, "cp bench/sql/analysts_*.yaml '%s/'", folder);
    if (system(line) != 0) /* NOLINT(cert-env33-c): a bench */
        stop("cp", line);
    ledger_name = "analysts";
    command("register shop --policy analysts_shop.yaml");
    command("register hospital --policy analysts_hospital.yaml");
    command("register network --policy analysts_telecom.yaml");
    command("register bank --policy analysts_bank.yaml");
    snprintf(line, sizeof line,
             "register x '%s/x.parquet' --unit row --budget epsilon=100000,delta=0.01 "
             "--bounds v1=1..5 --bounds v2=1..15 --bounds v3=0..100",
             folder);
    command(line);
    open_ledger();
    ask_all("Analysts of a shop", "bench/sql/analysts_shop.sql", NULL, 1, NULL, rounds);
    ask_all("Analysts of a hospital", "bench/sql/analysts_hospital.sql", NULL, 1, NULL, rounds);
    ask_all("The group-by benchmark of h2o.ai, unit row", "bench/sql/analysts_h2o.sql", NULL, 1,
            NULL, rounds);
    ask_all("Analysts of a mobile network", "bench/sql/analysts_telecom.sql", NULL, 1, NULL,
            rounds);
    ask_all("Analysts of a bank", "bench/sql/analysts_bank.sql", NULL, 1, NULL, rounds);
    static const size_t rewritten[MOST_STATEMENTS] = {9, 21, 6, 8};
    ask_all("Analysts, rewritten: of the shop, the network, the bank and the group-by benchmark",
            "bench/sql/analysts_rewritten.sql", rewritten, 0, NULL, rounds);
    close_ledger();
}

/* ---- what bounding costs ---- */

/* What brume is asked, and what DuckDB must do at least. */
static const struct unit_query {
    const char *name, *own, *plain;
} unit_queries[] = {
    {"count", "SELECT COUNT(*) FROM orders",
     "SELECT sum(n) FROM (SELECT person, count(*) AS n FROM orders GROUP BY ALL)"},
    {"sum", "SELECT SUM(amount) FROM orders",
     "SELECT sum(n) FROM (SELECT person, sum(amount) AS n FROM orders GROUP BY ALL)"},
    {"count by region", "SELECT region, COUNT(*) FROM orders GROUP BY region",
     "SELECT sum(n) FROM (SELECT person, region, count(*) AS n FROM orders GROUP BY ALL)"},
    {"count by month",
     "SELECT date_trunc('month', day) AS month, COUNT(*) FROM orders GROUP BY month",
     "SELECT sum(n) FROM (SELECT person, date_trunc('month', day) AS month, count(*) AS n FROM "
     "orders GROUP BY ALL)"},
    {"5,000 private keys", "SELECT product, COUNT(*) FROM orders GROUP BY product",
     "SELECT sum(n) FROM (SELECT person, product, count(*) AS n FROM orders GROUP BY ALL)"},
    {"distinct", "SELECT COUNT(DISTINCT product) FROM orders",
     "SELECT sum(n) FROM (SELECT person, product, count(*) AS n FROM orders GROUP BY ALL)"},
};

enum { UNIT_QUERIES = sizeof unit_queries / sizeof *unit_queries, MOST_ROUNDS = 99 };

typedef struct used {
    double processor; /* seconds */
    double memory;    /* MiB, at most */
} used;

static void use_one_processor(void)
{
    cpu_set_t all, one;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof all, &all) != 0)
        stop("the processors", "cannot be asked for");
    for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        stop("one processor", "cannot be had");
}

/* In a process of its own: ask, and exit. */
static void ask_one(const struct unit_query *query, bool own, int processors)
{
    if (processors == 1)
        use_one_processor();
    if (own) {
        brume_error error;
        brume_bits *bits = NULL;
        size_t rows = 0;
        if (brume_bits_open(&bits, &error) != BRUME_OK)
            stop("random bits", error.message);
        open_ledger();
        asked = (int)getpid();
        private_time(query->own, bits, &rows);
        _exit(0);
    }
    char line[2 * PATH_MAX];
    if (duckdb_open(NULL, &database) != DuckDBSuccess ||
        duckdb_connect(database, &connection) != DuckDBSuccess)
        stop("DuckDB", "cannot be started");
    snprintf(line, sizeof line, "SET threads = %d", processors);
    run_plain(line);
    snprintf(line, sizeof line, "CREATE VIEW orders AS SELECT * FROM '%s/orders.parquet'", folder);
    run_plain(line);
    run_plain(query->plain);
    _exit(0);
}

static used measure_one(const struct unit_query *query, bool own, int processors)
{
    struct rusage usage;
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        ask_one(query, own, processors);
    if (child < 0 || wait4(child, &status, 0, &usage) != child || !WIFEXITED(status) ||
        WEXITSTATUS(status) != 0)
        stop(query->name, "cannot be measured");
    return (used){(double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
                      1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec),
                  (double)usage.ru_maxrss / 1024};
}

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(double *of, int count)
{
    qsort(of, (size_t)count, sizeof *of, compare_doubles);
    return count % 2 ? of[count / 2] : (of[count / 2 - 1] + of[count / 2]) / 2;
}

static void measure_units(const struct unit_query *query, int processors, int rounds)
{
    double own[MOST_ROUNDS], plain[MOST_ROUNDS], ratio[MOST_ROUNDS], memory = 0;
    for (int i = 0; i < rounds; i++) {
        used theirs = measure_one(query, false, processors);
        used ours = measure_one(query, true, processors);
        plain[i] = theirs.processor;
        own[i] = ours.processor;
        ratio[i] = ours.processor / theirs.processor;
        memory = fmax(memory, ours.memory);
    }
    double middle = median(ratio, rounds);
    printf("%-20s %10d %8.2f %8.2f %8.2f (%.2f to %.2f) %8.0f\n", query->name, processors,
           median(plain, rounds), median(own, rounds), middle, ratio[0], ratio[rounds - 1], memory);
    fflush(stdout);
}

static void make_units(double size)
{
    char line[2 * PATH_MAX];
    snprintf(
        line, sizeof line,
        "COPY (SELECT CAST(hash(i) %% %ld AS BIGINT) AS person,"
        " ['north', 'south', 'east', 'west'][1 + CAST(hash(i + 1000000007) %% 4 AS INTEGER)] AS region,"
        " CAST(hash(i + 2000000011) %% 5000 AS INTEGER) AS product,"
        " CAST(hash(i + 3000000019) %% 200 AS INTEGER) AS amount,"
        " DATE '2024-01-01' + CAST(hash(i + 4000000007) %% 731 AS INTEGER) AS day"
        " FROM range(%ld) AS r(i)) TO '%s/orders.parquet' (FORMAT parquet)",
        lround(1e6 * size), lround(1e7 * size), folder);
    run_plain(line);
    snprintf(line, sizeof line,
             "register orders '%s/orders.parquet' --unit person --bounds amount=0..200 "
             "--bounds day=2024-01-01..2025-12-31 --domain region=north,south,east,west "
             "--budget epsilon=100000,delta=0.01",
             folder);
    command(line);
}

static void units(double size, int rounds)
{
    rounds = rounds > MOST_ROUNDS ? MOST_ROUNDS : rounds;
    make_units(size);
    duckdb_disconnect(&connection); /* its threads are not a child's */
    duckdb_close(&database);
    printf("%ld rows of %ld people, DuckDB %s; processor time in s, medians of %d rounds\n\n",
           lround(1e7 * size), lround(1e6 * size), duckdb_library_version(), rounds);
    printf("                     processors   DuckDB    brume    ratio (range)           MiB\n");
    for (size_t i = 0; i < UNIT_QUERIES; i++)
        for (int processors = 1; processors <= 2; processors++)
            if (wanted < 0 || (size_t)wanted == i + 1)
                measure_units(&unit_queries[i], processors, rounds);
}

int main(int count, char **words)
{
    const char *which = count > 1 ? words[1] : "all";
    double size = count > 2 ? strtod(words[2], NULL) : 1;
    int rounds = count > 3 ? (int)strtol(words[3], NULL, 10) : 5;
    wanted = count > 4 ? (int)strtol(words[4], NULL, 10) : -1;
    bool both = strcmp(which, "all") == 0;
    if (!(size > 0 && size <= 1000) || rounds < 1 ||
        (!both && strcmp(which, "tpch") != 0 && strcmp(which, "clickbench") != 0 &&
         strcmp(which, "statistics") != 0 && strcmp(which, "timeline") != 0 &&
         strcmp(which, "released") != 0 && strcmp(which, "analysts") != 0 &&
         strcmp(which, "--units") != 0)) {
        fprintf(stderr, "usage: sql [tpch|clickbench|statistics|timeline|released|analysts|all|"
                        "--units [SIZE [ROUNDS [QUERY]]]]\n");
        return 2;
    }
    if (!mkdtemp(folder) || duckdb_open(NULL, &database) != DuckDBSuccess ||
        duckdb_connect(database, &connection) != DuckDBSuccess)
        stop("DuckDB", "cannot be started");
    run_plain("SET preserve_insertion_order = false");
    if (both || strcmp(which, "tpch") == 0)
        tpch(size, rounds);
    if (both || strcmp(which, "clickbench") == 0) {
        if (both)
            run_plain("DROP MACRO roll; DROP MACRO clamp");
        clickbench(size, rounds);
    }
    if (both || strcmp(which, "tpch") == 0 || strcmp(which, "clickbench") == 0)
        print_all();
    if (both || strcmp(which, "statistics") == 0)
        statistics(size, rounds);
    if (both || strcmp(which, "timeline") == 0)
        timeline(size, rounds);
    if (both || strcmp(which, "released") == 0)
        released(size, rounds);
    if (both || strcmp(which, "analysts") == 0)
        analysts(size, rounds);
    if (strcmp(which, "--units") == 0)
        units(size, rounds);
    duckdb_disconnect(&connection); /* closed already: nothing happens */
    duckdb_close(&database);
    char line[128];
    snprintf(line, sizeof line, "rm -rf '%s'", folder);
    return system(line) == 0 ? 0 : 1; /* NOLINT(cert-env33-c): a bench */
}
