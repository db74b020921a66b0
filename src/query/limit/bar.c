/* The limit with the shortest honest bar.
 *
 * Promise: post-processing. What is computed here is a function of noisy numbers and public ones.
 * Its constants were set on the shapes of bench/people.h that answers.c names; what they are worth
 * on others is measured there. */
#include "query/limit/bar.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum {
    SLOPES = 36,
    BENDS = 9,
    LAWS = SLOPES * BENDS,
    BINS = BRUME_LIMIT_BINS,
    AHEAD = 16, /* bins above the last one seen that a law is fitted to */
    OUT = 24,   /* and bins beyond these that it is followed */
    REACH = 10, /* bins above the last one seen: 32 times its edge */
    PIECES = 3, /* of a bin, of what may be cut */
};

static const double bends[BENDS] = {0, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8};
#define POWER_LAWS 0.15  /* weight of all laws without a bend, before they are fitted */
#define INEXACT    0.1   /* no data follows a law to better than this share of a bin */
#define LEAST      0.002 /* laws that weigh less are left out */
#define STEEPEST   2     /* slope of a single bin that is seen: at least this */
#define MISSED     0.05  /* of the draws are outside the bar */
#define TAILS_UP   3   /* laws are models: tails of what is cut count for so many times as likely */
#define HIGHER     4.6 /* a part of the tail that surely has units, */
#define CROWD      5.5 /* or surely more than the laws say; */
#define DOUBT      2.3 /* or perhaps. Each grows with the distance: */
#define FAR        0.05 /* for each bin */

static double edge(size_t bin)
{
    return (double)brume_limit_edge(bin);
}

/* ---- laws ---- */

typedef struct law {
    double units, deviation, misfit, weight;
} law;

/* All laws, from bin `start` on: their units are those with more than edge(start - 1). */
typedef struct fit {
    const brume_looks *looks;
    size_t start, last, out; /* fitted up to bin `last`, followed up to `out` */
    bool crowd[BRUME_LIMIT_PARTS];
    double logs[BINS], falls[SLOPES][BINS], turns[BENDS][BINS];
    law laws[LAWS];
} fit;

static double slope(size_t i)
{
    return 0.15 * pow(1.13333, (double)i);
}

/* Which share of a law's units is above the edge of a bin. */
static double above(const fit *of, size_t number, size_t bin)
{
    return bin < of->start ? 1 : of->falls[number / BENDS][bin] * of->turns[number % BENDS][bin];
}

/* Weighted least squares for the number of units: `seen` where the law has a share of them. A
 * square counts in units of the variance of the noise, of chance and of what no law tells. */
typedef struct squares {
    double products, shares, all;
} squares;

static void add_square(squares *sums, const brume_noisy *seen, double share)
{
    double units = fmax(seen->value, 0);
    double inexact = INEXACT * units, noise = seen->deviation * seen->deviation;
    double weight = 1 / (noise + 1 + units + inexact * inexact); /* 1: one unit more is chance */
    sums->products += weight * share * seen->value;
    sums->shares += weight * share * share;
    sums->all += weight * seen->value * seen->value;
}

static void fit_law(fit *of, size_t number)
{
    const brume_looks *looks = of->looks;
    law *one = &of->laws[number];
    squares sums = {0};
    for (size_t i = of->start; i <= of->last; i++)
        add_square(&sums, &looks->bin[i], above(of, number, i - 1) - above(of, number, i));
    for (size_t p = 0; looks->tail > 0 && p < BRUME_LIMIT_PARTS; p++) {
        size_t from = brume_looks_part(looks->tail, p), end = brume_looks_part(looks->tail, p + 1);
        if (of->crowd[p] || from < of->start || from > of->last || from >= end)
            continue;
        double beyond = end - 1 <= of->out ? above(of, number, end - 1) : 0;
        add_square(&sums, &looks->part[p], above(of, number, from - 1) - beyond);
    }
    one->units = sums.shares > 0 ? fmax(0, sums.products / sums.shares) : 0;
    one->deviation = sums.shares > 0 ? 1 / sqrt(sums.shares) : 0;
    one->misfit = sums.all + one->units * (one->units * sums.shares - 2 * sums.products);
}

