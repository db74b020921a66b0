/* What is printed for Spark, as far as that can be told without one: texts and patterns are quoted
 * in its way, and what cannot be made to agree is refused by name. The campaign beside a server is
 * test_differential.c. */
#include "check.h"

#include <stdlib.h>

#include "query/print/statement.h"
#include "query/sql/parse.h"

static brume_error error;

static const brume_catalog_column columns[] = {
    {.name = "u", .type = {BRUME_TYPE_BIGINT, 0, 0}, .native = "bigint"},
    {.name = "s", .type = {BRUME_TYPE_TEXT, 0, 0}, .native = "string"},
    {.name = "f", .type = {BRUME_TYPE_DOUBLE, 0, 0}, .leaf = BRUME_LEAF_FINITE, .native = "double"},
    {.name = "l", .type = {BRUME_TYPE_BIGINT, 0, 0}, .native = "bigint"},
    {.name = "d", .type = {BRUME_TYPE_DECIMAL, 12, 8}, .native = "decimal(12,8)"},
    {.name = "day", .type = {BRUME_TYPE_DATE, 0, 0}, .leaf = BRUME_LEAF_CALENDAR, .native = "date"},
};
static const brume_catalog_table table = {.name = "t",
                                          .privacy = BRUME_PRIVACY_UNIT,
                                          .columns = columns,
                                          .column_count = sizeof columns / sizeof *columns};
static const brume_catalog catalog = {&table, 1};

/* The statement for COUNT(expression); NULL: refused, and why is in `error`. */
static char *print(const char *expression)
{
    char *sql = NULL, *printed = NULL;
    brume_query *query = NULL;
    assert_true(asprintf(&sql, "SELECT COUNT(%s) FROM t", expression) > 0);
    if (brume_query_parse(sql, &catalog, &query, &error) != BRUME_OK)
        fail_msg("%s: %s", expression, error.message);
    const char *tables[] = {"`a`.`b`"};
    const brume_expression *nodes[] = {query->unit, query->aggregates[0].argument};
    brume_status status =
        brume_query_print_rows(query, BRUME_DIALECT_SPARK, tables, nodes, 2, &printed, &error);
    assert_true(status == BRUME_OK || status == BRUME_EUNSUPPORTED);
    brume_query_free(query);
    free(sql);
    return printed;
}

static void texts_and_patterns_are_quoted_in_sparks_way(void **state)
{
    (void)state;
    static const struct {
        const char *expression, *part;
    } cases[] = {
        {"CASE WHEN s = 'it''s \\ \"' THEN 1 END", "CAST('it\\'s \\\\ \"' AS STRING)"},
        {"CASE WHEN s LIKE 'a%b_c%d' THEN 1 END", "RLIKE '(?s)\\\\Aa(?>.*?b.c).*d\\\\z'"},
        {"CASE WHEN s LIKE 'a.b%' THEN 1 END", "RLIKE '(?s)\\\\Aa\\\\x2eb'"},
        {"CASE WHEN s LIKE 'a\\%' THEN 1 END", "RLIKE '(?s)\\\\Aa\\\\x25\\\\z'"},
        {"CASE WHEN s NOT ILIKE '%B%' THEN 1 END", "NOT ("},
        {"l / 3", "div NULLIF("},
        {"CAST(f AS bigint)", "rint("},
        {"CAST(d AS text)", "format_number("},
        {"CAST(s AS integer)", "\\\\A(?:[+-]?0{0,30}[0-9]{1,19})\\\\z"},
        {"extract(dow FROM day)", "dayofweek("},
        {"s", "is_valid_utf8(`s`)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *sql = print(cases[i].expression);
        if (!sql || !strstr(sql, cases[i].part))
            fail_msg("%s: %s", cases[i].expression, sql ? sql : error.message);
        assert_null(strstr(sql, "OFFSET"));
        assert_null(strstr(sql, "::"));
        free(sql);
    }
}

static void what_does_not_agree_to_the_last_digit_is_refused_by_name(void **state)
{
    (void)state;
    static const char *const refused[][2] = {
        {"ln(f)", "logarithms, exponentials and powers"},
        {"log10(f)", "logarithms, exponentials and powers"},
        {"exp(f)", "logarithms, exponentials and powers"},
        {"power(f, 0.5)", "logarithms, exponentials and powers"},
        {"CAST(f AS numeric(9,2))", "by 15 digits"},
        {"CASE WHEN exp(f) > 2 THEN 1 END", "logarithms, exponentials and powers"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        assert_null(print(refused[i][0]));
        if (!strstr(error.message, refused[i][1]))
            fail_msg("%s: %s", refused[i][0], error.message);
    }
    char *sql = print("sqrt(f)"); /* is rounded correctly everywhere */
    assert_non_null(sql);
    free(sql);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_and_patterns_are_quoted_in_sparks_way),
        cmocka_unit_test(what_does_not_agree_to_the_last_digit_is_refused_by_name),
    };
    return cmocka_run_group_tests_name("printing for Spark", tests, NULL, NULL);
}
