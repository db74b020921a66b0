/* Sums of noises with factors: bars by the exact law, and what is no such sum is found. */
#include "check.h"

#include <math.h>
#include <stdint.h>

#include "query/release/linear.h"

/* P[|X| > t] of two Laplaces of scales 1 and b, in closed form; of b = 1 its limit. */
static double tail_of_two(double b, double t)
{
    if (b == 1)
        return exp(-t) * (1 + t / 2);
    return (b * b * exp(-t / b) - exp(-t)) / (b * b - 1);
}

static void half_widths_are_those_of_the_law(void **state)
{
    (void)state;
    static const double others[] = {1, 1.01, 2, 5, 40};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const double scales[] = {1, others[i]};
        double tail = tail_of_two(others[i], brume_linear_half_width(scales, 2, 0));
        assert_true(tail < 0.05 && tail > 0.05 * 0.999);
    }
    const double one = 3;
    assert_true(fabs(brume_linear_half_width(&one, 1, 0) - 3 * log(20)) < 1e-9);
    assert_true(fabs(brume_linear_half_width(NULL, 0, 4) - 2 * 1.959963984540054) < 1e-9);
    assert_true(brume_linear_half_width(NULL, 0, 0) == 0);
    /* forty equal ones are nearly a Gaussian, and a little longer in the tail */
    double many[40];
    for (size_t i = 0; i < 40; i++)
        many[i] = 1;
    double width = brume_linear_half_width(many, 40, 0) / sqrt(80);
    assert_true(width > 1.96 && width < 1.98);
    /* a Gaussian beside a Laplace that hardly counts, and the reverse */
    const double small = 1e-4;
    assert_true(fabs(brume_linear_half_width(&small, 1, 1) - 1.96) < 1e-3);
    assert_true(fabs(brume_linear_half_width(&one, 1, 1e-6) / (3 * log(20)) - 1) < 1e-3);
}

enum { DRAWS = 200, NOISES = 7 };

/* Known and even enough: any numbers do. */
static double next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) * 0x1p-53 - 0.5;
}

static void factors_are_found_and_must_fit_all_draws(void **state)
{
    (void)state;
    double moves[DRAWS * NOISES], sums[DRAWS], products[DRAWS], widths[NOISES];
    bool laplace[NOISES] = {true, true, false, true, false, true, true};
    uint64_t seed = 9;
    for (size_t i = 0; i < NOISES; i++)
        widths[i] = i == 5 ? INFINITY : (double)(i + 1);
    for (size_t k = 0; k < DRAWS; k++) {
        double *at = &moves[k * NOISES];
        for (size_t i = 0; i < NOISES; i++)
            at[i] = i == 3 ? 0 : widths[i] < 100 ? widths[i] * next(&seed) : next(&seed);
        sums[k] = 2 * at[0] - 3 * at[1] + 0.5 * at[2];
        products[k] = at[0] + 1e-4 * at[0] * at[1];
    }
    brume_linear *linear = NULL;
    brume_error error = {0};
    assert_ok(brume_linear_open(moves, DRAWS, NOISES, widths, laplace, &linear, &error));
    assert_non_null(linear);
    const double scales[] = {2 / log(20), 6 / log(20)}, deviation = 1.5 / 1.959963984540054;
    double expected = brume_linear_half_width(scales, 2, deviation * deviation);
    assert_true(fabs(brume_linear_bar(linear, sums, 1000) / expected - 1) < 1e-9);
    assert_true(isnan(brume_linear_bar(linear, products, 0))); /* it is not linear */
    sums[DRAWS - 1] += 0.01;                                   /* nor is what one draw has cut */
    assert_true(isnan(brume_linear_bar(linear, sums, 1000)));
    for (size_t k = 0; k < DRAWS; k++)
        sums[k] = moves[k * NOISES + 5];
    assert_true(isnan(brume_linear_bar(linear, sums, 0))); /* a noise whose law is not known */
    for (size_t k = 0; k < DRAWS; k++)
        sums[k] = 0;
    assert_true(brume_linear_bar(linear, sums, 0) == 0);
    brume_linear_close(linear);
}

/* With as many noises as draws anything would fit. */
static void too_many_noises_are_refused(void **state)
{
    (void)state;
    enum { MANY = 170 };
    static double moves[DRAWS * MANY], widths[MANY];
    static bool laplace[MANY];
    uint64_t seed = 3;
    for (size_t i = 0; i < MANY; i++)
        widths[i] = 1;
    for (size_t i = 0; i < DRAWS * MANY; i++)
        moves[i] = next(&seed);
    brume_linear *linear = NULL;
    brume_error error = {0};
    assert_ok(brume_linear_open(moves, DRAWS, MANY, widths, laplace, &linear, &error));
    assert_null(linear);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_widths_are_those_of_the_law),
        cmocka_unit_test(factors_are_found_and_must_fit_all_draws),
        cmocka_unit_test(too_many_noises_are_refused),
    };
    return cmocka_run_group_tests_name("sums of noises", tests, NULL, NULL);
}
