/* Quantiles: vectors, and every claim of the header by exhaustion over small data. */
#include "check.h"

#include <stdlib.h>

#include <brume/statistic/interquartile.h>
#include <brume/statistic/quantile.h>

#include "multisets.h"
#include "sequence.h"
#include "statistic/smooth.h"

static brume_quantile *open_quantile(brume_quantile_rule rule, const int64_t *values, size_t n)
{
    brume_error error;
    brume_quantile *quantile = NULL;
    assert_ok(brume_quantile_open(&rule, values, n, &quantile, &error));
    return quantile;
}

static double smooth_of(const brume_quantile *quantile, double t)
{
    brume_error error;
    double smooth = -1;
    assert_ok(brume_quantile_smooth(quantile, t, &smooth, &error));
    return smooth;
}

static brume_quantile_rule rule_of(uint64_t numerator, uint64_t denominator, uint64_t per_unit,
                                   brume_adjacency adjacency, int64_t lower, int64_t upper)
{
    return (brume_quantile_rule){numerator, denominator, per_unit, adjacency, lower, upper};
}

static void the_vectors_of_the_smooth_median_hold(void **state)
{
    (void)state;
    int64_t five[] = {4, 1, 5, 3, 2};
    brume_quantile *quantile = open_quantile(rule_of(1, 2, 1, BRUME_REPLACE, 0, 10), five, 5);
    const uint64_t expected[] = {1, 2, 7, 8, 9, 10};
    for (uint64_t k = 0; k < 6; k++)
        assert_int_equal(brume_quantile_local(quantile, k), expected[k]);
    assert_int_equal(brume_quantile_value(quantile), 3);
    assert_close(smooth_of(quantile, .5), 2.5751560882000963, 1e-10);
    brume_quantile_close(quantile);

    int64_t neighbour[] = {1, 2, 3, 5, 9};
    quantile = open_quantile(rule_of(1, 2, 1, BRUME_REPLACE, 0, 10), neighbour, 5);
    assert_close(smooth_of(quantile, .5), 3.639, 1e-3);
    brume_quantile_close(quantile);

    int64_t tied[] = {0, 0, 0, 0, 0, 0, 100, 100, 100};
    quantile = open_quantile(rule_of(1, 2, 1, BRUME_REPLACE, 0, 100), tied, 9);
    assert_close(smooth_of(quantile, .1), 90.48374180359595, 1e-10);
    brume_quantile_close(quantile);

    int64_t many[101];
    for (int i = 0; i < 101; i++)
        many[i] = i + 1;
    quantile = open_quantile(rule_of(1, 2, 1, BRUME_REPLACE, 0, 1000), many, 101);
    assert_close(smooth_of(quantile, .1), 6.394311702132108, 1e-10);
    brume_quantile_close(quantile);

    int64_t one[] = {5};
    quantile = open_quantile(rule_of(1, 2, 1, BRUME_REPLACE, 0, 10), one, 1);
    assert_close(smooth_of(quantile, 1), 5, 1e-10);
    brume_quantile_close(quantile);
}

static void local_sensitivity_alone_betrays_the_median(void **state)
{
    (void)state;
    int64_t safe[10] = {0}, neighbour[10] = {0};
    for (int i = 6; i < 10; i++)
        safe[i] = 1000000;
    for (int i = 5; i < 10; i++)
        neighbour[i] = 1000000;
    brume_quantile *quantile = open_quantile(rule_of(1, 2, 1, BRUME_REPLACE, 0, 1000000), safe, 10);
    assert_int_equal(brume_quantile_value(quantile), 0);
    assert_int_equal(brume_quantile_local(quantile, 0), 0);
    assert_int_equal(brume_quantile_local(quantile, 1), 1000000);
    assert_int_equal(brume_quantile_local(quantile, 2), 1000000);
    brume_quantile_close(quantile);
    quantile = open_quantile(rule_of(1, 2, 1, BRUME_REPLACE, 0, 1000000), neighbour, 10);
    assert_int_equal(brume_quantile_value(quantile), 0);
    for (uint64_t k = 0; k < 3; k++)
        assert_int_equal(brume_quantile_local(quantile, k), 1000000);
    brume_quantile_close(quantile);
}

enum { DOMAIN = 4 };

