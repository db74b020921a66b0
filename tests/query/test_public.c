/* Queries of public tables only: what an engine may be asked to run, and what not. Statements of a
 * text. Sums that differ by constants. */
#include "check.h"

#include <stdlib.h>

#include "parsed.h"
#include "query/sql/formula.h"
#include "query/sql/parse.h"
#include "query/sql/public.h"
#include "query/sql/tree.h"

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
     .dataset = "data",
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
        {"SELECT * FROM nation AS n (a, b)", 2, "b"},
        {"SELECT data.n_key FROM data.nation AS data", 1, "n_key"},
        {"SELECT n_key::numeric(38,38) AS a, n_key::numeric(1) AS b FROM nation", 2, "b"},
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
            assert_int_equal(strncmp(statement, "SELECT ", 7), 0); /* as engines demand */
            assert_non_null(strstr(statement, "FROM \"first\")"));
            assert_null(strstr(statement, "n_map"));
            assert_null(strstr(statement, "data.nation"));
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
        "WITH w AS (SELECT 1), w AS (SELECT 2) SELECT 1 FROM nation, w",
        "SELECT data.nation.n_key FROM data.nation",
        "SELECT n_key FROM other.nation",
        "WITH w AS (SELECT n_key FROM nation) SELECT * FROM w",
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
        "SELECT 1::numeric(1000,0) FROM nation",
        "SELECT CAST(n_key AS numeric(39)) FROM nation",
        "SELECT n_key::numeric(0) FROM nation",
        "SELECT n_key::numeric(5,-2) FROM nation",
        "SELECT n_key::decimal(3,5) FROM nation",
        "SELECT n_key::numeric(2147483647,2) FROM nation",
        "SELECT 1 FROM nation WHERE n_key::numeric(3,2,1) = 1",
        "SELECT FROM nation",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_public_query *query = NULL;
        if (check(cases[i], &query) == BRUME_OK)
            fail_msg("accepted: %s", cases[i]);
        brume_public_query_close(query);
    }
}

/* Every table's name in the text is one that brume gives. */
static bool check_own_name(void *context, const ProtobufCMessage *message)
{
    const PgQuery__RangeVar *table = (const PgQuery__RangeVar *)message;
    if (message->descriptor == &pg_query__range_var__descriptor &&
        (*table->catalogname || *table->schemaname ||
         (strncmp(table->relname, "brume_table_", 12) != 0 &&
          strncmp(table->relname, "brume_with_", 11) != 0)))
        fail_msg("%s: the engine would look for %s", (const char *)context, table->relname);
    return true;
}

static void assert_only_own_names(const char *sql)
{
    brume_sql *parsed = NULL;
    char text[1000];
    snprintf(text, sizeof text, "%s", sql);
    assert_ok(brume_sql_parse(sql, &parsed, &error));
    brume_tree_visit(&brume_sql_tree(parsed)->base, check_own_name, text);
    brume_sql_close(parsed);
}

/* Every place in which a subquery can stand; %s is its table. */
static const char *const places[] = {
    "SELECT n_key FROM %s",
    "SELECT n_key FROM nation, %s",
    "SELECT n_key FROM nation JOIN (SELECT 1 AS x FROM %s) AS j ON n_key = x",
    "SELECT (SELECT count(*) FROM %s) FROM nation",
    "SELECT n_key FROM nation JOIN region ON r_key = (SELECT count(*) FROM %s)",
    "SELECT n_key FROM nation LEFT JOIN region ON EXISTS (SELECT 1 FROM %s)",
    "SELECT n_key FROM nation WHERE n_key IN (SELECT 1 FROM %s)",
    "SELECT n_key FROM nation GROUP BY n_key, (SELECT count(*) FROM %s)",
    "SELECT n_key FROM nation GROUP BY ROLLUP (n_key, (SELECT count(*) FROM %s))",
    "SELECT n_key FROM nation GROUP BY n_key HAVING n_key > (SELECT count(*) FROM %s)",
    "SELECT n_key FROM nation ORDER BY (SELECT count(*) FROM %s)",
    "SELECT n_key FROM nation LIMIT (SELECT count(*) FROM %s)",
    "SELECT n_key FROM nation OFFSET (SELECT count(*) FROM %s)",
    "SELECT DISTINCT ON ((SELECT count(*) FROM %s)) n_key FROM nation",
    "SELECT rank() OVER (ORDER BY (SELECT count(*) FROM %s)) FROM nation",
    "SELECT rank() OVER w FROM nation WINDOW w AS (PARTITION BY (SELECT count(*) FROM %s))",
    "SELECT sum(n_key) OVER (ROWS (SELECT count(*) FROM %s) PRECEDING) FROM nation",
    "SELECT count(*) FILTER (WHERE EXISTS (SELECT 1 FROM %s)) FROM nation",
    "SELECT sum(n_key ORDER BY (SELECT count(*) FROM %s)) FROM nation",
    "SELECT CASE WHEN 1 = (SELECT count(*) FROM %s) THEN 1 END FROM nation",
    "SELECT n_key FROM nation UNION SELECT count(*) FROM %s",
    "(SELECT n_key FROM nation LIMIT (SELECT count(*) FROM %s)) UNION SELECT 1",
    "SELECT n_key FROM nation WHERE n_key IN (VALUES (1), ((SELECT count(*) FROM %s)))",
    "SELECT n_key FROM (SELECT n_key FROM nation ORDER BY (SELECT count(*) FROM %s)) AS q",
};

