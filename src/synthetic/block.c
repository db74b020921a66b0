/* The inner loops over the weights of consecutive cells, vectorised for the processor at hand. */
#include "synthetic/block.h"

#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define EVERY_PROCESSOR                                                                            \
    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define EVERY_PROCESSOR
#endif

enum { LANES = 8, UNROLL = 4 };

typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));

/* Lanes at any address. By pointer: a vector as a result would depend on the processor. */
static inline __attribute__((always_inline)) void load(lanes *value, const double *from)
{
    memcpy(value, from, sizeof *value);
}

static inline __attribute__((always_inline)) double add_lanes(const lanes *total)
{
    lanes sum = (total[0] + total[1]) + (total[2] + total[3]);
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

EVERY_PROCESSOR double brume_block_sum(const double *weights, size_t n)
{
    lanes total[UNROLL] = {{0}};
    size_t i = 0;
    for (; i + LANES * UNROLL <= n; i += LANES * UNROLL)
        for (size_t u = 0; u < UNROLL; u++) {
            lanes value;
            load(&value, weights + i + LANES * u);
            total[u] += value;
        }
    double rest = 0;
    for (; i < n; i++)
        rest += weights[i];
    return add_lanes(total) + rest;
}

EVERY_PROCESSOR double brume_block_dot(const double *weights, const double *factors, size_t n)
{
    lanes total[UNROLL] = {{0}};
    size_t i = 0;
    for (; i + LANES * UNROLL <= n; i += LANES * UNROLL)
        for (size_t u = 0; u < UNROLL; u++) {
            lanes value, factor;
            load(&value, weights + i + LANES * u);
            load(&factor, factors + i + LANES * u);
            total[u] += value * factor;
        }
    double rest = 0;
    for (; i < n; i++)
        rest += weights[i] * factors[i];
    return add_lanes(total) + rest;
}

EVERY_PROCESSOR double brume_block_multiply(double *weights, const double *factors, size_t n)
{
    lanes total[UNROLL] = {{0}};
    size_t i = 0;
    for (; i + LANES * UNROLL <= n; i += LANES * UNROLL)
        for (size_t u = 0; u < UNROLL; u++) {
            lanes value, factor;
            load(&value, weights + i + LANES * u);
            load(&factor, factors + i + LANES * u);
            value *= factor;
            memcpy(weights + i + LANES * u, &value, sizeof value);
            total[u] += value;
        }
    double rest = 0;
    for (; i < n; i++)
        rest += weights[i] *= factors[i];
    return add_lanes(total) + rest;
}

EVERY_PROCESSOR void brume_block_accumulate(double *sum, const double *weights, double scale,
                                            size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum[i] += scale * weights[i];
}
