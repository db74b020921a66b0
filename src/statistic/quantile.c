/* Quantile: value, local sensitivity at distance k, distance to sensitive data.
 *
 * General case. L_k is the widest x_{i+w} - x_i, w = (k+1) R, over the windows i <= m <= i + w, R
 * the values per unit; where the size is private, the whole range once k units less one leave no
 * data.
 *
 * The median under add-remove with R = 1 is exact and simpler than that: a pair (i, j) can be made
 * adjacent order statistics around the median at a cost that depends on j alone (when i + j > n) or
 * on i alone, so for each k the widest pair is one of two nested ones. */
#include "statistic/quantile.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <brume/noise/primitive.h>
#include <brume/noise/select.h>
#include <brume/statistic/instability.h>
#include <brume/statistic/quantile.h>

#include "base/error.h"
#include "base/sort.h"
#include "number/rounding.h"
#include "statistic/smooth.h"

static brume_status check_rule(const brume_quantile_rule *rule, brume_error *error)
{
    if (rule->adjacency != BRUME_ADD_REMOVE && rule->adjacency != BRUME_REPLACE)
        return brume_fail(error, BRUME_EARGUMENT, "use add-remove or replace",
                          "a quantile is not defined under this 'adjacency'");
    if (rule->denominator == 0 || rule->denominator > UINT64_C(1) << 20 ||
        rule->numerator > rule->denominator)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'q' must be a ratio in [0, 1]");
    if (rule->values_per_unit == 0 || rule->values_per_unit > UINT32_MAX)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'values_per_unit' is %llu, must be in [1, 2^32 - 1]",
                          (unsigned long long)rule->values_per_unit);
    if (rule->lower > rule->upper || (uint64_t)rule->upper - (uint64_t)rule->lower > UINT64_C(1)
                                                                                         << 62)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "the bounds must be ordered and at most 2^62 steps apart");
    return BRUME_OK;
}

brume_status brume_quantile_open(const brume_quantile_rule *rule, const int64_t *values, size_t n,
                                 brume_quantile **out, brume_error *error)
{
    BRUME_TRY(check_rule(rule, error));
    if (n > UINT64_C(1) << 40)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "more than 2^40 values");
    brume_quantile *quantile = malloc(sizeof *quantile);
    int64_t *sorted = malloc((n + 1) * sizeof *sorted);
    if (!quantile || !sorted) {
        free(quantile);
        free(sorted);
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for %zu values", n);
    }
    for (size_t i = 0; i < n; i++)
        sorted[i] = values[i] < rule->lower   ? rule->lower
                    : values[i] > rule->upper ? rule->upper
                                              : values[i];
    brume_status status = brume_sort_integers(sorted, n, rule->lower, rule->upper, error);
    if (status != BRUME_OK) {
        free(quantile);
        free(sorted);
        return status;
    }
    /* ceil(q n): n <= 2^40 and the denominator <= 2^20, so nothing overflows. */
    size_t rank = (n * rule->numerator + rule->denominator - 1) / rule->denominator;
    *quantile = (brume_quantile){
        .rule = *rule,
        .n = n,
        .rank = n == 0      ? 0
                : rank == 0 ? 1
                            : rank,
        .exact_median = rule->adjacency == BRUME_ADD_REMOVE && rule->values_per_unit == 1 &&
                        2 * rule->numerator == rule->denominator,
        .size_private = rule->adjacency == BRUME_ADD_REMOVE || rule->values_per_unit > 1,
        .sorted = sorted,
    };
    *out = quantile;
    return BRUME_OK;
}

void brume_quantile_close(brume_quantile *quantile)
{
    if (!quantile)
        return;
    explicit_bzero(quantile->sorted, quantile->n * sizeof *quantile->sorted);
    free(quantile->sorted);
    free(quantile);
}

int64_t brume_quantile_value(const brume_quantile *quantile)
{
    return quantile_at(quantile, (int64_t)quantile->rank);
}

uint64_t brume_quantile_global(const brume_quantile *quantile)
{
    return (uint64_t)quantile->rule.upper - (uint64_t)quantile->rule.lower;
}

/* The least k at which all data is gone and the whole range is possible; UINT64_MAX under the
 * public size, where no number of replacements empties the data. */
static uint64_t quantile_emptying(const brume_quantile *quantile)
{
    if (!quantile->size_private)
        return UINT64_MAX;
    if (quantile->exact_median)
        return quantile->n;
    uint64_t units = (quantile->n + quantile->rule.values_per_unit - 1) /
                     quantile->rule.values_per_unit;
    return units == 0 ? 0 : units - 1;
}

/* The median under add-remove: x_j - x_{n+1-j} is within reach at distance 2j - n - 2, and
 * x_{n-i} - x_i at distance n - 1 - 2i. */
