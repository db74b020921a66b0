/* Laplace losses with few continuous draws: the line over all peaks, against balls and against
 * other lines. */
#include "check.h"

#include <math.h>

#include <brume/compose.h>

#include "accountant/peaks.h"

#if __has_include(<flint/acb.h>)
#include <flint/acb.h>
#else
#include <acb.h>
#endif

enum { BITS = 1200, POWERS = 32 };

static brume_law laplace_law(double epsilon, double count)
{
    brume_loss loss = {.kind = BRUME_LOSS_LAPLACE, .a = epsilon};
    brume_law law;
    brume_error error;
    assert_ok(brume_law_open(&loss, count, false, &law, &error));
    return law;
}

/* first^i [Li_i(e^{i omega}) - sum over m < first], in balls */
static void sum_in_balls(double omega, int first, int power, double *re, double *im)
{
    acb_t z, sum, turn, term;
    arb_t angle, size;
    acb_init(z);
    acb_init(sum);
    acb_init(turn);
    acb_init(term);
    arb_init(angle);
    arb_init(size);
    arb_set_d(angle, omega);
    arb_sin_cos(acb_imagref(z), acb_realref(z), angle, BITS);
    acb_polylog_si(sum, power, z, BITS);
    acb_one(turn);
    for (int m = 1; m < first; m++) {
        acb_mul(turn, turn, z, BITS);
        arb_set_si(size, m);
        arb_pow_ui(size, size, (ulong)power, BITS);
        acb_div_arb(term, turn, size, BITS);
        acb_sub(sum, sum, term, BITS);
    }
    arb_set_si(size, first);
    arb_pow_ui(size, size, (ulong)power, BITS);
    acb_mul_arb(sum, sum, size, BITS);
    if (!(mag_get_d(arb_radref(acb_realref(sum))) < 1e-18 &&
          mag_get_d(arb_radref(acb_imagref(sum))) < 1e-18))
        fail_msg("omega %g first %d power %d: the ball is wide", omega, first, power);
    *re = arf_get_d(arb_midref(acb_realref(sum)), ARF_RND_NEAR);
    *im = arf_get_d(arb_midref(acb_imagref(sum)), ARF_RND_NEAR);
    acb_clear(z);
    acb_clear(sum);
    acb_clear(turn);
    acb_clear(term);
    arb_clear(angle);
    arb_clear(size);
}

static void sums_over_peaks_are_polylogarithms(void **state)
{
    (void)state;
    const double omegas[] = {0, 0x1p-50, 1e-9, 1e-4, 0.05, 0.7, 2, 3.1, M_PI};
    const int firsts[] = {8, 21, 60};
    for (size_t w = 0; w < sizeof omegas / sizeof *omegas; w++)
        for (size_t f = 0; f < 3; f++) {
            double re[POWERS], im[POWERS], error[POWERS], ball_re, ball_im;
            brume_peak_rule rule;
            brume_peak_rule_open(firsts[f], &rule);
            brume_peak_sums(&rule, omegas[w], POWERS, re, im, error);
            for (int i = 0; i < POWERS; i += i < 4 ? 1 : 9) {
                sum_in_balls(omegas[w], firsts[f], i + 2, &ball_re, &ball_im);
                double off = hypot(re[i] - ball_re, im[i] - ball_im);
                double own = 4 * BRUME_UNIT * firsts[f]; /* of the ball's doubles */
                if (!(off <= error[i] + own))
                    fail_msg("omega %g first %d power %d: off by %g, claimed %g", omegas[w],
                             firsts[f], i + 2, off, error[i]);
                assert_true(i > 3 || error[i] <= 4e-13 * firsts[f]); /* and says something */
            }
        }
}

/* The fourth epsilon of each row is on a point of the losses' lattice, where delta has a kink. */
static void lines_over_peaks_agree_with_sign_patterns(void **state)
{
    (void)state;
    const double counts[] = {9, 10, 31, 64, 150};
    const double epsilons[] = {1e-4, 0.003, 0.02, 0.1, 0.3, 1, 2.5};
    const double parts[] = {0, 0.05, 0.3, 0.6, 0.9};
    int compared = 0, steep = 0, told_apart = 0;
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 7; j++)
            for (size_t l = 0; l < 5; l++) {
                if (counts[i] * epsilons[j] > 250)
                    continue; /* the balls take long */
                brume_law law = laplace_law(epsilons[j], counts[i]);
                double epsilon = parts[l] * counts[i] * epsilons[j];
                if (l == 3)
                    epsilon = epsilons[j] * (counts[i] - 2 * floor(counts[i] / 5));
                brume_peaks *peaks = brume_peaks_open(&law, epsilon);
                if (!peaks) {
                    assert_true(counts[i] * epsilons[j] > 200);
                    brume_law_close(&law);
                    continue;
                }
                brume_closed line = brume_peaks_form(peaks);
                double upper = line.delta(line.context, epsilon, BRUME_UPPER_SIDE);
                double lower = line.delta(line.context, epsilon, BRUME_LOWER_SIDE);
                brume_pattern *pattern = brume_pattern_open(&law, 1, epsilon, 1e9);
                assert_non_null(pattern);
                brume_closed balls = brume_pattern_form(pattern);
                double ball_upper = balls.delta(balls.context, epsilon, BRUME_UPPER_SIDE);
                double ball_lower = balls.delta(balls.context, epsilon, BRUME_LOWER_SIDE);
                /* the line's interval holds for every parameter within 8 units, so it contains
                 * most of the balls' hull over 9 of them: never less than what lies between */
                if (!(upper >= 0.5 * (ball_upper + ball_lower) &&
                      lower <= 0.5 * (ball_upper + ball_lower)))
                    fail_msg("%g draws of %g at %g: line [%.17g, %.17g], balls [%.17g, %.17g]",
                             counts[i], epsilons[j], epsilon, lower, upper, ball_lower, ball_upper);
                assert_true(upper - lower <= 2e-10 * upper);
                /* a question that is off by 1e-8 is told apart */
                double off = epsilon * (1 + 1e-8) + 1e-8 * epsilons[j];
                if (upper < 0.9) { /* nearer to 1 the profile is flat */
                    told_apart += balls.delta(balls.context, off, BRUME_UPPER_SIDE) < lower;
                    steep++;
                }
                compared++;
                brume_pattern_close(pattern);
                brume_peaks_close(peaks);
                brume_law_close(&law);
            }
    assert_true(compared >= 140);
    assert_true(steep >= 120 && told_apart >= steep - 2);
}

