/* Functions of one unit's rows inside a subquery: aggregates after GROUP BY (walk_fold.c), and
 * calls with OVER, DISTINCT and DISTINCT ON (walk_timeline.c).
 *
 * Promise (proofs/unit-local.md): what a unit's rows become is a function of that unit's rows
 * alone, as a multiset. Windows and groups have the unit among their keys whether it was written
 * there or not, and an order never depends on where a row lies: ties are broken by all columns that
 * anything above reads. */
#ifndef BRUME_QUERY_WALK_TIMELINE_H
#define BRUME_QUERY_WALK_TIMELINE_H

#include "query/sql/walk_expression.h"

/* COUNT, SUM, AVG, MIN or MAX of one unit's rows, with FILTER in its argument. */
typedef struct brume_walk_folding {
    brume_fold fold;
    brume_node argument; /* NULL: COUNT(*) */
    bool average;        /* `fold` is SUM, to be divided by COUNT */
} brume_walk_folding;

/* False: refused. */
bool brume_walk_read_fold(brume_walk_context *c, const PgQuery__FuncCall *call,
                          brume_walk_folding *out);

/* The column of a group that a fold of `argument` makes, added if it is new. NULL: refused. */
brume_node brume_walk_fold_column(brume_walk *walk, brume_walk_group *group, brume_fold fold,
                                  brume_node argument);

/* A column that a fold makes, its type and bounds; the caller says of which relation it is. */
brume_expression *brume_walk_fold_reference(brume_walk *walk, brume_fold fold, brume_node argument);

brume_node brume_walk_average(brume_walk *walk, brume_node total, brume_node count,
                              brume_node argument);

/* The calls with OVER of one SELECT, while they are collected. */
typedef struct brume_walk_timeline {
    brume_relation *made;    /* NULL until there is one */
    brume_walk_group *group; /* they stand after this GROUP BY; NULL: there is none */
    bool inside;             /* the parts of one are walked */
    brume_relation_column columns[64];
} brume_walk_timeline;

/* A call with OVER, as a column; `inside` an aggregate's argument declared bounds clamp. NULL:
 * refused. */
brume_node brume_walk_over(brume_walk_context *c, const PgQuery__FuncCall *call, bool inside);

/* ROW_NUMBER() OVER (PARTITION BY the unit and `keys` ORDER BY `order`), for DISTINCT ON. */
brume_node brume_walk_row_number(brume_walk_context *c, const brume_node *keys, size_t key_count,
                                 const brume_timeline_order *order, size_t order_count);

/* ORDER BY's item, which is walked as `value`; false: refused. */
bool brume_walk_order_item(brume_walk_context *c, const PgQuery__Node *item,
                           const PgQuery__Node *value, brume_timeline_order *out);

/* When all of a SELECT is walked, whose outputs are `values`: the rows of `from` that satisfy
 * *condition, with what the calls add; `from` itself where there is none. *condition becomes NULL
 * where it is taken over. NULL: failed. */
const brume_relation *brume_walk_close_timeline(brume_walk *walk, brume_walk_timeline *timeline,
                                                const brume_relation *from, brume_node *condition,
                                                const brume_relation_column *values, size_t count);

#endif
