/* Gathering: sort the losses, merge equal ones, add up the Gaussians. O(n log n).
 *
 * Promise: a merged count is the exact sum, or within one rounding of it above 2^53; the mu of all
 * Gaussians is within 4 units; the failure is within `failure_error`, and exact for one draw. */
#include "accountant/solve/merge_terms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/law/law.h"
#include "base/error.h"

typedef struct item {
    brume_loss loss;
    long double count;
} item;

static int compare(const void *left, const void *right)
{
    const brume_loss *a = &((const item *)left)->loss, *b = &((const item *)right)->loss;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->a != b->a)
        return a->a < b->a ? -1 : 1;
    if (a->rate != b->rate)
        return a->rate < b->rate ? -1 : 1;
    return a->shift < b->shift ? -1 : a->shift > b->shift;
}

/* The loss a term enters with; kind NONE for a term known by its moments only. */
static brume_status loss_of(const brume_cost *cost, brume_loss *loss, bool *exact,
                            brume_error *error)
{
    *loss = (brume_loss){0};
    *exact = true;
    BRUME_TRY(brume_cost_check(cost, error));
    if (cost->loss != BRUME_ABSENT) {
        *loss = cost->law;
        if (loss->kind != BRUME_LOSS_POISSON_GAUSSIAN && loss->kind != BRUME_LOSS_POISSON_PURE &&
            loss->kind != BRUME_LOSS_POISSON_LAPLACE &&
            loss->kind != BRUME_LOSS_POISSON_DISCRETE_LAPLACE &&
            loss->kind != BRUME_LOSS_POISSON_GAUSSIAN_GROUP)
            loss->rate = 0;
        if (loss->kind != BRUME_LOSS_KARY && loss->kind != BRUME_LOSS_DISCRETE_LAPLACE &&
            loss->kind != BRUME_LOSS_POISSON_DISCRETE_LAPLACE &&
            loss->kind != BRUME_LOSS_DISCRETE_GAUSSIAN &&
            loss->kind != BRUME_LOSS_POISSON_GAUSSIAN_GROUP)
            loss->shift = 0;
        *exact = cost->loss == BRUME_EXACT;
        return BRUME_OK;
    }
    if (cost->pure != BRUME_ABSENT) {
        if (!(cost->epsilon >= 0 && cost->epsilon < INFINITY))
            return brume_fail(error, BRUME_EARGUMENT, NULL,
                              "'epsilon' is %.17g, must be a finite number not below 0",
                              cost->epsilon);
        *loss = (brume_loss){.kind = BRUME_LOSS_PURE, .a = cost->epsilon};
        *exact = cost->pure == BRUME_EXACT;
        return BRUME_OK;
    }
    *exact = false;
    if (cost->concentrated != BRUME_ABSENT || cost->renyi != BRUME_ABSENT)
        return BRUME_OK;
    if (cost->delta_failure == 1)
        return BRUME_OK;
    return brume_fail(error, BRUME_EUNSUPPORTED, NULL, "a term has no stated cost in any currency");
}

/* A sum of many long doubles of one sign, without accumulated rounding (Neumaier's way): off
 * by at most 2^-63 of itself for up to 2^32 of them. */
typedef struct long_sum {
    long double sum, rest;
} long_sum;

static void add(long_sum *to, long double x)
{
    long double sum = to->sum + x;
    to->rest += fabsl(to->sum) >= fabsl(x) ? (to->sum - sum) + x : (x - sum) + to->sum;
    to->sum = sum;
}

static brume_status merge(item *items, size_t count, uint64_t come, brume_merged *out,
                          brume_error *error)
{
    qsort(items, count, sizeof *items, compare);
    for (size_t i = 0; i < count;) {
        size_t end = i + 1;
        long double draws = items[i].count; /* exact up to 2^64 */
        brume_loss loss = items[i].loss;
        if (loss.kind == BRUME_LOSS_GAUSSIAN) { /* all Gaussians are one, of mu^2 = sum n mu^2 */
            long_sum square = {draws * (long double)loss.a * loss.a, 0};
            for (; end < count && items[end].loss.kind == BRUME_LOSS_GAUSSIAN; end++)
                add(&square, items[end].count * (long double)items[end].loss.a * items[end].loss.a);
            if (end > i + 1 || draws != 1)
                loss.a = (double)sqrtl(square.sum + square.rest);
            draws = 1;
        } else {
            for (; end < count && compare(&items[i], &items[end]) == 0; end++)
                draws += items[end].count;
            if (draws > 0x1p64L)
                return brume_fail(error, BRUME_EARGUMENT, NULL, "more than 2^64 draws of one kind");
        }
        BRUME_TRY(brume_law_open(&loss, (double)draws, come, &out->laws[out->law_count], error));
        brume_law *law = &out->laws[out->law_count++];
        if (law->orders_differ) {
            if (!out->symmetric && out->members != law->members)
                return brume_fail(error, BRUME_EUNSUPPORTED, "give every release the same group",
                                  "releases on a sample for groups of different sizes");
            out->symmetric = false;
            out->members = law->members;
        }
        out->bounded &= law->bounded;
        i = end;
    }
    return BRUME_OK;
}

