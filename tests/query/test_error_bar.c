/* Error bars cover: widths against exact tails, ratios by simulation.
 *
 * The simulations count misses in a fixed number of draws. With a miss probability of at most 5 %
 * the count exceeds the limit with probability below 1e-12 (Chernoff: n * KL(limit/n || 0.05) >
 * ln 1e12), and a mutant with widths shrunk by a third must exceed it. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "query/price/error_bar.h"

enum { DRAWS = 3000, LIMIT = 246 }; /* 3000 * KL(0.082 || 0.05) = 27.8 > 27.6 */

static uint64_t seed;

static double uniform(void)
{
    seed += 0x9e3779b97f4a7c15u; /* SplitMix64 */
    uint64_t z = seed;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return ((double)((z ^ z >> 31) >> 11) + 0.5) * 0x1p-53;
}

static double draw(brume_noise_kind noise, double scale)
{
    if (noise != BRUME_NOISE_DISCRETE_LAPLACE)
        return rint(scale * sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform()));
    double a = exp(-1 / scale), u = uniform() * (1 + a); /* |X| >= k has probability 2a^k/(1+a) */
    double k = u >= 2 * a ? 0 : floor(1 + scale * log(2 * a / u));
    return uniform() < 0.5 ? k : -k;
}

static void widths_are_the_least_that_the_exact_tail_allows(void **state)
{
    (void)state;
    for (double scale = 0.3; scale < 1e9; scale *= 3.7) {
        double a = exp(-1 / scale),
               w = brume_error_width(BRUME_NOISE_DISCRETE_LAPLACE, scale, 0.05);
        assert_holds(2 * exp(-(w + 1) / scale) / (1 + a) <= 0.05 * (1 + 1e-9));
        assert_holds(w == 0 || 2 * exp(-w / scale) / (1 + a) > 0.05 * (1 - 1e-9));
        w = brume_error_width(BRUME_NOISE_ROUNDED_GAUSSIAN, scale, 0.05);
        assert_holds(erfc((w + 0.5) / scale * M_SQRT1_2) <= 0.05 * (1 + 1e-9));
        assert_holds(w == 0 || erfc((w - 0.5) / scale * M_SQRT1_2) > 0.05 * (1 - 1e-9));
    }
}

enum { REACH = 4096 };

/* P[|sum of `count` noises| > width], by adding them up one by one. */
static double tail_of_sum(brume_noise_kind noise, double scale, size_t count, double width)
{
    static double sum[2 * REACH + 1], next[2 * REACH + 1], law[2 * REACH + 1];
    double total = 0, tail = 0;
    int far = (int)fmin(REACH, 40 * scale + 10);
    for (int x = -far; x <= far; x++) {
        double z = x / scale;
        law[x + REACH] = noise == BRUME_NOISE_DISCRETE_LAPLACE ? exp(-fabs(z)) : exp(-z * z / 2);
        if (noise == BRUME_NOISE_ROUNDED_GAUSSIAN)
            law[x + REACH] = erfc((fabs((double)x) - 0.5) / scale * M_SQRT1_2) -
                             erfc((fabs((double)x) + 0.5) / scale * M_SQRT1_2);
        total += law[x + REACH];
    }
    memset(sum, 0, sizeof sum);
    sum[REACH] = 1;
    for (size_t i = 0; i < count; i++, memcpy(sum, next, sizeof sum)) {
        memset(next, 0, sizeof next);
        for (int x = -REACH; x <= REACH; x++)
            for (int y = -far; sum[x + REACH] > 0 && y <= far; y++)
                if (abs(x + y) <= REACH)
                    next[x + y + REACH] += sum[x + REACH] * law[y + REACH] / total;
    }
    for (int x = -REACH; x <= REACH; x++)
        tail += fabs((double)x) > width ? sum[x + REACH] : 0;
    return tail;
}

