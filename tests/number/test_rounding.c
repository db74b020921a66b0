/* Directed double arithmetic, against MPFR with enough bits to be exact. */
#include "check.h"

#include <mpfr.h>

#include "number/rounding.h"

static uint64_t state_of_noise = 0x2545f4914f6cdd1du;

static uint64_t word(void)
{
    state_of_noise ^= state_of_noise << 13;
    state_of_noise ^= state_of_noise >> 7;
    state_of_noise ^= state_of_noise << 17;
    return state_of_noise;
}

static double random_double(int spread)
{
    int exponent = (int)(word() % (unsigned)spread) - spread / 2 - 20;
    double x = ldexp((double)(word() >> (11 + word() % 40)), exponent);
    return word() & 1 ? x : -x;
}

typedef int operation(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);

/* low and high must be the directed roundings; `slack` extra steps are allowed near underflow. */
static void assert_directed(operation *exact, double a, double b, double low, double high)
{
    mpfr_t x, y, z;
    mpfr_inits2(53, x, y, z, (mpfr_ptr)NULL);
    mpfr_set_d(x, a, MPFR_RNDN);
    mpfr_set_d(y, b, MPFR_RNDN);
    exact(z, x, y, MPFR_RNDU);
    double up = mpfr_get_d(z, MPFR_RNDU);
    exact(z, x, y, MPFR_RNDD);
    double down = mpfr_get_d(z, MPFR_RNDD);
    if (fabs(up) > 0x1p-950) {
        if (low != down || high != up)
            fail_msg("%a, %a: [%a, %a], expected [%a, %a]", a, b, low, high, down, up);
    } else {
        if (!(low <= down && high >= up))
            fail_msg("%a, %a: [%a, %a], expected [%a, %a]", a, b, low, high, down, up);
        assert_true(brume_up(brume_up(low)) >= down && brume_down(brume_down(high)) <= up);
    }
    mpfr_clears(x, y, z, (mpfr_ptr)NULL);
}

static int root(mpfr_t z, const mpfr_t x, const mpfr_t y, mpfr_rnd_t direction)
{
    (void)y;
    return mpfr_sqrt(z, x, direction);
}

static void every_operation_rounds_to_its_side(void **unused)
{
    (void)unused;
    const int spreads[] = {4, 60, 600, 1900};
    for (int i = 0; i < 40000; i++) {
        int spread = spreads[i % 4];
        double a = random_double(spread), b = random_double(spread);
        assert_directed(mpfr_add, a, b, brume_add_down(a, b), brume_add_up(a, b));
        assert_directed(mpfr_sub, a, b, brume_subtract_down(a, b), brume_subtract_up(a, b));
        assert_directed(mpfr_mul, a, b, brume_multiply_down(a, b), brume_multiply_up(a, b));
        if (b != 0)
            assert_directed(mpfr_div, a, b, brume_divide_down(a, b), brume_divide_up(a, b));
        assert_directed(root, fabs(a), b, brume_sqrt_down(fabs(a)), brume_sqrt_up(fabs(a)));
    }
}

static void exact_results_take_no_step(void **unused)
{
    (void)unused;
    assert_true(brume_add_up(0.5, 0.25) == 0.75 && brume_add_down(0.5, 0.25) == 0.75);
    assert_true(brume_multiply_up(3, 0.125) == 0.375 && brume_multiply_down(3, 0.125) == 0.375);
    assert_true(brume_divide_up(1, 8) == 0.125 && brume_divide_down(1, 8) == 0.125);
    assert_true(brume_sqrt_up(9) == 3 && brume_sqrt_down(9) == 3);
    assert_true(brume_divide_up(1, 10) == 0.1 && brume_divide_down(1, 10) < 0.1);
}

static void overflow_stays_on_its_side(void **unused)
{
    (void)unused;
    assert_true(isinf(brume_add_up(DBL_MAX, DBL_MAX)));
    assert_true(brume_add_down(DBL_MAX, DBL_MAX) == DBL_MAX);
    assert_true(brume_add_up(-DBL_MAX, -DBL_MAX) == -DBL_MAX);
    assert_true(isinf(brume_multiply_up(1e200, 1e200)));
    assert_true(brume_multiply_down(1e200, 1e200) == DBL_MAX);
    assert_true(brume_divide_down(1e200, 1e-200) == DBL_MAX);
    assert_true(isinf(brume_add_up(INFINITY, 1)) && isinf(brume_add_down(INFINITY, 1)));
    assert_true(brume_multiply_up(1e-200, 1e-200) > 0);
    assert_true(brume_exp_up(-1e6) > 0 && brume_exp_down(-1e6) == 0);
    assert_true(isinf(brume_exp_up(1e6)) && brume_exp_down(1e6) == DBL_MAX);
}

static void functions_enclose_and_are_one_step_wide(void **unused)
{
    (void)unused;
    for (int i = 0; i < 2000; i++) {
        double x = ldexp((double)(word() >> 11), -54 - (int)(word() % 4)) * 20;
        assert_true(brume_up(brume_exp_down(x)) == brume_exp_up(x));
        assert_true(brume_up(brume_log_down(x)) == brume_log_up(x) || x == 1);
        assert_true(brume_up(brume_tanh_down(x)) == brume_tanh_up(x) || x == 0);
        assert_close(brume_expm1_up(x), expm1(x), 1e-15);
        assert_close(brume_log1p_down(x), log1p(x), 1e-15);
        assert_true(brume_erfc_down(x) <= erfc(x) * (1 + 1e-14));
        assert_true(brume_erfc_up(x) >= erfc(x) * (1 - 1e-14));
    }
}

static void counts_beyond_53_bits_round_up(void **unused)
{
    (void)unused;
    assert_true(brume_count_up(3) == 3);
    assert_true(brume_count_up((1ull << 53) + 1) == 0x1p53 + 2);
    assert_true(brume_count_up(~0ull) == 0x1p64);
    assert_true(brume_count_up(1ull << 63) == 0x1p63);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_rounds_to_its_side),
        cmocka_unit_test(exact_results_take_no_step),
        cmocka_unit_test(overflow_stays_on_its_side),
        cmocka_unit_test(functions_enclose_and_are_one_step_wide),
        cmocka_unit_test(counts_beyond_53_bits_round_up),
    };
    return cmocka_run_group_tests_name("rounding", tests, NULL, NULL);
}
