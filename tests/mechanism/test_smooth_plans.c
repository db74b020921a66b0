/* Plans of smooth noise against 300 bits: what a plan's s and t cost is at most what was asked for,
 * to the last place, and a little more of s would cost more; and the ends of what plans accept. */
#include "check.h"

#include <stdlib.h>

#include <mpfr.h>

#include <brume/mechanism/smooth.h>

#include "random/tape.h"

static brume_error error;

static double grid(int i, double least, double ratio)
{
    return least * pow(ratio, i) * (1 + 1e-3 * ((i * 37) % 11));
}

/* The cost is at most `asked`, and no more than a few units in the last place below it. */
static void assert_spent(const char *what, mpfr_t cost, double asked)
{
    if (!(mpfr_cmp_d(cost, asked) <= 0 && mpfr_get_d(cost, MPFR_RNDN) >= asked * (1 - 2e-14)))
        fail_msg("%s costs %.20Lg, asked for %.17g", what, mpfr_get_ld(cost, MPFR_RNDN), asked);
}

/* d t + s (d+1)/(2 sqrt(d)) */
static void a_student_plan_spends_its_epsilon(void **state)
{
    (void)state;
    static const uint64_t degrees[] = {1, 4, 9, 16, 2, 3, 7, 30, 1000};
    mpfr_t x, y;
    mpfr_inits2(300, x, y, (mpfr_ptr)NULL);
    for (size_t k = 0; k < sizeof degrees / sizeof *degrees; k++)
        for (int i = 0; i < 120; i++) {
            brume_smooth_plan plan;
            double epsilon = grid(i, 1e-3, 1.1), d = (double)degrees[k];
            double t = i % 3 == 0 ? 0 : i % 3 == 1 ? epsilon / (3.3 * d) : epsilon / (8 * d);
            assert_ok(brume_smooth_plan_student(epsilon, degrees[k], t, &plan, &error));
            assert_true(t == 0 ? plan.t <= epsilon / (2 * d) * (1 + 0x1p-52) : plan.t == t);
            mpfr_sqrt_ui(x, degrees[k], MPFR_RNDN);
            mpfr_mul_2ui(x, x, 1, MPFR_RNDN);
            mpfr_ui_div(x, degrees[k] + 1, x, MPFR_RNDN);
            mpfr_mul_d(x, x, plan.s, MPFR_RNDN);
            mpfr_set_d(y, plan.t, MPFR_RNDN);
            mpfr_mul_ui(y, y, degrees[k], MPFR_RNDN);
            mpfr_add(x, x, y, MPFR_RNDN);
            assert_spent("student", x, epsilon);
        }
    mpfr_clears(x, y, (mpfr_ptr)NULL);
}

/* (t/sigma + exp(3 sigma^2/2) s)^2/2 */
static void a_log_normal_plan_spends_its_rho(void **state)
{
    (void)state;
    mpfr_t x, y;
    mpfr_inits2(300, x, y, (mpfr_ptr)NULL);
    for (int i = 0; i < 2000; i++) {
        brume_smooth_plan plan;
        double rho = grid(i % 400, 1e-6, 1.04), t = i % 4 == 0 ? 0 : 0.03 * sqrt(rho);
        if (i % 2) { /* an exact root, and a sigma above 1, whose square is most of the rounding */
            rho = (i + 3) * (i + 3) / 8192.;
            t = (i + 3) / (i % 4 == 1 ? 32. : 64.);
        }
        assert_ok(brume_smooth_plan_log_normal(rho, t, &plan, &error));
        mpfr_set_d(x, plan.shape, MPFR_RNDN);
        mpfr_sqr(x, x, MPFR_RNDN);
        mpfr_mul_d(x, x, 1.5, MPFR_RNDN);
        mpfr_exp(x, x, MPFR_RNDN);
        mpfr_mul_d(x, x, plan.s, MPFR_RNDN);
        mpfr_set_d(y, plan.t, MPFR_RNDN);
        mpfr_div_d(y, y, plan.shape, MPFR_RNDN);
        mpfr_add(x, x, y, MPFR_RNDN);
        mpfr_sqr(x, x, MPFR_RNDN);
        mpfr_div_2ui(x, x, 1, MPFR_RNDN);
        assert_spent("log-normal", x, rho);
        /* sigma is the root of 5 e sigma^3 - 5 t sigma^2 - t */
        double e = sqrt(2 * rho), sigma = plan.shape,
               root = 5 * sigma * sigma * (e * sigma - plan.t);
        assert_close(root, plan.t, 1e-9);
    }
    mpfr_clears(x, y, (mpfr_ptr)NULL);
}

