/* MWEM: the update vector, the privacy of a round, the error bound, records drawn. */
#include "check.h"

#include <stdlib.h>

#include <brume/mechanism/mechanism.h>

#include "chance.h"
#include "random/tape.h"
#include "small_world.h"
#include "synthetic/exact.h"
#include "synthetic/mwem.h"
#include "synthetic/weights.h"

static void a_step_gives_the_reference_weights(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_workload *workload = small_world(false);
    double weights[SMALL_CELLS] = {25, 25, 25, 25};
    brume_weights histogram = {workload, weights, 1, 100};
    /* the textbook's step of 1/2, towards cells 0 and 1 */
    assert_ok(brume_weights_step(&histogram, 0, brume_weights_rate(70, 50, 100, 0.5), &error));
    brume_weights_settle(&histogram);
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
                double shift = fabs(x[q] - y[q]), square = shift * shift;
                if (options->whole_marginals && q < 2) { /* both cells of the marginal */
                    shift = fabs(x[0] - y[0]) + fabs(x[1] - y[1]);
                    square = (x[0] - y[0]) * (x[0] - y[0]) + (x[1] - y[1]) * (x[1] - y[1]);
                }
                if (options->rho == 0)
                    worst = fmax(worst, log(p[q] / r[q]) + shift / spread);
                else
                    sum += pow(p[q], order) * pow(r[q], 1 - order) *
                           exp(order * (order - 1) * square / (2 * spread * spread));
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
    for (int way = 0; way < 4; way++) {
        brume_mwem_options options = {.adjacency = way % 2 ? BRUME_REPLACE : BRUME_ADD_REMOVE,
                                      .epsilon = 1,
                                      .rounds = 1,
                                      .records = 4,
                                      .whole_marginals = way >= 2};
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

/* P[clamp(truth + noise, 0, 4) = m], noise discrete Laplace of that scale. */
static double clamped_mass(double truth, double scale, int m)
{
    double q = exp(-1 / scale), above = 0;
    if (m > 0 && m < 4)
        return (1 - q) / (1 + q) * pow(q, fabs(m - truth));
    double far = m == 0 ? truth : 4 - truth; /* P[noise >= far] */
    above = far > 0 ? pow(q, far) / (1 + q) : 1 / (1 + q);
    return above;
}

/* One round on the histogram 4 0 0 0; the last histogram tells the query and its answer. */
static void one_round_of_the_code_has_the_law_of_its_events(void **state)
{
    (void)state;
    enum { RUNS = 4000, ANSWERS = 5 };
    brume_error error = {0};
    brume_workload *workload = small_world(true);
    const double counts[SMALL_CELLS] = {4, 0, 0, 0};
    for (int way = 0; way < 4; way++) {
        brume_mwem_options options = {.adjacency = way % 2 ? BRUME_REPLACE : BRUME_ADD_REMOVE,
                                      .epsilon = 4,
                                      .rounds = 1,
                                      .records = 4,
                                      .average = 1,
                                      .whole_marginals = way >= 2};
        brume_event events[BRUME_MWEM_EVENTS];
        size_t count, refuted = 0;
        double truth[QUERIES], choice[QUERIES], after[QUERIES][ANSWERS][SMALL_CELLS];
        uint64_t seen[QUERIES][ANSWERS] = {{0}};
        assert_ok(brume_mwem_events(&options, events, &count, &error));
        first_choice(workload, counts, 4, brume_mwem_coefficient(events[0].parameter[0]), truth,
                     choice);
        for (int q = 0; q < QUERIES; q++)
            for (int m = 0; m < ANSWERS; m++) {
                for (int i = 0; i < SMALL_CELLS; i++)
                    after[q][m][i] = 1;
                assert_ok(brume_mwem_step(workload, (size_t)q, m, 4, after[q][m], &error));
            }
        brume_bits *bits = brume_tape_open_seeded(3);
        for (int run = 0; run < RUNS; run++) {
            double weights[SMALL_CELLS];
            bool found = false;
            assert_ok(brume_mwem(workload, &options, counts, bits, weights, &error));
            for (int k = 0; k < QUERIES * ANSWERS && !found; k++) {
                found = true;
                for (int i = 0; i < SMALL_CELLS; i++)
                    found = found && fabs(weights[i] - after[k / ANSWERS][k % ANSWERS][i]) < 1e-9;
                seen[k / ANSWERS][k % ANSWERS] += found;
            }
            assert_holds(found);
        }
        brume_bits_close(bits);
        /* Moving to 4 in one cell of the marginal is moving to 0 in the other: such outcomes are
         * counted together. The wrong law has half the scale. */
        for (int k = 0; k < QUERIES * ANSWERS; k++) {
            double law = 0, wrong = 0, scale = events[1].parameter[0];
            if (seen[k / ANSWERS][k % ANSWERS] == 0)
                continue;
            for (int j = 0; j < QUERIES * ANSWERS; j++) {
                double far = 0;
                for (int i = 0; i < SMALL_CELLS; i++)
                    far = fmax(far, fabs(after[k / ANSWERS][k % ANSWERS][i] -
                                         after[j / ANSWERS][j % ANSWERS][i]));
                if (far > 1e-9)
                    continue;
                law += choice[j / ANSWERS] * clamped_mass(truth[j / ANSWERS], scale, j % ANSWERS);
                wrong += choice[j / ANSWERS] *
                         clamped_mass(truth[j / ANSWERS], scale / 2, j % ANSWERS);
            }
            /* seeded: no chance is left; 1e-9 is for the reader */
            uint64_t times = seen[k / ANSWERS][k % ANSWERS];
            assert_holds(binomial_plausible(RUNS, times, law, law, 1e-9));
            refuted += !binomial_plausible(RUNS, times, wrong, wrong, 1e-9);
        }
        assert_holds(refuted > 0);
    }
    brume_workload_close(workload);
}

static void the_events_add_up_to_the_price(void **state)
{
    (void)state;
    brume_error error = {0};
    for (int way = 0; way < 3; way++) /* bought, known, known under replace */
        for (int concentrated = 0; concentrated < 4; concentrated++) {
            bool bought = way == 0;
            brume_mwem_options options = {.adjacency = way < 2 ? BRUME_ADD_REMOVE : BRUME_REPLACE,
                                          .epsilon = concentrated % 2 ? 0 : 1.3,
                                          .rho = concentrated % 2 ? 0.2 : 0,
                                          .rounds = 7,
                                          .records = bought ? 0 : 50,
                                          .whole_marginals = concentrated >= 2};
            brume_event events[BRUME_MWEM_EVENTS];
            size_t count;
            double sum = 0;
            assert_ok(brume_mwem_events(&options, events, &count, &error));
            assert_int_equal(count, bought ? 3 : 2);
            for (size_t i = 0; i < count; i++) {
                brume_cost cost;
                assert_ok(brume_event_cost(&events[i], &cost, &error));
                sum += (concentrated % 2 ? cost.rho : cost.epsilon) * (double)events[i].count;
            }
            assert_close(sum, concentrated % 2 ? 0.2 : 1.3, 1e-13);
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
    enum { CELLS = 2 * 3 * 4 * 2, RUNS = 20 };
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
    double means[2][3] = {{0}};
    for (int concentrated = 0; concentrated < 2; concentrated++)
        for (int replays = 0; replays < 3; replays++)
            for (int bought = 0; bought < 2; bought++) {
                brume_mwem_options options = {.adjacency = bought ? BRUME_ADD_REMOVE
                                                                  : BRUME_REPLACE,
                                              .epsilon = concentrated ? 0 : 2,
                                              .rho = concentrated ? 0.5 : 0,
                                              .rounds = 40,
                                              .records = bought ? 0 : records,
                                              .replays = replays ? 2 : 0,
                                              .average = replays ? 20 : 0,
                                              .whole_marginals = replays == 2};
                double alpha = 0, mean = 0;
                int beyond = 0;
                for (uint64_t seed = 0; seed < RUNS; seed++) {
                    brume_bits *bits = brume_tape_open_seeded(seed);
                    double sum = 0;
                    assert_ok(brume_mwem(workload, &options, counts, bits, weights, &error));
                    for (int i = 0; i < CELLS; i++)
                        sum += weights[i];
                    if (bought)
                        assert_ok(
                            brume_mwem_alpha_at(workload, &options, sum, 0.1, &alpha, &error));
                    else
                        assert_ok(brume_mwem_alpha(workload, &options, 0.1, &alpha, &error));
                    assert_holds(alpha < records);
                    assert_close(sum, records, bought ? 0.1 : 1e-12);
                    double worst = worst_error(workload, counts, weights, queries);
                    mean += worst / RUNS;
                    beyond += worst > alpha;
                    brume_bits_close(bits);
                }
                assert_holds(beyond <= RUNS / 10);
                assert_holds(mean < 0.9 * plain);
                means[concentrated][replays] = mean;
            }
    /* what replays, whole marginals and a later average are for: 186 and 147 for 521 under epsilon,
     * 71 and 19 for 471 under rho */
    for (int i = 0; i < 2; i++)
        assert_holds(means[i][1] < 0.5 * means[i][0] && means[i][2] < 0.9 * means[i][1]);
    brume_workload_close(workload);
}

static double entropy(const double *truth, const double *cell)
{
    double sum = 0;
    for (int i = 0; i < SMALL_CELLS; i++)
        sum += truth[i] > 0 ? truth[i] / 100 * log(truth[i] / cell[i]) : 0;
    return sum;
}

/* A step towards a measured answer lowers the entropy by at least 2 d^2 - 2 nu^2; a replay raises
 * it by no more than it counts while no answer errs by more than `cover`, and may if one does. */
static void steps_lower_the_relative_entropy_as_the_proof_says(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_workload *workload = small_world(true);
    const brume_group *marginal = brume_workload_group(workload, 0);
    const double truths[][SMALL_CELLS] = {{60, 5, 25, 10}, {0, 1, 0, 99}, {50, 50, 0, 0}};
    uint32_t seed = 5;
    int raised = 0;
    for (int trial = 0; trial < 12000; trial++) {
        const double *truth = truths[trial % 3];
        double first[SMALL_CELLS], cell[SMALL_CELLS], sum = 0, exact[QUERIES];
        double room[2 * QUERIES];
        for (int i = 0; i < SMALL_CELLS; i++) {
            seed = seed * 1664525u + 1013904223u;
            sum += first[i] = 1 + (seed >> 24);
        }
        for (int i = 0; i < SMALL_CELLS; i++)
            first[i] *= 100 / sum;
        assert_ok(brume_workload_answer(workload, truth, exact, &error));
        /* a step of a round */
        brume_weights histogram = {workload, cell, 1, 100};
        size_t query = (size_t)trial % QUERIES;
        double noise[] = {(double)(seed % 41) - 20, (double)(seed / 41 % 41) - 20}, answer;
        memcpy(cell, first, sizeof first);
        assert_ok(brume_weights_answer_one(&histogram, query, &answer, &error));
        double wanted = fmin(fmax(exact[query] + noise[0], 0), 100);
        double d = (exact[query] - answer) / 100, nu = (wanted - exact[query]) / 100;
        assert_ok(brume_mwem_step(workload, query, wanted, 100, cell, &error));
        assert_holds(entropy(truth, first) - entropy(truth, cell) >=
                     2 * d * d - 2 * nu * nu - 1e-7);
        /* replays of one answer and of a marginal */
        for (int whole = 0; whole < 2; whole++)
            for (int inside = 0; inside < 2; inside++) {
                double answers[2];
                brume_replay_rule rule = {.near = (double)(trial % 7),
                                          .cover = inside ? fmax(fabs(noise[0]), fabs(noise[1]))
                                                          : 0.5,
                                          .most = trial % 2 ? 1 : 0};
                brume_measured measured = {.marginal = whole ? marginal : NULL,
                                           .query = query,
                                           .first = whole ? 0 : query,
                                           .count = whole ? 2 : 1,
                                           .answers = answers,
                                           .times = 1};
                for (size_t i = 0; i < measured.count; i++)
                    answers[i] = fmin(fmax(exact[measured.first + i] + noise[i], 0), 100);
                memcpy(cell, first, sizeof first);
                histogram.scale = 1;
                assert_ok(brume_replay(&histogram, &measured, &rule, room, &error));
                brume_weights_settle(&histogram);
                double rise = entropy(truth, cell) - entropy(truth, first);
                assert_holds(rule.risen <= rule.most);
                assert_holds(!inside || rise <= rule.risen + 1e-7);
                raised += rise > rule.risen + 1e-3;
                /* it goes all the way to the cover, at least */
                assert_ok(brume_weights_answer_one(&histogram, query, &answer, &error));
                if (!whole && query != 3)
                    assert_holds(fabs(answer - answers[0]) <= fmax(rule.cover, rule.near) + 1e-6);
            }
    }
    assert_holds(raised > 0);
    brume_workload_close(workload);
}

static void bounds_know_of_replays_of_the_average_and_of_bought_records(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_workload *workload = small_world(false);
    brume_mwem_options options = {
        .adjacency = BRUME_ADD_REMOVE, .epsilon = 1, .rounds = 20, .records = 1000};
    double all, half, replayed, bought;
    assert_ok(brume_mwem_alpha(workload, &options, 0.05, &all, &error));
    /* the formula of the proof note, in plain doubles */
    double scale = 1 / (0.5 / 20), q = exp(-1 / scale), noise = 0;
    while (1 - pow(1 - 2 * pow(q, noise) / (1 + q), 21) > 0.025)
        noise++;
    double gap = log(3 * 21 / 0.025) * 2 / (0.5 / 20);
    assert_close(all, sqrt(1e6 * log(4) / 2 / 21 + noise * noise) + gap, 0.01);
    options.average = 10;
    assert_ok(brume_mwem_alpha(workload, &options, 0.05, &half, &error));
    options.replays = 3;
    assert_ok(brume_mwem_alpha(workload, &options, 0.05, &replayed, &error));
    assert_holds(all < half && half < replayed && replayed < 1.3 * half);
    assert_fails(brume_mwem_alpha(workload, &options, BRUME_MWEM_COVER_BETA, &bought, &error),
                 BRUME_EUNSUPPORTED);
    assert_ok(brume_mwem_alpha(workload, &options, 0.01, &bought, &error));
    assert_holds(bought > replayed);
    options.records_error = 30;
    double uncertain;
    assert_ok(brume_mwem_alpha(workload, &options, 0.05, &uncertain, &error));
    assert_holds(uncertain > replayed + 30 && uncertain < replayed + 90);
    options.records_error = 0;
    assert_fails(brume_mwem_alpha_at(workload, &options, 1000, 0.05, &bought, &error),
                 BRUME_EARGUMENT);
    options.records = 0;
    assert_fails(brume_mwem_alpha(workload, &options, 0.05, &bought, &error), BRUME_EARGUMENT);
    assert_ok(brume_mwem_alpha_at(workload, &options, 1000, 0.05, &bought, &error));
    assert_holds(bought > replayed && bought < 2 * replayed);
    options.average = 22;
    assert_fails(brume_mwem_alpha_at(workload, &options, 1000, 0.05, &bought, &error),
                 BRUME_EARGUMENT);
    options.average = 0;
    options.replays = 1025;
    assert_fails(brume_mwem_alpha_at(workload, &options, 1000, 0.05, &bought, &error),
                 BRUME_EARGUMENT);
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
        cmocka_unit_test(one_round_of_the_code_has_the_law_of_its_events),
        cmocka_unit_test(the_events_add_up_to_the_price),
        cmocka_unit_test(errors_stay_within_the_bound_and_beat_the_uniform_histogram),
        cmocka_unit_test(steps_lower_the_relative_entropy_as_the_proof_says),
        cmocka_unit_test(bounds_know_of_replays_of_the_average_and_of_bought_records),
        cmocka_unit_test(progress_is_told_and_may_stop_it_and_bad_calls_are_refused),
        cmocka_unit_test(records_are_drawn_as_often_as_their_weights_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