/* 1 - prod (1 - delta_i)^n_i with both ends; `draws` of them can fail, `only` is the last one's
 * probability. */
static void settle_failure(const long_sum *log_survival, long double draws, double only,
                           brume_merged *out)
{
    if (draws == 0)
        return;
    if (draws == 1) { /* one draw fails with just that probability */
        out->failure = out->failure_ends.lower = out->failure_ends.upper = only;
        out->infinite = only >= 1;
        return;
    }
    /* logarithms by 2^-62, their sum by 2^-63, expm1 by 2^-62 and the double by one unit */
    out->failure = (double)-expm1l(log_survival->sum + log_survival->rest);
    out->failure_error = 4 * BRUME_UNIT;
    out->failure_ends.lower = out->failure * (1 - 16 * BRUME_UNIT);
    out->failure_ends.upper = fmin(1, out->failure * (1 + 16 * BRUME_UNIT));
    out->infinite = out->failure >= 1;
}

brume_status brume_merge_terms(const brume_term *terms, size_t count, uint64_t come,
                               brume_merged *out, brume_error *error)
{
    if (count == 0)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "nothing to compose: no term");
    brume_merged merged = {.symmetric = true, .bounded = true, .has_lower = true};
    item *items = calloc(count, sizeof *items);
    merged.laws = calloc(count, sizeof *merged.laws);
    brume_status status = BRUME_OK;
    if (!items || !merged.laws)
        status = brume_fail(error, BRUME_EMEMORY, NULL, "out of memory for %zu terms", count);
    size_t used = 0;
    long_sum log_survival = {0, 0};
    long double can_fail = 0;
    double only = 0;
    bool certain = false;
    for (size_t i = 0; i < count && status == BRUME_OK; i++) {
        const brume_term *term = &terms[i];
        brume_loss loss = {0};
        bool exact = false;
        if (term->count == 0 || term->count > INT64_MAX)
            status = brume_fail(error, BRUME_EARGUMENT, NULL,
                                "a count of %llu, must be from 1 to 2^63 - 1",
                                (unsigned long long)term->count);
        else
            status = loss_of(&term->cost, &loss, &exact, error);
        if (status != BRUME_OK)
            break;
        merged.has_lower &= exact;
        if (term->cost.delta_failure > 0) {
            only = term->cost.delta_failure;
            can_fail += (long double)term->count;
            if (only >= 1)
                certain = true; /* its logarithm is infinite */
            else
                add(&log_survival, (long double)term->count * log1pl(-(long double)only));
        }
        if (loss.kind == BRUME_LOSS_NONE)
            merged.curve_count++;
        else if (loss.kind != BRUME_LOSS_PURE || loss.a != 0)
            items[used++] = (item){.loss = loss, .count = (long double)term->count};
    }
    if (status == BRUME_OK)
        status = merge(items, used, come, &merged, error);
    for (size_t i = 0; i < merged.law_count; i++)
        if (merged.laws[i].lost > 0) {
            add(&log_survival, merged.laws[i].count * log1pl(-(long double)merged.laws[i].lost));
            can_fail += 2; /* not a probability that is known exactly */
        }
    free(items);
    if (certain) { /* whatever else is released */
        merged.failure = merged.failure_ends.lower = merged.failure_ends.upper = 1;
        merged.infinite = true;
    } else {
        settle_failure(&log_survival, can_fail, only, &merged);
    }
    if (status != BRUME_OK) {
        brume_merged_close(&merged);
        return status;
    }
    if (merged.curve_count > 0)
        merged.bounded = false;
    *out = merged;
    return BRUME_OK;
}

void brume_merged_close(brume_merged *merged)
{
    for (size_t i = 0; i < merged->law_count; i++)
        brume_law_close(&merged->laws[i]);
    free(merged->laws);
    merged->laws = NULL;
    merged->law_count = 0;
}

brume_status brume_each_order(const brume_term *terms, size_t count, brume_order_visit *visit,
                              void *context, brume_error *error)
{
    bool done = false;
    for (uint64_t come = 0; !done; come++) {
        brume_merged merged;
        BRUME_TRY(brume_merge_terms(terms, count, come, &merged, error));
        bool last = merged.symmetric || come >= merged.members;
        brume_status status = visit(context, come > 0, &merged, &done, error);
        brume_merged_close(&merged);
        BRUME_TRY(status);
        done |= last;
    }
    return BRUME_OK;
}
