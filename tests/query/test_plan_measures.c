/* What is measured for a query: every measure with its expression and bounds, once each, and which
 * of them each aggregate is computed from. */
#include "planned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/collect/collect.h"
#include "query/collect/collect_parts.h"
#include "query/plan/plan_limit.h"

static const char *const kind_words[] = {
    [BRUME_MEASURE_UNITS] = "units",     [BRUME_MEASURE_PRESENCE] = "presence",
    [BRUME_MEASURE_ROWS] = "rows",       [BRUME_MEASURE_VALUES] = "values",
    [BRUME_MEASURE_CENTRED] = "centred", [BRUME_MEASURE_SQUARES] = "squares",
    [BRUME_MEASURE_DIRECT] = "direct",   [BRUME_MEASURE_QUANTILES] = "quantiles",
    [BRUME_MEASURE_MODE] = "mode",       [BRUME_MEASURE_PRIVATE_MODE] = "private mode",
    [BRUME_MEASURE_HOLDERS] = "holders", [BRUME_MEASURE_DEVIATION] = "deviation",
};

static void add(char *text, size_t size, const char *word, int index)
{
    size_t used = strlen(text);
    if (index != BRUME_NOT_MEASURED)
        snprintf(text + used, size - used, " %s=%d", word, index);
}

/* "G R: kind x low..high fractions, ...; aggregate: parts, ...". */
static void describe(const brume_plan *plan, char *text, size_t size)
{
    snprintf(text, size, "%d %d:", (int)plan->shape.max_groups, (int)plan->shape.max_rows);
    for (size_t i = 0; i < plan->measure_count; i++) {
        const brume_measure *m = &plan->measures[i];
        size_t used = strlen(text);
        used += (size_t)snprintf(text + used, size - used, "%s %s %d %d..%d", i ? "," : "",
                                 kind_words[m->kind], (int)m->expression, (int)m->low,
                                 (int)m->high);
        for (size_t j = 0; j < m->fraction_count; j++)
            used += (size_t)snprintf(text + used, size - used, " %d/%d", (int)m->fractions[j][0],
                                     (int)m->fractions[j][1]);
    }
    for (size_t i = 0; i < plan->query->aggregate_count; i++) {
        const brume_plan_aggregate *a = &plan->aggregates[i];
        snprintf(text + strlen(text), size - strlen(text), "%s", i ? "," : ";");
        add(text, size, "count", a->count);
        add(text, size, "centred", a->centred);
        add(text, size, "squares", a->squares);
        add(text, size, "direct", a->direct);
        add(text, size, "second", a->second);
        add(text, size, "selection", a->selection);
        add(text, size, "fraction", a->selection == BRUME_NOT_MEASURED ? -1 : a->fraction);
        add(text, size, "distinct", a->distinct);
        if (a->public_count)
            snprintf(text + strlen(text), size - strlen(text), " public");
    }
    for (size_t i = 0; i < plan->value_count; i++)
        if (plan->values[i].breaks_ties)
            snprintf(text + strlen(text), size - strlen(text), "; ties of %d", (int)i);
    if (plan->measurements[0].collection.unread)
        snprintf(text + strlen(text), size - strlen(text), "; unread");
}

static void plans_are(const char *const (*expected)[2], size_t count, const terms *of)
{
    for (size_t i = 0; i < count; i++) {
        planned all;
        char text[2000];
        make(&all, expected[i][0], of, "1", of->rule == BRUME_RULE_PURE ? NULL : "1e-6");
        describe(all.plan, text, sizeof text);
        assert_string_equal(text, expected[i][1]);
        clear(&all);
    }
}

/* Rejects: a measure for two expressions, or two for one; the count of another expression; a sum
 * beside a count that it could be computed from. */