/* Both tails of the wider law beyond where they are e^epsilon times the narrower one. */
static void delta_of_laplace(mpfr_t out, double epsilon, double s, double t)
{
    mpfr_t b, x, shift, y;
    mpfr_inits2(300, b, x, shift, y, (mpfr_ptr)NULL);
    mpfr_set_zero(out, 1);
    for (int side = -1; side <= 1; side += 2) {
        mpfr_set_d(b, t, MPFR_RNDN);
        mpfr_exp(b, b, MPFR_RNDN);
        mpfr_set_d(shift, side * s, MPFR_RNDN);
        /* x = (epsilon + t - shift/b)/(1 - 1/b) */
        mpfr_div(x, shift, b, MPFR_RNDN);
        mpfr_set_d(y, epsilon, MPFR_RNDN);
        mpfr_add_d(y, y, t, MPFR_RNDN);
        mpfr_sub(x, y, x, MPFR_RNDN);
        mpfr_ui_div(y, 1, b, MPFR_RNDN);
        mpfr_ui_sub(y, 1, y, MPFR_RNDN);
        mpfr_div(x, x, y, MPFR_RNDN);
        mpfr_sub(y, shift, x, MPFR_RNDN);
        mpfr_div(y, y, b, MPFR_RNDN);
        mpfr_exp(y, y, MPFR_RNDN);
        mpfr_add(out, out, y, MPFR_RNDN);
        mpfr_d_sub(y, epsilon, x, MPFR_RNDN);
        mpfr_exp(y, y, MPFR_RNDN);
        mpfr_sub(out, out, y, MPFR_RNDN);
    }
    mpfr_div_2ui(out, out, 1, MPFR_RNDN);
    mpfr_clears(b, x, shift, y, (mpfr_ptr)NULL);
}

static void the_delta_of_laplace_is_rounded_up(void **state)
{
    (void)state;
    mpfr_t exact;
    mpfr_init2(exact, 300);
    for (int i = 0; i < 60; i++) {
        double epsilon = grid(i, 0.05, 1.1), s = epsilon * (0.1 + 0.01 * ((i * 7) % 40));
        double t = epsilon * (0.03 + 0.005 * ((i * 11) % 30));
        delta_of_laplace(exact, epsilon, s, t);
        double found = brume_smooth_laplace_delta_upper(epsilon, s, t);
        double least = mpfr_get_d(exact, MPFR_RNDU);
        if (!(found >= least && found <= least * (1 + 0x1p-51)))
            fail_msg("%g, %g, %g: %.17g, expected %.17g", epsilon, s, t, found, least);
    }
    /* a law that only widens, and what the formula is not for */
    double widened = brume_smooth_laplace_delta_upper(1, 0, 0.1);
    assert_true(widened > 0 && widened < 1e-4);
    assert_true(brume_smooth_laplace_delta_upper(1, 0.95, 0.5) == 1);
    assert_true(brume_smooth_laplace_delta_upper(1, 1.01, 0.01) == 1);
    assert_true(brume_smooth_laplace_delta_upper(1, -0.1, 0.01) == 1);
    assert_true(brume_smooth_laplace_delta_upper(1, 0.1, 0) == 1);
    assert_true(brume_smooth_laplace_delta_upper(INFINITY, 0.1, 0.1) == 1);
    mpfr_clear(exact);
}

/* A billionth more of s would cost more than was asked for, wherever s is not cut by the range. */
static void plans_leave_nothing_unspent(void **state)
{
    (void)state;
    for (int i = 0; i < 30; i++) {
        brume_smooth_plan plan;
        double epsilon = grid(i, 1e-3, 1.35), t = i % 2 ? 0 : 0.9 * epsilon;
        if (epsilon > 60)
            break;
        assert_ok(brume_smooth_plan_cauchy(epsilon, t, &plan, &error));
        assert_true(brume_smooth_cauchy_epsilon_upper(plan.s, plan.t) <= epsilon);
        assert_true(brume_smooth_cauchy_epsilon_upper(plan.s * (1 + 1e-9), plan.t) > epsilon);
        assert_ok(brume_smooth_plan_laplace(epsilon, 1e-7, 0, &plan, &error));
        assert_true(brume_smooth_laplace_delta_upper(epsilon, plan.s, plan.t) <= 1e-7);
        assert_true(brume_smooth_laplace_delta_upper(epsilon, plan.s * (1 + 1e-9), plan.t) > 1e-7);
    }
    assert_close(brume_smooth_cauchy_epsilon_upper(0, 0.3), 0.3, 1e-14);
    assert_close(brume_smooth_cauchy_epsilon_upper(0.2, 0), 2 * asinh(0.1), 1e-14);
    assert_close(brume_smooth_cauchy_epsilon_upper(1, 700), 700, 1e-14);
    assert_true(isinf(brume_smooth_cauchy_epsilon_upper(1, 701)));
    assert_true(isinf(brume_smooth_cauchy_epsilon_upper(-1, 1)));
}

