/* What was cut, from the histogram that the limit was chosen from. */
#include "query/limit/spread.h"

#include <math.h>

#include "query/limit/choose_parts.h"

double brume_limit_cut_units(const brume_limit_histogram *histogram, size_t bin)
{
    double above = 0;
    for (size_t i = bin + 1; i < histogram->bins; i++)
        above += histogram->noisy[i];
    /* Two deviations and not 1.64: the bin was chosen by the same noise. */
    double noise = brume_limit_deviation(histogram) * sqrt((double)(histogram->bins - 1 - bin));
    return fmax(0, above + 2 * noise);
}

/* What a unit in this bin has beyond the limit, by the middle of the bin. */
static double beyond(size_t bin, double limit)
{
    double low = bin ? (double)brume_limit_edge(bin - 1) : 1;
    return fmax(0, (low + (double)brume_limit_edge(bin)) / 2 - limit);
}

double brume_limit_cut_allowance(const brume_limit_histogram *histogram, size_t bin, double limit)
{
    brume_limit_seen all = brume_limit_see(histogram);
    if (all.top == BRUME_LIMIT_NO_BIN)
        return 0;
    double allowance = 0;
    for (size_t i = 0; i <= all.top; i++)
        allowance += fmax(histogram->noisy[i], 0) * beyond(i, limit);
    size_t known = bin > all.top ? bin : all.top; /* the bins up to here are seen, or not cut */
    brume_limit_tail tail = brume_limit_tail_of(histogram, &all, all.top);
    while (brume_limit_tail_above(&tail) >= 0.5 && brume_limit_tail_step(histogram, &tail))
        if (tail.at > known)
            allowance += tail.expected * beyond(tail.at, limit);
    return allowance;
}
