/* What propose-test-release needs of each statistic it is ready for, by enumeration: the distance
 * moves by at most 1 between neighbours, and where it is not 0 no neighbour's value is further away
 * than the bound. Every small database, every neighbour; and claims of too much that the same sums
 * reject. */
#include "check.h"

#include <stdbool.h>

#include <brume/adjacency.h>
#include <brume/statistic/tested.h>

#include "multisets.h"

static brume_error error;

/* What the statistic says of one database. */
typedef struct said {
    uint64_t distance;
    int64_t value;
} said;

static said ask(const brume_tested *tested, uint64_t bound)
{
    said out;
    assert_ok(tested->distance(tested->context, bound, &out.distance, &error));
    assert_ok(tested->value(tested->context, &out.value, &error));
    return out;
}

/* One above, but for data that nothing sensitive is near to at any distance. */
static bool moves_by_one(uint64_t a, uint64_t b)
{
    if (a == UINT64_MAX || b == UINT64_MAX)
        return a == b;
    return a <= b + 1 && b <= a + 1;
}

/* How often the promise is broken for neighbours, and how often each part of it is at stake. */
typedef struct findings {
    int jumps, too_far; /* of the distance; of the value */
    int sensitive, safe;
} findings;

/* `more` is what a liar adds to the distance of insensitive data, `less` what is taken off the
 * bound that the values are held to. */
static void compare(const said *x, const said *y, uint64_t bound, uint64_t more, int64_t less,
                    findings *found)
{
    uint64_t distance = x->distance == UINT64_MAX ? UINT64_MAX : x->distance + more;
    int64_t apart = llabs(x->value - y->value);
    found->jumps += !moves_by_one(x->distance, y->distance);
    found->too_far += distance > 0 && apart > (int64_t)bound - less;
    found->sensitive += apart > (int64_t)bound;
    found->safe += x->distance > 0;
}

static void assert_promised(const findings *found)
{
    assert_int_equal(found->jumps, 0);
    assert_int_equal(found->too_far, 0);
    assert_true(found->sensitive > 0 && found->safe > 0); /* else nothing was at stake */
}

/* ---- quantiles and ranges ---- */

enum { DOMAIN = 5, MOST_VALUES = 6, SETS = 462 };

static multiset sets[SETS];

static void make_sets(void)
{
    int count = 0;
    for (int size = 0; size <= MOST_VALUES; size++)
        count = multisets_of_size(size, DOMAIN, sets, count);
    assert_int_equal(count, SETS);
}

static bool are_neighbours(const multiset *a, const multiset *b, brume_adjacency adjacency)
{
    bool replace = adjacency == BRUME_REPLACE;
    return (a->size == b->size) == replace && multiset_distance(a, b) == (replace ? 2 : 1);
}

typedef said of_values(const multiset *set, brume_adjacency adjacency, uint64_t bound);

static said of_quantile(const multiset *set, brume_adjacency adjacency, uint64_t bound,
                        uint64_t quarters)
{
    brume_quantile_rule rule = {quarters, 4, 1, adjacency, 0, DOMAIN - 1};
    brume_quantile *quantile = NULL;
    assert_ok(brume_quantile_open(&rule, set->value, (size_t)set->size, &quantile, &error));
    brume_tested tested = brume_tested_quantile(quantile);
    said out = ask(&tested, bound);
    brume_quantile_close(quantile);
    return out;
}

static said of_median(const multiset *set, brume_adjacency adjacency, uint64_t bound)
{
    return of_quantile(set, adjacency, bound, 2);
}

static said of_quartile(const multiset *set, brume_adjacency adjacency, uint64_t bound)
{
    return of_quantile(set, adjacency, bound, 3);
}

static said of_range(const multiset *set, brume_adjacency adjacency, uint64_t bound)
{
    brume_interquartile *range = NULL;
    assert_ok(brume_interquartile_open(0, DOMAIN - 1, 1, adjacency, set->value, (size_t)set->size,
                                       &range, &error));
    brume_tested tested = brume_tested_interquartile(range);
    said out = ask(&tested, bound);
    brume_interquartile_close(range);
    return out;
}

