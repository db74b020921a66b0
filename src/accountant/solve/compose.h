/* Composition as other parts of the library ask for it. */
#ifndef BRUME_ACCOUNTANT_SOLVE_COMPOSE_H
#define BRUME_ACCOUNTANT_SOLVE_COMPOSE_H

#include <brume/account/compose.h>
#include <brume/account/diagnostics.h>

#include "accountant/solve/solve.h"

/* As brume_compose_epsilon and brume_compose_delta, whose arguments are checked already;
 * asked->delta_error is not read, and a width of 0 means 1e-10. `diagnostics` may be NULL. */
BRUME_MUST_USE brume_status brume_compose(const brume_term *terms, size_t count,
                                          const brume_asked *asked, brume_composition *out,
                                          brume_diagnostics *diagnostics, brume_error *error);

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

/* Epsilon at the delta `at`, or delta at the epsilon `at`, rounded up: of the terms without a pure
 * epsilon alone, moved by the sum of the pure epsilons. Without terms of both kinds infinite, or 1;
 * but where what is known of a delta is `rough`, a tiny delta that is met at a smaller epsilon. */
BRUME_MUST_USE brume_status brume_split_bounded_terms(const brume_term *terms, size_t count,
                                                      bool of_delta, double at, bool rough,
                                                      double *upper, brume_error *error);

#endif