static void rows_that_are_units(void **state)
{
    (void)state;
    static const char *const expected[][2] = {
        {"SELECT COUNT(*), SUM(age) FROM people",
         "1 1: units 0 0..0, direct 0 0..120; count=0, direct=1"},
        {"SELECT SUM(age) FROM people", "1 1: direct 0 0..120; direct=0"},
        {"SELECT SUM(age), SUM(cost), AVG(age) FROM people",
         "1 1: centred 0 0..120, values 0 0..120, direct 1 0..262144000; count=1 centred=0, direct=2, count=1 centred=0"},
        {"SELECT COUNT(age), COUNT(cost), SUM(cost), VARIANCE(age), AVG(age) FROM people",
         "1 1: values 0 0..120, values 1 0..262144000, squares 0 0..120, centred 0 0..120, centred 1 0..262144000; count=0, count=1, count=1 centred=4, count=0 centred=3 squares=2, count=0 centred=3"},
        {"SELECT MEDIAN(age), MIN(cost), MEDIAN(age), MAX(age) FROM people",
         "1 1: quantiles 0 0..120 1/2, quantiles 0 0..120 99/100, quantiles 1 0..262144000 1/100; selection=0 fraction=0, selection=2 fraction=0, selection=1 fraction=0"},
        {"SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age), PERCENTILE_CONT(0.50) WITHIN GROUP (ORDER BY age), PERCENTILE_CONT(0.1) WITHIN GROUP (ORDER BY age) FROM people",
         "1 1: quantiles 0 0..120 1/10, quantiles 0 0..120 1/2; selection=1 fraction=0, selection=0 fraction=0"},
        {"SELECT COUNT(DISTINCT clinic) FROM people", "1 1:; distinct=1; unread"},
        {"SELECT COUNT(*), COUNT(DISTINCT clinic) FROM people",
         "1 1: units 0 0..0; count=0, distinct=1"},
        {"SELECT clinic, COUNT(*), SUM(age) FROM people GROUP BY clinic",
         "1 1: units 0 0..0, direct 0 0..120; count=0, direct=1"},
        {"SELECT DISTINCT clinic FROM people", "1 1: units 0 0..0"},
        {"SELECT MODE() WITHIN GROUP (ORDER BY clinic), MODE() WITHIN GROUP (ORDER BY day), SUM(age) FROM people",
         "1 1: direct 0 0..120, private mode 0 0..0, private mode 0 0..0; selection=1 fraction=0, selection=2 fraction=0, direct=0"},
        {"SELECT SUM(age), COUNT(cost) FROM people",
         "1 1: values 1 0..262144000, direct 0 0..120; direct=1, count=0"},
        {"SELECT SUM(cost), COUNT(age) FROM people",
         "1 1: values 1 0..120, direct 0 0..262144000; direct=1, count=0"},
        {"SELECT SUM(COALESCE(age, 3)), AVG(COALESCE(cost, 1)) FROM people",
         "1 1: centred 1 0..262144000, units 0 0..0, centred 0 0..120; count=1 centred=2, count=1 centred=0"},
        {"SELECT COUNT(*), SUM(COALESCE(age, 3)) FROM people",
         "1 1: units 0 0..0, centred 0 0..120; count=0, count=0 centred=1"},
    };
    const terms of = {BRUME_ADD_REMOVE, {5, 5}, {7, 7}, 0, false};
    plans_are(expected, sizeof expected / sizeof *expected, &of);
}

/* Rejects: the public number of rows for values that may be NULL, or measured all the same; a sum
 * beside that of a mean, or beside a public number that it could be computed from. */
static void rows_that_are_replaced(void **state)
{
    (void)state;
    static const char *const expected[][2] = {
        {"SELECT AVG(COALESCE(age, 3)), SUM(COALESCE(age, 3)) FROM people",
         "1 1: centred 0 0..120; centred=0 public, centred=0 public"},
        {"SELECT SUM(COALESCE(age, 3)), COUNT(*) FROM people",
         "1 1: units 0 0..0, centred 0 0..120; centred=1 public, count=0"},
        {"SELECT SUM(age), SUM(COALESCE(age, 3)), VARIANCE(COALESCE(age, 3)) FROM people",
         "1 1: squares 1 0..120, centred 1 0..120, direct 0 0..120; direct=2, centred=1 public, centred=1 squares=0 public"},
        {"SELECT SUM(COALESCE(age, 3)) FROM people WHERE age > 10",
         "1 1: direct 0 0..120; direct=0"},
        {"SELECT AVG(age), COUNT(*) FROM people",
         "1 1: centred 0 0..120, values 0 0..120, units 0 0..0; count=1 centred=0, count=2"},
    };
    const terms of = {BRUME_REPLACE, {5, 5}, {7, 7}, 0, false};
    plans_are(expected, sizeof expected / sizeof *expected, &of);
}

