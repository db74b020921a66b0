/* From libpg_query's tree to brume's representation, through an allow-list.
 *
 * Every node kind and every field of a node that is not known here is refused by name. Functions
 * return NULL on failure; the builder holds the status and the error. */
#ifndef BRUME_QUERY_WALK_H
#define BRUME_QUERY_WALK_H

#include <pg_query.h>
#include <pg_query/pg_query.pb-c.h>

#include "query/expression/build.h"
#include "query/expression/query.h"
#include "query/sql/formula.h"

/* A name in FROM with the columns it gives. */
typedef struct brume_walk_source {
    const char *name;
    size_t column_count;
    const brume_relation_column *columns;
    struct brume_walk_source *next;
    const char *dataset; /* of a table that has no other name here; else NULL */
} brume_walk_source;

/* A WITH item in sight. */
typedef struct brume_walk_common {
    const char *name;
    const PgQuery__CommonTableExpr *definition;
    const struct brume_walk_common *next; /* what the definition itself and others see */
} brume_walk_common;

struct brume_walk_timeline;
struct brume_walk_match;

/* What a row expression may name. */
typedef struct brume_walk_scope {
    brume_walk_source *sources;
    const brume_relation *relation;
    const brume_expression
        *units[8]; /* columns that hold the unit; equal where there are several */
    size_t unit_count;
    const brume_expression *maybe_units[8]; /* those that hold the unit or, where an outer join
                                               found nothing, NULL */
    size_t maybe_unit_count;
    brume_link_key link_keys[16]; /* as brume_relation.link_keys */
    size_t link_key_count;
    const struct brume_walk_scope
        *outer;    /* EXISTS: the scope around it, which its WHERE may name too; else NULL */
    bool complete; /* FROM is walked: subqueries in expressions may add columns */
    const brume_walk_common *common;  /* what they see of WITH */
    struct brume_walk_match *matches; /* those that did */
    struct brume_walk_timeline
        *timeline; /* what OVER adds to the rows; NULL: it may not stand here */
} brume_walk_scope;

/* A scope after GROUP BY inside a per-unit subquery. */
typedef struct brume_walk_group {
    bool may_be_missing; /* it stands on the nullable side of a LEFT JOIN */
    brume_walk_scope *rows;
    brume_relation *base;  /* SELECT of keys and arguments */
    brume_relation *group; /* GROUP over it */
    brume_relation_column base_columns[64], group_columns[64];
} brume_walk_group;

typedef struct brume_walk {
    brume_builder builder;
    const brume_catalog *catalog;
    size_t relation_count;
    int depth; /* of nested SELECTs */
    brume_query_table tables[16];
    size_t table_count;
    size_t public_tables[16];
    size_t public_count;
} brume_walk;

/* A row expression while it is walked. */
typedef struct brume_walk_context {
    brume_walk *walk;
    brume_walk_scope *scope;
    brume_walk_group *group; /* NULL unless after GROUP BY */
} brume_walk_context;

/* What parse.c puts in the place of ALL in GROUP BY ALL, which the grammar does not have, between
 * quotes: of the same length, so that positions in messages stay right. */
#define BRUME_WALK_ALL "*"

enum { BRUME_WALK_DEPTH = 16, BRUME_WALK_COLUMNS = 1000 };

/* A row expression. `inside` an aggregate's argument declared bounds clamp. With `group`, after
 * GROUP BY inside a per-unit subquery: keys and exact aggregates. */
brume_node brume_walk_expression(brume_walk *walk, brume_walk_scope *scope, brume_walk_group *group,
                                 const PgQuery__Node *node, bool inside);

/* An aggregate call after GROUP BY inside a per-unit subquery: exact, of one unit's rows. */
brume_node brume_walk_fold(brume_walk *walk, brume_walk_group *group,
                           const PgQuery__FuncCall *call);

/* The key of that GROUP BY that `node` is, or NULL; `inside` of an aggregate around it. */
brume_node brume_walk_group_key(brume_walk *walk, brume_walk_group *group,
                                const PgQuery__Node *node, bool inside);

/* The name and kind of an aggregate call, or false. */
bool brume_walk_is_aggregate(const PgQuery__Node *node);
bool brume_walk_has_aggregate(const PgQuery__Node *node);

/* Is there an aggregate of rows, which a call with OVER is not? */
bool brume_walk_has_fold(const PgQuery__Node *node);

/* The digits of numeric(p,s), of at most 38; false if it has none or others. */
bool brume_walk_numeric(const PgQuery__TypeName *type, int *precision, int *scale);

/* The plain name of a function or operator (pg_catalog may qualify it), or NULL. */
const char *brume_walk_name(PgQuery__Node *const *names, size_t count);

/* Refuse a node by what a person would call it. */
brume_node brume_walk_refuse(brume_walk *walk, const PgQuery__Node *node);

/* FROM (and WHERE, which may hold the unit equality of a comma join). Fills the scope; *where is
 * NULL without WHERE. False: failed. */
