/* Synthetic histograms: their price, their bounds, their faults, fits and rows. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <brume/mechanism/mechanism.h>

#include "chance.h"
#include "random/tape.h"
#include "small_world.h"
#include "synthetic_options.h"
#include "synthetic/exact.h"
#include "synthetic/synthetic.h"
#include "synthetic/mwem.h"

enum { QUERIES = 4, METHODS = 6 };

static bool can_pay(brume_synthetic_method method, bool concentrated)
{
    if (method == BRUME_SYNTHETIC_GAUSSIAN)
        return concentrated;
    return !concentrated ||
           (method != BRUME_SYNTHETIC_LAPLACE && method != BRUME_SYNTHETIC_SMALL_DATABASE);
}

static void the_events_of_every_method_add_up_to_the_price(void **state)
{
    (void)state;
    brume_workload *workload = small_world(true);
    for (int method = 1; method <= METHODS; method++)
        for (int replace = 0; replace < 2; replace++)
            for (int concentrated = 0; concentrated < 2; concentrated++)
                for (int told = 0; told < 2 - replace; told++) {
                    brume_error error = {0};
                    brume_synthetic_options options = options_of(
                        (brume_synthetic_method)method, replace ? BRUME_REPLACE : BRUME_ADD_REMOVE,
                        concentrated, told ? 50 : 0);
                    brume_event events[BRUME_SYNTHETIC_EVENTS];
                    size_t count = 0;
                    double sum = 0;
                    brume_status status =
                        brume_synthetic_events(workload, &options, events, &count, &error);
                    if (!can_pay(options.method, concentrated)) {
                        assert_int_equal(status, BRUME_EUNSUPPORTED);
                        continue;
                    }
                    assert_ok(status);
                    for (size_t i = 0; i < count; i++) {
                        brume_cost cost;
                        assert_ok(brume_event_cost(&events[i], &cost, &error));
                        sum += (concentrated ? cost.rho : cost.epsilon) * (double)events[i].count;
                    }
                    assert_close(sum, concentrated ? 0.2 : 1.3, 1e-13);
                }
    brume_workload_close(workload);
}

/* The card of MWEM says what its events say, and never less. */
static void the_card_of_mwem_costs_what_its_events_cost(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_workload *workload = small_world(true);
    for (int bought = 0; bought < 2; bought++) {
        brume_synthetic_options options =
            options_of(BRUME_SYNTHETIC_MWEM, BRUME_ADD_REMOVE, false, bought ? 0 : 50);
        brume_event events[BRUME_SYNTHETIC_EVENTS];
        brume_event card = {.mechanism = brume_card_by_name("mwem")->id,
                            .adjacency = BRUME_ADD_REMOVE,
                            .sensitivity = 1,
                            .count = 1,
                            .parameter = {1.3, 7, bought ? BRUME_MWEM_RECORDS_SHARE : 0}};
        brume_cost said, cost;
        size_t count = 0;
        double rho = 0, epsilon = 0;
        assert_ok(brume_event_cost(&card, &said, &error));
        assert_ok(brume_synthetic_events(workload, &options, events, &count, &error));
        assert_int_equal(count, bought ? 3 : 2);
        for (size_t i = 0; i < count; i++) {
            assert_ok(brume_event_cost(&events[i], &cost, &error));
            rho += cost.rho * (double)events[i].count;
            epsilon += cost.epsilon * (double)events[i].count;
        }
        assert_holds(said.epsilon >= epsilon * (1 - 1e-14) && said.rho >= rho * (1 - 1e-14));
        assert_close(said.epsilon, epsilon, 1e-12);
        assert_close(said.rho, rho, 1e-12);
        assert_holds(said.rho < 0.3 * 1.3 * tanh(0.65)); /* far below any pure mechanism's */
    }
    brume_workload_close(workload);
}

