/* Filling a batch by attempts that a vector filter settles but for a few words.
 *
 * A batch that misses r values makes at most r attempts, in order, so it reads the words that r
 * single draws would (random/bits.h, 4). */
#ifndef BRUME_SAMPLE_ATTEMPTS_H
#define BRUME_SAMPLE_ATTEMPTS_H

#include "sample/noise_law.h"

/* values[i] = the value of words[i], if the word settles it; else the sign bit of open[i] is set.
 */
typedef void brume_filter_block(const brume_noise *noise, const uint64_t *words, int64_t *values,
                                uint64_t *open, size_t count);
/* The whole attempt of a word: 1 kept, 0 rejected, -1 the source failed. */
typedef int brume_attempt(const brume_noise *noise, uint64_t word, brume_bits *bits, int64_t *out);

/* n values. false: the source failed. */
bool brume_attempts_fill(const brume_noise *noise, brume_filter_block *filter,
                         brume_attempt *attempt, brume_bits *bits, int64_t *out, size_t n);

#endif