static void tabulate(fit *of)
{
    double low = edge(of->start - 1) + 0.5; /* rows are whole numbers */
    for (size_t i = of->start; i <= of->out; i++) {
        double t = log((edge(i) + 0.5) / low);
        of->logs[i] = t;
        for (size_t j = 0; j < SLOPES; j++)
            of->falls[j][i] = exp(-slope(j) * t);
        for (size_t j = 0; j < BENDS; j++)
            of->turns[j][i] = exp(-bends[j] * t * t);
    }
}

/* Laws that hardly fall where the last units are seen would lose most and are rarely true. */
static double prior(const fit *of, size_t number, size_t top, bool alone)
{
    double bend = bends[number % BENDS];
    double fall = slope(number / BENDS) + 2 * bend * of->logs[top];
    double share = bend > 0 ? (1 - POWER_LAWS) / (BENDS - 1) : POWER_LAWS;
    if (alone && fall < STEEPEST)
        return 0;
    return share * (fall < 0.8 ? 0.01 : fall < 1.2 ? 0.2 : fall < 1.6 ? 0.6 : 1);
}

/* Fit all laws to the bins start .. top and those above them. False: none fits; a law that holds
 * fits in 99 of 100 draws, as a square of Laplace noise has a mean of 1 and a variance of 5.
 * `alone`: the top bin is all there is, and laws are taken as they are. */
static bool fit_laws(fit *of, size_t start, size_t top, bool alone)
{
    double best = INFINITY, sum = 0;
    of->start = start;
    of->last = top + AHEAD < BINS ? top + AHEAD : BINS - 1;
    of->out = top + AHEAD + OUT < BINS ? top + AHEAD + OUT : BINS - 1;
    tabulate(of);
    for (size_t i = 0; i < LAWS; i++) {
        fit_law(of, i);
        best = fmin(best, of->laws[i].misfit);
    }
    double free = (double)(of->last - start + 1) - 3;
    if (!alone && !(best <= free + 2.33 * sqrt(5 * fmax(free, 1))))
        return false;
    for (size_t i = 0; i < LAWS; i++) {
        of->laws[i].weight = prior(of, i, top, alone) * exp((best - of->laws[i].misfit) / 2);
        sum += of->laws[i].weight;
    }
    for (size_t i = 0; i < LAWS; i++)
        of->laws[i].weight /= sum;
    return sum > 0;
}

/* ---- their mixture ---- */

/* What a law says of each bin; below its first bin the histogram itself. */
typedef struct told {
    double weight;
    double above[BINS];                            /* units above the edge of a bin, */
    double units[BINS], sums[BINS], squares[BINS]; /* and in all bins up to it: how many, what they
                                                      have, and the squares of that */
} told;

typedef struct mixture {
    told *laws;
    size_t count, room;
    double weight;   /* of all */
    size_t out, cap; /* the last bin that is known of; nobody is above the edge of `cap` */
} mixture;

/* Units in a bin: by the law, or where the histogram shows units, as many as there surely are: what
 * is cut is of these, however rare a law takes them to be. */
static double units_in(const fit *of, size_t number, double all, size_t bin)
{
    const brume_noisy *seen = &of->looks->bin[bin];
    if (bin < of->start)
        return fmax(0, seen->value);
    double lawful = all * (above(of, number, bin - 1) - above(of, number, bin));
    return bin + AHEAD <= of->last ? fmax(lawful, seen->value - 2 * seen->deviation) : lawful;
}

