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

/* Bins of outcomes, learned from examples, and events that are unions of bins.
 *
 * An outcome that comes often has a bin of its own, the others are cut at quantiles, finer in the
 * tails. An event that speaks for one neighbour is looked for among the outcomes up to an edge,
 * those from an edge on, and the bins with the largest quotients of the two frequencies. Nothing is
 * claimed of what is found here: draws that were not looked at decide. */

enum { BRUME_BINS = 768 };

typedef struct brume_partition {
    size_t count;
    int64_t edges[BRUME_BINS]; /* bin i has the outcomes from edges[i] to below edges[i + 1]; the
                                  first edge is INT64_MIN */
    int64_t least;             /* of the outcomes in `table`, which has their bins */
    uint16_t table[1 << 16];
    size_t tabled;
} brume_partition;

typedef struct brume_bin_event {
    bool in[BRUME_BINS];
    bool second; /* likelier on the second neighbour */
} brume_bin_event;

/* "outcome >= 3", "outcome in {0, 2, 5..7}", outcomes times `step`. */
void brume_partition_text(const brume_partition *bins, const brume_bin_event *event, double step,
                          char *text, size_t size);

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
