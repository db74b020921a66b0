/* The least x at which a decreasing quantity has come down to a target. */
#ifndef BRUME_ACCOUNTANT_SEARCH_H
#define BRUME_ACCOUNTANT_SEARCH_H

#include <brume/status.h>

/* value(context, x) is an upper bound of a quantity that does not grow with x > 0. */
typedef struct brume_search {
    brume_status (*value)(void *context, double x, double *value, brume_error *error);
    void *context;
    double target;
    double least, most; /* where to look: 0 < least < most */
    double relative;    /* how close: the result is at most (1 + relative) times the least x */
    double step;        /* first step away from the guess, in log x; 0 means 0.5 */
} brume_search;

/* *x is a point at which value <= target was itself evaluated, so a rough search or a rough value
 * can only make it larger than need be. `guess` is where to start. The distance that is halved is
 * that of log x, the interpolation is of log value, which is nearly straight for a privacy bound.
 * Errors: BRUME_EUNSUPPORTED if even `most` does not meet the target; any error of value. */
BRUME_MUST_USE brume_status brume_search_least(const brume_search *search, double guess, double *x,
                                               brume_error *error);

#endif
