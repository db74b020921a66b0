/* Drawing smooth noise.
 *
 * Promises: *out is the real-valued value + (S/s) Z, rounded to an integer: the value is an
 * integer, so rounding the noise and adding is rounding the sum. The scale is S/s rounded up; the
 * ratio of two neighbours' scales stays within exp(t), because S is smooth with 2^-43 to spare (the
 * statistics compute it so) and the quotient rounds by 2^-53. */
#include <brume/smooth.h>

#include <math.h>
#include <stddef.h>

#include <brume/noise.h>

#include "base/error.h"
#include "number/rounding.h"

static brume_status open_law(const brume_smooth_plan *plan, double scale, brume_noise **out,
                             brume_error *error)
{
    switch (plan->law) {
    case BRUME_SMOOTH_LAPLACE:
        return brume_noise_open_rounded_laplace(scale, out, error);
    default:
        return brume_fail(error, BRUME_EUNSUPPORTED, "use smooth Laplace noise with a delta",
                          "this smooth noise cannot be drawn yet");
    }
}

brume_status brume_smooth_release(const brume_smooth_plan *plan, brume_bits *bits, int64_t value,
                                  double smooth, double most, int64_t *out, brume_error *error)
{
    if (!(plan->s > 0 && most >= 0 && most / plan->s <= 0x1p49))
        return brume_fail(error, BRUME_EARGUMENT, "use a coarser grid",
                          "noise for a sensitivity of %.17g steps is too wide", most);
    if (!(smooth >= 0))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "the smooth sensitivity is negative");
    if (smooth == 0) { /* the statistic is constant: so it is for every neighbour */
        *out = value;
        return BRUME_OK;
    }
    /* A bound cut at a public constant that still bounds the sensitivity is smooth too. */
    double scale = brume_divide_up(smooth < 2 * most ? smooth : 2 * most, plan->s);
    brume_noise *noise = NULL;
    int64_t draw = 0;
    BRUME_TRY(open_law(plan, scale, &noise, error));
    brume_status status = brume_noise_draw(noise, bits, &draw, error);
    brume_noise_close(noise);
    if (status != BRUME_OK)
        return status;
    const int64_t furthest = INT64_C(1) << 62;
    int64_t sum;
    if (__builtin_add_overflow(value, draw, &sum))
        sum = draw < 0 ? -furthest : furthest;
    *out = sum > furthest ? furthest : sum < -furthest ? -furthest : sum;
    return BRUME_OK;
}
