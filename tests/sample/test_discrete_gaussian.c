/* The discrete Gaussian of the library: values that do not depend on batch, tier or instruction
 * set; reference probabilities; frequencies; arguments. */
#include <brume/noise/noise.h>

#include <fenv.h>
#include <stdlib.h>

#include "chance.h"
#include "check.h"
#include "random/tape.h"
#include "same_draws.h"
#include "sample/gaussian_table.h"
#include "sample/gaussian_ziggurat.h"
#include "sample/noise_law.h"

/* The same source, built with fewer tiers and for one instruction set each (meson.build). */
typedef brume_status opener(const brume_sigma *, brume_noise **, brume_error *);
opener second_tier_open, last_tier_open, plain_open, wide_open, widest_open;

enum { DRAWS = 200000 };

static const double sigmas[] = {1e-300, 1e-3,       0.02,   0.3,       1,
                                7.25,   63.5,       64,     64.000001, 1000.1,
                                0x1p20, 12345678.9, 0x1p33, 0x1p41,    0x1.23456789abcdep49,
                                0x1p50};
enum { SIGMAS = sizeof sigmas / sizeof *sigmas };

static void one_batch_is_many_single_draws(void **state)
{
    (void)state;
    brume_error error;
    static int64_t batch[20000], pieces[20000];
    const size_t n = 20000;
    for (int i = 0; i < SIGMAS; i++) {
        brume_noise *noise;
        assert_ok(brume_noise_open_discrete_gaussian(sigmas[i], &noise, &error));
        brume_bits *a = brume_tape_open_seeded(7), *b = brume_tape_open_seeded(7);
        assert_ok(brume_noise_fill(noise, a, batch, n, &error));
        for (size_t k = 0; k < n; k++)
            assert_ok(brume_noise_draw(noise, b, pieces + k, &error));
        assert_memory_equal(batch, pieces, sizeof batch);
        assert_int_equal(brume_tape_main_read(a), brume_tape_main_read(b));
        assert_int_equal(brume_tape_more_read(a), brume_tape_more_read(b));
        static const size_t sizes[] = {1, 7, 64, 255, 256, 257, 1000};
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            brume_bits *c = brume_tape_open_seeded(7);
            brume_tape_limit(c, 1 + s * 37); /* refill borders anywhere */
            for (size_t done = 0; done < n; done += sizes[s])
                assert_ok(brume_noise_fill(noise, c, pieces + done,
                                           n - done < sizes[s] ? n - done : sizes[s], &error));
            assert_memory_equal(batch, pieces, sizeof batch);
            brume_bits_close(c);
        }
        brume_bits_close(a);
        brume_bits_close(b);
        brume_noise_close(noise);
    }
}

/* The library's draws and those of another build, from the same bits. */
static void assert_same_draws(opener *other, size_t n)
{
    brume_error error;
    for (int i = 0; i < SIGMAS; i++) {
        if (sigmas[i] < BRUME_ZIGGURAT_LEAST_SIGMA)
            continue;
        brume_noise *noise, *variant;
        brume_sigma exact;
        brume_sigma_from_double(&exact, sigmas[i]);
        assert_ok(brume_noise_open_discrete_gaussian(sigmas[i], &noise, &error));
        assert_ok(other(&exact, &variant, &error));
        assert_draws_alike(noise, variant, n);
    }
}

static void the_vector_filter_changes_nothing(void **state)
{
    (void)state;
    assert_same_draws(second_tier_open, DRAWS);
}

static void the_double_filters_change_nothing(void **state)
{
    (void)state;
    assert_same_draws(last_tier_open, 100000);
}

static void every_instruction_set_draws_the_same(void **state)
{
    (void)state;
    assert_same_draws(plain_open, DRAWS);
    if (runs_wide())
        assert_same_draws(wide_open, DRAWS);
    if (runs_widest())
        assert_same_draws(widest_open, DRAWS);
}

