/* The tail: the units above a limit, counted in parts, and what the counts say.
 *
 * A histogram of 126 bins cannot tell fifty accounts that have most of the rows from noise, because
 * its noise is in every bin. So once a limit T was found in it, the units above are counted again,
 * in five parts: up to 4 T, 16 T, 64 T, 1024 T, and beyond. A unit is in one part at most, so that
 * they cost together what one of them would. Where a part has more than the histogram expects, but
 * not so much that it is certain, the same parts are counted a second time. From them come
 *   - a higher limit, where parts show a crowd (brume_limit_raise);
 *   - how many units are above the limit (cut_units), and what they have there (spread.h).
 *
 * Of counts (where one row adds 1) a first count is bought before all that, for little: of the
 * units that have more than one row. Where it is small nothing else is bought, not even the
 * histogram. Of sums the histogram comes first, then a first count of the units above the limit;
 * where that limit is within what one row may add, and the count is small, no tail is bought.
 *
 * A unit moves the first count by at most 1, also where it is replaced; and one part by 1, or two
 * where it is replaced. Everything here is post-processing of numbers that were paid for.
 * proofs/limits.md. */
#ifndef BRUME_QUERY_LIMIT_TAIL_H
#define BRUME_QUERY_LIMIT_TAIL_H

#include "query/limit/choose_parts.h"

/* The first bin of a part of a tail that begins with bin `from`; of part BRUME_LIMIT_PARTS: the
 * end.
 */
size_t brume_limit_part_from(size_t from, size_t part, size_t bins);

/* Does the first count say no more than noise often does? */
bool brume_limit_is_quiet(const brume_limit_histogram *histogram);

/* Another count of the same parts: means of both, weighted by what was paid for them. */
void brume_limit_look_again(brume_limit_histogram *histogram, const double noisy[BRUME_LIMIT_PARTS],
                            double scale);

/* Standard deviation of the number of a part. */
double brume_limit_tail_deviation(const brume_limit_histogram *histogram);

/* Up to which part (0: none) there seem to be more units than `expected` (NULL: than none).
 * `certain`: enough to raise a limit, else enough for doubt. */
size_t brume_limit_parts_seen(const brume_limit_histogram *histogram,
                              const double expected[BRUME_LIMIT_PARTS], bool certain);

/* The bin of the limit, where `bin` is that of the histogram alone: higher where the parts show
 * units above. `noise` is what a limit of 1 costs in noise, in all cells together: half of
 * brume_limit_need. */
size_t brume_limit_raise(const brume_limit_histogram *histogram, size_t bin, double noise);

/* How `units` units of a part are spread over its bins, into in[i]: in bins that the histogram
 * clearly shows, as much as it says, and evenly what is left after `slack` deviations. */
void brume_limit_spread_part(const brume_limit_histogram *histogram, size_t part, double units,
                             double slack, double in[BRUME_LIMIT_BINS]);

/* With probability 0.95 at least, not more units than this are above the edge of the bin. */
double brume_limit_cut_units(const brume_limit_histogram *histogram, size_t bin);

#endif
