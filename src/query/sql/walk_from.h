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

/* What a whole number was before it was widened, which no value of its own type is lost by. */
brume_node brume_walk_narrowest(brume_node node);

/* Join `right` to `left`, which becomes the scope of both; false: refused. */
bool brume_walk_join_scopes(brume_walk *walk, brume_walk_scope *left, brume_walk_scope *right,
                            brume_join kind, brume_node condition);

/* A table of the catalog, by its place there; NULL: failed. */
const brume_relation *brume_walk_table(brume_walk *walk, size_t index);

/* The table of that name, exactly, else without regard to case; `dataset` may be NULL or empty. One
 * alone must have it. False: failed. */
bool brume_walk_find_table(brume_walk *walk, const char *dataset, const char *name, size_t *index);

/* A scope without names for a table of the catalog; false: failed. */
bool brume_walk_table_scope(brume_walk *walk, size_t table, brume_walk_scope *scope);

/* What a join of two protected sides on `condition` says of their links (proofs/links.md). */
typedef enum brume_walk_link {
    BRUME_LINK_NONE,
    BRUME_LINK_SAME_KEY, /* the key is equal that a link goes to, and the units may differ */
    BRUME_LINK_SIBLINGS, /* both are linked to the same rows, still to be found */
    BRUME_LINK_TO_LEFT,  /* a row of the right is whose the row of the left is */
    BRUME_LINK_TO_RIGHT, /* a row of the left is whose the row of the right is */
} brume_walk_link;

/* `equality`, if not NULL, becomes the conjunct that says so. */
brume_walk_link brume_walk_find_link(const brume_walk_scope *left, const brume_walk_scope *right,
                                     brume_node condition, brume_node *equality);

/* Both sides get their units, and *condition says that these are equal: it does so already, or
 * (SAME_KEY) it is added. False: refused. */
bool brume_walk_match_units(brume_walk *walk, brume_walk_scope *left, brume_walk_scope *right,
                            brume_walk_link link, brume_node *condition);

/* The link keys of a join: those of the sides whose rows cannot be missing. */
void brume_walk_join_keys(brume_walk_scope *joined, const brume_walk_scope *left,
                          const brume_walk_scope *right, brume_join kind, brume_walk_link link);

/* A conjunct of `condition` by which the two may be joined, so that the unit is kept: NULL: there
 * is none, or (*any) none is needed. */
brume_node brume_walk_joining(const brume_walk_scope *left, const brume_walk_scope *right,
                              brume_node condition, bool *any);

/* A conjunct of `condition` that says the units of both sides are equal; NULL: there is none. */
brume_node brume_walk_unit_equality(const brume_walk_scope *left, const brume_walk_scope *right,
                                    brume_node condition);

/* May units of the two relations be compared? False: refused. */
bool brume_walk_units_match(brume_walk *walk, const brume_relation *left,
                            const brume_relation *right);

/* A condition that is printed in place needs no let-steps on either engine; false: refused. */
bool brume_walk_check_plain(brume_walk *walk, const brume_relation *left,
                            const brume_relation *right, brume_node condition);

/* Every table of `relation` is charged as on the nullable side of an outer join. */
void brume_walk_mark_nullable(brume_walk *walk, const brume_relation *relation);

/* Is this conjunct of WHERE EXISTS or IN (SELECT ...), or NOT of these? */
bool brume_walk_is_semijoin(const PgQuery__Node *node);

/* Keep the rows of the scope that the conjunct keeps; false: refused. */
bool brume_walk_semijoin(brume_walk *walk, const PgQuery__Node *node,
                         const brume_walk_common *common, brume_walk_scope *scope);

#endif
