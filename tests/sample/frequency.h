/* Do observed frequencies fit a law? Non-asymptotic: for k ~ Binomial(n, p),
 * P[n KL(k/n || p) >= t] <= 2 exp(-t)                                       [Hoe63, Thm 1]
 * for every t, so a bin alarms falsely with probability at most `alarm`. */
#ifndef BRUME_TESTS_FREQUENCY_H
#define BRUME_TESTS_FREQUENCY_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

static inline double frequency_distance(double a, double p)
{
    double left = a > 0 ? a * log(a / p) : 0, right = a < 1 ? (1 - a) * log((1 - a) / (1 - p)) : 0;
    return left + right;
}

static inline bool frequency_fits(uint64_t count, uint64_t n, double p, double alarm)
{
    if (p <= 0)
        return count == 0;
    if (p >= 1)
        return count == n;
    return (double)n * frequency_distance((double)count / (double)n, p) <= log(2 / alarm);
}

#endif
