/* Exact decimals, against GMP rationals. */
#include "check.h"

#include <float.h>
#include <stdlib.h>

#include <gmp.h>

#include "number/decimal.h"
#include "number/decimal_grid.h"

static uint64_t state_of_noise = 0x9e3779b97f4a7c15u;

static uint64_t word(void)
{
    state_of_noise ^= state_of_noise << 13;
    state_of_noise ^= state_of_noise >> 7;
    state_of_noise ^= state_of_noise << 17;
    return state_of_noise;
}

static brume_decimal read_decimal(const char *text)
{
    brume_error error = {0};
    brume_decimal x;
    assert_ok(brume_decimal_parse(text, &x, &error));
    return x;
}

static void assert_prints(const brume_decimal *x, const char *expected)
{
    char text[BRUME_DECIMAL_TEXT];
    brume_decimal_print(x, text, sizeof text);
    assert_string_equal(text, expected);
}

static void to_rational(const brume_decimal *x, mpq_t out)
{
    mpz_t power;
    mpz_init(power);
    mpz_import(mpq_numref(out), BRUME_DECIMAL_LIMBS, -1, 4, 0, 0, x->digits);
    mpz_set_ui(mpq_denref(out), 1);
    mpz_ui_pow_ui(power, 10, (unsigned long)abs(x->exponent));
    mpz_mul(x->exponent < 0 ? mpq_denref(out) : mpq_numref(out),
            x->exponent < 0 ? mpq_denref(out) : mpq_numref(out), power);
    mpq_canonicalize(out);
    mpz_clear(power);
}

static void random_text(char text[64])
{
    int digits = 1 + (int)(word() % 30), n = 0;
    int point = (int)(word() % 35);
    for (int i = 0; i < digits; i++) {
        if (i == point)
            text[n++] = '.';
        text[n++] = (char)('0' + (word() % 3 ? word() % 10 : 0));
    }
    text[n] = 0;
    if (word() % 3 == 0)
        snprintf(text + n, 8, "e%d", (int)(word() % 20) - 10);
}

static void ten_tenths_are_one(void **unused)
{
    (void)unused;
    brume_error error = {0};
    brume_decimal tenth = read_decimal("0.1"), one = read_decimal("1"), sum = {{0}, 0}, product;
    for (int i = 0; i < 10; i++)
        assert_ok(brume_decimal_add(&sum, &tenth, &sum, &error));
    assert_int_equal(brume_decimal_compare(&sum, &one), 0);
    assert_memory_equal(&sum, &one, sizeof sum);
    assert_ok(brume_decimal_multiply(&tenth, 10, &product, &error));
    assert_memory_equal(&product, &one, sizeof product);
    assert_ok(brume_decimal_subtract(&one, &tenth, &sum, &error));
    assert_prints(&sum, "0.9");
}

static void a_product_is_exact_or_refused(void **unused)
{
    (void)unused;
    brume_error error = {0};
    brume_decimal x = read_decimal("0.3"), half = read_decimal("0.5"), large, untouched = half;
    assert_ok(brume_decimal_product(&x, &x, &x, &error));
    assert_ok(brume_decimal_product(&half, &x, &x, &error));
    assert_prints(&x, "0.045");
    large = read_decimal("340282366920938463463374607431768211455"); /* 2^128 - 1 */
    assert_ok(brume_decimal_product(&large, &large, &x, &error));
    assert_prints(
        &x,

        "1.15792089237316195423570985008687907852589419931798687112530834793049593217025e77");
    assert_fails(brume_decimal_product(&x, &large, &untouched, &error), BRUME_EOVERFLOW);
    assert_prints(&untouched, "0.5");
    x = read_decimal("1e-900");
    assert_fails(brume_decimal_product(&x, &x, &untouched, &error), BRUME_EOVERFLOW);
    x = (brume_decimal){{0}, 0};
    assert_ok(brume_decimal_product(&large, &x, &x, &error));
    assert_true(brume_decimal_is_zero(&x));
}

