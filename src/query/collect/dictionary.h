/* A dictionary: byte strings to small numbers 0, 1, 2, … in the order they were first seen.
 *
 * Keyed hashing, so that no choice of data makes it slow on purpose. */
#ifndef BRUME_QUERY_DICTIONARY_H
#define BRUME_QUERY_DICTIONARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/status.h>

#include "query/collect/siphash.h"

typedef struct brume_dictionary {
    brume_hash_key key;
    size_t width;    /* all strings have this length; 0: any length */
    uint64_t *table; /* 32 bits of the hash above number + 1, or 0; a power of two of them */
    size_t room;     /* size of the table */
    uint32_t count;
    unsigned char *bytes; /* the strings, one after the other */
    size_t bytes_used, bytes_room;
    uint64_t *starts; /* where each begins; NULL for fixed width */
    uint64_t *hashes; /* kept for strings of any length */
    size_t entry_room;
} brume_dictionary;

void brume_dictionary_make(brume_dictionary *dictionary, const brume_hash_key *key, size_t width);
void brume_dictionary_clear(brume_dictionary *dictionary);

static inline uint64_t brume_dictionary_hash(const brume_dictionary *dictionary, const void *bytes,
                                             size_t length)
{
    return brume_siphash_bytes(&dictionary->key, bytes, length);
}

/* The number of a string with this hash; UINT32_MAX if it is not there. */
uint32_t brume_dictionary_find(const brume_dictionary *dictionary, uint64_t hash, const void *bytes,
                               size_t length);

/* The same, adding it if need be; *added says whether. BRUME_EMEMORY; BRUME_EOVERFLOW at 2^32 - 2.
 */
BRUME_MUST_USE brume_status brume_dictionary_add(brume_dictionary *dictionary, uint64_t hash,
                                                 const void *bytes, size_t length, uint32_t *number,
                                                 bool *added, brume_error *error);

/* The string of a number. */
const void *brume_dictionary_bytes(const brume_dictionary *dictionary, uint32_t number,
                                   size_t *length);

/* Fetch what finding a string with this hash will look at, without waiting for it: its place in the
 * table; when that is there, the entry that is in the place; when that is there, its bytes. */
typedef enum brume_dictionary_step {
    BRUME_FETCH_PLACE,
    BRUME_FETCH_ENTRY,
    BRUME_FETCH_BYTES
} brume_dictionary_step;
void brume_dictionary_fetch(const brume_dictionary *dictionary, uint64_t hash,
                            brume_dictionary_step step);

#endif
