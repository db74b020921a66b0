/* Plain forms are exactly those of the regular expressions that PostgreSQL gets. */
#include "check.h"

#include <regex.h>
#include <stdlib.h>

#include "engine/plain_form.h"

/* The patterns of print_expression.c, as POSIX writes them. */
#define YEAR     "([1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
#define FOURTH   "(0[48]|[2468][048]|[13579][26])"
#define LEAP_DAY "([0-9]{2}" FOURTH "|" FOURTH "00)-02-29"
#define DATE                                                                                       \
    "(" YEAR "-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0" \
    "[1-9]|1[0-9]|2[0-8]))|" LEAP_DAY ")"
#define TIME "([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?"

static const struct {
    brume_plain_form form;
    size_t whole;
    const char *pattern;
} forms[] = {
    {BRUME_PLAIN_INTEGER, 0, "^[+-]?0{0,30}[0-9]{1,19}$"},
    {BRUME_PLAIN_DECIMAL, 32, "^[+-]?([0-9]{1,32}([.][0-9]{0,30})?|[.][0-9]{1,30})$"},
    {BRUME_PLAIN_DECIMAL, 3, "^[+-]?([0-9]{1,3}([.][0-9]{0,30})?|[.][0-9]{1,30})$"},
    {BRUME_PLAIN_REAL, 0,
     "^[+-]?([0-9]{1,20}([.][0-9]{0,20})?|[.][0-9]{1,20})([eE][+-]?[0-9]{1,2})?$"},
    {BRUME_PLAIN_DATE, 0, "^" DATE "$"},
    {BRUME_PLAIN_TIMESTAMP, 0, "^" DATE "([ T]" TIME ")?$"},
};
enum { FORMS = sizeof forms / sizeof *forms };

static regex_t patterns[FORMS];
static size_t matched[FORMS];

static void compare(const char *text)
{
    for (size_t i = 0; i < FORMS; i++) {
        const char *from = NULL;
        size_t length = 0;
        bool truth = regexec(&patterns[i], text, 0, NULL, 0) == 0;
        bool found =
            brume_plain_match(forms[i].form, forms[i].whole, text, strlen(text), &from, &length);
        if (found != truth)
            fail_msg("'%s' is %s of form %zu", text, truth ? "" : "not", i);
        if (truth)
            assert_true(from == text && length == strlen(text));
        matched[i] += truth;
    }
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* A text of a form, then some of its bytes changed, left out or doubled. */
static void make_text(uint64_t *random, char *text)
{
    static const char *const seeds[] = {"12345",
                                        "-0.5",
                                        "+1.25e-10",
                                        ".5",
                                        "5.",
                                        "2020-02-29",
                                        "1999-12-31",
                                        "0001-01-01",
                                        "2020-02-29 10:11:12.5",
                                        "9999-12-31T23:59",
                                        "000000000012",
                                        "1e5"};
    static const char bytes[] = "0123456789+-.eE: T";
    const char *seed = seeds[next_random(random) % (sizeof seeds / sizeof *seeds)];
    size_t used = 0;
    for (; *seed; seed++)
        switch (next_random(random) % 16) {
        case 0:
            text[used++] = bytes[next_random(random) % (sizeof bytes - 1)];
            break;
        case 1:
            break;
        case 2:
            for (size_t times = 1 + next_random(random) % 40; times > 0 && used < 200; times--)
                text[used++] = *seed;
            break;
        default:
            text[used++] = *seed;
        }
    text[used] = 0;
    /* blanks at the ends are another matter */
    while (used && text[used - 1] == ' ')
        text[--used] = 0;
    if (*text == ' ')
        *text = '0';
}

static void forms_are_those_of_the_patterns(void **state)
{
    (void)state;
    uint64_t random = 20261116;
    char text[400];
    for (size_t i = 0; i < FORMS; i++)
        assert_int_equal(regcomp(&patterns[i], forms[i].pattern, REG_EXTENDED | REG_NOSUB), 0);
    for (int i = 0; i < 60000; i++) {
        make_text(&random, text);
        compare(text);
    }
    compare("");
    for (int year = 1890; year <= 2010; year += year % 10 == 0 ? 1 : 3)
        for (int month = 0; month <= 13; month++)
            for (int day = 0; day <= 32; day++) {
                snprintf(text, sizeof text, "%04d-%02d-%02d", year == 1890 ? 0 : year, month, day);
                compare(text);
            }
    for (size_t i = 0; i < FORMS; i++) {
        assert_true(matched[i] > 1000);
        regfree(&patterns[i]);
    }
}

static void blanks_at_both_ends_do_not_count(void **state)
{
    (void)state;
    const char *from = NULL, *text = " \t\n\v\f\r12 \t\r\n";
    size_t length = 0;
    assert_true(brume_plain_match(BRUME_PLAIN_INTEGER, 0, text, strlen(text), &from, &length));
    assert_true(from == text + 6 && length == 2);
    assert_false(brume_plain_match(BRUME_PLAIN_INTEGER, 0, "1 2", 3, &from, &length));
    assert_false(brume_plain_match(BRUME_PLAIN_INTEGER, 0, "  ", 2, &from, &length));
    assert_false(brume_plain_match(BRUME_PLAIN_INTEGER, 0, "1\0", 2, &from, &length));
    assert_false(brume_plain_match(BRUME_PLAIN_REAL, 0, "\0", 1, &from, &length));
    assert_false(brume_plain_match(BRUME_PLAIN_INTEGER, 0, "1\xc2\xa0", 3, &from, &length));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_are_those_of_the_patterns),
        cmocka_unit_test(blanks_at_both_ends_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
