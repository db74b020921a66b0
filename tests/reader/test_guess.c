/* What `inspect` proposes of values: the narrowest type that all of them have. */
#include "check.h"

#include "reader/guess.h"

static void a_type_fits_every_value(void **state)
{
    (void)state;
    static const struct {
        const char *type, *values[5];
    } cases[] = {
        {"integer", {"1", "-20", " 300 ", ""}},
        {"bigint", {"1", "12345678901"}},
        {"decimal(18,2)", {"1", "2.5", "10.25"}},
        {"decimal(38,1)", {"123456789012345678", "0.5"}},
        {"decimal(38,0)", {"12345678901234567890"}},
        {"double", {"1", "2.5e3"}},
        {"boolean", {"true", "F", "yes", "no"}},
        {"integer", {"0", "1"}},
        {"date", {"2024-02-29", "1999-01-01"}},
        {"timestamp", {"2024-02-29", "2024-02-29 10:00:00"}},
        {"text", {"2024-02-30"}},
        {"text", {"007", "8"}}, /* a code */
        {"text", {"1", "unknown"}},
        {"text", {"", ""}},
        {"double", {"1.", "2"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_type_guess guess = {0};
        char name[BRUME_TYPE_NAME_SIZE];
        for (size_t j = 0; j < 5 && cases[i].values[j]; j++)
            brume_guess_see(&guess, (brume_text){cases[i].values[j], strlen(cases[i].values[j])});
        brume_guess_see(&guess, (brume_text){NULL, 0}); /* a NULL says nothing */
        assert_string_equal(brume_type_name(brume_guess_type(&guess), name), cases[i].type);
    }
}

/* What `count` values nearly are, the last of them `odd`. */
static const char *nearly(const char *value, const char *odd, size_t count, uint64_t *others)
{
    static char name[BRUME_TYPE_NAME_SIZE];
    brume_type_guess guess = {0};
    for (size_t i = 0; i < count; i++) {
        const char *one = i + 1 < count ? value : odd;
        brume_guess_see(&guess, (brume_text){one, strlen(one)});
    }
    return brume_type_name(brume_guess_nearly(&guess, others), name);
}

static void nine_of_ten_nearly_have_a_type(void **state)
{
    (void)state;
    uint64_t others = 7;
    assert_string_equal(nearly("2024-02-29", "29.2.2024", 10, &others), "date");
    assert_int_equal(others, 1);
    assert_string_equal(nearly("2024-02-29 10:00", "?", 20, &others), "timestamp");
    assert_string_equal(nearly("1.25", "n/a", 10, &others), "decimal(18,2)");
    assert_string_equal(nearly("12", "12'000", 10, &others), "integer");
    assert_string_equal(nearly("12", "12'000", 9, &others), "text"); /* eight of nine do not */
    assert_string_equal(nearly("12", "13", 10, &others), "text");    /* it is one */
    assert_int_equal(others, 0);
    assert_string_equal(nearly("x", "1", 10, &others), "text");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_type_fits_every_value),
                                       cmocka_unit_test(nine_of_ten_nearly_have_a_type)};
    return cmocka_run_group_tests_name("proposed types", tests, NULL, NULL);
}