/* Frequencies of single values and of everything up to a value; `alarm` for all of a call. */
static bool frequencies_fit(const int64_t *draws, size_t n, double sigma, double alarm)
{
    enum { MOST = 4096 };
    static uint64_t seen[2 * MOST + 1];
    memset(seen, 0, sizeof seen);
    uint64_t beyond = 0;
    for (size_t i = 0; i < n; i++) {
        if (llabs(draws[i]) <= MOST)
            seen[draws[i] + MOST]++;
        else
            beyond++;
    }
    alarm /= 2 * (2 * MOST + 1);
    bool fit = true;
    uint64_t up_to = 0;
    double mass = 0, total = 0;
    for (int64_t k = -MOST; k <= MOST; k++)
        total += exp(-(double)(k * k) / (2 * sigma * sigma));
    for (int64_t k = -MOST; k <= MOST; k++) {
        double p = exp(-(double)(k * k) / (2 * sigma * sigma)) / total;
        mass += p;
        up_to += seen[k + MOST];
        fit = fit && binomial_plausible(n, seen[k + MOST], p, p, alarm);
        if (mass > 1e-300 && mass < 1 - 1e-9)
            fit = fit && binomial_plausible(n, up_to, mass, mass, alarm);
    }
    return fit && beyond == 0;
}

static void frequencies_follow_the_law(void **state)
{
    (void)state;
    brume_error error;
    static int64_t draws[2000000];
    const size_t n = sizeof draws / sizeof *draws;
    static const double tested[] = {0.3, 1, 7.25, 63.5, 64, 200.5};
    const size_t count = sizeof tested / sizeof *tested;
    const double alarm = false_alarm_share(false_alarm_gaussian_frequencies) / (double)count;
    brume_bits *bits = brume_tape_open_seeded(2024);
    for (size_t i = 0; i < count; i++) {
        brume_noise *noise;
        assert_ok(brume_noise_open_discrete_gaussian(tested[i], &noise, &error));
        assert_ok(brume_noise_fill(noise, bits, draws, n, &error));
        assert_holds(frequencies_fit(draws, n, tested[i], alarm));
        /* mutants: sigma 1 % off; the sign of one value lost */
        assert_false(frequencies_fit(draws, n, tested[i] * 1.01, alarm));
        for (size_t k = 0; k < n; k++)
            if (draws[k] == -1)
                draws[k] = 1;
        assert_false(frequencies_fit(draws, n, tested[i], alarm));
        brume_noise_close(noise);
    }
    brume_bits_close(bits);
}

/* Large sigma: X / 2^m has the frequencies of the continuous bell to within the rounding. */
static void large_sigmas_spread_as_they_should(void **state)
{
    (void)state;
    brume_error error;
    enum { N = 300000, BINS = 64 };
    static int64_t draws[N];
    static const double tested[] = {0x1p20, 0x1p33, 0x1.8p44, 0x1p50};
    const double alarm = false_alarm_share(false_alarm_gaussian_spread) / 8;
    brume_bits *bits = brume_tape_open_seeded(5);
    for (size_t i = 0; i < sizeof tested / sizeof *tested; i++) {
        brume_noise *noise;
        assert_ok(brume_noise_open_discrete_gaussian(tested[i], &noise, &error));
        assert_ok(brume_noise_fill(noise, bits, draws, N, &error));
        uint64_t below[BINS] = {0}, odd = 0;
        for (size_t k = 0; k < N; k++) {
            odd += (uint64_t)draws[k] & 1;
            for (int b = 0; b < BINS; b++)
                below[b] += (double)draws[k] < tested[i] * (b - BINS / 2) / 8;
        }
        /* |P[X < c] - Phi(c/sigma)| <= 1/sigma <= 2^-20 */
        for (int b = 0; b < BINS; b++) {
            double p = 0.5 * erfc(-(b - BINS / 2) / 8.0 / sqrt(2));
            assert_holds(binomial_plausible(N, below[b], p - 0x1p-20, p + 0x1p-20, alarm / BINS));
        }
        assert_holds(binomial_plausible(N, odd, 0.5 - 0x1p-20, 0.5 + 0x1p-20, alarm));
        brume_noise_close(noise);
    }
    brume_bits_close(bits);
}

