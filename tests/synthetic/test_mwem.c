/* MWEM: the update vector, the privacy of a round, the error bound, records drawn. */
#include "check.h"

#include <stdlib.h>

#include <brume/mechanism.h>

#include "random/tape.h"
#include "small_world.h"
#include "synthetic/exact.h"
#include "synthetic/mwem.h"

static void a_step_gives_the_reference_weights(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_workload *workload = small_world(false);
    double weights[SMALL_CELLS] = {25, 25, 25, 25};
    assert_ok(brume_mwem_step(workload, 0, 70, 100, weights, &error)); /* cells 0 and 1 */
    for (int i = 0; i < SMALL_CELLS; i++)
        assert_close(weights[i], 100 * (i < 2 ? .26248959373946999 : .23751040626053001), 1e-14);
    brume_workload_close(workload);
}

enum { QUERIES = 4 };

/* The law of the first choice, from the definition. */
static void first_choice(const brume_workload *workload, const double *counts, double records,
                         double coefficient, double *truth, double *law)
{
    brume_error error = {0};
    double uniform[SMALL_CELLS], answers[QUERIES], total = 0;
    for (int i = 0; i < SMALL_CELLS; i++)
        uniform[i] = records / SMALL_CELLS;
    assert_ok(brume_exact_answers(workload, counts, truth, &error));
    assert_ok(brume_workload_answer(workload, uniform, answers, &error));
    for (int q = 0; q < QUERIES; q++)
        total += law[q] = exp(coefficient * fabs(brume_mwem_public(answers[q]) - truth[q]));
    for (int q = 0; q < QUERIES; q++)
        law[q] /= total;
}

/* Over all neighbours and both directions: the largest loss (rho = 0), or D_a/a for rho. */
static double worst_loss(const brume_mwem_options *options, double order)
{
    brume_error error = {0};
    brume_workload *workload = small_world(true);
    brume_event events[BRUME_MWEM_EVENTS];
    size_t count;
    assert_ok(brume_mwem_events(options, events, &count, &error));
    assert_int_equal(count, 2);
    double coefficient = brume_mwem_coefficient(events[0].parameter[0]), worst = 0;
    double spread = events[1].parameter[0];
    for (int i = 0; i < SMALL_HISTOGRAMS; i++)
        for (int j = 0; j < SMALL_HISTOGRAMS; j++) {
            double a[SMALL_CELLS], b[SMALL_CELLS], x[QUERIES], y[QUERIES], p[QUERIES], r[QUERIES];
            small_histogram(i, a);
            small_histogram(j, b);
            if (!small_neighbours(a, b, options->adjacency))
                continue;
            first_choice(workload, a, 4, coefficient, x, p);
            first_choice(workload, b, 4, coefficient, y, r);
            double sum = 0;
            for (int q = 0; q < QUERIES; q++) {
                double shift = fabs(x[q] - y[q]);
                if (options->rho == 0)
                    worst = fmax(worst, log(p[q] / r[q]) + shift / spread);
                else
                    sum += pow(p[q], order) * pow(r[q], 1 - order) *
                           exp(order * (order - 1) * shift * shift / (2 * spread * spread));
            }
            if (options->rho > 0)
                worst = fmax(worst, log(sum) / (order - 1) / order);
        }
    brume_workload_close(workload);
    return worst;
}

static void the_first_round_loses_no_more_than_its_price(void **state)
{
    (void)state;
    for (int replace = 0; replace < 2; replace++) {
        brume_mwem_options options = {.adjacency = replace ? BRUME_REPLACE : BRUME_ADD_REMOVE,
                                      .epsilon = 1,
                                      .rounds = 1,
                                      .records = 4};
        double loss = worst_loss(&options, 0);
        assert_holds(loss <= 1 + 1e-12);
        assert_holds(loss >= 0.75); /* the answer's half is tight, the choice's nearly */
        options.epsilon = 0;
        options.rho = 0.3;
        for (double order = 1.25; order < 50; order *= 2) {
            double curve = worst_loss(&options, order);
            assert_holds(curve <= 0.3 + 1e-12);
            assert_holds(curve >= 0.15);
        }
    }
}

static void the_events_add_up_to_the_price(void **state)
{
    (void)state;
    brume_error error = {0};
    for (int bought = 0; bought < 2; bought++)
        for (int concentrated = 0; concentrated < 2; concentrated++) {
            brume_mwem_options options = {.adjacency = BRUME_ADD_REMOVE,
                                          .epsilon = concentrated ? 0 : 1.3,
                                          .rho = concentrated ? 0.2 : 0,
                                          .rounds = 7,
                                          .records = bought ? 0 : 50};
            brume_event events[BRUME_MWEM_EVENTS];
            size_t count;
            double sum = 0;
            assert_ok(brume_mwem_events(&options, events, &count, &error));
            assert_int_equal(count, bought ? 3 : 2);
            for (size_t i = 0; i < count; i++) {
                brume_cost cost;
                assert_ok(brume_event_cost(&events[i], &cost, &error));
                sum += (concentrated ? cost.rho : cost.epsilon) * (double)events[i].count;
            }
            assert_close(sum, concentrated ? 0.2 : 1.3, 1e-13);
        }
}

static double worst_error(const brume_workload *workload, const double *counts,
                          const double *weights, size_t queries)
{
    brume_error error = {0};
    double *truth = malloc(queries * sizeof *truth), *answers = malloc(queries * sizeof *answers);
    assert_ok(brume_workload_answer(workload, counts, truth, &error));
    assert_ok(brume_workload_answer(workload, weights, answers, &error));
    double worst = 0;
    for (size_t q = 0; q < queries; q++)
        worst = fmax(worst, fabs(truth[q] - answers[q]));
    free(truth);
    free(answers);
    return worst;
}

