/* The exponential adversary: its residuals, and how far a survivor can be from the truth. */
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>

#include "audit/exhaustive.h"
#include "random/tape.h"

enum { MOST = 1 << 8 };

static unsigned ones(size_t mask)
{
    return (unsigned)__builtin_popcount((unsigned)mask);
}

/* Every candidate against every subset: 4^n. */
static void residuals_by_definition(const double *answers, unsigned people, double *out)
{
    for (size_t candidate = 0; candidate < (size_t)1 << people; candidate++) {
        out[candidate] = 0;
        for (size_t subset = 0; subset < (size_t)1 << people; subset++)
            out[candidate] = fmax(out[candidate], fabs(answers[subset] - ones(candidate & subset)));
    }
}

static void residuals_are_the_largest_difference_over_all_subsets(void **state)
{
    (void)state;
    brume_error error = {0};
    uint64_t seed = 3;
    for (unsigned people = 1; people <= 8; people++)
        for (int trial = 0; trial < 20; trial++) {
            double answers[MOST], expected[MOST];
            for (size_t i = 0; i < (size_t)1 << people; i++)
                answers[i] = (double)(brume_tape_splitmix(&seed) >> 40) * 0x1p-20 - 4;
            residuals_by_definition(answers, people, expected);
            assert_ok(brume_exhaustive(answers, people, &error));
            uint32_t guess = brume_exhaustive_guess(answers, people);
            for (size_t i = 0; i < (size_t)1 << people; i++) {
                assert_holds(answers[i] == expected[i]);
                assert_holds(expected[guess] <= expected[i]);
            }
        }
}

/* --- survivors -------------------------------------------------------------------- */

typedef void adversary(double *numbers, unsigned people);

static void whole(double *numbers, unsigned people)
{
    brume_error error = {0};
    assert_ok(brume_exhaustive(numbers, people, &error));
}

/* A mutant that looks at answers that are too large only. */
static void one_sided(double *numbers, unsigned people)
{
    double answers[MOST];
    memcpy(answers, numbers, sizeof *answers << people);
    for (size_t candidate = 0; candidate < (size_t)1 << people; candidate++) {
        numbers[candidate] = 0;
        for (size_t subset = 0; subset < (size_t)1 << people; subset++)
            numbers[candidate] =
                fmax(numbers[candidate], answers[subset] - ones(candidate & subset));
    }
}

/* A mutant that asks about single people alone. */
static void only_singletons(double *numbers, unsigned people)
{
    double answers[MOST];
    memcpy(answers, numbers, sizeof *answers << people);
    for (size_t candidate = 0; candidate < (size_t)1 << people; candidate++) {
        numbers[candidate] = 0;
        for (size_t subset = 1; subset < (size_t)1 << people; subset *= 2)
            numbers[candidate] =
                fmax(numbers[candidate], fabs(answers[subset] - ones(candidate & subset)));
    }
}

/* The most wrong bits of a survivor over ALL answers within E of the truth, on a grid of 1/2, and
 * whether the truth always survives. The grid is enough for real answers: if a candidate survives
 * any, it survives those in the middle between its counts and the true ones, multiples of 1/2. */
static unsigned farthest_over_all_answers(adversary *attack, unsigned people, size_t truth,
                                          double bound, bool *truth_survives)
{
    size_t subsets = (size_t)1 << people, levels = (size_t)(4 * bound) + 1, vectors = 1;
    unsigned farthest = 0;
    for (size_t i = 0; i < subsets; i++)
        vectors *= levels;
    for (size_t vector = 0; vector < vectors; vector++) {
        double numbers[MOST];
        size_t rest = vector;
        for (size_t i = 0; i < subsets; i++, rest /= levels)
            numbers[i] = ones(i & truth) - bound + .5 * (double)(rest % levels);
        attack(numbers, people);
        brume_survivors survivors =
            brume_exhaustive_survivors(numbers, people, bound, (uint32_t)truth);
        *truth_survives = *truth_survives && numbers[truth] <= bound;
        farthest = survivors.farthest > farthest ? survivors.farthest : farthest;
    }
    return farthest;
}

