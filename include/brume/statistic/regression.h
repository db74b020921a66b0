/* The standard deviation of a linear regression's prediction at a public point, per unit of noise:
 * q = sqrt(z^T A^-1 z), A the Gram matrix of the rows in units of norm^2 (brume/statistic/gram.h).
 *
 * q has neither a finite global nor a finite smooth sensitivity: A may be nearly singular. ln q has
 * a small local one where the least eigenvalue l of A is large: LS(ln q) <= ln(l/(l-1))/2, under
 * add-remove and replace, and l changes by at most 1. So a bound on LS(ln q) can be proposed,
 * tested and used. Everything here is a function of the data without noise: secret. */
#ifndef BRUME_REGRESSION_H
#define BRUME_REGRESSION_H

#include <brume/statistic/gram.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The eigenvalue from which on LS(ln q) <= bound: 1/(1 - exp(-2 bound)), rounded up.
 * Requires: 2^-8 <= bound <= 2; else BRUME_EARGUMENT. */
BRUME_API BRUME_MUST_USE brume_status brume_regression_eigenvalue_upper(double bound, double *out,
                                                                        brume_error *error);

/* A distance to {LS(ln q) > bound}: 0 there, and at most 1 apart between neighbours, with the
 * rounding of the eigenvalue included; at most the true distance. */
BRUME_API BRUME_MUST_USE brume_status brume_regression_distance(const brume_gram *gram,
                                                                double bound, uint64_t *out,
                                                                brume_error *error);

/* ln q in steps: floor(ln q / step), clamped to +-64/step; `point` has one coordinate a column, not
 * all 0, in the units of the rows divided by norm. step is a power of two in [2^-20, 1]. Where
 * LS(ln q) <= bound, neighbours are at most ceil(bound/step) + 1 steps apart. */
BRUME_API BRUME_MUST_USE brume_status brume_regression_log(const brume_gram *gram,
                                                           const double *point, double step,
                                                           int64_t *out, brume_error *error);

/* q itself, to about 15 digits where the matrix is not nearly singular; infinite where it is
 * singular. The point as above. */
BRUME_API BRUME_MUST_USE brume_status brume_regression_value(const brume_gram *gram,
                                                             const double *point, double *out,
                                                             brume_error *error);

#ifdef __cplusplus
}
#endif

#endif
