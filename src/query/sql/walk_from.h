/* The parts of FROM: items (walk_from.c), joins (walk_join.c), semi-joins (walk_semijoin.c). */
#ifndef BRUME_QUERY_WALK_FROM_H
#define BRUME_QUERY_WALK_FROM_H

#include "query/sql/walk.h"

/* One item of FROM into the scope; false: failed. */
bool brume_walk_item(brume_walk *walk, const PgQuery__Node *node, const brume_walk_common *common,
                     brume_walk_scope *scope);

/* JOIN of the grammar into the scope; false: failed. */
bool brume_walk_join(brume_walk *walk, const PgQuery__JoinExpr *expression,
                     const brume_walk_common *common, brume_walk_scope *scope);

/* Join `right` to `left`, which becomes the scope of both; false: refused. */
bool brume_walk_join_scopes(brume_walk *walk, brume_walk_scope *left, brume_walk_scope *right,
                            brume_join kind, brume_node condition);

/* A conjunct of `condition` that says the units of both sides are equal; NULL: there is none. */
brume_node brume_walk_unit_equality(const brume_walk_scope *left, const brume_walk_scope *right,
                                    brume_node condition);

/* May units of the two relations be compared? False: refused. */
bool brume_walk_units_match(brume_walk *walk, const brume_relation *left,
                            const brume_relation *right);

/* A condition that is printed in place needs no let-steps on either engine; false: refused. */
bool brume_walk_check_plain(brume_walk *walk, brume_node condition);

/* Every table of `relation` is charged as on the nullable side of an outer join. */
void brume_walk_mark_nullable(brume_walk *walk, const brume_relation *relation);

/* Is this conjunct of WHERE EXISTS or IN (SELECT ...), or NOT of these? */
bool brume_walk_is_semijoin(const PgQuery__Node *node);

/* Keep the rows of the scope that the conjunct keeps; false: refused. */
bool brume_walk_semijoin(brume_walk *walk, const PgQuery__Node *node,
                         const brume_walk_common *common, brume_walk_scope *scope);

#endif
