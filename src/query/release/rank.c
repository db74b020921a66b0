/* Private quantiles of a list of grid integers, by the exponential mechanism over all grid points.
 *
 * Promise: the law in the header, exactly. Points with equal utility are grouped in runs: each
 * distinct value is a run of one point, each gap between values a run of its length. A run is
 * chosen with weight length * exp(rate * u) by brume_select_run, then a point of it uniformly. */
#include "query/release/rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <brume/noise/primitive.h>
#include <brume/noise/select.h>

#include "base/error.h"
#include "base/sort.h"
#include "number/wide.h"
#include "query/limit/clip.h"

/* Sorted values, and what the first i of them weigh together; NULL: that is i. Equal values may be
 * one that weighs as much as all of them. */
typedef struct ranked {
    int64_t *values;
    uint64_t *upto;
    size_t count;
    bool weighted; /* in parts of a row; else each of the values that were given weighs 1 */
} ranked;

static uint64_t weight_of(const ranked *all, size_t begin, size_t end)
{
    return all->upto ? all->upto[end] - all->upto[begin] : end - begin;
}

/* -max(0, below - qN, qN - upto) in units of 1/den of a weight. */
static int64_t utility(uint64_t below, uint64_t upto, uint64_t count, int64_t num, int64_t den)
{
    const brume_i128 most = (brume_i128)1 << 62;
    brume_i128 target = (brume_i128)num * (brume_i128)count;
    brume_i128 over = (brume_i128)den * (brume_i128)below - target;
    brume_i128 under = target - (brume_i128)den * (brume_i128)upto;
    brume_i128 worst = over > under ? over : under;
    return worst > most ? (int64_t)-most : worst > 0 ? (int64_t)-worst : 0;
}

/* Runs in the order of their points, which leave none out. */
typedef struct runs {
    uint64_t *length; /* never 0 */
    int64_t *utility;
    size_t count;
} runs;

/* Room for the runs of so many values. */
static brume_status open_runs(size_t values, runs *out, brume_error *error)
{
    size_t room = 2 * values + 1;
    *out = (runs){malloc(room * sizeof *out->length), malloc(room * sizeof *out->utility), 0};
    return out->length && out->utility ? BRUME_OK
                                       : brume_no_memory(error, "the values of a quantile");
}

static void close_runs(runs *all)
{
    free(all->length);
    free(all->utility);
}

static void add_run(runs *all, uint64_t length, int64_t utility_of_run)
{
    if (length == 0)
        return;
    all->length[all->count] = length;
    all->utility[all->count++] = utility_of_run;
}

/* The values from `begin` to `end`, all within low .. high. */
static void make_runs(runs *all, const ranked *list, size_t begin, size_t end, int64_t low,
                      int64_t high, int64_t num, int64_t den)
{
    const int64_t *values = list->values;
    uint64_t whole = weight_of(list, begin, end);
    all->count = 0;
    int64_t next = low; /* first point not yet in a run */
    bool done = false;  /* high itself is in a run */
    for (size_t i = begin; i < end;) {
        size_t after = i;
        while (after < end && values[after] == values[i])
            after++;
        uint64_t below = weight_of(list, begin, i), upto = weight_of(list, begin, after);
        add_run(all, (uint64_t)values[i] - (uint64_t)next, utility(below, below, whole, num, den));
        add_run(all, 1, utility(below, upto, whole, num, den));
        done = values[i] == high;
        next = done ? high : values[i] + 1;
        i = after;
    }
    if (!done)
        add_run(all, (uint64_t)high - (uint64_t)next + 1, utility(whole, whole, whole, num, den));
}

static brume_status choose(brume_bits *bits, const runs *all, int64_t low, int64_t den, double rate,
                           int64_t *out, brume_error *error)
{
    size_t chosen = 0;
    uint64_t within = 0;
    BRUME_TRY(brume_select_run(bits, rate, all->length, all->utility, (uint64_t)den, all->count,
                               &chosen, error));
    BRUME_TRY(brume_sample_below(bits, all->length[chosen], &within, error));
    uint64_t first = (uint64_t)low;
    for (size_t i = 0; i < chosen; i++)
        /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): chosen is below count */
        first += all->length[i];
    *out = (int64_t)(first + within);
    return BRUME_OK;
}

/* What weighs 1 is a row, or with weights a part of one: the rate is per row. */
static double rate_per_weight(const ranked *list, double rate)
{
    return list->weighted ? ldexp(rate, -BRUME_LIMIT_WEIGHT_BITS) : rate; /* exact */
}

