/* What the texts of one row can cost is known, and limited, before any row is read. */
#include "parsed.h"

#include <stdlib.h>

#include "query/expression/expression.h"

/* ---- how often a text repeats itself ---- */

static void bits_text(unsigned bits, size_t length, char *text)
{
    for (size_t i = 0; i < length; i++)
        text[i] = (bits >> i) & 1 ? 'b' : 'a';
    text[length] = 0;
}

/* Bytes that agree where `sought` is tried at each place of a text. */
static size_t agreements(const char *text, const char *sought, bool backwards)
{
    size_t count = 0, length = strlen(text), m = strlen(sought);
    for (size_t from = 0; from + m <= length; from++)
        for (size_t k = 0; k < m; k++) {
            size_t at = backwards ? m - 1 - k : k;
            if (text[from + at] != sought[at])
                break;
            count++;
        }
    return count;
}

/* All texts of 12 letters of two, searched for all of up to 6. */
static void no_byte_is_looked_at_more_often_than_a_text_repeats_itself(void **state)
{
    (void)state;
    enum { LENGTH = 12, MOST = 6 };
    char text[LENGTH + 1], sought[MOST + 1], pattern[MOST + 3];
    for (size_t m = 1; m <= MOST; m++)
        for (unsigned i = 0; i < 1u << m; i++) {
            bits_text(i, m, sought);
            snprintf(pattern, sizeof pattern, "%%%s%%", sought);
            size_t repeats = brume_text_repeats(sought);
            assert_true(brume_pattern_repeats(pattern) <= repeats);
            for (unsigned j = 0; j < 1u << LENGTH; j++) {
                bits_text(j, LENGTH, text);
                if (agreements(text, sought, false) > brume_pattern_repeats(pattern) * LENGTH ||
                    agreements(text, sought, true) > repeats * LENGTH)
                    fail_msg("'%s' in '%s': %zu", sought, text, repeats);
            }
        }
}

static void words_repeat_themselves_little(void **state)
{
    (void)state;
    assert_int_equal(brume_text_repeats(""), 0);
    assert_int_equal(brume_text_repeats("aaaaaaaa"), 8);
    assert_int_equal(brume_text_repeats("abababab"), 4);
    assert_int_equal(brume_text_repeats("diabetes mellitus"), 2);
    assert_int_equal(brume_text_repeats("mississippi"), 2);
    assert_int_equal(brume_pattern_repeats("%aaa%aaaaa%\\%\\%"), 5);
    assert_int_equal(brume_pattern_repeats("%12__-____%"), 9);
    assert_int_equal(brume_pattern_repeats("%"), 0);
}

/* ---- how long a text can be ---- */

static size_t longest(const char *expression)
{
    char sql[600];
    snprintf(sql, sizeof sql, "SELECT COUNT(%s) FROM visits", expression);
    brume_query *query = parse(sql);
    size_t length = query->aggregates[0].argument->max_length;
    brume_query_free(query);
    return length;
}

static void the_length_of_a_text_is_known(void **state)
{
    (void)state;
    const size_t whole = BRUME_TEXT_BYTES_MOST;
    assert_int_equal(longest("clinic"), whole);
    assert_int_equal(longest("left(clinic, 10)"), 40);
    assert_int_equal(longest("left(clinic, -10)"), whole);
    assert_int_equal(longest("right(clinic, 10)"), 40);
    assert_int_equal(longest("substring(clinic, 5, 10)"), 40);
    assert_int_equal(longest("substring(clinic, 5)"), whole);
    assert_int_equal(longest("replace(clinic, 'ab', 'c')"), whole);
    assert_int_equal(longest("replace(clinic, 'ab', 'cde')"), whole / 2 * 3);
    assert_int_equal(longest("replace(left(clinic, 1), 'abc', '12345')"), 5 + 1);
    assert_int_equal(longest("replace(left(clinic, 2), '', '12345')"), 8 * 5);
    assert_int_equal(longest("clinic || 'abc'"), whole + 3);
}

#define BEFORE "SELECT COUNT(*) FROM visits WHERE "

static void what_could_grow_too_far_is_refused(void **state)
{
    (void)state;
    const char *message = "a text could grow beyond 1 MiB", *hint = "left(x, n)";
    refused(BEFORE "replace(clinic, 'a', 'aaaaaaaaaaaaaaaaa') = ''", BRUME_EUNSUPPORTED, message,
            hint);
    refused(BEFORE "replace(replace(clinic, 'a', 'aaaaa'), 'a', 'aaaa') = ''", BRUME_EUNSUPPORTED,
            message, hint);
    refused("SELECT COUNT(*) FROM (SELECT patient, replace(clinic, 'a', 'aaaaa') AS c FROM visits) "
            "AS v WHERE replace(c, 'a', 'aaaa') = ''",
            BRUME_EUNSUPPORTED, message, hint);
    brume_query_free(parse(BEFORE "replace(replace(left(clinic, 100), 'a', 'aaaaa'), 'a', 'aaaa') "
                                  "LIKE '%a%a%a%b'"));
}

