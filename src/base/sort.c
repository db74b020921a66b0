/* Radix sort by 11-bit digits, least significant first. Digits in which all values agree are
 * skipped, so data in a small range costs few passes. Short arrays are sorted by insertion. */
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { DIGIT = 11, BUCKETS = 1 << DIGIT, PASSES = 6, SHORT = 64 };

static void sort_short(uint64_t *values, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        uint64_t value = values[i];
        size_t j = i;
        for (; j > 0 && values[j - 1] > value; j--)
            values[j] = values[j - 1];
        values[j] = value;
    }
}

brume_status brume_sort_words(uint64_t *values, size_t n, brume_error *error)
{
    if (n <= SHORT) {
        sort_short(values, n);
        return BRUME_OK;
    }
    size_t(*counts)[BUCKETS] = calloc(PASSES, sizeof *counts);
    uint64_t *scratch = malloc(n * sizeof *scratch);
    if (!counts || !scratch) {
        free(counts);
        free(scratch);
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory to sort %zu values", n);
    }
    for (size_t i = 0; i < n; i++)
        for (unsigned pass = 0; pass < PASSES; pass++)
            counts[pass][values[i] >> (pass * DIGIT) & (BUCKETS - 1)]++;
    uint64_t *from = values, *to = scratch;
    for (unsigned pass = 0; pass < PASSES; pass++) {
        size_t *count = counts[pass];
        if (count[values[0] >> (pass * DIGIT) & (BUCKETS - 1)] == n)
            continue;
        size_t start = 0;
        for (size_t digit = 0; digit < BUCKETS; digit++) {
            size_t here = count[digit];
            count[digit] = start;
            start += here;
        }
        for (size_t i = 0; i < n; i++)
            to[count[from[i] >> (pass * DIGIT) & (BUCKETS - 1)]++] = from[i];
        uint64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != values)
        memcpy(values, from, n * sizeof *values);
    free(counts);
    free(scratch);
    return BRUME_OK;
}

brume_status brume_sort_integers(int64_t *values, size_t n, brume_error *error)
{
    /* Flipping the sign bit turns the order of integers into that of words. */
    uint64_t *words = (uint64_t *)values;
    for (size_t i = 0; i < n; i++)
        words[i] ^= UINT64_C(1) << 63;
    brume_status status = brume_sort_words(words, n, error);
    for (size_t i = 0; i < n; i++)
        words[i] ^= UINT64_C(1) << 63;
    return status;
}
