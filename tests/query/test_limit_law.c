/* The law of the limit and the answer of a whole COUNT query, by enumeration: a noisy histogram of
 * three bins, the shipped rule, the shipped price, the clipped count with its noise. On
 * neighbouring tables, both adjacencies, both directions, no outcome is more than e^epsilon times
 * as likely; and controls that must fail. */
#include "check.h"

#include <stdlib.h>

#include "query/limit/choose.h"
#include "query/limit/grid.h"
#include "query/price/limited.h"

enum { BINS = 3, UNITS_MOST = 4, SHOWN = 40, MOST = 40 };

typedef struct database {
    size_t units;
    int64_t rows[UNITS_MOST];
} database;

typedef struct priced {
    double histogram_scale, noise; /* the shipped price; noise for a limit of 1 */
    double need;
    bool exact_histogram; /* a control */
} priced;

static priced price_of(double epsilon, bool replace)
{
    brume_error error = {0};
    brume_measure rows = {.kind = BRUME_MEASURE_ROWS};
    brume_limited_shape shape = {.cells = 1, .replace = replace, .choices = 1};
    brume_limited_price limited;
    brume_price price;
    assert_ok(brume_limited_pay(&rows, 1, &shape, BRUME_NOISE_DISCRETE_LAPLACE, epsilon, 0, false,
                                &limited, &price, &error));
    return (priced){limited.histogram_scale, rows.noise, brume_limit_need(rows.noise, false, 1),
                    false};
}

/* P[n + discrete Laplace = x], clamped to -most .. most: what is outside is put on the ends. The
 * ends are public, so clamping is post-processing. */
static double mass(double scale, int64_t n, int64_t x, int64_t most)
{
    double a = exp(-1 / scale);
    int64_t k = x - n;
    if (x == most) /* P[noise >= k] */
        return k > 0 ? pow(a, (double)k) / (1 + a) : 1 - pow(a, (double)(1 - k)) / (1 + a);
    if (x == -most)
        return k < 0 ? pow(a, (double)-k) / (1 + a) : 1 - pow(a, (double)(1 + k)) / (1 + a);
    return (1 - a) / (1 + a) * pow(a, fabs((double)k));
}

/* P[limit = edge of bin i], and [BINS] not found. */
static void law_of_limit(const int64_t *counts, const priced *how, double law[BINS + 1])
{
    int64_t most = how->exact_histogram ? 3 : (int64_t)ceil(10.3 * how->histogram_scale) + 4;
    assert_holds(most <= MOST);
    double weight[BINS][2 * MOST + 1];
    for (size_t i = 0; i < BINS; i++)
        for (int64_t x = -most; x <= most; x++)
            weight[i][x + most] = how->exact_histogram
                                      ? x == counts[i]
                                      : mass(how->histogram_scale, counts[i], x, most);
    memset(law, 0, (BINS + 1) * sizeof *law);
    for (int64_t a = -most; a <= most; a++)
        for (int64_t b = -most; b <= most; b++)
            for (int64_t c = -most; c <= most; c++) {
                double p = weight[0][a + most] * weight[1][b + most] * weight[2][c + most];
                if (p == 0)
                    continue;
                double noisy[BINS] = {(double)a, (double)b, (double)c};
                double scale = how->exact_histogram ? 0.05 : how->histogram_scale;
                brume_limit_histogram histogram = {noisy, BINS, false, scale, 0};
                size_t bin = brume_limit_choose(&histogram, how->need, false);
                law[bin == BRUME_LIMIT_NO_BIN ? BINS : bin] += p;
            }
}

typedef struct law {
    double p[BINS + 1][2 * SHOWN + 1];
} law;

static law law_of(const database *data, const priced *how)
{
    law out;
    int64_t counts[BINS] = {0};
    double limits[BINS + 1];
    for (size_t i = 0; i < data->units; i++) {
        size_t bin = brume_limit_bin((brume_u128)data->rows[i], 1, BINS);
        if (bin != BRUME_LIMIT_NO_BIN)
            counts[bin]++;
    }
    law_of_limit(counts, how, limits);
    for (size_t b = 0; b <= BINS; b++) {
        int64_t limit = b < BINS ? (int64_t)brume_limit_edge(b) : 1, sum = 0;
        for (size_t i = 0; i < data->units; i++)
            sum += data->rows[i] < limit ? data->rows[i] : limit;
        for (int64_t x = -SHOWN; x <= SHOWN; x++)
            out.p[b][x + SHOWN] = limits[b] * mass(how->noise * (double)limit, sum, x, SHOWN);
    }
    return out;
}

/* The largest |log(P/Q)| over all outcomes. */
static double loss(const database *a, const database *b, const priced *how)
{
    law p = law_of(a, how), q = law_of(b, how);
    double worst = 0;
    for (size_t i = 0; i <= BINS; i++)
        for (size_t x = 0; x <= 2 * SHOWN; x++) {
            if (p.p[i][x] == 0 && q.p[i][x] == 0)
                continue;
            worst = fmax(worst, fabs(log(p.p[i][x] / q.p[i][x])));
        }
    return worst;
}

static const int64_t choices[] = {1, 2, 3, 5};

/* Over tables of up to `others` units, and one more or one replaced. */
static double worst_loss(const priced *how, bool replace, size_t others)
{
    double worst = 0;
    for (size_t n = 0; n <= others; n++)
        for (size_t code = 0; code < (size_t)1 << 2 * n; code++) {
            database base = {.units = n};
            bool sorted = true;
            for (size_t i = 0; i < n; i++) {
                base.rows[i] = choices[code >> 2 * i & 3];
                sorted = sorted && (i == 0 || base.rows[i] >= base.rows[i - 1]);
            }
            for (size_t u = 0; sorted && u < 4; u++)
                for (size_t v = 0; v < (replace ? 4 : 1); v++) {
                    database with = base, other = base;
                    with.rows[with.units++] = choices[u];
                    if (replace && v != u)
                        other.rows[other.units++] = choices[v];
                    worst = fmax(worst, loss(&with, &other, how));
                }
        }
    return worst;
}

static void a_whole_count_loses_no_more_than_its_price(void **state)
{
    (void)state;
    static const double prices[] = {3.2, 6};
    for (size_t i = 0; i < 2; i++) {
        priced how = price_of(prices[i], false);
        double worst = worst_loss(&how, false, 2);
        printf("# add-remove, epsilon %g: loss %.4f\n", prices[i], worst);
        assert_holds(worst <= prices[i] * (1 + 1e-9));
        assert_holds(worst >= 0.9 * prices[i]); /* nothing is paid for nothing */
        how = price_of(2 * prices[i], true);
        worst = worst_loss(&how, true, 1);
        printf("# replace, epsilon %g: loss %.4f\n", 2 * prices[i], worst);
        assert_holds(worst <= 2 * prices[i] * (1 + 1e-9));
    }
}

static void broken_prices_are_found(void **state)
{
    (void)state;
    priced how = price_of(6, false);
    how.exact_histogram = true;
    assert_holds(isinf(worst_loss(&how, false, 1))); /* the limit tells who is there */
    how = price_of(6, false);
    how.histogram_scale /= 2;
    assert_holds(worst_loss(&how, false, 1) > 6.5); /* a histogram charged half */
    how = price_of(6, false);
    how.noise *= 0.9;
    assert_holds(worst_loss(&how, false, 1) > 6.5); /* the measurement at the whole price */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_count_loses_no_more_than_its_price),
        cmocka_unit_test(broken_prices_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
