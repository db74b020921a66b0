/* What lets a private key show is the number of units in it, never of rows: one unit with many rows
 * in a key of its own stays hidden, many units with one row each show.
 *
 * The bits are those of a seeded tape, so a run cannot differ from the last. With the kernel's a
 * key of one unit would show with probability below 1e-12 a question, and one of 300 units stay
 * hidden with less. */
#include "check.h"

#include <stdlib.h>

#include "ask_json.h"
#include "registered.h"

enum { ROWS = 300 };

static brume_error error;

/* The keys "own" and 7: one unit, 300 rows; "all" and 8: 300 units, a row each. */
static void open_table(registered *all, uint64_t seed)
{
    static const registered_terms terms = {"visits", BRUME_RULE_APPROXIMATE, "1000", "0.1",
                                           BRUME_ADD_REMOVE};
    FILE *file = registered_begin(all);
    fputs("person,ward,room,age,floor\n", file);
    for (int i = 0; i < ROWS; i++) {
        fprintf(file, "alone,own,7,%d,1\n", i);
        fprintf(file, "p%d,all,8,%d,%d\n", i, i, i % 3 ? 12 : i % 2);
    }
    registered_open(all, file, seed);
    brume_policy *policy = registered_file(all->csv, "room bigint, age bigint, floor bigint");
    assert_ok(brume_policy_set_unit(policy, "person", &error));
    assert_ok(brume_policy_set_bounds(policy, "age", "0", "300", &error));
    static const char *const floors[] = {"0", "12", "1", "5"};
    assert_ok(brume_policy_set_domain(policy, "floor", floors, 4, &error));
    policy->max_rows = ROWS;
    policy->max_groups = 1;
    registered_enter(all->ledger, policy, &terms);
}

/* Rejects, each by itself: exact() of draw.c taking rows for units; select_keys handing rows to the
 * selection; visit_sum of bound_result.c adding rows to units. */
static void a_key_of_one_unit_stays_hidden_however_many_rows_it_has(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *epsilon;
        bool is_text;
    } cases[] = {
        {"SELECT ward, COUNT(*) FROM visits GROUP BY ward", "10", true},
        {"SELECT ward, COUNT(DISTINCT person) FROM visits GROUP BY ward", "10", true},
        {"SELECT room, SUM(age), AVG(age) FROM visits GROUP BY room", "10", false},
        {"SELECT ward, MEDIAN(age), COUNT(*), SUM(age) FROM visits GROUP BY ward", "5", true},
        {"SELECT ward, COUNT(*), SUM(age) FROM visits GROUP BY ward", "1", true}, /* Gaussian */
        {"SELECT DISTINCT ward FROM visits", "10", true},                         /* keys alone */
        {"SELECT room FROM visits GROUP BY room", "2", false},
    };
    registered all;
    open_table(&all, 31);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_payment payment = {.epsilon = cases[i].epsilon, .delta = "1e-12"};
        json_t *answer = NULL;
        assert_ok(
            ask_json(all.ledger, cases[i].sql, &payment, NULL, all.bits, NULL, &answer, &error));
        const json_t *rows = json_object_get(answer, "rows");
        if (json_array_size(rows) != 1)
            fail_msg("%s: %zu keys are shown", cases[i].sql, json_array_size(rows));
        const json_t *key = json_array_get(json_array_get(rows, 0), 0);
        if (cases[i].is_text)
            assert_string_equal(json_string_value(key), "all");
        else
            assert_int_equal(json_integer_value(key), 8);
        json_decref(answer);
    }
    registered_close(&all);
}

/* 60 units are in every one of 30 wards. A unit counts in one key of those that it has, so that
 * each ward has two and stays hidden. Rejects: a unit that counts in all of its keys, or votes for
 * all of its values. */
static void a_unit_with_many_keys_counts_in_one_of_them(void **state)
{
    (void)state;
    enum { UNITS = 60, WARDS = 200 };
    static const registered_terms terms = {"visits", BRUME_RULE_APPROXIMATE, "1000", "0.1",
                                           BRUME_ADD_REMOVE};
    static const char *const queries[] = {
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward",
        "SELECT ward, COUNT(DISTINCT person) FROM visits GROUP BY ward",
        "SELECT ward, SUM(age), AVG(age), MEDIAN(age) FROM visits GROUP BY ward",
        "SELECT ward, COUNT(DISTINCT age) FROM visits GROUP BY ward",
        "SELECT ward, age, COUNT(*) FROM visits GROUP BY ward, age",
        "SELECT ward, COUNT(*) FROM visits GROUP BY ROLLUP (ward)",
        "SELECT MODE() WITHIN GROUP (ORDER BY ward) FROM visits",
    };
    registered all;
    FILE *file = registered_begin(&all);
    fputs("person,ward,age\n", file);
    for (int i = 0; i < UNITS * WARDS; i++)
        fprintf(file, "p%d,w%d,%d\n", i % UNITS, i / UNITS, i / UNITS % 2);
    registered_open(&all, file, 35);
    brume_policy *policy = registered_file(all.csv, "age bigint");
    assert_ok(brume_policy_set_unit(policy, "person", &error));
    assert_ok(brume_policy_set_bounds(policy, "age", "0", "1", &error));
    registered_enter(all.ledger, policy, &terms);
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        brume_payment payment = {.epsilon = "5", .delta = "1e-12"};
        json_t *answer = NULL;
        assert_ok(
            ask_json(all.ledger, queries[i], &payment, NULL, all.bits, NULL, &answer, &error));
        const json_t *rows = json_object_get(answer, "rows");
        bool mode = strstr(queries[i], "MODE") != NULL; /* one row: a value, or none */
        if (mode ? !json_is_null(json_array_get(json_array_get(rows, 0), 0))
                 : json_array_size(rows))
            fail_msg("a key is shown: %s", queries[i]);
        json_decref(answer);
    }
    registered_close(&all);
}

