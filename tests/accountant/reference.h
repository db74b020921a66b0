/* Independent high-precision profiles: the loss as an explicit list of atoms, convolved in MPFR.
 * Nothing of the accountant is used here. */
#ifndef BRUME_TESTS_REFERENCE_H
#define BRUME_TESTS_REFERENCE_H

#include <stdint.h>

#include <mpfr.h>

enum { REFERENCE_BITS = 300 };

/* A law on the lattice step * (first + i), i = 0 .. count-1, as masses in MPFR. */
typedef struct reference {
    double step; /* an exact double */
    long first;  /* in steps */
    size_t count;
    mpfr_t *mass;
} reference;

/* The law with all its mass at 0. */
reference reference_zero(double step);
void reference_clear(reference *law);

/* Convolve with `draws` draws of: randomized response of epsilon = m * step, binary or k-ary; the
 * discrete Laplace of a = m * step and an integer shift. */
void reference_pure(reference *law, long m, uint64_t draws);
void reference_kary(reference *law, long m, uint64_t k, uint64_t draws);
void reference_discrete_laplace(reference *law, long m, long shift, uint64_t draws);

/* The discrete Gaussian with shift/sigma^2 = m * step, m even or the shift even; tails of 1e-60 are
 * left out. */
void reference_discrete_gaussian(reference *law, long m, long shift, uint64_t draws);

/* delta(epsilon) = sum over losses above epsilon of mass (1 - e^{epsilon - loss}). */
void reference_delta(mpfr_t out, const reference *law, double epsilon);

/* The same of the law and Laplace draws together: `draws[i]` of each epsilon[i], i < kinds. */
void reference_laplace_delta(mpfr_t out, const reference *law, const double *epsilons,
                             const unsigned *draws, unsigned kinds, double epsilon);

#endif
