/* Few atoms beside many draws of one law, against independent sums in MPFR and against other
 * routes: both ends, deltas and epsilons. */
#include "check.h"

#include <math.h>

#include "accountant/crowd.h"
#include "accountant/draws.h"
#include "accountant/line.h"
#include "accountant/reference.h"
#include "accountant/solve.h"

static brume_law open_law(brume_loss loss, double draws)
{
    brume_law law;
    brume_error error;
    assert_ok(brume_law_open(&loss, draws, false, &law, &error));
    return law;
}

/* Draws of one law on the reference's lattice, of epsilon or 1/scale m steps. */
static brume_law random_law(reference *sum, uint64_t draws)
{
    long m = 1 + (long)below(4);
    double a = sum->step * (double)m;
    unsigned kind = below(3);
    if (kind == 0) {
        reference_pure(sum, m, draws);
        return open_law((brume_loss){.kind = BRUME_LOSS_PURE, .a = a}, (double)draws);
    }
    if (kind == 1) {
        uint64_t k = 3 + below(40);
        reference_kary(sum, m, k, draws);
        return open_law((brume_loss){.kind = BRUME_LOSS_KARY, .a = a, .shift = k}, (double)draws);
    }
    long shift = 1 + (long)below(3);
    reference_discrete_laplace(sum, m, shift, draws);
    return open_law(
        (brume_loss){.kind = BRUME_LOSS_DISCRETE_LAPLACE, .a = a, .shift = (uint64_t)shift},
        (double)draws);
}

static void sums_over_atoms_contain_the_exact_sum(void **state)
{
    (void)state;
    draws_state = 1;
    unsigned checked = 0;
    mpfr_t exact;
    mpfr_init2(exact, REFERENCE_BITS);
    for (unsigned trial = 0; trial < 60; trial++) {
        reference sum = reference_zero(ldexp(3 + (double)below(40), -10));
        brume_law laws[3];
        size_t count = 2 + below(2);
        laws[0] = random_law(&sum, 20 + below(100));
        for (size_t i = 1; i < count; i++)
            laws[i] = random_law(&sum, 1 + below(5));
        double spread = 0;
        for (size_t i = 0; i < count; i++)
            spread += laws[i].count * laws[i].top * laws[i].top;
        double epsilon = 4 * uniform() * sqrt(spread) + 0.3 * spread;
        reference_delta(exact, &sum, epsilon);
        double truth = mpfr_get_d(exact, MPFR_RNDN);
        brume_crowd *crowd = brume_crowd_open(laws, count, epsilon, fmax(truth, 1e-30), 1e6);
        if (crowd && truth > 1e-30) {
            brume_closed closed = brume_crowd_form(crowd);
            for (int i = -1; i <= 1; i++) { /* and beside the epsilon it was laid for */
                double at = epsilon + i * 0.1 * sqrt(spread);
                double low = closed.delta(closed.context, at, BRUME_LOWER_SIDE);
                double high = closed.delta(closed.context, at, BRUME_UPPER_SIDE);
                reference_delta(exact, &sum, at);
                if (!(mpfr_cmp_d(exact, low) >= 0 && mpfr_cmp_d(exact, high) <= 0))
                    fail_msg("trial %u: %.17g not in [%.17g, %.17g]", trial,
                             mpfr_get_d(exact, MPFR_RNDN), low, high);
                if (i == 0) /* next to a place of the lattice delta moves as its losses do */
                    assert_true(high - low <= 1e-9 * high);
            }
            checked++;
        }
        brume_crowd_close(crowd);
        for (size_t i = 0; i < count; i++)
            brume_law_close(&laws[i]);
        reference_clear(&sum);
    }
    mpfr_clear(exact);
    assert_true(checked >= 30);
}

/* Laplace draws of one kind: of many, whose line ends by itself, and of few, by their own routes.
 */
