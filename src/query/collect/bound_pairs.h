/* Inside the bounding: what its files share.
 *
 *   bound.c         opening, closing; rows come in and wait in the buffers of a worker
 *   bound_groups.c  keys of groups to numbers and back
 *   bound_shard.c   the units of one shard, their pairs and rows
 *   bound_result.c  exact sums of what was kept
 *   totals_shard.c  their totals
 *   totals.c        their norms, and sums of what is left of them under limits
 *
 * Locks, in the order in which they may be taken: a shard's, then the groups'. A worker belongs to
 * one thread while it is taken out of the list of idle ones. */
#ifndef BRUME_QUERY_BOUND_PAIRS_H
#define BRUME_QUERY_BOUND_PAIRS_H

#include <pthread.h>

#include "query/collect/large_pages.h"
#include "query/collect/bound.h"
#include "query/collect/dictionary.h"
#include "query/limit/total.h"

enum {
    CLASSES = 32,   /* of block sizes */
    RECENT = 4096,  /* groups of single integer keys that a worker remembers */
    BATCH = 1024,   /* rows that are hashed together */
    SHARD_BITS = 6, /* units are spread over 2^SHARD_BITS shards by bits of their hash */
    SHARDS = 1 << SHARD_BITS,
    WAITING_MOST = 128, /* rows that wait for one shard in one worker */
    TEXT_ROOM = 4096,   /* bytes of their units' names, where units are text */
    BLOCK_BITS = 8,     /* 2^BLOCK_BITS records of a shard lie behind each other */
    NO_GROUP = UINT32_MAX,
};

/* What a row measures is words: first which values are there (bit i % 64 of word i / 64: value i is
 * not NULL), then the values, clamped, 0 where NULL. */
static inline size_t presence_words(size_t value_count)
{
    return (value_count + 63) / 64;
}

static inline bool measured_has(const uint64_t *measured, size_t index)
{
    return measured[index / 64] >> index % 64 & 1;
}

/* A row on its way to a shard. Behind it, where bounder->measured_at says: what it measures. */
typedef struct waiting_row {
    uint64_t unit_hash;
    union {
        uint64_t number;
        const char *text;
    } unit;
    /* not of rows that are short (bounder->short_rows): */
    uint32_t text_length, group;
    /* only where something is decided by it (bounder->ranked): */
    uint64_t rank; /* keyed hash of (unit, group) */
} waiting_row;

/* A unit and where its kept pairs are. A block has room for some pairs, sorted by rank, and is four
 * parts one after the other: for text units a pointer to the unit's name; the ranks; the groups;
 * and what the kept row of each pair measures. So what decides whether a row stays is in one or two
 * cache lines. */
typedef struct unit_slot {
    uint64_t unit;  /* its 8 bytes, or the hash of its name */
    uint64_t worst; /* the largest kept rank once there are max_groups pairs; before, UINT64_MAX */
    unsigned char *block; /* NULL: no unit is here */
    uint32_t count;
    uint32_t room; /* in the block: a power of two, or max_groups */
} unit_slot;

typedef struct pair {
    uint32_t group;
    bool filled; /* it has its row */
} pair;

/* Blocks of pairs come from slabs; given-back ones wait in a list for each size. */
typedef struct slab {
    unsigned char *bytes;
    size_t used, room;
    size_t all; /* bytes of this slab and of those before it */
} slab;

/* Records of one size, in the order they were added. They stay where they are. */
typedef struct records {
    unsigned char **blocks; /* of 2^BLOCK_BITS records each */
    size_t block_count, block_room;
    size_t count;
} records;

typedef struct spare_block {
    struct spare_block *next;
} spare_block;

/* The totals of a unit in a group; behind it, for each value: the number of those that are there
 * and, where asked for, their sum (one word if it is narrow, else two) and that of their squares
 * (two words). */
typedef struct total {
    uint32_t unit, group; /* the unit's number in its shard */
    uint64_t rows;
    uint64_t words[];
} total;

/* Where the words of a value are in a record of totals. A value is narrow if a sum of 2^40 of them
 * fits into a word; should one ever not fit, it stays at the border, as counts do. */
typedef struct total_place {
    size_t at;
    bool narrow;
} total_place;

/* A row that is not added up yet; behind it: what it measures. */
typedef struct fresh_row {
    uint32_t unit, group;
    uint64_t measured[];
} fresh_row;

/* Room to sort rows in. */
typedef struct sorting {
    uint64_t *words;
    size_t room; /* in words */
    unsigned char *rows;
    size_t row_room; /* in bytes */
} sorting;

