/* Calibrated values: the target is met, and a billionth less noise, or one more of a whole number,
 * does not meet it. */
#include "accounted.h"

static brume_calibration calibrated(const char *text, double epsilon, double delta)
{
    brume_expression e = {0};
    brume_calibration result;
    assert_ok(brume_expression_parse(text, BRUME_ADD_REMOVE, &e, &error));
    assert_ok(brume_calibrate(&e, epsilon, delta, &result, &error));
    brume_expression_free(&e);
    assert_true(result.epsilon_upper <= epsilon);
    assert_true(result.epsilon_upper >= epsilon * (1 - 1e-6));
    return result;
}

/* At least the truth and above it by at most 1e-9. */
#define assert_calibrated(text, epsilon, delta, truth)                                             \
    do {                                                                                           \
        double value_ = calibrated(text, epsilon, delta).value, truth_ = (truth);                  \
        if (!(value_ >= truth_ * (1 - 1e-15) && value_ <= truth_ * (1 + 1e-9)))                    \
            fail_msg("%s: %.17g, expected %.17g", text, value_, truth_);                           \
    } while (0)

static void calibration_errs_to_more_noise_by_at_most_a_billionth(void **state)
{
    (void)state;
    assert_calibrated("gaussian(sigma=?)", 1, 1e-5, 3.7306316348159418322);
    assert_calibrated("gaussian(sigma=?)", 0.1, 1e-6, 36.304690426195784939);
    assert_calibrated("gaussian(sigma=?)", 10, 1e-5, 0.49988861970900851464);
    assert_calibrated("gaussian(sigma=?)", 1, 1e-15, 7.4870094679865954635);
    assert_calibrated("gaussian(sigma=?)*100", 1, 1e-6, 42.246788893268352830);
    assert_calibrated("poisson(rate=0.01, gaussian(sigma=?))*1000", 2, 1e-5,
                      0.95910155241359811310);
    /* delta = 1e-30 has no published value: the profile is the judge */
    double sigma = calibrated("gaussian(sigma=?)", 1, 1e-30).value;
    char text[80];
    snprintf(text, sizeof text, "gaussian(sigma=%.17g)", sigma);
    assert_true(delta_by(BRUME_METHOD_PLD, text, 1).upper <= 1e-30);
    snprintf(text, sizeof text, "gaussian(sigma=%.17g)", sigma * (1 - 1e-9));
    assert_true(delta_by(BRUME_METHOD_PLD, text, 1).lower > 1e-30);
}

/* Where the certificate is dear the search looks by guesses and ends on one coarser certificate:
 * the sharpest one must agree that the value fits and that a billionth less noise does not. */
static void a_value_fits_and_a_billionth_less_noise_does_not(void **state)
{
    (void)state;
    const struct {
        const char *expression;
        double epsilon, delta;
    } cases[] = {
        {"poisson(rate=0.01, gaussian(sigma=?))*1000", 2, 1e-5},
        {"poisson(rate=?, gaussian(sigma=1))*1000", 2, 1e-5},
        {"poisson(rate=0.01, gaussian(sigma=?))*10 + gaussian(sigma=10)", 1, 1e-6},
        {"poisson(rate=0.01, gaussian(sigma=?))*1000 + laplace(scale=10)", 2, 1e-6},
        {"laplace(scale=?)*1000 + laplace(scale=10)*3", 2, 1e-6},
        {"laplace(scale=?)*1000 + pure(epsilon=0.1)*3 + laplace(scale=20)*2", 2, 1e-6},
        {"laplace(scale=?)*1000 + laplace(scale=1)", 3, 1e-6},
        {"laplace(scale=?)*1000 + laplace(scale=3)*5", 5, 1e-9},
        {"laplace(scale=?)*1000 + laplace(scale=2) + laplace(scale=3) + pure(epsilon=0.3)", 3,
         1e-6},
        {"laplace(scale=?)*300 + pure(epsilon=0.7)", 2, 1e-9},
        {"laplace(scale=?)*100 + laplace(scale=3)*5", 5, 1e-9},
        {"laplace(scale=?)*100000 + pure(epsilon=1)", 3, 1e-6},
        {"laplace(scale=?)*5 + pure(epsilon=0.1)*3 + laplace(scale=20)*2", 2, 1e-6},
        {"laplace(scale=?) + laplace(scale=10)*3", 1, 1e-6},
        {"pure(epsilon=?)*10 + laplace(scale=50)*100", 3, 1e-6},
        {"randomized_response(epsilon=?, k=10)*100", 3, 1e-6},
        {"randomized_response(epsilon=?, k=4)*1000", 1, 1e-6},
        {"approximate(epsilon=?, delta=1e-8)*30 + laplace(scale=40)*20", 2, 1e-6},
        {"laplace(scale=?)*1000 + approximate(epsilon=0.1, delta=1e-7)*3", 2, 1e-6},
        /* kinks, where an estimate of smoothing's part fails */
        {"discrete_gaussian(sigma=?)*6 + pure(epsilon=0.08294)*3 + pure(epsilon=0.006952)*6",
         1.6220159405558818, 2.0720328188586108e-10},
        {"discrete_gaussian(sigma=?)*1842 + laplace(scale=53.83)*3 + pure(epsilon=0.4372)*3",
         2.2169773317129615, 1.8199576559795113e-09},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_expression e = {0};
        brume_calibration result;
        assert_ok(brume_expression_parse(cases[i].expression, BRUME_ADD_REMOVE, &e, &error));
        assert_ok(brume_calibrate(&e, cases[i].epsilon, cases[i].delta, &result, &error));
        bool more = e.unknown.parameter->direction == BRUME_MORE_NOISE;
        double less = more ? result.value / (1 + 1e-9) : result.value * (1 + 1e-9);
        brume_bound fits = delta_at(&e, result.value, cases[i].epsilon);
        brume_bound beyond = delta_at(&e, less, cases[i].epsilon);
        /* the search may be sharper than an account, whose band ends at a billionth of epsilon */
        bool fit = fits.lower <= cases[i].delta && fits.upper <= cases[i].delta * (1 + 1e-8);
        if (!(fit && beyond.upper > cases[i].delta))
            fail_msg("%s: %.17g has delta %.17g, with less noise %.17g", cases[i].expression,
                     result.value, fits.upper, beyond.upper);
        /* and where the interval is narrow, that it does not is certified */
        if (beyond.upper - beyond.lower < 1e-10 * beyond.upper)
            assert_true(beyond.lower > cases[i].delta);
        brume_expression_free(&e);
    }
}

