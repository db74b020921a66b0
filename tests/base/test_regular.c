/* Regular expressions: by a table, and against the C library's own for random patterns and texts;
 * and that the printed form means the same. */
#include "check.h"

#include <regex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/regular.h"
#include "sequence.h"

static bool matches(const char *pattern, bool folds, bool whole, const char *text)
{
    const char *why = NULL;
    brume_regular *one = brume_regular_open(pattern, folds, whole, &why);
    if (!one)
        fail_msg("%s: %s", pattern, why ? why : "no memory");
    bool found = brume_regular_match(one, text, strlen(text));
    char *printed = brume_regular_print(one);
    assert_non_null(printed);
    for (const char *c = printed; *c; c++)
        assert_true(*c > 0); /* ASCII alone */
    brume_regular *again = brume_regular_open(printed, false, false, &why);
    if (!again)
        fail_msg("%s, printed as %s: %s", pattern, printed, why ? why : "no memory");
    if (brume_regular_match(again, text, strlen(text)) != found)
        fail_msg("%s, printed as %s: another answer for '%s'", pattern, printed, text);
    free(printed);
    brume_regular_close(one);
    brume_regular_close(again);
    return found;
}

static void patterns_match_what_they_say(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *text;
        bool found, folded, whole; /* a part of it; in either case; all of it */
    } cases[] = {
        {"", "", true, true, true},
        {"", "a", true, true, false},
        {"b", "abc", true, true, false},
        {"^b", "abc", false, false, false},
        {"c$", "abc", true, true, false},
        {"^abc$", "abc", true, true, true},
        {"^a|c$", "xxc", true, true, false},
        {"^$", "", true, true, true},
        {"^$", "a", false, false, false},
        {"A", "a", false, true, false},
        {"[A-C]+", "abc", false, true, false},
        {"[^a]", "a", false, false, false},
        {"[^A]", "a", true, false, true},
        {".", "\n", true, true, true},
        {"^.$", "\xc3\xa9", true, true, true},           /* one character of two bytes */
        {"^..$", "\xf0\x9f\x98\x80x", true, true, true}, /* of four */
        {"[\xc3\xa0-\xc3\xb6]", "\xc3\xa9", true, true, true},
        {"\\u00e9", "\xc3\xa9", true, true, true},
        {"\\d{2,3}", "a12", true, true, false},
        {"^\\d{2,3}$", "1234", false, false, false},
        {"^\\w+\\s\\S+$", "ab cd", true, true, true},
        {"\\s", "\v", true, true, true},
        {"[[:alpha:][:digit:]_]+", "a1_", true, true, true},
        {"[]a]", "]", true, true, true},
        {"[a-]", "-", true, true, true},
        {"a\\.b", "a.b", true, true, true},
        {"a\\.b", "axb", false, false, false},
        {"(?:ab)+?c", "ababc", true, true, true},
        {"(a|b){0}c", "c", true, true, true},
        {"^https?://(?:www\\.)?([^/]+)/.*$", "https://www.x.org/y", true, true, true},
        {"^https?://(?:www\\.)?([^/]+)/.*$", "ftp://www.x.org/y", false, false, false},
        {"x|", "y", true, true, false},
        {"(a*)*b", "aaab", true, true, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool found = matches(cases[i].pattern, false, false, cases[i].text);
        bool folded = matches(cases[i].pattern, true, false, cases[i].text);
        bool whole = matches(cases[i].pattern, false, true, cases[i].text);
        if (found != cases[i].found || folded != cases[i].folded || whole != cases[i].whole)
            fail_msg("'%s' on '%s': %d %d %d", cases[i].pattern, cases[i].text, found, folded,
                     whole);
    }
}

static void what_is_not_known_is_refused_in_words(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "(a",      "a)",          "*",       "a**",     "a{3,2}",
        "a{300}",  "a{",          "(a)\\1",  "(?=a)",   "(?i)a",
        "\\bword", "[a",          "[z-a]",   "[[.a.]]", "[[:nothing:]]",
        "a^b",     "a$b",         "(^a)",    "\\",      "\\u12",
        "a{65}",   "\\U00110000", "[\\d-z]",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *why = NULL;
        brume_regular *one = brume_regular_open(wrong[i], false, false, &why);
        if (one || !why)
            fail_msg("%s is accepted", wrong[i]);
    }
    char longest[2000];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    const char *why = NULL;
    assert_null(brume_regular_open(longest, false, false, &why));
    assert_non_null(why);
}

