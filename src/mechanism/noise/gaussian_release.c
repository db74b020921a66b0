/* Integers released with Gaussian noise. Promises: brume/gaussian.h. */
#include <brume/gaussian.h>

#include "base/error.h"
#include "mechanism/noise/release.h"

typedef brume_status open_function(double sigma, brume_noise **out, brume_error *error);

static brume_status add(open_function *open, brume_bits *bits, double sigma, const int64_t *values,
                        int64_t *out, size_t n, brume_error *error)
{
    if (!(sigma > 0 && sigma <= 0x1p50))
        return brume_fail(error, BRUME_EARGUMENT, "use a coarser grid for wider noise",
                          "'sigma' is %.17g, must be in (0, 2^50]", sigma);
    brume_noise *noise = NULL;
    BRUME_TRY(open(sigma, &noise, error));
    brume_status status = brume_release_integers(noise, bits, values, out, n, error);
    brume_noise_close(noise);
    return status;
}

brume_status brume_discrete_gaussian_add(brume_bits *bits, double sigma, const int64_t *values,
                                         int64_t *out, size_t n, brume_error *error)
{
    return add(brume_noise_open_discrete_gaussian, bits, sigma, values, out, n, error);
}

brume_status brume_gaussian_add(brume_bits *bits, double sigma, const int64_t *values, int64_t *out,
                                size_t n, brume_error *error)
{
    return add(brume_noise_open_rounded_gaussian, bits, sigma, values, out, n, error);
}
