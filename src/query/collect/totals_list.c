/* Lists of values with weights: for quantiles and modes, where nothing is cut.
 *
 * All values of a unit stay, and all weigh the same: 1, or less where the unit has more of them
 * than the limit, so that its weights add up to no more than that. */
#include <stdlib.h>

#include "base/error.h"
#include "query/collect/bound_pairs.h"
#include "query/collect/totals.h"
#include "query/limit/clip.h"

enum { SHORT_ENTRY = 2 * sizeof(uint32_t) };

/* ---- taking rows ---- */

brume_status brume_lists_plan(brume_bounder *bounder, brume_error *error)
{
    bounder->lists = calloc(bounder->plan.value_count + 1, sizeof *bounder->lists);
    if (!bounder->lists)
        return brume_no_memory(error, "the units and groups");
    for (size_t i = 0; i < bounder->plan.value_count; i++) {
        const brume_bound_value *value = &bounder->values[i];
        if (!value->keep)
            continue;
        value_list *made = &bounder->lists[bounder->list_count++];
        *made = (value_list){.value = i,
                             .breaker_at = 1 + (bounder->plan.key_count > 0),
                             .breaks_ties = !value->no_breakers,
                             .wide = (uint64_t)value->high - (uint64_t)value->low > UINT32_MAX};
        made->value_at = made->breaker_at + made->breaks_ties;
        made->size = (made->value_at + 1 + made->wide) * sizeof(uint32_t);
        bounder->breaks_ties = bounder->breaks_ties || made->breaks_ties;
    }
    for (size_t s = 0; bounder->list_count && s < SHARDS; s++) {
        shard *own = &bounder->shards[s];
        own->listed = calloc(bounder->list_count, sizeof *own->listed);
        if (!own->listed)
            return brume_no_memory(error, "the units and groups");
    }
    return BRUME_OK;
}

/* The breaker's words are those of no other hash: `number` is that of the row in its pair. */
static void list_value(const brume_bounder *bounder, const value_list *list, const total *of,
                       const waiting_row *row, uint64_t number, uint32_t *entry)
{
    entry[0] = of->unit;
    if (bounder->plan.key_count)
        entry[1] = of->group;
    if (list->breaks_ties) {
        const uint64_t words[] = {row->rank, number};
        entry[list->breaker_at] = (uint32_t)brume_siphash_words(&bounder->choice_key, words, 2);
    }
    uint64_t distance = (uint64_t)measured_value(bounder, measured_in(bounder, row), list->value) -
                        (uint64_t)bounder->values[list->value].low;
    entry[list->value_at] = (uint32_t)distance;
    if (list->wide)
        entry[list->value_at + 1] = (uint32_t)(distance >> 32);
}

/* The same of all rows, for entries that are a unit and one word. */
static void list_short_values(const brume_bounder *bounder, size_t value, const unsigned char *rows,
                              size_t count, total *const *totals, records *to)
{
    uint64_t low = (uint64_t)bounder->values[value].low;
    for (size_t i = 0; i < count; i++) {
        const uint64_t *measured = measured_in(bounder, waiting_in(bounder, rows, i));
        if (!measured_has(measured, value))
            continue;
        uint32_t *entry = record_in(to, SHORT_ENTRY, to->count++);
        entry[0] = totals[i]->unit;
        entry[1] = (uint32_t)((uint64_t)measured_value(bounder, measured, value) - low);
    }
}

brume_status brume_lists_take(shard *own, brume_bounder *bounder, const unsigned char *rows,
                              size_t count, total *const *totals, const uint64_t *numbers,
                              brume_error *error)
{
    for (size_t k = 0; k < bounder->list_count; k++) {
        const value_list *list = &bounder->lists[k];
        records *to = &own->listed[k];
        BRUME_TRY(brume_records_reserve(to, bounder, list->size, error));
        if (list->size == SHORT_ENTRY) {
            list_short_values(bounder, list->value, rows, count, totals, to);
            continue;
        }
        for (size_t i = 0; i < count; i++) {
            const waiting_row *row = waiting_in(bounder, rows, i);
            if (measured_has(measured_in(bounder, row), list->value))
                list_value(bounder, list, totals[i], row, numbers[i],
                           record_in(to, list->size, to->count++));
        }
    }
    return BRUME_OK;
}

/* ---- the lists of a value in all groups ---- */

static uint32_t group_in(const brume_bounder *bounder, const uint32_t *entry)
{
    return bounder->plan.key_count ? entry[1] : 0;
}

static uint64_t distance_in(const value_list *list, const uint32_t *entry)
{
    uint64_t distance = entry[list->value_at];
    return list->wide ? distance | (uint64_t)entry[list->value_at + 1] << 32 : distance;
}

/* How many entries a list has in each group. */
static void count_entries(brume_bounder *bounder, size_t index, const bool *shown)
{
    const value_list *list = &bounder->lists[index];
    size_t values = bounder->plan.value_count;
    for (size_t g = 0; g < bounder->result_groups; g++)
        bounder->result_values[g * values + list->value].count = 0;
    for (size_t s = 0; s < SHARDS; s++) {
        const records *all = &bounder->shards[s].listed[index];
        if (bounder->plan.key_count == 0) {
            bounder->result_values[list->value].count += all->count;
            continue;
        }
        for (size_t i = 0; i < all->count; i++) {
            uint32_t group = group_in(bounder, record_in(all, list->size, i));
            bounder->result_values[group * values + list->value].count += !shown || shown[group];
        }
    }
}

