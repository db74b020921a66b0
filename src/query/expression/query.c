/* A checked query: its end, and the grid nodes that a plan adds to it. */
#include "query/expression/query.h"

#include <string.h>

#include "base/error.h"
#include "query/expression/build.h"

bool brume_catalog_same_dataset(const brume_catalog_table *a, const brume_catalog_table *b)
{
    return a == b || (a->dataset && b->dataset && strcmp(a->dataset, b->dataset) == 0);
}

static bool visit_conjuncts(const brume_expression *condition, brume_condition_visitor visit,
                            void *context)
{
    if (!condition)
        return true;
    if (condition->operation != BRUME_OPERATION_AND)
        return visit(context, condition);
    for (size_t i = 0; i < condition->argument_count; i++)
        if (!visit_conjuncts(condition->arguments[i], visit, context))
            return false;
    return true;
}

static bool visit_joins(const brume_relation *relation, brume_condition_visitor visit,
                        void *context)
{
    if (relation->kind != BRUME_RELATION_JOIN)
        return true;
    /* In an outer join only the preserved side's own conditions hold for every row. */
    bool inner = relation->join == BRUME_JOIN_INNER;
    if (inner && !visit_conjuncts(relation->condition, visit, context))
        return false;
    if (relation->join != BRUME_JOIN_RIGHT && relation->join != BRUME_JOIN_FULL &&
        !visit_joins(relation->left, visit, context))
        return false;
    return (!inner && relation->join != BRUME_JOIN_RIGHT) ||
           visit_joins(relation->right, visit, context);
}

brume_row_scope brume_query_scope(const brume_query *query)
{
    return (brume_row_scope){query->from, query->where};
}

bool brume_scope_conditions(brume_row_scope scope, brume_condition_visitor visit, void *context)
{
    return visit_conjuncts(scope.where, visit, context) && visit_joins(scope.from, visit, context);
}

bool brume_query_conditions(const brume_query *query, brume_condition_visitor visit, void *context)
{
    return brume_scope_conditions(brume_query_scope(query), visit, context);
}

static bool is_constant(const brume_expression *node)
{
    while (node->operation == BRUME_OPERATION_CAST)
        node = node->arguments[0];
    return node->operation == BRUME_OPERATION_LITERAL;
}

/* False ends the walk: `node` is pinned. */
static bool does_not_pin(void *context, const brume_expression *condition)
{
    const brume_expression *node = context;
    for (int i = 0; condition->operation == BRUME_OPERATION_EQUAL && i < 2; i++)
        if (brume_expression_equal(condition->arguments[i], node) &&
            is_constant(condition->arguments[1 - i]))
            return false;
    return true;
}

bool brume_scope_pins(brume_row_scope scope, const brume_expression *node)
{
    return !brume_scope_conditions(scope, does_not_pin, (void *)node);
}

/* Has every row of `from` a row of the relation? */
static bool always_has(const brume_relation *from, const brume_relation *relation)
{
    if (from == relation)
        return true;
    if (from->kind != BRUME_RELATION_JOIN)
        return false;
    bool left = from->join != BRUME_JOIN_RIGHT && from->join != BRUME_JOIN_FULL;
    bool right = from->join == BRUME_JOIN_INNER || from->join == BRUME_JOIN_RIGHT;
    return (left && always_has(from->left, relation)) ||
           (right && always_has(from->right, relation));
}

const brume_expression *brume_scope_inside(brume_row_scope scope, const brume_expression *node,
                                           brume_row_scope *inside)
{
    const brume_relation *relation = node->relation;
    if (node->operation != BRUME_OPERATION_COLUMN || !always_has(scope.from, relation))
        return NULL;
    if (relation->kind == BRUME_RELATION_GROUP && node->column < relation->key_count)
        relation = relation->left; /* a key of the rows that are grouped, first in their list */
    if (relation->kind != BRUME_RELATION_SELECT)
        return NULL;
    *inside = (brume_row_scope){relation->left, relation->condition};
    return relation->columns[node->column].expression;
}

const brume_expression *brume_query_cut_of(const brume_query *query, const brume_relation *table)
{
    /* by number: a copy of a relation keeps it, and its cut (brume_query_add_number) */
    for (size_t i = 0; i < query->cut_count; i++)
        if (query->cuts[i].table->number == table->number)
            return query->cuts[i].condition;
    return NULL;
}

bool brume_key_is_optional(const brume_query *query, size_t key)
{
    size_t sets = query->set_count;
    return sets > 1 && ~query->keys[key].sets & (UINT64_MAX >> (64 - sets));
}

void brume_query_free(brume_query *query)
{
    if (query)
        brume_arena_close(query->arena);
}

brume_status brume_query_grid(brume_query *query, const brume_expression *value,
                              const brume_bounds *bounds, int binary_digits,
                              const brume_expression **grid, brume_error *error)
{
    brume_builder builder = {.arena = query->arena, .error = error};
    const brume_expression *node = brume_build_grid(&builder, value, bounds, binary_digits);
    if (!node)
        return builder.status;
    *grid = node;
    return BRUME_OK;
}

brume_status brume_query_add_number(brume_query *query, const char *stored,
                                    const brume_expression **number, brume_error *error)
{
    brume_builder builder = {.arena = query->arena, .error = error};
    const brume_relation *from = query->from;
    if (from->kind != BRUME_RELATION_TABLE)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "rows of a table only have a number");
    brume_relation *table = brume_arena_copy(query->arena, from, sizeof *from);
    brume_relation_column *columns =
        brume_arena_allocate(query->arena, (from->column_count + 1) * sizeof *columns);
    char *name = brume_arena_text(query->arena, stored);
    if (!table || !columns || !name)
        return brume_no_memory(error, "a query");
    memcpy(columns, from->columns, from->column_count * sizeof *columns);
    brume_type type = {.kind = BRUME_TYPE_BIGINT};
    const brume_expression *node =
        brume_build_column(&builder, table, from->column_count, type, false);
    if (!node)
        return builder.status;
    columns[from->column_count] =
        (brume_relation_column){.reference = node, .inside = node, .stored = name};
    table->columns = columns;
    table->column_count = from->column_count + 1;
    query->from = table; /* the same number: what stands for its other columns stays right */
    *number = node;
    return BRUME_OK;
}
