/* A uniform real of which only the first bits have been read so far.
 *
 * U is in [prefix, prefix + 1) * 2^-bits; more bits come from the `more` stream, 64 at a time. A
 * question about U is answered only when every U in that cell gives the same answer: the bits not
 * read cannot matter, so the law is that of the infinite expansion. */
#ifndef BRUME_SAMPLE_LAZY_H
#define BRUME_SAMPLE_LAZY_H

#include <stdbool.h>
#include <stdint.h>

#include <gmp.h>
#include <mpfr.h>

#include "random/bits.h"

/* Working bits beyond those of a cell: an enclosure's width then stays far below the cell's. */
#ifndef BRUME_LAZY_GUARD_BITS /* tests set fewer, so that a bound rounded the wrong way shows */
#define BRUME_LAZY_GUARD_BITS 96
#endif

typedef struct brume_lazy {
    mpz_t prefix;
    unsigned long bits;
} brume_lazy;

void brume_lazy_open(brume_lazy *lazy, uint64_t prefix, unsigned bits);
void brume_lazy_close(brume_lazy *lazy); /* wipes */

/* Append one word of the `more` stream. false: the source failed. */
bool brume_lazy_more(brume_lazy *lazy, brume_bits *bits);

/* The ends of the cell, rounded outwards if the precision is too small to hold them. */
void brume_lazy_lower(const brume_lazy *lazy, mpfr_t out);
void brume_lazy_upper(const brume_lazy *lazy, mpfr_t out);

/* Set lower <= v <= upper for a fixed real v, at the precision the two have; the enclosure must
 * shrink to v as that precision grows. */
typedef void brume_enclosure(const void *context, mpfr_t lower, mpfr_t upper);

/* Is U < v? Reads on until it is certain. false: the source failed. */
bool brume_lazy_below(brume_lazy *lazy, brume_bits *bits, brume_enclosure *enclose,
                      const void *context, bool *out);

#endif
