/* Totals that Spark adds up against totals of the same rows in a file, bounded here: the same
 * histograms and the same sums under limits, to the last integer, on random tables with NULLs,
 * ties, rows of nobody and keys that nobody declared; rows streamed from Spark give them too.
 * Broken statements are told apart. What one unit moves, removed or replaced, is within the limit.
 *
 *   test_pushed_spark [ROUNDS]       needs a Spark server, at the URL in BRUME_TEST_SPARK */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include <duckdb.h>

#include "query/collect/collect.h"
#include "query/collect/place.h"
#include "query/collect/pushed_spark.h"
#include "query/limit/clip.h"
#include "query/limit/grid.h"
#include "query/plan/make_plan.h"
#include "query/plan/question.h"
#include "random/tape.h"
#include "registered.h"
#include "spark.h"

enum { SUMS = 16, CELLS = 64, UNITS = 8 };
enum { FILES, SPARK };

static char folder[64], file[96];
static brume_error error;
static uint64_t seed = 7;
static int rounds = 1;
static duckdb_database database;
static duckdb_connection duckdb;

static uint64_t below(uint64_t end)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (seed >> 33) % end;
}

static void execute(const char *sql)
{
    duckdb_result result;
    if (duckdb_query(duckdb, sql, &result) != DuckDBSuccess)
        fail_msg("%s: %s", sql, duckdb_result_error(&result));
    duckdb_destroy_result(&result);
}

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

/* ---- random tables ---- */

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

/* A few units have most of the rows; values are small, with many ties, or huge. */
static void fill(size_t rows)
{
    static const char *const keys[] = {"'a'", "'b'", "'it''s \\'", "'not declared'", "NULL"};
    char *sql = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&sql, &length);
    fputs("DELETE FROM t; INSERT INTO t VALUES (NULL, NULL, 'a', 1, 1, 1, 1)", out);
    for (size_t i = 0; i < rows; i++) {
        uint64_t unit = below(3) ? below(UNITS) / 4 : below(UNITS);
        long long wild = (long long)(below(1U << 30) << 33) - (1LL << 62);
        fprintf(out, ", (%llu, 'é%llu', %s, %lld, ", (unsigned long long)unit,
                (unsigned long long)unit, keys[below(5)], (long long)below(4) - 1);
        if (below(5) == 0)
            fputs("NULL, NULL, NULL)", out);
        else
            fprintf(out, "%lld, %.2f, %lld)", (long long)below(31) - 15,
                    (double)(int64_t)below(4001) / 100 - 20, wild * (long long)below(2));
    }
    fclose(out);
    execute(sql);
    free(sql);
    publish();
}

/* ---- a query, and what is collected of it ---- */

typedef struct asked {
    brume_engine *engine;
    brume_question *question;
    brume_plan *plan;
    brume_bits *bits;
} asked;

static asked open_query(int from, const char *sql, bool text_unit)
{
    static const char *const keys[] = {"a", "b", "it's \\"}, *const numbers[] = {"0", "1", "2"};
    asked all = {.bits = brume_tape_open_seeded(3)};
    const brume_source table = from == FILES
                                   ? (brume_source){.location = file}
                                   : (brume_source){.location = spark_url(), .table = "pushed"};
    brume_policy *policy = registered_policy(&table);
    assert_ok(brume_policy_set_unit(policy, text_unit ? "name" : "u", &error));
    assert_ok(brume_policy_set_bounds(policy, "x", "-10", "12", &error));
    assert_ok(brume_policy_set_bounds(policy, "y", "-12.5", "20", &error));
    assert_ok(brume_policy_set_bounds(policy, "big", "-4e18", "4e18", &error));
    assert_ok(brume_policy_set_domain(policy, "k", keys, 3, &error));
    assert_ok(brume_policy_set_domain(policy, "l", numbers, 3, &error));
    assert_ok(brume_question_alone(policy, "t", sql, &all.question, &error));
    all.question->datasets[0]->filter.rule = BRUME_RULE_PURE;
    brume_payment payment = {.epsilon = "1"};
    assert_ok(brume_query_plan_make(all.question->query, all.question->tables, &payment, &all.plan,
                                    &error));
    assert_ok(brume_engine_open(&table, 1, &all.engine, &error));
    return all;
}

static void close_query(asked *all)
{
    brume_query_plan_close(all->plan);
    brume_question_close(all->question);
    brume_engine_close(all->engine);
    brume_bits_close(all->bits);
}

static brume_collected *collect(const asked *all, bool pushed)
{
    brume_collected *collected = NULL;
    assert_ok(brume_place(all->question, all->plan, pushed ? BRUME_WHERE_ENGINE : BRUME_WHERE_BRUME,
                          &error));
    assert_true(all->plan->in_engine == pushed);
    assert_ok(brume_collect(&all->plan->measurements[0].collection, all->engine, 1, all->bits,
                            &collected, &error));
    return collected;
}