/* Room for the lists of one value in all groups. */
static brume_status make_lists(brume_bounder *bounder, size_t index, const bool *shown,
                               brume_error *error)
{
    const value_list *list = &bounder->lists[index];
    size_t values = bounder->plan.value_count;
    count_entries(bounder, index, shown);
    for (size_t g = 0; g < bounder->result_groups; g++) {
        size_t at = g * values + list->value;
        brume_bounded_value *to = &bounder->result_values[at];
        free(bounder->kept[at]);
        free(bounder->weights[at]);
        free(bounder->breakers[at]);
        to->kept = bounder->kept[at] = malloc((size_t)(to->count + 1) * sizeof **bounder->kept);
        to->weights = bounder->weights[at] =
            malloc((size_t)(to->count + 1) * sizeof **bounder->weights);
        to->breaker = bounder->breakers[at] =
            list->breaks_ties ? malloc((size_t)(to->count + 1) * sizeof **bounder->breakers) : NULL;
        to->count = 0; /* counted up again as the lists are filled */
        if (!to->kept || !to->weights || (list->breaks_ties && !to->breaker))
            return brume_no_memory(error, "the values of a quantile");
    }
    return BRUME_OK;
}

/* Room for what is worked out for each unit of a shard. */
typedef struct unit_weights {
    brume_u128 *norms;
    uint32_t *weights;
} unit_weights;

/* Without keys there is one group, which is shown. */
static void fill_only(brume_bounder *bounder, const value_list *of, const records *all,
                      const uint32_t *weights)
{
    const value_list list = *of; /* its own copy: what is written could be the other's */
    brume_bounded_value *to = &bounder->result_values[list.value];
    int64_t *kept = bounder->kept[list.value] + to->count;
    uint32_t *kept_weights = bounder->weights[list.value] + to->count;
    uint32_t *breakers = list.breaks_ties ? bounder->breakers[list.value] + to->count : NULL;
    uint64_t low = (uint64_t)bounder->values[list.value].low;
    for (size_t i = 0; i < all->count; i++) {
        const uint32_t *entry = record_in(all, list.size, i);
        kept[i] = (int64_t)(distance_in(&list, entry) + low);
        kept_weights[i] = weights[entry[0]];
        if (breakers)
            breakers[i] = entry[list.breaker_at];
    }
    to->count += all->count;
}

static void fill_lists(brume_bounder *bounder, const shard *own, const brume_total_limit *limit,
                       size_t index, const bool *shown, unit_weights room)
{
    const value_list *list = &bounder->lists[index];
    const records *all = &own->listed[index];
    brume_totals_norms(bounder, own, &limit->of, 1, shown, room.norms);
    for (size_t i = 0; i < own->unit_count; i++)
        room.weights[i] = brume_limit_weight(room.norms[i], limit->limit);
    if (bounder->plan.key_count == 0) {
        fill_only(bounder, list, all, room.weights);
        return;
    }
    for (size_t i = 0; i < all->count; i++) {
        const uint32_t *entry = record_in(all, list->size, i);
        uint32_t group = group_in(bounder, entry);
        size_t at = group * bounder->plan.value_count + list->value;
        if (shown && !shown[group])
            continue;
        uint64_t place = bounder->result_values[at].count++;
        bounder->kept[at][place] =
            (int64_t)(distance_in(list, entry) + (uint64_t)bounder->values[list->value].low);
        bounder->weights[at][place] = room.weights[entry[0]];
        if (list->breaks_ties)
            bounder->breakers[at][place] = entry[list->breaker_at];
    }
}

static size_t list_of(const brume_bounder *bounder, size_t value)
{
    size_t index = 0;
    while (bounder->lists[index].value != value)
        index++;
    return index;
}

brume_status brume_totals_list(brume_bounder *bounder, const brume_total_limit *limits,
                               const bool *shown, const brume_limited_list *lists,
                               size_t list_count, brume_error *error)
{
    size_t all = (size_t)bounder->result_groups * bounder->plan.value_count + 1, most = 0;
    for (size_t s = 0; s < SHARDS; s++)
        most = bounder->shards[s].unit_count > most ? bounder->shards[s].unit_count : most;
    if (!bounder->kept) {
        bounder->kept = calloc(all, sizeof *bounder->kept);
        bounder->weights = calloc(all, sizeof *bounder->weights);
        bounder->breakers = calloc(all, sizeof *bounder->breakers);
    }
    unit_weights room = {malloc((most + 1) * sizeof *room.norms),
                         malloc((most + 1) * sizeof *room.weights)};
    brume_status status = room.norms && room.weights && bounder->kept && bounder->weights &&
                                  bounder->breakers
                              ? BRUME_OK
                              : brume_no_memory(error, "the values of a quantile");
    for (size_t i = 0; status == BRUME_OK && i < list_count; i++) {
        size_t index = list_of(bounder, lists[i].value);
        status = make_lists(bounder, index, shown, error);
        for (size_t s = 0; status == BRUME_OK && s < SHARDS; s++)
            fill_lists(bounder, &bounder->shards[s], &limits[lists[i].limit], index, shown, room);
    }
    free(room.norms);
    free(room.weights);
    return status;
}