static void any_parameter_of_any_term_can_be_the_unknown(void **state)
{
    (void)state;
    const char *const expressions[] = {
        "gaussian(sigma=?)*100 + laplace(scale=100)",
        "gaussian(sigma=50) + laplace(scale=?)*3",
        "laplace(scale=4, sensitivity=?)*2",
        "pure(epsilon=?)*50 + gaussian(sigma=20)",
        "approximate(epsilon=?, delta=1e-9)*10",
        "randomized_response(epsilon=?)*20",
        "discrete_gaussian(sigma=?)*10",
        "discrete_laplace(scale=?)*5",
        "zcdp(rho=?)*5",
    };
    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++) {
        brume_expression e = {0};
        brume_calibration result;
        assert_ok(brume_expression_parse(expressions[i], BRUME_ADD_REMOVE, &e, &error));
        assert_ok(brume_calibrate(&e, 0.8, 1e-6, &result, &error));
        assert_true(result.epsilon_upper <= 0.8 && result.epsilon_upper > 0.8 * (1 - 1e-6));
        /* a little less noise no longer meets the target */
        bool more = e.unknown.parameter->direction == BRUME_MORE_NOISE;
        brume_bound bound = delta_at(&e, result.value * (more ? 1 - 2e-9 : 1 + 2e-9), 0.8);
        if (!((bound.has_lower ? bound.lower : bound.upper) > 1e-6))
            fail_msg("%s: less noise than %.17g meets the target too", expressions[i],
                     result.value);
        brume_expression_free(&e);
    }
}

/* The neighbour on the dearer side, or of more error, no longer meets the target. */
static void whole_numbers_and_counts_can_be_the_unknown(void **state)
{
    (void)state;
    const struct {
        const char *text;
        int whole;
        double alpha; /* 0: a cost */
    } cases[] = {{"laplace(scale=100)*?", 1, 0},
                 {"gaussian(sigma=30)*? + laplace(scale=20)", 1, 0},
                 {"pure(epsilon=0.01)*? + pure(epsilon=0.03)*10", 1, 0},
                 {"laplace(scale=100)*? + laplace(scale=5)", 1, 0},
                 {"poisson(rate=0.01, gaussian(sigma=2))*?", 1, 0},
                 {"randomized_response(epsilon=1, k=?)*3", -1, 0},
                 {"sparse_vector(epsilon=0.1, hits=?, epsilon_answers=2)", -1, 0},
                 {"mwem(epsilon=0.2, rounds=?)*8", -1, 0},
                 {"sparse_vector(epsilon=1, hits=?, queries=100)", 1, 300},
                 {"exponential(epsilon=1, candidates=?)", 1, 20},
                 {"randomized_response(epsilon=1, people=?)", -1, 0.01}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_expression e = {0};
        brume_calibration result;
        assert_ok(brume_expression_parse(cases[i].text, BRUME_ADD_REMOVE, &e, &error));
        double alpha = cases[i].alpha, bound;
        assert_ok(alpha > 0 ? brume_calibrate_accuracy(&e, alpha, 0.05, 0, &result, &error)
                            : brume_calibrate(&e, 0.8, 1e-6, &result, &error));
        assert_int_equal(result.whole, cases[i].whole);
        assert_true(result.value == floor(result.value) && result.value > 1);
        for (int beyond = 0; beyond < 2; beyond++) {
            double value = result.value + beyond * result.whole;
            if (alpha > 0) {
                assert_ok(brume_expression_solve(&e, value, &error));
                assert_ok(brume_event_alpha(&e.events[0], 0.05, &bound, &error));
                assert_true(beyond ? bound > alpha : bound <= alpha);
                continue;
            }
            brume_bound delta = delta_at(&e, value, 0.8);
            assert_true(beyond ? delta.upper > 1e-6 : delta.upper <= 1e-6);
        }
        brume_expression_free(&e);
    }
    /* what does not move the target, or moves it both ways, is refused */
    const char *const refused[] = {"sparse_vector(epsilon=0.1, hits=?)",
                                   "exponential(epsilon=0.1, candidates=?)",
                                   "laplace(scale=100, coordinates=?)"};
    for (int i = 0; i < 3; i++) {
        brume_expression e = {0};
        brume_calibration result;
        assert_ok(brume_expression_parse(refused[i], BRUME_ADD_REMOVE, &e, &error));
        assert_fails(brume_calibrate(&e, 0.8, 1e-6, &result, &error), BRUME_EUNSUPPORTED);
        brume_expression_free(&e);
    }
}

