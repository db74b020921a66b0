/* How much longer a row takes because of what it holds.
 *
 *   expression_time [duckdb|postgresql|check]
 *
 * Each operation that a query may contain, on DuckDB and on PostgreSQL (a private cluster): the
 * processor's time a row of a whole query over ordinary values, and over those that take longest of
 * several kinds made to be slow, of the same length in bytes. Texts also 8 times as long, with as
 * many bytes in all: a time that is linear in the text stays the same, a quadratic one becomes 8
 * times as long. `check`: less data, in TAP, and only what no busy machine explains fails. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <duckdb.h>
#include <libpq-fe.h>

#include "expression_list.h"
#include "query/expression/build_function.h"
#include "query/expression/query.h"
#include "query/sql/parse.h"
#include "query/print/statement.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

static char folder[64];
static bool checking;
static size_t faults, numbered;

static void stop(const char *why)
{
    fprintf(stderr, "expression_time: %s\n", why);
    exit(1);
}

static void must(brume_status status, const brume_error *error)
{
    if (status != BRUME_OK)
        stop(error->message);
}

/* ---- tables ---- */

typedef struct subject {
    const char *kind;
    size_t rows, length; /* of texts; 0: numbers */
    brume_source source;
    char name[32], path[192];
    size_t number; /* among the sources of the engine */
    brume_description description;
    brume_catalog_column *columns;
    brume_catalog_table table;
    brume_catalog catalog;
    double least; /* seconds */
} subject;

/* How many times as long the longer texts are. */
enum { SUBJECTS_MOST = 32, TIMES = 8, TIMES_CHECKED = 64 };

static brume_engine *engine; /* opened on all subjects */
static int server;           /* the process of its session; 0: DuckDB, in this process */

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

static void run_postgresql(const char *sql)
{
    PGconn *connection = PQconnectdb(getenv("BRUME_TEST_POSTGRESQL"));
    PGresult *result = PQexec(connection, sql);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        stop(PQresultErrorMessage(result));
    PQclear(result);
    PQfinish(connection);
}

static void select_texts(size_t kind, size_t length, char *sql, size_t size)
{
    static const char letters[] = "nhtq";
    char format[2048], *end = sql;
    snprintf(format, sizeof format, "SELECT %s AS x, %s AS y, %s AS z", text_kinds[kind].x,
             text_kinds[kind].y, text_kinds[kind].z);
    for (const char *from = format; *from; from++)
        if (*from == '{') {
            size_t part = (size_t)(strchr(letters, from[1]) - letters) + 1;
            end += snprintf(end, size - (size_t)(end - sql), "%zu", length / part);
            from += 2;
        } else {
            *end++ = *from;
        }
    *end = 0;
}

static void select_numbers(size_t kind, char *sql, size_t size)
{
    snprintf(
        sql, size,
        "SELECT CAST(%s AS integer) AS i, CAST(%s AS bigint) AS b, CAST(%s AS numeric(18,4)) AS "
        "d, CAST(%s AS numeric(38,10)) AS w, CAST(%s AS double precision) AS f, CAST(%s AS date) "
        "AS t, CAST(%s AS timestamp) AS s",
        number_kinds[kind].i, number_kinds[kind].b, number_kinds[kind].d, number_kinds[kind].w,
        number_kinds[kind].f, number_kinds[kind].t, number_kinds[kind].s);
}

/* `kind` of texts of that length, or of numbers, as a table of the server or as a Parquet file. */
static void make_subject(bool postgresql, size_t kind, size_t rows, size_t length, subject *made)
{
    char select[4096], sql[6000];
    *made = (subject){.kind = length ? text_kinds[kind].name : number_kinds[kind].name,
                      .rows = rows,
                      .length = length};
    if (length)
        select_texts(kind, length, select, sizeof select);
    else
        select_numbers(kind, select, sizeof select);
    snprintf(made->name, sizeof made->name, "t%zu_%zu", kind, length);
    snprintf(made->path, sizeof made->path, "%s/%s.parquet", folder, made->name);
    made->source = (brume_source){.location = made->path};
    if (postgresql) {
        snprintf(sql, sizeof sql,
                 "CREATE TABLE %s AS %s FROM (SELECT CAST(g AS integer) AS n FROM "
                 "generate_series(1, %zu) AS r(g)) AS s",
                 made->name, select, rows);
        run_postgresql(sql);
        made->source =
            (brume_source){.location = getenv("BRUME_TEST_POSTGRESQL"), .table = made->name};
    } else {
        snprintf(sql, sizeof sql,
                 "COPY (%s FROM (SELECT CAST(g AS integer) AS n FROM range(1, %zu) AS r(g)) AS s) "
                 "TO '%s' (FORMAT parquet)",
                 select, rows + 1, made->path);
        run_duckdb(sql);
    }
}

