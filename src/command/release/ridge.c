/* Coefficients of a linear regression: ridge regression from a Gram matrix with noise.
 *
 * Promises: the data enter through the noisy Gram matrix of the scaled columns, the target and a
 * column of ones alone; everything after it is post-processing. proofs/ridge.md */
#include "command/release/matrix.h"

#include <string.h>

#include "number/rounding.h"

enum { MOST = BRUME_MATRIX_MOST };

typedef struct normal_equations {
    size_t d;                  /* coefficients, the last one that of the ones */
    double matrix[MOST][MOST]; /* of the scaled columns and the ones */
    double right[MOST];        /* their products with the scaled target */
    double coefficient[MOST];
} normal_equations;

/* Solve (A + ridge on all but the last + slack) x = b by Cholesky; false if it is not positive. */
static bool solve(normal_equations *all, double ridge, double slack)
{
    size_t d = all->d;
    double lower[MOST][MOST] = {{0}};
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = all->matrix[i][j];
            if (i == j)
                sum += slack + (i + 1 < d ? ridge : 0);
            for (size_t k = 0; k < j; k++)
                sum -= lower[i][k] * lower[j][k];
            if (i == j && !(sum > 1e-9))
                return false;
            lower[i][j] = i == j ? sqrt(sum) : sum / lower[j][j];
        }
    double half[MOST];
    for (size_t i = 0; i < d; i++) {
        half[i] = all->right[i];
        for (size_t k = 0; k < i; k++)
            half[i] -= lower[i][k] * half[k];
        half[i] /= lower[i][i];
    }
    for (size_t i = d; i-- > 0;) {
        all->coefficient[i] = half[i];
        for (size_t k = i + 1; k < d; k++)
            all->coefficient[i] -= lower[k][i] * all->coefficient[k];
        all->coefficient[i] /= lower[i][i];
    }
    return true;
}

/* Place of (i, j), i <= j, in the upper triangle of a matrix of n rows, row by row. */
static size_t place(size_t n, size_t i, size_t j)
{
    return i * n - i * (i + 1) / 2 + j;
}

static void read_equations(const int64_t *entries, size_t features, double unit,
                           normal_equations *out)
{
    /* columns: features, then the target, then the ones */
    size_t n = features + 2, target = features;
    out->d = features + 1;
    for (size_t i = 0; i < out->d; i++) {
        size_t row = i < features ? i : features + 1;
        for (size_t j = 0; j <= i; j++) {
            size_t column = j < features ? j : features + 1;
            double value =
                (double)entries[place(n, column < row ? column : row, column < row ? row : column)];
            out->matrix[i][j] = out->matrix[j][i] = value / (unit * unit);
        }
        out->right[i] =
            (double)entries[place(n, row < target ? row : target, row < target ? target : row)] /
            (unit * unit);
    }
}

/* Back from scaled columns to their own units; y = intercept + sum of slope times x. */
static void write_coefficients(brume_release *release, const brume_matrix *columns,
                               const normal_equations *solved)
{
    size_t features = columns->count - 1;
    double reach = columns->reach[features];
    double intercept = columns->centre[features] + reach * solved->coefficient[features];
    release->rows = json_array();
    for (size_t i = 0; i < features; i++) {
        double slope = reach * solved->coefficient[i] / columns->reach[i];
        intercept -= slope * columns->centre[i];
        json_array_append_new(release->rows,
                              json_pack("[s, o]", columns->name[i], brume_json_real(slope)));
    }
    json_array_append_new(release->rows,
                          json_pack("[s, o]", "(intercept)", brume_json_real(intercept)));
}

static brume_status release_coefficients(brume_release *release, const brume_matrix *columns,
                                         const brume_gram *gram, brume_error *error)
{
    int64_t entries[MOST * (MOST + 1) / 2] = {0};
    double spread, unit = brume_matrix_unit(columns->count + 1);
    normal_equations all = {0};
    BRUME_TRY(brume_matrix_noisy(release, gram, release->delta > 0, entries, &spread, error));
    read_equations(entries, columns->count - 1, unit, &all);
    /* as wide as the noise makes an eigenvalue, about: public */
    double noise = spread / (unit * unit) * sqrt((double)(columns->count + 1));
    double ridge = brume_call_real(release->call, "ridge", noise), slack = 0;
    while (!solve(&all, ridge, slack)) /* noise may make it indefinite: what was released tells */
        slack = slack > 0 ? 2 * slack : noise > 0 ? noise : 1;
    brume_release_tell(release, "ridge", brume_json_real(ridge));
    write_coefficients(release, columns, &all);
    return BRUME_OK;
}

brume_status brume_release_ridge(brume_release *release, brume_error *error)
{
    const char *target = brume_call_text(release->call, "target");
    if (!target || strchr(target, ','))
        return brume_fail(error, BRUME_EARGUMENT, "for example --target income",
                          "regression by ridge needs '--target', one column");
    if (release->delta > 0)
        BRUME_TRY(brume_release_need_delta(release, error));
    return brume_matrix_with(release, true, target, release_coefficients, error);
}
