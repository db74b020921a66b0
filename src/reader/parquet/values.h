/* The stored values of a page, whatever their encoding.
 *
 * They come as arrays of the physical type: BOOLEAN uint8_t (0, 1), INT32 int32_t, INT64 int64_t,
 * INT96 twelve bytes, FLOAT float, DOUBLE double; BYTE_ARRAY and FIXED brume_text, whose bytes are
 * those of the page or lent by the pool until its next turn. */
#ifndef BRUME_READER_PARQUET_VALUES_H
#define BRUME_READER_PARQUET_VALUES_H

#include "reader/parquet/delta.h"
#include "reader/parquet/pool.h"
#include "reader/parquet/rle.h"
#include "reader/parquet/schema.h"

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
    brume_pool *pool;
    brume_pool_block *last_block; /* DELTA_BYTE_ARRAY: the last value */
    size_t last_length;
} brume_parquet_values;

/* Begin to read a page's values (not those in a dictionary). DAMAGED: the encoding is none of the
 * column's, or its header is not sound. */
brume_parquet_fault brume_parquet_values_open(brume_parquet_values *values,
                                              const brume_parquet_column *column, int encoding,
                                              const uint8_t *bytes, size_t length,
                                              brume_pool *pool);

/* The next `count` <= BRUME_PARQUET_MOST values; DAMAGED if there are fewer. */
brume_parquet_fault brume_parquet_values_read(brume_parquet_values *values, size_t count,
                                              void *out);

/* The page is done with. */
void brume_parquet_values_close(brume_parquet_values *values);

/* The bytes of one value in an array of physical values. */
size_t brume_parquet_physical_size(brume_parquet_physical physical);

/* The encodings, each in its file: read the next `count` values. */
brume_parquet_fault brume_plain_read(brume_parquet_values *values, size_t count, void *out);
brume_parquet_fault brume_split_read(brume_parquet_values *values, size_t count, void *out);
brume_parquet_fault brume_delta_length_read(brume_parquet_values *values, size_t count,
                                            brume_text *out);
brume_parquet_fault brume_delta_text_read(brume_parquet_values *values, size_t count,
                                          brume_text *out);

#endif
