/* gram, covariance and regression: what needs a Gram matrix of columns, scaled by their bounds.
 *
 * Promises: the data enter through the noisy matrix (or, for ptr, its distance) alone; everything
 * after it is post-processing. proofs/ridge.md */
#include "query/statistic/release.h"

#include <stdlib.h>
#include <string.h>

#include <brume/noise/gaussian.h>
#include <brume/noise/laplace.h>
#include <brume/noise/noise.h>
#include <brume/statistic/gram.h>
#include <brume/statistic/tested.h>

#include "number/rounding.h"

enum { MOST = BRUME_GRAM_MOST_COLUMNS, NORM = 1 << 16 };

typedef struct matrix {
    const char *name[MOST];
    size_t column[MOST], count;
    double lower[MOST], centre[MOST], reach[MOST];
    int decimals[MOST];
} matrix;

typedef brume_status matrix_use(brume_release *release, const matrix *columns,
                                const brume_gram *gram, brume_error *error);

/* A copy of --columns to cut into words; free it after the table. */
static brume_status copy_columns(const brume_release *release, char **out, brume_error *error)
{
    const char *text = release->words->columns;
    if (!text)
        return brume_fail(error, BRUME_EARGUMENT, "for example --columns height,weight",
                          "%s needs '--columns'", release->statistic);
    *out = strdup(text);
    return *out ? BRUME_OK : brume_fail(error, BRUME_EMEMORY, NULL, "no memory");
}

static brume_status read_columns(const brume_release *release, char *words, matrix *out,
                                 brume_error *error)
{
    for (char *word; (word = strsep(&words, ","));) {
        if (out->count == MOST - 1)
            return brume_fail(error, BRUME_EARGUMENT, NULL, "more than %d columns", MOST - 1);
        double lower, upper;
        int *decimals = &out->decimals[out->count];
        BRUME_TRY(brume_release_find(release, word, &out->column[out->count], error));
        BRUME_TRY(brume_release_bounds(release, word, &lower, &upper, decimals, error));
        out->name[out->count] = word;
        out->lower[out->count] = lower;
        out->centre[out->count] = lower + (upper - lower) / 2;
        out->reach[out->count] = (upper - lower) / 2 > 0 ? (upper - lower) / 2 : 1;
        out->count++;
    }
    return BRUME_OK;
}

/* How far a column's values lie from 0 at most; at least a little. */
static double matrix_reach(const matrix *columns, size_t i)
{
    double reach = fmax(fabs(columns->centre[i] - columns->reach[i]),
                        fabs(columns->centre[i] + columns->reach[i]));
    return reach > 0 ? reach : 1;
}

/* One unit of a scaled coordinate, in steps, where a row has so many coordinates. */
static double unit_of(size_t coordinates)
{
    return floor(NORM / sqrt((double)coordinates));
}

/* Rows scaled by their bounds to [-1, 1], so that all coordinates together lie in the ball.
 * Centred: about the centres of the bounds, with one more coordinate that is always 1, so that the
 * matrix holds the number of rows and the sums too; else about 0. A row with a missing value is
 * dropped under add-remove; under replace the value counts as its lower bound. */
static brume_status fill(const brume_release *release, const matrix *columns, bool centred,
                         brume_gram *gram, brume_error *error)
{
    double shrink = unit_of(columns->count + centred);
    for (;;) {
        bool more, whole = true;
        BRUME_TRY(brume_csv_next(release->csv, &more, error));
        if (!more)
            return BRUME_OK;
        int64_t row[MOST] = {0};
        for (size_t i = 0; i < columns->count; i++) {
            double number = columns->lower[i], centre = centred ? columns->centre[i] : 0;
            double reach = centred ? columns->reach[i] : matrix_reach(columns, i);
            whole &= brume_csv_number(release->csv, columns->column[i], &number);
            number = brume_release_round(number, columns->decimals[i]);
            double scaled = (number - centre) / reach;
            scaled = scaled > 1 ? 1 : scaled < -1 ? -1 : scaled;
            row[i] = (int64_t)llrint(scaled * shrink);
        }
        if (!whole && release->adjacency == BRUME_ADD_REMOVE)
            continue;
        brume_gram_add(gram, row);
    }
}

