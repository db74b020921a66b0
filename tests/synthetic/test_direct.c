/* Direct release: what one unit moves, what it costs, how far off it is. */
#include "check.h"

#include <stdlib.h>

#include <brume/synthetic/direct.h>
#include <brume/mechanism/mechanism.h>
#include <brume/synthetic/workload_text.h>

#include "random/tape.h"
#include "small_world.h"
#include "synthetic/exact.h"
#include "synthetic/workload.h"

static void one_unit_moves_as_many_answers_as_stated_each_by_one(void **state)
{
    (void)state;
    brume_error error = {0};
    for (int dense = 0; dense < 2; dense++)
        for (int replace = 0; replace < 2; replace++) {
            brume_workload *workload = small_world(dense);
            brume_adjacency adjacency = replace ? BRUME_REPLACE : BRUME_ADD_REMOVE;
            size_t most = 0;
            for (int i = 0; i < SMALL_HISTOGRAMS; i++)
                for (int j = 0; j < SMALL_HISTOGRAMS; j++) {
                    double a[SMALL_CELLS], b[SMALL_CELLS], x[4], y[4];
                    small_histogram(i, a);
                    small_histogram(j, b);
                    if (!small_neighbours(a, b, adjacency))
                        continue;
                    assert_ok(brume_exact_answers(workload, a, x, &error));
                    assert_ok(brume_exact_answers(workload, b, y, &error));
                    size_t moved = 0;
                    for (size_t q = 0; q < brume_workload_size(workload); q++) {
                        assert_holds(fabs(x[q] - y[q]) <= 1);
                        moved += x[q] != y[q];
                    }
                    most = moved > most ? moved : most;
                }
            assert_int_equal(most, brume_workload_moved(workload, adjacency));
            brume_workload_close(workload);
        }
}

/* Ranges and prefixes of columns: one unit is not in all of them. */
static void of_ranges_one_unit_moves_as_many_as_stated(void **state)
{
    (void)state;
    enum { FIRST = 6, SECOND = 3, CELLS = FIRST * SECOND, MOST = 64 };
    static const struct {
        const char *text;
        size_t moved[2]; /* add-remove, replace */
    } cases[] = {
        {"ranges x", {12, 12}},
        {"prefixes x", {5, 5}},
        {"ranges x\nprefixes y\nmarginal x\ntotal", {16, 16}},
        {"prefixes x\nranges y", {9, 0}},
        {"count x >= 3\ncount x < 3", {1, 2}},
        {"sum 1\ncount x < 3 and y < 2", {2, 0}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int replace = 0; replace < 2; replace++) {
            brume_error error = {0};
            brume_schema *schema = NULL;
            brume_workload *workload = NULL;
            brume_adjacency adjacency = replace ? BRUME_REPLACE : BRUME_ADD_REMOVE;
            double before[MOST], after[MOST];
            size_t most = 0;
            assert_ok(brume_schema_open(&schema, &error));
            assert_ok(brume_schema_add_bins(schema, "x", 0, FIRST, FIRST, false, &error));
            assert_ok(brume_schema_add_bins(schema, "y", 0, SECOND, SECOND, false, &error));
            assert_ok(brume_workload_parse(schema, cases[k].text, &workload, &error));
            for (int i = 0; i < CELLS; i++)
                for (int j = 0; j < (replace ? CELLS : 1); j++) {
                    double one[CELLS] = {0}, other[CELLS] = {0};
                    size_t moved = 0;
                    one[i] = 1;
                    other[j] = replace; /* under add-remove: nobody */
                    assert_ok(brume_workload_answer(workload, one, before, &error));
                    assert_ok(brume_workload_answer(workload, other, after, &error));
                    for (size_t q = 0; q < brume_workload_size(workload); q++)
                        moved += before[q] != after[q];
                    most = moved > most ? moved : most;
                }
            size_t stated = brume_workload_moved(workload, adjacency);
            assert_holds(most <= stated);
            if (cases[k].moved[replace] !=
                0) { /* and exactly, where only one column is looked at */
                assert_int_equal(stated, cases[k].moved[replace]);
                assert_int_equal(most, stated);
            }
            brume_workload_close(workload);
            brume_schema_close(schema);
        }
}

static void the_event_costs_what_was_asked_for(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_workload *workload = small_world(true);
    for (int way = 1; way <= 2; way++)
        for (int replace = 0; replace < 2; replace++) {
            brume_direct_options options = {.way = (brume_direct_way)way,
                                            .adjacency = replace ? BRUME_REPLACE : BRUME_ADD_REMOVE,
                                            .epsilon = 0.7};
            brume_event event;
            brume_cost cost;
            uint64_t moved = way == 1 ? (replace ? 4 : 3) : (replace ? 2 : 1);
            assert_ok(brume_direct_event(workload, &options, &event, &error));
            assert_ok(brume_event_cost(&event, &cost, &error));
            assert_int_equal(event.count, moved);
            assert_close(cost.epsilon * (double)moved, 0.7, 1e-14);
            options.epsilon = 0;
            options.rho = 0.02;
            assert_ok(brume_direct_event(workload, &options, &event, &error));
            assert_ok(brume_event_cost(&event, &cost, &error));
            assert_int_equal(event.count, moved);
            assert_close(cost.rho * (double)moved, 0.02, 1e-14);
        }
    brume_workload_close(workload);
}

/* Share of 400 seeded runs with an error of at least `part` of the stated bound. */
static double share_beyond(brume_direct_options options, double part)
{
    brume_error error = {0};
    brume_workload *workload = small_world(true);
    const double counts[SMALL_CELLS] = {100, 20, 3, 400};
    double truth[4], answers[4], histogram[SMALL_CELLS], alpha;
    assert_ok(brume_workload_answer(workload, counts, truth, &error));
    assert_ok(brume_direct_alpha(workload, &options, 0.1, &alpha, &error));
    int beyond = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        brume_bits *bits = brume_tape_open_seeded(seed);
        assert_ok(
            brume_direct_release(workload, &options, counts, bits, answers, histogram, &error));
        double worst = 0;
        for (size_t q = 0; q < brume_workload_size(workload); q++)
            worst = fmax(worst, fabs(answers[q] - truth[q]));
        beyond += worst >= part * alpha;
        brume_bits_close(bits);
    }
    brume_workload_close(workload);
    return beyond / 400.;
}

