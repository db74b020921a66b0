/* The notes of an answer: what is said, in which words, and that nothing is said twice. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "query/release/answer.h"

static brume_error error;

/* An answer with a key and `count` columns of values, over patients and their visits. */
static brume_query_answer *answer_of(size_t count)
{
    brume_query_answer *answer = NULL;
    assert_ok(brume_query_answer_open(count + 1, 1, &answer, &error));
    answer->columns[0].is_key = true;
    answer->words = (brume_words){"patient", "patients", "visits"};
    for (size_t i = 0; i <= count; i++) {
        char name[] = {(char)(i ? 'a' + (int)i - 1 : 'k'), 0};
        answer->columns[i].name = strdup(name);
        assert_non_null(answer->columns[i].name);
    }
    return answer;
}

/* Its notes, a line each. Closes the answer. */
static char *notes_of(brume_query_answer *answer)
{
    json_t *list = brume_query_answer_notes(answer);
    static char text[4000];
    size_t used = 0;
    assert_non_null(list);
    for (size_t i = 0; i < json_array_size(list); i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? "\n" : "",
                                 json_string_value(json_array_get(list, i)));
    text[used] = '\0';
    json_decref(list);
    brume_query_answer_close(answer);
    return text;
}

static brume_answer_column count_of_visits(double limit, double allowance, double hidden)
{
    brume_answer_column column = brume_answer_column_empty();
    column.is_limited = column.biased = true;
    column.limit = limit;
    column.counts = BRUME_COUNTS_ROWS;
    column.side = BRUME_SIDE_HIGHER;
    column.cut_units = allowance > 0 || hidden > 0 ? 4 : 0;
    column.cut_allowance = allowance;
    column.cut_hidden = hidden;
    return column;
}

static void put(brume_query_answer *answer, size_t index, brume_answer_column column)
{
    column.name = answer->columns[index].name;
    answer->columns[index] = column;
}

static const char *note(brume_answer_column column)
{
    brume_query_answer *answer = answer_of(1);
    put(answer, 1, column);
    return notes_of(answer);
}

static void what_a_limit_cuts_is_said_with_direction_and_size(void **state)
{
    (void)state;
    assert_string_equal(
        note(count_of_visits(96, 2347, NAN)),
        "Each patient counts with at most 96 visits. About 2,400 visits beyond that "
        "are left out; ± includes them.");
    assert_string_equal(
        note(count_of_visits(96, 2347, 284)),
        "Each patient counts with at most 96 visits. About 2,400 visits beyond that "
        "are left out; ± includes them. If fewer than 285 patients have far more "
        "visits than 96, nobody can see it; the true number would then be higher.");
    assert_string_equal(note(count_of_visits(2, 0, 1)),
                        "Each patient counts with at most 2 visits. If one patient has more visits "
                        "than 2, nobody can see it; the true number would then be higher.");
    brume_answer_column column = count_of_visits(96, 2347, NAN);
    column.reach = 3072;
    assert_string_equal(
        note(column), "Each patient counts with at most 96 visits. Up to 2,400 visits beyond that "
                      "are left out; ± includes them, if nobody has more than 3,072.");
    column = count_of_visits(12000, 1, 3);
    column.counts = BRUME_COUNTS_SUM;
    column.side = BRUME_SIDE_LOWER;
    assert_string_equal(note(column),
                        "Each patient adds at most 12,000. About 1 beyond that is left out; ± "
                        "includes it. If fewer than 4 patients have far more than 12,000, nobody "
                        "can see it; the true number would then be lower.");
}

static void where_nobody_is_cut_nothing_is_said(void **state)
{
    (void)state;
    assert_string_equal(note(count_of_visits(96, 0, NAN)), "");
    brume_answer_column mean = count_of_visits(96, NAN, NAN);
    mean.side = BRUME_SIDE_EITHER;
    mean.cut_units = 0;
    assert_string_equal(note(mean), "");
    mean.cut_units = 3;
    assert_string_equal(note(mean), "Each patient counts with at most 96 visits; up to 3 patients "
                                    "have more. ± does not include what that changes.");
}

