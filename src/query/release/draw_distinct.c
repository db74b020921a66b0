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
#include "query/plan/plan_limit.h"

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

/* By the place and by the number of a pair, which groups are drawn. */
typedef struct work {
    size_t *group_of;   /* by the place of a pair */
    bool *shown, *kept; /* by its number */
    int64_t *counts;
} work;

static void free_work(work *room)
{
    free(room->group_of);
    free(room->shown);
    free(room->kept);
    free(room->counts);
}

static brume_status open_work(const brume_plan *plan, const brume_collected *pairs,
                              const brume_drawn *drawn, bool limited, work *room,
                              brume_error *error)
{
    size_t count = 0, numbers = brume_collected_numbers(pairs);
    const brume_bounded_group *all = brume_collected_groups(pairs, &count);
    size_t most = numbers > count ? numbers : count;
    *room = (work){.group_of = calloc(count + 1, sizeof *room->group_of),
                   .shown = calloc(most + 1, sizeof *room->shown),
                   .kept = calloc(most + 1, sizeof *room->kept),
                   .counts = calloc(drawn->count + 1, sizeof *room->counts)};
    if (!room->group_of || !room->shown || !room->kept || !room->counts) {
        free_work(room);
        return brume_no_memory(error, "a count of values");
    }
    find_groups(plan, all, count, drawn, room->group_of);
    for (size_t i = 0; limited && i < count; i++)
        if (all[i].number < numbers)
            room->shown[all[i].number] = room->group_of[i] != SIZE_MAX;
    return BRUME_OK;
}

/* Are the values counted where the rows lie? Then the pairs stay there, and only those of drawn
 * groups are looked at. Declared groups are a condition on the rows already, but for those of
 * grouping sets. */
static bool counted_there(const brume_plan *plan, const brume_collected *pairs,
                          const brume_drawn *drawn)
{
    if (!brume_collected_counts_there(pairs))
        return false;
    if (plan->shape.private_keys || plan->query->set_count > 1)
        brume_collected_restrict((brume_collected *)pairs, drawn->groups, drawn->count,
                                 plan->query->key_count);
    return true;
}

/* ---- the limit ---- */

/* The units above the edge of the bin, counted in parts with noise, in addition to the histogram.
 */
static brume_status draw_tail(const brume_terms *terms, size_t index, const int64_t *units,
                              brume_bits *bits, brume_found_limit *limit, brume_error *error)
{
    int64_t parts[BRUME_LIMIT_PARTS] = {0};
    brume_limit_tail drawn = {
        .from = limit->bin + 1, .looks = 1, .scale = terms->distinct[index].tail_scale};
    for (size_t i = 0; i < BRUME_LIMIT_PARTS; i++)
        for (size_t j = brume_limit_part_from(drawn.from, i, BRUME_LIMIT_BINS);
             j < brume_limit_part_from(drawn.from, i + 1, BRUME_LIMIT_BINS); j++)
            parts[i] += units[j];
    BRUME_TRY(brume_draw_counts(terms->plan->measurements[index].noise, drawn.scale, parts,
                                BRUME_LIMIT_PARTS, bits, drawn.noisy, error));
    limit->tail = drawn;
    return BRUME_OK;
}

/* A noisy histogram of the units' pairs, and where it shows a limit the tail above it. */
static brume_status look(const brume_terms *terms, size_t index, const brume_collected *pairs,
                         const bool *shown, brume_bits *bits, brume_found_limit *limit,
                         brume_error *error)
{
    const brume_plan_limit *of = limit->of;
    brume_noise_kind noise = terms->plan->measurements[index].noise;
    uint64_t units[BRUME_LIMIT_BINS];
    int64_t counts[BRUME_LIMIT_BINS], open[BRUME_LIMIT_BINS] = {0}; /* open: the last bin is */
    limit->bins = brume_limit_bins(of->ceiling);
    BRUME_TRY(brume_collected_histogram((brume_collected *)pairs, &of->of, of->norm,
                                        BRUME_LIMIT_BINS, shown, units, error));
    for (size_t i = 0; i < BRUME_LIMIT_BINS; i++) {
        counts[i] = (int64_t)units[i];
        open[i < limit->bins ? i : limit->bins - 1] += counts[i];
    }
    limit->gaussian = noise != BRUME_NOISE_DISCRETE_LAPLACE;
    limit->scale = terms->distinct[index].histogram_scale;
    BRUME_TRY(brume_draw_counts(noise, limit->scale, open, limit->bins, bits, limit->noisy, error));
    brume_terms_decide_distinct(terms, index, limit);
    return limit->bin == BRUME_LIMIT_NO_BIN ? BRUME_OK
                                            : draw_tail(terms, index, counts, bits, limit, error);
}

