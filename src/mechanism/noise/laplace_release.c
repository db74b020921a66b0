/* Laplace noise: its scale, and integers released with it. Promises: brume/laplace.h. */
#include <brume/laplace.h>

#include <math.h>

#include "base/error.h"
#include "mechanism/noise/release.h"
#include "number/rounding.h"

brume_status brume_laplace_scale(double sensitivity, double epsilon, double *scale,
                                 brume_error *error)
{
    if (!(sensitivity > 0) || isinf(sensitivity) || !(epsilon > 0) || isinf(epsilon))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'sensitivity' is %.17g and 'epsilon' %.17g, both must be finite and "
                          "above 0",
                          sensitivity, epsilon);
    double result = brume_divide_up(sensitivity, epsilon); /* more noise: up */
    if (isinf(result))
        return brume_fail(error, BRUME_EOVERFLOW, NULL, "the scale is too large");
    *scale = result;
    return BRUME_OK;
}

static brume_status check_spread(double scale, brume_error *error)
{
    if (scale > 0 && scale <= 0x1p50)
        return BRUME_OK;
    return brume_fail(error, BRUME_EARGUMENT, "use a coarser grid for wider noise",
                      "'scale' is %.17g, must be in (0, 2^50]", scale);
}

typedef brume_status open_function(double scale, brume_noise **out, brume_error *error);

static brume_status add(open_function *open, brume_bits *bits, double scale, const int64_t *values,
                        int64_t *out, size_t n, brume_error *error)
{
    brume_noise *noise = NULL;
    BRUME_TRY(check_spread(scale, error));
    BRUME_TRY(open(scale, &noise, error));
    brume_status status = brume_release_integers(noise, bits, values, out, n, error);
    brume_noise_close(noise);
    return status;
}

brume_status brume_discrete_laplace_add(brume_bits *bits, double scale, const int64_t *values,
                                        int64_t *out, size_t n, brume_error *error)
{
    return add(brume_noise_open_discrete_laplace, bits, scale, values, out, n, error);
}

brume_status brume_laplace_add(brume_bits *bits, double scale, const int64_t *values, int64_t *out,
                               size_t n, brume_error *error)
{
    return add(brume_noise_open_rounded_laplace, bits, scale, values, out, n, error);
}
