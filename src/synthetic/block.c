/* The inner loops over the weights of consecutive cells, vectorised for the processor at hand.
 *
 * Promises: the same sums on every processor: lanes are added in one fixed order, and no product is
 * fused into a sum. */
#include "synthetic/block.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define EVERY_PROCESSOR                                                                            \
    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define EVERY_PROCESSOR
#endif

enum { LANES = 8, UNROLL = 4, STRIDE = LANES * UNROLL };

typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));
typedef float narrow_lanes __attribute__((vector_size(LANES * sizeof(float))));
typedef int64_t whole_lanes __attribute__((vector_size(LANES * sizeof(int64_t))));

/* Lanes at any address. By pointer: a vector as a result would depend on the processor. */
static inline __attribute__((always_inline)) void load(lanes *value, const double *from)
{
    memcpy(value, from, sizeof *value);
}

static inline __attribute__((always_inline)) void store(double *to, const lanes *value)
{
    memcpy(to, value, sizeof *value);
}

/* value = max(value, least), lane by lane. */
static inline __attribute__((always_inline)) void raise(lanes *value, const lanes *least)
{
    whole_lanes above = *value > *least;
    *value = (lanes)(((whole_lanes)*value & above) | ((whole_lanes)*least & ~above));
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
    for (; i + STRIDE <= n; i += STRIDE)
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
    for (; i + STRIDE <= n; i += STRIDE)
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

EVERY_PROCESSOR double brume_block_dot_values(const double *weights, const float *values, size_t n)
{
    lanes total[UNROLL] = {{0}};
    size_t i = 0;
    for (; i + STRIDE <= n; i += STRIDE)
        for (size_t u = 0; u < UNROLL; u++) {
            lanes value;
            narrow_lanes narrow;
            load(&value, weights + i + LANES * u);
            memcpy(&narrow, values + i + LANES * u, sizeof narrow);
            total[u] += value * __builtin_convertvector(narrow, lanes);
        }
    double rest = 0;
    for (; i < n; i++)
        rest += weights[i] * (double)values[i];
    return add_lanes(total) + rest;
}

EVERY_PROCESSOR double brume_block_scale(double *weights, double factor, double least, size_t n)
{
    lanes total[UNROLL] = {{0}}, low = (lanes){0} + least;
    size_t i = 0;
    for (; i + STRIDE <= n; i += STRIDE)
        for (size_t u = 0; u < UNROLL; u++) {
            lanes value;
            load(&value, weights + i + LANES * u);
            value *= factor;
            raise(&value, &low);
            store(weights + i + LANES * u, &value);
            total[u] += value;
        }
    double rest = 0;
    for (; i < n; i++)
        rest += weights[i] = fmax(weights[i] * factor, least);
    return add_lanes(total) + rest;
}

EVERY_PROCESSOR double brume_block_multiply(double *weights, const double *factors, double least,
                                            size_t n)
{
    lanes total[UNROLL] = {{0}}, low = (lanes){0} + least;
    size_t i = 0;
    for (; i + STRIDE <= n; i += STRIDE)
        for (size_t u = 0; u < UNROLL; u++) {
            lanes value, factor;
            load(&value, weights + i + LANES * u);
            load(&factor, factors + i + LANES * u);
            value *= factor;
            raise(&value, &low);
            store(weights + i + LANES * u, &value);
            total[u] += value;
        }
    double rest = 0;
    for (; i < n; i++)
        rest += weights[i] = fmax(weights[i] * factors[i], least);
    return add_lanes(total) + rest;
}

void brume_powers_fill(brume_powers *powers, double rate, double scale)
{
    *powers = (brume_powers){.scale = scale};
    while (fabs(rate) > 0.5) {
        rate /= 2; /* exact */
        powers->squarings++;
    }
    /* With |x| <= 1/4 the terms left out are at most 3/2 of the first of them, relatively to e^x;
     * 3/2 |rate| 2^-31 leaves a quarter for rounding; squaring doubles an error as it doubles the
     * rate. */
    double most = fabs(rate) * 0x1p-31, term = 1, ascending[BRUME_POWERS_MOST],
           middle = exp(rate / 2);
    int degree = -1;
    do {
        degree++;
        ascending[degree] = middle;
        middle *= rate / (degree + 1);
        term *= fabs(rate) / 2 / (degree + 1);
    } while (term > most && degree + 1 < BRUME_POWERS_MOST);
    powers->degree = degree;
    for (int k = 0; k <= degree; k++)
        powers->coefficient[k] = ascending[degree - k];
}

EVERY_PROCESSOR double brume_block_power(double *weights, const float *values,
                                         const brume_powers *powers, double least, size_t n)
{
    lanes total[UNROLL] = {{0}}, low = (lanes){0} + least;
    size_t i = 0;
    for (; i + STRIDE <= n; i += STRIDE) {
        lanes at[UNROLL], power[UNROLL];
        for (size_t u = 0; u < UNROLL; u++) {
            narrow_lanes narrow;
            memcpy(&narrow, values + i + LANES * u, sizeof narrow);
            at[u] = __builtin_convertvector(narrow, lanes) - 0.5;
            power[u] = (lanes){0} + powers->coefficient[0];
        }
        for (int k = 1; k <= powers->degree; k++)
            for (size_t u = 0; u < UNROLL; u++)
                power[u] = power[u] * at[u] + powers->coefficient[k];
        for (int k = 0; k < powers->squarings; k++)
            for (size_t u = 0; u < UNROLL; u++)
                power[u] *= power[u];
        for (size_t u = 0; u < UNROLL; u++) {
            lanes value;
            load(&value, weights + i + LANES * u);
            value *= power[u] * powers->scale;
            raise(&value, &low);
            store(weights + i + LANES * u, &value);
            total[u] += value;
        }
    }
    double rest = 0;
    for (; i < n; i++) {
        double at = (double)values[i] - 0.5, power = powers->coefficient[0];
        for (int k = 1; k <= powers->degree; k++)
            power = power * at + powers->coefficient[k];
        for (int k = 0; k < powers->squarings; k++)
            power *= power;
        rest += weights[i] = fmax(weights[i] * (power * powers->scale), least);
    }
    return add_lanes(total) + rest;
}

EVERY_PROCESSOR void brume_block_add(double *sum, const double *weights, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum[i] += weights[i];
}

EVERY_PROCESSOR void brume_block_accumulate(double *sum, const double *weights, double scale,
                                            size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum[i] += scale * weights[i];
}
