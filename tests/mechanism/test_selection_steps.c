/* Choosing by decimal scores: the grid keeps the sensitivity, where doubles do not; the law of the
 * choice; privacy of whole decimals by enumeration; the gap against the laws. */
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>

#include <brume/mechanism/mechanism.h>
#include <brume/mechanism/selection.h>

#include "chance.h"
#include "random/tape.h"

static brume_error error;
enum { MOST = 6 };
static const double M = BRUME_SELECTION_STEPS;

static brume_signed_decimal score(const char *text)
{
    brume_signed_decimal x = {0};
    assert_ok(brume_signed_decimal_parse(text, &x, &error));
    return x;
}

static brume_decimal positive(const char *text)
{
    return score(text).size;
}

/* The scores whole[i] 10^-places, as the steps that the choice gets. */
static void steps_of(const int *whole, int n, int places, const char *sensitivity, double *steps)
{
    brume_signed_decimal scores[MOST];
    brume_decimal unit = positive(sensitivity);
    char text[32];
    for (int i = 0; i < n; i++) {
        snprintf(text, sizeof text, "%de-%d", whole[i], places);
        scores[i] = score(text);
    }
    assert_ok(brume_selection_steps(scores, (size_t)n, &unit, steps, &error));
}

static void steps_are_distances_to_the_best_in_parts_of_the_sensitivity(void **state)
{
    (void)state;
    double steps[3];
    steps_of((int[]){3, 2, 0}, 3, 0, "1", steps);
    assert_true(steps[0] == 0 && steps[1] == -M && steps[2] == -3 * M);
    steps_of((int[]){-5, -25, -3}, 3, 1, "0.1", steps);
    assert_true(steps[0] == -2 * M && steps[1] == -22 * M && steps[2] == 0);
    steps_of((int[]){1, 0, 2}, 3, 0, "3", steps); /* floors of 2^20/3 and 2^21/3 */
    assert_true(steps[0] == 349525. - 699050. && steps[1] == -699050.);
    brume_signed_decimal far[] = {score("-1e300"), score("1e300"), score("1e300")};
    brume_decimal unit = positive("0.5");
    assert_ok(brume_selection_steps(far, 3, &unit, steps, &error));
    assert_true(steps[0] == -0x1p53 && steps[1] == 0 && steps[2] == 0);
}

/* The floor before the best is taken off: of two scores, the other far above. */
static double floor_of(int whole, int places, const char *sensitivity)
{
    double steps[2];
    steps_of((int[]){whole, 2000}, 2, places, sensitivity, steps);
    return steps[0];
}

static void numbers_within_the_sensitivity_are_within_its_steps(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int whole, places;
    } units[] = {{"0.1", 1, 1}, {"0.3", 3, 1}, {"0.7", 70, 2}, {"7", 7, 0}, {"0.03", 30, 3}};
    bool doubles_fail = false;
    for (size_t u = 0; u < sizeof units / sizeof *units; u++)
        for (int a = -90; a <= 90; a++)
            for (int b = a; b <= a + units[u].whole; b++) {
                double difference = floor_of(b, units[u].places, units[u].text) -
                                    floor_of(a, units[u].places, units[u].text);
                assert_true(difference >= 0 && difference <= M);
                double power = pow(10, units[u].places);
                doubles_fail |= b / power - a / power > units[u].whole / power;
            }
    assert_true(doubles_fail); /* 0.8 - 0.7 > 0.1 in doubles: the naive scores break the claim */
}

static void law_of(const double *steps, int n, double coefficient, double *p)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += p[i] = exp(coefficient * steps[i]);
    for (int i = 0; i < n; i++)
        p[i] /= sum;
}

/* All decimals in {0, 0.01, .., 0.06}^2 and all neighbours within 0.03, a sensitivity that is no
 * multiple of a binary fraction: the loss is at most epsilon; monotone neighbours likewise at twice
 * the coefficient. With coefficients for half that sensitivity it is not. */
static double worst_loss(bool monotone, double coefficient)
{
    double loss = 0;
    for (int a = 0; a < 49; a++)
        for (int d = 0; d < 49; d++) {
            int first[] = {a % 7, a / 7}, move[] = {d % 7 - 3, d / 7 - 3};
            int second[] = {first[0] + move[0], first[1] + move[1]};
            if (monotone && move[0] * move[1] < 0)
                continue;
            double steps[2], p[2], q[2];
            steps_of(first, 2, 2, "0.03", steps);
            law_of(steps, 2, coefficient, p);
            steps_of(second, 2, 2, "0.03", steps);
            law_of(steps, 2, coefficient, q);
            for (int i = 0; i < 2; i++)
                loss = fmax(loss, fabs(log(p[i] / q[i])));
        }
    return loss;
}

