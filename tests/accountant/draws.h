/* Random inputs of tests, the same in every run: SplitMix64. A test that draws sets draws_state
 * first, so that it draws the same whichever tests ran before it. */
#ifndef BRUME_TESTS_ACCOUNTANT_DRAWS_H
#define BRUME_TESTS_ACCOUNTANT_DRAWS_H

#include <math.h>
#include <stdint.h>

static uint64_t draws_state = 1;

static inline uint64_t next(void)
{
    uint64_t z = draws_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static inline unsigned below(unsigned n)
{
    return (unsigned)(next() % n);
}

static inline double uniform(void)
{
    return (double)(next() >> 11) * 0x1p-53;
}

static inline double between(double low, double high) /* uniform in logarithms */
{
    return exp(log(low) + (log(high) - log(low)) * uniform());
}

#endif
