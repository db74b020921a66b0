/* Counting keys: an open-addressed table of (hash, entry number), entries with count and place, and
 * the bytes of all keys in blocks that never move. */
#include <brume/statistic/key_count.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/error.h"

enum { BLOCK = 1 << 20, INLINE = 48, LINE = 64 };

/* One cache line. Short keys are in it, so that counting one touches a slot and a line. */
typedef struct entry {
    uint64_t count;
    uint32_t length;
    uint32_t hash;
    union {
        char inside[INLINE]; /* the bytes, up to INLINE of them */
        const char *outside; /* else where they are */
    } key;
} entry;

struct brume_key_count {
    entry *entries;
    size_t size, room;
    uint64_t *slots; /* hash in the upper half, entry number + 1 in the lower; 0 is empty */
    size_t mask;
    char **blocks;
    size_t block_count, used; /* `used` bytes of the last block */
    size_t last_size;
    uint64_t secret[2];
    bool sorted;
};

__extension__ typedef unsigned __int128 wide_word;

static inline uint64_t mix(uint64_t a, uint64_t b)
{
    wide_word product = (wide_word)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t load(const char *bytes, size_t n)
{
    uint64_t word = 0;
    memcpy(&word, bytes, n);
    return word;
}

/* A keyed hash of folded products; only the spread over the table rests on it. */
static inline uint64_t hash_key(const uint64_t *secret, const char *key, size_t length)
{
    uint64_t state = secret[0] ^ length * UINT64_C(0x9e3779b97f4a7c15);
    for (; length > 16; key += 16, length -= 16)
        state = mix(load(key, 8) ^ secret[1], load(key + 8, 8) ^ state);
    uint64_t first, second;
    if (length >= 8) {
        first = load(key, 8);
        second = load(key + length - 8, 8);
    } else if (length >= 4) {
        first = load(key, 4);
        second = load(key + length - 4, 4);
    } else {
        first = load(key, length);
        second = 0;
    }
    return mix(mix(first ^ secret[1], second ^ state), UINT64_C(0xd6e8feb86659fd93) ^ secret[0]);
}

static inline const char *bytes_of(const entry *at)
{
    return at->length <= INLINE ? at->key.inside : at->key.outside;
}

brume_status brume_key_count_open(brume_key_count **out, brume_error *error)
{
    brume_key_count *keys = calloc(1, sizeof *keys);
    if (!keys)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory to count keys");
    if (getrandom(keys->secret, sizeof keys->secret, 0) != (ssize_t)sizeof keys->secret) {
        free(keys);
        return brume_fail(error, BRUME_ERANDOM, NULL, "the kernel gave no random bytes");
    }
    keys->secret[0] |= 1;
    keys->mask = 1023;
    keys->room = 512;
    keys->slots = calloc(keys->mask + 1, sizeof *keys->slots);
    keys->entries = aligned_alloc(LINE, keys->room * sizeof *keys->entries);
    if (!keys->slots || !keys->entries) {
        brume_key_count_close(keys);
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory to count keys");
    }
    *out = keys;
    return BRUME_OK;
}

void brume_key_count_close(brume_key_count *keys)
{
    if (!keys)
        return;
    for (size_t i = 0; i < keys->block_count; i++)
        free(keys->blocks[i]);
    free(keys->blocks);
    free(keys->entries);
    free(keys->slots);
    explicit_bzero(keys, sizeof *keys);
    free(keys);
}

/* Twice the table. The hashes are kept, so no key is read again. */
static brume_status grow(brume_key_count *keys, brume_error *error)
{
    size_t mask = 2 * keys->mask + 1, room = 2 * keys->room;
    uint64_t *slots = calloc(mask + 1, sizeof *slots);
    entry *entries = aligned_alloc(LINE, room * sizeof *entries);
    if (!slots || !entries) {
        free(slots);
        free(entries);
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for more keys");
    }
    memcpy(entries, keys->entries, keys->size * sizeof *entries);
    free(keys->entries);
    keys->entries = entries;
    for (size_t i = 0; i < keys->size; i++) {
        uint64_t hash = keys->entries[i].hash;
        size_t at = hash & mask;
        while (slots[at])
            at = (at + 1) & mask;
        slots[at] = hash << 32 | (i + 1);
    }
    free(keys->slots);
    keys->slots = slots;
    keys->mask = mask;
    keys->room = room;
    return BRUME_OK;
}

/* A lasting copy of the bytes. */
static brume_status store(brume_key_count *keys, const char *key, size_t length, const char **out,
                          brume_error *error)
{
    if (keys->block_count == 0 || keys->last_size - keys->used < length) {
        size_t size = length > BLOCK ? length : BLOCK;
        char **blocks = realloc(keys->blocks, (keys->block_count + 1) * sizeof *blocks);
        if (blocks)
            keys->blocks = blocks;
        char *block = blocks ? malloc(size) : NULL;
        if (!block)
            return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for more keys");
        keys->blocks[keys->block_count++] = block;
        keys->last_size = size;
        keys->used = 0;
    }
    char *place = keys->blocks[keys->block_count - 1] + keys->used;
    memcpy(place, key, length);
    keys->used += length;
    *out = place;
    return BRUME_OK;
}

static inline void count_more(entry *at, uint64_t amount)
{
    at->count = amount > INT64_MAX - at->count ? INT64_MAX : at->count + amount;
}

brume_status brume_key_count_add(brume_key_count *keys, const void *key, size_t length,
                                 uint64_t amount, brume_error *error)
{
    if (keys->sorted)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "the keys are sorted already");
    if (length > INT32_MAX || keys->size >= INT32_MAX)
        return brume_fail(error, BRUME_EOVERFLOW, NULL, "a key over 2^31 bytes, or 2^31 keys");
    uint64_t hash = hash_key(keys->secret, key, length) >> 32;
    size_t at = hash & keys->mask;
    for (; keys->slots[at]; at = (at + 1) & keys->mask) {
        if (keys->slots[at] >> 32 != hash)
            continue;
        entry *found = &keys->entries[(uint32_t)keys->slots[at] - 1];
        if (found->length == length && memcmp(bytes_of(found), key, length) == 0) {
            count_more(found, amount);
            return BRUME_OK;
        }
    }
    if (keys->size == keys->room) {
        BRUME_TRY(grow(keys, error));
        for (at = hash & keys->mask; keys->slots[at];)
            at = (at + 1) & keys->mask;
    }
    entry fresh = {.length = (uint32_t)length, .hash = (uint32_t)hash};
    if (length <= INLINE)
        memcpy(fresh.key.inside, key, length);
    else
        BRUME_TRY(store(keys, key, length, &fresh.key.outside, error));
    count_more(&fresh, amount);
    keys->entries[keys->size++] = fresh;
    keys->slots[at] = hash << 32 | keys->size;
    return BRUME_OK;
}

