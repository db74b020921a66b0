/* The bits a sampler takes of each word of a stream: all 64.
 *
 * Tests compile the integer samplers with fewer (the top ones of each word), so that every tape of
 * a few words can be enumerated. Nothing else may define it. */
#ifndef BRUME_SAMPLE_WORD_H
#define BRUME_SAMPLE_WORD_H

#include "random/bits.h"

#ifndef BRUME_WORD_BITS
#define BRUME_WORD_BITS 64
#endif

#define BRUME_WORD_MAX (UINT64_MAX >> (64 - BRUME_WORD_BITS))

static inline bool brume_sample_word(brume_bits *bits, brume_stream *stream, uint64_t *word)
{
    if (!brume_bits_word(bits, stream, word))
        return false;
    *word >>= 64 - BRUME_WORD_BITS;
    return true;
}

#endif
