/* The laws in balls, slow and plain on purpose: what the audit compares the doubles with. The forms
 * are the textbook ones, not those of law_*.c. */
#ifndef BRUME_ACCOUNTANT_CHECK_AUDIT_LAW_H
#define BRUME_ACCOUNTANT_CHECK_AUDIT_LAW_H

#include "accountant/law/law.h"

#if __has_include(<flint/acb.h>)
#include <flint/acb.h>
#else
#include <acb.h>
#endif

enum { BRUME_AUDIT_BITS = 160 };

/* phi(s) of one draw. */
void brume_audit_transform(acb_t out, const brume_law *law, const acb_t s);

/* Half the distance of the two atoms of a BINARY law, and their middle. */
void brume_audit_places(arb_t spread, arb_t centre, const brume_law *law);

#endif
