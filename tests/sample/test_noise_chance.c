/* Draws from the secure source follow their laws: frequencies against exact binomial tails, and the
 * whole distribution against the Dvoretzky-Kiefer-Wolfowitz distance. Fixed numbers of draws, no
 * retries; the shares of false alarms are in false_alarms.def. The same questions reject laws that
 * are a little wrong. */
#include "check.h"

#include <stdlib.h>

#include <brume/noise/noise.h>
#include <brume/noise/primitive.h>

#include "chance.h"

enum { DRAWS = 2000000 };

static int64_t values[DRAWS];

typedef enum law { GEOMETRIC, DISCRETE_LAPLACE, ROUNDED_LAPLACE } law;

static brume_noise *open_noise(law which, double scale)
{
    brume_error error;
    brume_noise *noise = NULL;
    if (which == GEOMETRIC)
        assert_ok(brume_noise_open_geometric(scale, &noise, &error));
    else if (which == DISCRETE_LAPLACE)
        assert_ok(brume_noise_open_discrete_laplace(scale, &noise, &error));
    else
        assert_ok(brume_noise_open_rounded_laplace(scale, &noise, &error));
    return noise;
}

static void fill(law which, double scale)
{
    brume_error error;
    brume_bits *bits = NULL;
    brume_noise *noise = open_noise(which, scale);
    assert_ok(brume_bits_open(&bits, &error));
    assert_ok(brume_noise_fill(noise, bits, values, DRAWS, &error));
    brume_bits_close(bits);
    brume_noise_close(noise);
}

/* P[X <= k] */
static double distribution(law which, double scale, double k)
{
    double q = exp(-1 / scale);
    switch (which) {
    case GEOMETRIC:
        return k < 0 ? 0 : -expm1(-(k + 1) / scale);
    case DISCRETE_LAPLACE:
        return k < 0 ? exp(k / scale) / (1 + q) : 1 - exp(-(k + 1) / scale) / (1 + q);
    default:
        return k < 0 ? exp((k + 0.5) / scale) / 2 : 1 - exp(-(k + 0.5) / scale) / 2;
    }
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Does the sample fit the law of `scale` as a whole? */
static bool fits_in_distance(law which, double scale, double alarm)
{
    qsort(values, DRAWS, sizeof *values, ascending);
    double most = 0;
    for (size_t i = 0; i < DRAWS; i++)
        if (i + 1 == DRAWS || values[i + 1] != values[i]) {
            double above =
                fabs((double)(i + 1) / DRAWS - distribution(which, scale, (double)values[i]));
            most = above > most ? above : most;
        }
    return most <= dkw_distance(DRAWS, alarm);
}

/* Do the frequencies of -10 .. 10 fit? */
static bool fits_in_frequencies(law which, double scale, double alarm)
{
    for (int64_t k = -10; k <= 10; k++) {
        uint64_t count = 0;
        for (size_t i = 0; i < DRAWS; i++)
            count += values[i] == k;
        double p = distribution(which, scale, (double)k) -
                   distribution(which, scale, (double)(k - 1));
        double room = 1e-13; /* of the formula's own rounding */
        if (!binomial_plausible(DRAWS, count, p - room > 0 ? p - room : 0, p + room, alarm / 21))
            return false;
    }
    return true;
}

static void the_whole_distribution_fits(void **state)
{
    (void)state;
    const double scales[] = {0.3, 10, 1e6, 0x1p33, 0x1p50};
    double alarm = false_alarm_share(false_alarm_laplace_distance) / 15;
    for (law which = GEOMETRIC; which <= ROUNDED_LAPLACE; which++)
        for (size_t i = 0; i < 5; i++) {
            fill(which, scales[i]);
            assert_holds(fits_in_distance(which, scales[i], alarm));
        }
    /* Wrong laws are rejected: 5 % off in scale; the discrete for the rounded law. The laws are
     * 0.0089 apart at 10, the test sees 0.0027, so that a sample hides it with probability at most
     * exp(-2 n 0.0062^2) = exp(-153). */
    fill(DISCRETE_LAPLACE, 10);
    assert_holds(!fits_in_distance(DISCRETE_LAPLACE, 10.5, alarm));
    assert_holds(!fits_in_distance(DISCRETE_LAPLACE, 9.5, alarm));
    fill(DISCRETE_LAPLACE, 1);
    assert_holds(!fits_in_distance(ROUNDED_LAPLACE, 1, alarm));
}

static void the_frequencies_fit(void **state)
{
    (void)state;
    const double scales[] = {0.3, 1, 10};
    double alarm = false_alarm_share(false_alarm_laplace_frequencies) / 9;
    for (law which = GEOMETRIC; which <= ROUNDED_LAPLACE; which++)
        for (size_t i = 0; i < 3; i++) {
            fill(which, scales[i]);
            assert_holds(fits_in_frequencies(which, scales[i], alarm));
        }
    fill(ROUNDED_LAPLACE, 1);
    assert_holds(!fits_in_frequencies(DISCRETE_LAPLACE, 1, alarm));
    assert_holds(!fits_in_frequencies(ROUNDED_LAPLACE, 1.02, alarm));
}

static void the_primitives_fit(void **state)
{
    (void)state;
    brume_error error;
    brume_bits *bits = NULL;
    enum { TOSSES = 400000 };
    double alarm = false_alarm_share(false_alarm_primitive_frequencies) / 4;
    uint64_t heads[4] = {0};
    assert_ok(brume_bits_open(&bits, &error));
    for (int i = 0; i < TOSSES; i++) {
        uint64_t below;
        bool coin;
        assert_ok(brume_sample_below(bits, 10, &below, &error));
        heads[0] += below == 7;
        assert_ok(brume_sample_bernoulli(bits, 1, 3, &coin, &error));
        heads[1] += coin;
        assert_ok(brume_sample_bernoulli_exp(bits, 5, 3, &coin, &error));
        heads[2] += coin;
        assert_ok(brume_sample_bernoulli_exp_real(bits, 0.25, &coin, &error));
        heads[3] += coin;
    }
    brume_bits_close(bits);
    const double expected[4] = {0.1, 1.0 / 3, 0.18887560283756183, 0.77880078307140488};
    for (int i = 0; i < 4; i++) {
        assert_holds(binomial_plausible(TOSSES, heads[i], expected[i] * (1 - 1e-13),
                                        expected[i] * (1 + 1e-13), alarm));
        /* a tenth off: 14 standard deviations and more beyond what the test sees */
        assert_holds(
            !binomial_plausible(TOSSES, heads[i], expected[i] * 1.1, expected[i] * 1.1, alarm));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_whole_distribution_fits),
        cmocka_unit_test(the_frequencies_fit),
        cmocka_unit_test(the_primitives_fit),
    };
    return cmocka_run_group_tests_name("noise_chance", tests, NULL, NULL);
}
