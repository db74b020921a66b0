/* Reciprocal of a count, Gram matrix and regression. */
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>

#include <brume/statistic/gram.h>
#include <brume/statistic/reciprocal.h>
#include <brume/statistic/regression.h>

static void the_distance_of_the_reciprocal_is_the_count_beyond_the_last_sensitive_one(void **state)
{
    (void)state;
    brume_error error;
    uint64_t distance;
    assert_ok(brume_reciprocal_distance(100, 1e-3, &distance, &error));
    assert_int_equal(distance, 68); /* 32 * 31 < 1000 < 33 * 32 */
    assert_ok(brume_reciprocal_distance(32, 1e-3, &distance, &error));
    assert_int_equal(distance, 0);
    /* By its definition, for every count and several bounds. */
    const double bounds[] = {.6, .5, .1, .01, .0049};
    for (int b = 0; b < 5; b++) {
        uint64_t last = 1;
        for (uint64_t f = 2; f < 50; f++)
            if (1.0 / (double)(f * (f - 1)) > bounds[b])
                last = f;
        for (uint64_t f = 0; f < 60; f++) {
            assert_ok(brume_reciprocal_distance(f, bounds[b], &distance, &error));
            assert_int_equal(distance, f > last ? f - last : 0);
        }
    }
    distance = 5;
    assert_fails(brume_reciprocal_distance(9, 0, &distance, &error), BRUME_EARGUMENT);
    assert_fails(brume_reciprocal_distance(9, (double)NAN, &distance, &error), BRUME_EARGUMENT);
    assert_int_equal(distance, 5);
}

static double bounded_reciprocal(uint64_t f, uint64_t least)
{
    return 1 / (double)(f > least ? f : least);
}

static void a_reciprocal_of_at_least_c_has_a_smooth_bound(void **state)
{
    (void)state;
    brume_error error;
    for (uint64_t least = 1; least <= 4; least++) {
        double global, smooth, other, local;
        assert_ok(brume_reciprocal_global_upper(least, &global, &error));
        assert_close(global, 1 / (double)(least * (least + 1)), 1e-14);
        for (uint64_t f = least; f < 40; f++) {
            double largest = 0, naive = 0;
            for (uint64_t k = 0; k < 60; k++) {
                /* Local sensitivity within k, by hand. */
                for (uint64_t g = f > k ? f - k : 0; g <= f + k; g++) {
                    double up =
                        fabs(bounded_reciprocal(g, least) - bounded_reciprocal(g + 1, least));
                    double down =
                        g ? fabs(bounded_reciprocal(g, least) - bounded_reciprocal(g - 1, least))
                          : 0;
                    largest = fmax(largest, fmax(up, down));
                }
                assert_ok(brume_reciprocal_local_upper(f, least, k, &local, &error));
                assert_close(local, largest, 1e-13);
                naive = fmax(naive, largest * exp(-.4 * (double)k));
            }
            assert_ok(brume_reciprocal_smooth(f, least, .4, &smooth, &error));
            assert_close(smooth, naive, 1e-10);
            assert_ok(brume_reciprocal_smooth(f + 1, least, .4, &other, &error));
            assert_holds(smooth <= exp(.4) * other * (1 + 1e-15));
            assert_holds(other <= exp(.4) * smooth * (1 + 1e-15));
        }
    }
}

static brume_gram *open_gram(size_t columns, int64_t norm)
{
    brume_error error;
    brume_gram *gram = NULL;
    assert_ok(brume_gram_open(columns, norm, &gram, &error));
    return gram;
}

static void rows_are_clipped_into_the_ball(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int trial = 0; trial < 20000; trial++) {
        size_t d = 1 + (size_t)trial % 5;
        int64_t row[5], norm = 1 + trial % 1000;
        brume_gram *gram = open_gram(d, norm);
        for (size_t i = 0; i < d; i++) {
            seed = seed * UINT64_C(6364136223846793005) + 77;
            row[i] = (int64_t)seed >> (10 + trial % 54);
        }
        brume_gram_add(gram, row);
        int64_t trace = 0;
        size_t entry = 0;
        for (size_t i = 0; i < d; i++)
            for (size_t j = i; j < d; j++, entry++)
                trace += i == j ? brume_gram_entry(gram, entry) : 0;
        assert_holds(trace <= norm * norm && entry == brume_gram_size(gram));
        brume_gram_close(gram);
    }
}

