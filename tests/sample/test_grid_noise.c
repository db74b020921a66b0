/* Noise on a grid: frequencies against the laws, rounding of the sum, clamps, arguments. */
#include <brume/noise/grid_noise.h>

#include <fenv.h>
#include <stdlib.h>

#include "chance.h"
#include "check.h"
#include "random/tape.h"

/* P[Z <= z] of Student's t, by Simpson's rule on the density; z >= 0. */
static double student_below(double degrees, double z)
{
    const int steps = 4000;
    double c = exp(lgamma((degrees + 1) / 2) - lgamma(degrees / 2)) / sqrt(degrees * acos(-1));
    double sum = 0, h = fabs(z) / steps;
    for (int i = 0; i <= steps; i++) {
        double x = h * i, w = i == 0 || i == steps ? 1 : i % 2 ? 4 : 2;
        sum += w * pow(1 + x * x / degrees, -(degrees + 1) / 2);
    }
    return z < 0 ? 0.5 - c * sum * h / 3 : 0.5 + c * sum * h / 3;
}

/* Laplace times exp(shape normal): the mixture over the normal, by Simpson's rule. */
static double mixed_below(double shape, double z)
{
    const int steps = 4000;
    double sum = 0, h = 20.0 / steps;
    for (int i = 0; i <= steps; i++) {
        double y = -10 + h * i, w = i == 0 || i == steps ? 1 : i % 2 ? 4 : 2;
        double x = fabs(z) * exp(-shape * y);
        sum += w * exp(-y * y / 2) / sqrt(2 * acos(-1)) * (1 - exp(-x) / 2);
    }
    double above = sum * h / 3;
    return z < 0 ? 1 - above : above;
}

static double below(brume_grid_law law, double shape, double z)
{
    switch (law) {
    case BRUME_GRID_LAPLACE:
        return z < 0 ? exp(z) / 2 : 1 - exp(-z) / 2;
    case BRUME_GRID_GAUSSIAN:
        return 0.5 * erfc(-z / sqrt(2));
    case BRUME_GRID_CAUCHY:
        return 0.5 + atan(z) / acos(-1);
    case BRUME_GRID_STUDENT:
        return student_below(shape, z);
    case BRUME_GRID_LAPLACE_LOG_NORMAL:
        return mixed_below(shape, z);
    default:
        return exp(-exp(-z));
    }
}

enum { DRAWS = 15000, BINS = 33 };

static bool fits(const int64_t *draws, brume_grid_law law, double shape, double location,
                 double scale, int exponent, double alarm)
{
    bool fit = true;
    for (int b = 0; b < BINS; b++) {
        int64_t c = (int64_t)llrint(ldexp(location + scale * (b - BINS / 2) / 4.0, -exponent));
        uint64_t up_to = 0;
        for (int i = 0; i < DRAWS; i++)
            up_to += draws[i] <= c;
        double p = below(law, shape, (ldexp((double)c + 0.5, exponent) - location) / scale);
        fit = fit && binomial_plausible(DRAWS, up_to, p - 1e-9, p + 1e-9, alarm / BINS);
    }
    return fit;
}

static void frequencies_follow_the_laws(void **state)
{
    (void)state;
    static const struct {
        brume_grid_law law;
        double shape, location, scale;
        int exponent;
    } known[] = {
        {BRUME_GRID_LAPLACE, 0, 0, 1, -20},
        {BRUME_GRID_GAUSSIAN, 0, 1.7, 3, -1},
        {BRUME_GRID_CAUCHY, 0, -0.3, 1, -20},
        {BRUME_GRID_STUDENT, 1, 0, 2, -3},
        {BRUME_GRID_STUDENT, 2.5, 0.1, 1, -20},
        {BRUME_GRID_STUDENT, 3, 1e6, 100, 5},
        {BRUME_GRID_LAPLACE_LOG_NORMAL, 0, 0, 1, -10},
        {BRUME_GRID_LAPLACE_LOG_NORMAL, 0.5, 0, 1, -20},
        {BRUME_GRID_GUMBEL, 0, 0.5, 1, -20},
    };
    enum { KNOWN = sizeof known / sizeof *known };
    const double alarm = false_alarm_share(false_alarm_grid_noise) / KNOWN;
    static int64_t draws[DRAWS];
    brume_error error;
    brume_bits *bits = brume_tape_open_seeded(31);
    for (int q = 0; q < KNOWN; q++) {
        for (int i = 0; i < DRAWS; i++)
            assert_ok(brume_grid_noise(bits, known[q].law, known[q].shape, known[q].location,
                                       known[q].scale, known[q].exponent, &draws[i], &error));
        assert_holds(fits(draws, known[q].law, known[q].shape, known[q].location, known[q].scale,
                          known[q].exponent, alarm));
        /* a scale a sixth off, or a shift by half a scale, is seen */
        assert_false(fits(draws, known[q].law, known[q].shape, known[q].location,
                          known[q].scale * 1.2, known[q].exponent, alarm));
        assert_false(fits(draws, known[q].law, known[q].shape,
                          known[q].location + known[q].scale / 2, known[q].scale, known[q].exponent,
                          alarm));
    }
    brume_bits_close(bits);
}

