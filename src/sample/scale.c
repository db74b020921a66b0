/* Exact scales, and constants derived from them with a certificate of their rounding. */
#include "sample/scale.h"

#include <math.h>

#include "number/ball.h"

_Static_assert(sizeof(unsigned long) == sizeof(uint64_t), "MPFR's integers must hold 64 bits");

enum { FIRST_PRECISION = 200, LAST_PRECISION = 20000 };

brume_scale brume_scale_of_double(double scale)
{
    int exponent;
    double fraction = frexp(scale, &exponent);
    brume_scale exact = {(uint64_t)ldexp(fraction, 53), 1, exponent - 53, scale};
    return exact;
}

brume_scale brume_scale_of_ratio(uint64_t num, uint64_t den)
{
    brume_scale exact = {num, den, 0, 0};
    mpfr_t v;
    mpfr_init2(v, 64);
    mpfr_set_ui(v, num, MPFR_RNDN); /* exact: 64 bits */
    mpfr_t quotient;
    mpfr_init2(quotient, 53);
    mpfr_div_ui(quotient, v, den, MPFR_RNDN); /* one rounding, to nearest */
    exact.nearest = mpfr_get_d(quotient, MPFR_RNDN);
    mpfr_clears(v, quotient, (mpfr_ptr)NULL);
    return exact;
}

brume_scale brume_scale_shifted(brume_scale scale, int power)
{
    scale.exponent += power;
    scale.nearest = ldexp(scale.nearest, power);
    return scale;
}

void brume_scale_multiply(mpfr_t v, const brume_scale *scale, mpfr_rnd_t round)
{
    mpfr_mul_ui(v, v, scale->num, round);
    mpfr_div_ui(v, v, scale->den, round);
    mpfr_mul_2si(v, v, scale->exponent, round);
}

void brume_scale_inverse(mpfr_t v, const brume_scale *scale, mpfr_rnd_t round)
{
    mpfr_rnd_t against = round == MPFR_RNDU ? MPFR_RNDD : MPFR_RNDU;
    mpfr_set_ui(v, scale->num, against); /* a divisor: rounded the other way */
    mpfr_ui_div(v, 1, v, round);
    mpfr_mul_ui(v, v, scale->den, round);
    mpfr_mul_2si(v, v, -scale->exponent, round);
}

double brume_scale_certified(brume_scale_enclosure *enclose, const void *context)
{
    brume_thread_caches_free_at_end();
    for (mpfr_prec_t precision = FIRST_PRECISION; precision <= LAST_PRECISION; precision *= 2) {
        mpfr_t lower, upper;
        mpfr_inits2(precision, lower, upper, (mpfr_ptr)NULL);
        enclose(context, lower, upper);
        double from_lower = mpfr_get_d(lower, MPFR_RNDN);
        double from_upper = mpfr_get_d(upper, MPFR_RNDN);
        mpfr_clears(lower, upper, (mpfr_ptr)NULL);
        if (from_lower == from_upper) /* rounding is monotone: the real rounds to it too */
            return from_lower;
    }
    return (double)NAN;
}