static void units_of_several_rows(void **state)
{
    (void)state;
    static const char *const expected[][2] = {
        {"SELECT COUNT(*), SUM(age) FROM visits",
         "5 7: rows 0 0..0, direct 0 0..120; count=0, direct=1"},
        {"SELECT SUM(age), COUNT(DISTINCT patient) FROM visits",
         "5 7: presence 0 0..0, direct 0 0..120; direct=1, count=0"},
        {"SELECT SUM(age), AVG(age), SUM(cost) FROM visits",
         "5 7: direct 0 0..120, values 0 0..120, direct 1 0..262144000; direct=0, count=1 direct=0, direct=2"},
        {"SELECT SUM(cost), SUM(age), AVG(age) FROM visits",
         "5 7: direct 1 0..120, values 1 0..120, direct 0 0..262144000; direct=2, direct=0, count=1 direct=0"},
        {"SELECT COUNT(cost), COUNT(age) FROM visits",
         "5 7: values 0 0..262144000, values 1 0..120; count=0, count=1"},
        {"SELECT sex, MODE() WITHIN GROUP (ORDER BY sex), COUNT(*) FROM patients GROUP BY sex",
         "5 7: mode 0 0..1, rows 0 0..0; selection=0 fraction=0, count=1"},
        {"SELECT DISTINCT clinic FROM visits", "5 7: units 0 0..0"},
        {"SELECT STDDEV(age), AVG(age), COUNT(age) FROM visits",
         "5 7: deviation 0 0..120, direct 1 0..235929600, values 0 0..120; count=2 direct=0 second=1, count=2 direct=0, count=2"},
        {"SELECT STDDEV(age + 1000), AVG(age + 1000) FROM visits",
         "5 7: squares 0 1000..1120, centred 0 1000..1120, values 0 1000..1120; count=2 centred=1 squares=0, count=2 centred=1"},
        {"SELECT AVG(age + 1000) FROM visits",
         "5 7: deviation 0 0..120, values 0 0..120; count=1 direct=0"},
        {"SELECT AVG(age + 1000), SUM(age + 1000) FROM visits",
         "5 7: centred 0 1000..1120, values 0 1000..1120; count=1 centred=0, count=1 centred=0"},
        {"SELECT sex, COUNT(*) FROM patients GROUP BY ROLLUP (sex)", "10 7: rows 0 0..0; count=0"},
        {"SELECT sex, COUNT(*) FROM patients GROUP BY sex", "5 7: rows 0 0..0; count=0"},
        {"SELECT COUNT(*), SUM(n) FROM (SELECT patient, MAX(age) AS n FROM visits GROUP BY patient) t",
         "1 1: units 0 0..0, direct 0 0..120; count=0, direct=1"},
        {"SELECT SUM(n) FROM (SELECT patient, MAX(age) AS n FROM visits GROUP BY patient) t",
         "1 1: direct 0 0..120; direct=0"},
    };
    const terms of = {BRUME_ADD_REMOVE, {5, 5}, {7, 7}, 0, false};
    plans_are(expected, sizeof expected / sizeof *expected, &of);
}

/* Rejects: the limits of a table that the query does not read; the places of values in a declared
 * domain summed in the place of the values; units that each have one row counted as where totals
 * are limited. */
static void tables_and_columns_are_those_of_the_query(void **state)
{
    (void)state;
    static const char *const patients[][2] = {
        {"SELECT COUNT(*) FROM patients", "5 7: rows 0 0..0; count=0"},
        {"SELECT COUNT(sex) FROM patients", "5 7: values 0 0..0; count=0"}};
    static const char *const declared[][2] = {
        {"SELECT COUNT(age), MEDIAN(age) FROM visits",
         "2 3: values 0 0..120, quantiles 0 0..120 1/2; count=0, selection=1 fraction=0"},
        {"SELECT COUNT(DISTINCT patient) FROM (SELECT patient, MAX(age) AS n FROM visits GROUP BY "
         "patient) t",
         "1 1: units 0 0..0; count=0"}};
    const terms of = {BRUME_ADD_REMOVE, {2, 5}, {3, 7}, 0, false};
    plans_are(patients, 2, &of);
    ages_are_declared = true;
    plans_are(declared, 2, &of);
    ages_are_declared = false;
}