/* Other lines have other c, h and places: independent sums of one number. */
static void lines_aimed_elsewhere_agree(void **state)
{
    (void)state;
    const struct {
        double a, count, epsilon;
    } cases[] = {{0.02, 1000, 2.5},  {0.02, 1000, 2.48}, {0.0075, 1000, 1}, {0.001, 20000, 0.8},
                 {0.002, 30000, 2},  {0.05, 1001, 7},    {0.3, 77, 6.9},    {1e-5, 1000000, 0.05},
                 {0.011, 5003, 3.3}, {0.9, 60, 27.0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_law law = laplace_law(cases[i].a, cases[i].count);
        double highest = 0, least = 1;
        for (double aim = 0.7; aim < 1.35; aim += 0.1) {
            brume_peaks *peaks = brume_peaks_open(&law, aim * cases[i].epsilon);
            assert_non_null(peaks);
            brume_closed line = brume_peaks_form(peaks);
            double upper = line.delta(line.context, cases[i].epsilon, BRUME_UPPER_SIDE);
            double lower = line.delta(line.context, cases[i].epsilon, BRUME_LOWER_SIDE);
            highest = fmax(highest, lower);
            least = fmin(least, upper);
            brume_peaks_close(peaks);
        }
        if (!(highest <= least && least - highest <= 1e-11 * least))
            fail_msg("case %zu: lower %.17g, upper %.17g", i, highest, least);
        brume_line smooth = {.laws = &law, .law_count = 1};
        brume_line_aim(&smooth, cases[i].epsilon);
        smooth.width = 0.2 / fmax(smooth.c, 0.5);
        double lower, upper;
        assert_true(
            brume_line_lay(&smooth, cases[i].epsilon, brume_line_size(&smooth, cases[i].epsilon)));
        brume_line_certify(&smooth, cases[i].epsilon, &lower, &upper);
        brume_line_close(&smooth);
        assert_true(lower <= least && upper >= highest);
        assert_true(upper <= 1.1 * least); /* and says something */
        brume_law_close(&law);
    }
}

static void other_laws_are_left_to_other_routes(void **state)
{
    (void)state;
    brume_law law = laplace_law(0.1, 8);
    assert_null(brume_peaks_open(&law, 0.3));
    law.count = 0x1p40;
    assert_null(brume_peaks_open(&law, 0.3));
    law.count = 100;
    law.kind = BRUME_LAW_PURE;
    assert_null(brume_peaks_open(&law, 0.3));
    law.kind = BRUME_LAW_LAPLACE;
    assert_null(brume_peaks_open(&law, -0.3));
    brume_law_close(&law);
}

/* The whole way, there and back. */
static void epsilon_and_delta_are_inverse_to_each_other(void **state)
{
    (void)state;
    for (double count = 9; count <= 30000; count *= 3)
        for (double total = 0.01; total < 70; total *= 7)
            for (double delta = 1e-2; delta > 1e-20; delta *= 1e-6) {
                brume_term term = {.count = (uint64_t)count};
                term.cost.loss = BRUME_EXACT;
                term.cost.law = (brume_loss){.kind = BRUME_LOSS_LAPLACE, .a = total / count};
                brume_composition out, low, high;
                brume_error error;
                assert_ok(brume_compose_epsilon(&term, 1, delta, NULL, &out, &error));
                assert_true(out.value.upper - out.value.lower <= 1e-10 * out.value.upper);
                assert_ok(brume_compose_delta(&term, 1, out.value.upper, NULL, &high, &error));
                assert_ok(brume_compose_delta(&term, 1, out.value.lower, NULL, &low, &error));
                assert_true(high.value.lower <= delta);
                assert_true(out.value.lower == 0 || low.value.upper >= delta);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_over_peaks_are_polylogarithms),
        cmocka_unit_test(lines_over_peaks_agree_with_sign_patterns),
        cmocka_unit_test(lines_aimed_elsewhere_agree),
        cmocka_unit_test(other_laws_are_left_to_other_routes),
        cmocka_unit_test(epsilon_and_delta_are_inverse_to_each_other),
    };
    return cmocka_run_group_tests_name("accountant peaks", tests, NULL, NULL);
}
