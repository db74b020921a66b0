/* Synthetic histograms: the whole pipeline's law on tiny data, its price, its bounds, its faults.
 */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <brume/mechanism.h>

#include "chance.h"
#include "random/tape.h"
#include "small_world.h"
#include "synthetic/exact.h"
#include "synthetic/fit.h"
#include "synthetic/mwem.h"
#include "synthetic/synthetic.h"

enum { QUERIES = 4, METHODS = 6 };

static brume_synthetic_options options_of(brume_synthetic_method method, brume_adjacency adjacency,
                                          bool concentrated, double records)
{
    return (brume_synthetic_options){.method = method,
                                     .adjacency = adjacency,
                                     .epsilon = concentrated ? 0 : 1.3,
                                     .rho = concentrated ? 0.2 : 0,
                                     .records = records,
                                     .rounds = 7,
                                     .alpha = 0.25,
                                     .size = 3,
                                     .most_candidates = 1000,
                                     .beta = 0.05};
}

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

/* ---- the law of MWEM's whole pipeline, from its definition ---- */

enum { MOST_RECORDS = 5, OUTCOMES = 2 * 4096 };

/* P[clamp(truth + discrete Laplace, 0, most) = v] */
static double clamped_mass(double truth, double scale, double most, double v)
{
    double a = exp(-1 / scale), k = v - truth;
    if (v == 0 && v == most)
        return 1;
    if (v == 0) /* P[X <= -truth] */
        return k <= 0 ? pow(a, -k) / (1 + a) : 1 - pow(a, k + 1) / (1 + a);
    if (v == most) /* P[X >= most - truth] */
        return k >= 0 ? pow(a, k) / (1 + a) : 1 - pow(a, 1 - k) / (1 + a);
    return (1 - a) / (1 + a) * pow(a, fabs(k));
}

typedef struct law_rule {
    const brume_workload *workload;
    brume_event events[BRUME_SYNTHETIC_EVENTS];
    bool bought;
    double coefficient_times; /* 1; a broken mechanism: more */
} law_rule;

static void choice_law(const law_rule *rule, const double *weights, const double *truth,
                       double *law)
{
    brume_error error = {0};
    double answers[QUERIES], total = 0;
    double coefficient = rule->coefficient_times *
                         brume_mwem_coefficient(rule->events[0].parameter[0]);
    assert_ok(brume_workload_answer(rule->workload, weights, answers, &error));
    for (int q = 0; q < QUERIES; q++)
        total += law[q] = exp(coefficient * fabs(brume_mwem_public(answers[q]) - truth[q]));
    for (int q = 0; q < QUERIES; q++)
        law[q] /= total;
}

/* The joint law of the number of records (up to MOST_RECORDS) and of two rounds. */
static size_t pipeline_law(const law_rule *rule, const double *counts, double *law)
{
    brume_error error = {0};
    double truth[QUERIES], total = 0, scale = rule->events[1].parameter[0];
    size_t used = 0;
    assert_ok(brume_exact_answers(rule->workload, counts, truth, &error));
    for (int i = 0; i < SMALL_CELLS; i++)
        total += counts[i];
    for (int n = rule->bought ? 1 : (int)total; n <= (rule->bought ? MOST_RECORDS : total); n++) {
        double start[SMALL_CELLS], first[QUERIES], second[QUERIES];
        double known =
            rule->bought ? clamped_mass(total - 1, rule->events[2].parameter[0], 1e9, n - 1) : 1;
        for (int i = 0; i < SMALL_CELLS; i++)
            start[i] = (double)n / SMALL_CELLS;
        choice_law(rule, start, truth, first);
        for (int q = 0; q < QUERIES; q++)
            for (int m = 0; m <= n; m++) {
                double weights[SMALL_CELLS];
                double here = known * first[q] * clamped_mass(truth[q], scale, n, m);
                memcpy(weights, start, sizeof weights);
                assert_ok(brume_mwem_step(rule->workload, (size_t)q, m, n, weights, &error));
                choice_law(rule, weights, truth, second);
                for (int r = 0; r < QUERIES; r++)
                    for (int k = 0; k <= n; k++) {
                        assert_holds(used < OUTCOMES);
                        law[used++] = here * second[r] * clamped_mass(truth[r], scale, n, k);
                    }
            }
    }
    return used;
}

