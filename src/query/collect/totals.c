/* Totals: norms of what each unit has, and sums of what is left of it under limits.
 *
 * On all processors, a shard at a time each, so that the norms that are kept are those of a shard's
 * units. Sums are of integers: whoever adds up which shard makes no difference. */
#include "query/collect/totals.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/parallel.h"
#include "query/collect/bound_pairs.h"
#include "query/collect/siphash_batch.h"
#include "query/limit/clip.h"
#include "query/limit/grid.h"

static bool is_shown(const bool *shown, const total *one)
{
    return !shown || shown[one->group];
}

/* The keyed hashes of the names of a shard's units, by their numbers. The caller frees them. */
static uint64_t *unit_hashes(const brume_bounder *bounder, const shard *own)
{
    uint64_t *hashes = malloc((own->unit_count + 1) * sizeof *hashes);
    for (size_t i = 0; hashes && i < own->unit_room; i++)
        if (own->unit_places[i].number)
            hashes[own->unit_places[i].number - 1] = own->unit_places[i].unit;
    if (hashes && !bounder->text_units)
        brume_siphash_batch_one(&bounder->table_key, hashes, own->unit_count, hashes);
    return hashes;
}

/* The ranks of `count` <= BATCH totals from `first` on: keyed hashes of unit and group. */
static void rank_totals(const brume_bounder *bounder, const shard *own, const uint64_t *units,
                        size_t first, size_t count, uint64_t *ranks)
{
    uint64_t names[BATCH], tokens[BATCH];
    for (size_t i = 0; i < count; i++) {
        const total *one = total_in(bounder, own, first + i);
        names[i] = units[one->unit];
        tokens[i] = bounder->group_tokens[one->group];
    }
    brume_siphash_batch_two(&bounder->choice_key, names, tokens, count, ranks);
}

/* Which groups some unit keeps, where each keeps a limited number of its own: for counts of
 * distinct values.
 *
 * What a unit keeps is a function of its own rows and the key alone: those groups whose pairs with
 * the unit have the smallest ranks. Should two be equal, the keys of the groups decide. */

typedef struct ranked_group {
    brume_bounder *bounder;
    uint64_t rank;
    uint32_t group;
} ranked_group;

static bool is_before(const ranked_group *a, const ranked_group *b)
{
    if (a->rank != b->rank)
        return a->rank < b->rank;
    return a->group != b->group && brume_bound_key_before(a->bounder, a->group, b->group);
}

static int compare_ranked(const void *left, const void *right)
{
    return is_before(right, left) - is_before(left, right);
}

/* The first `limit` of the groups of one unit. */
static void keep_groups(ranked_group *groups, size_t count, uint64_t limit, bool *kept)
{
    enum { FEW = 64 };
    if (count > limit && count > FEW)
        qsort(groups, count, sizeof *groups, compare_ranked);
    for (size_t i = 1; count > limit && count <= FEW && i < count; i++) {
        ranked_group moved = groups[i];
        size_t at = i;
        for (; at > 0 && is_before(&moved, &groups[at - 1]); at--)
            groups[at] = groups[at - 1];
        groups[at] = moved;
    }
    for (size_t i = 0; i < count && i < limit; i++)
        kept[groups[i].group] = true;
}

static brume_status keep_of_shard(brume_bounder *bounder, const shard *own, uint64_t limit,
                                  const bool *shown, ranked_group **groups, size_t *room,
                                  bool *kept, brume_error *error)
{
    uint64_t *units = unit_hashes(bounder, own), ranks[BATCH];
    size_t count = 0;
    uint32_t unit = 0;
    for (size_t i = 0; units && i < own->totals.count; i++) {
        if (i % BATCH == 0)
            rank_totals(bounder, own, units, i,
                        own->totals.count - i < BATCH ? own->totals.count - i : BATCH, ranks);
        const total *one = total_in(bounder, own, i);
        if (one->unit != unit) {
            keep_groups(*groups, count, limit, kept);
            count = 0;
            unit = one->unit;
        }
        if (!is_shown(shown, one))
            continue;
        if (count == *room) {
            size_t more = 2 * *room + BATCH;
            ranked_group *wider = realloc(*groups, more * sizeof *wider);
            if (!wider) {
                free(units);
                return brume_no_memory(error, "the units and groups");
            }
            *groups = wider;
            *room = more;
        }
        (*groups)[count++] = (ranked_group){bounder, ranks[i % BATCH], one->group};
    }
    keep_groups(*groups, count, limit, kept);
    brume_status status = units ? BRUME_OK : brume_no_memory(error, "the units and groups");
    free(units);
    return status;
}