static findings enumerate_values(of_values *statistic, brume_adjacency adjacency, uint64_t more,
                                 int64_t less)
{
    findings found = {0};
    make_sets();
    for (uint64_t bound = 1; bound < DOMAIN - 1; bound++) {
        said all[SETS];
        for (int i = 0; i < SETS; i++)
            all[i] = statistic(&sets[i], adjacency, bound);
        for (int i = 0; i < SETS; i++)
            for (int j = 0; j < SETS; j++)
                if (are_neighbours(&sets[i], &sets[j], adjacency))
                    compare(&all[i], &all[j], bound, more, less, &found);
    }
    return found;
}

static void quantiles_and_ranges_keep_their_promise(void **state)
{
    (void)state;
    of_values *const statistics[] = {of_median, of_quartile, of_range};
    const brume_adjacency both[] = {BRUME_REPLACE, BRUME_ADD_REMOVE};
    for (int s = 0; s < 3; s++)
        for (int a = 0; a < 2; a++) {
            findings found = enumerate_values(statistics[s], both[a], 0, 0);
            assert_promised(&found);
            /* a distance that is one too large, and a bound that is one too small, are found */
            found = enumerate_values(statistics[s], both[a], 1, 0);
            assert_true(found.too_far > 0);
            found = enumerate_values(statistics[s], both[a], 0, 1);
            assert_true(found.too_far > 0);
        }
}

/* ---- triangles ---- */

enum { VERTICES = 5, PAIRS = 10, GRAPHS = 1 << PAIRS };

static said of_graph(unsigned edges, uint64_t bound)
{
    uint64_t source[PAIRS], target[PAIRS];
    size_t count = 0;
    int pair = 0;
    for (uint64_t u = 0; u < VERTICES; u++)
        for (uint64_t v = u + 1; v < VERTICES; v++, pair++)
            if (edges >> pair & 1) {
                source[count] = u;
                target[count++] = v;
            }
    brume_graph *graph = NULL;
    assert_ok(brume_graph_open(VERTICES, source, target, count, &graph, &error));
    brume_tested tested = brume_tested_triangles(graph);
    said out = ask(&tested, bound);
    brume_graph_close(graph);
    return out;
}

static void triangles_keep_their_promise(void **state)
{
    (void)state;
    static said all[GRAPHS];
    findings found = {0}, overstated = {0}, understated = {0};
    for (uint64_t bound = 1; bound < VERTICES - 2; bound++) {
        for (unsigned i = 0; i < GRAPHS; i++)
            all[i] = of_graph(i, bound);
        assert_int_equal(all[GRAPHS - 1].value, 10); /* 5 choose 3 */
        for (unsigned i = 0; i < GRAPHS; i++)
            for (int pair = 0; pair < PAIRS; pair++) {
                const said *other = &all[i ^ 1u << pair];
                compare(&all[i], other, bound, 0, 0, &found);
                compare(&all[i], other, bound, 1, 0, &overstated);
                compare(&all[i], other, bound, 0, 1, &understated);
            }
    }
    assert_promised(&found);
    assert_true(overstated.too_far > 0 && understated.too_far > 0);
    assert_true(of_graph(GRAPHS - 1, VERTICES - 2).distance == UINT64_MAX); /* never exceeded */
}

/* ---- the reciprocal of a count ---- */

static said of_count(uint64_t count, double step, uint64_t bound)
{
    brume_tested_count counted = {count, step};
    brume_tested tested = brume_tested_reciprocal(&counted);
    return ask(&tested, bound);
}

static void reciprocals_keep_their_promise(void **state)
{
    (void)state;
    enum { COUNTS = 3000 };
    const double steps[] = {0x1p-10, 1e-3, 3e-5, 0x1p-30};
    const uint64_t bounds[] = {1, 2, 17, 1000};
    findings found = {0}, overstated = {0}, understated = {0};
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++)
        for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++)
            for (uint64_t count = 1; count < COUNTS; count++) {
                said x = of_count(count, steps[s], bounds[b]);
                said less = of_count(count - 1, steps[s], bounds[b]);
                compare(&x, &less, bounds[b], 0, 0, &found);
                compare(&less, &x, bounds[b], 0, 0, &found);
                compare(&x, &less, bounds[b], 5, 0, &overstated);
                compare(&x, &less, bounds[b], 0, 1, &understated);
                /* rounded down, to a step */
                assert_true((double)x.value * steps[s] <= 1 / (double)count * (1 + 1e-15));
                assert_true(((double)x.value + 1) * steps[s] > 1 / (double)count * (1 - 1e-15));
            }
    assert_promised(&found);
    assert_true(overstated.too_far > 0 && understated.too_far > 0);
    assert_int_equal(of_count(0, 0x1p-10, 2).value, 1024); /* of no rows it is 1 */
    assert_int_equal(of_count(0, 0x1p-10, 2).distance, 0);
}