/* Limits for all that the plan limits, and its sums under them. */
typedef struct limited {
    brume_total_limit limits[SUMS];
    brume_limited_sum sums[SUMS];
    size_t limit_count, sum_count;
    int p;
} limited;

static double reach_of(const brume_measure *measure)
{
    double reach = fmax(1, (double)brume_measure_reach(measure));
    if (measure->kind == BRUME_MEASURE_CENTRED)
        return reach;
    return measure->kind == BRUME_MEASURE_SQUARES ? ceil(reach * reach / 2) : 1;
}

static limited choose(const brume_plan *plan, int p, double noise)
{
    static const uint64_t most[] = {1, 2, 3, 7, 50, 1000, UINT64_C(1) << 35, UINT64_C(1) << 62};
    limited how = {.limit_count = plan->limit_count, .sum_count = plan->measure_count, .p = p};
    assert_true(how.sum_count <= SUMS && how.limit_count <= SUMS);
    for (size_t i = 0; i < plan->limit_count; i++) {
        uint64_t limit = 1 + below(most[below(8)]);
        how.limits[i] = (brume_total_limit){plan->limits[i].of, limit, 0};
        if (p == 2 && limit > 1 && limit < UINT64_C(1) << 20 && below(2))
            how.limits[i].square = limit * limit - 1; /* a limit that is no whole number */
    }
    for (size_t i = 0; i < plan->measure_count; i++) {
        const brume_measure *measure = &plan->measures[i];
        brume_limited_sum *sum = &how.sums[i];
        *sum = (brume_limited_sum){.kind = measure->kind, .value = measure->expression};
        if (measure->kind == BRUME_MEASURE_SQUARES)
            sum->half_square = brume_measure_half_square(measure);
        if (plan->measure_limit[i] >= 0)
            sum->limit = (size_t)plan->measure_limit[i];
        sum->shift = brume_limit_shift((double)how.limits[sum->limit].limit * reach_of(measure),
                                       below(4) > 0, noise);
    }
    return how;
}

static const brume_bounded_group *sum_up(brume_collected *collected, const limited *how,
                                         size_t *count)
{
    assert_ok(brume_collected_limit(collected, how->limits, how->limit_count, how->p, NULL,
                                    how->sums, how->sum_count, &error));
    return brume_collected_groups(collected, count);
}

/* How many numbers differ. */
static size_t differ(const brume_bounded_group *a, const brume_bounded_group *b, size_t count,
                     size_t key_count, size_t sum_count)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(brume_keys_compare(a[i].keys, b[i].keys, key_count), 0);
        found += a[i].units != b[i].units;
        found += a[i].rows != b[i].rows;
        for (size_t j = 0; j < sum_count; j++)
            found += a[i].limited[j] != b[i].limited[j];
    }
    return found;
}

static const char *const questions[] = {
    "SELECT COUNT(*) FROM t",
    "SELECT COUNT(DISTINCT u), COUNT(x), SUM(x), SUM(big) FROM t",
    "SELECT AVG(x), VAR_POP(x), AVG(y) FROM t WHERE l <> 2",
    "SELECT k, COUNT(*), SUM(x) FROM t GROUP BY k",
    "SELECT k, l, COUNT(DISTINCT u), SUM(big), AVG(y), STDDEV(x) FROM t GROUP BY k, l",
    "SELECT k, l, COUNT(*), SUM(x) FILTER (WHERE y > 0) FROM t GROUP BY ROLLUP (k, l)",
    "SELECT k, l, COUNT(*), AVG(x) FROM t GROUP BY GROUPING SETS ((k), (k, l), ())",
    "SELECT x > 0, COUNT(*), SUM(y), SUM(CLAMP(big, 0, 9000000000000000000)) FROM t GROUP BY 1",
    "SELECT a.k, COUNT(*), SUM(b.big) FROM t a JOIN t b ON a.u = b.u AND a.l = b.l GROUP BY a.k",
};
enum { QUESTIONS = sizeof questions / sizeof *questions };

static void compare_histograms(const asked *all, brume_collected *here, brume_collected *there)
{
    for (size_t i = 0; i < all->plan->limit_count; i++) {
        uint64_t a[BRUME_LIMIT_BINS], b[BRUME_LIMIT_BINS];
        size_t bins = below(3) ? BRUME_LIMIT_BINS : 1 + below(6);
        int p = 1 + (int)below(2);
        const brume_total *of = &all->plan->limits[i].of;
        assert_ok(brume_collected_histogram(here, of, p, bins, NULL, a, &error));
        assert_ok(brume_collected_histogram(there, of, p, bins, NULL, b, &error));
        assert_memory_equal(a, b, bins * sizeof *a);
    }
}