static uint64_t median_local(const brume_quantile *quantile, uint64_t k)
{
    int64_t n = (int64_t)quantile->n;
    if (k >= quantile->n)
        return brume_quantile_global(quantile);
    int64_t distance = (int64_t)k;
    int64_t j = (distance + n + 2) / 2;
    int64_t i = (n - distance) / 2; /* ceil((n - 1 - k) / 2) */
    /* 2j >= n + 1 and 2i <= n: both pairs are in order. */
    uint64_t outward = quantile_gap(quantile, n + 1 - j, j);
    uint64_t inward = quantile_gap(quantile, i, n - i);
    return outward > inward ? outward : inward;
}

uint64_t brume_quantile_local(const brume_quantile *quantile, uint64_t k)
{
    if (quantile->exact_median)
        return median_local(quantile, k);
    uint64_t per_unit = quantile->rule.values_per_unit;
    if (k >= quantile_emptying(quantile) || k >= quantile->n / per_unit)
        return brume_quantile_global(quantile); /* (k+1) R > n: a window from bound to bound */
    int64_t width = (int64_t)((k + 1) * per_unit), rank = (int64_t)quantile->rank;
    uint64_t widest = 0;
    for (int64_t j = 0; j <= width; j++) {
        uint64_t gap = quantile_gap(quantile, rank + j - width, rank + j);
        if (gap > widest)
            widest = gap;
    }
    return widest;
}

