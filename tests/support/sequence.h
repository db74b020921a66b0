/* A fixed sequence of numbers, the same in every run: for data of tests that needs variety and no
 * law. */
#ifndef BRUME_TESTS_SEQUENCE_H
#define BRUME_TESTS_SEQUENCE_H

#include <stdint.h>

/* The next 64 bits, which are the new state, too; the upper ones vary most. */
static inline uint64_t sequence_next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state;
}

/* The next number in [0, 1). */
static inline double sequence_share(uint64_t *state)
{
    return (double)(sequence_next(state) >> 11) * 0x1p-53;
}

#endif
