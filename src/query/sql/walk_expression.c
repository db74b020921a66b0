/* Row expressions: the allow-list of libpg_query's expression nodes. */
#include "query/sql/walk_timeline.h"

#include <string.h>

static brume_node walk_case(brume_walk_context *c, const PgQuery__CaseExpr *expression, bool inside)
{
    brume_builder *builder = &c->walk->builder;
    size_t count = 2 * expression->n_args + 1;
    brume_node *all = brume_arena_allocate(builder->arena, count * sizeof *all);
    if (!all)
        return brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
    brume_node subject = expression->arg ? brume_walk_node(c, expression->arg, false) : NULL;
    if (expression->arg && !subject)
        return NULL;
    for (size_t i = 0; i < expression->n_args; i++) {
        if (expression->args[i]->node_case != PG_QUERY__NODE__NODE_CASE_WHEN)
            return brume_walk_refuse(c->walk, expression->args[i]);
        const PgQuery__CaseWhen *when = expression->args[i]->case_when;
        all[2 * i] = brume_walk_node(c, when->expr, false);
        if (subject)
            all[2 * i] = brume_build_compare(builder, BRUME_OPERATION_EQUAL, subject, all[2 * i]);
        all[2 * i + 1] = brume_walk_node(c, when->result, inside);
    }
    if (expression->defresult)
        all[count - 1] = brume_walk_node(c, expression->defresult, inside);
    return brume_build_case(builder, all, expression->defresult ? count : count - 1);
}

static brume_node walk_choice(brume_walk_context *c, brume_operation operation,
                              PgQuery__Node *const *nodes, size_t count, bool inside)
{
    const brume_node *all = brume_walk_nodes(c, nodes, count, inside);
    return all ? brume_build_choice(&c->walk->builder, operation, all, count) : NULL;
}

static brume_node walk_logic(brume_walk_context *c, const PgQuery__BoolExpr *expression)
{
    const brume_node *all = brume_walk_nodes(c, expression->args, expression->n_args, false);
    brume_operation operation = expression->boolop == PG_QUERY__BOOL_EXPR_TYPE__AND_EXPR
                                    ? BRUME_OPERATION_AND
                                : expression->boolop == PG_QUERY__BOOL_EXPR_TYPE__OR_EXPR
                                    ? BRUME_OPERATION_OR
                                    : BRUME_OPERATION_NOT;
    return all ? brume_build_logic(&c->walk->builder, operation, all, expression->n_args) : NULL;
}

/* EXTRACT(year FROM age(a, b)): age itself, which has months and days, is no value here. */
static bool is_field_of_age(const PgQuery__FuncCall *call, const char *name)
{
    if ((strcmp(name, "extract") != 0 && strcmp(name, "date_part") != 0) || call->n_args != 2 ||
        call->args[1]->node_case != PG_QUERY__NODE__NODE_FUNC_CALL)
        return false;
    const PgQuery__FuncCall *inner = call->args[1]->func_call;
    const char *called = brume_walk_name(inner->funcname, inner->n_funcname);
    return called && strcmp(called, "age") == 0 && inner->n_args == 2 && !inner->over;
}

static brume_node walk_function(brume_walk_context *c, const PgQuery__Node *node, bool inside)
{
    brume_builder *builder = &c->walk->builder;
    const PgQuery__FuncCall *call = node->func_call;
    const char *name = brume_walk_name(call->funcname, call->n_funcname);
    if (!name)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "write the function without a schema",
                                "a function of another schema is not supported");
    if (call->over)
        return brume_walk_over(c, call, inside);
    if (brume_walk_is_aggregate(node)) {
        if (c->group)
            return brume_walk_fold(c->walk, c->group, call);
        return brume_build_fail(builder, BRUME_EUNSUPPORTED,
                                "aggregate in a subquery that groups by the unit, then join it",
                                "the aggregate %.40s cannot stand here", name);
    }
    if (call->func_variadic || call->n_agg_order)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "write plain arguments",
                                "VARIADIC and ORDER BY in a call are not supported");
    brume_node arguments[100];
    if (call->n_args > 100)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "nest the calls",
                                "too many arguments");
    if (is_field_of_age(call, name)) {
        const PgQuery__FuncCall *age = call->args[1]->func_call;
        return brume_build_age_field(builder, brume_walk_constant_text(call->args[0]),
                                     brume_walk_node(c, age->args[0], inside),
                                     brume_walk_node(c, age->args[1], inside));
    }
    for (size_t i = 0; i < call->n_args; i++)
        arguments[i] = brume_walk_node(c, call->args[i], inside);
    return brume_build_function(builder, name, arguments, call->n_args);
}

static brume_node walk_cast(brume_walk_context *c, const PgQuery__TypeCast *cast, brume_type type,
                            bool inside)
{
    brume_node value = brume_walk_node(c, cast->arg, inside);
    if (value && value->duration)
        return brume_build_fail(&c->walk->builder, BRUME_EUNSUPPORTED,
                                "take EXTRACT(epoch FROM a - b), which is a number of seconds",
                                "a cast of an interval is not supported");
    return brume_build_cast(&c->walk->builder, value, type);
}

