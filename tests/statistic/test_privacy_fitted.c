/* Privacy by enumeration of releases fitted to the data, beyond those of test_privacy.c: bins of
 * the interquartile range. All small databases, all neighbours, both directions; and broken
 * versions that the same sums reject. */
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>

#include <brume/interquartile.h>
#include <brume/stability.h>

#include "chance.h"
#include "multisets.h"

static brume_error error;

/* P[distance + X >= m], X discrete Laplace of scale 1/epsilon. */
static double passes(uint64_t distance, uint64_t m, double epsilon)
{
    if (distance == UINT64_MAX)
        return 1;
    double a = exp(-epsilon);
    int64_t least = (int64_t)m - (int64_t)distance;
    return least >= 0 ? pow(a, (double)least) / (1 + a) : 1 - pow(a, 1 - (double)least) / (1 + a);
}

static uint64_t threshold_of(double epsilon, double delta, double *exact)
{
    uint64_t m = 0;
    assert_ok(brume_stability_threshold(epsilon, delta, &m, exact, &error));
    return m;
}

static bool neighbours(const multiset *a, const multiset *b, brume_adjacency adjacency)
{
    if (adjacency == BRUME_REPLACE && a->size != b->size)
        return false;
    return multiset_distance(a, b) == (adjacency == BRUME_REPLACE ? 2 : 1);
}

/* --- bins of the interquartile range -------------------------------------------------------------
 */

enum { DOMAIN = 6, MOST_SETS = 800, EDGES = 4, OUTCOMES = EDGES + 1 };

/* Outcome 0 is "nothing", outcome 1 + i is bin i. `more` overstates the distance. */
static double worst_bins(int size, const uint64_t *edges, double epsilon, double delta,
                         uint64_t more)
{
    static multiset all[MOST_SETS];
    static double law[MOST_SETS][OUTCOMES];
    double exact, worst = 0;
    uint64_t m = threshold_of(epsilon, delta, &exact);
    int count = multisets_of_size(size, DOMAIN, all, 0);
    memset(law, 0, sizeof law);
    for (int i = 0; i < count; i++) {
        brume_interquartile *range = NULL;
        size_t bin;
        uint64_t distance;
        assert_ok(brume_interquartile_open(0, DOMAIN - 1, 1, BRUME_REPLACE, all[i].value,
                                           (size_t)size, &range, &error));
        assert_ok(brume_interquartile_bin(range, edges, EDGES, &bin, &distance, &error));
        brume_interquartile_close(range);
        double shown = passes(distance == UINT64_MAX ? distance : distance + more, m, epsilon);
        law[i][0] = 1 - shown;
        law[i][1 + bin] = shown;
    }
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            if (neighbours(&all[i], &all[j], BRUME_REPLACE))
                worst = fmax(worst, hockey_stick(law[i], law[j], OUTCOMES, epsilon));
    return worst;
}

static void bins_of_the_interquartile_range_are_private_and_tight(void **state)
{
    (void)state;
    const uint64_t edges[][EDGES] = {{0, 1, 2, 4}, {0, 1, 3, 5}, {0, 2, 3, 4}};
    const double settings[][2] = {{1, 1e-2}, {.3, 1e-2}, {2, 1e-4}};
    for (int e = 0; e < 3; e++)
        for (int i = 0; i < 3; i++) {
            double epsilon = settings[i][0], delta = settings[i][1], exact;
            threshold_of(epsilon, delta, &exact);
            assert_holds(exact <= delta);
            for (int size = 2; size <= 6; size++) {
                double worst = worst_bins(size, edges[e], epsilon, delta, 0);
                assert_holds(worst <= exact * (1 + 1e-9));
                assert_holds(worst >= exact * (1 - 1e-9));
                /* Changes to another bin, without the "less one". */
                assert_holds(worst_bins(size, edges[e], epsilon, delta, 1) > exact * 1.3);
            }
            /* One value: the range is 0 whatever it is. */
            assert_holds(worst_bins(1, edges[e], epsilon, delta, 0) == 0);
        }
}

static void bins_need_a_public_number_of_values(void **state)
{
    (void)state;
    const int64_t values[] = {1, 2, 3, 5};
    const uint64_t edges[EDGES] = {0, 1, 2, 4};
    const brume_adjacency adjacencies[] = {BRUME_ADD_REMOVE, BRUME_REPLACE};
    for (int i = 0; i < 2; i++) {
        brume_interquartile *range = NULL;
        size_t bin = 42;
        uint64_t distance = 42;
        assert_ok(brume_interquartile_open(0, DOMAIN - 1, 1 + (uint64_t)i, adjacencies[i], values,
                                           4, &range, &error));
        assert_fails(brume_interquartile_bin(range, edges, EDGES, &bin, &distance, &error),
                     BRUME_EARGUMENT);
        assert_true(bin == 42 && distance == 42);
        brume_interquartile_close(range);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bins_of_the_interquartile_range_are_private_and_tight),
        cmocka_unit_test(bins_need_a_public_number_of_values),
    };
    return cmocka_run_group_tests_name("privacy_fitted", tests, NULL, NULL);
}
