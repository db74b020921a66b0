/* Composition as other parts of the library ask for it. */
#ifndef BRUME_ACCOUNTANT_SOLVE_COMPOSE_H
#define BRUME_ACCOUNTANT_SOLVE_COMPOSE_H

#include <brume/account/compose.h>
#include <brume/account/diagnostics.h>

#include "accountant/solve/solve.h"

/* About what brume_compose_delta will say, to some hundredths where many losses add up: it serves
 * to find out where to look. False where nothing quick is known. */
BRUME_MUST_USE bool brume_compose_guess(const brume_term *terms, size_t count, double epsilon,
                                        double *delta);

/* What the method "auto" says of the least delta at asked->at: the certified composition, or
 * another method where that says less. *excess is as in diagnostics.h. */
BRUME_MUST_USE brume_status brume_account_delta_near(const brume_term *terms, size_t count,
                                                     const brume_asked *asked,
                                                     brume_composition *out, double *excess,
                                                     brume_error *error);

#endif
