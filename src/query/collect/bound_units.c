/* The units of a shard: an open-addressing table of slots, and the slabs that names and blocks come
 * from. Units are told apart exactly, by their 8 bytes or by their names; a hash only says where to
 * look. Two units that shared a slot would share their bounds, and the privacy of both. */
#include "query/collect/bound_pairs.h"

#include "base/error.h"

enum { FIRST_SLOTS = 64, FIRST_SLAB = 8 * 1024, LARGEST_SLAB = 256 * 1024 };

/* ---- slabs ---- */

unsigned char *brume_slab_take(slab *from, brume_pages *pages, size_t need)
{
    if (from->room - from->used < need) {
        size_t room = from->all / 4;
        room = room < FIRST_SLAB ? FIRST_SLAB : room > LARGEST_SLAB ? LARGEST_SLAB : room;
        room = room < need ? need : room;
        unsigned char *made = brume_pages_take(pages, room);
        if (!made)
            return NULL;
        from->bytes = made;
        from->used = 0;
        from->room = room;
        from->all += room;
    }
    unsigned char *bytes = from->bytes + from->used;
    from->used += need;
    return bytes;
}

/* ---- names: 4 bytes of length, then the text ---- */

const unsigned char *brume_units_keep_name(shard *own, brume_bounder *bounder, const char *text,
                                           uint32_t length)
{
    unsigned char *name = brume_slab_take(&own->names, &bounder->pages, sizeof length + length);
    if (!name)
        return NULL;
    memcpy(name, &length, sizeof length);
    if (length)
        memcpy(name + sizeof length, text, length);
    return name;
}

static const unsigned char *name_of(const unit_slot *slot)
{
    const unsigned char *name;
    memcpy(&name, slot->block, sizeof name);
    return name;
}

static bool has_name(const unit_slot *slot, const char *text, uint32_t length)
{
    uint32_t other;
    const unsigned char *name = name_of(slot);
    memcpy(&other, name, sizeof other);
    return other == length && (length == 0 || memcmp(name + sizeof other, text, length) == 0);
}

/* ---- slots ---- */

static uint64_t hash_of(const brume_bounder *bounder, const unit_slot *slot)
{
    return bounder->text_units ? slot->unit
                               : brume_siphash_words(&bounder->table_key, &slot->unit, 1);
}

brume_status brume_units_reserve(shard *own, brume_bounder *bounder, size_t more,
                                 brume_error *error)
{
    if (own->unit_count + more <= own->slot_room / 4 * 3)
        return BRUME_OK;
    size_t room = own->slot_room ? own->slot_room : FIRST_SLOTS;
    while (own->unit_count + more > room / 4 * 3)
        room *= 2;
    /* 32 bytes each: none straddles a cache line */
    unit_slot *slots = brume_pages_take(&bounder->pages, room * sizeof *slots);
    if (!slots)
        return brume_no_memory(error, "the units and groups");
    memset(slots, 0, room * sizeof *slots);
    for (size_t i = 0; i < own->slot_room; i++) {
        if (!own->slots[i].block)
            continue;
        size_t at = hash_of(bounder, &own->slots[i]) & (room - 1);
        while (slots[at].block)
            at = (at + 1) & (room - 1);
        slots[at] = own->slots[i];
    }
    brume_pages_give(&bounder->pages, own->slots, own->slot_room * sizeof *slots);
    own->slots = slots;
    own->slot_room = room;
    return BRUME_OK;
}

unit_slot *brume_units_find(shard *own, const brume_bounder *bounder, const waiting_row *row,
                            bool *added)
{
    uint64_t unit = bounder->text_units ? row->unit_hash : row->unit.number;
    *added = false;
    for (size_t at = row->unit_hash & (own->slot_room - 1);; at = (at + 1) & (own->slot_room - 1)) {
        unit_slot *slot = &own->slots[at];
        if (!slot->block) {
            *added = true;
            return slot;
        }
        if (slot->unit == unit &&
            (!bounder->text_units || has_name(slot, row->unit.text, row->text_length)))
            return slot;
    }
}
