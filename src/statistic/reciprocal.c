/* The reciprocal of a count. */
#include <brume/statistic/reciprocal.h>

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "statistic/smooth.h"

__extension__ typedef unsigned __int128 wide_word;

/* Is f (f-1) bound < 1, that is LS(f) > bound? Exactly: the bound is mantissa 2^(exponent - 53),
 * the product of the integers is below 2^64 2^53. */
static bool sensitive(uint64_t f, double bound)
{
    if (f <= 1)
        return true;
    int exponent;
    uint64_t mantissa = (uint64_t)ldexp(frexp(bound, &exponent), 53);
    int shift = 53 - exponent; /* f (f-1) mantissa < 2^shift ? */
    if (shift < 0)
        return false;
    if (shift >= 127)
        return true;
    return (wide_word)(f * (f - 1)) * mantissa < (wide_word)1 << shift;
}

brume_status brume_reciprocal_distance(uint64_t count, double bound, uint64_t *out,
                                       brume_error *error)
{
    if (!(bound >= 0x1p-60 && isfinite(bound)))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "the proposed 'bound' is %.17g, must be at least 2^-60", bound);
    uint64_t low = 1, high = UINT64_C(1) << 32; /* 2^32 (2^32 - 1) 2^-60 > 1: not sensitive */
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (sensitive(middle, bound))
            low = middle;
        else
            high = middle;
    }
    *out = count > low ? count - low : 0;
    return BRUME_OK;
}

brume_status brume_reciprocal_local_upper(uint64_t count, uint64_t least, uint64_t k, double *out,
                                          brume_error *error)
{
    if (least == 0 || least > UINT64_C(1) << 40)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'least' must be in [1, 2^40]");
    uint64_t h = count > k ? count - k : 0;
    h = h > least + 1 ? h : least + 1;
    /* Up: three roundings below, each at most 2^-53, against one factor 1 + 2^-50. */
    *out = 1 / ((double)h * (double)(h - 1)) * (1 + 0x1p-50);
    return BRUME_OK;
}

brume_status brume_reciprocal_global_upper(uint64_t least, double *out, brume_error *error)
{
    return brume_reciprocal_local_upper(0, least, 0, out, error);
}

brume_status brume_reciprocal_smooth(uint64_t count, uint64_t least, double t, double *out,
                                     brume_error *error)
{
    double smaller, local;
    BRUME_TRY(brume_smooth_parameter(t, &smaller, error));
    BRUME_TRY(brume_reciprocal_local_upper(count, least, 0, &local, error));
    if (count > UINT64_C(1) << 40)
        count = UINT64_C(1) << 40; /* one more smooth bound: a constant for all larger counts */
    uint64_t furthest = count > least + 1 ? count - least - 1 : 0;
    /* ln of exp(-t k)/(h (h-1)) is convex in k up to the cap, so the maximum is at an end. */
    double best = 0;
    for (int end = 0; end < 2; end++) {
        uint64_t k = end ? furthest : 0;
        BRUME_TRY(brume_reciprocal_local_upper(count, least, k, &local, error));
        double value = local * exp(-smaller * (double)k);
        best = value > best ? value : best;
    }
    *out = brume_smooth_enlarge_upper(best);
    return BRUME_OK;
}
