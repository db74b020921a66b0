/* Private multiplicative weights: the update vector, the privacy of the first round, the bound. */
#include "check.h"

#include <stdlib.h>

#include <brume/mechanism/mechanism.h>

#include "mechanism/threshold/threshold.h"
#include "random/tape.h"
#include "small_world.h"
#include "synthetic/exact.h"
#include "synthetic/multiplicative_weights.h"
#include "synthetic/weights.h"

static void a_step_gives_the_reference_weights(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_workload *workload = small_world(false);
    double weights[SMALL_CELLS] = {1, 1, 1, 1};
    brume_weights histogram = {workload, weights, 1, 1};
    assert_ok(brume_weights_step(&histogram, 0, -0.4, &error));
    brume_weights_settle(&histogram);
    for (int i = 0; i < SMALL_CELLS; i++)
        assert_close(weights[i], i < 2 ? .200656169943774 : .299343830056226, 1e-13);
    brume_workload_close(workload);
}

static double laplace_mass(double scale, int k)
{
    double q = exp(-1 / scale);
    return (1 - q) / (1 + q) * pow(q, abs(k));
}

/* P[value + query noise >= threshold + threshold noise], by summation. */
static double chance_above(int64_t value, double threshold, double threshold_scale,
                           double query_scale)
{
    double chance = 0, q = exp(-1 / query_scale);
    for (int z = -200; z <= 200; z++) {
        int least = (int)threshold + z - (int)value; /* P[query noise >= least] */
        double tail = least > 0 ? pow(q, least) / (1 + q) : 1 - pow(q, 1 - least) / (1 + q);
        chance += laplace_mass(threshold_scale, z) * tail;
    }
    return chance;
}

static void the_first_round_loses_no_more_than_epsilon(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_workload *workload = small_world(true);
    const double first[SMALL_CELLS] = {2, 1, 0, 1};
    double uniform[SMALL_CELLS] = {1, 1, 1, 1}, estimates[4];
    brume_bits *bits = brume_tape_open_seeded(1);
    assert_ok(brume_workload_answer(workload, uniform, estimates, &error));
    for (int replace = 0; replace < 2; replace++) {
        brume_adjacency adjacency = replace ? BRUME_REPLACE : BRUME_ADD_REMOVE;
        /* one hit, so that the whole price is spent in one round */
        brume_multiplicative_weights_options options = {
            .adjacency = adjacency, .epsilon = 1, .alpha = 1, .records = 4};
        brume_multiplicative_weights *stream = NULL;
        brume_event events[BRUME_MULTIPLICATIVE_WEIGHTS_EVENTS];
        assert_ok(
            brume_multiplicative_weights_open(workload, &options, first, bits, &stream, &error));
        assert_int_equal(brume_multiplicative_weights_left(stream), 1);
        brume_multiplicative_weights_events(stream, events);
        brume_split split = {.hits = events[0].parameter[1]};
        double threshold_scale, query_scale, worst = 0;
        brume_split_scales(&split, events[0].parameter[0], &threshold_scale, &query_scale);
        for (int i = 0; i < SMALL_HISTOGRAMS; i++)
            for (int j = 0; j < SMALL_HISTOGRAMS; j++) {
                double a[SMALL_CELLS], b[SMALL_CELLS], x[4], y[4];
                small_histogram(i, a);
                small_histogram(j, b);
                if (!small_neighbours(a, b, adjacency))
                    continue;
                assert_ok(brume_exact_answers(workload, a, x, &error));
                assert_ok(brume_exact_answers(workload, b, y, &error));
                for (int q = 0; q < 4; q++) {
                    double estimate = rint(estimates[q] * 0x1p20) * 0x1p-20;
                    int64_t u = brume_multiplicative_weights_badness(estimate, x[q]);
                    int64_t v = brume_multiplicative_weights_badness(estimate, y[q]);
                    assert_holds(llabs(u - v) <= 1);
                    double p = chance_above(u, 8, threshold_scale, query_scale);
                    double r = chance_above(v, 8, threshold_scale, query_scale);
                    double told = fabs(x[q] - y[q]) / events[1].parameter[0];
                    worst = fmax(worst, log(p / r) + told);
                    worst = fmax(worst, log((1 - p) / (1 - r)));
                }
            }
        assert_holds(worst <= 1 + 1e-9);
        assert_holds(worst >= 0.4); /* the answer's quarter and the query's share are in it */
        brume_multiplicative_weights_close(stream);
    }
    brume_bits_close(bits);
    brume_workload_close(workload);
}