/* Rejects the width of one noise less, and one that adds widths up. */
static void sums_of_noises_have_the_width_of_their_sum(void **state)
{
    (void)state;
    static const brume_noise_kind kinds[] = {
        BRUME_NOISE_DISCRETE_LAPLACE, BRUME_NOISE_DISCRETE_GAUSSIAN, BRUME_NOISE_ROUNDED_GAUSSIAN};
    for (size_t k = 0; k < 3; k++)
        for (size_t count = 2; count <= 9; count += 3)
            for (double scale = 0.6; scale < 30; scale *= 6) {
                double width = brume_error_width_of_sum(kinds[k], scale, count, 0.05);
                double less = brume_error_width_of_sum(kinds[k], scale, count - 1, 0.05);
                assert_holds(tail_of_sum(kinds[k], scale, count, width) <= 0.05 * (1 + 1e-9));
                assert_holds(width <=
                             0.99 * (double)count * (brume_error_width(kinds[k], scale, 0.05) + 1));
                if (scale < 20)
                    continue;
                assert_holds(tail_of_sum(kinds[k], scale, count, 0.85 * width) > 0.05);
                assert_holds(count > 2 || tail_of_sum(kinds[k], scale, count, less) > 0.05);
            }
    double exact = brume_error_width_of_sum(BRUME_NOISE_DISCRETE_LAPLACE, 1000, 500, 0.05);
    double bound = brume_error_width_of_sum(BRUME_NOISE_DISCRETE_LAPLACE, 1000, 501, 0.05);
    assert_holds(exact < bound && bound < 1.5 * exact); /* a bound takes over */
    assert_holds(fabs(exact / (1959.96 * sqrt(1000)) - 1) < 0.02);
}

typedef struct setting {
    brume_noise_kind noise;
    double count, mean, variance, count_scale, sum_scale, squares_scale, reach;
} setting;

static const setting settings[] = {
    {BRUME_NOISE_DISCRETE_LAPLACE, 3, 20, 100, 4, 200, 5000, 50},
    {BRUME_NOISE_DISCRETE_LAPLACE, 40, -35, 300, 4, 200, 5000, 50},
    {BRUME_NOISE_DISCRETE_LAPLACE, 400, 5, 800, 4, 200, 5000, 50},
    {BRUME_NOISE_DISCRETE_LAPLACE, 4000, 0, 2400, 1, 51, 1251, 50},
    {BRUME_NOISE_ROUNDED_GAUSSIAN, 3, 20, 100, 4, 200, 5000, 50},
    {BRUME_NOISE_ROUNDED_GAUSSIAN, 40, -35, 300, 4, 200, 5000, 50},
    {BRUME_NOISE_ROUNDED_GAUSSIAN, 400, 49, 10, 4, 200, 5000, 50},
    {BRUME_NOISE_ROUNDED_GAUSSIAN, 4000, 0, 2400, 1, 51, 1251, 50},
};

static brume_noisy_moments measure(const setting *truth)
{
    double half = floor(truth->reach * truth->reach / 2);
    double square = truth->variance + truth->mean * truth->mean - half;
    return (brume_noisy_moments){
        .count = truth->count + draw(truth->noise, truth->count_scale),
        .sum = truth->count * truth->mean + draw(truth->noise, truth->sum_scale),
        .squares = truth->count * square + draw(truth->noise, truth->squares_scale),
        .count_scale = truth->count_scale,
        .sum_scale = truth->sum_scale,
        .squares_scale = truth->squares_scale,
        .low = -truth->reach,
        .high = truth->reach,
        .half_square = half};
}

/* Misses of the interval, whose half-width is first multiplied by `shrink`. */
static int misses(const setting *truth, int variance, int draws, double shrink)
{
    int missed = 0;
    seed = 42;
    for (int i = 0; i < draws; i++) {
        brume_noisy_moments moments = measure(truth);
        brume_interval bar = variance ? brume_error_variance(truth->noise, &moments, 0.05)
                                      : brume_error_mean(truth->noise, &moments, 0.05);
        double value = variance ? truth->variance : truth->mean;
        double middle = (bar.lower + bar.upper) / 2, half = (bar.upper - bar.lower) / 2 * shrink;
        missed += value < middle - half - 1e-9 || value > middle + half + 1e-9;
    }
    return missed;
}

static void intervals_of_means_cover(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        assert_holds(misses(&settings[i], 0, DRAWS, 1) <= LIMIT);
}

static void intervals_of_means_are_not_wider_than_they_must_be(void **state)
{
    (void)state;
    /* where the count is known well the miss rate is near 5 %, and a third less misses too often */
    for (size_t i = 3; i < sizeof settings / sizeof *settings; i += 4) {
        assert_holds(misses(&settings[i], 0, DRAWS, 1) >= 50);
        assert_holds(misses(&settings[i], 0, DRAWS, 2.0 / 3) > LIMIT);
    }
}

