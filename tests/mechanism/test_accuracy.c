/* Accuracy statements: the printed vectors, each inverse, and laws that sum to one. */
#include "check.h"

#include <brume/mechanism/expression.h>
#include <brume/noise/randomized_response.h>

#include "parsed_event.h"

static brume_error error;

static brume_event event_of(const char *text)
{
    return parsed_event(text, BRUME_ADD_REMOVE);
}

static double alpha_of(const char *text, double beta)
{
    brume_event event = event_of(text);
    double alpha = -1;
    assert_ok(brume_event_alpha(&event, beta, &alpha, &error));
    return alpha;
}

static double beta_of(const char *text, double alpha)
{
    brume_event event = event_of(text);
    double beta = -1;
    assert_ok(brume_event_beta(&event, alpha, &beta, &error));
    return beta;
}

static void the_printed_accuracies_are_met(void **state)
{
    (void)state;
    assert_close(alpha_of("laplace(scale=1)", .05), 2.995732273553991, 1e-15);
    assert_holds(alpha_of("laplace(scale=1)", .05) >= 2.995732273553991);
    assert_close(alpha_of("laplace(scale=1e-6)", .05), 2.995732273553991e-6, 1e-15);
    assert_close(beta_of("laplace(scale=1)", 2.99), 0.050287436, 1e-6);
    assert_close(beta_of("laplace(scale=1e-6)", .0000299), 1.03e-13, 1e-2);
    assert_close(alpha_of("randomized_response(epsilon=1, people=1000000)", .05),
                 .0029388684111905523, 1e-15);
    assert_close(alpha_of("above_threshold(epsilon=1, queries=100)", .05), 40.553957468635986,
                 3e-15);
    /* monotone: both noises Lap(2/eps) */
    assert_close(alpha_of("above_threshold(epsilon=1, queries=100, monotone=true)", .05),
                 2 * log(40) + 2 * log(4000), 3e-15);
    assert_close(alpha_of("gaussian(sigma=1)", .05), 1.9599639845400545, 1e-15);
    assert_close(alpha_of("gaussian(sigma=3)", 1e-12), 3 * 7.1305068481713245, 1e-14);
    /* tighter than ln(n/beta), which is the printed bound */
    double alpha = alpha_of("exponential(epsilon=1, candidates=1000)", .05);
    assert_close(alpha, 2 * log(999 * .95 / .05), 1e-15);
    assert_holds(alpha < 19.806975105072256);
    assert_holds(beta_of("exponential(epsilon=1, candidates=1000)", 19.806975105072256) < .05);
    assert_close(alpha_of("exponential(epsilon=1, candidates=1000, monotone=true)", .05), alpha / 2,
                 1e-15);
    assert_close(alpha_of("exponential(epsilon=1, candidates=1000, sensitivity=3)", .05), 3 * alpha,
                 1e-15);
    assert_holds(alpha_of("permute_and_flip(epsilon=1, candidates=1000)", .05) < alpha);
    /* k answers: (e^eps+k-1)/(e^eps-1) sqrt(ln(2k/beta)/(2n)) */
    double e = exp(1);
    assert_close(alpha_of("randomized_response(epsilon=1, k=3, people=1000)", .05),
                 (e + 2) / (e - 1) * sqrt(log(6 / .05) / 2000), 1e-14);
    /* sparse vector, c = 4, best split 1 : 8^(2/3) = 1 : 4 */
    assert_close(alpha_of("sparse_vector(epsilon=1, hits=4, queries=50, sensitivity=2)", .1),
                 2 * (5 * log(20) + 8 * 1.25 * log(1000)), 1e-14);
}

