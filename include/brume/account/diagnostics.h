/* How a composition was computed. For those who measure or improve the accountant: nothing here is
 * certified, and what the fields count may change from version to version. */
#ifndef BRUME_DIAGNOSTICS_H
#define BRUME_DIAGNOSTICS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Filled in through `diagnostics` of brume_compose_options (compose.h), on success only.
 *
 * Where the sum behind an answer is truncated between two band-limited functions it stops at a
 * width of 8e-10 of epsilon, whatever smaller tolerance is asked for; an audit then redoes a first,
 * wider line in its place, and so it does for rays of subsampled Gaussians beside other laws. */
typedef struct brume_diagnostics {
    uint64_t nodes;  /* points of the integrand that were evaluated, or terms of a sum */
    unsigned rounds; /* lines, rays and sums that were opened */
    double excess;   /* of a delta: about how far a band moved the upper end above the truth; an
                        estimate for choosing where to look next */
} brume_diagnostics;

#ifdef __cplusplus
}
#endif

#endif