static void atoms_beside_laplaces_are_their_exact_sum(void **state)
{
    (void)state;
    draws_state = 7;
    mpfr_t exact;
    mpfr_init2(exact, REFERENCE_BITS);
    for (unsigned trial = 0; trial < 6; trial++) {
        reference sum = reference_zero(0x1p-6 * (1 + below(9)));
        double e = 0.05 + 0.2 * uniform();
        unsigned draws = 8 + below(3);
        brume_law laws[] = {random_law(&sum, 1 + below(2)),
                            open_law((brume_loss){.kind = BRUME_LOSS_LAPLACE, .a = e}, draws)};
        double epsilon = (0.1 + 0.5 * uniform()) * draws * e;
        reference_laplace_delta(exact, &sum, &e, &draws, 1, epsilon);
        brume_crowd *crowd = brume_crowd_open(laws, 2, epsilon, mpfr_get_d(exact, MPFR_RNDN), 1e6);
        assert_non_null(crowd);
        brume_closed closed = brume_crowd_form(crowd);
        double low = closed.delta(closed.context, epsilon, BRUME_LOWER_SIDE);
        double high = closed.delta(closed.context, epsilon, BRUME_UPPER_SIDE);
        if (!(mpfr_cmp_d(exact, low) >= 0 && mpfr_cmp_d(exact, high) <= 0))
            fail_msg("trial %u: %.17g not in [%.17g, %.17g]", trial, mpfr_get_d(exact, MPFR_RNDN),
                     low, high);
        assert_true(high - low <= 1e-9 * high);
        brume_crowd_close(crowd);
        brume_law_close(&laws[0]);
        brume_law_close(&laws[1]);
        reference_clear(&sum);
    }
    mpfr_clear(exact);
}

/* One Laplace draw on a Poisson sample beside pure draws: between those of lines. */
static void atoms_beside_a_thinned_draw_agree_with_lines(void **state)
{
    (void)state;
    for (int trial = 0; trial < 8; trial++) {
        bool added = trial % 2;
        brume_loss loss = {
            .kind = BRUME_LOSS_POISSON_LAPLACE, .a = 0.3 + 0.3 * trial, .rate = 0.02 + 0.1 * trial};
        brume_law laws[2];
        brume_error error;
        assert_ok(brume_law_open(&loss, 1, added, &laws[0], &error));
        laws[1] = open_law((brume_loss){.kind = BRUME_LOSS_PURE, .a = 0.21}, 3);
        double epsilon = 0.1 + 0.12 * trial, lower, upper;
        brume_crowd *crowd = brume_crowd_open(laws, 2, epsilon, 1e-3, 1e6);
        assert_non_null(crowd);
        brume_closed closed = brume_crowd_form(crowd);
        double low = closed.delta(closed.context, epsilon, BRUME_LOWER_SIDE);
        double high = closed.delta(closed.context, epsilon, BRUME_UPPER_SIDE);
        assert_true(low <= high && high - low <= 1e-12 * high);
        brume_line line = {.laws = laws, .law_count = 2};
        brume_line_aim(&line, epsilon);
        line.unit = 0;
        line.width = 0.01 / fmax(line.c, 0.5);
        assert_true(brume_line_lay(&line, epsilon, brume_line_size(&line, epsilon)));
        brume_line_certify(&line, epsilon, &lower, &upper);
        if (!(lower <= high && low <= upper))
            fail_msg("trial %d: [%.17g, %.17g], by a line [%.17g, %.17g]", trial, low, high, lower,
                     upper);
        assert_true(upper - lower <= 1e-3 * upper);
        brume_line_close(&line);
        brume_crowd_close(crowd);
        brume_law_close(&laws[0]);
        brume_law_close(&laws[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_over_atoms_contain_the_exact_sum),
        cmocka_unit_test(atoms_beside_laplaces_are_their_exact_sum),
        cmocka_unit_test(atoms_beside_a_thinned_draw_agree_with_lines),
    };
    return cmocka_run_group_tests_name("accountant crowd", tests, NULL, NULL);
}
