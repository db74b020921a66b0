/* What was cut: from the same noisy histogram that the limit was chosen from, so for nothing.
 *
 * cut_units bounds how many units are above the limit. What they have beyond it is not bounded by
 * anything private; the allowance is an estimate of it, and nothing more: units that were seen
 * above the limit count with the middle of their bin, and a falling tail is continued by its own
 * fall until less than half a unit is left. */
#ifndef BRUME_QUERY_LIMIT_SPREAD_H
#define BRUME_QUERY_LIMIT_SPREAD_H

#include "query/limit/choose.h"

/* With probability 0.95 at least, not more units than this are above the edge of the bin. */
double brume_limit_cut_units(const brume_limit_histogram *histogram, size_t bin);

/* Estimate of the sum over all units of what they have beyond `limit`, the edge of `bin` or less.
 */
double brume_limit_cut_allowance(const brume_limit_histogram *histogram, size_t bin, double limit);

#endif
