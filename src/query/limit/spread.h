/* What was cut: from the same noisy histogram that the limit was chosen from, so for nothing.
 *
 * cut_units bounds how many units are above the limit. What they have beyond it is not bounded by
 * anything private; the allowance is an estimate of it, and nothing more. It is meant to be too
 * large more often than too small:
 *   - units in bins that are seen to be not empty count with the middle of their bin;
 *   - above these a power law goes on that is fitted to the last four bins seen in a row and to
 *     the sixteen above them, by least squares. Tails that bend downwards, as most do, have less
 *     than that;
 *   - on top comes a margin, since a few units carry most of what such a tail has: 1.64 deviations
 *     of the noise and of who happens to be in the data, or what one unit has beyond the limit at
 *     the point that any unit exceeds in one of twenty draws, whichever is more;
 *   - where four bins do not fit, three or two are tried. Where those neither, the tail ends with
 *     what is seen, and so it does where no two bins in a row are;
 *   - where the estimate, without the margin, is more than all that was seen, nothing is known:
 * NaN. A few units far above all others, fewer than the noise of the bins, are not in it: no number
 * that was paid for tells of them. */
#ifndef BRUME_QUERY_LIMIT_SPREAD_H
#define BRUME_QUERY_LIMIT_SPREAD_H

#include "query/limit/choose.h"

/* With probability 0.95 at least, not more units than this are above the edge of the bin. */
double brume_limit_cut_units(const brume_limit_histogram *histogram, size_t bin);

/* Estimate of the sum over all units of what they have beyond `limit`; NaN: not known. Of a grid
 * that ends below 2^63, nobody has more than its last edge. */
double brume_limit_cut_allowance(const brume_limit_histogram *histogram, double limit);

#endif
