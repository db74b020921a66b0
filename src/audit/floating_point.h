/* What the bits of a released number tell that its value does not: the attacks on noise that is
 * made of doubles.
 *
 * 1. Precision [HDHSH22]: a sum of a true answer and noise is rounded to the precision of the
 *    larger of the two, so that a small result has low bits if the true answer is 0, and none if it
 *    is 1.
 * 2. Reachability [Mir12]: textbook noise, scale times the logarithm of a multiple of 2^-53,
 * reaches only some of the doubles around a true answer; around a neighbour's, others. Noise on a
 * grid of a power of two that does not depend on the data reaches the same numbers from every
 * input, and has neither. */
#ifndef BRUME_AUDIT_FLOATING_POINT_H
#define BRUME_AUDIT_FLOATING_POINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 0 has no bit that is set. */
enum { BRUME_PRECISION_OF_ZERO = 2000 };

/* The exponent of the lowest bit that is set: x is an odd multiple of 2^that. x is finite. */
int brume_precision_of(double x);

/* Is there a multiple u of 2^-53 in (0, 1] with truth + scale ln(u) = x or truth - scale ln(u) = x,
 * as doubles compute it? All are finite, scale > 0. */
bool brume_textbook_reaches(double x, double truth, double scale);

/* A true answer that a textbook's noise may have been added to. */
typedef struct brume_truth {
    double answer, scale; /* a scale that is not positive and finite: there is none */
} brume_truth;

/* From which of them is x reachable: bit i is of truths[i]; at most 32. */
uint32_t brume_textbook_reached(double x, const brume_truth *truths, size_t count);

#endif
