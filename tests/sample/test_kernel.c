/* The kernels stay within their proven error bounds at sampled and at nasty points (the proof is
 * proofs/kernels.md; this guards the code against drifting from it). */
#include "check.h"

#include <mpfr.h>

#include "random/tape.h"
#include "sample/kernel.h"

enum { POINTS = 60000 };

/* |computed - exact| / bound, the largest over the points */
static double worst;

static void note_error(mpfr_t exact, double computed, double bound)
{
    mpfr_sub_d(exact, exact, computed, MPFR_RNDN);
    double share = fabs(mpfr_get_d(exact, MPFR_RNDA)) / bound;
    worst = share > worst ? share : worst;
}

static double uniform_point(unsigned i, uint64_t *state)
{
    uint64_t word = brume_tape_splitmix(state);
    if (i % 3 == 1)
        word >>= i / 3 % 52;
    if (i % 3 == 2)
        word |= ~UINT64_C(0) << (63 - i / 3 % 50);
    return brume_uniform_middle(word);
}

static void the_middle_of_a_cell_is_exact(void **state)
{
    (void)state;
    const uint64_t words[] = {0, UINT64_C(1) << 12, UINT64_MAX, 0x123456789abcdef0u};
    for (size_t i = 0; i < 4; i++) {
        uint64_t u = words[i] >> 12;
        double twice = ldexp(brume_uniform_middle(words[i]), 53);
        assert_true((uint64_t)twice == 2 * u + 1 && (double)(uint64_t)twice == twice);
    }
}

static void logarithms_are_within_their_bounds(void **state)
{
    (void)state;
    uint64_t seed = 1;
    mpfr_t exact;
    mpfr_init2(exact, 200);
    worst = 0;
    for (unsigned i = 0; i < POINTS; i++) {
        double x = uniform_point(i, &seed), inverse_power;
        double computed = brume_neg_log(x, &inverse_power);
        double m = x * inverse_power;
        assert_holds(m >= 0.70710 && m < 1.41422);
        mpfr_set_d(exact, x, MPFR_RNDN);
        mpfr_log(exact, exact, MPFR_RNDN);
        mpfr_neg(exact, exact, MPFR_RNDN);
        note_error(exact, computed, 0x1p-53 * (computed + 1.1));
    }
    assert_holds(worst <= 1 && worst > 0.5); /* the bound is not idle either */
    worst = 0;
    for (unsigned i = 0; i < POINTS; i++) {
        double x = uniform_point(i, &seed);
        if (x < 0x1p-16)
            continue;
        mpfr_set_d(exact, x, MPFR_RNDN);
        mpfr_log(exact, exact, MPFR_RNDN);
        note_error(exact, brume_log_coarse(x), 0x1p-40 * 1.6134); /* 2^-39.31 */
    }
    assert_holds(worst <= 1 && worst > 0.5);
    mpfr_clear(exact);
}

static void the_exponential_is_within_its_bound(void **state)
{
    (void)state;
    uint64_t seed = 2;
    mpfr_t exact;
    mpfr_init2(exact, 200);
    worst = 0;
    for (unsigned i = 0; i < POINTS; i++) {
        const double widths[] = {1, 40, 700, 1e-9};
        double x = (double)(brume_tape_splitmix(&seed) >> 11) * 0x1p-53 * widths[i % 4];
        if (i < 1000) /* around the changes of k */
            x = fabs((i + 0.5) * BRUME_LN2 + ldexp((double)(i % 7) - 3, -48));
        if (x > 700)
            continue;
        mpfr_set_d(exact, -x, MPFR_RNDN);
        mpfr_exp(exact, exact, MPFR_RNDN);
        double bound = mpfr_get_d(exact, MPFR_RNDN) * 0x1p-53 * 1.7171; /* 2^-52.22 */
        note_error(exact, brume_exp_neg(x), bound);
    }
    assert_holds(worst <= 1 && worst > 0.5);
    assert_true(brume_exp_neg(0) == 1);
    mpfr_clear(exact);
}

static void the_nearest_integer_trick_rounds_to_nearest(void **state)
{
    (void)state;
    const double points[] = {0,     0.49999999999999994, 0.50000000000000011,
                             -0.25, 1e6 + 0.75,          0x1p50};
    for (size_t i = 0; i < 6; i++) {
        double t = points[i], rounded = t + BRUME_ROUNDER, n = rounded - BRUME_ROUNDER;
        assert_true(n == rint(t));
        assert_true((int64_t)(brume_bits_of_double(rounded) -
                              brume_bits_of_double(BRUME_ROUNDER)) == (int64_t)n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_middle_of_a_cell_is_exact),
        cmocka_unit_test(logarithms_are_within_their_bounds),
        cmocka_unit_test(the_exponential_is_within_its_bound),
        cmocka_unit_test(the_nearest_integer_trick_rounds_to_nearest),
    };
    return cmocka_run_group_tests_name("kernel", tests, NULL, NULL);
}
