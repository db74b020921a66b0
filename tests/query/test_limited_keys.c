/* Private keys where totals are limited: the law of a whole query in two stages, against its price.
 *
 * Stage 1: each unit keeps one key; a key is shown if its noisy number of units passes. Stage 2:
 * the rows of all units in the keys that are shown, limited to T over them, with noise. The
 * hockey-stick divergence is summed exactly over which keys show and all numbers, in both
 * directions, for one unit more and for one replaced. Outputs with the same ratio of the two laws
 * are summed together. */
#include "check.h"

#include <stdlib.h>

#include "query/limit/clip.h"
#include "query/limit/grid.h"
#include "query/price/limited.h"

enum { KEYS = 3, CLASSES = 64, SHIFT = 1 };

/* A component of the output: probabilities under both tables, classes of equal ratio. */
typedef struct component {
    size_t count;
    double p[CLASSES], q[CLASSES];
} component;

/* a + DL against b + DL, where at least `lowest` is seen; the numbers are integers. */
static component noised(double scale, int64_t a, int64_t b, int64_t lowest)
{
    component out = {0};
    int64_t span = (int64_t)(45 * scale) + 2, distance = a > b ? a - b : b - a;
    double e = exp(-1 / scale), normal = (1 - e) / (1 + e);
    out.count = (size_t)(2 * distance + 1);
    int64_t low = (a < b ? a : b) - span, high = (a > b ? a : b) + span;
    for (int64_t x = low > lowest ? low : lowest; x <= high; x++) {
        int64_t ratio = llabs(x - b) - llabs(x - a) + distance; /* 0 .. 2 distance */
        out.p[ratio] += normal * exp(-fabs((double)(x - a)) / scale);
        out.q[ratio] += normal * exp(-fabs((double)(x - b)) / scale);
    }
    return out;
}

/* sum of max(0, P - e^epsilon Q) over the classes of all components. */
static double divergence(const component *parts, size_t count, double p, double q, double e)
{
    if (count == 0)
        return fmax(0, p - e * q);
    double total = 0;
    for (size_t i = 0; i < parts->count; i++)
        if (parts->p[i] > 0 || parts->q[i] > 0)
            total += divergence(parts + 1, count - 1, p * parts->p[i], q * parts->q[i], e);
    return total;
}

typedef struct query {
    double units_scale, rows_noise, epsilon, delta;
    int64_t threshold;
    uint64_t limit;
} query;

/* A unit: rows in each key, and the key that it keeps. Without rows it is not there. */
typedef struct unit {
    int64_t rows[KEYS];
    int kept; /* -1: none */
} unit;

/* P[n + DL >= threshold]; a key without units does not exist. */
static double shows(const query *of, int64_t n)
{
    double a = exp(-1 / of->units_scale);
    int64_t x = of->threshold - n;
    if (n == 0)
        return 0;
    return x > 0 ? pow(a, (double)x) / (1 + a) : 1 - pow(a, (double)(1 - x)) / (1 + a);
}

/* What is left of a unit's rows in the shown keys. */
static void limit_rows(const query *of, const unit *one, unsigned shown, int64_t *y)
{
    brume_u128 norm = 0;
    for (int k = 0; k < KEYS; k++)
        norm += shown >> k & 1 ? brume_limit_part(one->rows[k], 1) : 0;
    brume_limit_factor factor = brume_limit_factor_of(norm, of->limit, 1);
    for (int k = 0; k < KEYS; k++)
        y[k] = shown >> k & 1 ? brume_limit_clip(one->rows[k], &factor, of->limit, SHIFT, 1) : 0;
}

