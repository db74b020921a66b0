/* What was released: plain data, permanent ids. What it costs is another question (cost.h). */
#ifndef BRUME_EVENT_H
#define BRUME_EVENT_H

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

#ifdef __cplusplus
}
#endif

#endif
