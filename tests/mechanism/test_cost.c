/* Costs of events: the closed forms, their direction, and what is absent. */
#include "cost_of.h"

#include <brume/mechanism/expression.h>
#include <brume/noise/gaussian.h>

#include "accountant/renyi/renyi.h"

static brume_error error;

static brume_status refused(const char *text)
{
    brume_expression e = {0};
    brume_cost cost = {.epsilon = 42};
    assert_ok(brume_expression_parse(text, BRUME_ADD_REMOVE, &e, &error));
    brume_status status = brume_event_cost(&e.events[0], &cost, &error);
    brume_expression_free(&e);
    assert_true(cost.epsilon == 42);
    return status;
}

/* Never below the printed value, and above it by no more than its last digits. */
#define assert_tight_upper(actual, expected)                                                       \
    do {                                                                                           \
        assert_holds((actual) >= (expected) * (1 - 2e-16));                                        \
        assert_close((actual), (expected), 4e-16);                                                 \
    } while (0)

static void rho_is_the_exact_supremum_where_it_is_known(void **state)
{
    (void)state;
    brume_cost cost = cost_of("randomized_response(epsilon=1)");
    assert_tight_upper(cost.rho, 0.46211715726000976);
    assert_int_equal(cost.concentrated, BRUME_EXACT);
    cost = cost_of("laplace(scale=1)");
    assert_tight_upper(cost.rho, 0.36787944117144233);
    cost = cost_of("laplace(scale=1e20)"); /* where epsilon + exp(-epsilon) - 1 cancels */
    assert_close(cost.rho, 5e-41, 1e-12);
    assert_holds(cost.rho >= 5e-41 * (1 - 1e-16));
    cost = cost_of("gaussian(sigma=2, sensitivity=3)");
    assert_true(cost.rho == 1.125);
    cost = cost_of("discrete_gaussian(sigma=2, sensitivity=3)");
    assert_true(cost.rho == 1.125);
    cost = cost_of("discrete_laplace(scale=1)");
    assert_tight_upper(cost.rho, 0.46211715726000976);
    assert_int_equal(cost.concentrated, BRUME_EXACT);
    cost = cost_of("discrete_laplace(scale=1, sensitivity=2)"); /* its curve gives less */
    assert_int_equal(cost.concentrated, BRUME_UPPER);
    assert_true(cost_of("zcdp(rho=.5)").rho == .5);
}

static void rho_of_many_answers_and_of_wider_shifts_is_the_supremum_of_the_curve(void **state)
{
    (void)state;
    /* k = 20, epsilon = 1: at alpha = 4.726; KL alone would be .07912 */
    assert_close(cost_of("randomized_response(epsilon=1, k=20)").rho, .10199456, 2e-4);
    for (int k = 3; k <= 6; k++) { /* there it is the KL divergence (p-q) epsilon */
        char text[64];
        snprintf(text, sizeof text, "randomized_response(epsilon=1, k=%d)", k);
        double kl = (exp(1) - 1) / (exp(1) + k - 1);
        assert_holds(cost_of(text).rho >= kl);
        assert_close(cost_of(text).rho, kl, 3e-4);
    }
    /* a fine grid: discrete Laplace tends to the continuous one */
    assert_close(cost_of("discrete_laplace(scale=1000, sensitivity=1000)").rho, 0.36787944117144233,
                 1e-3);
    static const char *const texts[] = {
        "randomized_response(epsilon=1e-4, k=50)",   "randomized_response(epsilon=5, k=1000)",
        "randomized_response(epsilon=20, k=3)",      "discrete_laplace(scale=1, sensitivity=2)",
        "discrete_laplace(scale=.2, sensitivity=7)", "discrete_laplace(scale=50, sensitivity=3)",
        "randomized_response(epsilon=300, k=7)",     "discrete_laplace(scale=.01, sensitivity=2)",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        brume_cost cost = cost_of(texts[i]);
        double largest = 0;
        for (double less = 1e-6; less < 1e5; less *= 1.02)
            largest = fmax(largest, cost.renyi_upper(&cost, 1 + less) / (1 + less));
        assert_holds(cost.rho >= largest * (1 - 1e-12));
        assert_holds(cost.rho <= largest * (1 + 5e-4));
    }
}

