/* BYTE_STREAM_SPLIT: the first bytes of all values, then the second bytes of all, and so on. */
#include "reader/parquet/values.h"

static void gather(const brume_parquet_values *values, size_t count, uint8_t *out)
{
    for (size_t byte = 0; byte < values->width; byte++) {
        const uint8_t *from = values->at + byte * values->stride + values->next;
        for (size_t i = 0; i < count; i++)
            out[i * values->width + byte] = from[i];
    }
}

brume_parquet_fault brume_split_read(brume_parquet_values *values, size_t count, void *out)
{
    if (values->stride - values->next < count)
        return PARQUET_DAMAGED;
    uint8_t *bytes = out;
    if (values->physical == PARQUET_FIXED) {
        if (values->width > SIZE_MAX / count)
            return PARQUET_NO_MEMORY;
        bytes = brume_pool_lend(values->pool, count * values->width);
        if (!bytes)
            return PARQUET_NO_MEMORY;
        brume_text *texts = out;
        for (size_t i = 0; i < count; i++)
            texts[i] = (brume_text){(const char *)bytes + i * values->width, values->width};
    }
    gather(values, count, bytes);
    values->next += count;
    return PARQUET_SOUND;
}
