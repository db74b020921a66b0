/* The power law of a histogram's tail: of n units n (x/y)^a are above y.
 *
 * It is fitted by least squares to the last four bins that are seen in a row and to the sixteen
 * above them, which are mostly noise but say where the tail is not. Where four do not fit, three
 * are tried, then two. Tails that bend downwards, as most do, have less than that above. */
#ifndef BRUME_QUERY_LIMIT_LAW_H
#define BRUME_QUERY_LIMIT_LAW_H

#include "query/limit/choose_parts.h"

typedef struct brume_power_law {
    size_t start;        /* its first bin, at least 1 */
    double index, units; /* units in this bin and above */
    double misfit;       /* sum of squares, in deviations */
} brume_power_law;

/* False: no law fits, and the tail ends with what is seen. */
bool brume_limit_find_law(const brume_limit_histogram *histogram, const brume_limit_seen *all,
                          brume_power_law *out);

/* What share of its units is above the edge of a bin, from its first one on. */
double brume_power_law_above(const brume_power_law *law, size_t bin);

/* Sums of least squares for one factor: the units of a law. */
typedef struct brume_square_sums {
    double products, shares, all;
} brume_square_sums;

/* A number that was seen, of which the law has this share, with noise of this deviation. A square
 * counts in units of the variance of noise, of chance (the units themselves) and of what no law
 * tells. */
void brume_square_sums_add(brume_square_sums *sums, double seen, double share, double deviation);

#endif
