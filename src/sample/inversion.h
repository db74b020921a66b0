/* Geometric, discrete Laplace and rounded Laplace by inversion of one uniform:
 * the magnitude is floor(T), T = scale * (-ln U) + offset, and the sign is a bit of its own.
 *
 *   law               offset                               sign
 *   geometric         0                                    none
 *   discrete Laplace  scale * ln(2 / (1 + exp(-1/scale)))  yes
 *   rounded Laplace   1/2                                  yes
 *
 * Three tiers answer from the same word, each only where the answer is certain, so the value never
 * depends on the tier:
 *   1. brume_tier1: cheap, for vectors; constant margin, right in every rounding mode; leaves about
 *      one word in 2^16 open.
 *   2. brume_tier2: one double each, margin of a few ulps; for rounding to nearest.
 *   3. brume_inversion_decide: MPFR bounds at both ends of the cell of U, reading on if they
 * differ. A word is: the lowest bit the sign, the others the first bits of U (52 of them seen by
 * tiers 1 and 2, all 63 by tier 3, which goes on with words of `more`).
 *
 * Above a scale of 2^20 the value is split in two digits (split_attempt in inversion.c).
 * Proofs: proofs/discrete_laplace.md and proofs/rounded_laplace.md. All margins are derived in
 * prepare (inversion.c), nowhere else. */
#ifndef BRUME_SAMPLE_INVERSION_H
#define BRUME_SAMPLE_INVERSION_H

#include "sample/kernel.h"
#include "sample/lazy.h"
#include "sample/noise_law.h"
#include "sample/scale.h"
#include "sample/word.h"

/* Tier 1 leaves x < 2^-CUT open; its margin is scale * 2^-(PREFIX - CUT). Tests shrink these with
 * BRUME_PREFIX, and the largest scale drawn in one digit. */
#ifndef BRUME_TIER1_CUT
#define BRUME_TIER1_CUT 16
#endif
#ifndef BRUME_SPLIT_ABOVE
#define BRUME_SPLIT_ABOVE 20 /* log2 */
#endif

typedef enum brume_inversion_kind {
    BRUME_GEOMETRIC,
    BRUME_DISCRETE_LAPLACE,
    BRUME_ROUNDED_LAPLACE,
} brume_inversion_kind;

typedef struct brume_tier1_constants {
    double scale;
    double shift;  /* offset - 1/2, to nearest: floor(T) is then the integer nearest to T - 1/2 */
    double limit;  /* 1/2 less the margin: further from an integer than this is open */
    double least;  /* x below this is open */
    uint64_t sign; /* the bit of the word that negates: lowest, or 0 for none */
} brume_tier1_constants;

typedef struct brume_tier2_constants {
    double scale;
    double offset; /* to nearest */
    double cell;   /* scale * 2^-PREFIX */
    double least;  /* x below this is open: the cell at 0 has no bound on -ln U */
    double rounding;
} brume_tier2_constants;

/* Many words at once by tier 1: signed values to `out`; the result's top bit is set if any of them
 * is open. */
typedef uint64_t brume_inversion_block(const uint64_t *words, int64_t *out, size_t count,
                                       const brume_tier1_constants *constants);

typedef struct brume_inversion {
    brume_noise noise; /* first */
    brume_inversion_block *block;
    brume_tier1_constants tier1;
    brume_tier2_constants tier2;
    brume_inversion_kind kind; /* of the digit that tiers 1 to 3 draw: geometric if split */
    brume_scale scale;         /* of that digit */
    /* Split only: */
    unsigned low_bits;        /* bits of the low digit; 0: not split */
    brume_scale whole;        /* scale of high digit and low digit together */
    double inverse_whole;     /* 1 / whole.nearest */
    bool has_sign;            /* of the whole */
    bool drops_negative_zero; /* discrete Laplace */
    bool halves;              /* rounded Laplace: (N + 1) / 2 of a geometric N of twice the scale */
} brume_inversion;

/* Signed value of a word; sets the top bit of *open if it is not certain. */
static inline int64_t brume_tier1(uint64_t word, const brume_tier1_constants *c, uint64_t *open)
{
    double x = brume_uniform_middle(word);
    double t = c->shift - c->scale * brume_log_coarse(x);
    double rounded = t + BRUME_ROUNDER;
    double apart = t - (rounded - BRUME_ROUNDER); /* exact */
    *open |= brume_bits_of_double(c->limit - brume_absolute(apart)) |
             brume_bits_of_double(x - c->least);
    int64_t magnitude =
        (int64_t)(brume_bits_of_double(rounded) - brume_bits_of_double(BRUME_ROUNDER));
    int64_t negative = -(int64_t)((word >> (64 - BRUME_WORD_BITS)) & c->sign);
    return (magnitude ^ negative) - negative;
}

/* Magnitude of a word; false if it is not certain. */
static inline bool brume_tier2(uint64_t word, const brume_tier2_constants *c, int64_t *magnitude)
{
    double inverse_power;
    double x = brume_uniform_middle(word);
    double t = c->scale * brume_neg_log(x, &inverse_power) + c->offset;
    double margin = (t + c->scale) * c->rounding + c->cell * inverse_power;
    double rounded = t + BRUME_ROUNDER;
    double apart = t - (rounded - BRUME_ROUNDER);
    *magnitude = (int64_t)(brume_bits_of_double(rounded) - brume_bits_of_double(BRUME_ROUNDER)) -
                 (apart < 0);
    return brume_absolute(apart) > margin && x >= c->least;
}

/* floor(T) if it is the same for every U in the cell; false if more bits are needed. */
bool brume_inversion_decide(brume_inversion_kind kind, const brume_scale *scale,
                            const brume_lazy *uniform, int64_t *magnitude);

/* Tiers 2 and 3: the magnitude of a word that tier 1 left open. false: the source failed. */
bool brume_inversion_refine(const brume_inversion *law, uint64_t word, brume_bits *bits,
                            int64_t *magnitude);

/* Prepare any of the three laws. */
BRUME_MUST_USE brume_status brume_inversion_open(brume_inversion_kind kind, brume_scale scale,
                                                 brume_noise **out, brume_error *error);

/* The blocks compiled for each instruction set, slowest first, ended by a NULL name; `usable` on
 * this processor or not. They differ in speed only. */
typedef struct brume_inversion_path {
    const char *name;
    brume_inversion_block *block;
    bool usable;
} brume_inversion_path;
const brume_inversion_path *brume_inversion_paths(void);

#endif
