/* The stored values of a page: see the header. */
#include "reader/parquet/values.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "reader/parquet/bits.h"
#include "reader/parquet/pool.h"
#include "reader/parquet/footer.h"
#include "base/text.h"

/* ---- runs and bit-packing: see the header ---- */

bool brume_rle_open(brume_rle *rle, const uint8_t *bytes, size_t length, unsigned width)
{
    *rle = (brume_rle){.at = bytes, .end = bytes + length, .width = width};
    return width <= 32;
}

/* Begin the next run: its head is twice the number of repeats, or twice that of groups of eight
 * packed values and one more. */
static bool next_run(brume_rle *rle)
{
    uint64_t head = 0;
    if (!brume_bits_varint(&rle->at, rle->end, &head))
        return false;
    rle->packed = head & 1;
    if (rle->packed) {
        uint64_t groups = head >> 1, room = (uint64_t)(rle->end - rle->at);
        if (groups > UINT32_MAX)
            return false;
        /* The last group may be cut short: what is read of it is checked there. */
        uint64_t length = groups * rle->width;
        rle->left = groups * 8;
        rle->values = rle->at;
        rle->bit = 0;
        rle->at += length < room ? length : room;
        return true;
    }
    unsigned bytes = (rle->width + 7) / 8;
    if ((size_t)(rle->end - rle->at) < bytes)
        return false;
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)*rle->at++ << 8 * i;
    rle->value = (uint32_t)(value & (((uint64_t)1 << rle->width) - 1));
    rle->left = head >> 1;
    return true;
}

/* How many of `count` values the run has, beginning a new one where it has none; 0: no more. */
static size_t run_values(brume_rle *rle, size_t count)
{
    while (rle->left == 0)
        if (!next_run(rle))
            return 0;
    size_t many = rle->left < count ? (size_t)rle->left : count;
    if (rle->packed &&
        rle->bit + (uint64_t)many * rle->width > 8 * (uint64_t)(rle->at - rle->values))
        return 0;
    return many;
}

bool brume_rle_read(brume_rle *rle, size_t count, uint32_t *values)
{
    for (size_t many; count > 0; count -= many, values += many) {
        many = run_values(rle, count);
        if (many == 0)
            return false;
        if (rle->packed)
            for (size_t i = 0; i < many; i++, rle->bit += rle->width)
                values[i] = (uint32_t)brume_bits_at(rle->values, rle->bit, rle->width);
        else
            for (size_t i = 0; i < many; i++)
                values[i] = rle->value;
        rle->left -= many;
    }
    return true;
}

/* The same as bytes, where the width is at most 8. */
static bool rle_read_bytes(brume_rle *rle, size_t count, uint8_t *values)
{
    for (size_t many; count > 0; count -= many, values += many) {
        many = run_values(rle, count);
        if (many == 0)
            return false;
        if (rle->packed)
            for (size_t i = 0; i < many; i++, rle->bit += rle->width)
                values[i] = (uint8_t)brume_bits_at(rle->values, rle->bit, rle->width);
        else
            memset(values, (int)(uint8_t)rle->value, many);
        rle->left -= many;
    }
    return true;
}

void brume_rle_set_bits(uint64_t *words, size_t start, size_t count)
{
    for (size_t many; count > 0; count -= many, start += many) {
        size_t room = 64 - start % 64;
        many = count < room ? count : room;
        uint64_t ones = many == 64 ? UINT64_MAX : ((uint64_t)1 << many) - 1;
        words[start / 64] |= ones << start % 64;
    }
}

/* Or `count` <= 32 bits into place. */
static void put_bits(uint64_t *words, size_t start, size_t count, uint64_t bits)
{
    words[start / 64] |= bits << start % 64;
    if (start % 64 + count > 64)
        words[start / 64 + 1] |= bits >> (64 - start % 64);
}

