/* Costs on their side of the truth: every closed form against 300 bits, over a grid of parameters;
 * never below the exact value (or above it, where less is worse), and off by its last places only.
 * Then what the cards make of them, at the ends of their ranges too. */
#include "cost_of.h"

#include <mpfr.h>

#include <brume/account/account.h>

#include "mechanism/card.h"
#include "mechanism/formula.h"

/* A number of the grid: no short decimal, so that nothing is exact by accident. */
static double grid(int i, double least, double ratio)
{
    return least * pow(ratio, i) * (1 + 1e-3 * ((i * 37) % 11));
}

/* At least the exact value, and at most two units in the last place above it; or the reverse. */
static void assert_upper(const char *what, double found, mpfr_t exact)
{
    double least = mpfr_get_d(exact, MPFR_RNDU);
    if (!(found >= least && found <= least * (1 + 0x1p-51)))
        fail_msg("%s: %.17g, the exact value rounded up is %.17g", what, found, least);
}

static void assert_lower(const char *what, double found, mpfr_t exact)
{
    double most = mpfr_get_d(exact, MPFR_RNDD);
    if (!(found <= most && found >= most * (1 - 0x1p-51)))
        fail_msg("%s: %.17g, the exact value rounded down is %.17g", what, found, most);
}

static void closed_forms_are_rounded_up(void **state)
{
    (void)state;
    mpfr_t x, y;
    mpfr_inits2(300, x, y, (mpfr_ptr)NULL);
    for (int i = 0; i < 60; i++) {
        double d = grid(i, 1e-3, 1.31), sigma = grid((i * 17) % 60, 1e-2, 1.27);
        mpfr_set_d(x, d, MPFR_RNDN);
        mpfr_div_d(x, x, sigma, MPFR_RNDN);
        mpfr_sqr(x, x, MPFR_RNDN);
        mpfr_div_2ui(x, x, 1, MPFR_RNDN);
        assert_upper("D^2/(2 sigma^2)", brume_gaussian_rho_upper(d, sigma), x);
        mpfr_set_d(x, d, MPFR_RNDN);
        mpfr_div_d(x, x, sigma, MPFR_RNDN);
        mpfr_div_d(x, x, sigma, MPFR_RNDN);
        mpfr_div_2ui(x, x, 1, MPFR_RNDN);
        assert_upper("square/(2 sigma^2)", brume_square_rho_upper(d, sigma), x);
        double epsilon = grid(i, 1e-4, 1.25);
        mpfr_set_d(x, epsilon, MPFR_RNDN);
        mpfr_div_2ui(x, x, 1, MPFR_RNDN);
        mpfr_tanh(x, x, MPFR_RNDN);
        mpfr_mul_d(x, x, epsilon, MPFR_RNDN);
        assert_upper("epsilon tanh(epsilon/2)", brume_pure_rho_upper(epsilon), x);
        mpfr_set_d(x, epsilon, MPFR_RNDN);
        mpfr_neg(x, x, MPFR_RNDN);
        mpfr_expm1(x, x, MPFR_RNDN);
        mpfr_add_d(x, x, epsilon, MPFR_RNDN);
        assert_upper("epsilon + e^-epsilon - 1", brume_laplace_rho_upper(epsilon), x);
        mpfr_set_d(x, epsilon, MPFR_RNDN);
        mpfr_sqr(x, x, MPFR_RNDN);
        mpfr_div_2ui(x, x, 3, MPFR_RNDN);
        assert_upper("epsilon^2/8", brume_bounded_range_rho_upper(epsilon), x);
    }
    /* where digits would cancel, and at the ends */
    assert_close(brume_laplace_rho_upper(1e-14), 0.5e-28, 1e-10);
    assert_close(brume_laplace_rho_upper(0x1p-40), 0x1p-81, 1e-10);
    assert_true(isinf(brume_laplace_rho_upper(INFINITY)) && isinf(brume_pure_rho_upper(INFINITY)));
    assert_true(isinf(brume_square_rho_upper(INFINITY, 3)));
    mpfr_clears(x, y, (mpfr_ptr)NULL);
}

