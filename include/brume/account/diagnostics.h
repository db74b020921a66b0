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
 * Some integrals do not converge by themselves and are held between two band-limited functions.
 * These are not narrowed below 1e-9 of epsilon, whatever smaller tolerance is asked for. An audit
 * recomputes a coarser sum of the same kind in their place, and so it does for subsampled Gaussians
 * composed with other mechanisms. */
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
