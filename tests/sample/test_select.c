/* Selection: reference probabilities, tiers that agree, words spent, arguments. */
#include <brume/noise/select.h>

#include <stdlib.h>

#include "chance.h"
#include "check.h"
#include "random/tape.h"

/* The same sources, with the last tier only (meson.build). */
brume_status balls_noisy_max(brume_bits *, brume_select_noise, double, const double *, size_t,
                             size_t *, brume_error *);
brume_status balls_run(brume_bits *, double, const uint64_t *, const int64_t *, uint64_t, size_t,
                       size_t *, brume_error *);

static bool frequencies_fit(const uint64_t *seen, const double *law, size_t n, uint64_t draws,
                            double alarm)
{
    bool fit = true;
    for (size_t i = 0; i < n; i++)
        fit = fit && binomial_plausible(draws, seen[i], law[i], law[i], alarm / (double)n);
    return fit;
}

static void reference_probabilities_are_met(void **state)
{
    (void)state;
    /* epsilon = sensitivity = 1: coefficient 1/2, or 1 where scores are monotone */
    static const struct {
        brume_select_noise noise;
        double coefficient, scores[3], law[3];
    } known[] = {
        {BRUME_SELECT_GUMBEL,
         0.5,
         {0, 1, 2},
         {.18632372322584758, .3071958857184984, .50648039105565403}},
        {BRUME_SELECT_GUMBEL,
         1,
         {0, 1, 2},
         {.090030573170380458, .24472847105479765, .66524095577482189}},
        {BRUME_SELECT_LAPLACE,
         0.5,
         {3, 2, 0},
         {.557278065648775, .332358300694143, .110363633657082}},
        {BRUME_SELECT_EXPONENTIAL,
         0.5,
         {3, 2, 0},
         {.630281351148339, .280709449316881, .0890091995347795}},
        {BRUME_SELECT_GUMBEL,
         0.5,
         {3, 2, 0},
         {.54654938726618, .331498960424092, .121951652309729}},
    };
    enum { DRAWS = 300000, KNOWN = sizeof known / sizeof *known };
    const double alarm = false_alarm_share(false_alarm_select_frequencies) / KNOWN;
    brume_bits *bits = brume_tape_open_seeded(42);
    brume_error error;
    for (size_t q = 0; q < KNOWN; q++) {
        uint64_t seen[3] = {0};
        for (int i = 0; i < DRAWS; i++) {
            size_t index;
            assert_ok(brume_select_noisy_max(bits, known[q].noise, known[q].coefficient,
                                             known[q].scores, 3, &index, &error));
            seen[index]++;
        }
        assert_holds(frequencies_fit(seen, known[q].law, 3, DRAWS, alarm));
        /* the law of another noise is rejected */
        const double *other = known[q == 2 ? 3 : 2].law;
        assert_false(frequencies_fit(seen, other, 3, DRAWS, alarm));
    }
    brume_bits_close(bits);
}

/* Scores of many sizes, ties, huge and tiny ones: the filter must choose as the balls do. */
static void the_filter_changes_nothing(void **state)
{
    (void)state;
    brume_error error;
    uint64_t seed = 1;
    for (int round = 0; round < 600; round++) {
        /* some with more than a block, so that the vector filter has a bound to drop by */
        size_t n = 2 + brume_tape_splitmix(&seed) % (round % 5 == 0 ? 1500 : 12);
        static double scores[2000];
        double coefficient = ldexp(1 + (double)(brume_tape_splitmix(&seed) >> 12) * 0x1p-52,
                                   (int)(brume_tape_splitmix(&seed) % 40) - 20);
        int style = round % 6;
        for (size_t i = 0; i < n; i++) {
            double u = (double)(int64_t)brume_tape_splitmix(&seed) * 0x1p-63;
            scores[i] = style == 0   ? u / coefficient
                        : style == 1 ? 3
                        : style == 2 ? u * 1e300
                        : style == 3 ? u * 0x1p-1060
                        : style == 4 ? 1e15 / coefficient + rint(4 * u)
                                     : (u < 0 ? -INFINITY : 5 * u);
        }
        scores[n - 1] = fmax(scores[n - 1], -1e290);
        for (int noise = BRUME_SELECT_GUMBEL; noise <= BRUME_SELECT_LAPLACE; noise++) {
            brume_bits *a = brume_tape_open_seeded((uint64_t)round),
                       *b = brume_tape_open_seeded((uint64_t)round);
            size_t x = 99, y = 98;
            assert_ok(brume_select_noisy_max(a, (brume_select_noise)noise, coefficient, scores, n,
                                             &x, &error));
            assert_ok(
                balls_noisy_max(b, (brume_select_noise)noise, coefficient, scores, n, &y, &error));
            assert_int_equal(x, y);
            assert_holds(scores[x] != -INFINITY);
            assert_int_equal(brume_tape_main_read(a), n);
            assert_int_equal(brume_tape_main_read(b), n);
            assert_int_equal(brume_tape_more_read(a), brume_tape_more_read(b));
            brume_bits_close(a);
            brume_bits_close(b);
        }
    }
}

