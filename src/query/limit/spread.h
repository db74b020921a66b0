/* What was cut: from the noisy histogram that the limit was chosen from, and from the counts of the
 * units above it that were bought with it (above.h). So it costs nothing more.
 *
 * cut_units bounds how many units are above the limit. What they have beyond it is not bounded by
 * anything private; the allowance is an estimate of it, and nothing more. It is meant to be too
 * large more often than too small:
 *   - units in bins that are seen to be not empty count with the middle of their bin;
 *   - above these a power law goes on (law.h), fitted to the counts too. It says what a unit above
 *     the limit has; how many they are, the count says: its upper bound;
 *   - on top comes a margin, since a few units carry most of what such a tail has: 1.64 deviations
 *     of the noise and of who happens to be in the data, or what one unit has beyond the limit at
 *     the point that any unit exceeds in one of twenty draws, whichever is more;
 *   - where there is no law, the tail ends with what is seen. Units that the count has beyond that
 *     are taken to be just above the limit, on average by a quarter of it;
 *   - where the count has many more units than the bins and their law (without the count) expect,
 *     there are units of which nobody knows where they are: NaN, nothing is known;
 *   - where the estimate, without the margin, is more than all that was seen: NaN too.
 * A few units far above all others, fewer than the noise of the count, are not in it: no number
 * that was paid for tells of them. */
#ifndef BRUME_QUERY_LIMIT_SPREAD_H
#define BRUME_QUERY_LIMIT_SPREAD_H

#include "query/limit/choose.h"

/* Estimate of the sum over all units of what they have beyond `limit`; NaN: not known. Of a grid
 * that ends below 2^63, nobody has more than its last edge. */
double brume_limit_cut_allowance(const brume_limit_histogram *histogram, double limit);

#endif
