/* The release path from a CSV to an answer: right on average, covered by its error bars, charged,
 * read again for free, and refused in the same words on neighbouring tables. */
#include "check.h"

#include <stdlib.h>
#include <unistd.h>

#include "ask_json.h"
#include "query/release/explain.h"
#include "registered.h"

/* 300 people with two visits each; ages 0..99 twice three times over, wards a, b, c in turn. The
 * person `without` is left out. */
static void write_visits(FILE *file, int without)
{
    fputs("person,ward,age\n", file);
    for (int person = 0; person < 300; person++)
        for (int visit = 0; visit < 2; visit++)
            if (person != without)
                fprintf(file, "p%03d,%c,%d\n", person, "abc"[person % 3], person % 100);
}

static void open_clinic(registered *all, int without, uint64_t seed)
{
    static const registered_terms terms = {"visits", BRUME_RULE_APPROXIMATE, "100000", "0.1",
                                           BRUME_ADD_REMOVE};
    static const char *const wards[] = {"a", "b", "c", "d"};
    brume_error error = {0};
    FILE *file = registered_begin(all);
    write_visits(file, without);
    registered_open(all, file, seed);
    brume_policy *policy = registered_file(all->csv, "age bigint");
    assert_ok(brume_policy_set_unit(policy, "person", &error));
    assert_ok(brume_policy_set_bounds(policy, "age", "0", "100", &error));
    assert_ok(brume_policy_set_domain(policy, "ward", wards, 4, &error));
    policy->max_rows = 2;
    registered_enter(all->ledger, policy, &terms);
}

static json_t *ask(registered *all, const char *sql, const char *epsilon, const char *delta)
{
    brume_error error = {0};
    brume_payment payment = {.epsilon = epsilon, .delta = delta};
    json_t *answer = NULL;
    assert_ok(ask_json(all->ledger, sql, &payment, NULL, all->bits, NULL, &answer, &error));
    return answer;
}

static double cell(const json_t *answer, const char *field, size_t row, size_t column)
{
    return json_number_value(
        json_array_get(json_array_get(json_object_get(answer, field), row), column));
}

static void answers_are_right_on_average_and_covered_by_their_bars(void **state)
{
    (void)state;
    enum { RUNS = 120 };
    registered all;
    open_clinic(&all, -1, 11);
    double count = 0, mean = 0, sum = 0;
    int missed = 0, means = 0; /* a mean of too few is NULL */
    for (int i = 0; i < RUNS; i++) {
        char sql[160]; /* a different text each time: the same one would be free */
        snprintf(sql, sizeof sql,
                 "SELECT ward, COUNT(*) AS n, AVG(age), SUM(age) FROM visits WHERE age < %d "
                 "GROUP BY ward",
                 200 + i);
        json_t *answer = ask(&all, sql, "1", "1e-6");
        assert_int_equal(json_array_size(json_object_get(answer, "rows")), 4);
        count += cell(answer, "rows", 0, 1);
        mean += cell(answer, "rows", 0, 2);
        means +=
            json_is_number(json_array_get(json_array_get(json_object_get(answer, "rows"), 0), 2));
        sum += cell(answer, "rows", 0, 3);
        missed += fabs(cell(answer, "rows", 0, 1) - 200) > cell(answer, "row_error_95", 0, 1);
        missed += cell(answer, "rows", 0, 2) > 0 &&
                  fabs(cell(answer, "rows", 0, 2) - 49.5) > cell(answer, "row_error_95", 0, 2);
        missed += fabs(cell(answer, "rows", 0, 3) - 9900) > cell(answer, "row_error_95", 0, 3);
        json_decref(answer);
    }
    /* Noise per answer: count sd < 9 steps, sum sd < 900; means of 120 are within 7 sd / sqrt(120),
     * which fails with probability below 1e-11 each. */
    assert_holds(fabs(count / RUNS - 200) < 7 * 9 / sqrt(RUNS));
    assert_holds(fabs(sum / RUNS - 9900) < 7 * 900 / sqrt(RUNS));
    assert_true(means >= RUNS / 2);
    assert_holds(fabs(mean / means - 49.5) < 7 * 15 / sqrt(RUNS / 2)); /* sd < 15 */
    /* 360 bars at 5 %: more than 60 misses have probability below exp(-360 KL(1/6 || 1/20)) =
     * 4e-15; bars a third too short would miss some 100. */
    assert_holds(missed <= 60);
    registered_close(&all);
}

