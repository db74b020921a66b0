/* Totals where the rows lie against totals of streamed rows: the same histograms and the same sums
 * under limits, to the last integer, on random tables with NULLs, ties, rows of nobody and keys
 * that nobody declared. Broken statements are told apart. What one unit moves, removed or replaced,
 * is within the limit. Both statements see one moment while others write. */
#include "check.h"

#include <stdlib.h>

#include <libpq-fe.h>

#include "query/collect/collect.h"
#include "query/collect/pushed.h"
#include "query/limit/clip.h"
#include "query/limit/grid.h"
#include "query/plan/make_plan.h"
#include "query/plan/question.h"
#include "query/collect/place.h"
#include "random/tape.h"
#include "registered.h"

enum { SUMS = 16, CELLS = 64, UNITS = 8 };

static const char *url;
static PGconn *server;
static brume_error error;
static uint64_t seed = 7;

static uint64_t below(uint64_t end)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (seed >> 33) % end;
}

static void execute(const char *sql)
{
    PGresult *result = PQexec(server, sql);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(server));
    PQclear(result);
}

static int connect_here(void **state)
{
    (void)state;
    url = getenv("BRUME_TEST_POSTGRESQL");
    assert_non_null(url);
    server = PQconnectdb(url);
    assert_int_equal(PQstatus(server), CONNECTION_OK);
    execute("CREATE TABLE t (u int8, name text, k text, l int8, x int8, y float8, big int8)");
    return 0;
}

static int disconnect(void **state)
{
    (void)state;
    PQfinish(server);
    return 0;
}

/* ---- random tables ---- */

/* A few units have most of the rows; values are small, with many ties, or huge. */
static void fill(size_t rows)
{
    static const char *const keys[] = {"'a'", "'b'", "'it''s'", "'not declared'", "NULL"};
    char *sql = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&sql, &length);
    fputs("TRUNCATE t; INSERT INTO t VALUES (NULL, NULL, 'a', 1, 1, 1, 1)", out);
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
}

/* ---- a query, and what is collected of it ---- */

typedef struct asked {
    brume_engine *engine;
    brume_question *question;
    brume_plan *plan;
    brume_bits *bits;
} asked;

static asked open_query(const char *sql, bool text_unit)
{
    static const char *const keys[] = {"a", "b", "it's"}, *const numbers[] = {"0", "1", "2"};
    asked all = {.bits = brume_tape_open_seeded(3)};
    const brume_source table = {.location = url, .table = "t"};
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
    for (size_t i = 0; i < plan->limit_count; i++)
        how.limits[i] =
            (brume_total_limit){.of = plan->limits[i].of, .limit = 1 + below(most[below(8)])};
    for (size_t i = 0; p == 2 && i < plan->limit_count; i += 2) { /* a limit that is no whole one */
        uint64_t limit = how.limits[i].limit;
        how.limits[i].square = limit > 1 && limit < UINT64_C(1) << 20 ? limit * limit - 1 : 0;
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
    for (size_t i = 0; i < all->plan->limit_count; i++)
        for (int p = 1; p <= 2; p++) {
            uint64_t a[BRUME_LIMIT_BINS], b[BRUME_LIMIT_BINS];
            size_t bins = below(3) ? BRUME_LIMIT_BINS : 1 + below(6);
            const brume_total *of = &all->plan->limits[i].of;
            assert_ok(brume_collected_histogram(here, of, p, bins, NULL, a, &error));
            assert_ok(brume_collected_histogram(there, of, p, bins, NULL, b, &error));
            assert_memory_equal(a, b, bins * sizeof *a);
        }
}

static void the_server_gives_the_same_integers(void **state)
{
    (void)state;
    size_t cut = 0, whole = 0;
    for (size_t q = 0; q < QUESTIONS; q++) {
        asked all = open_query(questions[q], q % 2 && q != 8 && q != 1 && q != 4);
        for (int round = 0; round < 3; round++) {
            fill(round == 0 ? 0 : 1 + below(150));
            brume_collected *here = collect(&all, false), *there = collect(&all, true);
            compare_histograms(&all, here, there);
            for (int i = 0; i < 5; i++) {
                limited how = choose(all.plan, 1 + (i + round) % 2,
                                     i == 4   ? 1e40
                                     : i == 3 ? 1e12
                                              : 1);
                size_t count = 0, other = 0;
                const brume_bounded_group *a = sum_up(here, &how, &count);
                const brume_bounded_group *b = sum_up(there, &how, &other);
                assert_int_equal(count, other);
                if (differ(a, b, count, all.question->query->key_count, how.sum_count))
                    fail_msg("%s differs", questions[q]);
                for (size_t j = 0; j < how.limit_count; j++)
                    *(how.limits[j].limit < 8 ? &cut : &whole) += 1;
            }
            brume_collected_close(here);
            brume_collected_close(there);
        }
        close_query(&all);
    }
    assert_true(cut > 50 && whole > 50);
}

/* ---- statements that are wrong ---- */

static char *replaced(const char *text, const char *from, const char *to)
{
    char *out = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&out, &length);
    for (const char *at; (at = strstr(text, from)); text = at + strlen(from))
        fprintf(file, "%.*s%s", (int)(at - text), text, to);
    fputs(text, file);
    fclose(file);
    return out;
}

