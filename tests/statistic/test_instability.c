/* Local sensitivity, smooth sensitivity and distance against their definitions, on all small data.
 */
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>

#include <brume/statistic/instability.h>

#include "multisets.h"

static brume_error error;
enum { DOMAIN = 4, LARGEST = 9, START = 4, REACH = 4 };
static const int64_t number[DOMAIN] = {0, 1, 4, 9}; /* uneven gaps; the bounds are 0 and 9 */

/* All multisets of up to LARGEST values, of each the value of a statistic and its local
 * sensitivity. Those of LARGEST values have neighbours that are not here. */
static multiset *all;
static int count, first_of_size[LARGEST + 2];
static int64_t *value;
static uint64_t *local;

static void make_multisets(void)
{
    int total = 0;
    for (int size = 0; size <= LARGEST; size++)
        total = multisets_of_size(size, DOMAIN, NULL, total);
    all = calloc((size_t)total, sizeof *all);
    value = calloc((size_t)total, sizeof *value);
    local = calloc((size_t)total, sizeof *local);
    assert_true(all && value && local);
    for (int size = 0; size <= LARGEST; size++) {
        first_of_size[size] = count;
        count = multisets_of_size(size, DOMAIN, all, count);
    }
    first_of_size[LARGEST + 1] = count;
}

static bool comparable(const multiset *a, const multiset *b, bool replace)
{
    return !replace || a->size == b->size;
}

static int distance_of(const multiset *a, const multiset *b, bool replace)
{
    return replace ? multiset_distance(a, b) / 2 : multiset_distance(a, b);
}

/* The local sensitivity of everything, from `value`. */
static void find_local(bool replace)
{
    for (int i = 0; i < count; i++) {
        local[i] = 0;
        for (int j = 0; j < count; j++)
            if (comparable(&all[i], &all[j], replace) &&
                distance_of(&all[i], &all[j], replace) == 1) {
                uint64_t change = (uint64_t)llabs(value[i] - value[j]);
                local[i] = change > local[i] ? change : local[i];
            }
    }
}

/* LS_k of multiset number i. */
static uint64_t largest_within(int i, int k, bool replace)
{
    uint64_t largest = 0;
    for (int j = 0; j < first_of_size[LARGEST]; j++)
        if (comparable(&all[i], &all[j], replace) && distance_of(&all[i], &all[j], replace) <= k)
            largest = local[j] > largest ? local[j] : largest;
    return largest;
}

static void values_of(const multiset *set, int64_t *out)
{
    for (int i = 0; i < set->size; i++)
        out[i] = number[set->value[i]];
}

static brume_quantile *quantile_of(const multiset *set, uint64_t p, uint64_t q, bool replace)
{
    brume_quantile_rule rule = {.numerator = p,
                                .denominator = q,
                                .values_per_unit = 1,
                                .adjacency = replace ? BRUME_REPLACE : BRUME_ADD_REMOVE,
                                .lower = 0,
                                .upper = 9};
    int64_t values[LARGEST];
    brume_quantile *quantile = NULL;
    values_of(set, values);
    assert_ok(brume_quantile_open(&rule, values, (size_t)set->size, &quantile, &error));
    return quantile;
}

/* Smooth sensitivity and distances from LS_0 .. LS_REACH, where they decide. */
static void check_against(const brume_instability *got, int i, double t, uint64_t bound,
                          bool replace, bool exact)
{
    double smooth = 0;
    uint64_t distance = UINT64_MAX;
    for (int k = REACH; k >= 0; k--) {
        uint64_t here = largest_within(i, k, replace);
        smooth = fmax(smooth, exp(-t * k) * (double)here);
        distance = here > bound ? (uint64_t)k : distance;
    }
    assert_true(got->local == (double)local[i]);
    assert_true(got->local_exact);
    bool decided = 9 * exp(-t * (REACH + 1)) <= smooth;
    if (exact && decided)
        assert_close(got->smooth, smooth, 1e-14);
    assert_holds(got->smooth >= smooth * (1 - 1e-14));
    if (exact && distance != UINT64_MAX)
        assert_true(got->distance == distance);
    assert_true(got->distance <= distance);
    assert_true(got->smooth_exact == exact);
}

static const struct {
    uint64_t p, q;
} shares[] = {{0, 1}, {1, 10}, {1, 4}, {1, 3}, {1, 2}, {3, 5}, {3, 4}, {9, 10}, {1, 1}};

