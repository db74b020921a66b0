/* The stored values of a page: see the header. */
#include "reader/parquet/values.h"

#include <string.h>

size_t brume_parquet_physical_size(brume_parquet_physical physical)
{
    static const size_t sizes[] = {
        [PARQUET_BOOLEAN] = 1,
        [PARQUET_INT32] = 4,
        [PARQUET_INT64] = 8,
        [PARQUET_INT96] = PARQUET_INT96_SIZE,
        [PARQUET_FLOAT] = 4,
        [PARQUET_DOUBLE] = 8,
        [PARQUET_BYTE_ARRAY] = sizeof(brume_text),
        [PARQUET_FIXED] = sizeof(brume_text),
    };
    return sizes[physical];
}

static size_t stored_width(const brume_parquet_column *column)
{
    if (column->physical == PARQUET_BOOLEAN || column->physical == PARQUET_BYTE_ARRAY)
        return 0;
    return column->physical == PARQUET_FIXED ? column->length
                                             : brume_parquet_physical_size(column->physical);
}

static bool is_integer(brume_parquet_physical physical)
{
    return physical == PARQUET_INT32 || physical == PARQUET_INT64;
}

/* Which encodings a type may have. */
static bool fits(brume_parquet_physical physical, int encoding)
{
    switch (encoding) {
    case PARQUET_PLAIN:
        return true;
    case PARQUET_RLE:
        return physical == PARQUET_BOOLEAN;
    case PARQUET_DELTA_BINARY_PACKED:
        return is_integer(physical);
    case PARQUET_DELTA_LENGTH_BYTE_ARRAY:
        return physical == PARQUET_BYTE_ARRAY;
    case PARQUET_DELTA_BYTE_ARRAY:
        return physical == PARQUET_BYTE_ARRAY || physical == PARQUET_FIXED;
    case PARQUET_BYTE_STREAM_SPLIT:
        return is_integer(physical) || physical == PARQUET_FLOAT || physical == PARQUET_DOUBLE ||
               physical == PARQUET_FIXED;
    default:
        return false;
    }
}

/* RLE booleans have their length before them. */
static bool open_rle(brume_parquet_values *values)
{
    uint32_t length;
    if (values->end - values->at < (ptrdiff_t)sizeof length)
        return false;
    memcpy(&length, values->at, sizeof length);
    values->at += sizeof length;
    return length <= (size_t)(values->end - values->at) &&
           brume_rle_open(&values->rle, values->at, length, 1);
}

/* Lengths of prefixes, lengths of what follows them, then all that follows. */
static bool open_lengths(brume_parquet_values *values, brume_delta *lengths)
{
    if (!brume_delta_open(lengths, values->at, (size_t)(values->end - values->at)))
        return false;
    const uint8_t *behind = brume_delta_behind(lengths);
    if (behind)
        values->at = behind;
    return behind != NULL;
}

brume_parquet_fault brume_parquet_values_open(brume_parquet_values *values,
                                              const brume_parquet_column *column, int encoding,
                                              const uint8_t *bytes, size_t length, brume_pool *pool)
{
    if (!fits(column->physical, encoding))
        return PARQUET_DAMAGED;
    *values = (brume_parquet_values){.physical = column->physical,
                                     .encoding = (brume_parquet_encoding)encoding,
                                     .width = stored_width(column),
                                     .at = bytes,
                                     .end = bytes + length,
                                     .pool = pool};
    bool sound = true;
    /* A page without values (all of them NULL) may have no bytes at all. */
    if (length == 0)
        values->encoding = PARQUET_PLAIN;
    else if (encoding == PARQUET_RLE)
        sound = open_rle(values);
    else if (encoding == PARQUET_DELTA_BINARY_PACKED)
        sound = brume_delta_open(&values->numbers, bytes, length);
    else if (encoding == PARQUET_DELTA_LENGTH_BYTE_ARRAY)
        sound = open_lengths(values, &values->lengths);
    else if (encoding == PARQUET_DELTA_BYTE_ARRAY)
        sound = open_lengths(values, &values->prefixes) && open_lengths(values, &values->lengths);
    else if (encoding == PARQUET_BYTE_STREAM_SPLIT) {
        values->stride = length / values->width;
        sound = length % values->width == 0;
    }
    return sound ? PARQUET_SOUND : PARQUET_DAMAGED;
}

static brume_parquet_fault read_numbers(brume_parquet_values *values, size_t count, void *out)
{
    int64_t wide[BRUME_PARQUET_MOST];
    bool narrow = values->physical == PARQUET_INT32;
    int64_t *read = narrow ? wide : out;
    if (!brume_delta_read(&values->numbers, count, read))
        return PARQUET_DAMAGED;
    int32_t *numbers = out;
    for (size_t i = 0; narrow && i < count; i++)
        numbers[i] = (int32_t)(uint32_t)wide[i];
    return PARQUET_SOUND;
}

brume_parquet_fault brume_parquet_values_read(brume_parquet_values *values, size_t count, void *out)
{
    if (count == 0)
        return PARQUET_SOUND;
    switch (values->encoding) {
    case PARQUET_PLAIN:
        return brume_plain_read(values, count, out);
    case PARQUET_RLE:
        return brume_rle_read_bytes(&values->rle, count, out) ? PARQUET_SOUND : PARQUET_DAMAGED;
    case PARQUET_DELTA_BINARY_PACKED:
        return read_numbers(values, count, out);
    case PARQUET_DELTA_LENGTH_BYTE_ARRAY:
        return brume_delta_length_read(values, count, out);
    case PARQUET_DELTA_BYTE_ARRAY:
        return brume_delta_text_read(values, count, out);
    case PARQUET_BYTE_STREAM_SPLIT:
        return brume_split_read(values, count, out);
    default:
        return PARQUET_DAMAGED;
    }
}

void brume_parquet_values_close(brume_parquet_values *values)
{
    brume_pool_release(values->last_block);
    *values = (brume_parquet_values){0};
}
