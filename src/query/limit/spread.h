/* What was cut: from the noisy histogram that the limit was chosen from, and from the counts of the
 * units above it that were bought with it (tail.h). So it costs nothing more.
 *
 * cut_units bounds how many units are above the limit. What they have beyond it is not bounded by
 * anything private; the allowance is an estimate of it, and nothing more. It is meant to be too
 * large more often than too small:
 *   - units in bins that are seen to be not empty count with the middle of their bin;
 *   - above these a power law goes on (law.h). In each part of the tail it says what a unit has;
 * how many they are is the mean of what the law says and what was counted, each weighted by how
 *     exactly it is known, or what was counted if that is more;
 *   - a part that has more units than the law (without one: than none) by so much that it is in
 *     doubt has as many as were counted, spread over its bins, and 1.3 times as far out;
 *   - the part above the last of these has half of what was counted, just above its lower edge;
 *   - on top comes a margin, since a few units carry most of what such a tail has: 1.64 deviations
 *     of the noise and of who happens to be in the data, or what one unit has beyond the limit at
 *     the point that any unit exceeds in one of twenty draws, whichever is more.
 * A few units far above all others, fewer than the noise of a part, are not in it: no number that
 * was paid for tells of them. How many these can be is known, though, and where they can be many
 * the answer says that its bar does not cover them (brume_limit_hidden_units). proofs/limits.md has
 * why no allowance can.
 *
 * All of this is a function of numbers that were drawn and paid for (the first count, the
 * histogram, the tail), of the limit, which is a function of these, and of public ones. */
#ifndef BRUME_QUERY_LIMIT_SPREAD_H
#define BRUME_QUERY_LIMIT_SPREAD_H

#include "query/limit/choose.h"

/* Are the parts of the tail counted a second time? Where one has more units than the law expects.
 * Where that is still so afterwards they may raise the limit. */
bool brume_limit_is_in_doubt(const brume_limit_histogram *histogram);

/* Which parts have so many more units than the law expects that it is in doubt: true if any. */
bool brume_limit_find_crowds(const brume_limit_histogram *histogram,
                             bool crowds[BRUME_LIMIT_PARTS]);

/* Estimate of the sum over all units of what they have beyond `limit`; NaN: not known. Of a grid
 * that ends below 2^63, nobody has more than its last edge. */
double brume_limit_cut_allowance(const brume_limit_histogram *histogram, double limit);

/* About how many units there are: those in bins that are surely not empty. NaN: no histogram was
 * drawn. */
double brume_limit_seen_units(const brume_limit_histogram *histogram);

/* How many units may be far above the limit and not in the allowance, if they may be so many of
 * `units` units that a bar says nothing of the whole; 0: they are fewer. Above is where the first
 * count or a part of the tail is, each part by itself; so many is one in 200, or one in 400 where
 * the noise is Gaussian; of the part above a crowd that is seen, half as many. With probability
 * 0.95 a part does not have more than its count says here, of those that the allowance takes for
 * empty or lawful. */
double brume_limit_hidden_units(const brume_limit_histogram *histogram, double limit, double units);

#endif
