/* Triangles under edge privacy: all graphs of up to 5 vertices, many of 6, and the vectors. */
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>

#include <brume/statistic/triangle.h>

#include "random/tape.h"

enum { MOST_PAIRS = 15 };

static brume_graph *open_code(unsigned code, int n)
{
    brume_error error;
    uint64_t source[MOST_PAIRS], target[MOST_PAIRS];
    size_t edges = 0;
    int pair = 0;
    for (int u = 0; u < n; u++)
        for (int v = u + 1; v < n; v++, pair++)
            if (code >> pair & 1) {
                source[edges] = (uint64_t)v;
                target[edges++] = (uint64_t)u;
            }
    brume_graph *graph = NULL;
    assert_ok(brume_graph_open((uint64_t)n, source, target, edges, &graph, &error));
    return graph;
}

static int triangles_by_hand(unsigned code, int n)
{
    bool joined[6][6] = {{false}};
    int pair = 0, count = 0;
    for (int u = 0; u < n; u++)
        for (int v = u + 1; v < n; v++, pair++)
            joined[u][v] = code >> pair & 1;
    for (int u = 0; u < n; u++)
        for (int v = u + 1; v < n; v++)
            for (int w = v + 1; w < n; w++)
                count += joined[u][v] && joined[v][w] && joined[u][w];
    return count;
}

static uint64_t local_at(const brume_graph *graph, uint64_t s)
{
    brume_error error;
    uint64_t local = UINT64_MAX;
    assert_ok(brume_triangle_local(graph, s, &local, &error));
    return local;
}

static double smooth_at(const brume_graph *graph, double t)
{
    brume_error error;
    double smooth = -1;
    assert_ok(brume_triangle_smooth(graph, t, &smooth, &error));
    return smooth;
}

/* Largest of table[] within s edges, for all graphs and one more edge at a time. */
static void spread(int *table, int *next, int graphs, int pairs)
{
    for (int code = 0; code < graphs; code++) {
        next[code] = table[code];
        for (int pair = 0; pair < pairs; pair++) {
            int other = table[code ^ 1 << pair];
            next[code] = other > next[code] ? other : next[code];
        }
    }
    memcpy(table, next, (size_t)graphs * sizeof *table);
}

static void check_all_graphs(int n, unsigned stride)
{
    int pairs = n * (n - 1) / 2, graphs = 1 << pairs;
    int *count = calloc((size_t)graphs, sizeof *count);
    int *local = calloc((size_t)graphs, sizeof *local);
    int *next = calloc((size_t)graphs, sizeof *next);
    for (int code = 0; code < graphs; code++)
        count[code] = triangles_by_hand((unsigned)code, n);
    for (int code = 0; code < graphs; code++)
        for (int pair = 0; pair < pairs; pair++) {
            int change = abs(count[code] - count[code ^ 1 << pair]);
            local[code] = change > local[code] ? change : local[code];
        }
    /* The local sensitivity has sensitivity 1. */
    for (int code = 0; code < graphs; code++)
        for (int pair = 0; pair < pairs; pair++)
            assert_holds(abs(local[code] - local[code ^ 1 << pair]) <= 1);
    for (uint64_t s = 0; s <= 2 * (uint64_t)n; s++) {
        for (int code = 0; code < graphs; code += (int)stride) {
            brume_graph *graph = open_code((unsigned)code, n);
            brume_error error;
            if (s == 0) {
                uint64_t triangles;
                assert_ok(brume_triangle_count(graph, &triangles, &error));
                assert_int_equal(triangles, count[code]);
            }
            assert_int_equal(local_at(graph, s), local[code]);
            for (uint64_t bound = 0; bound <= (uint64_t)n; bound++) {
                /* s is the distance if and only if L_s exceeds the bound and L_{s-1} does not. */
                uint64_t distance;
                assert_ok(brume_triangle_distance(graph, bound, &distance, &error));
                assert_int_equal(distance <= s, (uint64_t)local[code] > bound);
            }
            brume_graph_close(graph);
        }
        spread(local, next, graphs, pairs);
    }
    free(count);
    free(local);
    free(next);
}

static void local_sensitivity_at_a_distance_is_exact(void **state)
{
    (void)state;
    for (int n = 1; n <= 5; n++)
        check_all_graphs(n, 1);
    check_all_graphs(6, 97);
}

static void the_smooth_bound_is_the_plain_maximum_and_smooth(void **state)
{
    (void)state;
    const double ts[] = {.01, .1, .3, .5, 1, 3};
    for (unsigned code = 0; code < 1024; code++) {
        brume_graph *graph = open_code(code, 5);
        for (int i = 0; i < 6; i++) {
            double largest = 0;
            for (uint64_t s = 0; s <= 8; s++) {
                double value = exp(-ts[i] * (double)s) * (double)local_at(graph, s);
                largest = value > largest ? value : largest;
            }
            double smooth = smooth_at(graph, ts[i]);
            assert_holds(smooth >= largest * (1 - 1e-15) && smooth <= largest * (1 + 1e-10));
            for (int pair = 0; pair < 10 && code % 7 == 0; pair++) {
                brume_graph *other = open_code(code ^ 1u << pair, 5);
                assert_holds(smooth <= exp(ts[i]) * smooth_at(other, ts[i]) * (1 + 1e-15));
                brume_graph_close(other);
            }
        }
        brume_graph_close(graph);
    }
}

