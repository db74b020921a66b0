/* Private quantiles of a list of grid integers, by the exponential mechanism over all grid points.
 *
 * Promise: the law in the header, exactly. Points with equal utility are grouped in runs: each
 * distinct value is a run of one point, each gap between values a run of its length. A run is
 * chosen with weight length * exp(rate * u) by brume_select_run, then a point of it uniformly. */
#include "query/release/rank.h"

#include <math.h>
#include <stdlib.h>

#include <brume/noise/primitive.h>
#include <brume/noise/select.h>

#include "base/error.h"
#include "number/wide.h"
#include "query/limit/clip.h"

static uint64_t weight_of(const brume_ranked *all, size_t begin, size_t end)
{
    return all->upto[end] - all->upto[begin];
}

/* -max(0, off), and never below -2^62. */
static int64_t at_most_zero(brume_i128 off)
{
    const brume_i128 most = (brume_i128)1 << 62;
    return off > most ? (int64_t)-most : off > 0 ? (int64_t)-off : 0;
}

/* -max(0, below - t, t - upto) in units of 1/den of a weight, those of the target t. */
static int64_t utility(uint64_t below, uint64_t upto, brume_i128 target, int64_t den)
{
    brume_i128 over = (brume_i128)den * (brume_i128)below - target;
    brume_i128 under = target - (brume_i128)den * (brume_i128)upto;
    return at_most_zero(over > under ? over : under);
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
static void make_runs(runs *all, const brume_ranked *list, size_t begin, size_t end, int64_t low,
                      int64_t high, int64_t num, int64_t den)
{
    const int64_t *values = list->values;
    uint64_t whole = weight_of(list, begin, end);
    brume_i128 target = (brume_i128)num * (brume_i128)whole;
    all->count = 0;
    int64_t next = low; /* first point not yet in a run */
    bool done = false;  /* high itself is in a run */
    for (size_t i = begin; i < end; i++) {
        uint64_t below = weight_of(list, begin, i), upto = weight_of(list, begin, i + 1);
        add_run(all, (uint64_t)values[i] - (uint64_t)next, utility(below, below, target, den));
        add_run(all, 1, utility(below, upto, target, den));
        done = values[i] == high;
        next = done ? high : values[i] + 1;
    }
    if (!done)
        add_run(all, (uint64_t)high - (uint64_t)next + 1, utility(whole, whole, target, den));
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
static double rate_per_weight(const brume_ranked *list, double rate)
{
    return list->weighted ? ldexp(rate, -BRUME_LIMIT_WEIGHT_BITS) : rate; /* exact */
}

/* `room` is for the runs of so many values, or more. */
static brume_status rank_sorted(brume_bits *bits, const brume_ranked *list, size_t begin,
                                size_t end, int64_t low, int64_t high, int64_t num, int64_t den,
                                double rate, runs *room, int64_t *out, brume_error *error)
{
    make_runs(room, list, begin, end, low, high, num, den);
    return choose(bits, room, low, den, rate_per_weight(list, rate), out, error);
}

brume_status brume_rank_in(brume_bits *bits, const brume_ranked *list, int64_t low, int64_t high,
                           int64_t num, int64_t den, double rate, int64_t *out, brume_error *error)
{
    runs room;
    brume_status status = open_runs(list->count, &room, error);
    if (status == BRUME_OK)
        status =
            rank_sorted(bits, list, 0, list->count, low, high, num, den, rate, &room, out, error);
    close_runs(&room);
    return status;
}

brume_status brume_rank_one(brume_bits *bits, const int64_t *values, const uint32_t *weights,
                            size_t count, int64_t low, int64_t high, int64_t num, int64_t den,
                            double rate, int64_t *out, brume_error *error)
{
    brume_ranked list;
    BRUME_TRY(
        brume_ranked_open(values, weights, count, low, high, BRUME_RANKED_POINTS, &list, error));
    brume_status status = brume_rank_in(bits, &list, low, high, num, den, rate, out, error);
    brume_ranked_close(&list);
    return status;
}

/* ---- the interval of one ---- */

enum {
    EVEN_CELLS = 1024,
    OCTAVE_BITS = 8, /* 256 cells to an octave */
};

/* From one cell to the next of those whose lengths grow with the distance x of their first value
 * from 0. */
static uint64_t octave_step(uint64_t x)
{
    int bits = x ? 63 - __builtin_clzll(x) : 0;
    return UINT64_C(1) << (bits > OCTAVE_BITS ? bits - OCTAVE_BITS : 0);
}

/* The first value of the cell after that of x. */
static brume_i128 next_cell(int64_t x, int64_t low, uint64_t even)
{
    uint64_t size = x < 0 ? 0 - (uint64_t)x : (uint64_t)x, step = octave_step(size);
    brume_i128 octave = x < 0 ? 1 - (brume_i128)(size / step * step)
                              : (brume_i128)(size / step + 1) * step;
    uint64_t from_low = (uint64_t)x - (uint64_t)low;
    brume_i128 evenly = low + (brume_i128)(from_low / even + 1) * even;
    return octave < evenly ? octave : evenly;
}

brume_status brume_cells_open(int64_t low, int64_t high, brume_cells *out, brume_error *error)
{
    uint64_t even = ((uint64_t)high - (uint64_t)low) / EVEN_CELLS + 1;
    size_t room = EVEN_CELLS + 2 * ((size_t)64 << OCTAVE_BITS);
    brume_cells cells = {malloc(room * sizeof *cells.first), 0, high};
    if (!cells.first)
        return brume_no_memory(error, "the interval of a quantile");
    for (brume_i128 x = low; x <= high; x = next_cell((int64_t)x, low, even))
        cells.first[cells.count++] = (int64_t)x;
    *out = cells;
    return BRUME_OK;
}

void brume_cells_close(brume_cells *cells)
{
    free(cells->first);
    *cells = (brume_cells){0};
}

static int64_t last_of(const brume_cells *cells, size_t cell)
{
    return cell + 1 < cells->count ? cells->first[cell + 1] - 1 : cells->high;
}

/* The cell of a value, which is not before `from`. */
static size_t cell_of(const brume_cells *cells, size_t from, int64_t value)
{
    size_t after = cells->count;
    while (after - from > 1) {
        size_t middle = from + (after - from) / 2;
        if (cells->first[middle] <= value)
            from = middle;
        else
            after = middle;
    }
    return from;
}

/* The places of an end, in their order: for a lower one that below all cells and then the cells,
 * for an upper one the cells and then that above them. */
static void make_end_runs(runs *all, const brume_ranked *list, const brume_cells *cells,
                          brume_i128 target, int64_t den, bool upper)
{
    uint64_t whole = list->upto[list->count];
    size_t next = 0; /* first cell not yet in a run */
    all->count = 0;
    if (!upper)
        add_run(all, 1, at_most_zero(target));
    for (size_t i = 0, end = 0; i < list->count; i = end) {
        size_t cell = cell_of(cells, next, list->values[i]);
        while (end < list->count && list->values[end] <= last_of(cells, cell))
            end++;
        add_run(all, cell - next, utility(list->upto[i], list->upto[i], target, den));
        add_run(all, 1, utility(list->upto[i], list->upto[end], target, den));
        next = cell + 1;
    }
    add_run(all, cells->count - next, utility(whole, whole, target, den));
    if (upper)
        add_run(all, 1, at_most_zero((brume_i128)den * (brume_i128)whole - target));
}

/* b of the header, in units of 1/den of a weight, rounded up: any constant is as private. The rank
 * of the quantile of all rows, among those that are left, is at most (1 - q) cut lower than qN, and
 * at most q cut higher: `share` of the cut. */
static brume_i128 offset_of(const brume_ranked *list, const brume_cells *cells, int64_t den,
                            double rate, double share, double cut)
{
    double rows = (log((double)cells->count) + log(40)) / rate + share * cut;
    double weights = ldexp(rows, list->weighted ? BRUME_LIMIT_WEIGHT_BITS : 0);
    return (brume_i128)ceil(fmin(weights * (double)den * (1 + 0x1p-40), 0x1p100));
}

brume_status brume_rank_interval(brume_bits *bits, const brume_ranked *list,
                                 const brume_cells *cells, int64_t num, int64_t den, double rate,
                                 double cut, int64_t out[2], brume_error *error)
{
    runs room;
    int64_t place[2] = {0, 0};
    brume_i128 aim = (brume_i128)num * (brume_i128)list->upto[list->count];
    double q = (double)num / (double)den;
    brume_i128 below = offset_of(list, cells, den, rate, 1 - q, cut);
    brume_i128 above = offset_of(list, cells, den, rate, q, cut);
    brume_status status = open_runs(list->count + 1, &room, error);
    for (int upper = 0; status == BRUME_OK && upper < 2; upper++) {
        make_end_runs(&room, list, cells, upper ? aim + above : aim - below, den, upper);
        status = choose(bits, &room, 0, den, rate_per_weight(list, rate), &place[upper], error);
    }
    close_runs(&room);
    if (status != BRUME_OK)
        return status;
    int64_t lower = place[0] == 0 ? cells->first[0] : cells->first[place[0] - 1];
    int64_t upper = (size_t)place[1] == cells->count ? cells->high
                                                     : last_of(cells, (size_t)place[1]);
    out[0] = lower < upper ? lower : upper; /* an exchange loses nothing that is between them */
    out[1] = lower < upper ? upper : lower;
    return BRUME_OK;
}

/* ---- several ---- */

typedef struct recursion {
    brume_bits *bits;
    const brume_ranked *list; /* refined */
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
    brume_ranked list = {0};
    runs room = {NULL, NULL, 0};
    brume_status status = refined && answers ? BRUME_OK
                                             : brume_no_memory(error, "the values of a quantile");
    /* Relative to low, so that the shift stays within 62 bits. */
    for (size_t i = 0; status == BRUME_OK && i < count; i++)
        refined[i] = (int64_t)(((uint64_t)values[i] - (uint64_t)low) << t |
                               (t ? breaker[i] >> (32 - t) : 0));
    if (status == BRUME_OK)
        status =
            brume_ranked_open(refined, weights, count, 0, last, BRUME_RANKED_POINTS, &list, error);
    if (status == BRUME_OK)
        status = open_runs(list.count, &room, error);
    if (status == BRUME_OK) {
        recursion all = {bits, &list, fractions, rate, &room, answers, error};
        status = recurse(&all, 0, fraction_count, 0, list.count, 0, last, zero, one);
    }
    for (size_t i = 0; status == BRUME_OK && i < fraction_count; i++)
        out[i] = (int64_t)((uint64_t)low + ((uint64_t)answers[i] >> t));
    close_runs(&room);
    brume_ranked_close(&list);
    free(refined);
    free(answers);
    return status;
}
