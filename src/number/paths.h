/* One source for several instruction sets: a body that is inlined into one function per target, and
 * the widest that the processor has is called. No target list leads to fused multiply-add
 * (contraction is off), so all paths compute the same bits. Explicit targets rather than
 * target_clones: tests can run each one, and sanitizers work. */
#ifndef BRUME_NUMBER_PATHS_H
#define BRUME_NUMBER_PATHS_H

#define BRUME_BODY static inline __attribute__((always_inline))

/* What the processor has: 2 with AVX-512 (F, DQ, VL and BW), 1 with AVX2, else 0. */
int brume_vector_width(void);

/* For tests: in this thread no path wider than `most`. */
void brume_vector_limit(int most);

#if defined(__x86_64__)
#define BRUME_AVX2 __attribute__((target("avx2")))
/* clang ignores a whole target list that names a vector width */
#if defined(__clang__)
#define BRUME_AVX512 __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw")))
#else
#define BRUME_AVX512                                                                               \
    __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,prefer-vector-width=512")))
#endif

/* Define `scope void name parameters`, which calls name_body on the widest path. */
#define BRUME_PATHS(scope, name, parameters, arguments)                                            \
    static void name##_portable parameters                                                         \
    {                                                                                              \
        name##_body arguments;                                                                     \
    }                                                                                              \
    BRUME_AVX2 static void name##_avx2 parameters                                                  \
    {                                                                                              \
        name##_body arguments;                                                                     \
    }                                                                                              \
    BRUME_AVX512 static void name##_avx512 parameters                                              \
    {                                                                                              \
        name##_body arguments;                                                                     \
    }                                                                                              \
    scope void name parameters                                                                     \
    {                                                                                              \
        int width = brume_vector_width();                                                          \
        (width == 2 ? name##_avx512 : width == 1 ? name##_avx2 : name##_portable) arguments;       \
    }
#else
#define BRUME_PATHS(scope, name, parameters, arguments)                                            \
    scope void name parameters                                                                     \
    {                                                                                              \
        name##_body arguments;                                                                     \
    }
#endif

#endif
