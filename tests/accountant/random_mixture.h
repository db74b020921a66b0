/* Random mixtures whose truth an independent sum knows. Shared by the fast test, the slow test and
 * the audit, which differ in how many they run. */
#ifndef BRUME_TESTS_RANDOM_MIXTURE_H
#define BRUME_TESTS_RANDOM_MIXTURE_H

#include <stdint.h>

typedef struct mixture_report {
    unsigned checked, outside, wide; /* wide: relative width above 1e-9 (few draws: 1e-6) */
    double widest;
    unsigned contradictory; /* two certified statements contradicted each other */
} mixture_report;

/* Lattice laws (pure, k-ary, discrete Laplace of commensurable parameters, failures) against MPFR
 * convolution: delta at a random epsilon, and epsilon at a random delta from 1e-3 to 1e-30. */
mixture_report check_lattice_mixtures(uint64_t seed, unsigned count);

/* A Gaussian with Laplace and pure laws of unrelated parameters, against the textbook transform
 * summed in balls at 256 bits on lines of the test's own. */
mixture_report check_continuous_mixtures(uint64_t seed, unsigned count);

#endif