static void selection_pays_an_eighth_only_where_the_range_is_bounded(void **state)
{
    (void)state;
    assert_true(cost_of("exponential(epsilon=2)").rho == .5);
    assert_tight_upper(cost_of("permute_and_flip(epsilon=1)").rho, 0.46211715726000976);
    assert_tight_upper(cost_of("noisy_max(epsilon=1)").rho, 0.46211715726000976);
    assert_tight_upper(cost_of("above_threshold(epsilon=1)").rho, 0.46211715726000976);
    assert_int_equal(cost_of("noisy_max(epsilon=1)").concentrated, BRUME_UPPER);
    assert_true(cost_of("exponential(epsilon=2, monotone=true, sensitivity=7)").epsilon == 2);
}

static void the_loss_law_is_named_with_its_parameters(void **state)
{
    (void)state;
    brume_cost cost = cost_of("laplace(scale=10, sensitivity=3)");
    assert_int_equal(cost.law.kind, BRUME_LOSS_LAPLACE);
    assert_tight_upper(cost.law.a, 0.3);
    cost = cost_of("gaussian(sigma=10, sensitivity=3)");
    assert_int_equal(cost.law.kind, BRUME_LOSS_GAUSSIAN);
    assert_tight_upper(cost.law.a, 0.3);
    assert_int_equal(cost.pure, BRUME_ABSENT);
    cost = cost_of("randomized_response(epsilon=1, k=5)");
    assert_int_equal(cost.law.kind, BRUME_LOSS_KARY);
    assert_int_equal(cost.law.shift, 5);
    cost = cost_of("randomized_response(epsilon=1)");
    assert_int_equal(cost.law.kind, BRUME_LOSS_PURE);
    cost = cost_of("discrete_gaussian(sigma=3, sensitivity=2)");
    assert_int_equal(cost.law.kind, BRUME_LOSS_DISCRETE_GAUSSIAN);
    assert_true(cost.law.a == 3 && cost.law.shift == 2);
    cost = cost_of("poisson(rate=.25, gaussian(sigma=3, sensitivity=2))");
    assert_int_equal(cost.law.kind, BRUME_LOSS_POISSON_GAUSSIAN);
    assert_true(cost.law.a == 1.5 && cost.law.rate == .25);
    assert_int_equal(cost.pure, BRUME_ABSENT);
    assert_int_equal(cost.concentrated, BRUME_UPPER);
    cost = cost_of("poisson(rate=.25, pure(epsilon=2))");
    assert_int_equal(cost.law.kind, BRUME_LOSS_POISSON_PURE);
    assert_true(cost.law.a == 2 && cost.law.rate == .25);
    assert_int_equal(cost.loss, BRUME_EXACT);
    assert_int_equal(cost.pure, BRUME_EXACT);
    assert_tight_upper(cost.epsilon, log1p(.25 * expm1(2)));
    cost = cost_of("poisson(rate=1, pure(epsilon=2))");
    assert_int_equal(cost.law.kind, BRUME_LOSS_PURE);
    cost = cost_of("poisson(rate=.25, laplace(scale=2, sensitivity=3))");
    assert_int_equal(cost.law.kind, BRUME_LOSS_POISSON_LAPLACE);
    assert_true(cost.law.a == 1.5 && cost.law.rate == .25 && cost.loss == BRUME_EXACT);
    cost = cost_of("poisson(rate=.25, laplace(scale=1, sensitivity=17))");
    assert_int_equal(cost.law.kind, BRUME_LOSS_POISSON_PURE); /* so little noise: the worst pure */
    assert_int_equal(cost.loss, BRUME_UPPER);
    cost = cost_of("poisson(rate=.25, discrete_laplace(scale=2, sensitivity=3))");
    assert_int_equal(cost.law.kind, BRUME_LOSS_POISSON_DISCRETE_LAPLACE);
    assert_true(cost.law.a == .5 && cost.law.shift == 3 && cost.loss == BRUME_EXACT);
    cost = cost_of("poisson(rate=.25, discrete_laplace(scale=2, sensitivity=65))");
    assert_int_equal(cost.law.kind, BRUME_LOSS_POISSON_PURE); /* too many atoms: the worst pure */
    assert_int_equal(cost.loss, BRUME_UPPER);
    cost = cost_of("poisson(rate=.25, exponential(epsilon=1))");
    assert_int_equal(cost.law.kind, BRUME_LOSS_POISSON_PURE);
    assert_int_equal(cost.loss, cost_of("exponential(epsilon=1)").loss);
    cost = cost_of("poisson(rate=.25, approximate(epsilon=1, delta=1e-6))");
    assert_int_equal(cost.law.kind, BRUME_LOSS_POISSON_PURE);
    assert_int_equal(cost.loss, BRUME_UPPER); /* failure and law apart are an upper bound */
    assert_tight_upper(cost.delta_failure, .25e-6);
    cost = cost_of("poisson(rate=.25, discrete_gaussian(sigma=3, coordinates=9, sensitivity=2))");
    assert_int_equal(cost.loss, BRUME_ABSENT);
    assert_int_equal(cost.concentrated, BRUME_UPPER);
    brume_cost real = cost_of("poisson(rate=.25, gaussian(sigma=3, sensitivity=2))");
    for (double order = 1.5; order < 200; order *= 1.7) { /* the curve of real noise */
        double expected = brume_renyi_sampled_gaussian_upper(&real, order);
        double curve = cost.renyi_upper(&cost, order);
        assert_true(curve >= expected && curve <= expected * (1 + 1e-13));
    }
    cost = cost_of("zcdp(rho=1)");
    assert_int_equal(cost.loss, BRUME_ABSENT);
    assert_int_equal(cost.pure, BRUME_ABSENT);
    cost = cost_of("approximate(epsilon=1, delta=1e-6)");
    assert_int_equal(cost.law.kind, BRUME_LOSS_PURE);
    assert_true(cost.delta_failure == 1e-6 && cost.epsilon == 1);
}

