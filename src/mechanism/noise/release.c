/* Adding integer noise to integers. Promises: exactly the law of clamp(value + noise), with the
 * noise drawn before a value is looked at. */
#include "mechanism/noise/release.h"

#include <string.h>

#include "base/error.h"
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

brume_status brume_release_integers(const brume_noise *noise, brume_bits *bits,
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
