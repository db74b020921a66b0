/* Universes and workloads against the definition, cell by cell. */
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>

#include <brume/synthetic/universe.h>
#include <brume/synthetic/workload.h>

#include "base/parallel.h"
#include "synthetic/workload.h"

/* A fixed little generator: the tests need variety, not randomness. */
static uint32_t next_number(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

typedef struct fixture {
    brume_universe universe;
    brume_workload *workload;
    double *weights;
} fixture;

static void open_fixture(fixture *all, const uint32_t *sizes, size_t columns)
{
    brume_error error = {0};
    uint32_t seed = 7;
    assert_ok(brume_universe_make(sizes, columns, &all->universe, &error));
    assert_ok(brume_workload_open(&all->universe, &all->workload, &error));
    all->weights = malloc(all->universe.cells * sizeof *all->weights);
    for (uint64_t i = 0; i < all->universe.cells; i++)
        all->weights[i] = next_number(&seed) % 100;
}

static void close_fixture(fixture *all)
{
    brume_workload_close(all->workload);
    free(all->weights);
}

static void cells_and_records_are_inverse_to_each_other(void **state)
{
    (void)state;
    brume_error error = {0};
    const uint32_t sizes[] = {3, 1, 4, 2};
    brume_universe universe;
    assert_ok(brume_universe_make(sizes, 4, &universe, &error));
    assert_int_equal(universe.cells, 24);
    for (uint64_t i = 0; i < universe.cells; i++) {
        uint32_t record[4];
        uint64_t cell = 99;
        brume_universe_record(&universe, i, record);
        assert_ok(brume_universe_cell(&universe, record, &cell, &error));
        assert_int_equal(cell, i);
    }
    const uint32_t outside[] = {0, 1, 0, 0};
    uint64_t cell = 99;
    assert_fails(brume_universe_cell(&universe, outside, &cell, &error), BRUME_EARGUMENT);
    assert_int_equal(cell, 99);
}

static void a_universe_that_is_empty_or_too_large_is_refused_with_its_size(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_universe universe = {.columns = 77};
    const uint32_t empty[] = {3, 0}, large[] = {1u << 20, 1u << 20, 3};
    assert_fails(brume_universe_make(empty, 2, &universe, &error), BRUME_EARGUMENT);
    assert_fails(brume_universe_make(empty, 0, &universe, &error), BRUME_EARGUMENT);
    assert_fails(brume_universe_make(large, 3, &universe, &error), BRUME_EOVERFLOW);
    assert_non_null(strstr(error.message, "3.29853e+12"));
    assert_int_equal(universe.columns, 77);
}

/* Is the record in cell `query` of the marginal of these columns? By definition. */
static bool in_marginal(const brume_universe *universe, const uint32_t *record,
                        const size_t *columns, size_t count, uint64_t query)
{
    uint64_t place = 0;
    for (size_t i = 0; i < count; i++)
        place = place * universe->size[columns[i]] + record[columns[i]];
    return place == query;
}

static void marginals_count_what_their_definition_counts(void **state)
{
    (void)state;
    const uint32_t shapes[][4] = {{3, 4, 2, 5}, {5000, 2, 3, 1}, {2, 3, 5000, 2}, {1, 1, 1, 1}};
    for (size_t shape = 0; shape < 4; shape++) {
        fixture all;
        brume_error error = {0};
        open_fixture(&all, shapes[shape], 4);
        const size_t columns[] = {1, 3};
        assert_ok(brume_workload_add_marginal(all.workload, columns, 2, &error));
        size_t size = brume_workload_size(all.workload);
        double *answers = malloc(size * sizeof *answers);
        assert_ok(brume_workload_answer(all.workload, all.weights, answers, &error));
        for (size_t query = 0; query < size; query++) {
            double expected = 0, one = -1;
            for (uint64_t cell = 0; cell < all.universe.cells; cell++) {
                uint32_t record[4];
                brume_universe_record(&all.universe, cell, record);
                if (in_marginal(&all.universe, record, columns, 2, query))
                    expected += all.weights[cell];
            }
            assert_ok(brume_workload_answer_one(all.workload, query, all.weights, &one, &error));
            assert_holds(answers[query] == expected);
            assert_holds(one == expected);
        }
        free(answers);
        close_fixture(&all);
    }
}

static void all_k_way_marginals_are_all_combinations_once(void **state)
{
    (void)state;
    fixture all;
    brume_error error = {0};
    const uint32_t sizes[] = {2, 3, 4, 5};
    open_fixture(&all, sizes, 4);
    assert_ok(brume_workload_add_marginals(all.workload, 2, &error));
    assert_int_equal(brume_workload_size(all.workload), 6 + 8 + 10 + 12 + 15 + 20);
    assert_ok(brume_workload_add_marginals(all.workload, 0, &error));
    assert_int_equal(brume_workload_size(all.workload), 72);
    assert_ok(brume_workload_add_marginals(all.workload, 4, &error));
    assert_int_equal(brume_workload_size(all.workload), 72 + 120);
    assert_fails(brume_workload_add_marginals(all.workload, 5, &error), BRUME_EARGUMENT);
    close_fixture(&all);
}

static void boxes_and_dense_queries_agree_and_bad_ones_are_refused(void **state)
{
    (void)state;
    fixture all;
    brume_error error = {0};
    const uint32_t sizes[] = {4, 600, 3, 9};
    open_fixture(&all, sizes, 4);
    uint8_t first[4] = {1, 0, 1, 1}, last[9] = {0, 1, 1, 0, 0, 1, 0, 0, 1};
    const uint8_t *const allowed[] = {first, NULL, NULL, last};
    float *values = malloc(all.universe.cells * sizeof *values);
    for (uint64_t cell = 0; cell < all.universe.cells; cell++) {
        uint32_t record[4];
        brume_universe_record(&all.universe, cell, record);
        values[cell] = first[record[0]] && last[record[3]];
    }
    assert_ok(brume_workload_add_box(all.workload, allowed, &error));
    assert_ok(brume_workload_add_dense(all.workload, values, &error));
    double answers[2];
    assert_ok(brume_workload_answer(all.workload, all.weights, answers, &error));
    assert_holds(answers[0] == answers[1]);
    assert_holds(answers[0] > 0);
    values[5] = 1.5f;
    assert_fails(brume_workload_add_dense(all.workload, values, &error), BRUME_EARGUMENT);
    values[5] = NAN;
    assert_fails(brume_workload_add_dense(all.workload, values, &error), BRUME_EARGUMENT);
    assert_int_equal(brume_workload_size(all.workload), 2);
    assert_fails(brume_workload_answer_one(all.workload, 2, all.weights, answers, &error),
                 BRUME_EARGUMENT);
    free(values);
    close_fixture(&all);
}

static void reweighing_multiplies_exactly_the_cells_of_the_query(void **state)
{
    (void)state;
    fixture all;
    brume_error error = {0};
    const uint32_t sizes[] = {40, 6, 30, 50};
    open_fixture(&all, sizes, 4);
    const size_t columns[] = {0, 2};
    assert_ok(brume_workload_add_marginal(all.workload, columns, 2, &error));
    double *before = malloc(all.universe.cells * sizeof *before), total = 0, expected = 0;
    memcpy(before, all.weights, all.universe.cells * sizeof *before);
    assert_ok(brume_workload_reweigh(all.workload, 77, -0.4, all.weights, &total, &error));
    for (uint64_t cell = 0; cell < all.universe.cells; cell++) {
        uint32_t record[4];
        brume_universe_record(&all.universe, cell, record);
        bool inside = in_marginal(&all.universe, record, columns, 2, 77);
        assert_holds(all.weights[cell] == (inside ? before[cell] * exp(-0.4) : before[cell]));
        expected += all.weights[cell];
    }
    assert_close(total, expected, 1e-12);
    assert_fails(brume_workload_reweigh(all.workload, 0, NAN, all.weights, &total, &error),
                 BRUME_EARGUMENT);
    free(before);
    close_fixture(&all);
}

static void one_update_step_gives_the_vector_of_the_textbook(void **state)
{
    (void)state;
    fixture all;
    brume_error error = {0};
    const uint32_t sizes[] = {2, 2};
    const size_t columns[] = {0};
    open_fixture(&all, sizes, 2);
    assert_ok(brume_workload_add_marginal(all.workload, columns, 1, &error));
    double weights[4] = {0.25, 0.25, 0.25, 0.25}, total = 0;
    assert_ok(brume_workload_reweigh(all.workload, 0, -0.4, weights, &total, &error));
    assert_close(weights[0] / total, 0.200656169943774, 1e-14);
    assert_close(weights[3] / total, 0.299343830056226, 1e-14);
    close_fixture(&all);
}

static void marginals_of_many_columns_together_are_those_of_each_alone(void **state)
{
    (void)state;
    const uint32_t shapes[][5] = {{3, 4, 1, 2, 5}, {2, 300, 2, 1, 40}, {1, 7, 9, 3, 1}};
    for (size_t shape = 0; shape < 3; shape++) {
        fixture all;
        brume_error error = {0};
        open_fixture(&all, shapes[shape], 5);
        for (size_t way = 0; way <= 4; way++)
            if (shape != 1 || way < 3)
                assert_ok(brume_workload_add_marginals(all.workload, way, &error));
        size_t size = brume_workload_size(all.workload);
        double *answers = malloc(size * sizeof *answers), one = -1;
        assert_ok(brume_workload_answer(all.workload, all.weights, answers, &error));
        for (size_t query = 0; query < size; query += shape == 1 ? 97 : 1) {
            assert_ok(brume_workload_answer_one(all.workload, query, all.weights, &one, &error));
            assert_holds(answers[query] == one);
        }
        free(answers);
        close_fixture(&all);
    }
}

/* Multiplying by e^(rate v) for every kind of v. */
static void a_dense_step_is_right_to_its_stated_error(void **state)
{
    (void)state;
    enum { CELLS = 5000 };
    fixture all;
    brume_error error = {0};
    const uint32_t sizes[] = {CELLS};
    const double rates[] = {0, 1e-9, -1e-3, 0.2, -0.5, 0.51, -3, 4, 60, -700, 700};
    float values[CELLS];
    open_fixture(&all, sizes, 1);
    for (size_t i = 0; i < CELLS; i++)
        values[i] = (float)(i % 2 ? (double)i / CELLS : (double)(i * 97 % 1024) * 0x1p-10);
    values[0] = 0;
    values[1] = 1;
    assert_ok(brume_workload_add_dense(all.workload, values, &error));
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
        double weights[CELLS], total, rate = rates[r];
        for (size_t i = 0; i < CELLS; i++)
            weights[i] = 1;
        assert_ok(
            brume_workload_step(all.workload, 0, rate, 0.5, 0x1p-900, weights, &total, &error));
        for (size_t i = 0; i < CELLS; i++) {
            double v = rint((double)values[i] * 0x1p20) * 0x1p-20;
            assert_close(weights[i], fmax(0.5 * exp(rate * v), 0x1p-900),
                         fabs(rate) * 0x1p-30 + 0x1p-51);
        }
    }
    close_fixture(&all);
}

