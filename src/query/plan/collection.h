/* What is collected from the rows for one measurement: which rows, under which keys, which values
 * of them, and how much of each unit is kept. A plain description that owns nothing. */
#ifndef BRUME_QUERY_COLLECTION_H
#define BRUME_QUERY_COLLECTION_H

#include "query/plan/policy.h"
#include "query/expression/query.h"

/* An expression whose values are summed, squared or ranked. */
typedef struct brume_plan_value {
    const brume_expression *argument; /* as asked */
    const brume_expression *grid;     /* as a grid integer */
    int64_t low, high;                /* bounds on the grid */
    int64_t origin;                   /* what the grid counts from; 0 but for means (make_plan.c) */
    double step;                      /* value = step * (origin + grid integer) */
    bool squares, keep;
    bool averaged, added; /* some aggregate is its mean, its sum, */
    bool spread;          /* a spread by its sum and that of another value, */
    bool is_square;       /* which is this, or a product of two values less their middles */
    size_t root; /* 1 + the value that this is the square of, if a centre is found for their spread;
                    0: of none */
    size_t counted_by; /* 1 + another value that is not NULL wherever this one is not, whose number
                          is measured and limited for both; 0: its own is */
    bool unsummed;     /* no sum of it is measured */
    bool breaks_ties;  /* several quantiles are drawn one within the other */
    const brume_policy_column
        *declared; /* for modes: the grid integer is the place in its domain */
} brume_plan_value;

/* Keys of declared groups of which only some combinations can occur. */
typedef struct brume_cell_tie {
    size_t key_count;
    const size_t *keys; /* which, in ascending order; a key has one tie at most */
    size_t row_count;
    const size_t *places; /* row by row, in order: which of its key's values each is */
} brume_cell_tie;

struct brume_bounded_group;

/* Groups, by the first `key_count` keys of a collection, to which its rows are restricted. */
typedef struct brume_collection_only {
    const struct brume_bounded_group *const *groups;
    size_t count, key_count;
} brume_collection_only;

typedef struct brume_collection {
    const brume_query *query; /* its FROM, WHERE, unit and keys */
    uint64_t max_groups;      /* that a unit is kept in, with one row each; not where totals are */
    bool bounded;             /* max_groups may cut what a unit has */
    bool totals;     /* nothing is cut: a unit's totals are limited as a whole (collect/totals.h) */
    bool pushed;     /* totals: the engine adds them up where the rows lie (collect/pushed/) */
    bool unread;     /* nothing is measured in the groups, which are declared: no row is needed */
    bool all_groups; /* totals: `units` counts all that are in a group, and none is dropped */
    uint64_t cells;  /* declared groups: all combinations of `domain` that can occur; 0: those that
                        some unit has */
    const brume_key_value *domain; /* domain_size[k] values for each key in turn */
    const size_t *domain_size;
    size_t tie_count;
    const brume_cell_tie *ties;
    size_t value_count;
    const brume_plan_value *values;
    /* Pushed: rows of these groups alone count (collect/pushed/); NULL: no others are left out. */
    const brume_collection_only *only;
} brume_collection;

#endif
