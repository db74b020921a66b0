/* Totals that Spark adds up against totals of the same rows in a file, bounded here: the same
 * histograms and the same sums under limits, to the last integer, on random tables with NULLs,
 * ties, rows of nobody and keys that nobody declared; rows streamed from Spark give them too.
 * Broken statements are told apart. What one unit moves, removed or replaced, is within the limit
 * (pushed_totals.h).
 *
 *   test_pushed_spark [ROUNDS]       needs a Spark server, at the URL in BRUME_TEST_SPARK */
#include "check.h"

#include <stdlib.h>
#include <unistd.h>

#include <duckdb.h>

#include "pushed_totals.h"
#include "replaced.h"
#include "spark.h"

static char folder[64], file[96];
static int rounds = 1;
static duckdb_database database;
static duckdb_connection duckdb;

static void execute(const char *sql)
{
    duckdb_result result;
    if (duckdb_query(duckdb, sql, &result) != DuckDBSuccess)
        fail_msg("%s: %s", sql, duckdb_result_error(&result));
    duckdb_destroy_result(&result);
}

/* The rows of DuckDB's table as a file, and the file as Spark's table. */
static void publish(void)
{
    char sql[300];
    snprintf(sql, sizeof sql, "COPY t TO '%s' (FORMAT parquet)", file);
    execute(sql);
    spark_run("DROP TABLE IF EXISTS pushed");
    snprintf(sql, sizeof sql, "CREATE TABLE pushed USING parquet AS SELECT * FROM parquet.`%s`",
             file);
    spark_run(sql);
}

static asked open_file(const char *sql, bool by_name)
{
    const brume_source table = {.location = file};
    return pushed_open(&table, sql, by_name);
}

static asked open_spark(const char *sql, bool by_name)
{
    const brume_source table = {.location = spark_url(), .table = "pushed"};
    return pushed_open(&table, sql, by_name);
}

/* Names are quoted as Spark takes them. */
static char *answer(const char *sql)
{
    char *quoted = replaced(sql, "\"", "`"), *whole = NULL;
    assert_true(asprintf(&whole,
                         "SELECT CAST(sort_array(collect_list(struct(*))) AS STRING) FROM "
                         "(%s)",
                         quoted) > 0);
    char *cell = spark_cell(whole);
    free(quoted);
    free(whole);
    return cell;
}

static const pushed_engine spark = {
    .execute = execute,
    .publish = publish,
    .open = open_spark,
    .questions = 1,
    .units = 3,
    .answer = answer,
    .dialect = BRUME_DIALECT_SPARK,
    .table = "pushed",
    .shift = 24,
    .mutants = {{1, 5, {{") div \"m0\" ELSE", ") div (\"m0\" - 1) ELSE"}}},
                {2, 5, {{"'0.99999999999909051'", "'1.1'"}}},
                {1, 5, {{"PARTITION BY \"r0\"", "PARTITION BY \"r1\""}}},
                {2, 5, {{"PARTITION BY \"r0\"", ""}}},
                {2,
                 5,
                 {{"CAST(\"e0\" AS DECIMAL(18,0)) * CAST(\"e0\" AS DECIMAL(18,0))", "\"e0\""}}},
                {1, 5, {{"('a', 'b', 'it\\'s \\\\')", "('a', 'b')"}}},
                {1, 5, {{"shiftright(\"y0\", 22)", "shiftright(\"y0\", 23)"}}}},
};

static int prepare(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/brume-spark.XXXXXX");
    if (!mkdtemp(folder) || duckdb_open(NULL, &database) != DuckDBSuccess ||
        duckdb_connect(database, &duckdb) != DuckDBSuccess)
        return 1;
    snprintf(file, sizeof file, "%s/t.parquet", folder);
    execute("CREATE TABLE t (u BIGINT, name VARCHAR, k VARCHAR, l BIGINT, x BIGINT, y DOUBLE, big "
            "BIGINT)");
    pushed_here = &spark;
    return 0;
}

static int tidy(void **state)
{
    (void)state;
    char command[128];
    spark_run("DROP TABLE IF EXISTS pushed");
    duckdb_disconnect(&duckdb);
    duckdb_close(&database);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static void spark_gives_the_same_integers(void **state)
{
    (void)state;
    size_t cut = 0, whole = 0;
    for (int round = 0; round < rounds; round++) {
        pushed_fill(round == 1 ? 0 : 1 + pushed_below(150));
        for (size_t q = 0; q < PUSHED_QUESTIONS; q++) {
            bool by_name = pushed_by_name(q);
            asked local = open_file(pushed_questions[q], by_name);
            size_t keys = local.question->query->key_count;
            asked remote = open_spark(pushed_questions[q], by_name);
            brume_collected *here = asked_collect(&local, false, 0);
            brume_collected *there = asked_collect(&remote, true, 0);
            brume_collected *streamed = asked_collect(&remote, false, 0);
            pushed_compare_histograms(local.plan, here, there);
            pushed_compare_histograms(local.plan, here, streamed);
            for (size_t i = 0; i < 2; i++) { /* both norms, with noise that makes the grid coarse */
                static const double noises[] = {1, 1, 1e12, 1e40};
                pushed_limits how = pushed_choose(local.plan, 1 + (int)i, noises[(q + i) % 4]);
                pushed_compare_sums(here, there, &how, keys, pushed_questions[q]);
                pushed_compare_sums(here, streamed, &how, keys, pushed_questions[q]);
                for (size_t j = 0; j < how.limit_count; j++)
                    *(how.limits[j].limit < 8 ? &cut : &whole) += 1;
            }
            brume_collected_close(here);
            brume_collected_close(there);
            brume_collected_close(streamed);
            asked_close(&local);
            asked_close(&remote);
            printf("# the same: %s\n", pushed_questions[q]);
            fflush(stdout);
        }
    }
    assert_true(cut > 10 && whole > 10);
}

int main(int argc, char **argv)
{
    rounds = argc > 1 ? atoi(argv[1]) : rounds;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spark_gives_the_same_integers),
        cmocka_unit_test(pushed_wrong_statements_give_other_integers),
        cmocka_unit_test(pushed_one_unit_moves_no_more_than_its_limit),
    };
    return cmocka_run_group_tests_name("totals of Spark", tests, prepare, tidy);
}