static void what_a_bar_allows_for_is_not_said_to_be_missing(void **state)
{
    (void)state;
    brume_answer_column mean = count_of_visits(96, NAN, NAN);
    mean.side = BRUME_SIDE_EITHER;
    mean.cut_units = 40;
    mean.cut_in_bar = true;
    assert_string_equal(note(mean), "");
    mean.reach = 3072;
    assert_string_equal(note(mean), "Each patient counts with at most 96 visits; ± allows for what "
                                    "is beyond, if nobody has more than 3,072.");
    mean.cut_hidden = 284;
    assert_string_equal(note(mean),
                        "Each patient counts with at most 96 visits; ± allows for what is beyond, "
                        "if nobody has more than 3,072. If fewer than 285 patients have far more "
                        "visits than 96, or many with a mean far from that of others, nobody can "
                        "see it; the true value may then lie outside.");
    brume_answer_column median = mean;
    median.cut_hidden = NAN;
    median.rank_error_95 = 40;
    brume_query_answer *answer = answer_of(1);
    put(answer, 1, median);
    const char *said = notes_of(answer);
    assert_non_null(strstr(said, "The visits of one patient weigh no more than 96; the interval "
                                 "allows for what is beyond, if nobody has more than 3,072."));
    brume_answer_column count = count_of_visits(3, 0.27, NAN);
    assert_string_equal(note(count), "Each patient counts with at most 3 visits. Hardly any visits "
                                     "beyond that are left out; ± includes them.");
}

static void what_nobody_counted_is_not_in_the_bar(void **state)
{
    (void)state;
    brume_answer_column column = count_of_visits(64, NAN, NAN);
    column.origin = BRUME_ORIGIN_TYPED;
    column.cut_units = NAN;
    assert_string_equal(note(column),
                        "Visits beyond 64 per patient are left out; ± does not include them.");
    column.origin = BRUME_ORIGIN_OWNER;
    assert_string_equal(note(column),
                        "If one patient has more visits than 64, the owner's ceiling, "
                        "the rest is left out; ± does not include it.");
    column = count_of_visits(1, NAN, NAN);
    column.limit_not_found = true;
    assert_string_equal(note(column),
                        "There are too few patients for this price to choose a limit "
                        "on what one may add. Each patient counts at most once, and "
                        "what that leaves out is not known: pay more, or type a limit.");
    column = count_of_visits(96, NAN, NAN);
    column.cut_not_known = true;
    assert_string_equal(note(column),
                        "Each patient counts with at most 96 visits. How much some have "
                        "beyond that cannot be told at this price, so there is no ±: "
                        "pay more, or type a limit.");
}

static void columns_of_which_the_same_is_said_share_a_note(void **state)
{
    (void)state;
    brume_query_answer *answer = answer_of(5);
    for (size_t i = 1; i <= 5; i++)
        put(answer, i, count_of_visits(96, 2300, NAN));
    assert_string_equal(notes_of(answer), "Each patient counts with at most 96 visits. About 2,300 "
                                          "visits beyond that are left out; ± includes them.");
    answer = answer_of(3);
    brume_answer_column clamped = brume_answer_column_empty();
    clamped.clamps = clamped.biased = true;
    clamped.clamp_low = 1900;
    clamped.clamp_high = 20000;
    put(answer, 1, clamped);
    put(answer, 3, clamped);
    assert_string_equal(notes_of(answer), "a, c: Values outside 1900..20,000 count as 1900 or "
                                          "20,000; ± does not include that.");
}

/* A column that is marked as biased always has a note. */
static void no_bias_is_without_a_reason(void **state)
{
    (void)state;
    brume_answer_column column = brume_answer_column_empty();
    column.biased = true;
    assert_string_equal(note(column), "± does not include what limits and bounds did to it.");
    column.biased = false;
    assert_string_equal(note(column), "");
}

