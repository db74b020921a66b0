/* Laws on commensurable lattices share one: rounded up for the upper end, down for the lower. */
#include "check.h"

#include <math.h>

#include "accountant/exact/delta_bounds.h"
#include "accountant/law/law.h"
#include "accountant/law/shift_parameters.h"
#include "accountant/reference.h"
#include "accountant/solve/solve.h"
#include "accountant/terms.h"
#include "balls.h"

static brume_law open_law(brume_loss_kind kind, double a, uint64_t shift, double count)
{
    brume_loss loss = {.kind = kind, .a = a, .shift = shift};
    brume_law law;
    brume_error error;
    assert_ok(brume_law_open(&loss, count, false, &law, &error));
    return law;
}

static void close_laws(brume_law *laws, size_t count)
{
    for (size_t i = 0; i < count; i++)
        brume_law_close(&laws[i]);
}

/* The decimals 0.1 m are exact multiples of each other, their doubles are not: the truth of the
 * multiples of the double 0.1 is within the parameters' units of both. */
static void decimal_multiples_contain_their_exact_sums(void **state)
{
    (void)state;
    const uint64_t draws[][5] = {{1, 1, 1, 0, 0}, {7, 3, 2, 4, 1}, {40, 20, 10, 9, 6}};
    mpfr_t exact;
    mpfr_init2(exact, REFERENCE_BITS);
    for (size_t n = 0; n < 3; n++) {
        reference law = reference_zero(0.1);
        brume_term terms[5] = {pure(0.1, draws[n][0]), pure(0.3, draws[n][1]),
                               pure(0.7, draws[n][2])};
        size_t count = 3;
        reference_pure(&law, 1, draws[n][0]);
        reference_pure(&law, 3, draws[n][1]);
        reference_pure(&law, 7, draws[n][2]);
        if (draws[n][3] > 0) {
            terms[count++] = kary(0.6, 4, draws[n][3]);
            terms[count++] = discrete_laplace(1.1, 3, draws[n][4]);
            reference_kary(&law, 6, 4, draws[n][3]);
            reference_discrete_laplace(&law, 11, 3, draws[n][4]);
        }
        brume_composition out;
        brume_error error;
        for (double epsilon = 0.05; epsilon < 9; epsilon += 0.83) {
            reference_delta(exact, &law, epsilon);
            assert_ok(brume_compose_delta(terms, count, epsilon, NULL, &out, &error));
            assert_true(mpfr_cmp_d(exact, out.value.lower) >= 0);
            assert_true(mpfr_cmp_d(exact, out.value.upper) <= 0);
        }
        for (double delta = 1e-3; delta > 1e-31; delta *= 1e-9) {
            assert_ok(brume_compose_epsilon(terms, count, delta, NULL, &out, &error));
            reference_delta(exact, &law, out.value.upper);
            assert_true(mpfr_cmp_d(exact, delta) <= 0);
            reference_delta(exact, &law, out.value.lower);
            assert_true(mpfr_cmp_d(exact, delta) >= 0);
            if (!(out.value.upper - out.value.lower <= 1e-10 * out.value.upper))
                fail_msg("case %zu delta %g: [%.17g, %.17g] by %s", n, delta, out.value.lower,
                         out.value.upper, out.route);
        }
        reference_clear(&law);
    }
    mpfr_clear(exact);
}

