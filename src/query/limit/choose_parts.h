/* The steps of the choice that the tail and the estimate of what was cut share with it. */
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

/* `need`, but not more than a quarter of all units. */
double brume_limit_need_at_most(const brume_limit_histogram *histogram, double need);

/* log x to 0.001, the same on every machine. */
double brume_limit_rough_log(double x);

#endif