/* Release from the Gram matrix of --columns, and of `last` (NULL: none) behind them. */
static brume_status with_matrix(brume_release *release, bool centred, const char *last,
                                matrix_use *then, brume_error *error)
{
    matrix columns = {0};
    brume_gram *gram = NULL;
    char *words = NULL, *target = last ? strdup(last) : NULL;
    brume_status status = last && !target ? brume_no_memory(error, "the columns") : BRUME_OK;
    if (status == BRUME_OK)
        status = copy_columns(release, &words, error);
    if (status == BRUME_OK)
        status = read_columns(release, words, &columns, error);
    if (status == BRUME_OK && target)
        status = read_columns(release, target, &columns, error);
    if (status == BRUME_OK)
        status = centred ? brume_gram_open_with_ones(columns.count + 1, NORM, &gram, error)
                         : brume_gram_open(columns.count, NORM, &gram, error);
    if (status == BRUME_OK)
        status = fill(release, &columns, centred, gram, error);
    if (status == BRUME_OK)
        status = then(release, &columns, gram, error);
    brume_gram_close(gram);
    free(words);
    free(target);
    return status;
}

/* Covariances of all pairs of columns, from the noisy matrix: post-processing. */
static void write_covariances(brume_release *release, const matrix *columns, const int64_t *entries)
{
    size_t d = columns->count, entry = 0;
    double square = unit_of(d + 1) * unit_of(d + 1), mean[MOST], rows;
    rows = (double)entries[(d + 1) * (d + 2) / 2 - 1] / square; /* the last entry: 1 times 1 */
    release->rows = json_array();
    for (size_t i = 0; i < d; i++) { /* entry (i, d) closes row i of the triangle */
        entry += d - i;
        mean[i] = (double)entries[entry++] / square / rows;
    }
    entry = 0;
    for (size_t i = 0; i < d; i++, entry++)
        for (size_t j = i; j < d; j++, entry++) {
            double moment = (double)entries[entry] / square / rows;
            double covariance = columns->reach[i] * columns->reach[j] *
                                (moment - mean[i] * mean[j]);
            if (i == j)
                covariance = fmax(covariance, 0);
            json_array_append_new(release->rows,
                                  json_pack("[s, s, o]", columns->name[i], columns->name[j],
                                            rows >= 1 ? brume_json_real(covariance) : json_null()));
        }
}

/* The upper triangle with noise, row by row: Gaussian or Laplace. *spread: the standard deviation
 * of the noise of an entry. */
static brume_status add_noise(brume_release *release, const brume_gram *gram, bool gaussian,
                              int64_t *entries, double *spread, brume_error *error)
{
    size_t size = brume_gram_size(gram);
    double sensitivity, scale;
    brume_noise *noise = NULL;
    if (gaussian) {
        BRUME_TRY(brume_gram_sensitivity_l2_upper(gram, release->adjacency, &sensitivity, error));
        BRUME_TRY(
            brume_gaussian_sigma(release->epsilon, release->delta, sensitivity, &scale, error));
        BRUME_TRY(brume_noise_open_rounded_gaussian(scale, &noise, error));
        release->cost_delta = release->delta;
        *spread = scale;
    } else {
        BRUME_TRY(brume_gram_sensitivity_l1_upper(gram, release->adjacency, &sensitivity, error));
        BRUME_TRY(brume_laplace_scale(sensitivity, release->epsilon, &scale, error));
        scale = brume_up(scale);
        BRUME_TRY(brume_noise_open_discrete_laplace(scale, &noise, error));
        *spread = scale * M_SQRT2;
    }
    for (size_t i = 0; i < size; i++)
        entries[i] = brume_gram_entry(gram, i);
    brume_status status = brume_noise_add(noise, release->bits, entries, entries, size, error);
    brume_noise_close(noise);
    return status;
}