enum { WINDOWS = 7 };

/* Misses of the bars of window functions, each bar `shrink` times as long. */
static void count_window_misses(double shrink, int runs, int missed[WINDOWS])
{
    static const struct {
        size_t row, column;
        double truth;
    } cells[WINDOWS] = {{0, 2, 600}, {0, 3, 1. / 3}, {1, 4, 400}, {3, 5, 150},
                        {2, 6, 200}, {3, 7, 4},      {0, 8, 600}};
    registered all;
    open_clinic(&all, -1, 12);
    for (int i = 0; i < runs; i++) {
        char sql[600]; /* SUM(1 * COUNT(*)) is a sum of expressions: each cell has its own interval
                        */
        snprintf(sql, sizeof sql,
                 "SELECT ward, COUNT(*) AS n, SUM(COUNT(*)) OVER () AS whole, "
                 "1.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS share, "
                 "SUM(COUNT(*)) OVER (ORDER BY ward) AS running, AVG(COUNT(*)) OVER () AS mean, "
                 "MAX(COUNT(*)) OVER (ORDER BY ward) AS top, RANK() OVER (ORDER BY COUNT(*) DESC), "
                 "SUM(1 * COUNT(*)) OVER () AS cells FROM visits WHERE age < %d GROUP BY ward",
                 200 + i);
        json_t *answer = ask(&all, sql, "1", "1e-6");
        for (size_t j = 0; j < WINDOWS; j++) {
            double bar = cell(answer, "row_error_95", cells[j].row, cells[j].column);
            double off = cell(answer, "rows", cells[j].row, cells[j].column) - cells[j].truth;
            missed[j] += fabs(off) > shrink * bar + 1e-9;
        }
        json_decref(answer);
    }
    registered_close(&all);
}

/* Rejects bars of half the length, where a bar is that of a sum of noises. A bar of 95 % is missed
 * more often than 40 times of 200 with probability below 1e-12 (200 * KL(0.2 || 0.05) = 28). */
static void windows_are_covered_by_their_bars(void **state)
{
    (void)state;
    enum { RUNS = 200, MOST = 40 };
    int missed[WINDOWS] = {0}, halved[WINDOWS] = {0};
    count_window_misses(1, RUNS, missed);
    for (size_t j = 0; j < WINDOWS; j++)
        assert_true(missed[j] <= MOST);
    count_window_misses(0.5, RUNS, halved);
    assert_true(halved[0] > MOST && halved[2] > MOST && halved[3] > MOST);
}

static void an_empty_declared_group_is_answered_too(void **state)
{
    (void)state;
    registered all;
    open_clinic(&all, -1, 12);
    json_t *answer = ask(&all, "SELECT ward, COUNT(*) FROM visits GROUP BY ward", "50", NULL);
    json_t *row = json_array_get(json_object_get(answer, "rows"), 3);
    assert_string_equal(json_string_value(json_array_get(row, 0)), "d");
    assert_holds(json_integer_value(json_array_get(row, 1)) <= 3);
    json_decref(answer);
    registered_close(&all);
}

static void the_same_question_is_free_and_any_change_of_it_is_not(void **state)
{
    (void)state;
    registered all;
    brume_error error = {0};
    open_clinic(&all, -1, 13);
    const char *sql = "SELECT COUNT(*) FROM visits";
    json_t *first = ask(&all, sql, "1", NULL),
           *again = ask(&all, "select count( * ) from visits", "1", NULL);
    assert_true(json_is_false(json_object_get(first, "cached")));
    assert_true(json_is_true(json_object_get(again, "cached")));
    assert_true(json_equal(json_object_get(first, "rows"), json_object_get(again, "rows")));
    assert_true(
        json_equal(json_object_get(first, "remaining"), json_object_get(again, "remaining")));
    json_t *dearer = ask(&all, sql, "2", NULL);
    assert_true(json_is_false(json_object_get(dearer, "cached")));
    brume_dataset *before = NULL;
    assert_ok(brume_ledger_dataset(all.ledger, "visits", &before, &error));
    brume_amendment version = {.name = "visits", .stated = before->stated, .data_version = "2"};
    assert_ok(brume_ledger_amend(all.ledger, &version, &error));
    brume_dataset_close(before);
    json_t *newer = ask(&all, sql, "1", NULL);
    assert_true(json_is_false(json_object_get(newer, "cached")));
    brume_dataset *dataset = NULL;
    assert_ok(brume_ledger_dataset(all.ledger, "visits", &dataset, &error));
    assert_int_equal(dataset->queries, 3);
    brume_dataset_close(dataset);
    json_decref(first);
    json_decref(again);
    json_decref(dearer);
    json_decref(newer);
    registered_close(&all);
}