/* `room` is for the runs of so many values, or more. */
static brume_status rank_sorted(brume_bits *bits, const ranked *list, size_t begin, size_t end,
                                int64_t low, int64_t high, int64_t num, int64_t den, double rate,
                                runs *room, int64_t *out, brume_error *error)
{
    make_runs(room, list, begin, end, low, high, num, den);
    return choose(bits, room, low, den, rate_per_weight(list, rate), out, error);
}

/* ---- sorting ---- */

static void close_ranked(ranked *list)
{
    free(list->values);
    free(list->upto);
}

enum { COUNTED = 4096 }; /* points within the bounds: few, because each takes time in every group */

/* What each of the `width` points from `low` on weighs, and which of them are there. */
typedef struct tally {
    uint64_t *weights;
    bool *there;
    size_t width, different;
} tally;

static brume_status open_tally(const int64_t *values, const uint32_t *weights, size_t count,
                               int64_t low, size_t width, tally *out, brume_error *error)
{
    tally all = {calloc(width, sizeof *all.weights), calloc(width, sizeof *all.there), width, 0};
    if (!all.weights || !all.there) {
        free(all.weights);
        free(all.there);
        return brume_no_memory(error, "the values of a quantile");
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t point = (uint64_t)values[i] - (uint64_t)low;
        all.weights[point] += weights ? weights[i] : 1;
        all.there[point] = true;
    }
    for (size_t i = 0; i < width; i++)
        all.different += all.there[i];
    *out = all;
    return BRUME_OK;
}

/* Gives the same as sorting does. */
static brume_status count_ranked(const int64_t *values, const uint32_t *weights, size_t count,
                                 int64_t low, size_t width, ranked *out, brume_error *error)
{
    tally all = {0};
    BRUME_TRY(open_tally(values, weights, count, low, width, &all, error));
    ranked list = {malloc((all.different + 1) * sizeof *list.values),
                   malloc((all.different + 1) * sizeof *list.upto), 0, weights != NULL};
    bool good = list.values && list.upto;
    if (good)
        list.upto[0] = 0;
    for (size_t i = 0; good && i < width; i++)
        if (all.there[i]) {
            list.values[list.count] = (int64_t)((uint64_t)low + i);
            list.upto[list.count + 1] = list.upto[list.count] + all.weights[i];
            list.count++;
        }
    free(all.weights);
    free(all.there);
    if (good)
        *out = list;
    else
        close_ranked(&list);
    return good ? BRUME_OK : brume_no_memory(error, "the values of a quantile");
}

/* A sorted copy; with weights, of both. Values of so few points are counted instead. Which of the
 * two it is must depend on the bounds alone, which are public: one value far from the others would
 * be seen in the time that an answer takes. */
static brume_status open_ranked(const int64_t *values, const uint32_t *weights, size_t count,
                                int64_t low, int64_t high, ranked *out, brume_error *error)
{
    uint64_t last = (uint64_t)high - (uint64_t)low;
    if (last < COUNTED)
        return count_ranked(values, weights, count, low, (size_t)last + 1, out, error);
    ranked list = {malloc((count + 1) * sizeof *list.values),
                   weights ? malloc((count + 1) * sizeof *list.upto) : NULL, count,
                   weights != NULL};
    uint32_t *beside = weights ? malloc((count + 1) * sizeof *beside) : NULL;
    brume_status status = list.values && (!weights || (list.upto && beside))
                              ? BRUME_OK
                              : brume_no_memory(error, "the values of a quantile");
    if (status == BRUME_OK && count) {
        memcpy(list.values, values, count * sizeof *values);
        if (weights)
            memcpy(beside, weights, count * sizeof *weights);
        status = brume_sort_with(list.values, beside, count, error);
    }
    if (status == BRUME_OK && weights)
        list.upto[0] = 0;
    for (size_t i = 0; status == BRUME_OK && weights && i < count; i++)
        list.upto[i + 1] = list.upto[i] + beside[i];
    free(beside);
    if (status == BRUME_OK)
        *out = list;
    else
        close_ranked(&list);
    return status;
}

brume_status brume_rank_one(brume_bits *bits, const int64_t *values, const uint32_t *weights,
                            size_t count, int64_t low, int64_t high, int64_t num, int64_t den,
                            double rate, int64_t *out, brume_error *error)
{
    ranked list;
    runs room;
    BRUME_TRY(open_ranked(values, weights, count, low, high, &list, error));
    brume_status status = open_runs(list.count, &room, error);
    if (status == BRUME_OK)
        status =
            rank_sorted(bits, &list, 0, list.count, low, high, num, den, rate, &room, out, error);
    close_runs(&room);
    close_ranked(&list);
    return status;
}

/* ---- several ---- */

typedef struct recursion {
    brume_bits *bits;
    const ranked *list; /* refined */
    const int64_t (*fractions)[2];
    double rate;
    runs *room;
    int64_t *out; /* refined */
    brume_error *error;
} recursion;

