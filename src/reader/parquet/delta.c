/* Integers as differences: see the header. */
#include "reader/parquet/delta.h"

#include "reader/parquet/bits.h"

bool brume_delta_open(brume_delta *delta, const uint8_t *bytes, size_t length)
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

bool brume_delta_read(brume_delta *delta, size_t count, int64_t *values)
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

const uint8_t *brume_delta_behind(const brume_delta *delta)
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
