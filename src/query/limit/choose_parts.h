/* The steps of the choice that the estimate of what was cut shares with it. */
#ifndef BRUME_QUERY_LIMIT_CHOOSE_PARTS_H
#define BRUME_QUERY_LIMIT_CHOOSE_PARTS_H

#include "query/limit/choose.h"

/* Which bins are surely not empty, and the last of them. */
typedef struct brume_limit_seen {
    bool passed[BRUME_LIMIT_BINS];
    size_t top; /* BRUME_LIMIT_NO_BIN: none passed */
} brume_limit_seen;

brume_limit_seen brume_limit_see(const brume_limit_histogram *histogram);

/* A falling tail, as the end of the last run of four bins that passed says it goes on. */
typedef struct brume_limit_tail {
    bool known;
    bool falls;                 /* the last octave of the run is well below the one before */
    size_t at;                  /* the last bin it has reached */
    double fall;                /* from one bin to the next, below 1, */
    double bend;                /* and what it is multiplied by at each: 1 for a power law, less for
                                   tails that fall faster and faster */
    double expected;            /* units in bin `at` */
    double predicted, observed; /* units in the bins since the run */
    int steps;
} brume_limit_tail;

brume_limit_tail brume_limit_tail_of(const brume_limit_histogram *histogram,
                                     const brume_limit_seen *all, size_t top);

/* Units above bin `at`, as the tail expects them. */
double brume_limit_tail_above(const brume_limit_tail *tail);

/* One bin further; false: there is none, or the bins say that the tail broke off. */
bool brume_limit_tail_step(const brume_limit_histogram *histogram, brume_limit_tail *tail);

/* Standard deviation of the noise on a bin. */
double brume_limit_deviation(const brume_limit_histogram *histogram);

#endif