static void integer_noise_charges_the_integer_part_of_the_sensitivity(void **state)
{
    (void)state;
    brume_cost cost = cost_of("discrete_laplace(scale=2, sensitivity=3.9)");
    assert_true(cost.epsilon == 1.5);
    assert_int_equal(cost.law.shift, 3);
    assert_true(cost.law.a == .5);
    assert_fails(refused("discrete_laplace(scale=2, sensitivity=.9)"), BRUME_EARGUMENT);
    assert_fails(refused("discrete_gaussian(sigma=2, sensitivity=.9)"), BRUME_EARGUMENT);
    /* one number changes by at most 1; a vector of length 1.5 may change by 1 in two places */
    assert_true(cost_of("discrete_gaussian(sigma=1, sensitivity=1.5)").rho == .5);
    cost = cost_of("discrete_gaussian(sigma=1, sensitivity=1.5, coordinates=2)");
    assert_true(cost.rho == 1);
    assert_int_equal(cost.loss, BRUME_ABSENT);
    /* the root of 2 as a double is above the root: 2 fits in it */
    cost = cost_of("discrete_gaussian(sigma=1, sensitivity=1.4142135623730951, coordinates=9)");
    assert_true(cost.rho == 1);
    /* the root of 3 as a double is below the root: a squared length of 3 must still be charged */
    cost = cost_of("discrete_gaussian(sigma=1, sensitivity=1.7320508075688772, coordinates=9)");
    assert_true(cost.rho == 1.5);
}

