/* A row expression while it is walked. Shared by walk_expression.c (any node), walk_column.c,
 * walk_constant.c and walk_operator.c. */
#ifndef BRUME_QUERY_WALK_EXPRESSION_H
#define BRUME_QUERY_WALK_EXPRESSION_H

#include "query/sql/walk.h"

typedef struct brume_walk_context {
    brume_walk *walk;
    brume_walk_scope *scope;
    brume_walk_group *group; /* NULL unless after GROUP BY */
} brume_walk_context;

/* Any node; `inside` an aggregate's argument declared bounds clamp. */
brume_node brume_walk_node(brume_walk_context *c, const PgQuery__Node *node, bool inside);

/* Each of them; NULL only where memory ends. */
const brume_node *brume_walk_nodes(brume_walk_context *c, PgQuery__Node *const *nodes, size_t count,
                                   bool inside);

/* A column of the scope, or of one outside it. */
brume_node brume_walk_column(brume_walk *walk, const brume_walk_scope *scope,
                             const PgQuery__ColumnRef *reference, bool inside);

brume_node brume_walk_constant(brume_walk *walk, const PgQuery__AConst *constant);

/* The text of a constant text, or NULL. */
const char *brume_walk_constant_text(const PgQuery__Node *node);

/* The type that a cast names; false: refused. */
bool brume_walk_cast_type(brume_walk *walk, const PgQuery__TypeName *type, brume_type *out);

bool brume_walk_is_interval(const PgQuery__Node *node);

/* TIMESTAMP WITH TIME ZONE '...' of a constant, which must say its zone: the time in UTC, in which
 * columns of that type are read. */
bool brume_walk_is_zoned(const PgQuery__Node *node);
brume_node brume_walk_zoned(brume_walk *walk, const PgQuery__TypeCast *cast);

/* date or timestamp + or - INTERVAL '...' */
brume_node brume_walk_interval(brume_walk_context *c, const PgQuery__Node *time,
                               const PgQuery__Node *node, bool subtract, bool inside);

/* An interval by itself: a number of seconds that is compared with others. */
brume_node brume_walk_duration(brume_walk *walk, const PgQuery__TypeCast *cast);

/* Whatever the grammar calls an operator. */
brume_node brume_walk_operator(brume_walk_context *c, const PgQuery__AExpr *expression,
                               bool inside);

#endif
