/* What SQL is accepted, how it is represented, and how the rest is refused. */
#include "parsed.h"

#include <stdlib.h>

#include "query/sql/formula.h"

static void aggregates_keys_and_outputs_stand_once_each(void **state)
{
    (void)state;
    brume_query *query = parse("SELECT clinic, COUNT(*) AS n, COUNT(*) + 1, AVG(cost), SUM(cost) / "
                               "COUNT(*) FROM visits GROUP BY clinic, visits.clinic");
    assert_int_equal(query->key_count, 1);
    assert_true(query->keys[0].is_column);
    assert_int_equal(query->keys[0].column, 3);
    assert_int_equal(query->aggregate_count, 3);
    assert_int_equal(query->output_count, 5);
    assert_string_equal(query->outputs[1].name, "n");
    assert_int_equal(query->outputs[0].value->kind, BRUME_FORMULA_KEY);
    assert_int_equal(query->aggregates[1].kind, BRUME_AGGREGATE_AVG);
    assert_true(query->aggregates[1].argument->bounded);
    assert_true(query->aggregates[1].argument->bounds.real_high == 500);
    assert_int_equal(query->limit, -1);
    brume_query_free(query);
}

static void every_aggregate_of_the_list_is_understood(void **state)
{
    (void)state;
    brume_query *query = parse(
        "SELECT COUNT(*), COUNT(cost), COUNT(DISTINCT patient), SUM(age), AVG(age), VAR_POP(age), "
        "VAR_SAMP(age), VARIANCE(age), STDDEV(age), STDDEV_POP(age), STDDEV_SAMP(age), "
        "MEDIAN(age), PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY age), PERCENTILE_CONT(0.25) "
        "WITHIN GROUP (ORDER BY age DESC), MODE() WITHIN GROUP (ORDER BY clinic), COUNT(*) FILTER "
        "(WHERE age > 3), SUM(cost) FILTER (WHERE age > 3) FROM visits");
    const brume_aggregate_kind kinds[] = {
        BRUME_AGGREGATE_COUNT_ROWS, BRUME_AGGREGATE_COUNT,       BRUME_AGGREGATE_COUNT_UNITS,
        BRUME_AGGREGATE_SUM,        BRUME_AGGREGATE_AVG,         BRUME_AGGREGATE_VAR_POP,
        BRUME_AGGREGATE_VAR_SAMP,   BRUME_AGGREGATE_STDDEV_SAMP, BRUME_AGGREGATE_STDDEV_POP,
        BRUME_AGGREGATE_QUANTILE,   BRUME_AGGREGATE_QUANTILE,    BRUME_AGGREGATE_QUANTILE,
        BRUME_AGGREGATE_MODE,       BRUME_AGGREGATE_COUNT,       BRUME_AGGREGATE_SUM};
    assert_int_equal(query->aggregate_count, sizeof kinds / sizeof *kinds);
    for (size_t i = 0; i < query->aggregate_count; i++)
        assert_int_equal(query->aggregates[i].kind, kinds[i]);
    assert_int_equal(query->aggregates[9].fraction[1], 2);
    assert_int_equal(query->aggregates[10].fraction[0], 1);
    assert_int_equal(query->aggregates[10].fraction[1], 4);
    assert_int_equal(query->aggregates[11].fraction[0], 3);
    assert_int_equal(query->aggregates[12].argument->type.kind, BRUME_TYPE_TEXT);
    brume_query_free(query);
}