static void explaining_spends_nothing_and_says_what_asking_charges(void **state)
{
    (void)state;
    registered all;
    brume_error error = {0};
    open_clinic(&all, -1, 14);
    const char *sql = "SELECT age, COUNT(*) FROM visits GROUP BY age";
    /* with a typed limit nothing is left to be chosen between explaining and asking */
    brume_payment payment = {.epsilon = "0.5", .delta = "1e-5", .limits = {"2"}, .limit_count = 1};
    json_t *plan = NULL, *answer = NULL;
    assert_ok(brume_explain(all.ledger, sql, &payment, NULL, &plan, &error));
    assert_ok(ask_json(all.ledger, sql, &payment, NULL, all.bits, NULL, &answer, &error));
    assert_true(json_equal(json_object_get(plan, "cost"), json_object_get(answer, "cost")));
    json_t *measures = json_object_get(plan, "plan");
    size_t index;
    json_t *measure;
    json_array_foreach (measures, index, measure) { /* what is shown in which columns is no cost */
        assert_true(json_is_array(json_object_get(measure, "columns")));
        json_object_del(measure, "columns");
    }
    assert_true(json_equal(measures, json_object_get(answer, "events")));
    brume_dataset *dataset = NULL;
    assert_ok(brume_ledger_dataset(all.ledger, "visits", &dataset, &error));
    assert_int_equal(dataset->queries, 1);
    brume_dataset_close(dataset);
    json_decref(plan);
    json_decref(answer);
    registered_close(&all);
}

static void refusals_are_the_same_on_neighbouring_tables(void **state)
{
    (void)state;
    static const char *const refused[] = {
        "SELECT MAX(age) FROM visits",
        "SELECT * FROM visits",
        "SELECT AVG(person) FROM visits",
        "SELECT COUNT(*) FROM visitz",
        "SELECT agee, COUNT(*) FROM visits GROUP BY agee",
        "SELECT COUNT(*) FROM visits WHERE",
        "SELECT COUNT(*) FROM visits; DROP TABLE visits",
        "SELECT SUM(age / 0) FROM visits",
        "SELECT COUNT(*) FROM visits WHERE EXISTS (SELECT 1 FROM visits)",
        "SELECT COUNT(*) FROM visits WHERE ward IN (SELECT ward FROM visits)",
        "SELECT PERCENTILE_CONT(ARRAY[0.5, 1.5]) WITHIN GROUP (ORDER BY age) FROM visits",
        "SELECT MODE() WITHIN GROUP (ORDER BY exp(age)) FROM visits",
        "SELECT DISTINCT ward FROM visits LIMIT -1",
        "SELECT string_agg(ward, ',') FROM visits",
        "SELECT ward FROM visits",
    };
    static const char *const payments[] = {"1", "0", "-1", "nan", "1e308", "1e999", "", "1 "};
    registered one, other;
    open_clinic(&one, -1, 15);
    open_clinic(&other, 7, 15);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        for (size_t p = 0; p < sizeof payments / sizeof *payments; p++) {
            brume_error a = {0}, b = {0};
            brume_payment payment = {.epsilon = payments[p]};
            json_t *answer = NULL;
            brume_status first =
                ask_json(one.ledger, refused[i], &payment, NULL, one.bits, NULL, &answer, &a);
            json_decref(answer);
            answer = NULL;
            brume_status second =
                ask_json(other.ledger, refused[i], &payment, NULL, other.bits, NULL, &answer, &b);
            json_decref(answer);
            assert_int_equal(first, second);
            assert_string_equal(a.message, b.message);
            assert_string_equal(a.hint, b.hint);
        }
    registered_close(&one);
    registered_close(&other);
}

