/* The compressions of Parquet's pages. */
#ifndef BRUME_READER_PARQUET_CODEC_H
#define BRUME_READER_PARQUET_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/status.h>

/* As numbered by the format. */
typedef enum brume_parquet_codec {
    PARQUET_UNCOMPRESSED,
    PARQUET_SNAPPY,
    PARQUET_GZIP,
    PARQUET_LZO, /* not read */
    PARQUET_BROTLI,
    PARQUET_LZ4, /* in Hadoop's frames, or without */
    PARQUET_ZSTD,
    PARQUET_LZ4_RAW,
} brume_parquet_codec;

/* EUNSUPPORTED, by name, unless pages in this codec can be read. */
BRUME_MUST_USE brume_status brume_parquet_codec_check(int codec, const char *location,
                                                      brume_error *error);

/* May `from` compressed bytes become `to`? False only where the codec cannot: asked before memory
 * is taken. */
bool brume_parquet_codec_may(brume_parquet_codec codec, size_t from, size_t to);

/* Decompress all of `from` into exactly `to_length` bytes; false: it does not. */
bool brume_parquet_decompress(brume_parquet_codec codec, const uint8_t *from, size_t from_length,
                              uint8_t *to, size_t to_length);

#endif