static int64_t divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The difference x - y of two fractions as a reduced one. */
static void subtract(const int64_t x[2], const int64_t y[2], int64_t out[2])
{
    brume_i128 num = (brume_i128)x[0] * y[1] - (brume_i128)y[0] * x[1];
    brume_i128 den = (brume_i128)x[1] * y[1];
    brume_i128 a = num, b = den;
    while (b) {
        brume_i128 rest = a % b;
        a = b;
        b = rest;
    }
    out[0] = (int64_t)(a ? num / a : num);
    out[1] = (int64_t)(a ? den / a : den);
}

/* (x - below) / (above - below). */
static void relative(const int64_t x[2], const int64_t below[2], const int64_t above[2],
                     int64_t out[2])
{
    int64_t part[2], width[2];
    subtract(x, below, part);
    subtract(above, below, width);
    int64_t cross = divisor(part[0], width[0]), other = divisor(width[1], part[1]);
    cross = cross ? cross : 1;
    other = other ? other : 1; /* denominators are never 0 */
    out[0] = part[0] / cross * (width[1] / other);
    out[1] = width[0] / cross * (part[1] / other);
}

/* Fractions first .. last-1 on the values from `begin` to `end`, which lie in low .. high; those
 * fractions lie between `below` and `above`. */
static brume_status recurse(const recursion *all, size_t first, size_t last, size_t begin,
                            size_t end, int64_t low, int64_t high, const int64_t below[2],
                            const int64_t above[2])
{
    if (first >= last)
        return BRUME_OK;
    size_t middle = first + (last - first) / 2;
    int64_t q[2], v = 0;
    relative(all->fractions[middle], below, above, q);
    BRUME_TRY(rank_sorted(all->bits, all->list, begin, end, low, high, q[0], q[1], all->rate,
                          all->room, &v, all->error));
    all->out[middle] = v;
    size_t cut = begin; /* values below v go left */
    for (size_t high_end = end; cut < high_end;) {
        size_t at = cut + (high_end - cut) / 2;
        if (all->list->values[at] < v)
            cut = at + 1;
        else
            high_end = at;
    }
    BRUME_TRY(recurse(all, first, middle, begin, cut, low, v > low ? v - 1 : low, below,
                      all->fractions[middle]));
    return recurse(all, middle + 1, last, cut, end, v, high, all->fractions[middle], above);
}

/* How many bits of the breaker fit: the refined domain must stay within 62 bits. */
static int breaker_bits(int64_t low, int64_t high)
{
    uint64_t width = (uint64_t)high - (uint64_t)low + 1;
    int used = width ? 64 - __builtin_clzll(width) : 64;
    return used >= 62 ? 0 : 62 - used < 32 ? 62 - used : 32;
}

brume_status brume_rank_many(brume_bits *bits, const int64_t *values, const uint32_t *weights,
                             const uint32_t *breaker, size_t count, int64_t low, int64_t high,
                             const int64_t (*fractions)[2], size_t fraction_count, double rate,
                             int64_t *out, brume_error *error)
{
    static const int64_t zero[2] = {0, 1}, one[2] = {1, 1};
    int t = breaker_bits(low, high);
    uint64_t width = (uint64_t)high - (uint64_t)low;
    int64_t last = (int64_t)((width << t) | ((UINT64_C(1) << t) - 1));
    int64_t *refined = malloc((count + 1) * sizeof *refined);
    int64_t *answers = malloc((fraction_count + 1) * sizeof *answers);
    ranked list = {0};
    runs room = {NULL, NULL, 0};
    brume_status status = refined && answers ? BRUME_OK
                                             : brume_no_memory(error, "the values of a quantile");
    /* Relative to low, so that the shift stays within 62 bits. */
    for (size_t i = 0; status == BRUME_OK && i < count; i++)
        refined[i] = (int64_t)(((uint64_t)values[i] - (uint64_t)low) << t |
                               (t ? breaker[i] >> (32 - t) : 0));
    if (status == BRUME_OK)
        status = open_ranked(refined, weights, count, 0, last, &list, error);
    if (status == BRUME_OK)
        status = open_runs(list.count, &room, error);
    if (status == BRUME_OK) {
        recursion all = {bits, &list, fractions, rate, &room, answers, error};
        status = recurse(&all, 0, fraction_count, 0, list.count, 0, last, zero, one);
    }
    for (size_t i = 0; status == BRUME_OK && i < fraction_count; i++)
        out[i] = (int64_t)((uint64_t)low + ((uint64_t)answers[i] >> t));
    close_runs(&room);
    close_ranked(&list);
    free(refined);
    free(answers);
    return status;
}
