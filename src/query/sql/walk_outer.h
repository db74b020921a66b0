/* The outer SELECT while it is walked: its keys and aggregates so far. Shared by walk_query.c
 * (clauses) and walk_aggregate.c (what is measured, and what is shown of it). */
#ifndef BRUME_QUERY_WALK_OUTER_H
#define BRUME_QUERY_WALK_OUTER_H

#include "query/sql/walk.h"

enum {
    BRUME_WALK_KEYS = 16,
    BRUME_WALK_AGGREGATES = 1000,
    BRUME_WALK_OUTPUTS = 1000,
    BRUME_WALK_WINDOWS = 100,
    BRUME_WALK_SETS = 64,
    BRUME_WALK_NODES = 4000
};

typedef const brume_formula *brume_formula_node;

typedef struct brume_walk_outer {
    brume_walk *walk;
    brume_walk_scope *scope;
    brume_key keys[BRUME_WALK_KEYS];
    size_t key_count;
    size_t set_count;               /* grouping sets; 1 where there are none */
    uint32_t sets[BRUME_WALK_SETS]; /* bit k: the set has key k */
    const brume_relation *numbers;  /* of the sets: the last key's; NULL: there is one set */
    brume_aggregate aggregates[BRUME_WALK_AGGREGATES];
    size_t aggregate_count;
    brume_formula *nodes[BRUME_WALK_NODES]; /* all that stand for an aggregate */
    size_t node_count;                      /* may be more than fit, and then counts only */
    brume_formula *windows[BRUME_WALK_WINDOWS];
    size_t window_count;
    bool in_window;           /* inside of OVER or of what it is of */
    const brume_query *named; /* its outputs may be called by their names; NULL: not yet */
} brume_walk_outer;

/* GROUPING(a, b, ...): which of the keys the group's set has not, as bits. */
brume_formula_node brume_walk_grouping_function(brume_walk_outer *o,
                                                const PgQuery__GroupingFunc *call);

/* Record a failure and return NULL. */
brume_formula_node brume_walk_outer_fail(brume_walk_outer *o, brume_status status, const char *hint,
                                         const char *message);

/* A node over `arguments`; NULL if one of them is NULL. */
brume_formula *brume_walk_outer_make(brume_walk_outer *o, brume_formula_kind kind,
                                     const brume_formula_node *arguments, size_t count);

/* An aggregate call: its place among the aggregates, asked for once. */
brume_formula_node brume_walk_aggregate(brume_walk_outer *o, const PgQuery__FuncCall *call);

/* When everything is walked: measure sums that differ by constants together. False: failed. */
bool brume_walk_shifted_sums(brume_walk_outer *o);

/* PERCENTILE_CONT(ARRAY[...]) and PERCENTILE_DISC(ARRAY[...]): the array, else NULL. In the SELECT
 * list it stands for one output per element. */
const PgQuery__AArrayExpr *brume_walk_percentile_array(const PgQuery__Node *node);

/* An expression over keys and aggregates. */
brume_formula_node brume_walk_formula(brume_walk_outer *o, const PgQuery__Node *node);

#endif