/* Half a deviation more units than fit best: a number that is too small costs more. */
static void tell(const fit *of, size_t number, double weight, told *out)
{
    const law *one = &of->laws[number];
    double all = one->units + one->deviation / 2, units = 0, sum = 0, square = 0;
    out->weight = weight * one->weight;
    for (size_t i = 0; i <= of->out; i++) {
        double in = units_in(of, number, all, i);
        double middle = i < 2 ? edge(i) : (edge(i - 1) + edge(i)) / 2;
        out->units[i] = units += in;
        out->sums[i] = sum += in * middle;
        out->squares[i] = square += in * middle * middle;
    }
    out->above[of->out] = all * above(of, number, of->out);
    for (size_t i = of->out; i-- > 0;)
        out->above[i] = out->above[i + 1] + units_in(of, number, all, i + 1);
}

static brume_status add_laws(mixture *all, const fit *of, brume_error *error)
{
    for (size_t i = 0; i < LAWS; i++) {
        if (of->laws[i].weight < LEAST)
            continue;
        if (all->count == all->room) {
            size_t room = all->room ? 2 * all->room : 64;
            told *more = realloc(all->laws, room * sizeof *more);
            if (!more)
                return brume_no_memory(error, "the choice of a limit");
            all->laws = more;
            all->room = room;
        }
        tell(of, i, 1, &all->laws[all->count]);
        all->weight += all->laws[all->count++].weight;
    }
    all->out = of->out;
    return BRUME_OK;
}

/* Laws from several first bins on, all that fit; `seen` is the last bin that the histogram shows,
 * `top` the last one in all. */
static brume_status mix(mixture *all, fit *of, size_t seen, size_t top, brume_error *error)
{
    static const size_t lengths[] = {8, 6, 5, 4, 3, 2};
    const brume_looks *looks = of->looks;
    all->count = 0;
    all->weight = 0;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        if (seen >= lengths[i] && (lengths[i] > 2 || all->count == 0) &&
            fit_laws(of, seen - lengths[i] + 1, seen, false))
            BRUME_TRY(add_laws(all, of, error));
    for (size_t p = 0; p < 3 && all->count == 0 && top > seen && looks->tail > 0; p++) {
        size_t from = brume_looks_part(looks->tail, p);
        if (from <= top && fit_laws(of, from, top, false))
            BRUME_TRY(add_laws(all, of, error));
    }
    if (all->count > 0)
        return BRUME_OK;
    (void)fit_laws(of, top > 0 ? top : 1, top > 0 ? top : 1, true);
    return add_laws(all, of, error);
}

/* Units that the laws have above one edge and not above the other. */
static double expected_between(const mixture *all, size_t low, size_t high)
{
    double sum = 0;
    low = low < all->out ? low : all->out;
    high = high < all->out ? high : all->out;
    for (size_t i = 0; i < all->count; i++)
        sum += all->laws[i].weight * (all->laws[i].above[low] - all->laws[i].above[high]);
    return sum / all->weight;
}

/* P[what units have beyond edge(bin) is more than edge(to) - edge(bin)]: a single unit has more
 * than that, or all of them together. */
static double exceeds(const mixture *all, size_t bin, size_t to)
{
    double limit = edge(bin), beyond = edge(to) - limit, sum = 0;
    to = to < all->cap ? to : all->cap;
    for (size_t i = 0; i < all->count; i++) {
        const told *one = &all->laws[i];
        double units = one->units[to] - one->units[bin], had = one->sums[to] - one->sums[bin];
        double mean = had - units * limit;
        double variance = one->squares[to] - one->squares[bin] - 2 * limit * had +
                          units * limit * limit;
        double big = -expm1(one->above[all->cap] - one->above[to]), many = mean > beyond;
        if (variance > 0)
            many = 0.5 * erfc((beyond - mean) / sqrt(2 * variance));
        sum += one->weight * (1 - (1 - big) * (1 - many));
    }
    return sum / all->weight;
}

/* P[anybody is above the edge]. */
static double exceeded(const mixture *all, size_t bin)
{
    double sum = 0;
    for (size_t i = 0; bin < all->cap && i < all->count; i++)
        sum += all->laws[i].weight * -expm1(all->laws[i].above[all->cap] - all->laws[i].above[bin]);
    return sum / all->weight;
}

/* ---- crowds ---- */