static brume_node walk_plain(brume_walk_context *c, const PgQuery__Node *node, bool inside)
{
    static const brume_operation truths[] = {
        [PG_QUERY__BOOL_TEST_TYPE__IS_TRUE] = BRUME_OPERATION_IS_TRUE,
        [PG_QUERY__BOOL_TEST_TYPE__IS_NOT_TRUE] = BRUME_OPERATION_IS_NOT_TRUE,
        [PG_QUERY__BOOL_TEST_TYPE__IS_FALSE] = BRUME_OPERATION_IS_FALSE,
        [PG_QUERY__BOOL_TEST_TYPE__IS_NOT_FALSE] = BRUME_OPERATION_IS_NOT_FALSE,
        [PG_QUERY__BOOL_TEST_TYPE__IS_UNKNOWN] = BRUME_OPERATION_IS_NULL,
        [PG_QUERY__BOOL_TEST_TYPE__IS_NOT_UNKNOWN] = BRUME_OPERATION_IS_NOT_NULL,
    };
    brume_builder *builder = &c->walk->builder;
    brume_type type;
    switch (node->node_case) {
    case PG_QUERY__NODE__NODE_COLUMN_REF:
        return brume_walk_column(c->walk, c->scope, node->column_ref, inside);
    case PG_QUERY__NODE__NODE_A_CONST:
        return brume_walk_constant(c->walk, node->a_const);
    case PG_QUERY__NODE__NODE_A_EXPR:
        return brume_walk_operator(c, node->a_expr, inside);
    case PG_QUERY__NODE__NODE_BOOL_EXPR:
        return walk_logic(c, node->bool_expr);
    case PG_QUERY__NODE__NODE_NULL_TEST:
        if (node->null_test->argisrow)
            return brume_walk_refuse(c->walk, node->null_test->arg);
        return brume_build_test(builder,
                                node->null_test->nulltesttype == PG_QUERY__NULL_TEST_TYPE__IS_NULL
                                    ? BRUME_OPERATION_IS_NULL
                                    : BRUME_OPERATION_IS_NOT_NULL,
                                brume_walk_node(c, node->null_test->arg, false));
    case PG_QUERY__NODE__NODE_BOOLEAN_TEST:
        if (node->boolean_test->booltesttype < PG_QUERY__BOOL_TEST_TYPE__IS_TRUE ||
            node->boolean_test->booltesttype > PG_QUERY__BOOL_TEST_TYPE__IS_NOT_UNKNOWN)
            return brume_walk_refuse(c->walk, node);
        return brume_build_test(builder, truths[node->boolean_test->booltesttype],
                                brume_walk_node(c, node->boolean_test->arg, false));
    case PG_QUERY__NODE__NODE_CASE_EXPR:
        return walk_case(c, node->case_expr, inside);
    case PG_QUERY__NODE__NODE_COALESCE_EXPR:
        return walk_choice(c, BRUME_OPERATION_COALESCE, node->coalesce_expr->args,
                           node->coalesce_expr->n_args, inside);
    case PG_QUERY__NODE__NODE_MIN_MAX_EXPR:
        return walk_choice(c,
                           node->min_max_expr->op == PG_QUERY__MIN_MAX_OP__IS_GREATEST
                               ? BRUME_OPERATION_GREATEST
                               : BRUME_OPERATION_LEAST,
                           node->min_max_expr->args, node->min_max_expr->n_args, inside);
    case PG_QUERY__NODE__NODE_TYPE_CAST:
        if (brume_walk_is_interval(node))
            return brume_walk_duration(c->walk, node->type_cast);
        if (brume_walk_is_zoned(node))
            return brume_walk_zoned(c->walk, node->type_cast);
        if (!brume_walk_cast_type(c->walk, node->type_cast->type_name, &type))
            return NULL;
        return walk_cast(c, node->type_cast, type, inside);
    case PG_QUERY__NODE__NODE_FUNC_CALL:
        return walk_function(c, node, inside);
    case PG_QUERY__NODE__NODE_SUB_LINK:
        if (c->group)
            return brume_build_fail(builder, BRUME_EUNSUPPORTED,
                                    "use it in a subquery around the groups",
                                    "a subquery in an expression cannot stand after GROUP BY");
        return brume_walk_sublink(c->walk, c->scope, node->sub_link);
    default:
        return brume_walk_refuse(c->walk, node);
    }
}

/* ---- any node ---- */

brume_node brume_walk_node(brume_walk_context *c, const PgQuery__Node *node, bool inside)
{
    if (c->walk->builder.status != BRUME_OK)
        return NULL;
    if (!node)
        return brume_walk_refuse(c->walk, node);
    if (c->group) {
        brume_node key = brume_walk_group_key(c->walk, c->group, node, inside);
        if (key || c->walk->builder.status != BRUME_OK)
            return key;
        if (node->node_case == PG_QUERY__NODE__NODE_COLUMN_REF) {
            if (!brume_walk_column(c->walk, c->group->rows, node->column_ref, false))
                return NULL;
            return brume_build_fail(&c->walk->builder, BRUME_EARGUMENT,
                                    "add it to GROUP BY, or put it in an aggregate",
                                    "a column of the subquery is neither grouped nor aggregated");
        }
    }
    return walk_plain(c, node, inside);
}

const brume_node *brume_walk_nodes(brume_walk_context *c, PgQuery__Node *const *nodes, size_t count,
                                   bool inside)
{
    brume_builder *builder = &c->walk->builder;
    brume_node *all = brume_arena_allocate(builder->arena, (count + 1) * sizeof *all);
    if (!all) {
        brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        all[i] = brume_walk_node(c, nodes[i], inside);
    return all;
}

brume_node brume_walk_expression(brume_walk *walk, brume_walk_scope *scope, brume_walk_group *group,
                                 const PgQuery__Node *node, bool inside)
{
    brume_walk_context c = {walk, scope, group};
    return brume_walk_node(&c, node, inside);
}