static brume_status release_moments(brume_release *release, const matrix *columns,
                                    const brume_gram *gram, brume_error *error)
{
    int64_t entries[MOST * (MOST + 1) / 2] = {0};
    double spread;
    BRUME_TRY(
        add_noise(release, gram, brume_release_is(release, "gaussian"), entries, &spread, error));
    write_covariances(release, columns, entries);
    return BRUME_OK;
}

/* Sums of products of all pairs of columns, in the columns' own units. */
static brume_status release_products(brume_release *release, const matrix *columns,
                                     const brume_gram *gram, brume_error *error)
{
    int64_t entries[MOST * (MOST + 1) / 2] = {0};
    double spread, unit = unit_of(columns->count), most = 0;
    size_t entry = 0;
    bool gaussian = brume_release_is(release, "gaussian");
    BRUME_TRY(add_noise(release, gram, gaussian, entries, &spread, error));
    release->rows = json_array();
    for (size_t i = 0; i < columns->count; i++)
        for (size_t j = i; j < columns->count; j++, entry++) {
            double factor = matrix_reach(columns, i) * matrix_reach(columns, j) / (unit * unit);
            double product = (double)entries[entry] * factor;
            most = fmax(most, factor);
            json_array_append_new(release->rows,
                                  json_pack("[s, s, o]", columns->name[i], columns->name[j],
                                            brume_json_real(i == j ? fmax(product, 0) : product)));
        }
    /* of the entry with the widest noise, in its units; the grid's rounding is far below it */
    brume_release_tell(release, gaussian ? "sigma" : "scale",
                       brume_json_real(spread * most / (gaussian ? 1 : M_SQRT2)));
    return BRUME_OK;
}

static brume_status gaussian_with_delta(brume_release *release, brume_error *error)
{
    BRUME_TRY(brume_release_method(release, release->delta > 0 ? "gaussian" : "laplace", error));
    return brume_release_is(release, "gaussian") ? brume_release_need_delta(release, error)
                                                 : BRUME_OK;
}

brume_status brume_release_gram(brume_release *release, brume_error *error)
{
    BRUME_TRY(gaussian_with_delta(release, error));
    return with_matrix(release, false, NULL, release_products, error);
}

brume_status brume_release_covariance(brume_release *release, brume_error *error)
{
    BRUME_TRY(gaussian_with_delta(release, error));
    return with_matrix(release, true, NULL, release_moments, error);
}

/* ---- ridge regression: coefficients from a noisy matrix of the scaled columns, the target and a
 * column of ones ---- */

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

/* ---- intervals of coefficients: proofs/ridge.md ---- */

/* How far the noise may have moved v . theta, at 95 %; NaN: it cannot be told. `plain` is solved
 * without a ridge. With A = A^ - E and b = b^ - e the least squares of the rows are theta = theta^
 * + A^^-1 (E theta - e): with w = A^^-1 v that is, to first order, a sum of independent noises,
 * each times what follows from w and theta^. */
static double coefficient_width(const normal_equations *plain, const double *v, double spread,
                                bool gaussian)
{
    normal_equations turned = *plain;
    const double *theta = plain->coefficient;
    double squares = 0, fourths = 0;
    memcpy(turned.right, v, sizeof turned.right);
    if (!solve(&turned, 0, 0))
        return NAN;
    const double *w = turned.coefficient;
    for (size_t i = 0; i < plain->d; i++)
        for (size_t j = i; j < plain->d; j++) {
            double one = i == j ? w[i] * theta[i] : w[i] * theta[j] + w[j] * theta[i];
            squares += one * one;
            fourths += one * one * one * one;
        }
    for (size_t i = 0; i < plain->d; i++) {
        squares += w[i] * w[i];
        fourths += w[i] * w[i] * w[i] * w[i];
    }
    /* a sum of few Laplace noises has longer tails than the normal law: Cornish and Fisher */
    double z = 1.959964, excess = gaussian ? 0 : 3 * fourths / (squares * squares);
    z += (z * z * z - 3 * z) * excess / 24;
    return z * spread * sqrt(squares);
}

