/* The choice of a limit from a noisy histogram of the units' norms.
 *
 * Doubles, of which only sums, products, roots and comparisons are taken, and tails from tables:
 * the same numbers give the same limit on every machine. */
#include "query/limit/choose_parts.h"

#include <math.h>

#define ROOT_2        1.4142135623730951
#define LOG_2         0.69314718055994531
#define LOG_100       4.6051701859880914 /* Laplace: log(1/(2q)), q = 1/200 */
#define LAPLACE_FIRST 10.126631103850338 /* at q = 2e-5 */
#define SLOWEST       0.6                /* fall of an octave that is believed of a tail */
enum { GAUSSIAN_FIRST = 8 };             /* entry of the table: 2^-8 / 200 is 2e-5 */

/* Standard Gaussian quantiles of 1 - 2^-gap / 200. */
static const double gaussian_tail[BRUME_LIMIT_BINS] = {
    2.5758,  2.8070,  3.0233,  3.2272,  3.4205,  3.6047,  3.7809,  3.9501,  4.1130,  4.2702,
    4.4223,  4.5698,  4.7130,  4.8522,  4.9879,  5.1202,  5.2494,  5.3757,  5.4992,  5.6202,
    5.7388,  5.8551,  5.9692,  6.0813,  6.1915,  6.2998,  6.4064,  6.5113,  6.6146,  6.7164,
    6.8167,  6.9157,  7.0133,  7.1096,  7.2046,  7.2985,  7.3912,  7.4828,  7.5733,  7.6628,
    7.7513,  7.8388,  7.9254,  8.0111,  8.0959,  8.1798,  8.2630,  8.3453,  8.4268,  8.5076,
    8.5876,  8.6669,  8.7455,  8.8234,  8.9007,  8.9773,  9.0532,  9.1286,  9.2034,  9.2775,
    9.3511,  9.4241,  9.4966,  9.5685,  9.6400,  9.7109,  9.7813,  9.8512,  9.9206,  9.9895,
    10.0580, 10.1260, 10.1936, 10.2608, 10.3275, 10.3938, 10.4596, 10.5251, 10.5902, 10.6549,
    10.7192, 10.7831, 10.8467, 10.9099, 10.9727, 11.0352, 11.0973, 11.1591, 11.2206, 11.2817,
    11.3425, 11.4030, 11.4632, 11.5230, 11.5826, 11.6419, 11.7008, 11.7595, 11.8179, 11.8760,
    11.9338, 11.9913, 12.0486, 12.1056, 12.1624, 12.2189, 12.2751, 12.3311, 12.3868, 12.4423,
    12.4975, 12.5525, 12.6073, 12.6618, 12.7161, 12.7701, 12.8240, 12.8776, 12.9310, 12.9842,
    13.0371, 13.0899, 13.1424, 13.1948, 13.2469, 13.2988,
};

/* How far a bin is above the base. */
static size_t above_base(const brume_limit_histogram *histogram, size_t bin)
{
    return bin > histogram->base ? bin - histogram->base : 0;
}

/* What an empty bin exceeds with probability 2^-gap / 200; before anything passed, with 2e-5 at
 * least up to the base, and from there half of it for each bin. */
static double tail(const brume_limit_histogram *histogram, size_t bin, size_t gap, bool first)
{
    size_t above = above_base(histogram, bin), index = gap;
    double laplace = LOG_100 + LOG_2 * (double)gap;
    if (first) {
        laplace = fmin(laplace, LAPLACE_FIRST + LOG_2 * (double)above);
        index = gap < GAUSSIAN_FIRST + above ? gap : GAUSSIAN_FIRST + above;
    }
    return histogram->scale * (histogram->gaussian ? gaussian_tail[index] : laplace);
}

double brume_limit_deviation_of(const brume_limit_histogram *histogram, double scale)
{
    return histogram->gaussian ? scale : ROOT_2 * scale;
}

double brume_limit_deviation(const brume_limit_histogram *histogram)
{
    return brume_limit_deviation_of(histogram, histogram->scale);
}

