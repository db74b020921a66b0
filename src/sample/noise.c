/* brume_noise: what is common to all laws: checks, dispatch, wiping on error, adding to data. */
#include <brume/noise/noise.h>

#include <stdlib.h>

#include "base/error.h"
#include "sample/kernel.h"
#include "sample/noise_law.h"

enum { ADD_BLOCK = 512 };

brume_status brume_noise_refuse(const brume_noise *noise, const brume_bits *bits, const void *out,
                                brume_error *error)
{
    if (!noise || !bits || !out)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "no noise, no bit source or no place for the draws");
    return brume_fail(error, BRUME_EARGUMENT, "call fesetround(FE_TONEAREST) before drawing",
                      "the floating-point rounding mode is not to nearest");
}

static bool rounding_is_right(const brume_noise *noise)
{
    return noise->any_rounding || brume_rounds_to_nearest();
}

static brume_status draw_checked(const brume_noise *noise, brume_bits *bits, int64_t *out,
                                 brume_error *error)
{
    if (__builtin_expect(!bits || !out || !rounding_is_right(noise), 0))
        return brume_noise_refuse(noise, bits, out, error);
    if (__builtin_expect(noise->law->draw(noise, bits, out), 1))
        return BRUME_OK;
    *out = 0;
    return brume_bits_failed(bits, error);
}

void *brume_noise_open_as(const brume_noise_law *law, size_t size, brume_error *error)
{
    /* Whole cache lines: a law's constants and tables start on one. */
    size_t rounded = (size + 63) / 64 * 64;
    brume_noise *noise = aligned_alloc(64, rounded);
    if (!noise) {
        (void)brume_fail(error, BRUME_EMEMORY, NULL, "no memory to prepare %s noise", law->name);
        return NULL;
    }
    memset(noise, 0, rounded);
    noise->law = law;
    noise->draw = draw_checked;
    return noise;
}

brume_status brume_noise_check_scale(const char *name, double value, double most,
                                     const brume_noise *const *out, brume_error *error)
{
    if (!out)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "no place for the prepared noise");
    if (!(value > 0 && value <= most))
        return brume_fail(error, BRUME_EARGUMENT, "use a coarser grid for wider noise",
                          "'%s' is %.17g; it must be above 0 and at most %.17g", name, value, most);
    return BRUME_OK;
}

void brume_noise_close(brume_noise *noise)
{
    if (!noise)
        return;
    if (noise->law->close)
        noise->law->close(noise);
    free(noise);
}

brume_status brume_noise_draw(const brume_noise *noise, brume_bits *bits, int64_t *out,
                              brume_error *error)
{
    if (__builtin_expect(!noise, 0))
        return brume_noise_refuse(noise, bits, out, error);
    return noise->draw(noise, bits, out, error);
}

brume_status brume_noise_fill(const brume_noise *noise, brume_bits *bits, int64_t *out, size_t n,
                              brume_error *error)
{
    if (!noise || !bits || (!out && n > 0) || !rounding_is_right(noise))
        return brume_noise_refuse(noise, bits, out, error);
    if (n == 0 || noise->law->fill(noise, bits, out, n))
        return BRUME_OK;
    brume_bits_wipe(out, n * sizeof *out);
    return brume_bits_failed(bits, error);
}

static int64_t add_saturating(int64_t a, int64_t b)
{
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return a < 0 ? -INT64_MAX : INT64_MAX;
    return sum < -INT64_MAX ? -INT64_MAX : sum;
}

brume_status brume_noise_add(const brume_noise *noise, brume_bits *bits, const int64_t *values,
                             int64_t *out, size_t n, brume_error *error)
{
    if (!noise || !bits || ((!out || !values) && n > 0) || !rounding_is_right(noise))
        return brume_noise_refuse(noise, bits, values ? out : NULL, error);
    int64_t block[ADD_BLOCK];
    for (size_t done = 0; done < n;) {
        size_t count = n - done < ADD_BLOCK ? n - done : ADD_BLOCK;
        if (!noise->law->fill(noise, bits, block, count)) {
            /* What was written so far is a true sum of value and noise: release none of it. */
            brume_bits_wipe(block, sizeof block);
            brume_bits_wipe(out, n * sizeof *out);
            return brume_bits_failed(bits, error);
        }
        for (size_t i = 0; i < count; i++)
            out[done + i] = add_saturating(values[done + i], block[i]);
        done += count;
    }
    brume_bits_wipe(block, sizeof block);
    return BRUME_OK;
}
