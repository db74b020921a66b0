/* Real-valued noise, released on a grid, with no floating-point gap.
 *
 * *out = the integer nearest to (location + scale * Z) / 2^exponent, Z ideal: the real sum is
 * rounded once, exactly, as if Z had infinitely many digits. Rounding to a fixed grid is
 * post-processing, so the release has exactly the guarantee that is proved for location + scale * Z
 * over the reals.
 *
 * 1. The grid must not depend on data. Neither may anything derived from `scale` where that is
 *    private (smooth sensitivity).
 * 2. location and scale are the exact values of the doubles. The location need not be on the grid.
 * 3. The answer is clamped to +-2^62 grid steps.
 * 4. scale = 0 gives the rounded location, halves upwards.
 * 5. Meant for one draw per released value: microseconds each. For integers and many draws see
 *    brume/noise/noise.h. */
#ifndef BRUME_GRID_NOISE_H
#define BRUME_GRID_NOISE_H

#include <stdint.h>

#include <brume/bits.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum brume_grid_law {
    BRUME_GRID_LAPLACE = 1,            /* density exp(-|z|)/2 */
    BRUME_GRID_GAUSSIAN = 2,           /* standard normal */
    BRUME_GRID_CAUCHY = 3,             /* density 1/(pi (1 + z^2)) */
    BRUME_GRID_STUDENT = 4,            /* Student's t; shape = degrees of freedom, any real >= 1 */
    BRUME_GRID_LAPLACE_LOG_NORMAL = 5, /* Laplace * exp(shape * normal), 0 <= shape <= 1024 */
    BRUME_GRID_GUMBEL = 6,             /* P[Z <= z] = exp(-exp(-z)) */
} brume_grid_law;

/* Draw once.
 * Requires: location finite; scale >= 0 and finite; -1074 <= exponent <= 1023; shape as its law
 * says, 0 where the law has none; else BRUME_EARGUMENT. On error: *out is untouched. Threads:  safe
 * while `bits` is not shared. */
BRUME_API BRUME_MUST_USE brume_status brume_grid_noise(brume_bits *bits, brume_grid_law law,
                                                       double shape, double location, double scale,
                                                       int exponent, int64_t *out,
                                                       brume_error *error);

#ifdef __cplusplus
}
#endif

#endif
