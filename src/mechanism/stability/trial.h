/* The trials of the mechanisms that rest on stability (mechanism/trial.h). Each has pairs of inputs
 * that attack the noise, and pairs that attack delta. */
#ifndef BRUME_MECHANISM_STABILITY_TRIAL_H
#define BRUME_MECHANISM_STABILITY_TRIAL_H

#include "mechanism/noise/tail.h"
#include "mechanism/trial.h"

/* Parameters: epsilon, delta. */
extern const brume_trial brume_stable_release_trial;

/* Parameters: epsilon_test, epsilon_release, delta. */
extern const brume_trial brume_propose_test_release_trial;

/* Parameters: epsilon_sensitivity, epsilon_release, delta. */
extern const brume_trial brume_private_sensitivity_trial;

/* Parameters: epsilon, delta. */
extern const brume_trial brume_stable_histogram_trial;

/* P[low <= X <= high] of discrete Laplace noise; INT64_MIN and INT64_MAX are no bounds. */
void brume_between_discrete_laplace(arb_t out, double scale, int64_t low, int64_t high);

#endif
