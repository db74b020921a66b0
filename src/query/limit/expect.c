/* The limit with the least expected error. */
#include "query/limit/expect.h"

#include <math.h>

#include "query/limit/law.h"
#include "query/limit/spread.h"
#include "query/limit/tail.h"

enum {
    AHEAD = 16,   /* bins above the run that say where the tail is not */
    OUT = 12,     /* and above these, in which a law may still have units */
    FARTHEST = 7, /* a limit is at most so many bins above the last one that is seen */
    LONGEST = 5,
    SLOPES = 36,
    BENDS = 9
};

#define POWER_LAWS 0.2  /* weight of b = 0 beforehand */
#define NOBODY     0.05 /* fewer units than this are none */

static const double bends[BENDS] = {0, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8};

/* From 0.15 to 12, each an eighth more than the one before. */
static const double slopes[SLOPES] = {
    0.1500, 0.1700, 0.1926, 0.2182, 0.2473, 0.2802, 0.3176, 0.3598,  0.4077,
    0.4620, 0.5236, 0.5933, 0.6723, 0.7618, 0.8632, 0.9781, 1.1084,  1.2559,
    1.4232, 1.6127, 1.8274, 2.0707, 2.3464, 2.6588, 3.0128, 3.4140,  3.8686,
    4.3836, 4.9673, 5.6287, 6.3782, 7.2274, 8.1897, 9.2802, 10.5158, 11.9160,
};

static double edge(size_t bin)
{
    return (double)brume_limit_edge(bin);
}

/* What the laws are fitted to. */
typedef struct evidence {
    const brume_limit_histogram *histogram;
    size_t start, last, out;       /* bins of the fit, and the last one in which a law has units */
    const bool *crowds;            /* parts that the laws are not fitted to */
    double logs[BRUME_LIMIT_BINS]; /* t of each bin's edge, from start - 1 on, */
    double widths[BRUME_LIMIT_BINS]; /* and how far it is to the next one, without the halves */
    double falls[SLOPES][BRUME_LIMIT_BINS],
        turns[BENDS][BRUME_LIMIT_BINS]; /* exp(-at), exp(-bt^2) */
} evidence;

typedef struct law {
    size_t slope, bend;   /* which */
    double units, misfit; /* units above the edge of bin start - 1 */
} law;

/* Which share of the units is above the edges of the bins. */
static void find_shares(const evidence *all, const law *of, double shares[BRUME_LIMIT_BINS])
{
    for (size_t i = all->start - 1; i <= all->out; i++)
        shares[i] = all->falls[of->slope][i] * all->turns[of->bend][i];
}

/* How fast their number falls from one bin's edge to the next, as a power of x. */
static double power_at(const evidence *all, const law *of, size_t bin)
{
    double t = all->logs[bin], next = all->logs[bin + 1];
    return (slopes[of->slope] + bends[of->bend] * (t + next)) * (next - t) / all->widths[bin];
}

static void fit(const evidence *all, law *of)
{
    const brume_limit_histogram *histogram = all->histogram;
    double shares[BRUME_LIMIT_BINS], noise = brume_limit_deviation(histogram);
    brume_square_sums sums = {0};
    find_shares(all, of, shares);
    for (size_t i = all->start; i <= all->last; i++)
        brume_square_sums_add(&sums, histogram->noisy[i], shares[i - 1] - shares[i], noise);
    for (size_t i = 0; histogram->tail.scale > 0 && i < BRUME_LIMIT_PARTS; i++) {
        size_t first = brume_limit_part_from(histogram->tail.from, i, histogram->bins);
        size_t end = brume_limit_part_from(histogram->tail.from, i + 1, histogram->bins);
        if (all->crowds[i] || first < all->start || first > all->last)
            continue;
        double above = end - 1 <= all->out ? shares[end - 1] : 0;
        brume_square_sums_add(&sums, histogram->tail.noisy[i], shares[first - 1] - above,
                              brume_limit_tail_deviation(histogram));
    }
    of->units = sums.shares > 0 ? fmax(0, sums.products / sums.shares) : 0;
    of->misfit = sums.all + of->units * (of->units * sums.shares - 2 * sums.products);
}

/* What the units above a bin's edge have between it and the next one: the integral of their number,
 * which falls as a power; below the law, where it is read off the histogram, in a straight line. */
static double between(const evidence *all, const law *of, size_t bin, double number, double next)
{
    double from = edge(bin), to = edge(bin + 1);
    if (bin + 1 < all->start)
        return (number + next) / 2 * (to - from);
    double power = power_at(all, of, bin);
    return fabs(power - 1) < 1e-6 ? number * from * all->widths[bin]
                                  : (number * from - next * to) / (power - 1);
}

/* Add weight * (error / least error) of each limit up to bin `highest`. E|X - c| of Laplace noise X
 * with scale s is c + s exp(-c/s). */
