/* The public laws by inversion: geometric, discrete Laplace, rounded Laplace. Parameters are
 * checked here; the sampling is in inversion.c. Proofs: proofs/discrete_laplace.md,
 * rounded_laplace.md. */
#include "base/error.h"
#include "sample/inversion.h"

enum { LARGEST_SCALE_LOG = 56 }; /* the low digit of a split draw then has at most 36 bits */

static brume_status open_double(brume_inversion_kind kind, double scale, double most,
                                brume_noise **out, brume_error *error)
{
    BRUME_TRY(
        brume_noise_check_scale("scale", scale, most, (const brume_noise *const *)out, error));
    return brume_inversion_open(kind, brume_scale_of_double(scale), out, error);
}

static brume_status open_ratio(brume_inversion_kind kind, uint64_t num, uint64_t den,
                               brume_noise **out, brume_error *error)
{
    if (!out)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "no place for the prepared noise");
    if (num == 0 || den == 0)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'num' or 'den' is 0; both must be at least 1");
    if (num >> LARGEST_SCALE_LOG > den ||
        (num >> LARGEST_SCALE_LOG == den && num << (64 - LARGEST_SCALE_LOG) != 0))
        return brume_fail(error, BRUME_EARGUMENT, "use a coarser grid for wider noise",
                          "'num'/'den' is above 2^56, the largest scale");
    return brume_inversion_open(kind, brume_scale_of_ratio(num, den), out, error);
}

brume_status brume_noise_open_discrete_laplace(double scale, brume_noise **out, brume_error *error)
{
    return open_double(BRUME_DISCRETE_LAPLACE, scale, 0x1p56, out, error);
}

brume_status brume_noise_open_discrete_laplace_ratio(uint64_t num, uint64_t den, brume_noise **out,
                                                     brume_error *error)
{
    return open_ratio(BRUME_DISCRETE_LAPLACE, num, den, out, error);
}

brume_status brume_noise_open_geometric(double scale, brume_noise **out, brume_error *error)
{
    return open_double(BRUME_GEOMETRIC, scale, 0x1p56, out, error);
}

brume_status brume_noise_open_geometric_ratio(uint64_t num, uint64_t den, brume_noise **out,
                                              brume_error *error)
{
    return open_ratio(BRUME_GEOMETRIC, num, den, out, error);
}

brume_status brume_noise_open_rounded_laplace(double scale, brume_noise **out, brume_error *error)
{
    return open_double(BRUME_ROUNDED_LAPLACE, scale, 0x1p50, out, error);
}
