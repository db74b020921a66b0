/* What fixed releases cost together, with a certificate.
 *
 * The terms are composed exactly where the law of their privacy loss is known, and the answer is an
 * interval that contains the truth: the upper end may be claimed, the lower end says how tight the
 * claim is. Method and proof: proofs/accountant.md.
 *
 * 1. A cost with a loss law enters as that law. It is BRUME_EXACT if the worst neighbours attain
 *    it.
 * 2. A cost without a law but with a pure epsilon (and delta_failure) enters as the worst mechanism
 *    of that guarantee: randomized response with an atom at +infinity. If the cost says the epsilon
 *    is BRUME_EXACT ("any mechanism of that guarantee"), the interval is exact for the stated
 *    guarantee; if BRUME_UPPER, only the upper end speaks of the mechanism (has_lower is false).
 * 3. A cost known only by rho or a Renyi curve has no law; it enters by moment bounds, upper only.
 * 4. delta_failure of every term becomes the atom at +infinity. For a delta not above it epsilon is
 *    infinite: `infinite` is true and both ends are +infinity.
 * 5. The two orders of a pair of neighbours are both computed; the larger counts.
 * 6. A parameter of a law is taken to be known up to 8 units of 2^-53 (so that a decimal, its
 *    nearest double and one quotient of such are all covered): both ends hold for all of them.
 * 7. Equal terms are merged: a million releases of ten kinds cost what ten kinds cost.
 * 8. The certificate is for releases fixed in advance, or chosen adaptively with these costs fixed
 *    in advance. It is not a filter: never use it to decide whether one more query fits.
 *
 * Threads: every function here is safe to call from several threads. */
#ifndef BRUME_COMPOSE_H
#define BRUME_COMPOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/account/cost.h>
#include <brume/interval.h>
#include <brume/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct brume_term {
    brume_cost cost;
    uint64_t count; /* 1 .. 2^63 - 1 */
} brume_term;

typedef struct brume_compose_options {
    double tolerance; /* stop refining at this relative width; 0 means 1e-10 */
    bool audit;       /* has no effect since 0.2: it keeps the place that it had in libbrume.so.0 */
    struct brume_diagnostics *diagnostics; /* NULL, or to be filled in: see diagnostics.h */
} brume_compose_options;

typedef struct brume_composition {
    brume_interval value; /* epsilon of a delta, delta of an epsilon, or a type II error */
    bool has_lower;       /* the lower end bounds the mechanisms, not only the stated guarantees */
    bool infinite;        /* no finite epsilon: delta is not above the probability of failure */
    brume_interval failure; /* mass of the atom at +infinity */
    const char *route;      /* how the upper end was found, a constant text */
    bool contradictory; /* two certified statements contradicted each other: a fault of brume. The
                           ends then span both */
} brume_composition;

/* Certified interval of the least epsilon >= 0 at which the terms together are (epsilon, delta)-DP.
 * Requires: count >= 1, every term's count in 1 .. 2^63-1, 0 <= delta < 1; `options` may be NULL.
 *           delta = 0 gives the sum of the pure epsilons where every term has one, else infinity.
 * Errors:   BRUME_EARGUMENT with the fault; BRUME_EUNSUPPORTED if a term's cost is absent in every
 *           currency; BRUME_EMEMORY. */
BRUME_API BRUME_MUST_USE brume_status brume_compose_epsilon(const brume_term *terms, size_t count,
                                                            double delta,
                                                            const brume_compose_options *options,
                                                            brume_composition *out,
                                                            brume_error *error);

/* Certified interval of the least delta at which the terms together are (epsilon, delta)-DP.
 * Requires: 0 <= epsilon, finite; the rest as above. */
BRUME_API BRUME_MUST_USE brume_status brume_compose_delta(const brume_term *terms, size_t count,
                                                          double epsilon,
                                                          const brume_compose_options *options,
                                                          brume_composition *out,
                                                          brume_error *error);

/* Certified interval of the least type II error of any test of type I error at most `type_one`
 * that tells the neighbours apart: the trade-off function of the terms together. The guarantee is
 * the LOWER end here; without has_lower (see above) the upper end is only that of the stated
 * guarantee.
 * Requires: 0 <= type_one <= 1; the rest as above. */
BRUME_API BRUME_MUST_USE brume_status brume_compose_tradeoff(const brume_term *terms, size_t count,
                                                             double type_one,
                                                             const brume_compose_options *options,
                                                             brume_composition *out,
                                                             brume_error *error);

#ifdef __cplusplus
}
#endif

#endif