/* Eight quantiles are drawn each by itself, nine as one list, in which ties are broken. */
static void quantiles_are_a_list_from_nine_on(void **state)
{
    (void)state;
    for (size_t count = 1; count <= 10; count++) {
        char sql[1500] = "SELECT ";
        planned all;
        for (size_t i = 0; i < count; i++)
            snprintf(sql + strlen(sql), sizeof sql - strlen(sql),
                     "%sPERCENTILE_CONT(0.%d) WITHIN GROUP (ORDER BY age)", i ? ", " : "",
                     (int)(30 - i));
        snprintf(sql + strlen(sql), sizeof sql - strlen(sql), " FROM people");
        const terms of = {BRUME_ADD_REMOVE, {1, 1}, {1, 1}, 0, false};
        make(&all, sql, &of, "1", NULL);
        bool list = count > 8;
        assert_int_equal(all.plan->measure_count, list ? 1 : count);
        assert_int_equal(all.plan->values[0].breaks_ties, list);
        for (size_t i = 0; i < count; i++) { /* asked for in descending order */
            const brume_plan_aggregate *a = &all.plan->aggregates[i];
            int place = (int)(count - 1 - i);
            assert_int_equal(a->selection, list ? 0 : place);
            assert_int_equal(a->fraction, list ? place : 0);
            const brume_measure *m = &all.plan->measures[a->selection];
            assert_int_equal(m->fraction_count, list ? count : 1);
            assert_int_equal(m->fractions[a->fraction][0] * 100,
                             (int)(30 - i) * m->fractions[a->fraction][1]);
        }
        clear(&all);
    }
}

/* What an engine sums itself is clamped there; a whole number that is streamed is clamped by the
 * bounder. What is recorded of a choice of limits names the bounds in any case. */
static void whole_numbers_are_clamped_where_they_are_summed(void **state)
{
    (void)state;
    static const char *const tables[] = {"visits", "patients", "clinics", "people"};
    static const brume_dialect dialects[] = {BRUME_DIALECT_DUCKDB, BRUME_DIALECT_POSTGRESQL,
                                             BRUME_DIALECT_SPARK};
    const terms of = {BRUME_ADD_REMOVE, {1, 1}, {1, 1}, 0, false};
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++) {
        planned all;
        char *streamed = NULL, *stated = NULL;
        make(&all, "SELECT SUM(CLAMP(age, 0, 77)) FROM visits", &of, "1", NULL);
        const brume_collection *collection = &all.plan->measurements[0].collection;
        assert_ok(brume_collect_print_rows(collection, dialects[i], tables, &streamed, &error));
        assert_ok(brume_collect_statement(collection, dialects[i], tables, &stated, &error));
        assert_null(strstr(streamed, "77"));
        assert_non_null(strstr(stated, "77"));
        assert_int_equal(collection->values[0].high, 77); /* the bounder's */
        free(streamed);
        free(stated);
        clear(&all);
    }
}

/* What the price of a mean in one cell rests on (query/price/limited.c): number and sum follow one
 * limit. Rejects: the sum of values that may be NULL limited by the rows, and the other way round.
 */
static void number_and_sum_of_a_mean_have_one_limit(void **state)
{
    (void)state;
    static const char *const asked[] = {
        "SELECT AVG(age) FROM visits", "SELECT AVG(COALESCE(age, 3)) FROM visits",
        "SELECT COUNT(*), AVG(age), SUM(age) FROM visits",
        "SELECT COUNT(*), AVG(COALESCE(age, 3)), AVG(cost), MEDIAN(age) FROM visits"};
    const terms of = {BRUME_REPLACE, {5, 5}, {2, 2}, 0, false};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        planned all;
        size_t means = 0;
        make(&all, asked[i], &of, "1", NULL);
        for (size_t k = 0; k < all.plan->query->aggregate_count; k++) {
            const brume_plan_aggregate *a = &all.plan->aggregates[k];
            if (a->centred == BRUME_NOT_MEASURED)
                continue;
            assert_int_equal(all.plan->measure_limit[a->centred],
                             all.plan->measure_limit[a->count]);
            means++;
        }
        assert_true(means > 0);
        clear(&all);
    }
}

