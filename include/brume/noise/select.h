/* Choosing one of n candidates at random by their scores, exactly.
 *
 * Scores and the coefficient are taken as the exact values of the doubles: a_i = coefficient *
 * score_i is never rounded. Only the index comes out; the noise does not.
 *
 * 1. A score of -infinity is never chosen; NaN and +infinity are BRUME_EARGUMENT, and so is a set
 *    without a finite score.
 * 2. n candidates take n words of the bit source whatever the scores are, and with a small
 *    probability some more; n = 1 takes none.
 * 3. The time does not depend on the scores but through those rare refinements.
 * 4. On error *out is untouched. Threads: safe while `bits` is not shared. */
#ifndef BRUME_SELECT_H
#define BRUME_SELECT_H

#include <stddef.h>
#include <stdint.h>

#include <brume/bits.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The noise E_i in argmax(a_i + E_i), of scale 1. */
typedef enum brume_select_noise {
    BRUME_SELECT_GUMBEL = 1,      /* the exponential mechanism: P[i] = exp(a_i) / sum exp(a_j) */
    BRUME_SELECT_EXPONENTIAL = 2, /* permute-and-flip */
    BRUME_SELECT_LAPLACE = 3,     /* report noisy max with two-sided noise */
} brume_select_noise;

/* *out = argmax(coefficient * scores[i] + E_i), E_i independent. (Ties have probability 0.)
 * Requires: n >= 1, coefficient >= 0 and finite, scores as in 1. */
BRUME_API BRUME_MUST_USE brume_status brume_select_noisy_max(brume_bits *bits,
                                                             brume_select_noise noise,
                                                             double coefficient,
                                                             const double *scores, size_t n,
                                                             size_t *out, brume_error *error);

/* P[*out = i] proportional to lengths[i] * exp(coefficient * utilities[i] / denominator): the
 * exponential mechanism over runs of equal utility. Then draw uniformly within the run.
 * Requires: n >= 1, denominator >= 1, coefficient >= 0 and finite, some length above 0.
 * Randomness: 1 word, rarely more. */
BRUME_API BRUME_MUST_USE brume_status brume_select_run(brume_bits *bits, double coefficient,
                                                       const uint64_t *lengths,
                                                       const int64_t *utilities,
                                                       uint64_t denominator, size_t n, size_t *out,
                                                       brume_error *error);

#ifdef __cplusplus
}
#endif

#endif
