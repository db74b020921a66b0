/* What was cut, from the histogram that the limit was chosen from and the counts bought with it. */
#include "query/limit/spread.h"

#include <math.h>

#include "query/limit/law.h"
#include "query/limit/tail.h"

#define UPPER 1.6449 /* 95 % of a Gaussian are below */
#define MORE  1.3    /* no data follows a law exactly */
#define FARTHER                                                                                    \
    1.3 /* where in a part its units are is known roughly, and those above count more              \
         */

/* One unit in so many makes a crowd that a bar must not miss. Gaussian noise buys sharper counts,
 * of which more is asked. */
#define HIDDEN_LAPLACE  200.0
#define HIDDEN_GAUSSIAN 400.0

static double edge(size_t bin)
{
    return (double)brume_limit_edge(bin);
}

/* What is above a limit, in one part of the tail, by the power law. */
typedef struct lawful_part {
    double units; /* in the part */
    double beyond,
        squares; /* sums of what those above the limit have beyond it, and of its square */
} lawful_part;

/* Of all parts; returns what one unit has beyond the limit that in one of twenty draws some unit
 * exceeds. 0 in all where there is no law. */
static double follow_law(const brume_limit_histogram *histogram, size_t bin, double limit,
                         lawful_part parts[BRUME_LIMIT_PARTS])
{
    brume_limit_seen all = brume_limit_see(histogram);
    brume_power_law law = {.start = 1};
    double farthest = 0;
    for (size_t i = 0; i < BRUME_LIMIT_PARTS; i++)
        parts[i] = (lawful_part){0};
    if (all.top == BRUME_LIMIT_NO_BIN || !brume_limit_find_law(histogram, &all, &law))
        return 0;
    size_t from = histogram->tail.from, part = 0;
    for (size_t i = from; i < histogram->bins; i++) {
        double left = law.units * brume_power_law_above(&law, i - 1);
        double units = left - law.units * brume_power_law_above(&law, i);
        while (i >= brume_limit_part_from(from, part + 1, histogram->bins))
            part++;
        if (left < 0.05)
            break; /* less than one in twenty draws has a unit above this bin */
        parts[part].units += units;
        if (i <= bin)
            continue;
        double beyond = (edge(i - 1) + edge(i)) / 2 - limit;
        parts[part].beyond += units * beyond;
        parts[part].squares += units * beyond * beyond;
        farthest = edge(i) - limit;
    }
    return farthest;
}

/* The units that the law expects in each part of the tail, and 0.3 of them more. */
static void find_expected(const brume_limit_histogram *histogram,
                          double expected[BRUME_LIMIT_PARTS])
{
    lawful_part parts[BRUME_LIMIT_PARTS];
    follow_law(histogram, histogram->tail.from - 1, edge(histogram->tail.from - 1), parts);
    for (size_t i = 0; i < BRUME_LIMIT_PARTS; i++)
        expected[i] = MORE * parts[i].units;
}

bool brume_limit_find_crowds(const brume_limit_histogram *histogram, bool crowds[BRUME_LIMIT_PARTS])
{
    const brume_limit_tail *tail = &histogram->tail;
    double expected[BRUME_LIMIT_PARTS] = {0};
    if (tail->scale > 0)
        find_expected(histogram, expected);
    size_t seen = brume_limit_parts_seen(histogram, expected, false);
    for (size_t i = 0; i < BRUME_LIMIT_PARTS; i++)
        crowds[i] = i < seen && tail->noisy[i] > expected[i];
    return seen > 0;
}

bool brume_limit_is_in_doubt(const brume_limit_histogram *histogram)
{
    bool crowds[BRUME_LIMIT_PARTS];
    return brume_limit_find_crowds(histogram, crowds);
}

/* ---- what is cut ---- */

typedef struct cut {
    double mean, variance; /* of what the units have beyond the limit */
} cut;

/* A part with more units than any law explains: what one of them has beyond the limit, where they
 * are spread over its bins, times the number that was counted. */
static void add_crowd(cut *all, const brume_limit_histogram *histogram, size_t part, size_t bin,
                      double limit)
{
    double in[BRUME_LIMIT_BINS] = {0}, counted = histogram->tail.noisy[part], beyond = 0;
    double deviation = brume_limit_tail_deviation(histogram);
    double units = fmax(counted, deviation);
    brume_limit_spread_part(histogram, part, units, -1, in);
    for (size_t i = bin + 1; i < histogram->bins; i++)
        beyond += in[i] / units * fmax(0, (edge(i - 1) + edge(i)) / 2 - limit);
    beyond *= FARTHER;
    all->mean += fmax(0, counted) * beyond;
    all->variance += deviation * deviation * beyond * beyond;
}

/* The law says to a half of it, and one unit, how many they are. */
static void add_lawful(cut *all, const brume_limit_histogram *histogram, size_t part,
                       const lawful_part *law)
{
    double own = law->units / 2 + 1, noise = brume_limit_tail_deviation(histogram);
    double precision = 1 / (own * own) + 1 / (noise * noise);
    double counted = histogram->tail.noisy[part];
    double units = (law->units / (own * own) + counted / (noise * noise)) / precision;
    units = fmax(units, counted); /* what falls short of doubt may be a crowd all the same */
    double beyond = law->beyond / law->units;
    all->mean += fmax(0, units) * beyond;
    all->variance += beyond * beyond / precision + law->squares;
}

/* A part without a law, above all that is seen: half of what was counted, just above its lower edge
 * (or the limit), on average by a half of that. */