static void no_weight_falls_below_the_least(void **state)
{
    (void)state;
    fixture all;
    brume_error error = {0};
    const uint32_t sizes[] = {70, 3};
    const size_t columns[] = {1};
    open_fixture(&all, sizes, 2);
    assert_ok(brume_workload_add_marginal(all.workload, columns, 1, &error));
    double total;
    for (int i = 0; i < 4; i++)
        assert_ok(
            brume_workload_step(all.workload, 1, -300, 1, 0x1p-900, all.weights, &total, &error));
    for (uint64_t cell = 0; cell < all.universe.cells; cell++)
        assert_holds(cell % 3 == 1 ? all.weights[cell] == 0x1p-900 : all.weights[cell] >= 0x1p-900);
    close_fixture(&all);
}

static void a_step_of_a_marginal_multiplies_each_weight_by_the_factor_of_its_cell(void **state)
{
    (void)state;
    const uint32_t shapes[][4] = {{3, 4, 2, 5}, {40, 6, 30, 50}, {2, 3, 5000, 2}};
    for (size_t shape = 0; shape < 3; shape++) {
        fixture all;
        brume_error error = {0};
        open_fixture(&all, shapes[shape], 4);
        const size_t columns[] = {1, 3};
        assert_ok(brume_workload_add_marginal(all.workload, columns, 2, &error));
        size_t size = brume_workload_size(all.workload);
        double *factors = malloc(size * sizeof *factors), total, expected = 0;
        double *before = malloc(all.universe.cells * sizeof *before);
        memcpy(before, all.weights, all.universe.cells * sizeof *before);
        for (size_t i = 0; i < size; i++)
            factors[i] = 1 + (double)i;
        assert_ok(brume_workload_step_marginal(all.workload, brume_workload_group(all.workload, 0),
                                               factors, 0.5, 0.25, all.weights, &total, &error));
        for (uint64_t cell = 0; cell < all.universe.cells; cell++) {
            uint32_t record[4];
            brume_universe_record(&all.universe, cell, record);
            double factor = factors[record[1] * shapes[shape][3] + record[3]];
            assert_holds(all.weights[cell] == fmax(before[cell] * 0.5 * factor, 0.25));
            expected += all.weights[cell];
        }
        assert_close(total, expected, 1e-12);
        free(before);
        free(factors);
        close_fixture(&all);
    }
}

