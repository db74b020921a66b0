/* The test that stable release and propose-test-release share, in two steps: its noise is drawn
 * before the data is looked at. */
#ifndef BRUME_MECHANISM_STABILITY_H
#define BRUME_MECHANISM_STABILITY_H

#include <brume/mechanism/stability.h>

typedef struct brume_stability_test {
    int64_t least_distance; /* threshold less noise: secret */
} brume_stability_test;

BRUME_MUST_USE brume_status brume_stability_test_draw(double epsilon, double delta,
                                                      brume_bits *bits, brume_stability_test *out,
                                                      brume_error *error);

/* distance + noise >= threshold; UINT64_MAX passes always. */
bool brume_stability_test_passes(const brume_stability_test *test, uint64_t distance);

/* The least amount that is withheld with probability at most beta, if what is at least `threshold`
 * with discrete Laplace noise of `scale` is shown; and the beta of an amount. Whole numbers. */
/* The error of the worst of `keys` keys of a histogram, each as far off as what is shown of it is
 * from its units, and as many as it has where it is withheld. Any number of keys that no unit has
 * may be beside them: they are never shown, and not off. */
BRUME_MUST_USE brume_status brume_histogram_alpha_upper(double scale, uint64_t threshold,
                                                        uint64_t keys, double beta, double *alpha,
                                                        brume_error *error);
void brume_histogram_beta_upper(double scale, uint64_t threshold, uint64_t keys, double alpha,
                                double *beta);

/* The same for the distance of a test of stability. */
BRUME_MUST_USE brume_status brume_stability_alpha_upper(double epsilon, double delta, double beta,
                                                        double *alpha, brume_error *error);
BRUME_MUST_USE brume_status brume_stability_beta_upper(double epsilon, double delta, double alpha,
                                                       double *beta, brume_error *error);

#endif