static void compare_sums(const asked *all, brume_collected *here, brume_collected *there,
                         const limited *how, const char *sql)
{
    size_t count = 0, other = 0;
    const brume_bounded_group *a = sum_up(here, how, &count);
    const brume_bounded_group *b = sum_up(there, how, &other);
    assert_int_equal(count, other);
    if (differ(a, b, count, all->question->query->key_count, how->sum_count))
        fail_msg("%s differs", sql);
}

static void spark_gives_the_same_integers(void **state)
{
    (void)state;
    size_t cut = 0, whole = 0;
    for (int round = 0; round < rounds; round++) {
        fill(round == 1 ? 0 : 1 + below(150));
        for (size_t q = 0; q < QUESTIONS; q++) {
            bool by_name = q % 2 && q != 8 && q != 1 && q != 4;
            asked local = open_query(FILES, questions[q], by_name);
            asked remote = open_query(SPARK, questions[q], by_name);
            brume_collected *here = collect(&local, false), *there = collect(&remote, true);
            brume_collected *streamed = collect(&remote, false);
            compare_histograms(&local, here, there);
            compare_histograms(&local, here, streamed);
            for (size_t i = 0; i < 2; i++) { /* both norms, with noise that makes the grid coarse */
                static const double noises[] = {1, 1, 1e12, 1e40};
                limited how = choose(local.plan, 1 + (int)i, noises[(q + i) % 4]);
                compare_sums(&local, here, there, &how, questions[q]);
                compare_sums(&local, here, streamed, &how, questions[q]);
                for (size_t j = 0; j < how.limit_count; j++)
                    *(how.limits[j].limit < 8 ? &cut : &whole) += 1;
            }
            brume_collected_close(here);
            brume_collected_close(there);
            brume_collected_close(streamed);
            close_query(&local);
            close_query(&remote);
            printf("# the same: %s\n", questions[q]);
            fflush(stdout);
        }
    }
    assert_true(cut > 10 && whole > 10);
}

/* ---- statements that are wrong ---- */

static char *replaced(const char *text, const char *from, const char *to)
{
    char *out = NULL;
    size_t length = 0;
    FILE *made = open_memstream(&out, &length);
    for (const char *at; (at = strstr(text, from)); text = at + strlen(from))
        fprintf(made, "%.*s%s", (int)(at - text), text, to);
    fputs(text, made);
    fclose(made);
    return out;
}

/* All that a statement answers, as one text. Names are quoted as Spark takes them. */
static char *answer_of(const char *sql)
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

static void a_wrong_statement_gives_other_integers(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to;
        int p;
    } mutants[] = {{") div \"m0\" ELSE", ") div (\"m0\" - 1) ELSE", 1},
                   {"'0.99999999999909051'", "'1.1'", 2},
                   {"PARTITION BY \"r0\"", "PARTITION BY \"r1\"", 1},
                   {"PARTITION BY \"r0\"", "", 2},
                   {"CAST(\"e0\" AS DECIMAL(18,0)) * CAST(\"e0\" AS DECIMAL(18,0))", "\"e0\"", 2},
                   {"('a', 'b', 'it\\'s \\\\')", "('a', 'b')", 1},
                   {"shiftright(\"y0\", 22)", "shiftright(\"y0\", 23)", 1}};
    fill(150);
    for (size_t m = 0; m < sizeof mutants / sizeof *mutants; m++) {
        asked all = open_query(SPARK, "SELECT k, COUNT(*) FROM t GROUP BY k", false);
        const brume_collection *collection = &all.plan->measurements[0].collection;
        const char *tables[] = {"pushed"};
        char *rows = NULL, *right = NULL;
        assert_ok(brume_collect_statement(collection, BRUME_DIALECT_SPARK, tables, &rows, &error));
        limited how = choose(all.plan, mutants[m].p, 1);
        how.limits[0] = (brume_total_limit){how.limits[0].of, 5, 0};
        how.sums[0].shift = 24;
        assert_ok(brume_push_spark_sums(collection, rows, how.limits, how.limit_count, how.p,
                                        how.sums, how.sum_count, &right, &error));
        char *other = replaced(right, mutants[m].from, mutants[m].to);
        if (strcmp(right, other) == 0)
            fail_msg("no '%s' in %s", mutants[m].from, right);
        char *total = answer_of(right), *wrong = answer_of(other);
        if (strcmp(total, wrong) == 0)
            fail_msg("'%s' makes no difference", mutants[m].from);
        free(total);
        free(wrong);
        free(right);
        free(other);
        free(rows);
        close_query(&all);
    }
}

/* ---- neighbours ---- */

typedef struct numbers {
    brume_i128 sums[CELLS][SUMS];
    uint64_t bins[SUMS][BRUME_LIMIT_BINS];
} numbers;

