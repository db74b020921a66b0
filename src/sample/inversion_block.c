/* Tier 1 on many words, compiled for several instruction sets from one source; the fastest that
 * the processor has is chosen when a law is prepared.
 *
 * No path may use fused multiply-add: the target lists name no FMA, and contraction is off. So all
 * paths compute the same bits. Explicit targets rather than target_clones: tests can run each one,
 * and sanitizers work. */
#include "sample/inversion.h"

static inline __attribute__((always_inline)) uint64_t block_body(
    const uint64_t *restrict words, int64_t *restrict out, size_t count,
    const brume_tier1_constants *constants)
{
    const brume_tier1_constants c = *constants;
    uint64_t open = 0;
    for (size_t i = 0; i < count; i++)
        out[i] = brume_tier1(words[i], &c, &open);
    return open;
}

static uint64_t block_portable(const uint64_t *words, int64_t *out, size_t count,
                               const brume_tier1_constants *constants)
{
    return block_body(words, out, count, constants);
}

#if defined(__x86_64__)
/* clang ignores a whole target list that names a vector width */
#if defined(__clang__)
#define AVX512 "avx512f,avx512dq,avx512vl,avx512bw"
#else
#define AVX512 "avx512f,avx512dq,avx512vl,avx512bw,prefer-vector-width=512"
#endif

__attribute__((target("avx2"))) static uint64_t block_avx2(const uint64_t *words, int64_t *out,
                                                           size_t count,
                                                           const brume_tier1_constants *constants)
{
    return block_body(words, out, count, constants);
}

__attribute__((target(AVX512))) static uint64_t block_avx512(const uint64_t *words, int64_t *out,
                                                             size_t count,
                                                             const brume_tier1_constants *constants)
{
    return block_body(words, out, count, constants);
}
#endif

const brume_inversion_path *brume_inversion_paths(void)
{
#if defined(__x86_64__)
    /* Filled at each call: every thread writes the same values into its own copy. */
    static _Thread_local brume_inversion_path paths[4];
    __builtin_cpu_init();
    paths[0] = (brume_inversion_path){"SSE2", block_portable, true};
    paths[1] = (brume_inversion_path){"AVX2", block_avx2, __builtin_cpu_supports("avx2") != 0};
    paths[2] = (brume_inversion_path){
        "AVX-512", block_avx512,
        __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw")};
    paths[3] = (brume_inversion_path){NULL, NULL, false};
    return paths;
#else
    static const brume_inversion_path paths[2] = {{"portable", block_portable, true},
                                                  {NULL, NULL, false}};
    return paths;
#endif
}