brume_status brume_totals_distinct(brume_bounder *bounder, uint64_t limit, const bool *shown,
                                   bool *kept, brume_error *error)
{
    ranked_group *groups = NULL;
    size_t room = 0;
    brume_status status = BRUME_OK;
    memset(kept, 0, bounder->result_groups * sizeof *kept);
    for (size_t s = 0; status == BRUME_OK && s < SHARDS; s++)
        status =
            keep_of_shard(bounder, &bounder->shards[s], limit, shown, &groups, &room, kept, error);
    free(groups);
    return status;
}

/* Lists of values with weights: for quantiles and modes, where nothing is cut.
 *
 * All values of a unit stay, and all weigh the same: 1, or less where the unit has more of them
 * than the limit, so that its weights add up to no more than that. */

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

/* The breaker's words are those of no other hash: `number` is that of the row among its unit's. */
static void list_value(const brume_bounder *bounder, const value_list *list, uint32_t unit,
                       const waiting_row *row, uint64_t number, uint32_t *entry)
{
    entry[0] = unit;
    if (bounder->plan.key_count)
        entry[1] = row->group;
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
                              size_t count, const uint32_t *units, records *to)
{
    uint64_t low = (uint64_t)bounder->values[value].low;
    for (size_t i = 0; i < count; i++) {
        const uint64_t *measured = measured_in(bounder, waiting_in(bounder, rows, i));
        if (!measured_has(measured, value))
            continue;
        uint32_t *entry = record_in(to, SHORT_ENTRY, to->count++);
        entry[0] = units[i];
        entry[1] = (uint32_t)((uint64_t)measured_value(bounder, measured, value) - low);
    }
}