static double sum_of(const brume_limit_histogram *histogram, size_t first, size_t count)
{
    double sum = 0;
    for (size_t i = first; i < first + count; i++)
        sum += histogram->noisy[i];
    return sum;
}

double brume_limit_need(double noise, bool gaussian, double cells)
{
    return 2 * noise * (gaussian ? sqrt(cells) * sqrt(sqrt(cells)) : cells);
}

/* ---- step 1: the last bin that is surely not empty ---- */

brume_limit_seen brume_limit_see(const brume_limit_histogram *histogram)
{
    brume_limit_seen all = {.top = BRUME_LIMIT_NO_BIN};
    size_t gap = 0;
    for (size_t i = 0; i < histogram->bins; i++) {
        bool first = all.top == BRUME_LIMIT_NO_BIN;
        if (histogram->noisy[i] >= tail(histogram, i, gap, first)) {
            all.passed[i] = true;
            all.top = i;
            gap = 0;
        } else {
            gap++;
        }
    }
    return all;
}

/* No bin by itself: the last aligned window of several bins that is surely not empty. */
static size_t see_windows(const brume_limit_histogram *histogram)
{
    static const struct {
        size_t width;
        double deviations;
    } windows[] = {{2, 4.5}, {4, 4.75}, {8, 5.125}};
    for (size_t i = 0; i < 3; i++) {
        size_t width = windows[i].width, best = BRUME_LIMIT_NO_BIN;
        double sd = brume_limit_deviation(histogram) * sqrt((double)width);
        /* half of the chance for each bin above the base: 0.8 > log 2 for Laplace tails, which have
         * a polynomial before them; 4.5 * 0.16 > log 2 for Gaussian ones */
        double stricter = histogram->gaussian ? 0.16 * sd : 0.8 * histogram->scale;
        for (size_t j = 0; j + width <= histogram->bins; j += width)
            if (sum_of(histogram, j, width) >=
                windows[i].deviations * sd +
                    stricter * (double)above_base(histogram, j + width - 1))
                best = j + width - 1;
        if (best != BRUME_LIMIT_NO_BIN)
            return best;
    }
    return BRUME_LIMIT_NO_BIN;
}

/* From the exponent and three terms of a series. */
double brume_limit_rough_log(double x)
{
    int exponent = 0;
    double m = frexp(x, &exponent), u = (m - ROOT_2 / 2) / (m + ROOT_2 / 2), square = u * u;
    return LOG_2 * (exponent - 0.5) + 2 * u * (1 + square * (1.0 / 3 + square / 5));
}

/* ---- step 2: units thinly spread above the top ---- */

static size_t look_above(const brume_limit_histogram *histogram, size_t top, double need)
{
    double sd = brume_limit_deviation(histogram);
    size_t result = top;
    if (top + 2 < histogram->bins &&
        sum_of(histogram, top + 1, 2) >= fmax(3.3 * sd * ROOT_2, 4 * need))
        result = top + 2;
    if (top + 4 < histogram->bins && sum_of(histogram, top + 1, 4) >= fmax(3.6 * sd * 2, 4 * need))
        result = top + 4;
    return result;
}

/* ---- step 3: a falling tail goes on ---- */

/* A falling tail, as the end of the last run of four bins that passed says it goes on. */
typedef struct falling_tail {
    bool known;
    size_t at;                  /* the last bin it has reached */
    double fall;                /* from one bin to the next, below 1, */
    double bend;                /* and what it is multiplied by at each: 1 for a power law, less for
                                   tails that fall faster and faster */
    double expected;            /* units in bin `at` */
    double predicted, observed; /* units in the bins since the run */
    int steps;
} falling_tail;

/* The end of the last run of four bins or more that passed; BRUME_LIMIT_NO_BIN: none. */
static size_t end_of_run(const brume_limit_seen *all, size_t top)
{
    size_t run = 0, end = BRUME_LIMIT_NO_BIN;
    for (size_t i = 0; i <= top; i++) {
        run = all->passed[i] ? run + 1 : 0;
        if (run >= 4)
            end = i;
    }
    return end;
}

