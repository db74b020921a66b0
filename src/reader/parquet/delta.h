/* DELTA_BINARY_PACKED: integers as differences to the one before, in blocks of packed bits. */
#ifndef BRUME_READER_PARQUET_DELTA_H
#define BRUME_READER_PARQUET_DELTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct brume_delta {
    const uint8_t *at, *end; /* BRUME_POOL_PADDING bytes behind `end` */
    uint64_t left;           /* values not read yet, the first one counted */
    bool first;              /* the first value, which stands in the header, comes next */
    uint64_t value;          /* the last one, modulo 2^64 */
    uint64_t minimum;        /* the least difference of the block */
    uint64_t per_block, per_part;
    const uint8_t *widths; /* of the block's parts: bits of a difference */
    uint64_t part_count, part, part_left;
    unsigned width;
    const uint8_t *packed; /* of the part */
    uint64_t bit;
} brume_delta;

/* Read the header. false: it is not sound. */
bool brume_delta_open(brume_delta *delta, const uint8_t *bytes, size_t length);

/* The next `count` values, modulo 2^64; false if there are fewer. */
bool brume_delta_read(brume_delta *delta, size_t count, int64_t *values);

/* Where the bytes behind the last value begin; NULL if the last lies beyond the end. For one that
 * has not been read from. */
const uint8_t *brume_delta_behind(const brume_delta *delta);

#endif
