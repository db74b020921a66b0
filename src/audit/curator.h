/* Who answers the adversary's subset counts, and how: exactly, rounded, with bounded noise, or by a
 * mechanism of brume, which has a price. */
#ifndef BRUME_AUDIT_CURATOR_H
#define BRUME_AUDIT_CURATOR_H

#include <stddef.h>
#include <stdint.h>

#include <brume/bits.h>
#include <brume/mechanism/event.h>
#include <brume/account/method.h>

typedef enum brume_curator_kind {
    BRUME_CURATOR_EXACT = 1,
    BRUME_CURATOR_ROUNDED,  /* to the nearest multiple of a step */
    BRUME_CURATOR_UNIFORM,  /* noise uniform in [-E, E], on a grid of 2^-20 */
    BRUME_CURATOR_DECOY,    /* the answers of another database, as far as E allows: a clever liar */
    BRUME_CURATOR_NOISE,    /* the noise of a mechanism on each answer */
    BRUME_CURATOR_RESPONSE, /* randomized response of each bit, then exact answers of those */
} brume_curator_kind;

typedef struct brume_curator {
    brume_curator_kind kind;
    double bound;      /* ROUNDED: the step, whole; UNIFORM, DECOY: E >= 0; at most 2^20 */
    brume_event event; /* NOISE, RESPONSE: one release; replace, sensitivity 1 */
} brume_curator;

/* Read "exact", "rounded(step=5)", "uniform(bound=2.5)", "decoy(bound=3)", or one term of brume
 * whose mechanism has noise of its own, such as "discrete_laplace(scale=20)".
 * Errors: BRUME_ESYNTAX, BRUME_EUNKNOWN, BRUME_EARGUMENT; BRUME_EUNSUPPORTED for a term without
 * noise, a sum, a repetition, a sensitivity other than 1 and more than two answers. */
BRUME_MUST_USE brume_status brume_curator_read(const char *text, brume_curator *out,
                                               brume_error *error);

/* The text that reads back as it. */
BRUME_MUST_USE brume_status brume_curator_write(const brume_curator *curator, char *text,
                                                size_t size, brume_error *error);

/* The largest error that the answers can surely have; infinite for noise without a bound. */
double brume_curator_largest_error(const brume_curator *curator);

/* Make counts into answers, in place. `decoy` are the counts of the decoy (DECOY only, else NULL);
 * `bits` is not used by those without noise. RESPONSE leaves counts alone: see the secret. */
BRUME_MUST_USE brume_status brume_curator_answer(const brume_curator *curator, const double *decoy,
                                                 brume_bits *bits, double *counts, size_t count,
                                                 brume_error *error);

/* The bits that are counted: the secret, or its randomized response. */
BRUME_MUST_USE brume_status brume_curator_respond(const brume_curator *curator, brume_bits *bits,
                                                  const uint8_t *secret, uint8_t *out,
                                                  size_t people, brume_error *error);

/* What all answers together cost one person whose bit moves `moved` of them, at delta: an upper
 * bound of epsilon; infinite for curators without privacy. */
BRUME_MUST_USE brume_status brume_curator_epsilon(const brume_curator *curator, size_t moved,
                                                  double delta, brume_bound *out,
                                                  brume_error *error);

/* The largest expected share of right bits, for any adversary, where each bit is the likelier value
 * with probability `likelier` (>= 1/2), independently: likelier + (1 - likelier) delta(ln(likelier/
 * (1 - likelier))), delta the certified profile of all answers; for a fair bit 1/2 + delta(0)/2.
 * 1 for curators without privacy. Rounded up. */
BRUME_MUST_USE brume_status brume_curator_most(const brume_curator *curator, size_t moved,
                                               double likelier, double *share, brume_error *error);

#endif