static void ratios_and_doubles_of_one_sigma_agree(void **state)
{
    (void)state;
    brume_error error;
    static int64_t a[5000], b[5000];
    const struct {
        double sigma;
        uint64_t num, den;
    } same[] = {
        {2, 4, 1},
        {0.5, 1, 4},
        {1000, 3000000, 3},
        {0x1p31, UINT64_C(1) << 62, 1},
        /* roots that no double is: so close to one that these words do not tell them apart */
        {sqrt(2), 2, 1},
        {sqrt(1 / 3.), 1, 3},
        {sqrt(5000), 5000, 1},
        {sqrt(12345 / 2.), 12345, 2},
        {sqrt(1000003 / 7.), 1000003, 7},
        {sqrt(1e13 + 1), UINT64_C(10000000000001), 1},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        brume_noise *x, *y;
        assert_ok(brume_noise_open_discrete_gaussian(same[i].sigma, &x, &error));
        assert_ok(brume_noise_open_discrete_gaussian_ratio(same[i].num, same[i].den, &y, &error));
        brume_bits *s = brume_tape_open_seeded(3), *t = brume_tape_open_seeded(3);
        assert_ok(brume_noise_fill(x, s, a, 5000, &error));
        assert_ok(brume_noise_fill(y, t, b, 5000, &error));
        assert_memory_equal(a, b, sizeof a);
        brume_bits_close(s);
        brume_bits_close(t);
        brume_noise_close(x);
        brume_noise_close(y);
    }
}

static void bad_arguments_are_refused(void **state)
{
    (void)state;
    brume_error error;
    brume_noise *noise = (brume_noise *)&error;
    static const double bad[] = {0, -1, -0.0, NAN, INFINITY, -INFINITY, 0x1.0000000000001p50};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_fails(brume_noise_open_discrete_gaussian(bad[i], &noise, &error), BRUME_EARGUMENT);
        assert_ptr_equal(noise, &error);
    }
    assert_fails(brume_noise_open_discrete_gaussian_ratio(0, 1, &noise, &error), BRUME_EARGUMENT);
    assert_fails(brume_noise_open_discrete_gaussian_ratio(1, 0, &noise, &error), BRUME_EARGUMENT);
    assert_fails(brume_noise_open_discrete_gaussian(1, NULL, &error), BRUME_EARGUMENT);
    assert_fails(brume_noise_open_discrete_gaussian_ratio(1, 1, NULL, NULL), BRUME_EARGUMENT);
}

static void other_rounding_modes_are_refused(void **state)
{
    (void)state;
    static const double tested[] = {2, 100};
    for (size_t i = 0; i < 2; i++) {
        brume_error error;
        brume_noise *noise = NULL, *other = NULL;
        brume_bits *bits = brume_tape_open_seeded(1);
        int64_t out = 5;
        assert_ok(brume_noise_open_discrete_gaussian(tested[i], &noise, &error));
        fesetround(FE_DOWNWARD);
        brume_status opened = brume_noise_open_discrete_gaussian(tested[i], &other, &error);
        brume_status rounded = brume_noise_open_rounded_gaussian(tested[i], &other, &error);
        brume_status drawn = brume_noise_draw(noise, bits, &out, &error);
        brume_status filled = brume_noise_fill(noise, bits, &out, 1, &error);
        fesetround(FE_TONEAREST);
        assert_int_equal((int)opened, BRUME_EARGUMENT);
        assert_int_equal((int)rounded, BRUME_EARGUMENT);
        assert_int_equal((int)drawn, BRUME_EARGUMENT);
        assert_int_equal((int)filled, BRUME_EARGUMENT);
        assert_null(other);
        assert_int_equal(brume_tape_main_read(bits), 0);
        brume_bits_close(bits);
        brume_noise_close(noise);
    }
}

