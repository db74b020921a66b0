/* Selection: the laws, privacy by enumeration in both directions, what half the noise costs where
 * scores are not monotone, and the code against its laws. */
#include "check.h"

#include <brume/mechanism/mechanism.h>
#include <brume/mechanism/selection.h>

#include "chance.h"
#include "random/tape.h"

static brume_error error;
enum { MOST = 12 };

/* P[i] for scores times the coefficient. */
typedef void law_function(const double *a, int n, double *p);

static void exponential_law(const double *a, int n, double *p)
{
    double top = a[0], sum = 0;
    for (int i = 1; i < n; i++)
        top = fmax(top, a[i]);
    for (int i = 0; i < n; i++)
        sum += p[i] = exp(a[i] - top);
    for (int i = 0; i < n; i++)
        p[i] /= sum;
}

/* Permute-and-flip by its definition: the chance to be choosing from a set, over all sets. */
static void permute_and_flip_law(const double *a, int n, double *p)
{
    double reach[1 << MOST] = {0}, top = a[0];
    for (int i = 1; i < n; i++)
        top = fmax(top, a[i]);
    for (int i = 0; i < n; i++)
        p[i] = 0;
    reach[(1 << n) - 1] = 1;
    for (int set = (1 << n) - 1; set > 0; set--)
        for (int i = 0; i < n; i++) {
            if (!(set >> i & 1))
                continue;
            double visit = reach[set] / __builtin_popcount((unsigned)set), take = exp(a[i] - top);
            p[i] += visit * take;
            reach[set & ~(1 << i)] += visit * (1 - take);
        }
}

static double laplace_below(double t)
{
    return t < 0 ? exp(t) / 2 : 1 - exp(-t) / 2;
}

/* argmax of a_i + Lap(1) by Simpson's rule between the kinks, which are at the a_i. */
static void noisy_max_law(const double *a, int n, double *p)
{
    double cuts[MOST + 2], low = a[0], high = a[0];
    for (int i = 0; i < n; i++) {
        low = fmin(low, a[i]);
        high = fmax(high, a[i]);
        cuts[i + 1] = a[i];
    }
    cuts[0] = low - 40;
    cuts[n + 1] = high + 40;
    for (int i = 0; i < n + 2; i++)
        for (int j = i + 1; j < n + 2; j++)
            if (cuts[j] < cuts[i]) {
                double swap = cuts[i];
                cuts[i] = cuts[j];
                cuts[j] = swap;
            }
    for (int i = 0; i < n; i++)
        p[i] = 0;
    for (int c = 0; c <= n; c++) {
        double width = cuts[c + 1] - cuts[c];
        int panels = 2 * (int)ceil(width * 32) + 2;
        if (width <= 0)
            continue;
        for (int k = 0; k <= panels; k++) {
            double x = cuts[c] + width * k / panels;
            double weight = (k == 0 || k == panels ? 1 : k % 2 ? 4 : 2) * width / (3. * panels);
            double all = weight;
            for (int j = 0; j < n; j++)
                all *= laplace_below(x - a[j]);
            for (int i = 0; i < n; i++)
                p[i] += all / laplace_below(x - a[i]) * exp(-fabs(x - a[i])) / 2;
        }
    }
}

static const struct {
    brume_select_noise noise;
    law_function *law;
} kinds[] = {{BRUME_SELECT_GUMBEL, exponential_law},
             {BRUME_SELECT_EXPONENTIAL, permute_and_flip_law},
             {BRUME_SELECT_LAPLACE, noisy_max_law}};

static void scaled(law_function *law, const double *scores, int n, double coefficient, double *p)
{
    double a[MOST];
    for (int i = 0; i < n; i++)
        a[i] = coefficient * scores[i];
    law(a, n, p);
}

static double loss_of(const double *p, const double *q, int n)
{
    double loss = 0;
    for (int i = 0; i < n; i++)
        loss = fmax(loss, fabs(log(p[i] / q[i])));
    return loss;
}

static void the_laws_meet_the_vectors(void **state)
{
    (void)state;
    static const double expected[3][3] = {
        {.54654938726618, .331498960424092, .121951652309729},
        {.630281351148339, .280709449316881, .0890091995347795},
        {.557278065648775, .332358300694143, .110363633657082},
    };
    const double scores[] = {3, 2, 0};
    double p[3];
    for (int k = 0; k < 3; k++) {
        scaled(kinds[k].law, scores, 3, .5, p);
        for (int i = 0; i < 3; i++)
            assert_close(p[i], expected[k][i], 1e-8);
    }
    const double rising[] = {0, 1, 2};
    scaled(exponential_law, rising, 3, .5, p);
    assert_close(p[0], .18632372322584758, 1e-15);
    assert_close(p[1], .3071958857184984, 1e-15);
    assert_close(p[2], .50648039105565403, 1e-15);
    scaled(exponential_law, rising, 3, 1, p);
    assert_close(p[0], .090030573170380458, 1e-15);
    assert_close(p[1], .24472847105479765, 1e-15);
    assert_close(p[2], .66524095577482189, 1e-15);
}

