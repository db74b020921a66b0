/* Integers released with integer noise. Promises: brume/noise/laplace.h and brume/noise/gaussian.h;
 * exactly the law of clamp(value + noise), with the noise drawn before a value is looked at. */
#include "mechanism/noise/release.h"

#include <math.h>
#include <string.h>

#include <brume/noise/gaussian.h>
#include <brume/noise/laplace.h>

#include "base/error.h"
#include "number/rounding.h"
#include "number/wide.h"

enum { BLOCK = 512 };

static const int64_t INNER = (int64_t)1 << 62, OUTER = ((int64_t)1 << 62) - 1;

static int64_t clamp(brume_i128 x, int64_t limit)
{
    return x > limit ? limit : x < -limit ? -limit : (int64_t)x;
}

int64_t brume_saturated_sum(int64_t value, int64_t draw)
{
    return clamp((brume_i128)clamp(value, INNER) + draw, OUTER);
}

static brume_status release_integers(const brume_noise *noise, brume_bits *bits,
                                     const int64_t *values, int64_t *out, size_t n,
                                     brume_error *error)
{
    int64_t draws[BLOCK];
    brume_status status = BRUME_OK;
    for (size_t start = 0; start < n && status == BRUME_OK; start += BLOCK) {
        size_t size = n - start < BLOCK ? n - start : BLOCK;
        status = brume_noise_fill(noise, bits, draws, size, error);
        for (size_t i = 0; i < size && status == BRUME_OK; i++)
            out[start + i] = brume_saturated_sum(values[start + i], draws[i]);
    }
    if (status != BRUME_OK && n > 0)
        memset(out, 0, n * sizeof *out);
    explicit_bzero(draws, sizeof draws);
    return status;
}

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

typedef brume_status open_function(double spread, brume_noise **out, brume_error *error);

/* `spread` is the noise's parameter called `name`. */
static brume_status add(open_function *open, const char *name, double spread, brume_bits *bits,
                        const int64_t *values, int64_t *out, size_t n, brume_error *error)
{
    if (!(spread > 0 && spread <= 0x1p50))
        return brume_fail(error, BRUME_EARGUMENT, "use a coarser grid for wider noise",
                          "'%s' is %.17g, must be in (0, 2^50]", name, spread);
    brume_noise *noise = NULL;
    BRUME_TRY(open(spread, &noise, error));
    brume_status status = release_integers(noise, bits, values, out, n, error);
    brume_noise_close(noise);
    return status;
}

brume_status brume_discrete_laplace_add(brume_bits *bits, double scale, const int64_t *values,
                                        int64_t *out, size_t n, brume_error *error)
{
    return add(brume_noise_open_discrete_laplace, "scale", scale, bits, values, out, n, error);
}

brume_status brume_laplace_add(brume_bits *bits, double scale, const int64_t *values, int64_t *out,
                               size_t n, brume_error *error)
{
    return add(brume_noise_open_rounded_laplace, "scale", scale, bits, values, out, n, error);
}

brume_status brume_discrete_gaussian_add(brume_bits *bits, double sigma, const int64_t *values,
                                         int64_t *out, size_t n, brume_error *error)
{
    return add(brume_noise_open_discrete_gaussian, "sigma", sigma, bits, values, out, n, error);
}

brume_status brume_gaussian_add(brume_bits *bits, double sigma, const int64_t *values, int64_t *out,
                                size_t n, brume_error *error)
{
    return add(brume_noise_open_rounded_gaussian, "sigma", sigma, bits, values, out, n, error);
}
