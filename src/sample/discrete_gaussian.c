/* The discrete Gaussian of brume/noise/noise.h: an exact sigma, then the sampler that suits its
 * size. */
#include <brume/noise/noise.h>

#include "base/error.h"
#include "sample/gaussian_table.h"
#include "sample/gaussian_ziggurat.h"
#include "sample/kernel.h"
#include "sample/noise_law.h"

static brume_status open_sigma(const brume_sigma *sigma, brume_noise **out, brume_error *error)
{
    if (!brume_rounds_to_nearest())
        return brume_fail(error, BRUME_EARGUMENT, "call fesetround(FE_TONEAREST) before opening",
                          "the floating-point rounding mode is not to nearest");
    return sigma->value >= BRUME_ZIGGURAT_LEAST_SIGMA
               ? brume_gaussian_ziggurat_open(sigma, out, error)
               : brume_gaussian_table_open(sigma, out, error);
}

brume_status brume_noise_open_discrete_gaussian(double sigma, brume_noise **out, brume_error *error)
{
    brume_sigma exact;
    BRUME_TRY(brume_noise_check_scale("sigma", sigma, BRUME_SIGMA_LARGEST,
                                      (const brume_noise *const *)out, error));
    brume_sigma_from_double(&exact, sigma);
    return open_sigma(&exact, out, error);
}

brume_status brume_noise_open_discrete_gaussian_ratio(uint64_t num, uint64_t den, brume_noise **out,
                                                      brume_error *error)
{
    brume_sigma exact;
    if (!out)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "no place for the prepared noise");
    if (num == 0 || den == 0)
        return brume_fail(error, BRUME_EARGUMENT, "both numbers of the ratio must be at least 1",
                          "sigma squared = %llu/%llu is out of range", (unsigned long long)num,
                          (unsigned long long)den);
    brume_sigma_from_ratio(&exact, num, den);
    return open_sigma(&exact, out, error);
}
