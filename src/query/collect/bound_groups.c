/* The groups of a bounding: keys to numbers, in the order they were first seen, and tokens.
 *
 * A key is encoded as bytes: for each cell a tag (0: NULL), then 8 bytes, or a length and the text.
 * Its token is a keyed hash of them. Numbers depend on arrival and on threads; ranks rest on tokens
 * and ties on encodings, so that nothing that leaves the bounding does. */
#include "query/collect/bound_pairs.h"

#include <stdlib.h>

#include "base/error.h"

enum { AHEAD = 64 }; /* rows whose groups are looked up together */

/* ---- encoding ---- */

typedef struct encoding {
    unsigned char **bytes;
    size_t *room;
    size_t used;
} encoding;

static brume_status reserve(encoding *key, size_t more, brume_error *error)
{
    if (*key->bytes && key->used + more <= *key->room)
        return BRUME_OK;
    size_t room = 2 * (key->used + more);
    unsigned char *bytes = realloc(*key->bytes, room);
    if (!bytes)
        return brume_no_memory(error, "the units and groups");
    *key->bytes = bytes;
    *key->room = room;
    return BRUME_OK;
}

static brume_status append_cell(encoding *key, const brume_key_value *cell, brume_error *error)
{
    size_t text = cell->wire == BRUME_WIRE_TEXT && !cell->null ? cell->text.length : 0;
    BRUME_TRY(reserve(key, 9 + text, error));
    unsigned char *to = *key->bytes + key->used;
    *to++ = !cell->null;
    key->used++;
    if (cell->null)
        return BRUME_OK;
    double real = cell->real == 0 ? 0 : cell->real; /* -0 and 0 are one key */
    uint64_t length = text;
    const void *from = cell->wire == BRUME_WIRE_INTEGER ? (const void *)&cell->integer
                       : cell->wire == BRUME_WIRE_REAL  ? (const void *)&real
                                                        : (const void *)&length;
    memcpy(to, from, 8);
    if (text)
        memcpy(to + 8, cell->text.data, text);
    key->used += 8 + text;
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

/* The key of a row, in the worker's scratch from *used on, which is then where it ends. */
static brume_status encode_row(const brume_bounder *bounder, worker *own, const brume_chunk *chunk,
                               size_t at, size_t *used, brume_error *error)
{
    encoding key = {&own->scratch, &own->scratch_room, *used};
    BRUME_TRY(reserve(&key, 16, error));
    for (size_t i = 0; i < bounder->plan.key_count; i++) {
        brume_key_value cell = cell_of(&chunk->columns[1 + i], at);
        BRUME_TRY(append_cell(&key, &cell, error));
    }
    *used = key.used;
    return BRUME_OK;
}

/* ---- numbers ---- */

static brume_status new_token(brume_bounder *bounder, const void *bytes, size_t length,
                              uint32_t group, brume_error *error)
{
    if (group >= bounder->token_room) {
        size_t room = bounder->token_room + bounder->token_room / 2 + 1024;
        uint64_t *tokens = realloc(bounder->group_tokens, room * sizeof *tokens);
        if (!tokens)
            return brume_no_memory(error, "the units and groups");
        bounder->group_tokens = tokens;
        bounder->token_room = room;
    }
    bounder->group_tokens[group] = brume_siphash_bytes(&bounder->choice_key, bytes, length);
    return BRUME_OK;
}

/* Under the groups' lock, for writing. */
static brume_status add_group(brume_bounder *bounder, const void *bytes, size_t length,
                              uint32_t *group, brume_error *error)
{
    bool added = false;
    uint64_t hash = brume_dictionary_hash(&bounder->groups, bytes, length);
    BRUME_TRY(brume_dictionary_add(&bounder->groups, hash, bytes, length, group, &added, error));
    return added ? new_token(bounder, bytes, length, *group, error) : BRUME_OK;
}

brume_status brume_bounder_declare(brume_bounder *bounder, const brume_key_value *keys,
                                   brume_error *error)
{
    unsigned char *bytes = NULL;
    size_t room = 0;
    uint32_t group = 0;
    encoding key = {&bytes, &room, 0};
    brume_status status = reserve(&key, 16, error);
    for (size_t i = 0; status == BRUME_OK && i < bounder->plan.key_count; i++)
        status = append_cell(&key, &keys[i], error);
    if (status == BRUME_OK) {
        pthread_rwlock_wrlock(&bounder->groups_lock);
        status = add_group(bounder, bytes, key.used, &group, error);
        pthread_rwlock_unlock(&bounder->groups_lock);
    }
    free(bytes);
    return status;
}

/* Look `count` <= AHEAD rows up, under the groups' lock. Memory is far away: what the rows will
 * need is fetched in steps, each before the next asks for it. */
static brume_status find_rows(const brume_bounder *bounder, worker *own, const brume_chunk *chunk,
                              size_t first, const uint32_t *rows, size_t count, brume_error *error)
{
    const brume_dictionary *groups = &bounder->groups;
    uint64_t hashes[AHEAD];
    size_t ends[AHEAD + 1] = {0};
    for (size_t i = 0; i < count; i++) {
        ends[i + 1] = ends[i];
        BRUME_TRY(encode_row(bounder, own, chunk, first + rows[i], &ends[i + 1], error));
        hashes[i] = brume_dictionary_hash(groups, own->scratch + ends[i], ends[i + 1] - ends[i]);
        brume_dictionary_fetch(groups, hashes[i], BRUME_FETCH_PLACE);
    }
    for (size_t i = 0; i < count; i++)
        brume_dictionary_fetch(groups, hashes[i], BRUME_FETCH_ENTRY);
    for (size_t i = 0; i < count; i++)
        brume_dictionary_fetch(groups, hashes[i], BRUME_FETCH_BYTES);
    for (size_t i = 0; i < count; i++) {
        uint32_t group =
            brume_dictionary_find(groups, hashes[i], own->scratch + ends[i], ends[i + 1] - ends[i]);
        own->groups[rows[i]] = group;
        if (group != NO_GROUP)
            own->tokens[rows[i]] = bounder->group_tokens[group];
    }
    return BRUME_OK;
}

/* Look the first `unknown` rows of own->unknown up; those that are not there come back in front. */
static brume_status look_up(brume_bounder *bounder, worker *own, const brume_chunk *chunk,
                            size_t first, size_t *unknown, brume_error *error)
{
    size_t left = 0;
    brume_status status = BRUME_OK;
    pthread_rwlock_rdlock(&bounder->groups_lock);
    for (size_t at = 0; status == BRUME_OK && at < *unknown; at += AHEAD) {
        size_t count = *unknown - at < AHEAD ? *unknown - at : AHEAD;
        status = find_rows(bounder, own, chunk, first, own->unknown + at, count, error);
        for (size_t i = at; status == BRUME_OK && i < at + count; i++)
            if (own->groups[own->unknown[i]] == NO_GROUP)
                own->unknown[left++] = own->unknown[i];
    }
    pthread_rwlock_unlock(&bounder->groups_lock);
    *unknown = left;
    return status;
}

static brume_status add_unknown(brume_bounder *bounder, worker *own, const brume_chunk *chunk,
                                size_t first, size_t unknown, brume_error *error)
{
    brume_status status = BRUME_OK;
    pthread_rwlock_wrlock(&bounder->groups_lock);
    for (size_t i = 0; status == BRUME_OK && i < unknown; i++) {
        size_t row = own->unknown[i], length = 0;
        status = encode_row(bounder, own, chunk, first + row, &length, error);
        if (status == BRUME_OK)
            status = add_group(bounder, own->scratch, length, &own->groups[row], error);
        if (status == BRUME_OK)
            own->tokens[row] = bounder->group_tokens[own->groups[row]];
    }
    pthread_rwlock_unlock(&bounder->groups_lock);
    return status;
}

static size_t place_of(int64_t key)
{
    return (size_t)((uint64_t)key % RECENT);
}

/* Single integer keys that the worker has seen lately need no lock. The others' rows are listed. */
static size_t find_recent(worker *own, const brume_chunk_column *keys, size_t first, size_t count)
{
    size_t unknown = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t key = keys->integers[first + i];
        size_t place = place_of(key);
        bool hit = own->recent[place].group && own->recent[place].key == key &&
                   !brume_chunk_is_null(keys, first + i);
        own->groups[i] = own->recent[place].group - 1;
        own->tokens[i] = own->recent[place].token;
        own->unknown[unknown] = (uint32_t)i;
        unknown += !hit;
    }
    return unknown;
}