/* All 2-way marginals of 4 columns; the records are concentrated. */
static void errors_stay_within_the_bound_and_beat_the_uniform_histogram(void **state)
{
    (void)state;
    enum { CELLS = 2 * 3 * 4 * 2, RUNS = 60 };
    brume_error error = {0};
    const uint32_t sizes[] = {2, 3, 4, 2};
    brume_universe universe;
    brume_workload *workload = NULL;
    assert_ok(brume_universe_make(sizes, 4, &universe, &error));
    assert_ok(brume_workload_open(&universe, &workload, &error));
    assert_ok(brume_workload_add_marginals(workload, 2, &error));
    size_t queries = brume_workload_size(workload);
    double counts[CELLS], weights[CELLS], uniform[CELLS], records = 0;
    for (int i = 0; i < CELLS; i++)
        records += counts[i] = i % 5 == 0 ? 900 : i % 7;
    for (int i = 0; i < CELLS; i++)
        uniform[i] = records / CELLS;
    double plain = worst_error(workload, counts, uniform, queries);
    for (int concentrated = 0; concentrated < 2; concentrated++) {
        brume_mwem_options options = {.adjacency = BRUME_REPLACE,
                                      .epsilon = concentrated ? 0 : 2,
                                      .rho = concentrated ? 0.5 : 0,
                                      .rounds = 40,
                                      .records = records};
        double alpha, mean = 0;
        int beyond = 0;
        assert_ok(brume_mwem_alpha(workload, &options, 0.1, &alpha, &error));
        assert_holds(alpha < records);
        for (uint64_t seed = 0; seed < RUNS; seed++) {
            brume_bits *bits = brume_tape_open_seeded(seed);
            double sum = 0;
            assert_ok(brume_mwem(workload, &options, counts, bits, weights, &error));
            for (int i = 0; i < CELLS; i++)
                sum += weights[i];
            assert_close(sum, records, 1e-12);
            double worst = worst_error(workload, counts, weights, queries);
            mean += worst / RUNS;
            beyond += worst > alpha;
            brume_bits_close(bits);
        }
        assert_holds(beyond <= RUNS / 10);
        assert_holds(mean < 0.9 * plain);
    }
    brume_workload_close(workload);
}

static bool stop_at_three(void *context, uint64_t round, uint64_t rounds)
{
    (void)rounds;
    *(uint64_t *)context = round;
    return round < 3;
}

static void progress_is_told_and_may_stop_it_and_bad_calls_are_refused(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_workload *workload = small_world(true);
    double counts[SMALL_CELLS] = {10, 0, 0, 5}, weights[SMALL_CELLS] = {9, 9, 9, 9};
    const double nobody[SMALL_CELLS] = {0};
    uint64_t last = 0;
    brume_bits *bits = brume_tape_open_seeded(5);
    brume_mwem_options options = {.adjacency = BRUME_ADD_REMOVE,
                                  .epsilon = 1,
                                  .rounds = 9,
                                  .progress = stop_at_three,
                                  .progress_context = &last};
    assert_ok(brume_mwem(workload, &options, counts, bits, weights, &error));
    assert_int_equal(last, 3);
    assert_ok(brume_mwem(workload, &options, nobody, bits, weights, &error)); /* n is private */
    options.adjacency = BRUME_REPLACE;
    assert_fails(brume_mwem(workload, &options, nobody, bits, weights, &error), BRUME_EARGUMENT);
    assert_holds(weights[0] == 0);
    options.records = 14;
    assert_fails(brume_mwem(workload, &options, counts, bits, weights, &error), BRUME_EARGUMENT);
    options.records = 15;
    options.rounds = 0;
    assert_fails(brume_mwem(workload, &options, counts, bits, weights, &error), BRUME_EARGUMENT);
    brume_bits_close(bits);
    brume_workload_close(workload);
}

static void records_are_drawn_as_often_as_their_weights_say(void **state)
{
    (void)state;
    enum { DRAWS = 40000 };
    brume_error error = {0};
    brume_workload *workload = small_world(false);
    const brume_universe *universe = brume_workload_universe(workload);
    const double weights[SMALL_CELLS] = {0, 3, 1, 0}, negative[SMALL_CELLS] = {2, -1, 0, 0};
    const double nothing[SMALL_CELLS] = {0};
    static uint64_t drawn[DRAWS];
    size_t seen[SMALL_CELLS] = {0};
    brume_bits *bits = brume_tape_open_seeded(3);
    assert_ok(brume_synthetic_records(universe, weights, bits, drawn, DRAWS, &error));
    for (size_t i = 0; i < DRAWS; i++)
        seen[drawn[i]]++;
    assert_int_equal(seen[0] + seen[3], 0);
    assert_holds(fabs((double)seen[1] - 30000) < 600); /* 7 standard deviations; seeded */
    assert_fails(brume_synthetic_records(universe, negative, bits, drawn, 1, &error),
                 BRUME_EARGUMENT);
    assert_fails(brume_synthetic_records(universe, nothing, bits, drawn, 1, &error),
                 BRUME_EARGUMENT);
    brume_bits_close(bits);
    brume_workload_close(workload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_gives_the_reference_weights),
        cmocka_unit_test(the_first_round_loses_no_more_than_its_price),
        cmocka_unit_test(the_events_add_up_to_the_price),
        cmocka_unit_test(errors_stay_within_the_bound_and_beat_the_uniform_histogram),
        cmocka_unit_test(progress_is_told_and_may_stop_it_and_bad_calls_are_refused),
        cmocka_unit_test(records_are_drawn_as_often_as_their_weights_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
