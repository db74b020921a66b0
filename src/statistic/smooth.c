/* Rounding of smooth sensitivities: the two steps described in smooth.h. */
#include "statistic/smooth.h"

#include "base/error.h"

brume_status brume_smooth_parameter(double t, double *smaller, brume_error *error)
{
    if (!(t >= 0x1p-30 && t <= 64))
        return brume_fail(error, BRUME_EARGUMENT, "it says how fast the bound may fall per unit",
                          "'t' is %.17g, must be in [2^-30, 64]", t);
    /* t <= 2^6, so the subtraction rounds by at most 2^-47, and 2^-41 - 2^-47 >= 2^-42. */
    *smaller = t - 0x1p-41;
    return BRUME_OK;
}

double brume_smooth_enlarge_upper(double computed)
{
    /* (1 - 2^-44)(1 + 2^-43)(1 - 2^-53) > 1 and (1 + 2^-44)(1 + 2^-43)(1 + 2^-53) < 1 + 2^-42. */
    double enlarged = computed * (1 + 0x1p-43);
    return enlarged > BRUME_SMOOTH_FLOOR ? enlarged : BRUME_SMOOTH_FLOOR;
}
