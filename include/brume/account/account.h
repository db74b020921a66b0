/* Accounting for events and expressions: their terms for the accountant, and calibration. */
#ifndef BRUME_ACCOUNT_H
#define BRUME_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/account/compose.h>
#include <brume/mechanism/event.h>
#include <brume/mechanism/expression.h>
#include <brume/account/method.h>
#include <brume/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One term per event, for groups of `group` units; free(*terms) when done. Refuses with the names:
 * which mechanism the method does not apply to, and the methods that do. */
BRUME_API BRUME_MUST_USE brume_status brume_account_terms(const brume_event *events, size_t count,
                                                          uint64_t group, brume_method method,
                                                          brume_term **terms, brume_error *error);

/* --- calibration ------------------------------------------------------------------------------ */

typedef struct brume_calibration {
    double value;         /* of the unknown */
    double epsilon_upper; /* certified, of the whole expression with that value; may be infinite */
    double delta;
    int whole;       /* 0: a real number; 1: the largest whole number that meets the target; -1: the
                        smallest */
    bool everywhere; /* the target is met at every value up to here, where its range or the search
                        (a whole number: 2^53) ends */
} brume_calibration;

/* The least noise for which the expression, with a `?`, is certified (epsilon, delta)-DP. Errs to
 * more noise, by at most 1e-9 of the value (whole numbers: not at all). The expression is left
 * solved.
 * Errors: BRUME_EARGUMENT without a `?` or for a bad target; BRUME_EUNSUPPORTED if the cost is not
 * monotone in the unknown or no value in its range meets the target. */
BRUME_API BRUME_MUST_USE brume_status brume_calibrate(brume_expression *expression, double epsilon,
                                                      double delta, brume_calibration *out,
                                                      brume_error *error);

/* The most noise for which one release of the unknown's term has P[error >= alpha] <= beta, and
 * what that costs at `delta`. */
BRUME_API BRUME_MUST_USE brume_status brume_calibrate_accuracy(brume_expression *expression,
                                                               double alpha, double beta,
                                                               double delta, brume_calibration *out,
                                                               brume_error *error);

#ifdef __cplusplus
}
#endif

#endif
