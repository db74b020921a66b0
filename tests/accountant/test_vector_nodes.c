/* Many different Laplace and pure mechanisms: dense lines against single nodes, against exact sums
 * in MPFR, against sums over patterns in balls. */
#include "check.h"

#include <math.h>

#include "accountant/check/audit.h"
#include "accountant/exact/closed_form.h"
#include "accountant/contour/vector_fill.h"
#include "accountant/reference.h"
#include "accountant/solve/solve.h"
#include "accountant/terms.h"

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

static brume_line lay(brume_law *laws, size_t count, double epsilon, double share,
                      brume_laying laying)
{
    brume_line line = {.laws = laws, .law_count = count, .laying = laying};
    brume_line_aim(&line, epsilon);
    line.unit = 0;
    line.width = share / fmax(line.c, 0.5);
    assert_true(brume_line_lay(&line, epsilon, brume_line_size(&line, epsilon)));
    return line;
}

static void three_ways_of_laying_are_one_sum(void **state)
{
    (void)state;
    for (int trial = 0; trial < 12; trial++) {
        brume_law laws[MOST];
        double base = 0.02 * pow(2.3, trial % 6);
        size_t count =
            open_mixture(laws, 8 + 6 * (size_t)trial, base, trial % 3 ? 0.2 : 4, trial % 4);
        double deviation = 0, top = 0;
        for (size_t i = 0; i < count; i++) {
            deviation += laws[i].count * laws[i].a * laws[i].a;
            top += laws[i].count * laws[i].a;
        }
        double epsilon = fmin((1 + trial % 5) * sqrt(deviation) + 0.5 * deviation, 0.8 * top);
        brume_line quick = lay(laws, count, epsilon, 0.3, BRUME_LAY_QUICKEST);
        brume_line plain = lay(laws, count, epsilon, 0.3, BRUME_LAY_PORTABLE);
        brume_line single = lay(laws, count, epsilon, 0.3, BRUME_LAY_SINGLY);
        assert_true(quick.dense.count > 0 && plain.dense.count > 0 && single.dense.count == 0);
        for (int i = -2; i <= 2; i++) {
            double at = epsilon + i * 0.2 / quick.c;
            brume_line_sum a = brume_line_evaluate(&quick, at);
            brume_line_sum b = brume_line_evaluate(&plain, at);
            brume_line_sum c = brume_line_evaluate(&single, at);
            assert_true(fabs(a.value - b.value) <= a.error + b.error);
            if (!(fabs(a.value - c.value) <= a.error + c.error))
                fail_msg("trial %d: %.17g and %.17g, errors %g and %g", trial, a.value, c.value,
                         a.error, c.error);
            double open = quick.saddle * (quick.saddle + 1) * quick.band.width * quick.band.width /
                          8;
            assert_true(a.error <= 0.3 * open * a.value); /* little beside what the band leaves */
            brume_line_sum d = brume_line_evaluate_lower(&quick, at);
            brume_line_sum e = brume_line_evaluate_lower(&plain, at);
            brume_line_sum f = brume_line_evaluate_lower(&single, at);
            assert_true(fabs(d.value - e.value) <= d.error + e.error);
            assert_true(fabs(d.value - f.value) <= d.error + f.error);
            assert_true(d.value < a.value && d.value > (1 - 10 * open) * a.value);
            assert_close(a.slope, c.slope, 1e-3); /* it only proposes */
        }
        brume_line_close(&quick);
        brume_line_close(&plain);
        brume_line_close(&single);
        for (size_t i = 0; i < count; i++)
            brume_law_close(&laws[i]);
    }
}

