/* The test that stable release and propose-test-release share, in two steps: its noise is drawn
 * before the data is looked at. */
#ifndef BRUME_MECHANISM_STABILITY_H
#define BRUME_MECHANISM_STABILITY_H

#include <brume/stability.h>

#include "mechanism/trial.h"

typedef struct brume_stability_test {
    int64_t least_distance; /* threshold less noise: secret */
} brume_stability_test;

BRUME_MUST_USE brume_status brume_stability_test_draw(double epsilon, double delta,
                                                      brume_bits *bits, brume_stability_test *out,
                                                      brume_error *error);

/* distance + noise >= threshold; UINT64_MAX passes always. */
bool brume_stability_test_passes(const brume_stability_test *test, uint64_t distance);

/* For trials: the distance of the first input, just below the threshold; the second is one further.
 */
BRUME_MUST_USE brume_status brume_stability_trial_distance(double epsilon, double delta,
                                                           uint64_t *distance, brume_error *error);

#endif