/* Units that were counted in parts of the tail and that no law explains. */
typedef struct crowds {
    double in[BINS];
    size_t end; /* the last bin that has some; 0: there are none */
    bool doubt;
} crowds;

static double part_evidence(const brume_looks *looks, size_t part, double less)
{
    const brume_noisy *one = &looks->part[part];
    size_t distance = brume_looks_part(looks->tail, part) - looks->tail;
    return brume_noise_evidence(looks->gaussian, one->value - less, one->deviation, 1) -
           FAR * (double)distance;
}

/* As many as were counted and 1.645 deviations more: in bins that clearly show units as many as
 * these say, the others evenly over the first bins of the part. */
static void spread(const brume_looks *looks, size_t from, size_t last, const brume_noisy *counted,
                   crowds *all)
{
    double units = counted->value + 1.645 * counted->deviation, shown = 0;
    for (size_t i = from; i <= last; i++)
        if (looks->bin[i].value >= 2 * looks->bin[i].deviation)
            shown += looks->bin[i].value;
    double rest = fmax(0, units - shown);
    for (size_t i = from; i <= last; i++) {
        all->in[i] = rest / (double)(last - from + 1);
        if (looks->bin[i].value >= 2 * looks->bin[i].deviation)
            all->in[i] += looks->bin[i].value * fmin(1, units / shown);
    }
    all->end = last;
}

static void find_crowds(fit *of, const mixture *laws, size_t top, crowds *all)
{
    const brume_looks *looks = of->looks;
    *all = (crowds){0};
    for (size_t p = 0; looks->tail > 0 && p < BRUME_LIMIT_PARTS; p++) {
        size_t from = brume_looks_part(looks->tail, p), end = brume_looks_part(looks->tail, p + 1);
        if (from >= end || end - 1 <= top)
            continue;
        double more = part_evidence(looks, p, 1.3 * expected_between(laws, from - 1, end - 1));
        all->doubt = all->doubt || more >= DOUBT;
        if (more < CROWD)
            continue;
        of->crowd[p] = true;
        spread(looks, from, end - 1 < from + 7 ? end - 1 : from + 7, &looks->part[p], all);
    }
}

/* The last bin that surely has units: of a part of the tail, or *top. Returns which part. */
static size_t raise_top(const brume_looks *looks, size_t *top)
{
    size_t raised = 0;
    for (size_t p = 0; looks->tail > 0 && p + 1 < BRUME_LIMIT_PARTS; p++) {
        size_t from = brume_looks_part(looks->tail, p), end = brume_looks_part(looks->tail, p + 1);
        if (from >= end || end - 1 <= *top || part_evidence(looks, p, 0) < HIGHER)
            continue;
        size_t last = end - 1;
        while (last > from && looks->bin[last].value < looks->bin[last].deviation)
            last--;
        if (last == from && looks->bin[from].value < looks->bin[from].deviation)
            last = (from + end - 1) / 2;
        if (last > *top) {
            *top = last;
            raised = p;
        }
    }
    return raised;
}

/* ---- bars ---- */

/* What may be cut, in pieces: so much, with such a chance. */
typedef struct cuts {
    double size[PIECES * BINS + 2], chance[PIECES * BINS + 2];
    size_t count;
} cuts;

/* For a limit at the edge of a bin: by the laws, and as much as the crowds have for sure. Each
 * piece is at its upper end. */
static void find_cuts(const mixture *laws, const crowds *crowd, size_t bin, double share, cuts *out)
{
    double more = 0, before = fmin(1, TAILS_UP * exceeded(laws, bin)), from = 0;
    for (size_t i = bin + 1; i <= crowd->end; i++)
        more += crowd->in[i] * (edge(i) - edge(bin));
    out->count = 1;
    out->size[0] = share * more;
    out->chance[0] = 1 - before;
    for (size_t i = bin + 1; i <= laws->out && before > 1e-6; i++) {
        double chance = fmin(before, TAILS_UP * exceeds(laws, bin, i)), to = edge(i) - edge(bin);
        for (int piece = 1; piece <= PIECES; piece++) {
            out->size[out->count] = share * (more + from + (to - from) * piece / PIECES);
            out->chance[out->count++] = (before - chance) / PIECES;
        }
        before = chance;
        from = to;
    }
    out->size[out->count] = share * (more + from);
    out->chance[out->count++] = before;
}