static void alpha_and_beta_are_inverse_to_each_other(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "laplace(scale=3)",
        "laplace(scale=3, coordinates=1000)",
        "gaussian(sigma=.01)",
        "gaussian(sigma=100, coordinates=7)",
        "exponential(epsilon=.5, candidates=100)",
        "noisy_max(epsilon=2, candidates=10)",
        "permute_and_flip(epsilon=1, candidates=50, monotone=true)",
        "above_threshold(epsilon=1, queries=10)",
        "sparse_vector(epsilon=1, hits=5, queries=1000, monotone=true)",
        "randomized_response(epsilon=2, people=100)",
        "randomized_response(epsilon=.1, people=100000, k=5)",
    };
    static const double betas[] = {.4, .05, 1e-3, 1e-9, 1e-30};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t j = 0; j < sizeof betas / sizeof *betas; j++) {
            double alpha = alpha_of(texts[i], betas[j]);
            double beta = beta_of(texts[i], alpha);
            assert_holds(beta <= betas[j] * (1 + 1e-13));
            assert_close(beta, betas[j], 1e-11);
        }
}

static void the_alpha_of_integer_noise_is_the_least_whole_number(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "discrete_laplace(scale=1)",     "discrete_laplace(scale=.01)",
        "discrete_laplace(scale=1e6)",   "discrete_laplace(scale=7, coordinates=100)",
        "discrete_gaussian(sigma=.2)",   "discrete_gaussian(sigma=3)",
        "discrete_gaussian(sigma=1000)", "discrete_gaussian(sigma=64, coordinates=12)",
    };
    static const double betas[] = {.6, .05, 1e-6, 1e-20};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t j = 0; j < sizeof betas / sizeof *betas; j++) {
            double alpha = alpha_of(texts[i], betas[j]);
            assert_true(alpha >= 1 && alpha == floor(alpha));
            assert_holds(beta_of(texts[i], alpha) <= betas[j]);
            assert_holds(beta_of(texts[i], alpha - .5) == beta_of(texts[i], alpha));
            assert_holds(beta_of(texts[i], alpha - 1) > betas[j]);
        }
    /* P[|X| >= m] = 2 a^m/(1+a) */
    assert_close(beta_of("discrete_laplace(scale=1)", 14), 2 * 6.0789620347788292e-7, 1e-14);
    assert_close(beta_of("discrete_laplace(scale=1)", 13), 2 * 1.6524332035031714e-6, 1e-14);
}

static void the_tail_of_the_discrete_gaussian_is_the_sum_of_its_masses(void **state)
{
    (void)state;
    static const double sigmas[] = {.2, .5, 1, 2, 10, 64, 65, 100};
    for (size_t i = 0; i < sizeof sigmas / sizeof *sigmas; i++)
        for (int64_t k = 1; k < 300; k = 1 + k * 2) {
            brume_event event = event_of("discrete_gaussian(sigma=1)");
            event.parameter[0] = sigmas[i];
            double sum = 0, beta;
            for (int64_t j = k + 2000; j >= k; j--) {
                brume_interval mass;
                assert_ok(brume_event_mass(&event, j, &mass, &error));
                assert_holds(mass.lower <= mass.upper);
                sum += 2 * mass.upper;
            }
            assert_ok(brume_event_beta(&event, (double)k, &beta, &error));
            if (sum < 1e-300)
                continue;
            if (sigmas[i] <= 64)
                assert_close(beta, sum, 1e-11);
            else { /* an upper bound, and close to the truth where it matters */
                assert_holds(beta >= sum * (1 - 1e-11));
                assert_holds((double)k < sigmas[i] + 1 || beta <= sum * 1.005);
            }
        }
}

