/* The steps of the choice that counting and the estimate of what was cut share with it. */
#ifndef BRUME_QUERY_LIMIT_CHOOSE_PARTS_H
#define BRUME_QUERY_LIMIT_CHOOSE_PARTS_H

#include "query/limit/choose.h"

/* Which bins are surely not empty, and the last of them. */
typedef struct brume_limit_seen {
    bool passed[BRUME_LIMIT_BINS];
    size_t top; /* BRUME_LIMIT_NO_BIN: none passed */
} brume_limit_seen;

brume_limit_seen brume_limit_see(const brume_limit_histogram *histogram);

/* Standard deviation of the noise on a bin. */
double brume_limit_deviation(const brume_limit_histogram *histogram);

/* Standard deviation of noise with this scale. */
double brume_limit_deviation_of(const brume_limit_histogram *histogram, double scale);

/* The window of bins above `top` that speaks most for a crowd far above. */
typedef struct brume_limit_crowd {
    size_t from, last; /* its first bin, and the last that seems to have units */
    double evidence;   /* -log P[empty bins say so much], or a little less */
} brume_limit_crowd;

/* What a window must say to buy a count for it: some 220 windows of empty bins say so much in 4 of
 * 100 draws. And what it must say where the count of units above the limit speaks for it too. */
#define BRUME_CROWD_SUSPECTED 8.5
#define BRUME_CROWD_LEAST     5.0

/* False: no window says `enough`. */
bool brume_limit_find_crowd(const brume_limit_histogram *histogram, size_t top, double enough,
                            brume_limit_crowd *out);

/* A limit that is a bin too high costs 2^(1/2); the logarithm of that. */
#define BRUME_BIN_COSTS 0.34657359027997264

#endif
