/* The units of a shard where nothing is cut: an open-addressing table of them and their numbers, in
 * the order they came. Units are told apart exactly, by their 8 bytes or by their names; a hash
 * only says where to look. Two units that shared a number would share their limits, and the privacy
 * of both. */
#include "query/collect/bound_pairs.h"

#include <stdlib.h>

#include "base/error.h"

enum { FIRST_PLACES = 64, FIRST_NAMES = 64 };

/* At most half of the places are taken. */
brume_status brume_totals_reserve_units(shard *own, brume_bounder *bounder, size_t more,
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

unit_place *brume_totals_find_unit(shard *own, const brume_bounder *bounder, const waiting_row *row)
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

brume_status brume_totals_add_unit(shard *own, brume_bounder *bounder, unit_place *place,
                                   const waiting_row *row, brume_error *error)
{
    if (bounder->text_units)
        BRUME_TRY(keep_name(own, bounder, row, error));
    *place = (unit_place){bounder->text_units ? row->unit_hash : row->unit.number,
                          (uint32_t)++own->unit_count, (uint32_t)row->unit_hash};
    return BRUME_OK;
}
