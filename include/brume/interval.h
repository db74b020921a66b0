/* A certified interval: the truth lies in [lower, upper], ends included. */
#ifndef BRUME_INTERVAL_H
#define BRUME_INTERVAL_H

typedef struct brume_interval {
    double lower, upper; /* lower <= upper; either may be infinite */
} brume_interval;

#endif
