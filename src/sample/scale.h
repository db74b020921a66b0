/* A scale as an exact number: num / den * 2^exponent.
 *
 * A double is such a number with den = 1; a ratio of integers has exponent 0. Filters use
 * `nearest`, refinement uses the exact value. */
#ifndef BRUME_SAMPLE_SCALE_H
#define BRUME_SAMPLE_SCALE_H

#include <stdint.h>

#include <mpfr.h>

typedef struct brume_scale {
    uint64_t num, den;
    long exponent;
    double nearest; /* |nearest - exact| <= 2^-53 exact; equal for a double */
} brume_scale;

brume_scale brume_scale_of_double(double scale); /* finite, > 0 */
brume_scale brume_scale_of_ratio(uint64_t num, uint64_t den);

/* The scale times 2^power, exactly. */
brume_scale brume_scale_shifted(brume_scale scale, int power);

/* v := v * scale, for v >= 0; v := 1 / scale. Each step rounds the way given. */
void brume_scale_multiply(mpfr_t v, const brume_scale *scale, mpfr_rnd_t round);
void brume_scale_inverse(mpfr_t v, const brume_scale *scale, mpfr_rnd_t round);

/* The double nearest to the real number that `enclose` encloses (lazy.h), certified: both ends of
 * an enclosure round to it. The real must not be the middle of two doubles; NaN if that seems so.
 */
typedef void brume_scale_enclosure(const void *context, mpfr_t lower, mpfr_t upper);
double brume_scale_certified(brume_scale_enclosure *enclose, const void *context);

#endif