/* A value that is listed, where nothing is cut. An entry is, in words of 32 bits: the unit, as in
 * `total`; the group, where there are keys; where ties are broken the breaker, a keyed hash of
 * unit, group and number of the row among theirs; the distance from the lower bound, in one word
 * or, where the bounds are wide, in two. */
typedef struct value_list {
    size_t value;
    size_t breaker_at, value_at; /* in words */
    size_t size;                 /* of an entry, in bytes */
    bool breaks_ties, wide;
} value_list;

/* Where nothing is cut: a unit and its number in its shard. */
typedef struct unit_place {
    uint64_t unit;   /* its 8 bytes, or the hash of its name */
    uint32_t number; /* + 1; 0: no unit is here */
    uint32_t hash;   /* the lower half: says where to look */
} unit_place;

typedef struct shard {
    pthread_mutex_t lock;
    unit_slot *slots; /* open addressing by the low bits of the unit's hash */
    size_t slot_room; /* a power of two */
    size_t unit_count;
    slab blocks;
    slab names; /* of text units: length (4 bytes) and bytes */
    spare_block *spare[CLASSES];
    /* totals: */
    unit_place *unit_places;          /* open addressing by the low bits of the unit's hash */
    size_t unit_room;                 /* a power of two */
    const unsigned char **unit_names; /* of text units, by their numbers */
    size_t name_room;
    records fresh;         /* rows since the last were added up, of bounder->fresh_size */
    bool adding;           /* a thread adds rows up: it alone touches `totals` */
    records totals;        /* of bounder->total_size, in the order of units, then of groups */
    uint32_t *row_numbers; /* where ties are broken: how many rows each unit has had */
    size_t row_number_room;
    records *listed; /* by the number of the list */
} shard;

/* Rows that wait for one shard. */
typedef struct waiting {
    uint32_t count, text_used;
} waiting;

typedef struct worker {
    struct worker *next_idle, *next;
    pthread_t thread;       /* that had it last */
    unsigned char *scratch; /* one key, encoded */
    size_t scratch_room;
    struct {
        int64_t key;
        uint64_t token;
        uint32_t group;    /* + 1; 0: nothing is kept here */
    } recent[RECENT];      /* groups of single integer keys, by their low bits */
    const uint64_t *units; /* of a batch, where they are numbers */
    uint64_t real_units[BATCH], hashes[BATCH], tokens[BATCH], ranks[BATCH];
    uint32_t groups[BATCH];
    uint32_t unknown[BATCH]; /* rows whose group is to be looked up */
    waiting waiting[SHARDS];
    unsigned char *rows; /* WAITING_MOST of them for each shard */
    char *texts;         /* TEXT_ROOM for each shard; NULL where units are numbers */
    sorting sorting;
} worker;

struct brume_bounder {
    brume_bound_plan plan;
    brume_wire *key_wires;
    brume_bound_value *values;
    brume_hash_key choice_key; /* of ranks; the dictionaries have another */
    brume_hash_key table_key;
    size_t presence; /* words in front of what a row measures */
    size_t measured_size, waiting_size;
    size_t measured_at; /* in a waiting row, in bytes */
    bool short_rows;    /* units are numbers, there is one group, and nothing is decided by ranks */
    bool ranked;        /* rows have ranks */
    size_t fresh_size;  /* of a row that is not added up yet */
    size_t total_size;  /* of a record of totals */
    total_place *total_at;
    value_list *lists; /* of values */
    size_t list_count;
    bool breaks_ties;             /* some of them have breakers */
    size_t name_size, data_size;  /* in a block: of the pointer to a name; of each pair's data */
    pthread_rwlock_t groups_lock; /* guards the two below */
    brume_dictionary groups;
    uint64_t *group_tokens; /* keyed hash of each group's key */
    size_t token_room;
    brume_pages pages; /* of the shards */
    shard shards[SHARDS];
    pthread_mutex_t workers_lock; /* guards the four below */
    worker *workers, *idle;
    bool started;
    bool text_units; /* known from the first rows */
    /* the result */
    brume_bounded_group *result;
    brume_key_value *result_keys;
    brume_bounded_value *result_values;
    int64_t **kept;
    uint32_t **breakers, **weights;
    uint32_t result_groups;
    brume_i128 *limited; /* totals: by the result's groups */
};

static inline int64_t measured_value(const brume_bounder *bounder, const uint64_t *measured,
                                     size_t index)
{
    return (int64_t)measured[bounder->presence + index];
}

