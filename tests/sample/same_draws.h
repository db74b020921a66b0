/* Two builds of one sampler: the same draws from the same bits, and as many bits read. */
#ifndef BRUME_TESTS_SAMPLE_SAME_DRAWS_H
#define BRUME_TESTS_SAMPLE_SAME_DRAWS_H

#include <brume/noise/noise.h>

#include <stdbool.h>
#include <stdlib.h>

#include "check.h"
#include "random/tape.h"

/* Closes both. */
static inline void assert_draws_alike(brume_noise *noise, brume_noise *variant, size_t n)
{
    brume_error error;
    int64_t *expected = calloc(n, sizeof *expected), *actual = calloc(n, sizeof *actual);
    assert_true(expected && actual);
    brume_bits *a = brume_tape_open_seeded(11), *b = brume_tape_open_seeded(11);
    assert_ok(brume_noise_fill(noise, a, expected, n, &error));
    assert_ok(brume_noise_fill(variant, b, actual, n, &error));
    assert_memory_equal(expected, actual, n * sizeof *actual);
    assert_int_equal(brume_tape_main_read(a), brume_tape_main_read(b));
    assert_int_equal(brume_tape_more_read(a), brume_tape_more_read(b));
    brume_bits_close(a);
    brume_bits_close(b);
    brume_noise_close(noise);
    brume_noise_close(variant);
    free(expected);
    free(actual);
}

/* Can code for AVX2, for AVX-512 be run here? */
static inline bool runs_wide(void)
{
#ifdef __x86_64__
    return __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}

static inline bool runs_widest(void)
{
#ifdef __x86_64__
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
#else
    return false;
#endif
}

#endif
