/* The totals of the units of one shard: nothing is cut, and what a unit has in a group is added up.
 *
 * All rows of a unit come to its shard. Units are numbered as they come; the pairs of a unit and a
 * group are found by the rank, which is a keyed hash of both, and told apart exactly. Where the
 * query has no keys a unit has one pair, of its own number. Counts saturate at 2^63, sums have 128
 * bits: of 63-bit values and fewer than 2^64 rows they cannot overflow. */
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

enum { FIRST = 256 };

void brume_totals_clear(shard *own, size_t list_count)
{
    free((void *)own->totals.blocks);
    free((void *)own->unit_names);
    free(own->kept_keys);
    for (size_t i = 0; own->listed && i < list_count; i++)
        free((void *)own->listed[i].blocks);
    free(own->listed);
}

/* ---- room ---- */

brume_status brume_records_reserve(records *all, brume_bounder *bounder, size_t size,
                                   brume_error *error)
{
    if ((all->block_count << BLOCK_BITS) - all->count >= WAITING_MOST)
        return BRUME_OK;
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
    return BRUME_OK;
}

/* So that the next WAITING_MOST rows move nothing. */
static brume_status make_room(shard *own, brume_bounder *bounder, brume_error *error)
{
    BRUME_TRY(brume_records_reserve(&own->totals, bounder, bounder->total_size, error));
    if (bounder->plan.keep_key && own->kept_room - own->unit_count < WAITING_MOST) {
        size_t room = own->kept_room + own->kept_room / 2 + FIRST;
        kept_key *kept = realloc(own->kept_keys, room * sizeof *kept);
        if (!kept)
            return brume_no_memory(error, "the units and groups");
        own->kept_keys = kept;
        own->kept_room = room;
    }
    return own->totals.count < UINT32_MAX - WAITING_MOST
               ? BRUME_OK
               : brume_fail(error, BRUME_EOVERFLOW, "ask about fewer rows or groups",
                            "more pairs of a unit and a group than brume can hold");
}

static size_t first_place(const shard *own, uint64_t rank)
{
    return (size_t)(rank >> 32) & (own->place_room - 1);
}

static brume_status make_places(shard *own, brume_bounder *bounder, brume_error *error)
{
    if (own->place_room && own->totals.count + WAITING_MOST <= own->place_room / 4 * 3)
        return BRUME_OK;
    shard wider = {.place_room = own->place_room ? 2 * own->place_room : 4 * FIRST};
    wider.places = brume_pages_take(&bounder->pages, wider.place_room * sizeof *wider.places);
    if (!wider.places)
        return brume_no_memory(error, "the units and groups");
    memset(wider.places, 0, wider.place_room * sizeof *wider.places);
    for (size_t i = 0; i < own->place_room; i++) {
        if (!own->places[i])
            continue;
        size_t at = first_place(&wider, own->places[i]);
        while (wider.places[at])
            at = (at + 1) & (wider.place_room - 1);
        wider.places[at] = own->places[i];
    }
    brume_pages_give(&bounder->pages, own->places, own->place_room * sizeof *own->places);
    own->places = wider.places;
    own->place_room = wider.place_room;
    return BRUME_OK;
}

/* ---- groups that units keep ---- */

/* The least rank; should two groups ever have equal ones, their keys decide. So it is the same for
 * every order of the rows. */
static void keep_key(shard *own, brume_bounder *bounder, uint32_t unit, const waiting_row *row)
{
    kept_key *kept = &own->kept_keys[unit];
    if (row->rank < kept->rank || (row->rank == kept->rank && row->group != kept->group &&
                                   brume_bound_key_before(bounder, row->group, kept->group)))
        *kept = (kept_key){row->rank, row->group};
}

/* ---- totals ---- */

static total *new_total(shard *own, const brume_bounder *bounder, uint32_t unit, uint32_t group)
{
    total *made = total_in(bounder, own, own->totals.count++);
    memset(made, 0, bounder->total_size);
    made->unit = unit;
    made->group = group;
    return made;
}