/* Blocks by every kind of instructions this machine has, against the factors one by one. */
static void blocks_are_products_of_factors(void **state)
{
    (void)state;
    brume_law laws[MOST];
    size_t count = open_mixture(laws, 40, 0.03, 5, 3);
    for (size_t i = 0; i < 3; i++) { /* and laws of a Poisson sample */
        brume_loss loss = {
            .kind = BRUME_LOSS_POISSON_PURE, .a = 0.4 + 0.3 * (double)i, .rate = 0.2};
        brume_error error;
        assert_ok(brume_law_open(&loss, 1 + (double)(i * 5), i == 1, &laws[count + i], &error));
    }
    count += 3;
    brume_line line = {.laws = laws, .law_count = count, .h = 0.25, .c = 6};
    for (size_t i = 0; i < count; i++)
        assert_true(brume_law_settle(&laws[i], line.c));
    brume_vector_line_wave *waves = brume_vector_line_waves_open(&line);
    assert_non_null(waves);
    for (brume_filling filling = BRUME_FILL_PLAIN; filling <= BRUME_FILL_EIGHT; filling++) {
        brume_fill_function *fill = brume_vector_line_filler(filling);
        assert_true(fill || filling != BRUME_FILL_PLAIN);
        if (!fill)
            continue;
        double most = 0;
        for (size_t start = 0; start < 60; start++) {
            double y = (double)(start * BRUME_VECTOR_LINE_BLOCK) * line.h;
            brume_vector_line_nodes block = {.tilt = line.c + 0.5, .y = y, .h = line.h};
            brume_vector_line_waves_turn(waves, count, y, start % 16 != 0);
            fill(&block, waves, count);
            for (int j = 0; j < BRUME_VECTOR_LINE_BLOCK; j++) {
                long index = (long)start * BRUME_VECTOR_LINE_BLOCK + j;
                double at = (double)index * line.h, re = 0, im = 0;
                for (size_t i = 0; i < count; i++) {
                    brume_log_psi one = brume_law_node(&laws[i], index, line.h);
                    re += laws[i].count * one.re; /* the phase e^{iya} is left out of a block */
                    im += laws[i].count * (one.im - at * laws[i].a);
                }
                double off =
                    hypot(block.re[j] - exp(re) * cos(im), block.im[j] - exp(re) * sin(im));
                most = fmax(most, off);
            }
        }
        assert_true(most < 1e-12);
    }
    brume_vector_line_waves_close(waves);
    for (size_t i = 0; i < count; i++)
        brume_law_close(&laws[i]);
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
                brume_line line = lay(laws, counts[n], epsilon, share, BRUME_LAY_QUICKEST);
                assert_true(line.dense.count > 0);
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
        brume_closed closed = brume_pattern_form(pattern);
        double high = closed.delta(closed.context, epsilon, BRUME_UPPER_SIDE);
        double low = closed.delta(closed.context, epsilon, BRUME_LOWER_SIDE);
        brume_pattern_close(pattern);
        brume_line line = lay(laws, count, epsilon, 0.02, BRUME_LAY_QUICKEST);
        assert_true(line.dense.count > 0);
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

static void balls_agree_with_dense_sums(void **state)
{
    (void)state;
    for (int trial = 0; trial < 3; trial++) {
        brume_law laws[MOST];
        size_t count = open_mixture(laws, 10 + 20 * (size_t)trial, 0.05 + 0.3 * trial, 1, trial);
        double sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += laws[i].count * laws[i].a;
        brume_audit audit;
        assert_true(brume_audit_delta(laws, count, 0.4 * sum, &audit));
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
                if (!(width <= 1e-9))
                    fail_msg("%zu laplaces near %g at %g: width %g by %s", counts[n], bases[b],
                             deltas[d], width, out.route);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_ways_of_laying_are_one_sum),
        cmocka_unit_test(blocks_are_products_of_factors),
        cmocka_unit_test(lines_contain_the_exact_sum_of_many_pure_laws),
        cmocka_unit_test(lines_contain_the_sum_over_patterns),
        cmocka_unit_test(balls_agree_with_dense_sums),
        cmocka_unit_test(many_laplaces_are_sharp),
    };
    return cmocka_run_group_tests_name("accountant dense", tests, NULL, NULL);
}
