/* Radix sort by digits of at most 11 bits, least significant first. How many digits there are
 * follows from the largest value that may be, never from the values: a pass that only some of them
 * need would be seen in the time it takes. Short arrays are sorted by insertion. */
#include "base/sort.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { MOST_BITS = 11, BUCKETS = 1 << MOST_BITS, MOST_PASSES = 6, SHORT = 64 };

typedef struct digits {
    unsigned count, bits; /* of each */
} digits;

static digits digits_of(uint64_t high)
{
    unsigned bits = high ? 64 - (unsigned)__builtin_clzll(high) : 0;
    unsigned count = (bits + MOST_BITS - 1) / MOST_BITS;
    return (digits){count, count ? (bits + count - 1) / count : 0};
}

/* Values, and beside each its companion; NULL: they have none. */
typedef struct pairs {
    uint64_t *values;
    uint32_t *companions;
} pairs;

static void sort_short(pairs all, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        uint64_t value = all.values[i];
        uint32_t companion = all.companions ? all.companions[i] : 0;
        size_t j = i;
        for (; j > 0 && all.values[j - 1] > value; j--) {
            all.values[j] = all.values[j - 1];
            if (all.companions)
                all.companions[j] = all.companions[j - 1];
        }
        all.values[j] = value;
        if (all.companions)
            all.companions[j] = companion;
    }
}

static size_t digit_of(uint64_t value, digits all, unsigned pass)
{
    return value >> (pass * all.bits) & ((UINT64_C(1) << all.bits) - 1);
}

/* `start`: where the values of each digit go. */
static void scatter(pairs from, pairs to, size_t n, digits all, unsigned pass, size_t *start)
{
    if (!from.companions) {
        for (size_t i = 0; i < n; i++)
            to.values[start[digit_of(from.values[i], all, pass)]++] = from.values[i];
        return;
    }
    for (size_t i = 0; i < n; i++) {
        size_t place = start[digit_of(from.values[i], all, pass)]++;
        to.values[place] = from.values[i];
        to.companions[place] = from.companions[i];
    }
}

static void sort_digits(pairs all, pairs scratch, size_t n, digits in, size_t (*counts)[BUCKETS])
{
    for (size_t i = 0; i < n; i++)
        for (unsigned pass = 0; pass < in.count; pass++)
            counts[pass][digit_of(all.values[i], in, pass)]++;
    pairs from = all, to = scratch;
    for (unsigned pass = 0; pass < in.count; pass++) {
        size_t *count = counts[pass], start = 0;
        for (size_t digit = 0; digit < BUCKETS; digit++) {
            size_t here = count[digit];
            count[digit] = start;
            start += here;
        }
        scatter(from, to, n, in, pass, count);
        pairs swap = from;
        from = to;
        to = swap;
    }
    if (from.values == all.values)
        return;
    memcpy(all.values, from.values, n * sizeof *all.values);
    if (all.companions)
        memcpy(all.companions, from.companions, n * sizeof *all.companions);
}

static brume_status sort_pairs(pairs all, size_t n, uint64_t high, brume_error *error)
{
    if (n <= SHORT) {
        sort_short(all, n);
        return BRUME_OK;
    }
    size_t(*counts)[BUCKETS] = calloc(MOST_PASSES, sizeof *counts);
    pairs scratch = {malloc(n * sizeof *scratch.values),
                     all.companions ? malloc(n * sizeof *scratch.companions) : NULL};
    bool good = counts && scratch.values && (scratch.companions || !all.companions);
    if (good)
        sort_digits(all, scratch, n, digits_of(high), counts);
    free(counts);
    free(scratch.values);
    free(scratch.companions);
    return good ? BRUME_OK
                : brume_fail(error, BRUME_EMEMORY, NULL, "no memory to sort %zu values", n);
}

brume_status brume_sort_words(uint64_t *values, size_t n, uint64_t high, brume_error *error)
{
    return sort_pairs((pairs){values, NULL}, n, high, error);
}

brume_status brume_sort_with(int64_t *values, uint32_t *companions, size_t n, int64_t low,
                             int64_t high, brume_error *error)
{
    uint64_t *words = (uint64_t *)values;
    for (size_t i = 0; i < n; i++)
        words[i] -= (uint64_t)low;
    brume_status status =
        sort_pairs((pairs){words, companions}, n, (uint64_t)high - (uint64_t)low, error);
    for (size_t i = 0; i < n; i++)
        words[i] += (uint64_t)low;
    return status;
}

brume_status brume_sort_integers(int64_t *values, size_t n, int64_t low, int64_t high,
                                 brume_error *error)
{
    return brume_sort_with(values, NULL, n, low, high, error);
}
