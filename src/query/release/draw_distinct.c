/* COUNT(DISTINCT x): the choice of its limit, the counts under it, and their noise.
 *
 * Promise: every bin and every drawn group gets its noise; the limit is a function of noisy numbers
 * and public ones. */
#include "query/release/draw_distinct.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/limit/spread.h"
#include "query/limit/tail.h"
#include "query/plan/plan_distinct.h"

/* Which drawn group each pair is of; SIZE_MAX: of none that is drawn. Both are in the order of the
 * keys. */
static void find_groups(const brume_plan *plan, const brume_bounded_group *pairs, size_t count,
                        const brume_drawn *drawn, size_t *group_of)
{
    size_t keys = plan->query->key_count, group = 0;
    for (size_t i = 0; i < count; i++) {
        while (group < drawn->count &&
               brume_keys_compare(drawn->groups[group]->keys, pairs[i].keys, keys) < 0)
            group++;
        bool same = group < drawn->count &&
                    brume_keys_compare(drawn->groups[group]->keys, pairs[i].keys, keys) == 0;
        group_of[i] = same ? group : SIZE_MAX;
    }
}

/* The units above the edge of the bin in parts, with noise, beside the histogram. */
static brume_status draw_tail(const brume_measurement *distinct, const int64_t *units, size_t bin,
                              brume_bits *bits, brume_limit_histogram *histogram,
                              brume_error *error)
{
    int64_t parts[BRUME_LIMIT_PARTS] = {0};
    brume_limit_tail drawn = {.from = bin + 1, .looks = 1, .scale = distinct->distinct.tail_scale};
    for (size_t i = 0; i < BRUME_LIMIT_PARTS; i++)
        for (size_t j = brume_limit_part_from(bin + 1, i, histogram->bins);
             j < brume_limit_part_from(bin + 1, i + 1, histogram->bins); j++)
            parts[i] += units[j];
    BRUME_TRY(brume_draw_counts(distinct->noise, drawn.scale, parts, BRUME_LIMIT_PARTS, bits,
                                drawn.noisy, error));
    histogram->tail = drawn;
    return BRUME_OK;
}

/* A limit from a noisy histogram of the units' pairs. */
static brume_status choose(const brume_measurement *distinct, const brume_collected *pairs,
                           const bool *shown, double cells, brume_bits *bits,
                           double found[BRUME_DISTINCT_EXTRA], brume_error *error)
{
    uint64_t units[BRUME_LIMIT_BINS];
    int64_t counts[BRUME_LIMIT_BINS];
    double noisy[BRUME_LIMIT_BINS];
    brume_total of = {BRUME_TOTAL_PRESENCE, 0};
    brume_limit_histogram histogram = {.noisy = noisy,
                                       .bins = brume_limit_bins(distinct->distinct.ceiling),
                                       .gaussian = distinct->noise != BRUME_NOISE_DISCRETE_LAPLACE,
                                       .scale = distinct->distinct.histogram_scale,
                                       .base = 0}; /* a row adds one value at most */
    BRUME_TRY(brume_collected_histogram((brume_collected *)pairs, &of, 1, histogram.bins, shown,
                                        units, error));
    for (size_t i = 0; i < histogram.bins; i++)
        counts[i] = (int64_t)units[i];
    BRUME_TRY(brume_draw_counts(distinct->noise, histogram.scale, counts, histogram.bins, bits,
                                noisy, error));
    double need = brume_limit_need(distinct->scale, histogram.gaussian, fmax(1, cells));
    size_t bin = brume_limit_choose(&histogram, need);
    uint64_t ceiling = distinct->distinct.ceiling;
    if (bin != BRUME_LIMIT_NO_BIN) {
        BRUME_TRY(draw_tail(distinct, counts, bin, bits, &histogram, error));
        bin = brume_limit_raise(&histogram, bin, need / 2);
    }
    uint64_t limit = bin == BRUME_LIMIT_NO_BIN ? 1 : brume_limit_edge(bin);
    if (ceiling && (limit > ceiling || bin == BRUME_LIMIT_NO_BIN))
        limit = ceiling;
    found[BRUME_DISTINCT_LIMIT] = (double)limit;
    found[BRUME_DISTINCT_CUT_UNITS] =
        bin == BRUME_LIMIT_NO_BIN ? NAN : ceil(brume_limit_cut_units(&histogram, bin));
    found[BRUME_DISTINCT_BEYOND] =
        bin == BRUME_LIMIT_NO_BIN ? NAN : brume_limit_cut_allowance(&histogram, (double)limit);
    return BRUME_OK;
}

typedef struct work {
    size_t *group_of;   /* by the place of a pair */
    bool *shown, *kept; /* by its number */
    int64_t *counts;
} work;