brume_status brume_lists_take(shard *own, brume_bounder *bounder, const unsigned char *rows,
                              size_t count, const uint32_t *units, const uint32_t *numbers,
                              brume_error *error)
{
    for (size_t k = 0; k < bounder->list_count; k++) {
        const value_list *list = &bounder->lists[k];
        records *to = &own->listed[k];
        BRUME_TRY(brume_records_reserve(to, bounder, list->size, count, error));
        if (list->size == SHORT_ENTRY) {
            list_short_values(bounder, list->value, rows, count, units, to);
            continue;
        }
        for (size_t i = 0; i < count; i++) {
            const waiting_row *row = waiting_in(bounder, rows, i);
            if (measured_has(measured_in(bounder, row), list->value))
                list_value(bounder, list, units[i], row, list->breaks_ties ? numbers[i] : 0,
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

static void totals_norms(const brume_bounder *bounder, const shard *own, const brume_total *of,
                         int p, const bool *shown, brume_u128 *norms);

static void fill_lists(brume_bounder *bounder, const shard *own, const brume_total_limit *limit,
                       size_t index, const bool *shown, unit_weights room)
{
    const value_list *list = &bounder->lists[index];
    const records *all = &own->listed[index];
    totals_norms(bounder, own, &limit->of, 1, shown, room.norms);
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

static brume_i128 wide_at(const uint64_t *words)
{
    brume_i128 x;
    memcpy(&x, words, sizeof x);
    return x;
}

static brume_i128 sum_of(const brume_bounder *bounder, const total *one, size_t value)
{
    const total_place *place = &bounder->total_at[value];
    const uint64_t *words = one->words + place->at + 1;
    return place->narrow ? (brume_i128)(int64_t)*words : wide_at(words);
}

static uint64_t count_of(const brume_bounder *bounder, const total *one, size_t value)
{
    return one->words[bounder->total_at[value].at];
}

/* ---- norms ---- */

/* Sum of the value less a number on the grid. */
static brume_i128 sum_about(const brume_bounder *bounder, const total *one, size_t value,
                            int64_t centre)
{
    brume_i128 moved = (brume_i128)bounder->values[value].centre - centre;
    return sum_of(bounder, one, value) + moved * (brume_i128)count_of(bounder, one, value);
}

/* Sum of (x - c)^2 = sum of x^2 - c (2 sum of x - c n), from the sums that there are; never below
 * 0. Rounded, but a function of these sums, and so of the unit's own rows, alone: what bounds it is
 * the limit. */
static brume_i128 squares_about(const brume_bounder *bounder, const total *one,
                                const brume_total *of)
{
    size_t x = of->root - 1;
    double c = (double)of->centre, count = (double)count_of(bounder, one, x);
    brume_i128 squares = sum_about(bounder, one, of->value, 0);
    double less = of->steps * c * (2 * (double)sum_about(bounder, one, x, 0) - c * count);
    double about = rint((double)squares - less);
    return of->centre == 0 ? squares : about > 0 ? (brume_i128)fmin(about, 0x1p120) : 0;
}

static brume_i128 entry_of(const brume_bounder *bounder, const total *one, const brume_total *of)
{
    switch (of->kind) {
    case BRUME_TOTAL_PRESENCE:
        return 1;
    case BRUME_TOTAL_ROWS:
        return (brume_i128)one->rows;
    case BRUME_TOTAL_VALUES:
        return (brume_i128)count_of(bounder, one, of->value);
    case BRUME_TOTAL_SUM:
        break;
    }
    return of->root ? squares_about(bounder, one, of)
                    : sum_about(bounder, one, of->value, of->centre);
}

/* The norms of a shard's units over the groups that are shown. */
static void totals_norms(const brume_bounder *bounder, const shard *own, const brume_total *of,
                         int p, const bool *shown, brume_u128 *norms)
{
    memset(norms, 0, own->unit_count * sizeof *norms);
    for (size_t i = 0; i < own->totals.count; i++) {
        const total *one = total_in(bounder, own, i);
        if (is_shown(shown, one))
            norms[one->unit] =
                brume_limit_add(norms[one->unit], brume_limit_part(entry_of(bounder, one, of), p));
    }
}

size_t brume_totals_groups(const brume_bounder *bounder)
{
    return bounder->result_groups;
}

/* ---- all shards, on all processors ---- */

enum { MOST_LANES = 16 };

/* Lane i of `count` keeps norms and sums of its own. */
typedef struct lanes {
    const brume_bounder *bounder;
    void (*visit)(void *context, size_t lane, const shard *own);
    void *context;
    atomic_size_t next; /* the next shard that nobody has */
} lanes;

static void run_lane(void *context, size_t lane, uint64_t first, uint64_t last)
{
    lanes *all = context;
    (void)first;
    (void)last;
    for (size_t s; (s = atomic_fetch_add(&all->next, 1)) < SHARDS;)
        all->visit(all->context, lane, &all->bounder->shards[s]);
}

static uint64_t count_totals(const brume_bounder *bounder)
{
    uint64_t count = 0;
    for (size_t s = 0; s < SHARDS; s++)
        count += bounder->shards[s].totals.count;
    return count;
}

static size_t count_lanes(const brume_bounder *bounder)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t most = cores < 1 ? 1 : cores < MOST_LANES ? (size_t)cores : MOST_LANES;
    return brume_parallel_pieces(most, count_totals(bounder) / most);
}

/* Each lane has `cells` sums of its own: no more lanes than there are totals for all of these, so
 * that many groups with few units each take no more room than the totals do. */
static size_t count_summing_lanes(const brume_bounder *bounder, size_t cells)
{
    size_t most = count_lanes(bounder);
    uint64_t useful = count_totals(bounder) / (cells + 1) + 1;
    return useful < most ? (size_t)useful : most;
}

static void visit_shards(const brume_bounder *bounder, size_t lane_count,
                         void (*visit)(void *context, size_t lane, const shard *own), void *context)
{
    lanes all = {.bounder = bounder, .visit = visit, .context = context};
    brume_parallel_run_on(lane_count, lane_count, count_totals(bounder) / lane_count, run_lane,
                          &all);
}

/* ---- sums of the groups ---- */

typedef struct adding {
    brume_bounder *bounder;
    uint64_t *numbers;  /* [lane][group]: rows, units */
    atomic_bool failed; /* there is no memory */
} adding;

/* Which group a unit keeps where keys are private: that of the least rank; should two have equal
 * ones, their keys decide. */
static void count_kept(brume_bounder *bounder, const shard *own, const uint64_t *units,
                       uint64_t *numbers)
{
    uint64_t ranks[BATCH], least = 0;
    const total *kept = NULL;
    for (size_t i = 0; i < own->totals.count; i++) {
        if (i % BATCH == 0)
            rank_totals(bounder, own, units, i,
                        own->totals.count - i < BATCH ? own->totals.count - i : BATCH, ranks);
        const total *one = total_in(bounder, own, i);
        uint64_t rank = ranks[i % BATCH];
        if (kept && kept->unit != one->unit) {
            numbers[2 * (size_t)kept->group + 1]++;
            kept = NULL;
        }
        if (!kept || rank < least ||
            (rank == least && brume_bound_key_before(bounder, one->group, kept->group))) {
            kept = one;
            least = rank;
        }
    }
    if (kept)
        numbers[2 * (size_t)kept->group + 1]++;
}

static void add_shard(void *context, size_t lane, const shard *own)
{
    adding *how = context;
    brume_bounder *bounder = how->bounder;
    uint64_t *numbers = how->numbers + 2 * lane * bounder->result_groups;
    bool keeps = bounder->plan.keep_key;
    for (size_t i = 0; i < own->totals.count; i++) {
        const total *one = total_in(bounder, own, i);
        numbers[2 * (size_t)one->group] += one->rows;
        numbers[2 * (size_t)one->group + 1] += !keeps;
    }
    if (!keeps)
        return;
    uint64_t *units = unit_hashes(bounder, own);
    if (units)
        count_kept(bounder, own, units, numbers);
    else
        atomic_store(&how->failed, true);
    free(units);
}

brume_status brume_totals_sum(brume_bounder *bounder, brume_error *error)
{
    size_t groups = bounder->result_groups, lane_count = count_summing_lanes(bounder, 2 * groups);
    adding how = {.bounder = bounder,
                  .numbers = calloc(2 * groups * lane_count + 1, sizeof *how.numbers)};
    if (!how.numbers)
        return brume_no_memory(error, "the units and groups");
    visit_shards(bounder, lane_count, add_shard, &how);
    if (atomic_load(&how.failed)) {
        free(how.numbers);
        return brume_no_memory(error, "the units and groups");
    }
    for (size_t i = 0; i < groups * lane_count; i++) {
        bounder->result[i % groups].rows += how.numbers[2 * i];
        bounder->result[i % groups].units += how.numbers[2 * i + 1];
    }
    free(how.numbers);
    return BRUME_OK;
}

static size_t most_units(const brume_bounder *bounder)
{
    size_t most = 0;
    for (size_t s = 0; s < SHARDS; s++)
        most = bounder->shards[s].unit_count > most ? bounder->shards[s].unit_count : most;
    return most;
}

typedef struct counting {
    const brume_bounder *bounder;
    const brume_total *of;
    int p;
    size_t bins, units; /* units: room for the norms of a shard */
    const bool *shown;
    brume_u128 *norms; /* [lane][unit of the shard] */
    uint64_t *counts;  /* [lane][bin] */
} counting;

static void count_shard(void *context, size_t lane, const shard *own)
{
    const counting *how = context;
    brume_u128 *norms = how->norms + lane * how->units;
    uint64_t *counts = how->counts + lane * how->bins;
    totals_norms(how->bounder, own, how->of, how->p, how->shown, norms);
    for (size_t i = 0; i < own->unit_count; i++) {
        size_t bin = brume_limit_bin(norms[i], how->p, how->bins);
        if (bin != BRUME_LIMIT_NO_BIN)
            counts[bin]++;
    }
}

brume_status brume_totals_histogram(brume_bounder *bounder, const brume_total *of, int p,
                                    size_t bins, const bool *shown, uint64_t *counts,
                                    brume_error *error)
{
    size_t lane_count = count_lanes(bounder);
    counting how = {bounder, of, p, bins, most_units(bounder), shown, NULL, NULL};
    how.norms = malloc((how.units * lane_count + 1) * sizeof *how.norms);
    how.counts = calloc(bins * lane_count + 1, sizeof *how.counts);
    brume_status status = BRUME_OK;
    if (how.norms && how.counts) {
        visit_shards(bounder, lane_count, count_shard, &how);
        memset(counts, 0, bins * sizeof *counts);
        for (size_t i = 0; i < bins * lane_count; i++)
            counts[i % bins] += how.counts[i];
    } else {
        status = brume_no_memory(error, "the units and groups");
    }
    free(how.norms);
    free(how.counts);
    return status;
}

/* ---- units by their means ---- */

/* What a unit has of one value in all groups that are shown. */
typedef struct unit_mean {
    brume_i128 above; /* sum of value - low, of at least low */
    uint64_t count;
} unit_mean;

static void add_means(const brume_bounder *bounder, const brume_mean_cells *cells, const shard *own,
                      const bool *shown, unit_mean *units, uint64_t *weights)
{
    brume_i128 moved = (brume_i128)bounder->values[cells->value].centre - cells->low;
    memset(units, 0, (own->unit_count + 1) * sizeof *units);
    for (size_t i = 0; i < own->totals.count; i++) {
        const total *one = total_in(bounder, own, i);
        uint64_t count = count_of(bounder, one, cells->value);
        if (!is_shown(shown, one))
            continue;
        units[one->unit].above += sum_of(bounder, one, cells->value) + moved * (brume_i128)count;
        units[one->unit].count += count;
    }
    for (size_t i = 0; i < own->unit_count; i++) {
        if (units[i].count == 0)
            continue;
        brume_u128 cell = (brume_u128)units[i].above / ((brume_u128)units[i].count * cells->width);
        weights[cell < cells->count ? (size_t)cell : cells->count - 1] +=
            units[i].count < cells->most ? units[i].count : cells->most;
    }
}

brume_status brume_totals_means(const brume_bounder *bounder, const brume_mean_cells *cells,
                                const bool *shown, uint64_t *weights, brume_error *error)
{
    unit_mean *units = malloc((most_units(bounder) + 1) * sizeof *units);
    if (!units)
        return brume_no_memory(error, "the units and groups");
    memset(weights, 0, cells->count * sizeof *weights);
    for (size_t s = 0; s < SHARDS; s++)
        add_means(bounder, cells, &bounder->shards[s], shown, units, weights);
    free(units);
    return BRUME_OK;
}

/* ---- sums under limits ---- */

/* Nearer to 0, so that what the limit leaves of it is too. */
static brume_i128 scale_down(brume_i128 entry, const brume_limit_factor *factor)
{
    double size = (double)(entry < 0 ? -entry : entry);
    brume_i128 scaled = (brume_i128)(fmin(size, 0x1p120) * factor->factor);
    if (!factor->cuts || scaled >= (entry < 0 ? -entry : entry))
        return entry;
    return entry < 0 ? -scaled : scaled;
}

/* What a total adds to one of the sums. */
static brume_i128 limited(const brume_bounder *bounder, const total *one,
                          const brume_limited_sum *sum, const brume_total_limit *limit, int p,
                          const brume_limit_factor *factor, const brume_limit_factor *spared)
{
    if (sum->kind == BRUME_MEASURE_UNITS || brume_measure_kind_selects(sum->kind))
        return 0; /* the test of keys was on these; lists are drawn from */
    if (sum->kind == BRUME_MEASURE_CENTRED)
        return brume_limit_follow(sum_of(bounder, one, sum->value), factor, sum->shift);
    if (sum->kind == BRUME_MEASURE_HOLDERS) /* 0 or 1, and the limit is on 1 in every group */
        return brume_limit_follow(count_of(bounder, one, sum->value) > 0, factor, sum->shift);
    if (sum->kind == BRUME_MEASURE_SQUARES) {
        const total_place *place = &bounder->total_at[sum->value];
        const uint64_t *words = one->words + place->at;
        brume_i128 squares = wide_at(words + (place->narrow ? 2 : 3)) -
                             (brume_i128)sum->half_square * (brume_i128)words[0];
        return brume_limit_follow(squares, factor, sum->shift);
    }
    brume_i128 entry = entry_of(bounder, one, &limit->of);
    return brume_limit_clip(spared ? scale_down(entry, spared) : entry, factor, limit->limit,
                            sum->shift, p);
}

typedef struct limiting {
    const brume_bounder *bounder;
    const brume_total_limit *limits;
    size_t limit_count;
    int p;
    const bool *shown;
    const brume_limited_sum *sums;
    size_t sum_count, units;     /* units: room for the norms of a shard */
    brume_u128 *norms;           /* [lane][unit of the shard] */
    brume_limit_factor *factors; /* [lane][limit][unit of the shard] */
    brume_i128 *limited;         /* [lane][group][sum] */
} limiting;

static brume_limit_factor factor_of(brume_u128 norm, const brume_total_limit *limit, int p)
{
    return p == 2 && limit->square ? brume_limit_factor_within(norm, limit->square)
                                   : brume_limit_factor_of(norm, limit->limit, p);
}

/* Is none of the sums of what a unit has: are lists drawn from, or units counted? */
static bool sums_nothing(const brume_limited_sum *sums, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (sums[i].kind != BRUME_MEASURE_UNITS && !brume_measure_kind_selects(sums[i].kind))
            return false;
    return true;
}

static void limit_shard(void *context, size_t lane, const shard *own)
{
    const limiting *how = context;
    brume_u128 *norms = how->norms + lane * how->units;
    brume_limit_factor *factors = how->factors + lane * how->limit_count * how->units;
    brume_i128 *sums = how->limited + lane * how->bounder->result_groups * how->sum_count;
    for (size_t j = 0; j < how->limit_count; j++) {
        totals_norms(how->bounder, own, &how->limits[j].of, how->p, how->shown, norms);
        for (size_t i = 0; i < own->unit_count; i++)
            factors[j * how->units + i] = factor_of(norms[i], &how->limits[j], how->p);
    }
    for (size_t i = 0; i < own->totals.count; i++) {
        const total *one = total_in(how->bounder, own, i);
        brume_i128 *to = sums + one->group * how->sum_count;
        if (!is_shown(how->shown, one))
            continue;
        for (size_t k = 0; k < how->sum_count; k++) {
            size_t j = how->sums[k].limit, spared = how->sums[k].spared;
            to[k] += limited(how->bounder, one, &how->sums[k], &how->limits[j], how->p,
                             &factors[j * how->units + one->unit],
                             spared ? &factors[(spared - 1) * how->units + one->unit] : NULL);
        }
    }
}

brume_status brume_totals_limit(brume_bounder *bounder, const brume_total_limit *limits,
                                size_t limit_count, int p, const bool *shown,
                                const brume_limited_sum *sums, size_t sum_count,
                                brume_bounded_group *groups, size_t group_count, brume_error *error)
{
    size_t all = (size_t)bounder->result_groups * sum_count;
    size_t lane_count = count_summing_lanes(bounder, all);
    limiting how = {.bounder = bounder,
                    .limits = limits,
                    .limit_count = limit_count,
                    .p = p,
                    .shown = shown,
                    .sums = sums,
                    .sum_count = sum_count,
                    .units = most_units(bounder)};
    how.norms = malloc((how.units * lane_count + 1) * sizeof *how.norms);
    how.factors = malloc((how.units * limit_count * lane_count + 1) * sizeof *how.factors);
    free(bounder->limited);
    how.limited = bounder->limited = calloc(all * lane_count + 1, sizeof *bounder->limited);
    brume_status status = BRUME_OK;
    if (how.norms && how.factors && bounder->limited) {
        if (!sums_nothing(sums, sum_count))
            visit_shards(bounder, lane_count, limit_shard, &how);
        for (size_t i = all; i < all * lane_count; i++)
            bounder->limited[i % all] += bounder->limited[i];
        for (size_t i = 0; i < group_count; i++)
            groups[i].limited = bounder->limited + groups[i].number * sum_count;
    } else {
        status = brume_no_memory(error, "the units and groups");
    }
    free(how.norms);
    free(how.factors);
    return status;
}
