/* Exact confidence bounds of a proportion: k of n independent trials.   [CP34]
 *
 * P[lower(k) > p] <= alarm and P[upper(k) < p] <= alarm for every p. The tails that decide are
 * themselves bounded from above, so that a bound errs to the safe side only. */
#ifndef BRUME_AUDIT_PROPORTION_H
#define BRUME_AUDIT_PROPORTION_H

#include <stdbool.h>
#include <stdint.h>

/* An upper bound of P[Binomial(n, p) >= k], to a relative 1e-6. */
double brume_binomial_tail_upper(uint64_t n, double p, uint64_t k);

double brume_proportion_lower(uint64_t n, uint64_t k, double alarm);
double brume_proportion_upper(uint64_t n, uint64_t k, double alarm);

/* A function of two probabilities, which never falls with p and never grows with q. */
typedef double brume_of_two(const void *context, double p, double q);

/* A lower bound of of(p, q) from independent trials, `hits_p` and `hits_q` of n each: wrong with
 * probability at most `alarm`.
 *
 * a = P_p[at least hits_p] and b = P_q[at most hits_q] are at most t with probability at most t,
 * each, and independent: so a b <= k with probability at most k (1 - ln k), which is made the alarm
 * [Fis32]. What is returned is at most of(p, q) for all p and q with a b > k: less is given away
 * than by a bound of each proportion at half of the alarm. */
double brume_two_proportions_lower(uint64_t n, uint64_t hits_p, uint64_t hits_q, double alarm,
                                   brume_of_two *of, const void *context);

#endif
