/* Numbers from a fixed seed. */
#ifndef BRUME_TESTS_RANDOM_DOUBLES_H
#define BRUME_TESTS_RANDOM_DOUBLES_H

#include <math.h>
#include <stdint.h>

#include "random/tape.h"

static uint64_t state_of_draws;

static inline uint64_t below(uint64_t n)
{
    return brume_tape_splitmix(&state_of_draws) % n;
}

/* From 2^least to 2^most, all 53 bits in use. */
static inline double some_double(int least, int most)
{
    double mantissa = 1 + (double)(brume_tape_splitmix(&state_of_draws) >> 12) * 0x1p-52;
    return ldexp(mantissa, least + (int)below((uint64_t)(most - least)));
}

#endif
