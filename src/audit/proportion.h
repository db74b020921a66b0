/* Exact confidence bounds of a proportion: k of n independent trials.   [CP34]
 *
 * P[lower(k) > p] <= alarm and P[upper(k) < p] <= alarm for every p. The tails that decide are
 * themselves bounded from above, so that a bound errs to the safe side only. */
#ifndef BRUME_AUDIT_PROPORTION_H
#define BRUME_AUDIT_PROPORTION_H

#include <stdint.h>

/* An upper bound of P[Binomial(n, p) >= k], to a relative 1e-6. */
double brume_binomial_tail_upper(uint64_t n, double p, uint64_t k);

double brume_proportion_lower(uint64_t n, uint64_t k, double alarm);
double brume_proportion_upper(uint64_t n, uint64_t k, double alarm);

#endif
