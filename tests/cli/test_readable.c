/* Values and error bars for a person (src/cli/frame/readable.h). */
#include "check.h"

#include <stdlib.h>

#include "cli/frame/readable.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_has_the_decimals_of_its_error_bar),
        cmocka_unit_test(an_error_bar_is_never_shown_too_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
