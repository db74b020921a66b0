/* A checked query: brume's own small representation of the SQL it accepts.
 *
 * 1. What is measured: rows (`from` where `where`), each with a unit, grouped by `keys`, summarised
 *    by `aggregates`. Equal keys and equal aggregates stand there once.
 * 2. What is shown: `outputs`, HAVING, ORDER BY, LIMIT: trees over keys and released aggregates
 *    (formula.h), post-processing that reads no data.
 * 3. Everything not represented here was refused by name.
 * 4. Inside the argument of an aggregate a column with declared bounds counts as its clamped value;
 *    conditions and group keys see it as it is. */
#ifndef BRUME_QUERY_QUERY_H
#define BRUME_QUERY_QUERY_H

#include <brume/status.h>

#include "engine/engine.h"
#include "query/expression/expression.h"

/* ---- what the query may name ---- */

typedef enum brume_privacy {
    BRUME_PRIVACY_UNIT,   /* a column says whose row it is */
    BRUME_PRIVACY_ROW,    /* every row is somebody else's */
    BRUME_PRIVACY_PUBLIC, /* a table that needs no protection */
    BRUME_PRIVACY_LINK,   /* it is whose the rows are that its link finds in another table */
} brume_privacy;

typedef struct brume_catalog_column {
    const char *name;
    brume_type type; /* BRUME_TYPE_REFUSED: known, but may not be used */
    brume_leaf leaf;
    const char *native;
    bool not_null;
    const char *low, *high; /* declared bounds as policy.h has them; NULL: none */
    bool is_identifier;     /* the owner says that hardly two units share a value */
    bool bounds_read;       /* nobody declared them: they are those of a public table's values */
} brume_catalog_column;

/* link: a row belongs to the units of the rows of catalog table `parent` whose column
 * `parent_column` equals its column `column`; once for each of them (proofs/links.md). */
typedef struct brume_catalog_link {
    size_t column, parent, parent_column;
} brume_catalog_link;

typedef struct brume_catalog_table {
    const char *name;
    brume_privacy privacy;
    size_t unit; /* index of the unit column where privacy is UNIT */
    const brume_catalog_column *columns;
    size_t column_count;
    const char *dataset;     /* whose budget pays; NULL: the table is a dataset by itself */
    brume_catalog_link link; /* where privacy is LINK */
} brume_catalog_table;

/* Have these two tables of the catalog one budget, and are their neighbours the same? */
bool brume_catalog_same_dataset(const brume_catalog_table *a, const brume_catalog_table *b);

typedef struct brume_catalog {
    const brume_catalog_table *tables;
    size_t table_count;
} brume_catalog;

/* ---- where rows come from ---- */

typedef enum brume_relation_kind {
    BRUME_RELATION_TABLE,    /* a table of the catalog */
    BRUME_RELATION_SELECT,   /* expressions of the rows of `left` that satisfy `condition` */
    BRUME_RELATION_GROUP,    /* per unit: `left` grouped by its first `key_count` columns */
    BRUME_RELATION_JOIN,     /* `left` and `right` on `condition` */
    BRUME_RELATION_UNION,    /* the rows of `left` and those of `right`, column by column */
    BRUME_RELATION_TIMELINE, /* the rows of `left` that satisfy `condition`, and functions of the
                                unit's rows in an order: its first `key_count` columns */
    BRUME_RELATION_NUMBERS,  /* one public column: the whole numbers from 0 to key_count - 1 */
} brume_relation_kind;

typedef enum brume_join {
    BRUME_JOIN_INNER,
    BRUME_JOIN_LEFT,
    BRUME_JOIN_RIGHT,
    BRUME_JOIN_FULL,
    BRUME_JOIN_SEMI, /* the rows of `left` that have a match in `right` */
    BRUME_JOIN_ANTI, /* those that have none */
    BRUME_JOIN_MARK, /* all rows of `left`, and as the last column whether they have a match */
} brume_join;

/* Exact aggregates of one unit's rows, inside a per-unit subquery. */
typedef enum brume_fold {
    BRUME_FOLD_COUNT_ROWS,
    BRUME_FOLD_COUNT,
    BRUME_FOLD_COUNT_DISTINCT,
    BRUME_FOLD_SUM,
    BRUME_FOLD_MIN,
    BRUME_FOLD_MAX,
} brume_fold;

