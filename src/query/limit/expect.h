/* The limit with the least expected error, noise and cut together, where the histogram shows a tail
 * that falls.
 *
 * The units above x are taken to be n exp(-a t - b t^2), t = log(x / x0): a power law for b = 0,
 * and for b > 0 laws that fall ever faster, such as the lognormal one.
 * Every slope a and bend b of a grid is fitted to the last five bins that are seen in a row, to
 * the sixteen above them and to the parts of the tail that were counted. It weighs exp(-misfit/2);
 * power laws have a fifth of the weight beforehand, because they are the ones that lose most where
 * they are forgotten. Under each law every limit has an expected error, and one limit has the least
 * one: the limit that is chosen has the least mean of error / least error over all laws. Ratios,
 * and not errors: else the heaviest tail that cannot be excluded would decide alone.
 *
 * Where no such law fits (too few bins are seen, or there are crowds) the rule of choose.h decides
 * alone. Either way parts of the tail with more units than the law says raise the limit (tail.h).
 *
 * Post-processing of noisy numbers that were paid for, and of public ones. */
#ifndef BRUME_QUERY_LIMIT_EXPECT_H
#define BRUME_QUERY_LIMIT_EXPECT_H

#include "query/limit/choose.h"

/* Which bin's edge is the limit, by all that was drawn so far. BRUME_LIMIT_NO_BIN: too few units to
 * find one. `need` is brume_limit_need. */
size_t brume_limit_decide(const brume_limit_histogram *histogram, double need);

#endif
