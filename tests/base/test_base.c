/* The status table, error records and nearest names. */
#include <stdlib.h>

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

static const char *const characters[] = {"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};

static void a_message_is_cut_between_characters(void **state)
{
    (void)state;
    for (size_t c = 0; c < 3; c++) {
        size_t length = strlen(characters[c]);
        char text[2000] = "";
        for (size_t i = 0; i < 400; i++)
            strcat(text, characters[c]);
        for (int before = 0; before < 5; before++) {
            brume_error error;
            assert_fails(
                brume_fail(&error, BRUME_EARGUMENT, text + length, "%.*s%s", before, "xxxxx", text),
                BRUME_EARGUMENT);
            size_t room = sizeof error.message - 1 - (size_t)before;
            assert_int_equal(strlen(error.message), (size_t)before + room / length * length);
            assert_int_equal(strlen(error.hint), (sizeof error.hint - 1) / length * length);
            assert_true(brume_utf8_is_text(error.message, strlen(error.message)));
            /* cut within the message, before it came here */
            brume_fail(&error, BRUME_EARGUMENT, NULL, "'%.*s'", 12 + before, text);
            assert_true(brume_utf8_is_text(error.message, strlen(error.message)));
            assert_memory_equal(error.message + 1, text, (size_t)(12 + before) / length * length);
        }
    }
}

/* Each row is a text and what becomes of it. */
static void a_message_is_utf8_whatever_it_quotes(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"caf\xe9.", "caf?."},       {"'\xe2\x82'", "'?'"},
        {"\xff\xfe.", "??."},        {"\x9b.", "?."},
        {"\xc0\xaf.", "??."},        {"\xed\xa0\x80.", "?."},
        {"\xf4\x90\x80\x80.", "?."}, {"\xf0\x9f\x98\x80\xe2\x82", "\xf0\x9f\x98\x80"},
        {"\xe2\x28\xa1.", "?(?."},   {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_error error;
        brume_fail(&error, BRUME_EARGUMENT, cases[i][0], "%s", cases[i][0]);
        assert_string_equal(error.message, cases[i][1]);
        assert_string_equal(error.hint, cases[i][1]);
    }
    for (unsigned first = 1; first < 256; first++)
        for (unsigned second = 1; second < 256; second++) {
            char text[] = {(char)first, (char)second, (char)0x80, '.', 0};
            brume_utf8_mend(text);
            assert_true(brume_utf8_is_text(text, strlen(text)));
            assert_int_equal(text[strlen(text) - 1], '.');
        }
}

static void a_text_is_cut_at_most_where_it_is_asked_to(void **state)
{
    (void)state;
    for (size_t c = 0; c < 3; c++) {
        size_t length = strlen(characters[c]);
        char text[40] = "";
        for (size_t i = 0; i < 5; i++)
            strcat(text, characters[c]);
        for (size_t most = 0; most < 6 * length; most++)
            assert_int_equal(brume_utf8_cut(text, most),
                             (most < 5 * length ? most : 5 * length) / length * length);
    }
}

/* Each row is a text and how a terminal shows it. */
static void what_a_terminal_obeys_is_shown(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"\033[2Jx", "\\u001b[2Jx"},
        {"\xc2\x9b", "\\u009b"}, /* CSI of C1 */
        {"\x9b", "\\x9b"},       /* the same in one byte, which is no UTF-8 */
        {"\xe2\x80\xae\xe2\x80\xaa", "\\u202e\\u202a"},
        {"\xe2\x81\xa6\xe2\x81\xa9", "\\u2066\\u2069"},
        {"\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c", "\\u200e\\u200f\\u061c"},
        {"\x7f\b\r\n\t", "\\u007f\\u0008\\r\\n\\t"},
        {"caf\xc3\xa9 \xe2\x80\x8c \xf0\x9f\x98\x80 \\",
         "caf\xc3\xa9 \xe2\x80\x8c \xf0\x9f\x98\x80 \\"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *shown = brume_visible_text(cases[i][0], "");
        assert_string_equal(shown, cases[i][1]);
        free(shown);
    }
    char *kept = brume_visible_text("a\nb\tc", "\n"), nul[BRUME_VISIBLE_MOST];
    assert_string_equal(kept, "a\nb\\tc");
    free(kept);
    size_t length = 0;
    assert_int_equal(brume_visible_character("\0x", 2, nul, &length), 1);
    assert_memory_equal(nul, "\\u0000", length);
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
        cmocka_unit_test(a_message_is_cut_between_characters),
        cmocka_unit_test(a_message_is_utf8_whatever_it_quotes),
        cmocka_unit_test(a_text_is_cut_at_most_where_it_is_asked_to),
        cmocka_unit_test(what_a_terminal_obeys_is_shown),
        cmocka_unit_test(the_nearest_name_is_found_and_a_far_one_is_not),
        cmocka_unit_test(a_syntax_error_gets_what_may_be_meant),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
