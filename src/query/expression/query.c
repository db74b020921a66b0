/* A checked query: its end, the grid nodes that a plan adds to it, and by which table it divides.
 */
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
    /* Of an outer join only the preserved side's own conditions hold for every row. */
    bool inner = relation->join == BRUME_JOIN_INNER;
    if (inner && !visit_conjuncts(relation->condition, visit, context))
        return false;
    if (relation->join != BRUME_JOIN_RIGHT && relation->join != BRUME_JOIN_FULL &&
        !visit_joins(relation->left, visit, context))
        return false;
    return (!inner && relation->join != BRUME_JOIN_RIGHT) ||
           visit_joins(relation->right, visit, context);
}

bool brume_query_conditions(const brume_query *query, brume_condition_visitor visit, void *context)
{
    return visit_conjuncts(query->where, visit, context) &&
           visit_joins(query->from, visit, context);
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

/* ---- by which table it divides ---- */

/* Which table of a query may be read in parts.
 *
 * Argument. Let R(T) be the rows of a relation as a multiset, as a function of the rows of one
 * table T that stands in it once. Where R(T1 + T2) = R(T1) + R(T2) for every division of T, the
 * relation divides by T. A table divides by itself; a SELECT does if what it selects from does,
 * because each of its rows is made of one row; a join does by a table of a side of which it keeps
 * or drops every row on that row's own account: either side of an inner join, the left side of a
 * left, semi or anti join, the right side of a right join. The sum of two relations (UNION ALL)
 * does not, because the side without T would be repeated, nor does grouping.
 *
 * The other side of a join is read again for each part. So only joins with public tables count
 * here, which are small as a rule; T is then the only protected table, and stands there once. */
static bool is_public(const brume_relation *relation)
{
    if (!relation)
        return true;
    if (relation->kind == BRUME_RELATION_TABLE)
        return relation->privacy == BRUME_PRIVACY_PUBLIC;
    return is_public(relation->left) && is_public(relation->right);
}

static bool find_divided(const brume_relation *relation, size_t *table)
{
    switch (relation->kind) {
    case BRUME_RELATION_TABLE:
        *table = relation->table;
        return relation->privacy != BRUME_PRIVACY_PUBLIC;
    case BRUME_RELATION_SELECT:
        return find_divided(relation->left, table);
    case BRUME_RELATION_JOIN:
        break;
    default:
        return false;
    }
    bool left = relation->join != BRUME_JOIN_RIGHT && relation->join != BRUME_JOIN_FULL;
    bool right = relation->join == BRUME_JOIN_INNER || relation->join == BRUME_JOIN_RIGHT;
    return (left && is_public(relation->right) && find_divided(relation->left, table)) ||
           (right && is_public(relation->left) && find_divided(relation->right, table));
}

bool brume_query_divides(const brume_query *query, size_t *table)
{
    return find_divided(query->from, table);
}
