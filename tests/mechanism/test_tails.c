/* Tails and masses of the noises against each other: a tail is what the masses leave, exactly where
 * it is said to be exact, by the stated formula where it is a bound; and the accuracy that is read
 * off a tail. */
#include "check.h"

#include <brume/account/account.h>

#include "mechanism/noise/tail.h"

static brume_error error;

static double upper(const arb_t ball)
{
    return brume_ball_upper(ball);
}

typedef void mass_function(arb_t out, double spread, int64_t k);

/* P[|X| >= k] as 1 minus the masses nearer to 0. */
static double tail_by_masses(mass_function *mass, double spread, int64_t k)
{
    arb_t sum, one;
    arb_init(sum), arb_init(one);
    arb_one(sum);
    for (int64_t j = 1 - k; j < k; j++) {
        mass(one, spread, j);
        arb_sub(sum, sum, one, BRUME_BALL_BITS);
    }
    double result = upper(sum);
    arb_clear(sum), arb_clear(one);
    return result;
}

static double tail_at(brume_tail *tail, double spread, double alpha)
{
    arb_t p;
    arb_init(p);
    tail(p, spread, alpha);
    double result = upper(p);
    arb_clear(p);
    return result;
}

static void exact_tails_are_what_the_masses_leave(void **state)
{
    (void)state;
    static const double spreads[] = {0.2, 0.39, 0.4, 1, 3.7, 20};
    for (size_t i = 0; i < sizeof spreads / sizeof *spreads; i++)
        for (int64_t k = 1; k < 12; k++) {
            double alpha = (double)k - (k % 2 ? 0 : 0.3), b = spreads[i];
            double laplace = tail_by_masses(brume_mass_discrete_laplace, b, k);
            double gaussian = tail_by_masses(brume_mass_discrete_gaussian, b, k);
            if (laplace > 1e-20)
                assert_close(tail_at(brume_tail_discrete_laplace, b, alpha), laplace, 1e-14);
            if (gaussian > 1e-20)
                assert_close(tail_at(brume_tail_discrete_gaussian, b, alpha), gaussian, 1e-14);
        }
    assert_true(tail_at(brume_tail_discrete_laplace, 3, 0) == 1);
    assert_true(tail_at(brume_tail_discrete_gaussian, 3, 0) == 1);
    /* the widest that is summed */
    assert_close(tail_at(brume_tail_discrete_gaussian, 64, 100),
                 tail_by_masses(brume_mass_discrete_gaussian, 64, 100), 1e-13);
}

/* Beyond a sigma of 64: the integral from half a step before k where the weight is convex there, a
 * whole step before it elsewhere; never below the truth. */
static void wide_gaussian_tails_are_bounded_by_integrals(void **state)
{
    (void)state;
    static const struct {
        double sigma, k, before;
    } cases[] = {{100, 101, 0.5}, {100, 100, 1},      {100, 1, 1},       {100, 300, 0.5},
                 {70, 75, 0.5},   {100.5, 101, 1},    {100.5, 102, 0.5}, {64.5, 64, 1},
                 {64.5, 66, 0.5}, {1e6, 1000001, 0.5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double sigma = cases[i].sigma, k = cases[i].k;
        double bound = tail_at(brume_tail_discrete_gaussian, sigma, k);
        assert_close(bound, erfc((k - cases[i].before) / (sigma * sqrt(2))), 1e-13);
        if (sigma < 101)
            assert_true(bound >=
                        tail_by_masses(brume_mass_discrete_gaussian, sigma, (int64_t)k) - 1e-15);
    }
}

static void what_reaches_a_place_is_the_sum_of_its_masses(void **state)
{
    (void)state;
    static const double scales[] = {0.3, 1, 4};
    arb_t reach, next, mass;
    arb_init(reach), arb_init(next), arb_init(mass);
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++)
        for (int64_t m = -5; m <= 5; m++) {
            brume_reach_discrete_laplace(reach, scales[i], m);
            brume_reach_discrete_laplace(next, scales[i], m + 1);
            brume_mass_discrete_laplace(mass, scales[i], m);
            arb_sub(reach, reach, next, BRUME_BALL_BITS);
            assert_close(upper(reach), upper(mass), 1e-12);
        }
    brume_reach_discrete_laplace(reach, 3, 1);
    assert_close(upper(reach), exp(-1. / 3) / (1 + exp(-1. / 3)), 1e-14);
    brume_reach_discrete_laplace(reach, 3, 60);
    assert_close(upper(reach), exp(-20) / (1 + exp(-1. / 3)), 1e-14);
    arb_clear(reach), arb_clear(next), arb_clear(mass);
}

/* The least error as rare as beta: as rare there, more frequent below. */
static void an_accuracy_is_the_least_of_its_chance(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "discrete_laplace(scale=0.4)",        "discrete_laplace(scale=30.7, coordinates=5)",
        "discrete_gaussian(sigma=0.3)",       "discrete_gaussian(sigma=12.5, coordinates=3)",
        "discrete_gaussian(sigma=200)",       "gaussian(sigma=0.7)",
        "gaussian(sigma=33, coordinates=40)", "laplace(scale=2.5, coordinates=3)",
    };
    static const double betas[] = {0.9, 0.5, 0.05, 1e-9};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t j = 0; j < sizeof betas / sizeof *betas; j++) {
            brume_expression e = {0};
            double alpha, here, less = 1;
            assert_ok(brume_expression_parse(texts[i], BRUME_ADD_REMOVE, &e, &error));
            assert_ok(brume_event_alpha(&e.events[0], betas[j], &alpha, &error));
            assert_ok(brume_event_beta(&e.events[0], alpha, &here, &error));
            bool whole = texts[i][0] == 'd';
            double below = whole ? alpha - 1 : alpha * (1 - 1e-12);
            if (below >= 0)
                assert_ok(brume_event_beta(&e.events[0], below, &less, &error));
            if (!(here <= betas[j] * (1 + 1e-15) && less > betas[j]))
                fail_msg("%s: %.17g at %g, %.17g below", texts[i], here, alpha, less);
            assert_true(!whole || alpha == floor(alpha));
            brume_expression_free(&e);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_tails_are_what_the_masses_leave),
        cmocka_unit_test(wide_gaussian_tails_are_bounded_by_integrals),
        cmocka_unit_test(what_reaches_a_place_is_the_sum_of_its_masses),
        cmocka_unit_test(an_accuracy_is_the_least_of_its_chance),
    };
    return cmocka_run_group_tests_name("tails", tests, NULL, NULL);
}
