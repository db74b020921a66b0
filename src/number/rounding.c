/* Elementary functions rounded in a named direction: MPFR at 53 bits, whose results are correctly
 * rounded [MPFR, Sec. 4.4]; the way back to a double rounds the same way once more, which matters
 * only where the double is subnormal. */
#include "number/rounding.h"

#include <mpfr.h>

#define DIRECTED(name, function)                                                                   \
    static double name##_directed(double x, mpfr_rnd_t direction)                                  \
    {                                                                                              \
        MPFR_DECL_INIT(t, 53);                                                                     \
        mpfr_set_d(t, x, MPFR_RNDN); /* exact: 53 bits */                                          \
        function(t, t, direction);                                                                 \
        return mpfr_get_d(t, direction);                                                           \
    }                                                                                              \
    double brume_##name##_up(double x)                                                             \
    {                                                                                              \
        return name##_directed(x, MPFR_RNDU);                                                      \
    }                                                                                              \
    double brume_##name##_down(double x)                                                           \
    {                                                                                              \
        return name##_directed(x, MPFR_RNDD);                                                      \
    }

DIRECTED(exp, mpfr_exp)
DIRECTED(expm1, mpfr_expm1)
DIRECTED(log, mpfr_log)
DIRECTED(log1p, mpfr_log1p)
DIRECTED(tanh, mpfr_tanh)
DIRECTED(erfc, mpfr_erfc)

double brume_count_up(unsigned long long count)
{
    double nearest = (double)count;
    /* 2^64 = nearest can only come from rounding up; below it the way back is exact */
    if (nearest < 0x1p64 && (unsigned long long)nearest < count)
        return brume_up(nearest);
    return nearest;
}
