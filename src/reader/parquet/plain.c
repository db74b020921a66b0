/* PLAIN: values as they are, one after the other; texts with their length before them; booleans as
 * bits. */
#include <string.h>

#include "reader/parquet/values.h"

static brume_parquet_fault read_booleans(brume_parquet_values *values, size_t count, uint8_t *out)
{
    uint64_t bits = 8 * (uint64_t)(values->end - values->at);
    if (values->bit + (uint64_t)count > bits)
        return PARQUET_DAMAGED;
    for (size_t i = 0; i < count; i++) {
        size_t bit = values->bit + i;
        out[i] = values->at[bit / 8] >> bit % 8 & 1;
    }
    size_t behind = values->bit + count;
    values->at += behind / 8;
    values->bit = (unsigned)(behind % 8);
    return PARQUET_SOUND;
}

static brume_parquet_fault read_texts(brume_parquet_values *values, size_t count, brume_text *out)
{
    const uint8_t *at = values->at, *end = values->end;
    for (size_t i = 0; i < count; i++) {
        uint32_t length;
        if ((size_t)(end - at) < sizeof length)
            return PARQUET_DAMAGED;
        memcpy(&length, at, sizeof length);
        at += sizeof length;
        if ((size_t)(end - at) < length)
            return PARQUET_DAMAGED;
        out[i] = (brume_text){(const char *)at, length};
        at += length;
    }
    values->at = at;
    return PARQUET_SOUND;
}

brume_parquet_fault brume_plain_read(brume_parquet_values *values, size_t count, void *out)
{
    if (values->physical == PARQUET_BOOLEAN)
        return read_booleans(values, count, out);
    if (values->physical == PARQUET_BYTE_ARRAY)
        return read_texts(values, count, out);
    if ((size_t)(values->end - values->at) / values->width < count)
        return PARQUET_DAMAGED;
    if (values->physical == PARQUET_FIXED) {
        brume_text *texts = out;
        for (size_t i = 0; i < count; i++)
            texts[i] = (brume_text){(const char *)values->at + i * values->width, values->width};
    } else {
        memcpy(out, values->at, count * values->width);
    }
    values->at += count * values->width;
    return PARQUET_SOUND;
}
