/* A shard of the bounding: some of the units, their kept pairs and rows.
 *
 * All rows of a unit come to its shard. Each unit has a block of pairs, one per kept group, of a
 * capacity that doubles up to max_groups. A pair has a rank (the keyed hash that decides which
 * groups stay), its group and, where values are measured, what its kept row measures. To find a
 * pair costs a binary search; to add one moves those after it. */
#include "base/error.h"
#include "query/collect/bound_pairs.h"

/* The units of a shard: an open-addressing table of slots, and the slabs that names and blocks come
 * from. Units are told apart exactly, by their 8 bytes or by their names; a hash only says where to
 * look. Two units that shared a slot would share their bounds, and the privacy of both. */

enum { FIRST_SLOTS = 64, FIRST_SLAB = 8 * 1024, LARGEST_SLAB = 256 * 1024 };

/* ---- slabs ---- */

/* Room in the slab, beginning a new one if need be; NULL: no memory. */
static unsigned char *slab_take(slab *from, brume_pages *pages, size_t need)
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
    unsigned char *name = slab_take(&own->names, &bounder->pages, sizeof length + length);
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

/* The slot of the row's unit, new (with no block) if *added. */
static unit_slot *units_find(shard *own, const brume_bounder *bounder, const waiting_row *row,
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

/* ---- blocks ---- */

static unsigned class_of(uint32_t room)
{
    return room <= 1 ? 0 : 32 - (unsigned)__builtin_clz(room - 1);
}

static brume_status new_block(shard *own, brume_bounder *bounder, uint32_t room,
                              unsigned char **block, brume_error *error)
{
    spare_block **spare = &own->spare[class_of(room)];
    if (*spare) {
        *block = (unsigned char *)*spare;
        *spare = (*spare)->next;
        return BRUME_OK;
    }
    size_t need = bounder->name_size +
                  room * (sizeof(uint64_t) + sizeof(pair) + bounder->data_size);
    unsigned char *made = slab_take(&own->blocks, &bounder->pages, need);
    if (!made)
        return brume_no_memory(error, "the units and groups");
    *block = made;
    return BRUME_OK;
}

static brume_status grow_block(shard *own, brume_bounder *bounder, unit_slot *slot,
                               brume_error *error)
{
    unit_slot wider = *slot;
    uint64_t room = 2 * (uint64_t)slot->room;
    wider.room = (uint32_t)(room < bounder->plan.max_groups ? room : bounder->plan.max_groups);
    BRUME_TRY(new_block(own, bounder, wider.room, &wider.block, error));
    memcpy(wider.block, slot->block, bounder->name_size + slot->count * sizeof(uint64_t));
    memcpy(pairs_of(bounder, &wider), pairs_of(bounder, slot), slot->count * sizeof(pair));
    if (bounder->data_size)
        memcpy(data_of(bounder, &wider, 0), data_of(bounder, slot, 0),
               slot->count * bounder->data_size);
    spare_block *given_back = (spare_block *)(void *)slot->block;
    given_back->next = own->spare[class_of(slot->room)];
    own->spare[class_of(slot->room)] = given_back;
    *slot = wider;
    return BRUME_OK;
}

/* ---- pairs ---- */

/* Where the row's pair is or would be: after those of smaller rank. Should two groups of a unit
 * ever have equal ranks, their keys decide. */
static size_t find_place(brume_bounder *bounder, const unit_slot *slot, const waiting_row *row)
{
    enum { FEW = 16 };
    const uint64_t *ranks = ranks_of(bounder, slot);
    size_t low = 0, high = slot->count;
    while (high - low > FEW) {
        size_t middle = low + (high - low) / 2;
        if (ranks[middle] < row->rank)
            low = middle + 1;
        else
            high = middle;
    }
    size_t place = low;
    for (size_t i = low; i < high; i++)
        place += ranks[i] < row->rank;
    const pair *pairs = pairs_of(bounder, slot);
    while (place < slot->count && ranks[place] == row->rank && pairs[place].group != row->group &&
           brume_bound_key_before(bounder, pairs[place].group, row->group))
        place++;
    return place;
}

/* Short moves are shorter than a call; the empty statement keeps the compiler from making it one.
 */
static void move_up(uint64_t *words, size_t from, size_t to)
{
    enum { FEW = 16 };
    if (to - from > FEW) {
        memmove(words + from + 1, words + from, (to - from) * sizeof *words);
        return;
    }
    for (size_t i = to; i > from; i--) {
        words[i] = words[i - 1];
        __asm__ volatile("" : "+m"(words[i]));
    }
}

static void insert_pair(const brume_bounder *bounder, unit_slot *slot, size_t place,
                        const waiting_row *row)
{
    size_t last = slot->count - 1;
    uint64_t *ranks = ranks_of(bounder, slot);
    pair *pairs = pairs_of(bounder, slot);
    _Static_assert(sizeof(pair) == sizeof(uint64_t), "a pair moves as a word");
    if (place < last) {
        move_up(ranks, place, last);
        memmove(pairs + place + 1, pairs + place, (last - place) * sizeof *pairs);
        if (bounder->data_size)
            memmove(data_of(bounder, slot, place + 1), data_of(bounder, slot, place),
                    (last - place) * bounder->data_size);
    }
    ranks[place] = row->rank;
    pairs[place] = (pair){row->group, false};
    if (slot->count == bounder->plan.max_groups)
        slot->worst = ranks[last];
}

/* *place: the pair of the row's unit and group, if the unit keeps that group so far; else SIZE_MAX.
 */
static brume_status keep_pair(shard *own, brume_bounder *bounder, unit_slot *slot,
                              const waiting_row *row, size_t *place, brume_error *error)
{
    size_t at = find_place(bounder, slot, row);
    *place = at;
    if (at < slot->count && ranks_of(bounder, slot)[at] == row->rank &&
        pairs_of(bounder, slot)[at].group == row->group)
        return BRUME_OK;
    if (slot->count < bounder->plan.max_groups) {
        if (slot->count == slot->room)
            BRUME_TRY(grow_block(own, bounder, slot, error));
        slot->count++;
    } else if (at == slot->count) {
        *place = SIZE_MAX;
        return BRUME_OK;
    }
    insert_pair(bounder, slot, at, row);
    return BRUME_OK;
}

/* ---- rows ---- */

uint64_t brume_bound_row_rank(const brume_bounder *bounder, uint64_t rank_of_pair,
                              const uint64_t *measured)
{
    brume_siphash s = brume_siphash_begin(&bounder->choice_key);
    brume_siphash_add(&s, rank_of_pair);
    size_t words = bounder->measured_size / sizeof *measured;
    for (size_t i = 0; i < words; i++)
        brume_siphash_add(&s, measured[i]);
    return brume_siphash_end(&s, (uint64_t)(1 + words) * 8 << 56);
}

/* One row stays: by rank, then by content. Its rank is a function of its content, so it is worked
 * out only where two rows compete. */
static void keep_in_place(const brume_bounder *bounder, unsigned char *data, uint64_t rank,
                          const uint64_t *row)
{
    uint64_t *kept = (uint64_t *)(void *)data;
    int order = memcmp(row, kept, bounder->measured_size);
    if (order == 0)
        return;
    uint64_t rank_new = brume_bound_row_rank(bounder, rank, row);
    uint64_t rank_kept = brume_bound_row_rank(bounder, rank, kept);
    if (rank_new != rank_kept ? rank_new < rank_kept : order < 0)
        memcpy(kept, row, bounder->measured_size);
}

static void keep_row(const brume_bounder *bounder, unit_slot *slot, size_t place,
                     const waiting_row *row)
{
    pair *one = &pairs_of(bounder, slot)[place];
    bool first = !one->filled;
    one->filled = true;
    if (bounder->plan.value_count == 0)
        return;
    unsigned char *data = data_of(bounder, slot, place);
    if (first)
        memcpy(data, measured_in(bounder, row), bounder->measured_size);
    else
        keep_in_place(bounder, data, row->rank, measured_in(bounder, row));
}

/* ---- taking rows ---- */

static brume_status begin_unit(shard *own, brume_bounder *bounder, unit_slot *slot,
                               const waiting_row *row, brume_error *error)
{
    uint32_t room = bounder->plan.max_groups > 1 ? 2 : 1;
    unsigned char *block = NULL;
    BRUME_TRY(new_block(own, bounder, room, &block, error));
    if (bounder->text_units) {
        const unsigned char *name =
            brume_units_keep_name(own, bounder, row->unit.text, row->text_length);
        if (!name)
            return brume_no_memory(error, "the units and groups");
        memcpy(block, &name, sizeof name);
    }
    *slot = (unit_slot){.unit = bounder->text_units ? row->unit_hash : row->unit.number,
                        .worst = UINT64_MAX,
                        .block = block,
                        .room = room};
    own->unit_count++;
    return BRUME_OK;
}

/* Memory is far away: fetch what the rows will need in steps, each before the next asks for it. GCC
 * takes a function that only fetches for one without effect and drops its calls; the empty
 * statement at its end is an effect. */
static void fetch_slots(const shard *own, const brume_bounder *bounder, const unsigned char *rows,
                        size_t count)
{
    for (size_t i = 0; i < count; i++)
        __builtin_prefetch(
            &own->slots[waiting_in(bounder, rows, i)->unit_hash & (own->slot_room - 1)]);
    for (size_t i = 0; bounder->text_units && i < count; i++)
        __builtin_prefetch(
            own->slots[waiting_in(bounder, rows, i)->unit_hash & (own->slot_room - 1)].block);
    __asm__ volatile("" ::: "memory");
}

/* The slots of all rows; the blocks of those that may change are on their way. */
static brume_status find_slots(shard *own, brume_bounder *bounder, const unsigned char *rows,
                               size_t count, unit_slot **slots, brume_error *error)
{
    for (size_t i = 0; i < count; i++) {
        bool added = false;
        const waiting_row *row = waiting_in(bounder, rows, i);
        slots[i] = units_find(own, bounder, row, &added);
        if (added)
            BRUME_TRY(begin_unit(own, bounder, slots[i], row, error));
        if (row->rank > slots[i]->worst)
            continue;
        __builtin_prefetch(slots[i]->block, 1);
        __builtin_prefetch(slots[i]->block + 64, 1);
    }
    return BRUME_OK;
}

static brume_status take_rows(shard *own, brume_bounder *bounder, const unsigned char *rows,
                              size_t count, brume_error *error)
{
    unit_slot *slots[WAITING_MOST];
    BRUME_TRY(brume_units_reserve(own, bounder, count, error));
    fetch_slots(own, bounder, rows, count);
    BRUME_TRY(find_slots(own, bounder, rows, count, slots, error));
    for (size_t i = 0; i < count; i++) {
        const waiting_row *row = waiting_in(bounder, rows, i);
        size_t place = 0;
        if (row->rank > slots[i]->worst)
            continue;
        BRUME_TRY(keep_pair(own, bounder, slots[i], row, &place, error));
        if (place != SIZE_MAX)
            keep_row(bounder, slots[i], place, row);
    }
    return BRUME_OK;
}

brume_status brume_shard_take(shard *own, brume_bounder *bounder, const unsigned char *rows,
                              size_t count, brume_error *error)
{
    if (count == 0)
        return BRUME_OK;
    pthread_mutex_lock(&own->lock);
    brume_status status = take_rows(own, bounder, rows, count, error);
    pthread_mutex_unlock(&own->lock);
    return status;
}
