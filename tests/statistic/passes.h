/* The law of the test on which stable releases rest: distance plus noise against a threshold. */
#ifndef BRUME_TESTS_STATISTIC_PASSES_H
#define BRUME_TESTS_STATISTIC_PASSES_H

#include <math.h>
#include <stdint.h>

/* P[distance + X >= m], X discrete Laplace of scale 1/epsilon. */
static inline double passes(uint64_t distance, uint64_t m, double epsilon)
{
    if (distance == UINT64_MAX)
        return 1;
    double a = exp(-epsilon);
    int64_t least = (int64_t)m - (int64_t)distance;
    return least >= 0 ? pow(a, (double)least) / (1 + a) : 1 - pow(a, 1 - (double)least) / (1 + a);
}

#endif
