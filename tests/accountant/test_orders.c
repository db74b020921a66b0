/* Both orders of a pair of neighbours: the smaller one is passed over only where its moments say
 * for certain that it is, and what is then returned is what both together say. */
#include "check.h"

#include <math.h>

#include "accountant/contour/line.h"
#include "accountant/solve/solve.h"
#include "accountant/terms.h"

typedef struct mixture {
    brume_term terms[3];
    size_t count;
    double epsilon;
} mixture;

static size_t mixtures(mixture *out)
{
    mixture all[] = {
        {{poisson_gaussian(0.00455, 0.5, 1), gaussian(34, 1)}, 2, 3.2},
        {{poisson_gaussian(0.136, 0.5, 8), kary(0.013, 14, 7429), laplace(2.3, 1)}, 3, 13},
        {{poisson_gaussian(0.01, 1.1, 1000), gaussian(2, 1)}, 2, 3},
        {{poisson_gaussian(0.44, 58, 20000), pure(0.02, 1500)}, 2, 4},
        {{poisson_gaussian(0.2, 4, 40), gaussian(3, 2)}, 2, 0.001},
        {{poisson_gaussian(0.02, 0.7, 3), discrete_gaussian(20, 1, 50), laplace(0.1, 20)}, 3, 5},
        {{term_of(BRUME_LOSS_POISSON_PURE, 1, 0.1, 0, 500), gaussian(3, 1)}, 2, 2},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        out[i] = all[i];
    return sizeof all / sizeof *all;
}

static brume_certified solved(const mixture *m, bool reversed)
{
    brume_merged merged;
    brume_certified certified;
    assert_int_equal(brume_merge_terms(m->terms, m->count, reversed, &merged, NULL), BRUME_OK);
    assert_true(brume_solve(merged.laws, merged.law_count,
                            &(brume_asked){.at = m->epsilon, .width = 1e-10}, &certified));
    brume_merged_close(&merged);
    return certified;
}

static bool below(const mixture *m, bool reversed, double epsilon, double target)
{
    brume_merged merged;
    assert_int_equal(brume_merge_terms(m->terms, m->count, reversed, &merged, NULL), BRUME_OK);
    bool yes = brume_moments_below(merged.laws, merged.law_count, epsilon, target);
    brume_merged_close(&merged);
    return yes;
}

static void moments_say_yes_only_where_delta_is_below(void **state)
{
    (void)state;
    mixture all[16];
    size_t count = mixtures(all);
    for (size_t i = 0; i < count; i++)
        for (int order = 0; order < 2; order++) {
            brume_certified certified = solved(&all[i], order == 1);
            double lower = certified.value.lower, upper = certified.value.upper;
            if (lower > 0)
                assert_false(below(&all[i], order == 1, all[i].epsilon, lower * (1 - 1e-9)));
            if (upper > 1e-12 && upper < 0.1) /* and no delta hides from them */
                assert_true(below(&all[i], order == 1, all[i].epsilon, fmin(300 * upper, 0.9)));
        }
}

static void the_answer_is_that_of_both_orders(void **state)
{
    (void)state;
    mixture all[16];
    size_t count = mixtures(all), passed = 0;
    for (size_t i = 0; i < count; i++) {
        brume_certified first = solved(&all[i], false), second = solved(&all[i], true);
        brume_composition both;
        assert_int_equal(
            brume_compose_delta(all[i].terms, all[i].count, all[i].epsilon, NULL, &both, NULL),
            BRUME_OK);
        double upper = fmax(first.value.upper, second.value.upper);
        double lower = fmax(first.value.lower, second.value.lower);
        assert_true(both.value.upper >= lower && both.value.lower <= upper);
        assert_true(both.value.upper <= upper * (1 + 1e-12));
        passed += below(&all[i], true, all[i].epsilon, first.value.upper);
        /* epsilon there: the same, as far as the first order's width allows */
        brume_composition epsilon;
        assert_int_equal(brume_compose_epsilon(all[i].terms, all[i].count, both.value.upper, NULL,
                                               &epsilon, NULL),
                         BRUME_OK);
        assert_true(epsilon.value.lower <= all[i].epsilon * (1 + 1e-12));
        assert_true(epsilon.value.upper >= all[i].epsilon * (1 - 1e-8));
    }
    assert_true(passed >= 3); /* else nothing was passed over */
}

static void nothing_is_passed_over_that_is_not_a_number(void **state)
{
    (void)state;
    mixture one = {{poisson_gaussian(0.1, 1, 10)}, 1, 1};
    assert_false(below(&one, true, 1, NAN));
    assert_false(below(&one, true, 1, 0));
    assert_false(below(&one, true, NAN, 0.5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_say_yes_only_where_delta_is_below),
        cmocka_unit_test(the_answer_is_that_of_both_orders),
        cmocka_unit_test(nothing_is_passed_over_that_is_not_a_number),
    };
    return cmocka_run_group_tests_name("accountant orders", tests, NULL, NULL);
}
