/* SipHash-2-4 of 64-bit words and of bytes: a keyed hash that nobody without the key can predict.
 *                                                                                     [AB12] */
#ifndef BRUME_QUERY_SIPHASH_H
#define BRUME_QUERY_SIPHASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct brume_hash_key {
    uint64_t word[2];
} brume_hash_key;

typedef struct brume_siphash {
    uint64_t v0, v1, v2, v3;
} brume_siphash;

static inline uint64_t brume_siphash_rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static inline void brume_siphash_round(brume_siphash *s)
{
    s->v0 += s->v1;
    s->v1 = brume_siphash_rotate(s->v1, 13) ^ s->v0;
    s->v0 = brume_siphash_rotate(s->v0, 32);
    s->v2 += s->v3;
    s->v3 = brume_siphash_rotate(s->v3, 16) ^ s->v2;
    s->v0 += s->v3;
    s->v3 = brume_siphash_rotate(s->v3, 21) ^ s->v0;
    s->v2 += s->v1;
    s->v1 = brume_siphash_rotate(s->v1, 17) ^ s->v2;
    s->v2 = brume_siphash_rotate(s->v2, 32);
}

static inline brume_siphash brume_siphash_begin(const brume_hash_key *key)
{
    return (brume_siphash){
        key->word[0] ^ UINT64_C(0x736f6d6570736575), key->word[1] ^ UINT64_C(0x646f72616e646f6d),
        key->word[0] ^ UINT64_C(0x6c7967656e657261), key->word[1] ^ UINT64_C(0x7465646279746573)};
}

static inline void brume_siphash_add(brume_siphash *s, uint64_t word)
{
    s->v3 ^= word;
    brume_siphash_round(s);
    brume_siphash_round(s);
    s->v0 ^= word;
}

/* `last` holds the bytes after the last whole word and, in its top byte, the length mod 256. */
static inline uint64_t brume_siphash_end(brume_siphash *s, uint64_t last)
{
    brume_siphash_add(s, last);
    s->v2 ^= 0xff;
    for (int i = 0; i < 4; i++)
        brume_siphash_round(s);
    return s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
}

/* Hash of whole words (as their little-endian bytes). */
static inline uint64_t brume_siphash_words(const brume_hash_key *key, const uint64_t *words,
                                           size_t count)
{
    brume_siphash s = brume_siphash_begin(key);
    for (size_t i = 0; i < count; i++)
        brume_siphash_add(&s, words[i]);
    return brume_siphash_end(&s, (uint64_t)(count * 8) << 56);
}

/* Hash of bytes. */
static inline uint64_t brume_siphash_bytes(const brume_hash_key *key, const void *bytes,
                                           size_t length)
{
    brume_siphash s = brume_siphash_begin(key);
    const unsigned char *from = bytes;
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        uint64_t word = 0;
        for (int j = 7; j >= 0; j--)
            word = word << 8 | from[i + (size_t)j];
        brume_siphash_add(&s, word);
    }
    uint64_t last = (uint64_t)length << 56;
    for (size_t j = 0; i + j < length; j++)
        last |= (uint64_t)from[i + j] << (8 * j);
    return brume_siphash_end(&s, last);
}

#endif