static int64_t quantile_by_hand(const multiset *x, uint64_t numerator, uint64_t denominator)
{
    if (x->size == 0)
        return 0;
    uint64_t rank = ((uint64_t)x->size * numerator + denominator - 1) / denominator;
    return x->value[rank == 0 ? 0 : rank - 1];
}

/* LS^(k) of the first `centres` sets by its definition, against the library; and the distance. */
static void compare_with_brute_force(const multiset *all, int count, int centres, int deepest,
                                     uint64_t numerator, uint64_t denominator,
                                     brume_adjacency adjacency)
{
    int step = adjacency == BRUME_REPLACE ? 2 : 1;
    int64_t *local = calloc((size_t)count, sizeof *local);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++) {
            if (multiset_distance(&all[i], &all[j]) != step)
                continue;
            int64_t change = llabs(quantile_by_hand(&all[i], numerator, denominator) -
                                   quantile_by_hand(&all[j], numerator, denominator));
            local[i] = change > local[i] ? change : local[i];
        }
    for (int i = 0; i < centres; i++) {
        brume_quantile *quantile =
            open_quantile(rule_of(numerator, denominator, 1, adjacency, 0, DOMAIN - 1),
                          all[i].value, (size_t)all[i].size);
        assert_int_equal(brume_quantile_value(quantile),
                         quantile_by_hand(&all[i], numerator, denominator));
        for (int k = 0; k <= deepest; k++) {
            int64_t largest = 0;
            for (int j = 0; j < count; j++)
                if (multiset_distance(&all[i], &all[j]) <= k * step && local[j] > largest)
                    largest = local[j];
            assert_int_equal(brume_quantile_local(quantile, (uint64_t)k), largest);
        }
        for (int64_t bound = 0; bound < DOMAIN - 1; bound++) {
            int nearest = -1;
            for (int k = 0; k <= deepest && nearest < 0; k++)
                if ((int64_t)brume_quantile_local(quantile, (uint64_t)k) > bound)
                    nearest = k;
            uint64_t distance = brume_quantile_distance(quantile, (uint64_t)bound);
            if (nearest >= 0)
                assert_int_equal(distance, nearest);
            else
                assert_holds(distance > (uint64_t)deepest);
        }
        assert_holds(brume_quantile_distance(quantile, DOMAIN - 1) == UINT64_MAX);
        brume_quantile_close(quantile);
    }
    free(local);
}

static void replace_local_sensitivity_at_a_distance_is_exact(void **state)
{
    (void)state;
    for (int size = 1; size <= 5; size++) {
        int count = multisets_of_size(size, DOMAIN, NULL, 0);
        multiset *all = calloc((size_t)count, sizeof *all);
        multisets_of_size(size, DOMAIN, all, 0);
        for (uint64_t rank = 1; rank <= (uint64_t)size; rank++)
            compare_with_brute_force(all, count, count, size + 1, rank, (uint64_t)size,
                                     BRUME_REPLACE);
        free(all);
    }
}

static void add_remove_median_sensitivity_at_a_distance_is_exact(void **state)
{
    (void)state;
    /* Centres of up to 4 values, sets within 3 of them, and their neighbours: up to 8 values. */
    static multiset all[600];
    int count = 0, centres = 0;
    for (int size = 0; size <= 8; size++) {
        count = multisets_of_size(size, DOMAIN, all, count);
        if (size == 4)
            centres = count;
    }
    compare_with_brute_force(all, count, centres, 3, 1, 2, BRUME_ADD_REMOVE);
}

/* Clauses 2 and 3 of the header for all pairs of multisets that a unit of R values can separate:
 * the change is at most L_0, and L_k(x) <= L_{k+1}(x'). Gives the number of pairs. */