static void quantiles_have_the_sensitivities_of_their_definition(void **state)
{
    (void)state;
    for (size_t s = 0; s < sizeof shares / sizeof *shares; s++)
        for (int replace = 0; replace < 2; replace++) {
            for (int i = 0; i < count; i++) {
                brume_quantile *quantile = quantile_of(&all[i], shares[s].p, shares[s].q, replace);
                value[i] = brume_quantile_value(quantile);
                brume_quantile_close(quantile);
            }
            find_local(replace);
            for (int i = 0; i < first_of_size[START + 1]; i++) {
                brume_quantile *quantile = quantile_of(&all[i], shares[s].p, shares[s].q, replace);
                brume_instability got;
                uint64_t reach[REACH + 1];
                if (!replace) {
                    assert_ok(brume_quantile_reach(quantile, REACH, reach, &error));
                    for (int k = 0; k <= REACH; k++)
                        assert_true(reach[k] == largest_within(i, k, false));
                    assert_ok(brume_quantile_reach(quantile, 0, reach, &error));
                    assert_true(reach[0] == local[i]);
                }
                for (uint64_t bound = 0; bound < 9; bound += 4) {
                    assert_ok(brume_quantile_instability(quantile, .7, bound, &got, &error));
                    check_against(&got, i, .7, bound, replace, true);
                }
                brume_quantile_close(quantile);
            }
        }
}

/* Larger data, where LS_k is found in pieces of 8, 16, ...: what is said is what they decide.
 * Rejects: a k at the border of two pieces that is left out; the distance of the releases, which is
 * less, where the exact one is known; a bound of the whole range that is not said exactly. */
static void pieces_of_the_sensitivities_are_put_together(void **state)
{
    (void)state;
    enum { N = 90, K = 100 };
    int64_t values[N];
    int exact = 0, different = 0;
    for (uint64_t p = 1; p <= 3; p += 2)
        for (int spread = 1; spread <= 5; spread += 2) {
            for (int i = 0; i < N; i++) /* many equal ones in the middle, rarer ones outside */
                values[i] = 500 + spread * (i - N / 2) * (i - N / 2) * (i - N / 2) / 2000;
            brume_quantile_rule rule = {p, 4, 1, BRUME_ADD_REMOVE, 0, 1000};
            brume_quantile *quantile = NULL;
            uint64_t reach[K + 1];
            assert_ok(brume_quantile_open(&rule, values, N, &quantile, &error));
            assert_ok(brume_quantile_reach(quantile, K, reach, &error));
            assert_true(reach[K] == 1000);
            for (uint64_t bound = 0; bound <= 1000; bound += 25) {
                double t = bound % 2 ? .03 : .3, smooth = 0;
                uint64_t distance = UINT64_MAX;
                brume_instability got;
                assert_ok(brume_quantile_instability(quantile, t, bound, &got, &error));
                for (int k = K; k >= 0; k--) {
                    smooth = fmax(smooth, exp(-t * k) * (double)reach[k]);
                    distance = reach[k] > bound ? (uint64_t)k : distance;
                }
                assert_true(got.distance == distance && got.smooth_exact);
                assert_close(got.smooth, smooth, 1e-14);
                exact++;
                different += brume_quantile_distance(quantile, bound) != distance;
            }
            brume_quantile_close(quantile);
        }
    assert_true(exact > 200 && different > 50);
}

/* The widest x_{i+w+1} - x_i whose w values go, and for which |L - i| + |U - u| more come or go, to
 * the nearest pair, are at most k: all pairs are looked at, and not those alone that the library
 * needs. */
static uint64_t reach_by_hand(const int64_t *x, int n, uint64_t p, uint64_t d, int k)
{
    uint64_t widest = 0;
    for (int w = 0; w <= n && w <= k; w++)
        for (int i = 0; i + w <= n; i++) {
            int nearest = k + 1;
            for (int size = 0; size <= n + k; size++)
                for (int less = 0; less <= (size > 0); less++) { /* one more value, or one less */
                    int other = less ? size - 1 : size + 1;
                    int rank = (int)(((uint64_t)other * p + d - 1) / d);
                    rank = other > 0 && rank == 0 ? 1 : rank;
                    int left = less ? rank : rank - 1;
                    int cost = abs(left - i) + abs(size - left - (n - i - w));
                    nearest = cost < nearest ? cost : nearest;
                }
            int64_t low = i == 0 ? 0 : x[i - 1], high = i + w == n ? 1000 : x[i + w];
            if (w + nearest <= k && (uint64_t)(high - low) > widest)
                widest = (uint64_t)(high - low);
        }
    return widest;
}

/* Rejects: a walk that ends too early, which small data do not show. */
static void pairs_with_enough_on_both_sides_are_all_that_is_needed(void **state)
{
    (void)state;
    enum { N = 22, K = 12 };
    for (size_t s = 0; s < sizeof shares / sizeof *shares; s++)
        for (int n = 1; n <= N; n += 3) {
            int64_t values[N];
            for (int i = 0; i < n; i++)
                values[i] = 40 * i + (i * i * 37) % 40;
            brume_quantile_rule rule = {shares[s].p, shares[s].q, 1, BRUME_ADD_REMOVE, 0, 1000};
            brume_quantile *quantile = NULL;
            uint64_t reach[K + 1];
            assert_ok(brume_quantile_open(&rule, values, (size_t)n, &quantile, &error));
            assert_ok(brume_quantile_reach(quantile, K, reach, &error));
            for (int k = 0; k <= K; k++)
                assert_true(reach[k] == reach_by_hand(values, n, shares[s].p, shares[s].q, k));
            brume_quantile_close(quantile);
        }
}