/* Noisy counts as they may be drawn: 5,000 units have between the edges of two bins. */
static void look_at(brume_found_limit *limit, size_t bin)
{
    limit->bought = (brume_looks){.first = {bin > 0 ? 5000 : 0, 5}};
    for (size_t i = 0; i < BRUME_LIMIT_BINS; i++)
        limit->bought.bin[i] = (brume_noisy){i == bin ? 5000 : 0, 5};
}

/* A mean's sum has a limit of its own, at most the number's limit times the largest value; or,
 * where that has less noise, it follows the number. Rejects: noise for another limit than the one
 * that is applied; a sum that follows where units are replaced, for which its noise would be too
 * little. */
static void the_sum_of_a_mean_has_its_own_limit_or_follows_the_number(void **state)
{
    (void)state;
    const terms added = {BRUME_ADD_REMOVE, {0, 0}, {0, 0}, 0, false},
                replaced = {BRUME_REPLACE, {0, 0}, {0, 0}, 0, false};
    size_t followed = 0, capped = 0, own = 0;
    for (size_t rows = 0; rows < 8; rows++)
        for (size_t sums = 0; sums < 16; sums++)
            for (int replace = 0; replace < 2; replace++) {
                planned all;
                brume_terms *before = NULL, *after = NULL;
                make(&all, "SELECT AVG(CLAMP(age, 0, 20)) FROM visits",
                     replace ? &replaced : &added, "1", NULL);
                const brume_plan_aggregate *mean = &all.plan->aggregates[0];
                int number = all.plan->measure_limit[mean->count];
                int sum = all.plan->measure_limit[mean->direct];
                assert_ok(brume_terms_make(all.plan, NULL, 0, &before, &error));
                look_at(&before->limits[number], rows);
                look_at(&before->limits[sum], sums);
                assert_ok(brume_terms_make(all.plan, before, 0, &after, &error));
                const brume_measure *measure = &after->measures[mean->direct];
                double most = (double)after->limits[number].limit, limit = 20 * most;
                assert_true(after->limits[number].choice.found);
                if (measure->kind == BRUME_MEASURE_CENTRED) {
                    assert_false(replace);
                    assert_holds(measure->sensitivity == 10 * most);
                    assert_ptr_equal(brume_terms_measure_limit(after, (size_t)mean->direct),
                                     &after->limits[number]);
                    followed++;
                } else {
                    assert_holds(measure->sensitivity == (double)after->limits[sum].limit);
                    assert_holds(measure->sensitivity <= limit ||
                                 after->limits[number].choice.allowance > 0);
                    capped += measure->sensitivity == limit;
                    own += measure->sensitivity < limit;
                }
                assert_holds(measure->scale >= measure->sensitivity * measure->noise);
                brume_terms_close(before);
                brume_terms_close(after);
                clear(&all);
            }
    assert_true(followed > 0 && capped > 0 && own > 0);
}

/* The sum of a mean about a centre: noise for its own limit, which is at most the number's times
 * how far a value can be from the centre; and without a look that is its limit. Rejects: the reach
 * of the bounds alone; noise for another limit than the one that is applied; under replacement
 * noise for one that comes or goes. */