static long covering_holds(uint64_t per_unit, brume_adjacency adjacency, uint64_t numerator,
                           uint64_t denominator, int most)
{
    static multiset all[600];
    static brume_quantile *open[600];
    static double smooth[600];
    int count = 0;
    bool sizes_vary = adjacency == BRUME_ADD_REMOVE || per_unit > 1;
    for (int size = sizes_vary ? 0 : most; size <= most; size++)
        count = multisets_of_size(size, DOMAIN, all, count);
    for (int i = 0; i < count; i++) {
        open[i] = open_quantile(rule_of(numerator, denominator, per_unit, adjacency, 0, DOMAIN - 1),
                                all[i].value, (size_t)all[i].size);
        smooth[i] = smooth_of(open[i], .3);
    }
    long pairs = 0;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++) {
            int added = multiset_missing(&all[i], &all[j]);
            int removed = multiset_missing(&all[j], &all[i]);
            bool neighbours = added <= (int)per_unit && removed <= (int)per_unit &&
                              (adjacency == BRUME_REPLACE || added == 0 || removed == 0);
            if (!neighbours || i == j)
                continue;
            pairs++;
            uint64_t change =
                (uint64_t)llabs(brume_quantile_value(open[i]) - brume_quantile_value(open[j]));
            assert_holds(change <= brume_quantile_local(open[i], 0));
            for (uint64_t k = 0; k < 5; k++)
                assert_holds(brume_quantile_local(open[i], k) <=
                             brume_quantile_local(open[j], k + 1));
            for (uint64_t bound = 0; bound < DOMAIN - 1; bound++) {
                uint64_t here = brume_quantile_distance(open[i], bound);
                uint64_t there = brume_quantile_distance(open[j], bound);
                assert_holds(here <= there + 1);
                assert_holds(change <= bound || here == 0);
            }
            assert_holds((double)change <= smooth[i]);
            assert_holds(smooth[i] <= exp(.3) * smooth[j] * (1 + 1e-15));
        }
    for (int i = 0; i < count; i++) {
        int last = all[i].size == 0 ? 0 : (all[i].size - 1) / (int)per_unit; /* it may be all */
        if (sizes_vary && 2 * numerator != denominator)
            assert_int_equal(brume_quantile_local(open[i], (uint64_t)last), DOMAIN - 1);
        brume_quantile_close(open[i]);
    }
    return pairs;
}

static void a_unit_of_several_values_is_covered(void **state)
{
    (void)state;
    long pairs = 0;
    for (uint64_t numerator = 0; numerator <= 4; numerator++)
        for (uint64_t per_unit = 1; per_unit <= 2; per_unit++) {
            pairs += covering_holds(per_unit, BRUME_ADD_REMOVE, numerator, 4, 7);
            pairs += covering_holds(per_unit, BRUME_REPLACE, numerator, 4, 7);
        }
    pairs += covering_holds(3, BRUME_REPLACE, 2, 3, 7);
    assert_holds(pairs > 100000);
}

/* What the check above would reject: a unit of two values treated as if it had one. */
static void a_bound_for_one_value_is_too_small_for_two(void **state)
{
    (void)state;
    int64_t before[] = {0, 1, 2, 3, 3}, after[] = {0, 1, 3, 0, 0};
    for (uint64_t per_unit = 1; per_unit <= 2; per_unit++) {
        brume_quantile_rule rule = rule_of(1, 2, per_unit, BRUME_REPLACE, 0, 3);
        brume_quantile *x = open_quantile(rule, before, 5), *y = open_quantile(rule, after, 5);
        uint64_t change = (uint64_t)(brume_quantile_value(x) - brume_quantile_value(y));
        assert_int_equal(change, 2);
        assert_int_equal(change <= brume_quantile_local(x, 0), per_unit == 2);
        brume_quantile_close(x);
        brume_quantile_close(y);
    }
}

static uint64_t pseudo_random(uint64_t *state)
{
    return sequence_next(state) >> 33;
}

static void the_fast_smooth_sensitivity_equals_the_plain_maximum(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (int trial = 0; trial < 400; trial++) {
        size_t n = pseudo_random(&seed) % 60;
        int64_t values[60];
        int64_t spread = trial % 3 == 0 ? 5 : trial % 3 == 1 ? 1000 : INT64_C(1) << 40;
        for (size_t i = 0; i < n; i++)
            values[i] = (int64_t)(pseudo_random(&seed) * pseudo_random(&seed) % (uint64_t)spread);
        brume_adjacency adjacency = trial % 2 ? BRUME_REPLACE : BRUME_ADD_REMOVE;
        brume_quantile *quantile =
            open_quantile(rule_of(pseudo_random(&seed) % 9, 8, 1 + (uint64_t)trial % 4, adjacency,
                                  -3, spread + 10),
                          values, n);
        const double ts[] = {1e-9, .001, .02, .1, .5, 2, 64};
        for (int i = 0; i < 7; i++) {
            double largest = BRUME_SMOOTH_FLOOR;
            for (uint64_t k = 0; k <= 61; k++) {
                double value = exp(-ts[i] * (double)k) * (double)brume_quantile_local(quantile, k);
                largest = value > largest ? value : largest;
            }
            double smooth = smooth_of(quantile, ts[i]);
            assert_holds(smooth >= largest * (1 - 1e-15));
            assert_holds(smooth <= largest * (1 + 1e-9));
        }
        brume_quantile_close(quantile);
    }
}