static void intervals_of_variances_cover(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        assert_holds(misses(&settings[i], 1, 300, 1) <= 50); /* 300 * KL(0.167 || 0.05) = 27.9 */
    assert_holds(misses(&settings[7], 1, 300, 0.4) > 50);
}

/* Of 400 values of 20 on average limits cut up to 30 values and 900 of the sum; the bar is of what
 * there was. `told`: it knows. */
static int misses_of_cut(double rows, double sum, double low, bool told)
{
    int missed = 0;
    seed = 7;
    for (int i = 0; i < DRAWS; i++) {
        brume_noisy_moments moments = {.count = 400 - rows + draw(BRUME_NOISE_DISCRETE_LAPLACE, 4),
                                       .sum = 8000 - sum + draw(BRUME_NOISE_DISCRETE_LAPLACE, 60),
                                       .count_scale = 4,
                                       .sum_scale = 60,
                                       .count_cut = told ? 30 : 0,
                                       .sum_cut = told ? 900 : 0,
                                       .low = low,
                                       .high = 50};
        brume_interval bar = brume_error_mean(BRUME_NOISE_DISCRETE_LAPLACE, &moments, 0.05);
        missed += bar.lower > 20 || bar.upper < 20;
    }
    return missed;
}

/* Rejects: a bar without what is cut of either; one that lets values that are never negative be cut
 * on one side alone where they may be. */
static void intervals_of_means_allow_for_what_is_cut(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        double low = i < 4 ? 0 : -50, rows = i & 1 ? 30 : 0;
        double sum = i >= 4 ? -900 : i & 2 ? 900 : 0;
        assert_holds(misses_of_cut(rows, sum, low, true) <= LIMIT);
        if (rows > 0 ? sum <= 0 : sum != 0) /* what is cut of both may cancel */
            assert_holds(misses_of_cut(rows, sum, low, false) > LIMIT);
    }
    assert_holds(misses_of_cut(0, -900, 0, true) > LIMIT); /* of what is never negative */
}

/* A group without values is shown in 1 % of draws. */
static void nothing_is_seldom_more_than_too_few(void **state)
{
    (void)state;
    int shown[2] = {0};
    seed = 3;
    for (int i = 0; i < 20000; i++) {
        shown[0] += draw(BRUME_NOISE_DISCRETE_LAPLACE, 9) >
                    brume_too_few(BRUME_NOISE_DISCRETE_LAPLACE, 9);
        shown[1] += draw(BRUME_NOISE_ROUNDED_GAUSSIAN, 9) >
                    brume_too_few(BRUME_NOISE_ROUNDED_GAUSSIAN, 9);
    }
    for (int i = 0; i < 2; i++) /* 20000 * KL(0.0157 || 0.01) = 27.7, KL(0.005 || 0.01) = 30.9 */
        assert_true(shown[i] <= 314 && shown[i] >= 100);
}

static void a_count_that_may_be_noise_gives_the_whole_range(void **state)
{
    (void)state;
    brume_noisy_moments moments = {.count = 2,
                                   .sum = 30,
                                   .squares = 0,
                                   .count_scale = 4,
                                   .sum_scale = 200,
                                   .squares_scale = 5000,
                                   .low = -50,
                                   .high = 50,
                                   .half_square = 1250};
    brume_interval mean = brume_error_mean(BRUME_NOISE_DISCRETE_LAPLACE, &moments, 0.05);
    assert_holds(mean.lower == -50 && mean.upper == 50);
    brume_interval variance = brume_error_variance(BRUME_NOISE_DISCRETE_LAPLACE, &moments, 0.05);
    assert_holds(variance.lower == 0 && variance.upper == 2500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widths_are_the_least_that_the_exact_tail_allows),
        cmocka_unit_test(sums_of_noises_have_the_width_of_their_sum),
        cmocka_unit_test(intervals_of_means_cover),
        cmocka_unit_test(intervals_of_means_are_not_wider_than_they_must_be),
        cmocka_unit_test(intervals_of_variances_cover),
        cmocka_unit_test(intervals_of_means_allow_for_what_is_cut),
        cmocka_unit_test(nothing_is_seldom_more_than_too_few),
        cmocka_unit_test(a_count_that_may_be_noise_gives_the_whole_range),
    };
    return cmocka_run_group_tests_name("error bars", tests, NULL, NULL);
}
