/* The exact delta of a stable histogram with continuous Gaussian noise. */
#ifndef BRUME_MECHANISM_HISTOGRAM_GAUSSIAN_H
#define BRUME_MECHANISM_HISTOGRAM_GAUSSIAN_H

#include <stdbool.h>

#include <brume/mechanism/stable_histogram.h>

/* Is the histogram with this sigma and a real threshold (epsilon, delta)-DP? Certified: false where
 * rounding leaves doubt. *delta_upper, if not NULL, gets the exact delta rounded up when true. */
bool brume_histogram_gaussian_holds(const brume_histogram_rule *rule, double sigma,
                                    double threshold, double *delta_upper);

#endif
