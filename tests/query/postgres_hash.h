/* PostgreSQL's keyed hashes of a whole number and of bytes (hashint8extended, hashtextextended), so
 * that a test can say what a server keeps by them: Bob Jenkins' lookup3 (public domain), with the
 * key mixed in first. Little-endian machines. */
#ifndef BRUME_TESTS_QUERY_POSTGRES_HASH_H
#define BRUME_TESTS_QUERY_POSTGRES_HASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct postgres_hash {
    uint32_t a, b, c;
} postgres_hash;

static inline uint32_t postgres_hash_turn(uint32_t x, int by)
{
    return x << by | x >> (32 - by);
}

static inline void postgres_hash_mix(postgres_hash *h)
{
    static const int turns[] = {4, 6, 8, 16, 19, 4};
    for (int i = 0; i < 6; i += 3) {
        h->a = (h->a - h->c) ^ postgres_hash_turn(h->c, turns[i]);
        h->c += h->b;
        h->b = (h->b - h->a) ^ postgres_hash_turn(h->a, turns[i + 1]);
        h->a += h->c;
        h->c = (h->c - h->b) ^ postgres_hash_turn(h->b, turns[i + 2]);
        h->b += h->a;
    }
}

static inline uint64_t postgres_hash_end(postgres_hash *h)
{
    h->c = (h->c ^ h->b) - postgres_hash_turn(h->b, 14);
    h->a = (h->a ^ h->c) - postgres_hash_turn(h->c, 11);
    h->b = (h->b ^ h->a) - postgres_hash_turn(h->a, 25);
    h->c = (h->c ^ h->b) - postgres_hash_turn(h->b, 16);
    h->a = (h->a ^ h->c) - postgres_hash_turn(h->c, 4);
    h->b = (h->b ^ h->a) - postgres_hash_turn(h->a, 14);
    h->c = (h->c ^ h->b) - postgres_hash_turn(h->b, 24);
    return (uint64_t)h->b << 32 | h->c;
}

static inline postgres_hash postgres_hash_begin(size_t length, uint64_t key)
{
    uint32_t first = UINT32_C(0x9e3779b9) + (uint32_t)length + 3923095;
    postgres_hash h = {first, first, first};
    if (key != 0) {
        h.a += (uint32_t)(key >> 32);
        h.b += (uint32_t)key;
        postgres_hash_mix(&h);
    }
    return h;
}

static inline uint64_t postgres_hash_bytes(const void *bytes, size_t length, uint64_t key)
{
    const unsigned char *from = bytes;
    postgres_hash h = postgres_hash_begin(length, key);
    uint32_t *words[] = {&h.a, &h.b, &h.c};
    for (; length >= 12; from += 12, length -= 12) {
        for (size_t i = 0; i < 12; i++)
            *words[i / 4] += (uint32_t)from[i] << 8 * (i % 4);
        postgres_hash_mix(&h);
    }
    for (size_t i = 0; i < length; i++) /* the lowest byte of the third word is the length's */
        *words[i / 4] += (uint32_t)from[i] << 8 * (i % 4 + (i >= 8));
    return postgres_hash_end(&h);
}

static inline uint64_t postgres_hash_number(int64_t number, uint64_t key)
{
    uint32_t low = (uint32_t)(uint64_t)number, high = (uint32_t)((uint64_t)number >> 32);
    postgres_hash h = postgres_hash_begin(sizeof low, key);
    h.a += low ^ (number >= 0 ? high : ~high);
    return postgres_hash_end(&h);
}

#endif