static long double noise_of(brume_select_noise noise, uint64_t word)
{
    long double e = -logl(((long double)(word >> 12) + .5L) * 0x1p-52L);
    return noise == BRUME_SELECT_GUMBEL                  ? -logl(e)
           : noise == BRUME_SELECT_LAPLACE && (word & 1) ? -e
                                                         : e;
}

/* Two keys that are as near to each other as the error of a logarithm of any tier, the bounds of
 * the coarse ones among them: each must leave to the next what it cannot say. */
static void near_keys_are_decided_as_by_balls(void **state)
{
    (void)state;
    brume_error error;
    uint64_t seed = 7;
    for (int round = 0; round < 3000; round++) {
        uint64_t words[2], more[4];
        for (int i = 0; i < 2; i++) {
            words[i] = brume_tape_splitmix(&seed);
            if (round % 3 == 1)
                words[i] |= UINT64_C(0xfffc000000000000); /* U nearly 1: hardly any noise */
            if (round % 3 == 2)
                words[i] >>= 14 + round % 5; /* U about 2^-16, where words are looked at or not */
        }
        for (int i = 0; i < 4; i++)
            more[i] = brume_tape_splitmix(&seed);
        for (int noise = BRUME_SELECT_GUMBEL; noise <= BRUME_SELECT_LAPLACE; noise++) {
            const brume_select_noise of = (brume_select_noise)noise;
            long double apart = ldexpl(round % 2 ? 1 : -1, -17 - round / 6 % 32);
            double scores[2] = {0,
                                (double)(noise_of(of, words[0]) - noise_of(of, words[1]) + apart)};
            brume_bits *a = brume_tape_open(words, 2, more, 4),
                       *b = brume_tape_open(words, 2, more, 4);
            size_t x = 99, y = 98;
            assert_ok(brume_select_noisy_max(a, of, 1, scores, 2, &x, &error));
            assert_ok(balls_noisy_max(b, of, 1, scores, 2, &y, &error));
            assert_int_equal(x, y);
            assert_int_equal(brume_tape_more_read(a), brume_tape_more_read(b));
            brume_bits_close(a);
            brume_bits_close(b);
        }
    }
}

/* Zero words: U = 0 for a while, the noise is unbounded and only further bits can say. */
static void zero_words_are_never_decided_by_the_filter(void **state)
{
    (void)state;
    brume_error error;
    static const double scores[2] = {1000, 0};
    static const uint64_t words[2] = {UINT64_MAX - 1, 0}, more[4] = {0, 1, 0, 0};
    for (int noise = BRUME_SELECT_GUMBEL; noise <= BRUME_SELECT_LAPLACE; noise++) {
        brume_bits *tape = brume_tape_open(words, 2, more, 4);
        size_t index;
        assert_ok(
            brume_select_noisy_max(tape, (brume_select_noise)noise, 1, scores, 2, &index, &error));
        assert_int_equal(index, 0);
        assert_int_not_equal(brume_tape_more_read(tape), 0);
        brume_bits_close(tape);
    }
}

