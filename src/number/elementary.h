/* Elementary functions of arrays, with proved errors: in units U = 2^-53,
 *
 *   exp      relative 2 U, and 2^-1075 where the result is subnormal
 *   expm1    relative 4 U
 *   log      relative 3 U
 *   log1p    relative 3 U
 *   sincos   absolute 2 U each; relative 4 U, but absolute 2^-84 for the one that vanishes within
 *            2^-33 of x /= 0
 *
 * so within the 4 U that the accountant assumes of libm, but for such places. Every value, however
 * long the array is and wherever it stands in it, is the same function of its argument on every
 * processor. Arguments out of range, infinities and NaN go to libm. The sign of a zero is not kept.
 * Input and output may not overlap. Requires round to nearest.
 *
 * One source for several instruction sets: number/paths.h.
 * Error bounds: proofs/elementary.md, tests/number/test_elementary.c. */
#ifndef BRUME_NUMBER_ELEMENTARY_H
#define BRUME_NUMBER_ELEMENTARY_H

#include <stddef.h>

void brume_vector_exp(const double *x, double *out, size_t count);
void brume_vector_expm1(const double *x, double *out, size_t count);
void brume_vector_log(const double *x, double *out, size_t count);
void brume_vector_log1p(const double *x, double *out, size_t count);
void brume_vector_sincos(const double *x, double *sine, double *cosine, size_t count);

#endif