static void add_ratios(const evidence *all, const law *of, double noise, size_t highest,
                       double weight, double ratios[BRUME_LIMIT_BINS])
{
    double above[BRUME_LIMIT_BINS], errors[BRUME_LIMIT_BINS] = {0}, cut = 0, least = INFINITY;
    find_shares(all, of, above);
    for (size_t i = all->start - 1; i <= all->out; i++)
        above[i] *= of->units;
    for (size_t i = all->start - 1; i > 0; i--) /* below the law: by the histogram */
        above[i - 1] = above[i] + fmax(all->histogram->noisy[i], 0);
    for (size_t i = all->out; i-- > 0;) {
        if (above[i] > NOBODY)
            cut += between(all, of, i, above[i], above[i + 1]);
        if (i > highest)
            continue;
        double scale = noise * edge(i);
        errors[i] = cut + scale * exp(-cut / scale);
        least = fmin(least, errors[i]);
    }
    for (size_t i = 0; i <= highest; i++)
        ratios[i] += weight * errors[i] / least;
}

/* All laws, and the limit with the least mean ratio; BRUME_LIMIT_NO_BIN: none of them fits. */
static size_t least_expected(const evidence *all, double noise, size_t highest)
{
    law laws[SLOPES * BENDS];
    double ratios[BRUME_LIMIT_BINS] = {0}, best = INFINITY;
    double free = (double)(all->last - all->start + 1) - 3;
    for (size_t i = 0; i < SLOPES * BENDS; i++) {
        laws[i] = (law){.slope = i / BENDS, .bend = i % BENDS};
        fit(all, &laws[i]);
        best = fmin(best, laws[i].misfit);
    }
    /* a law that holds fits in about 99 of 100 draws, as in law.c */
    if (!(best <= free + 2.33 * sqrt(5 * fmax(free, 1))))
        return BRUME_LIMIT_NO_BIN;
    for (size_t i = 0; i < SLOPES * BENDS; i++) {
        double before = laws[i].bend > 0 ? (1 - POWER_LAWS) / (BENDS - 1) : POWER_LAWS;
        double weight = before * exp((best - laws[i].misfit) / 2);
        if (weight >= 1e-4)
            add_ratios(all, &laws[i], noise, highest, weight, ratios);
    }
    size_t chosen = 0;
    for (size_t i = 1; i <= highest; i++)
        if (ratios[i] < ratios[chosen])
            chosen = i;
    return chosen;
}

static void tabulate(evidence *all)
{
    for (size_t i = all->start - 1; i <= all->out; i++) {
        double t = log((edge(i) + 0.5) / (edge(all->start - 1) + 0.5));
        all->logs[i] = t;
        all->widths[i] = log(edge(i + 1) / edge(i));
        for (size_t j = 0; j < SLOPES; j++)
            all->falls[j][i] = exp(-slopes[j] * t);
        for (size_t j = 0; j < BENDS; j++)
            all->turns[j][i] = exp(-bends[j] * t * t);
    }
}

static size_t at_most(size_t bin, const brume_limit_histogram *histogram)
{
    return bin < histogram->bins ? bin : histogram->bins - 1;
}

/* By the laws of the last run of bins that are seen, five of them or as few as two. */
static size_t expect(const brume_limit_histogram *histogram, double noise,
                     const bool crowds[BRUME_LIMIT_PARTS])
{
    brume_limit_seen seen = brume_limit_see(histogram);
    evidence all = {.histogram = histogram, .crowds = crowds};
    size_t end = 0, length = 0, run = 0;
    for (size_t i = 1; seen.top != BRUME_LIMIT_NO_BIN && i <= seen.top; i++) {
        run = seen.passed[i] ? run + 1 : 0;
        if (run >= 2) {
            end = i;
            length = run < LONGEST ? run : LONGEST;
        }
    }
    all.last = at_most(end + AHEAD, histogram);
    all.out = at_most(all.last + OUT, histogram);
    size_t highest = at_most(end + FARTHEST, histogram);
    highest = seen.top != BRUME_LIMIT_NO_BIN && highest < seen.top ? seen.top : highest;
    if (highest >= all.out)
        return BRUME_LIMIT_NO_BIN; /* the grid ends where the units are */
    for (; length >= 2; length--) {
        all.start = end - length + 1;
        tabulate(&all);
        size_t bin = least_expected(&all, noise, highest);
        if (bin != BRUME_LIMIT_NO_BIN)
            return bin;
    }
    return BRUME_LIMIT_NO_BIN;
}

size_t brume_limit_decide(const brume_limit_histogram *histogram, double need)
{
    size_t bin = brume_limit_choose(histogram, need);
    if (!(histogram->scale > 0) || bin == BRUME_LIMIT_NO_BIN)
        return bin;
    if (!(need > 0)) /* noise costs nothing */
        return brume_limit_raise(histogram, bin, 0);
    bool crowds[BRUME_LIMIT_PARTS], in_doubt = brume_limit_find_crowds(histogram, crowds);
    size_t expected = expect(histogram, brume_limit_need_at_most(histogram, need) / 2, crowds);
    if (expected != BRUME_LIMIT_NO_BIN)
        bin = expected;
    return in_doubt ? brume_limit_raise(histogram, bin, need / 2) : bin;
}
