/* Batches by attempts: filter a block, settle its open words in order, close the gaps. */
#include "sample/attempts.h"

enum { BLOCK = 256, GROUP = 8 };

/* Settle the open words of a block in their order and close the gaps of the rejected ones.
 * *kept = the number of values now at the front. */
static bool settle(const brume_noise *noise, brume_attempt *attempt, brume_bits *bits,
                   const uint64_t *words, const uint64_t *open, int64_t *values, size_t count,
                   size_t *kept)
{
    size_t to = 0, from = 0; /* values[0..to) are final, those from `from` on are not looked at */
    for (size_t group = 0; group < count; group += GROUP) {
        size_t end = group + GROUP < count ? group + GROUP : count;
        uint64_t any = 0;
        for (size_t i = group; i < end; i++)
            any |= open[i];
        if (!(any >> 63))
            continue;
        for (size_t i = group; i < end; i++) {
            if (!(open[i] >> 63))
                continue;
            if (to != from)
                memmove(values + to, values + from, (i - from) * sizeof *values);
            to += i - from;
            from = i + 1;
            int64_t value;
            int keep = attempt(noise, words[i], bits, &value);
            if (keep < 0)
                return false;
            if (keep)
                values[to++] = value;
        }
    }
    if (to != from)
        memmove(values + to, values + from, (count - from) * sizeof *values);
    *kept = to + (count - from);
    return true;
}

bool brume_attempts_fill(const brume_noise *noise, brume_filter_block *filter,
                         brume_attempt *attempt, brume_bits *bits, int64_t *out, size_t n)
{
    uint64_t open[BLOCK];
    for (size_t done = 0; done < n;) {
        size_t got, kept = 0;
        size_t want = n - done < BLOCK ? n - done : BLOCK;
        uint64_t *words = brume_bits_run(bits, bits->main, want, &got);
        if (!words)
            return false;
        filter(noise, words, out + done, open, got);
        bool ok = settle(noise, attempt, bits, words, open, out + done, got, &kept);
        brume_bits_done(words, got);
        if (!ok)
            return false;
        done += kept;
    }
    return true;
}