/* Of private multiplicative weights and SmallDB too. */
static void the_other_cards_cost_what_their_events_cost(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_workload *workload = small_world(true);
    const double counts[SMALL_CELLS] = {10, 20, 3, 7};
    brume_bits *bits = brume_tape_open_seeded(4);
    brume_multiplicative_weights_options options = {
        .adjacency = BRUME_REPLACE, .epsilon = 1.3, .alpha = 0.25, .records = 40};
    brume_multiplicative_weights *stream = NULL;
    brume_event events[BRUME_MULTIPLICATIVE_WEIGHTS_EVENTS];
    assert_ok(brume_multiplicative_weights_open(workload, &options, counts, bits, &stream, &error));
    brume_multiplicative_weights_events(stream, events);
    double hits = (double)brume_multiplicative_weights_left(stream), rho = 0, epsilon = 0;
    brume_event card = {.mechanism = brume_card_by_name("multiplicative_weights")->id,
                        .adjacency = BRUME_REPLACE,
                        .sensitivity = 1,
                        .count = 1,
                        .parameter = {1.3, hits}};
    brume_cost said, cost;
    assert_ok(brume_event_cost(&card, &said, &error));
    for (size_t i = 0; i < BRUME_MULTIPLICATIVE_WEIGHTS_EVENTS; i++) {
        assert_ok(brume_event_cost(&events[i], &cost, &error));
        rho += cost.rho * (double)events[i].count;
        epsilon += cost.epsilon * (double)events[i].count;
    }
    assert_holds(said.epsilon >= epsilon * (1 - 1e-14) && said.rho >= rho * (1 - 1e-14));
    assert_close(said.epsilon, epsilon, 1e-12);
    assert_close(said.rho, rho, 1e-12);
    brume_multiplicative_weights_close(stream);
    brume_small_database_options small = {.adjacency = BRUME_REPLACE,
                                          .epsilon = 1.3,
                                          .size = 2,
                                          .records = 40,
                                          .most_candidates = 99};
    assert_ok(brume_small_database_event(&small, events, &error));
    card.mechanism = brume_card_by_name("small_database")->id;
    card.parameter[1] = 0;
    assert_ok(brume_event_cost(&card, &said, &error));
    assert_ok(brume_event_cost(events, &cost, &error));
    assert_holds(said.epsilon == cost.epsilon && said.rho == cost.rho);
    assert_close(said.rho, 1.3 * 1.3 / 8, 1e-15);
    brume_bits_close(bits);
    brume_workload_close(workload);
}

/* ---- bounds ---- */

static void errors_stay_within_the_bounds_of_every_method(void **state)
{
    (void)state;
    enum { CELLS = 12, TRIES = 40 };
    brume_error error = {0};
    const uint32_t sizes[] = {2, 3, 2};
    brume_universe universe;
    brume_workload *workload = NULL;
    assert_ok(brume_universe_make(sizes, 3, &universe, &error));
    assert_ok(brume_workload_open(&universe, &workload, &error));
    assert_ok(brume_workload_add_marginals(workload, 2, &error));
    size_t queries = brume_workload_size(workload);
    double counts[CELLS], records = 0;
    for (int i = 0; i < CELLS; i++)
        records += counts[i] = i % 4 == 0 ? 3000 : 10 * i;
    for (int method = 1; method <= METHODS; method++)
        for (int way = 0; way < 3; way++) { /* replace, told, bought */
            bool gaussian = method == BRUME_SYNTHETIC_GAUSSIAN;
            brume_synthetic_options options = options_of(
                (brume_synthetic_method)method, way == 0 ? BRUME_REPLACE : BRUME_ADD_REMOVE,
                gaussian, way == 1 ? records : 0);
            options.rounds = 40;
            options.alpha = 0.15;
            options.size = 6;
            options.most_candidates = 100000;
            options.epsilon *= 4;
            options.rho *= 4;
            int beyond = 0;
            for (uint64_t seed = 0; seed < TRIES; seed++) {
                brume_bits *bits = brume_tape_open_seeded(seed);
                brume_synthetic_report report;
                double weights[CELLS], off, sum = 0, truth[64];
                assert_ok(brume_synthetic_histogram(workload, &options, counts, bits, weights,
                                                    &report, &error));
                assert_ok(brume_workload_answer(workload, counts, truth, &error));
                assert_ok(brume_fit_distance(workload, weights, truth, &off, &error));
                for (int i = 0; i < CELLS; i++) {
                    assert_holds(weights[i] >= 0);
                    sum += weights[i];
                }
                assert_close(sum, report.records, 1e-9);
                assert_holds(queries <= 64);
                bool known = method != BRUME_SYNTHETIC_WEIGHTS || way != 2;
                assert_holds(known ? isfinite(report.bound) && report.bound < 2 * records
                                   : isnan(report.bound));
                beyond += off > report.bound;
                beyond += fabs(report.records - records) > report.records_off && method <= 3;
                assert_holds(isnan(report.fit) == (method <= 3));
                assert_holds(!report.halted);
                brume_bits_close(bits);
            }
            assert_holds(beyond <= TRIES / 20);
        }
    brume_workload_close(workload);
}

