/* The noise of every card against its own law, releases, and what failure leaves behind. */
#include "check.h"

#include <stdlib.h>

#include <brume/mechanism/expression.h>
#include <brume/noise/gaussian.h>
#include <brume/noise/laplace.h>
#include <brume/noise/randomized_response.h>

#include "chance.h"
#include "parsed_event.h"
#include "random/tape.h"

static brume_error error;

static brume_event event_of(const char *text)
{
    return parsed_event(text, BRUME_REPLACE);
}

/* Do the counts of draws in {-reach .. reach} meet the masses of `law`? */
static bool meets(const int64_t *draws, size_t n, const brume_event *law, int reach, double alarm)
{
    for (int64_t k = -reach; k <= reach; k++) {
        uint64_t count = 0;
        brume_interval mass;
        for (size_t i = 0; i < n; i++)
            count += draws[i] == k;
        assert_ok(brume_event_mass(law, k, &mass, &error));
        if (!binomial_plausible(n, count, mass.lower, mass.upper, alarm / (2 * reach + 1)))
            return false;
    }
    return true;
}

static void integer_noise_has_the_masses_of_its_card(void **state)
{
    (void)state;
    static const struct {
        const char *text, *mutant;
    } cases[] = {
        {"discrete_laplace(scale=2)", "discrete_laplace(scale=2.3)"},
        {"discrete_laplace(scale=.3)", "discrete_laplace(scale=.34)"},
        {"discrete_gaussian(sigma=1.5)", "discrete_gaussian(sigma=1.7)"},
        {"discrete_gaussian(sigma=.4)", "discrete_gaussian(sigma=.44)"},
        {"randomized_response(epsilon=1)", "randomized_response(epsilon=1.1)"},
        {"randomized_response(epsilon=.5, k=5)", "randomized_response(epsilon=.65, k=5)"},
        /* the least grids: one or two units to the scale */
        {"laplace(scale=1e-323)", "laplace(scale=1.5e-323)"},
        {"gaussian(sigma=1.5e-323)", "gaussian(sigma=1e-323)"},
    };
    enum { N = 100000, CASES = sizeof cases / sizeof *cases };
    int64_t *draws = malloc(N * sizeof *draws);
    double alarm = false_alarm_share(false_alarm_card_masses) / CASES;
    for (size_t c = 0; c < CASES; c++) {
        brume_bits *bits = brume_tape_open_seeded(40 + c);
        brume_event event = event_of(cases[c].text), mutant = event_of(cases[c].mutant);
        double step = 0;
        assert_ok(brume_event_noise(&event, bits, draws, N, &step, &error));
        assert_true(step == (c < 6 ? 1 : 0x1p-1074));
        assert_true(meets(draws, N, &event, 10, alarm));
        assert_false(meets(draws, N, &mutant, 10, alarm));
        brume_bits_close(bits);
    }
    free(draws);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double laplace_cdf(double x)
{
    return x < 0 ? exp(x) / 2 : 1 - exp(-x) / 2;
}

static double gaussian_cdf(double x)
{
    return erfc(-x / sqrt(2)) / 2;
}

static double distance(const double *sorted, size_t n, double (*cdf)(double), double scale)
{
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        double f = cdf(sorted[i] / scale);
        largest = fmax(
            largest, fmax(fabs(f - (double)i / (double)n), fabs(f - (double)(i + 1) / (double)n)));
    }
    return largest;
}

static void real_noise_has_the_distribution_of_its_card(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double (*cdf)(double);
        double scale;
    } cases[] = {
        {"laplace(scale=10)", laplace_cdf, 10},
        {"laplace(scale=1e-9)", laplace_cdf, 1e-9},
        {"gaussian(sigma=3)", gaussian_cdf, 3},
        {"gaussian(sigma=1e200)", gaussian_cdf, 1e200},
    };
    enum { N = 40000 };
    int64_t *draws = malloc(N * sizeof *draws);
    double *values = malloc(N * sizeof *values);
    double allowed = dkw_distance(N, false_alarm_share(false_alarm_card_distances) / 4);
    for (size_t c = 0; c < 4; c++) {
        brume_bits *bits = brume_tape_open_seeded(60 + c);
        brume_event event = event_of(cases[c].text);
        double step = 0;
        assert_ok(brume_event_noise(&event, bits, draws, N, &step, &error));
        int exponent;
        assert_true(frexp(step, &exponent) == .5); /* a power of two */
        assert_true(step <= cases[c].scale * 0x1p-40 && step > cases[c].scale * 0x1p-42);
        for (size_t i = 0; i < N; i++)
            values[i] = (double)draws[i] * step;
        qsort(values, N, sizeof *values, ascending);
        assert_holds(distance(values, N, cases[c].cdf, cases[c].scale) <= allowed);
        assert_holds(distance(values, N, cases[c].cdf, cases[c].scale * 1.12) > allowed);
        brume_bits_close(bits);
    }
    free(draws);
    free(values);
}

