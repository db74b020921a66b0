/* Inside the bounding: what bound.c fills and bound_result.c reads. */
#ifndef BRUME_QUERY_BOUND_PAIRS_H
#define BRUME_QUERY_BOUND_PAIRS_H

#include "query/bound.h"
#include "query/dictionary.h"

enum { CLASSES = 32, VALUES_MOST = 64, RECENT = 4096 };

/* A kept row: rank, which values are there, the values. */
typedef struct row {
    uint64_t rank;
    uint64_t present; /* bit i: value i is not NULL */
    int64_t value[];
} row;

/* Kept rows of a pair where max_rows > 1: a heap with the largest rank first. */
typedef struct row_heap {
    uint32_t count, room;
    unsigned char rows[];
} row_heap;

typedef struct pair {
    uint64_t rank; /* keyed hash of (unit, group) */
    uint32_t group, rows;
    unsigned char data[]; /* a row, or a pointer to a row_heap, or nothing */
} pair;

/* Where the pairs of a unit are. */
typedef struct unit_record {
    uint32_t block; /* index of its first pair */
    uint32_t count : 27;
    uint32_t size_class : 5; /* room for min(2^class, max_groups) pairs */
} unit_record;

struct brume_bounder {
    brume_bound_plan plan;
    brume_wire *key_wires;
    brume_bound_value *values;
    brume_hash_key choice_key; /* of ranks; the dictionaries have another */
    brume_dictionary units, groups;
    brume_wire unit_wire; /* known from the first chunk */
    bool started;
    unit_record *records;
    size_t record_room;
    uint64_t *group_tokens; /* keyed hash of each group's key */
    size_t token_room;
    size_t row_size, pair_size;
    unsigned char *pairs; /* pair_size bytes each */
    size_t pair_count, pair_room;
    uint32_t free_block[CLASSES]; /* lists of given-back blocks, index + 1 */
    struct {
        int64_t key;
        uint32_t group;     /* + 1; 0: nothing is kept here */
    } recent[RECENT];       /* groups of single integer keys, by their low bits */
    unsigned char *scratch; /* one key, encoded */
    size_t scratch_room;
    /* the result */
    brume_bounded_group *result;
    brume_key_value *result_keys;
    brume_bounded_value *result_values;
    int64_t **kept;
    uint32_t **breakers;
    uint32_t result_groups;
};

static inline pair *pair_at(const brume_bounder *bounder, size_t index)
{
    return (pair *)(void *)(bounder->pairs + index * bounder->pair_size);
}

static inline bool has_heap(const brume_bounder *bounder)
{
    return bounder->plan.value_count > 0 && bounder->plan.max_rows > 1;
}

static inline row_heap *heap_of(const pair *one)
{
    row_heap *heap;
    memcpy(&heap, one->data, sizeof heap);
    return heap;
}

static inline row *row_in(const brume_bounder *bounder, const row_heap *heap, size_t index)
{
    return (row *)(void *)(heap->rows + index * bounder->row_size);
}

#endif