static void laws_sum_to_one_and_meet_the_vectors(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t k;
        double mass;
    } cases[] = {
        {"discrete_laplace(scale=1)", 0, 0.46211715726000976},
        {"discrete_laplace(scale=1)", -1, 0.17000340156854792},
        {"discrete_laplace(scale=2)", 0, 0.24491866240370913},
        {"discrete_gaussian(sigma=1)", 0, 0.39894227826686171},
        {"discrete_gaussian(sigma=1)", 1, 0.24197072322446061},
        {"discrete_gaussian(sigma=1)", -3, 0.0044318483882250656},
        {"discrete_gaussian(sigma=2)", 0, 0.19947114020071634},
        {"randomized_response(epsilon=1, k=3)", 0, .57611688476582911},
        {"randomized_response(epsilon=1, k=3)", 2, .21194155761708545},
        {"randomized_response(epsilon=2, k=10)", 0, .45085306037928382},
        {"randomized_response(epsilon=2, k=10)", 9, .06101632662452402},
        {"randomized_response(epsilon=.5)", 0, .62245933120185456},
        {"randomized_response(epsilon=1.0986122886681098)", 0, .75},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_event event = event_of(cases[i].text);
        brume_interval mass;
        assert_ok(brume_event_mass(&event, cases[i].k, &mass, &error));
        assert_close(mass.lower, cases[i].mass, 3e-16);
        assert_close(mass.upper, cases[i].mass, 3e-16);
        assert_true(mass.lower <= mass.upper);
    }
    static const char *const texts[] = {
        "discrete_laplace(scale=3)",   "discrete_gaussian(sigma=3)",
        "discrete_gaussian(sigma=.3)", "randomized_response(epsilon=1, k=7)",
        "laplace(scale=5e-324)",       "gaussian(sigma=1e-323)"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        brume_event event = event_of(texts[i]);
        double lower = 0, upper = 0;
        for (int64_t k = -200; k <= 200; k++) {
            brume_interval mass;
            assert_ok(brume_event_mass(&event, k, &mass, &error));
            lower += mass.lower;
            upper += mass.upper;
        }
        assert_holds(lower <= 1 + 1e-13 && upper >= 1 - 1e-13);
        assert_close(lower, 1, 1e-13);
    }
    /* variances */
    double sum[3] = {0, 0, 0};
    static const char *const of[] = {"discrete_laplace(scale=1)", "discrete_gaussian(sigma=1)",
                                     "discrete_gaussian(sigma=.5)"};
    for (int i = 0; i < 3; i++) {
        brume_event event = event_of(of[i]);
        for (int64_t k = -800; k <= 800; k++) {
            brume_interval mass;
            assert_ok(brume_event_mass(&event, k, &mass, &error));
            sum[i] += (double)(k * k) * mass.upper;
        }
    }
    assert_close(sum[0], 1.8413471884155846, 1e-13);
    assert_close(sum[1], 0.99999978876772808, 1e-13);
    assert_close(sum[2], 0.21501267508813849, 1e-13);
}

static void the_clinic_of_the_worked_example_gets_its_interval(void **state)
{
    (void)state;
    /* n = 10^6, epsilon = 1, beta = .05; with r the share of positive answers:
     * 2.1639534 r - .58491557528 <= share <= 2.1639534 r - .57903783846 */
    for (uint64_t answered = 0; answered <= 1000000; answered += 250000) {
        brume_share share;
        double r = (double)answered / 1e6;
        assert_ok(
            brume_randomized_response_estimate(1, 2, answered, 1000000, .05, 1, &share, &error));
        assert_true(fabs(share.lower - (2.1639534137386528 * r - .58491557528)) < 2e-11);
        assert_true(fabs(share.upper - (2.1639534137386528 * r - .57903783846)) < 2e-11);
        assert_true(fabs(share.estimate - (2.1639534137386528 * r - .58197670686932642)) < 1e-15);
        assert_close(share.standard_deviation, 9.5951737566747186e-4, 1e-15);
    }
    /* q = .1: E r = .3151531371, and the interval around it holds .1 */
    brume_share share;
    assert_ok(brume_randomized_response_estimate(1, 2, 315153, 1000000, .05, 1, &share, &error));
    assert_true(share.lower < .1 && .1 < share.upper);
    /* epsilon = ln 3: slope 2, offset 1/2; epsilon = 1/2: slope 4.08 */
    assert_ok(
        brume_randomized_response_estimate(1.0986122886681098, 2, 1, 1, .05, 1, &share, &error));
    assert_close(share.estimate, 1.5, 1e-15);
    assert_ok(brume_randomized_response_estimate(.5, 2, 1, 1, .05, 1, &share, &error));
    double one = share.estimate;
    assert_ok(brume_randomized_response_estimate(.5, 2, 0, 1, .05, 1, &share, &error));
    assert_close(one - share.estimate, 4.0829881650735966, 1e-15);
}

