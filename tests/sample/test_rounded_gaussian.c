/* The rounded Gaussian of the library: batches, tiers and instruction sets agree; frequencies. */
#include <brume/noise/noise.h>

#include "chance.h"
#include "check.h"
#include "random/tape.h"
#include "same_draws.h"

/* The same source, with fewer tiers and for one instruction set each (meson.build). */
typedef brume_status opener(double, brume_noise **, brume_error *);
opener second_tier_rounded, last_tier_rounded, plain_rounded, wide_rounded, widest_rounded;

static const double sigmas[] = {1e-310, 1e-3,   0.2,    1,        17.3,
                                1000.1, 0x1p20, 0x1p38, 0x1.8p45, 0x1p50};
enum { SIGMAS = sizeof sigmas / sizeof *sigmas, DRAWS = 100000 };

static void one_batch_is_many_single_draws(void **state)
{
    (void)state;
    brume_error error;
    enum { N = 20000 };
    static int64_t batch[N], pieces[N];
    for (int i = 0; i < SIGMAS; i++) {
        brume_noise *noise;
        assert_ok(brume_noise_open_rounded_gaussian(sigmas[i], &noise, &error));
        brume_bits *a = brume_tape_open_seeded(7), *b = brume_tape_open_seeded(7),
                   *c = brume_tape_open_seeded(7);
        assert_ok(brume_noise_fill(noise, a, batch, N, &error));
        for (size_t k = 0; k < N; k++)
            assert_ok(brume_noise_draw(noise, b, pieces + k, &error));
        assert_memory_equal(batch, pieces, sizeof batch);
        brume_tape_limit(c, 91);
        for (size_t done = 0; done < N; done += 500)
            assert_ok(brume_noise_fill(noise, c, pieces + done, 500, &error));
        assert_memory_equal(batch, pieces, sizeof batch);
        assert_int_equal(brume_tape_main_read(a), brume_tape_main_read(b));
        assert_int_equal(brume_tape_more_read(a), brume_tape_more_read(c));
        brume_bits_close(a);
        brume_bits_close(b);
        brume_bits_close(c);
        brume_noise_close(noise);
    }
}

static void assert_same_draws(opener *other, size_t n)
{
    brume_error error;
    for (int i = 0; i < SIGMAS; i++) {
        brume_noise *noise, *variant;
        assert_ok(brume_noise_open_rounded_gaussian(sigmas[i], &noise, &error));
        assert_ok(other(sigmas[i], &variant, &error));
        assert_draws_alike(noise, variant, n);
    }
}

static void the_filters_change_nothing(void **state)
{
    (void)state;
    assert_same_draws(second_tier_rounded, DRAWS);
    assert_same_draws(last_tier_rounded, DRAWS);
}

static void every_instruction_set_draws_the_same(void **state)
{
    (void)state;
    assert_same_draws(plain_rounded, DRAWS);
    if (runs_wide())
        assert_same_draws(wide_rounded, DRAWS);
    if (runs_widest())
        assert_same_draws(widest_rounded, DRAWS);
}

enum { BINS = 81 };

/* P[X <= c] for 81 thresholds c spread over +-5 sigma. */
static bool frequencies_fit(const int64_t *draws, size_t n, double sigma, double claimed,
                            double alarm)
{
    bool fit = true;
    for (int b = 0; b < BINS; b++) {
        int64_t c = (int64_t)floor(sigma * (b - BINS / 2) / 8.0);
        uint64_t up_to = 0;
        for (size_t i = 0; i < n; i++)
            up_to += draws[i] <= c;
        double p = 0.5 * erfc(-((double)c + 0.5) / claimed / sqrt(2));
        fit = fit && binomial_plausible(n, up_to, p * (1 - 1e-12), p * (1 + 1e-12), alarm / BINS);
    }
    return fit;
}

static void frequencies_follow_the_law(void **state)
{
    (void)state;
    brume_error error;
    static int64_t draws[400000];
    const size_t n = sizeof draws / sizeof *draws;
    static const double tested[] = {0.3, 1, 17.3, 1000.1, 0x1p38, 0x1p50};
    enum { TESTED = sizeof tested / sizeof *tested };
    const double alarm = false_alarm_share(false_alarm_rounded_gaussian) / TESTED;
    brume_bits *bits = brume_tape_open_seeded(2025);
    for (int i = 0; i < TESTED; i++) {
        brume_noise *noise;
        assert_ok(brume_noise_open_rounded_gaussian(tested[i], &noise, &error));
        assert_ok(brume_noise_fill(noise, bits, draws, n, &error));
        assert_holds(frequencies_fit(draws, n, tested[i], tested[i], alarm));
        assert_false(frequencies_fit(draws, n, tested[i], tested[i] * 1.02, alarm));
        brume_noise_close(noise);
    }
    brume_bits_close(bits);
}

static void bad_arguments_are_refused(void **state)
{
    (void)state;
    brume_error error;
    brume_noise *noise = (brume_noise *)&error;
    static const double bad[] = {0, -1, NAN, INFINITY, 0x1.0000000000001p50};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_fails(brume_noise_open_rounded_gaussian(bad[i], &noise, &error), BRUME_EARGUMENT);
    assert_ptr_equal(noise, &error);
    assert_fails(brume_noise_open_rounded_gaussian(1, NULL, &error), BRUME_EARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_batch_is_many_single_draws),
        cmocka_unit_test(the_filters_change_nothing),
        cmocka_unit_test(every_instruction_set_draws_the_same),
        cmocka_unit_test(frequencies_follow_the_law),
        cmocka_unit_test(bad_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