brume_status brume_distinct_look(const brume_terms *terms, size_t index,
                                 const brume_collected *pairs, const brume_drawn *drawn,
                                 brume_bits *bits, brume_found_limit *limit, brume_error *error)
{
    if (counted_there(terms->plan, pairs, drawn))
        return look(terms, index, pairs, NULL, bits, limit, error);
    work room;
    BRUME_TRY(open_work(terms->plan, pairs, drawn, true, &room, error));
    brume_status status = look(terms, index, pairs, room.shown, bits, limit, error);
    free_work(&room);
    return status;
}

/* ---- the counts ---- */

/* The values that each drawn group has, of pairs that some unit keeps. */
static brume_status count_values(const brume_measurement *distinct, const brume_collected *pairs,
                                 uint64_t limit, work *room, brume_error *error)
{
    size_t count = 0;
    const brume_bounded_group *all = brume_collected_groups(pairs, &count);
    bool limited = distinct->collection.totals;
    if (limited)
        BRUME_TRY(brume_collected_distinct(pairs, limit, room->shown, room->kept, error));
    for (size_t i = 0; i < count; i++)
        if (room->group_of[i] != SIZE_MAX && (!limited || room->kept[all[i].number]))
            room->counts[room->group_of[i]]++;
    return BRUME_OK;
}

brume_status brume_draw_distinct(const brume_terms *terms, size_t index,
                                 const brume_collected *pairs, brume_bits *bits, brume_drawn *drawn,
                                 brume_error *error)
{
    const brume_plan *plan = terms->plan;
    const brume_measurement *distinct = &plan->measurements[index];
    uint64_t limit = terms->distinct[index].limit.limit; /* of the pairs, and of their noise */
    work room;
    double *noisy = calloc(drawn->count + 1, sizeof *noisy);
    drawn->results[index].numbers = noisy; /* closed with the rest, also on failure */
    if (!noisy)
        return brume_no_memory(error, "a count of values");
    BRUME_TRY(open_work(plan, pairs, drawn, distinct->collection.totals, &room, error));
    brume_status status = counted_there(plan, pairs, drawn)
                              ? brume_collected_count_values((brume_collected *)pairs, limit,
                                                             drawn->groups, drawn->count,
                                                             room.counts, error)
                              : count_values(distinct, pairs, limit, &room, error);
    if (status == BRUME_OK)
        status = brume_draw_counts(distinct->noise, brume_distinct_scale(&terms->distinct[index]),
                                   room.counts, drawn->count, bits, noisy, error);
    free_work(&room);
    return status;
}

void brume_show_distinct(const brume_terms *terms, size_t index, const brume_drawn *drawn,
                         size_t aggregate, brume_answer_column *column)
{
    const brume_plan *plan = terms->plan;
    const brume_found_limit *limit = &terms->distinct[index].limit;
    (void)drawn;
    if (plan->aggregates[aggregate].distinct != (int)index)
        return;
    column->biased = false;
    if (!plan->measurements[index].collection.totals)
        return; /* nothing was cut */
    bool found = brume_found_is_counted(limit);
    double noisy[BRUME_LIMIT_BINS];
    brume_limit_histogram histogram = brume_found_counted(limit, noisy);
    double beyond = found ? brume_limit_cut_allowance(&histogram, (double)limit->limit) : NAN;
    column->limit = (double)limit->limit;
    column->cut_units = found ? ceil(brume_limit_cut_units(&histogram, limit->bin)) : NAN;
    column->is_limited = true;
    column->limit_not_found = brume_found_nothing(limit);
    column->biased = !(beyond <= 0 && column->cut_units <= 0);
    /* A pair beyond the limit is a value less at most, of all groups together. */
    column->cut_allowance = beyond;
    column->cut_not_known = found && isnan(beyond);
    if (!found || isnan(beyond))
        return;
    brume_limit_histogram whole = brume_found_histogram(limit); /* with units above the ceiling */
    double hidden = ceil(
        brume_limit_hidden_units(&histogram, (double)limit->limit, brume_limit_seen_units(&whole)));
    if (hidden > 0) {
        column->cut_hidden = hidden;
        column->biased = true;
    }
}