/* Functions of one unit's rows in an order, inside a subquery (proofs/unit-local.md). */
typedef enum brume_timeline_function {
    BRUME_TIMELINE_ROW_NUMBER,
    BRUME_TIMELINE_RANK,
    BRUME_TIMELINE_DENSE_RANK,
    BRUME_TIMELINE_NTILE,
    BRUME_TIMELINE_LAG,
    BRUME_TIMELINE_LEAD,
    BRUME_TIMELINE_FIRST_VALUE,
    BRUME_TIMELINE_LAST_VALUE,
    BRUME_TIMELINE_FOLD,
} brume_timeline_function;

typedef struct brume_timeline_order {
    const brume_expression *value;
    bool descending, nulls_first;
} brume_timeline_order;

/* FUNCTION(argument, number, fallback) OVER (PARTITION BY partition ORDER BY order frame). */
typedef struct brume_timeline {
    brume_timeline_function function;
    brume_fold fold;                  /* FOLD */
    const brume_expression *argument; /* NULL: it has none */
    const brume_expression *fallback; /* LAG, LEAD: where there is no such row; NULL: NULL */
    int64_t number;                   /* LAG, LEAD: how many rows away; NTILE: parts; else 0 */
    size_t partition_count;
    const brume_expression *const *partition; /* the unit first */
    size_t order_count;
    const brume_timeline_order *order;
    bool total;        /* ties in the order are broken by `ties` of the relation */
    const char *frame; /* as SQL has it, of constants; NULL: none is said */
} brume_timeline;

typedef struct brume_relation_column {
    const char *name;                   /* as the query calls it; NULL: not nameable */
    const brume_expression *reference;  /* the COLUMN node that stands for it */
    const brume_expression *expression; /* SELECT: what it is */
    brume_fold fold;                    /* GROUP, after the keys: the aggregate ... */
    size_t argument;                    /* ... of this column of `left` */
    const brume_expression *inside;     /* what stands for it inside an aggregate's argument */
    size_t table_column;                /* TABLE: the catalog's column, */
    const char *stored;                 /* its name there, */
    brume_leaf leaf;                    /* and how it is read */
    const brume_timeline *timeline;     /* TIMELINE: the function */
    bool merged; /* in FROM: USING made it one with another's; TABLE.COLUMN alone finds it */
} brume_relation_column;

/* A column of a relation that equals column `column` of catalog table `table`, by which others are
 * linked to that table. `found`: the row holds the row of `table` itself, and is its unit's.
 * Otherwise the row belongs to the units of all rows of `table` with that value, which are still to
 * be joined. */
typedef struct brume_link_key {
    size_t table, column;
    const brume_expression *node;
    bool found;
} brume_link_key;

typedef struct brume_relation {
    brume_relation_kind kind;
    size_t number; /* unique in the query */
    brume_privacy privacy;
    size_t unit; /* column that holds the unit, where privacy is UNIT */
    /* At most one row for each unit and value of the grain columns; `grain_known` false: no
     * promise. A known grain without columns: one row per unit. */
    bool grain_known;
    size_t grain_count;
    const size_t *grain;
    size_t column_count;
    const brume_relation_column *columns;
    size_t table;     /* TABLE: index in the catalog */
    size_t key_count; /* GROUP, NUMBERS, TIMELINE */
    size_t tie_count; /* TIMELINE: the columns of `left` that anything above it reads. Rows that
                         have them all in common are alike, whatever their order. */
    const brume_expression *const *ties;
    brume_join join;
    const struct brume_relation *left, *right;
    const brume_expression *condition;       /* SELECT, JOIN; NULL: none */
    const brume_expression *right_condition; /* SEMI, ANTI: which rows of `right` count; or NULL */
    size_t link_key_count;
    const brume_link_key *link_keys;
} brume_relation;

/* ---- what is measured ---- */

