/* Regression: the proposed bound on ln q, its distance, and ln q itself. */
#include <brume/statistic/regression.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/error.h"
#include "statistic/gram.h"

brume_status brume_regression_eigenvalue_upper(double bound, double *out, brume_error *error)
{
    if (!(bound >= 0x1p-8 && bound <= 2))
        return brume_fail(error, BRUME_EARGUMENT, "it bounds the change of ln(standard deviation)",
                          "the proposed 'bound' is %.17g, must be in [2^-8, 2]", bound);
    /* expm1 and the division err by less than 2^-51 together: up. */
    *out = 1 / -expm1(-2 * bound) * (1 + 0x1p-50);
    return BRUME_OK;
}

brume_status brume_regression_distance(const brume_gram *gram, double bound, uint64_t *out,
                                       brume_error *error)
{
    double needed, least;
    BRUME_TRY(brume_regression_eigenvalue_upper(bound, &needed, error));
    BRUME_TRY(brume_gram_least_eigenvalue(gram, &least, error));
    /* The computed eigenvalue is within 2^-16 of the truth. So this is negative wherever the truth
     * is below `needed`; and neighbours, whose computed eigenvalues are at most 1 + 2^-15 apart,
     * get quotients at most 1 apart, hence floors at most 1 apart. */
    double distance = (least - needed - 0x1p-15) / (1 + 0x1p-14);
    *out = distance > 0 ? (uint64_t)distance : 0;
    return BRUME_OK;
}

/* z^T A^-1 z by Cholesky; infinity where A is not positive definite. */
static long double quadratic(long double *matrix, size_t d, const double *point)
{
    long double sum = 0;
    long double forward[BRUME_GRAM_MOST_COLUMNS]; /* L y = z, so z^T A^-1 z = |y|^2 */
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j <= i; j++) {
            long double rest = matrix[i * d + j];
            for (size_t k = 0; k < j; k++)
                rest -= matrix[i * d + k] * matrix[j * d + k];
            if (i == j) {
                if (!(rest > 0))
                    return HUGE_VALL;
                matrix[i * d + i] = sqrtl(rest);
            } else {
                matrix[i * d + j] = rest / matrix[j * d + j];
            }
        }
        long double y = point[i];
        for (size_t k = 0; k < i; k++)
            y -= matrix[i * d + k] * forward[k];
        forward[i] = y / matrix[i * d + i];
        sum += forward[i] * forward[i];
    }
    return sum;
}

/* z^T A^-1 z for a point that is in range and not 0. */
static brume_status form_at(const brume_gram *gram, const double *point, long double *out,
                            brume_error *error)
{
    size_t d = gram->columns;
    bool nonzero = false;
    for (size_t i = 0; i < d; i++) {
        if (!(fabs(point[i]) <= 0x1p20))
            return brume_fail(error, BRUME_EARGUMENT, NULL,
                              "a coordinate of the point is %.17g, must be within 2^20", point[i]);
        nonzero |= point[i] != 0;
    }
    if (!nonzero)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "the point is 0 in every coordinate");
    long double *matrix = malloc(d * d * sizeof *matrix);
    if (!matrix)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory");
    brume_gram_matrix(gram, matrix);
    *out = quadratic(matrix, d, point);
    free(matrix);
    return BRUME_OK;
}

brume_status brume_regression_value(const brume_gram *gram, const double *point, double *out,
                                    brume_error *error)
{
    long double form;
    BRUME_TRY(form_at(gram, point, &form, error));
    *out = (double)sqrtl(form);
    return BRUME_OK;
}

brume_status brume_regression_log(const brume_gram *gram, const double *point, double step,
                                  int64_t *out, brume_error *error)
{
    int exponent;
    if (!(step >= 0x1p-20 && step <= 1) || frexp(step, &exponent) != 0.5)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'step' is %.17g, must be a power of two in [2^-20, 1]", step);
    long double form;
    BRUME_TRY(form_at(gram, point, &form, error));
    /* The condition number is at most rows/(l* - 1) < 2^36 for a neighbour of data with l >= l*, so
     * ln q errs by less than 2^-21: half a step at most. */
    long double log_q = logl(form) / 2;
    log_q = log_q > 64 ? 64 : log_q < -64 ? -64 : log_q;
    *out = (int64_t)floorl(log_q / step);
    return BRUME_OK;
}
