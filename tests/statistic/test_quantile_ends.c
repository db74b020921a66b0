/* Quantiles at the ends of what is allowed: of ranks, of bounds, of integers, of smoothness. */
#include "check.h"

#include <brume/statistic/quantile.h>

#include "random/tape.h"
#include "statistic/smooth.h"

static brume_error error;

static brume_quantile *open_quantile(brume_quantile_rule rule, const int64_t *values, size_t n)
{
    brume_quantile *quantile = NULL;
    assert_ok(brume_quantile_open(&rule, values, n, &quantile, &error));
    return quantile;
}

/* Rejects: the bound below the data as the least value. */
static void the_least_value_has_rank_one(void **state)
{
    (void)state;
    const int64_t values[] = {4, 3};
    brume_quantile *quantile =
        open_quantile((brume_quantile_rule){0, 1, 1, BRUME_REPLACE, 0, 5}, values, 2);
    assert_int_equal(brume_quantile_value(quantile), 3);
    assert_int_equal(brume_quantile_local(quantile, 0), 3); /* to 0 by one change, or to 4 */
    brume_quantile_close(quantile);
}

/* Rejects: an open range of smoothness where a closed one is promised, no floor under the bound. */
static void the_ends_of_the_smoothness_are_accepted(void **state)
{
    (void)state;
    const int64_t values[] = {0, 0, 0, 0, 0};
    brume_quantile *quantile =
        open_quantile((brume_quantile_rule){1, 2, 1, BRUME_REPLACE, 0, 5}, values, 5);
    double smooth = 0;
    assert_ok(brume_quantile_smooth(quantile, 0x1p-30, &smooth, &error));
    assert_close(smooth, 5, 1e-8);
    assert_ok(brume_quantile_smooth(quantile, 64, &smooth, &error)); /* 5 exp(-128): nothing */
    assert_true(smooth == BRUME_SMOOTH_FLOOR);
    brume_quantile_close(quantile);
}

/* Of no values every bound is the whole range. Rejects: a search that ends before its only window.
 */
static void no_values_have_the_whole_range(void **state)
{
    (void)state;
    for (uint64_t per_unit = 1; per_unit <= 3; per_unit++)
        for (int replace = 0; replace <= 1; replace++)
            for (uint64_t quarter = 0; quarter <= 4; quarter++) {
                brume_adjacency adjacency = replace ? BRUME_REPLACE : BRUME_ADD_REMOVE;
                brume_quantile *quantile = open_quantile(
                    (brume_quantile_rule){quarter, 4, per_unit, adjacency, -2, 7}, NULL, 0);
                double smooth = 0;
                assert_ok(brume_quantile_smooth(quantile, .5, &smooth, &error));
                assert_close(smooth, 9, 1e-10);
                assert_int_equal(brume_quantile_local(quantile, 0), 9);
                assert_int_equal(brume_quantile_distance(quantile, 8), 0);
                brume_quantile_close(quantile);
            }
}

/* Nearly all points are as likely as each other with this epsilon: each of `points` is drawn within
 * 6 standard deviations of its share, from the same tape in every run. */
static void check_all_points(brume_quantile_rule rule, int64_t value)
{
    enum { DRAWS = 3000 };
    int64_t points = rule.upper - rule.lower + 1;
    int seen[8] = {0};
    brume_bits *bits = brume_tape_open_seeded(5);
    brume_quantile *quantile = open_quantile(rule, &value, 1);
    for (int i = 0; i < DRAWS; i++) {
        int64_t out;
        assert_ok(brume_quantile_exponential(quantile, 0x1p-30, bits, &out, &error));
        assert_true(out >= rule.lower && out <= rule.upper);
        seen[out - rule.lower]++;
    }
    double share = 1 / (double)points;
    for (int64_t i = 0; i < points; i++)
        assert_true(fabs(seen[i] - DRAWS * share) < 6 * sqrt(DRAWS * share * (1 - share)));
    brume_quantile_close(quantile);
    brume_bits_close(bits);
}

/* Rejects: a point that is drawn as often as two, since its integer has no successor; points above
 * the data that are left out where all numbers are negative. */
static void every_integer_can_be_a_bound(void **state)
{
    (void)state;
    for (int64_t value = INT64_MAX - 3; value < INT64_MAX; value++)
        check_all_points((brume_quantile_rule){1, 2, 1, BRUME_ADD_REMOVE, INT64_MAX - 3, INT64_MAX},
                         value);
    check_all_points((brume_quantile_rule){1, 2, 1, BRUME_ADD_REMOVE, INT64_MAX - 3, INT64_MAX},
                     INT64_MAX);
    for (int64_t value = -5; value <= -2; value++)
        check_all_points((brume_quantile_rule){1, 2, 1, BRUME_ADD_REMOVE, -5, -2}, value);
    for (int64_t value = INT64_MIN; value < INT64_MIN + 3; value++)
        check_all_points((brume_quantile_rule){1, 2, 1, BRUME_REPLACE, INT64_MIN, INT64_MIN + 2},
                         value);
}

/* Rejects: a range of epsilon without its ends. */
static void the_ends_of_epsilon_are_accepted(void **state)
{
    (void)state;
    const int64_t value = 3;
    const double refused[] = {0x1p-31, 701, (double)NAN}, accepted[] = {0x1p-30, 700};
    brume_bits *bits = brume_tape_open_seeded(6);
    brume_quantile *quantile =
        open_quantile((brume_quantile_rule){1, 2, 1, BRUME_REPLACE, 0, 5}, &value, 1);
    int64_t out = 77;
    for (size_t i = 0; i < 3; i++)
        assert_fails(brume_quantile_exponential(quantile, refused[i], bits, &out, &error),
                     BRUME_EARGUMENT);
    assert_true(out == 77);
    for (size_t i = 0; i < 2; i++)
        assert_ok(brume_quantile_exponential(quantile, accepted[i], bits, &out, &error));
    assert_true(out == 3); /* exp(-350/2) for all others */
    brume_quantile_close(quantile);
    brume_bits_close(bits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_value_has_rank_one),
        cmocka_unit_test(the_ends_of_the_smoothness_are_accepted),
        cmocka_unit_test(no_values_have_the_whole_range),
        cmocka_unit_test(every_integer_can_be_a_bound),
        cmocka_unit_test(the_ends_of_epsilon_are_accepted),
    };
    return cmocka_run_group_tests_name("quantile_ends", tests, NULL, NULL);
}