static void errors_stay_within_the_bound_and_not_within_a_fifth_of_it(void **state)
{
    (void)state;
    for (int way = 1; way <= 2; way++)
        for (int replace = 0; replace < 2; replace++)
            for (int gaussian = 0; gaussian < 2; gaussian++) {
                brume_direct_options options = {.way = (brume_direct_way)way,
                                                .adjacency = replace ? BRUME_REPLACE
                                                                     : BRUME_ADD_REMOVE,
                                                .epsilon = gaussian ? 0 : 0.3,
                                                .rho = gaussian ? 0.05 : 0};
                /* the bound on answers is tight: 400 runs scatter about 0.1; 0.175 is 5 deviations
                 */
                assert_holds(share_beyond(options, 1) <= 0.175);
                assert_holds(share_beyond(options, 0.2) > 0.175);
            }
}

/* P[|sum| >= least], the sum of `n` discrete Laplace noises, by adding one after the other; what is
 * cut off is below 1e-12. */
static double tail_of_sum(double scale, int n, double least)
{
    enum { REACH = 500, ROOM = 2 * REACH + 1 };
    double law[ROOM], sum[ROOM] = {0}, next[ROOM], tail = 0, a = exp(-1 / scale);
    for (int i = 0; i < ROOM; i++)
        law[i] = (1 - a) / (1 + a) * pow(a, abs(i - REACH));
    sum[REACH] = 1;
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < ROOM; i++) {
            next[i] = 0;
            for (int j = 0; j < ROOM; j++)
                if (i - j >= -REACH && i - j <= REACH)
                    next[i] += sum[j] * law[i - j + REACH];
        }
        memcpy(sum, next, sizeof sum);
    }
    for (int i = 0; i < ROOM; i++)
        tail += abs(i - REACH) >= least ? sum[i] : 0;
    return tail;
}

