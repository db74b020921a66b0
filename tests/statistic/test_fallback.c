/* Propose-test-release that falls back on global sensitivity: its law on every pair of small
 * neighbours, in both directions, from the library's own distances and values. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <brume/statistic/quantile.h>
#include <brume/mechanism/stability.h>
#include <brume/statistic/tested.h>

enum { ROWS = 3, TOP = 3, FAR = 120 };

typedef struct data {
    uint64_t distance;
    int64_t value;
} data;

/* The median of ROWS values in 0..TOP and its distance to local sensitivities above `bound`. */
static data look(const int64_t *values, size_t count, uint64_t bound, brume_adjacency adjacency)
{
    brume_quantile_rule rule = {.numerator = 1,
                                .denominator = 2,
                                .values_per_unit = 1,
                                .adjacency = adjacency,
                                .lower = 0,
                                .upper = TOP};
    brume_quantile *quantile = NULL;
    brume_error error = {0};
    data found;
    int64_t copy[ROWS + 1] = {0};
    memcpy(copy, values, count * sizeof *copy);
    assert_ok(brume_quantile_open(&rule, copy, count, &quantile, &error));
    brume_tested tested = brume_tested_quantile(quantile);
    assert_ok(tested.distance(tested.context, bound, &found.distance, &error));
    assert_ok(tested.value(tested.context, &found.value, &error));
    brume_quantile_close(quantile);
    return found;
}

/* P[X = k] and P[X >= k] of discrete Laplace noise. */
static double mass(double scale, int64_t k)
{
    if (scale == 0)
        return k == 0;
    return tanh(1 / (2 * scale)) * exp(-(double)llabs(k) / scale);
}

static double from(double scale, int64_t k)
{
    double a = exp(-1 / scale);
    return k > 0 ? pow(a, (double)k) / (1 + a) : 1 - pow(a, (double)(1 - k)) / (1 + a);
}

typedef struct plan {
    double test, release, delta, fallback_scale;
    uint64_t bound, threshold;
} plan;

/* P[the branch and the output y]. */
static double law_of(const plan *p, const data *x, bool passed, int64_t y)
{
    double passes = x->distance == UINT64_MAX
                        ? 1
                        : from(1 / p->test, (int64_t)p->threshold - (int64_t)x->distance);
    double scale = passed ? (double)p->bound / p->release : p->fallback_scale;
    return (passed ? passes : 1 - passes) * mass(scale, y - x->value);
}

static double hockey_stick(const plan *p, const data *x, const data *z)
{
    double sum = 0, factor = exp(p->test + p->release);
    for (int passed = 0; passed < 2; passed++)
        for (int64_t y = -FAR; y <= FAR; y++)
            sum += fmax(law_of(p, x, passed, y) - factor * law_of(p, z, passed, y), 0);
    return sum;
}

/* The largest delta over all neighbours, at the price that is charged. */
static double worst(const plan *p, brume_adjacency adjacency)
{
    double most = 0;
    int64_t x[ROWS], z[ROWS];
    for (int code = 0; code < 64; code++)
        for (int other = 0; other <= TOP; other++) {
            for (int i = 0; i < ROWS; i++)
                z[i] = x[i] = code >> (2 * i) & 3;
            z[0] = other;
            data a = look(x, ROWS, p->bound, adjacency);
            data b = adjacency == BRUME_REPLACE ? look(z, ROWS, p->bound, adjacency)
                                                : look(x + 1, ROWS - 1, p->bound, adjacency);
            most = fmax(most, fmax(hockey_stick(p, &a, &b), hockey_stick(p, &b, &a)));
        }
    return most;
}

static plan make_plan(double test, double release, double delta, uint64_t bound)
{
    plan p = {.test = test,
              .release = release,
              .delta = delta,
              .fallback_scale = TOP / release,
              .bound = bound};
    double unused;
    brume_error error = {0};
    assert_ok(brume_stability_threshold(test, delta, &p.threshold, &unused, &error));
    return p;
}

static void the_fallback_costs_what_is_charged(void **state)
{
    (void)state;
    static const brume_adjacency both[] = {BRUME_ADD_REMOVE, BRUME_REPLACE};
    for (int i = 0; i < 2; i++)
        for (uint64_t bound = 0; bound < TOP; bound++) {
            plan p = make_plan(.5, .7, .05, bound);
            assert_true(worst(&p, both[i]) <= p.delta * (1 + 1e-9));
        }
}

/* Mutants: the fallback with noise for the proposed bound, and with noise for all of the price. */
static void too_little_noise_in_the_fallback_is_found(void **state)
{
    (void)state;
    plan p = make_plan(.5, .7, .05, 1);
    p.fallback_scale = 1 / p.release;
    assert_true(worst(&p, BRUME_REPLACE) > 2 * p.delta);
    p.fallback_scale = TOP / (2 * (p.test + p.release));
    assert_true(worst(&p, BRUME_REPLACE) > p.delta);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fallback_costs_what_is_charged),
        cmocka_unit_test(too_little_noise_in_the_fallback_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