/* A quarter of fives, and nines: one change moves the first quartile by 4, as much as is proposed,
 * and it moves by more only once there are a third as many zeros. Rejects: 1000 changes, the most
 * that are looked at, said to be too far, or 1001 said to be known. */
static void a_thousand_changes_are_looked_at(void **state)
{
    (void)state;
    enum { MOST_VALUES = 3004 };
    int64_t values[MOST_VALUES];
    static uint64_t reach[1001];
    brume_quantile_rule rule = {1, 4, 1, BRUME_ADD_REMOVE, 0, 9};
    for (int more = 0; more <= 1; more++) {
        brume_quantile *quantile = NULL;
        brume_instability got;
        size_t n = more ? 3004 : 3001;
        for (size_t i = 0; i < n; i++)
            values[i] = i < (n + 3) / 4 ? 5 : 9;
        assert_ok(brume_quantile_open(&rule, values, n, &quantile, &error));
        assert_ok(brume_quantile_reach(quantile, 1000, reach, &error));
        assert_true(reach[999] == 4 && (reach[1000] > 4) == !more);
        assert_ok(brume_quantile_instability(quantile, .7, 4, &got, &error));
        uint64_t released = brume_quantile_distance(quantile, 4);
        assert_true(got.distance == (more ? released : 1000) && released < 1000);
        assert_true(got.smooth_exact == !more);
        brume_quantile_close(quantile);
    }
}

static brume_interquartile *range_of(const multiset *set, bool replace)
{
    int64_t values[LARGEST];
    brume_interquartile *range = NULL;
    values_of(set, values);
    assert_ok(brume_interquartile_open(0, 9, 1, replace ? BRUME_REPLACE : BRUME_ADD_REMOVE, values,
                                       (size_t)set->size, &range, &error));
    return range;
}

static void interquartile_ranges_do_and_say_where_they_are_bounds(void **state)
{
    (void)state;
    for (int replace = 0; replace < 2; replace++) {
        for (int i = 0; i < count; i++) {
            brume_interquartile *range = range_of(&all[i], replace);
            value[i] = (int64_t)brume_interquartile_value(range);
            brume_interquartile_close(range);
        }
        find_local(replace);
        for (int i = 0; i < first_of_size[START + 1]; i++) {
            brume_interquartile *range = range_of(&all[i], replace);
            brume_instability got;
            assert_ok(brume_interquartile_instability(range, .7, 3, &got, &error));
            check_against(&got, i, .7, 3, replace, replace);
            assert_fails(brume_interquartile_instability(range, 65, 3, &got, &error),
                         BRUME_EARGUMENT);
            brume_interquartile_close(range);
        }
    }
}

static void the_lecture_s_medians(void **state)
{
    (void)state;
    /* n = 10: six zeros among ten values, and five: replace, bounds 0 and 10^6 */
    for (int zeros = 5; zeros <= 6; zeros++) {
        int64_t values[10];
        for (int i = 0; i < 10; i++)
            values[i] = i < zeros ? 0 : 1000000;
        brume_quantile_rule rule = {1, 2, 1, BRUME_REPLACE, 0, 1000000};
        brume_quantile *quantile = NULL;
        brume_instability got;
        assert_ok(brume_quantile_open(&rule, values, 10, &quantile, &error));
        assert_ok(brume_quantile_instability(quantile, .5, 0, &got, &error));
        assert_true(got.local == (zeros == 6 ? 0 : 1e6));
        assert_true(got.distance == (zeros == 6 ? 1u : 0u));
        assert_close(got.smooth, zeros == 6 ? 1e6 * exp(-.5) : 1e6, 1e-15);
        brume_quantile_close(quantile);
    }
    int64_t five[] = {1, 2, 3, 4, 5};
    brume_quantile_rule rule = {1, 2, 1, BRUME_REPLACE, 0, 10};
    brume_quantile *quantile = NULL;
    brume_instability got;
    assert_ok(brume_quantile_open(&rule, five, 5, &quantile, &error));
    assert_ok(brume_quantile_instability(quantile, .5, 6, &got, &error));
    assert_close(got.smooth, 2.5751560882000963, 1e-15);
    assert_true(got.local == 1 && got.distance == 2); /* LS_k = 1, 2, 7, 8, 9, 10 */
    assert_fails(brume_quantile_instability(quantile, 0, 6, &got, &error), BRUME_EARGUMENT);
    brume_quantile_close(quantile);
}

