/* Runs and bit-packing: see the header. */
#include "reader/parquet/rle.h"

#include "reader/parquet/bits.h"

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

bool brume_rle_read_bytes(brume_rle *rle, size_t count, uint8_t *values)
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