static void plans_reach_to_the_ends_of_their_ranges(void **state)
{
    (void)state;
    brume_smooth_plan plan;
    const double above = 1 + 0x1p-50, below = 1 - 0x1p-50;
    assert_ok(brume_smooth_plan_student(0x1p-30, 3, 0, &plan, &error));
    assert_ok(brume_smooth_plan_student(700, 1000, 0, &plan, &error));
    assert_fails(brume_smooth_plan_student(0x1p-30 * below, 3, 0, &plan, &error), BRUME_EARGUMENT);
    assert_fails(brume_smooth_plan_student(700 * above, 3, 0, &plan, &error), BRUME_EARGUMENT);
    assert_fails(brume_smooth_plan_student(1, 1001, 0, &plan, &error), BRUME_EARGUMENT);
    assert_fails(brume_smooth_plan_student(1, 3, -0.1, &plan, &error), BRUME_EARGUMENT);
    assert_ok(brume_smooth_plan_log_normal(0x1p-60, 0, &plan, &error));
    assert_ok(brume_smooth_plan_log_normal(1e4, 64, &plan, &error));
    assert_fails(brume_smooth_plan_log_normal(0x1p-60 * below, 0, &plan, &error), BRUME_EARGUMENT);
    assert_fails(brume_smooth_plan_log_normal(1e4 * above, 0, &plan, &error), BRUME_EARGUMENT);
    assert_fails(brume_smooth_plan_log_normal(1e4, 64 * above, &plan, &error), BRUME_EARGUMENT);
    assert_fails(brume_smooth_plan_log_normal(1, -0.1, &plan, &error), BRUME_EARGUMENT);
    assert_ok(brume_smooth_plan_cauchy(0x1p-30, 0, &plan, &error));
    assert_ok(brume_smooth_plan_cauchy(60, 0, &plan, &error));
    assert_fails(brume_smooth_plan_cauchy(0x1p-30 * below, 0, &plan, &error), BRUME_EARGUMENT);
    assert_fails(brume_smooth_plan_cauchy(60 * above, 0, &plan, &error), BRUME_EARGUMENT);
    assert_fails(brume_smooth_plan_cauchy(1, -0.1, &plan, &error), BRUME_EARGUMENT);
    assert_ok(brume_smooth_plan_laplace(700, 1e-6, 0, &plan, &error));
    assert_fails(brume_smooth_plan_laplace(700 * above, 1e-6, 0, &plan, &error), BRUME_EARGUMENT);
    assert_fails(brume_smooth_plan_laplace(1, 1e-6, -0.1, &plan, &error), BRUME_EARGUMENT);
}

/* A value beyond the limit is the limit before noise is added; without noise it is shown as it is;
 * and where nothing can change nothing is drawn. */
static void values_are_clamped_before_noise(void **state)
{
    (void)state;
    const brume_smooth_plan plan = {.law = BRUME_SMOOTH_LAPLACE, .s = 0.5};
    const int64_t limit = INT64_C(1) << 61;
    const int64_t values[][2] = {{INT64_MAX, limit}, {limit + 1, limit}, {INT64_MIN, -limit}};
    int64_t out = 0, expected = 0;
    for (size_t i = 0; i < 3; i++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            brume_bits *bits = brume_tape_open_seeded(seed), *same = brume_tape_open_seeded(seed);
            assert_ok(brume_smooth_release(&plan, bits, values[i][0], 50, 100, &out, &error));
            assert_ok(brume_smooth_release(&plan, same, values[i][1], 50, 100, &expected, &error));
            assert_true(out == expected && llabs(out) <= limit && llabs(out) > limit - 100000);
            brume_bits_close(bits);
            brume_bits_close(same);
        }
    const int64_t shown[] = {0, 7, -7, limit, -limit};
    for (size_t i = 0; i < 5; i++) {
        assert_ok(brume_smooth_release(&plan, NULL, shown[i], 0, 0, &out, &error));
        assert_true(out == shown[i]);
    }
    const brume_smooth_plan none = {.law = BRUME_SMOOTH_LAPLACE, .s = 0};
    assert_fails(brume_smooth_release(&none, NULL, 7, 0, 0, &out, &error), BRUME_EARGUMENT);
    assert_fails(brume_smooth_release(&none, NULL, 7, 0, 1, &out, &error), BRUME_EARGUMENT);
    assert_fails(brume_smooth_release(&plan, NULL, 7, 0, -1, &out, &error), BRUME_EARGUMENT);
    assert_fails(brume_smooth_release(&plan, NULL, 7, -1, 1, &out, &error), BRUME_EARGUMENT);
    assert_fails(brume_smooth_release(&plan, NULL, 7, 1, 0x1p49, &out, &error), BRUME_EARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_student_plan_spends_its_epsilon),
        cmocka_unit_test(a_log_normal_plan_spends_its_rho),
        cmocka_unit_test(the_delta_of_laplace_is_rounded_up),
        cmocka_unit_test(plans_leave_nothing_unspent),
        cmocka_unit_test(plans_reach_to_the_ends_of_their_ranges),
        cmocka_unit_test(values_are_clamped_before_noise),
    };
    return cmocka_run_group_tests_name("smooth plans", tests, NULL, NULL);
}
