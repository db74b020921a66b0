/* Queries of public tables only: what an engine may be asked to run, and what not. Statements of a
 * text. Sums that differ by constants. */
#include "check.h"

#include <stdlib.h>

#include "parsed.h"
#include "query/sql/formula.h"
#include "query/sql/public.h"

static const brume_catalog_column nation_columns[] = {
    {.name = "n_key", .type = {BRUME_TYPE_INTEGER, 0, 0}},
    {.name = "n_name", .type = {BRUME_TYPE_TEXT, 0, 0}},
    {.name = "n_map", .type = {BRUME_TYPE_REFUSED, 0, 0}},
};
static const brume_catalog_column region_columns[] = {
    {.name = "r_key", .type = {BRUME_TYPE_INTEGER, 0, 0}},
};
static const brume_catalog_table public_tables[] = {
    {.name = "nation",
     .privacy = BRUME_PRIVACY_PUBLIC,
     .columns = nation_columns,
     .column_count = 3},
    {.name = "region",
     .privacy = BRUME_PRIVACY_PUBLIC,
     .columns = region_columns,
     .column_count = 1},
};
static const brume_catalog public_catalog = {public_tables, 2};

static brume_status check(const char *text, brume_public_query **out)
{
    brume_sql *sql = NULL;
    brume_status status = brume_sql_parse(text, &sql, &error);
    if (status == BRUME_OK)
        status = brume_sql_public(sql, &public_catalog, out, &error);
    brume_sql_close(sql);
    return status;
}

static void any_select_of_the_tables_is_printed_for_both_engines(void **state)
{
    (void)state;
    static const struct {
        const char *sql;
        size_t outputs;
        const char *last;
    } cases[] = {
        {"SELECT * FROM nation", 2, "n_name"},
        {"SELECT n.*, r_key AS k FROM nation n JOIN region ON n_key = r_key", 3, "k"},
        {"SELECT count(*) FROM nation UNION ALL SELECT 5", 1, "count"},
        {"WITH w (a) AS (SELECT n_key FROM nation) SELECT max(a) AS m FROM w", 1, "m"},
        {"SELECT n_name, rank() OVER (ORDER BY n_key) AS place FROM data.nation", 2, "place"},
        {"SELECT n_key FROM nation WHERE n_key > (SELECT avg(r_key) FROM region)", 1, "n_key"},
        {"SELECT * FROM (SELECT n_key + 1 AS x, * FROM nation) AS q", 3, "n_name"},
        {"SELECT n_key, count(*) FROM nation GROUP BY ALL", 2, "count"},
        {"SELECT n_key FROM nation GROUP BY ROLLUP (n_key) ORDER BY GROUPING(n_key)", 1, "n_key"},
    };
    static const char *const tables[] = {"\"first\"", "\"second\""};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_public_query *query = NULL;
        if (check(cases[i].sql, &query) != BRUME_OK)
            fail_msg("%s: %s", cases[i].sql, error.message);
        assert_int_equal(query->output_count, cases[i].outputs);
        assert_string_equal(query->names[query->output_count - 1], cases[i].last);
        for (int dialect = 0; dialect < 2; dialect++) {
            char *statement = NULL;
            assert_ok(brume_public_query_print(query, &public_catalog, (brume_dialect)dialect,
                                               tables, &statement, &error));
            assert_non_null(strstr(statement, "FROM \"first\")"));
            assert_null(strstr(statement, "n_map"));
            assert_null(strstr(statement, "data."));
            free(statement);
        }
        brume_public_query_close(query);
    }
}

