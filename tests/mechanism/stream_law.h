/* The exact law of a sparse vector stream with integer noise, and of its broken relatives, by
 * summing over the threshold's noise. Used to check privacy by enumeration, and the code against
 * the law. */
#ifndef BRUME_TESTS_STREAM_LAW_H
#define BRUME_TESTS_STREAM_LAW_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

enum { STREAM_MOST = 12, STREAM_PATTERNS = 1 << STREAM_MOST };

typedef struct stream_noise {
    double threshold_scale; /* 0: no noise on the threshold */
    double query_scale;     /* 0: no noise on the queries */
    int hits;               /* halt after so many */
} stream_noise;

/* P[X >= m], X discrete Laplace of that scale; scale 0 is no noise. */
static inline double stream_above(double scale, int m)
{
    if (scale == 0)
        return m <= 0;
    double a = exp(-1 / scale);
    return m > 0 ? exp(-m / scale) / (1 + a) : 1 - exp((m - 1) / scale) / (1 + a);
}

/* probability[pattern]: bit i of the pattern is the answer to query i; after the halt the bits are
 * 0. The patterns sum to 1. */
static inline void stream_law(const stream_noise *s, const int *values, int n, double *probability)
{
    for (int pattern = 0; pattern < 1 << n; pattern++)
        probability[pattern] = 0;
    int reach = s->threshold_scale == 0 ? 0 : (int)(45 * s->threshold_scale) + 1;
    double a = s->threshold_scale == 0 ? 0 : exp(-1 / s->threshold_scale);
    for (int noise = -reach; noise <= reach; noise++) {
        double weight = s->threshold_scale == 0
                            ? 1
                            : (1 - a) / (1 + a) * exp(-fabs((double)noise) / s->threshold_scale);
        /* grow the patterns one query at a time; a pattern that has halted gets no more hits */
        double part[STREAM_PATTERNS];
        part[0] = weight;
        for (int i = 0; i < n; i++) {
            double above = stream_above(s->query_scale, noise - values[i]);
            for (int pattern = 0; pattern < 1 << i; pattern++) {
                bool halted = __builtin_popcount((unsigned)pattern) >= s->hits;
                part[pattern | 1 << i] = halted ? 0 : part[pattern] * above;
                part[pattern] *= halted ? 1 : 1 - above;
            }
        }
        for (int pattern = 0; pattern < 1 << n; pattern++)
            probability[pattern] += part[pattern];
    }
}

/* The largest loss ln(p/q) over patterns that are not negligible. */
static inline double stream_loss(const double *p, const double *q, int n)
{
    double loss = 0;
    for (int pattern = 0; pattern < 1 << n; pattern++)
        if (p[pattern] > 1e-14)
            loss = fmax(loss, log(p[pattern] / q[pattern]));
    return loss;
}

#endif