static void an_array_of_percentiles_is_one_output_for_each(void **state)
{
    (void)state;
    brume_query *query =
        parse("SELECT clinic, PERCENTILE_CONT(ARRAY[.25, 0.5, 1]) WITHIN GROUP (ORDER BY age) AS "
              "age, COUNT(*), MEDIAN(age) FROM visits GROUP BY 1 ORDER BY 3 DESC, 1");
    const char *const names[] = {"clinic", "age_0.25", "age_0.5", "age_1", "count", "median"};
    assert_int_equal(query->output_count, 6);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(query->outputs[i].name, names[i]);
    /* the median is the array's second element; positions count items of the SELECT list */
    assert_true(brume_formula_equal(query->outputs[2].value, query->outputs[5].value));
    assert_true(brume_formula_equal(query->order[0].value, query->outputs[4].value));
    brume_query_free(query);
    query = parse("SELECT PERCENTILE_DISC(ARRAY[0.1,0.9]::float8[]) WITHIN GROUP (ORDER BY age "
                  "DESC) FROM visits");
    assert_int_equal(query->output_count, 2);
    assert_int_equal(query->aggregates[0].fraction[0], 9);
    assert_int_equal(query->aggregates[1].fraction[0], 1);
    brume_query_free(query);
    refused("SELECT PERCENTILE_CONT(ARRAY[0.5, 2]) WITHIN GROUP (ORDER BY age) FROM visits",
            BRUME_EARGUMENT, "a percentile must be a constant", "0.25");
    refused("SELECT PERCENTILE_CONT(ARRAY[0.5]) WITHIN GROUP (ORDER BY age) + 1 FROM visits",
            BRUME_EUNSUPPORTED, "cannot be part of an expression", "alone in the SELECT list");
    refused("SELECT clinic, PERCENTILE_CONT(ARRAY[0.5]) WITHIN GROUP (ORDER BY age) FROM visits "
            "GROUP BY clinic ORDER BY 2",
            BRUME_EUNSUPPORTED, "ordered by an array", "write the percentile");
    refused("SELECT PERCENTILE_CONT(ARRAY[]) WITHIN GROUP (ORDER BY age) FROM visits",
            BRUME_EUNSUPPORTED, "no outputs", NULL);
}

static void bounds_follow_by_interval_arithmetic_and_clamp_tightens(void **state)
{
    (void)state;
    brume_query *query =
        parse("SELECT AVG(cost - age), SUM(CLAMP(\"Weight\", 0, 99.5)), AVG(age * age + 1), "
              "SUM(CASE WHEN clinic = 'x' THEN 1 ELSE 0 END), AVG(age / 7) FROM visits");
    const brume_aggregate *found = query->aggregates;
    assert_true(found[0].argument->bounds.real_low == -120);
    assert_true(found[0].argument->bounds.real_high == 500);
    assert_true(found[1].argument->bounds.low == 0 && found[1].argument->bounds.high == 9950);
    assert_true(found[2].argument->bounds.low == 1 && found[2].argument->bounds.high == 14401);
    assert_true(found[3].argument->bounds.low == 0 && found[3].argument->bounds.high == 1);
    assert_false(found[3].argument->nullable);
    assert_true(found[4].argument->bounds.low == 0 && found[4].argument->bounds.high == 17);
    brume_query_free(query);
    refused("SELECT AVG(\"Weight\") FROM visits", BRUME_EARGUMENT, "no bounds", "CLAMP");
    refused("SELECT SUM(age / cost) FROM visits", BRUME_EARGUMENT, "no bounds", "CLAMP");
    refused("SELECT AVG(CAST(clinic AS integer)) FROM visits", BRUME_EARGUMENT, "no bounds", NULL);
}

static void conditions_see_columns_as_they_are_and_aggregates_clamped(void **state)
{
    (void)state;
    brume_query *query = parse(
        "SELECT SUM(CASE WHEN cost > 1000 THEN cost ELSE 0 END) FROM visits WHERE cost > 900");
    const brume_expression *argument = query->aggregates[0].argument;
    assert_int_equal(argument->operation, BRUME_OPERATION_CASE);
    assert_int_equal(argument->arguments[0]->arguments[0]->operation, BRUME_OPERATION_COLUMN);
    assert_int_equal(argument->arguments[1]->operation, BRUME_OPERATION_CLAMP);
    assert_int_equal(query->where->arguments[0]->operation, BRUME_OPERATION_COLUMN);
    brume_query_free(query);
}

