/* Does the time that an answer takes tell the neighbour, or the value that was drawn?
 *
 * Kendall's tau: of two answers, how much likelier is it that the one of the second neighbour (or
 * the one of the larger value) took longer than that it took less time? It is 0 where the time does
 * not depend on it, 1 or -1 where it tells everything. It is counted over pairs of answers that
 * have no answer in common. Which of a pair comes first is random, so that where the time does not
 * depend on the neighbour (or on the value) either sign is as likely, whatever else the machine
 * does meanwhile; the bounds are Clopper and Pearson's, exact and without a normal law. */
#ifndef BRUME_AUDIT_TIMING_H
#define BRUME_AUDIT_TIMING_H

#include "audit/draw.h"

typedef struct brume_tau {
    uint64_t pairs, longer, shorter; /* others took as long, or have the same value */
    double lower, upper;             /* both at once with the confidence */
} brume_tau;

typedef struct brume_timing {
    brume_tau neighbour, value; /* all four bounds hold together with the confidence */
    double median[2];           /* seconds of an answer on the first neighbour and on the second */
} brume_timing;

/* Draw options->samples answers on each neighbour, one at a time. Only samples, confidence and
 * progress are read. Errors: BRUME_EARGUMENT; those of `draw`; BRUME_EMEMORY. */
BRUME_MUST_USE brume_status brume_timing_measure(brume_audit_draw *draw, const void *context,
                                                 const brume_audit_options *options,
                                                 brume_bits *bits, brume_timing *out,
                                                 brume_error *error);

/* Is one of the two certain to differ from 0? */
bool brume_timing_tells(const brume_timing *timing);

#endif
