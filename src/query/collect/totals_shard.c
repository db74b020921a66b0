/* The totals of the units of one shard: nothing is cut, and what a unit has in a group is added up.
 *
 * All rows of a unit come to its shard. Units are numbered as they come, and a row is laid down
 * with the numbers of its unit and its group. When as many rows lie there as there are totals, they
 * are sorted by both and merged into the totals, which are in this order: so memory is walked
 * through, not jumped about in. Where the query has no keys a unit has one total, of its own
 * number, and each row is added to it at once. Counts saturate at 2^63, sums have 128 bits: of
 * 63-bit values and fewer than 2^64 rows they cannot overflow. Sums of small values have 64
 * (bound_pairs.h). */
#include <stdlib.h>

#include "base/error.h"
#include "query/collect/bound_pairs.h"

/* The units of a shard where nothing is cut: an open-addressing table of them and their numbers, in
 * the order they came. Units are told apart exactly, by their 8 bytes or by their names; a hash
 * only says where to look. Two units that shared a number would share their limits, and the privacy
 * of both. */

enum { FIRST_PLACES = 64, FIRST_NAMES = 64 };

/* totals_shard.c: make room for `more` units; the place of a unit, new (with no number) if *added,
 * which brume_totals_add_unit then gives its number.
 * At most half of the places are taken. */
static brume_status totals_reserve_units(shard *own, brume_bounder *bounder, size_t more,
                                         brume_error *error)
{
    if (own->unit_count + more <= own->unit_room / 2)
        return BRUME_OK;
    size_t room = own->unit_room ? own->unit_room : FIRST_PLACES;
    while (own->unit_count + more > room / 2)
        room *= 2;
    /* 16 bytes each: none straddles a cache line */
    unit_place *places = brume_pages_take(&bounder->pages, room * sizeof *places);
    if (!places)
        return brume_no_memory(error, "the units and groups");
    memset(places, 0, room * sizeof *places);
    for (size_t i = 0; i < own->unit_room; i++) {
        if (!own->unit_places[i].number)
            continue;
        size_t at = own->unit_places[i].hash & (room - 1);
        while (places[at].number)
            at = (at + 1) & (room - 1);
        places[at] = own->unit_places[i];
    }
    brume_pages_give(&bounder->pages, own->unit_places, own->unit_room * sizeof *places);
    own->unit_places = places;
    own->unit_room = room;
    return BRUME_OK;
}

/* Names are 4 bytes of length, then the text. */
static bool has_name(const shard *own, const unit_place *place, const waiting_row *row)
{
    uint32_t length;
    const unsigned char *name = own->unit_names[place->number - 1];
    memcpy(&length, name, sizeof length);
    return length == row->text_length &&
           (length == 0 || memcmp(name + sizeof length, row->unit.text, length) == 0);
}

static unit_place *totals_find_unit(shard *own, const brume_bounder *bounder,
                                    const waiting_row *row)
{
    uint64_t unit = bounder->text_units ? row->unit_hash : row->unit.number;
    for (size_t at = (uint32_t)row->unit_hash & (own->unit_room - 1);;
         at = (at + 1) & (own->unit_room - 1)) {
        unit_place *place = &own->unit_places[at];
        if (!place->number ||
            (place->unit == unit && (!bounder->text_units || has_name(own, place, row))))
            return place;
    }
}

static brume_status keep_name(shard *own, brume_bounder *bounder, const waiting_row *row,
                              brume_error *error)
{
    if (own->unit_count == own->name_room) {
        size_t room = own->name_room + own->name_room / 2 + FIRST_NAMES;
        const unsigned char **names = realloc((void *)own->unit_names, room * sizeof *names);
        if (!names)
            return brume_no_memory(error, "the units and groups");
        own->unit_names = names;
        own->name_room = room;
    }
    const unsigned char *name =
        brume_units_keep_name(own, bounder, row->unit.text, row->text_length);
    if (!name)
        return brume_no_memory(error, "the units and groups");
    own->unit_names[own->unit_count] = name;
    return BRUME_OK;
}