/* A cell at 0 says nothing of how low a key may be: candidate 0 has a word of zeros but for its
 * sign, which makes its noise negative, and further bits say that it is -88, against a key of -50.
 */
static void a_key_without_a_lower_bound_beats_nobody(void **state)
{
    (void)state;
    brume_error error;
    static const double scores[2] = {0, -50};
    static const uint64_t words[2] = {1, UINT64_MAX - 1}, more[4] = {1, 0, 1, 0};
    brume_bits *tape = brume_tape_open(words, 2, more, 4);
    size_t index = 7;
    assert_ok(brume_select_noisy_max(tape, BRUME_SELECT_LAPLACE, 1, scores, 2, &index, &error));
    assert_int_equal(index, 1);
    brume_bits_close(tape);
}

/* More than a block of the filter, from more words than the source gives at once. */
static void thousands_are_filtered_as_if_one_by_one(void **state)
{
    (void)state;
    brume_error error;
    enum { N = 9000 };
    static double scores[N];
    for (int noise = BRUME_SELECT_GUMBEL; noise <= BRUME_SELECT_LAPLACE; noise++)
        for (uint64_t seed = 0; seed < 6; seed++) {
            uint64_t state_of_scores = seed;
            for (size_t i = 0; i < N; i++)
                scores[i] = (double)(brume_tape_splitmix(&state_of_scores) % 8);
            brume_bits *a = brume_tape_open_seeded(seed), *b = brume_tape_open_seeded(seed);
            size_t filtered = 0, balls = 0;
            assert_ok(brume_select_noisy_max(a, (brume_select_noise)noise, 0.5, scores, N,
                                             &filtered, &error));
            assert_ok(
                balls_noisy_max(b, (brume_select_noise)noise, 0.5, scores, N, &balls, &error));
            assert_int_equal(filtered, balls);
            brume_bits_close(a);
            brume_bits_close(b);
        }
}

/* Products beyond the range of doubles have no bounds but in balls, which alone tell them apart. */
static void products_that_overflow_are_compared(void **state)
{
    (void)state;
    brume_error error;
    for (int sign = -1; sign <= 1; sign += 2)
        for (int noise = BRUME_SELECT_GUMBEL; noise <= BRUME_SELECT_LAPLACE; noise++) {
            const double scores[3] = {sign * 0x1.8p1023, sign * 0x1.7p1023, sign * 0x1.6p1023};
            brume_bits *bits = brume_tape_open_seeded(3);
            size_t index = 99;
            assert_ok(brume_select_noisy_max(bits, (brume_select_noise)noise, 8, scores, 3, &index,
                                             &error));
            assert_int_equal(index, sign > 0 ? 0 : 2);
            brume_bits_close(bits);
        }
}

static void hundreds_may_contend(void **state)
{
    (void)state;
    brume_error error;
    enum { N = 500 };
    static double scores[N];
    static uint64_t words[N], more[2 * N];
    for (int i = 0; i < N; i++) {
        words[i] = UINT64_C(0x8000000000000000); /* all alike */
        more[i] = (uint64_t)i == 321 ? 5 : 10 + (uint64_t)i;
    }
    brume_bits *tape = brume_tape_open(words, N, more, 2 * N);
    size_t index;
    assert_ok(brume_select_noisy_max(tape, BRUME_SELECT_EXPONENTIAL, 1, scores, N, &index, &error));
    assert_int_equal(index, 321); /* the least U has the greatest -ln U */
    brume_bits_close(tape);
}

