/* Synthetic histograms: the law of the whole pipeline on tiny data, from its definition, loses at
 * most its price; and the code follows that law. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <brume/mechanism/mechanism.h>

#include "chance.h"
#include "random/tape.h"
#include "small_world.h"
#include "synthetic/exact.h"
#include "synthetic/synthetic.h"
#include "synthetic/mwem.h"
#include "synthetic_options.h"

enum { QUERIES = 4 };

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mwem_loses_at_most_its_price_over_two_rounds_and_the_number_of_records),
        cmocka_unit_test(laplace_loses_its_price_exactly),
        cmocka_unit_test(what_is_drawn_has_that_law),
    };
    return cmocka_run_group_tests_name("law of synthetic histograms", tests, NULL, NULL);
}
