/* Local sensitivity, smooth sensitivity and distance by their definitions. Promises:
 * brume/statistic/instability.h. Where few LS_k decide, they are tried one by one; else the
 * statistic's own smooth bound and distance are taken, which are exact but for their rounding. */
#include <brume/statistic/instability.h>

#include <math.h>

#include "base/error.h"
#include "statistic/interquartile.h"
#include "statistic/readable.h"
#include "statistic/smooth.h"

enum { MOST = 1000 };

/* LS_k of something, k <= MOST. */
typedef brume_status local_function(void *context, uint64_t k, uint64_t *out, brume_error *error);

/* max of exp(-t k) LS_k over k <= most; *complete if no larger k can matter, LS_k <= range. */
static brume_status scan(local_function *local, void *context, double range, double t,
                         uint64_t most, double *best, bool *complete, brume_error *error)
{
    *best = 0;
    for (uint64_t k = 0; k <= most; k++) {
        double weight = exp(-t * (double)k);
        uint64_t here;
        *complete = range * weight <= *best;
        if (*complete)
            return BRUME_OK;
        BRUME_TRY(local(context, k, &here, error));
        *best = fmax(*best, weight * (double)here);
    }
    return BRUME_OK;
}

static brume_status check_smoothness(double t, brume_error *error)
{
    double smaller;
    return brume_smooth_parameter(t, &smaller, error);
}

static const brume_instability constant = {
    .distance = UINT64_MAX, .local_exact = true, .smooth_exact = true};

/* ---- quantiles ---- */

static brume_status quantile_local(void *context, uint64_t k, uint64_t *out, brume_error *error)
{
    (void)error;
    *out = brume_quantile_local(context, k);
    return BRUME_OK;
}

/* LS_k under add-remove for any q, found in larger and larger pieces. */
typedef struct reached {
    const brume_quantile *quantile;
    uint64_t local[MOST + 1];
    uint64_t count;
} reached;

static brume_status reached_local(void *context, uint64_t k, uint64_t *out, brume_error *error)
{
    reached *at = context;
    if (k >= at->count) {
        uint64_t most = k < 8 ? 8 : 2 * k < MOST ? 2 * k : MOST;
        BRUME_TRY(brume_quantile_reach(at->quantile, most, at->local, error));
        at->count = most + 1;
    }
    *out = at->local[k];
    return BRUME_OK;
}

static brume_status reached_instability(const brume_quantile *quantile, double t, uint64_t bound,
                                        brume_instability *out, brume_error *error)
{
    reached at = {.quantile = quantile};
    double range = (double)brume_quantile_global(quantile);
    uint64_t local, here = 0, k = 0;
    brume_instability result = {.local_exact = true};
    bool complete;
    BRUME_TRY(reached_local(&at, 0, &local, error));
    result.local = (double)local;
    BRUME_TRY(scan(reached_local, &at, range, t, MOST, &result.smooth, &complete, error));
    if (!complete)
        BRUME_TRY(brume_quantile_smooth(quantile, t, &result.smooth, error));
    result.smooth_exact = complete;
    result.distance = UINT64_MAX;
    if (brume_quantile_global(quantile) > bound) {
        for (; k <= MOST; k++) {
            BRUME_TRY(reached_local(&at, k, &here, error));
            if (here > bound)
                break;
        }
        result.distance = k <= MOST ? k : brume_quantile_distance(quantile, bound);
        result.smooth_exact &= k <= MOST;
    }
    *out = result;
    return BRUME_OK;
}

brume_status brume_quantile_instability(const brume_quantile *quantile, double t, uint64_t bound,
                                        brume_instability *out, brume_error *error)
{
    BRUME_TRY(check_smoothness(t, error));
    bool single = quantile->rule.values_per_unit == 1;
    if (brume_quantile_global(quantile) == 0 || (!quantile->size_private && quantile->n == 0)) {
        *out = constant; /* one possible value; or no value to replace */
        return BRUME_OK;
    }
    if (quantile->rule.adjacency == BRUME_ADD_REMOVE && single && !quantile->exact_median)
        return reached_instability(quantile, t, bound, out, error);
    brume_instability result = {.local = (double)brume_quantile_local(quantile, 0),
                                .distance = brume_quantile_distance(quantile, bound),
                                .local_exact = single,
                                .smooth_exact = single};
    bool complete;
    BRUME_TRY(scan(quantile_local, brume_readable(quantile),
                   (double)brume_quantile_global(quantile), t, MOST, &result.smooth, &complete,
                   error));
    if (!complete)
        BRUME_TRY(brume_quantile_smooth(quantile, t, &result.smooth, error));
    *out = result;
    return BRUME_OK;
}

/* ---- interquartile range ---- */

static brume_status range_local(void *context, uint64_t k, uint64_t *out, brume_error *error)
{
    (void)error;
    *out = brume_interquartile_local(context, k);
    return BRUME_OK;
}

static int64_t rank_of(const brume_quantile *quartile, int64_t n)
{
    int64_t rank = (n * (int64_t)quartile->rule.numerator + 3) / 4; /* ceil(n/4), ceil(3n/4) */
    return n > 0 && rank == 0 ? 1 : rank;
}