typedef enum brume_aggregate_kind {
    BRUME_AGGREGATE_COUNT_ROWS,     /* COUNT(*) */
    BRUME_AGGREGATE_COUNT,          /* COUNT(x) */
    BRUME_AGGREGATE_COUNT_UNITS,    /* COUNT(DISTINCT unit), of the rows where the argument is not
                                       NULL: it is the unit or NULL there */
    BRUME_AGGREGATE_COUNT_DISTINCT, /* COUNT(DISTINCT x) */
    BRUME_AGGREGATE_SUM,
    BRUME_AGGREGATE_AVG,
    BRUME_AGGREGATE_VAR_POP,
    BRUME_AGGREGATE_VAR_SAMP,
    BRUME_AGGREGATE_STDDEV_POP,
    BRUME_AGGREGATE_STDDEV_SAMP,
    BRUME_AGGREGATE_QUANTILE, /* MEDIAN, PERCENTILE_CONT, PERCENTILE_DISC */
    BRUME_AGGREGATE_MODE,
    BRUME_AGGREGATE_COVAR_POP, /* from here on: of two arguments, by their second moments */
    BRUME_AGGREGATE_COVAR_SAMP,
    BRUME_AGGREGATE_CORR,
    BRUME_AGGREGATE_REGR_SLOPE,
    BRUME_AGGREGATE_REGR_INTERCEPT,
    BRUME_AGGREGATE_REGR_R2,
} brume_aggregate_kind;

typedef struct brume_aggregate {
    brume_aggregate_kind kind;
    const brume_expression *argument; /* NULL: COUNT_ROWS, COUNT_UNITS of all rows; a number and
                                         bounded for SUM to QUANTILE */
    const brume_expression *other; /* COVAR_POP on: the second argument, a number and bounded; NULL
                                      in the same rows as the first. Else NULL */
    int64_t fraction[2];           /* QUANTILE: numerator and denominator, 0 <= q <= 1, reduced */
    bool tells_units;              /* MODE: each value is one unit's */
} brume_aggregate;

/* Is it of two arguments? */
static inline bool brume_aggregate_is_joint(brume_aggregate_kind kind)
{
    return kind >= BRUME_AGGREGATE_COVAR_POP;
}

bool brume_aggregate_equal(const brume_aggregate *a, const brume_aggregate *b);

const char *brume_aggregate_word(brume_aggregate_kind kind);

/* Where there are several grouping sets (proofs/grouping-sets.md) every row stands there once for
 * each set, and the last key says for which. */
typedef struct brume_key {
    const brume_expression *expression; /* by which rows are grouped: NULL in the sets without it */
    const brume_expression *plain;      /* what it is in the sets that have it */
    uint64_t sets;                      /* bit s: set s has it; all of them where there are none */
    /* The plain column of the catalog that it is, if it is one (for declared domains). */
    bool is_column;
    size_t table, column;
    bool tells_units; /* each of its values is one unit's */
    bool names_unit;  /* the unit, or what its rows are linked by: groups are persons, or nearly */
    /* It reads public tables alone, and these are its values there (release/public_keys.h), as
     * texts of its type, NULL for NULL. */
    bool values_known;
    size_t value_count;
    const char *const *values;
} brume_key;

/* Keys of which only some combinations can occur, whatever the protected rows are: those of public
 * tables that are joined, as these have them. */
typedef struct brume_key_tie {
    size_t key_count;
    const size_t *keys; /* which, in ascending order */
    size_t row_count;
    const char *const *texts; /* row by row, a text of each key; NULL for NULL */
} brume_key_tie;

/* A table that the query reads. `nullable_side`: it is on the nullable side of an outer join, or in
 * a NOT EXISTS that compares more than the unit, where removing a unit turns rows into other rows:
 * charge it as under replacement. */
typedef struct brume_query_table {
    size_t table;
    bool nullable_side;
} brume_query_table;

/* From one occurrence of a table no other rows are read than those that satisfy the condition, a
 * function of its columns: wherever the table stands, and whatever else the query asks. */
typedef struct brume_query_cut {
    const brume_relation *table;
    const brume_expression *condition;
} brume_query_cut;

/* ---- what is shown ---- */

struct brume_formula;

typedef struct brume_query_output {
    const char *name;
    const struct brume_formula *value;
} brume_query_output;

typedef struct brume_query_order {
    const struct brume_formula *value;
    bool descending, nulls_first;
} brume_query_order;

