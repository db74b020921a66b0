/* How private can a mechanism at most be? A lower confidence bound of epsilon from draws alone.
 *
 * Draw N outcomes on each of two neighbours. On the first half of them choose an event and a
 * direction; on the other half bound its two probabilities p and q exactly (Clopper-Pearson, half
 * of the alarm each): whatever the mechanism is, ln((p_lower - delta)/q_upper) exceeds its true
 * epsilon at delta with probability at most 1 - confidence. Nothing is assumed of the mechanism but
 * that draws are independent. */
#ifndef BRUME_AUDIT_EPSILON_H
#define BRUME_AUDIT_EPSILON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/bits.h>

/* n outcomes on the first neighbour, or on the second. */
typedef brume_status brume_audit_draw(const void *context, bool second, brume_bits *bits,
                                      int64_t *out, size_t n, brume_error *error);

typedef struct brume_audit_options {
    size_t samples;    /* on each neighbour, 100 .. 2^28 */
    double confidence; /* in (0, 1) */
    double delta;      /* 0 <= delta < 1 */
} brume_audit_options;

enum { BRUME_AUDIT_OUTCOMES = 32 };

typedef enum brume_audit_kind {
    BRUME_AUDIT_AT_LEAST = 1, /* outcome >= threshold */
    BRUME_AUDIT_AT_MOST,      /* outcome <= threshold */
    BRUME_AUDIT_ONE_OF,       /* outcome among `outcomes` */
} brume_audit_kind;

typedef struct brume_audit_event {
    brume_audit_kind kind;
    int64_t threshold;
    int64_t outcomes[BRUME_AUDIT_OUTCOMES]; /* ascending */
    size_t count;
    bool second; /* likelier on the second neighbour */
} brume_audit_event;

typedef struct brume_audit_result {
    double epsilon_lower; /* >= 0 */
    brume_audit_event event;
    uint64_t draws, hits[2]; /* of the second half; hits on the first and the second neighbour */
} brume_audit_result;

/* Errors: BRUME_EARGUMENT; those of `draw`; BRUME_EMEMORY. *out is untouched then. */
BRUME_MUST_USE brume_status brume_audit_epsilon(brume_audit_draw *draw, const void *context,
                                                const brume_audit_options *options,
                                                brume_bits *bits, brume_audit_result *out,
                                                brume_error *error);

#endif