static brume_status totals_add_unit(shard *own, brume_bounder *bounder, unit_place *place,
                                    const waiting_row *row, brume_error *error)
{
    if (bounder->text_units)
        BRUME_TRY(keep_name(own, bounder, row, error));
    *place = (unit_place){bounder->text_units ? row->unit_hash : row->unit.number,
                          (uint32_t)++own->unit_count, (uint32_t)row->unit_hash};
    return BRUME_OK;
}

void brume_totals_clear(shard *own, size_t list_count)
{
    free((void *)own->totals.blocks);
    free((void *)own->fresh.blocks);
    free((void *)own->unit_names);
    free(own->row_numbers);
    for (size_t i = 0; own->listed && i < list_count; i++)
        free((void *)own->listed[i].blocks);
    free(own->listed);
}

void brume_sorting_clear(sorting *room)
{
    free(room->words);
    free(room->rows);
    *room = (sorting){0};
}

/* ---- room ---- */

brume_status brume_records_reserve(records *all, brume_bounder *bounder, size_t size, size_t more,
                                   brume_error *error)
{
    while ((all->block_count << BLOCK_BITS) - all->count < more) {
        if (all->block_count == all->block_room) {
            size_t room = 2 * all->block_room + 16;
            unsigned char **blocks = realloc((void *)all->blocks, room * sizeof *blocks);
            if (!blocks)
                return brume_no_memory(error, "the units and groups");
            all->blocks = blocks;
            all->block_room = room;
        }
        unsigned char *made = brume_pages_take(&bounder->pages, size << BLOCK_BITS);
        if (!made)
            return brume_no_memory(error, "the units and groups");
        all->blocks[all->block_count++] = made;
    }
    return BRUME_OK;
}

static brume_status make_row_numbers(shard *own, brume_error *error)
{
    if (own->row_number_room - own->unit_count >= WAITING_MOST)
        return BRUME_OK;
    size_t room = own->row_number_room + own->row_number_room / 2 + 2 * WAITING_MOST;
    uint32_t *numbers = realloc(own->row_numbers, room * sizeof *numbers);
    if (!numbers)
        return brume_no_memory(error, "the units and groups");
    own->row_numbers = numbers;
    own->row_number_room = room;
    return BRUME_OK;
}

static brume_status make_sorting_room(sorting *room, size_t words, size_t bytes, brume_error *error)
{
    if (words > room->room || bytes > room->row_room) {
        brume_sorting_clear(room);
        room->words = malloc((words + 1) * sizeof *room->words);
        room->rows = malloc(bytes + 1);
        if (!room->words || !room->rows)
            return brume_no_memory(error, "the units and groups");
        room->room = words;
        room->row_room = bytes;
    }
    return BRUME_OK;
}

/* ---- rows added up: a unit and a group at a time ---- */

static void add_wide(uint64_t *words, brume_i128 x)
{
    brume_i128 sum;
    memcpy(&sum, words, sizeof sum);
    sum += x;
    memcpy(words, &sum, sizeof sum);
}

static void add_narrow(uint64_t *word, int64_t x)
{
    int64_t sum = (int64_t)*word;
    if (__builtin_add_overflow(sum, x, &sum))
        sum = x < 0 ? INT64_MIN : INT64_MAX;
    *word = (uint64_t)sum;
}

static void add_row(const brume_bounder *bounder, total *to, const uint64_t *measured)
{
    to->rows++;
    for (size_t i = 0; i < bounder->plan.value_count; i++) {
        if (!measured_has(measured, i))
            continue;
        const total_place *place = &bounder->total_at[i];
        uint64_t *words = to->words + place->at;
        brume_i128 x = (brume_i128)measured_value(bounder, measured, i) - bounder->values[i].centre;
        words[0]++;
        if (bounder->values[i].no_sum)
            continue;
        if (place->narrow)
            add_narrow(words + 1, (int64_t)x);
        else
            add_wide(words + 1, x);
        if (bounder->values[i].squares)
            add_wide(words + (place->narrow ? 2 : 3), x * x);
    }
}