static void the_estimator_is_unbiased_by_enumeration(void **state)
{
    (void)state;
    /* k answers, n = 3 people with truths 0, 0, 1: sum over all answers of probability times
     * estimate is the true share, and estimates of all answers sum to 1. */
    for (unsigned k = 2; k <= 4; k++) {
        double epsilon = .7, p = exp(epsilon) / (exp(epsilon) + k - 1);
        double q = 1 / (exp(epsilon) + k - 1), mean = 0, square = 0;
        const unsigned truth[3] = {0, 0, 1};
        brume_share share = {0};
        for (unsigned code = 0; code < k * k * k; code++) {
            unsigned answers[3] = {code % k, code / k % k, code / k / k};
            double probability = 1, total = 0;
            for (int i = 0; i < 3; i++)
                probability *= answers[i] == truth[i] ? p : q;
            double first = 0;
            for (unsigned v = 0; v < k; v++) {
                uint64_t count = 0;
                for (int i = 0; i < 3; i++)
                    count += answers[i] == v;
                assert_ok(brume_randomized_response_estimate(epsilon, k, count, 3, .05, k, &share,
                                                             &error));
                total += share.estimate;
                first = v == 0 ? share.estimate : first;
            }
            assert_close(total, 1, 1e-14);
            mean += probability * first;
            square += probability * first * first;
        }
        assert_close(mean, 2. / 3, 1e-14);
        double deviation = sqrt(square - mean * mean);
        if (k == 2)
            assert_close(share.standard_deviation, deviation, 1e-13);
        assert_holds(share.standard_deviation >= deviation * (1 - 1e-13));
    }
}

static void a_biased_estimate_of_raw_answers_would_miss(void **state)
{
    (void)state;
    /* The raw share r is not an estimate: with q = 0 and epsilon = 1 it tends to .26894. */
    brume_share share;
    assert_ok(brume_randomized_response_estimate(1, 2, 268941, 1000000, .05, 1, &share, &error));
    assert_true(share.lower < 0 && share.upper > 0 && share.upper < .268941);
}