static void add_next(cut *all, const brume_limit_histogram *histogram, size_t first, size_t part,
                     size_t bin, double limit)
{
    double low = first > bin ? edge(first - 1) : limit, beyond = low - limit + low / 2;
    double noise = brume_limit_tail_deviation(histogram) / 2;
    all->mean += fmax(0, histogram->tail.noisy[part]) / 2 * beyond;
    all->variance += noise * noise * beyond * beyond;
}

/* ---- what is made of each part ---- */

typedef enum part_kind {
    PART_BELOW,  /* under the limit, or beyond the grid: nothing is cut there */
    PART_CROWD,  /* as many units as were counted */
    PART_LAWFUL, /* what the law and the count say together */
    PART_NEXT,   /* above all that is seen: half of what was counted */
    PART_EMPTY,  /* nobody */
} part_kind;

typedef struct tail_view {
    part_kind kinds[BRUME_LIMIT_PARTS];
    lawful_part law[BRUME_LIMIT_PARTS];
    double farthest;
    size_t seen; /* parts up to the last one in which more units are seen than the law has */
} tail_view;

static tail_view look_at_tail(const brume_limit_histogram *histogram, size_t bin, double limit)
{
    const brume_limit_tail *tail = &histogram->tail;
    double expected[BRUME_LIMIT_PARTS];
    tail_view view = {0};
    view.farthest = follow_law(histogram, bin, limit, view.law);
    for (size_t i = 0; i < BRUME_LIMIT_PARTS; i++)
        expected[i] = MORE * view.law[i].units;
    view.seen = brume_limit_parts_seen(histogram, expected, false);
    bool above_one = bin > histogram->base || view.seen > 0 || histogram->base > 0;
    for (size_t i = 0; i < BRUME_LIMIT_PARTS; i++) {
        size_t first = brume_limit_part_from(tail->from, i, histogram->bins);
        size_t end = brume_limit_part_from(tail->from, i + 1, histogram->bins);
        bool lawful = view.law[i].units > 0;
        if (end <= bin + 1 || first >= end)
            view.kinds[i] = PART_BELOW;
        else if (i < view.seen && (tail->noisy[i] > expected[i] || !lawful))
            view.kinds[i] = PART_CROWD;
        else if (lawful)
            view.kinds[i] = PART_LAWFUL;
        else
            view.kinds[i] = i == view.seen && above_one ? PART_NEXT : PART_EMPTY;
    }
    return view;
}

static double tail_allowance(const brume_limit_histogram *histogram, size_t bin, double limit)
{
    const brume_limit_tail *tail = &histogram->tail;
    tail_view view = look_at_tail(histogram, bin, limit);
    double noise = brume_limit_deviation(histogram);
    cut all = {0};
    for (size_t i = bin + 1; i < tail->from; i++) { /* below the tail: by the histogram */
        double units = fmax(histogram->noisy[i], 0);
        double beyond = fmax(0, (edge(i - 1) + edge(i)) / 2 - limit);
        all.mean += units * beyond;
        all.variance += (noise * noise + units) * beyond * beyond;
    }
    for (size_t i = 0; i < BRUME_LIMIT_PARTS; i++) {
        size_t first = brume_limit_part_from(tail->from, i, histogram->bins);
        if (view.kinds[i] == PART_CROWD)
            add_crowd(&all, histogram, i, bin, limit);
        else if (view.kinds[i] == PART_LAWFUL)
            add_lawful(&all, histogram, i, &view.law[i]);
        else if (view.kinds[i] == PART_NEXT)
            add_next(&all, histogram, first, i, bin, limit);
    }
    /* in a heavy tail the largest unit is more than deviations tell */
    return all.mean + fmax(view.farthest, UPPER * sqrt(all.variance));
}

double brume_limit_cut_allowance(const brume_limit_histogram *histogram, double limit)
{
    size_t bin = brume_limit_bin((brume_u128)limit, 1, histogram->bins);
    if (histogram->tail.scale > 0)
        return tail_allowance(histogram, bin, limit);
    /* no tail was bought because the first count was quiet; else nobody counted */
    return histogram->first.scale > 0 && brume_limit_is_quiet(histogram) ? 0 : NAN;
}

/* ---- what may be hidden ---- */

double brume_limit_seen_units(const brume_limit_histogram *histogram)
{
    double units = 0;
    if (!(histogram->scale > 0))
        return NAN;
    brume_limit_seen all = brume_limit_see(histogram);
    for (size_t i = 0; i < histogram->bins; i++)
        units += all.passed[i] ? histogram->noisy[i] : 0;
    return units;
}

double brume_limit_hidden_units(const brume_limit_histogram *histogram, double limit, double units)
{
    const brume_limit_tail *tail = &histogram->tail;
    const brume_limit_count *first = &histogram->first;
    double crowd = units / (histogram->gaussian ? HIDDEN_GAUSSIAN : HIDDEN_LAPLACE);
    double own = brume_limit_tail_deviation(histogram), hidden = 0;
    if (!(tail->scale > 0)) {
        hidden = first->noisy + UPPER * brume_limit_deviation_of(histogram, first->scale);
        return hidden >= crowd ? fmax(0, hidden) : 0;
    }
    size_t bin = brume_limit_bin((brume_u128)limit, 1, histogram->bins);
    tail_view view = look_at_tail(histogram, bin, limit);
    for (size_t i = 0; i < BRUME_LIMIT_PARTS; i++) {
        double most = tail->noisy[i] + UPPER * own - MORE * view.law[i].units;
        bool beside_a_crowd = i > 0 && i == view.seen;
        if (view.kinds[i] != PART_BELOW && view.kinds[i] != PART_CROWD &&
            most >= (beside_a_crowd ? crowd / 2 : crowd))
            hidden = fmax(hidden, most);
    }
    return hidden;
}