static void pure_calibration_is_exact_to_the_last_places(void **state)
{
    (void)state;
    assert_close(calibrated("laplace(scale=?)*10", 1, 0).value, 10, 1e-14);
    assert_true(calibrated("laplace(scale=?)*8", 1, 0).value == 8);
    assert_true(calibrated("laplace(scale=?)*4 + pure(epsilon=0.5)", 1, 0).value == 8);
}

static void targets_that_cannot_be_met_are_refused(void **state)
{
    (void)state;
    const struct {
        const char *text;
        double epsilon, delta;
        brume_status status;
        const char *says;
    } cases[] = {
        {"gaussian(sigma=?) + pure(epsilon=2)", 1, 1e-6, BRUME_EUNSUPPORTED, "no value of 'sigma'"},
        {"gaussian(sigma=?)", 1, 0, BRUME_EUNSUPPORTED, "no value of 'sigma'"},
        {"gaussian(sigma=1)", 1, 1e-6, BRUME_EARGUMENT, "no parameter is '?'"},
        {"gaussian(sigma=?)", 0, 1e-6, BRUME_EARGUMENT, "epsilon"},
        {"gaussian(sigma=?)", 1, 1, BRUME_EARGUMENT, "delta"},
        {"gaussian(sigma=?)", NAN, 1e-6, BRUME_EARGUMENT, "epsilon"},
        {"gaussian(sigma=?)", INFINITY, 1e-6, BRUME_EARGUMENT, "epsilon"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_expression e = {0};
        brume_calibration result = {.value = 42};
        assert_ok(brume_expression_parse(cases[i].text, BRUME_ADD_REMOVE, &e, &error));
        assert_fails(brume_calibrate(&e, cases[i].epsilon, cases[i].delta, &result, &error),
                     cases[i].status);
        assert_non_null(strstr(error.message, cases[i].says));
        assert_true(result.value == 42);
        brume_expression_free(&e);
    }
}

static void an_accuracy_calibrates_too(void **state)
{
    (void)state;
    brume_expression e = {0};
    brume_calibration result;
    assert_ok(brume_expression_parse("laplace(scale=?)", BRUME_ADD_REMOVE, &e, &error));
    assert_ok(brume_calibrate_accuracy(&e, 10, 0.05, 0, &result, &error));
    double alpha;
    assert_ok(brume_event_alpha(&e.events[0], 0.05, &alpha, &error));
    assert_true(alpha <= 10);
    assert_close(alpha, 10, 1e-9);
    assert_close(result.epsilon_upper, 1 / result.value, 1e-12);
    assert_fails(brume_calibrate_accuracy(&e, 10, 1, 0, &result, &error), BRUME_EARGUMENT);
    brume_expression_free(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calibration_errs_to_more_noise_by_at_most_a_billionth),
        cmocka_unit_test(a_value_fits_and_a_billionth_less_noise_does_not),
        cmocka_unit_test(any_parameter_of_any_term_can_be_the_unknown),
        cmocka_unit_test(whole_numbers_and_counts_can_be_the_unknown),
        cmocka_unit_test(pure_calibration_is_exact_to_the_last_places),
        cmocka_unit_test(targets_that_cannot_be_met_are_refused),
        cmocka_unit_test(an_accuracy_calibrates_too),
    };
    return cmocka_run_group_tests_name("calibrated values", tests, NULL, NULL);
}