/* Is the noise small beside the matrix in every direction, so that the first order is enough? By
 * what was released. */
static bool is_firm(const normal_equations *plain, double spread)
{
    double squares = 0;
    for (size_t i = 0; i < plain->d; i++) {
        normal_equations one = *plain;
        memset(one.right, 0, sizeof one.right);
        one.right[i] = 1;
        if (!solve(&one, 0, 0))
            return false;
        for (size_t j = 0; j < plain->d; j++)
            squares += one.coefficient[j] * one.coefficient[j];
    }
    return spread * sqrt((double)plain->d * squares) < 0.25;
}

/* For each coefficient in its own units, the intercept last; null where the noise is too large. */
static json_t *coefficient_intervals(const matrix *columns, const normal_equations *noisy,
                                     double spread, bool gaussian)
{
    size_t features = columns->count - 1;
    double reach = columns->reach[features], start[MOST] = {0};
    normal_equations plain = *noisy;
    json_t *list = json_array();
    bool firm = is_firm(noisy, spread) && solve(&plain, 0, 0);
    start[features] = reach;
    for (size_t i = 0; i < features; i++)
        start[i] = -reach * columns->centre[i] / columns->reach[i];
    for (size_t i = 0; i <= features; i++) {
        double v[MOST] = {0}, at = i < features ? 0 : columns->centre[features];
        v[i] = reach / columns->reach[i];
        if (i == features)
            memcpy(v, start, sizeof v);
        for (size_t j = 0; firm && j <= features; j++)
            at += v[j] * plain.coefficient[j];
        double width = firm ? coefficient_width(&plain, v, spread, gaussian) : NAN;
        json_array_append_new(list, isfinite(width) ? json_pack("[f, f]", at - width, at + width)
                                                    : json_null());
    }
    return list;
}

