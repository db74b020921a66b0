/* COUNT(DISTINCT x): the choice of its limit, the counts under it, and their noise.
 *
 * Promise: every bin and every drawn group gets its noise; the limit is a function of noisy numbers
 * and public ones. */
#include "query/release/draw_distinct.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/plan/plan_distinct.h"
#include "query/plan/plan_limit.h"
#include "query/release/draw_look.h"

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

typedef struct deciding {
    const brume_terms *terms;
    size_t index;
} deciding;

static brume_status decide(void *context, brume_found_limit *limit, brume_error *error)
{
    const deciding *of = context;
    return brume_terms_decide_distinct(of->terms, of->index, limit, error);
}

static brume_status look(const brume_terms *terms, size_t index, const brume_collected *pairs,
                         const bool *shown, brume_bits *bits, brume_found_limit *limit,
                         brume_error *error)
{
    const brume_plan_limit *of = limit->of;
    uint64_t units[BRUME_LIMIT_BINS];
    brume_look_prices prices = {.noise = terms->plan->measurements[index].noise,
                                .histogram = terms->distinct[index].histogram_scale,
                                .tail = terms->distinct[index].tail_scale};
    deciding context = {terms, index};
    BRUME_TRY(brume_collected_histogram((brume_collected *)pairs, &of->of, of->norm,
                                        BRUME_LIMIT_BINS, shown, units, error));
    return brume_look(units, &prices, bits, decide, &context, limit, error);
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
    column->limit = (double)limit->limit;
    column->is_limited = true;
    column->limit_not_found = brume_found_nothing(limit);
    column->biased = !found || limit->choice.allowance > 0 || limit->choice.hidden > 0;
    if (!found)
        return;
    /* A pair beyond the limit is a value less at most, of all groups together. */
    column->cut_units = column->cut_hidden = ceil(limit->choice.hidden);
    column->cut_allowance = limit->choice.allowance;
}
