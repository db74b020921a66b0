/* What a node is called: names of functions, aggregates, and of what is refused. */
#include "query/sql/walk.h"

#include <string.h>

const char *brume_walk_name(PgQuery__Node *const *names, size_t count)
{
    if (count == 2 && names[0]->node_case == PG_QUERY__NODE__NODE_STRING &&
        strcmp(names[0]->string->sval, "pg_catalog") == 0) {
        names++;
        count--;
    }
    if (count != 1 || names[0]->node_case != PG_QUERY__NODE__NODE_STRING)
        return NULL;
    return names[0]->string->sval;
}

static const struct {
    const char *name;
} aggregates[] = {
    {"count"},
    {"sum"},
    {"avg"},
    {"min"},
    {"max"},
    {"var_pop"},
    {"var_samp"},
    {"variance"},
    {"stddev"},
    {"stddev_pop"},
    {"stddev_samp"},
    {"median"},
    {"mode"},
    {"percentile_cont"},
    {"percentile_disc"},
    {"bool_and"},
    {"bool_or"},
    {"every"},
    {"array_agg"},
    {"string_agg"},
    {"corr"},
    {"covar_pop"},
    {"covar_samp"},
    {"regr_slope"},
    {"regr_intercept"},
    {"regr_r2"},
    {"regr_count"},
    {"regr_avgx"},
    {"regr_avgy"},
    {"regr_sxx"},
    {"regr_syy"},
    {"regr_sxy"},
    {"json_agg"},
    {"any_value"},
    {"first"},
    {"last"},
    {"quantile"},
    {"quantile_cont"},
    {"quantile_disc"},
    {"approx_quantile"},
    {"approx_count_distinct"},
};

bool brume_walk_is_aggregate(const PgQuery__Node *node)
{
    if (!node || node->node_case != PG_QUERY__NODE__NODE_FUNC_CALL)
        return false;
    const char *name = brume_walk_name(node->func_call->funcname, node->func_call->n_funcname);
    if (node->func_call->over)
        return true;
    for (size_t i = 0; name && i < sizeof aggregates / sizeof *aggregates; i++)
        if (strcmp(name, aggregates[i].name) == 0)
            return true;
    return node->func_call->agg_star || node->func_call->agg_distinct ||
           node->func_call->agg_within_group || node->func_call->agg_filter;
}

static bool has_call(const PgQuery__Node *node, bool windows);

static bool any_has_call(PgQuery__Node *const *nodes, size_t count, bool windows)
{
    for (size_t i = 0; i < count; i++)
        if (has_call(nodes[i], windows))
            return true;
    return false;
}

/* Is there an aggregate; `windows`: or a call with OVER? */
static bool has_call(const PgQuery__Node *node, bool windows)
{
    if (!node)
        return false;
    if (brume_walk_is_aggregate(node) && (windows || !node->func_call->over))
        return true;
    switch (node->node_case) {
    case PG_QUERY__NODE__NODE_FUNC_CALL:
        return any_has_call(node->func_call->args, node->func_call->n_args, windows);
    case PG_QUERY__NODE__NODE_A_EXPR:
        return has_call(node->a_expr->lexpr, windows) || has_call(node->a_expr->rexpr, windows);
    case PG_QUERY__NODE__NODE_LIST:
        return any_has_call(node->list->items, node->list->n_items, windows);
    case PG_QUERY__NODE__NODE_BOOL_EXPR:
        return any_has_call(node->bool_expr->args, node->bool_expr->n_args, windows);
    case PG_QUERY__NODE__NODE_NULL_TEST:
        return has_call(node->null_test->arg, windows);
    case PG_QUERY__NODE__NODE_BOOLEAN_TEST:
        return has_call(node->boolean_test->arg, windows);
    case PG_QUERY__NODE__NODE_COALESCE_EXPR:
        return any_has_call(node->coalesce_expr->args, node->coalesce_expr->n_args, windows);
    case PG_QUERY__NODE__NODE_MIN_MAX_EXPR:
        return any_has_call(node->min_max_expr->args, node->min_max_expr->n_args, windows);
    case PG_QUERY__NODE__NODE_TYPE_CAST:
        return has_call(node->type_cast->arg, windows);
    case PG_QUERY__NODE__NODE_CASE_EXPR:
        return has_call(node->case_expr->arg, windows) ||
               has_call(node->case_expr->defresult, windows) ||
               any_has_call(node->case_expr->args, node->case_expr->n_args, windows);
    case PG_QUERY__NODE__NODE_CASE_WHEN:
        return has_call(node->case_when->expr, windows) ||
               has_call(node->case_when->result, windows);
    default:
        return false;
    }
}

bool brume_walk_has_aggregate(const PgQuery__Node *node)
{
    return has_call(node, true);
}

bool brume_walk_has_fold(const PgQuery__Node *node)
{
    return has_call(node, false);
}

brume_node brume_walk_refuse(brume_walk *walk, const PgQuery__Node *node)
{
    static const struct {
        int node_case;
        const char *what, *hint;
    } known[] = {
        {PG_QUERY__NODE__NODE_SUB_LINK, "a subquery in an expression",
         "write it in WHERE, in the SELECT list or in an aggregate; else join with a subquery in "
         "FROM, on the unit"},
        {PG_QUERY__NODE__NODE_PARAM_REF, "a parameter ($1)", "write the value"},
        {PG_QUERY__NODE__NODE_SQLVALUE_FUNCTION, "the current date, time or user",
         "write the value: an answer must not depend on the clock or the session"},
        {PG_QUERY__NODE__NODE_A_STAR, "*", "name the columns"},
        {PG_QUERY__NODE__NODE_A_ARRAY_EXPR, "an array", "write one call for each value"},
        {PG_QUERY__NODE__NODE_A_INDIRECTION, "a subscript or a field", NULL},
        {PG_QUERY__NODE__NODE_ROW_EXPR, "a row value", "compare the columns one by one"},
        {PG_QUERY__NODE__NODE_COLLATE_CLAUSE, "COLLATE", "text is compared by its bytes"},
        {PG_QUERY__NODE__NODE_GROUPING_FUNC, "GROUPING", NULL},
        {PG_QUERY__NODE__NODE_XML_EXPR, "XML", NULL},
        {PG_QUERY__NODE__NODE_NAMED_ARG_EXPR, "a named argument", NULL},
        {PG_QUERY__NODE__NODE_SET_TO_DEFAULT, "DEFAULT", NULL},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (node && (int)node->node_case == known[i].node_case)
            return brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED, known[i].hint,
                                    "%s is not supported", known[i].what);
    return brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED, "docs/sql.md has what is answered",
                            "this kind of SQL expression (%d) is not supported",
                            node ? (int)node->node_case : 0);
}
