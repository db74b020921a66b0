/* Bounding: what each unit contributes, cut to what the policy allows, and summed exactly.
 *
 * Units and groups get numbers from dictionaries. Each unit has a block of pairs, one per kept
 * group, of a capacity that doubles up to max_groups. A pair holds its group, its rank (the keyed
 * hash that decides which groups stay), its number of kept rows and, where values are measured, the
 * rows themselves: in place where max_rows is 1, else in a heap ordered by their rank. */
#include "query/bound_pairs.h"

#include <stdlib.h>

#include "base/error.h"

enum { BATCH = 256 };

static brume_status out_of_memory(brume_error *error)
{
    return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory for the units and groups");
}

static void set_heap(pair *one, row_heap *heap)
{
    memcpy(one->data, &heap, sizeof heap);
}

/* ---- opening and closing ---- */

static brume_status copy_plan(brume_bounder *bounder, const brume_bound_plan *plan,
                              brume_error *error)
{
    bounder->plan = *plan;
    bounder->key_wires = calloc(plan->key_count + 1, sizeof *bounder->key_wires);
    bounder->values = calloc(plan->value_count + 1, sizeof *bounder->values);
    if (!bounder->key_wires || !bounder->values)
        return out_of_memory(error);
    if (plan->key_count)
        memcpy(bounder->key_wires, plan->key_wires, plan->key_count * sizeof *plan->key_wires);
    if (plan->value_count)
        memcpy(bounder->values, plan->values, plan->value_count * sizeof *plan->values);
    bounder->plan.key_wires = bounder->key_wires;
    bounder->plan.values = bounder->values;
    return BRUME_OK;
}

static brume_status prepare(brume_bounder *bounder, const brume_bound_plan *plan, brume_bits *bits,
                            brume_error *error)
{
    if (plan->max_groups < 1 || plan->max_groups > UINT32_C(1) << 26 || plan->max_rows < 1 ||
        plan->max_rows > UINT32_MAX || plan->value_count > VALUES_MOST)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "a plan that cannot be bounded");
    uint64_t words[4];
    BRUME_TRY(copy_plan(bounder, plan, error));
    BRUME_TRY(brume_bits_words(bits, words, 4, error));
    bounder->choice_key = (brume_hash_key){{words[0], words[1]}};
    brume_hash_key table_key = {{words[2], words[3]}};
    brume_dictionary_make(&bounder->groups, &table_key, 0);
    brume_dictionary_make(&bounder->units, &table_key, 0);
    bounder->row_size = sizeof(row) + plan->value_count * sizeof(int64_t);
    bounder->pair_size = sizeof(pair);
    if (plan->value_count > 0)
        bounder->pair_size += plan->max_rows > 1 ? sizeof(row_heap *) : bounder->row_size;
    return BRUME_OK;
}

brume_status brume_bounder_open(const brume_bound_plan *plan, brume_bits *bits, brume_bounder **out,
                                brume_error *error)
{
    brume_bounder *bounder = calloc(1, sizeof *bounder);
    if (!bounder)
        return out_of_memory(error);
    brume_status status = prepare(bounder, plan, bits, error);
    if (status != BRUME_OK) {
        brume_bounder_close(bounder);
        return status;
    }
    *out = bounder;
    return BRUME_OK;
}

static void free_heaps(brume_bounder *bounder)
{
    for (uint32_t unit = 0; unit < bounder->units.count && has_heap(bounder); unit++)
        for (size_t i = 0; i < bounder->records[unit].count; i++)
            free(heap_of(pair_at(bounder, bounder->records[unit].block + i)));
}

static void free_result(brume_bounder *bounder)
{
    size_t lists = (size_t)bounder->result_groups * bounder->plan.value_count;
    for (size_t i = 0; i < lists; i++) {
        if (bounder->kept)
            free(bounder->kept[i]);
        if (bounder->breakers)
            free(bounder->breakers[i]);
    }
    free(bounder->kept);
    free(bounder->breakers);
    free(bounder->result);
    free(bounder->result_keys);
    free(bounder->result_values);
}

void brume_bounder_close(brume_bounder *bounder)
{
    if (!bounder)
        return;
    free_heaps(bounder);
    free_result(bounder);
    brume_dictionary_clear(&bounder->units);
    brume_dictionary_clear(&bounder->groups);
    free(bounder->records);
    free(bounder->group_tokens);
    free(bounder->pairs);
    free(bounder->scratch);
    free(bounder->key_wires);
    free(bounder->values);
    explicit_bzero(bounder, sizeof *bounder);
    free(bounder);
}