/* Back from scaled columns to their own units; y = intercept + sum of slope times x. */
static void write_coefficients(brume_release *release, const matrix *columns,
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

static brume_status release_coefficients(brume_release *release, const matrix *columns,
                                         const brume_gram *gram, brume_error *error)
{
    int64_t entries[MOST * (MOST + 1) / 2] = {0};
    double spread, unit = unit_of(columns->count + 1);
    normal_equations all = {0};
    BRUME_TRY(add_noise(release, gram, release->delta > 0, entries, &spread, error));
    read_equations(entries, columns->count - 1, unit, &all);
    /* as wide as the noise makes an eigenvalue, about: public */
    double noise = spread / (unit * unit) * sqrt((double)(columns->count + 1));
    double ridge = brume_typed_or(release->words->ridge, noise), slack = 0;
    while (!solve(&all, ridge, slack)) /* noise may make it indefinite: what was released tells */
        slack = slack > 0 ? 2 * slack : noise > 0 ? noise : 1;
    brume_release_tell(release, "ridge", brume_json_real(ridge));
    brume_release_tell(
        release, "rows_interval_95",
        coefficient_intervals(columns, &all, spread / (unit * unit), release->delta > 0));
    write_coefficients(release, columns, &all);
    return BRUME_OK;
}

static brume_status release_ridge(brume_release *release, brume_error *error)
{
    const char *target = release->words->target;
    if (!target || strchr(target, ','))
        return brume_fail(error, BRUME_EARGUMENT, "for example --target income",
                          "regression by ridge needs '--target', one column");
    if (release->delta > 0)
        BRUME_TRY(brume_release_need_delta(release, error));
    return with_matrix(release, true, target, release_coefficients, error);
}

/* ---- a prediction ---- */

/* --at, one coordinate a column, in the columns' own units. */
static brume_status read_point(const brume_release *release, const matrix *columns, double *point,
                               brume_error *error)
{
    const char *text = release->words->at;
    if (!text)
        return brume_fail(error, BRUME_EARGUMENT, "the public point to predict at: --at 1,20",
                          "regression needs '--at'");
    char *storage = strdup(text), *rest = storage;
    if (!storage)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory");
    size_t count = 0;
    brume_status status = BRUME_OK;
    for (char *word; status == BRUME_OK && (word = strsep(&rest, ","));) {
        if (count < columns->count) {
            double reach = matrix_reach(columns, count);
            status = brume_read_real(word, "a coordinate of '--at'", &point[count], error);
            /* In units of the rows, as fill scales them. */
            point[count] *= unit_of(columns->count) / NORM / reach;
        }
        count++;
    }
    free(storage);
    if (status == BRUME_OK && count != columns->count)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'--at' has %zu coordinates for %zu columns", count, columns->count);
    return status;
}

static brume_status release_prediction(brume_release *release, const matrix *columns,
                                       const brume_gram *gram, brume_error *error)
{
    double point[MOST] = {0};
    BRUME_TRY(read_point(release, columns, point, error));
    double bound = brume_typed_or(release->words->beta, .1);
    if (!(bound >= .01 && bound <= 1))
        return brume_fail(error, BRUME_EARGUMENT, "it bounds the change of the logarithm",
                          "regression needs '--beta' in [0.01, 1]");
    double step = ldexp(1, ilogb(bound) - 12);
    double test = brume_typed_or(release->words->epsilon_test, release->epsilon / 2);
    if (!(test > 0 && test < release->epsilon))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'--epsilon-test' is %.17g, must be above 0 and below epsilon", test);
    brume_tested_prediction prediction = {gram, point, step};
    brume_tested tested = brume_tested_regression(&prediction);
    brume_proposal proposal = {.epsilon_test = test,
                               .epsilon_release = brume_subtract_down(release->epsilon, test),
                               .delta = release->delta,
                               .bound = (uint64_t)floor(bound / step) + 2};
    int64_t out = 0;
    uint64_t threshold = 0;
    double unused;
    BRUME_TRY(brume_stability_threshold(test, release->delta, &threshold, &unused, error));
    brume_release_tell(release, "threshold", json_integer((json_int_t)threshold));
    BRUME_TRY(brume_propose_test_release(&proposal, &tested, release->bits, &release->released,
                                         &out, error));
    release->cost_delta = release->delta;
    if (release->released)
        release->value = brume_json_real(exp((double)out * step));
    return BRUME_OK;
}

brume_status brume_release_regression(brume_release *release, brume_error *error)
{
    BRUME_TRY(brume_release_method(release, NULL, error));
    if (brume_release_is(release, "ridge"))
        return release_ridge(release, error);
    BRUME_TRY(brume_release_need_delta(release, error));
    return with_matrix(release, false, NULL, release_prediction, error);
}

/* ---- without privacy, for `brume statistic` ---- */

static brume_status look_at_gram(const brume_release *input, const matrix *columns,
                                 const brume_gram *gram, brume_look *look, brume_error *error)
{
    double point[MOST] = {0}, value;
    BRUME_TRY(read_point(input, columns, point, error));
    BRUME_TRY(brume_regression_value(gram, point, &value, error));
    if (look->beta > 2)
        return brume_fail(error, BRUME_EARGUMENT, "it bounds the change of the logarithm",
                          "regression takes a '--beta' of at most 2");
    look->value = brume_json_real(value);
    look->of = "its logarithm";
    return brume_regression_instability(gram, look->beta, &look->found, error);
}

brume_status brume_look_regression(const brume_release *input, brume_look *look, brume_error *error)
{
    matrix columns = {0};
    brume_gram *gram = NULL;
    char *words = NULL;
    brume_status status = copy_columns(input, &words, error);
    char *rest = words;
    if (status == BRUME_OK)
        status = read_columns(input, rest, &columns, error);
    if (status == BRUME_OK)
        status = brume_gram_open(columns.count, NORM, &gram, error);
    if (status == BRUME_OK)
        status = fill(input, &columns, false, gram, error);
    if (status == BRUME_OK)
        status = look_at_gram(input, &columns, gram, look, error);
    brume_gram_close(gram);
    free(words);
    return status;
}
