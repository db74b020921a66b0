/* Random subsets of people, as a matrix of bits that is quick to multiply with.
 *
 * Subset j holds person i with probability 1/2. The subsets are the adversary's choice and public:
 * they come from a fixed generator, so that the same number gives the same subsets again. */
#ifndef BRUME_AUDIT_SUBSETS_H
#define BRUME_AUDIT_SUBSETS_H

#include <stddef.h>
#include <stdint.h>

#include <brume/status.h>

/* Rows times people, in bits: 256 MiB. */
#define BRUME_SUBSETS_LARGEST (UINT64_C(1) << 31)

typedef struct brume_subsets {
    size_t people, queries;
    size_t blocks; /* of eight people */
    uint8_t *bits; /* [block][query]: bit i is person 8 block + i */
} brume_subsets;

/* Draw them; close with brume_subsets_close. Different `number`s give different subsets.
 * Errors: BRUME_EARGUMENT for no people or no queries, BRUME_EOVERFLOW beyond
 * BRUME_SUBSETS_LARGEST with the size, BRUME_EMEMORY. */
BRUME_MUST_USE brume_status brume_subsets_open(size_t people, size_t queries, uint64_t number,
                                               brume_subsets *out, brume_error *error);
void brume_subsets_close(brume_subsets *subsets);

/* The most subsets that one person is in: what a change of that person's bit can move. */
size_t brume_subsets_moved(const brume_subsets *subsets);

/* out[j] = the sum of x over subset j. Exact for whole numbers below 2^53. */
void brume_subsets_sum(const brume_subsets *subsets, const double *x, double *out);

/* out[i] = the sum of y over the subsets that hold person i: the transpose. */
void brume_subsets_gather(const brume_subsets *subsets, const double *y, double *out);

/* The next word of the fixed generator (SplitMix64): for public things, never for noise. */
uint64_t brume_public_word(uint64_t *state);

#endif