/* ---- keys as bytes: for each cell a tag (0: NULL), then 8 bytes, or a length and the text ---- */

static brume_status reserve_scratch(brume_bounder *bounder, size_t room, brume_error *error)
{
    if (room <= bounder->scratch_room)
        return BRUME_OK;
    unsigned char *scratch = realloc(bounder->scratch, 2 * room);
    if (!scratch)
        return out_of_memory(error);
    bounder->scratch = scratch;
    bounder->scratch_room = 2 * room;
    return BRUME_OK;
}

static brume_status append_cell(brume_bounder *bounder, const brume_key_value *cell, size_t *used,
                                brume_error *error)
{
    size_t text = cell->wire == BRUME_WIRE_TEXT && !cell->null ? cell->text.length : 0;
    BRUME_TRY(reserve_scratch(bounder, *used + 9 + text, error));
    bounder->scratch[(*used)++] = !cell->null;
    if (cell->null)
        return BRUME_OK;
    double real = cell->real == 0 ? 0 : cell->real; /* -0 and 0 are one key */
    uint64_t length = text;
    const void *from = cell->wire == BRUME_WIRE_INTEGER ? (const void *)&cell->integer
                       : cell->wire == BRUME_WIRE_REAL  ? (const void *)&real
                                                        : (const void *)&length;
    memcpy(bounder->scratch + *used, from, 8);
    *used += 8;
    if (text)
        memcpy(bounder->scratch + *used, cell->text.data, text);
    *used += text;
    return BRUME_OK;
}

static brume_key_value cell_of(const brume_chunk_column *column, size_t at)
{
    brume_key_value cell = {.wire = column->wire};
    if ((cell.null = brume_chunk_is_null(column, at)))
        return cell;
    if (column->wire == BRUME_WIRE_INTEGER)
        cell.integer = column->integers[at];
    else if (column->wire == BRUME_WIRE_REAL)
        cell.real = column->reals[at];
    else
        cell.text = column->texts[at];
    return cell;
}

static brume_status new_token(brume_bounder *bounder, const void *bytes, size_t length,
                              uint32_t group, brume_error *error)
{
    if (group >= bounder->token_room) {
        size_t room = bounder->token_room + bounder->token_room / 2 + 1024;
        uint64_t *tokens = realloc(bounder->group_tokens, room * sizeof *tokens);
        if (!tokens)
            return out_of_memory(error);
        bounder->group_tokens = tokens;
        bounder->token_room = room;
    }
    bounder->group_tokens[group] = brume_siphash_bytes(&bounder->choice_key, bytes, length);
    return BRUME_OK;
}

/* The group of the encoded key in scratch; UINT32_MAX for one that a closed domain lacks. */
static brume_status group_of_scratch(brume_bounder *bounder, size_t length, bool add,
                                     uint32_t *group, brume_error *error)
{
    uint64_t hash = brume_dictionary_hash(&bounder->groups, bounder->scratch, length);
    if (!add) {
        *group = brume_dictionary_find(&bounder->groups, hash, bounder->scratch, length);
        return BRUME_OK;
    }
    bool added = false;
    BRUME_TRY(brume_dictionary_add(&bounder->groups, hash, bounder->scratch, length, group, &added,
                                   error));
    return added ? new_token(bounder, bounder->scratch, length, *group, error) : BRUME_OK;
}

brume_status brume_bounder_declare(brume_bounder *bounder, const brume_key_value *keys,
                                   brume_error *error)
{
    size_t used = 0;
    uint32_t group = 0;
    BRUME_TRY(reserve_scratch(bounder, 16, error));
    for (size_t i = 0; i < bounder->plan.key_count; i++)
        BRUME_TRY(append_cell(bounder, &keys[i], &used, error));
    return group_of_scratch(bounder, used, true, &group, error);
}

/* ---- pairs ---- */

static size_t class_room(const brume_bounder *bounder, unsigned size_class)
{
    uint64_t room = UINT64_C(1) << size_class;
    return (size_t)(room < bounder->plan.max_groups ? room : bounder->plan.max_groups);
}