/* The largest loss over all neighbours, both directions. */
static double worst_loss(law_rule *rule, brume_adjacency adjacency)
{
    static double laws[SMALL_HISTOGRAMS][OUTCOMES];
    size_t used[SMALL_HISTOGRAMS];
    double worst = 0;
    for (int i = 0; i < SMALL_HISTOGRAMS; i++) {
        double counts[SMALL_CELLS], sum = 0;
        small_histogram(i, counts);
        used[i] = 0;
        for (int c = 0; c < SMALL_CELLS; c++)
            sum += counts[c];
        if (sum <= 4 && (rule->bought || sum >= 1))
            used[i] = pipeline_law(rule, counts, laws[i]);
        double all = 0;
        for (size_t o = 0; o < used[i]; o++)
            all += laws[i][o];
        assert_holds(used[i] == 0 || (rule->bought ? all < 1 : fabs(all - 1) < 1e-9));
    }
    for (int i = 0; i < SMALL_HISTOGRAMS; i++)
        for (int j = 0; j < SMALL_HISTOGRAMS; j++) {
            double a[SMALL_CELLS], b[SMALL_CELLS];
            small_histogram(i, a);
            small_histogram(j, b);
            if (used[i] == 0 || used[i] != used[j] || !small_neighbours(a, b, adjacency))
                continue;
            for (size_t o = 0; o < used[i]; o++)
                worst = fmax(worst, log(laws[i][o] / laws[j][o]));
        }
    return worst;
}

static void mwem_loses_at_most_its_price_over_two_rounds_and_the_number_of_records(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_workload *workload = small_world(true);
    for (int replace = 0; replace < 2; replace++) {
        brume_adjacency adjacency = replace ? BRUME_REPLACE : BRUME_ADD_REMOVE;
        brume_synthetic_options options = options_of(BRUME_SYNTHETIC_MWEM, adjacency, false, 0);
        law_rule rule = {.workload = workload, .bought = !replace, .coefficient_times = 1};
        size_t count;
        options.rounds = 2;
        options.beta = 1e-3; /* no replays, which are functions of the same released numbers */
        assert_ok(brume_synthetic_events(workload, &options, rule.events, &count, &error));
        assert_int_equal(count, replace ? 2 : 3);
        double loss = worst_loss(&rule, adjacency);
        assert_holds(loss <= 1.3 + 1e-9);
        assert_holds(loss >= 0.7 * 1.3);
        rule.coefficient_times = 3;
        assert_holds(worst_loss(&rule, adjacency) > 1.3 + 0.1);
    }
    brume_workload_close(workload);
}

/* One value of the first column, and one of the second. */
static brume_workload *boxes_only(void)
{
    brume_error error = {0};
    const uint32_t sizes[] = {2, 2};
    const uint8_t yes[] = {0, 1};
    const uint8_t *first[] = {yes, NULL}, *second[] = {NULL, yes};
    brume_universe universe;
    brume_workload *workload = NULL;
    assert_ok(brume_universe_make(sizes, 2, &universe, &error));
    assert_ok(brume_workload_open(&universe, &workload, &error));
    assert_ok(brume_workload_add_box(workload, first, &error));
    assert_ok(brume_workload_add_box(workload, second, &error));
    return workload;
}

/* Noise on answers: everything is a function of the noisy answers and number of records, whose loss
 * is the sum of the shifts. */
static void laplace_loses_its_price_exactly(void **state)
{
    (void)state;
    brume_error error = {0};
    for (int marginal = 0; marginal < 2; marginal++)
        for (int replace = 0; replace < 2; replace++) {
            brume_workload *workload = marginal ? small_world(false) : boxes_only();
            size_t queries = brume_workload_size(workload);
            brume_adjacency adjacency = replace ? BRUME_REPLACE : BRUME_ADD_REMOVE;
            brume_synthetic_options options =
                options_of(BRUME_SYNTHETIC_LAPLACE, adjacency, false, 0);
            brume_event events[BRUME_SYNTHETIC_EVENTS];
            size_t count;
            double worst = 0;
            assert_ok(brume_synthetic_events(workload, &options, events, &count, &error));
            assert_int_equal(count, marginal || replace ? 1 : 2); /* marginals tell the records */
            for (int i = 0; i < SMALL_HISTOGRAMS; i++)
                for (int j = 0; j < SMALL_HISTOGRAMS; j++) {
                    double a[SMALL_CELLS], b[SMALL_CELLS], x[QUERIES], y[QUERIES], loss = 0;
                    small_histogram(i, a);
                    small_histogram(j, b);
                    if (!small_neighbours(a, b, adjacency))
                        continue;
                    assert_ok(brume_exact_answers(workload, a, x, &error));
                    assert_ok(brume_exact_answers(workload, b, y, &error));
                    for (size_t q = 0; q < queries; q++)
                        loss += fabs(x[q] - y[q]) / events[0].parameter[0];
                    if (count == 2) /* one record more or less, in the number of records too */
                        loss += 1 / events[1].parameter[0];
                    worst = fmax(worst, loss);
                }
            assert_holds(worst <= 1.3 + 1e-12);
            assert_close(worst, 1.3, 1e-12); /* tight */
            brume_workload_close(workload);
        }
}