static void describe(subject *made, size_t number)
{
    brume_error error = {0};
    must(brume_engine_describe(engine, number, &made->description, &error), &error);
    size_t count = made->description.column_count;
    made->number = number;
    made->columns = calloc(count, sizeof *made->columns);
    for (size_t i = 0; i < count; i++) {
        const brume_column *from = &made->description.columns[i];
        made->columns[i] = (brume_catalog_column){
            .name = from->name, .type = from->type, .leaf = from->leaf, .native = from->native};
    }
    made->table = (brume_catalog_table){
        .name = "t", .privacy = BRUME_PRIVACY_ROW, .columns = made->columns, .column_count = count};
    made->catalog = (brume_catalog){&made->table, 1};
}

/* The server's process that works for the engine. */
static int session(void)
{
    PGconn *connection = PQconnectdb(getenv("BRUME_TEST_POSTGRESQL"));
    PGresult *result = PQexec(connection, "SELECT pid FROM pg_stat_activity WHERE "
                                          "application_name = 'brume'");
    if (PQntuples(result) != 1)
        stop("the server has another number of sessions");
    int pid = atoi(PQgetvalue(result, 0, 0));
    PQclear(result);
    PQfinish(connection);
    return pid;
}

static void open_subjects(subject *subjects, size_t count)
{
    brume_source sources[SUBJECTS_MOST];
    brume_error error = {0};
    for (size_t i = 0; i < count; i++)
        sources[i] = subjects[i].source;
    must(brume_engine_open(sources, count, &engine, &error), &error);
    for (size_t i = 0; i < count; i++)
        describe(&subjects[i], i);
    server = brume_engine_dialect(engine) == BRUME_DIALECT_POSTGRESQL ? session() : 0;
}

static void close_subjects(subject *subjects, size_t count)
{
    brume_engine_close(engine);
    for (size_t i = 0; i < count; i++) {
        brume_description_clear(&subjects[i].description);
        free(subjects[i].columns);
        unlink(subjects[i].path);
    }
}

/* ---- measuring ---- */

static bool seen[256]; /* operations that occurred */

static void see(const brume_expression *node)
{
    seen[node->operation] = true;
    for (size_t i = 0; i < node->argument_count; i++)
        see(node->arguments[i]);
}

/* Seconds that the processor has worked: for this process, or for the server's. The clock on the
 * wall would measure what else the machine does. */
static double worked(void)
{
    struct timespec now;
    if (!server) {
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    }
    char path[64];
    unsigned long long nanoseconds = 0;
    snprintf(path, sizeof path, "/proc/%d/schedstat", server);
    FILE *file = fopen(path, "r");
    if (!file || fscanf(file, "%llu", &nanoseconds) != 1)
        stop("the server's processor time cannot be read");
    fclose(file);
    return 1e-9 * (double)nanoseconds;
}

/* All conditions are good SQL, before any is measured. */
static void parse(const subject *on, const char *const *conditions, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char text[1024];
        brume_error error = {0};
        brume_query *query = NULL;
        snprintf(text, sizeof text, "SELECT COUNT(*) FROM t WHERE %s", conditions[i]);
        if (brume_query_parse(text, &on->catalog, &query, &error) != BRUME_OK)
            fprintf(stderr, "%s\n", text);
        must(error.status, &error);
        brume_query_free(query);
    }
}