static void no_price_trick_gets_an_answer(void **state)
{
    (void)state;
    static const char *const prices[] = {"0",   "-1",    "nan", "inf",     "1e308",
                                         "1e9", "0.0.1", "",    "1e-4000", "0x1"};
    registered all;
    brume_error error = {0};
    open_clinic(&all, -1, 16);
    for (size_t i = 0; i < sizeof prices / sizeof *prices; i++) {
        brume_payment payment = {.epsilon = prices[i]};
        json_t *answer = NULL;
        brume_status status = ask_json(all.ledger, "SELECT COUNT(*) FROM visits", &payment, NULL,
                                       all.bits, NULL, &answer, &error);
        if (status == BRUME_OK)
            fail_msg("an answer at a price of '%s'", prices[i]);
        assert_null(answer);
    }
    brume_dataset *dataset = NULL;
    assert_ok(brume_ledger_dataset(all.ledger, "visits", &dataset, &error));
    assert_int_equal(dataset->queries, 0);
    brume_dataset_close(dataset);
    registered_close(&all);
}

static const char *text(const json_t *answer, size_t row, size_t column)
{
    return json_string_value(
        json_array_get(json_array_get(json_object_get(answer, "rows"), row), column));
}

static void a_mode_of_undeclared_values_is_found_or_is_null(void **state)
{
    (void)state;
    registered all;
    open_clinic(&all, -1, 18);
    /* two of three people answer 7 */
    json_t *answer = ask(&all,
                         "SELECT ward, MODE() WITHIN GROUP (ORDER BY CASE WHEN age % 3 < 2 THEN 7 "
                         "ELSE age END) AS m, COUNT(*) FROM visits GROUP BY ward",
                         "20", NULL);
    for (size_t ward = 0; ward < 3; ward++)
        assert_holds(cell(answer, "rows", ward, 1) == 7);
    assert_true(json_is_null(
        json_array_get(json_array_get(json_object_get(answer, "rows"), 3), 1))); /* empty */
    json_t *event = json_array_get(json_object_get(answer, "events"), 1);
    assert_string_equal(json_string_value(json_object_get(event, "measure")),
                        "units of each value");
    assert_holds(json_integer_value(json_object_get(event, "threshold")) > 1);
    assert_holds(json_number_value(json_object_get(event, "gap_95")) > 0);
    assert_holds(json_number_value(json_object_get(json_object_get(answer, "cost"), "delta")) > 0);
    json_decref(answer);
    /* everybody's own name: no value has two units, and none would be shown */
    brume_payment payment = {.epsilon = "1", .delta = "1e-6"};
    brume_error error = {0};
    assert_int_equal(ask_json(all.ledger,
                              "SELECT MODE() WITHIN GROUP (ORDER BY person) FROM visits", &payment,
                              NULL, all.bits, NULL, &answer, &error),
                     BRUME_EUNSUPPORTED);
    /* text, with a FILTER; the keys are public: true, false and NULL */
    answer = ask(&all,
                 "SELECT age < 50, MODE() WITHIN GROUP (ORDER BY 'w' || ward) FILTER (WHERE ward "
                 "<> 'a') FROM visits WHERE ward <> 'c' GROUP BY 1",
                 "20", "1e-6");
    assert_int_equal(json_array_size(json_object_get(answer, "rows")), 3);
    assert_string_equal(text(answer, 0, 1), "wb");
    assert_string_equal(text(answer, 1, 1), "wb");
    json_decref(answer);
    registered_close(&all);
}