/* ---- the code follows that law ---- */

enum { RUNS = 20000, CLASSES = QUERIES * 5 };

static bool same_weights(const double *a, const double *b)
{
    for (int i = 0; i < SMALL_CELLS; i++)
        if (fabs(a[i] - b[i]) > 1e-9)
            return false;
    return true;
}

/* The largest distance between the frequencies of outcomes and the law of one round. */
static double distance_to_law(double coefficient_times)
{
    brume_error error = {0};
    brume_workload *workload = small_world(true);
    brume_synthetic_options options = options_of(BRUME_SYNTHETIC_MWEM, BRUME_ADD_REMOVE, false, 4);
    law_rule rule = {.workload = workload, .coefficient_times = coefficient_times};
    double counts[SMALL_CELLS] = {4, 0, 0, 0}, truth[QUERIES], start[SMALL_CELLS], law[QUERIES];
    double result[CLASSES][SMALL_CELLS], mass[CLASSES] = {0}, seen[CLASSES] = {0};
    size_t classes = 0, count;
    options.rounds = 1;
    options.epsilon = 4;
    options.beta = 1e-3; /* no replays: all histograms averaged */
    assert_ok(brume_synthetic_events(workload, &options, rule.events, &count, &error));
    assert_ok(brume_exact_answers(workload, counts, truth, &error));
    for (int i = 0; i < SMALL_CELLS; i++)
        start[i] = 1;
    choice_law(&rule, start, truth, law);
    for (int q = 0; q < QUERIES; q++)
        for (int m = 0; m <= 4; m++) {
            double weights[SMALL_CELLS];
            size_t c = 0;
            memcpy(weights, start, sizeof weights);
            assert_ok(brume_mwem_step(workload, (size_t)q, m, 4, weights, &error));
            for (int i = 0; i < SMALL_CELLS; i++)
                weights[i] = (weights[i] + start[i]) / 2;
            while (c < classes && !same_weights(result[c], weights))
                c++;
            if (c == classes)
                memcpy(result[classes++], weights, sizeof weights);
            mass[c] += law[q] * clamped_mass(truth[q], rule.events[1].parameter[0], 4, m);
        }
    brume_bits *bits = brume_tape_open_seeded(11);
    for (int run = 0; run < RUNS; run++) {
        double weights[SMALL_CELLS];
        brume_synthetic_report report;
        size_t c = 0;
        assert_ok(
            brume_synthetic_histogram(workload, &options, counts, bits, weights, &report, &error));
        while (c < classes && !same_weights(result[c], weights))
            c++;
        assert_holds(c < classes); /* no outcome outside the law */
        seen[c] += 1.0 / RUNS;
    }
    brume_bits_close(bits);
    brume_workload_close(workload);
    double worst = 0;
    for (size_t c = 0; c < classes; c++)
        worst = fmax(worst, fabs(seen[c] - mass[c]));
    return worst;
}

static void what_is_drawn_has_that_law(void **state)
{
    (void)state;
    /* Hoeffding: 2 exp(-2 RUNS t^2) for each outcome */
    double t = sqrt(log(2 * CLASSES / false_alarm_share(false_alarm_synthetic_law)) / (2 * RUNS));
    assert_holds(distance_to_law(1) <= t);
    assert_holds(distance_to_law(3) > t); /* the law of a broken mechanism is rejected */
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
        cmocka_unit_test(mwem_loses_at_most_its_price_over_two_rounds_and_the_number_of_records),
        cmocka_unit_test(laplace_loses_its_price_exactly),
        cmocka_unit_test(what_is_drawn_has_that_law),
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
