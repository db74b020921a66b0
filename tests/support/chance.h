/* How unlikely is what a test saw? Non-asymptotic bounds, and each test's share of false alarms. */
#ifndef BRUME_TESTS_CHANCE_H
#define BRUME_TESTS_CHANCE_H

#include <stdbool.h>
#include <stdint.h>

enum false_alarm {
#define FALSE_ALARM(name, share) false_alarm_##name,
#include "false_alarms.def"
#undef FALSE_ALARM
    false_alarm_count
};

/* The share of a test, from false_alarms.def; the sum of all. */
double false_alarm_share(enum false_alarm which);
double false_alarm_total(void);

/* An upper bound of P[Binomial(n, p) >= k], of P[... <= k]; within a factor 1.5 once it is below
 * 1e-3. Computed from the exact term at k and a geometric series over it. */
double binomial_tail_above(uint64_t n, double p, uint64_t k);
double binomial_tail_below(uint64_t n, double p, uint64_t k);

/* May `count` of n independent trials have come from a probability in [lower, upper]? false happens
 * with probability at most `alarm` if they did. */
bool binomial_plausible(uint64_t n, uint64_t count, double lower, double upper, double alarm);

/* P[sup |empirical CDF - CDF| > this] <= alarm, for n draws of any law.      [Mas90, Thm 1] */
double dkw_distance(uint64_t n, double alarm);

/* sum_i max(0, p_i - exp(epsilon) q_i): the least delta of the pair at epsilon, one direction. */
double hockey_stick(const double *p, const double *q, uint64_t count, double epsilon);

#endif