/* ln(1 + rate (e^epsilon - 1)), and never more than without a sample. */
static void the_epsilon_of_a_sample_is_rounded_up(void **state)
{
    (void)state;
    static const double rates[] = {1e-9, 1e-3, 0.1, 0.5, 0.999, 1 - 0x1p-53};
    mpfr_t x;
    mpfr_init2(x, 300);
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++)
        for (int i = 0; i < 60; i++) {
            double epsilon = grid(i, 1e-15, 2), found;
            found = brume_sampled_epsilon_upper(epsilon, rates[r]);
            if (epsilon > 700)
                continue;
            mpfr_set_d(x, epsilon, MPFR_RNDN);
            mpfr_expm1(x, x, MPFR_RNDN);
            mpfr_mul_d(x, x, rates[r], MPFR_RNDN);
            mpfr_log1p(x, x, MPFR_RNDN);
            assert_true(found >= mpfr_get_d(x, MPFR_RNDU) && found <= epsilon);
            assert_close(found, mpfr_get_d(x, MPFR_RNDU),
                         fmax(epsilon < 0x1p-29 ? epsilon : 0, 1e-15));
        }
    assert_true(brume_sampled_epsilon_upper(3, 1) == 3);
    /* ln(1 + 1e-250 (exp(1e-12) - 1)): nothing of its digits is lost */
    double least = brume_sampled_epsilon_upper(1e-12, 1e-250);
    assert_true(least >= 1e-262 && least <= 1e-262 * (1 + 1e-11));
    assert_true(isinf(brume_sampled_epsilon_upper(INFINITY, 0.5)));
    mpfr_clear(x);
}

static void integers_are_meant_within_a_millionth(void **state)
{
    (void)state;
    assert_true(brume_integer_bound(3) == 3 && brume_integer_bound(3.5) == 3);
    assert_true(brume_integer_bound(2.9999999) == 3 && brume_integer_bound(2.9999) == 2);
    assert_true(brume_integer_bound(3.0000001) == 3 && brume_integer_bound(0.5) == 0);
}

static void the_cards_of_noise_round_up(void **state)
{
    (void)state;
    mpfr_t x;
    mpfr_init2(x, 300);
    for (int i = 0; i < 40; i++) {
        char text[160];
        double d = grid(i, 1.7, 1.13), scale = grid((i * 7) % 40, 0.3, 1.21);
        snprintf(text, sizeof text, "laplace(scale=%.17g, sensitivity=%.17g)", scale, d);
        brume_cost cost = cost_of(text);
        mpfr_set_d(x, d, MPFR_RNDN);
        mpfr_div_d(x, x, scale, MPFR_RNDN);
        assert_upper(text, cost.epsilon, x);
        assert_true(cost.law.a == cost.epsilon && cost.pure == BRUME_EXACT);
        snprintf(text, sizeof text, "gaussian(sigma=%.17g, sensitivity=%.17g)", scale, d);
        assert_upper(text, cost_of(text).law.a, x);
        snprintf(text, sizeof text, "poisson(rate=0.3, gaussian(sigma=%.17g, sensitivity=%.17g))",
                 scale, d);
        mpfr_ui_div(x, 1, x, MPFR_RNDN);
        assert_lower(text, cost_of(text).law.a, x);
        snprintf(text, sizeof text, "discrete_laplace(scale=%.17g, sensitivity=%.17g)", scale, d);
        cost = cost_of(text);
        mpfr_set_d(x, floor(d), MPFR_RNDN);
        mpfr_div_d(x, x, scale, MPFR_RNDN);
        assert_upper(text, cost.epsilon, x);
        mpfr_set_ui(x, 1, MPFR_RNDN);
        mpfr_div_d(x, x, scale, MPFR_RNDN);
        assert_upper(text, cost.law.a, x);
        assert_true(cost.law.shift == (uint64_t)floor(d));
        double rate = grid(i, 1e-4, 1.2), delta = grid((i * 11) % 40, 1e-12, 1.5);
        snprintf(text, sizeof text, "poisson(rate=%.17g, approximate(epsilon=0.5, delta=%.17g))",
                 rate, delta);
        mpfr_set_d(x, rate, MPFR_RNDN);
        mpfr_mul_d(x, x, delta, MPFR_RNDN);
        assert_upper(text, cost_of(text).delta_failure, x);
    }
    mpfr_clear(x);
}

