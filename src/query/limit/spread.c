/* What was cut, from the histogram that the limit was chosen from.
 *
 * A power law with index a, from the edge x of a bin upwards: of n units n (x/y)^a are above y. */
#include "query/limit/spread.h"

#include <math.h>

#include "query/limit/choose_parts.h"

#define UPPER 1.6449 /* 95 % of a Gaussian are below */

double brume_limit_cut_units(const brume_limit_histogram *histogram, size_t bin)
{
    double above = 0;
    for (size_t i = bin + 1; i < histogram->bins; i++)
        above += histogram->noisy[i];
    /* Two deviations and not 1.64: the bin was chosen by the same noise. */
    double noise = brume_limit_deviation(histogram) * sqrt((double)(histogram->bins - 1 - bin));
    return fmax(0, above + 2 * noise);
}

/* ---- what is cut ---- */

typedef struct cut {
    double mean, variance; /* of what the units have beyond the limit */
} cut;

/* So many units in a bin, which are known to this variance. They have the middle of the bin. */
static void add_bin(cut *all, size_t bin, double limit, double units, double variance)
{
    double low = bin ? (double)brume_limit_edge(bin - 1) : 1;
    double beyond = fmax(0, (low + (double)brume_limit_edge(bin)) / 2 - limit);
    all->mean += units * beyond;
    all->variance += variance * beyond * beyond;
}

/* ---- the power law ---- */

enum {
    LONGEST = 4, /* bins that are seen: two octaves, because farther down it is another law */
    AHEAD = 16,  /* bins above them */
    INDICES = 160,
    PER_INDEX = 16 /* indices are 1/16, 2/16, ... 10 */
};

/* No data follows a law to better than this, of the units in a bin. */
#define INEXACT 0.1

typedef struct power_law {
    size_t start;        /* its first bin */
    double index, units; /* units in this bin and above */
    double misfit;       /* sum of squares, in deviations */
} power_law;

/* What share of its units is above the edge of a bin. Numbers of rows are whole, so that the edge
 * is between the last one below and the first one above. */
static double share_above(const power_law *law, size_t bin)
{
    double from = (double)brume_limit_edge(law->start - 1), to = (double)brume_limit_edge(bin);
    return exp(law->index * log((from + 0.5) / (to + 0.5)));
}

/* The units that fit best, of a law with this index, to the bins start .. last. */
static power_law fit(const brume_limit_histogram *histogram, size_t start, size_t last,
                     double index)
{
    power_law law = {.start = start, .index = index};
    double noise = brume_limit_deviation(histogram), before = 1;
    double products = 0, squares = 0, all = 0;
    for (size_t i = start; i <= last; i++) {
        double above = share_above(&law, i), share = before - above;
        double seen = histogram->noisy[i], units = fmax(seen, 0);
        double weight = 1 / (noise * noise + units + INEXACT * INEXACT * units * units);
        before = above;
        products += weight * share * seen;
        squares += weight * share * share;
        all += weight * seen * seen;
    }
    law.units = fmax(0, products / squares);
    law.misfit = all + law.units * (law.units * squares - 2 * products);
    return law;
}

/* The law that fits best; false: it does not fit. One that holds fits in about 99 of 100 draws: a
 * square of Laplace noise has a mean of 1 and a variance of 5 in its own units. */
static bool best_law(const brume_limit_histogram *histogram, size_t start, size_t last,
                     power_law *out)
{
    double free = (double)(last - start + 1) - 2;
    out->misfit = INFINITY;
    for (int i = 1; i <= INDICES; i++) {
        power_law law = fit(histogram, start, last, (double)i / PER_INDEX);
        if (law.misfit < out->misfit)
            *out = law;
    }
    return out->misfit <= free + 2.33 * sqrt(5 * fmax(free, 1));
}

/* The law of the last bins that are seen in a row; bin 0, all that have 1, is not one of them. */
static bool find_law(const brume_limit_histogram *histogram, const brume_limit_seen *all,
                     power_law *out)
{
    size_t end = 0, length = 0, run = 0;
    for (size_t i = 1; i <= all->top; i++) {
        run = all->passed[i] ? run + 1 : 0;
        if (run >= 2) {
            end = i;
            length = run < LONGEST ? run : LONGEST;
        }
    }
    size_t last = end + AHEAD < histogram->bins ? end + AHEAD : histogram->bins - 1;
    for (; length >= 2; length--)
        if (best_law(histogram, end - length + 1, last, out))
            return true;
    return false;
}

double brume_limit_cut_allowance(const brume_limit_histogram *histogram, double limit)
{
    brume_limit_seen all = brume_limit_see(histogram);
    double noise = brume_limit_deviation(histogram), total = 0, farthest = 0;
    cut beyond = {0, 0};
    power_law law = {.start = 1};
    if (all.top == BRUME_LIMIT_NO_BIN)
        return NAN;
    for (size_t i = 0; i <= all.top; i++) {
        double units = fmax(histogram->noisy[i], 0);
        add_bin(&beyond, i, limit, units, noise * noise + units);
        total += units * (double)brume_limit_edge(i);
    }
    if (find_law(histogram, &all, &law)) {
        double left = law.units * share_above(&law, all.top);
        /* less than one in twenty draws has a unit above the last of these bins */
        for (size_t i = all.top + 1; i < histogram->bins && left >= 0.05; i++) {
            double above = law.units * share_above(&law, i);
            add_bin(&beyond, i, limit, left - above, left - above);
            left = above;
            farthest = (double)brume_limit_edge(i) - limit;
        }
    }
    /* in a heavy tail the largest unit is more than deviations tell */
    double margin = fmax(farthest, UPPER * sqrt(beyond.variance));
    return beyond.mean <= total ? beyond.mean + margin : NAN;
}
