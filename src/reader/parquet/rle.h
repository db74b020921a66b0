/* The hybrid of runs and bit-packing in which Parquet writes levels, indices into a dictionary, and
 * booleans: one run after the other, each either one value repeated or values packed in bits. */
#ifndef BRUME_READER_PARQUET_RLE_H
#define BRUME_READER_PARQUET_RLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct brume_rle {
    const uint8_t *at, *end; /* of what is behind the run; BRUME_POOL_PADDING bytes behind `end` */
    unsigned width;          /* bits of a value, at most 32 */
    uint64_t left;           /* values left of the run */
    bool packed;
    uint32_t value;        /* of a repeated run */
    const uint8_t *values; /* of a packed run */
    uint64_t bit;          /* in it, of the next value */
} brume_rle;

/* false if `width` is above 32. */
bool brume_rle_open(brume_rle *rle, const uint8_t *bytes, size_t length, unsigned width);

/* The next `count` values; false if there are fewer. */
bool brume_rle_read(brume_rle *rle, size_t count, uint32_t *values);

/* The same as bytes, where the width is at most 8. */
bool brume_rle_read_bytes(brume_rle *rle, size_t count, uint8_t *values);

/* The next `count` values of width 1 as the bits from `start` on of words that are 0 there; *ones
 * is how many of them are 1. */
bool brume_rle_read_bits(brume_rle *rle, size_t count, uint64_t *words, size_t start, size_t *ones);

/* Set `count` bits from `start` on. */
void brume_rle_set_bits(uint64_t *words, size_t start, size_t count);

#endif