static void sampling_lowers_pure_epsilon_and_failure(void **state)
{
    (void)state;
    brume_cost cost = cost_of("poisson(rate=.1, pure(epsilon=1))");
    assert_tight_upper(cost.epsilon, 0.15856507874042911); /* ln(1 + .1 (e-1)) */
    cost = cost_of("poisson(rate=.1, laplace(scale=1e10))");
    assert_close(cost.epsilon, 1e-11, 1e-9);
    cost = cost_of("poisson(rate=.5, approximate(epsilon=800, delta=.25))");
    assert_true(cost.delta_failure == .125);
    assert_close(cost.epsilon, 800 - 0.69314718055994531, 1e-15);
    cost = cost_of("poisson(rate=1, gaussian(sigma=2))");
    assert_int_equal(cost.law.kind, BRUME_LOSS_GAUSSIAN);
    assert_fails(refused("poisson(rate=.5, randomized_response(epsilon=1))"), BRUME_EUNSUPPORTED);
    assert_fails(refused("poisson(rate=.5, sparse_vector(epsilon=1, hits=2))"), BRUME_EUNSUPPORTED);
}

static void sparse_vector_adds_the_price_of_its_answers(void **state)
{
    (void)state;
    assert_true(cost_of("sparse_vector(epsilon=1, hits=5)").epsilon == 1);
    brume_cost cost = cost_of("sparse_vector(epsilon=1, hits=2, epsilon_answers=2)");
    assert_true(cost.epsilon == 3);
    /* (1 + 2) tanh(1/2): the numbers are integers, whose noise costs more than real noise */
    assert_close(cost.rho, 3 * 0.46211715726000976, 1e-15);
    cost = cost_of("sparse_vector(epsilon=1e-3, hits=100, epsilon_answers=100)");
    assert_true(cost.rho >= 100 * cost_of("discrete_laplace(scale=1)").rho);
}

static void renyi_curves_meet_the_vectors(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double alpha, value;
    } cases[] = {
        {"randomized_response(epsilon=1)", 1.5, 0.62733264704949932},
        {"randomized_response(epsilon=1)", 2, 0.73532566405551922},
        {"laplace(scale=1)", 1.5, 0.5128835112945086},
        {"laplace(scale=1)", 2, 0.61912362999859288},
        {"randomized_response(epsilon=.5)", 8, 0.43235370675646487},
        {"laplace(scale=2)", 8, 0.41026788176229154},
        {"discrete_laplace(scale=2)", 8, 0.43235370675646487},
        {"randomized_response(epsilon=1, k=3)", 2, 0.61840130562423456},
        {"randomized_response(epsilon=2, k=10)", 2, 1.3422815601260835},
        {"gaussian(sigma=1)", 3, 1.5},
        {"exponential(epsilon=1)", 2, 0.25}, /* alpha epsilon^2/8, below the pure curve */
        {"permute_and_flip(epsilon=1)", 2, 0.73532566405551922},
        {"exponential(epsilon=1)", 100, 0.99683574053011903}, /* the pure curve, far out */
        {"randomized_response(epsilon=1)", 1, 0.46211715726000976},
        {"laplace(scale=1)", 1, 0.36787944117144233},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_cost cost = cost_of(cases[i].text);
        double upper = cost.renyi_upper(&cost, cases[i].alpha);
        assert_close(upper, cases[i].value, 1e-15);
        assert_holds(upper >= cases[i].value * (1 - 2e-16));
    }
}

