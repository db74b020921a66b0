/* Totals where the rows lie against totals of streamed rows: the same histograms and the same sums
 * under limits, to the last integer, on random tables with NULLs, ties, rows of nobody and keys
 * that nobody declared. Broken statements are told apart. What one unit moves, removed or replaced,
 * is within the limit (pushed_totals.h). Both statements see one moment while others write. */
#include "check.h"

#include <stdlib.h>

#include <libpq-fe.h>

#include "pushed_totals.h"
#include "query/collect/place.h"

static const char *url;
static PGconn *server;
static brume_error error;

static void execute(const char *sql)
{
    PGresult *result = PQexec(server, sql);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(server));
    PQclear(result);
}

static asked open_query(const char *sql, bool by_name)
{
    const brume_source table = {.location = url, .table = "t"};
    return pushed_open(&table, sql, by_name);
}

static char *answer(const char *sql)
{
    char *whole = NULL;
    assert_true(asprintf(&whole, "SELECT string_agg(a::text, ' ' ORDER BY a) FROM (%s) AS a", sql) >
                0);
    execute("SET search_path = pg_catalog, public");
    PGresult *result = PQexec(server, whole);
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        fail_msg("%s", PQerrorMessage(server));
    char *cell = strdup(PQgetvalue(result, 0, 0));
    PQclear(result);
    execute("RESET search_path");
    free(whole);
    return cell;
}

static const pushed_engine postgresql = {
    .execute = execute,
    .open = open_query,
    .questions = 2,
    .units = PUSHED_UNITS,
    .answer = answer,
    .dialect = BRUME_DIALECT_POSTGRESQL,
    .table = "public.t",
    .shift = 18,
    .mutants =
        {/* where a quotient of integers would be exact */
         {1, 3, {{"div((\"e0\")", "ceil((\"e0\")"}, {", \"m0\")::int8", " / \"m0\")::int8"}}},
         {2, 5, {{"trunc(", "ceil("}}},
         {1, 5, {{"PARTITION BY \"r0\"", "PARTITION BY \"r1\""}}},
         {2, 5, {{"PARTITION BY \"r0\"", ""}}},
         {2, 5, {{"\"e0\"::numeric * \"e0\"::numeric", "\"e0\"::numeric"}}},
         {1, 5, {{"('a'::text, 'b'::text, 'it''s \\'::text)", "('a'::text, 'b'::text)"}}}},
};

static int connect_here(void **state)
{
    (void)state;
    url = getenv("BRUME_TEST_POSTGRESQL");
    assert_non_null(url);
    server = PQconnectdb(url);
    assert_int_equal(PQstatus(server), CONNECTION_OK);
    execute("CREATE TABLE t (u int8, name text, k text, l int8, x int8, y float8, big int8)");
    pushed_here = &postgresql;
    return 0;
}

static int disconnect(void **state)
{
    (void)state;
    PQfinish(server);
    return 0;
}

static void the_server_gives_the_same_integers(void **state)
{
    (void)state;
    size_t cut = 0, whole = 0;
    for (size_t q = 0; q < PUSHED_QUESTIONS; q++) {
        asked all = open_query(pushed_questions[q], pushed_by_name(q));
        for (int round = 0; round < 3; round++) {
            pushed_fill(round == 0 ? 0 : 1 + pushed_below(150));
            brume_collected *here = asked_collect(&all, false, 0);
            brume_collected *there = asked_collect(&all, true, 0);
            pushed_compare_histograms(all.plan, here, there);
            for (int i = 0; i < 5; i++) { /* noise that makes the grid coarse, too */
                static const double noises[] = {1, 1, 1, 1e12, 1e40};
                pushed_limits how = pushed_choose(all.plan, 1 + (i + round) % 2, noises[i]);
                pushed_compare_sums(here, there, &how, all.question->query->key_count,
                                    pushed_questions[q]);
                for (size_t j = 0; j < how.limit_count; j++)
                    *(how.limits[j].limit < 8 ? &cut : &whole) += 1;
            }
            brume_collected_close(here);
            brume_collected_close(there);
        }
        asked_close(&all);
    }
    assert_true(cut > 50 && whole > 50);
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
    pushed_fill(150);
    execute("INSERT INTO t VALUES (1, 'one', 'a', 2, 1, 1, 1)");
    brume_collected *here = asked_collect(&all, false, 0);
    brume_collected *there = asked_collect(&all, true, 0);
    pushed_limits how = pushed_choose(all.plan, 1, 1);
    for (size_t i = 0; i < how.limit_count; i++) /* none is cut, whatever it is a norm of */
        how.limits[i].limit = UINT64_C(1) << 30;
    for (size_t i = 0; i < how.sum_count; i++)
        how.sums[i].shift = 0;
    pushed_compare_sums(here, there, &how, 2, "undeclared combinations");
    size_t count = 0;
    brume_collected_groups(there, &count);
    assert_int_equal(count, 3);
    brume_collected_close(here);
    brume_collected_close(there);
    asked_close(&all);
}

/* ---- one moment ---- */

static void both_statements_see_one_moment(void **state)
{
    (void)state;
    asked all = open_query("SELECT COUNT(*) FROM t", false);
    pushed_fill(60);
    pushed_limits how = pushed_choose(all.plan, 1, 1);
    how.limits[0].limit = 100;
    how.sums[0].shift = 0;
    brume_collected *there = asked_collect(&all, true, 0);
    uint64_t bins[BRUME_LIMIT_BINS];
    size_t count = 0;
    assert_ok(brume_collected_histogram(there, &how.limits[0].of, 1, BRUME_LIMIT_BINS, NULL, bins,
                                        &error));
    execute("DELETE FROM t");
    const brume_bounded_group *groups = pushed_sum_up(there, &how, &count);
    assert_int_equal(groups[0].rows, 60);
    assert_true(groups[0].limited[0] == 60);
    brume_collected_close(there);
    there = asked_collect(&all, true, 0); /* another moment */
    groups = pushed_sum_up(there, &how, &count);
    assert_int_equal(groups[0].rows, 0);
    brume_collected_close(there);
    asked_close(&all);
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
        asked_close(&all);
    }
    asked all = open_query("SELECT COUNT(*) FROM t", false);
    all.question->policies[0]->rows_stay = true;
    assert_ok(brume_place(all.question, all.plan, BRUME_WHERE_AUTO, &error));
    assert_true(all.plan->in_engine);
    asked_close(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_server_gives_the_same_integers),
        cmocka_unit_test(pushed_wrong_statements_give_other_integers),
        cmocka_unit_test(pushed_one_unit_moves_no_more_than_its_limit),
        cmocka_unit_test(undeclared_combinations_are_left_out),
        cmocka_unit_test(both_statements_see_one_moment),
        cmocka_unit_test(what_needs_rows_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, connect_here, disconnect);
}