void brume_key_count_put(brume_key_count *keys, const int64_t *counts)
{
    for (size_t i = 0; i < keys->size; i++)
        keys->entries[i].count = counts[i] > 0 ? (uint64_t)counts[i] : 0;
}

size_t brume_key_count_size(const brume_key_count *keys)
{
    return keys->size;
}

/* An entry to sort, with its first bytes as a big-endian word: it decides nearly always. */
typedef struct sorting {
    uint64_t prefix;
    const entry *at;
} sorting;

static int by_bytes(const void *left, const void *right)
{
    const sorting *a = left, *b = right;
    if (a->prefix != b->prefix)
        return a->prefix < b->prefix ? -1 : 1;
    size_t shorter = a->at->length < b->at->length ? a->at->length : b->at->length;
    int order = memcmp(bytes_of(a->at), bytes_of(b->at), shorter);
    return order ? order : a->at->length < b->at->length ? -1 : a->at->length > b->at->length;
}

/* Spread into buckets by the two bytes after what all keys share, then sort the buckets. */
static void sort_entries(sorting *items, sorting *scratch, size_t n)
{
    uint64_t all = 0;
    for (size_t i = 0; i < n; i++)
        all |= items[i].prefix ^ items[0].prefix;
    int shared = all ? __builtin_clzll(all) : 48;
    unsigned shift = shared > 48 ? 0 : (unsigned)(48 - shared);
    size_t *start = calloc(65537, sizeof *start);
    if (n < 256 || !start) {
        free(start);
        qsort(items, n, sizeof *items, by_bytes);
        return;
    }
    for (size_t i = 0; i < n; i++)
        start[(items[i].prefix >> shift & 65535) + 1]++;
    for (size_t bucket = 0; bucket < 65536; bucket++)
        start[bucket + 1] += start[bucket];
    for (size_t i = 0; i < n; i++)
        scratch[start[items[i].prefix >> shift & 65535]++] = items[i];
    for (size_t bucket = 0, first = 0; bucket < 65536; first = start[bucket], bucket++)
        if (start[bucket] - first > 1)
            qsort(scratch + first, start[bucket] - first, sizeof *scratch, by_bytes);
    memcpy(items, scratch, n * sizeof *items);
    free(start);
}

brume_status brume_key_count_sort(brume_key_count *keys, const unsigned char *keep,
                                  brume_error *error)
{
    size_t kept = 0;
    for (size_t i = 0; i < keys->size; i++)
        kept += !keep || keep[i];
    sorting *items = malloc((2 * kept + 1) * sizeof *items);
    entry *entries = aligned_alloc(LINE, (kept + 1) * sizeof *entries);
    if (!items || !entries) {
        free(items);
        free(entries);
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory to sort %zu keys", kept);
    }
    size_t n = 0;
    for (size_t i = 0; i < keys->size; i++) {
        if (keep && !keep[i])
            continue;
        const entry *at = &keys->entries[i];
        uint64_t prefix = load(bytes_of(at), at->length < 8 ? at->length : 8);
        items[n++] = (sorting){__builtin_bswap64(prefix), at};
    }
    sort_entries(items, items + kept, n);
    for (size_t i = 0; i < n; i++)
        entries[i] = *items[i].at;
    free(items);
    free(keys->entries);
    free(keys->slots);
    keys->entries = entries;
    keys->slots = NULL;
    keys->size = kept;
    keys->sorted = true;
    return BRUME_OK;
}

uint64_t brume_key_count_at(const brume_key_count *keys, size_t i, const char **key, size_t *length)
{
    *key = bytes_of(&keys->entries[i]);
    *length = keys->entries[i].length;
    return keys->entries[i].count;
}