/* Of one integer the change is whole, also where its square is no exact double; of several the
 * square is whole. */
static void squares_of_integers_are_whole(void **state)
{
    (void)state;
    mpfr_t x;
    mpfr_init2(x, 300);
    static const struct {
        const char *text;
        double change, square; /* one of them */
    } cases[] = {
        {"discrete_gaussian(sigma=7, sensitivity=3.9)", 3, 0},
        {"discrete_gaussian(sigma=7, sensitivity=2000)", 2000, 0},
        {"discrete_gaussian(sigma=7, sensitivity=67108864)", 0x1p26, 0},
        {"discrete_gaussian(sigma=7, sensitivity=134217728.7)", 134217729, 0},
        {"discrete_gaussian(sigma=7, sensitivity=1.5, coordinates=2)", 0, 2},
        {"discrete_gaussian(sigma=7, sensitivity=1.414213562373095, coordinates=9)", 0, 2},
        {"discrete_gaussian(sigma=7, sensitivity=2.9999999, coordinates=9)", 0, 9},
        {"discrete_gaussian(sigma=7, sensitivity=3.7, coordinates=9)", 0, 13},
        {"discrete_gaussian(sigma=7, sensitivity=134217728.7, coordinates=9)", 134217729, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double rho = cost_of(cases[i].text).rho;
        mpfr_set_d(x, cases[i].change, MPFR_RNDN);
        mpfr_sqr(x, x, MPFR_RNDN);
        mpfr_add_d(x, x, cases[i].square, MPFR_RNDN);
        mpfr_div_ui(x, x, 98, MPFR_RNDN);
        assert_upper(cases[i].text, rho, x);
    }
    mpfr_clear(x);
}

/* What a sample makes of a law, and how well that is known. */
static void a_sample_has_the_law_that_its_card_names(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        brume_loss_kind kind;
        brume_quality loss, pure;
    } cases[] = {
        {"poisson(rate=0.1, laplace(scale=0.0625))", BRUME_LOSS_POISSON_LAPLACE, BRUME_EXACT,
         BRUME_EXACT},
        {"poisson(rate=0.1, laplace(scale=0.0624))", BRUME_LOSS_POISSON_PURE, BRUME_UPPER,
         BRUME_EXACT},
        {"poisson(rate=0.1, discrete_laplace(scale=9, sensitivity=64))",
         BRUME_LOSS_POISSON_DISCRETE_LAPLACE, BRUME_EXACT, BRUME_EXACT},
        {"poisson(rate=0.1, discrete_laplace(scale=9, sensitivity=65))", BRUME_LOSS_POISSON_PURE,
         BRUME_UPPER, BRUME_EXACT},
        {"poisson(rate=0.1, discrete_laplace(scale=9))", BRUME_LOSS_POISSON_PURE, BRUME_EXACT,
         BRUME_EXACT},
        {"poisson(rate=0.1, pure(epsilon=1))", BRUME_LOSS_POISSON_PURE, BRUME_EXACT, BRUME_EXACT},
        {"poisson(rate=0.1, approximate(epsilon=1, delta=1e-9))", BRUME_LOSS_POISSON_PURE,
         BRUME_UPPER, BRUME_UPPER},
        {"poisson(rate=0.1, approximate(epsilon=0, delta=1e-9))", BRUME_LOSS_PURE, BRUME_UPPER,
         BRUME_UPPER},
        {"poisson(rate=0.1, gaussian(sigma=2))", BRUME_LOSS_POISSON_GAUSSIAN, BRUME_EXACT,
         BRUME_ABSENT},
        {"poisson(rate=0.1, discrete_gaussian(sigma=1e300))", BRUME_LOSS_POISSON_GAUSSIAN,
         BRUME_ABSENT, BRUME_ABSENT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_cost cost = cost_of(cases[i].text);
        if (cost.law.kind != cases[i].kind || cost.loss != cases[i].loss ||
            cost.pure != cases[i].pure)
            fail_msg("%s: law %d, %d, pure %d", cases[i].text, (int)cost.law.kind, (int)cost.loss,
                     (int)cost.pure);
    }
    /* the curve of integer Gaussian noise on a sample: that of a Gaussian of no more noise */
    brume_cost alone = cost_of("discrete_gaussian(sigma=3.3)"),
               cost = cost_of("poisson(rate=0.1, discrete_gaussian(sigma=3.3))");
    assert_true(cost.law.a <= 3.3 && cost.law.a > 3.3 * (1 - 1e-15));
    assert_true(cost.rho == alone.rho && cost.renyi == BRUME_UPPER);
}

static void qualities_are_those_that_are_attained(void **state)
{
    (void)state;
    assert_int_equal(cost_of("randomized_response(epsilon=1)").concentrated, BRUME_EXACT);
    assert_int_equal(cost_of("randomized_response(epsilon=1, k=3)").concentrated, BRUME_UPPER);
    assert_int_equal(cost_of("discrete_laplace(scale=2)").concentrated, BRUME_EXACT);
    assert_int_equal(cost_of("discrete_laplace(scale=2, sensitivity=2)").concentrated, BRUME_UPPER);
    assert_true(cost_of("discrete_laplace(scale=2)").rho == brume_pure_rho_upper(0.5));
    assert_true(cost_of("discrete_laplace(scale=2, sensitivity=2)").rho < brume_pure_rho_upper(1));
    /* the widest shift that has a law */
    brume_cost wide = cost_of("discrete_laplace(scale=1e16, sensitivity=9007199254740992)");
    assert_true(wide.loss == BRUME_EXACT && wide.law.shift == (uint64_t)1 << 53);
}

/* Is epsilon what somebody typed, or scale and sensitivity with a short quotient? */
static void typed_epsilons_are_known(void **state)
{
    (void)state;
    const struct {
        const char *text;
        bool decimal;
    } cases[] = {{"pure(epsilon=0.1)", true},
                 {"laplace(scale=10)", true},
                 {"laplace(scale=8)", true},
                 {"laplace(scale=3)", false},
                 {"laplace(scale=0.5, sensitivity=9)", true},
                 {"laplace(scale=0.3, sensitivity=0.06)", true},
                 {"laplace(scale=2e7, sensitivity=3e9)", true},
                 {"laplace(scale=4e7, sensitivity=1e7)", true},
                 {"laplace(scale=7, sensitivity=3)", false},
                 {"gaussian(sigma=10)", false},
                 {"poisson(rate=0.5, laplace(scale=10))", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (cost_of(cases[i].text).epsilon_is_decimal != cases[i].decimal)
            fail_msg("%s", cases[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_forms_are_rounded_up),
        cmocka_unit_test(the_epsilon_of_a_sample_is_rounded_up),
        cmocka_unit_test(integers_are_meant_within_a_millionth),
        cmocka_unit_test(the_cards_of_noise_round_up),
        cmocka_unit_test(squares_of_integers_are_whole),
        cmocka_unit_test(a_sample_has_the_law_that_its_card_names),
        cmocka_unit_test(qualities_are_those_that_are_attained),
        cmocka_unit_test(typed_epsilons_are_known),
    };
    return cmocka_run_group_tests_name("rounded costs", tests, NULL, NULL);
}