static void the_events_add_up_to_rho(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_workload *workload = small_world(true);
    const double counts[SMALL_CELLS] = {50, 20, 10, 20}, rhos[] = {1e-6, 0.03, 2, 500};
    brume_bits *bits = brume_tape_open_seeded(1);
    for (int i = 0; i < 4; i++) {
        brume_multiplicative_weights_options options = {
            .adjacency = BRUME_REPLACE, .alpha = 0.2, .records = 100, .rho = rhos[i]};
        brume_multiplicative_weights *stream = NULL;
        brume_event events[BRUME_MULTIPLICATIVE_WEIGHTS_EVENTS];
        double sum = 0;
        assert_ok(
            brume_multiplicative_weights_open(workload, &options, counts, bits, &stream, &error));
        brume_multiplicative_weights_events(stream, events);
        for (int k = 0; k < 2; k++) {
            brume_cost cost;
            assert_int_equal(events[k].count, 18);
            assert_ok(brume_event_cost(&events[k], &cost, &error));
            sum += cost.rho * (double)events[k].count;
        }
        assert_holds(sum <= rhos[i] * (1 + 1e-13));
        assert_close(sum, rhos[i], 1e-9);
        brume_multiplicative_weights_close(stream);
        stream = NULL;
        options.epsilon = 1;
        assert_fails(
            brume_multiplicative_weights_open(workload, &options, counts, bits, &stream, &error),
            BRUME_EARGUMENT);
    }
    brume_bits_close(bits);
    brume_workload_close(workload);
}

static void the_events_add_up_to_epsilon(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_workload *workload = small_world(true);
    const double counts[SMALL_CELLS] = {50, 20, 10, 20};
    brume_multiplicative_weights_options options = {
        .adjacency = BRUME_REPLACE, .epsilon = 0.7, .alpha = 0.2, .records = 100};
    brume_multiplicative_weights *stream = NULL;
    brume_event events[BRUME_MULTIPLICATIVE_WEIGHTS_EVENTS];
    brume_bits *bits = brume_tape_open_seeded(1);
    double sum = 0;
    assert_ok(brume_multiplicative_weights_open(workload, &options, counts, bits, &stream, &error));
    assert_int_equal(brume_multiplicative_weights_left(stream), 18); /* ln 4/.08 = 17.3 */
    brume_multiplicative_weights_events(stream, events);
    for (int i = 0; i < 2; i++) {
        brume_cost cost;
        assert_ok(brume_event_cost(&events[i], &cost, &error));
        sum += cost.epsilon * (double)events[i].count;
    }
    assert_close(sum, 0.7, 1e-13);
    brume_multiplicative_weights_close(stream);
    brume_bits_close(bits);
    brume_workload_close(workload);
}

enum { ASKED = 200 };

/* In how many of `runs` streams over 16 cells and 302,000 records was an answer beyond the bound?
 * *paid: how many answers were not free; *alpha: the bound, as a share of the records. */