/* One hit is all that two cells allow at this alpha, and noise alone makes it now and then. */
static void a_stream_that_halted_tells_no_bound(void **state)
{
    (void)state;
    enum { TRIES = 2000 };
    brume_error error = {0};
    const uint32_t sizes[] = {2};
    const size_t column[] = {0};
    const double counts[] = {100, 0};
    brume_universe universe;
    brume_workload *workload = NULL;
    assert_ok(brume_universe_make(sizes, 1, &universe, &error));
    assert_ok(brume_workload_open(&universe, &workload, &error));
    assert_ok(brume_workload_add_marginal(workload, column, 1, &error));
    brume_synthetic_options options = {.method = BRUME_SYNTHETIC_WEIGHTS,
                                       .adjacency = BRUME_REPLACE,
                                       .epsilon = 0.34,
                                       .alpha = 0.6,
                                       .beta = 0.99};
    int halted = 0;
    for (uint64_t seed = 0; seed < TRIES; seed++) {
        brume_bits *bits = brume_tape_open_seeded(seed);
        brume_synthetic_report report;
        double weights[2];
        assert_ok(
            brume_synthetic_histogram(workload, &options, counts, bits, weights, &report, &error));
        assert_holds(report.halted ? isnan(report.bound) : isfinite(report.bound));
        halted += report.halted;
        brume_bits_close(bits);
    }
    assert_holds(halted > 0 && halted < TRIES / 2);
    brume_workload_close(workload);
}

/* An empty table is no error where its emptiness is private. */
static void no_records_are_an_error_only_where_their_number_is_public(void **state)
{
    (void)state;
    brume_workload *workload = small_world(true);
    const double nobody[SMALL_CELLS] = {0};
    for (int method = 1; method <= METHODS; method++)
        for (int replace = 0; replace < 2; replace++) {
            brume_error error = {0};
            brume_synthetic_options options = options_of((brume_synthetic_method)method,
                                                         replace ? BRUME_REPLACE : BRUME_ADD_REMOVE,
                                                         method == BRUME_SYNTHETIC_GAUSSIAN, 0);
            brume_synthetic_report report = {.paid = 77};
            double weights[SMALL_CELLS] = {9, 9, 9, 9};
            brume_bits *bits = brume_tape_open_seeded(2);
            brume_status status = brume_synthetic_histogram(workload, &options, nobody, bits,
                                                            weights, &report, &error);
            brume_bits_close(bits);
            assert_int_equal(status, replace ? BRUME_EARGUMENT : BRUME_OK);
            assert_holds(!replace || (weights[0] == 0 && report.paid == 77));
        }
    brume_workload_close(workload);
}

static void bad_options_are_refused_before_anything_is_drawn(void **state)
{
    (void)state;
    brume_workload *workload = small_world(true);
    brume_synthetic_options good = options_of(BRUME_SYNTHETIC_MWEM, BRUME_ADD_REMOVE, false, 0);
    brume_synthetic_options bad[10];
    for (size_t i = 0; i < 10; i++)
        bad[i] = good;
    bad[0].epsilon = 0;
    bad[1].rho = 1;
    bad[2].adjacency = BRUME_EDGE;
    bad[3].rounds = 0;
    bad[4].beta = 1;
    bad[5].records = -1;
    bad[6].method = (brume_synthetic_method)9;
    bad[7].method = BRUME_SYNTHETIC_WEIGHTS;
    bad[7].alpha = 2;
    bad[8].method = BRUME_SYNTHETIC_SMALL_DATABASE;
    bad[8].size = 0;
    bad[9].adjacency = BRUME_REPLACE;
    bad[9].records = 5;
    brume_event events[BRUME_SYNTHETIC_EVENTS];
    size_t count = 42;
    brume_error error = {0};
    for (size_t i = 0; i < 10; i++)
        assert_fails(brume_synthetic_events(workload, &bad[i], events, &count, &error),
                     BRUME_EARGUMENT);
    good.method = BRUME_SYNTHETIC_SMALL_DATABASE;
    good.size = 100; /* C(103, 100) = 176851 databases */
    assert_fails(brume_synthetic_events(workload, &good, events, &count, &error), BRUME_EOVERFLOW);
    assert_non_null(strstr(error.message, "176851 databases"));
    assert_int_equal(count, 42);
    brume_workload_close(workload);
}