static void groups_that_are_not_shown_are_said(void **state)
{
    (void)state;
    brume_query_answer *answer = answer_of(1);
    answer->threshold = 38;
    answer->columns[0].limit = 3;
    answer->near = calloc(1, sizeof *answer->near);
    assert_non_null(answer->near);
    answer->near[0] = true;
    assert_string_equal(notes_of(answer),
                        "Groups with fewer than about 38 patients are not shown. To tell, each "
                        "patient counts in at most 3 of its groups.\n1 of the groups is hardly "
                        "larger: counts there are more often too large than too small.");
}

static void a_unit_is_called_as_the_owner_or_its_column_says(void **state)
{
    (void)state;
    static const struct {
        const char *name, *column, *unit, *units;
    } cases[] = {
        {NULL, "patient_id", "patient", "patients"},
        {NULL, "patientId", "patient", "patients"},
        {NULL, "id", "unit", "units"},
        {NULL, "x9", "unit", "units"},
        {NULL, "household_no", "household", "households"},
        {NULL, "city_code", "city", "cities"},
        {NULL, "person", "person", "people"},
        {NULL, "who", "person", "people"},
        {NULL, NULL, "row", "rows"},
        {"child", "patient_id", "child", "children"},
        {"Versicherte/Versicherten", "id", "Versicherte", "Versicherten"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_policy of = {.unit = (char *)cases[i].column, .unit_name = (char *)cases[i].name};
        brume_policy *policies[] = {&of};
        brume_words words = brume_words_plain();
        brume_words_set_units(&words, policies, 1);
        assert_string_equal(words.unit, cases[i].unit);
        assert_string_equal(words.units, cases[i].units);
    }
    brume_policy policy = {0};
    static const char *const bad[] = {"", "/", "a/b/c", "a\nb", "<b>", " a", "1", "'';"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_fails(brume_policy_set_unit_name(&policy, bad[i], &error), BRUME_EARGUMENT);
    assert_null(policy.unit_name);
    assert_ok(brume_policy_set_unit_name(&policy, "patient", &error));
    assert_ok(brume_policy_set_unit_name(&policy, "patient/patients", &error));
    assert_string_equal(policy.unit_name, "patient/patients");
    free(policy.unit_name);
}

static void rows_are_called_as_their_table_where_it_is_a_plural(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"visits", "visits"},  {"line_items", "line items"},
                                           {"census", "rows"},    {"address", "rows"},
                                           {"visit", "rows"},     {"patients", "rows"},
                                           {"data2024s", "rows"}, {NULL, "rows"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_words words = {"patient", "patients", "rows"};
        brume_words_set_rows(&words, cases[i][0]);
        assert_string_equal(words.rows, cases[i][1]);
    }
}

static void numbers_have_a_comma_before_each_three_digits(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"1", "1"},
                                           {"999", "999"},
                                           {"1000", "1,000"},
                                           {"-1234567", "-1,234,567"},
                                           {"1234.5678", "1,234.5678"},
                                           {"0.1234", "0.1234"},
                                           {"1e+20", "1e+20"},
                                           {"-12", "-12"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[40];
        brume_text_group(cases[i][0], text, sizeof text);
        assert_string_equal(text, cases[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_limit_cuts_is_said_with_direction_and_size),
        cmocka_unit_test(where_nobody_is_cut_nothing_is_said),
        cmocka_unit_test(what_a_bar_allows_for_is_not_said_to_be_missing),
        cmocka_unit_test(what_nobody_counted_is_not_in_the_bar),
        cmocka_unit_test(columns_of_which_the_same_is_said_share_a_note),
        cmocka_unit_test(no_bias_is_without_a_reason),
        cmocka_unit_test(groups_that_are_not_shown_are_said),
        cmocka_unit_test(a_unit_is_called_as_the_owner_or_its_column_says),
        cmocka_unit_test(rows_are_called_as_their_table_where_it_is_a_plural),
        cmocka_unit_test(numbers_have_a_comma_before_each_three_digits),
    };
    return cmocka_run_group_tests_name("notes", tests, NULL, NULL);
}
