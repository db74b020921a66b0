/* How private can a mechanism at most be? Lower confidence bounds from draws alone.
 *
 * Draw outcomes on each of two neighbours. On the first part of them choose bins, events and
 * directions; of the others count the bins, and bound each event's two probabilities p and q
 * exactly (Clopper-Pearson, of both together proportion.h). All bounds hold together with the
 * confidence, whatever the mechanism is: half of the alarm goes to the event of epsilon, a quarter
 * to that of delta, the rest to the curve. Nothing is assumed of the mechanism but that draws are
 * independent.
 *   - epsilon >= ln((p - delta)/q);
 *   - delta(epsilon) >= p - e^epsilon q;
 *   - rho >= the Renyi divergence of order a of (p, q), divided by a;
 *   - trade-off curve: a test with both errors at most (q_upper, 1 - p_lower) exists.
 * Proof: proofs/audit.md. */
#ifndef BRUME_AUDIT_EPSILON_H
#define BRUME_AUDIT_EPSILON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/draw.h"
#include "audit/partition.h"

/* An event and how often it came in the draws that count. */
typedef struct brume_audit_event {
    brume_bin_event of;
    uint64_t hits[2];        /* on the first neighbour and the second */
    double p_lower, q_upper; /* of the curve's: bounds on its likelier neighbour and on the other */
} brume_audit_event;

enum { BRUME_AUDIT_CURVE = 8 };

typedef struct brume_audit_result {
    double epsilon_lower, delta_lower, rho_lower; /* >= 0 */
    brume_audit_event event;                      /* of epsilon; it may be that of delta */
    brume_audit_event delta_event;
    brume_audit_event curve[BRUME_AUDIT_CURVE];
    uint64_t draws; /* that count, on each neighbour */
    brume_partition bins;
} brume_audit_result;

/* Errors: BRUME_EARGUMENT; those of `draw`; BRUME_EMEMORY. *out is untouched then. */
BRUME_MUST_USE brume_status brume_audit_epsilon(brume_audit_draw *draw, const void *context,
                                                const brume_audit_options *options,
                                                brume_bits *bits, brume_audit_result *out,
                                                brume_error *error);

/* How well an audit on these neighbours would do, from a few draws: about its epsilon_lower and its
 * delta_lower. For choosing neighbours; nothing is claimed of it. */
BRUME_MUST_USE brume_status brume_audit_guess(brume_audit_draw *draw, const void *context,
                                              const brume_audit_options *options, size_t few,
                                              brume_bits *bits, double *epsilon, double *delta,
                                              brume_error *error);

#endif