/* Where the maximum is far away: few edges, many vertices, and a t so small that it is at the cap.
 */
static void the_smooth_bound_is_the_plain_maximum_on_larger_graphs(void **state)
{
    (void)state;
    enum { MOST = 200 };
    const double ts[] = {.001, .01, .04, .1, .3};
    uint64_t seed = 5;
    int at_the_cap = 0;
    for (int trial = 0; trial < 40; trial++) {
        brume_error error;
        brume_graph *graph = NULL;
        uint64_t n = 10 + (uint64_t)trial, source[200], target[200], local[MOST];
        size_t edges = 0;
        for (; edges < (size_t)trial * 3; edges++) {
            source[edges] = brume_tape_splitmix(&seed) % n;
            target[edges] = brume_tape_splitmix(&seed) % n;
        }
        assert_ok(brume_graph_open(n, source, target, edges, &graph, &error));
        for (uint64_t s = 0; s < MOST; s++)
            local[s] = local_at(graph, s);
        assert_true(local[MOST - 1] == n - 2);
        for (int i = 0; i < 5; i++) {
            double largest = 0;
            uint64_t where = 0;
            for (uint64_t s = 0; s < MOST; s++)
                if (exp(-ts[i] * (double)s) * (double)local[s] > largest) {
                    largest = exp(-ts[i] * (double)s) * (double)local[s];
                    where = s;
                }
            double smooth = smooth_at(graph, ts[i]);
            assert_holds(smooth >= largest * (1 - 1e-15) && smooth <= largest * (1 + 1e-10));
            at_the_cap += local[where] == n - 2 && where > 8;
        }
        brume_graph_close(graph);
    }
    assert_holds(at_the_cap > 20);
}

static void check_vector(uint64_t n, const uint64_t *source, const uint64_t *target, size_t edges,
                         uint64_t triangles, const uint64_t *local, size_t locals)
{
    brume_error error;
    brume_graph *graph = NULL;
    uint64_t count;
    assert_ok(brume_graph_open(n, source, target, edges, &graph, &error));
    assert_ok(brume_triangle_count(graph, &count, &error));
    assert_int_equal(count, triangles);
    for (size_t s = 0; s < locals; s++)
        assert_int_equal(local_at(graph, s), local[s]);
    brume_graph_close(graph);
}

static void the_vectors_hold(void **state)
{
    (void)state;
    brume_error error;
    brume_graph *graph = NULL;
    const uint64_t k4_source[] = {0, 0, 0, 1, 1, 2}, k4_target[] = {1, 2, 3, 2, 3, 3};
    const uint64_t k4[] = {2, 2, 3, 3, 4, 4};
    check_vector(10, k4_source, k4_target, 6, 4, k4, 6);
    assert_ok(brume_graph_open(10, k4_source, k4_target, 6, &graph, &error));
    assert_close(smooth_at(graph, .5), 2, 1e-10);
    assert_close(smooth_at(graph, .1), 2.744058180470132, 1e-10);
    assert_int_equal(brume_triangle_global(graph), 8);
    brume_graph_close(graph);
    /* Two hubs that are not adjacent: only a pair that is no edge shows the sensitivity. */
    const uint64_t k25_source[] = {0, 0, 0, 0, 0, 1, 1, 1, 1, 1};
    const uint64_t k25_target[] = {2, 3, 4, 5, 6, 2, 3, 4, 5, 6};
    const uint64_t k25[] = {5};
    check_vector(7, k25_source, k25_target, 10, 0, k25, 1);
    const uint64_t star_source[] = {0, 0, 0, 0, 0, 0, 0}, star_target[] = {1, 2, 3, 4, 5, 6, 7};
    const uint64_t star[] = {1, 1, 2, 3, 4, 5};
    check_vector(8, star_source, star_target, 7, 0, star, 6);
    const uint64_t ring_source[] = {0, 1, 2, 3, 4, 5}, ring_target[] = {1, 2, 3, 4, 5, 0};
    assert_ok(brume_graph_open(6, ring_source, ring_target, 6, &graph, &error));
    assert_close(smooth_at(graph, .5), 1.2130613194252668, 1e-10);
    brume_graph_close(graph);
    const uint64_t empty[] = {0, 0, 1, 1, 2, 2};
    check_vector(6, NULL, NULL, 0, 0, empty, 6);
    assert_ok(brume_graph_open(6, NULL, NULL, 0, &graph, &error));
    assert_close(smooth_at(graph, .5), .36787944117144233, 1e-10);
    brume_graph_close(graph);
}

