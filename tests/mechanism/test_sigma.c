/* How much Gaussian noise: the printed sigmas, certified, and where the textbook's fails. */
#include "check.h"

#include <gmp.h>
#include <mpfr.h>

#include <brume/account/compose.h>
#include <brume/mechanism/expression.h>
#include <brume/noise/gaussian.h>

#include "accountant/exact/delta_bounds.h"
#include "random/tape.h"

static brume_error error;

static void the_analytic_sigma_meets_the_vectors_and_its_own_profile(void **state)
{
    (void)state;
    static const double cases[][3] = {
        {1, 1e-5, 3.7306316348159418},  {.5, 1e-5, 7.0318266755824914},
        {.1, 1e-6, 36.304690426195785}, {10, 1e-5, .49988861970900851},
        {3, 1e-10, 2.0622531789074064},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double sigma;
        assert_ok(brume_gaussian_sigma(cases[i][0], cases[i][1], 1, &sigma, &error));
        assert_close(sigma, cases[i][2], 1e-12);
        assert_holds(brume_profile_gaussian(1 / sigma * (1 + 1e-15), cases[i][0]).upper <=
                     cases[i][1] * (1 + 1e-9));
        assert_holds(brume_profile_gaussian(1 / (sigma * (1 - 1e-9)), cases[i][0]).lower >
                     cases[i][1]);
        double wide;
        assert_ok(brume_gaussian_sigma(cases[i][0], cases[i][1], 37.5, &wide, &error));
        assert_close(wide, 37.5 * sigma, 1e-12);
    }
    double sigma;
    assert_ok(brume_gaussian_sigma(1, 1e-30, 1, &sigma, &error));
    assert_holds(brume_profile_gaussian(1 / sigma, 1).lower <= 1e-30);
    assert_ok(brume_gaussian_sigma(1, 1e-300, 1, &sigma, &error));
    assert_ok(brume_gaussian_sigma(1e-8, 1e-9, 1, &sigma, &error));
}

static void the_classical_sigma_overpays_up_to_one_and_is_refused_above(void **state)
{
    (void)state;
    double sigma;
    assert_ok(brume_gaussian_sigma_classical(1, 1e-5, 1, &sigma, &error));
    assert_close(sigma, 4.8448052626053894, 1e-15);
    assert_close(brume_profile_gaussian(1 / sigma, 1).upper, 4.1e-8, .02);
    for (double delta = 1e-12; delta < .5; delta *= 7)
        for (double epsilon = .01; epsilon <= 1; epsilon *= 1.5) {
            assert_ok(brume_gaussian_sigma_classical(epsilon, delta, 1, &sigma, &error));
            assert_holds(brume_profile_gaussian(1 / sigma, epsilon).upper <= .25 * delta);
        }
    sigma = 42;
    assert_fails(brume_gaussian_sigma_classical(1.0001, 1e-5, 1, &sigma, &error), BRUME_EARGUMENT);
    assert_true(sigma == 42);
    assert_non_null(strstr(error.hint, "analytic"));
    /* what it would have cost: sigma by the formula at epsilon = 10 and 20 */
    double formula = sqrt(2 * log(1.25e5)) / 10;
    assert_close(brume_profile_gaussian(1 / formula, 10).upper, 2.265e-5, 1e-3);
    formula = sqrt(2 * log(1.25e5)) / 20;
    assert_close(brume_profile_gaussian(1 / formula, 20).upper, 1.53e-3, 1e-2);
    formula = sqrt(2 * log(1.25e5)) / 50;
    assert_close(brume_profile_gaussian(1 / formula, 50).upper, .586, 1e-3);
}

/* delta(epsilon) of the discrete Gaussian by its definition. */
static double discrete_delta(double sigma, int shift, double epsilon)
{
    double whole = 0, delta = 0;
    for (int k = 2000; k >= -2000; k--)
        whole += exp(-(double)k * k / (2 * sigma * sigma));
    for (int k = -2000; k <= 2000; k++) {
        double p = exp(-(double)k * k / (2 * sigma * sigma));
        double q = exp(-(double)(k - shift) * (k - shift) / (2 * sigma * sigma));
        delta += fmax(0, p - exp(epsilon) * q);
    }
    return delta / whole;
}