/* Sensitivities of the upper triangle over all rows in a small ball; the L2 ones are attained. */
static void the_sensitivities_hold_and_the_euclidean_ones_are_tight(void **state)
{
    (void)state;
    enum { NORM = 5 };
    brume_error error;
    for (int replace = 0; replace < 2; replace++) {
        brume_gram *gram = open_gram(2, NORM);
        brume_adjacency adjacency = replace ? BRUME_REPLACE : BRUME_ADD_REMOVE;
        double l1, l2, most_l1 = 0, most_l2 = 0;
        assert_ok(brume_gram_sensitivity_l1_upper(gram, adjacency, &l1, &error));
        assert_ok(brume_gram_sensitivity_l2_upper(gram, adjacency, &l2, &error));
        for (int code = 0; code < 11 * 11 * 11 * 11; code++) {
            int x = code % 11 - 5, y = code / 11 % 11 - 5, z = code / 121 % 11 - 5,
                w = code / 1331 - 5;
            if (!replace)
                z = w = 0;
            if (x * x + y * y > NORM * NORM || z * z + w * w > NORM * NORM)
                continue;
            double a = abs(x * x - z * z), b = abs(x * y - z * w), c = abs(y * y - w * w);
            most_l1 = fmax(most_l1, a + b + c);
            most_l2 = fmax(most_l2, sqrt(a * a + b * b + c * c));
        }
        assert_holds(most_l1 <= l1 && most_l2 <= l2);
        assert_holds(most_l2 >= l2 * (1 - 1e-12));
        brume_gram_close(gram);
    }
    brume_gram *gram = open_gram(2, NORM);
    double untouched = 3;
    assert_fails(brume_gram_sensitivity_l2_upper(gram, BRUME_EDGE, &untouched, &error),
                 BRUME_EARGUMENT);
    assert_holds(untouched == 3);
    brume_gram_close(gram);
}

static void the_least_eigenvalue_is_that_of_small_matrices(void **state)
{
    (void)state;
    brume_error error;
    uint64_t seed = 8;
    for (int trial = 0; trial < 300; trial++) {
        brume_gram *gram = open_gram(2, 100);
        for (int i = 0; i < 20; i++) {
            seed = seed * UINT64_C(6364136223846793005) + 7;
            int64_t row[2] = {(int64_t)(seed >> 40) % 101 - 50, (int64_t)(seed >> 20) % 101 - 50};
            brume_gram_add(gram, row);
        }
        double a = (double)brume_gram_entry(gram, 0) / 1e4,
               b = (double)brume_gram_entry(gram, 1) / 1e4,
               c = (double)brume_gram_entry(gram, 2) / 1e4, least;
        assert_ok(brume_gram_least_eigenvalue(gram, &least, &error));
        double expected = (a + c) / 2 - sqrt((a - c) * (a - c) / 4 + b * b);
        assert_holds(fabs(least - expected) < 1e-12);
        brume_gram_close(gram);
    }
    /* Four columns: a diagonal matrix turned by a rotation keeps its eigenvalues. */
    brume_gram *gram = open_gram(4, 2);
    const int64_t rows[4][4] = {{1, 1, 1, 1}, {1, -1, 1, -1}, {1, 1, -1, -1}, {1, -1, -1, 1}};
    for (int i = 0; i < 4; i++)
        for (int copies = 0; copies < 3 + i; copies++)
            brume_gram_add(gram, rows[i]);
    double least;
    assert_ok(brume_gram_least_eigenvalue(gram, &least, &error));
    assert_holds(fabs(least - 3) < 1e-14);
    brume_gram_close(gram);
}

static void add_times(brume_gram *gram, int64_t x, int64_t y, int times)
{
    int64_t row[2] = {x, y};
    for (int i = 0; i < times; i++)
        brume_gram_add(gram, row);
}

static void the_vectors_of_the_regression_hold(void **state)
{
    (void)state;
    brume_error error;
    double needed;
    assert_ok(brume_regression_eigenvalue_upper(.1, &needed, &error));
    assert_close(needed, 5.5166555661269948, 1e-14);
    assert_ok(brume_regression_eigenvalue_upper(.5, &needed, &error));
    assert_close(needed, 1.5819767068693264, 1e-14);
    const double point[2] = {1, 0}, step = 0x1p-20;
    int64_t whole, less;
    brume_gram *gram = open_gram(2, 100);
    add_times(gram, 100, 0, 4);
    add_times(gram, 0, 100, 4);
    assert_ok(brume_regression_log(gram, point, step, &whole, &error));
    assert_int_equal(whole, (int64_t)floor(log(.5) / step));
    brume_gram *without = open_gram(2, 100);
    add_times(without, 100, 0, 3);
    add_times(without, 0, 100, 4);
    assert_ok(brume_regression_log(without, point, step, &less, &error));
    assert_holds(fabs((double)(less - whole) * step - .14384103622589045) <= step);
    brume_gram_close(gram);
    brume_gram_close(without);
}