/* The pairs of a mode keep one row of a unit each, so that rows and units are equally many in them.
 * Rejects: pairs that keep more, counted by rows. */
static void a_value_of_one_unit_is_no_mode_however_many_rows_it_has(void **state)
{
    (void)state;
    registered all;
    open_table(&all, 32);
    brume_payment payment = {.epsilon = "10", .delta = "1e-12"};
    json_t *answer = NULL;
    assert_ok(ask_json(all.ledger,
                       "SELECT MODE() WITHIN GROUP (ORDER BY ward) FROM visits WHERE person = "
                       "'alone' OR age < 2",
                       &payment, NULL, all.bits, NULL, &answer, &error));
    assert_true(
        json_is_null(json_array_get(json_array_get(json_object_get(answer, "rows"), 0), 0)));
    json_decref(answer);
    registered_close(&all);
}

/* Rejects: places of a declared domain that do not stand for its values. The price is so high that
 * another value would come with a probability below 1e-12. */
static void the_mode_of_a_declared_column_is_the_value_at_its_place(void **state)
{
    (void)state;
    registered all;
    open_table(&all, 33);
    brume_payment payment = {.epsilon = "800"};
    static const struct {
        const char *sql;
        int mode;
    } cases[] = {
        {"SELECT MODE() WITHIN GROUP (ORDER BY floor) FROM visits WHERE person <> 'alone'", 12},
        {"SELECT MODE() WITHIN GROUP (ORDER BY floor) FROM visits WHERE person = 'alone'", 1},
    };
    for (size_t i = 0; i < 2; i++) {
        json_t *answer = NULL;
        assert_ok(
            ask_json(all.ledger, cases[i].sql, &payment, NULL, all.bits, NULL, &answer, &error));
        const json_t *row = json_array_get(json_object_get(answer, "rows"), 0);
        char *mode = json_dumps(json_array_get(row, 0), JSON_ENCODE_ANY);
        assert_non_null(mode);
        assert_holds(strtol(mode + (*mode == '"'), NULL, 10) == cases[i].mode); /* a text or not */
        free(mode);
        json_decref(answer);
        payment.epsilon = "100";
    }
    registered_close(&all);
}

/* Where every row is another unit the engine sums by itself. Rejects: its rows not read, or read
 * into the wrong group; a group that is not there, or not dropped, where values are declared. */
static void sums_of_the_engine_reach_their_groups(void **state)
{
    (void)state;
    static const registered_terms terms = {"rows", BRUME_RULE_APPROXIMATE, "100000", "0.1",
                                           BRUME_ADD_REMOVE};
    static const char *const wards[] = {"a", "b", "none"}; /* c is not declared */
    registered all;
    FILE *file = registered_begin(&all);
    fputs("ward,age\n", file);
    for (int i = 0; i < 200; i++)
        fprintf(file, "%c,%d\n", "abcc"[i % 4], 10 * (i % 4));
    registered_open(&all, file, 34);
    brume_policy *policy = registered_file(all.csv, "age bigint");
    assert_ok(brume_policy_set_bounds(policy, "age", "0", "100", &error));
    assert_ok(brume_policy_set_domain(policy, "ward", wards, 3, &error));
    registered_enter(all.ledger, policy, &terms);
    brume_payment payment = {.epsilon = "5000"};
    json_t *answer = NULL;
    assert_ok(ask_json(all.ledger,
                       "SELECT ward, COUNT(*), SUM(age), VAR_POP(age) FROM rows GROUP BY ward",
                       &payment, NULL, all.bits, NULL, &answer, &error));
    const json_t *rows = json_object_get(answer, "rows");
    const double expected[][2] = {{50, 0}, {50, 500}, {0, 0}};
    assert_int_equal(json_array_size(rows), 3);
    for (size_t i = 0; i < 3; i++) {
        const json_t *row = json_array_get(rows, i);
        assert_string_equal(json_string_value(json_array_get(row, 0)), wards[i]);
        for (size_t j = 0; j < 2; j++)
            assert_holds(fabs(json_number_value(json_array_get(row, 1 + j)) - expected[i][j]) < 5);
    }
    json_decref(answer);
    registered_close(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_of_one_unit_stays_hidden_however_many_rows_it_has),
        cmocka_unit_test(the_mode_of_a_declared_column_is_the_value_at_its_place),
        cmocka_unit_test(sums_of_the_engine_reach_their_groups),
        cmocka_unit_test(a_unit_with_many_keys_counts_in_one_of_them),
        cmocka_unit_test(a_value_of_one_unit_is_no_mode_however_many_rows_it_has),
    };
    return cmocka_run_group_tests_name("units of keys", tests, NULL, NULL);
}