/* P[noise > x], symmetrical. */
static double noise_above(bool gaussian, double scale, double x)
{
    if (gaussian)
        return 0.5 * erfc(x / scale * M_SQRT1_2);
    return x >= 0 ? 0.5 * exp(-x / scale) : 1 - 0.5 * exp(x / scale);
}

/* P[|noise - cut| > bar]. */
static double missed(const cuts *cut, bool gaussian, double scale, double bar)
{
    double sum = 0;
    for (size_t i = 0; i < cut->count; i++)
        sum += cut->chance[i] * (noise_above(gaussian, scale, bar + cut->size[i]) +
                                 noise_above(gaussian, scale, bar - cut->size[i]));
    return sum;
}

/* The half-width at 95 % of noise of scale 1. */
static double width_of(bool gaussian)
{
    return gaussian ? 1.959964 : 2.995732;
}

/* The bar at 95 % of noise and cut together, not below that of noise alone. */
static double bar_of(const cuts *cut, bool gaussian, double scale)
{
    double low = width_of(gaussian) * scale, high = low;
    while (missed(cut, gaussian, scale, high) > MISSED && high < 0x1p200)
        high *= 2;
    for (int i = 0; i < 40 && high > low * (1 + 0x1p-30); i++) {
        double middle = (low + high) / 2;
        if (missed(cut, gaussian, scale, middle) > MISSED)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* What is cut with a chance of 3 %: with the noise it is near the bar, and quick to find. */
static double cut_at(const mixture *laws, const crowds *crowd, size_t bin)
{
    const double chance = 0.03;
    double more = 0, below = exceeded(laws, bin), up = 0;
    size_t low = bin, high = laws->out;
    for (size_t i = bin + 1; i <= crowd->end; i++)
        more += crowd->in[i] * (edge(i) - edge(bin));
    if (below <= chance)
        return more;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        double p = exceeds(laws, bin, middle);
        *(p > chance ? &low : &high) = middle;
        *(p > chance ? &below : &up) = p;
    }
    double part = 1;
    if (up > 0 && below > chance)
        part = fmin(1, log(below / chance) / log(below / up));
    return more + edge(low) - edge(bin) + part * (edge(high) - edge(low));
}

double brume_limit_cut_share(double cells, int norm)
{
    return fmin(1, 20 / (norm == 1 ? cells : sqrt(cells)));
}

/* ---- the choice ---- */

/* The last bin whose edge is not above the ceiling. */
static size_t ceiling_bin(uint64_t ceiling)
{
    size_t bin = ceiling ? brume_limit_bins(ceiling) - 1 : BINS - 1;
    return bin > 0 && ceiling && brume_limit_edge(bin) > ceiling ? bin - 1 : bin;
}

/* The owner's ceiling as the limit: nothing is cut. */
static void take_ceiling(const brume_limit_cost *cost, brume_limit_choice *choice)
{
    choice->limit = cost->ceiling;
    choice->bin = ceiling_bin(cost->ceiling);
    choice->allowance = choice->hidden = 0;
    choice->reach = (double)cost->ceiling;
}

static double bar_at(const mixture *laws, const crowds *crowd, const brume_limit_cost *cost,
                     size_t bin)
{
    cuts cut;
    find_cuts(laws, crowd, bin, cost->cut_share, &cut);
    double scale = fmax(cost->noise_95, DBL_MIN) / width_of(cost->gaussian);
    return bar_of(&cut, cost->gaussian, scale * edge(bin));
}

/* The limit with the least sum of noise and cut_at, and from there down or up as long as the bar
 * becomes shorter. */
static void choose(const mixture *laws, const crowds *crowd, const brume_limit_cost *cost,
                   brume_limit_choice *choice)
{
    double least = INFINITY;
    size_t highest = laws->cap < laws->out ? laws->cap : laws->out - 1, bin = 0;
    if (cost->ceiling && ceiling_bin(cost->ceiling) < highest)
        highest = ceiling_bin(cost->ceiling);
    for (size_t i = 0; i <= highest && cost->noise_95 * edge(i) <= least; i++) {
        double sum = cost->noise_95 * edge(i) + cost->cut_share * cut_at(laws, crowd, i);
        if (sum < least) {
            least = sum;
            bin = i;
        }
    }
    double bar = bar_at(laws, crowd, cost, bin), next = bar;
    size_t from = bin;
    while (bin < highest && (next = bar_at(laws, crowd, cost, bin + 1)) < bar) {
        bar = next;
        bin++;
    }
    while (bin <= from && bin > 0 && (next = bar_at(laws, crowd, cost, bin - 1)) < bar) {
        bar = next;
        bin--;
    }
    choice->bin = bin;
    choice->limit = brume_limit_edge(bin);
    choice->reach = edge(laws->cap);
    choice->allowance = fmax(0, bar - cost->noise_95 * edge(bin));
}

static brume_status choose_by(fit *of, mixture *laws, const brume_limit_cost *cost,
                              brume_limit_choice *choice, brume_error *error)
{
    const brume_looks *looks = of->looks;
    crowds crowd;
    size_t seen = choice->top, raised = raise_top(looks, &choice->top);
    BRUME_TRY(mix(laws, of, seen, choice->top, error));
    find_crowds(of, laws, choice->top, &crowd);
    if (crowd.end > 0) /* again, without the parts that have one */
        BRUME_TRY(mix(laws, of, seen, choice->top, error));
    choice->in_doubt = crowd.doubt || raised > 0;
    size_t top = choice->top > crowd.end ? choice->top : crowd.end;
    laws->cap = top + REACH < laws->out ? top + REACH : laws->out;
    if (cost->ceiling && brume_limit_bins(cost->ceiling) - 1 < laws->cap &&
        top <= brume_limit_bins(cost->ceiling) - 1) /* unless units above it are seen */
        laws->cap = brume_limit_bins(cost->ceiling) - 1;
    choose(laws, &crowd, cost, choice);
    choice->hidden = brume_looks_hidden(looks, choice->bin);
    if (cost->ceiling && top <= brume_limit_bins(cost->ceiling) - 1 &&
        cost->noise_95 * (double)cost->ceiling <=
            cost->noise_95 * (double)choice->limit + choice->allowance)
        take_ceiling(cost, choice);
    if (cost->ceiling && choice->reach > (double)cost->ceiling &&
        top <= brume_limit_bins(cost->ceiling) - 1)
        choice->reach = (double)cost->ceiling;
    return BRUME_OK;
}

brume_status brume_limit_choose(const brume_looks *looks, const brume_limit_cost *cost,
                                brume_limit_choice *out, brume_error *error)
{
    brume_limit_choice choice = {.limit = 1, .hidden = NAN, .reach = NAN, .bin = BINS};
    if (!brume_looks_histogram(looks)) { /* the first count was quiet */
        choice.found = true;
        choice.bin = choice.top = 0;
        choice.reach = 1;
        choice.hidden = brume_looks_hidden(looks, 0);
        *out = choice;
        return BRUME_OK;
    }
    choice.top = brume_looks_top(looks);
    choice.found = choice.top != BRUME_LIMIT_NO_BIN;
    brume_status status = BRUME_OK;
    if (choice.found) {
        fit *of = calloc(1, sizeof *of);
        mixture laws = {0};
        if (of)
            of->looks = looks;
        status = of ? choose_by(of, &laws, cost, &choice, error)
                    : brume_no_memory(error, "the choice of a limit");
        free(of);
        free(laws.laws);
    }
    if (status == BRUME_OK)
        *out = choice;
    return status;
}