static void loops_repeats_and_strangers_are_dropped(void **state)
{
    (void)state;
    brume_error error;
    const uint64_t source[] = {0, 1, 1, 0, 2, 2, 0, 7, UINT64_MAX};
    const uint64_t target[] = {1, 0, 2, 2, 0, 2, 1, 1, 0};
    brume_graph *graph = NULL;
    assert_ok(brume_graph_open(3, source, target, 9, &graph, &error));
    assert_int_equal(brume_graph_edges(graph), 3);
    uint64_t count;
    assert_ok(brume_triangle_count(graph, &count, &error));
    assert_int_equal(count, 1);
    brume_graph_close(graph);
    graph = NULL;
    assert_fails(brume_graph_open(0, NULL, NULL, 0, &graph, &error), BRUME_EARGUMENT);
    assert_ok(brume_graph_open(1, source, target, 9, &graph, &error));
    assert_int_equal(local_at(graph, 5), 0);
    assert_holds(smooth_at(graph, .5) == 0);
    brume_graph_close(graph);
}

/* Rejects: an edge that counts once more towards a degree, where it is listed twice. */
static void repeated_edges_leave_every_sensitivity_as_it_is(void **state)
{
    (void)state;
    for (unsigned code = 0; code < 1 << 15; code += 13) {
        brume_error error;
        uint64_t source[2 * MOST_PAIRS], target[2 * MOST_PAIRS];
        size_t edges = 0;
        unsigned pair = 0;
        for (uint64_t u = 0; u < 6; u++)
            for (uint64_t v = u + 1; v < 6; v++, pair++)
                for (int time = 0; time < 2 && code >> pair & 1; time++) {
                    source[edges] = u;
                    target[edges++] = v;
                }
        brume_graph *once = open_code(code, 6), *twice = NULL;
        assert_ok(brume_graph_open(6, source, target, edges, &twice, &error));
        for (uint64_t s = 0; s < 6; s++)
            assert_int_equal(local_at(once, s), local_at(twice, s));
        brume_graph_close(once);
        brume_graph_close(twice);
    }
}

/* On random graphs with hubs, where the visit stops early, against all pairs. */
static void stopping_early_loses_nothing(void **state)
{
    (void)state;
    enum { N = 60 };
    uint64_t seed = 11;
    for (int trial = 0; trial < 60; trial++) {
        bool joined[N][N] = {{false}};
        uint64_t source[2000], target[2000];
        size_t edges = 0;
        for (int u = 0; u < N; u++)
            for (int v = u + 1; v < N; v++) {
                seed = seed * UINT64_C(6364136223846793005) + 99;
                /* Low numbers are hubs; the trial sets how dense the graph is. */
                if ((seed >> 33) % (uint64_t)(3 + (u * v + u) * (trial % 5) / 9) == 0) {
                    joined[u][v] = joined[v][u] = true;
                    source[edges] = (uint64_t)u;
                    target[edges++] = (uint64_t)v;
                }
            }
        brume_error error;
        brume_graph *graph = NULL;
        assert_ok(brume_graph_open(N + (uint64_t)trial % 3, source, target, edges, &graph, &error));
        uint64_t most = brume_triangle_global(graph);
        for (uint64_t s = 0; s < 40; s += 3) {
            uint64_t largest = 0;
            for (int u = 0; u < N + trial % 3; u++)
                for (int v = 0; v < u; v++) {
                    uint64_t a = 0, b = 0;
                    for (int w = 0; w < N && u < N; w++) {
                        a += w != u && w != v && joined[u][w] && joined[v][w];
                        b += w != u && w != v && joined[u][w] != joined[v][w];
                    }
                    for (int w = 0; w < N && u >= N && v < N; w++)
                        b += joined[v][w];
                    uint64_t local = a + (s + (s < b ? s : b)) / 2;
                    local = local < most ? local : most;
                    largest = local > largest ? local : largest;
                }
            assert_int_equal(local_at(graph, s), largest);
        }
        const double ts[] = {.02, .2, 1};
        for (int i = 0; i < 3; i++) {
            double largest = 0;
            for (uint64_t s = 0; s <= 2 * most; s++) {
                double value = exp(-ts[i] * (double)s) * (double)local_at(graph, s);
                largest = value > largest ? value : largest;
            }
            double smooth = smooth_at(graph, ts[i]);
            assert_holds(smooth >= largest * (1 - 1e-15) && smooth <= largest * (1 + 1e-9));
        }
        for (uint64_t bound = 0; bound < most; bound += 4) {
            uint64_t distance;
            assert_ok(brume_triangle_distance(graph, bound, &distance, &error));
            assert_holds(local_at(graph, distance) > bound);
            assert_holds(distance == 0 || local_at(graph, distance - 1) <= bound);
        }
        brume_graph_close(graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(local_sensitivity_at_a_distance_is_exact),
        cmocka_unit_test(the_smooth_bound_is_the_plain_maximum_and_smooth),
        cmocka_unit_test(the_smooth_bound_is_the_plain_maximum_on_larger_graphs),
        cmocka_unit_test(the_vectors_hold),
        cmocka_unit_test(loops_repeats_and_strangers_are_dropped),
        cmocka_unit_test(repeated_edges_leave_every_sensitivity_as_it_is),
        cmocka_unit_test(stopping_early_loses_nothing),
    };
    return cmocka_run_group_tests_name("triangle", tests, NULL, NULL);
}
