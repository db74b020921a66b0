/* A dictionary: byte strings to small numbers, in the order they were first seen. */
#include "query/collect/dictionary.h"

#include <stdlib.h>

#include "base/error.h"

enum { FIRST_ROOM = 1024 };

void brume_dictionary_make(brume_dictionary *dictionary, const brume_hash_key *key, size_t width)
{
    *dictionary = (brume_dictionary){.key = *key, .width = width};
}

void brume_dictionary_clear(brume_dictionary *dictionary)
{
    free(dictionary->table);
    free(dictionary->bytes);
    free(dictionary->starts);
    free(dictionary->hashes);
    *dictionary = (brume_dictionary){0};
}

const void *brume_dictionary_bytes(const brume_dictionary *dictionary, uint32_t number,
                                   size_t *length)
{
    if (dictionary->width) {
        *length = dictionary->width;
        return dictionary->bytes + (size_t)number * dictionary->width;
    }
    uint64_t start = dictionary->starts[number];
    uint64_t end = number + 1 < dictionary->count ? dictionary->starts[number + 1]
                                                  : dictionary->bytes_used;
    *length = (size_t)(end - start);
    return dictionary->bytes ? dictionary->bytes + start : NULL; /* NULL: only empty texts so far */
}

static bool is(const brume_dictionary *dictionary, uint32_t number, const void *bytes,
               size_t length)
{
    size_t other = 0;
    if (dictionary->width == 8) {
        uint64_t a, b;
        memcpy(&a, dictionary->bytes + (size_t)number * 8, 8);
        memcpy(&b, bytes, 8);
        return a == b;
    }
    const void *there = brume_dictionary_bytes(dictionary, number, &other);
    return other == length && (length == 0 || memcmp(there, bytes, length) == 0);
}

uint32_t brume_dictionary_find(const brume_dictionary *dictionary, uint64_t hash, const void *bytes,
                               size_t length)
{
    if (!dictionary->room)
        return UINT32_MAX;
    for (size_t at = hash & (dictionary->room - 1);; at = (at + 1) & (dictionary->room - 1)) {
        uint64_t entry = dictionary->table[at];
        if (entry == 0)
            return UINT32_MAX;
        /* another tag is another string: most of them are passed without a look */
        if (entry >> 32 == hash >> 32 && is(dictionary, (uint32_t)entry - 1, bytes, length))
            return (uint32_t)entry - 1;
    }
}

void brume_dictionary_fetch(const brume_dictionary *dictionary, uint64_t hash,
                            brume_dictionary_step step)
{
    if (!dictionary->room)
        return;
    const uint64_t *place = &dictionary->table[hash & (dictionary->room - 1)];
    if (step == BRUME_FETCH_PLACE) {
        __builtin_prefetch(place);
    } else if (*place >> 32 == hash >> 32 && *place) {
        size_t number = (uint32_t)*place - 1;
        if (step == BRUME_FETCH_ENTRY && dictionary->width)
            __builtin_prefetch(dictionary->bytes + number * dictionary->width);
        else if (step == BRUME_FETCH_ENTRY)
            __builtin_prefetch(&dictionary->starts[number]);
        else if (!dictionary->width)
            __builtin_prefetch(dictionary->bytes + dictionary->starts[number]);
    }
    __asm__ volatile("" ::: "memory"); /* else it is a function without effect, and dropped */
}

static uint64_t hash_of(const brume_dictionary *dictionary, uint32_t number)
{
    if (dictionary->hashes)
        return dictionary->hashes[number];
    size_t length = 0;
    const void *bytes = brume_dictionary_bytes(dictionary, number, &length);
    return brume_dictionary_hash(dictionary, bytes, length);
}

static void place(brume_dictionary *dictionary, uint64_t hash, uint32_t number)
{
    size_t at = hash & (dictionary->room - 1);
    while (dictionary->table[at])
        at = (at + 1) & (dictionary->room - 1);
    dictionary->table[at] = hash >> 32 << 32 | (number + 1);
}

/* Keep the table at most two thirds full. */
static brume_status grow_table(brume_dictionary *dictionary, brume_error *error)
{
    if ((size_t)dictionary->count + 1 <= dictionary->room / 3 * 2)
        return BRUME_OK;
    size_t room = dictionary->room ? 2 * dictionary->room : FIRST_ROOM;
    uint64_t *table = calloc(room, sizeof *table);
    if (!table)
        return brume_no_memory(error, "the units and groups");
    free(dictionary->table);
    dictionary->table = table;
    dictionary->room = room;
    for (uint32_t i = 0; i < dictionary->count; i++)
        place(dictionary, hash_of(dictionary, i), i);
    return BRUME_OK;
}

static brume_status grow_bytes(brume_dictionary *dictionary, size_t length, brume_error *error)
{
    if (dictionary->bytes_used + length > dictionary->bytes_room) {
        size_t room = dictionary->bytes_room + dictionary->bytes_room / 2 + length + 4096;
        unsigned char *bytes = realloc(dictionary->bytes, room);
        if (!bytes)
            return brume_no_memory(error, "the units and groups");
        dictionary->bytes = bytes;
        dictionary->bytes_room = room;
    }
    if (dictionary->width || dictionary->count < dictionary->entry_room)
        return BRUME_OK;
    size_t room = dictionary->entry_room + dictionary->entry_room / 2 + FIRST_ROOM;
    uint64_t *starts = realloc(dictionary->starts, room * sizeof *starts);
    if (!starts)
        return brume_no_memory(error, "the units and groups");
    dictionary->starts = starts;
    uint64_t *hashes = realloc(dictionary->hashes, room * sizeof *hashes);
    if (!hashes)
        return brume_no_memory(error, "the units and groups");
    dictionary->hashes = hashes;
    dictionary->entry_room = room;
    return BRUME_OK;
}

brume_status brume_dictionary_add(brume_dictionary *dictionary, uint64_t hash, const void *bytes,
                                  size_t length, uint32_t *number, bool *added, brume_error *error)
{
    uint32_t found = brume_dictionary_find(dictionary, hash, bytes, length);
    *added = found == UINT32_MAX;
    if (!*added) {
        *number = found;
        return BRUME_OK;
    }
    if (dictionary->count >= UINT32_MAX - 2)
        return brume_fail(error, BRUME_EOVERFLOW, NULL, "more than 2^32 units or groups");
    BRUME_TRY(grow_table(dictionary, error));
    BRUME_TRY(grow_bytes(dictionary, length, error));
    uint32_t fresh = dictionary->count;
    if (length > 0)
        memcpy(dictionary->bytes + dictionary->bytes_used, bytes, length);
    if (!dictionary->width) {
        dictionary->starts[fresh] = dictionary->bytes_used;
        dictionary->hashes[fresh] = hash;
    }
    dictionary->bytes_used += length;
    dictionary->count++;
    place(dictionary, hash, fresh);
    *number = fresh;
    return BRUME_OK;
}