static int runs_beyond(brume_multiplicative_weights_options options, int runs, int *paid,
                       double *alpha)
{
    enum { CELLS = 16 };
    brume_error error = {0};
    const uint32_t sizes[] = {2, 2, 2, 2};
    brume_universe universe;
    brume_workload *workload = NULL;
    double counts[CELLS], truth[64], bound = 0;
    assert_ok(brume_universe_make(sizes, 4, &universe, &error));
    assert_ok(brume_workload_open(&universe, &workload, &error));
    assert_ok(brume_workload_add_marginals(workload, 2, &error));
    size_t queries = brume_workload_size(workload);
    options.records = 0;
    for (int i = 0; i < CELLS; i++)
        options.records += counts[i] = i == 3 ? 200000 : i == 12 ? 90000 : 1000;
    assert_ok(brume_workload_answer(workload, counts, truth, &error));
    int beyond = 0;
    *paid = 0;
    for (uint64_t seed = 0; seed < (uint64_t)runs; seed++) {
        brume_bits *bits = brume_tape_open_seeded(seed);
        brume_multiplicative_weights *stream = NULL;
        assert_ok(
            brume_multiplicative_weights_open(workload, &options, counts, bits, &stream, &error));
        assert_ok(brume_multiplicative_weights_alpha(stream, ASKED, 0.1, &bound, &error));
        bool bad = false;
        for (size_t i = 0; i < ASKED; i++) {
            double answer, before = brume_multiplicative_weights_histogram(stream)[0];
            uint64_t left = brume_multiplicative_weights_left(stream);
            bool was_free;
            assert_ok(brume_multiplicative_weights_ask(stream, bits, i * 7 % queries, &answer,
                                                       &was_free, &error));
            bad = bad || fabs(answer - truth[i * 7 % queries]) > bound;
            *paid += !was_free;
            assert_int_equal(brume_multiplicative_weights_left(stream), left - !was_free);
            assert_holds((brume_multiplicative_weights_histogram(stream)[0] == before) == was_free);
        }
        beyond += bad;
        brume_multiplicative_weights_close(stream);
        brume_bits_close(bits);
    }
    *alpha = bound / options.records;
    brume_workload_close(workload);
    return beyond;
}

static void answers_stay_within_the_bound_and_most_are_free(void **state)
{
    (void)state;
    enum { RUNS = 20 };
    for (int pure = 0; pure < 2; pure++) {
        brume_multiplicative_weights_options options = {.adjacency = BRUME_REPLACE,
                                                        .epsilon = pure ? 1 : 0,
                                                        .rho = pure ? 0 : 0.5,
                                                        .alpha = pure ? 0.1 : 0.03};
        int paid;
        double alpha;
        assert_holds(runs_beyond(options, RUNS, &paid, &alpha) <= RUNS / 10);
        /* 1540 hits instead of 139 are affordable where noise grows with their root only */
        assert_holds(alpha < (pure ? 0.35 : 0.1));
        assert_holds(paid > 0 && paid < RUNS * ASKED / (pure ? 4 : 2));
    }
}

static void a_small_alpha_is_out_of_reach_of_epsilon_and_within_that_of_rho(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_workload *workload = small_world(false);
    const double counts[SMALL_CELLS] = {100000, 50000, 50000, 100000};
    brume_bits *bits = brume_tape_open_seeded(1);
    for (int pure = 0; pure < 2; pure++) {
        brume_multiplicative_weights_options options = {.adjacency = BRUME_REPLACE,
                                                        .epsilon = pure ? 1 : 0,
                                                        .rho = pure ? 0 : 0.5,
                                                        .alpha = 0.02,
                                                        .records = 300000};
        brume_multiplicative_weights *stream = NULL;
        double alpha = 77;
        assert_ok(
            brume_multiplicative_weights_open(workload, &options, counts, bits, &stream, &error));
        brume_status known = brume_multiplicative_weights_alpha(stream, 1000, 0.05, &alpha, &error);
        assert_int_equal(known, pure ? BRUME_EUNSUPPORTED : BRUME_OK);
        assert_holds(pure ? alpha == 77 : alpha < 0.07 * 300000);
        brume_multiplicative_weights_close(stream);
    }
    brume_bits_close(bits);
    brume_workload_close(workload);
}