static total *make_total(total *made, const brume_bounder *bounder, uint32_t unit, uint32_t group)
{
    memset(made, 0, bounder->total_size);
    made->unit = unit;
    made->group = group;
    return made;
}

/* Keys of pairs that are sorted: the unit above the group, each in as few bits as they need; where
 * rows measure something, each key has the number of its row behind it. */
typedef struct sorted_keys {
    uint64_t *words;
    size_t count, stride;
    unsigned group_bits, bits;
} sorted_keys;

static unsigned bits_of(uint64_t most)
{
    return most ? 64 - (unsigned)__builtin_clzll(most) : 0;
}

enum { DIGIT_MOST = 10 };

static inline __attribute__((always_inline)) void sort_digit(const uint64_t *from, uint64_t *to,
                                                             size_t count, size_t stride,
                                                             unsigned shift, unsigned digit)
{
    uint32_t starts[1 << DIGIT_MOST] = {0};
    uint64_t mask = (UINT64_C(1) << digit) - 1;
    for (size_t i = 0; i < count; i++)
        starts[from[i * stride] >> shift & mask]++;
    for (uint32_t d = 0, next = 0; d <= mask; d++) {
        uint32_t here = starts[d];
        starts[d] = next;
        next += here;
    }
    for (size_t i = 0; i < count; i++) {
        size_t at = starts[from[i * stride] >> shift & mask]++;
        to[at * stride] = from[i * stride];
        if (stride == 2)
            to[at * stride + 1] = from[i * stride + 1];
    }
}

/* By digits, the lowest first; `spare` is as large as the keys, and takes turns with them. */
static void sort_keys(sorted_keys *keys, uint64_t *spare)
{
    unsigned passes = (keys->bits + DIGIT_MOST - 1) / DIGIT_MOST;
    for (unsigned pass = 0, shift = 0; pass < passes; pass++) {
        unsigned digit = (keys->bits - shift + passes - pass - 1) / (passes - pass);
        if (keys->stride == 1)
            sort_digit(keys->words, spare, keys->count, 1, shift, digit);
        else
            sort_digit(keys->words, spare, keys->count, 2, shift, digit);
        uint64_t *sorted = spare;
        spare = keys->words;
        keys->words = sorted;
        shift += digit;
    }
}

static uint64_t key_of(const sorted_keys *keys, uint32_t unit, uint32_t group)
{
    return (uint64_t)unit << keys->group_bits | group;
}

/* How many of the keys have no total yet. */
static size_t count_new(const shard *own, const brume_bounder *bounder, const sorted_keys *keys)
{
    size_t at = 0, count = 0;
    uint64_t there = 0; /* the key of total `at` */
    bool read = false;
    for (size_t i = 0; i < keys->count; i++) {
        uint64_t key = keys->words[i * keys->stride];
        if (i > 0 && key == keys->words[(i - 1) * keys->stride])
            continue;
        for (; at < own->totals.count; at++, read = false) {
            if (!read) {
                const total *one = total_in(bounder, own, at);
                there = key_of(keys, one->unit, one->group);
                read = true;
            }
            if (there >= key)
                break;
        }
        count += at == own->totals.count || there != key;
    }
    return count;
}