static void accuracy_is_refused_where_there_is_none_or_too_little_is_said(void **state)
{
    (void)state;
    static const char *const without[] = {"pure(epsilon=1)", "zcdp(rho=1)",
                                          "approximate(epsilon=1, delta=.1)",
                                          "poisson(rate=.5, gaussian(sigma=1))"};
    double alpha = 42, beta = 43;
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
        brume_event event = event_of(without[i]);
        assert_fails(brume_event_alpha(&event, .05, &alpha, &error), BRUME_EUNSUPPORTED);
        assert_fails(brume_event_beta(&event, 1, &beta, &error), BRUME_EUNSUPPORTED);
        brume_interval mass = {7, 8};
        assert_fails(brume_event_mass(&event, 0, &mass, &error), BRUME_EUNSUPPORTED);
        assert_true(mass.lower == 7);
    }
    static const char *const vague[] = {
        "exponential(epsilon=1)",           "noisy_max(epsilon=1)",
        "permute_and_flip(epsilon=1)",      "above_threshold(epsilon=1)",
        "sparse_vector(epsilon=1, hits=2)", "randomized_response(epsilon=1)"};
    for (size_t i = 0; i < sizeof vague / sizeof *vague; i++) {
        brume_event event = event_of(vague[i]);
        assert_fails(brume_event_alpha(&event, .05, &alpha, &error), BRUME_EARGUMENT);
        assert_fails(brume_event_beta(&event, 1, &beta, &error), BRUME_EARGUMENT);
    }
    brume_event event = event_of("laplace(scale=1)");
    const double bad_beta[] = {NAN, 0, 1, -1, 2, INFINITY};
    for (size_t i = 0; i < 6; i++)
        assert_fails(brume_event_alpha(&event, bad_beta[i], &alpha, &error), BRUME_EARGUMENT);
    const double bad_alpha[] = {NAN, -1, INFINITY};
    for (size_t i = 0; i < 3; i++)
        assert_fails(brume_event_beta(&event, bad_alpha[i], &beta, &error), BRUME_EARGUMENT);
    assert_true(alpha == 42 && beta == 43);
    assert_true(beta_of("laplace(scale=1)", 0) == 1);
    assert_true(beta_of("laplace(scale=1, coordinates=10)", 0) == 1);
    assert_true(beta_of("exponential(epsilon=1, candidates=1)", 1e-9) == 0);
    assert_true(alpha_of("exponential(epsilon=1, candidates=1)", .5) < 1e-300);
    assert_true(alpha_of("exponential(epsilon=1, candidates=2)", .6) < 1e-300);
    brume_share share;
    assert_fails(brume_randomized_response_estimate(NAN, 2, 0, 1, .1, 1, &share, &error),
                 BRUME_EARGUMENT);
    assert_fails(brume_randomized_response_estimate(1, 1, 0, 1, .1, 1, &share, &error),
                 BRUME_EARGUMENT);
    assert_fails(brume_randomized_response_estimate(1, 2, 2, 1, .1, 1, &share, &error),
                 BRUME_EARGUMENT);
    assert_fails(brume_randomized_response_estimate(1, 2, 0, 0, .1, 1, &share, &error),
                 BRUME_EARGUMENT);
    assert_fails(brume_randomized_response_estimate(1, 2, 0, 1, 1, 1, &share, &error),
                 BRUME_EARGUMENT);
    assert_fails(brume_randomized_response_estimate(1, 2, 0, 1, .1, 0, &share, &error),
                 BRUME_EARGUMENT);
}

/* P[one of n-1 at distance x scales wins] for permute-and-flip and the exponential mechanism, by
 * their own laws; the accuracy must not be below. */
static void selection_accuracy_is_attained_by_its_worst_case(void **state)
{
    (void)state;
    for (int n = 2; n <= 6; n++)
        for (double x = .25; x < 9; x *= 2) {
            double y = exp(-x), wins = 0;
            for (int j = 0; j < n; j++)
                wins += pow(1 - y, j) / n;
            char text[80];
            snprintf(text, sizeof text, "permute_and_flip(epsilon=2, candidates=%d)", n);
            assert_close(beta_of(text, x), 1 - wins, 1e-12);
            snprintf(text, sizeof text, "exponential(epsilon=2, candidates=%d)", n);
            assert_close(beta_of(text, x), (n - 1) * y / (1 + (n - 1) * y), 1e-14);
            snprintf(text, sizeof text, "noisy_max(epsilon=2, candidates=%d)", n);
            assert_close(beta_of(text, x), fmin(1, (n - 1) * y * (2 + x) / 4), 1e-14);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_printed_accuracies_are_met),
        cmocka_unit_test(alpha_and_beta_are_inverse_to_each_other),
        cmocka_unit_test(the_alpha_of_integer_noise_is_the_least_whole_number),
        cmocka_unit_test(the_tail_of_the_discrete_gaussian_is_the_sum_of_its_masses),
        cmocka_unit_test(laws_sum_to_one_and_meet_the_vectors),
        cmocka_unit_test(the_clinic_of_the_worked_example_gets_its_interval),
        cmocka_unit_test(the_estimator_is_unbiased_by_enumeration),
        cmocka_unit_test(a_biased_estimate_of_raw_answers_would_miss),
        cmocka_unit_test(accuracy_is_refused_where_there_is_none_or_too_little_is_said),
        cmocka_unit_test(selection_accuracy_is_attained_by_its_worst_case),
    };
    return cmocka_run_group_tests_name("accuracy", tests, NULL, NULL);
}
