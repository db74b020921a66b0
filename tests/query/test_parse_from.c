/* What may stand in FROM and beside it: joins, semi-joins, subqueries and WITH; what they charge,
 * and what they keep of units, bounds and grain. */
#include "parsed.h"

/* A semi-join charges both datasets; NOT EXISTS that compares more than the unit charges the other
 * as on the nullable side of an outer join, since then a unit's rows turn into others. */
static void semi_joins_compare_units_and_say_what_they_charge(void **state)
{
    (void)state;
    static const struct {
        const char *condition;
        bool nullable;
    } cases[] = {
        {"EXISTS (SELECT 1 FROM patients p WHERE p.patient = v.patient)", false},
        {"EXISTS (SELECT 1 FROM patients p WHERE p.patient = v.patient AND sex <> clinic)", false},
        {"NOT EXISTS (SELECT 1 FROM patients p WHERE p.patient = v.patient)", false},
        {"NOT EXISTS (SELECT 1 FROM patients p WHERE p.patient = v.patient AND sex = 'f')", false},
        {"NOT EXISTS (SELECT 1 FROM patients p WHERE p.patient = v.patient AND sex = clinic)",
         true},
        {"NOT EXISTS (SELECT 1 FROM visits w WHERE w.patient = v.patient AND w.age > v.age AND NOT "
         "EXISTS (SELECT 1 FROM patients p WHERE p.patient = w.patient))",
         true},
        {"patient IN (SELECT patient FROM patients)", false},
        {"patient NOT IN (SELECT patient FROM patients WHERE sex = 'f')", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char sql[400];
        snprintf(sql, sizeof sql, "SELECT COUNT(*) FROM visits v WHERE age > 3 AND %s",
                 cases[i].condition);
        brume_query *query = parse(sql);
        assert_int_equal(query->table_count, 2);
        assert_int_equal(query->tables[1].table, 1);
        if (query->tables[1].nullable_side != cases[i].nullable)
            fail_msg("%s", sql);
        assert_non_null(query->unit);
        brume_query_free(query);
        brume_sql_name *names = NULL;
        size_t count = 0;
        brume_sql *parsed = NULL;
        assert_ok(brume_sql_parse(sql, &parsed, &error));
        assert_ok(brume_sql_names(parsed, &names, &count, &error));
        assert_int_equal(count, 2);
        brume_sql_names_free(names, count);
        brume_sql_close(parsed);
    }
    const char *const start = "SELECT COUNT(*) FROM ";
    static const struct {
        const char *rest;
        brume_status status;
        const char *message, *hint;
    } bad[] = {
        {"visits v WHERE EXISTS (SELECT 1 FROM patients p)", BRUME_EUNSUPPORTED,
         "must compare the units", "b.UNIT = a.UNIT"},
        {"visits v WHERE EXISTS (SELECT 1 FROM patients p WHERE p.sex = v.clinic)",
         BRUME_EUNSUPPORTED, "must compare the units", "b.UNIT = a.UNIT"},
        {"visits v WHERE EXISTS (SELECT 1 FROM patients p WHERE p.patient = v.patient OR sex = "
         "'f')",
         BRUME_EUNSUPPORTED, "must compare the units", NULL},
        {"visits v WHERE EXISTS (SELECT 1 FROM patients p WHERE p.patient <> v.patient)",
         BRUME_EUNSUPPORTED, "must compare the units", NULL},
        {"visits WHERE age IN (SELECT patient FROM patients)", BRUME_EUNSUPPORTED,
         "must compare the units", NULL},
        {"visits WHERE clinic IN (SELECT sex FROM patients)", BRUME_EUNSUPPORTED,
         "must compare the units", NULL},
        {"visits WHERE patient IN (SELECT age FROM visits)", BRUME_EUNSUPPORTED,
         "must compare the units", NULL},
        {"clinics c WHERE EXISTS (SELECT 1 FROM visits v WHERE v.clinic = c.clinic)",
         BRUME_EUNSUPPORTED, "need a unit on both sides", "column as unit"},
        {"people p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.patient = p.patient)",
         BRUME_EUNSUPPORTED, "need a unit on both sides", NULL},
        {"visits v WHERE age > 3 OR EXISTS (SELECT 1 FROM patients p WHERE p.patient > v.patient)",
         BRUME_EUNSUPPORTED, "must compare the units", "UNIT"},
        {"visits v WHERE CASE WHEN EXISTS (SELECT 1 FROM patients p WHERE p.patient > v.patient) "
         "THEN true ELSE false END",
         BRUME_EUNSUPPORTED, "must compare the units", "UNIT"},
        {"visits v WHERE age = (SELECT 3 FROM patients p WHERE p.patient = v.patient)",
         BRUME_EUNSUPPORTED, "a subquery for a value", "MIN"},
        {"visits v WHERE age > ALL (SELECT patient FROM patients)", BRUME_EUNSUPPORTED,
         "a subquery in an expression", NULL},
        {"visits v WHERE EXISTS (SELECT COUNT(*) FROM patients p WHERE p.patient = v.patient)",
         BRUME_EUNSUPPORTED, "an aggregate in EXISTS", "HAVING"},
        {"visits v WHERE EXISTS (SELECT 1 FROM patients p WHERE p.patient = v.patient GROUP BY "
         "sex)",
         BRUME_EUNSUPPORTED, "GROUP BY and HAVING in EXISTS", "IN (SELECT UNIT"},
        {"visits v WHERE EXISTS (SELECT 1 FROM patients p WHERE p.patient = v.patient LIMIT 1)",
         BRUME_EUNSUPPORTED, "LIMIT", NULL},
        {"visits v WHERE patient IN (SELECT patient FROM patients LIMIT 1)", BRUME_EUNSUPPORTED,
         "LIMIT", NULL},
        {"visits v WHERE patient IN (SELECT patient, sex FROM patients)", BRUME_EARGUMENT,
         "one column", NULL},
        {"visits v WHERE EXISTS (SELECT 1 FROM patients p JOIN visits w ON p.patient = v.patient "
         "WHERE p.patient = v.patient)",
         BRUME_EUNKNOWN, "no column", NULL}, /* ON sees its own sides only */
        {"visits v WHERE EXISTS (SELECT 1 FROM patient p WHERE p.patient = v.patient)",
         BRUME_EUNKNOWN, "no dataset", "patients"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char sql[400];
        snprintf(sql, sizeof sql, "%s%s", start, bad[i].rest);
        refused(sql, bad[i].status, bad[i].message, bad[i].hint);
    }
}

static void subqueries_and_with_carry_bounds_units_and_grain(void **state)
{
    (void)state;
    brume_query *query =
        parse("WITH w AS (SELECT age * 2 AS twice, clinic FROM visits WHERE age < 50) "
              "SELECT clinic, AVG(twice) FROM w GROUP BY clinic");
    assert_true(query->aggregates[0].argument->bounds.high == 240);
    assert_non_null(query->unit);
    assert_true(query->keys[0].is_column);
    assert_false(query->one_row_per_unit);
    brume_query_free(query);

    query = parse("SELECT AVG(n), COUNT(*) FROM (SELECT patient, CLAMP(COUNT(*), 0, 20) AS n FROM "
                  "visits GROUP BY patient HAVING SUM(age) > 10) q");
    assert_true(query->one_row_per_unit);
    assert_true(query->one_row_per_group);
    assert_true(query->aggregates[0].argument->bounds.high == 20);
    brume_query_free(query);

    query = parse("SELECT clinic, AVG(m) FROM (SELECT patient, clinic, MAX(cost) AS m FROM visits "
                  "GROUP BY patient, clinic) q GROUP BY clinic");
    assert_false(query->one_row_per_unit);
    assert_true(query->one_row_per_group);
    brume_query_free(query);

    query = parse("SELECT AVG(m) FROM (SELECT patient, clinic, AVG(age) AS m FROM visits GROUP BY "
                  "patient, clinic) q");
    assert_false(query->one_row_per_group);
    brume_query_free(query);

    query = parse("SELECT COUNT(*) FROM people");
    assert_null(query->unit);
    assert_true(query->one_row_per_unit);
    brume_query_free(query);

    refused("SELECT AVG(n) FROM (SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic) q",
            BRUME_EUNSUPPORTED, "several units", "GROUP BY the unit");
    refused("SELECT AVG(n) FROM (SELECT patient + 0 AS patient, COUNT(*) AS n FROM visits GROUP BY "
            "patient + 0) q",
            BRUME_EUNSUPPORTED, "several units", NULL);
    /* a wider type has the same units; in a narrower one many of them are NULL */
    query = parse("SELECT COUNT(*) FROM (SELECT CAST(patient AS decimal(20,0)) AS p, COUNT(*) AS n "
                  "FROM visits GROUP BY CAST(patient AS decimal(20,0))) q");
    assert_true(query->one_row_per_unit);
    brume_query_free(query);
    refused("SELECT COUNT(*) FROM (SELECT CAST(patient AS decimal(2,0)) AS p, COUNT(*) AS n FROM "
            "visits GROUP BY CAST(patient AS decimal(2,0))) q",
            BRUME_EUNSUPPORTED, "several units", NULL);
    refused("SELECT COUNT(*) FROM (SELECT age FROM visits ORDER BY age LIMIT 5) q",
            BRUME_EUNSUPPORTED, "LIMIT", NULL);
    refused("SELECT COUNT(*) FROM (SELECT DISTINCT age FROM visits) q", BRUME_EUNSUPPORTED,
            "DISTINCT", NULL);
    refused("SELECT SUM(s) FROM (SELECT patient, SUM(age) AS s FROM visits GROUP BY patient) q",
            BRUME_EARGUMENT, "no bounds", NULL);
    refused("SELECT AVG(s) FROM (SELECT patient, SUM(cost) AS s FROM visits GROUP BY patient) q",
            BRUME_EARGUMENT, "no bounds", NULL);
}

static void joins_are_on_the_unit_or_with_a_public_table(void **state)
{
    (void)state;
    brume_query *query = parse("SELECT sex, AVG(cost) FROM visits v JOIN patients p ON v.patient = "
                               "p.patient AND v.age > 3 GROUP BY sex");
    assert_int_equal(query->table_count, 2);
    assert_false(query->tables[0].nullable_side || query->tables[1].nullable_side);
    brume_query_free(query);
    query = parse("SELECT COUNT(DISTINCT p.patient) FROM visits v, patients p WHERE p.patient = "
                  "v.patient AND sex = 'f'");
    assert_int_equal(query->aggregates[0].kind, BRUME_AGGREGATE_COUNT_UNITS);
    brume_query_free(query);
    query = parse("SELECT sex, COUNT(*) FROM visits LEFT JOIN patients USING (patient) GROUP BY 1");
    assert_false(query->tables[0].nullable_side);
    assert_true(query->tables[1].nullable_side);
    brume_query_free(query);
    query = parse("SELECT region, COUNT(*) FROM visits LEFT JOIN clinics ON visits.clinic = "
                  "clinics.clinic GROUP BY region");
    assert_int_equal(query->table_count, 1);
    assert_int_equal(query->public_count, 1);
    assert_false(query->tables[0].nullable_side);
    brume_query_free(query);
    query = parse("SELECT COUNT(*) FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY "
                  "patient) a JOIN (SELECT patient FROM patients GROUP BY patient) b ON a.patient "
                  "= b.patient");
    assert_true(query->one_row_per_unit);
    brume_query_free(query);
    query = parse("SELECT COUNT(*) FROM (SELECT patient FROM visits GROUP BY patient) a FULL JOIN "
                  "(SELECT patient FROM patients GROUP BY patient) b ON a.patient = b.patient");
    assert_false(query->one_row_per_unit);
    assert_true(query->tables[0].nullable_side && query->tables[1].nullable_side);
    brume_query_free(query);

    refused("SELECT COUNT(*) FROM visits v JOIN patients p ON v.age = p.patient",
            BRUME_EUNSUPPORTED, "only on their units", "ON");
    refused("SELECT COUNT(*) FROM visits, patients", BRUME_EUNSUPPORTED, "units", NULL);
    refused("SELECT COUNT(*) FROM visits v JOIN patients p ON v.patient = p.patient OR true",
            BRUME_EUNSUPPORTED, "units", NULL);
    refused("SELECT COUNT(*) FROM visits v JOIN patients p ON v.patient <> p.patient",
            BRUME_EUNSUPPORTED, "units", NULL);
    refused("SELECT COUNT(*) FROM (SELECT patient + 1 AS patient FROM visits) v JOIN patients p "
            "USING (patient)",
            BRUME_EUNSUPPORTED, "units", NULL);
    refused("SELECT COUNT(*) FROM people JOIN clinics USING (clinic)", BRUME_EUNSUPPORTED,
            "the row", "unit");
    refused("SELECT COUNT(*) FROM clinics LEFT JOIN visits USING (clinic)", BRUME_EUNSUPPORTED,
            "outer join", NULL);
    refused("SELECT COUNT(*) FROM clinics", BRUME_EUNSUPPORTED, "no protected dataset", NULL);
}

/* DATASET.TABLE.COLUMN, as clients write that qualify every name. */
static void a_column_may_have_its_dataset(void **state)
{
    (void)state;
    brume_query *query =
        parse("SELECT \"visits\".\"visits\".\"clinic\", COUNT(*) FROM visits GROUP BY "
              "visits.visits.clinic");
    brume_query *plain = parse("SELECT clinic, COUNT(*) FROM visits GROUP BY clinic");
    assert_string_equal(query->normal, plain->normal);
    brume_query_free(query);
    brume_query_free(plain);
    refused("SELECT COUNT(*) FROM visits WHERE patients.visits.age > 3", BRUME_EUNKNOWN,
            "no column", "no 'patients.visits' in FROM");
    refused("SELECT COUNT(*) FROM visits AS v WHERE visits.v.age > 3", BRUME_EUNKNOWN, "no column",
            "no 'visits.v' in FROM");
    refused("SELECT COUNT(*) FROM visits WHERE a.visits.visits.age > 3", BRUME_EUNSUPPORTED,
            "too many parts", NULL);
}

/* A constant with a zone is the time in UTC; without one nobody knows which time it is. */
static void a_time_with_a_zone_is_in_utc(void **state)
{
    (void)state;
    static const char *const same[] = {"2024-02-29 23:30:00Z", "2024-03-01T00:30:00.000+01",
                                       "2024-02-29 20:00-03:30", "2024-03-01 05:00:00+0530"};
    static const char *const wrong[] = {"2024-02-29 23:30:00",    "2024-02-29",
                                        "2024-02-29 23:30:00+1",  "2024-02-29 23:30:00+16",
                                        "2024-02-29 23:30:00Z2",  "2024-02-30 23:30:00Z",
                                        "9999-12-31 23:30:00-01", "+:"};
    char sql[200];
    brume_query *plain = parse("SELECT COUNT(*) FROM visits WHERE CAST(day AS timestamp) >= "
                               "TIMESTAMP '2024-02-29 23:30:00'");
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        snprintf(sql, sizeof sql,
                 "SELECT COUNT(*) FROM visits WHERE CAST(day AS timestamp) >= timestamp with time "
                 "zone '%s'",
                 same[i]);
        brume_query *query = parse(sql);
        assert_string_equal(query->normal, plain->normal);
        brume_query_free(query);
    }
    brume_query_free(plain);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(sql, sizeof sql, "SELECT COUNT(*) FROM visits WHERE day >= timestamptz '%s'",
                 wrong[i]);
        refused(sql, BRUME_EARGUMENT, "is not a time with its zone", "Z");
    }
    refused("SELECT COUNT(*) FROM visits WHERE CAST(day AS timestamptz) IS NULL",
            BRUME_EUNSUPPORTED, "timestamptz", "timestamp");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(semi_joins_compare_units_and_say_what_they_charge),
        cmocka_unit_test(subqueries_and_with_carry_bounds_units_and_grain),
        cmocka_unit_test(joins_are_on_the_unit_or_with_a_public_table),
        cmocka_unit_test(a_column_may_have_its_dataset),
        cmocka_unit_test(a_time_with_a_zone_is_in_utc),
    };
    return cmocka_run_group_tests_name("parse FROM", tests, NULL, NULL);
}