static void remember(worker *own, const brume_chunk_column *keys, size_t first,
                     const uint32_t *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t row = rows[i];
        if (own->groups[row] == NO_GROUP || brume_chunk_is_null(keys, first + row))
            continue;
        int64_t key = keys->integers[first + row];
        size_t place = place_of(key);
        own->recent[place].key = key;
        own->recent[place].token = own->tokens[row];
        own->recent[place].group = own->groups[row] + 1;
    }
}

/* Without keys there is one group: what the first row finds is all rows'. */
static brume_status find_only(brume_bounder *bounder, worker *own, const brume_chunk *chunk,
                              size_t first, size_t count, brume_error *error)
{
    size_t unknown = 1;
    own->unknown[0] = 0;
    BRUME_TRY(look_up(bounder, own, chunk, first, &unknown, error));
    if (unknown > 0 && !bounder->plan.closed)
        BRUME_TRY(add_unknown(bounder, own, chunk, first, unknown, error));
    for (size_t i = 1; i < count; i++) {
        own->groups[i] = own->groups[0];
        own->tokens[i] = own->tokens[0];
    }
    return BRUME_OK;
}

brume_status brume_bound_groups(brume_bounder *bounder, worker *own, const brume_chunk *chunk,
                                size_t first, size_t count, brume_error *error)
{
    if (bounder->plan.key_count == 0)
        return find_only(bounder, own, chunk, first, count, error);
    const brume_chunk_column *keys = &chunk->columns[1];
    bool single = bounder->plan.key_count == 1 && keys->wire == BRUME_WIRE_INTEGER;
    size_t unknown = count;
    if (single)
        unknown = find_recent(own, keys, first, count);
    else
        for (size_t i = 0; i < count; i++)
            own->unknown[i] = (uint32_t)i;
    if (unknown == 0)
        return BRUME_OK;
    uint32_t looked_up[BATCH];
    size_t looked_up_count = unknown;
    memcpy(looked_up, own->unknown, unknown * sizeof *looked_up);
    BRUME_TRY(look_up(bounder, own, chunk, first, &unknown, error));
    if (unknown > 0 && !bounder->plan.closed)
        BRUME_TRY(add_unknown(bounder, own, chunk, first, unknown, error));
    if (single)
        remember(own, keys, first, looked_up, looked_up_count);
    return BRUME_OK;
}

bool brume_bound_key_before(brume_bounder *bounder, uint32_t a, uint32_t b)
{
    size_t length_a = 0, length_b = 0;
    pthread_rwlock_rdlock(&bounder->groups_lock);
    const void *key_a = brume_dictionary_bytes(&bounder->groups, a, &length_a);
    const void *key_b = brume_dictionary_bytes(&bounder->groups, b, &length_b);
    int order = memcmp(key_a, key_b, length_a < length_b ? length_a : length_b);
    pthread_rwlock_unlock(&bounder->groups_lock);
    return order != 0 ? order < 0 : length_a < length_b;
}