static void runs_follow_their_weights(void **state)
{
    (void)state;
    enum { DRAWS = 300000, N = 5 };
    static const uint64_t lengths[N] = {1, 100, 0, 7, UINT64_C(1) << 40};
    static const int64_t utilities[N] = {3, -1, 100, 2, -100};
    double weights[N], total = 0;
    const double coefficient = 0.9, denominator = 3;
    for (int i = 0; i < N; i++)
        total += weights[i] = (double)lengths[i] *
                              exp(coefficient * (double)utilities[i] / denominator);
    for (int i = 0; i < N; i++)
        weights[i] /= total;
    brume_error error;
    brume_bits *bits = brume_tape_open_seeded(77);
    uint64_t seen[N] = {0};
    for (int i = 0; i < DRAWS; i++) {
        size_t index;
        assert_ok(brume_select_run(bits, coefficient, lengths, utilities, 3, N, &index, &error));
        seen[index]++;
    }
    assert_int_equal(brume_tape_main_read(bits), DRAWS);
    const double alarm = false_alarm_share(false_alarm_select_runs);
    assert_holds(frequencies_fit(seen, weights, N, DRAWS, alarm));
    weights[1] *= 1.05; /* a mutant law */
    assert_false(frequencies_fit(seen, weights, N, DRAWS, alarm));
    brume_bits_close(bits);
}

static void the_run_filter_changes_nothing(void **state)
{
    (void)state;
    brume_error error;
    uint64_t seed = 3;
    for (int round = 0; round < 800; round++) {
        size_t n = 2 + brume_tape_splitmix(&seed) % 30;
        uint64_t lengths[32];
        int64_t utilities[32];
        int shift = (int)(brume_tape_splitmix(&seed) % 60);
        for (size_t i = 0; i < n; i++) {
            lengths[i] = brume_tape_splitmix(&seed) >> (brume_tape_splitmix(&seed) % 64);
            utilities[i] = (int64_t)brume_tape_splitmix(&seed) >> shift;
        }
        lengths[n / 2] |= 1;
        double coefficient = ldexp(1.1, round % 90 - 60);
        uint64_t denominator = 1 + brume_tape_splitmix(&seed) % 1000;
        brume_bits *a = brume_tape_open_seeded((uint64_t)round),
                   *b = brume_tape_open_seeded((uint64_t)round);
        size_t x = 99, y = 98;
        assert_ok(brume_select_run(a, coefficient, lengths, utilities, denominator, n, &x, &error));
        assert_ok(balls_run(b, coefficient, lengths, utilities, denominator, n, &y, &error));
        assert_int_equal(x, y);
        assert_int_equal(brume_tape_more_read(a), brume_tape_more_read(b));
        brume_bits_close(a);
        brume_bits_close(b);
    }
}

/* A third, two thirds: the border is in the cell of the word 0x5555..., and more bits decide. The
 * words next to it are within the margin of doubles, but their whole cell is on one side. */
