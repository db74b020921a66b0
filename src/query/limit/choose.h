/* The choice of a limit from a noisy histogram of the units' norms (grid.h). Post-processing: the
 * noisy numbers and public ones alone decide, so the rule may be as clever as it likes.
 *
 * The error of a sum that is cut at T is what the units above T lose, and noise in proportion to T.
 * It is least where about `need` units are above T. A histogram that costs a tenth of the price
 * cannot see that few, so the rule
 *   1. takes the last bin that is surely not empty (the top), with a test that is stricter by half
 *      for each bin since the last one that passed: an error of j bins has a chance of about 2^-j;
 *   2. looks for units thinly spread above the top, two or four bins together;
 *   3. continues a falling tail by the fall of its last octaves, and faster where it fell faster
 *      and faster, for six bins at most, until the bins above say that it broke off;
 *   4. goes down from the top where many cells make the noise large.
 * This is the limit where no law fits the tail; where one does, expect.h has the one with the least
 * expected error, at most seven bins above the last bin of a run, or the top. A crowd above the
 * rest (a few accounts that have most of the rows) is not seen here: the units above the limit are
 * counted again for that, which may raise it (tail.h).
 *
 * What noise alone can do. A limit that is d bins too high costs 2^(d/2) times the noise, so every
 * test gets stricter with the distance from what is known: from the last bin that passed, or where
 * none did from `base`. Of empty bins that are d bins and more above, by the union of all:
 *   step 1           P <= 2^-d / 14         (one passes with 2^-gap / 200, or several in a row)
 *   no bin passed    P <= 1e-3 2^-d         (windows of two, four, eight)
 * and steps 2 and 3 add at most 4 and 7 bins to that. So the mean of 2^(d/2) is below 1.15. */
#ifndef BRUME_QUERY_LIMIT_CHOOSE_H
#define BRUME_QUERY_LIMIT_CHOOSE_H

#include <stdbool.h>
#include <stddef.h>

#include "query/limit/grid.h"

/* A count that was paid for: of the units in bin `from` and above. */
typedef struct brume_limit_count {
    size_t from;
    double noisy, scale; /* scale 0: there is none */
} brume_limit_count;

/* The units in bin `from` and above, in parts (tail.h). */
enum { BRUME_LIMIT_PARTS = 5 };
typedef struct brume_limit_tail {
    size_t from;
    int looks; /* 1, or 2 where they were counted twice; then the numbers are means of both */
    double noisy[BRUME_LIMIT_PARTS], scale; /* scale 0: there is none */
} brume_limit_tail;

typedef struct brume_limit_histogram {
    const double *noisy; /* units in each bin, with noise */
    size_t bins;         /* 1 .. BRUME_LIMIT_BINS */
    bool gaussian;       /* the noise: Gaussian, or Laplace */
    double scale; /* its scale or sigma; 0: the first count said enough, and it was not drawn */
    size_t base;  /* the bin of what one row adds at most: limits are not far above it
                     unless the counts say so */
    brume_limit_count first; /* of the same units (tail.h), */
    brume_limit_tail tail;   /* and of those above a limit that was found */
} brume_limit_histogram;

/* Units above the limit at which cutting and noise cost the same, where `noise` is the scale of the
 * noise for a limit of 1, over so many cells. */
double brume_limit_need(double noise, bool gaussian, double cells);

/* Which bin's edge is the limit, by the histogram alone. BRUME_LIMIT_NO_BIN: too few units to find
 * one. */
size_t brume_limit_choose(const brume_limit_histogram *histogram, double need);

#endif