static void for_every_answer_within_e_no_survivor_is_beyond_the_bound(void **state)
{
    (void)state;
    for (int twice = 0; twice <= 2; twice++) {
        double bound = twice / 2.;
        for (unsigned people = 1; people <= 3; people++)
            for (size_t truth = 0; truth < (size_t)1 << people; truth = 2 * truth + 1) {
                bool survives = true;
                unsigned farthest =
                    farthest_over_all_answers(whole, people, truth, bound, &survives);
                /* floor(2E) of its ones and floor(2E) of its zeros, where it has them */
                unsigned of_ones = ones(truth) < (unsigned)twice ? ones(truth) : (unsigned)twice;
                unsigned zeros = people - ones(truth);
                unsigned of_zeros = zeros < (unsigned)twice ? zeros : (unsigned)twice;
                assert_true(survives);
                assert_int_equal(farthest, of_ones + of_zeros);
                assert_true(farthest <= brume_exhaustive_hidden(bound, people));
            }
    }
}

static void adversaries_that_look_less_closely_exceed_the_bound(void **state)
{
    (void)state;
    adversary *const mutants[] = {one_sided, only_singletons};
    for (size_t i = 0; i < 2; i++) {
        bool survives = true;
        unsigned exact = 0;
        for (size_t truth = 0; truth < 8; truth = 2 * truth + 1) {
            unsigned farthest = farthest_over_all_answers(mutants[i], 3, truth, .5, &survives);
            exact = farthest > exact ? farthest : exact;
        }
        assert_true(exact > brume_exhaustive_hidden(.5, 3));
    }
}

/* All pairs of databases of 8 people: the answers in the middle between them. */
static void the_bound_is_two_floor_two_e_and_is_attained(void **state)
{
    (void)state;
    enum { PEOPLE = 8, ALL = 1 << PEOPLE };
    const struct {
        double bound;
        unsigned wrong;
    } reference[] = {{0, 0}, {.5, 2}, {.7, 2}, {1, 4}, {1.5, 6}, {2, 8}};
    brume_error error = {0};
    unsigned farthest[6] = {0};
    for (size_t truth = 0; truth < ALL; truth = 2 * truth + 1) /* by symmetry all of them */
        for (size_t other = 0; other < ALL; other++) {
            double numbers[ALL];
            for (size_t i = 0; i < ALL; i++)
                numbers[i] = (ones(i & truth) + ones(i & other)) / 2.;
            assert_ok(brume_exhaustive(numbers, PEOPLE, &error));
            for (size_t i = 0; i < 6; i++) {
                if (numbers[truth] > reference[i].bound) /* the curator may not answer so */
                    continue;
                brume_survivors survivors = brume_exhaustive_survivors(
                    numbers, PEOPLE, reference[i].bound, (uint32_t)truth);
                assert_true(survivors.farthest <= reference[i].wrong);
                farthest[i] = survivors.farthest > farthest[i] ? survivors.farthest : farthest[i];
            }
        }
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(farthest[i], reference[i].wrong);
        assert_int_equal(brume_exhaustive_hidden(reference[i].bound, PEOPLE), reference[i].wrong);
    }
}

static void too_many_people_are_refused_with_the_number_of_candidates(void **state)
{
    (void)state;
    brume_error error = {0};
    double numbers[2] = {0, NAN};
    assert_fails(brume_exhaustive_check(30, &error), BRUME_EOVERFLOW);
    assert_non_null(strstr(error.message, "2^30 = 1.074e+09 candidates"));
    assert_fails(brume_exhaustive_check(0, &error), BRUME_EARGUMENT);
    assert_fails(brume_exhaustive(numbers, 1, &error), BRUME_EARGUMENT);
    numbers[1] = INFINITY;
    assert_fails(brume_exhaustive(numbers, 1, &error), BRUME_EARGUMENT);
    assert_holds(numbers[0] == 0 && numbers[1] == INFINITY);
    assert_int_equal(brume_exhaustive_hidden(1e300, 9), 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(residuals_are_the_largest_difference_over_all_subsets),
        cmocka_unit_test(for_every_answer_within_e_no_survivor_is_beyond_the_bound),
        cmocka_unit_test(adversaries_that_look_less_closely_exceed_the_bound),
        cmocka_unit_test(the_bound_is_two_floor_two_e_and_is_attained),
        cmocka_unit_test(too_many_people_are_refused_with_the_number_of_candidates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
