/* DELTA_LENGTH_BYTE_ARRAY: the lengths of all texts, then their bytes. DELTA_BYTE_ARRAY: how much
 * each text has in common with the one before, then the rest of each in that way. */
#include <string.h>

#include "reader/parquet/values.h"

/* Lengths that their bytes, which begin at `at`, are there for. */
static bool read_lengths(brume_parquet_values *values, size_t count, int64_t *lengths)
{
    uint64_t left = (uint64_t)(values->end - values->at);
    if (!brume_delta_read(&values->lengths, count, lengths))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (lengths[i] < 0 || (uint64_t)lengths[i] > left)
            return false;
        left -= (uint64_t)lengths[i];
    }
    return true;
}

brume_parquet_fault brume_delta_length_read(brume_parquet_values *values, size_t count,
                                            brume_text *out)
{
    int64_t lengths[BRUME_PARQUET_MOST];
    if (!read_lengths(values, count, lengths))
        return PARQUET_DAMAGED;
    for (size_t i = 0; i < count; i++) {
        out[i] = (brume_text){(const char *)values->at, (size_t)lengths[i]};
        values->at += lengths[i];
    }
    return PARQUET_SOUND;
}

/* The bytes of all texts together; false: a prefix is longer than the text before it. */
static bool total_length(const brume_parquet_values *values, size_t count, const int64_t *prefixes,
                         const int64_t *lengths, size_t *total)
{
    size_t before = values->last_length, sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (prefixes[i] < 0 || (uint64_t)prefixes[i] > before)
            return false;
        before = (size_t)prefixes[i] + (size_t)lengths[i];
        sum += before;
    }
    *total = sum;
    return true;
}

/* Keep the last text for the next call. */
static bool keep_last(brume_parquet_values *values, brume_text last)
{
    brume_pool_block *block = brume_pool_take(values->pool, last.length);
    if (!block)
        return false;
    memcpy(brume_pool_bytes(block), last.data, last.length);
    brume_pool_release(values->last_block);
    values->last_block = block;
    values->last_length = last.length;
    return true;
}

brume_parquet_fault brume_delta_text_read(brume_parquet_values *values, size_t count,
                                          brume_text *out)
{
    int64_t prefixes[BRUME_PARQUET_MOST], lengths[BRUME_PARQUET_MOST];
    size_t total = 0;
    if (!brume_delta_read(&values->prefixes, count, prefixes) ||
        !read_lengths(values, count, lengths) ||
        !total_length(values, count, prefixes, lengths, &total))
        return PARQUET_DAMAGED;
    uint8_t *bytes = brume_pool_lend(values->pool, total);
    if (!bytes)
        return PARQUET_NO_MEMORY;
    const uint8_t *last = values->last_block ? brume_pool_bytes(values->last_block) : bytes;
    for (size_t i = 0; i < count; i++) {
        size_t prefix = (size_t)prefixes[i], length = (size_t)lengths[i];
        memcpy(bytes, last, prefix);
        memcpy(bytes + prefix, values->at, length);
        out[i] = (brume_text){(const char *)bytes, prefix + length};
        values->at += length;
        last = bytes;
        bytes += prefix + length;
    }
    return keep_last(values, out[count - 1]) ? PARQUET_SOUND : PARQUET_NO_MEMORY;
}
