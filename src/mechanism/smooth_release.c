/* Drawing smooth noise.
 *
 * Promises: *out is the real-valued value + (S/s) Z, rounded to an integer: the value is an
 * integer, so rounding the noise and adding is rounding the sum (brume/grid_noise.h). The scale is
 * S/s rounded up; the ratio of two neighbours' scales stays within exp(t), because S is smooth with
 * 2^-43 to spare (the statistics compute it so) and the quotient rounds by 2^-53. */
#include <brume/smooth.h>

#include <math.h>
#include <stddef.h>

#include <brume/grid_noise.h>

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
    int64_t draw = 0;
    BRUME_TRY(brume_grid_noise(bits, law_of(plan->law), plan->shape, 0, scale, 0, &draw, error));
    const int64_t furthest = INT64_C(1) << 62;
    int64_t sum;
    if (__builtin_add_overflow(value, draw, &sum))
        sum = draw < 0 ? -furthest : furthest;
    *out = sum > furthest ? furthest : sum < -furthest ? -furthest : sum;
    return BRUME_OK;
}
