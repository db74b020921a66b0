/* The stored values of a page, whatever their encoding.
 *
 * They come as arrays of the physical type: BOOLEAN uint8_t (0, 1), INT32 int32_t, INT64 int64_t,
 * INT96 twelve bytes, FLOAT float, DOUBLE double; BYTE_ARRAY and FIXED brume_text, whose bytes are
 * those of the page or lent by the pool until its next turn. */
#ifndef BRUME_READER_PARQUET_VALUES_H
#define BRUME_READER_PARQUET_VALUES_H

#include "reader/parquet/pool.h"
#include "reader/parquet/footer.h"

/* DELTA_BINARY_PACKED: integers as differences to the one before, in blocks of packed bits. */

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

/* The hybrid of runs and bit-packing in which Parquet writes levels, indices into a dictionary, and
 * booleans: one run after the other, each either one value repeated or values packed in bits. */

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

/* The next `count` values of width 1 as the bits from `start` on of words that are 0 there; *ones
 * is how many of them are 1. */
bool brume_rle_read_bits(brume_rle *rle, size_t count, uint64_t *words, size_t start, size_t *ones);

/* Set `count` bits from `start` on. */
void brume_rle_set_bits(uint64_t *words, size_t start, size_t count);

/* As numbered by the format. */
typedef enum brume_parquet_encoding {
    PARQUET_PLAIN = 0,
    PARQUET_PLAIN_DICTIONARY = 2,
    PARQUET_RLE = 3,
    PARQUET_BIT_PACKED = 4,
    PARQUET_DELTA_BINARY_PACKED = 5,
    PARQUET_DELTA_LENGTH_BYTE_ARRAY = 6,
    PARQUET_DELTA_BYTE_ARRAY = 7,
    PARQUET_RLE_DICTIONARY = 8,
    PARQUET_BYTE_STREAM_SPLIT = 9,
} brume_parquet_encoding;

enum { PARQUET_INT96_SIZE = 12 };

/* Most values that one call may read, but of PLAIN ones, of which it may be any number. */
enum { BRUME_PARQUET_MOST = 2048 };

typedef struct brume_parquet_values {
    brume_parquet_physical physical;
    brume_parquet_encoding encoding;
    size_t width;            /* bytes of a stored value; 0 for BOOLEAN and BYTE_ARRAY */
    const uint8_t *at, *end; /* of what is not read yet; BRUME_POOL_PADDING bytes behind `end` */
    unsigned bit;            /* PLAIN booleans: in the byte at `at` */
    size_t stride, next;     /* BYTE_STREAM_SPLIT: values in all, and read */
    brume_rle rle;           /* RLE booleans */
    brume_delta numbers;     /* DELTA_BINARY_PACKED */
    brume_delta lengths, prefixes;
    brume_page_pool *pool;
    brume_pool_block *last_block; /* DELTA_BYTE_ARRAY: the last value */
    size_t last_length;
} brume_parquet_values;

/* Begin to read a page's values (not those in a dictionary). DAMAGED: the encoding is none of the
 * column's, or its header is not sound. */
brume_parquet_fault brume_parquet_values_open(brume_parquet_values *values,
                                              const brume_parquet_column *column, int encoding,
                                              const uint8_t *bytes, size_t length,
                                              brume_page_pool *pool);

/* The next `count` <= BRUME_PARQUET_MOST values; DAMAGED if there are fewer. */
brume_parquet_fault brume_parquet_values_read(brume_parquet_values *values, size_t count,
                                              void *out);

/* The page is done with. */
void brume_parquet_values_close(brume_parquet_values *values);

/* The bytes of one value in an array of physical values. */
size_t brume_parquet_physical_size(brume_parquet_physical physical);

#endif