/* `others` units keep each key; P has the unit `a` besides, Q the unit `b`. */
static double loss(const query *of, const int64_t *others, const unit *a, const unit *b)
{
    double e = exp(of->epsilon), total = 0;
    double scale = of->rows_noise * ldexp((double)of->limit, SHIFT);
    for (unsigned shown = 0; shown < 1 << KEYS; shown++) {
        component parts[2 * KEYS];
        size_t count = 0;
        double p = 1, q = 1;
        int64_t y[KEYS], z[KEYS];
        limit_rows(of, a, shown, y);
        limit_rows(of, b, shown, z);
        for (int k = 0; k < KEYS; k++) {
            int64_t n = others[k] + (a->kept == k), m = others[k] + (b->kept == k);
            if (!(shown >> k & 1)) {
                p *= 1 - shows(of, n);
                q *= 1 - shows(of, m);
                continue;
            }
            if (n == m || n == 0 || m == 0) { /* the same number, or only one of them has the key */
                p *= shows(of, n);
                q *= shows(of, m);
            } else {
                parts[count++] = noised(of->units_scale, n, m, of->threshold);
            }
            if (y[k] != z[k])
                parts[count++] = noised(scale, y[k], z[k], INT64_MIN / 2);
        }
        total += divergence(parts, count, p, q, e);
    }
    return total;
}

static query price_of(double epsilon, double delta, bool replace, uint64_t limit)
{
    brume_error error = {0};
    brume_measure measures[] = {{.kind = BRUME_MEASURE_UNITS}, {.kind = BRUME_MEASURE_ROWS}};
    brume_limited_shape shape = {.cells = 0, .replace = replace};
    brume_limited_price limited;
    brume_price price;
    assert_ok(brume_limited_pay(measures, 2, &shape, BRUME_NOISE_DISCRETE_LAPLACE, epsilon, delta,
                                0, &limited, &price, &error));
    assert_holds(price.delta <= delta);
    return (query){measures[0].scale, measures[1].noise,        epsilon,
                   price.delta,       (int64_t)price.threshold, limit};
}

/* All units of 0, 1 or 3 rows in each key, each with every key that it may keep. */
static size_t all_units(unit *units)
{
    static const int64_t rows[] = {0, 1, 3};
    size_t count = 0;
    for (int code = 1; code < 27; code++)
        for (int kept = 0; kept < KEYS; kept++) {
            unit one = {{rows[code % 3], rows[code / 3 % 3], rows[code / 9]}, kept};
            if (one.rows[kept] > 0)
                units[count++] = one;
        }
    return count;
}

static double worst(const query *of, bool replace)
{
    static const unit nobody = {{0, 0, 0}, -1};
    unit units[81];
    size_t count = all_units(units);
    double most = 0;
    for (int code = 0; code < 27; code++) {
        const int64_t crowds[] = {0, 1, of->threshold + 2};
        const int64_t others[KEYS] = {crowds[code % 3], crowds[code / 3 % 3], crowds[code / 9]};
        for (size_t i = 0; i < count; i++) {
            most = fmax(most, loss(of, others, &units[i], &nobody));
            most = fmax(most, loss(of, others, &nobody, &units[i]));
            for (size_t j = i % 5; replace && j < count; j += 5)
                most = fmax(most, loss(of, others, &units[i], &units[j]));
        }
    }
    return most;
}

static const struct {
    double epsilon, delta;
    uint64_t limit;
} prices[] = {{1, 1e-3, 2}, {2, 1e-2, 1}, {0.5, 0.05, 3}};

static void two_stages_cost_no_more_than_charged(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++)
        for (int replace = 0; replace < 2; replace++) {
            query of = price_of(prices[i].epsilon, prices[i].delta, replace, prices[i].limit);
            double most = worst(&of, replace);
            printf("# epsilon %g, %s: %.3g of delta %.3g\n", of.epsilon,
                   replace ? "replace" : "add-remove", most, of.delta);
            assert_holds(most <= of.delta * (1 + 1e-6) + 1e-12);
            assert_holds(replace || most >= 0.99 * of.delta); /* tight */
        }
}

static void broken_stages_are_caught(void **state)
{
    (void)state;
    query of = price_of(1, 1e-3, false, 2);
    of.threshold--;
    assert_holds(worst(&of, false) > 1e-3);
    of = price_of(1, 1e-3, false, 2);
    assert_holds(worst(&of, true) > 0.01); /* the price of add-remove, under replace */
    of.rows_noise /= 2; /* the second stage for nothing: as if the test of keys had paid */
    assert_holds(worst(&of, false) > 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_stages_cost_no_more_than_charged),
        cmocka_unit_test(broken_stages_are_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
