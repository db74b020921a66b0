/* What an audit draws: a mechanism on two neighbours that are as bad for it as is known, both from
 * its card (mechanism/trial.h): a mechanism that is registered with a trial is audited.
 *
 * The draws go through the functions of the library that a release goes through. Any two neighbours
 * give a valid lower bound of epsilon. Proof of the bound: proofs/audit.md. */
#ifndef BRUME_AUDIT_SUBJECT_H
#define BRUME_AUDIT_SUBJECT_H

#include <brume/mechanism/event.h>
#include <brume/interval.h>

#include "audit/epsilon.h"

typedef struct brume_subject brume_subject;

/* How many pairs of neighbours the card suggests; 0 where the mechanism cannot be audited. */
size_t brume_subject_pairs(const brume_event *event);

/* A subject for one term on one of these pairs. The term may be repeated: then the outcome is the
 * sum of its outcomes.
 * Errors: BRUME_EUNSUPPORTED for a mechanism that cannot be audited, BRUME_EARGUMENT for parameters
 * that its release refuses, BRUME_EMEMORY. Close with brume_subject_close. */
BRUME_MUST_USE brume_status brume_subject_open(const brume_event *event, size_t pair,
                                               brume_subject **out, brume_error *error);
void brume_subject_close(brume_subject *subject);

/* Draw: a brume_audit_draw whose context is the subject. */
brume_status brume_subject_draw(const void *context, bool second, brume_bits *bits, int64_t *out,
                                size_t n, brume_error *error);

/* The law of one release, where the card states it: of which outcomes it consists, and an enclosure
 * of the probability of each (mechanism/trial.h). The other two need a law. */
bool brume_subject_has_law(const brume_subject *subject);
void brume_subject_support(const brume_subject *subject, int64_t *least, int64_t *most);
BRUME_MUST_USE brume_status brume_subject_mass(const brume_subject *subject, bool second,
                                               int64_t outcome, brume_interval *mass,
                                               brume_error *error);

/* The two neighbours and what an outcome is, in words. */
const char *brume_subject_neighbours(const brume_subject *subject);
const char *brume_subject_outcome(const brume_subject *subject);

/* How many draws take seconds at most. */
size_t brume_subject_samples(const brume_subject *subject);

/* Outcomes are printed as this many times the integer: the step of a grid, 1 for integers. */
double brume_subject_step(const brume_subject *subject);

#endif