/* Where keys are sorted: from the last one down, each total moves to its place and is added to. */
static brume_status merge(shard *own, brume_bounder *bounder, const sorted_keys *keys,
                          const unsigned char *rows, brume_error *error)
{
    size_t added = count_new(own, bounder, keys), words = bounder->total_size / sizeof(uint64_t);
    if (own->totals.count + added >= UINT32_MAX)
        return brume_fail(error, BRUME_EOVERFLOW, "ask about fewer rows or groups",
                          "more pairs of a unit and a group than brume can hold");
    BRUME_TRY(brume_records_reserve(&own->totals, bounder, bounder->total_size, added, error));
    size_t old = own->totals.count, to = old + added;
    uint64_t group_mask = (UINT64_C(1) << keys->group_bits) - 1;
    own->totals.count = to;
    for (size_t last = keys->count; last > 0;) {
        size_t first = last - 1;
        uint64_t key = keys->words[first * keys->stride];
        while (first > 0 && keys->words[(first - 1) * keys->stride] == key)
            first--;
        bool found = false;
        while (old > 0 && !found) {
            const total *one = total_in(bounder, own, old - 1);
            uint64_t there = key_of(keys, one->unit, one->group);
            if (there < key)
                break;
            found = there == key;
            old--;
            uint64_t *into = (uint64_t *)(void *)total_in(bounder, own, --to);
            const uint64_t *from = (const uint64_t *)(const void *)one;
            for (size_t i = 0; into != from && i < words; i++)
                into[i] = from[i];
        }
        total *one = found ? total_in(bounder, own, to)
                           : make_total(total_in(bounder, own, --to), bounder,
                                        (uint32_t)(key >> keys->group_bits),
                                        (uint32_t)(key & group_mask));
        if (keys->stride == 1)
            one->rows += last - first;
        for (size_t i = first; keys->stride == 2 && i < last; i++) {
            size_t row = keys->words[2 * i + 1];
            const fresh_row *each = (const void *)(rows + row * bounder->fresh_size);
            add_row(bounder, one, each->measured);
        }
        last = first;
    }
    return BRUME_OK;
}

/* Sort rows and merge them into the totals; `room` has them. */
static brume_status add_copies(shard *own, brume_bounder *bounder, sorting *room, size_t units,
                               size_t count, brume_error *error)
{
    sorted_keys keys = {.words = room->words, .count = count};
    keys.stride = bounder->plan.value_count > 0 ? 2 : 1;
    pthread_rwlock_rdlock(&bounder->groups_lock);
    keys.group_bits = bits_of(bounder->groups.count);
    pthread_rwlock_unlock(&bounder->groups_lock);
    keys.bits = keys.group_bits + bits_of(units);
    for (size_t i = 0; i < count; i++) {
        const fresh_row *row = (const void *)(room->rows + i * bounder->fresh_size);
        keys.words[i * keys.stride] = key_of(&keys, row->unit, row->group);
        if (keys.stride == 2)
            keys.words[2 * i + 1] = i;
    }
    sort_keys(&keys, room->words + count * keys.stride);
    return merge(own, bounder, &keys, room->rows, error);
}

/* Copy the fresh rows out, so that others may go on with the shard. Under its lock. */
static brume_status copy_fresh(shard *own, const brume_bounder *bounder, sorting *room,
                               brume_error *error)
{
    size_t count = own->fresh.count, size = bounder->fresh_size;
    BRUME_TRY(make_sorting_room(room, 4 * count, count * size, error));
    for (size_t i = 0; i < count; i += (size_t)1 << BLOCK_BITS) {
        size_t more = count - i < (size_t)1 << BLOCK_BITS ? count - i : (size_t)1 << BLOCK_BITS;
        memcpy(room->rows + i * size, fresh_in(bounder, own, i), more * size);
    }
    own->fresh.count = 0;
    return BRUME_OK;
}

brume_status brume_totals_add_up(shard *own, brume_bounder *bounder, sorting *room,
                                 brume_error *error)
{
    size_t count = own->fresh.count;
    if (count == 0)
        return BRUME_OK;
    BRUME_TRY(copy_fresh(own, bounder, room, error));
    return add_copies(own, bounder, room, own->unit_count, count, error);
}

/* Rows that are not added up: as many as there are totals, so that each total moves as often as a
 * row comes; of many a quarter, because they take memory. */
static bool is_full(const shard *own)
{
    enum { LEAST = 4096, MANY = 32768 };
    if (own->adding || own->fresh.count < LEAST)
        return false;
    size_t totals = own->totals.count;
    size_t most = totals <= MANY ? totals : totals / 4 > MANY ? totals / 4 : MANY;
    return own->fresh.count >= most;
}

/* ---- taking rows: memory is fetched in steps, each before the next asks for it ---- */