bool brume_walk_from(brume_walk *walk, const PgQuery__SelectStmt *select,
                     const brume_walk_common *common, brume_walk_scope *scope, brume_node *where);

/* A subquery as a relation. */
const brume_relation *brume_walk_select(brume_walk *walk, const PgQuery__SelectStmt *select,
                                        const brume_walk_common *common);

/* A subquery in an expression: EXISTS, IN, and one aggregate of rows that are equal to this row in
 * what WHERE compares. NULL: refused. */
brume_node brume_walk_sublink(brume_walk *walk, brume_walk_scope *scope,
                              const PgQuery__SubLink *link);

/* One more key of a GROUP BY while it is made, as a column of the relation below and of the groups.
 */
bool brume_walk_add_group_key(brume_walk *walk, brume_walk_group *group, brume_node key);

/* UNION ALL of two subqueries as a relation. */
const brume_relation *brume_walk_union(brume_walk *walk, const PgQuery__SelectStmt *select,
                                       const brume_walk_common *common);

/* WITH of a statement in front of what is in sight; false: failed. */
bool brume_walk_with(brume_walk *walk, const PgQuery__SelectStmt *select,
                     const brume_walk_common **common);

/* Clauses that no SELECT of brume has; false: refused. */
bool brume_walk_check_select(brume_walk *walk, const PgQuery__SelectStmt *select);

/* GROUP BY ALL: by every output that is no aggregate. */
bool brume_walk_groups_by_all(const PgQuery__SelectStmt *select);

/* GROUP BY items: positions and output names stand for the target's expression. */
const PgQuery__Node *brume_walk_group_item(brume_walk *walk, const PgQuery__SelectStmt *select,
                                           const PgQuery__Node *item);

brume_relation *brume_walk_relation(brume_walk *walk, brume_relation_kind kind);

/* The column of `relation` that is `node`'s value: a COLUMN with the type and bounds of `like`. */
brume_node brume_walk_reference(brume_walk *walk, const brume_relation *relation, size_t column,
                                brume_node like);

/* `node` where it may be missing: on the nullable side of an outer join. */
brume_node brume_walk_nullable(brume_walk *walk, brume_node node);

bool brume_walk_is_unit(const brume_walk_scope *scope, brume_node node);

/* Is it the unit or NULL in every row? */
/* Does naming it say whose the rows are: is it the unit, or a key by which rows are linked to the
 * unit's? Rows of one such key and of several units are apart: whoever groups by it adds the unit.
 */
bool brume_walk_is_unit_or_null(const brume_walk *walk, const brume_walk_scope *scope,
                                brume_node node);
bool brume_walk_names_unit(const brume_walk_scope *scope, brume_node node);

/* Is it the unit, or by the owner's declarations one to one with it: a column that is linked to the
 * unit or to an identifier? Only where no outer join may leave it out, which makes one large group.
 */
bool brume_walk_tells_units(const brume_walk *walk, const brume_walk_scope *scope, brume_node node);

/* Is it the column that `known` is, whether it may be missing or not, and through a widening cast
 * of a whole number? */
bool brume_walk_is_column(brume_node known, brume_node node);

/* Join the tables along the links until the unit of the scope's rows is found. False: failed. */
bool brume_walk_resolve(brume_walk *walk, brume_walk_scope *scope);

/* The name that an output has without AS. */
const char *brume_walk_output_name(brume_walk *walk, const PgQuery__ResTarget *target);

/* The whole statement into `query`; false: failed. */
bool brume_walk_query(brume_walk *walk, const PgQuery__SelectStmt *select, brume_query *query);

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

/* A scope without names for a table of the catalog; false: failed. */
bool brume_walk_table_scope(brume_walk *walk, size_t table, brume_walk_scope *scope);

/* A conjunct of `condition` by which the two may be joined, so that the unit is kept: NULL: there
 * is none, or (*any) none is needed. */
brume_node brume_walk_joining(const brume_walk_scope *left, const brume_walk_scope *right,
                              brume_node condition, bool *any);

/* May units of the two relations be compared? False: refused. */
bool brume_walk_units_match(brume_walk *walk, const brume_relation *left,
                            const brume_relation *right);

/* Is this conjunct of WHERE EXISTS or IN (SELECT ...), or NOT of these? */
bool brume_walk_is_semijoin(const PgQuery__Node *node);

/* Keep the rows of the scope that the conjunct keeps; false: refused. */
bool brume_walk_semijoin(brume_walk *walk, const PgQuery__Node *node,
                         const brume_walk_common *common, brume_walk_scope *scope);

/* The column of a group that a fold of `argument` makes, added if it is new. NULL: refused. */
brume_node brume_walk_fold_column(brume_walk *walk, brume_walk_group *group, brume_fold fold,
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

/* Any node; `inside` an aggregate's argument declared bounds clamp. */
brume_node brume_walk_node(brume_walk_context *c, const PgQuery__Node *node, bool inside);

#endif