/* All scores in {0, 1, 2}^n and all neighbours. General: each score moves by -1, 0 or 1 (replacing
 * a record). Monotone: all up or none (adding one); removing is the reversed pair. */
static void worst(law_function *law, int n, bool monotone, double coefficient, double epsilon,
                  double *delta, double *loss)
{
    int cases = 1;
    for (int i = 0; i < n; i++)
        cases *= 3;
    *delta = *loss = 0;
    for (int a = 0; a < cases; a++) {
        double first[MOST], p[MOST];
        for (int i = 0, x = a; i < n; i++, x /= 3)
            first[i] = x % 3;
        scaled(law, first, n, coefficient, p);
        for (int d = 0; d < cases; d++) {
            double second[MOST], q[MOST];
            bool down = false;
            for (int i = 0, x = d; i < n; i++, x /= 3) {
                second[i] = first[i] + x % 3 - 1;
                down |= x % 3 == 0;
            }
            if (monotone && down)
                continue;
            scaled(law, second, n, coefficient, q);
            *delta = fmax(*delta, hockey_stick(p, q, (uint64_t)n, epsilon));
            *delta = fmax(*delta, hockey_stick(q, p, (uint64_t)n, epsilon));
            *loss = fmax(*loss, loss_of(p, q, n));
        }
    }
}

static void every_pair_of_neighbours_is_within_epsilon(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++)
        for (int monotone = 0; monotone < 2; monotone++)
            for (double epsilon = .25; epsilon <= 4; epsilon *= 4) {
                double delta, loss;
                int n = kinds[k].law == noisy_max_law ? 2 : 3;
                worst(kinds[k].law, n, monotone, monotone ? epsilon : epsilon / 2, epsilon, &delta,
                      &loss);
                assert_holds(delta <= 1e-9);
                assert_holds(loss <= epsilon + 1e-8);
            }
}

static void the_guarantees_are_tight(void **state)
{
    (void)state;
    /* a far candidate moves up and the leader down: the loss of the far one tends to epsilon */
    const double first[] = {0, 30}, second[] = {1, 29};
    const double rising[] = {0, 31};
    for (int k = 0; k < 3; k++) {
        double p[2], q[2];
        scaled(kinds[k].law, first, 2, .5, p);
        scaled(kinds[k].law, second, 2, .5, q);
        assert_holds(loss_of(p, q, 2) > (k == 2 ? .93 : .999) && loss_of(p, q, 2) <= 1 + 1e-8);
        scaled(kinds[k].law, first, 2, 1, p);
        scaled(kinds[k].law, rising, 2, 1, q); /* monotone: the leader alone moves up */
        assert_holds(loss_of(p, q, 2) > (k == 2 ? .96 : .999) && loss_of(p, q, 2) <= 1 + 1e-8);
    }
}

static void half_the_noise_on_scores_that_are_not_monotone_costs_two_epsilon(void **state)
{
    (void)state;
    /* (x, 0, ...) against (x-1, 1, ...), Lap(1/epsilon): 2.000 at k = 10, 1.818 at k = 2 */
    static const int sizes[] = {2, 10};
    static const double printed[] = {1.818, 2.000};
    for (int c = 0; c < 2; c++) {
        double largest = 0;
        for (int x = -8; x <= 24; x++) {
            double first[MOST] = {x}, second[MOST] = {x - 1}, p[MOST], q[MOST];
            for (int i = 1; i < sizes[c]; i++)
                second[i] = 1;
            scaled(noisy_max_law, first, sizes[c], 1, p);
            scaled(noisy_max_law, second, sizes[c], 1, q);
            largest = fmax(largest, log(p[0] / q[0]));
        }
        assert_holds(largest > printed[c] - .03 && largest <= 2 + 1e-8);
    }
    for (int k = 0; k < 3; k++) {
        double delta, loss;
        worst(kinds[k].law, 2, false, 1, 1, &delta, &loss);
        assert_true(loss > 1.1 && delta > 1e-3);
    }
}

static void only_the_exponential_mechanism_has_bounded_range(void **state)
{
    (void)state;
    double worst_ratio[3] = {0, 0, 0};
    const double epsilon = 1;
    for (int k = 0; k < 2; k++)
        for (int a = 0; a < 81; a++)
            for (int d = 0; d < 81; d++) {
                double first[4], second[4], p[4], q[4];
                for (int i = 0, x = a, y = d; i < 4; i++, x /= 3, y /= 3) {
                    first[i] = (x % 3) * 2;
                    second[i] = first[i] + y % 3 - 1;
                }
                scaled(kinds[k].law, first, 4, epsilon / 2, p);
                scaled(kinds[k].law, second, 4, epsilon / 2, q);
                for (double alpha = 1.01; alpha < 40; alpha *= 1.5) {
                    double sum = 0;
                    for (int i = 0; i < 4; i++)
                        sum += pow(p[i], alpha) * pow(q[i], 1 - alpha);
                    double rho = log(sum) / (alpha - 1) / alpha;
                    worst_ratio[k] = fmax(worst_ratio[k], rho / (epsilon * epsilon / 8));
                }
            }
    assert_holds(worst_ratio[0] <= 1 + 1e-9);
    assert_holds(worst_ratio[1] > 1.05); /* permute-and-flip: an eighth would be a wrong claim */
    brume_selection options = {.adjacency = BRUME_REPLACE, .epsilon = 1, .sensitivity = 1};
    for (int k = 0; k < 3; k++) {
        brume_event event = brume_selection_event(kinds[k].noise, &options);
        brume_cost cost;
        assert_ok(brume_event_cost(&event, &cost, &error));
        assert_holds(cost.rho >= worst_ratio[k] / 8);
        assert_true(cost.epsilon == 1);
        assert_int_equal(event.mechanism, (k == 0 ? 6u : k == 1 ? 8u : 7u));
    }
}

