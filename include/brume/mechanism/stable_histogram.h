/* Stable histograms: noisy counts of keys that are themselves private.
 *
 * Only keys that occur get noise, and only those whose noisy count reaches the threshold are shown.
 * A unit counts for at most keys_per_unit keys, at most amount_per_key in each.
 *
 * 1. Noise and threshold are of one kind: discrete Laplace with its own tail, or a continuous law
 *    rounded to integers with the tail of the continuous one. A key is shown iff its noisy count is
 *    >= threshold.
 * 2. (epsilon, delta)-DP; the delta is exact for the worst neighbours (delta_upper).
 * 3. Show the keys in an order that does not depend on the data's: sorted.
 *    proofs/stable_histogram.md */
#ifndef BRUME_STABLE_HISTOGRAM_H
#define BRUME_STABLE_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#include <brume/adjacency.h>
#include <brume/bits.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum brume_histogram_noise {
    BRUME_HISTOGRAM_DISCRETE_LAPLACE = 1,
    BRUME_HISTOGRAM_LAPLACE,  /* continuous, rounded */
    BRUME_HISTOGRAM_GAUSSIAN, /* continuous, rounded */
} brume_histogram_noise;

typedef struct brume_histogram_rule {
    brume_histogram_noise noise;
    double epsilon, delta;
    uint64_t keys_per_unit;    /* L0: 1 .. 2^20, for Gaussian noise 1 .. 64 */
    uint64_t amount_per_key;   /* Linf: 1 .. 2^30 */
    brume_adjacency adjacency; /* BRUME_ADD_REMOVE or BRUME_REPLACE */
} brume_histogram_rule;

typedef struct brume_histogram_plan {
    brume_histogram_rule rule;
    double scale;       /* of the Laplace noise, or sigma */
    int64_t threshold;  /* shown iff noisy count >= threshold */
    double delta_upper; /* <= rule.delta */
} brume_histogram_plan;

/* Noise and threshold for a rule.
 * Requires: 2^-30 <= epsilon <= 700, 2^-1000 <= delta < 1/2 (each key's share below 1/2 too); else
 * BRUME_EARGUMENT. */
BRUME_API BRUME_MUST_USE brume_status brume_histogram_plan_make(const brume_histogram_rule *rule,
                                                                brume_histogram_plan *out,
                                                                brume_error *error);

/* The threshold for continuous noise that is not rounded (Laplace or Gaussian), rounded up, and the
 * scale or sigma it belongs to: for those who draw on a finer grid. */
BRUME_API BRUME_MUST_USE brume_status brume_histogram_threshold_real(
    const brume_histogram_rule *rule, double *scale, double *threshold, brume_error *error);

/* noisy[i] = counts[i] + noise and keep[i] = 1 iff that is shown; where it is not, noisy[i] = 0.
 * counts[i] = 0 is a key that does not occur: never shown.  `noisy` may be `counts`. */
BRUME_API BRUME_MUST_USE brume_status brume_histogram_release(const brume_histogram_plan *plan,
                                                              brume_bits *bits,
                                                              const int64_t *counts, int64_t *noisy,
                                                              unsigned char *keep, size_t n,
                                                              brume_error *error);

/* Keys alone, without counts: the largest probabilities of showing a key with n units that are
 * (epsilon, delta)-DP for at most keys_per_unit keys a unit.                              [DVGM20]
 */
typedef struct brume_key_selection brume_key_selection;
BRUME_API BRUME_MUST_USE brume_status brume_key_selection_open(double epsilon, double delta,
                                                               uint64_t keys_per_unit,
                                                               brume_adjacency adjacency,
                                                               brume_key_selection **out,
                                                               brume_error *error);
BRUME_API void brume_key_selection_close(brume_key_selection *selection);

/* The probability for a key with `units` units; 0 for 0, 1 from some number on. */
BRUME_API double brume_key_selection_probability(const brume_key_selection *selection,
                                                 uint64_t units);

/* keep[i] = 1 with the probability for units[i]. */
BRUME_API BRUME_MUST_USE brume_status brume_key_selection_draw(const brume_key_selection *selection,
                                                               brume_bits *bits,
                                                               const int64_t *units,
                                                               unsigned char *keep, size_t n,
                                                               brume_error *error);

#ifdef __cplusplus
}
#endif

#endif