/* The first sum of the first group, by a statement of the server. */
static char *first_sum(const char *sql, int column)
{
    PGresult *result = PQexec(server, sql);
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        fail_msg("%s", PQerrorMessage(server));
    char *cell = strdup(PQgetvalue(result, 0, column));
    PQclear(result);
    return cell;
}

static void a_wrong_statement_gives_other_integers(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to;
        int p;
    } mutants[] = {{"div((\"e0\")", "ceil((\"e0\")", 1},
                   {"trunc(", "ceil(", 2},
                   {"PARTITION BY \"r0\"", "PARTITION BY \"r1\"", 1},
                   {"PARTITION BY \"r0\"", "", 2},
                   {"\"e0\"::numeric * \"e0\"::numeric", "\"e0\"::numeric", 2},
                   {"('a'::text, 'b'::text, 'it''s'::text)", "('a'::text, 'b'::text)", 1}};
    const char *sql = "SELECT k, COUNT(*) FROM t GROUP BY k";
    execute("SET search_path = pg_catalog, public");
    for (size_t m = 0; m < sizeof mutants / sizeof *mutants; m++) {
        asked all = open_query(sql, false);
        const brume_collection *collection = &all.plan->measurements[0].collection;
        const char *tables[] = {"public.t"};
        char *rows = NULL, *right = NULL;
        fill(150);
        assert_ok(
            brume_collect_statement(collection, BRUME_DIALECT_POSTGRESQL, tables, &rows, &error));
        limited how = choose(all.plan, mutants[m].p, 1);
        how.limits[0].limit = 5;
        how.sums[0].shift = 18;
        if (strstr(mutants[m].from, "div")) /* where a quotient of integers would be exact */
            how.limits[0].limit = 3;
        assert_ok(brume_push_print_sums(collection, rows, how.limits, how.limit_count, how.p,
                                        how.sums, how.sum_count, &right, &error));
        char *other = replaced(right, mutants[m].from, mutants[m].to);
        if (strstr(mutants[m].to, "ceil((")) {
            char *quotient = replaced(other, ", \"m0\")::int8", " / \"m0\")::int8");
            free(other);
            other = quotient;
        }
        assert_string_not_equal(right, other);
        char *total = NULL, *wrong = NULL, whole[16384];
        snprintf(whole, sizeof whole, "SELECT string_agg(a::text, ' ' ORDER BY a) FROM (%s) AS a",
                 right);
        total = first_sum(whole, 0);
        snprintf(whole, sizeof whole, "SELECT string_agg(a::text, ' ' ORDER BY a) FROM (%s) AS a",
                 other);
        wrong = first_sum(whole, 0);
        assert_string_not_equal(total, wrong);
        free(total);
        free(wrong);
        free(right);
        free(other);
        free(rows);
        close_query(&all);
    }
    execute("RESET search_path");
}

/* ---- neighbours ---- */

typedef struct numbers {
    brume_i128 sums[CELLS][SUMS];
    uint64_t bins[SUMS][BRUME_LIMIT_BINS];
} numbers;