static void the_choice_has_its_law(void **state)
{
    (void)state;
    enum { RUNS = 40000, N = 4 };
    const double scores[N] = {3, 2.5, 0, 4};
    double alarm = false_alarm_share(false_alarm_selection_choices) / (3 * 2 * N);
    for (int k = 0; k < 3; k++)
        for (int monotone = 0; monotone < 2; monotone++) {
            brume_bits *bits = brume_tape_open_seeded((uint64_t)(20 + 2 * k + monotone));
            brume_selection options = {.adjacency = BRUME_ADD_REMOVE,
                                       .epsilon = 2,
                                       .sensitivity = 2,
                                       .monotone = monotone};
            uint64_t counts[N] = {0};
            for (int run = 0; run < RUNS; run++) {
                size_t index;
                if (k == 0)
                    assert_ok(brume_exponential_choose(bits, &options, scores, N, &index, &error));
                else if (k == 1)
                    assert_ok(
                        brume_permute_and_flip_choose(bits, &options, scores, N, &index, &error));
                else
                    assert_ok(brume_noisy_max_choose(bits, BRUME_SELECT_LAPLACE, &options, scores,
                                                     N, &index, &error));
                counts[index]++;
            }
            bool met[2] = {true, true};
            for (int mutant = 0; mutant < 2; mutant++) {
                double p[N];
                scaled(kinds[k].law, scores, N, monotone != mutant ? 1 : .5, p);
                for (int i = 0; i < N; i++)
                    met[mutant] &= binomial_plausible(RUNS, counts[i], p[i] * (1 - 1e-7),
                                                      p[i] * (1 + 1e-7), alarm);
            }
            assert_true(met[0]);
            assert_false(met[1]); /* the other noise scale is rejected */
            brume_bits_close(bits);
        }
}

static void bad_options_and_scores_are_refused(void **state)
{
    (void)state;
    brume_bits *bits = brume_tape_open_seeded(30);
    brume_bits *empty = brume_tape_open(NULL, 0, NULL, 0);
    brume_selection good = {.adjacency = BRUME_REPLACE, .epsilon = 1, .sensitivity = 1}, bad;
    double scores[] = {1, 2};
    size_t index = 42;
    const double numbers[] = {NAN, INFINITY, -INFINITY, 0, -1};
    for (int i = 0; i < 5; i++) {
        bad = good;
        bad.epsilon = numbers[i];
        assert_fails(brume_exponential_choose(bits, &bad, scores, 2, &index, &error),
                     BRUME_EARGUMENT);
        bad = good;
        bad.sensitivity = numbers[i];
        assert_fails(brume_permute_and_flip_choose(bits, &bad, scores, 2, &index, &error),
                     BRUME_EARGUMENT);
    }
    for (int i = 0; i < 3; i++) {
        double broken[] = {1, numbers[i]};
        assert_fails(brume_exponential_choose(bits, &good, broken, 2, &index, &error),
                     BRUME_EARGUMENT);
    }
    bad = good;
    bad.adjacency = (brume_adjacency)0;
    assert_fails(brume_exponential_choose(bits, &bad, scores, 2, &index, &error), BRUME_EARGUMENT);
    assert_fails(brume_exponential_choose(bits, &good, scores, 0, &index, &error), BRUME_EARGUMENT);
    assert_fails(
        brume_noisy_max_choose(bits, (brume_select_noise)9, &good, scores, 2, &index, &error),
        BRUME_EARGUMENT);
    assert_fails(brume_exponential_choose(empty, &good, scores, 2, &index, &error), BRUME_ERANDOM);
    assert_int_equal(index, 42);
    brume_bits_close(bits);
    brume_bits_close(empty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_laws_meet_the_vectors),
        cmocka_unit_test(every_pair_of_neighbours_is_within_epsilon),
        cmocka_unit_test(the_guarantees_are_tight),
        cmocka_unit_test(half_the_noise_on_scores_that_are_not_monotone_costs_two_epsilon),
        cmocka_unit_test(only_the_exponential_mechanism_has_bounded_range),
        cmocka_unit_test(the_choice_has_its_law),
        cmocka_unit_test(bad_options_and_scores_are_refused),
    };
    return cmocka_run_group_tests_name("selection", tests, NULL, NULL);
}