static void the_discrete_sigma_is_calibrated_on_its_own_profile(void **state)
{
    (void)state;
    static const double cases[][3] = {{1, 1e-5, 1}, {.5, 1e-6, 1}, {2, 1e-4, 3},
                                      {4, 1e-6, 1}, {8, 1e-3, 2},  {1, 1e-5, 7.9}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double epsilon = cases[i][0], delta = cases[i][1], sigma;
        int shift = (int)cases[i][2];
        assert_ok(brume_discrete_gaussian_sigma(epsilon, delta, cases[i][2], &sigma, &error));
        assert_holds(discrete_delta(sigma, shift, epsilon) <= delta * (1 + 1e-9));
        assert_close(discrete_delta(sigma, shift, epsilon), delta, 1e-4);
    }
    /* the continuous sigma is not enough: 1.035 delta at (1, 1e-5) */
    assert_close(discrete_delta(3.7306316348159418, 1, 1), 1.035e-5, 1e-3);
    /* large shift and sigma: next to the continuous one */
    double continuous, discrete;
    assert_ok(brume_gaussian_sigma(1, 1e-6, 1000, &continuous, &error));
    assert_ok(brume_discrete_gaussian_sigma(1, 1e-6, 1000, &discrete, &error));
    assert_close(discrete, continuous, 1e-3);
}

static void sigma_of_rho_is_the_exact_root_rounded_up(void **state)
{
    (void)state;
    double sigma;
    assert_ok(brume_gaussian_sigma_of_rho(.5, 3, &sigma, &error));
    assert_true(sigma == 3);
    assert_ok(brume_gaussian_sigma_of_rho(.1, 1, &sigma, &error));
    assert_close(sigma, 2.2360679774997897, 1e-15);
}

static void bad_targets_are_refused_and_leave_the_output(void **state)
{
    (void)state;
    static const double bad[][3] = {
        {0, 1e-5, 1},  {-1, 1e-5, 1},       {NAN, 1e-5, 1}, {INFINITY, 1e-5, 1}, {1, 0, 1},
        {1, .5, 1},    {1, 1, 1},           {1, -1, 1},     {1, NAN, 1},         {1, 1e-5, 0},
        {1, 1e-5, -1}, {1, 1e-5, INFINITY}, {1, 1e-5, NAN},
    };
    double sigma = 42;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_fails(brume_gaussian_sigma(bad[i][0], bad[i][1], bad[i][2], &sigma, &error),
                     BRUME_EARGUMENT);
        assert_fails(
            brume_gaussian_sigma_classical(bad[i][0], bad[i][1], bad[i][2], &sigma, &error),
            BRUME_EARGUMENT);
        assert_fails(brume_discrete_gaussian_sigma(bad[i][0], bad[i][1], bad[i][2], &sigma, &error),
                     BRUME_EARGUMENT);
    }
    assert_fails(brume_discrete_gaussian_sigma(1, 1e-5, .5, &sigma, &error), BRUME_EARGUMENT);
    assert_fails(brume_gaussian_sigma_of_rho(0, 1, &sigma, &error), BRUME_EARGUMENT);
    assert_fails(brume_gaussian_sigma_of_rho(1, NAN, &sigma, &error), BRUME_EARGUMENT);
    assert_fails(brume_gaussian_sigma(1e-300, 1e-300, 1e300, &sigma, &error), BRUME_EOVERFLOW);
    assert_true(sigma == 42);
}

/* ---- roundings ---- */

static uint64_t seed = 4;

static double some_number(int octaves)
{
    double mantissa = 1 + (double)(brume_tape_splitmix(&seed) >> 12) * 0x1p-52;
    return ldexp(mantissa, (int)(brume_tape_splitmix(&seed) % (2 * (uint64_t)octaves)) - octaves);
}

/* left >= right > left (1 - 2^-48), without a rounding. */
static void is_just_above(const mpq_t left, const mpq_t right)
{
    mpq_t x;
    mpq_init(x);
    assert_true(mpq_cmp(left, right) >= 0);
    mpq_set_d(x, 1 - 0x1p-48);
    mpq_mul(x, x, left);
    assert_true(mpq_cmp(right, x) > 0);
    mpq_clear(x);
}

/* factor * x^power * y^power, exactly. */
static void product(mpq_t out, double factor, double x, double y, int power)
{
    mpq_t part;
    mpq_init(part);
    mpq_set_d(out, factor);
    for (int i = 0; i < power; i++) {
        mpq_set_d(part, x);
        mpq_mul(out, out, part);
        mpq_set_d(part, y);
        mpq_mul(out, out, part);
    }
    mpq_clear(part);
}