typedef struct brume_query {
    const brume_relation *from;
    const brume_expression *where; /* NULL: all rows */
    const brume_expression *unit;  /* NULL: the row */
    size_t cut_count; /* of tables with windows: each occurrence has one (plan/touched.h) */
    const brume_query_cut *cuts;
    size_t table_count; /* those that need protection, each once; at least one */
    const brume_query_table *tables;
    size_t public_count;
    const size_t *public_tables;
    size_t key_count;
    const brume_key *keys;
    size_t tie_count; /* read before the plan is made (release/public_keys.h) */
    const brume_key_tie *ties;
    size_t set_count; /* grouping sets; 1: GROUP BY has no more than one */
    size_t aggregate_count;
    const brume_aggregate *aggregates;
    /* One row per unit at most (in each grouping set), so max_groups = set_count and max_rows = 1
     * whatever was registered (per-unit subquery, or the row is the unit). */
    bool one_row_per_unit;
    /* One row per unit in each group at most, so max_rows = 1. */
    bool one_row_per_group;
    size_t output_count;
    const brume_query_output *outputs;
    /* Functions of the shown rows: formulas of the kind WINDOW, each at the index aggregate_count +
     * its place here. */
    size_t window_count;
    const struct brume_formula *const *windows;
    const struct brume_formula *having; /* NULL: all groups */
    size_t order_count;
    const brume_query_order *order; /* then by key */
    int64_t limit, offset;          /* limit -1: none */
    const char *normal;             /* normalised text: equal for queries that mean the same by
                                       construction; names as in the catalog, for the ledger */
    struct brume_arena *arena;      /* owns everything above */
} brume_query;

/* The condition to which an occurrence of a table is cut; NULL: all its rows are read. */
const brume_expression *brume_query_cut_of(const brume_query *query, const brume_relation *table);

/* Has a grouping set not this key? */
bool brume_key_is_optional(const brume_query *query, size_t key);

/* Rows of a query, or of a subquery in its FROM: those of `from` that satisfy `where`. */
typedef struct brume_row_scope {
    const brume_relation *from;
    const brume_expression *where; /* NULL: all */
} brume_row_scope;

brume_row_scope brume_query_scope(const brume_query *query);

/* The conditions that every row satisfies: conjuncts of `where` and of inner joins. Calls `visit`
 * for each; false from it ends the walk. */
typedef bool (*brume_condition_visitor)(void *context, const brume_expression *condition);
bool brume_scope_conditions(brume_row_scope scope, brume_condition_visitor visit, void *context);
bool brume_query_conditions(const brume_query *query, brume_condition_visitor visit, void *context);

/* Does a condition that every row satisfies say that `node` is one constant? */
bool brume_scope_pins(brume_row_scope scope, const brume_expression *node);

/* Where `node` is a column of a subquery, and every row has a row of that subquery (which is not on
 * the nullable side of an outer join): what the column is there, and the rows of the subquery. NULL
 * otherwise. What holds of it in every row there holds of `node` in every row of the scope. */
const brume_expression *brume_scope_inside(brume_row_scope scope, const brume_expression *node,
                                           brume_row_scope *inside);

/* Free a query with all that is in its arena; NULL is allowed. */
void brume_query_free(brume_query *query);

/* A node that the planner may add in a query's arena: `value` clamped to `bounds` (in its type's
 * units) and put on a grid, as a BIGINT. binary_digits 0 on an integer or decimal: in units of
 * 10^-scale, exact. Otherwise the value is first a double, and the step is 2^-binary_digits, halves
 * to even. EOVERFLOW if it does not fit 63 bits. */
BRUME_MUST_USE brume_status brume_query_grid(brume_query *query, const brume_expression *value,
                                             const brume_bounds *bounds, int binary_digits,
                                             const brume_expression **grid, brume_error *error);

/* Give the one table of a query, which must be its whole FROM, one more column: `stored`, a BIGINT
 * that is never NULL and that no SQL can name. *number stands for it. */
BRUME_MUST_USE brume_status brume_query_add_number(brume_query *query, const char *stored,
                                                   const brume_expression **number,
                                                   brume_error *error);

#endif