static void a_run_whose_border_is_in_the_cell_is_decided_by_more_bits(void **state)
{
    (void)state;
    const uint64_t lengths[] = {0, 1, 0, 2}, border = 0x5555555555555555u;
    const int64_t utilities[] = {50, -7, 3, 9};
    static const struct {
        int64_t beside;
        uint64_t more;
        size_t chosen, read;
    } cases[] = {{0, 0x5555555555555554u, 1, 1},
                 {0, 0x5555555555555556u, 3, 1},
                 {-1, 0, 1, 0},
                 {1, 0, 3, 0},
                 {-1000000, 0, 1, 0},
                 {1000000, 0, 3, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_error error;
        size_t index = 99;
        uint64_t word = border + (uint64_t)cases[i].beside;
        brume_bits *tape = brume_tape_open(&word, 1, &cases[i].more, 1);
        assert_ok(brume_select_run(tape, 0, lengths, utilities, 1, 4, &index, &error));
        assert_int_equal(index, cases[i].chosen);
        assert_int_equal(brume_tape_more_read(tape), cases[i].read);
        brume_bits_close(tape);
    }
}

static void bad_arguments_are_refused(void **state)
{
    (void)state;
    brume_error error;
    brume_bits *bits = brume_tape_open_seeded(1);
    size_t index = 7;
    double scores[2] = {0, 1};
    uint64_t lengths[2] = {0, 0};
    int64_t utilities[2] = {0, 0};
    assert_fails(brume_select_noisy_max(bits, BRUME_SELECT_GUMBEL, -1, scores, 2, &index, &error),
                 BRUME_EARGUMENT);
    assert_fails(brume_select_noisy_max(bits, BRUME_SELECT_GUMBEL, NAN, scores, 2, &index, &error),
                 BRUME_EARGUMENT);
    assert_fails(
        brume_select_noisy_max(bits, BRUME_SELECT_GUMBEL, INFINITY, scores, 2, &index, &error),
        BRUME_EARGUMENT);
    assert_fails(brume_select_noisy_max(bits, (brume_select_noise)0, 1, scores, 2, &index, &error),
                 BRUME_EARGUMENT);
    assert_fails(brume_select_noisy_max(bits, BRUME_SELECT_GUMBEL, 1, scores, 0, &index, &error),
                 BRUME_EARGUMENT);
    assert_fails(brume_select_noisy_max(bits, BRUME_SELECT_GUMBEL, 1, NULL, 2, &index, &error),
                 BRUME_EARGUMENT);
    for (int noise = BRUME_SELECT_GUMBEL; noise <= BRUME_SELECT_LAPLACE; noise++) {
        brume_bits *good = brume_tape_open_seeded(1); /* 0 is no error: scores do not count */
        assert_ok(
            brume_select_noisy_max(good, (brume_select_noise)noise, 0, scores, 2, &index, &error));
        assert_holds(index < 2);
        brume_bits_close(good);
    }
    index = 7;
    scores[1] = NAN;
    assert_fails(brume_select_noisy_max(bits, BRUME_SELECT_GUMBEL, 1, scores, 2, &index, &error),
                 BRUME_EARGUMENT);
    scores[1] = INFINITY;
    assert_fails(brume_select_noisy_max(bits, BRUME_SELECT_GUMBEL, 1, scores, 2, &index, &error),
                 BRUME_EARGUMENT);
    scores[0] = scores[1] = -INFINITY;
    assert_fails(brume_select_noisy_max(bits, BRUME_SELECT_GUMBEL, 1, scores, 2, &index, &error),
                 BRUME_EARGUMENT);
    assert_fails(brume_select_run(bits, 1, lengths, utilities, 1, 2, &index, &error),
                 BRUME_EARGUMENT);
    lengths[0] = 1;
    assert_fails(brume_select_run(bits, -1, lengths, utilities, 1, 2, &index, &error),
                 BRUME_EARGUMENT);
    assert_fails(brume_select_run(bits, 1, lengths, utilities, 0, 2, &index, &error),
                 BRUME_EARGUMENT);
    assert_fails(brume_select_run(bits, 1, lengths, utilities, 1, 0, &index, &error),
                 BRUME_EARGUMENT);
    assert_int_equal(index, 7);
    assert_int_equal(brume_tape_main_read(bits), 0);
    scores[0] = 2;
    assert_ok(brume_select_noisy_max(bits, BRUME_SELECT_GUMBEL, 1, scores, 1, &index, &error));
    assert_int_equal(index, 0);
    assert_int_equal(brume_tape_main_read(bits), 0); /* one candidate takes no bits */
    brume_bits_close(bits);
    bits = brume_tape_open(NULL, 0, NULL, 0);
    index = 7;
    scores[1] = 2;
    assert_fails(brume_select_noisy_max(bits, BRUME_SELECT_LAPLACE, 1, scores, 2, &index, &error),
                 BRUME_ERANDOM);
    assert_int_equal(index, 7);
    brume_bits_close(bits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_probabilities_are_met),
        cmocka_unit_test(the_filter_changes_nothing),
        cmocka_unit_test(near_keys_are_decided_as_by_balls),
        cmocka_unit_test(zero_words_are_never_decided_by_the_filter),
        cmocka_unit_test(a_key_without_a_lower_bound_beats_nobody),
        cmocka_unit_test(thousands_are_filtered_as_if_one_by_one),
        cmocka_unit_test(products_that_overflow_are_compared),
        cmocka_unit_test(hundreds_may_contend),
        cmocka_unit_test(runs_follow_their_weights),
        cmocka_unit_test(the_run_filter_changes_nothing),
        cmocka_unit_test(a_run_whose_border_is_in_the_cell_is_decided_by_more_bits),
        cmocka_unit_test(bad_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
