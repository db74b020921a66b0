/* The power law of a histogram's tail. */
#include "query/limit/law.h"

#include <math.h>

enum {
    LONGEST = 4, /* bins that are seen: two octaves, because farther down it is another law */
    AHEAD = 16,  /* bins above them */
    INDICES = 160,
    PER_INDEX = 16 /* indices are 1/16, 2/16, ... 10 */
};

/* No data follows a law to better than this, of the units in a bin. */
#define INEXACT 0.1

/* Numbers of rows are whole, so that the edge is between the last one below and the first one
 * above. */
double brume_power_law_above(const brume_power_law *law, size_t bin)
{
    double from = (double)brume_limit_edge(law->start - 1), to = (double)brume_limit_edge(bin);
    return exp(law->index * log((from + 0.5) / (to + 0.5)));
}

void brume_square_sums_add(brume_square_sums *sums, double seen, double share, double deviation)
{
    double units = fmax(seen, 0);
    double weight = 1 / (deviation * deviation + units + INEXACT * INEXACT * units * units);
    sums->products += weight * share * seen;
    sums->shares += weight * share * share;
    sums->all += weight * seen * seen;
}

/* The units that fit best, of a law with this index, to the bins start .. last. */
static brume_power_law fit(const brume_limit_histogram *histogram, size_t start, size_t last,
                           double index)
{
    brume_power_law law = {.start = start, .index = index};
    brume_square_sums sums = {0};
    double noise = brume_limit_deviation(histogram), before = 1;
    for (size_t i = start; i <= last; i++) {
        double above = brume_power_law_above(&law, i);
        brume_square_sums_add(&sums, histogram->noisy[i], before - above, noise);
        before = above;
    }
    law.units = fmax(0, sums.products / sums.shares);
    law.misfit = sums.all + law.units * (law.units * sums.shares - 2 * sums.products);
    return law;
}

/* The law that fits best; false: it does not fit. One that holds fits in about 99 of 100 draws: a
 * square of Laplace noise has a mean of 1 and a variance of 5 in its own units. */
static bool best_law(const brume_limit_histogram *histogram, size_t start, size_t last,
                     brume_power_law *out)
{
    double free = (double)(last - start + 1) - 2;
    out->misfit = INFINITY;
    for (int i = 1; i <= INDICES; i++) {
        brume_power_law law = fit(histogram, start, last, (double)i / PER_INDEX);
        if (law.misfit < out->misfit)
            *out = law;
    }
    return out->misfit <= free + 2.33 * sqrt(5 * fmax(free, 1));
}

/* The last bins that are seen in a row; bin 0, all that have 1, is not one of them. */
bool brume_limit_find_law(const brume_limit_histogram *histogram, const brume_limit_seen *all,
                          brume_power_law *out)
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
