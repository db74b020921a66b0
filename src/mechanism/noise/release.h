/* Adding integer noise to integers so that the noise's own limits cannot show. */
#ifndef BRUME_MECHANISM_RELEASE_H
#define BRUME_MECHANISM_RELEASE_H

#include <brume/noise/noise.h>

/* out[i] = clamp(clamp(values[i]) + draw), and that sum for one draw. Draws saturate at 2^63 - 1; a
 * value within -+2^62 plus a saturated draw is beyond -+(2^62 - 1) for every value, so the outer
 * clamp makes the release the same function of value + unbounded noise: post-processing. On error
 * `out` is set to zero. */
int64_t brume_saturated_sum(int64_t value, int64_t draw);

#endif
