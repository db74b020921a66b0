/* The grid that continuous noise is released on. Promises: the step is a power of two chosen from
 * the noise's spread alone, never from data, and spread/step is an exact double. */
#include "mechanism/noise/grid.h"

#include <math.h>
#include <stddef.h>

#include "base/error.h"

enum { FINENESS = 40 };

brume_status brume_grid_of(double spread, double *step, double *units, brume_error *error)
{
    if (!(spread > 0 && spread <= 0x1p960))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "the spread of the noise is %.17g, must be in (0, 2^960]", spread);
    int exponent;
    frexp(spread, &exponent); /* spread in [2^(exponent-1), 2^exponent) */
    int power = exponent - 1 - FINENESS;
    power = power < -1074 ? -1074 : power;
    *step = ldexp(1, power);
    *units = ldexp(spread, -power); /* exact: below 2^41, and not below 1 */
    return BRUME_OK;
}
