/* Drawing smooth noise.
 *
 * Promises: *out is the real-valued value + (S/s) Z, rounded to an integer: the value is an
 * integer, so rounding the noise and adding is rounding the sum (brume/noise/grid_noise.h). The
 * scale is S/s rounded up; the ratio of two neighbours' scales stays within exp(t), because S is
 * smooth with 2^-43 to spare (the statistics compute it so) and the quotient rounds by 2^-53.
 *
 * Draws saturate at +-2^62: a value within +-2^61 plus a saturated draw is at or beyond +-2^61 for
 * every value, so the clamp of the sum hides it. */
#include <brume/mechanism/smooth.h>

#include <math.h>
#include <stddef.h>

#include <brume/noise/grid_noise.h>

#include "base/error.h"
#include "number/rounding.h"

static brume_grid_law law_of(brume_smooth_law law)
{
    switch (law) {
    case BRUME_SMOOTH_LAPLACE:
        return BRUME_GRID_LAPLACE;
    case BRUME_SMOOTH_CAUCHY:
        return BRUME_GRID_CAUCHY;
    case BRUME_SMOOTH_STUDENT:
        return BRUME_GRID_STUDENT;
    default:
        return BRUME_GRID_LAPLACE_LOG_NORMAL;
    }
}

/* The same map for all data, which moves no two values apart. */
static int64_t clamp(int64_t x)
{
    const int64_t furthest = INT64_C(1) << 61;
    return x > furthest ? furthest : x < -furthest ? -furthest : x;
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
        *out = clamp(value);
        return BRUME_OK;
    }
    /* A bound cut at a public constant that still bounds the sensitivity is smooth too. */
    double scale = brume_divide_up(smooth < 2 * most ? smooth : 2 * most, plan->s);
    int64_t draw = 0;
    BRUME_TRY(brume_grid_noise(bits, law_of(plan->law), plan->shape, 0, scale, 0, &draw, error));
    *out = clamp(clamp(value) + draw); /* below 2^61 + 2^62: no overflow */
    return BRUME_OK;
}