bool brume_rle_read_bits(brume_rle *rle, size_t count, uint64_t *words, size_t start, size_t *ones)
{
    enum { STEP = 32 };
    *ones = 0;
    for (size_t many; count > 0; count -= many, start += many) {
        many = run_values(rle, count);
        if (many == 0)
            return false;
        rle->left -= many;
        if (!rle->packed) {
            if (rle->value)
                brume_rle_set_bits(words, start, many);
            *ones += rle->value ? many : 0;
            continue;
        }
        for (size_t done = 0; done < many; done += STEP) {
            size_t step = many - done < STEP ? many - done : STEP;
            uint64_t bits = brume_bits_at(rle->values, rle->bit, (unsigned)step);
            put_bits(words, start + done, step, bits);
            *ones += (size_t)__builtin_popcountll(bits);
            rle->bit += step;
        }
    }
    return true;
}

/* ---- integers as differences: see the header ---- */

/* Read the header. false: it is not sound. */
static bool delta_open(brume_delta *delta, const uint8_t *bytes, size_t length)
{
    const uint8_t *at = bytes, *end = bytes + length;
    uint64_t per_block = 0, part_count = 0, count = 0, value = 0;
    if (!brume_bits_varint(&at, end, &per_block) || !brume_bits_varint(&at, end, &part_count) ||
        !brume_bits_varint(&at, end, &count) || !brume_bits_varint(&at, end, &value))
        return false;
    if (part_count == 0 || per_block == 0 || per_block > UINT32_MAX || part_count > per_block ||
        per_block % part_count != 0 || per_block / part_count % 8 != 0)
        return false;
    *delta = (brume_delta){.at = at,
                           .end = end,
                           .left = count,
                           .first = true,
                           .value = value >> 1 ^ (0 - (value & 1)),
                           .per_block = per_block,
                           .per_part = per_block / part_count,
                           .part_count = part_count,
                           .part = part_count};
    return true;
}

static bool next_block(brume_delta *delta)
{
    uint64_t least = 0;
    if (!brume_bits_varint(&delta->at, delta->end, &least) ||
        (uint64_t)(delta->end - delta->at) < delta->part_count)
        return false;
    delta->minimum = least >> 1 ^ (0 - (least & 1));
    delta->widths = delta->at;
    delta->at += delta->part_count;
    delta->part = 0;
    return true;
}

/* The last part of all may be cut short: what is read of it is checked there. */
static bool next_part(brume_delta *delta)
{
    if (delta->part == delta->part_count && !next_block(delta))
        return false;
    delta->width = delta->widths[delta->part++];
    if (delta->width > 64)
        return false;
    uint64_t length = delta->per_part / 8 * delta->width, room = (uint64_t)(delta->end - delta->at);
    delta->packed = delta->at;
    delta->bit = 0;
    delta->part_left = delta->per_part;
    delta->at += length < room ? length : room;
    return true;
}

static bool read_part(brume_delta *delta, size_t many, int64_t *values)
{
    unsigned width = delta->width;
    uint64_t value = delta->value, minimum = delta->minimum, bit = delta->bit;
    if (bit + (uint64_t)many * width > 8 * (uint64_t)(delta->at - delta->packed))
        return false;
    for (size_t i = 0; i < many; i++, bit += width) {
        uint64_t more = width <= 56 ? brume_bits_at(delta->packed, bit, width)
                                    : brume_bits_wide(delta->packed, bit, width);
        value += minimum + more;
        values[i] = (int64_t)value;
    }
    delta->value = value;
    delta->bit = bit;
    delta->part_left -= many;
    return true;
}

/* The next `count` values, modulo 2^64; false if there are fewer. */
static bool delta_read(brume_delta *delta, size_t count, int64_t *values)
{
    if (count > delta->left)
        return false;
    delta->left -= count;
    if (count > 0 && delta->first) {
        delta->first = false;
        *values++ = (int64_t)delta->value;
        count--;
    }
    for (size_t many; count > 0; count -= many, values += many) {
        if (delta->part_left == 0 && !next_part(delta))
            return false;
        many = delta->part_left < count ? (size_t)delta->part_left : count;
        if (!read_part(delta, many, values))
            return false;
    }
    return true;
}

