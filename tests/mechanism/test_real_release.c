/* Reals on a grid: the law of the release, the grid itself, and refusals. */
#include "check.h"

#include <stdlib.h>

#include <brume/noise/release.h>

#include "chance.h"
#include "random/tape.h"

static brume_error error;

typedef brume_status release_function(brume_bits *, double, int, const double *, double *, size_t,
                                      brume_error *);

static double laplace_cdf(double x)
{
    return x < 0 ? exp(x) / 2 : 1 - exp(-x) / 2;
}

static double gaussian_cdf(double x)
{
    return erfc(-x / sqrt(2)) / 2;
}

static const struct {
    release_function *release;
    double (*cdf)(double);
} laws[] = {{brume_release_laplace, laplace_cdf}, {brume_release_gaussian, gaussian_cdf}};

/* On a coarse grid the release of an off-grid value has mass F(k+1/2) - F(k-1/2) around it. */
static void an_off_grid_value_is_rounded_after_the_noise(void **state)
{
    (void)state;
    enum { N = 15000, REACH = 6 };
    double alarm = false_alarm_share(false_alarm_real_release) / (2 * 2 * (2 * REACH + 1));
    for (int l = 0; l < 2; l++)
        for (int exponent = -2; exponent <= 0; exponent += 2) {
            brume_bits *bits = brume_tape_open_seeded((uint64_t)(100 + 10 * l + exponent + 2));
            double grid = ldexp(1, exponent), value = 10.3, *values = malloc(N * sizeof *values);
            double *out = malloc(N * sizeof *out);
            for (int i = 0; i < N; i++)
                values[i] = value;
            assert_ok(laws[l].release(bits, .75, exponent, values, out, N, &error));
            bool right = true, rounded_first = true;
            for (int k = -REACH; k <= REACH; k++) {
                double point = (floor(value / grid) + k) * grid, mass[2];
                uint64_t count = 0;
                for (int i = 0; i < N; i++)
                    count += out[i] == point;
                for (int mutant = 0; mutant < 2; mutant++) {
                    double centre = mutant ? nearbyint(value / grid) * grid : value;
                    mass[mutant] = laws[l].cdf((point + grid / 2 - centre) / .75) -
                                   laws[l].cdf((point - grid / 2 - centre) / .75);
                }
                right &=
                    binomial_plausible(N, count, mass[0] * (1 - 1e-9), mass[0] * (1 + 1e-9), alarm);
                rounded_first &= binomial_plausible(N, count, mass[1], mass[1], alarm);
            }
            assert_true(right);
            /* mutant: rounding the value before the noise is another law */
            if (exponent == 0)
                assert_false(rounded_first);
            for (int i = 0; i < N; i++)
                assert_true(fmod(out[i], grid) == 0);
            free(values);
            free(out);
            brume_bits_close(bits);
        }
}

static void the_grid_comes_from_the_noise_alone(void **state)
{
    (void)state;
    static const double spreads[] = {1, 1.99, 2, 10, 1e-9, 1e100, 5e-324};
    static const int expected[] = {-40, -40, -39, -37, -70, 292, -1074};
    for (int i = 0; i < 7; i++) {
        int exponent = 42;
        assert_ok(brume_release_exponent(spreads[i], &exponent, &error));
        assert_int_equal(exponent, expected[i]);
    }
    int exponent = 42;
    const double bad[] = {NAN, INFINITY, 0, -1, 1e300};
    for (int i = 0; i < 5; i++)
        assert_fails(brume_release_exponent(bad[i], &exponent, &error), BRUME_EARGUMENT);
    assert_int_equal(exponent, 42);
}

static void refusals_leave_the_output_and_failure_leaves_zeros(void **state)
{
    (void)state;
    brume_bits *bits = brume_tape_open_seeded(7), *empty = brume_tape_open(NULL, 0, NULL, 0);
    for (int l = 0; l < 2; l++) {
        double values[2] = {1, 2}, out[2] = {42, 43};
        const double bad[] = {NAN, INFINITY, 0, -1};
        for (int i = 0; i < 4; i++)
            assert_fails(laws[l].release(bits, bad[i], -40, values, out, 2, &error),
                         BRUME_EARGUMENT);
        for (int i = 0; i < 2; i++) {
            double broken[2] = {1, bad[i]};
            assert_fails(laws[l].release(bits, 1, -40, broken, out, 2, &error), BRUME_EARGUMENT);
            assert_null(strstr(error.message, "nan"));
        }
        assert_fails(laws[l].release(bits, 1, -1075, values, out, 2, &error), BRUME_EARGUMENT);
        assert_fails(laws[l].release(bits, 1, 901, values, out, 2, &error), BRUME_EARGUMENT);
        assert_true(out[0] == 42 && out[1] == 43);
        assert_fails(laws[l].release(empty, 1, -40, values, out, 2, &error), BRUME_ERANDOM);
        assert_true(out[0] == 0 && out[1] == 0);
        assert_ok(laws[l].release(bits, 1, -40, values, values, 2, &error)); /* in place */
        assert_true(values[0] != 1 && fabs(values[0] - 1) < 60);
        double far[1] = {1e300};
        assert_ok(laws[l].release(bits, 1, -40, far, far, 1, &error));
        assert_true(far[0] == ldexp(1, 62 - 40)); /* clamped to 2^62 steps */
    }
    brume_bits_close(bits);
    brume_bits_close(empty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_off_grid_value_is_rounded_after_the_noise),
        cmocka_unit_test(the_grid_comes_from_the_noise_alone),
        cmocka_unit_test(refusals_leave_the_output_and_failure_leaves_zeros),
    };
    return cmocka_run_group_tests_name("real_release", tests, NULL, NULL);
}
