/* Randomized response: each person keeps a secret even from the curator.
 *
 * The answer is the truth with probability p = e^eps/(e^eps+k-1) and each of the k-1 others with
 * q = 1/(e^eps+k-1): pure eps-DP for one person's answer, exactly. From n answers the share of each
 * is estimated without bias. Proof: proofs/randomized_response.md. */
#ifndef BRUME_RANDOMIZED_RESPONSE_H
#define BRUME_RANDOMIZED_RESPONSE_H

#include <stddef.h>
#include <stdint.h>

#include <brume/bits.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Draw how far to move: 0 (the truth) with probability p, each of 1 .. k-1 with q, exactly.
 * Requires: epsilon > 0, finite; k >= 2; else BRUME_EARGUMENT. On error *out is untouched. */
BRUME_API BRUME_MUST_USE brume_status brume_randomized_response_noise(brume_bits *bits,
                                                                      double epsilon, uint64_t k,
                                                                      uint64_t *out,
                                                                      brume_error *error);

/* Answer for each of n people: truth[i] in 0 .. k-1, out[i] likewise; `out` may be `truth`. The
 * noise is drawn before a truth is looked at, so the time taken depends on the noise alone.
 * Requires: as above, and k <= 256. A truth outside 0 .. k-1: BRUME_EARGUMENT.
 * On error: all of `out` is set to zero (unless an argument was refused, then it is untouched). */
BRUME_API BRUME_MUST_USE brume_status brume_randomized_response(brume_bits *bits, double epsilon,
                                                                unsigned k, const uint8_t *truth,
                                                                uint8_t *out, size_t n,
                                                                brume_error *error);

typedef struct brume_share {
    double estimate;     /* unbiased; may leave [0, 1] */
    double lower, upper; /* holds the true share of these n people with probability >= 1-beta */
    double standard_deviation; /* of the estimate; for k = 2 it does not depend on the data */
} brume_share;

/* Estimate the share of people whose truth is one given answer, from how many of n gave it.
 *
 * estimate = (answered/n - q)/(p - q); the interval is Hoeffding's, estimate -+
 * (e^eps+k-1)/(e^eps-1) sqrt(ln(2 m/beta)/(2 n)), where m is the number of shares that are to hold
 * at once: 1 for one of them (both, where k = 2), k for all.
 * The deviation is exact for k = 2, and an upper bound otherwise.
 * Requires: epsilon > 0, k >= 2, answered <= n, 1 <= n <= 2^53, 0 < beta < 1, m >= 1; else
 * BRUME_EARGUMENT. Interval ends are rounded outwards, the estimate to nearest. */
BRUME_API BRUME_MUST_USE brume_status
brume_randomized_response_estimate(double epsilon, uint64_t k, uint64_t answered, uint64_t n,
                                   double beta, uint64_t m, brume_share *out, brume_error *error);

#ifdef __cplusplus
}
#endif

#endif
