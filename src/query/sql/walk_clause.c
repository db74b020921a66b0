/* The clauses of a SELECT, of a query or a subquery: WITH, what is refused as a whole, the items of
 * GROUP BY, and the names of outputs. */
#include "query/sql/walk.h"

#include <string.h>

bool brume_walk_with(brume_walk *walk, const PgQuery__SelectStmt *select,
                     const brume_walk_common **common)
{
    if (!select->with_clause)
        return true;
    if (select->with_clause->recursive) {
        brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED, "write the steps out as WITH items",
                         "WITH RECURSIVE is not supported");
        return false;
    }
    for (size_t i = 0; i < select->with_clause->n_ctes; i++) {
        const PgQuery__Node *node = select->with_clause->ctes[i];
        brume_walk_common *item = brume_arena_allocate(walk->builder.arena, sizeof *item);
        if (!item) {
            brume_build_fail(&walk->builder, BRUME_EMEMORY, NULL, "out of memory");
            return false;
        }
        if (node->node_case != PG_QUERY__NODE__NODE_COMMON_TABLE_EXPR ||
            node->common_table_expr->search_clause || node->common_table_expr->cycle_clause) {
            brume_walk_refuse(walk, node);
            return false;
        }
        *item =
            (brume_walk_common){node->common_table_expr->ctename, node->common_table_expr, *common};
        *common = item;
    }
    return true;
}

bool brume_walk_check_select(brume_walk *walk, const PgQuery__SelectStmt *select)
{
    brume_builder *builder = &walk->builder;
    const char *what = NULL, *hint = NULL;
    if (select->op != PG_QUERY__SET_OPERATION__SETOP_NONE) {
        what = "UNION, INTERSECT and EXCEPT of answers are";
        hint = "ask separate queries, or put UNION ALL in FROM";
    } else if (select->n_values_lists) {
        what = "VALUES is";
        hint = "declare a public table";
    } else if (select->into_clause) {
        what = "SELECT INTO is";
        hint = "the answer is printed: redirect it";
    } else if (select->n_window_clause) {
        what = "WINDOW is";
        hint = "use GROUP BY; shares and ranks can be made from the answer";
    } else if (select->n_locking_clause) {
        what = "FOR UPDATE is";
        hint = "leave it out: nothing is locked";
    }
    if (what)
        brume_build_fail(builder, BRUME_EUNSUPPORTED, hint, "%s not supported", what);
    return !what;
}

bool brume_walk_groups_by_all(const PgQuery__SelectStmt *select)
{
    if (select->n_group_clause != 1 ||
        select->group_clause[0]->node_case != PG_QUERY__NODE__NODE_A_CONST)
        return false;
    const PgQuery__AConst *constant = select->group_clause[0]->a_const;
    return !constant->isnull && constant->val_case == PG_QUERY__A__CONST__VAL_SVAL &&
           strcmp(constant->sval->sval, BRUME_WALK_ALL) == 0;
}

const PgQuery__Node *brume_walk_group_item(brume_walk *walk, const PgQuery__SelectStmt *select,
                                           const PgQuery__Node *item)
{
    brume_builder *builder = &walk->builder;
    if (item->node_case == PG_QUERY__NODE__NODE_GROUPING_SET) {
        brume_build_fail(builder, BRUME_EUNSUPPORTED, "use them in the outer SELECT",
                         "GROUPING SETS, ROLLUP and CUBE are not supported in a subquery");
        return NULL;
    }
    if (item->node_case == PG_QUERY__NODE__NODE_A_CONST) {
        const PgQuery__AConst *constant = item->a_const;
        if (constant->isnull || constant->val_case != PG_QUERY__A__CONST__VAL_IVAL ||
            constant->ival->ival < 1 || (size_t)constant->ival->ival > select->n_target_list) {
            brume_build_fail(builder, BRUME_EARGUMENT, "count the outputs from 1",
                             "a position in GROUP BY is not in the SELECT list");
            return NULL;
        }
        return select->target_list[constant->ival->ival - 1]->res_target->val;
    }
    if (item->node_case == PG_QUERY__NODE__NODE_COLUMN_REF && item->column_ref->n_fields == 1 &&
        item->column_ref->fields[0]->node_case == PG_QUERY__NODE__NODE_STRING) {
        const char *name = item->column_ref->fields[0]->string->sval;
        for (size_t i = 0; i < select->n_target_list; i++) {
            const PgQuery__ResTarget *target = select->target_list[i]->res_target;
            /* An output name, unless it renames an aggregate. */
            if (target->name && *target->name && strcmp(target->name, name) == 0 &&
                !brume_walk_has_aggregate(target->val))
                return target->val;
        }
    }
    return item;
}

const char *brume_walk_output_name(brume_walk *walk, const PgQuery__ResTarget *target)
{
    const char *name = target->name;
    const PgQuery__Node *value = target->val;
    while (value->node_case == PG_QUERY__NODE__NODE_TYPE_CAST && value->type_cast->arg)
        value = value->type_cast->arg;
    if ((!name || !*name) && value->node_case == PG_QUERY__NODE__NODE_COLUMN_REF) {
        const PgQuery__ColumnRef *reference = value->column_ref;
        const PgQuery__Node *last = reference->fields[reference->n_fields - 1];
        name = last->node_case == PG_QUERY__NODE__NODE_STRING ? last->string->sval : NULL;
    }
    if ((!name || !*name) && value->node_case == PG_QUERY__NODE__NODE_FUNC_CALL)
        name = brume_walk_name(value->func_call->funcname, value->func_call->n_funcname);
    if ((!name || !*name) && value->node_case == PG_QUERY__NODE__NODE_CASE_EXPR)
        name = "case";
    if ((!name || !*name) && value->node_case == PG_QUERY__NODE__NODE_COALESCE_EXPR)
        name = "coalesce";
    if ((!name || !*name) && value->node_case == PG_QUERY__NODE__NODE_GROUPING_FUNC)
        name = "grouping";
    if (!name || !*name)
        name = "?column?";
    char *own = brume_arena_text(walk->builder.arena, name);
    if (!own)
        brume_build_fail(&walk->builder, BRUME_EMEMORY, NULL, "out of memory");
    return own;
}