static numbers measure(const asked *all, const limited *how)
{
    numbers made = {0};
    size_t count = 0;
    brume_collected *there = collect(all, true);
    for (size_t i = 0; i < how->limit_count; i++)
        assert_ok(brume_collected_histogram(there, &how->limits[i].of, how->p, BRUME_LIMIT_BINS,
                                            NULL, made.bins[i], &error));
    const brume_bounded_group *groups = sum_up(there, how, &count);
    assert_true(count <= CELLS);
    for (size_t c = 0; c < count; c++)
        for (size_t i = 0; i < how->sum_count; i++)
            made.sums[c][i] = groups[c].limited[i];
    brume_collected_close(there);
    return made;
}

/* How far sum i moved, as a multiple of what the limit allows: the p-th power of the distance. */
static double moved(const numbers *a, const numbers *b, const asked *all, const limited *how,
                    size_t i)
{
    double reach =
        ldexp((double)how->limits[how->sums[i].limit].limit * reach_of(&all->plan->measures[i]),
              how->sums[i].shift);
    double sum = 0;
    for (size_t c = 0; c < CELLS; c++)
        sum += pow(fabs((double)(a->sums[c][i] - b->sums[c][i])), how->p);
    return sum / pow(reach, how->p);
}

static uint64_t bins_moved(const numbers *a, const numbers *b, size_t limit)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < BRUME_LIMIT_BINS; i++)
        sum += (uint64_t)llabs((long long)(a->bins[limit][i] - b->bins[limit][i]));
    return sum;
}

static void check_moved(const numbers *a, const numbers *b, const asked *all, const limited *how,
                        double bins, double c, double *worst)
{
    for (size_t i = 0; i < how->sum_count; i++) {
        double far = moved(a, b, all, how, i);
        assert_true(far <= c * (1 + 1e-12));
        *worst = fmax(*worst, far);
    }
    for (size_t i = 0; i < how->limit_count; i++)
        assert_true((double)bins_moved(a, b, i) <= bins);
}

/* Each unit removed, and each with the rows of another in its place. Signed sums: c is 1 under
 * add-remove, 2 (p = 1) or 4 (p = 2) under replace. */
static void one_unit_moves_no_more_than_its_limit(void **state)
{
    (void)state;
    static const char *const asked_of[] = {"SELECT k, COUNT(*), SUM(x), AVG(y) FROM t GROUP BY k",
                                           "SELECT COUNT(*), SUM(x), VAR_POP(x) FROM t"};
    double worst[2][2] = {{0}};
    for (size_t q = 0; q < 2; q++) {
        asked all = open_query(asked_of[q], false);
        for (int round = 0; round < 2; round++) {
            int p = 1 + round % 2;
            fill(70);
            execute(
                "DELETE FROM t WHERE u < 2; INSERT INTO t SELECT i % 2, 'two', CASE WHEN i % 2 = "
                "0 THEN 'a' ELSE 'b' END, 1, 12, 20, 1 FROM generate_series(1, 20) AS s(i)");
            limited how = choose(all.plan, p, 1);
            for (size_t i = 0; i < how.limit_count; i++)
                how.limits[i].limit = 1 + below(4);
            for (size_t i = 0; i < how.sum_count; i++)
                how.sums[i].shift = 12;
            numbers before = measure(&all, &how);
            for (int unit = 0; unit < UNITS; unit++) {
                char sql[300];
                snprintf(sql, sizeof sql,
                         "CREATE TABLE kept AS SELECT * FROM t; DELETE FROM t WHERE u = %d", unit);
                execute(sql);
                numbers without = measure(&all, &how);
                check_moved(&before, &without, &all, &how, 1, 1, &worst[0][p - 1]);
                snprintf(sql, sizeof sql,
                         "INSERT INTO t SELECT %d, name, k, l, -x, -y, big FROM kept WHERE u = %d",
                         unit, (unit + 1) % UNITS);
                execute(sql);
                numbers instead = measure(&all, &how);
                check_moved(&before, &instead, &all, &how, 2, p == 1 ? 2 : 4, &worst[1][p - 1]);
                execute("TRUNCATE t; INSERT INTO t SELECT * FROM kept; DROP TABLE kept");
            }
        }
        close_query(&all);
    }
    assert_true(worst[0][0] > 0.9 && worst[0][1] > 0.9); /* limits are reached */
    assert_true(worst[1][0] > 1.2 && worst[1][1] > 1.2); /* and replacing moves more */
}

/* ---- combinations of keys ---- */

/* A row in a combination of declared values that is no declared group is left out, both ways; it
 * makes no statement fail. */