/* Where the bytes behind the last value begin; NULL if the last lies beyond the end. For one that
 * has not been read from. */
static const uint8_t *delta_behind(const brume_delta *delta)
{
    brume_delta walk = *delta;
    uint64_t left = walk.left > 1 ? walk.left - 1 : 0;
    while (left > 0) {
        if (!next_part(&walk) || (uint64_t)(walk.at - walk.packed) < walk.per_part / 8 * walk.width)
            return NULL;
        left -= left < walk.per_part ? left : walk.per_part;
    }
    return walk.at;
}

/* PLAIN: values as they are, one after the other; texts with their length before them; booleans as
 * bits. */

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

/* The encodings, each in its file: read the next `count` values. */
static brume_parquet_fault plain_read(brume_parquet_values *values, size_t count, void *out)
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

/* DELTA_LENGTH_BYTE_ARRAY: the lengths of all texts, then their bytes. DELTA_BYTE_ARRAY: how much
 * each text has in common with the one before, then the rest of each in that way. */

/* Lengths that their bytes, which begin at `at`, are there for. */
static bool read_lengths(brume_parquet_values *values, size_t count, int64_t *lengths)
{
    uint64_t left = (uint64_t)(values->end - values->at);
    if (!delta_read(&values->lengths, count, lengths))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (lengths[i] < 0 || (uint64_t)lengths[i] > left)
            return false;
        left -= (uint64_t)lengths[i];
    }
    return true;
}

static brume_parquet_fault delta_length_read(brume_parquet_values *values, size_t count,
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

static brume_parquet_fault delta_text_read(brume_parquet_values *values, size_t count,
                                           brume_text *out)
{
    int64_t prefixes[BRUME_PARQUET_MOST], lengths[BRUME_PARQUET_MOST];
    size_t total = 0;
    if (!delta_read(&values->prefixes, count, prefixes) || !read_lengths(values, count, lengths) ||
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

/* BYTE_STREAM_SPLIT: the first bytes of all values, then the second bytes of all, and so on. */

static void gather(const brume_parquet_values *values, size_t count, uint8_t *out)
{
    for (size_t byte = 0; byte < values->width; byte++) {
        const uint8_t *from = values->at + byte * values->stride + values->next;
        for (size_t i = 0; i < count; i++)
            out[i * values->width + byte] = from[i];
    }
}

static brume_parquet_fault split_read(brume_parquet_values *values, size_t count, void *out)
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
    if (!delta_open(lengths, values->at, (size_t)(values->end - values->at)))
        return false;
    const uint8_t *behind = delta_behind(lengths);
    if (behind)
        values->at = behind;
    return behind != NULL;
}

brume_parquet_fault brume_parquet_values_open(brume_parquet_values *values,
                                              const brume_parquet_column *column, int encoding,
                                              const uint8_t *bytes, size_t length,
                                              brume_page_pool *pool)
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
        sound = delta_open(&values->numbers, bytes, length);
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
    if (!delta_read(&values->numbers, count, read))
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
        return plain_read(values, count, out);
    case PARQUET_RLE:
        return rle_read_bytes(&values->rle, count, out) ? PARQUET_SOUND : PARQUET_DAMAGED;
    case PARQUET_DELTA_BINARY_PACKED:
        return read_numbers(values, count, out);
    case PARQUET_DELTA_LENGTH_BYTE_ARRAY:
        return delta_length_read(values, count, out);
    case PARQUET_DELTA_BYTE_ARRAY:
        return delta_text_read(values, count, out);
    case PARQUET_BYTE_STREAM_SPLIT:
        return split_read(values, count, out);
    default:
        return PARQUET_DAMAGED;
    }
}

void brume_parquet_values_close(brume_parquet_values *values)
{
    brume_pool_release(values->last_block);
    *values = (brume_parquet_values){0};
}