static void fetch(const shard *own, const brume_bounder *bounder, const unsigned char *rows,
                  size_t count)
{
    for (size_t i = 0; i < count; i++)
        __builtin_prefetch(
            &own->unit_places[waiting_in(bounder, rows, i)->unit_hash & (own->unit_room - 1)]);
    __asm__ volatile("" ::: "memory");
}

/* The number of the row's unit; a new one's, if need be. */
static brume_status number_unit(shard *own, brume_bounder *bounder, const waiting_row *row,
                                uint32_t *number, brume_error *error)
{
    unit_place *place = totals_find_unit(own, bounder, row);
    if (!place->number) {
        BRUME_TRY(totals_add_unit(own, bounder, place, row, error));
        if (bounder->breaks_ties)
            own->row_numbers[place->number - 1] = 0;
    }
    *number = place->number - 1;
    return BRUME_OK;
}

static void lay_row(shard *own, brume_bounder *bounder, const waiting_row *row, uint32_t unit)
{
    fresh_row *to = fresh_in(bounder, own, own->fresh.count++);
    const uint64_t *measured = measured_in(bounder, row);
    *to = (fresh_row){.unit = unit, .group = row->group};
    for (size_t j = 0; j < bounder->measured_size / sizeof *measured; j++)
        to->measured[j] = measured[j];
}

/* Without keys the total of a unit is that of its number, and nothing is sorted. */
static void add_to_unit(shard *own, brume_bounder *bounder, uint32_t unit)
{
    if (unit == own->totals.count)
        make_total(total_in(bounder, own, own->totals.count++), bounder, unit, 0);
    else
        __builtin_prefetch(total_in(bounder, own, unit), 1);
}

static brume_status reserve_rows(shard *own, brume_bounder *bounder, size_t count,
                                 brume_error *error)
{
    BRUME_TRY(totals_reserve_units(own, bounder, count, error));
    if (bounder->breaks_ties)
        BRUME_TRY(make_row_numbers(own, error));
    return bounder->plan.key_count
               ? brume_records_reserve(&own->fresh, bounder, bounder->fresh_size, count, error)
               : brume_records_reserve(&own->totals, bounder, bounder->total_size, count, error);
}

static brume_status lay_down(shard *own, brume_bounder *bounder, const unsigned char *rows,
                             size_t count, brume_error *error)
{
    uint32_t units[WAITING_MOST], numbers[WAITING_MOST];
    bool keys = bounder->plan.key_count > 0;
    BRUME_TRY(reserve_rows(own, bounder, count, error));
    fetch(own, bounder, rows, count);
    for (size_t i = 0; i < count; i++) {
        const waiting_row *row = waiting_in(bounder, rows, i);
        BRUME_TRY(number_unit(own, bounder, row, &units[i], error));
        if (bounder->breaks_ties)
            numbers[i] = ++own->row_numbers[units[i]];
        if (keys)
            lay_row(own, bounder, row, units[i]);
        else
            add_to_unit(own, bounder, units[i]);
    }
    for (size_t i = 0; !keys && i < count; i++)
        add_row(bounder, total_in(bounder, own, units[i]),
                measured_in(bounder, waiting_in(bounder, rows, i)));
    return bounder->list_count ? brume_lists_take(own, bounder, rows, count, units, numbers, error)
                               : BRUME_OK;
}

brume_status brume_totals_take(shard *own, brume_bounder *bounder, sorting *room,
                               const unsigned char *rows, size_t count, brume_error *error)
{
    if (count == 0)
        return BRUME_OK;
    pthread_mutex_lock(&own->lock);
    brume_status status = lay_down(own, bounder, rows, count, error);
    bool full = status == BRUME_OK && is_full(own);
    size_t fresh = own->fresh.count, units = own->unit_count;
    if (full) {
        own->adding = true;
        status = copy_fresh(own, bounder, room, error);
    }
    pthread_mutex_unlock(&own->lock);
    if (!full || status != BRUME_OK)
        return status;
    status = add_copies(own, bounder, room, units, fresh, error);
    pthread_mutex_lock(&own->lock);
    own->adding = false;
    pthread_mutex_unlock(&own->lock);
    return status;
}
