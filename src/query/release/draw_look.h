/* Looking at the units of a limit: noisy counts, as far as they ask for more (limit/looks.h). */
#ifndef BRUME_QUERY_LOOK_H
#define BRUME_QUERY_LOOK_H

#include <brume/bits.h>

#include "query/plan/plan_terms.h"

/* The noise of looks that are paid for: scales, or sigmas. 0: this look is not bought. */
typedef struct brume_look_prices {
    brume_noise_kind noise;
    double first, histogram, tail, again;
} brume_look_prices;

/* Decides a limit by the looks in it. */
typedef brume_status (*brume_decider)(void *context, brume_found_limit *limit, brume_error *error);

/* Look at a limit whose units are so many in each bin, as far as the looks ask for more. What is
 * bought is in limit->bought and limit->step. */
BRUME_MUST_USE brume_status brume_look(const uint64_t units[BRUME_LIMIT_BINS],
                                       const brume_look_prices *prices, brume_bits *bits,
                                       brume_decider decide, void *context,
                                       brume_found_limit *limit, brume_error *error);

#endif
