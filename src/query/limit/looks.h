/* Looks: noisy counts of units by how much they have, which the limit is chosen from.
 *
 * There are three, each bought only where the one before asks for it:
 *   1. where one row adds 1: a first count of the units with more than one row. If it is no more
 * than noise, the limit is 1 and nothing else is bought;
 *   2. a histogram: the units in each bin of the grid (grid.h);
 *   3. the tail: each bin up to the last one that is seen is counted again, and the units above it
 *      in four parts: up to 2, 8 and 64 times its edge, and beyond. Where the answer is in doubt it
 *      is bought a second time.
 * A unit is in one bin, and in one number of a tail. So one unit more or less moves a look by 1,
 * and one replaced by 2; the first count moves by 1 in both cases. proofs/limits.md.
 *
 * Several looks at the same units are pooled: each number is the mean of all that were drawn for
 * it, weighted by the inverse of their variances. This is post-processing of numbers that were paid
 * for. */
#ifndef BRUME_QUERY_LIMIT_LOOKS_H
#define BRUME_QUERY_LIMIT_LOOKS_H

#include <stdbool.h>
#include <stddef.h>

#include "query/limit/grid.h"

enum { BRUME_LIMIT_PARTS = 4 };

/* A count with noise of this standard deviation; 0: it was never drawn. */
typedef struct brume_noisy {
    double value, deviation;
} brume_noisy;

typedef struct brume_looks {
    bool gaussian; /* all noise is Gaussian; else a mean of Laplace noises, taken for one of them */
    size_t base;   /* the bin of the most that one row adds */
    brume_noisy first; /* units above bin 0 */
    brume_noisy bin[BRUME_LIMIT_BINS];
    size_t tail; /* first bin of the parts of the newest tail; 0: there is none */
    brume_noisy part[BRUME_LIMIT_PARTS];
} brume_looks;

static inline bool brume_looks_histogram(const brume_looks *looks)
{
    return looks->bin[0].deviation > 0;
}

/* One more number for the same count. */
void brume_noisy_pool(brume_noisy *number, double value, double deviation);

/* Pool all numbers of *more into *to. Where two tails have other parts that of *more stays. */
void brume_looks_pool(brume_looks *to, const brume_looks *more);

/* Where another tail begins: above the last bin that is seen, or with the one that is there where
 * that is near, so that both are pooled. */
size_t brume_looks_next_tail(const brume_looks *looks);

/* The first bin of a part; of part BRUME_LIMIT_PARTS: the end of the grid. */
size_t brume_looks_part(size_t tail, size_t part);

/* -log P[the noises of `count` counts with this deviation each add up to `sum` or more], or less;
 * below 3, of more than four counts, 0.05 more at most. */
double brume_noise_evidence(bool gaussian, double sum, double deviation, int count);

/* Does the first count say no more than noise often does? False: it is not there. */
bool brume_looks_are_quiet(const brume_looks *looks);

/* The last bin that surely has units, by the histogram; BRUME_LIMIT_NO_BIN: none is seen. The
 * further a bin is above the last one that passed, the more it must show, since a limit that is too
 * high by a factor costs this factor in noise. */
size_t brume_looks_top(const brume_looks *looks);

/* With probability 0.975 at least not more units than this have more than the edge of the bin: by
 * the first count where nothing else was drawn, else by the parts of the tail. NaN: no number
 * tells. */
double brume_looks_hidden(const brume_looks *looks, size_t bin);

/* About how many units there are; NaN: no histogram was drawn. */
double brume_looks_units(const brume_looks *looks);

/* About how much the units have together; NaN: no histogram shows any. */
double brume_looks_sum(const brume_looks *looks);

#endif
