/* Many different Laplace and pure mechanisms: lines between band-limited functions against
 * exact sums in MPFR, and against sums over patterns in balls. */
#include "check.h"

#include <math.h>

#include "accountant/exact/delta_bounds.h"
#include "accountant/contour/line.h"
#include "accountant/reference.h"
#include "accountant/solve/solve.h"
#include "accountant/terms.h"
#include "balls.h"

enum { MOST = 100 };

static brume_law open_law(brume_loss_kind kind, double epsilon, double count)
{
    brume_loss loss = {.kind = kind, .a = epsilon};
    brume_law law;
    brume_error error;
    assert_ok(brume_law_open(&loss, count, false, &law, &error));
    return law;
}

/* Different epsilons, no two in a simple ratio: base (1 + frac(k golden) spread). */
static double epsilon_of(size_t k, double base, double spread)
{
    double x = (double)(k + 1) * 0.61803398874989485;
    return base * (1 + spread * (x - floor(x)));
}

static size_t open_mixture(brume_law *laws, size_t count, double base, double spread, int pure_each)
{
    for (size_t i = 0; i < count; i++) {
        bool pure = pure_each > 0 && i % (size_t)pure_each == 0;
        laws[i] = open_law(pure ? BRUME_LOSS_PURE : BRUME_LOSS_LAPLACE, epsilon_of(i, base, spread),
                           i % 7 == 3 ? 1 + (double)(i % 6) : 1);
    }
    return count;
}

static brume_line lay(brume_law *laws, size_t count, double epsilon, double share)
{
    brume_line line = {.laws = laws, .law_count = count};
    brume_line_aim(&line, epsilon);
    line.unit = 0;
    line.width = share / fmax(line.c, 0.5);
    assert_true(brume_line_lay(&line, epsilon, brume_line_size(&line, epsilon)));
    return line;
}

/* pure(m_i/128), all m_i different: one lattice, so the profile is a finite sum */
static void lines_contain_the_exact_sum_of_many_pure_laws(void **state)
{
    (void)state;
    const size_t counts[] = {12, 30, 60};
    mpfr_t exact;
    mpfr_init2(exact, REFERENCE_BITS);
    for (size_t n = 0; n < 3; n++) {
        reference law = reference_zero(0x1p-7);
        brume_law laws[MOST];
        for (size_t i = 0; i < counts[n]; i++) {
            long m = 3 + (long)(i * 5 % 61);
            reference_pure(&law, m, 1);
            laws[i] = open_law(BRUME_LOSS_PURE, (double)m * 0x1p-7, 1);
        }
        for (double epsilon = 0.5; epsilon < 6; epsilon += 0.71) {
            reference_delta(exact, &law, epsilon);
            if (mpfr_cmp_d(exact, 1e-60) < 0)
                continue;
            double truth = mpfr_get_d(exact, MPFR_RNDN), lower, upper;
            for (double share = 1; share > 0.03; share /= 6) {
                brume_line line = lay(laws, counts[n], epsilon, share);
                brume_line_certify(&line, epsilon, &lower, &upper);
                if (!(lower <= truth && truth <= upper))
                    fail_msg("%zu laws, epsilon %g: %.17g not in [%.17g, %.17g]", counts[n],
                             epsilon, truth, lower, upper);
                /* second order in the width, where the law is smooth */
                double c = line.saddle, open = c * (c + 1) * line.band.width * line.band.width / 8;
                if (counts[n] >= 30 && truth > 1e-8)
                    assert_true(upper - lower <= 1.5 * open * truth);
                brume_line_close(&line);
            }
        }
        for (size_t i = 0; i < counts[n]; i++)
            brume_law_close(&laws[i]);
        reference_clear(&law);
    }
    mpfr_clear(exact);
}

static void lines_contain_the_sum_over_patterns(void **state)
{
    (void)state;
    for (int trial = 0; trial < 10; trial++) {
        brume_law laws[MOST];
        size_t count = 7 + (size_t)trial % 4;
        for (size_t i = 0; i < count; i++)
            laws[i] = open_law(i % 3 || trial % 2 ? BRUME_LOSS_LAPLACE : BRUME_LOSS_PURE,
                               epsilon_of(i, 0.1 + 0.11 * trial, 2), 1);
        double top = 0;
        for (size_t i = 0; i < count; i++)
            top += laws[i].a;
        double epsilon = top * (0.1 + 0.06 * trial), lower, upper;
        brume_pattern *pattern = brume_pattern_open(laws, count, epsilon, 1e6);
        assert_non_null(pattern);
        brume_delta_bounds bounds = brume_pattern_bounds(pattern);
        double high = bounds.delta(bounds.context, epsilon, BRUME_UPPER_SIDE);
        double low = bounds.delta(bounds.context, epsilon, BRUME_LOWER_SIDE);
        brume_pattern_close(pattern);
        brume_line line = lay(laws, count, epsilon, 0.02);
        brume_line_certify(&line, epsilon, &lower, &upper);
        if (!(lower <= high && upper >= low))
            fail_msg("trial %d: line [%.17g, %.17g], patterns [%.17g, %.17g]", trial, lower, upper,
                     low, high);
        assert_true(upper - lower <= 1e-3 * high);
        brume_line_close(&line);
        for (size_t i = 0; i < count; i++)
            brume_law_close(&laws[i]);
    }
}

static void balls_agree_with_sums_of_many_laws(void **state)
{
    (void)state;
    for (int trial = 0; trial < 3; trial++) {
        brume_law laws[MOST];
        size_t count = open_mixture(laws, 10 + 20 * (size_t)trial, 0.05 + 0.3 * trial, 1, trial);
        double sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += laws[i].count * laws[i].a;
        ball_audit audit;
        assert_true(balls_audit_delta(laws, count, 0.4 * sum, &audit));
        assert_true(audit.agrees && audit.nodes > 100);
        for (size_t i = 0; i < count; i++)
            brume_law_close(&laws[i]);
    }
}

/* The widths that are promised, from few to a hundred, also where epsilon is near the top. */
static void many_laplaces_are_sharp(void **state)
{
    (void)state;
    const size_t counts[] = {30, 100};
    const double deltas[] = {1e-3, 1e-12, 1e-30}, bases[] = {0.02, 0.7};
    static brume_term terms[MOST];
    for (size_t n = 0; n < 2; n++)
        for (size_t b = 0; b < 2; b++)
            for (size_t d = 0; d < 3; d++) {
                for (size_t i = 0; i < counts[n]; i++)
                    terms[i] = laplace(epsilon_of(i, bases[b], 3), 1);
                brume_composition out;
                brume_error error;
                assert_ok(brume_compose_epsilon(terms, counts[n], deltas[d], NULL, &out, &error));
                double width = (out.value.upper - out.value.lower) / out.value.upper;
                if (!(width <= (counts[n] == 30 ? 1e-9 : 1e-6)))
                    fail_msg("%zu laplaces near %g at %g: width %g by %s", counts[n], bases[b],
                             deltas[d], width, out.route);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_contain_the_exact_sum_of_many_pure_laws),
        cmocka_unit_test(lines_contain_the_sum_over_patterns),
        cmocka_unit_test(balls_agree_with_sums_of_many_laws),
        cmocka_unit_test(many_laplaces_are_sharp),
    };
    return cmocka_run_group_tests_name("accountant many laws", tests, NULL, NULL);
}
