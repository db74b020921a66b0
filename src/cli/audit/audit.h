/* What the two ways of `brume audit` share: the draws, the certificate and how it is written. */
#ifndef BRUME_CLI_AUDIT_H
#define BRUME_CLI_AUDIT_H

#include <brume/mechanism/event.h>

#include "audit/epsilon.h"
#include "cli/command.h"

typedef struct brume_audited {
    double claimed, delta, confidence;
    size_t samples;
    brume_audit_result result;
    double step; /* outcomes are printed times this */
    const char *neighbours, *outcome;
} brume_audited;

/* What the accountant says of one event, at delta: an upper bound of epsilon. */
BRUME_MUST_USE brume_status brume_audit_claim(const brume_event *event, double delta,
                                              double *claimed, brume_error *error);

/* Draw from the subject, with a progress bar, and bound: samples, confidence and delta are set. */
BRUME_MUST_USE brume_status brume_audited_draw(brume_audited *a, brume_audit_draw *of,
                                               const void *subject, brume_bits *bits,
                                               brume_error *error);

BRUME_MUST_USE brume_status brume_audited_write(brume_call *call, const brume_audited *a,
                                                brume_error *error);

/* --query: audit it and write the result. */
BRUME_MUST_USE brume_status brume_audit_query(brume_call *call, brume_audited *a,
                                              brume_error *error);

#endif
