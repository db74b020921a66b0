/* The locale and the floating-point environment of a call: those that brume was proven and tested
 * in, whatever the host has set.
 *
 * A host may have set a locale whose decimals have a comma, a rounding mode, or the mode in which
 * subnormal numbers are 0 (libraries that are compiled with -ffast-math set it when they are
 * loaded): certified bounds hold in none of these. */
#ifndef BRUME_SESSION_ENVIRONMENT_H
#define BRUME_SESSION_ENVIRONMENT_H

#include <fenv.h>
#include <locale.h>

#include <brume/status.h>

typedef struct brume_environment {
    locale_t locale, plain;
    fenv_t floats;
} brume_environment;

/* Enter it on the calling thread, until it is left. EMEMORY; EINTERNAL: the processor refuses. */
BRUME_MUST_USE brume_status brume_environment_enter(brume_environment *before, brume_error *error);
void brume_environment_leave(const brume_environment *before);

#endif
