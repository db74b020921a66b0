/* One value of each function of elementary.h, for arguments inside the range where no fallback is
 * needed, as straight code that a compiler can do on several values at once. Proof of the errors:
 * proofs/elementary.md, whose section numbers stand below.
 *
 * The tables are parameters so that a test can spoil one number of them. */
#ifndef BRUME_NUMBER_ELEMENTARY_BODY_H
#define BRUME_NUMBER_ELEMENTARY_BODY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "number/paths.h"

typedef struct brume_elementary_table {
    double ln2_high, ln2_low;  /* the first of 42 bits: times an integer it is exact */
    double quarter[3];         /* pi/2; the first two of 29 bits */
    double power[12];          /* 1/2!, 1/3!, ... 1/13! */
    double sine[8], cosine[7]; /* -1/3!, 1/5!, ...; 1/4!, -1/6!, ... */
    double root[10];           /* 2/3, 2/5, ... 2/21 */
} brume_elementary_table;

#define BRUME_ELEMENTARY_TABLE                                                                     \
    {                                                                                              \
        0x1.62e42fefa38p-1, 0x1.ef35793c7673p-45,                                                  \
            {0x1.921fb54p+0, 0x1.10b4611p-30, 0x1.4c4c6628b80dcp-59},                              \
            {1.0 / 2,       1.0 / 6,        1.0 / 24,        1.0 / 120,                            \
             1.0 / 720,     1.0 / 5040,     1.0 / 40320,     1.0 / 362880,                         \
             1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800},                    \
            {-1.0 / 6,        1.0 / 120,        -1.0 / 5040,          1.0 / 362880,                \
             -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000, 1.0 / 355687428096000},      \
            {1.0 / 24,        -1.0 / 720,         1.0 / 40320,         -1.0 / 3628800,             \
             1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000},                           \
            {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11,                                     \
             2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21},                                    \
    }

/* The ranges outside of which libm answers. NaN is outside. */
#define BRUME_EXP_MOST    709.0
#define BRUME_SINCOS_MOST 0x1p24
#define BRUME_LOG_LEAST   0x1p-1022
#define BRUME_LOG1P_MOST  0x1p1000

BRUME_BODY uint64_t brume_bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

BRUME_BODY double brume_double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* a where `mask` is all ones, b where it is 0: compilers make branches of ?: */
BRUME_BODY double brume_choose(uint64_t mask, double a, double b)
{
    return brume_double_of((brume_bits_of(a) & mask) | (brume_bits_of(b) & ~mask));
}

BRUME_BODY uint64_t brume_mask(bool condition)
{
    return 0 - (uint64_t)condition;
}

/* Section 2. e^r - 1 for x = k ln 2 + r, |r| < 0.3467; *k as a two's complement. */
BRUME_BODY double brume_reduced_expm1(double x, const brume_elementary_table *t, uint64_t *k)
{
    double shifted = x * 0x1.71547652b82fep+0 + 0x1.8p52, whole = shifted - 0x1.8p52;
    *k = brume_bits_of(shifted) - 0x4338000000000000u;
    double high = x - whole * t->ln2_high; /* exact */
    double low = whole * t->ln2_low, r = high - low;
    double rest = (high - r) - low; /* of that subtraction */
    double sum = t->power[11];
    for (int i = 10; i >= 0; i--)
        sum = t->power[i] + r * sum;
    return r + (r * r * sum + rest);
}

BRUME_BODY double brume_exp_one(double x, const brume_elementary_table *t)
{
    uint64_t k, half;
    x = brume_choose(brume_mask(x < -750), -750, x); /* e^-750 is 0 when rounded */
    double part = 1 + brume_reduced_expm1(x, t, &k);
    half = (k + 2048) >> 1; /* 2^k in two steps: only the last one can round, below 2^-1022 */
    return part * brume_double_of((half - 1) << 52) * brume_double_of((k - half + 2047) << 52);
}

BRUME_BODY double brume_expm1_one(double x, const brume_elementary_table *t)
{
    uint64_t k;
    x = brume_choose(brume_mask(x < -100), -100, x); /* -1 when rounded */
    double part = brume_reduced_expm1(x, t, &k), scale = brume_double_of((k + 1023) << 52);
    return scale * part + (scale - 1);
}

/* Section 3. */
BRUME_BODY void brume_sincos_one(double x, const brume_elementary_table *t, double *sine,
                                 double *cosine)
{
    double shifted = x * 0x1.45f306dc9c883p-1 + 0x1.8p52, whole = shifted - 0x1.8p52;
    uint64_t k = brume_bits_of(shifted);
    double r = ((x - whole * t->quarter[0]) - whole * t->quarter[1]) - whole * t->quarter[2];
    double z = r * r, odd = t->sine[7], even = t->cosine[6];
    for (int i = 6; i >= 0; i--)
        odd = t->sine[i] + z * odd;
    for (int i = 5; i >= 0; i--)
        even = t->cosine[i] + z * even;
    uint64_t s = brume_bits_of(r + r * z * odd);
    uint64_t c = brume_bits_of(1 - (0.5 * z - z * z * even));
    uint64_t swapped = 0 - (k & 1), both = (s ^ c) & swapped;
    *sine = brume_double_of((s ^ both) ^ ((k & 2) << 62));
    *cosine = brume_double_of((c ^ both) ^ (((k + 1) & 2) << 62));
}

/* Section 4. k ln 2 + log(1 + f), and `rest`, small, to be added to f. */
BRUME_BODY double brume_log_sum(double whole, double f, double rest,
                                const brume_elementary_table *t)
{
    double s = f / (2 + f), z = s * s, half = 0.5 * f * f, sum = t->root[9];
    for (int i = 8; i >= 0; i--)
        sum = t->root[i] + z * sum;
    double small = s * (half + z * sum) + (whole * t->ln2_low + (rest - rest * f));
    return whole * t->ln2_high + (f - (half - small));
}

/* x = 2^k (1 + f), 1 + f from root 1/2 to root 2; the return value is the biased exponent. */
BRUME_BODY uint64_t brume_split(double x, double *whole, double *f)
{
    const uint64_t root = 0x3fe6a09e667f3bcdu, one = 0x3ff0000000000000u;
    uint64_t moved = brume_bits_of(x) + (one - root), biased = moved >> 52;
    *whole = brume_double_of(0x4330000000000000u | biased) - (0x1p52 + 1023);
    *f = brume_double_of((moved & 0xfffffffffffffu) + root) - 1; /* exact */
    return biased;
}

BRUME_BODY double brume_log_one(double x, const brume_elementary_table *t)
{
    double whole, f;
    brume_split(x, &whole, &f);
    return brume_log_sum(whole, f, 0, t);
}

BRUME_BODY double brume_log1p_one(double x, const brume_elementary_table *t)
{
    double u = 1 + x, part = u - 1,
           rest = (1 - (u - part)) + (x - part); /* exact: 1 + x = u + rest */
    double whole, f;
    uint64_t biased = brume_split(u, &whole, &f);
    double scaled = rest * brume_double_of((2046 - biased) << 52);
    uint64_t near = brume_mask(whole == 0);
    return brume_log_sum(whole, brume_choose(near, x, f), brume_choose(near, 0, scaled), t);
}

#endif