static bool names_are(const char *text, const char *wanted)
{
    brume_sql *sql = NULL;
    brume_sql_name *names = NULL;
    size_t count = 0;
    bool found = false;
    assert_ok(brume_sql_parse(text, &sql, &error));
    if (brume_sql_names(sql, &names, &count, &error) == BRUME_OK)
        for (size_t i = 0; i < count; i++)
            found = found || strcmp(names[i].table, wanted) == 0;
    else
        found = error.status == BRUME_EUNSUPPORTED; /* three parts */
    brume_sql_names_free(names, count);
    brume_sql_close(sql);
    return found;
}

/* `before`, then the query with the table where it has %s. */
static void put_table(char *text, size_t size, const char *before, const char *query,
                      const char *table)
{
    const char *at = strstr(query, "%s");
    snprintf(text, size, "%s%.*s%s%s", before, (int)(at - query), query, table, at + 2);
}

/* A name that means no public table is found, and refused, wherever it stands; a WITH of that name
 * whose scope does not reach there, or a name with a schema or a catalog, changes nothing. */
static void names_out_of_scope_reach_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *before, *table;
    } cases[] = {
        {"", "secret"},
        {"", "public.secret"},
        {"", "base.public.secret"},
        {"", "information_schema.z.secret"},
        {"WITH secret AS (SELECT 1 AS n_key) ", "public.secret"},
        {"WITH secret AS (SELECT 1 AS n_key) ", "base.public.secret"},
        {"WITH secret AS (SELECT n_key FROM nation) ", "data.secret"},
        {"WITH w AS (WITH secret AS (SELECT 1 AS x) SELECT x FROM secret) ", "secret"},
        {"WITH secret AS (SELECT 1 AS n_key FROM secret) ", "nation"}, /* not RECURSIVE */
        {"WITH w AS (SELECT 1 AS x FROM secret), secret AS (SELECT 1 AS n_key) ", "nation"},
        {"WITH w AS (SELECT 1), z AS (SELECT (WITH secret AS (SELECT 1 AS x) SELECT x FROM secret) AS "
         "x FROM secret) ",
         "z"},
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        for (size_t j = 0; j < sizeof cases / sizeof *cases; j++) {
            char text[600];
            put_table(text, sizeof text, cases[j].before, places[i], cases[j].table);
            brume_public_query *query = NULL;
            if (!names_are(text, "secret"))
                fail_msg("not named: %s", text);
            if (check(text, &query) == BRUME_OK)
                fail_msg("accepted: %s", text);
        }
}

/* In its scope it is found, and it is the item and not a table of the same name that is read. */
static void names_in_scope_mean_their_items(void **state)
{
    (void)state;
    static const struct {
        const char *before, *table;
    } cases[] = {
        {"WITH secret AS (SELECT 1 AS n_key) ", "secret"},
        {"WITH tables (n_key) AS (SELECT 1), pg_class AS (SELECT n_key FROM tables) ", "pg_class"},
        {"WITH RECURSIVE secret AS (SELECT 1 AS n_key UNION SELECT n_key + 1 FROM secret WHERE n_key "
         "< 3) ",
         "secret"},
        {"WITH RECURSIVE w AS (SELECT n_key FROM secret), secret AS (SELECT 1 AS n_key) ", "w"},
        {"WITH region AS (SELECT n_key FROM nation) ", "region"},
        {"WITH secret AS (WITH nation AS (SELECT 1 AS n_key) SELECT n_key FROM nation) ", "secret"},
        {"WITH brume_table_0 AS (SELECT 1 AS n_key), brume_with_0 AS (SELECT n_key FROM "
         "brume_table_0) ",
         "brume_with_0"},
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        for (size_t j = 0; j < sizeof cases / sizeof *cases; j++) {
            char text[600];
            put_table(text, sizeof text, cases[j].before, places[i], cases[j].table);
            brume_public_query *query = NULL;
            if (names_are(text, "secret"))
                fail_msg("taken for a table: %s", text);
            if (check(text, &query) != BRUME_OK)
                fail_msg("%s: %s", text, error.message);
            assert_only_own_names(query->sql);
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
    assert_ok(brume_sql_split("SELECT COUNT(* FROM a; SELECT 2) -- b", &list, &count, &error));
    assert_int_equal(count, 2); /* a bracket that is not closed hides nothing */
    brume_sql_split_free(list, count);
    assert_ok(brume_sql_split(" ;; /* c */ ", &list, &count, &error));
    assert_int_equal(count, 0);
    brume_sql_split_free(list, count);
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
        cmocka_unit_test(names_out_of_scope_reach_nothing),
        cmocka_unit_test(names_in_scope_mean_their_items),
        cmocka_unit_test(statements_end_with_semicolons_outside_of_quotes_and_comments),
        cmocka_unit_test(sums_that_differ_by_constants_are_measured_together),
    };
    return cmocka_run_group_tests_name("public tables", tests, NULL, NULL);
}