static int64_t range_by_hand(const multiset *x)
{
    return quantile_by_hand(x, 3, 4) - quantile_by_hand(x, 1, 4);
}

static brume_interquartile *open_range(const multiset *x, brume_adjacency adjacency)
{
    brume_error error;
    brume_interquartile *range = NULL;
    assert_ok(brume_interquartile_open(0, DOMAIN - 1, 1, adjacency, x->value, (size_t)x->size,
                                       &range, &error));
    return range;
}

/* One change moves the range by at most L_0, and L_k(x) <= L_{k+1}(x'); under replace L_0 is
 * attained for most data: `slack` counts where it is not. */
static void check_ranges(const multiset *all, int count, brume_adjacency adjacency, int *attained,
                         int *slack)
{
    for (int i = 0; i < count; i++) {
        brume_interquartile *x = open_range(&all[i], adjacency);
        assert_int_equal(brume_interquartile_value(x), range_by_hand(&all[i]));
        uint64_t largest = 0;
        double smooth;
        brume_error error;
        assert_ok(brume_interquartile_smooth(x, .3, &smooth, &error));
        for (int j = 0; j < count; j++) {
            if (multiset_distance(&all[i], &all[j]) != (adjacency == BRUME_REPLACE ? 2 : 1))
                continue;
            brume_interquartile *y = open_range(&all[j], adjacency);
            uint64_t change = (uint64_t)llabs(range_by_hand(&all[i]) - range_by_hand(&all[j]));
            largest = change > largest ? change : largest;
            assert_holds(change <= brume_interquartile_local(x, 0));
            for (uint64_t k = 0; k < 4; k++)
                assert_holds(brume_interquartile_local(x, k) <=
                             brume_interquartile_local(y, k + 1));
            for (uint64_t bound = 0; bound < DOMAIN - 1; bound++)
                assert_holds(brume_interquartile_distance(x, bound) <=
                             brume_interquartile_distance(y, bound) + 1);
            double other;
            assert_ok(brume_interquartile_smooth(y, .3, &other, &error));
            assert_holds(smooth <= exp(.3) * other * (1 + 1e-15) && (double)change <= smooth);
            brume_interquartile_close(y);
        }
        *attained += largest == brume_interquartile_local(x, 0);
        *slack += largest != brume_interquartile_local(x, 0);
        brume_interquartile_close(x);
    }
}

static void the_interquartile_range_moves_no_more_than_one_quartile(void **state)
{
    (void)state;
    static multiset all[600];
    int attained = 0, slack = 0;
    for (int size = 1; size <= 6; size++)
        check_ranges(all, multisets_of_size(size, DOMAIN, all, 0), BRUME_REPLACE, &attained,
                     &slack);
    assert_holds(attained > 10 * slack);
    int count = 0;
    for (int size = 0; size <= 6; size++)
        count = multisets_of_size(size, DOMAIN, all, count);
    check_ranges(all, count, BRUME_ADD_REMOVE, &attained, &slack);
}

static void the_distances_between_bins_of_the_range_are_exact(void **state)
{
    (void)state;
    static multiset all[600];
    const uint64_t edges[][3] = {{0, 1, 2}, {0, 2, 3}, {0, 1, 3}};
    for (int size = 1; size <= 6; size++) {
        int count = multisets_of_size(size, DOMAIN, all, 0);
        for (int grid = 0; grid < 3; grid++)
            for (int i = 0; i < count; i++) {
                brume_error error;
                brume_interquartile *x = open_range(&all[i], BRUME_REPLACE);
                size_t bin;
                uint64_t distance;
                assert_ok(brume_interquartile_bin(x, edges[grid], 3, &bin, &distance, &error));
                int nearest = 1000;
                for (int j = 0; j < count; j++) {
                    uint64_t range = (uint64_t)range_by_hand(&all[j]);
                    size_t other = range >= edges[grid][2] ? 2 : range >= edges[grid][1] ? 1 : 0;
                    int steps = multiset_distance(&all[i], &all[j]) / 2;
                    if (j == i)
                        assert_int_equal(other, bin);
                    else if (other != bin && steps < nearest)
                        nearest = steps;
                }
                if (nearest == 1000)
                    assert_holds(distance == UINT64_MAX);
                else
                    assert_int_equal(distance, nearest - 1);
                brume_interquartile_close(x);
            }
    }
}