static int64_t clamp(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* The range with v added: of rank r it has clamp(v, x_{r-1}, x_r). */
static uint64_t range_with(const brume_interquartile *range, int64_t v)
{
    int64_t n = (int64_t)range->low->n;
    int64_t first = rank_of(range->low, n + 1), second = rank_of(range->high, n + 1);
    int64_t low = clamp(v, quantile_at(range->low, first - 1), quantile_at(range->low, first));
    int64_t high = clamp(v, quantile_at(range->low, second - 1), quantile_at(range->low, second));
    return (uint64_t)high - (uint64_t)low;
}

/* The range without x_r; 0 of nothing. */
static uint64_t range_without(const brume_interquartile *range, int64_t r)
{
    int64_t n = (int64_t)range->low->n;
    if (n == 1)
        return 0;
    int64_t first = rank_of(range->low, n - 1), second = rank_of(range->high, n - 1);
    return quantile_gap(range->low, first + (first >= r), second + (second >= r));
}

static uint64_t apart(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* The largest change by one value added or removed. With v between two order statistics near the
 * ranks the range is linear in v, so that their ends are enough; a removal matters by its side of
 * the ranks alone. */
static uint64_t range_local_exact(const brume_interquartile *range)
{
    uint64_t value = brume_interquartile_value(range), worst = 0;
    int64_t n = (int64_t)range->low->n,
            near[2] = {(int64_t)range->low->rank, (int64_t)range->high->rank};
    for (int which = 0; which < 2; which++)
        for (int64_t r = near[which] - 2; r <= near[which] + 2; r++) {
            uint64_t with = apart(range_with(range, quantile_at(range->low, r)), value);
            worst = with > worst ? with : worst;
            if (r < 1 || r > n)
                continue;
            uint64_t without = apart(range_without(range, r), value);
            worst = without > worst ? without : worst;
        }
    int64_t ends[2] = {range->low->rule.lower, range->low->rule.upper};
    for (int end = 0; end < 2; end++) {
        uint64_t with = apart(range_with(range, ends[end]), value);
        worst = with > worst ? with : worst;
    }
    return worst;
}

brume_status brume_interquartile_instability(const brume_interquartile *range, double t,
                                             uint64_t bound, brume_instability *out,
                                             brume_error *error)
{
    BRUME_TRY(check_smoothness(t, error));
    bool single = range->one_value_per_unit, replace = !range->low->size_private;
    if (brume_interquartile_global(range) == 0 || (replace && range->low->n <= 1)) {
        *out = constant; /* also of one value, whose range is 0 */
        return BRUME_OK;
    }
    brume_instability result = {.local = (double)brume_interquartile_local(range, 0),
                                .distance = brume_interquartile_distance(range, bound),
                                .local_exact = single,
                                .smooth_exact = replace};
    if (single && !replace)
        result.local = (double)range_local_exact(range);
    bool complete;
    BRUME_TRY(scan(range_local, brume_readable(range), (double)brume_interquartile_global(range), t,
                   MOST, &result.smooth, &complete, error));
    if (!complete)
        BRUME_TRY(brume_interquartile_smooth(range, t, &result.smooth, error));
    *out = result;
    return BRUME_OK;
}

/* ---- triangles, answers, regression ---- */

static brume_status triangle_local(void *context, uint64_t k, uint64_t *out, brume_error *error)
{
    return brume_triangle_local(context, k, out, error);
}

brume_status brume_triangle_instability(const brume_graph *graph, double t, uint64_t bound,
                                        brume_instability *out, brume_error *error)
{
    BRUME_TRY(check_smoothness(t, error));
    brume_instability result = constant;
    uint64_t local;
    bool complete = false;
    BRUME_TRY(brume_triangle_local(graph, 0, &local, error));
    result.local = (double)local;
    BRUME_TRY(brume_triangle_distance(graph, bound, &result.distance, error));
    if (brume_graph_edges(graph) <= 10000) /* each LS_k is a visit of all pairs */
        BRUME_TRY(scan(triangle_local, brume_readable(graph), (double)brume_triangle_global(graph),
                       t, MOST, &result.smooth, &complete, error));
    if (!complete)
        BRUME_TRY(brume_triangle_smooth(graph, t, &result.smooth, error));
    *out = result;
    return BRUME_OK;
}

brume_status brume_answer_instability(uint64_t distance, double t, uint64_t bound,
                                      brume_instability *out, brume_error *error)
{
    BRUME_TRY(check_smoothness(t, error));
    brume_instability result = constant;
    result.local = distance == 0;
    result.smooth = distance == UINT64_MAX ? 0 : exp(-t * (double)distance);
    result.distance = bound < 1 ? distance : UINT64_MAX;
    *out = result;
    return BRUME_OK;
}

brume_status brume_regression_instability(const brume_gram *gram, double bound,
                                          brume_instability *out, brume_error *error)
{
    brume_instability result = {.local = INFINITY, .smooth = INFINITY};
    double least;
    BRUME_TRY(brume_gram_least_eigenvalue(gram, &least, error));
    least -= 0x1p-16; /* the error of the eigenvalue: a smaller one has a larger bound */
    if (least > 1)
        result.local = log(least / (least - 1)) / 2 * (1 + 0x1p-40);
    if (bound >= 0x1p-8)
        BRUME_TRY(brume_regression_distance(gram, bound, &result.distance, error));
    *out = result;
    return BRUME_OK;
}
