/* Random subsets and least squares in a box: products, the minimum, and its certificate. */
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>

#include "audit/least_squares.h"
#include "random/tape.h"

enum { PEOPLE = 21, QUERIES = 60 };

static bool is_in(const brume_subsets *subsets, size_t query, size_t person)
{
    return subsets->bits[person / 8 * subsets->queries + query] >> person % 8 & 1;
}

static void products_are_sums_over_subsets_and_their_transpose(void **state)
{
    (void)state;
    brume_error error = {0};
    uint64_t seed = 8;
    for (size_t people = 1; people <= 27; people += 2) {
        brume_subsets subsets, again, other;
        assert_ok(brume_subsets_open(people, QUERIES, 5, &subsets, &error));
        assert_ok(brume_subsets_open(people, QUERIES, 5, &again, &error));
        assert_ok(brume_subsets_open(people, QUERIES, 6, &other, &error));
        assert_memory_equal(subsets.bits, again.bits, subsets.blocks * QUERIES);
        assert_memory_not_equal(subsets.bits, other.bits, subsets.blocks * QUERIES);
        double x[27], y[QUERIES], sums[QUERIES], gathered[27];
        size_t moved = 0;
        for (size_t i = 0; i < people; i++)
            x[i] = (double)(brume_tape_splitmix(&seed) >> 50);
        for (size_t j = 0; j < QUERIES; j++)
            y[j] = (double)(brume_tape_splitmix(&seed) >> 50);
        brume_subsets_sum(&subsets, x, sums);
        brume_subsets_gather(&subsets, y, gathered);
        for (size_t j = 0; j < QUERIES; j++) {
            double expected = 0;
            for (size_t i = 0; i < people; i++)
                expected += is_in(&subsets, j, i) ? x[i] : 0;
            assert_holds(sums[j] == expected);
        }
        for (size_t i = 0; i < people; i++) {
            double expected = 0;
            size_t in = 0;
            for (size_t j = 0; j < QUERIES; j++) {
                expected += is_in(&subsets, j, i) ? y[j] : 0;
                in += is_in(&subsets, j, i);
            }
            assert_holds(gathered[i] == expected);
            moved = in > moved ? in : moved;
        }
        assert_int_equal(brume_subsets_moved(&subsets), moved);
        brume_subsets_close(&subsets);
        brume_subsets_close(&again);
        brume_subsets_close(&other);
    }
}

/* The minimum by another route: one coordinate at a time, in the shift too, until nothing moves. */
static double minimum_by_coordinates(const brume_subsets *subsets, const double *answers)
{
    double x[PEOPLE], residual[QUERIES], value = 0;
    for (size_t i = 0; i < PEOPLE; i++)
        x[i] = 0;
    for (size_t j = 0; j < QUERIES; j++)
        residual[j] = -answers[j];
    for (int round = 0; round < 4000; round++) {
        double shift = 0;
        for (size_t j = 0; j < QUERIES; j++)
            shift += residual[j] / QUERIES;
        for (size_t j = 0; j < QUERIES; j++)
            residual[j] -= shift;
        for (size_t i = 0; i < PEOPLE; i++) {
            double slope = 0, curve = 0;
            for (size_t j = 0; j < QUERIES; j++)
                if (is_in(subsets, j, i)) {
                    slope += residual[j];
                    curve++;
                }
            double to = fmin(fmax(x[i] - slope / curve, 0), 1);
            for (size_t j = 0; j < QUERIES; j++)
                if (is_in(subsets, j, i))
                    residual[j] += to - x[i];
            x[i] = to;
        }
    }
    for (size_t j = 0; j < QUERIES; j++)
        value += residual[j] * residual[j] / 2;
    return value;
}

static void the_gap_bounds_the_distance_to_the_minimum(void **state)
{
    (void)state;
    brume_error error = {0};
    uint64_t seed = 77;
    double tightest = 0;
    for (uint64_t trial = 0; trial < 12; trial++) {
        brume_subsets subsets;
        double answers[QUERIES], x[PEOPLE];
        assert_ok(brume_subsets_open(PEOPLE, QUERIES, trial, &subsets, &error));
        for (size_t j = 0; j < QUERIES; j++)
            answers[j] = (double)(brume_tape_splitmix(&seed) >> 11) * 0x1p-53 * 20;
        double minimum = minimum_by_coordinates(&subsets, answers);
        for (double tolerance = 10; tolerance > 1e-9; tolerance /= 100) {
            brume_least_squares solved;
            assert_ok(brume_least_squares_solve(&subsets, answers, tolerance, x, &solved, &error));
            assert_holds(solved.gap <= tolerance);
            assert_holds(solved.value - minimum <= solved.gap + 1e-9);
            assert_holds(solved.value - minimum >= -1e-9);
            for (size_t i = 0; i < PEOPLE; i++)
                assert_holds(x[i] >= 0 && x[i] <= 1);
            if (tolerance >= 1e-3)
                tightest = fmax(tightest, (solved.value - minimum) / solved.gap);
        }
        brume_subsets_close(&subsets);
    }
    /* A gap of a tenth would be wrong, so the test sees more than that it is large. */
    assert_holds(tightest > 0.1);
}

static void answers_of_any_size_end_and_bad_ones_are_refused(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_subsets subsets;
    brume_least_squares solved;
    double answers[QUERIES], x[PEOPLE] = {7};
    uint64_t seed = 4;
    assert_ok(brume_subsets_open(PEOPLE, QUERIES, 1, &subsets, &error));
    for (double size = 1e-12; size < 1e18; size *= 1e3) {
        for (size_t j = 0; j < QUERIES; j++)
            answers[j] = size * (double)(int64_t)brume_tape_splitmix(&seed) * 0x1p-63;
        assert_ok(brume_least_squares_solve(&subsets, answers, 1e-3, x, &solved, &error));
        assert_holds(solved.steps < BRUME_LEAST_SQUARES_STEPS);
        assert_holds(solved.gap <= fmax(1e-3, 1e-12 * solved.value));
    }
    x[0] = 7;
    answers[3] = NAN;
    assert_fails(brume_least_squares_solve(&subsets, answers, 1, x, &solved, &error),
                 BRUME_EARGUMENT);
    answers[3] = INFINITY;
    assert_fails(brume_least_squares_solve(&subsets, answers, 1, x, &solved, &error),
                 BRUME_EARGUMENT);
    answers[3] = 0;
    assert_fails(brume_least_squares_solve(&subsets, answers, 0, x, &solved, &error),
                 BRUME_EARGUMENT);
    assert_holds(x[0] == 7);
    brume_subsets_close(&subsets);
    assert_fails(brume_subsets_open(0, 1, 1, &subsets, &error), BRUME_EARGUMENT);
    assert_fails(brume_subsets_open(1, 0, 1, &subsets, &error), BRUME_EARGUMENT);
    assert_fails(brume_subsets_open((size_t)1 << 20, (size_t)1 << 12, 1, &subsets, &error),
                 BRUME_EOVERFLOW);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_sums_over_subsets_and_their_transpose),
        cmocka_unit_test(the_gap_bounds_the_distance_to_the_minimum),
        cmocka_unit_test(answers_of_any_size_end_and_bad_ones_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