static brume_status new_block(brume_bounder *bounder, unsigned size_class, uint32_t *block,
                              brume_error *error)
{
    if (bounder->free_block[size_class]) {
        *block = bounder->free_block[size_class] - 1;
        memcpy(&bounder->free_block[size_class], pair_at(bounder, *block), sizeof(uint32_t));
        return BRUME_OK;
    }
    size_t need = class_room(bounder, size_class);
    if (bounder->pair_count + need > UINT32_MAX - 1)
        return brume_fail(error, BRUME_EOVERFLOW, NULL, "more than 2^32 pairs of unit and group");
    if (bounder->pair_count + need > bounder->pair_room) {
        size_t room = bounder->pair_room + bounder->pair_room / 2 + need + 4096;
        unsigned char *pairs = realloc(bounder->pairs, room * bounder->pair_size);
        if (!pairs)
            return out_of_memory(error);
        bounder->pairs = pairs;
        bounder->pair_room = room;
    }
    *block = (uint32_t)bounder->pair_count;
    bounder->pair_count += need;
    return BRUME_OK;
}

static brume_status grow_unit(brume_bounder *bounder, unit_record *record, brume_error *error)
{
    uint32_t block = 0;
    unsigned old_class = record->size_class;
    BRUME_TRY(new_block(bounder, old_class + 1, &block, error));
    memcpy(pair_at(bounder, block), pair_at(bounder, record->block),
           record->count * bounder->pair_size);
    memcpy(pair_at(bounder, record->block), &bounder->free_block[old_class], sizeof(uint32_t));
    bounder->free_block[old_class] = record->block + 1;
    record->block = block;
    record->size_class = (old_class + 1) & 31;
    return BRUME_OK;
}

static uint64_t pair_rank(const brume_bounder *bounder, uint64_t unit_token, uint32_t group)
{
    const uint64_t words[] = {unit_token, bounder->group_tokens[group]};
    return brume_siphash_words(&bounder->choice_key, words, 2);
}

/* Does rank (and, should two ranks ever be equal, the key) of `a` come before that of `b`? */
static bool comes_before(const brume_bounder *bounder, uint64_t rank_a, uint32_t a, uint64_t rank_b,
                         uint32_t b)
{
    if (rank_a != rank_b)
        return rank_a < rank_b;
    size_t length_a = 0, length_b = 0;
    const void *key_a = brume_dictionary_bytes(&bounder->groups, a, &length_a);
    const void *key_b = brume_dictionary_bytes(&bounder->groups, b, &length_b);
    int order = memcmp(key_a, key_b, length_a < length_b ? length_a : length_b);
    return order != 0 ? order < 0 : length_a < length_b;
}

static void begin_pair(const brume_bounder *bounder, pair *one, uint64_t rank, uint32_t group)
{
    one->rank = rank;
    one->group = group;
    one->rows = 0;
    if (has_heap(bounder))
        set_heap(one, NULL);
}

/* The pair of a unit and a group, if the unit keeps that group so far; NULL if not. */
static brume_status keep_pair(brume_bounder *bounder, unit_record *record, uint64_t unit_token,
                              uint32_t group, pair **out, brume_error *error)
{
    *out = NULL;
    for (size_t i = 0; i < record->count; i++) {
        pair *one = pair_at(bounder, record->block + i);
        if (one->group == group) {
            *out = one;
            return BRUME_OK;
        }
    }
    uint64_t rank = pair_rank(bounder, unit_token, group);
    if (record->count < bounder->plan.max_groups) {
        if (record->count == class_room(bounder, record->size_class))
            BRUME_TRY(grow_unit(bounder, record, error));
        *out = pair_at(bounder, record->block + record->count);
        record->count++;
        begin_pair(bounder, *out, rank, group);
        return BRUME_OK;
    }
    pair *last = pair_at(bounder, record->block);
    for (size_t i = 1; i < record->count; i++) {
        pair *one = pair_at(bounder, record->block + i);
        if (comes_before(bounder, last->rank, last->group, one->rank, one->group))
            last = one;
    }
    if (!comes_before(bounder, rank, group, last->rank, last->group))
        return BRUME_OK;
    if (has_heap(bounder))
        free(heap_of(last));
    begin_pair(bounder, last, rank, group);
    *out = last;
    return BRUME_OK;
}

/* ---- rows ---- */

/* Total order of rows: rank, then content; 0 only for rows with equal values. */
static int compare_rows(const brume_bounder *bounder, const row *a, const row *b)
{
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return memcmp(&a->present, &b->present, bounder->row_size - offsetof(row, present));
}

static void sift_down(const brume_bounder *bounder, row_heap *heap, const row *new)
{
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= heap->count)
            break;
        if (child + 1 < heap->count && compare_rows(bounder, row_in(bounder, heap, child),
                                                    row_in(bounder, heap, child + 1)) < 0)
            child++;
        if (compare_rows(bounder, row_in(bounder, heap, child), new) <= 0)
            break;
        memcpy(row_in(bounder, heap, at), row_in(bounder, heap, child), bounder->row_size);
        at = child;
    }
    memcpy(row_in(bounder, heap, at), new, bounder->row_size);
}

