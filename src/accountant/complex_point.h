/* Points of the complex plane. clang hides glibc's CMPLX, which makes one from its two parts
 * without arithmetic on infinities; the builtin behind it is the same in both compilers. */
#ifndef BRUME_ACCOUNTANT_COMPLEX_POINT_H
#define BRUME_ACCOUNTANT_COMPLEX_POINT_H

#include <complex.h>

#ifndef CMPLX
#define CMPLX(re, im) __builtin_complex((double)(re), (double)(im))
#endif

typedef double complex point;

#endif