static void releases_add_noise_and_clamp_what_no_noise_may_show(void **state)
{
    (void)state;
    typedef brume_status add_function(brume_bits *, double, const int64_t *, int64_t *, size_t,
                                      brume_error *);
    static add_function *const functions[] = {brume_discrete_laplace_add, brume_laplace_add,
                                              brume_discrete_gaussian_add, brume_gaussian_add};
    for (int f = 0; f < 4; f++) {
        brume_bits *bits = brume_tape_open_seeded(70), *again = brume_tape_open_seeded(70);
        enum { N = 1500 }; /* more than one block */
        int64_t values[N], out[N], zero[N], noise[N];
        for (int i = 0; i < N; i++)
            values[i] = 1000 * i, zero[i] = 0;
        assert_ok(functions[f](bits, 5, values, out, N, &error));
        assert_ok(functions[f](again, 5, zero, noise, N, &error));
        bool moved = false;
        for (int i = 0; i < N; i++) {
            assert_true(out[i] == values[i] + noise[i]);
            moved |= noise[i] != 0;
        }
        assert_true(moved);
        int64_t extremes[] = {INT64_MAX, INT64_MIN, 0};
        assert_ok(functions[f](bits, 5, extremes, extremes, 2, &error)); /* in place */
        assert_true(extremes[0] <= ((int64_t)1 << 62) - 1 && extremes[0] > (int64_t)1 << 61);
        assert_true(extremes[1] >= -((int64_t)1 << 62) + 1 && extremes[1] < -((int64_t)1 << 61));
        const double bad[] = {NAN, INFINITY, 0, -1, 0x1p51};
        for (int i = 0; i < 5; i++) {
            int64_t untouched = 42;
            assert_fails(functions[f](bits, bad[i], values, &untouched, 1, &error),
                         BRUME_EARGUMENT);
            assert_true(untouched == 42);
        }
        brume_bits *empty = brume_tape_open(NULL, 0, NULL, 0);
        assert_fails(functions[f](empty, 5, values, out, N, &error), BRUME_ERANDOM);
        for (int i = 0; i < N; i++)
            assert_true(out[i] == 0); /* nothing half released */
        brume_bits_close(bits);
        brume_bits_close(again);
        brume_bits_close(empty);
    }
}

static void the_laplace_scale_is_rounded_towards_more_noise(void **state)
{
    (void)state;
    double scale;
    assert_ok(brume_laplace_scale(1, 3, &scale, &error));
    assert_true(scale >= 1. / 3 && scale <= nextafter(1. / 3, 1));
    assert_holds(fma(scale, 3, -1) >= 0);
    assert_ok(brume_laplace_scale(1e-6, 1, &scale, &error));
    assert_true(scale == 1e-6);
    scale = 42;
    const double bad[] = {NAN, INFINITY, 0, -1};
    for (int i = 0; i < 4; i++) {
        assert_fails(brume_laplace_scale(bad[i], 1, &scale, &error), BRUME_EARGUMENT);
        assert_fails(brume_laplace_scale(1, bad[i], &scale, &error), BRUME_EARGUMENT);
    }
    assert_fails(brume_laplace_scale(1e300, 1e-300, &scale, &error), BRUME_EOVERFLOW);
    assert_true(scale == 42);
}