static void sift_up(const brume_bounder *bounder, row_heap *heap, const row *new)
{
    size_t at = heap->count++;
    while (at > 0 && compare_rows(bounder, row_in(bounder, heap, (at - 1) / 2), new) < 0) {
        memcpy(row_in(bounder, heap, at), row_in(bounder, heap, (at - 1) / 2), bounder->row_size);
        at = (at - 1) / 2;
    }
    memcpy(row_in(bounder, heap, at), new, bounder->row_size);
}

static brume_status keep_in_heap(brume_bounder *bounder, pair *one, const row *new,
                                 brume_error *error)
{
    row_heap *heap = heap_of(one);
    if (heap && heap->count == bounder->plan.max_rows) {
        if (compare_rows(bounder, new, row_in(bounder, heap, 0)) < 0)
            sift_down(bounder, heap, new);
        return BRUME_OK;
    }
    if (!heap || heap->count == heap->room) {
        uint64_t room = heap ? 2 * (uint64_t)heap->room : 2;
        if (room > bounder->plan.max_rows)
            room = bounder->plan.max_rows;
        row_heap *grown = realloc(heap, sizeof *heap + (size_t)room * bounder->row_size);
        if (!grown)
            return out_of_memory(error);
        if (!heap)
            grown->count = 0;
        grown->room = (uint32_t)room;
        heap = grown;
        set_heap(one, heap);
    }
    sift_up(bounder, heap, new);
    return BRUME_OK;
}

static void read_row(const brume_bounder *bounder, const brume_chunk *chunk, size_t at,
                     uint64_t rank_of_pair, row *out)
{
    size_t count = bounder->plan.value_count;
    uint64_t words[VALUES_MOST + 2]; /* only the first 2 + count are used */
    words[0] = rank_of_pair;
    out->present = 0;
    for (size_t i = 0; i < count; i++) {
        const brume_chunk_column *column = &chunk->columns[1 + bounder->plan.key_count + i];
        const brume_bound_value *bounds = &bounder->values[i];
        int64_t value = 0;
        if (!brume_chunk_is_null(column, at)) {
            value = column->integers[at];
            value = value < bounds->low ? bounds->low : value > bounds->high ? bounds->high : value;
            out->present |= UINT64_C(1) << i;
        }
        out->value[i] = value;
        words[2 + i] = (uint64_t)value;
    }
    words[1] = out->present;
    out->rank = brume_siphash_words(&bounder->choice_key, words, 2 + count);
}

static brume_status keep_row(brume_bounder *bounder, pair *one, const brume_chunk *chunk, size_t at,
                             brume_error *error)
{
    bool first = one->rows == 0;
    if (one->rows < bounder->plan.max_rows)
        one->rows++;
    if (bounder->plan.value_count == 0)
        return BRUME_OK;
    union {
        row row;
        unsigned char room[sizeof(row) + VALUES_MOST * sizeof(int64_t)];
    } new;
    read_row(bounder, chunk, at, one->rank, &new.row);
    if (has_heap(bounder))
        return keep_in_heap(bounder, one, &new.row, error);
    row *kept = (row *)(void *)one->data;
    if (first || compare_rows(bounder, &new.row, kept) < 0)
        memcpy(kept, &new.row, bounder->row_size);
    return BRUME_OK;
}

/* ---- taking rows ---- */

static brume_status new_unit(brume_bounder *bounder, uint32_t unit, brume_error *error)
{
    if (unit >= bounder->record_room) {
        size_t room = bounder->record_room + bounder->record_room / 2 + 1024;
        unit_record *records = realloc(bounder->records, room * sizeof *records);
        if (!records)
            return out_of_memory(error);
        bounder->records = records;
        bounder->record_room = room;
    }
    bounder->records[unit] = (unit_record){0, 0, 0};
    return new_block(bounder, 0, &bounder->records[unit].block, error);
}

static const void *unit_bytes(const brume_chunk_column *column, size_t at, size_t *length)
{
    if (column->wire == BRUME_WIRE_TEXT) {
        *length = column->texts[at].length;
        return column->texts[at].data;
    }
    *length = 8;
    return column->wire == BRUME_WIRE_INTEGER ? (const void *)&column->integers[at]
                                              : (const void *)&column->reals[at];
}

