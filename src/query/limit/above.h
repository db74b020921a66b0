/* The units above a limit: counts of them that are bought, and what they say.
 *
 * A histogram of 126 bins says little about the sum of many of them. So with every limit that is
 * chosen a count of the units above it is bought, for little. Sharper ones are bought where they
 * matter, which the histogram and the first count say:
 *   1. some bins far above hint at a crowd: a count of the units from there on. If it confirms them
 *      the limit goes up to them;
 *   2. else a second count of the units above the limit, where
 *      - the limit is above what one row adds at most, so that a tail was seen; or
 *      - there are too few units for the first count to see a few in a thousand of them; or
 *      - the first count says more than the histogram does.
 * A unit moves a count of units above an edge by at most 1, also where it is replaced. Everything
 * here is post-processing of numbers that were paid for. proofs/limits.md. */
#ifndef BRUME_QUERY_LIMIT_ABOVE_H
#define BRUME_QUERY_LIMIT_ABOVE_H

#include "query/limit/choose_parts.h"

typedef struct brume_limit_above {
    double units, deviation;
    bool counted; /* by a count, and not from the bins alone */
} brume_limit_above;

/* The units above the edge of a bin, from the count that knows best. */
brume_limit_above brume_limit_units_above(const brume_limit_histogram *histogram, size_t bin);

/* With probability 0.95 at least, not more units than this are above the edge of the bin. */
double brume_limit_cut_units(const brume_limit_histogram *histogram, size_t bin);

/* How many the bins that are seen, and the law of the tail, expect there; without the counts.
 * `*lawful`: there is such a law. */
double brume_limit_expected(const brume_limit_histogram *histogram, const brume_limit_seen *all,
                            size_t bin, bool *lawful);

/* The limit is the edge of a bin, and the first count is of the units above it: do bins far above
 * hint at a crowd? Then `*from` is the first of them. */
bool brume_limit_suspects_crowd(const brume_limit_histogram *histogram, size_t *from);

/* Does the count of the units from there on confirm it? It must show the more, the further above
 * the top the crowd is, because a limit that is wrong by a bin costs that much more, and the less
 * the histogram said. */
bool brume_limit_sees_crowd(const brume_limit_histogram *histogram);

/* Is the sharper count of the units above the limit bought? */
bool brume_limit_needs_sharp(const brume_limit_histogram *histogram, size_t bin);

#endif
