/* The status table, error records and nearest names. */
#include "check.h"

#include "base/error.h"
#include "base/sql_hint.h"
#include "base/text.h"

static void status_words_and_exit_codes_follow_the_table(void **state)
{
    (void)state;
    assert_int_equal(brume_status_exit_code(BRUME_OK), 0);
    assert_int_equal(brume_status_exit_code(BRUME_EARGUMENT), 2);
    assert_int_equal(brume_status_exit_code(BRUME_EBUDGET), 3);
    assert_int_equal(brume_status_exit_code(BRUME_EUNSUPPORTED), 4);
    assert_int_equal(brume_status_exit_code(BRUME_ERANDOM), 5);
    assert_int_equal(brume_status_exit_code(BRUME_EDAMAGED), 6);
    assert_int_equal(brume_status_exit_code(BRUME_EINTERNAL), 70);
    assert_int_equal(brume_status_exit_code((brume_status)999), 70);
    assert_string_equal(brume_status_word(BRUME_EBUDGET), "budget");
    assert_string_equal(brume_status_sqlstate(BRUME_OK), "00000");
    assert_string_equal(brume_status_text((brume_status)999), "unknown status");
}

static void a_failure_fills_the_record_and_cuts_long_texts(void **state)
{
    (void)state;
    brume_error error = {0};
    char long_text[2000];
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = 0;
    assert_fails(brume_fail(&error, BRUME_EARGUMENT, long_text, "%s", long_text), BRUME_EARGUMENT);
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
    assert_int_equal(strlen(error.hint), sizeof error.hint - 1);
    assert_fails(brume_fail(&error, BRUME_EDISK, NULL, "disk %d", 7), BRUME_EDISK);
    assert_string_equal(error.message, "disk 7");
    assert_string_equal(error.hint, "");
    assert_fails(brume_fail(NULL, BRUME_EMEMORY, NULL, "nowhere"), BRUME_EMEMORY);
}

static void the_nearest_name_is_found_and_a_far_one_is_not(void **state)
{
    (void)state;
    const char *const names[] = {"laplace", "gaussian", "discrete_laplace", "noisy_max"};
    assert_string_equal(brume_text_nearest("laplcae", names, 4), "laplace");
    assert_string_equal(brume_text_nearest("Gausian", names, 4), "gaussian");
    assert_string_equal(brume_text_nearest("noisymax", names, 4), "noisy_max");
    assert_string_equal(brume_text_nearest("disc", names, 4), "discrete_laplace");
    assert_null(brume_text_nearest("cauchy", names, 4));
    assert_null(brume_text_nearest("", names, 4));
    assert_int_equal(brume_text_distance("abcd", "abdc"), 1);
    assert_int_equal(brume_text_distance("", "abc"), 3);
}

static void a_syntax_error_gets_what_may_be_meant(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *at, *hint; /* the error is where `at` begins */
    } cases[] = {
        {"SELEC town FROM t", "SELEC", "did you mean SELECT?"},
        {"select town, count(*) form people", "people", "did you mean FROM?"},
        {"select count(*) from t grup by x", "by x", "did you mean GROUP?"},
        {"select top 5 x from t", "5", "write LIMIT and the number at the end"},
        {"select avg(`x`) from t", "`x", "a name with odd characters stands in double quotes"},
        {"select avg(Net Income) from t", "Income",
         "is a comma missing? A name of several words stands in double quotes: \"Net Income\""},
        {"select count(*) from group", "group",
         "a table whose name is a word of SQL stands in double quotes"},
        {"select '(é', sum(x from t", "from", "is a bracket not closed?"},
        {"select sum(x)) from t", ") from", ""},
        {"select '(' from t, , u", ", u", ""},
    };
    char hint[BRUME_SQL_HINT];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int position = 1;
        for (const char *c = cases[i].sql; c != strstr(cases[i].sql, cases[i].at); c++)
            position += ((unsigned char)*c & 0xc0) != 0x80; /* in characters */
        brume_sql_hint(cases[i].sql, position, hint);
        assert_string_equal(hint, cases[i].hint);
    }
    brume_sql_hint("select", 100, hint); /* beyond the end */
    brume_sql_hint("", 1, hint);
    assert_string_equal(hint, "");
    brume_sql_hint("SELEC 1", 0, hint);
    assert_string_equal(hint, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_words_and_exit_codes_follow_the_table),
        cmocka_unit_test(a_failure_fills_the_record_and_cuts_long_texts),
        cmocka_unit_test(the_nearest_name_is_found_and_a_far_one_is_not),
        cmocka_unit_test(a_syntax_error_gets_what_may_be_meant),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