static brume_cost cost_of(const char *name, const char *parameter, double spread,
                          double sensitivity)
{
    char text[160];
    brume_expression e = {0};
    brume_cost cost = {0};
    snprintf(text, sizeof text, "%s(%s=%.17g, sensitivity=%.17g)", name, parameter, spread,
             sensitivity);
    assert_ok(brume_expression_parse(text, BRUME_ADD_REMOVE, &e, &error));
    assert_ok(brume_event_cost(&e.events[0], &cost, &error));
    brume_expression_free(&e);
    return cost;
}

/* Rejects: any rounding of a cost or of a noise turned: epsilon b >= s, 2 rho sigma^2 >= s^2, and
 * epsilon sigma >= s sqrt(2 ln(1.25/delta)), to the last bit. */
static void costs_and_noises_are_rounded_up_and_by_little(void **state)
{
    (void)state;
    mpq_t paid, used;
    mpfr_t root;
    mpq_inits(paid, used, NULL);
    mpfr_init2(root, 200);
    for (int i = 0; i < 300; i++) {
        double spread = some_number(9), s = some_number(9), rho = some_number(9), sigma = 0;
        double whole = (double)(1 + brume_tape_splitmix(&seed) % 1000), one = 1;
        product(used, s, one, one, 1);
        product(paid, cost_of("laplace", "scale", spread, s).epsilon, spread, one, 1);
        is_just_above(paid, used);
        product(used, one, s, one, 2);
        product(paid, 2 * cost_of("gaussian", "sigma", spread, s).rho, spread, one, 2);
        is_just_above(paid, used);
        brume_cost cost = cost_of("discrete_laplace", "scale", spread, whole);
        product(used, whole, one, one, 1);
        product(paid, cost.epsilon, spread, one, 1);
        is_just_above(paid, used);
        product(used, one, one, one, 1);
        product(paid, cost.law.a, spread, one, 1);
        is_just_above(paid, used);
        product(used, one, whole, one, 2);
        product(paid, 2 * cost_of("discrete_gaussian", "sigma", spread, whole).rho, spread, one, 2);
        is_just_above(paid, used);
        assert_ok(brume_gaussian_sigma_of_rho(rho, s, &sigma, &error));
        product(used, one, s, one, 2);
        product(paid, 2 * rho, sigma, one, 2);
        is_just_above(paid, used);
        /* the analytic one is the certified ratio times the sensitivity */
        product(used, brume_profile_gaussian_sigma_upper(rho, 1e-6), s, 1, 1);
        assert_ok(brume_gaussian_sigma(rho, 1e-6, s, &sigma, &error));
        product(paid, sigma, one, one, 1);
        is_just_above(paid, used);
        /* the classical one: its root is rounded down with 200 bits */
        double epsilon = ldexp(some_number(1), -2), delta = ldexp(some_number(1), -20);
        assert_ok(brume_gaussian_sigma_classical(epsilon, delta, s, &sigma, &error));
        mpfr_set_d(root, 1.25, MPFR_RNDN);
        mpfr_div_d(root, root, delta, MPFR_RNDD);
        mpfr_log(root, root, MPFR_RNDD);
        mpfr_mul_2ui(root, root, 1, MPFR_RNDD);
        mpfr_sqrt(root, root, MPFR_RNDD);
        mpfr_mul_d(root, root, s, MPFR_RNDD);
        mpfr_get_q(used, root);
        product(paid, one, epsilon, sigma, 1);
        is_just_above(paid, used);
    }
    mpq_clears(paid, used, NULL);
    mpfr_clear(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_analytic_sigma_meets_the_vectors_and_its_own_profile),
        cmocka_unit_test(the_classical_sigma_overpays_up_to_one_and_is_refused_above),
        cmocka_unit_test(the_discrete_sigma_is_calibrated_on_its_own_profile),
        cmocka_unit_test(sigma_of_rho_is_the_exact_root_rounded_up),
        cmocka_unit_test(bad_targets_are_refused_and_leave_the_output),
        cmocka_unit_test(costs_and_noises_are_rounded_up_and_by_little),
    };
    return cmocka_run_group_tests_name("sigma", tests, NULL, NULL);
}