static void it_halts_by_itself_and_promises_nothing_for_few_records(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_workload *workload = small_world(false);
    const double counts[SMALL_CELLS] = {4, 0, 0, 0};
    brume_multiplicative_weights_options options = {
        .adjacency = BRUME_ADD_REMOVE, .epsilon = 1, .alpha = 0.3, .records = 4};
    brume_multiplicative_weights *stream = NULL;
    brume_bits *bits = brume_tape_open_seeded(9);
    double answer = 77, alpha = 77;
    bool was_free;
    assert_ok(brume_multiplicative_weights_open(workload, &options, counts, bits, &stream, &error));
    assert_fails(brume_multiplicative_weights_alpha(stream, 10, 0.1, &alpha, &error),
                 BRUME_EUNSUPPORTED);
    assert_holds(alpha == 77);
    assert_fails(brume_multiplicative_weights_ask(stream, bits, 99, &answer, &was_free, &error),
                 BRUME_EARGUMENT);
    for (int i = 0; i < 10000 && brume_multiplicative_weights_left(stream) > 0; i++)
        assert_ok(brume_multiplicative_weights_ask(stream, bits, 0, &answer, &was_free, &error));
    answer = 77;
    assert_fails(brume_multiplicative_weights_ask(stream, bits, 0, &answer, &was_free, &error),
                 BRUME_EHALTED);
    assert_holds(answer == 77);
    brume_multiplicative_weights_close(stream);
    stream = NULL;
    options.adjacency = BRUME_REPLACE;
    options.records = 5;
    assert_fails(
        brume_multiplicative_weights_open(workload, &options, counts, bits, &stream, &error),
        BRUME_EARGUMENT);
    options.records = 4;
    options.alpha = 0;
    assert_fails(
        brume_multiplicative_weights_open(workload, &options, counts, bits, &stream, &error),
        BRUME_EARGUMENT);
    assert_null(stream);
    brume_bits_close(bits);
    brume_workload_close(workload);
}

static void under_rho_it_halts_too_and_a_dry_bit_source_costs_no_hit(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_workload *workload = small_world(true);
    const double counts[SMALL_CELLS] = {4, 0, 0, 0};
    brume_multiplicative_weights_options options = {
        .adjacency = BRUME_ADD_REMOVE, .rho = 0.5, .alpha = 0.3, .records = 4};
    brume_multiplicative_weights *stream = NULL;
    brume_bits *bits = brume_tape_open_seeded(9), *dry = brume_tape_open(NULL, 0, NULL, 0);
    double answer = 77;
    bool was_free = true;
    assert_ok(brume_multiplicative_weights_open(workload, &options, counts, bits, &stream, &error));
    uint64_t hits = brume_multiplicative_weights_left(stream), left = hits, free_answers = 0;
    assert_int_equal(hits, 8); /* ln 4/.18 = 7.7 */
    while (left > 0 && free_answers < 10000) {
        double before = brume_multiplicative_weights_histogram(stream)[0];
        answer = 77;
        assert_fails(brume_multiplicative_weights_ask(stream, dry, 2, &answer, &was_free, &error),
                     BRUME_ERANDOM);
        assert_holds(answer == 77 && brume_multiplicative_weights_left(stream) == left);
        assert_holds(brume_multiplicative_weights_histogram(stream)[0] == before);
        /* cell 3 holds nobody, cell 0 everybody: the histogram learns it, noise uses up the rest */
        size_t query = free_answers % 3;
        assert_ok(
            brume_multiplicative_weights_ask(stream, bits, query, &answer, &was_free, &error));
        free_answers += was_free;
        assert_int_equal(brume_multiplicative_weights_left(stream), left - !was_free);
        left -= !was_free;
    }
    assert_int_equal(left, 0);
    assert_fails(brume_multiplicative_weights_ask(stream, bits, 0, &answer, &was_free, &error),
                 BRUME_EHALTED);
    brume_multiplicative_weights_close(stream);
    brume_bits_close(dry);
    brume_bits_close(bits);
    brume_workload_close(workload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_gives_the_reference_weights),
        cmocka_unit_test(the_first_round_loses_no_more_than_epsilon),
        cmocka_unit_test(the_events_add_up_to_epsilon),
        cmocka_unit_test(the_events_add_up_to_rho),
        cmocka_unit_test(answers_stay_within_the_bound_and_most_are_free),
        cmocka_unit_test(a_small_alpha_is_out_of_reach_of_epsilon_and_within_that_of_rho),
        cmocka_unit_test(under_rho_it_halts_too_and_a_dry_bit_source_costs_no_hit),
        cmocka_unit_test(it_halts_by_itself_and_promises_nothing_for_few_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
