/* A quantile by the exponential mechanism on a grid.
 *
 * The badness d b(v), d the denominator of q, is an integer and constant on runs: the distinct
 * values and the gaps between them. A run is drawn with weight (length) exp(-eta b), exactly, and a
 * point in it uniformly. */
#include "statistic/quantile.h"

#include <stdlib.h>

#include <brume/noise/primitive.h>
#include <brume/noise/select.h>

#include "base/error.h"
#include "number/rounding.h"

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
