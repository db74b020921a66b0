/* Random subsets as bits. Promises: a product with the matrix or its transpose reads each bit once,
 * eight at a time: the 256 sums of a block of eight people are made first, then looked up; the
 * transpose adds into 256 bins first, then takes them apart. */
#include "audit/subsets.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { BLOCK = 8, PATTERNS = 1 << BLOCK };

uint64_t brume_public_word(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

brume_status brume_subsets_open(size_t people, size_t queries, uint64_t number, brume_subsets *out,
                                brume_error *error)
{
    if (people == 0 || queries == 0)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "there must be at least one %s",
                          people == 0 ? "person" : "query");
    size_t blocks = (people - 1) / BLOCK + 1;
    if (blocks > BRUME_SUBSETS_LARGEST / BLOCK / queries)
        return brume_fail(error, BRUME_EOVERFLOW, "ask fewer queries, or of fewer people",
                          "%zu queries about %zu people are more than 2^31 bits", queries, people);
    uint8_t *bits = malloc(blocks * queries);
    if (!bits)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for %zu queries about %zu people",
                          queries, people);
    uint64_t state = number, word = 0;
    for (size_t i = 0; i < blocks * queries; i++) {
        if (i % sizeof word == 0)
            word = brume_public_word(&state);
        bits[i] = (uint8_t)(word >> (i % sizeof word * CHAR_BIT));
    }
    if (people % BLOCK != 0) /* nobody beyond the last */
        for (size_t j = 0; j < queries; j++)
            bits[(blocks - 1) * queries + j] &= (uint8_t)((1U << people % BLOCK) - 1);
    *out = (brume_subsets){people, queries, blocks, bits};
    return BRUME_OK;
}

void brume_subsets_close(brume_subsets *subsets)
{
    free(subsets->bits);
    subsets->bits = NULL;
}

size_t brume_subsets_moved(const brume_subsets *subsets)
{
    size_t most = 0;
    for (size_t block = 0; block < subsets->blocks; block++) {
        size_t in[BLOCK] = {0};
        for (size_t j = 0; j < subsets->queries; j++)
            for (size_t i = 0; i < BLOCK; i++)
                in[i] += (size_t)(subsets->bits[block * subsets->queries + j] >> i) & 1;
        for (size_t i = 0; i < BLOCK; i++)
            most = in[i] > most ? in[i] : most;
    }
    return most;
}

void brume_subsets_sum(const brume_subsets *subsets, const double *x, double *out)
{
    memset(out, 0, subsets->queries * sizeof *out);
    for (size_t block = 0; block < subsets->blocks; block++) {
        const uint8_t *bits = subsets->bits + block * subsets->queries;
        double sums[PATTERNS] = {0};
        for (size_t i = 0; i < BLOCK && block * BLOCK + i < subsets->people; i++)
            for (size_t low = 0; low < (size_t)1 << i; low++)
                sums[((size_t)1 << i) + low] = sums[low] + x[block * BLOCK + i];
        for (size_t j = 0; j < subsets->queries; j++)
            out[j] += sums[bits[j]];
    }
}

void brume_subsets_gather(const brume_subsets *subsets, const double *y, double *out)
{
    for (size_t block = 0; block < subsets->blocks; block++) {
        const uint8_t *bits = subsets->bits + block * subsets->queries;
        double bins[PATTERNS] = {0};
        for (size_t j = 0; j < subsets->queries; j++)
            bins[bits[j]] += y[j];
        /* The upper half is with the last person; fold it onto the lower, and so on. */
        for (size_t i = BLOCK; i-- > 0;) {
            size_t half = (size_t)1 << i;
            double sum = 0;
            for (size_t low = 0; low < half; low++) {
                sum += bins[half + low];
                bins[low] += bins[half + low];
            }
            if (block * BLOCK + i < subsets->people)
                out[block * BLOCK + i] = sum;
        }
    }
}
