/* The law of a sampler by running it on every tape.
 *
 * A tape of finitely many bits either decides the draw or runs out. Whoever ran out is run again on
 * every one-word extension of the stream that it wanted, down to a number of bits. The tapes that
 * finished carry dyadic masses: for every outcome k
 *     decided(k) <= P[X = k] <= decided(k) + open,
 * with no chance of a false alarm, and a biased sampler is found for certain once `open` is small
 * enough. Words are enumerated by their top `word_bits`; the sampler must be compiled to look at no
 * others (sample/word.h, BRUME_PREFIX). */
#ifndef BRUME_TESTS_ENUMERATE_H
#define BRUME_TESTS_ENUMERATE_H

#include <stdbool.h>
#include <stdint.h>

#include "random/bits.h"

/* Draw once from the tape. false: it ran out. */
typedef bool tape_draw(brume_bits *tape, const void *context, int64_t *out);

typedef struct tape_law {
    int64_t least;     /* outcomes least .. least + count - 1 are counted one by one, */
    size_t count;      /* all others together */
    uint64_t *decided; /* in units of 2^-depth */
    uint64_t others;
    uint64_t open;
    unsigned depth;
    uint64_t runs;
} tape_law;

/* Enumerate; close with tape_law_close. `depth`, the most bits of a tape, is at most 60. */
tape_law tape_law_of(tape_draw *draw, const void *context, unsigned word_bits, unsigned depth,
                     int64_t least, size_t count);
void tape_law_close(tape_law *law);

/* Does the mass of k, known to lie in [lower, upper], meet the enumeration? */
bool tape_law_allows(const tape_law *law, int64_t k, double lower, double upper);

/* Number of outcomes in range that `mass` (P[X = k], correct to a relative 1e-12) contradicts. */
typedef double tape_mass(const void *context, int64_t k);
size_t tape_law_violations(const tape_law *law, tape_mass *mass, const void *context);

#endif