/* Seconds of one query. */
static double run_once(subject *on, const char *condition)
{
    static const brume_wire wires[] = {BRUME_WIRE_INTEGER};
    char text[1024], *sql = NULL;
    brume_error error = {0};
    brume_query *query = NULL;
    brume_rows *rows = NULL;
    const brume_chunk *chunk = NULL;
    snprintf(text, sizeof text, "SELECT COUNT(*) FROM t WHERE %s", condition);
    must(brume_query_parse(text, &on->catalog, &query, &error), &error);
    see(query->where);
    const char *tables[] = {brume_engine_table(engine, on->number)};
    must(brume_query_print_groups(query, brume_engine_dialect(engine), tables, NULL, 0, &sql,
                                  &error),
         &error);
    double from = worked();
    must(brume_engine_select(engine, sql, wires, 1, &rows, &error), &error);
    must(brume_rows_next(rows, &chunk, &error), &error);
    double taken = worked() - from;
    brume_rows_close(rows);
    free(sql);
    brume_query_free(query);
    return taken;
}

/* The least of several rounds, the subjects in turn. */
static void measure(subject *subjects, size_t count, const char *condition, int rounds)
{
    for (size_t i = 0; i < count; i++)
        subjects[i].least = INFINITY;
    for (int round = 0; round < rounds; round++)
        for (size_t i = 0; i < count; i++) {
            double taken = run_once(&subjects[i], condition);
            subjects[i].least = fmin(subjects[i].least, taken);
        }
}

/* The slowest of `count` subjects, of which the first is ordinary. */
static const subject *slowest(const subject *subjects, size_t count)
{
    const subject *most = &subjects[0];
    for (size_t i = 1; i < count; i++)
        if (subjects[i].least > most->least)
            most = &subjects[i];
    return most;
}

/* ---- reporting ---- */

static double worst_ratio, worst_growth, worst_byte;

/* In TAP: a time that another one must not exceed by that factor, and some for the clock. */
static void check(const char *where, const char *condition, const char *what, double time,
                  double factor, double other)
{
    bool holds = time <= factor * (other + 0.002);
    faults += !holds;
    printf("%sok %zu - %s, %s: %s\n", holds ? "" : "not ", ++numbered, where, condition, what);
    if (!holds)
        printf("# %g s, and %g s\n", time, other);
    fflush(stdout);
}

static void report(const char *where, const char *condition, const subject *shorter,
                   const subject *longer, size_t count)
{
    const subject *most = slowest(longer, count);
    double ratio = most->least / longer[0].least;
    double growth = shorter ? most->least / slowest(shorter, count)->least : NAN;
    double a_row = most->least / (double)most->rows;
    char shown[48];
    snprintf(shown, sizeof shown, "%.44s%s", condition, strlen(condition) > 44 ? "..." : "");
    if (checking) {
        check(where, shown, "no values take 50 times as long as ordinary ones", most->least, 50,
              longer[0].least);
        if (shorter)
            check(where, shown, "the time is linear in the text, not quadratic", most->least,
                  TIMES_CHECKED / 4, slowest(shorter, count)->least);
        return;
    }
    worst_ratio = fmax(worst_ratio, ratio);
    printf("%-48s %10.2f %10.2f %7.1f  %-9s", shown, longer[0].least / (double)longer[0].rows * 1e6,
           a_row * 1e6, ratio, most->kind);
    if (shorter) {
        double a_byte = a_row / (double)most->length;
        worst_growth = fmax(worst_growth, growth);
        worst_byte = fmax(worst_byte, a_byte);
        printf(" %6.1f %8.1f", growth, a_byte * 1e9);
    }
    printf("\n");
    fflush(stdout);
}

static void head(const char *where, const char *what, size_t rows, size_t length)
{
    if (checking)
        return;
    printf("\n%s, %s, %zu rows", where, what, rows);
    if (length)
        printf(" of %zu bytes; growth: a row's time beside 8 times that of an eighth of them",
               length);
    printf("\n%-48s %10s %10s %7s  %-9s%s\n", "microseconds a row", "ordinary", "slowest", "ratio",
           "by", length ? " growth  ns/byte" : "");
}