static void the_sum_is_rounded_and_not_the_noise(void **state)
{
    (void)state;
    brume_error error;
    brume_bits *bits = brume_tape_open_seeded(8);
    int64_t out;
    for (int law = BRUME_GRID_LAPLACE; law <= BRUME_GRID_GUMBEL; law++) {
        double shape = law == BRUME_GRID_STUDENT ? 3 : 0;
        /* noise far below the grid */
        assert_ok(brume_grid_noise(bits, (brume_grid_law)law, shape, 41.7, 1e-30, 0, &out, &error));
        assert_int_equal(out, 42);
        assert_ok(brume_grid_noise(bits, (brume_grid_law)law, shape, -3.26, 0, -1, &out, &error));
        assert_int_equal(out, -7);
        assert_ok(brume_grid_noise(bits, (brume_grid_law)law, shape, 2.5, 0, 0, &out, &error));
        assert_int_equal(out, 3);
        /* far beyond the clamp */
        assert_ok(brume_grid_noise(bits, (brume_grid_law)law, shape, 1e300, 1, 0, &out, &error));
        assert_int_equal(out, INT64_C(1) << 62);
        assert_ok(
            brume_grid_noise(bits, (brume_grid_law)law, shape, -1e300, 1, -1074, &out, &error));
        assert_int_equal(out, -(INT64_C(1) << 62));
    }
    brume_bits_close(bits);
}

static void ambiguous_words_read_on(void **state)
{
    (void)state;
    brume_error error;
    int64_t out;
    /* U = 0 so far: -ln U has no bound; then U = 2^-126 */
    uint64_t zero = 0, more[2] = {1, 0};
    brume_bits *tape = brume_tape_open(&zero, 1, more, 1);
    assert_ok(brume_grid_noise(tape, BRUME_GRID_LAPLACE, 0, 0, 1, 0, &out, &error));
    assert_int_equal(out, 87); /* 126 ln 2 = 87.3 */
    assert_int_equal(brume_tape_more_read(tape), 1);
    brume_bits_close(tape);
    tape = brume_tape_open(&zero, 1, more, 0);
    out = 5;
    assert_fails(brume_grid_noise(tape, BRUME_GRID_LAPLACE, 0, 0, 1, 0, &out, &error),
                 BRUME_ERANDOM);
    assert_int_equal(out, 5);
    brume_bits_close(tape);
}

static void bad_arguments_are_refused(void **state)
{
    (void)state;
    brume_error error;
    brume_bits *bits = brume_tape_open_seeded(1);
    int64_t out = 3;
    static const struct {
        int law;
        double shape, location, scale;
        int exponent;
    } bad[] = {
        {0, 0, 0, 1, 0},        {7, 0, 0, 1, 0},     {1, 1, 0, 1, 0},    {1, 0, NAN, 1, 0},
        {1, 0, INFINITY, 1, 0}, {1, 0, 0, -1, 0},    {1, 0, 0, NAN, 0},  {1, 0, 0, INFINITY, 0},
        {1, 0, 0, 1, 1024},     {1, 0, 0, 1, -1075}, {4, 0.99, 0, 1, 0}, {4, NAN, 0, 1, 0},
        {4, INFINITY, 0, 1, 0}, {5, -0.1, 0, 1, 0},  {5, NAN, 0, 1, 0},  {5, 1025, 0, 1, 0},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_fails(brume_grid_noise(bits, (brume_grid_law)bad[i].law, bad[i].shape,
                                      bad[i].location, bad[i].scale, bad[i].exponent, &out, &error),
                     BRUME_EARGUMENT);
    assert_fails(brume_grid_noise(NULL, BRUME_GRID_CAUCHY, 0, 0, 1, 0, &out, &error),
                 BRUME_EARGUMENT);
    fesetround(FE_UPWARD);
    brume_status status = brume_grid_noise(bits, BRUME_GRID_CAUCHY, 0, 0, 1, 0, &out, &error);
    fesetround(FE_TONEAREST);
    assert_int_equal((int)status, BRUME_EARGUMENT);
    assert_int_equal(out, 3);
    assert_int_equal(brume_tape_main_read(bits), 0);
    /* the last that are good */
    assert_ok(brume_grid_noise(bits, BRUME_GRID_LAPLACE_LOG_NORMAL, 1024, 0, 1, 0, &out, &error));
    assert_ok(brume_grid_noise(bits, BRUME_GRID_LAPLACE_LOG_NORMAL, 0, 0, 1, 0, &out, &error));
    assert_ok(brume_grid_noise(bits, BRUME_GRID_LAPLACE, 0, 0, 1, 1023, &out, &error));
    assert_ok(brume_grid_noise(bits, BRUME_GRID_LAPLACE, 0, 0, 0, -1074, &out, &error));
    brume_bits_close(bits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frequencies_follow_the_laws),
        cmocka_unit_test(the_sum_is_rounded_and_not_the_noise),
        cmocka_unit_test(ambiguous_words_read_on),
        cmocka_unit_test(bad_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