/* The group of a row; UINT32_MAX outside a closed domain. */
static brume_status group_of_row(brume_bounder *bounder, const brume_chunk *chunk, size_t at,
                                 uint32_t *group, brume_error *error)
{
    size_t used = 0;
    const brume_chunk_column *first = &chunk->columns[1];
    bool single = bounder->plan.key_count == 1 && first->wire == BRUME_WIRE_INTEGER &&
                  !brume_chunk_is_null(first, at);
    size_t place = single ? (size_t)((uint64_t)first->integers[at] % RECENT) : 0;
    if (single && bounder->recent[place].group &&
        bounder->recent[place].key == first->integers[at]) {
        *group = bounder->recent[place].group - 1;
        return BRUME_OK;
    }
    for (size_t i = 0; i < bounder->plan.key_count; i++) {
        brume_key_value cell = cell_of(&chunk->columns[1 + i], at);
        BRUME_TRY(append_cell(bounder, &cell, &used, error));
    }
    BRUME_TRY(group_of_scratch(bounder, used, !bounder->plan.closed, group, error));
    if (single && *group != UINT32_MAX) {
        bounder->recent[place].key = first->integers[at];
        bounder->recent[place].group = *group + 1;
    }
    return BRUME_OK;
}

static brume_status take_row(brume_bounder *bounder, const brume_chunk *chunk, size_t at,
                             uint64_t unit_hash, brume_error *error)
{
    size_t length = 0;
    uint32_t group = 0, unit = 0;
    bool added = false;
    BRUME_TRY(group_of_row(bounder, chunk, at, &group, error));
    if (group == UINT32_MAX)
        return BRUME_OK; /* outside the declared domain */
    const void *bytes = unit_bytes(&chunk->columns[0], at, &length);
    BRUME_TRY(
        brume_dictionary_add(&bounder->units, unit_hash, bytes, length, &unit, &added, error));
    if (added) {
        brume_status status = new_unit(bounder, unit, error);
        if (status != BRUME_OK) {
            bounder->units.count--; /* it has no record to be freed */
            return status;
        }
    }
    /* The unit's token for ranks comes from the other key: the table's must not decide them. */
    pair *one = NULL;
    uint64_t token = brume_siphash_words(&bounder->choice_key, &unit_hash, 1);
    BRUME_TRY(keep_pair(bounder, &bounder->records[unit], token, group, &one, error));
    return one ? keep_row(bounder, one, chunk, at, error) : BRUME_OK;
}

/* Memory is far away: fetch what a batch will need in steps, each before the next asks for it. */
static void fetch_units(const brume_bounder *bounder, const uint64_t *hashes, size_t count)
{
    uint32_t guess[BATCH];
    for (size_t i = 0; i < count; i++) {
        guess[i] = brume_dictionary_guess(&bounder->units, hashes[i]);
        if (guess[i] != UINT32_MAX)
            __builtin_prefetch(&bounder->records[guess[i]]);
    }
    for (size_t i = 0; i < count; i++)
        if (guess[i] != UINT32_MAX)
            __builtin_prefetch(pair_at(bounder, bounder->records[guess[i]].block));
}

brume_status brume_bounder_take(brume_bounder *bounder, const brume_chunk *chunk,
                                brume_error *error)
{
    if (chunk->column_count != 1 + bounder->plan.key_count + bounder->plan.value_count)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "rows of another shape than planned");
    BRUME_TRY(reserve_scratch(bounder, 16, error));
    const brume_chunk_column *units = &chunk->columns[0];
    if (!bounder->started) {
        bounder->started = true;
        if (units->wire != BRUME_WIRE_TEXT)
            bounder->units.width = 8;
    }
    for (size_t first = 0; first < chunk->row_count; first += BATCH) {
        uint64_t hashes[BATCH];
        size_t count = chunk->row_count - first < BATCH ? chunk->row_count - first : BATCH;
        for (size_t i = 0; i < count; i++) {
            size_t length = 0;
            hashes[i] = 0;
            if (brume_chunk_is_null(units, first + i))
                continue;
            const void *bytes = unit_bytes(units, first + i, &length);
            hashes[i] = brume_dictionary_hash(&bounder->units, bytes, length);
            brume_dictionary_prefetch(&bounder->units, hashes[i]);
        }
        fetch_units(bounder, hashes, count);
        for (size_t i = 0; i < count; i++)
            if (!brume_chunk_is_null(units, first + i))
                BRUME_TRY(take_row(bounder, chunk, first + i, hashes[i], error));
    }
    return BRUME_OK;
}