static void what_reads_something_else_or_depends_on_more_is_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "SELECT getenv('HOME') FROM nation",
        "SELECT pg_read_file('x') FROM nation",
        "SELECT now() FROM nation",
        "SELECT random() FROM nation",
        "SELECT current_user FROM nation",
        "SELECT 1 FROM nation, pg_class",
        "SELECT 1 FROM nation, pg_catalog.pg_class",
        "SELECT 1 FROM (SELECT 1 AS pg_class) AS q, pg_class",
        "WITH pg_class AS (SELECT 1) SELECT 1 FROM nation, pg_class",
        "WITH DUCKDB_settings AS (SELECT 1) SELECT 1 FROM nation",
        "SELECT 1 FROM nation, read_csv('x')",
        "SELECT (SELECT 1 FROM unnest(ARRAY[1])) FROM nation",
        "SELECT ctid FROM nation",
        "SELECT n_map FROM nation",
        "SELECT n_name::regclass FROM nation",
        "SELECT n_name ~ 'a' FROM nation",
        "SELECT n_name OPERATOR(public.+) 1 FROM nation",
        "SELECT public.sum(n_key) FROM nation",
        "SELECT $1 FROM nation",
        "SELECT 'a\\b' FROM nation",
        "SELECT n_key FROM nation FOR UPDATE",
        "SELECT n_key INTO other FROM nation",
        "SELECT * FROM nation NATURAL JOIN region",
        "SELECT (nation).n_key FROM nation",
        "SELECT 1 FROM nation TABLESAMPLE BERNOULLI (1)",
        "VALUES (1)",
        "SELECT FROM nation",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_public_query *query = NULL;
        if (check(cases[i], &query) == BRUME_OK)
            fail_msg("accepted: %s", cases[i]);
        brume_public_query_close(query);
    }
}

static void statements_end_with_semicolons_outside_of_quotes_and_comments(void **state)
{
    (void)state;
    char **list = NULL;
    size_t count = 0;
    assert_ok(brume_sql_split("SELECT ';', \"a;b\" /* ; */ -- ;\n; ;;\nSELECT $$;$$ ;", &list,
                              &count, &error));
    assert_int_equal(count, 2);
    assert_non_null(strstr(list[1], "$$;$$"));
    brume_sql_split_free(list, count);
    assert_ok(brume_sql_split(" ;; ", &list, &count, &error));
    assert_int_equal(count, 0);
    brume_sql_split_free(list, count);
    assert_int_equal(brume_sql_split("SELECT 'a", &list, &count, &error), BRUME_ESYNTAX);
}

static void sums_that_differ_by_constants_are_measured_together(void **state)
{
    (void)state;
    static const struct {
        const char *sql;
        size_t aggregates;
    } cases[] = {
        {"SELECT SUM(age), SUM(age + 1), SUM(age - 2), SUM(3 + age) FROM visits", 2},
        {"SELECT SUM(age + 1) AS a, SUM(age + 2) FROM visits HAVING SUM(age + 3) > 0", 2},
        {"SELECT SUM(age + 1), SUM(age + 2) FROM visits", 2},               /* two stay two */
        {"SELECT SUM(age + 1), SUM(age * 2), SUM(2 - age) FROM visits", 3}, /* others */
        {"SELECT SUM(cost + 1), SUM(cost + 2), SUM(cost) FROM visits", 3},  /* doubles round */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_query *query = parse(cases[i].sql);
        if (query->aggregate_count != cases[i].aggregates)
            fail_msg("%s: %zu aggregates", cases[i].sql, query->aggregate_count);
        brume_query_free(query);
    }
    /* And mean the same: 10 rows whose ages add up to 400. */
    brume_query *query = parse("SELECT SUM(age), SUM(age + 1), SUM(age - 2) FROM visits");
    brume_value values[2] = {{0}};
    for (size_t i = 0; i < 2; i++)
        values[i] =
            (brume_value){.kind = BRUME_VALUE_NUMBER,
                          .number = query->aggregates[i].kind == BRUME_AGGREGATE_SUM ? 400 : 10};
    double expected[] = {400, 410, 380};
    for (size_t i = 0; i < 3; i++)
        assert_true(brume_formula_evaluate(query->outputs[i].value, NULL, values).number ==
                    expected[i]);
    brume_query_free(query);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_select_of_the_tables_is_printed_for_both_engines),
        cmocka_unit_test(what_reads_something_else_or_depends_on_more_is_refused),
        cmocka_unit_test(statements_end_with_semicolons_outside_of_quotes_and_comments),
        cmocka_unit_test(sums_that_differ_by_constants_are_measured_together),
    };
    return cmocka_run_group_tests_name("public tables", tests, NULL, NULL);
}