static void undeclared_combinations_are_left_out(void **state)
{
    (void)state;
    static const size_t keys[] = {0, 1}, places[] = {0, 0, 1, 1, 2, 2};
    static const brume_cell_tie tie = {2, keys, 3, places};
    asked all = open_query("SELECT k, l, COUNT(*), SUM(x) FROM t GROUP BY k, l", false);
    brume_collection *collection = &all.plan->measurements[0].collection;
    collection->ties = &tie;
    collection->tie_count = 1;
    collection->cells = 3;
    fill(150);
    execute("INSERT INTO t VALUES (1, 'one', 'a', 2, 1, 1, 1)");
    brume_collected *here = collect(&all, false), *there = collect(&all, true);
    limited how = choose(all.plan, 1, 1);
    for (size_t i = 0; i < how.limit_count; i++) /* none is cut, whatever it is a norm of */
        how.limits[i].limit = UINT64_C(1) << 30;
    for (size_t i = 0; i < how.sum_count; i++)
        how.sums[i].shift = 0;
    size_t count = 0, other = 0;
    const brume_bounded_group *a = sum_up(here, &how, &count);
    const brume_bounded_group *b = sum_up(there, &how, &other);
    assert_int_equal(count, 3);
    assert_int_equal(other, 3);
    assert_int_equal(differ(a, b, count, 2, how.sum_count), 0);
    brume_collected_close(here);
    brume_collected_close(there);
    close_query(&all);
}

/* ---- one moment ---- */

static void both_statements_see_one_moment(void **state)
{
    (void)state;
    asked all = open_query("SELECT COUNT(*) FROM t", false);
    fill(60);
    limited how = choose(all.plan, 1, 1);
    how.limits[0].limit = 100;
    how.sums[0].shift = 0;
    brume_collected *there = collect(&all, true);
    uint64_t bins[BRUME_LIMIT_BINS];
    size_t count = 0;
    assert_ok(brume_collected_histogram(there, &how.limits[0].of, 1, BRUME_LIMIT_BINS, NULL, bins,
                                        &error));
    execute("DELETE FROM t");
    const brume_bounded_group *groups = sum_up(there, &how, &count);
    assert_int_equal(groups[0].rows, 60);
    assert_true(groups[0].limited[0] == 60);
    brume_collected_close(there);
    there = collect(&all, true); /* another moment */
    groups = sum_up(there, &how, &count);
    assert_int_equal(groups[0].rows, 0);
    brume_collected_close(there);
    close_query(&all);
}

/* ---- what cannot be pushed ---- */

static void what_needs_rows_is_refused_by_name(void **state)
{
    (void)state;
    static const char *const refused[][2] = {
        {"SELECT MEDIAN(x) FROM t", "quantiles and modes"},
        {"SELECT k, COUNT(*), MEDIAN(x) FROM t GROUP BY k", "quantiles and modes"}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        asked all = open_query(refused[i][0], false);
        assert_fails(brume_place(all.question, all.plan, BRUME_WHERE_ENGINE, &error),
                     BRUME_EUNSUPPORTED);
        if (!strstr(error.message, refused[i][1]))
            fail_msg("%s", error.message);
        assert_ok(brume_place(all.question, all.plan, BRUME_WHERE_AUTO, &error));
        assert_false(all.plan->in_engine);
        all.question->policies[0]->rows_stay = true;
        assert_fails(brume_place(all.question, all.plan, BRUME_WHERE_AUTO, &error),
                     BRUME_EUNSUPPORTED);
        assert_fails(brume_place(all.question, all.plan, BRUME_WHERE_BRUME, &error), BRUME_EPOLICY);
        close_query(&all);
    }
    asked all = open_query("SELECT COUNT(*) FROM t", false);
    all.question->policies[0]->rows_stay = true;
    assert_ok(brume_place(all.question, all.plan, BRUME_WHERE_AUTO, &error));
    assert_true(all.plan->in_engine);
    close_query(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_server_gives_the_same_integers),
        cmocka_unit_test(a_wrong_statement_gives_other_integers),
        cmocka_unit_test(one_unit_moves_no_more_than_its_limit),
        cmocka_unit_test(undeclared_combinations_are_left_out),
        cmocka_unit_test(both_statements_see_one_moment),
        cmocka_unit_test(what_needs_rows_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, connect_here, disconnect);
}