static inline uint64_t *ranks_of(const brume_bounder *bounder, const unit_slot *slot)
{
    return (uint64_t *)(void *)(slot->block + bounder->name_size);
}

static inline pair *pairs_of(const brume_bounder *bounder, const unit_slot *slot)
{
    return (pair *)(void *)(ranks_of(bounder, slot) + slot->room);
}

/* What the row of a pair measures. */
static inline unsigned char *data_of(const brume_bounder *bounder, const unit_slot *slot,
                                     size_t index)
{
    return (unsigned char *)(pairs_of(bounder, slot) + slot->room) + index * bounder->data_size;
}

/* Keyed hash of what a row measures, in its pair: the row's rank. */
uint64_t brume_bound_row_rank(const brume_bounder *bounder, uint64_t rank_of_pair,
                              const uint64_t *measured);

/* bound.c: hand every row that still waits to its shard. One thread, after the last row. */
BRUME_MUST_USE brume_status brume_bounder_flush(brume_bounder *bounder, brume_error *error);

/* bound_shard.c: make room for `more` units, so that none of the slots moves. */
BRUME_MUST_USE brume_status brume_units_reserve(shard *own, brume_bounder *bounder, size_t more,
                                                brume_error *error);

/* Keep a text unit's name; NULL: no memory. */
const unsigned char *brume_units_keep_name(shard *own, brume_bounder *bounder, const char *text,
                                           uint32_t length);

/* bound_shard.c: take `count` <= WAITING_MOST rows, under its lock. */
BRUME_MUST_USE brume_status brume_shard_take(shard *own, brume_bounder *bounder,
                                             const unsigned char *rows, size_t count,
                                             brume_error *error);

/* totals_shard.c: the same where nothing is cut, with room to add rows up in; add those up that are
 * left, after the last row. */
BRUME_MUST_USE brume_status brume_totals_take(shard *own, brume_bounder *bounder, sorting *room,
                                              const unsigned char *rows, size_t count,
                                              brume_error *error);
BRUME_MUST_USE brume_status brume_totals_add_up(shard *own, brume_bounder *bounder, sorting *room,
                                                brume_error *error);
void brume_totals_clear(shard *own, size_t list_count);
void brume_sorting_clear(sorting *room);

/* totals.c: lay the lists out; list the values of rows, of which units[i] is the i-th one's unit
 * and numbers[i], where ties are broken, its number among its unit's rows. */
BRUME_MUST_USE brume_status brume_lists_plan(brume_bounder *bounder, brume_error *error);
BRUME_MUST_USE brume_status brume_lists_take(shard *own, brume_bounder *bounder,
                                             const unsigned char *rows, size_t count,
                                             const uint32_t *units, const uint32_t *numbers,
                                             brume_error *error);

/* totals_shard.c: room for `more` records of a size. */
BRUME_MUST_USE brume_status brume_records_reserve(records *all, brume_bounder *bounder, size_t size,
                                                  size_t more, brume_error *error);

static inline const waiting_row *waiting_in(const brume_bounder *bounder, const unsigned char *rows,
                                            size_t index)
{
    return (const waiting_row *)(const void *)(rows + index * bounder->waiting_size);
}

static inline const uint64_t *measured_in(const brume_bounder *bounder, const waiting_row *row)
{
    return (const uint64_t *)(const void *)((const unsigned char *)row + bounder->measured_at);
}

static inline void *record_in(const records *all, size_t size, size_t index)
{
    return all->blocks[index >> BLOCK_BITS] + (index & ((1 << BLOCK_BITS) - 1)) * size;
}

static inline fresh_row *fresh_in(const brume_bounder *bounder, const shard *own, size_t index)
{
    return record_in(&own->fresh, bounder->fresh_size, index);
}

static inline total *total_in(const brume_bounder *bounder, const shard *own, size_t index)
{
    return record_in(&own->totals, bounder->total_size, index);
}

/* Add up the totals into the result's groups, for brume_bounder_finish. */
BRUME_MUST_USE brume_status brume_totals_sum(brume_bounder *bounder, brume_error *error);

/* bound_groups.c: number and token of each row's group, from row `first` on, into the worker;
 * NO_GROUP for a row outside a closed domain. */
BRUME_MUST_USE brume_status brume_bound_groups(brume_bounder *bounder, worker *own,
                                               const brume_chunk *chunk, size_t first, size_t count,
                                               brume_error *error);

/* Does the key of `a` come before that of `b` in the order of their encodings? */
bool brume_bound_key_before(brume_bounder *bounder, uint32_t a, uint32_t b);

#endif