static void renyi_curves_grow_with_the_order_and_stay_under_rho_and_epsilon(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "randomized_response(epsilon=1e-3)",
        "laplace(scale=1000)",
        "discrete_laplace(scale=3, sensitivity=5)",
        "laplace(scale=.001)",
        "randomized_response(epsilon=.25, k=2)",
        "pure(epsilon=700)",
        "discrete_laplace(scale=1e6)",
        "poisson(rate=.01, laplace(scale=2))",
        "randomized_response(epsilon=1, k=20)",
        "exponential(epsilon=1)",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        brume_cost cost = cost_of(texts[i]);
        double before = 0;
        for (double alpha = 1 + 0x1p-40; alpha < 1e6; alpha = 1 + (alpha - 1) * 3) {
            double value = cost.renyi_upper(&cost, alpha);
            assert_holds(value >= before * (1 - 1e-15));
            assert_holds(value <= cost.epsilon);
            if (cost.rho < cost.epsilon / alpha && strncmp(texts[i], "exp", 3) != 0)
                assert_holds(value <= alpha * cost.rho * (1 + 1e-14));
            before = value;
        }
    }
}

static void absurd_parameters_cost_infinity_or_next_to_nothing_never_nan(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "laplace(scale=1e-300, sensitivity=1e300)",
        "gaussian(sigma=1e-300)",
        "gaussian(sigma=1e-300, sensitivity=1e300)",
        "gaussian(sigma=1e300)",
        "laplace(scale=1e300)",
        "discrete_laplace(scale=1e-300)",
        "discrete_laplace(scale=5e-324)",
        "discrete_gaussian(sigma=1e-300)",
        "discrete_gaussian(sigma=1, sensitivity=1e300)",
        "pure(epsilon=1e308)",
        "pure(epsilon=5e-324)",
        "exponential(epsilon=1e300)",
        "zcdp(rho=1e308)",
        "poisson(rate=1e-300, gaussian(sigma=1e-300))",
        "poisson(rate=1e-300, laplace(scale=1e-300))",
        "randomized_response(epsilon=1e300, k=4)",
        "poisson(rate=.5, gaussian(sigma=5e-324, sensitivity=1e300))",
        "sparse_vector(epsilon=1e308, hits=1, epsilon_answers=1e308)",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        brume_cost cost = cost_of(texts[i]);
        assert_true(cost.pure == BRUME_ABSENT || cost.epsilon > 0);
        assert_true(cost.concentrated == BRUME_ABSENT || cost.rho > 0);
        assert_true(cost.loss == BRUME_ABSENT || (isfinite(cost.law.a) && cost.law.a > 0));
        if (cost.renyi != BRUME_ABSENT)
            assert_true(cost.renyi_upper(&cost, 2) > 0);
    }
}

static void the_event_itself_is_checked_before_its_cost(void **state)
{
    (void)state;
    brume_event good = {.mechanism = 2,
                        .adjacency = BRUME_REPLACE,
                        .sensitivity = 1,
                        .parameter = {1, 1},
                        .count = 1};
    brume_cost cost = {0};
    assert_ok(brume_event_cost(&good, &cost, &error));
    const double bad[] = {NAN, INFINITY, -INFINITY, 0, -1};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        brume_event event = good;
        event.parameter[0] = bad[i];
        assert_fails(brume_event_cost(&event, &cost, &error), BRUME_EARGUMENT);
        event = good;
        event.sensitivity = bad[i];
        assert_fails(brume_event_cost(&event, &cost, &error), BRUME_EARGUMENT);
    }
    brume_event event = good;
    event.count = 0;
    assert_fails(brume_event_check(&event, &error), BRUME_EARGUMENT);
    event.count = (uint64_t)1 << 63;
    assert_fails(brume_event_check(&event, &error), BRUME_EARGUMENT);
    event = good;
    event.base = 4;
    assert_fails(brume_event_check(&event, &error), BRUME_EARGUMENT);
    event = good;
    event.mechanism = 12;
    event.sensitivity = 2;
    assert_fails(brume_event_check(&event, &error), BRUME_EARGUMENT);
    event.mechanism = 11;
    assert_fails(brume_event_check(&event, &error), BRUME_EARGUMENT);
    event.mechanism = 77;
    assert_fails(brume_event_check(&event, &error), BRUME_EUNKNOWN);
}

