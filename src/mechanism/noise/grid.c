/* The grid that continuous noise is released on, and reals released on it. Promises: grid.h and
 * brume/noise/release.h; the step is a power of two chosen from the noise's spread alone, never
 * from data, and spread/step is an exact double; each coordinate is one exact draw of
 * brume_grid_noise, and no arithmetic of doubles touches value + noise. */
#include "mechanism/noise/grid.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include <brume/noise/grid_noise.h>
#include <brume/noise/release.h>

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

brume_status brume_release_exponent(double spread, int *exponent, brume_error *error)
{
    double step = 0, units = 0;
    BRUME_TRY(brume_grid_of(spread, &step, &units, error));
    *exponent = ilogb(step);
    return BRUME_OK;
}

static brume_status check(const char *name, double spread, int exponent, const double *values,
                          size_t n, brume_error *error)
{
    if (!(spread > 0) || isinf(spread))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'%s' is %.17g, must be a finite number above 0", name, spread);
    if (exponent < -1074 || exponent > 900)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'exponent' is %d, must be in [-1074, 900]",
                          exponent);
    bool finite = true;
    for (size_t i = 0; i < n; i++)
        finite &= isfinite(values[i]) != 0;
    if (!finite)
        return brume_fail(error, BRUME_EARGUMENT, "clamp the values first",
                          "a value is not finite");
    return BRUME_OK;
}

static brume_status release(brume_bits *bits, brume_grid_law law, double spread, int exponent,
                            const double *values, double *out, size_t n, brume_error *error)
{
    for (size_t i = 0; i < n; i++) {
        int64_t steps;
        brume_status status =
            brume_grid_noise(bits, law, 0, values[i], spread, exponent, &steps, error);
        if (status != BRUME_OK) {
            memset(out, 0, n * sizeof *out);
            return status;
        }
        /* beyond 2^53 steps the conversion rounds: a function of what is released anyway */
        out[i] = ldexp((double)steps, exponent);
    }
    return BRUME_OK;
}

brume_status brume_release_laplace(brume_bits *bits, double scale, int exponent,
                                   const double *values, double *out, size_t n, brume_error *error)
{
    BRUME_TRY(check("scale", scale, exponent, values, n, error));
    return release(bits, BRUME_GRID_LAPLACE, scale, exponent, values, out, n, error);
}

brume_status brume_release_gaussian(brume_bits *bits, double sigma, int exponent,
                                    const double *values, double *out, size_t n, brume_error *error)
{
    BRUME_TRY(check("sigma", sigma, exponent, values, n, error));
    return release(bits, BRUME_GRID_GAUSSIAN, sigma, exponent, values, out, n, error);
}
