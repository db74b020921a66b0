/* The whole output law of a mechanism on two neighbours, and its privacy profile against a claim.
 *
 * The law is the one that the card's proof states (mechanism/trial.h; that draws have it is a test
 * of its own). From it delta(epsilon) = sum of max(P - e^epsilon Q, 0) is enclosed for every
 * epsilon, so that a verdict here has no confidence level:
 *   violation  at some epsilon delta is above the claimed one;
 *   tight      at every epsilon that is compared the claim is reached, to a ten-thousandth;
 *   loose      delta stays below the claim on these neighbours; by how much is said. Others may
 *              reach it.
 * Where there are several pairs and directions, delta is the largest of all of them. Compared are
 * 0, the losses that outcomes have (where there are very many, some of each size), and points
 * between. Proof: proofs/audit.md. */
#ifndef BRUME_AUDIT_EXACT_H
#define BRUME_AUDIT_EXACT_H

#include "audit/subject.h"

typedef struct brume_exact_law brume_exact_law;

/* All masses of the subject. Of `options` (NULL: none) only `stopped` is asked. Errors:
 * BRUME_EUNSUPPORTED where the card states no law for this pair, or it has more than 2^22 outcomes;
 * BRUME_ECANCELLED; BRUME_EMEMORY. */
BRUME_MUST_USE brume_status brume_exact_open(const brume_subject *subject,
                                             const brume_audit_options *options,
                                             brume_exact_law **out, brume_error *error);
void brume_exact_close(brume_exact_law *law);

size_t brume_exact_outcomes(const brume_exact_law *law);

/* delta at epsilon >= 0 of the first input against the second, or `reversed`. */
brume_interval brume_exact_delta(const brume_exact_law *law, bool reversed, double epsilon);

/* The least epsilon >= 0 at which delta(epsilon) <= delta; it may be infinite. At delta = 0 the
 * outcomes outside of the support, 1e-12 in all, are not looked at. */
brume_interval brume_exact_epsilon(const brume_exact_law *law, bool reversed, double delta);

/* The outcome of the largest loss among those that have a mass of 1e-9. */
int64_t brume_exact_witness(const brume_exact_law *law, bool reversed);

/* What is claimed: an upper bound of delta at epsilon. */
typedef brume_status brume_exact_claim(const void *context, double epsilon, double *delta,
                                       brume_error *error);

enum { BRUME_EXACT_POINTS = 96 };

typedef struct brume_exact_point {
    double epsilon, claimed;
    brume_interval delta;
    size_t side; /* which has the largest delta */
} brume_exact_point;

typedef enum brume_exact_verdict {
    BRUME_EXACT_TIGHT,
    BRUME_EXACT_LOOSE,
    BRUME_EXACT_VIOLATION, /* the worst last */
} brume_exact_verdict;

typedef struct brume_exact_result {
    brume_exact_verdict verdict;
    size_t count;
    brume_exact_point points[BRUME_EXACT_POINTS]; /* by ascending epsilon */
    size_t worst; /* of a violation where it is largest, else where the claim is farthest above */
} brume_exact_result;

/* A pair in one direction. */
typedef struct brume_exact_side {
    const brume_exact_law *law;
    bool reversed;
} brume_exact_side;

/* `certain` is the epsilon that is claimed at delta = 0, or at the delta of interest: it is among
 * the points unless it is infinite. `options` as above. */
BRUME_MUST_USE brume_status brume_exact_compare(const brume_exact_side *sides, size_t count,
                                                brume_exact_claim *claim, const void *context,
                                                double certain, const brume_audit_options *options,
                                                brume_exact_result *out, brume_error *error);

const char *brume_exact_verdict_name(brume_exact_verdict verdict);

#endif
