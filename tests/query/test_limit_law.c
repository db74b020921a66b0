/* The law of the limit and the answer of a whole COUNT query, by enumeration: a noisy histogram of
 * three bins, the shipped rule, the counts of the units above the limit, the shipped price, the
 * clipped count with its noise. Everything that is drawn is in the outcome: which limit came first,
 * all counts, the limit in the end and the answer. On neighbouring tables, both adjacencies, both
 * directions, no outcome is more than e^epsilon times as likely; and controls that must fail. */
#include "check.h"

#include <stdlib.h>

#include "query/limit/above.h"
#include "query/limit/choose.h"
#include "query/limit/grid.h"
#include "query/price/limited.h"

enum { BINS = 3, UNITS_MOST = 4, SHOWN = 40, MOST = 40, ASKED = 2 };

typedef struct database {
    size_t units;
    int64_t rows[UNITS_MOST];
} database;

typedef struct priced {
    double histogram_scale, count_scale, ask_scale; /* the shipped price, */
    double noise[ASKED + 1], need[ASKED + 1];       /* for a limit of 1, by the sharper counts */
    bool exact_histogram;                           /* a control */
} priced;

static priced price_of(double epsilon, bool replace)
{
    brume_error error = {0};
    brume_limited_shape shape = {.cells = 1, .replace = replace, .choices = 1};
    priced how = {0};
    for (size_t asked = 0; asked <= ASKED; asked++) {
        brume_measure rows = {.kind = BRUME_MEASURE_ROWS};
        brume_limited_price limited;
        brume_price price;
        assert_ok(brume_limited_pay(&rows, 1, &shape, BRUME_NOISE_DISCRETE_LAPLACE, epsilon, 0,
                                    asked, &limited, &price, &error));
        how.histogram_scale = limited.histogram_scale;
        how.count_scale = limited.count_scale;
        how.ask_scale = limited.ask_scale;
        how.noise[asked] = rows.noise;
        how.need[asked] = brume_limit_need(rows.noise, false, 1);
    }
    return how;
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

/* P[the first limit is that of bin i, ..., and the one in the end that of bin j], by what is drawn
 * in between; counts are c - COUNTED. [BINS]: not found, and then there is no count. So few units
 * as here always have the sharper count, unless a crowd is seen. */
enum { COUNTED = 60, SIDE = 2 * COUNTED + 1 };
typedef struct limit_law {
    double plain[BINS + 1][BINS + 1];             /* no bin hints at a crowd */
    double calm[BINS][SIDE][BINS + 1];            /* one does, but not with this first count */
    double suspected[BINS][SIDE][SIDE][BINS + 1]; /* it was counted: not confirmed */
    double seen[BINS][SIDE][SIDE][BINS + 1];      /* confirmed */
} limit_law;

static size_t end_of(const brume_limit_histogram *histogram, double need, bool crowd)
{
    size_t bin = brume_limit_choose(histogram, need, crowd);
    return bin == BRUME_LIMIT_NO_BIN ? BINS : bin;
}

/* The least first count with which a crowd is suspected, and the least count of it that confirms
 * it; SIDE - COUNTED: none. Both rise with the count. */
static int64_t least_count(brume_limit_histogram histogram, size_t which, double scale,
                           size_t counted_from)
{
    int64_t low = -COUNTED - 1, high = COUNTED + 1;
    while (high - low > 1) {
        int64_t middle = (low + high) / 2 - (low + high < 0 && (low + high) % 2);
        size_t from = 0;
        histogram.counts[which] = (brume_limit_count){counted_from, (double)middle, scale};
        bool is = which == BRUME_LIMIT_FIRST ? brume_limit_suspects_crowd(&histogram, &from)
                                             : brume_limit_sees_crowd(&histogram);
        if (is)
            high = middle;
        else
            low = middle;
    }
    return high;
}

static void add_outcome(const double *noisy, double p, const priced *how, limit_law *law)
{
    brume_limit_histogram histogram = {noisy, BINS, false, how->histogram_scale, 0, {{0}}};
    if (how->exact_histogram)
        histogram.scale = 0.05;
    size_t first = end_of(&histogram, how->need[0], false);
    brume_limit_crowd crowd;
    size_t top = brume_limit_see(&histogram).top;
    if (first == BINS || top == BRUME_LIMIT_NO_BIN ||
        !brume_limit_find_crowd(&histogram, top, BRUME_CROWD_LEAST, &crowd)) {
        bool counts = first < BINS && top != BRUME_LIMIT_NO_BIN;
        size_t end = counts ? end_of(&histogram, how->need[1], false) : first;
        law->plain[first][end] += p;
        return;
    }
    int64_t suspects = least_count(histogram, BRUME_LIMIT_FIRST, how->count_scale, first + 1) +
                       COUNTED;
    int64_t sees = least_count(histogram, BRUME_LIMIT_CROWD, how->ask_scale, crowd.from) + COUNTED;
    size_t calm = end_of(&histogram, how->need[1], false);
    size_t suspected = end_of(&histogram, how->need[2], false);
    size_t seen = end_of(&histogram, how->need[1], true);
    for (int64_t c = 0; c < SIDE; c++) {
        if (c < suspects)
            law->calm[first][c][calm] += p;
        for (int64_t k = 0; c >= suspects && k < SIDE; k++)
            if (k < sees)
                law->suspected[first][c][k][suspected] += p;
            else
                law->seen[first][c][k][seen] += p;
    }
}

static void law_of_limit(const int64_t *counts, const priced *how, limit_law *law)
{
    int64_t most = how->exact_histogram ? 3 : (int64_t)ceil(10.3 * how->histogram_scale) + 4;
    assert_holds(most <= MOST);
    double weight[BINS][2 * MOST + 1];
    for (size_t i = 0; i < BINS; i++)
        for (int64_t x = -most; x <= most; x++)
            weight[i][x + most] = how->exact_histogram
                                      ? x == counts[i]
                                      : mass(how->histogram_scale, counts[i], x, most);
    memset(law, 0, sizeof *law);
    for (int64_t a = -most; a <= most; a++)
        for (int64_t b = -most; b <= most; b++)
            for (int64_t c = -most; c <= most; c++) {
                double p = weight[0][a + most] * weight[1][b + most] * weight[2][c + most];
                double noisy[BINS] = {(double)a, (double)b, (double)c};
                if (p > 0)
                    add_outcome(noisy, p, how, law);
            }
}

/* What is drawn of a table: the law of the limits, what is counted above each of the first ones,
 * and what is summed under each of those in the end. */
typedef struct law {
    const limit_law *limits;
    int64_t above[BINS + 1], sum[BINS + 1];
} law;

/* The laws of one price, by the units in the bins, each computed once. */
static limit_law *known[UNITS_MOST + 1][UNITS_MOST + 1][UNITS_MOST + 1];

static void forget_laws(void)
{
    for (size_t i = 0; i < sizeof known / sizeof ***known; i++) {
        free((&known[0][0][0])[i]);
        (&known[0][0][0])[i] = NULL;
    }
}

static const limit_law *known_law(const int64_t *counts, const priced *how)
{
    limit_law **at = &known[counts[0]][counts[1]][counts[2]];
    if (!*at) {
        *at = malloc(sizeof **at);
        assert_non_null(*at);
        law_of_limit(counts, how, *at);
    }
    return *at;
}

static law law_of(const database *data, const priced *how)
{
    law out = {0};
    int64_t counts[BINS] = {0};
    for (size_t i = 0; i < data->units; i++) {
        size_t bin = brume_limit_bin((brume_u128)data->rows[i], 1, BINS);
        if (bin != BRUME_LIMIT_NO_BIN)
            counts[bin]++;
    }
    out.limits = known_law(counts, how);
    for (size_t b = 0; b <= BINS; b++) {
        int64_t limit = b < BINS ? (int64_t)brume_limit_edge(b) : 1;
        for (size_t i = b + 1; i < BINS; i++)
            out.above[b] += counts[i];
        for (size_t i = 0; i < data->units; i++)
            out.sum[b] += data->rows[i] < limit ? data->rows[i] : limit;
    }
    return out;
}

/* The largest log(P/Q) of n + noise against m + noise. */
static double largest(double scale, int64_t n, int64_t m, int64_t most)
{
    double worst = -INFINITY;
    for (int64_t x = -most; x <= most; x++)
        worst = fmax(worst, log(mass(scale, n, x, most) / mass(scale, m, x, most)));
    return worst;
}

static double log_ratio(double p, double q)
{
    return p == 0 ? -INFINITY : log(p / q);
}

/* log(P/Q) of a count, by its place. */
static double counted(double scale, int64_t n, int64_t m, int64_t place)
{
    return log(mass(scale, n, place - COUNTED, COUNTED) / mass(scale, m, place - COUNTED, COUNTED));
}

/* Outcomes with one first limit and one limit in the end: `answer` is what the answer can say, by
 * the sharper counts, `sharp` what the sharper count can. The crowd is in the last bin, since there
 * are three. */
static double loss_of(const law *p, const law *q, const priced *how, size_t first, size_t end,
                      const double answer[ASKED + 1])
{
    int64_t n = p->above[first], m = q->above[first];
    int64_t far = p->above[BINS - 2], other_far = q->above[BINS - 2];
    double sharp = largest(how->ask_scale, n, m, COUNTED);
    double worst = answer[1] + sharp + largest(how->count_scale, n, m, COUNTED) +
                   log_ratio(p->limits->plain[first][end], q->limits->plain[first][end]);
    for (int64_t c = 0; c < SIDE; c++) {
        double say = counted(how->count_scale, n, m, c);
        worst = fmax(worst,
                     answer[1] + sharp + say +
                         log_ratio(p->limits->calm[first][c][end], q->limits->calm[first][c][end]));
        for (int64_t k = 0; k < SIDE; k++) {
            const double *suspected = p->limits->suspected[first][c][k];
            const double *seen = p->limits->seen[first][c][k];
            if (suspected[end] == 0 && seen[end] == 0)
                continue;
            double both = say + counted(how->ask_scale, far, other_far, k);
            worst =
                fmax(worst, answer[2] + sharp + both +
                                log_ratio(suspected[end], q->limits->suspected[first][c][k][end]));
            worst = fmax(worst, answer[1] + both +
                                    log_ratio(seen[end], q->limits->seen[first][c][k][end]));
        }
    }
    return worst;
}

/* The largest log(P/Q) over all outcomes: given the limits the other draws are independent. */
static double loss_one_way(const law *p, const law *q, const priced *how)
{
    double worst = 0;
    for (size_t end = 0; end <= BINS; end++) {
        int64_t limit = end < BINS ? (int64_t)brume_limit_edge(end) : 1;
        double answer[ASKED + 1];
        for (size_t i = 0; i <= ASKED; i++)
            answer[i] = largest(how->noise[i] * (double)limit, p->sum[end], q->sum[end], SHOWN);
        worst = fmax(
            worst, answer[0] + log_ratio(p->limits->plain[BINS][end], q->limits->plain[BINS][end]));
        for (size_t first = 0; first < BINS; first++)
            worst = fmax(worst, loss_of(p, q, how, first, end, answer));
    }
    return worst;
}

static double loss(const database *a, const database *b, const priced *how)
{
    law p = law_of(a, how), q = law_of(b, how);
    return fmax(loss_one_way(&p, &q, how), loss_one_way(&q, &p, how));
}

static const int64_t choices[] = {1, 2, 3, 5};

/* Over tables of up to `others` units, and one more or one replaced. */
static double worst_loss(const priced *how, bool replace, size_t others)
{
    double worst = 0;
    forget_laws();
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
    memcpy(how.noise, (const double[]){how.noise[0], how.noise[0], how.noise[0]}, sizeof how.noise);
    assert_holds(worst_loss(&how, false, 1) > 6.5); /* sharper counts that nobody pays for */
    how = price_of(6, false);
    how.ask_scale /= 2;
    assert_holds(worst_loss(&how, false, 1) > 6.5); /* the sharper count charged half */
    how = price_of(6, false);
    how.count_scale /= 4;
    assert_holds(worst_loss(&how, false, 1) > 6.5); /* the first one charged a quarter */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_count_loses_no_more_than_its_price),
        cmocka_unit_test(broken_prices_are_found),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    forget_laws();
    return failed;
}
