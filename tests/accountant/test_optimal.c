/* Optimal composition against the textbook's sum and against explicit convolutions in MPFR. */
#include "check.h"

#include <math.h>
#include <stdint.h>

#include "optimal_sum.h"
#include "reference.h"

/* A fixed splitmix64, so that a failure can be repeated. */
static double uniform(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* What is answered holds the truth and is as near as the header says. */
static void assert_near_truth(const brume_pure_step *steps, size_t n, double epsilon,
                              brume_interval truth)
{
    brume_error error = {0};
    brume_interval delta;
    assert_ok(brume_optimal_delta(steps, n, epsilon, &delta, &error));
    if (!(delta.lower <= truth.upper && delta.upper >= truth.lower))
        fail_msg("%.17g*%llu ...: [%.17g, %.17g] at %.17g, truth [%.17g, %.17g]", steps[0].epsilon,
                 (unsigned long long)steps[0].count, delta.lower, delta.upper, epsilon, truth.lower,
                 truth.upper);
    assert_true(delta.upper <= truth.upper * (1 + 1.1e-5));
    assert_true(delta.lower >= truth.lower * (1 - 1.1e-5));
}

static void long_sums_of_one_epsilon_are_composed_to_the_same_numbers(void **state)
{
    (void)state;
    uint64_t seed = 1;
    brume_error error = {0};
    for (int i = 0; i < 24; i++) {
        double epsilon0 = 1e-3 * exp(uniform(&seed) * 7);
        uint64_t count = 600 + (uint64_t)exp(uniform(&seed) * 11);
        brume_pure_step step = {epsilon0, i % 3 ? 0 : 1e-12, count};
        assert_true(optimal_sum_terms(&step, 1) > 600);
        double delta = pow(10, -1 - 7 * uniform(&seed)), exact, composed;
        assert_ok(optimal_sum_epsilon_upper(&step, 1, delta, &exact, &error));
        assert_ok(brume_optimal_epsilon_upper(&step, 1, delta, &composed, &error));
        /* the sum is searched to 1e-13 of epsilon */
        assert_true(composed >= exact * (1 - 2e-13) && composed <= exact * (1 + 1.1e-8));
        /* it meets the target by the textbook's sum, and a hair less does not */
        brume_interval truth;
        assert_ok(optimal_sum_delta(&step, 1, composed, &truth, &error));
        assert_true(truth.lower <= delta);
        double epsilon = composed * uniform(&seed);
        assert_ok(optimal_sum_delta(&step, 1, epsilon, &truth, &error));
        assert_near_truth(&step, 1, epsilon, truth);
    }
}

static void long_sums_of_several_epsilons_are_composed_to_the_same_numbers(void **state)
{
    (void)state;
    uint64_t seed = 2;
    brume_error error = {0};
    for (int i = 0; i < 24; i++) {
        size_t n = 2 + (size_t)(uniform(&seed) * 3);
        brume_pure_step steps[4] = {{0}};
        double most = 0;
        for (size_t j = 0; j < n; j++) {
            double each = pow(n == 2 ? 4e3 : 8e3, 1 / (double)n);
            steps[j] = (brume_pure_step){0.01 * exp(uniform(&seed) * 5), j == 1 ? 1e-13 : 0,
                                         (uint64_t)(each * (0.6 + 0.6 * uniform(&seed)))};
            most += steps[j].epsilon * (double)steps[j].count;
        }
        assert_true(optimal_sum_terms(steps, n) > 512);
        double epsilon = most * 0.6 * uniform(&seed);
        brume_interval truth;
        assert_ok(optimal_sum_delta(steps, n, epsilon, &truth, &error));
        assert_near_truth(steps, n, epsilon, truth);
        if (truth.lower < 1e-12 || truth.upper > 0.9)
            continue;
        double composed;
        assert_ok(brume_optimal_epsilon_upper(steps, n, truth.upper, &composed, &error));
        assert_true(composed >= epsilon * (1 - 1e-12));
        /* as near as the width of an epsilon allows: by the sum itself, a hair below is too little
         */
        brume_interval below;
        assert_ok(optimal_sum_delta(steps, n, composed * (1 - 2e-8), &below, &error));
        assert_true(below.lower > truth.upper * (1 - 1e-12));
    }
}

static void long_sums_contain_the_convolution_in_mpfr(void **state)
{
    (void)state;
    const double step = 0x1p-6;
    const brume_pure_step steps[] = {{3 * step, 0, 40}, {7 * step, 0, 20}, {16 * step, 0, 9}};
    assert_true(optimal_sum_terms(steps, 3) > 512);
    reference law = reference_zero(step);
    reference_pure(&law, 3, 40);
    reference_pure(&law, 7, 20);
    reference_pure(&law, 16, 9);
    mpfr_t delta;
    mpfr_init2(delta, REFERENCE_BITS);
    for (double epsilon = 0; epsilon < 6; epsilon += 0.37) {
        reference_delta(delta, &law, epsilon);
        assert_near_truth(
            steps, 3, epsilon,
            (brume_interval){mpfr_get_d(delta, MPFR_RNDD), mpfr_get_d(delta, MPFR_RNDU)});
    }
    mpfr_clear(delta);
    reference_clear(&law);
}

/* 22 different epsilons, 4 million sign patterns; 89,460 and 7; 2^62 releases. */
static void sums_too_long_for_the_textbook_are_answered_between_their_neighbours(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_pure_step many[22], fewer[22], more[22];
    for (int i = 0; i < 22; i++) {
        many[i] = (brume_pure_step){0.1 + i * 0.01, 0, 1};
        fewer[i] = (brume_pure_step){0.1 + i / 3 * 0.03, 0, 1}; /* 8 epsilons, thrice each */
        more[i] = (brume_pure_step){0.12 + i / 3 * 0.03, 0, 1};
    }
    brume_interval middle, low, high;
    assert_fails(optimal_sum_delta(many, 22, 1, &middle, &error), BRUME_EUNSUPPORTED);
    for (double epsilon = 0; epsilon < 4; epsilon += 0.7) {
        assert_ok(brume_optimal_delta(many, 22, epsilon, &middle, &error));
        assert_ok(optimal_sum_delta(fewer, 22, epsilon, &low, &error));
        assert_ok(optimal_sum_delta(more, 22, epsilon, &high, &error));
        assert_true(low.lower <= middle.upper && middle.lower <= high.upper);
        assert_true(middle.upper - middle.lower <= 1e-5 * middle.upper);
    }
    const brume_pure_step lopsided[] = {{1.0 / 3, 0, 89460}, {1.0 / 7, 0, 7}};
    double epsilon, least, most;
    assert_ok(brume_optimal_epsilon_upper(lopsided, 2, 1e-6, &epsilon, &error));
    assert_ok(optimal_sum_epsilon_upper(lopsided, 1, 1e-6, &least, &error));
    const brume_pure_step whole = {1.0 / 3, 0, 89467};
    assert_ok(optimal_sum_epsilon_upper(&whole, 1, 1e-6, &most, &error));
    assert_true(least < epsilon && epsilon < most);
    /* beyond doubles: refused, or in the interval that moments leave */
    const brume_pure_step countless = {1e-9, 0, (uint64_t)1 << 62};
    brume_status status = brume_optimal_epsilon_upper(&countless, 1, 1e-6, &epsilon, &error);
    double mean = 0x1p62 * 1e-9 * tanh(0.5e-9);
    assert_true(status == BRUME_EUNSUPPORTED ||
                (status == BRUME_OK && epsilon > mean && epsilon < mean + 12 * sqrt(2 * mean)));
}

static void what_only_failure_decides_is_decided(void **state)
{
    (void)state;
    brume_error error = {0};
    double epsilon;
    const brume_pure_step failing = {0.1, 1e-6, 10000};
    assert_ok(brume_optimal_epsilon_upper(&failing, 1, 1e-5, &epsilon, &error));
    assert_true(isinf(epsilon));
    const brume_pure_step pure = {0.125, 0, 8000};
    assert_ok(brume_optimal_epsilon_upper(&pure, 1, 0, &epsilon, &error));
    assert_true(epsilon == 1000); /* basic composition, to the last place */
    assert_ok(
        brume_optimal_epsilon_upper(&(brume_pure_step){1e-9, 0, 600}, 1, 0.5, &epsilon, &error));
    assert_true(epsilon == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_sums_of_one_epsilon_are_composed_to_the_same_numbers),
        cmocka_unit_test(long_sums_of_several_epsilons_are_composed_to_the_same_numbers),
        cmocka_unit_test(long_sums_contain_the_convolution_in_mpfr),
        cmocka_unit_test(sums_too_long_for_the_textbook_are_answered_between_their_neighbours),
        cmocka_unit_test(what_only_failure_decides_is_decided),
    };
    return cmocka_run_group_tests_name("optimal", tests, NULL, NULL);
}
