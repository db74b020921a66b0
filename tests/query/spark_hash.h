/* Spark's xxhash64 of a truth value, of a whole number and of bytes, so that a test can say what
 * Spark keeps by it: XXH64 (Yann Collet, public specification), the hash of each argument being the
 * seed of the next, 42 that of the first. Little-endian machines. */
#ifndef BRUME_TESTS_QUERY_SPARK_HASH_H
#define BRUME_TESTS_QUERY_SPARK_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SPARK_HASH_SEED UINT64_C(42)
#define SPARK_HASH_1    UINT64_C(0x9e3779b185ebca87)
#define SPARK_HASH_2    UINT64_C(0xc2b2ae3d27d4eb4f)
#define SPARK_HASH_3    UINT64_C(0x165667b19e3779f9)
#define SPARK_HASH_4    UINT64_C(0x85ebca77c2b2ae63)
#define SPARK_HASH_5    UINT64_C(0x27d4eb2f165667c5)

static inline uint64_t spark_hash_turn(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static inline uint64_t spark_hash_end(uint64_t h)
{
    h = (h ^ h >> 33) * SPARK_HASH_2;
    h = (h ^ h >> 29) * SPARK_HASH_3;
    return h ^ h >> 32;
}

/* Eight bytes, and four, into the hash so far. */
static inline uint64_t spark_hash_eight(uint64_t h, uint64_t word)
{
    h ^= spark_hash_turn(word * SPARK_HASH_2, 31) * SPARK_HASH_1;
    return spark_hash_turn(h, 27) * SPARK_HASH_1 + SPARK_HASH_4;
}

static inline uint64_t spark_hash_four(uint64_t h, uint32_t word)
{
    h ^= word * SPARK_HASH_1;
    return spark_hash_turn(h, 23) * SPARK_HASH_2 + SPARK_HASH_3;
}

static inline uint64_t spark_hash_flag(bool flag, uint64_t seed)
{
    return spark_hash_end(spark_hash_four(seed + SPARK_HASH_5 + 4, flag));
}

static inline uint64_t spark_hash_number(int64_t number, uint64_t seed)
{
    return spark_hash_end(spark_hash_eight(seed + SPARK_HASH_5 + 8, (uint64_t)number));
}

/* Blocks of 32 bytes, where there are any. */
static inline uint64_t spark_hash_blocks(const char **bytes, size_t *length, uint64_t seed)
{
    uint64_t lanes[] = {seed + SPARK_HASH_1 + SPARK_HASH_2, seed + SPARK_HASH_2, seed,
                        seed - SPARK_HASH_1};
    static const int turns[] = {1, 7, 12, 18};
    uint64_t h = 0;
    if (*length < 32)
        return seed + SPARK_HASH_5;
    for (; *length >= 32; *bytes += 32, *length -= 32)
        for (int i = 0; i < 4; i++) {
            uint64_t word;
            memcpy(&word, *bytes + 8 * i, sizeof word);
            lanes[i] = spark_hash_turn(lanes[i] + word * SPARK_HASH_2, 31) * SPARK_HASH_1;
        }
    for (int i = 0; i < 4; i++)
        h += spark_hash_turn(lanes[i], turns[i]);
    for (int i = 0; i < 4; i++) {
        h ^= spark_hash_turn(lanes[i] * SPARK_HASH_2, 31) * SPARK_HASH_1;
        h = h * SPARK_HASH_1 + SPARK_HASH_4;
    }
    return h;
}

static inline uint64_t spark_hash_bytes(const char *bytes, size_t length, uint64_t seed)
{
    size_t rest = length;
    uint64_t h = spark_hash_blocks(&bytes, &rest, seed) + length;
    for (; rest >= 8; bytes += 8, rest -= 8) {
        uint64_t word;
        memcpy(&word, bytes, sizeof word);
        h = spark_hash_eight(h, word);
    }
    if (rest >= 4) {
        uint32_t word;
        memcpy(&word, bytes, sizeof word);
        h = spark_hash_four(h, word);
        bytes += 4;
        rest -= 4;
    }
    for (; rest > 0; bytes++, rest--)
        h = spark_hash_turn(h ^ (unsigned char)*bytes * SPARK_HASH_5, 11) * SPARK_HASH_1;
    return spark_hash_end(h);
}

#endif