/* LS(ln q) <= ln(l/(l-1))/2 and the distance's two properties, over many pairs of neighbours. */
static void a_proposed_bound_on_the_regression_is_safe(void **state)
{
    (void)state;
    brume_error error;
    uint64_t seed = 21;
    int released = 0;
    for (int trial = 0; trial < 20000; trial++) {
        brume_gram *x = open_gram(2, 1000), *y = open_gram(2, 1000);
        int rows = 2 + trial % 40;
        for (int i = 0; i < rows; i++) {
            seed = seed * UINT64_C(6364136223846793005) + 7;
            int64_t row[2] = {(int64_t)(seed >> 40) % 2001 - 1000,
                              (int64_t)(seed >> 20) % 2001 - 1000};
            brume_gram_add(x, row);
            if (i > 0) {
                brume_gram_add(y, row);
            } else if (trial % 2) { /* replaced, else removed */
                int64_t other[2] = {-row[1], row[0] / 2};
                brume_gram_add(y, other);
            }
        }
        const double point[2] = {(double)(trial % 7) - 3, 1}, step = 0x1p-18;
        const double bound = trial % 3 ? .1 : .5;
        uint64_t here, there;
        int64_t log_here, log_there;
        assert_ok(brume_regression_distance(x, bound, &here, &error));
        assert_ok(brume_regression_distance(y, bound, &there, &error));
        assert_holds(here <= there + 1 && there <= here + 1);
        assert_ok(brume_regression_log(x, point, step, &log_here, &error));
        assert_ok(brume_regression_log(y, point, step, &log_there, &error));
        if (here > 0 || there > 0) {
            released++;
            assert_holds(llabs(log_here - log_there) <= (int64_t)ceil(bound / step) + 1);
        }
        brume_gram_close(x);
        brume_gram_close(y);
    }
    assert_holds(released > 1000);
}

static void bad_points_and_steps_are_refused(void **state)
{
    (void)state;
    brume_error error;
    brume_gram *gram = open_gram(2, 10);
    int64_t out = 4;
    const double zero[2] = {0, 0}, good[2] = {1, 0}, bad[2] = {(double)NAN, 1};
    assert_fails(brume_regression_log(gram, zero, 1, &out, &error), BRUME_EARGUMENT);
    assert_fails(brume_regression_log(gram, bad, 1, &out, &error), BRUME_EARGUMENT);
    assert_fails(brume_regression_log(gram, good, .3, &out, &error), BRUME_EARGUMENT);
    assert_int_equal(out, 4);
    /* No rows: nothing is stable, and the value is at its clamp, not an error. */
    uint64_t distance;
    assert_ok(brume_regression_distance(gram, .1, &distance, &error));
    assert_int_equal(distance, 0);
    assert_ok(brume_regression_log(gram, good, 1, &out, &error));
    assert_int_equal(out, 64);
    brume_gram_close(gram);
    gram = NULL;
    assert_fails(brume_gram_open(0, 10, &gram, &error), BRUME_EARGUMENT);
    assert_fails(brume_gram_open(65, 10, &gram, &error), BRUME_EARGUMENT);
    assert_fails(brume_gram_open(2, 0, &gram, &error), BRUME_EARGUMENT);
    assert_null(gram);
}

/* Rejects: ranges without their ends, a value that is not cut off from below, a division of 0 by 0
 * where rows along one axis say nothing of the other. */
static void the_ends_of_regressions_are_defined(void **state)
{
    (void)state;
    brume_error error;
    brume_gram *gram = open_gram(2, 10);
    add_times(gram, 10, 0, 5);
    const double along[2] = {1, 0}, far_out[2] = {0x1p20, 1}, near[2] = {0, 1e-40};
    double value = 0, needed;
    int64_t out = 0;
    assert_ok(brume_regression_value(gram, along, &value, &error));
    assert_true(isinf(value));
    assert_ok(brume_regression_log(gram, along, 1, &out, &error));
    assert_int_equal(out, 64);
    add_times(gram, 0, 10, 5);
    assert_ok(brume_regression_log(gram, near, 1, &out, &error));
    assert_int_equal(out, -64);
    assert_ok(brume_regression_log(gram, far_out, 0x1p-20, &out, &error));
    assert_close((double)out * 0x1p-20, log(0x1p40 / 5) / 2, 1e-6);
    const double good[] = {0x1p-8, 2}, bad[] = {0x1.fp-9, 2.01, (double)NAN};
    for (int i = 0; i < 2; i++) {
        assert_ok(brume_regression_eigenvalue_upper(good[i], &needed, &error));
        assert_close(needed, 1 / (1 - exp(-2 * good[i])), 1e-12);
    }
    for (int i = 0; i < 3; i++)
        assert_fails(brume_regression_eigenvalue_upper(bad[i], &needed, &error), BRUME_EARGUMENT);
    brume_gram_close(gram);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_distance_of_the_reciprocal_is_the_count_beyond_the_last_sensitive_one),
        cmocka_unit_test(a_reciprocal_of_at_least_c_has_a_smooth_bound),
        cmocka_unit_test(rows_are_clipped_into_the_ball),
        cmocka_unit_test(the_sensitivities_hold_and_the_euclidean_ones_are_tight),
        cmocka_unit_test(the_least_eigenvalue_is_that_of_small_matrices),
        cmocka_unit_test(the_vectors_of_the_regression_hold),
        cmocka_unit_test(a_proposed_bound_on_the_regression_is_safe),
        cmocka_unit_test(bad_points_and_steps_are_refused),
        cmocka_unit_test(the_ends_of_regressions_are_defined),
    };
    return cmocka_run_group_tests_name("matrix", tests, NULL, NULL);
}
