/* What the ways of `brume audit` share: the draws, the certificate and how it is written. */
#ifndef BRUME_COMMAND_AUDIT_H
#define BRUME_COMMAND_AUDIT_H

#include <brume/mechanism/event.h>

#include "audit/epsilon.h"
#include "command/command.h"
#include "query/release/spend.h"

typedef struct brume_audited {
    double claimed, delta, confidence;
    size_t samples, threads;
    bool ordered; /* outcomes are scores */
    bool whole;   /* each call of the subject is slow by itself */
    brume_audit_result result;
    double step; /* outcomes are printed times this */
    const char *neighbours, *outcome;
    const brume_watch *watch; /* NULL: nobody can stop it */
} brume_audited;

/* What the accountant says of one event, at delta: an upper bound of epsilon. */
BRUME_MUST_USE brume_status brume_audit_claim(const brume_event *event, double delta,
                                              double *claimed, brume_error *error);

brume_audit_options brume_audited_options(const brume_audited *a);

/* Draw from the subject, with a progress bar, and bound: samples, confidence and delta are set. */
BRUME_MUST_USE brume_status brume_audited_draw(const brume_call *call, brume_audited *a,
                                               brume_audit_draw *of, const void *subject,
                                               brume_bits *bits, brume_error *error);

/* The event that the verdict rests on, as JSON. */
json_t *brume_audited_witness(const brume_audited *a);

/* --time: instead of bounds of epsilon, how the time of an answer depends on what it should not;
 * measured and written. */
BRUME_MUST_USE brume_status brume_audited_time(brume_call *call, const brume_audited *a,
                                               brume_audit_draw *of, const void *subject,
                                               brume_bits *bits, brume_error *error);

/* --save: the folder (NULL: none was typed), before anything is drawn; a new file in it; event.json
 * with the claim, the witness and `more`, which is the callee's, under `name`. */
BRUME_MUST_USE brume_status brume_audit_make_folder(const char *folder, brume_error *error);
BRUME_MUST_USE brume_status brume_audit_save_text(const char *folder, const char *name,
                                                  const char *text, brume_error *error);
BRUME_MUST_USE brume_status brume_audit_save_event(const char *folder, const brume_audited *a,
                                                   const char *name, json_t *more,
                                                   brume_error *error);

BRUME_MUST_USE brume_status brume_audit_save_mechanism(brume_call *call, const brume_audited *a,
                                                       brume_error *error);

/* EXPR: audit it and write the result. */
BRUME_MUST_USE brume_status brume_audit_mechanism(brume_call *call, const brume_event *event,
                                                  brume_audited *a, brume_error *error);

/* How many threads may draw. */
size_t brume_audit_processors(void);

BRUME_MUST_USE brume_status brume_audited_write(brume_call *call, const brume_audited *a,
                                                brume_error *error);

/* --query: audit it and write the result. */
BRUME_MUST_USE brume_status brume_audit_query(brume_call *call, brume_audited *a,
                                              brume_error *error);

/* --exact: the law itself against the claim, in both directions; under both adjacencies unless one
 * is typed. */
BRUME_MUST_USE brume_status brume_audit_exact(brume_call *call, const brume_event *event,
                                              const brume_audited *a, brume_error *error);

/* --bounds: LO..HI; 0..1 where there is none. */
BRUME_MUST_USE brume_status brume_audit_bounds(const char *text, double *low, double *high,
                                               brume_error *error);

/* --command: audit it and write the result. */
BRUME_MUST_USE brume_status brume_audit_command(brume_call *call, brume_audited *a,
                                                brume_error *error);

/* --program: audit it and write the result. */
BRUME_MUST_USE brume_status brume_audit_program(brume_call *call, brume_audited *a,
                                                brume_error *error);

#endif
