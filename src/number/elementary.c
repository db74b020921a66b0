/* Elementary functions of arrays. See the header; the arithmetic is in elementary_body.h.
 *
 * No path uses fused multiply-add: the target lists that name it are compiled without contraction,
 * and nothing calls it. So all paths compute the same bits. */
#include "number/elementary.h"

#include <math.h>

#include "number/elementary_body.h"

static const brume_elementary_table table = BRUME_ELEMENTARY_TABLE;

/* A function over an array: the fast code for every value, then libm for those out of range. */
#define DEFINE_ARRAY(name, one, inside, libm)                                                      \
    BRUME_BODY void name(const double *restrict x, double *restrict out, size_t count)             \
    {                                                                                              \
        uint64_t outside = 0;                                                                      \
        for (size_t i = 0; i < count; i++) {                                                       \
            outside |= (inside) ? 0 : UINT64_C(1);                                                 \
            out[i] = one(x[i], &table);                                                            \
        }                                                                                          \
        if (outside)                                                                               \
            for (size_t i = 0; i < count; i++)                                                     \
                if (!(inside))                                                                     \
                    out[i] = libm(x[i]);                                                           \
    }

DEFINE_ARRAY(exp_array, brume_exp_one, x[i] <= BRUME_EXP_MOST, exp)
DEFINE_ARRAY(expm1_array, brume_expm1_one, x[i] <= BRUME_EXP_MOST, expm1)
DEFINE_ARRAY(log_array, brume_log_one, (x[i] >= BRUME_LOG_LEAST) & (x[i] < INFINITY), log)
DEFINE_ARRAY(log1p_array, brume_log1p_one, (x[i] > -1) & (x[i] <= BRUME_LOG1P_MOST), log1p)

BRUME_BODY void sincos_array(const double *restrict x, double *restrict sine,
                             double *restrict cosine, size_t count)
{
    uint64_t outside = 0;
    for (size_t i = 0; i < count; i++) {
        outside |= fabs(x[i]) <= BRUME_SINCOS_MOST ? 0 : UINT64_C(1);
        brume_sincos_one(x[i], &table, &sine[i], &cosine[i]);
    }
    if (outside)
        for (size_t i = 0; i < count; i++)
            if (!(fabs(x[i]) <= BRUME_SINCOS_MOST))
                sincos(x[i], &sine[i], &cosine[i]);
}

#define DEFINE_PATH(path, target)                                                                  \
    target static void path##_exp(const double *x, double *out, size_t count)                      \
    {                                                                                              \
        exp_array(x, out, count);                                                                  \
    }                                                                                              \
    target static void path##_expm1(const double *x, double *out, size_t count)                    \
    {                                                                                              \
        expm1_array(x, out, count);                                                                \
    }                                                                                              \
    target static void path##_log(const double *x, double *out, size_t count)                      \
    {                                                                                              \
        log_array(x, out, count);                                                                  \
    }                                                                                              \
    target static void path##_log1p(const double *x, double *out, size_t count)                    \
    {                                                                                              \
        log1p_array(x, out, count);                                                                \
    }                                                                                              \
    target static void path##_sincos(const double *x, double *sine, double *cosine, size_t count)  \
    {                                                                                              \
        sincos_array(x, sine, cosine, count);                                                      \
    }

DEFINE_PATH(portable, )

#if defined(__x86_64__)
DEFINE_PATH(avx2, __attribute__((target("avx2"))))
DEFINE_PATH(avx512, __attribute__((target(BRUME_AVX512))))

int brume_vector_width(void)
{
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
        return 2;
    return __builtin_cpu_supports("avx2") ? 1 : 0;
}

#define CHOOSE(name, ...)                                                                          \
    int width = brume_vector_width();                                                              \
    (width == 2 ? avx512_##name : width == 1 ? avx2_##name : portable_##name)(__VA_ARGS__)

const brume_elementary_path *brume_elementary_paths(void)
{
    /* Filled at each call: every thread writes the same values into its own copy. */
    static _Thread_local brume_elementary_path paths[4];
#define PATH(text, there, path)                                                                    \
    (brume_elementary_path){text,       there,        path##_exp,   path##_expm1,                  \
                            path##_log, path##_log1p, path##_sincos}
    paths[0] = PATH("SSE2", true, portable);
    paths[1] = PATH("AVX2", brume_vector_width() >= 1, avx2);
    paths[2] = PATH("AVX-512", brume_vector_width() >= 2, avx512);
    paths[3] = (brume_elementary_path){0};
    return paths;
}
#else
int brume_vector_width(void)
{
    return 0;
}

#define CHOOSE(name, ...) portable_##name(__VA_ARGS__)

const brume_elementary_path *brume_elementary_paths(void)
{
    static const brume_elementary_path paths[2] = {{"portable", true, portable_exp, portable_expm1,
                                                    portable_log, portable_log1p, portable_sincos},
                                                   {0}};
    return paths;
}
#endif

void brume_vector_exp(const double *x, double *out, size_t count)
{
    CHOOSE(exp, x, out, count);
}

void brume_vector_expm1(const double *x, double *out, size_t count)
{
    CHOOSE(expm1, x, out, count);
}

void brume_vector_log(const double *x, double *out, size_t count)
{
    CHOOSE(log, x, out, count);
}

void brume_vector_log1p(const double *x, double *out, size_t count)
{
    CHOOSE(log1p, x, out, count);
}

void brume_vector_sincos(const double *x, double *sine, double *cosine, size_t count)
{
    CHOOSE(sincos, x, sine, cosine, count);
}
