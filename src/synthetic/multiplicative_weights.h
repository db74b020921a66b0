/* The inside of private multiplicative weights that the tests look at. */
#ifndef BRUME_SYNTHETIC_MULTIPLICATIVE_WEIGHTS_H
#define BRUME_SYNTHETIC_MULTIPLICATIVE_WEIGHTS_H

#include <brume/synthetic/multiplicative_weights.h>

/* How badly a public answer (a multiple of 2^-20) does: a whole number, moved by at most 1 if the
 * whole number `truth` is. */
int64_t brume_multiplicative_weights_badness(double public_answer, double truth);

#endif
