/* Smooth sensitivity of a quantile: max over k of exp(-t k) L_k.
 *
 * General case. Fix the class c of j - m modulo R. The left ends of the class are L_0 > L_1 > ...,
 * the right ends J_0 < J_1 < ..., R apart, and the window (L_a, J_b) has k = a + b (a + b - 1 for
 * c = 0). Its value v(a,b) = (x_{J_b} - x_{L_a}) exp(-t k) satisfies, for a < a' and b < b',
 *     v(a,b') v(a',b) >= v(a,b) v(a',b'),
 * because (d-p)(c-q) - (c-p)(d-q) = (d-c)(p-q) for the four order statistics; so the best b of a
 * row falls as a grows, and divide and conquer over the rows takes O(n log n). The inequality holds
 * for any positive weights in place of the exponentials, so the rounding of the table of weights
 * counts once; the rounding of a product counts once a level: a row's choice that is best up to a
 * factor 1 - h leaves to the rows beyond it a range that is best up to the same factor.
 *
 * Windows so wide that even the whole range could not beat a value already seen are left out: this
 * is what makes the usual case cost O(1/t log 1/t). */
#include "statistic/quantile.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "statistic/smooth.h"

typedef struct smooth_search {
    const brume_quantile *quantile;
    int64_t left, right;  /* L_0 and J_0 */
    int64_t step;         /* R */
    int64_t shift;        /* k = a + b + shift */
    const double *weight; /* exp(-t k) */
    double step_back;     /* exp(t) */
    double best;
} smooth_search;

static double gap_of(const smooth_search *at, int64_t a, int64_t b)
{
    return (double)quantile_gap(at->quantile, at->left - a * at->step, at->right + b * at->step);
}

/* The best b of row a among least..most; also raises at->best. */
static int64_t best_of_row(smooth_search *at, int64_t a, int64_t least, int64_t most)
{
    double best = -1;
    int64_t choice = least;
    int64_t low_index = at->left - a * at->step;
    uint64_t low = (uint64_t)quantile_at(at->quantile, low_index);
    for (int64_t b = least; b <= most; b++) {
        uint64_t high = (uint64_t)quantile_at(at->quantile, at->right + b * at->step);
        double value = (double)(high - low) * at->weight[b];
        if (value > best) {
            best = value;
            choice = b;
        }
    }
    double value = best * at->weight[a];
    if (at->shift < 0) /* the empty window a = b = 0 has gap 0, so k = -1 never counts */
        value *= at->step_back;
    if (value > at->best)
        at->best = value;
    return choice;
}

static void conquer(smooth_search *at, int64_t first_row, int64_t last_row, int64_t least,
                    int64_t most)
{
    while (first_row <= last_row) {
        int64_t middle = first_row + (last_row - first_row) / 2;
        int64_t choice = best_of_row(at, middle, least, most);
        conquer(at, middle + 1, last_row, least,
                choice); /* deeper on the left: nearer right ends */
        last_row = middle - 1;
        least = choice;
    }
}

/* Number of steps until an end of the class lies on the bound; an end that is beyond it is so by
 * less than a step, and the quotient is 0. */
static int64_t rows_of(const smooth_search *at)
{
    return (at->left + at->step - 1) / at->step;
}

static int64_t columns_of(const smooth_search *at)
{
    int64_t beyond = (int64_t)at->quantile->n + 1 - at->right;
    return (beyond + at->step - 1) / at->step;
}

static void place(smooth_search *at, int64_t class)
{
    int64_t rank = (int64_t)at->quantile->rank;
    at->left = class == 0 ? rank : rank - (at->step - class);
    at->right = rank + class;
    at->shift = class == 0 ? -1 : 0;
}

/* A first value from a few windows, so that hopelessly wide ones can be left out. */
static double first_guess(smooth_search *at, double t)
{
    double best = 0;
    int64_t rows = rows_of(at), columns = columns_of(at);
    for (int64_t size = 1; size < 2 * (rows + columns) + 2; size *= 2) {
        int64_t a[3] = {size, 0, size / 2}, b[3] = {0, size, size - size / 2};
        for (int i = 0; i < 3; i++) {
            a[i] = a[i] < rows ? a[i] : rows;
            b[i] = b[i] < columns ? b[i] : columns;
            double value = gap_of(at, a[i], b[i]) * exp(-t * (double)(a[i] + b[i] + at->shift));
            if (value > best)
                best = value;
        }
    }
    return best;
}

/* The median under add-remove: every L_k is known at once. */
static double median_smooth(const brume_quantile *quantile, double t, int64_t most)
{
    double best = 0;
    for (int64_t k = 0; k <= most && (uint64_t)k <= quantile->n; k++) {
        double value = (double)brume_quantile_local(quantile, (uint64_t)k) * exp(-t * (double)k);
        if (value > best)
            best = value;
    }
    return best;
}

static double general_smooth(const brume_quantile *quantile, double t, int64_t most,
                             const double *weight)
{
    smooth_search at = {.quantile = quantile,
                        .step = (int64_t)quantile->rule.values_per_unit,
                        .weight = weight,
                        .step_back = exp(t)};
    uint64_t emptying = brume_quantile_emptying(quantile);
    if (emptying != UINT64_MAX)
        at.best = (double)brume_quantile_global(quantile) * exp(-t * (double)emptying);
    for (int64_t class = 0; class < at.step; class ++) {
        place(&at, class);
        int64_t rows = rows_of(&at), columns = columns_of(&at);
        conquer(&at, 0, rows < most ? rows : most, 0, columns < most ? columns : most);
    }
    return at.best;
}

brume_status brume_quantile_smooth(const brume_quantile *quantile, double t, double *out,
                                   brume_error *error)
{
    double smaller;
    BRUME_TRY(brume_smooth_parameter(t, &smaller, error));
    double range = (double)brume_quantile_global(quantile);
    if (range == 0) {
        *out = 0;
        return BRUME_OK;
    }
    smooth_search at = {.quantile = quantile, .step = (int64_t)quantile->rule.values_per_unit};
    place(&at, 0);
    double guess = quantile->exact_median ? 0 : first_guess(&at, smaller);
    if (quantile->exact_median)
        for (uint64_t k = 0; k < 64; k++) {
            double value = (double)brume_quantile_local(quantile, k) * exp(-smaller * (double)k);
            guess = value > guess ? value : guess;
        }
    if (guess < BRUME_SMOOTH_FLOOR)
        guess = BRUME_SMOOTH_FLOOR;
    /* Beyond `most`, range exp(-t k) < guess, with a unit to spare for rounding: k <= a + b + 0
     * and k >= a, b, so both ends may be cut there. */
    double reach = log(range / guess) / smaller + 3;
    int64_t n = (int64_t)quantile->n + 1;
    int64_t most = reach < (double)n ? (int64_t)reach : n;
    double best;
    if (quantile->exact_median) {
        best = median_smooth(quantile, smaller, most);
    } else {
        double *weight = calloc((size_t)most + 1, sizeof *weight);
        if (!weight)
            return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for %lld weights",
                              (long long)most);
        for (int64_t k = 0; k <= most; k++)
            weight[k] = exp(-smaller * (double)k);
        best = general_smooth(quantile, smaller, most, weight);
        free(weight);
    }
    *out = brume_smooth_enlarge_upper(best);
    return BRUME_OK;
}