static void graphs_and_names(void **state)
{
    (void)state;
    uint64_t source[] = {0, 0, 0, 1, 1, 2}, target[] = {1, 2, 3, 2, 3, 3};
    brume_graph *graph = NULL;
    brume_instability got;
    assert_ok(brume_graph_open(10, source, target, 6, &graph, &error)); /* K4 in 10 vertices */
    assert_ok(brume_triangle_instability(graph, .1, 2, &got, &error));
    assert_close(got.smooth, 2.744058180470132, 1e-14);
    assert_true(got.local == 2 && got.distance == 2 && got.smooth_exact);
    assert_ok(brume_triangle_instability(graph, .5, 8, &got, &error));
    assert_true(got.smooth == 2 && got.distance == UINT64_MAX);
    assert_fails(brume_triangle_instability(graph, 65, 8, &got, &error), BRUME_EARGUMENT);
    brume_graph_close(graph);
    assert_fails(brume_answer_instability(0, 65, 0, &got, &error), BRUME_EARGUMENT);
    assert_ok(brume_answer_instability(0, .5, 0, &got, &error));
    assert_true(got.local == 1 && got.smooth == 1 && got.distance == 0);
    assert_ok(brume_answer_instability(3, .5, 0, &got, &error));
    assert_true(got.local == 0 && got.smooth == exp(-1.5) && got.distance == 3);
    assert_ok(brume_answer_instability(3, .5, 1, &got, &error));
    assert_true(got.distance == UINT64_MAX); /* answers are never further apart than 1 */
    assert_ok(brume_answer_instability(UINT64_MAX, .5, 0, &got, &error));
    assert_true(got.local == 0 && got.smooth == 0 && got.distance == UINT64_MAX);
}

static void regressions_are_bounded_by_their_least_eigenvalue(void **state)
{
    (void)state;
    /* A = 4 I, z = e1: q = 1/2; without one row 1/sqrt(3): ln q moves by ln(4/3)/2, the bound */
    brume_gram *gram = NULL, *less = NULL;
    assert_ok(brume_gram_open(2, 1000, &gram, &error));
    assert_ok(brume_gram_open(2, 1000, &less, &error));
    for (int i = 0; i < 8; i++) {
        int64_t row[2] = {i % 2 ? 1000 : 0, i % 2 ? 0 : 1000};
        brume_gram_add(gram, row);
        if (i != 1)
            brume_gram_add(less, row);
    }
    const double point[2] = {1, 0}, nowhere[2] = {0, 0};
    double q, q_less;
    brume_instability got;
    assert_ok(brume_regression_value(gram, point, &q, &error));
    assert_ok(brume_regression_value(less, point, &q_less, &error));
    assert_close(q, .5, 1e-12);
    assert_close(q_less, 1 / sqrt(3), 1e-12);
    assert_fails(brume_regression_value(gram, nowhere, &q, &error), BRUME_EARGUMENT);
    assert_ok(brume_regression_instability(gram, .5, &got, &error));
    assert_close(got.local, .14384103622589045, 1e-4); /* the eigenvalue is known to 2^-16 */
    assert_holds(got.local >= log(q_less / q));
    assert_true(isinf(got.smooth) && !got.local_exact && !got.smooth_exact);
    assert_true(got.distance == 2); /* from 4 to 1.58 */
    assert_ok(brume_regression_instability(gram, 0, &got, &error));
    assert_true(got.distance == 0);
    for (int i = 0; i < 400; i++) { /* the least bound needs an eigenvalue of 128.5 */
        int64_t row[2] = {i % 2 ? 1000 : 0, i % 2 ? 0 : 1000};
        brume_gram_add(gram, row);
    }
    assert_ok(brume_regression_instability(gram, 0x1p-8, &got, &error));
    assert_true(got.distance == 75); /* from 204 */
    brume_gram_close(gram);
    brume_gram_close(less);
}

int main(void)
{
    make_multisets();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_have_the_sensitivities_of_their_definition),
        cmocka_unit_test(pieces_of_the_sensitivities_are_put_together),
        cmocka_unit_test(pairs_with_enough_on_both_sides_are_all_that_is_needed),
        cmocka_unit_test(a_thousand_changes_are_looked_at),
        cmocka_unit_test(interquartile_ranges_do_and_say_where_they_are_bounds),
        cmocka_unit_test(the_lecture_s_medians),
        cmocka_unit_test(graphs_and_names),
        cmocka_unit_test(regressions_are_bounded_by_their_least_eigenvalue),
    };
    int failed = cmocka_run_group_tests_name("instability", tests, NULL, NULL);
    free(all);
    free(value);
    free(local);
    return failed;
}