static void neighbouring_decimals_are_within_epsilon(void **state)
{
    (void)state;
    const double epsilon = 2;
    assert_holds(worst_loss(false, epsilon / (2 * M)) <= epsilon);
    assert_holds(worst_loss(true, epsilon / M) <= epsilon);
    assert_holds(worst_loss(false, epsilon / M) > epsilon);
}

static void the_choice_by_steps_has_its_law(void **state)
{
    (void)state;
    enum { RUNS = 40000, N = 3 };
    double steps[N], alarm = false_alarm_share(false_alarm_selection_steps) / (2 * N);
    static const double expected[2][N] = {
        /* u = (3, 2, 0), epsilon = 1, general */
        {.54654938726618, .331498960424092, .121951652309729},   /* exponential */
        {.630281351148339, .280709449316881, .0890091995347795}, /* permute-and-flip */
    };
    const brume_select_noise noise[] = {BRUME_SELECT_GUMBEL, BRUME_SELECT_EXPONENTIAL};
    steps_of((int[]){-7, -17, -37}, N, 1, "1", steps); /* -0.7, -1.7, -3.7: 3, 2, 0 less 3.7 */
    brume_bits *bits = brume_tape_open_seeded(41);
    for (int k = 0; k < 2; k++) {
        brume_selection options = {.adjacency = BRUME_REPLACE, .epsilon = 1, .sensitivity = M};
        uint64_t counts[N] = {0};
        for (int run = 0; run < RUNS; run++) {
            size_t index;
            assert_ok(brume_noisy_max_choose(bits, noise[k], &options, steps, N, &index, &error));
            counts[index]++;
        }
        bool met = true, other = true;
        for (int i = 0; i < N; i++) {
            met &= binomial_plausible(RUNS, counts[i], expected[k][i] * (1 - 1e-9),
                                      expected[k][i] * (1 + 1e-9), alarm);
            other &=
                binomial_plausible(RUNS, counts[i], expected[1 - k][i], expected[1 - k][i], alarm);
        }
        assert_true(met);
        assert_false(other); /* the other method's law is rejected */
    }
    brume_bits_close(bits);
}

static void the_gap_is_the_mechanism_s_and_one_step(void **state)
{
    (void)state;
    brume_selection options = {.adjacency = BRUME_REPLACE, .epsilon = 1, .sensitivity = M};
    brume_decimal unit = positive("0.5");
    double gap;
    assert_ok(
        brume_selection_gap_upper(BRUME_SELECT_GUMBEL, &options, &unit, 1000, .05, &gap, &error));
    /* (n-1) y/(1 + (n-1) y) = 1/20: y = 1/(19 999), gap = (2 S/epsilon) ln(19 * 999) + S/2^20 */
    double exact = log(19. * 999) + .5 / M;
    assert_holds(gap >= exact * (1 - 1e-15) && gap <= exact * (1 + 1e-12));
    assert_holds(gap <= 19.806975105072256 / 2); /* the textbook's for S = 1 */
    assert_ok(
        brume_selection_gap_upper(BRUME_SELECT_GUMBEL, &options, &unit, 1, .05, &gap, &error));
    assert_true(gap == 0);
    options.epsilon = 1e-12; /* beyond the 2^53 steps that are kept */
    assert_ok(
        brume_selection_gap_upper(BRUME_SELECT_GUMBEL, &options, &unit, 2, .05, &gap, &error));
    assert_true(isinf(gap));
}

static void no_scores_and_no_sensitivity_are_refused(void **state)
{
    (void)state;
    brume_signed_decimal scores[] = {score("1")};
    brume_decimal zero = positive("0"), one = positive("1");
    brume_selection options = {.adjacency = BRUME_REPLACE, .epsilon = 1, .sensitivity = M};
    double out = 42;
    assert_fails(brume_selection_steps(scores, 1, &zero, &out, &error), BRUME_EARGUMENT);
    assert_fails(brume_selection_steps(scores, 0, &one, &out, &error), BRUME_EARGUMENT);
    assert_fails(
        brume_selection_gap_upper(BRUME_SELECT_GUMBEL, &options, &zero, 2, .05, &out, &error),
        BRUME_EARGUMENT);
    assert_fails(brume_selection_gap_upper(BRUME_SELECT_GUMBEL, &options, &one, 2, 1, &out, &error),
                 BRUME_EARGUMENT);
    assert_true(out == 42);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_distances_to_the_best_in_parts_of_the_sensitivity),
        cmocka_unit_test(numbers_within_the_sensitivity_are_within_its_steps),
        cmocka_unit_test(neighbouring_decimals_are_within_epsilon),
        cmocka_unit_test(the_choice_by_steps_has_its_law),
        cmocka_unit_test(the_gap_is_the_mechanism_s_and_one_step),
        cmocka_unit_test(no_scores_and_no_sensitivity_are_refused),
    };
    return cmocka_run_group_tests_name("selection steps", tests, NULL, NULL);
}