static void joined_laws_are_above_and_below_and_on_one_lattice(void **state)
{
    (void)state;
    const double moved[] = {0, 1e-15, -3e-14, 2e-13};
    for (size_t m = 0; m < 4; m++) {
        brume_law laws[3] = {open_law(BRUME_LOSS_PURE, 0.1, 0, 3),
                             open_law(BRUME_LOSS_KARY, 0.35 * (1 + moved[m]), 5, 2),
                             open_law(BRUME_LOSS_DISCRETE_LAPLACE, 0.2 * (1 - moved[m]), 2, 2)};
        brume_joined joined;
        assert_true(brume_lattice_join(laws, 3, &joined));
        assert_true(joined.upper != joined.lower);
        for (size_t i = 0; i < 3; i++) {
            assert_true(joined.upper[i].a >= laws[i].a && joined.lower[i].a <= laws[i].a);
            assert_true(joined.upper[i].a <= laws[i].a * (1 + 4e-12));
            assert_true(joined.lower[i].a >= laws[i].a * (1 - 4e-12));
            double measure = joined.upper[0].unit / joined.upper[0].multiple;
            assert_true(joined.upper[i].unit == joined.upper[i].multiple * measure);
            assert_true(joined.upper[i].count == laws[i].count);
        }
        brume_joined_close(&joined);
        /* the sum over patterns does not join: another proof of the same number */
        for (double epsilon = 0.11; epsilon < 1.7; epsilon += 0.3) {
            brume_pattern *pattern = brume_pattern_open(laws, 3, epsilon, 1e5);
            assert_non_null(pattern);
            brume_delta_bounds bounds = brume_pattern_bounds(pattern);
            double high = bounds.delta(bounds.context, epsilon, BRUME_UPPER_SIDE);
            double low = bounds.delta(bounds.context, epsilon, BRUME_LOWER_SIDE);
            brume_pattern_close(pattern);
            brume_certified certified;
            assert_true(
                brume_solve(laws, 3, &(brume_asked){.at = epsilon, .width = 1e-10}, &certified));
            assert_string_equal(certified.route,
                                "contour integral folded onto the lattice of losses");
            assert_true(certified.value.lower <= low && high <= certified.value.upper);
            assert_true(certified.value.upper - certified.value.lower <= 1e-10 * high);
        }
        close_laws(laws, 3);
    }
}

static void exact_multiples_do_not_move(void **state)
{
    (void)state;
    brume_law laws[2] = {open_law(BRUME_LOSS_PURE, 0.25, 0, 3),
                         open_law(BRUME_LOSS_PURE, 1.75, 0, 2)};
    brume_joined joined;
    assert_true(brume_lattice_join(laws, 2, &joined));
    assert_true(joined.upper == joined.lower);
    assert_true(joined.upper[0].multiple == 1 && joined.upper[1].multiple == 7);
    brume_joined_close(&joined);
    ball_audit audit; /* and the folded sum is what balls say */
    assert_true(balls_audit_delta(laws, 2, 1.1, &audit));
    assert_true(audit.agrees && audit.nodes > 2);
    close_laws(laws, 2);
}

static void what_is_not_commensurable_is_left_alone(void **state)
{
    (void)state;
    const struct {
        brume_loss_kind kind;
        double first, second;
    } cases[] = {{BRUME_LOSS_PURE, 0.1, 0.1 * M_SQRT2},
                 {BRUME_LOSS_PURE, 0.1, 0.1},          /* one lattice already */
                 {BRUME_LOSS_PURE, 0.1, 0.10001},      /* too fine */
                 {BRUME_LOSS_PURE, 0.1, 0.3000000001}, /* near, but not as near as doubles */
                 {BRUME_LOSS_LAPLACE, 0.1, 0.3}};      /* no lattice */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_law laws[2] = {open_law(BRUME_LOSS_PURE, cases[i].first, 0, 1),
                             open_law(cases[i].kind, cases[i].second, 0, 1)};
        brume_joined joined;
        assert_false(brume_lattice_join(laws, 2, &joined));
        close_laws(laws, 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decimal_multiples_contain_their_exact_sums),
        cmocka_unit_test(joined_laws_are_above_and_below_and_on_one_lattice),
        cmocka_unit_test(exact_multiples_do_not_move),
        cmocka_unit_test(what_is_not_commensurable_is_left_alone),
    };
    return cmocka_run_group_tests_name("accountant lattice", tests, NULL, NULL);
}
