/* Interquartile ranges of units with several values, by exhaustion over small data: both quartiles
 * may move at once, so that what one unit changes is bounded by the sum of what it changes in each.
 */
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>

#include <brume/statistic/interquartile.h>
#include <brume/statistic/quantile.h>

#include "multisets.h"

enum { DOMAIN = 5, MOST_SIZE = 5, MOST_SETS = 300 };

static brume_error error;
static const double smoothness = .3;

typedef struct found {
    multiset set;
    brume_interquartile *range;
    double smooth;
} found;

static found all[MOST_SETS];
static int count;

static void open_all(uint64_t per_unit, brume_adjacency adjacency)
{
    static multiset sets[MOST_SETS];
    count = 0;
    for (int size = 0; size <= MOST_SIZE; size++)
        count = multisets_of_size(size, DOMAIN, sets, count);
    assert_true(count <= MOST_SETS);
    for (int i = 0; i < count; i++) {
        all[i].set = sets[i];
        assert_ok(brume_interquartile_open(0, DOMAIN - 1, per_unit, adjacency, sets[i].value,
                                           (size_t)sets[i].size, &all[i].range, &error));
        assert_ok(brume_interquartile_smooth(all[i].range, smoothness, &all[i].smooth, &error));
    }
}

static void close_all(void)
{
    for (int i = 0; i < count; i++)
        brume_interquartile_close(all[i].range);
}

/* One unit comes or goes, or is replaced by another one; each has up to so many values. */
static bool are_neighbours(const multiset *x, const multiset *y, int per_unit, bool replace)
{
    int added = multiset_missing(x, y), removed = multiset_missing(y, x);
    return added + removed > 0 && added <= per_unit && removed <= per_unit &&
           (replace || added == 0 || removed == 0);
}

/* Of a bound where one value is for each unit: the larger of two, not their sum. */
static uint64_t larger_of_two(const multiset *set, uint64_t per_unit, brume_adjacency adjacency)
{
    uint64_t most = 0;
    for (uint64_t quarter = 1; quarter <= 3; quarter += 2) {
        brume_quantile_rule rule = {quarter, 4, per_unit, adjacency, 0, DOMAIN - 1};
        brume_quantile *one = NULL;
        assert_ok(brume_quantile_open(&rule, set->value, (size_t)set->size, &one, &error));
        most = brume_quantile_local(one, 0) > most ? brume_quantile_local(one, 0) : most;
        brume_quantile_close(one);
    }
    return most;
}

static void check_pair(const found *x, const found *y, uint64_t change)
{
    assert_holds(change <= brume_interquartile_local(x->range, 0));
    for (uint64_t k = 0; k < 4; k++)
        assert_holds(brume_interquartile_local(x->range, k) <=
                     brume_interquartile_local(y->range, k + 1));
    for (uint64_t bound = 0; bound < DOMAIN - 1; bound++) {
        uint64_t here = brume_interquartile_distance(x->range, bound);
        assert_holds(here <= brume_interquartile_distance(y->range, bound) + 1);
        assert_holds(change <= bound || here == 0);
    }
    assert_holds((double)change <= x->smooth);
    assert_holds(x->smooth <= exp(smoothness) * y->smooth * (1 + 1e-15));
}

/* The distance is the least k whose bound is above; bounds are those of both quartiles together, at
 * most the width. */
static void check_one(const found *x, uint64_t per_unit, brume_adjacency adjacency)
{
    for (uint64_t k = 0; k < 5; k++) {
        uint64_t both = 0;
        for (uint64_t quarter = 1; quarter <= 3; quarter += 2) {
            brume_quantile_rule rule = {quarter, 4, per_unit, adjacency, 0, DOMAIN - 1};
            brume_quantile *one = NULL;
            assert_ok(brume_quantile_open(&rule, x->set.value, (size_t)x->set.size, &one, &error));
            both += brume_quantile_local(one, k);
            brume_quantile_close(one);
        }
        assert_true(brume_interquartile_local(x->range, k) ==
                    (both < DOMAIN - 1 ? both : DOMAIN - 1));
    }
    for (uint64_t bound = 0; bound < DOMAIN - 1; bound++) {
        uint64_t distance = brume_interquartile_distance(x->range, bound);
        assert_holds(brume_interquartile_local(x->range, distance) > bound);
        assert_holds(distance == 0 || brume_interquartile_local(x->range, distance - 1) <= bound);
    }
    assert_holds(brume_interquartile_distance(x->range, DOMAIN - 1) == UINT64_MAX);
    assert_holds(brume_interquartile_local(x->range, 2 * MOST_SIZE) == DOMAIN - 1);
}