static void a_fit_of_cells_is_the_nearest_histogram(void **state)
{
    (void)state;
    double cells[4] = {5, -3, 2, 1};
    brume_fit_cells(cells, 4, 5); /* level 1: 4, 0, 1, 0 */
    assert_close(cells[0], 4, 1e-12);
    assert_close(cells[2], 1, 1e-12);
    assert_holds(cells[1] == 0 && cells[3] < 1e-12);
    double low[3] = {-10, -10, -10};
    brume_fit_cells(low, 3, 6);
    for (int i = 0; i < 3; i++)
        assert_close(low[i], 2, 1e-12);
}

static void a_fit_to_consistent_answers_reaches_them(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_workload *workload = small_world(false);
    const double counts[SMALL_CELLS] = {70, 10, 15, 5};
    double answers[QUERIES], weights[SMALL_CELLS], off;
    assert_ok(brume_workload_answer(workload, counts, answers, &error));
    assert_ok(brume_fit_answers(workload, answers, 100, 200, NULL, NULL, weights, &off, &error));
    assert_holds(off < 0.01);
    brume_workload_close(workload);
}

/* In 4000 tables: never a row off up to any cell, and right on average. */
static void rows_follow_the_weights_to_less_than_one(void **state)
{
    (void)state;
    enum { TABLES = 4000, N = 7 };
    brume_error error = {0};
    brume_workload *workload = small_world(false);
    const brume_universe *universe = brume_workload_universe(workload);
    const double weights[SMALL_CELLS] = {0, 3.3, 1.1, 0.7}, nothing[SMALL_CELLS] = {0};
    const double negative[SMALL_CELLS] = {2, -1, 0, 0};
    double rows[SMALL_CELLS], mean[SMALL_CELLS] = {0};
    brume_bits *bits = brume_tape_open_seeded(8);
    for (int t = 0; t < TABLES; t++) {
        double have = 0, want = 0;
        assert_ok(brume_synthetic_rows(universe, weights, bits, N, rows, &error));
        for (int i = 0; i < SMALL_CELLS; i++) {
            have += rows[i];
            want += weights[i] / 5.1 * N;
            mean[i] += rows[i] / TABLES;
            assert_holds(fabs(have - want) < 1 + 1e-12);
        }
        assert_holds(have == N && rows[0] == 0);
    }
    for (int i = 0; i < SMALL_CELLS; i++) /* each within 1/2 of its mean: 7 standard deviations */
        assert_holds(fabs(mean[i] - weights[i] / 5.1 * N) < 7 * 0.5 / sqrt(TABLES));
    assert_fails(brume_synthetic_rows(universe, negative, bits, 1, rows, &error), BRUME_EARGUMENT);
    assert_fails(brume_synthetic_rows(universe, nothing, bits, 1, rows, &error), BRUME_EARGUMENT);
    brume_bits_close(bits);
    brume_workload_close(workload);
}

/* A fit reaches consistent marginals of many columns: iterative proportional fitting. */
static void a_fit_to_marginals_reaches_them(void **state)
{
    (void)state;
    enum { CELLS = 3 * 4 * 2 };
    brume_error error = {0};
    const uint32_t sizes[] = {3, 4, 2};
    brume_universe universe;
    brume_workload *workload = NULL;
    double counts[CELLS], weights[CELLS], answers[64], off, records = 0;
    assert_ok(brume_universe_make(sizes, 3, &universe, &error));
    assert_ok(brume_workload_open(&universe, &workload, &error));
    assert_ok(brume_workload_add_marginals(workload, 2, &error));
    for (int i = 0; i < CELLS; i++)
        records += counts[i] = 1 + (i * 37) % 11;
    assert_ok(brume_workload_answer(workload, counts, answers, &error));
    assert_ok(brume_fit_answers(workload, answers, records, 60, NULL, NULL, weights, &off, &error));
    assert_holds(off < 1e-3);
    brume_workload_close(workload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_events_of_every_method_add_up_to_the_price),
        cmocka_unit_test(the_card_of_mwem_costs_what_its_events_cost),
        cmocka_unit_test(the_other_cards_cost_what_their_events_cost),
        cmocka_unit_test(errors_stay_within_the_bounds_of_every_method),
        cmocka_unit_test(a_stream_that_halted_tells_no_bound),
        cmocka_unit_test(no_records_are_an_error_only_where_their_number_is_public),
        cmocka_unit_test(bad_options_are_refused_before_anything_is_drawn),
        cmocka_unit_test(a_fit_of_cells_is_the_nearest_histogram),
        cmocka_unit_test(a_fit_to_consistent_answers_reaches_them),
        cmocka_unit_test(a_fit_to_marginals_reaches_them),
        cmocka_unit_test(rows_follow_the_weights_to_less_than_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
