/* Values and error bars for a person (src/command/frame/output.h). */
#include "check.h"

#include <stdlib.h>

#include "command/frame/output.h"
#include "sequence.h"

static void a_value_has_the_decimals_of_its_error_bar(void **state)
{
    (void)state;
    static const struct {
        double value, error;
        bool whole;
        const char *shown_value, *shown_error;
    } cases[] = {
        {15682.4, 15.3, false, "15682", "16"},
        {15682, 6, true, "15682", "6"},
        {38.58165, .003512, false, "38.5817", "0.0036"},
        {38.58165, .0995, false, "38.582", "0.100"},
        {-2.5, 1.04, false, "-2.5", "1.1"},
        {5912345.6, 630123.4, false, "5912346", "630124"},
        {1, 10, false, "1", "10"},
        {1, 9.96, false, "1.0", "10.0"},
        {123.456789, 0, false, "123.457", "0"},
        {1e18, 3e3, false, "1e+18", "3e+03"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_readable shown =
            brume_value_and_error(cases[i].value, cases[i].error, cases[i].whole);
        assert_string_equal(shown.value.text, cases[i].shown_value);
        assert_string_equal(shown.error.text, cases[i].shown_error);
    }
}

static void an_error_bar_is_never_shown_too_small(void **state)
{
    (void)state;
    for (double error = 1e-12; error < 1e17; error *= 1.0371) {
        brume_readable shown = brume_value_and_error(1, error, false);
        assert_holds(strtod(shown.error.text, NULL) >= error);
        assert_holds(strtod(shown.error.text, NULL) <= error * 1.11 + (error >= 10));
    }
}

/* The text of one real as JSON. */
static void json_of(double value, char *text, size_t size)
{
    memset(text, 0, size);
    FILE *out = fmemopen(text, size, "w");
    json_t *real = json_real(value);
    assert_non_null(out);
    assert_int_equal(brume_json_write(real, out), 0);
    json_decref(real);
    fclose(out);
}

static void json_has_the_shortest_decimal_that_reads_back(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {1e-6, "1e-6"},
        {.05, "0.05"},
        {.1 + .2, "0.30000000000000004"},
        {2, "2.0"},
        {0, "0.0"},
        {-0.0, "-0.0"},
        {1e300, "1e300"},
        {1e16, "1e16"},
        {123456789012345680., "1.2345678901234568e17"},
        {5e-324, "5e-324"},
        {0x1p-1074 * 3, "1.5e-323"},
        {1. / 3, "0.3333333333333333"},
        {9007199254740993., "9007199254740992.0"},
        {1.7976931348623157e308, "1.7976931348623157e308"},
    };
    char text[64];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_of(cases[i].value, text, sizeof text);
        assert_string_equal(text, cases[i].text);
    }
    /* Doubles of all sizes, by their bits. */
    uint64_t bits = 1;
    for (int i = 0; i < 20000; i++) {
        double value;
        sequence_next(&bits);
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        json_of(value, text, sizeof text);
        json_t *read = json_loads(text, JSON_DECODE_ANY, NULL);
        assert_true(json_is_real(read) && json_real_value(read) == value);
        json_decref(read);
    }
}

static void json_is_otherwise_that_of_the_library(void **state)
{
    (void)state;
    const char *text =
        "{\"a \\\"b\\\"\": [1, -2, true, null, \"\\u001fé\"], \"o\": {}, \"l\": [[], {\"x\": 1}]}";
    json_t *value = json_loads(text, 0, NULL);
    char made[256] = "";
    FILE *out = fmemopen(made, sizeof made, "w");
    assert_non_null(value);
    assert_int_equal(brume_json_write(value, out), 0);
    fclose(out);
    char *wanted = json_dumps(value, 0);
    assert_string_equal(made, wanted);
    free(wanted);
    json_decref(value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_has_the_shortest_decimal_that_reads_back),
        cmocka_unit_test(json_is_otherwise_that_of_the_library),
        cmocka_unit_test(a_value_has_the_decimals_of_its_error_bar),
        cmocka_unit_test(an_error_bar_is_never_shown_too_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