static void degenerate_data_and_bad_rules_are_defined(void **state)
{
    (void)state;
    brume_error error;
    int64_t values[] = {INT64_MIN, INT64_MAX, 3};
    brume_quantile *quantile = open_quantile(rule_of(1, 2, 1, BRUME_ADD_REMOVE, 2, 2), values, 3);
    assert_int_equal(brume_quantile_value(quantile), 2);
    assert_holds(smooth_of(quantile, 1) == 0);
    assert_holds(brume_quantile_distance(quantile, 0) == UINT64_MAX);
    brume_quantile_close(quantile);
    quantile = open_quantile(rule_of(1, 2, 1, BRUME_ADD_REMOVE, -1, 9), NULL, 0);
    assert_int_equal(brume_quantile_value(quantile), -1);
    assert_int_equal(brume_quantile_local(quantile, 0), 10);
    assert_int_equal(brume_quantile_distance(quantile, 9), 0);
    brume_quantile_close(quantile);
    /* Clamped to the bounds, also from the far ends of the integers. */
    quantile = open_quantile(rule_of(1, 1, 1, BRUME_REPLACE, 0, 5), values, 3);
    assert_int_equal(brume_quantile_value(quantile), 5);
    brume_quantile *first = open_quantile(rule_of(0, 1, 1, BRUME_REPLACE, 0, 5), values, 3);
    assert_int_equal(brume_quantile_value(first), 0);
    brume_quantile_close(first);
    double untouched = -7;
    const double bad[] = {0, -1, 1e-10, 65, (double)NAN, (double)INFINITY};
    for (int i = 0; i < 6; i++)
        assert_fails(brume_quantile_smooth(quantile, bad[i], &untouched, &error), BRUME_EARGUMENT);
    assert_holds(untouched == -7);
    brume_quantile_close(quantile);
    brume_quantile *none = NULL;
    const brume_quantile_rule wrong[] = {
        rule_of(2, 1, 1, BRUME_REPLACE, 0, 5),
        rule_of(1, 0, 1, BRUME_REPLACE, 0, 5),
        rule_of(1, 2, 0, BRUME_REPLACE, 0, 5),
        rule_of(1, 2, 1, BRUME_EDGE, 0, 5),
        rule_of(1, 2, 1, BRUME_REPLACE, 6, 5),
        rule_of(1, (1 << 20) + 1, 1, BRUME_REPLACE, 0, 5),
        rule_of(1, 2, (uint64_t)UINT32_MAX + 1, BRUME_REPLACE, 0, 5),
        rule_of(1, 2, 1, BRUME_REPLACE, INT64_MIN, INT64_MAX),
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_fails(brume_quantile_open(&wrong[i], values, 3, &none, &error), BRUME_EARGUMENT);
    assert_null(none);
    /* and the last ones that are not */
    brume_quantile_close(open_quantile(
        rule_of(1, 1 << 20, UINT32_MAX, BRUME_REPLACE, 0, INT64_C(1) << 62), values, 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vectors_of_the_smooth_median_hold),
        cmocka_unit_test(local_sensitivity_alone_betrays_the_median),
        cmocka_unit_test(replace_local_sensitivity_at_a_distance_is_exact),
        cmocka_unit_test(add_remove_median_sensitivity_at_a_distance_is_exact),
        cmocka_unit_test(a_unit_of_several_values_is_covered),
        cmocka_unit_test(a_bound_for_one_value_is_too_small_for_two),
        cmocka_unit_test(the_fast_smooth_sensitivity_equals_the_plain_maximum),
        cmocka_unit_test(the_interquartile_range_moves_no_more_than_one_quartile),
        cmocka_unit_test(the_distances_between_bins_of_the_range_are_exact),
        cmocka_unit_test(degenerate_data_and_bad_rules_are_defined),
    };
    return cmocka_run_group_tests_name("quantile", tests, NULL, NULL);
}