static void groups_hardly_large_enough_are_flagged(void **state)
{
    (void)state;
    registered all;
    open_clinic(&all, -1, 20);
    /* 6 people of each age, and 75 of each ward: at this price 6 are hardly shown, 75 surely */
    json_t *small = ask(&all, "SELECT age, COUNT(*) FROM visits GROUP BY age", "4", "1e-2");
    json_t *large = ask(&all, "SELECT 'w' || ward, COUNT(*) FROM visits GROUP BY 1", "4", "1e-2");
    json_t *flags = json_object_get(small, "near_threshold");
    assert_int_equal(json_array_size(flags), json_array_size(json_object_get(small, "rows")));
    size_t near = 0;
    for (size_t i = 0; i < json_array_size(flags); i++)
        near += json_is_true(json_array_get(flags, i));
    assert_holds(near > 0);
    flags = json_object_get(large, "near_threshold");
    assert_holds(json_array_size(flags) >= 2);
    for (size_t i = 0; i < json_array_size(flags); i++)
        assert_true(json_is_false(json_array_get(flags, i)));
    json_t *public_keys = ask(&all, "SELECT ward, COUNT(*) FROM visits GROUP BY ward", "4", NULL);
    assert_null(json_object_get(public_keys, "near_threshold"));
    json_decref(small);
    json_decref(large);
    json_decref(public_keys);
    registered_close(&all);
}

static void keys_alone_are_selected_at_a_lower_price_than_counts(void **state)
{
    (void)state;
    registered all;
    brume_error error = {0};
    open_clinic(&all, -1, 19);
    brume_payment payment = {.epsilon = "1", .delta = "1e-6"};
    json_t *alone = NULL, *counted = NULL;
    assert_ok(brume_explain(all.ledger, "SELECT DISTINCT age % 3 FROM visits", &payment, NULL,
                            &alone, &error));
    assert_ok(brume_explain(all.ledger, "SELECT age % 3, COUNT(*) FROM visits GROUP BY 1", &payment,
                            NULL, &counted, &error));
    json_int_t half = json_integer_value(
        json_object_get(json_array_get(json_object_get(alone, "plan"), 0), "half_shown_at"));
    assert_holds(half > 0 && half < json_integer_value(json_object_get(
                                        json_object_get(counted, "shape"), "threshold")));
    json_t *answer = ask(&all, "SELECT DISTINCT age % 3 FROM visits", "1", "1e-6");
    assert_int_equal(json_array_size(json_object_get(answer, "rows")), 3);
    json_t *none = ask(&all, "SELECT 'x' || person FROM visits GROUP BY 1", "1", "1e-6");
    assert_int_equal(json_array_size(json_object_get(none, "rows")), 0);
    brume_target target = {.within = 10, .confidence = 0.95};
    json_t *chosen = NULL;
    assert_fails(brume_explain(all.ledger, "SELECT DISTINCT age % 3 FROM visits", &payment, &target,
                               &chosen, &error),
                 BRUME_EUNSUPPORTED);
    json_decref(alone);
    json_decref(counted);
    json_decref(answer);
    json_decref(none);
    registered_close(&all);
}

static void a_vanished_source_gives_an_error_and_no_answer(void **state)
{
    (void)state;
    registered all;
    brume_error error = {0};
    open_clinic(&all, -1, 17);
    brume_payment payment = {.epsilon = "1"};
    json_t *answer = NULL;
    unlink(all.csv);
    assert_fails(ask_json(all.ledger, "SELECT COUNT(*) FROM visits", &payment, NULL, all.bits, NULL,
                          &answer, &error),
                 BRUME_ESOURCE);
    assert_null(answer);
    brume_ledger_report report;
    assert_ok(brume_ledger_verify(all.ledger, &report, &error));
    registered_close(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_right_on_average_and_covered_by_their_bars),
        cmocka_unit_test(windows_are_covered_by_their_bars),
        cmocka_unit_test(an_empty_declared_group_is_answered_too),
        cmocka_unit_test(the_same_question_is_free_and_any_change_of_it_is_not),
        cmocka_unit_test(explaining_spends_nothing_and_says_what_asking_charges),
        cmocka_unit_test(refusals_are_the_same_on_neighbouring_tables),
        cmocka_unit_test(no_price_trick_gets_an_answer),
        cmocka_unit_test(a_mode_of_undeclared_values_is_found_or_is_null),
        cmocka_unit_test(groups_hardly_large_enough_are_flagged),
        cmocka_unit_test(keys_alone_are_selected_at_a_lower_price_than_counts),
        cmocka_unit_test(a_vanished_source_gives_an_error_and_no_answer),
    };
    return cmocka_run_group_tests_name("answers", tests, NULL, NULL);
}