/* Written out, each of these would be 255^4 times nothing: it would take minutes to open. */
static void repetitions_of_nothing_are_nothing(void **state)
{
    (void)state;
    static const char *const patterns[] = {"^(((((){255}){255}){255}){255})a$",
                                           "^((((b{0}){255}){255}){255}){0,255}a$",
                                           "^(((((|){255}){255}){255}){255,})a$"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        const char *why = NULL;
        brume_regular *one = brume_regular_open(patterns[i], false, false, &why);
        assert_non_null(one);
        char *printed = brume_regular_print(one);
        assert_string_equal(printed, "^(?:)a$");
        free(printed);
        brume_regular_close(one);
        assert_true(matches(patterns[i], false, false, "a"));
        assert_false(matches(patterns[i], false, false, "ba"));
    }
    assert_true(matches("^x{0}[0-9]b{0,0}c$", false, false, "7c")); /* classes after one left out */
    assert_false(matches("^x{0}[0-9]b{0,0}c$", false, false, "x7c"));
    assert_true(matches("^(x|){3}$", false, false, "xx"));
}

/* ---- against the C library ---- */

static uint64_t next(uint64_t *seed)
{
    return sequence_next(seed) >> 33;
}

static void put_random(uint64_t *seed, int depth, char *out)
{
    static const char *const atoms[] = {"a", "b", "c", ".", "[ab]", "[^a]", "[b-c]"};
    static const char *const counts[] = {"*", "+", "?", "{2}", "{1,2}", "{0,1}", "{2,}"};
    char left[400] = "", right[400] = "";
    switch (depth == 0 ? 0 : next(seed) % 5) {
    case 1:
        put_random(seed, depth - 1, left);
        put_random(seed, depth - 1, right);
        snprintf(out, 400, "%.190s%.190s", left, right);
        break;
    case 2:
        put_random(seed, depth - 1, left);
        put_random(seed, depth - 1, right);
        snprintf(out, 400, "(%.190s|%.190s)", left, right);
        break;
    case 3:
        put_random(seed, depth - 1, left);
        snprintf(out, 400, "(%.380s)%s", left, counts[next(seed) % 7]);
        break;
    default:
        snprintf(out, 400, "%s", atoms[next(seed) % 7]);
    }
}

static void random_patterns_agree_with_the_c_library(void **state)
{
    (void)state;
    uint64_t seed = 11;
    size_t compared = 0, found = 0;
    for (int round = 0; round < 4000; round++) {
        char inside[400] = "", pattern[420], text[16];
        put_random(&seed, 4, inside);
        snprintf(pattern, sizeof pattern, "%s%s%s", next(&seed) % 3 ? "" : "^", inside,
                 next(&seed) % 3 ? "" : "$");
        const char *why = NULL;
        regex_t other;
        brume_regular *one = brume_regular_open(pattern, false, false, &why);
        if (!one)
            continue; /* more than 64 places */
        assert_int_equal(regcomp(&other, pattern, REG_EXTENDED | REG_NOSUB), 0);
        for (int i = 0; i < 12; i++) {
            size_t length = next(&seed) % 10;
            for (size_t j = 0; j < length; j++)
                text[j] = "abc\n"[next(&seed) % 4];
            text[length] = 0;
            bool expected = regexec(&other, text, 0, NULL, 0) == 0;
            if (matches(pattern, false, false, text) != expected)
                fail_msg("%s on '%s': not %d", pattern, text, expected);
            compared++;
            found += expected;
        }
        regfree(&other);
        brume_regular_close(one);
    }
    assert_true(compared > 30000 && found > compared / 5 && found < compared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match_what_they_say),
        cmocka_unit_test(what_is_not_known_is_refused_in_words),
        cmocka_unit_test(repetitions_of_nothing_are_nothing),
        cmocka_unit_test(random_patterns_agree_with_the_c_library),
    };
    return cmocka_run_group_tests_name("regular expressions", tests, NULL, NULL);
}