static total *find_total(shard *own, const brume_bounder *bounder, uint32_t unit,
                         const waiting_row *row)
{
    if (bounder->plan.key_count == 0)
        return unit < own->totals.count ? total_in(bounder, own, unit)
                                        : new_total(own, bounder, unit, 0);
    uint64_t tag = row->rank >> 32 << 32;
    size_t at = first_place(own, row->rank);
    for (; own->places[at]; at = (at + 1) & (own->place_room - 1)) {
        if ((own->places[at] ^ tag) >> 32)
            continue;
        total *one = total_in(bounder, own, (uint32_t)own->places[at] - 1);
        if (one->unit == unit && one->group == row->group)
            return one;
    }
    own->places[at] = tag | (own->totals.count + 1);
    return new_total(own, bounder, unit, row->group);
}

static void add_wide(uint64_t *words, brume_i128 x)
{
    brume_i128 sum;
    memcpy(&sum, words, sizeof sum);
    sum += x;
    memcpy(words, &sum, sizeof sum);
}

static void add_row(const brume_bounder *bounder, total *to, const uint64_t *measured)
{
    to->rows++;
    for (size_t i = 0; i < bounder->plan.value_count; i++) {
        if (!measured_has(measured, i))
            continue;
        uint64_t *words = to->words + bounder->total_at[i];
        brume_i128 x = (brume_i128)measured_value(bounder, measured, i) - bounder->values[i].centre;
        words[0]++;
        if (bounder->values[i].no_sum)
            continue;
        add_wide(words + 1, x);
        if (bounder->values[i].squares)
            add_wide(words + 3, x * x);
    }
}

/* ---- taking rows: memory is fetched in steps, each before the next asks for it ---- */

static void fetch(const shard *own, const brume_bounder *bounder, const unsigned char *rows,
                  size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const waiting_row *row = waiting_in(bounder, rows, i);
        __builtin_prefetch(&own->unit_places[row->unit_hash & (own->unit_room - 1)]);
        if (own->place_room)
            __builtin_prefetch(&own->places[first_place(own, row->rank)]);
    }
    __asm__ volatile("" ::: "memory");
    for (size_t i = 0; own->place_room && i < count; i++) { /* the totals that are found there */
        uint64_t rank = waiting_in(bounder, rows, i)->rank;
        uint64_t found = own->places[first_place(own, rank)];
        if (found && (found ^ rank) >> 32 == 0)
            __builtin_prefetch(total_in(bounder, own, (uint32_t)found - 1), 1);
    }
    __asm__ volatile("" ::: "memory");
}

/* The number of the row's unit; a new one's, if need be. */
static brume_status number_unit(shard *own, brume_bounder *bounder, const waiting_row *row,
                                uint32_t *number, brume_error *error)
{
    unit_place *place = totals_find_unit(own, bounder, row);
    if (!place->number) {
        BRUME_TRY(totals_add_unit(own, bounder, place, row, error));
        if (bounder->plan.keep_key)
            own->kept_keys[place->number - 1] = (kept_key){row->rank, row->group};
    } else if (bounder->plan.keep_key) {
        keep_key(own, bounder, place->number - 1, row);
    }
    *number = place->number - 1;
    return BRUME_OK;
}

brume_status brume_totals_take(shard *own, brume_bounder *bounder, const unsigned char *rows,
                               size_t count, brume_error *error)
{
    total *totals[WAITING_MOST];
    uint64_t numbers[WAITING_MOST]; /* of the rows in their totals */
    BRUME_TRY(totals_reserve_units(own, bounder, count, error));
    BRUME_TRY(make_room(own, bounder, error));
    if (bounder->plan.key_count > 0)
        BRUME_TRY(make_places(own, bounder, error));
    fetch(own, bounder, rows, count);
    for (size_t i = 0; i < count; i++) {
        const waiting_row *row = waiting_in(bounder, rows, i);
        uint32_t unit = 0;
        BRUME_TRY(number_unit(own, bounder, row, &unit, error));
        totals[i] = find_total(own, bounder, unit, row);
        __builtin_prefetch(totals[i], 1);
    }
    for (size_t i = 0; i < count; i++) {
        add_row(bounder, totals[i], measured_in(bounder, waiting_in(bounder, rows, i)));
        numbers[i] = totals[i]->rows;
    }
    return bounder->list_count ? brume_lists_take(own, bounder, rows, count, totals, numbers, error)
                               : BRUME_OK;
}