static void randomized_answers_stay_in_range_and_depend_on_the_truth(void **state)
{
    (void)state;
    enum { N = 30000 };
    uint8_t *truth = malloc(N), *out = malloc(N);
    for (unsigned k = 2; k <= 256; k *= 4) {
        brume_bits *bits = brume_tape_open_seeded(80 + k);
        for (int i = 0; i < N; i++)
            truth[i] = (uint8_t)((unsigned)i % k);
        assert_ok(brume_randomized_response(bits, 2, k, truth, out, N, &error));
        uint64_t kept = 0;
        for (int i = 0; i < N; i++) {
            assert_true(k == 256 || out[i] < k);
            kept += out[i] == truth[i];
        }
        double p = exp(2) / (exp(2) + k - 1);
        double alarm = false_alarm_share(false_alarm_response_truths) / 4;
        assert_true(binomial_plausible(N, kept, p * (1 - 1e-12), p * (1 + 1e-12), alarm));
        /* mutant: odds of 1.3 more */
        double wrong = exp(2.3) / (exp(2.3) + k - 1);
        assert_false(binomial_plausible(N, kept, wrong, wrong, alarm));
        brume_bits_close(bits);
    }
    uint8_t bad[] = {0, 3}, untouched[] = {7, 7};
    brume_bits *bits = brume_tape_open_seeded(90), *empty = brume_tape_open(NULL, 0, NULL, 0);
    assert_fails(brume_randomized_response(bits, 1, 3, bad, untouched, 2, &error), BRUME_EARGUMENT);
    assert_fails(brume_randomized_response(bits, 1, 257, bad, untouched, 2, &error),
                 BRUME_EARGUMENT);
    assert_fails(brume_randomized_response(bits, 1, 1, untouched, untouched, 0, &error), BRUME_OK);
    assert_fails(brume_randomized_response(bits, NAN, 4, bad, untouched, 2, &error),
                 BRUME_EARGUMENT);
    assert_true(untouched[0] == 7 && untouched[1] == 7);
    assert_fails(brume_randomized_response(empty, 1, 4, bad, untouched, 2, &error), BRUME_ERANDOM);
    assert_true(untouched[0] == 0 && untouched[1] == 0);
    uint64_t other = 42;
    assert_fails(brume_randomized_response_noise(empty, 1, 4, &other, &error), BRUME_ERANDOM);
    assert_fails(brume_randomized_response_noise(bits, 1, 1, &other, &error), BRUME_EARGUMENT);
    assert_fails(brume_randomized_response_noise(bits, -1, 2, &other, &error), BRUME_EARGUMENT);
    assert_true(other == 42);
    brume_bits_close(bits);
    brume_bits_close(empty);
    free(truth);
    free(out);
}

static void noise_is_refused_where_there_is_none_and_zeroed_on_failure(void **state)
{
    (void)state;
    brume_bits *bits = brume_tape_open_seeded(91), *empty = brume_tape_open(NULL, 0, NULL, 0);
    static const char *const without[] = {"pure(epsilon=1)", "exponential(epsilon=1)",
                                          "sparse_vector(epsilon=1, hits=1)", "zcdp(rho=1)"};
    int64_t out[3] = {1, 2, 3};
    double step = 42;
    for (int i = 0; i < 4; i++) {
        brume_event event = event_of(without[i]);
        assert_fails(brume_event_noise(&event, bits, out, 3, &step, &error), BRUME_EUNSUPPORTED);
        assert_true(out[0] == 0 && out[2] == 0 && step == 42);
    }
    static const char *const with[] = {"laplace(scale=1)", "gaussian(sigma=1)",
                                       "discrete_laplace(scale=1)", "discrete_gaussian(sigma=1)",
                                       "randomized_response(epsilon=1)"};
    for (int i = 0; i < 5; i++) {
        brume_event event = event_of(with[i]), wrong = event;
        wrong.parameter[0] = -1;
        out[0] = 1;
        assert_fails(brume_event_noise(&wrong, bits, out, 3, &step, &error), BRUME_EARGUMENT);
        assert_non_null(strstr(error.message, "-1")); /* the card's own words */
        assert_true(out[0] == 0 && step == 42);
        out[0] = 1;
        assert_fails(brume_event_noise(&event, empty, out, 3, &step, &error), BRUME_ERANDOM);
        assert_true(out[0] == 0 && step == 42);
        assert_ok(brume_event_noise(&event, bits, out, 0, &step, &error));
        step = 42;
    }
    brume_event wide = event_of("laplace(scale=1e300)");
    assert_fails(brume_event_noise(&wide, bits, out, 3, &step, &error), BRUME_EARGUMENT);
    wide = event_of("discrete_laplace(scale=1e20)");
    assert_fails(brume_event_noise(&wide, bits, out, 3, &step, &error), BRUME_EARGUMENT);
    wide = event_of("discrete_gaussian(sigma=1e20)");
    assert_fails(brume_event_noise(&wide, bits, out, 3, &step, &error), BRUME_EARGUMENT);
    brume_bits_close(bits);
    brume_bits_close(empty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integer_noise_has_the_masses_of_its_card),
        cmocka_unit_test(real_noise_has_the_distribution_of_its_card),
        cmocka_unit_test(releases_add_noise_and_clamp_what_no_noise_may_show),
        cmocka_unit_test(the_laplace_scale_is_rounded_towards_more_noise),
        cmocka_unit_test(randomized_answers_stay_in_range_and_depend_on_the_truth),
        cmocka_unit_test(noise_is_refused_where_there_is_none_and_zeroed_on_failure),
    };
    return cmocka_run_group_tests_name("noise", tests, NULL, NULL);
}