static falling_tail tail_of(const brume_limit_histogram *histogram, const brume_limit_seen *all,
                            size_t top)
{
    const double *noisy = histogram->noisy;
    size_t end = end_of_run(all, top);
    if (end == BRUME_LIMIT_NO_BIN)
        return (falling_tail){.at = top};
    double octave = noisy[end] + noisy[end - 1], before = noisy[end - 2] + noisy[end - 3];
    if (end ==
        3) /* the first bin is all that have 1, however many that are: 2 alone, for half an */
        before = 2 * noisy[1]; /* octave */
    else if (end == 4)
        before = noisy[2] + noisy[1];
    double ratio = octave / before, fall = sqrt(fmin(ratio, SLOWEST)), bend = 1;
    if (end >= 5 && all->passed[end - 4] && all->passed[end - 5]) {
        /* how much faster than over the octave before; at four bins' distance */
        double first = noisy[end - 4] + noisy[end - 5];
        bend = sqrt(sqrt(fmax(fmin(1, ratio / (before / first)), 0.3)));
    }
    return (falling_tail){.known = true,
                          .at = end,
                          .fall = fall * bend,
                          .bend = bend,
                          .expected = octave / (1 + 1 / fall)};
}

/* Units above bin `at`, as the tail expects them. */
static double tail_above(const falling_tail *tail)
{
    double above = 0, expected = tail->expected, fall = tail->fall;
    for (int i = 0; tail->known && i < 40; i++) { /* what is left is below 1e-4 of it */
        expected *= fall;
        fall *= tail->bend;
        above += expected;
    }
    return above;
}

/* One bin further; false: there is none, or the bins say that the tail broke off. */
static bool tail_step(const brume_limit_histogram *histogram, falling_tail *tail)
{
    if (!tail->known || tail->at + 1 >= histogram->bins)
        return false;
    tail->steps++;
    tail->expected *= tail->fall;
    tail->fall *= tail->bend;
    tail->predicted += tail->expected;
    tail->observed += histogram->noisy[tail->at + 1];
    if (tail->observed <
        tail->predicted - 5 * brume_limit_deviation(histogram) * sqrt((double)tail->steps))
        return false;
    tail->at++;
    return true;
}

static size_t continue_tail(const brume_limit_histogram *histogram, const brume_limit_seen *all,
                            size_t top, double need)
{
    falling_tail tail = tail_of(histogram, all, top);
    bool goes_on = true;
    while (goes_on && tail.steps < 6 && tail_above(&tail) > need)
        goes_on = tail_step(histogram, &tail);
    /* Where it broke off after it went on, or has some units still, one bin more: half as much
     * noise again is cheaper than what a thin tail loses. */
    bool more = tail.steps >= 2 ||
                (tail.known && tail.at + 1 < histogram->bins &&
                 histogram->noisy[tail.at + 1] >= 1.5 * brume_limit_deviation(histogram));
    if (!goes_on && more && tail.at + 1 < histogram->bins)
        tail.at++;
    return tail.at > top ? tail.at : top;
}

/* ---- step 4 ---- */

static size_t go_down(const brume_limit_histogram *histogram, size_t from, double need)
{
    double above = 0;
    while (from > 0) {
        above += fmax(histogram->noisy[from], 0);
        if (above >= need)
            break;
        from--;
    }
    return from;
}

double brume_limit_need_at_most(const brume_limit_histogram *histogram, double need)
{
    double units = 0;
    for (size_t i = 0; i < histogram->bins; i++)
        units += fmax(histogram->noisy[i], 0);
    return fmin(need, fmax(1, units / 4));
}

size_t brume_limit_choose(const brume_limit_histogram *histogram, double need)
{
    if (!(histogram->scale > 0))
        return 0; /* hardly a unit has more than one row may add */
    brume_limit_seen all = brume_limit_see(histogram);
    size_t top = all.top;
    if (top == BRUME_LIMIT_NO_BIN)
        return see_windows(histogram);
    need = brume_limit_need_at_most(histogram, need);
    size_t above = look_above(histogram, top, need);
    size_t tail_end = continue_tail(histogram, &all, top, need);
    size_t chosen = above > tail_end ? above : tail_end;
    return chosen > top ? chosen : go_down(histogram, top, need);
}
