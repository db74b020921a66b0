/* Releases that look at how far the data is from trouble: stable release, propose-test-release, and
 * noise scaled to a privately released local sensitivity.
 *
 * Distances are integers, noise is discrete Laplace, thresholds are integers, and a test passes if
 * distance + noise >= threshold, never "about" it.
 *
 * The test. The distance d must change by at most 1 between neighbours. With X discrete Laplace of
 * scale 1/epsilon and m the least integer with P[X >= m] <= delta, the test passes iff d + X >= m:
 * epsilon-DP by itself, and where d = 0 it passes with probability at most delta. */
#ifndef BRUME_STABILITY_H
#define BRUME_STABILITY_H

#include <stdbool.h>
#include <stdint.h>

#include <brume/bits.h>

#ifdef __cplusplus
extern "C" {
#endif

/* m, and P[X >= m] rounded up, for X discrete Laplace of a scale that is at least 1/epsilon.
 * Requires: 2^-40 <= epsilon <= 700, 2^-1000 <= delta < 1/2; else BRUME_EARGUMENT. */
BRUME_API BRUME_MUST_USE brume_status brume_stability_threshold(double epsilon, double delta,
                                                                uint64_t *m, double *delta_upper,
                                                                brume_error *error);

/* Stable release: may the answer f(x) be shown as it is?            [TS13; proofs/stability.md]
 * `distance` is the least number of changes that gives another answer, less one (UINT64_MAX: there
 * is none), or a surrogate that is 1-Lipschitz and 0 where a neighbour answers otherwise.
 * Showing f(x) if *released, and nothing otherwise, is (epsilon, delta)-DP. */
BRUME_API BRUME_MUST_USE brume_status brume_stable_release(double epsilon, double delta,
                                                           brume_bits *bits, uint64_t distance,
                                                           bool *released, brume_error *error);

/* A statistic to propose a bound for. Both calls get `context`. */
typedef struct brume_tested {
    void *context;
    /* Distance to the data whose local sensitivity is strictly above `bound` steps: 0 there, and
     * 1-Lipschitz; UINT64_MAX if there is no such data. */
    brume_status (*distance)(void *context, uint64_t bound, uint64_t *out, brume_error *error);
    /* The statistic in steps. */
    brume_status (*value)(void *context, int64_t *out, brume_error *error);
} brume_tested;

typedef struct brume_proposal {
    double epsilon_test, epsilon_release, delta;
    uint64_t bound; /* proposed bound on the local sensitivity, in steps; chosen without the data */
} brume_proposal;

/* Propose-test-release: test whether the distance to sensitive data is large, and if so release the
 * value with discrete Laplace noise of scale bound/epsilon_release (none where the bound is 0).
 * (epsilon_test + epsilon_release, delta)-DP.                       [DL09; proofs/stability.md]
 * All noise is drawn before the data is asked. *value is written only if *released becomes true.
 * Requires: as brume_stability_threshold, bound/epsilon_release <= 2^56; else BRUME_EARGUMENT. */
BRUME_API BRUME_MUST_USE brume_status brume_propose_test_release(const brume_proposal *proposal,
                                                                 const brume_tested *statistic,
                                                                 brume_bits *bits, bool *released,
                                                                 int64_t *value,
                                                                 brume_error *error);

typedef struct brume_sensitivity_plan {
    double epsilon_sensitivity, epsilon_release, delta;
    uint64_t most; /* the global sensitivity, in steps */
} brume_sensitivity_plan;

/* Release the local sensitivity with noise and an offset that makes it too small with probability
 * at most delta only, then the value with discrete Laplace noise scaled to it. `local` is the local
 * sensitivity and must itself change by at most 1 between neighbours.
 * (epsilon_sensitivity + epsilon_release, delta)-DP for the pair (*bound, *out): *bound, in
 * [0, most], may be shown, and error bars may be computed from it. proofs/private_sensitivity.md */
BRUME_API BRUME_MUST_USE brume_status
brume_release_by_sensitivity(const brume_sensitivity_plan *plan, brume_bits *bits, uint64_t local,
                             int64_t value, uint64_t *bound, int64_t *out, brume_error *error);

#ifdef __cplusplus
}
#endif

#endif