static void the_sum_about_a_centre_has_a_limit_for_distances(void **state)
{
    (void)state;
    const terms added = {BRUME_ADD_REMOVE, {0, 0}, {0, 0}, 0, false},
                replaced = {BRUME_REPLACE, {0, 0}, {0, 0}, 0, false};
    double noises[2] = {0};
    size_t capped = 0, own = 0;
    for (size_t rows = 0; rows < 8; rows++)
        for (size_t sums = 0; sums < 17; sums++) /* the last one: without a look */
            for (int64_t centre = 0; centre <= 120; centre += 30)
                for (int replace = 0; replace < 2; replace++) {
                    planned all;
                    brume_terms *before = NULL, *after = NULL;
                    make(&all, "SELECT AVG(age) FROM visits", replace ? &replaced : &added, "1",
                         NULL);
                    const brume_plan_aggregate *mean = &all.plan->aggregates[0];
                    int number = all.plan->measure_limit[mean->count];
                    int sum = all.plan->measure_limit[mean->direct];
                    assert_true(all.plan->limits[sum].centred);
                    assert_true(all.plan->measures[mean->count].divides);
                    assert_ok(brume_terms_make(all.plan, NULL, 0, &before, &error));
                    look_at(&before->limits[number], rows);
                    before->limits[sum].has_centre = true;
                    before->limits[sum].centre = centre;
                    before->limits[sum].capped = sums == 16;
                    if (sums < 16)
                        look_at(&before->limits[sum], sums);
                    assert_ok(brume_terms_make(all.plan, before, 0, &after, &error));
                    const brume_measure *measure = &after->measures[mean->direct];
                    double most = (double)after->limits[number].limit;
                    double reach = fmax((double)centre, 120 - (double)centre);
                    assert_true(measure->kind == BRUME_MEASURE_DEVIATION);
                    assert_int_equal((int)brume_found_total(&after->limits[sum]).centre, centre);
                    assert_holds(measure->sensitivity == (double)after->limits[sum].limit);
                    assert_holds(measure->sensitivity <= reach * most ||
                                 after->limits[number].choice.allowance > 0);
                    assert_holds(sums < 16 || measure->sensitivity == reach * most);
                    assert_holds(measure->scale >= measure->sensitivity * measure->noise);
                    capped += measure->sensitivity == reach * most;
                    own += measure->sensitivity < reach * most;
                    if (sums == 15)
                        noises[replace] = measure->noise;
                    brume_terms_close(before);
                    brume_terms_close(after);
                    clear(&all);
                }
    assert_true(capped > 0 && own > 0);
    assert_holds(noises[1] >= 2 * noises[0]);
}

/* Rejects: the sensitivity of another reach than that of the values, and of their squares less half
 * of the largest. */
static void a_limited_sum_has_the_reach_of_its_values(void **state)
{
    (void)state;
    for (int64_t low = -20; low <= 20; low++)
        for (int64_t high = low; high <= 20; high++) {
            brume_measure measures[] = {{.kind = BRUME_MEASURE_CENTRED, .low = low, .high = high},
                                        {.kind = BRUME_MEASURE_SQUARES, .low = low, .high = high}};
            brume_plan_limit limit = {.limit = 7, .source = BRUME_LIMIT_TYPED, .norm = 1};
            int measure_limit[] = {0, 0};
            brume_plan plan = {.measures = measures,
                               .measure_count = 2,
                               .by_totals = true,
                               .limits = &limit,
                               .limit_count = 1,
                               .measure_limit = measure_limit,
                               .shape = {.cells = 1},
                               .amount = 2. / 3}; /* for two measures: scale 3 */
            brume_terms *priced = NULL;
            double most[2] = {1, 1}; /* a constant has noise too */
            assert_ok(brume_terms_make(&plan, NULL, 0, &priced, &error));
            for (int64_t x = low; x <= high; x++) {
                double centred = (double)(x - brume_measure_centre(&measures[0]));
                double half = (double)brume_measure_half_square(&measures[1]);
                most[0] = fmax(most[0], fabs(centred));
                most[1] = fmax(most[1], fabs(centred * centred - half));
            }
            for (int i = 0; i < 2; i++) {
                assert_holds(priced->measures[i].sensitivity == 7 * most[i]);
                assert_close(priced->measures[i].scale, 21 * most[i], 1e-12);
            }
            brume_terms_close(priced);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_that_are_units),
        cmocka_unit_test(rows_that_are_replaced),
        cmocka_unit_test(units_of_several_rows),
        cmocka_unit_test(tables_and_columns_are_those_of_the_query),
        cmocka_unit_test(quantiles_are_a_list_from_nine_on),
        cmocka_unit_test(whole_numbers_are_clamped_where_they_are_summed),
        cmocka_unit_test(number_and_sum_of_a_mean_have_one_limit),
        cmocka_unit_test(the_sum_of_a_mean_has_its_own_limit_or_follows_the_number),
        cmocka_unit_test(the_sum_about_a_centre_has_a_limit_for_distances),
        cmocka_unit_test(a_limited_sum_has_the_reach_of_its_values),
    };
    return cmocka_run_group_tests_name("measures of plans", tests, NULL, NULL);
}