/* A bound a hair below an integer lost its last digits: it is taken for the integer. */
static void a_bound_a_hair_below_an_integer_is_that_integer(void **state)
{
    (void)state;
    const struct {
        const char *text, *whole; /* of the same price */
    } pairs[] = {
        {"discrete_gaussian(sigma=2, sensitivity=1.9999999)",
         "discrete_gaussian(sigma=2, sensitivity=2)"},
        {"discrete_gaussian(sigma=2, sensitivity=0.9999999999999999)",
         "discrete_gaussian(sigma=2, sensitivity=1)"},
        {"discrete_gaussian(sigma=2, sensitivity=2.999999, coordinates=4)",
         "discrete_gaussian(sigma=2, sensitivity=3, coordinates=4)"},
        {"discrete_gaussian(sigma=2, sensitivity=1.414213562373095, coordinates=2)",
         "discrete_gaussian(sigma=2, sensitivity=1.5, coordinates=2)"},
        {"discrete_gaussian(sigma=2, sensitivity=1.4142134, coordinates=2)",
         "discrete_gaussian(sigma=2, sensitivity=1.5, coordinates=2)"},
        {"discrete_laplace(scale=2, sensitivity=2.9999999999)",
         "discrete_laplace(scale=2, sensitivity=3)"},
        /* and farther below it is not */
        {"discrete_gaussian(sigma=2, sensitivity=1.99)", "discrete_gaussian(sigma=2)"},
        {"discrete_gaussian(sigma=2, sensitivity=1.4142, coordinates=2)",
         "discrete_gaussian(sigma=2, coordinates=2)"},
        {"discrete_laplace(scale=2, sensitivity=2.999)",
         "discrete_laplace(scale=2, sensitivity=2)"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        brume_cost cost[2] = {{0}, {0}};
        for (int j = 0; j < 2; j++) {
            brume_expression e = {0};
            assert_ok(brume_expression_parse(j ? pairs[i].whole : pairs[i].text, BRUME_ADD_REMOVE,
                                             &e, &error));
            assert_ok(brume_event_cost(&e.events[0], &cost[j], &error));
            brume_expression_free(&e);
        }
        assert_holds(cost[0].rho == cost[1].rho && cost[0].epsilon == cost[1].epsilon);
        assert_true(cost[0].law.shift == cost[1].law.shift);
    }
    double sigma, whole;
    assert_ok(brume_discrete_gaussian_sigma(1, 1e-5, 1.9999999, &sigma, &error));
    assert_ok(brume_discrete_gaussian_sigma(1, 1e-5, 2, &whole, &error));
    assert_holds(sigma == whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bound_a_hair_below_an_integer_is_that_integer),
        cmocka_unit_test(rho_is_the_exact_supremum_where_it_is_known),
        cmocka_unit_test(rho_of_many_answers_and_of_wider_shifts_is_the_supremum_of_the_curve),
        cmocka_unit_test(selection_pays_an_eighth_only_where_the_range_is_bounded),
        cmocka_unit_test(the_loss_law_is_named_with_its_parameters),
        cmocka_unit_test(integer_noise_charges_the_integer_part_of_the_sensitivity),
        cmocka_unit_test(sampling_lowers_pure_epsilon_and_failure),
        cmocka_unit_test(sparse_vector_adds_the_price_of_its_answers),
        cmocka_unit_test(renyi_curves_meet_the_vectors),
        cmocka_unit_test(renyi_curves_grow_with_the_order_and_stay_under_rho_and_epsilon),
        cmocka_unit_test(absurd_parameters_cost_infinity_or_next_to_nothing_never_nan),
        cmocka_unit_test(the_event_itself_is_checked_before_its_cost),
    };
    return cmocka_run_group_tests_name("cost", tests, NULL, NULL);
}