static void constants_move_by_intervals_as_in_the_engines(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"2020-01-31", "1 month", "2020-02-29 00:00:00"},
        {"2019-12-31 23:59:59.5", "2 months 1 second", "2020-03-01 00:00:00.5"},
        {"2020-03-31", "-1 month", "2020-02-29 00:00:00"},
        {"2020-02-29", "4 years", "2024-02-29 00:00:00"},
        {"2020-02-29", "-1 year", "2019-02-28 00:00:00"},
        {"1970-01-01", "-1 microsecond", "1969-12-31 23:59:59.999999"},
        {"0001-01-01", "-1 day", NULL},
        {"9999-12-31", "1 day", NULL},
        {"9999-12-31", "-119987 months", "0001-01-31 00:00:00"},
        {"2000-02-29", "-100 years", "1900-02-28 00:00:00"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char sql[200];
        snprintf(sql, sizeof sql,
                 "SELECT COUNT(*) FROM visits WHERE day < TIMESTAMP '%s' + INTERVAL '%s'",
                 cases[i][0], cases[i][1]);
        brume_query *query = parse(sql);
        const brume_expression *moved = query->where->operation == BRUME_OPERATION_LESS
                                            ? query->where->arguments[1]
                                            : query->where->arguments[0]->arguments[1];
        assert_int_equal(moved->operation, BRUME_OPERATION_LITERAL);
        if (cases[i][2])
            assert_string_equal(moved->text, cases[i][2]);
        else
            assert_null(moved->text);
        brume_query_free(query);
    }
}

