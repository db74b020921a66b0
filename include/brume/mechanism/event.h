/* What was released: plain data, permanent ids. What it costs is another question (cost.h). */
#ifndef BRUME_EVENT_H
#define BRUME_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include <brume/adjacency.h>
#include <brume/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BRUME_EVENT_PARAMETERS = 6 };

typedef struct brume_event {
    uint32_t mechanism;        /* id of the card; its meaning never changes */
    uint32_t base;             /* id of the inner mechanism for poisson(rate, base); else 0 */
    brume_adjacency adjacency; /* under which `sensitivity` is meant */
    double sensitivity;        /* of the query, in the norm the mechanism names; 1 unless said */
    double parameter[BRUME_EVENT_PARAMETERS]; /* in the card's order; then the base's */
    uint64_t count;                           /* independent releases of this kind, >= 1 */
} brume_event;

/* Write the event as a term of an expression (expression.h) that parses back to it (its adjacency
 * apart): numbers with the fewest digits that read back exactly, optional parameters only where
 * they differ from the standard. Errors: BRUME_EUNKNOWN, or BRUME_EOVERFLOW if it needs more than
 * `size` bytes. */
BRUME_API BRUME_MUST_USE brume_status brume_event_write(const brume_event *event, char *text,
                                                        size_t size, brume_error *error);

#ifdef __cplusplus
}
#endif

#endif