typedef struct pieces {
    double sum[BRUME_PARALLEL_PIECES];
    uint64_t covered[BRUME_PARALLEL_PIECES];
} pieces;

static void add_reciprocals(void *context, size_t piece, uint64_t first, uint64_t last)
{
    pieces *all = context;
    for (uint64_t i = first; i < last; i++)
        all->sum[piece] += 1 / (double)(i + 1);
    all->covered[piece] = last - first;
}

static void a_loop_is_cut_alike_on_any_number_of_threads(void **state)
{
    (void)state;
    enum { COUNT = 3001, CELLS = 1000 };
    pieces alone = {.sum = {0}};
    brume_parallel_run_on(1, COUNT, CELLS, add_reciprocals, &alone);
    uint64_t covered = 0;
    for (size_t i = 0; i < BRUME_PARALLEL_PIECES; i++)
        covered += alone.covered[i];
    assert_int_equal(covered, COUNT);
    assert_holds(brume_parallel_pieces(COUNT, CELLS) > 1);
    for (size_t threads = 2; threads < 20; threads += 5) {
        pieces together = {.sum = {0}};
        brume_parallel_run_on(threads, COUNT, CELLS, add_reciprocals, &together);
        assert_memory_equal(&together, &alone, sizeof alone);
    }
    assert_int_equal(brume_parallel_pieces(1, UINT64_C(1) << 30), 1);
    assert_int_equal(brume_parallel_pieces(UINT64_C(1) << 20, 4096), BRUME_PARALLEL_PIECES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_and_records_are_inverse_to_each_other),
        cmocka_unit_test(a_universe_that_is_empty_or_too_large_is_refused_with_its_size),
        cmocka_unit_test(marginals_count_what_their_definition_counts),
        cmocka_unit_test(all_k_way_marginals_are_all_combinations_once),
        cmocka_unit_test(boxes_and_dense_queries_agree_and_bad_ones_are_refused),
        cmocka_unit_test(reweighing_multiplies_exactly_the_cells_of_the_query),
        cmocka_unit_test(one_update_step_gives_the_vector_of_the_textbook),
        cmocka_unit_test(marginals_of_many_columns_together_are_those_of_each_alone),
        cmocka_unit_test(a_dense_step_is_right_to_its_stated_error),
        cmocka_unit_test(a_step_of_a_marginal_multiplies_each_weight_by_the_factor_of_its_cell),
        cmocka_unit_test(no_weight_falls_below_the_least),
        cmocka_unit_test(a_loop_is_cut_alike_on_any_number_of_threads),
    };
    return cmocka_run_group_tests_name("workload", tests, NULL, NULL);
}