static void everything_else_is_refused_by_name_with_a_hint(void **state)
{
    (void)state;
    static const struct {
        const char *sql;
        brume_status status;
        const char *message, *hint;
    } cases[] = {
        {"SELECT * FROM visits", BRUME_EUNSUPPORTED, "SELECT *", "aggregates"},
        {"SELECT age FROM visits", BRUME_EARGUMENT, "neither grouped", "GROUP BY"},
        {"SELECT MIN(clinic) FROM visits", BRUME_EARGUMENT, "min", "GROUP BY"},
        {"SELECT max(clinic) FROM visits", BRUME_EARGUMENT, "max", "GROUP BY"},
        {"SELECT string_agg(clinic, ',') FROM visits", BRUME_EUNSUPPORTED, "string_agg",
         "GROUP BY"},
        {"SELECT COUNT(DISTINCT ln(age)) FROM visits", BRUME_EUNSUPPORTED, "machines", "floor"},
        {"SELECT COUNT(*) FROM visit", BRUME_EUNKNOWN, "'visit'", "visits"},
        {"SELECT COUNT(*) FROM visits WHERE aeg > 3", BRUME_EUNKNOWN, "'aeg'", "age"},
        {"SELECT COUNT(*) FROM visits WHERE x.age > 3", BRUME_EUNKNOWN, "'age'", "'x'"},
        {"SELECT COUNT(*) FROM visits WHERE ctid IS NULL", BRUME_EUNKNOWN, "ctid", NULL},
        {"SELECT COUNT(*) FROM visits WHERE rowid = 1", BRUME_EUNKNOWN, "rowid", NULL},
        {"SELECT COUNT(*) FROM visits WHERE scan IS NULL", BRUME_EUNSUPPORTED, "scan", NULL},
        {"SELECT COUNT(*) FROM visits WHERE age = $1", BRUME_EUNSUPPORTED, "parameter", NULL},
        {"SELECT COUNT(*) FROM visits WHERE day = current_date", BRUME_EUNSUPPORTED, "current",
         "clock"},
        {"SELECT COUNT(*) FROM visits WHERE day < now()", BRUME_EUNSUPPORTED, "now", "clock"},
        {"SELECT COUNT(*) FROM visits WHERE random() < 0.5", BRUME_EUNSUPPORTED, "random", "noise"},
        {"SELECT COUNT(*) FROM visits WHERE pg_sleep(1) IS NULL", BRUME_EUNSUPPORTED, "pg_sleep",
         NULL},
        {"SELECT COUNT(*) FROM visits WHERE clinic ~ '(a)\\1'", BRUME_EUNSUPPORTED,
         "back references", "documentation"},
        {"SELECT COUNT(*) FROM visits WHERE clinic ~ '(?=a)b'", BRUME_EUNSUPPORTED,
         "(?:", "documentation"},
        {"SELECT COUNT(*) FROM visits WHERE clinic ~ clinic", BRUME_EUNSUPPORTED, "constant", "~"},
        {"SELECT COUNT(*) FROM visits WHERE regexp_replace(clinic, 'a', '') = ''",
         BRUME_EUNSUPPORTED, "regexp_replace", "regexp_matches"},
        {"SELECT COUNT(*) FROM visits WHERE clinic SIMILAR TO 'a'", BRUME_EUNSUPPORTED, "SIMILAR",
         "regexp_full_match"},
        {"SELECT COUNT(*) FROM visits WHERE clinic COLLATE \"C\" = 'a'", BRUME_EUNSUPPORTED,
         "COLLATE", NULL},
        {"SELECT COUNT(*) FROM visits WHERE age IN (SELECT 1)", BRUME_EUNSUPPORTED, "without FROM",
         "FROM"},
        {"SELECT COUNT(*) FROM visits WHERE EXISTS (SELECT 1 FROM patients)", BRUME_EUNSUPPORTED,
         "subquery", NULL},
        {"SELECT COUNT(*) FROM visits WHERE age = ANY (ARRAY[1])", BRUME_EUNSUPPORTED, "ANY", "IN"},
        {"SELECT COUNT(*) FROM visits WHERE age BETWEEN SYMMETRIC 3 AND 1", BRUME_EUNSUPPORTED,
         "SYMMETRIC", NULL},
        {"SELECT COUNT(*) FROM visits WHERE (age, cost) = (1, 2)", BRUME_EUNSUPPORTED, "row", NULL},
        {"SELECT COUNT(*) FROM visits WHERE CAST(cost AS text) = '1'", BRUME_EUNSUPPORTED, "cast",
         "numeric"},
        {"SELECT COUNT(*) FROM visits WHERE CAST(age AS regclass) IS NULL", BRUME_EUNSUPPORTED,
         "regclass", NULL},
        {"SELECT COUNT(*) FROM visits WHERE cost % 2 = 0", BRUME_EUNSUPPORTED, "%", "numeric"},
        {"SELECT COUNT(*) FROM visits WHERE round(cost, 1) = 0", BRUME_EUNSUPPORTED, "round",
         "numeric"},
        {"SELECT COUNT(*) FROM visits WHERE age", BRUME_EARGUMENT, "condition", NULL},
        {"SELECT COUNT(*) FROM visits WHERE clinic > 3", BRUME_EARGUMENT, "text", "CAST"},
        {"SELECT COUNT(*) FROM visits WHERE day > '2020-02-30'", BRUME_EARGUMENT, "2020-02-30",
         "YYYY"},
        {"SELECT COUNT(*) FROM visits WHERE day > 'now'", BRUME_EARGUMENT, "now", NULL},
        {"SELECT COUNT(*) FROM visits WHERE clinic LIKE 'a\\'", BRUME_EARGUMENT, "escape", NULL},
        {"SELECT COUNT(*) OVER () FROM visits", BRUME_EUNSUPPORTED, "aggregate or group",
         "aggregates"},
        {"SELECT COUNT(*) FROM visits GROUP BY age, ROLLUP (age)", BRUME_EUNSUPPORTED,
         "grouping set", "DISTINCT"},
        {"SELECT COUNT(*) FROM visits GROUP BY CUBE (2, age)", BRUME_EARGUMENT, "position", NULL},
        {"SELECT COUNT(*) FROM visits GROUP BY ln(cost)", BRUME_EUNSUPPORTED, "ln", NULL},
        {"SELECT COUNT(*) FROM visits UNION SELECT 1", BRUME_EUNSUPPORTED, "UNION", NULL},
        {"SELECT COUNT(*) FROM visits FOR UPDATE", BRUME_EUNSUPPORTED, "FOR UPDATE", NULL},
        {"SELECT COUNT(*) INTO x FROM visits", BRUME_EUNSUPPORTED, "INTO", NULL},
        {"SELECT COUNT(*) FROM public.visits", BRUME_EUNKNOWN, "no table 'visits' in 'public'",
         NULL},
        {"SELECT COUNT(*) FROM a.b.visits", BRUME_EUNSUPPORTED, "three parts", NULL},
        {"SELECT COUNT(*) FROM generate_series(1, 3)", BRUME_EUNSUPPORTED, "function", NULL},
        {"SELECT COUNT(*) FROM visits TABLESAMPLE SYSTEM (1)", BRUME_EUNSUPPORTED, "TABLESAMPLE",
         NULL},
        {"VALUES (1)", BRUME_EUNSUPPORTED, "VALUES", NULL},
        {"SELECT 1", BRUME_EUNSUPPORTED, "FROM", NULL},
        {"SELECT 1 FROM visits", BRUME_EUNSUPPORTED, "aggregate", NULL},
        {"DELETE FROM visits", BRUME_EUNSUPPORTED, "only SELECT", NULL},
        {"SELECT COUNT(*) FROM visits; SELECT COUNT(*) FROM visits", BRUME_EUNSUPPORTED, "one",
         NULL},
        {"COPY visits TO '/tmp/x'", BRUME_EUNSUPPORTED, "only SELECT", NULL},
        {"SELECT COUNT(*) FROM visits LIMIT (SELECT 1)", BRUME_EARGUMENT, "LIMIT", NULL},
        {"SELECT COUNT(*) FROM visits HAVING age > 3", BRUME_EARGUMENT, "neither grouped", NULL},
        {"SELECT AVG(SUM(age)) FROM visits", BRUME_EUNSUPPORTED, "inside an aggregate", NULL},
        {"SELECT COUNT(*) FROM visits WHERE COUNT(*) > 3", BRUME_EARGUMENT, "WHERE", "HAVING"},
        {"SELECT COUNT(*) FORM visits", BRUME_ESYNTAX, "position 22", NULL},
        {"SELECT 'abc FROM visits", BRUME_ESYNTAX, "unterminated", NULL},
        {"SELECT COUNT(*) FROM visits WHERE age > 1_0", BRUME_ESYNTAX, "trailing junk", NULL},
        {"SELECT COUNT(*) FROM visits WHERE cost > 1_0.5", BRUME_ESYNTAX, "trailing junk", NULL},
        {"SELECT COUNT(*) FROM visits WHERE age > 0x1f", BRUME_ESYNTAX, "trailing junk", NULL},
        {"SELECT COUNT(*) FROM visits WHERE cost > 0xfffffffff", BRUME_ESYNTAX, "trailing", NULL},
        {"SELECT COUNT(*) FROM visits LIMIT 0b1", BRUME_ESYNTAX, "trailing junk", NULL},
        {"SELECT COUNT(*) FROM visits WHERE age > 0o7", BRUME_ESYNTAX, "trailing junk", NULL},
        {"SELECT COUNT(*) FROM (SELECT age FROM visits)", BRUME_ESYNTAX, "must have an alias",
         NULL},
        {"", BRUME_ESYNTAX, "empty", NULL},
        {"SELECT COUNT(*) FROM visits WHERE clinic = '\xff'", BRUME_ESYNTAX, "UTF-8", NULL},
        {"SELECT PERCENTILE_CONT(1.5) WITHIN GROUP (ORDER BY age) FROM visits", BRUME_EARGUMENT,
         "between 0 and 1", NULL},
        {"SELECT CLAMP(age, 5, 3) FROM visits", BRUME_EUNSUPPORTED, "", NULL},
        {"SELECT SUM(CLAMP(age, 5, 3)) FROM visits", BRUME_EARGUMENT, "nothing between", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refused(cases[i].sql, cases[i].status, cases[i].message, cases[i].hint);
}

/* `count` times `part` between `begin` and `end`. */
static const char *repeated(const char *begin, const char *part, int count, const char *end)
{
    static char sql[400000];
    size_t length = (size_t)snprintf(sql, sizeof sql, "%s", begin);
    for (int i = 0; i < count; i++)
        length += (size_t)snprintf(sql + length, sizeof sql - length, "%s", part);
    snprintf(sql + length, sizeof sql - length, "%s", end);
    return sql;
}

/* What would nest deeply is refused before a tree is made of it; long lists are not. */
static void depth_is_refused_and_length_is_not(void **state)
{
    (void)state;
    static const char where[] = "SELECT COUNT(*) FROM visits WHERE ";
    refused(repeated(where, "(", 900, "age"), BRUME_EUNSUPPORTED, "brackets", NULL);
    refused(repeated(where, "abs(1,", 1500, "age"), BRUME_EUNSUPPORTED, "brackets", NULL);
    refused(repeated(where, "ARRAY[1,", 1500, "age"), BRUME_EUNSUPPORTED, "brackets", NULL);
    refused(repeated("SELECT 1, 2", " UNION SELECT 1, 2", 2500, ""), BRUME_EUNSUPPORTED, "tokens",
            NULL);
    refused(repeated(where, "age + 1, ", 10000, "age"), BRUME_EUNSUPPORTED, "tokens", NULL);
    brume_query_free(parse(repeated("SELECT ", "COUNT(*), ", 999, "COUNT(*) FROM visits")));
    refused(repeated("SELECT ", "COUNT(*), ", 1000, "COUNT(*) FROM visits"), BRUME_EUNSUPPORTED,
            "more than 1000 outputs", "several queries");
}

static void hostile_sizes_end_in_a_refusal(void **state)
{
    (void)state;
    static char sql[200000];
    size_t length = (size_t)snprintf(sql, sizeof sql, "SELECT COUNT(*) FROM visits WHERE age");
    for (int i = 0; i < 3000; i++)
        length += (size_t)snprintf(sql + length, sizeof sql - length, " + 1");
    refused(sql, BRUME_EUNSUPPORTED, "tokens", NULL);
    length = (size_t)snprintf(sql, sizeof sql, "SELECT COUNT(*) FROM visits WHERE ");
    for (int i = 0; i < 150; i++)
        length += (size_t)snprintf(sql + length, sizeof sql - length, "(");
    snprintf(sql + length, sizeof sql - length, "age");
    refused(sql, BRUME_ESYNTAX, "syntax", NULL);
    length = (size_t)snprintf(sql, sizeof sql, "SELECT COUNT(*) FROM visits WHERE age = ");
    for (int i = 0; i < 900; i++)
        length += (size_t)snprintf(sql + length, sizeof sql - length, "- ");
    snprintf(sql + length, sizeof sql - length, "age");
    refused(sql, BRUME_EUNSUPPORTED, "too large", NULL);
    length = (size_t)snprintf(sql, sizeof sql, "SELECT COUNT(*) FROM visits WHERE age IN (0");
    for (int i = 1; i < 900; i++)
        length += (size_t)snprintf(sql + length, sizeof sql - length, ",%d", i);
    snprintf(sql + length, sizeof sql - length, ")");
    brume_query_free(parse(sql));
}

static void the_normal_text_ignores_style_and_keeps_meaning(void **state)
{
    (void)state;
    static const char *const same[][2] = {
        {"SELECT COUNT(*) FROM visits WHERE age>3",
         "select count ( * )\nfrom Visits v where (v.Age "
         "> (3)) -- comment"},
        {"SELECT COUNT(*) AS n FROM visits ORDER BY n",
         "SELECT COUNT(*) AS n FROM visits ORDER BY 1 "
         "ASC NULLS LAST"},
        {"SELECT clinic, COUNT(*) FROM visits GROUP BY clinic",
         "SELECT clinic, COUNT(*) FROM visits GROUP BY 1"},
    };
    static const char *const different[][2] = {
        {"SELECT COUNT(*) FROM visits WHERE age > 3", "SELECT COUNT(*) FROM visits WHERE age >= 3"},
        {"SELECT COUNT(*) FROM visits WHERE age = -1", "SELECT COUNT(*) FROM visits WHERE age = 0"},
        {"SELECT COUNT(*) FROM visits WHERE clinic = 'a'",
         "SELECT COUNT(*) FROM visits WHERE clinic = 'A'"},
        {"SELECT COUNT(*) FROM visits WHERE (true OR NULL) IS NULL",
         "SELECT COUNT(*) FROM visits WHERE true OR (NULL IS NULL)"},
        {"SELECT COUNT(*) FROM visits", "SELECT COUNT(*) AS n FROM visits"},
        {"SELECT COUNT(*) FROM visits", "SELECT COUNT(*) FROM people"},
        {"SELECT COUNT(*) FROM visits LIMIT 1", "SELECT COUNT(*) FROM visits LIMIT 2"},
        {"SELECT SUM(CLAMP(age,0,5)) FROM visits", "SELECT SUM(CLAMP(age,0,6)) FROM visits"},
        {"SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age) FROM visits",
         "SELECT PERCENTILE_CONT(0.51) WITHIN GROUP (ORDER BY age) FROM visits"},
    };
    for (int kind = 0; kind < 2; kind++) {
        size_t count = kind ? sizeof different / sizeof *different : sizeof same / sizeof *same;
        for (size_t i = 0; i < count; i++) {
            brume_query *a = parse(kind ? different[i][0] : same[i][0]);
            brume_query *b = parse(kind ? different[i][1] : same[i][1]);
            if ((strcmp(a->normal, b->normal) != 0) != kind)
                fail_msg("%s\n%s", a->normal, b->normal);
            brume_query_free(a);
            brume_query_free(b);
        }
    }
}

static void released_values_are_computed_ordered_and_filtered(void **state)
{
    (void)state;
    brume_query *query =
        parse("SELECT clinic, ROUND(SUM(cost) / COUNT(*), 1) AS mean FROM visits GROUP BY clinic "
              "HAVING COUNT(*) BETWEEN 2 AND 10 AND clinic <> 'z' ORDER BY mean DESC");
    brume_value key = {.kind = BRUME_VALUE_TEXT, .text = "a", .length = 1};
    brume_value values[2] = {{.kind = BRUME_VALUE_NUMBER, .number = 10},
                             {.kind = BRUME_VALUE_NUMBER, .number = 4}};
    assert_int_equal(query->aggregates[0].kind, BRUME_AGGREGATE_SUM);
    brume_value mean = brume_formula_evaluate(query->outputs[1].value, &key, values);
    assert_int_equal(mean.kind, BRUME_VALUE_NUMBER);
    assert_true(mean.number == 2.5);
    assert_true(brume_formula_is_true(query->having, &key, values));
    values[1].number = 0;
    mean = brume_formula_evaluate(query->outputs[1].value, &key, values);
    assert_int_equal(mean.kind, BRUME_VALUE_NULL);
    assert_false(brume_formula_is_true(query->having, &key, values));
    values[1].number = 3;
    key.text = "z";
    assert_false(brume_formula_is_true(query->having, &key, values));
    assert_true(query->order[0].descending && query->order[0].nulls_first);
    brume_query_free(query);
}

static void the_names_of_tables_are_found_without_a_catalog(void **state)
{
    (void)state;
    brume_sql_name *names = NULL;
    size_t count = 0;
    brume_sql *sql = NULL;
    assert_ok(brume_sql_parse("WITH w AS (SELECT * FROM inner_table) SELECT COUNT(*) FROM w JOIN b "
                              "ON true, (SELECT 1 FROM c, b) q, d.w, d.b",
                              &sql, &error));
    assert_ok(brume_sql_names(sql, &names, &count, &error));
    assert_int_equal(count, 5);
    static const char *const expected[] = {"inner_table", "b", "c", "w", "b"};
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(names[i].table, expected[i]);
        if (i < 3)
            assert_null(names[i].dataset);
        else
            assert_string_equal(names[i].dataset, "d");
    }
    brume_sql_names_free(names, count);
    brume_sql_close(sql);
    assert_fails(brume_sql_parse("SELEC", &sql, &error), BRUME_ESYNTAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aggregates_keys_and_outputs_stand_once_each),
        cmocka_unit_test(every_aggregate_of_the_list_is_understood),
        cmocka_unit_test(an_array_of_percentiles_is_one_output_for_each),
        cmocka_unit_test(bounds_follow_by_interval_arithmetic_and_clamp_tightens),
        cmocka_unit_test(conditions_see_columns_as_they_are_and_aggregates_clamped),
        cmocka_unit_test(constants_move_by_intervals_as_in_the_engines),
        cmocka_unit_test(everything_else_is_refused_by_name_with_a_hint),
        cmocka_unit_test(hostile_sizes_end_in_a_refusal),
        cmocka_unit_test(depth_is_refused_and_length_is_not),
        cmocka_unit_test(the_normal_text_ignores_style_and_keeps_meaning),
        cmocka_unit_test(released_values_are_computed_ordered_and_filtered),
        cmocka_unit_test(the_names_of_tables_are_found_without_a_catalog),
    };
    return cmocka_run_group_tests_name("parse", tests, NULL, NULL);
}
