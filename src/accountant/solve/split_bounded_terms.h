/* A bound by taking the terms of bounded loss apart. */
#ifndef BRUME_ACCOUNTANT_SOLVE_SPLIT_BOUNDED_TERMS_H
#define BRUME_ACCOUNTANT_SOLVE_SPLIT_BOUNDED_TERMS_H

#include <brume/compose.h>

/* Epsilon at the delta `at`, or delta at the epsilon `at`, rounded up: of the terms without a pure
 * epsilon alone, moved by the sum of the pure epsilons. Without terms of both kinds infinite, or 1;
 * but where what is known of a delta is `rough`, a tiny delta that is met at a smaller epsilon. */
BRUME_MUST_USE brume_status brume_split_bounded_terms(const brume_term *terms, size_t count,
                                                      bool of_delta, double at, bool rough,
                                                      double *upper, brume_error *error);

#endif
