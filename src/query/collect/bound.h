/* Bounding: what each unit contributes to the groups of a query, cut to what the policy allows, and
 * summed exactly. One pass over the rows, in any order.
 *
 * 1. At most `max_groups` groups of each unit are kept: those with the smallest keyed hash of
 *    (unit, group). The largest kept hash only falls, so a group that is kept at the end was kept
 *    from its first row on: the result is the same for every order of the rows.
 * 2. One row of each unit in each kept group is kept: that with the smallest keyed hash of the
 *    row's values. Rows with equal values are interchangeable. Units with several rows that count
 *    are not bounded so: their totals are limited (7).
 * 3. So what a unit contributes is a function of its own rows and the key alone: one unit more or
 *    less changes nobody else's contribution. That is what the price counts on
 *    (proofs/query-price.md). The key is fresh for each query and never leaves memory.
 *    Units are told apart exactly, never by a hash of theirs: two units taken for one would share
 *    their bounds. Two units whose hashes happen to be equal only rank their groups alike.
 * 4. Sums are exact: counts in 64 bits, sums and squares of grid integers in 128.
 * 5. With a closed domain rows of other groups are dropped before a unit's groups are chosen, and
 *    every declared group is in the result, also the empty ones.
 * 6. Rows may be given by several threads at once. The result is a function of the rows and the key
 *    alone: threads, chunks and shards do not show in it.
 *
 * 7. Or nothing is cut, and a unit's totals are limited as a whole: totals.h.
 *
 * Memory: one small record per kept (unit, group) pair and what its kept rows need; buffers of a
 * fixed size for each thread. */
#ifndef BRUME_QUERY_BOUND_H
#define BRUME_QUERY_BOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/bits.h>
#include <brume/status.h>

#include "engine/engine.h"
#include "number/wide.h"
#include "query/plan/key_value.h"

/* A value expression whose grid integers arrive in a column. */
typedef struct brume_bound_value {
    int64_t low, high; /* values are clamped to them once more: the sensitivity rests on it */
    int64_t centre;    /* subtracted before summing */
    bool squares;      /* also sum (x - centre)^2; then |x - centre| <= 2^31 */
    bool keep;         /* also list the values, for quantiles and modes: those of the kept rows, or
                          where nothing is cut all of them, with weights (brume_totals_list) */
    bool no_breakers;  /* where nothing is cut: listed values need no `breaker` */
    bool no_sum;       /* where nothing is cut: no sum or square of it is asked for */
} brume_bound_value;

enum { BRUME_BOUND_VALUES = 1024 }; /* of one row, at most */

typedef struct brume_bound_plan {
    uint64_t max_groups; /* 1 .. 2^26 */
    size_t key_count;
    const brume_wire *key_wires;
    size_t value_count; /* at most BRUME_BOUND_VALUES */
    const brume_bound_value *values;
    bool closed; /* only the groups given to brume_bounder_declare exist */
    /* Nothing is cut: the totals of each unit in each group are kept, and limited when their limits
     * are known (totals.h). max_groups is not read. `units` of a group then counts,
     * with keep_key, the units that keep this group alone, by keyed hash; else all that are in it.
     */
    bool totals, keep_key;
} brume_bound_plan;

typedef struct brume_bounder brume_bounder;

/* Prepare; `bits` gives the key. The plan is copied. */
BRUME_MUST_USE brume_status brume_bounder_open(const brume_bound_plan *plan, brume_bits *bits,
                                               brume_bounder **out, brume_error *error);
void brume_bounder_close(brume_bounder *bounder);

/* Declare a group of a closed domain, before any rows. */
BRUME_MUST_USE brume_status brume_bounder_declare(brume_bounder *bounder,
                                                  const brume_key_value *keys, brume_error *error);

/* Take rows: columns are the unit (rows without one are dropped), the keys, the values (INTEGER
 * wires); the unit's wire is the same in all chunks. Any thread, several at once. On error the
 * bounder can only be closed, when no thread is here any more. */
BRUME_MUST_USE brume_status brume_bounder_take(brume_bounder *bounder, const brume_chunk *chunk,
                                               brume_error *error);

typedef struct brume_bounded_value {
    uint64_t count;          /* kept rows with a value */
    brume_i128 sum;          /* of x - centre */
    brume_i128 squares;      /* of (x - centre)^2 */
    const int64_t *kept;     /* the values, in no order: `count` of them, where asked for */
    const uint32_t *weights; /* beside each: what it weighs (limit/clip.h); NULL: 1 each */
    const uint32_t *breaker; /* of each value: a keyed hash of its unit, row and occurrence, to
                                break ties; NULL: ties are not broken */
} brume_bounded_value;

typedef struct brume_bounded_group {
    const brume_key_value *keys;
    uint64_t units, rows; /* totals: all rows; else a row for each unit */
    const brume_bounded_value *values;
    const brume_i128 *limited; /* totals: one sum for each that brume_totals_limit was asked for */
    uint32_t number;           /* the bounder's own */
} brume_bounded_group;

/* The groups in the order of their keys (NULL last, numbers by size, text by bytes). They belong to
 * the bounder and live until it is closed. */
BRUME_MUST_USE brume_status brume_bounder_finish(brume_bounder *bounder,
                                                 const brume_bounded_group **groups, size_t *count,
                                                 brume_error *error);

/* In the order of their keys. */
void brume_groups_sort(brume_bounded_group *groups, size_t count, size_t key_count);

#endif