/* The table is another one each time, so the connection is too. */
static numbers measure(const char *sql, const limited *how)
{
    numbers made = {0};
    size_t count = 0;
    asked all = open_query(SPARK, sql, false);
    brume_collected *there = collect(&all, true);
    for (size_t i = 0; i < how->limit_count; i++)
        assert_ok(brume_collected_histogram(there, &how->limits[i].of, how->p, BRUME_LIMIT_BINS,
                                            NULL, made.bins[i], &error));
    const brume_bounded_group *groups = sum_up(there, how, &count);
    assert_true(count <= CELLS);
    for (size_t c = 0; c < count; c++)
        for (size_t i = 0; i < how->sum_count; i++)
            made.sums[c][i] = groups[c].limited[i];
    brume_collected_close(there);
    close_query(&all);
    return made;
}

/* How far sum i moved, as a multiple of what the limit allows: the p-th power of the distance. */
static double moved(const numbers *a, const numbers *b, const brume_plan *plan, const limited *how,
                    size_t i)
{
    double reach =
        ldexp((double)how->limits[how->sums[i].limit].limit * reach_of(&plan->measures[i]),
              how->sums[i].shift);
    double sum = 0;
    for (size_t c = 0; c < CELLS; c++)
        sum += pow(fabs((double)(a->sums[c][i] - b->sums[c][i])), how->p);
    return sum / pow(reach, how->p);
}

static void check_moved(const numbers *a, const numbers *b, const brume_plan *plan,
                        const limited *how, double bins, double c, double *worst)
{
    for (size_t i = 0; i < how->sum_count; i++) {
        double far = moved(a, b, plan, how, i);
        assert_true(far <= c * (1 + 1e-12));
        *worst = fmax(*worst, far);
    }
    for (size_t i = 0; i < how->limit_count; i++) {
        uint64_t sum = 0;
        for (size_t j = 0; j < BRUME_LIMIT_BINS; j++)
            sum += (uint64_t)llabs((long long)(a->bins[i][j] - b->bins[i][j]));
        assert_true((double)sum <= bins);
    }
}

/* Each of some units removed, and with the rows of another in its place. Signed sums: c is 1 under
 * add-remove, 2 (p = 1) or 4 (p = 2) under replace. */
static void one_unit_moves_no_more_than_its_limit(void **state)
{
    (void)state;
    const char *sql = "SELECT k, COUNT(*), SUM(x), AVG(y) FROM t GROUP BY k";
    double worst[2][2] = {{0}};
    asked all = open_query(FILES, sql, false);
    for (int p = 1; p <= 2; p++) {
        fill(70);
        execute("DELETE FROM t WHERE u < 2; INSERT INTO t SELECT i % 2, 'two', CASE WHEN i % 2 = 0 "
                "THEN 'a' ELSE 'b' END, 1, 12, 20, 1 FROM range(1, 21) AS s(i)");
        publish();
        limited how = choose(all.plan, p, 1);
        for (size_t i = 0; i < how.limit_count; i++)
            how.limits[i] = (brume_total_limit){how.limits[i].of, 1 + below(4), 0};
        for (size_t i = 0; i < how.sum_count; i++)
            how.sums[i].shift = 12;
        numbers before = measure(sql, &how);
        for (int unit = 0; unit < 3; unit++) {
            char text[300];
            snprintf(text, sizeof text,
                     "CREATE TABLE kept AS SELECT * FROM t; DELETE FROM t WHERE u = %d", unit);
            execute(text);
            publish();
            numbers without = measure(sql, &how);
            check_moved(&before, &without, all.plan, &how, 1, 1, &worst[0][p - 1]);
            snprintf(text, sizeof text,
                     "INSERT INTO t SELECT %d, name, k, l, -x, -y, big FROM kept WHERE u = %d",
                     unit, (unit + 1) % UNITS);
            execute(text);
            publish();
            numbers instead = measure(sql, &how);
            check_moved(&before, &instead, all.plan, &how, 2, p == 1 ? 2 : 4, &worst[1][p - 1]);
            execute("DELETE FROM t; INSERT INTO t SELECT * FROM kept; DROP TABLE kept");
        }
    }
    close_query(&all);
    assert_true(worst[0][0] > 0.9 && worst[0][1] > 0.9); /* limits are reached */
    assert_true(worst[1][0] > 1.2 && worst[1][1] > 1.2); /* and replacing moves more */
}

int main(int argc, char **argv)
{
    rounds = argc > 1 ? atoi(argv[1]) : rounds;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spark_gives_the_same_integers),
        cmocka_unit_test(a_wrong_statement_gives_other_integers),
        cmocka_unit_test(one_unit_moves_no_more_than_its_limit),
    };
    return cmocka_run_group_tests_name("totals of Spark", tests, prepare, tidy);
}
