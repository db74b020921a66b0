/* What the statistics share: the input, the price and plain noise. The structs are in statistic.h.
 */
#ifndef BRUME_QUERY_STATISTIC_RELEASE_H
#define BRUME_QUERY_STATISTIC_RELEASE_H

#include <math.h>

#include <brume/decimal.h>
#include <brume/mechanism/stability.h>

#include "base/error.h"
#include "base/json_real.h"
#include "base/read_number.h"
#include "base/text.h"
#include "query/statistic/statistic.h"

/* A number that was typed, or `otherwise`. */
static inline double brume_typed_or(double typed, double otherwise)
{
    return isnan(typed) ? otherwise : typed;
}

/* Add a public field; takes over `value`. All of them are functions of the words typed and of what
 * is released. */
void brume_release_tell(brume_release *release, const char *name, json_t *value);

/* --method, or `standard` where it was not given (NULL: the first in release.def). EUNSUPPORTED for
 * another word, naming those there are; EARGUMENT for an option that the method does not take,
 * naming where it applies. */
BRUME_MUST_USE brume_status brume_release_method(brume_release *release, const char *standard,
                                                 brume_error *error);
bool brume_release_is(const brume_release *release, const char *method);

/* The noise of the method smooth: --noise, else laplace where a delta was typed and cauchy where
 * not. EARGUMENT for an option that goes with another noise; EUNSUPPORTED for gaussian. */
BRUME_MUST_USE brume_status brume_release_noise(const brume_release *release, const char **noise,
                                                brume_error *error);

/* The price of log-normal noise: --rho, or the epsilon^2/2 that --epsilon stands for. EARGUMENT for
 * both. What is shown of it is not above it, and what is drawn costs no more than what is shown. */
BRUME_MUST_USE brume_status brume_release_rho(const brume_release_words *words,
                                              brume_decimal *price, double *shown,
                                              brume_error *error);

/* delta must be given (and the cost is it), or must not be. */
BRUME_MUST_USE brume_status brume_release_need_delta(const brume_release *release,
                                                     brume_error *error);

/* epsilon divided among n equal parts, rounded down. */
double brume_release_part(const brume_release *release, double n);

/* A column of numbers on a public grid: integers in [low, high], number = anchor + step * integer.
 * Missing values are dropped under add-remove, where the number of rows is private, and counted at
 * the lower bound under replace, where it is public. Numbers outside the bounds are clamped. */
typedef struct brume_grid_column {
    double lower, upper, anchor, step;
    int decimals; /* of its values before they go on the grid; -1: as they are */
    int64_t low, high;
    int64_t *values;
    size_t count;
} brume_grid_column;

/* The bounds of a column from --bounds, its grid from --step or the bounds (2^resolution steps),
 * its values from the file. `from_zero`: the anchor is 0, for sums; else it is the lower bound. */
BRUME_MUST_USE brume_status brume_release_column(const brume_release *release, const char *name,
                                                 int resolution, bool from_zero,
                                                 brume_grid_column *out, brume_error *error);
void brume_release_column_free(brume_grid_column *column);
double brume_release_number(const brume_grid_column *column, double steps);

/* Bounds of a column: from `--bounds NAME=LO..HI`, else from `--bounds LO..HI`; and how many
 * decimals its values have: as many as the bounds are typed with. Those of a registered dataset
 * are rounded as it was registered, and no more: -1. */
BRUME_MUST_USE brume_status brume_release_bounds(const brume_release *release, const char *name,
                                                 double *lower, double *upper, int *decimals,
                                                 brume_error *error);

/* `number` with so many decimals, halves away from zero; itself where decimals is -1. */
double brume_release_round(double number, int decimals);

/* A column by --column (or `name`); BRUME_EUNKNOWN with the nearest name. */
BRUME_MUST_USE brume_status brume_release_find(const brume_release *release, const char *name,
                                               size_t *column, brume_error *error);

/* value + discrete Laplace noise for that sensitivity at epsilon; *width is the error that is
 * exceeded with probability at most 5 %. Both in steps. Sensitivity 0: the value itself. */
BRUME_MUST_USE brume_status brume_release_noisy(brume_release *release, int64_t value,
                                                double sensitivity, double epsilon, int64_t *out,
                                                double *width, brume_error *error);

/* Smooth sensitivity by --noise, --smoothness and the price; *out in steps. `global` is the public
 * bound on the sensitivity. */
BRUME_MUST_USE brume_status brume_release_smooth(
    brume_release *release, int64_t value, double global,
    brume_status (*smooth)(const void *statistic, double t, double *out, brume_error *error),
    const void *statistic, int64_t *out, brume_error *error);

/* Propose-test-release by --beta and --epsilon-test; *out in steps, where released. With
 * '--fallback global', where the test fails, by the sensitivity `global` (in steps) for the same
 * price. */
BRUME_MUST_USE brume_status brume_release_tested(brume_release *release, const brume_tested *tested,
                                                 double global, double step, int64_t *out,
                                                 brume_error *error);
brume_status brume_release_quantile(brume_release *release, brume_error *error);
brume_status brume_release_interquartile(brume_release *release, brume_error *error);
brume_status brume_release_keys(brume_release *release, brume_error *error);
brume_status brume_release_triangles(brume_release *release, brume_error *error);
brume_status brume_release_local(brume_release *release, brume_error *error);
brume_status brume_release_gram(brume_release *release, brume_error *error);
brume_status brume_release_covariance(brume_release *release, brume_error *error);
brume_status brume_release_regression(brume_release *release, brume_error *error);

/* --beta in steps. A column's values are rounded to the grid, so that their differences may be off
 * by a step: one more is allowed where a step is less than 1. */
uint64_t brume_look_bound(const brume_look *look);

/* The statistics themselves, without a release: `input` has the words, the file and
 * the adjacency. */
brume_status brume_look_quantile(const brume_release *input, brume_look *look, brume_error *error);
brume_status brume_look_interquartile(const brume_release *input, brume_look *look,
                                      brume_error *error);
brume_status brume_look_mode(const brume_release *input, brume_look *look, brume_error *error);
brume_status brume_look_triangles(const brume_release *input, brume_look *look, brume_error *error);
brume_status brume_look_regression(const brume_release *input, brume_look *look,
                                   brume_error *error);

/* A value x that becomes y, both within `reach` r of the centre of a range h, moves the sum by
 * |x-y| and the squares by |x^2-y^2|. In shares of what each of them moves by at most (h, and r^2)
 * both together move by at most (1 + r/2h)^2, and 2: with a = x/r, b = y/r it is |a-b|(r/h +
 * |a+b|), which is largest for a = 1 and b = -r/2h. Rounded up. */
double brume_release_moments_share_up(int64_t range, int64_t reach);

#endif