/* The values that each drawn group has, of pairs that some unit keeps. */
static brume_status count_values(const brume_plan *plan, const brume_measurement *distinct,
                                 const brume_collected *pairs, brume_bits *bits,
                                 const brume_drawn *drawn, work *room,
                                 double found[BRUME_DISTINCT_EXTRA], brume_error *error)
{
    size_t count = 0, numbers = brume_collected_numbers(pairs);
    const brume_bounded_group *all = brume_collected_groups(pairs, &count);
    bool limited = distinct->collection.totals;
    find_groups(plan, all, count, drawn, room->group_of);
    for (size_t i = 0; limited && i < count; i++)
        if (all[i].number < numbers)
            room->shown[all[i].number] = room->group_of[i] != SIZE_MAX;
    found[BRUME_DISTINCT_LIMIT] = (double)distinct->distinct.limit;
    found[BRUME_DISTINCT_CUT_UNITS] = found[BRUME_DISTINCT_BEYOND] = NAN;
    if (distinct->distinct.limit == 0)
        BRUME_TRY(choose(distinct, pairs, room->shown, (double)drawn->count, bits, found, error));
    if (limited)
        BRUME_TRY(brume_collected_distinct(pairs, (uint64_t)found[BRUME_DISTINCT_LIMIT],
                                           room->shown, room->kept, error));
    for (size_t i = 0; i < count; i++)
        if (room->group_of[i] != SIZE_MAX && (!limited || room->kept[all[i].number]))
            room->counts[room->group_of[i]]++;
    return BRUME_OK;
}

brume_status brume_draw_distinct(const brume_plan *plan, size_t index, const brume_collected *pairs,
                                 brume_bits *bits, brume_drawn *drawn, brume_error *error)
{
    const brume_measurement *distinct = &plan->measurements[index];
    size_t count = 0, numbers = brume_collected_numbers(pairs);
    (void)brume_collected_groups(pairs, &count);
    numbers = numbers > count ? numbers : count;
    double *noisy = calloc(drawn->count + BRUME_DISTINCT_EXTRA, sizeof *noisy);
    work room = {.group_of = calloc(count + 1, sizeof *room.group_of),
                 .shown = calloc(numbers + 1, sizeof *room.shown),
                 .kept = calloc(numbers + 1, sizeof *room.kept),
                 .counts = calloc(drawn->count + 1, sizeof *room.counts)};
    drawn->results[index].numbers = noisy; /* closed with the rest, also on failure */
    brume_status status = noisy && room.group_of && room.shown && room.kept && room.counts
                              ? BRUME_OK
                              : brume_no_memory(error, "a count of values");
    if (status == BRUME_OK)
        status =
            count_values(plan, distinct, pairs, bits, drawn, &room, noisy + drawn->count, error);
    if (status == BRUME_OK) {
        uint64_t limit = (uint64_t)noisy[drawn->count + BRUME_DISTINCT_LIMIT];
        status = brume_draw_counts(distinct->noise, brume_distinct_scale(distinct, limit),
                                   room.counts, drawn->count, bits, noisy, error);
    }
    free(room.group_of);
    free(room.shown);
    free(room.kept);
    free(room.counts);
    return status;
}

bool brume_distinct_not_found(const brume_plan *plan, size_t index, const brume_drawn *drawn)
{
    const brume_measurement *distinct = &plan->measurements[index];
    return distinct->collection.totals && distinct->distinct.limit == 0 &&
           isnan(drawn->results[index].numbers[drawn->count + BRUME_DISTINCT_CUT_UNITS]);
}

void brume_show_distinct(const brume_plan *plan, size_t index, const brume_drawn *drawn,
                         size_t aggregate, brume_answer_column *column)
{
    const double *found = drawn->results[index].numbers + drawn->count;
    if (plan->aggregates[aggregate].distinct != (int)index)
        return;
    column->biased = false;
    if (!plan->measurements[index].collection.totals)
        return; /* nothing was cut */
    column->limit = found[BRUME_DISTINCT_LIMIT];
    column->cut_units = found[BRUME_DISTINCT_CUT_UNITS];
    column->is_limited = true;
    column->limit_not_found = brume_distinct_not_found(plan, index, drawn);
    column->biased = !(found[BRUME_DISTINCT_BEYOND] <= 0 && found[BRUME_DISTINCT_CUT_UNITS] <= 0);
    /* A pair beyond the limit is a value less at most, of all groups together. */
    column->cut_allowance = found[BRUME_DISTINCT_BEYOND];
    column->cut_not_known = isnan(found[BRUME_DISTINCT_BEYOND]) &&
                            !isnan(found[BRUME_DISTINCT_CUT_UNITS]);
}