/* ---- how much may be worked on ---- */

/* `count` operations on a whole text. */
static char *operations(const char *operand, size_t count)
{
    char *sql = malloc(200 + count * 80), *end = sql;
    assert_non_null(sql);
    end += sprintf(end, BEFORE "false");
    for (size_t i = 0; i < count; i++)
        end += sprintf(end, " OR %s LIKE '%%a%zu%%'", operand, i);
    return sql;
}

static void more_work_than_the_limit_is_refused(void **state)
{
    (void)state;
    size_t most = BRUME_LIMIT_WORK / BRUME_TEXT_BYTES_MOST;
    assert_true(most <= 500 && most >= 50);
    /* The depth of an expression is limited too: one more CASE a level would reach it sooner. */
    char *fits = operations("clinic", 50), *shortened = operations("left(clinic, 100)", 50);
    brume_query *query = parse(fits);
    assert_int_equal(query->where->work, 50 * BRUME_TEXT_BYTES_MOST);
    brume_query_free(query);
    query = parse(shortened);
    assert_int_equal(query->where->work, 50 * (400 + 400));
    brume_query_free(query);
    free(fits);
    free(shortened);
    char *sql = malloc(200 + most * 80), *end = sql;
    assert_non_null(sql);
    end += sprintf(end, "SELECT ");
    for (size_t i = 0; i <= most; i++) /* in expressions of their own */
        end += sprintf(end, "%sCOUNT(*) FILTER (WHERE clinic LIKE '%zu%%')", i ? ", " : "", i);
    sprintf(end, " FROM visits");
    brume_query *none = NULL;
    assert_fails(brume_query_parse(sql, &clinic_catalog, &none, &error), BRUME_EUNSUPPORTED);
    free(sql);
    refused(BEFORE "concat(replace(replace(clinic, 'a', 'aaaa'), 'a', 'aaaa')) LIKE '%a' OR "
                   "concat(replace(replace(clinic, 'a', 'aaaa'), 'a', 'aaaa')) LIKE '%b' OR "
                   "concat(replace(replace(clinic, 'a', 'aaaa'), 'a', 'aaaa')) LIKE '%c' OR "
                   "concat(replace(replace(clinic, 'a', 'aaaa'), 'a', 'aaaa')) LIKE '%d'",
            BRUME_EUNSUPPORTED, "work on more than 8 MiB of text in one row", "left(x, n)");
    brume_query_free(parse(BEFORE "clinic IN ('a', 'b', 'c') OR clinic = 'd' OR clinic < 'e'"));
}

static void what_repeats_itself_too_often_is_not_searched_for(void **state)
{
    (void)state;
    brume_query_free(parse(BEFORE "strpos(clinic, 'aaaaaaaaaaaaaaaa') > 1"));
    refused(BEFORE "strpos(clinic, 'aaaaaaaaaaaaaaaaa') > 1", BRUME_EUNSUPPORTED,
            "the text that strpos searches for repeats itself more than 16 times", "a part of it");
    refused(BEFORE "replace(clinic, 'aaaaaaaaaaaaaaaaa', '') = ''", BRUME_EUNSUPPORTED,
            "the text that replace searches for", NULL);
    refused(BEFORE "strpos('abc', clinic) > 1", BRUME_EUNSUPPORTED,
            "strpos may search for a constant, or for at most 16 bytes", "left(y, 4)");
    brume_query_free(parse(BEFORE "strpos('abc', left(clinic, 4)) > 1"));
    brume_query_free(parse(BEFORE "clinic LIKE '%aaaaaaaaaaaaaaaa%'"));
    refused(BEFORE "clinic LIKE 'b%aaaaaaaaaaaaaaaaa%'", BRUME_EUNSUPPORTED,
            "a part of a LIKE pattern repeats itself more than 16 times", NULL);
    refused(BEFORE "clinic ILIKE '%a________________%'", BRUME_EUNSUPPORTED,
            "a part of a LIKE pattern repeats itself more than 16 times", "a part with _");
    char sql[600], letters[300] = "";
    for (size_t i = 0; i < 256; i++)
        letters[i] = (char)('a' + i * 7 % 26);
    snprintf(sql, sizeof sql, BEFORE "clinic LIKE '%s'", letters);
    refused(sql, BRUME_EUNSUPPORTED, "a LIKE pattern is longer than 255 bytes", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_byte_is_looked_at_more_often_than_a_text_repeats_itself),
        cmocka_unit_test(words_repeat_themselves_little),
        cmocka_unit_test(the_length_of_a_text_is_known),
        cmocka_unit_test(what_could_grow_too_far_is_refused),
        cmocka_unit_test(more_work_than_the_limit_is_refused),
        cmocka_unit_test(what_repeats_itself_too_often_is_not_searched_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