/* Rejects: the larger of the two quartiles' bounds, in the local sensitivity, in the distance or in
 * the smooth bound; a search of the distance that ends beside it. */
static void ranges_of_units_with_several_values_are_covered(void **state)
{
    (void)state;
    long pairs = 0, moved_more = 0;
    for (uint64_t per_unit = 2; per_unit <= 3; per_unit++)
        for (int replace = 0; replace <= 1; replace++) {
            brume_adjacency adjacency = replace ? BRUME_REPLACE : BRUME_ADD_REMOVE;
            open_all(per_unit, adjacency);
            for (int i = 0; i < count; i++) {
                uint64_t mutant = larger_of_two(&all[i].set, per_unit, adjacency);
                check_one(&all[i], per_unit, adjacency);
                for (int j = 0; j < count; j++) {
                    if (!are_neighbours(&all[i].set, &all[j].set, (int)per_unit, replace))
                        continue;
                    uint64_t change =
                        (uint64_t)llabs((int64_t)brume_interquartile_value(all[i].range) -
                                        (int64_t)brume_interquartile_value(all[j].range));
                    check_pair(&all[i], &all[j], change);
                    pairs++;
                    moved_more += change > mutant;
                }
            }
            close_all();
        }
    assert_holds(pairs > 10000);
    assert_holds(moved_more > 0); /* the larger of the two would be too little */
}

/* Rejects: the sum of both where one is enough, and a distance that is searched in small data only.
 */
static void larger_data_have_bounds_of_either_or_of_both_quartiles(void **state)
{
    (void)state;
    enum { N = 240, LOWER = 1000, WIDTH = 10000 };
    int64_t values[N];
    for (int i = 0; i < N; i++)
        values[i] = 2000 + 25 * i + (i * i) % 17;
    for (uint64_t per_unit = 1; per_unit <= 2; per_unit++)
        for (int replace = 0; replace <= 1; replace++) {
            brume_adjacency adjacency = replace ? BRUME_REPLACE : BRUME_ADD_REMOVE;
            brume_interquartile *range = NULL;
            assert_ok(brume_interquartile_open(LOWER, WIDTH, per_unit, adjacency, values, N, &range,
                                               &error));
            assert_true(brume_interquartile_global(range) == WIDTH - LOWER);
            for (double t = .02; t < 1; t *= 3) {
                double both[2], smooth;
                assert_ok(brume_interquartile_smooth(range, t, &smooth, &error));
                for (uint64_t i = 0; i < 2; i++) {
                    brume_quantile_rule rule = {2 * i + 1, 4, per_unit, adjacency, LOWER, WIDTH};
                    brume_quantile *one = NULL;
                    assert_ok(brume_quantile_open(&rule, values, N, &one, &error));
                    assert_ok(brume_quantile_smooth(one, t, &both[i], &error));
                    brume_quantile_close(one);
                }
                assert_true(smooth == (per_unit == 1 ? fmax(both[0], both[1]) : both[0] + both[1]));
            }
            for (uint64_t i = 0; i < 70; i++) { /* bounds that are met, and others */
                uint64_t bound = i < 9 ? brume_interquartile_local(range, i) : 100 + 137 * (i - 9);
                uint64_t distance = brume_interquartile_distance(range, bound);
                assert_holds(brume_interquartile_local(range, distance) > bound);
                assert_holds(distance == 0 ||
                             brume_interquartile_local(range, distance - 1) <= bound);
            }
            if (per_unit == 1 && replace) { /* one bin is the answer whatever the data are */
                const uint64_t edge = 0;
                size_t bin = 7;
                uint64_t distance = 0;
                assert_ok(brume_interquartile_bin(range, &edge, 1, &bin, &distance, &error));
                assert_int_equal(bin, 0);
                assert_true(distance == UINT64_MAX);
            }
            brume_interquartile_close(range);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_of_units_with_several_values_are_covered),
        cmocka_unit_test(larger_data_have_bounds_of_either_or_of_both_quartiles),
    };
    return cmocka_run_group_tests_name("interquartile", tests, NULL, NULL);
}
