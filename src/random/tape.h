/* The test tape: a brume_bits that a test writes, and that runs out.
 *
 * Not part of the library: tests link it. It cannot be reached from the public headers, so no
 * caller can replay bits. A sampler that reads past the end gets BRUME_ERANDOM, which is how a test
 * learns "not decided by these bits".
 *
 * Close with brume_bits_close. A tape copies its words. NULL from an open: out of memory. */
#ifndef BRUME_RANDOM_TAPE_H
#define BRUME_RANDOM_TAPE_H

#include "random/bits.h"

/* `main_count` words for the main stream, `more_count` for the other; then nothing. */
brume_bits *brume_tape_open(const uint64_t *main_words, size_t main_count,
                            const uint64_t *more_words, size_t more_count);

/* Two endless streams made from a seed (SplitMix64: fixed for ever, and not secure). */
brume_bits *brume_tape_open_seeded(uint64_t seed);

/* Offer at most `words` words at a time, 1 .. 2048, as if the block were that short: puts refill
 * borders wherever a test wants them. */
void brume_tape_limit(brume_bits *tape, size_t words);

/* Words read so far. */
size_t brume_tape_main_read(const brume_bits *tape);
size_t brume_tape_more_read(const brume_bits *tape);

/* Put a finite tape back to its beginning. */
void brume_tape_rewind(brume_bits *tape);

/* Replace the words of a finite tape and put it at its beginning. false: out of memory. */
bool brume_tape_write(brume_bits *tape, const uint64_t *main_words, size_t main_count,
                      const uint64_t *more_words, size_t more_count);

/* After a read past the end: was it `more` that ran out? */
bool brume_tape_wants_more(const brume_bits *tape);

/* The next word of a SplitMix64 generator: for tests that need arbitrary numbers. */
uint64_t brume_tape_splitmix(uint64_t *state);

#endif
