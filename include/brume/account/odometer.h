/* An odometer: the certified cost of what was released so far, as if all of it had been fixed in
 * advance.
 *
 * It answers "how much have these releases told?", tightly, for releases whose costs did not depend
 * on earlier answers. Where an analyst chose them after seeing answers, the number is not a
 * guarantee: that is the filter's (filter.h), whose account is never smaller for it. So a reading
 * carries a label, to be shown with it.
 *
 * Memory and time grow with the number of different costs, not with the number of releases. */
#ifndef BRUME_ODOMETER_H
#define BRUME_ODOMETER_H

#include <stdint.h>

#include <brume/account/cost.h>
#include <brume/account/method.h>
#include <brume/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BRUME_ODOMETER_LABEL "as if every release had been fixed in advance"

typedef struct brume_odometer brume_odometer;

/* Open an empty one; close takes NULL. BRUME_EMEMORY. */
BRUME_API BRUME_MUST_USE brume_status brume_odometer_open(brume_odometer **out, brume_error *error);
BRUME_API void brume_odometer_close(brume_odometer *odometer);

/* Add `count` >= 1 releases of a cost. Errors: BRUME_EARGUMENT, BRUME_EOVERFLOW if there were more
 * than 2^63-1 of one kind, BRUME_EMEMORY; nothing is added then. */
BRUME_API BRUME_MUST_USE brume_status brume_odometer_add(brume_odometer *odometer,
                                                         const brume_cost *cost, uint64_t count,
                                                         brume_error *error);

typedef struct brume_reading {
    brume_bound epsilon; /* at the delta asked for */
    uint64_t releases;   /* how many; saturates */
    const char *label;   /* BRUME_ODOMETER_LABEL */
} brume_reading;

/* The reading at a delta, 0 <= delta < 1. Nothing released costs nothing. */
BRUME_API BRUME_MUST_USE brume_status brume_odometer_read(const brume_odometer *odometer,
                                                          double delta, brume_reading *out,
                                                          brume_error *error);

#ifdef __cplusplus
}
#endif

#endif
