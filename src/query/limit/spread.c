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

/* What a falling tail has beyond the limit, in the bins above `known`. No more units are counted
 * than the bins, with one deviation of their noise, leave room for. */
static double tail_beyond(const brume_limit_histogram *histogram, brume_limit_tail tail,
                          size_t known, double limit)
{
    double allowance = 0, counted = 0, seen = 0, predicted = 0;
    double sd = brume_limit_deviation(histogram);
    for (int k = 1; tail.at + 1 < histogram->bins && brume_limit_tail_above(&tail) >= 0.5; k++) {
        tail.expected *= tail.fall;
        tail.fall *= tail.bend;
        seen += histogram->noisy[++tail.at];
        predicted += tail.expected;
        if (seen <= 0 && predicted > 4 * sd * sqrt((double)k))
            break; /* it broke off */
        double room = fmax(0, seen) + sd * sqrt((double)k) - counted;
        double here = fmin(tail.expected, fmax(0, room));
        counted += here;
        if (tail.at > known)
            allowance += here * beyond(tail.at, limit);
    }
    return allowance;
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
    if (!tail.known)
        return allowance;
    if (tail.falls) {
        /* a last bin that is nearly empty says that the tail ends with it; bins are of two widths
         */
        const double *last = &histogram->noisy[tail.at];
        tail.fall = fmin(tail.fall, 1.6 * last[0] / last[-1] * tail.bend);
        return allowance + tail_beyond(histogram, tail, known, limit);
    }
    while (brume_limit_tail_above(&tail) >= 0.5 && brume_limit_tail_step(histogram, &tail))
        if (tail.at > known)
            allowance += tail.expected * beyond(tail.at, limit);
    return allowance;
}
