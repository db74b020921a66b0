/* The certified kernels: logarithm and exponential in doubles, with proven error bounds.
 *
 * Only + - * /, bit casts and integer operations, each rounded to nearest as written: no libm, no
 * fused multiply-add. So every compiler, vector width and processor gives the same bits, and the
 * bounds hold on all of them. The bounds and their machine-checked proofs: proofs/kernels.md. Do
 * not reorder an expression or change a coefficient without running those proofs again.
 *
 * BRUME_PREFIX, the number of random bits the fast paths look at, is 52. Tests compile the same
 * code with fewer, so that all words can be enumerated. */
#ifndef BRUME_SAMPLE_KERNEL_H
#define BRUME_SAMPLE_KERNEL_H

#include <fenv.h>
#include <float.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if FLT_EVAL_METHOD != 0
#error "the error bounds need doubles that are evaluated as doubles"
#endif
#ifdef __FAST_MATH__
#error "the error bounds do not hold under -ffast-math"
#endif

#ifndef BRUME_PREFIX
#define BRUME_PREFIX 52
#endif

#define BRUME_ONE_BITS       UINT64_C(0x3ff0000000000000) /* of 1.0 */
#define BRUME_SQRT_HALF_BITS UINT64_C(0x3fe6a09e667f3bcd) /* of 0.7071..., the least m */
#define BRUME_FRACTION_BITS  UINT64_C(0x000fffffffffffff)
#define BRUME_SIGN_BIT       UINT64_C(0x8000000000000000)
#define BRUME_INTEGER_BITS   UINT64_C(0x4330000000000000) /* of 2^52 */
#define BRUME_LN2_HIGH       0x1.62e42fefa3800p-1  /* 42 bits: times an |integer| < 2^11 is exact */
#define BRUME_LN2_LOW        0x1.ef35793c76730p-45 /* |HIGH + LOW - ln 2| <= 2^-102 */
#define BRUME_LN2            0x1.62e42fefa39efp-1
#define BRUME_ROUNDER        0x1.8p52 /* t + it - it is the integer nearest to t, for |t| < 2^51 */

static inline double brume_double_of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint64_t brume_bits_of_double(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double brume_absolute(double x)
{
    return brume_double_of_bits(brume_bits_of_double(x) & ~BRUME_SIGN_BIT);
}

/* The bounds assume rounding to nearest (but that of log_coarse: it holds in every mode). Whoever
 * relies on them checks it, and lets MPFR decide or refuses otherwise. */
static inline bool brume_rounds_to_nearest(void)
{
#if defined(__x86_64__) && defined(__SSE2__)
    return (__builtin_ia32_stmxcsr() & 0x6000u) == 0;
#else
    return fegetround() == FE_TONEAREST;
#endif
}

/* The middle of the cell of U that the top BRUME_PREFIX bits u of a word name, exactly:
 * x = (u + 1/2) 2^-PREFIX, and U is within 2^-(PREFIX+1) of x. For u >= 1,
 * |ln U - ln x| <= 1.2164 * 2^-(PREFIX+1) / x. u = 0 gives no bound: it decides nothing. */
static inline double brume_uniform_middle(uint64_t word)
{
    const uint64_t kept = BRUME_FRACTION_BITS & ~((UINT64_C(1) << (52 - BRUME_PREFIX)) - 1);
    const double half_cell = 0.5 / (double)(UINT64_C(1) << BRUME_PREFIX);
    return brume_double_of_bits(((word >> 12) & kept) | BRUME_ONE_BITS) - (1.0 - half_cell);
}

/* -ln x for normal x, 2^-1000 < x <= 1. With x = 2^e m, m in [0.70710, 1.41422), also
 * *inverse_power = 2^-e.
 * Bound: |result + ln x| <= 2^-53 (result + 1.1). */
static inline double brume_neg_log(double x, double *inverse_power)
{
    uint64_t shifted = brume_bits_of_double(x) + (BRUME_ONE_BITS - BRUME_SQRT_HALF_BITS);
    uint64_t biased = shifted >> 52; /* e + 1023 */
    double e = brume_double_of_bits(biased | BRUME_INTEGER_BITS) - (0x1p52 + 1023.0);
    double m = brume_double_of_bits((shifted & BRUME_FRACTION_BITS) + BRUME_SQRT_HALF_BITS);
    double f = (m - 1.0) / (m + 1.0); /* ln m = 2 atanh f */
    double g = f * f;
    double p = 0x1.2b58abb5a535bp-3;
    p = p * g + 0x1.39fe5b524b232p-3;
    p = p * g + 0x1.7462b4ab7b36ap-3;
    p = p * g + 0x1.c71c62e684aaap-3;
    p = p * g + 0x1.2492492deec37p-2;
    p = p * g + 0x1.9999999995323p-2;
    p = p * g + 0x1.5555555555558p-1;
    double log_m = (f + f) + f * (g * p);
    *inverse_power = brume_double_of_bits((2046 - biased) << 52);
    return -(e * BRUME_LN2_HIGH + (e * BRUME_LN2_LOW + log_m));
}

/* ln x for 2^-16 <= x <= 1, cheaper.
 * Bound: |result - ln x| <= 2^-39.31, in every rounding mode. */
static inline double brume_log_coarse(double x)
{
    uint64_t shifted = brume_bits_of_double(x) + (BRUME_ONE_BITS - BRUME_SQRT_HALF_BITS);
    double e = brume_double_of_bits((shifted >> 52) | BRUME_INTEGER_BITS) - (0x1p52 + 1023.0);
    double m = brume_double_of_bits((shifted & BRUME_FRACTION_BITS) + BRUME_SQRT_HALF_BITS);
    double f = (m - 1.0) / (m + 1.0);
    double g = f * f;
    double p = 0x1.e3b3eea62275cp-3;
    p = p * g + 0x1.2432a062b6e5bp-2;
    p = p * g + 0x1.999a9d23be855p-2;
    p = p * g + 0x1.555554da635f1p-1;
    p = p * g + 0x1.0000000004a8p1;
    return e * BRUME_LN2 + f * p;
}

/* exp(-x) for 0 <= x <= 700.
 * Bound: |result / exp(-x) - 1| <= 2^-52.22. */
static inline double brume_exp_neg(double x)
{
    double rounded = x * -0x1.71547652b82fep+0 + BRUME_ROUNDER;
    double k = rounded - BRUME_ROUNDER; /* -x = k ln 2 + g, |g| <= 0.34658 */
    double g = (-x - k * BRUME_LN2_HIGH) - k * BRUME_LN2_LOW;
    double p = 0x1.ade15cf3540f2p-26;
    p = p * g + 0x1.28af410c0200cp-22;
    p = p * g + 0x1.71dee621ba3bap-19;
    p = p * g + 0x1.a01997c7711a6p-16;
    p = p * g + 0x1.a01a0147625b1p-13;
    p = p * g + 0x1.6c16c1852bd39p-10;
    p = p * g + 0x1.1111111122322p-7;
    p = p * g + 0x1.55555555502ap-5;
    p = p * g + 0x1.5555555555511p-3;
    p = p * g + 0x1.000000000000bp-1;
    p = p * g + 1.0;
    p = p * g + 1.0;
    /* times 2^k: the low bits of `rounded` hold k in two's complement */
    return brume_double_of_bits(brume_bits_of_double(p) + (brume_bits_of_double(rounded) << 52));
}

#endif