/* A source that runs out anywhere inside a draw gives an error and zeros. */
static void a_source_that_ends_gives_no_draw(void **state)
{
    (void)state;
    brume_error error;
    static const double tested[] = {1, 100, 0x1p50};
    for (size_t i = 0; i < sizeof tested / sizeof *tested; i++) {
        brume_noise *noise;
        assert_ok(brume_noise_open_discrete_gaussian(tested[i], &noise, &error));
        uint64_t seed = 9, words[64], more[2];
        for (int k = 0; k < 64; k++)
            words[k] = brume_tape_splitmix(&seed);
        for (int k = 0; k < 2; k++)
            more[k] = brume_tape_splitmix(&seed);
        brume_bits *tape = brume_tape_open(words, 64, more, 2);
        int64_t out[65];
        memset(out, 1, sizeof out);
        assert_fails(brume_noise_fill(noise, tape, out, 65, &error), BRUME_ERANDOM);
        for (int k = 0; k < 65; k++)
            assert_int_equal(out[k], 0);
        brume_bits_close(tape);
        brume_noise_close(noise);
    }
}

/* 2^63 P[|X| <= k], rounded down, read off the sampler: the number of words (sign bit apart) that
 * give at most k. */
static uint64_t words_up_to(const brume_noise *noise, int64_t k)
{
    brume_error error;
    uint64_t low = 0, high = UINT64_C(1)
                             << 63; /* below `low` all give at most k, from `high` none */
    while (low < high) {
        uint64_t middle = low + (high - low) / 2, word = middle << 1;
        uint64_t more[4] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}; /* the cell's end */
        brume_bits *tape = brume_tape_open(&word, 1, more, 4);
        int64_t value;
        brume_status status = brume_noise_draw(noise, tape, &value, &error);
        brume_bits_close(tape);
        if (status == BRUME_OK && value <= k)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static double probability(const brume_noise *noise, int64_t k)
{
    if (k == 0)
        return (double)words_up_to(noise, 0) * 0x1p-63;
    return (double)(words_up_to(noise, k) - words_up_to(noise, k - 1)) * 0x1p-64;
}

static double variance(const brume_noise *noise)
{
    double sum = 0;
    for (int64_t k = 1; k < 20; k++)
        sum += 2 * (double)(k * k) * probability(noise, k);
    return sum;
}

static void reference_probabilities_are_met(void **state)
{
    (void)state;
    brume_error error;
    brume_noise *noise;
    assert_ok(brume_noise_open_discrete_gaussian_ratio(1, 1, &noise, &error));
    assert_close(probability(noise, 0), 0.39894227826686171, 4e-16);
    assert_close(probability(noise, 1), 0.24197072322446061, 4e-16);
    assert_close(probability(noise, 3), 0.0044318483882250656, 1e-15);
    assert_close(variance(noise), 0.99999978876772808, 1e-15);
    brume_noise_close(noise);
    assert_ok(brume_noise_open_discrete_gaussian(2, &noise, &error));
    assert_close(probability(noise, 0), 0.19947114020071634, 4e-16);
    brume_noise_close(noise);
    assert_ok(brume_noise_open_discrete_gaussian_ratio(1, 4, &noise, &error));
    assert_close(variance(noise), 0.21501267508813849, 1e-15);
    brume_noise_close(noise);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_batch_is_many_single_draws),
        cmocka_unit_test(the_vector_filter_changes_nothing),
        cmocka_unit_test(the_double_filters_change_nothing),
        cmocka_unit_test(every_instruction_set_draws_the_same),
        cmocka_unit_test(frequencies_follow_the_law),
        cmocka_unit_test(large_sigmas_spread_as_they_should),
        cmocka_unit_test(ratios_and_doubles_of_one_sigma_agree),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(other_rounding_modes_are_refused),
        cmocka_unit_test(a_source_that_ends_gives_no_draw),
        cmocka_unit_test(reference_probabilities_are_met),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