static int64_t steps_of(uint64_t count, double step)
{
    brume_tested_count counted = {count, step};
    brume_tested tested = brume_tested_reciprocal(&counted);
    int64_t out;
    assert_ok(tested.value(tested.context, &out, &error));
    return out;
}

/* Where doubles have no digits left, what is capped, and steps above 1. */
static void reciprocals_are_rounded_exactly(void **state)
{
    (void)state;
    assert_true(steps_of(3, 0x1p-58) == INT64_C(96076792050570581));
    assert_true(steps_of(7, 0x1p-61) == INT64_C(329406144173384850));
    assert_true(steps_of(UINT64_C(1) << 62, 3 * 0x1p-124) ==
                INT64_C(1537228672809129301)); /* (2^62 - 1)/3 */
    assert_true(steps_of(1, 0x1p-300) == INT64_C(1) << 62);
    assert_true(steps_of(1, 1) == 1 && steps_of(2, 1) == 0);
    assert_true(steps_of(1, 3) == 0 && steps_of(1, 0x1p80) == 0);
    /* A bound that no double is, just below 1/2: two is sensitive, since 1/2 is not within it. */
    uint64_t distance = 0;
    brume_tested_count count = {10, 0x1p-55};
    brume_tested reciprocal = brume_tested_reciprocal(&count);
    const uint64_t half = UINT64_C(1) << 54;
    assert_ok(reciprocal.distance(reciprocal.context, half - 1, &distance, &error));
    assert_int_equal(distance, 8);
    assert_ok(reciprocal.distance(reciprocal.context, half + 4, &distance, &error));
    assert_int_equal(distance, 9);
    /* 2^53 is a double, and the bound is not less: 1/2 is within it. */
    count.step = 0x1p-54;
    assert_ok(reciprocal.distance(reciprocal.context, half / 2, &distance, &error));
    assert_int_equal(distance, 9);
    /* Three of the double below 1/6: their sum is below 1/2, and 1/2 is the nearest double. */
    count.step = 1.0 / 6;
    assert_ok(reciprocal.distance(reciprocal.context, 3, &distance, &error));
    assert_int_equal(distance, 8);
}

static void bounds_of_less_than_the_rounding_are_refused(void **state)
{
    (void)state;
    uint64_t distance = 77;
    const double point = 1;
    brume_tested_count count = {10, 0x1p-10}, no_step = {10, 0};
    brume_tested reciprocal = brume_tested_reciprocal(&count);
    assert_fails(reciprocal.distance(reciprocal.context, 0, &distance, &error), BRUME_EARGUMENT);
    reciprocal = brume_tested_reciprocal(&no_step);
    assert_fails(reciprocal.distance(reciprocal.context, 5, &distance, &error), BRUME_EARGUMENT);
    int64_t value = 78;
    assert_fails(reciprocal.value(reciprocal.context, &value, &error), BRUME_EARGUMENT);
    assert_true(value == 78);
    brume_gram *gram = NULL;
    assert_ok(brume_gram_open(1, 2, &gram, &error));
    brume_tested_prediction prediction = {gram, &point, .25};
    brume_tested regression = brume_tested_regression(&prediction);
    assert_fails(regression.distance(regression.context, 2, &distance, &error), BRUME_EARGUMENT);
    assert_true(distance == 77);
    assert_ok(regression.distance(regression.context, 3, &distance, &error));
    assert_true(distance == 0);
    brume_gram_close(gram);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_and_ranges_keep_their_promise),
        cmocka_unit_test(triangles_keep_their_promise),
        cmocka_unit_test(reciprocals_keep_their_promise),
        cmocka_unit_test(reciprocals_are_rounded_exactly),
        cmocka_unit_test(bounds_of_less_than_the_rounding_are_refused),
    };
    return cmocka_run_group_tests_name("tested statistics", tests, NULL, NULL);
}
