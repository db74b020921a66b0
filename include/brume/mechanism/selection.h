/* Choosing the best candidate privately: exponential mechanism, permute-and-flip, report noisy max.
 *
 * Each candidate has a score; one unit changes no score by more than `sensitivity`. Only the index
 * is released: a score of the winner is not free, spend a fresh Laplace on it. All three are pure
 * epsilon-DP. If one unit moves all scores in one direction (counts under add-remove, say) they are
 * `monotone` and need half the noise.
 *
 *   exponential        P[i] proportional to exp(epsilon score/(2 sensitivity)); rho = epsilon^2/8
 *   permute-and-flip   never less accurate; rho = epsilon tanh(epsilon/2)
 *   noisy max          Laplace noise on each score, of scale 2 sensitivity/epsilon; rho as before.
 *                      With exponential or Gumbel noise it is one of the other two, by law.
 *
 * The choice is exact for the scores as the doubles they are: no float rounds a probability. Their
 * sensitivity must hold for those doubles: compute scores in integers or on a grid. For decimals
 * that somebody typed brume_selection_steps does so.
 * Proofs: proofs/exponential.md, proofs/permute_and_flip.md, proofs/noisy_max.md. */
#ifndef BRUME_SELECTION_H
#define BRUME_SELECTION_H

#include <stdbool.h>
#include <stddef.h>

#include <brume/bits.h>
#include <brume/decimal.h>
#include <brume/mechanism/event.h>
#include <brume/noise/select.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct brume_selection {
    brume_adjacency adjacency; /* under which `sensitivity` is meant; no default */
    double epsilon;
    double sensitivity;
    bool monotone;
} brume_selection;

/* The index of the choice among n >= 1 candidates. The coefficient of the scores is rounded down:
 * more noise.
 * Errors: BRUME_EARGUMENT for an option out of range or a score that is not finite; BRUME_ERANDOM;
 * BRUME_EMEMORY. *index is untouched then. */
BRUME_API BRUME_MUST_USE brume_status brume_exponential_choose(brume_bits *bits,
                                                               const brume_selection *options,
                                                               const double *scores, size_t n,
                                                               size_t *index, brume_error *error);
BRUME_API BRUME_MUST_USE brume_status brume_permute_and_flip_choose(brume_bits *bits,
                                                                    const brume_selection *options,
                                                                    const double *scores, size_t n,
                                                                    size_t *index,
                                                                    brume_error *error);
BRUME_API BRUME_MUST_USE brume_status brume_noisy_max_choose(brume_bits *bits,
                                                             brume_select_noise noise,
                                                             const brume_selection *options,
                                                             const double *scores, size_t n,
                                                             size_t *index, brume_error *error);

/* Scores that are decimals, on a grid on which their sensitivity is a whole number of steps:
 *     steps[i] = max(floor(scores[i] m / sensitivity) - top, -2^53),   m = BRUME_SELECTION_STEPS,
 * with top the largest floor. Every step is an exact integer, the best is 0. If one unit changes no
 * score by more than `sensitivity`, choosing by these with sensitivity m has the guarantee that the
 * options state, and scores that are monotone stay so. proofs/selection.md, "Decimals".
 * Requires: n >= 1, sensitivity > 0; else BRUME_EARGUMENT. Errors: BRUME_EMEMORY. */
enum { BRUME_SELECTION_STEPS = 1 << 20 };
BRUME_API BRUME_MUST_USE brume_status brume_selection_steps(const brume_signed_decimal *scores,
                                                            size_t n,
                                                            const brume_decimal *sensitivity,
                                                            double *steps, brume_error *error);

/* A gap such that the score chosen by those steps is, with probability >= 1-beta, less than the gap
 * below the best of n: the mechanism's own accuracy and one step for the rounding, rounded up.
 * 0 for n = 1; infinite where it would be beyond 2^53 steps, to which the steps are cut.
 * `options.sensitivity` is not used. Requires: 0 < beta < 1. */
BRUME_API BRUME_MUST_USE brume_status brume_selection_gap_upper(brume_select_noise noise,
                                                                const brume_selection *options,
                                                                const brume_decimal *sensitivity,
                                                                size_t n, double beta, double *gap,
                                                                brume_error *error);

/* The event to record for a choice with that noise: Gumbel is exponential(), exponential noise is
 * permute_and_flip(), Laplace is noisy_max(). It is not checked. */
BRUME_API brume_event brume_selection_event(brume_select_noise noise,
                                            const brume_selection *options);

#ifdef __cplusplus
}
#endif

#endif
