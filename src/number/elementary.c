/* Elementary functions of arrays. See the header; the arithmetic is in elementary_body.h.
 *
 * No path uses fused multiply-add, so all compute the same bits: number/paths.h. */
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

DEFINE_ARRAY(brume_vector_exp_body, brume_exp_one, x[i] <= BRUME_EXP_MOST, exp)
DEFINE_ARRAY(brume_vector_expm1_body, brume_expm1_one, x[i] <= BRUME_EXP_MOST, expm1)
DEFINE_ARRAY(brume_vector_log_body, brume_log_one, (x[i] >= BRUME_LOG_LEAST) & (x[i] < INFINITY),
             log)
DEFINE_ARRAY(brume_vector_log1p_body, brume_log1p_one, (x[i] > -1) & (x[i] <= BRUME_LOG1P_MOST),
             log1p)

BRUME_BODY void brume_vector_sincos_body(const double *restrict x, double *restrict sine,
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

BRUME_PATHS(, brume_vector_exp, (const double *x, double *out, size_t count), (x, out, count))
BRUME_PATHS(, brume_vector_expm1, (const double *x, double *out, size_t count), (x, out, count))
BRUME_PATHS(, brume_vector_log, (const double *x, double *out, size_t count), (x, out, count))
BRUME_PATHS(, brume_vector_log1p, (const double *x, double *out, size_t count), (x, out, count))
BRUME_PATHS(, brume_vector_sincos, (const double *x, double *sine, double *cosine, size_t count),
            (x, sine, cosine, count))
