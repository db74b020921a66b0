/* Small integers packed one after the other, from the lowest bit of the first byte up. */
#ifndef BRUME_READER_PARQUET_BITS_H
#define BRUME_READER_PARQUET_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

__extension__ typedef __int128 brume_parquet_i128;
__extension__ typedef unsigned __int128 brume_parquet_u128;

/* The integer of `width` <= 56 bits at bit `bit`. Eight bytes are read from the one it begins in:
 * see BRUME_POOL_PADDING. */
static inline uint64_t brume_bits_at(const uint8_t *bytes, uint64_t bit, unsigned width)
{
    uint64_t word;
    memcpy(&word, bytes + bit / 8, sizeof word);
    return (word >> bit % 8) & (((uint64_t)1 << width) - 1);
}

/* The same for `width` <= 64; sixteen bytes are read. */
static inline uint64_t brume_bits_wide(const uint8_t *bytes, uint64_t bit, unsigned width)
{
    brume_parquet_u128 word;
    memcpy(&word, bytes + bit / 8, sizeof word);
    uint64_t mask = width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
    return (uint64_t)(word >> bit % 8) & mask;
}

/* A number of groups of seven bits, the lowest first; false beyond the end or 64 bits. */
static inline bool brume_bits_varint(const uint8_t **at, const uint8_t *end, uint64_t *out)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
        unsigned byte = *(*at)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *out = value;
            return true;
        }
    }
    return false;
}

#endif
