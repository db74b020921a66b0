/* The compressions of Parquet's pages: see the header. */
#include "reader/parquet/codec.h"

#include <limits.h>
#include <string.h>

#include <brotli/decode.h>
#include <lz4.h>
#include <snappy-c.h>
#include <zlib.h>
#include <zstd.h>

#include "base/error.h"

brume_status brume_parquet_codec_check(int codec, const char *location, brume_error *error)
{
    if (codec >= PARQUET_UNCOMPRESSED && codec <= PARQUET_LZ4_RAW && codec != PARQUET_LZO)
        return BRUME_OK;
    return brume_fail(error, BRUME_EUNSUPPORTED, "write it with the compression zstd",
                      "'%s' is compressed with %s, which brume does not read", location,
                      codec == PARQUET_LZO ? "LZO" : "an unknown codec");
}

bool brume_parquet_codec_may(brume_parquet_codec codec, size_t from, size_t to)
{
    /* Most bytes that one byte becomes, rounded up generously. A copy of snappy's makes 64 bytes of
     * 2; one of deflate's 258 of two bits; a byte of an LZ4 length adds 255; a block of zstd's has
     * at most 2^17 and takes 4; a metablock of brotli's has 2^24. */
    static const size_t most[] = {
        [PARQUET_UNCOMPRESSED] = 1, [PARQUET_SNAPPY] = 64,      [PARQUET_GZIP] = 2048,
        [PARQUET_LZO] = 1,          [PARQUET_BROTLI] = 1 << 24, [PARQUET_LZ4] = 512,
        [PARQUET_ZSTD] = 1 << 16,   [PARQUET_LZ4_RAW] = 512,
    };
    return to == 0 || to / most[codec] <= from;
}

/* One or more gzip or zlib streams. */
static bool inflate_all(const uint8_t *from, size_t from_length, uint8_t *to, size_t to_length)
{
    enum { EITHER_HEADER = 32 };
    z_stream stream = {0};
    if (from_length > UINT_MAX || to_length > UINT_MAX ||
        inflateInit2(&stream, MAX_WBITS + EITHER_HEADER) != Z_OK)
        return false;
    union { /* zlib only reads it */
        const uint8_t *constant;
        Bytef *plain;
    } in = {from};
    stream.next_in = in.plain;
    stream.avail_in = (uInt)from_length;
    stream.next_out = to;
    stream.avail_out = (uInt)to_length;
    int state = inflate(&stream, Z_FINISH);
    while (state == Z_STREAM_END && stream.avail_in > 0 && stream.avail_out > 0 &&
           inflateReset(&stream) == Z_OK)
        state = inflate(&stream, Z_FINISH);
    bool whole = state == Z_STREAM_END && stream.avail_out == 0;
    inflateEnd(&stream);
    return whole;
}

static bool lz4_raw(const uint8_t *from, size_t from_length, uint8_t *to, size_t to_length)
{
    return from_length <= INT_MAX && to_length <= INT_MAX &&
           LZ4_decompress_safe((const char *)from, (char *)to, (int)from_length, (int)to_length) ==
               (int)to_length;
}

static uint32_t big_endian(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* Hadoop's frames: the lengths of both sides before each block. */
static bool lz4_framed(const uint8_t *from, size_t from_length, uint8_t *to, size_t to_length)
{
    enum { HEADER = 8 };
    while (from_length >= HEADER) {
        size_t after = big_endian(from), before = big_endian(from + 4);
        if (before > from_length - HEADER || after > to_length ||
            !lz4_raw(from + HEADER, before, to, after))
            return false;
        from += HEADER + before;
        from_length -= HEADER + before;
        to += after;
        to_length -= after;
    }
    return from_length == 0 && to_length == 0;
}

bool brume_parquet_decompress(brume_parquet_codec codec, const uint8_t *from, size_t from_length,
                              uint8_t *to, size_t to_length)
{
    size_t made = to_length;
    if (to_length == 0)
        return true;
    switch (codec) {
    case PARQUET_UNCOMPRESSED:
        if (from_length == to_length)
            memcpy(to, from, to_length);
        return from_length == to_length;
    case PARQUET_SNAPPY:
        return snappy_uncompressed_length((const char *)from, from_length, &made) == SNAPPY_OK &&
               made == to_length &&
               snappy_uncompress((const char *)from, from_length, (char *)to, &made) == SNAPPY_OK;
    case PARQUET_GZIP:
        return inflate_all(from, from_length, to, to_length);
    case PARQUET_BROTLI:
        return BrotliDecoderDecompress(from_length, from, &made, to) ==
                   BROTLI_DECODER_RESULT_SUCCESS &&
               made == to_length;
    case PARQUET_LZ4:
        return lz4_framed(from, from_length, to, to_length) ||
               lz4_raw(from, from_length, to, to_length);
    case PARQUET_ZSTD:
        return ZSTD_decompress(to, to_length, from, from_length) == to_length;
    case PARQUET_LZ4_RAW:
        return lz4_raw(from, from_length, to, to_length);
    case PARQUET_LZO:
        break;
    }
    return false;
}