/* ---- the campaign ---- */

static void measure_texts(bool postgresql)
{
    size_t bytes = checking ? 1 << 18 : 1 << 20, length = checking ? 4096 : 8192;
    size_t times = checking ? TIMES_CHECKED : TIMES;
    const char *where = postgresql ? "PostgreSQL" : "DuckDB";
    size_t kinds = COUNT_OF(text_kinds);
    subject subjects[SUBJECTS_MOST], *longer = subjects + kinds;
    for (size_t i = 0; i < kinds; i++) {
        make_subject(postgresql, i, times * bytes / length, length / times, &subjects[i]);
        make_subject(postgresql, i, bytes / length, length, &longer[i]);
    }
    open_subjects(subjects, 2 * kinds);
    parse(subjects, text_conditions, COUNT_OF(text_conditions));
    head(where, "texts", bytes / length, length);
    for (size_t i = 0; i < COUNT_OF(text_conditions); i++) {
        measure(subjects, 2 * kinds, text_conditions[i], checking ? 2 : 3);
        report(where, text_conditions[i], subjects, longer, kinds);
    }
    close_subjects(subjects, 2 * kinds);
}

static void measure_numbers(bool postgresql)
{
    size_t rows = checking ? 4000 : 20000, kinds = COUNT_OF(number_kinds);
    const char *where = postgresql ? "PostgreSQL" : "DuckDB";
    subject subjects[SUBJECTS_MOST];
    for (size_t i = 0; i < kinds; i++)
        make_subject(postgresql, i, rows, 0, &subjects[i]);
    open_subjects(subjects, kinds);
    parse(subjects, number_conditions, COUNT_OF(number_conditions));
    head(where, "numbers and times", rows, 0);
    for (size_t i = 0; i < COUNT_OF(number_conditions); i++) {
        measure(subjects, kinds, number_conditions[i], checking ? 2 : 3);
        report(where, number_conditions[i], NULL, subjects, kinds);
    }
    close_subjects(subjects, kinds);
}

static bool is_in_list(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strstr(list[i], name))
            return true;
    return false;
}

/* Nothing that a query may contain is left out: the tables are those of src/query. */
static void check_complete(void)
{
    static const brume_function *const tables[] = {brume_number_functions, brume_text_functions,
                                                   brume_time_functions, brume_named_functions};
    for (int i = 0; i <= BRUME_OPERATION_FORMAT_TIME; i++)
        if (!seen[i] && i != BRUME_OPERATION_GRID)
            stop(brume_operation_word((brume_operation)i));
    for (size_t i = 0; i < COUNT_OF(tables); i++)
        for (const brume_function *each = tables[i]; each->name; each++)
            if (!is_in_list(each->name, text_conditions, COUNT_OF(text_conditions)) &&
                !is_in_list(each->name, number_conditions, COUNT_OF(number_conditions)))
                stop(each->name);
}

int main(int count, char **words)
{
    checking = count > 1 && strcmp(words[1], "check") == 0;
    if (!getenv("BRUME_TEST_POSTGRESQL")) { /* again, beside a server */
        execl("tests/support/with-cluster", "with-cluster", words[0], count > 1 ? words[1] : NULL,
              (char *)NULL);
        stop("run it from the top folder: tests/support/with-cluster is not there");
    }
    snprintf(folder, sizeof folder, "/tmp/brume-expressions-XXXXXX");
    if (!mkdtemp(folder))
        stop("no temporary folder");
    for (int postgresql = 0; postgresql < 2; postgresql++) {
        if (count > 1 && strcmp(words[1], postgresql ? "duckdb" : "postgresql") == 0)
            continue;
        measure_numbers(postgresql);
        measure_texts(postgresql);
    }
    rmdir(folder);
    check_complete();
    if (checking)
        printf("1..%zu\n", numbered);
    else
        printf(
            "\nat most: %.1f times as long as ordinary values of the same length; %.1f times a row's "
            "time for texts 8 times as long, in units of 8; %.1f ns a byte\n",
            worst_ratio, worst_growth, worst_byte * 1e9);
    return faults ? 1 : 0;
}