/* Of a workload over 4 x 4 cells: the bound, and how wide its queries are. */
static double bound_over_16_cells(const char *text, uint64_t widest, brume_event *event)
{
    brume_error error = {0};
    const char *const labels[] = {"a", "b", "c", "d"};
    const brume_direct_options options = {BRUME_DIRECT_HISTOGRAM, BRUME_ADD_REMOVE, 0.3, 0};
    brume_schema *schema = NULL;
    brume_workload *workload = NULL;
    double alpha;
    assert_ok(brume_schema_open(&schema, &error));
    assert_ok(brume_schema_add_labels(schema, "x", labels, 4, false, &error));
    assert_ok(brume_schema_add_labels(schema, "y", labels, 4, false, &error));
    assert_ok(brume_workload_parse(schema, text, &workload, &error));
    assert_int_equal(brume_workload_widest(workload), widest);
    assert_ok(brume_direct_event(workload, &options, event, &error));
    assert_ok(brume_direct_alpha(workload, &options, 0.05, &alpha, &error));
    brume_workload_close(workload);
    brume_schema_close(schema);
    return alpha;
}

static void the_bound_of_the_histogram_counts_the_cells_of_a_query_and_is_close(void **state)
{
    (void)state;
    brume_error error = {0};
    static const struct {
        const char *text;
        int widest;
    } cases[] = {{"total", 16},
                 {"count x = a", 4},
                 {"count x in (a, b) and y != c", 6},
                 {"sum 1 where x = a and y = b, 1 where x = b and y < c", 3}};
    brume_event event;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double alpha = bound_over_16_cells(cases[i].text, (uint64_t)cases[i].widest, &event);
        double scale = event.parameter[0];
        assert_holds(tail_of_sum(scale, cases[i].widest, alpha) <= 0.05);
        assert_holds(tail_of_sum(scale, cases[i].widest, alpha / 1.6) > 0.05);
    }
    /* single cells: nothing is added up */
    double cell, alpha = bound_over_16_cells("histogram", 1, &event);
    assert_ok(brume_event_alpha(&event, 0.05, &cell, &error));
    assert_close(alpha, cell, 1e-5);
    /* marginals, one query for each value */
    alpha = bound_over_16_cells("marginal x", 4, &event);
    assert_holds(tail_of_sum(event.parameter[0], 4, alpha) <= 0.05 / 4);
}

static void bad_options_and_histograms_are_refused(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_workload *workload = small_world(false);
    brume_event event;
    double counts[SMALL_CELLS] = {1, 0.5, 0, 0}, answers[3];
    brume_bits *bits = brume_tape_open_seeded(1);
    const brume_direct_options good = {BRUME_DIRECT_QUERIES, BRUME_REPLACE, 1, 0};
    brume_direct_options bad = good;
    bad.adjacency = BRUME_EDGE;
    assert_fails(brume_direct_event(workload, &bad, &event, &error), BRUME_EARGUMENT);
    bad = good;
    bad.rho = 1;
    assert_fails(brume_direct_event(workload, &bad, &event, &error), BRUME_EARGUMENT);
    bad = good;
    bad.epsilon = 0;
    assert_fails(brume_direct_event(workload, &bad, &event, &error), BRUME_EARGUMENT);
    assert_fails(brume_direct_release(workload, &good, counts, bits, answers, NULL, &error),
                 BRUME_EARGUMENT);
    counts[1] = -1;
    assert_fails(brume_direct_release(workload, &good, counts, bits, answers, NULL, &error),
                 BRUME_EARGUMENT);
    brume_bits_close(bits);
    brume_workload_close(workload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_unit_moves_as_many_answers_as_stated_each_by_one),
        cmocka_unit_test(of_ranges_one_unit_moves_as_many_as_stated),
        cmocka_unit_test(the_event_costs_what_was_asked_for),
        cmocka_unit_test(errors_stay_within_the_bound_and_not_within_a_fifth_of_it),
        cmocka_unit_test(the_bound_of_the_histogram_counts_the_cells_of_a_query_and_is_close),
        cmocka_unit_test(bad_options_and_histograms_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