uint64_t brume_quantile_distance(const brume_quantile *quantile, uint64_t bound)
{
    if (brume_quantile_global(quantile) <= bound)
        return UINT64_MAX;
    /* L_k grows with k and reaches the whole range at the latest for k = n. */
    uint64_t low = 0, high = 1;
    if (brume_quantile_local(quantile, 0) > bound)
        return 0;
    while (brume_quantile_local(quantile, high) <= bound) {
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (brume_quantile_local(quantile, middle) > bound)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* A quantile by the exponential mechanism on a grid.
 *
 * The badness d b(v), d the denominator of q, is an integer and constant on runs: the distinct
 * values and the gaps between them. A run is drawn with weight (length) exp(-eta b), exactly, and a
 * point in it uniformly. */

typedef struct exponential_runs {
    int64_t *first;   /* least integer of each run */
    uint64_t *length; /* how many integers it has */
    int64_t *utility; /* -d b, at least -2^60 */
    size_t count;
} exponential_runs;

double brume_quantile_exponential_rate(const brume_quantile_rule *rule, double epsilon)
{
    /* 2 R kappa eta <= epsilon, kappa = max(a, d-a)/d or 1: every step down. For q = 0 and q = 1 a
     * unit moves the badness one way only, or by a difference of two counts of R values each: half
     * of that range (proofs/query-price.md). */
    uint64_t a = rule->numerator, d = rule->denominator;
    uint64_t larger = a > d - a ? a : d - a;
    double per_unit = (larger == d ? 1 : 2) * (double)rule->values_per_unit;
    if (rule->adjacency == BRUME_REPLACE)
        return brume_divide_down(epsilon, per_unit);
    return brume_divide_down(brume_multiply_down(epsilon, (double)d),
                             brume_multiply_up(per_unit, (double)larger));
}

static void add_run(exponential_runs *all, const brume_quantile *quantile, int64_t first,
                    int64_t last, uint64_t below, uint64_t up_to)
{
    if (first > last)
        return;
    /* n <= 2^40 and d <= 2^20: no product exceeds 2^60. */
    uint64_t d = quantile->rule.denominator, target = quantile->rule.numerator * quantile->n;
    uint64_t badness = 0;
    if (d * below > target)
        badness = d * below - target;
    else if (target > d * up_to)
        badness = target - d * up_to;
    all->first[all->count] = first;
    all->length[all->count] = (uint64_t)last - (uint64_t)first + 1;
    all->utility[all->count++] = -(int64_t)badness;
}

static void free_runs(exponential_runs *all)
{
    free(all->first);
    free(all->length);
    free(all->utility);
}

static brume_status list_runs(const brume_quantile *quantile, exponential_runs *all,
                              brume_error *error)
{
    size_t n = quantile->n, distinct = 0;
    for (size_t i = 0; i < n; i++)
        distinct += i == 0 || quantile->sorted[i] != quantile->sorted[i - 1];
    all->first = malloc((2 * distinct + 1) * sizeof *all->first);
    all->length = malloc((2 * distinct + 1) * sizeof *all->length);
    all->utility = malloc((2 * distinct + 1) * sizeof *all->utility);
    if (!all->first || !all->length || !all->utility)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for %zu values", n);
    int64_t next = quantile->rule.lower;
    for (size_t i = 0; i < n;) {
        size_t end = i;
        int64_t value = quantile->sorted[i];
        while (end < n && quantile->sorted[end] == value)
            end++;
        if (value > next)
            add_run(all, quantile, next, value - 1, i, i);
        add_run(all, quantile, value, value, i, end);
        next = value < INT64_MAX ? value + 1 : value;
        i = end;
    }
    if (n == 0 || quantile->sorted[n - 1] < quantile->rule.upper)
        add_run(all, quantile, next, quantile->rule.upper, n, n);
    return BRUME_OK;
}

brume_status brume_quantile_exponential(const brume_quantile *quantile, double epsilon,
                                        brume_bits *bits, int64_t *out, brume_error *error)
{
    if (!(epsilon >= 0x1p-30 && epsilon <= 700))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'epsilon' is %.17g, must be in [2^-30, 700]", epsilon);
    double eta = brume_quantile_exponential_rate(&quantile->rule, epsilon);
    exponential_runs all = {0};
    size_t choice = 0;
    uint64_t offset = 0;
    brume_status status = list_runs(quantile, &all, error);
    if (status == BRUME_OK)
        status = brume_select_run(bits, eta, all.length, all.utility, quantile->rule.denominator,
                                  all.count, &choice, error);
    if (status == BRUME_OK)
        status = brume_sample_below(bits, all.length[choice], &offset, error);
    if (status == BRUME_OK)
        *out = (int64_t)((uint64_t)all.first[choice] + offset);
    free_runs(&all);
    return status;
}

/* The exact local sensitivities of a quantile under add-remove, for any q.
 *
 * Data of N values has the quantile at rank m(N) = max(1, ceil(q N)), m(0) = 0. Between data of N'
 * values and a neighbour the quantile moves across one gap of adjacent order statistics, the one
 * with L values on its left: L = m(N'+1) - 1 for an added value, L = m(N'-1) for a removed one. So
 * one change can move the quantile by the gap with L values on its left and U on its right
 * if and only if (L, U) is one of these pairs, N' = L + U.
 *
 * To make x_i and x_{i+w+1} adjacent takes w removals; to have L values on the left in place of i
 * and U on the right in place of u = N - i - w takes |L - i| + |U - u| changes, at the bounds. So
 * LS_k is the widest x_{i+w+1} - x_i with w + min over pairs of (|L - i| + |U - u|) <= k.
 *
 * Pairs with L >= i and U >= u are enough: where L < i, the window that begins at L has the same
 * end, is wider and costs the same, because the i - L values are removed either way; and where
 * U < u the one that ends U values before the last. Such a pair costs w + N' - (N - w), so that the
 * least N' is sought. For a fixed w it does not fall as i moves away from the L of the pair of size
 * N - w: on the right of it U >= u holds for all sizes from N - w on and the least L >= i is
 * sought, on the left L >= i holds and the least U >= u is. */

static int64_t rank_of(const brume_quantile *quantile, int64_t n)
{
    uint64_t p = quantile->rule.numerator, d = quantile->rule.denominator;
    if (n <= 0)
        return 0;
    int64_t rank = (int64_t)(((uint64_t)n * p + d - 1) / d);
    return rank == 0 ? 1 : rank;
}

/* Is there a pair of that size with L >= i and U >= u? If there is, larger sizes have one, too:
 * neither L nor U falls as the size grows. */
static bool has_pair(const brume_quantile *quantile, int64_t size, int64_t i, int64_t u)
{
    int64_t added = rank_of(quantile, size + 1) - 1, removed = rank_of(quantile, size - 1);
    return (added >= i && size - added >= u) || (removed >= i && size - removed >= u);
}

/* Windows of width w from i on in one direction, as far as they cost at most `most`. */
static void walk(const brume_quantile *quantile, int64_t w, int64_t i, int64_t direction,
                 int64_t most, uint64_t *local)
{
    int64_t rest = (int64_t)quantile->n - w, size = rest;
    for (; i >= 0 && i <= rest; i += direction) {
        while (!has_pair(quantile, size, i, rest - i))
            if (w + ++size - rest > most)
                return;
        uint64_t gap = quantile_gap(quantile, i, i + w + 1), *at = &local[w + size - rest];
        *at = gap > *at ? gap : *at;
    }
}

brume_status brume_quantile_reach(const brume_quantile *quantile, uint64_t most, uint64_t *local,
                                  brume_error *error)
{
    if (quantile->rule.adjacency != BRUME_ADD_REMOVE || quantile->rule.values_per_unit != 1)
        return brume_fail(error, BRUME_EARGUMENT, "use add-remove and one value per unit",
                          "exact local sensitivities are not known for this 'adjacency'");
    if (most > 1000)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'most' is %llu, must be at most 1000",
                          (unsigned long long)most);
    for (uint64_t k = 0; k <= most; k++)
        local[k] = 0;
    int64_t n = (int64_t)quantile->n;
    for (int64_t w = 0; w <= n && w <= (int64_t)most; w++) {
        int64_t start = rank_of(quantile, n - w + 1) - 1; /* L of the pair of that size */
        walk(quantile, w, start, 1, (int64_t)most, local);
        walk(quantile, w, start - 1, -1, (int64_t)most, local);
    }
    for (uint64_t k = 1; k <= most; k++)
        local[k] = local[k] > local[k - 1] ? local[k] : local[k - 1];
    return BRUME_OK;
}

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
    uint64_t emptying = quantile_emptying(quantile);
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