static void numbers_print_shortest_and_read_back(void **unused)
{
    (void)unused;
    const char *const pairs[][2] = {
        {"1", "1"},
        {"1.000", "1"},
        {"0.10", "0.1"},
        {".5", "0.5"},
        {"5.", "5"},
        {"1e-6", "1e-6"},
        {"0.00001", "0.00001"},
        {"0.000001", "1e-6"},
        {"2.5E-7", "2.5e-7"},
        {"1e3", "1000"},
        {"1e+20", "100000000000000000000"},
        {"1e21", "1e21"},
        {"0", "0"},
        {"0.000e5", "0"},
        {"00012.50", "12.5"},
        {"123456789012345678901234567890.125", "123456789012345678901234567890.125"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        brume_decimal x = read_decimal(pairs[i][0]);
        assert_prints(&x, pairs[i][1]);
    }
    for (int i = 0; i < 3000; i++) {
        char text[64], printed[BRUME_DECIMAL_TEXT];
        random_text(text);
        brume_decimal x = read_decimal(text);
        brume_decimal_print(&x, printed, sizeof printed);
        brume_decimal back = read_decimal(printed);
        assert_memory_equal(&x, &back, sizeof x);
    }
}

static void bad_numbers_are_refused_with_their_position(void **unused)
{
    (void)unused;
    const struct {
        const char *text;
        brume_status status;
        const char *says;
    } cases[] = {
        {"", BRUME_ESYNTAX, "too early"},
        {".", BRUME_ESYNTAX, "too early"},
        {"1x", BRUME_ESYNTAX, "character 2"},
        {"1.2.3", BRUME_ESYNTAX, "character 4"},
        {"1e", BRUME_ESYNTAX, "too early"},
        {"1e-", BRUME_ESYNTAX, "too early"},
        {"0x10", BRUME_ESYNTAX, "character 2"},
        {"nan", BRUME_ESYNTAX, "character 1"},
        {"inf", BRUME_ESYNTAX, "character 1"},
        {" 1", BRUME_ESYNTAX, "character 1"},
        {"1 ", BRUME_ESYNTAX, "character 2"},
        {"1,5", BRUME_ESYNTAX, "character 2"},
        {"-1", BRUME_EARGUMENT, "negative"},
        {"-", BRUME_ESYNTAX, "character 1"},
        {"1e99999999999", BRUME_EOVERFLOW, ""},
        {"1e-2000", BRUME_EOVERFLOW, ""},
        {"1234567890123456789012345678901234567890123456789012345678901234567890123456789",
         BRUME_EOVERFLOW, "77"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_error error = {0};
        brume_decimal x = {{7}, 7};
        assert_fails(brume_decimal_parse(cases[i].text, &x, &error), cases[i].status);
        assert_non_null(strstr(error.message, cases[i].says));
        assert_int_equal(x.exponent, 7);
    }
    char zeros[5000];
    memset(zeros, '0', sizeof zeros - 1);
    zeros[0] = '1';
    zeros[sizeof zeros - 1] = 0;
    brume_decimal x;
    assert_fails(brume_decimal_parse(zeros, &x, NULL), BRUME_EOVERFLOW);
}

static void sums_differences_products_and_order_are_exact(void **unused)
{
    (void)unused;
    brume_error error = {0};
    int products = 0; /* that fit */
    mpq_t a, b, expected, got;
    mpq_inits(a, b, expected, got, NULL);
    for (int i = 0; i < 5000; i++) {
        char text[64];
        random_text(text);
        brume_decimal x = read_decimal(text);
        if (word() % 4)
            random_text(text);
        brume_decimal y = read_decimal(text), z;
        to_rational(&x, a);
        to_rational(&y, b);
        int order = mpq_cmp(a, b);
        assert_int_equal(brume_decimal_compare(&x, &y), order < 0 ? -1 : order > 0);
        assert_ok(brume_decimal_add(&x, &y, &z, &error));
        mpq_add(expected, a, b);
        to_rational(&z, got);
        assert_true(mpq_equal(got, expected));
        if (order >= 0) {
            assert_ok(brume_decimal_subtract(&x, &y, &z, &error));
            mpq_sub(expected, a, b);
            to_rational(&z, got);
            assert_true(mpq_equal(got, expected));
        } else {
            assert_fails(brume_decimal_subtract(&x, &y, &z, &error), BRUME_EARGUMENT);
        }
        brume_decimal both;
        if (brume_decimal_product(&x, &y, &both, &error) == BRUME_OK) {
            mpq_mul(expected, a, b);
            to_rational(&both, got);
            assert_true(mpq_equal(got, expected));
            products++;
        }
        uint64_t count = word() >> word() % 64;
        assert_ok(brume_decimal_multiply(&x, count, &z, &error));
        mpz_import(mpq_numref(b), 1, -1, 8, 0, 0, &count);
        mpz_set_ui(mpq_denref(b), 1);
        mpq_mul(expected, a, b);
        to_rational(&z, got);
        assert_true(mpq_equal(got, expected));
        double low = brume_decimal_lower(&x), high = brume_decimal_upper(&x);
        mpq_set_d(b, low);
        assert_true(mpq_cmp(b, a) <= 0);
        mpq_set_d(got, high);
        assert_true(mpq_cmp(got, a) >= 0);
        assert_true(low == high || nextafter(low, INFINITY) == high);
        double nearest = brume_decimal_nearest(&x);
        assert_true(nearest == low || nearest == high);
        mpq_sub(b, a, b);
        mpq_sub(got, got, a);
        if (mpq_cmp(b, got) != 0)
            assert_true(nearest == (mpq_cmp(b, got) < 0 ? low : high));
    }
    assert_true(products > 1000);
    mpq_clears(a, b, expected, got, NULL);
}

static void numbers_too_far_apart_compare_but_do_not_add(void **unused)
{
    (void)unused;
    brume_decimal large = read_decimal("1e60"), small = read_decimal("1e-60"), sum;
    assert_int_equal(brume_decimal_compare(&large, &small), 1);
    assert_int_equal(brume_decimal_compare(&small, &large), -1);
    assert_fails(brume_decimal_add(&large, &small, &sum, NULL), BRUME_EOVERFLOW);
}

static void doubles_convert_in_the_named_direction(void **unused)
{
    (void)unused;
    brume_error error = {0};
    mpq_t exact, got;
    mpq_inits(exact, got, NULL);
    for (int i = 0; i < 3000; i++) {
        double x = ldexp((double)(word() >> 11), (int)(word() % 200) - 150);
        mpq_set_d(exact, x);
        brume_decimal up, down, shortest;
        assert_ok(brume_decimal_from_double_up(x, 17, &up, &error));
        assert_ok(brume_decimal_from_double_down(x, 17, &down, &error));
        assert_ok(brume_decimal_from_double_shortest(x, &shortest, &error));
        to_rational(&up, got);
        assert_true(mpq_cmp(got, exact) >= 0);
        to_rational(&down, got);
        assert_true(mpq_cmp(got, exact) <= 0);
        assert_true(brume_decimal_nearest(&shortest) == x);
        assert_close(brume_decimal_nearest(&up), x, 1e-15);
    }
    mpq_clears(exact, got, NULL);
    brume_decimal x;
    assert_ok(brume_decimal_from_double_shortest(0.1, &x, &error));
    assert_prints(&x, "0.1");
    assert_ok(brume_decimal_from_double_shortest(5e-324, &x, &error));
    assert_prints(&x, "5e-324");
    assert_ok(brume_decimal_from_double_shortest(DBL_MAX, &x, &error));
    assert_true(brume_decimal_nearest(&x) == DBL_MAX);
    assert_ok(brume_decimal_from_double_up(0, 17, &x, &error));
    assert_true(brume_decimal_is_zero(&x));
    assert_fails(brume_decimal_from_double_up(-1, 17, &x, &error), BRUME_EARGUMENT);
    assert_fails(brume_decimal_from_double_up(NAN, 17, &x, &error), BRUME_EARGUMENT);
    assert_fails(brume_decimal_from_double_up(INFINITY, 17, &x, &error), BRUME_EARGUMENT);
    x = read_decimal("1e-400");
    assert_true(brume_decimal_lower(&x) == 0 && brume_decimal_upper(&x) == 5e-324);
    x = read_decimal("1e400");
    assert_true(brume_decimal_lower(&x) == DBL_MAX && isinf(brume_decimal_upper(&x)));
}

static void a_quantum_rounds_prices_up_and_budgets_down(void **unused)
{
    (void)unused;
    brume_error error = {0};
    brume_decimal x = read_decimal("1.23456"), out;
    assert_ok(brume_decimal_quantise_up(&x, 3, &out, &error));
    assert_prints(&out, "1.235");
    brume_decimal_quantise_down(&x, 3, &out);
    assert_prints(&out, "1.234");
    assert_ok(brume_decimal_quantise_up(&x, 5, &out, &error));
    assert_prints(&out, "1.23456");
    x = read_decimal("1e-100");
    assert_ok(brume_decimal_quantise_up(&x, 60, &out, &error));
    assert_prints(&out, "1e-60");
    brume_decimal_quantise_down(&x, 60, &out);
    assert_prints(&out, "0");
    x = read_decimal("0.999");
    assert_ok(brume_decimal_quantise_up(&x, 2, &out, &error));
    assert_prints(&out, "1");
}

static int64_t steps_of(const char *text, const char *unit, unsigned k, int64_t limit)
{
    brume_error error;
    brume_signed_decimal x;
    brume_decimal u = read_decimal(unit);
    assert_ok(brume_signed_decimal_parse(text, &x, &error));
    return brume_decimal_clamped_steps(&x, &u, k, limit);
}

static void a_grid_rounds_down_and_is_exact(void **unused)
{
    (void)unused;
    const int64_t most = (int64_t)1 << 61;
    assert_true(steps_of("0.3", "0.1", 0, most) == 3); /* as doubles 0.3/0.1 is below 3 */
    assert_true(steps_of("-0.3", "0.1", 0, most) == -3);
    assert_true(steps_of("0.29999999999999999999999999", "0.1", 0, most) == 2);
    assert_true(steps_of("-0.30000000000000000000000001", "0.1", 0, most) == -4);
    assert_true(steps_of("1", "3", 10, most) == 341);
    assert_true(steps_of("-1", "3", 10, most) == -342);
    assert_true(steps_of("+2e3", "5e2", 1, most) == 8);
    assert_true(steps_of("-0", "7", 3, most) == 0);
    assert_true(steps_of("1e900", "1e-90", 40, most) == most);
    assert_true(steps_of("-1e900", "1e-90", 40, most) == -most);
    assert_true(steps_of("-1e-900", "1", 0, most) == -1);
    assert_true(steps_of("1e-900", "1", 0, most) == 0);
}

static void signs_are_read_once(void **unused)
{
    (void)unused;
    static const char *const bad[] = {"--1", "+-1", "-+1", "-",   "+",
                                      "",    "- 1", "-e5", "nan", "-inf"};
    brume_error error;
    brume_signed_decimal x = {.negative = true};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_true(brume_signed_decimal_parse(bad[i], &x, &error) != BRUME_OK);
    assert_true(x.negative);
    assert_ok(brume_signed_decimal_parse("-0.0", &x, &error));
    assert_false(x.negative);
    assert_ok(brume_signed_decimal_parse("-2.50", &x, &error));
    assert_true(x.negative);
    assert_prints(&x.size, "2.5");
}

/* What is shown of a sum is never below it, nor what is left above it; and what has few digits is
 * shown as it is. */
static void sums_are_shown_on_the_safe_side(void **unused)
{
    (void)unused;
    brume_error error;
    brume_decimal tenth, sum, up, down;
    assert_ok(brume_decimal_parse("0.1", &tenth, &error));
    for (uint64_t count = 1; count <= 2000; count++) {
        assert_ok(brume_decimal_multiply(&tenth, count, &sum, &error));
        double shown = brume_decimal_shown_up(&sum);
        assert_true(shown == brume_decimal_shown_down(&sum));
        assert_ok(brume_decimal_from_double_shortest(shown, &up, &error));
        assert_int_equal(brume_decimal_compare(&up, &sum), 0);
    }
    static const char *const texts[] = {
        "0.30000000000000001",
        "0.29999999999999999999",
        "123456789.0123456789012",
        "1e-300",
        "0",
        "0.1000000000000000055511151231257827021181583404541015626"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_ok(brume_decimal_parse(texts[i], &sum, &error));
        assert_ok(brume_decimal_from_double_shortest(brume_decimal_shown_up(&sum), &up, &error));
        assert_ok(
            brume_decimal_from_double_shortest(brume_decimal_shown_down(&sum), &down, &error));
        assert_true(brume_decimal_compare(&up, &sum) >= 0);
        assert_true(brume_decimal_compare(&down, &sum) <= 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_shown_on_the_safe_side),
        cmocka_unit_test(ten_tenths_are_one),
        cmocka_unit_test(a_product_is_exact_or_refused),
        cmocka_unit_test(numbers_print_shortest_and_read_back),
        cmocka_unit_test(bad_numbers_are_refused_with_their_position),
        cmocka_unit_test(sums_differences_products_and_order_are_exact),
        cmocka_unit_test(numbers_too_far_apart_compare_but_do_not_add),
        cmocka_unit_test(doubles_convert_in_the_named_direction),
        cmocka_unit_test(a_quantum_rounds_prices_up_and_budgets_down),
        cmocka_unit_test(a_grid_rounds_down_and_is_exact),
        cmocka_unit_test(signs_are_read_once),
    };
    return cmocka_run_group_tests_name("decimal", tests, NULL, NULL);
}
