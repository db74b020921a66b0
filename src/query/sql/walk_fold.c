/* After GROUP BY inside a per-unit subquery: its keys, and exact aggregates of one unit's rows. */
#include "query/sql/walk.h"

#include <stdio.h>
#include <string.h>

/* Column `node` of the base, added if it is new; SIZE_MAX: failed. */
static size_t base_column(brume_walk *walk, brume_walk_group *group, brume_node node)
{
    brume_relation *base = group->base;
    for (size_t i = 0; i < base->column_count; i++)
        if (brume_expression_equal(group->base_columns[i].expression, node))
            return i;
    if (base->column_count == sizeof group->base_columns / sizeof *group->base_columns) {
        brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED, "aggregate in several subqueries",
                         "a subquery has too many aggregates");
        return SIZE_MAX;
    }
    size_t at = base->column_count;
    brume_node reference = brume_walk_reference(walk, base, at, node);
    if (!reference)
        return SIZE_MAX;
    group->base_columns[at] =
        (brume_relation_column){.reference = reference, .expression = node, .inside = reference};
    base->column_count++;
    return at;
}

static brume_node fold_column(brume_walk *walk, brume_walk_group *group, brume_fold fold,
                              brume_node argument)
{
    brume_builder *builder = &walk->builder;
    size_t at = argument ? base_column(walk, group, argument) : 0;
    if (at == SIZE_MAX)
        return NULL;
    brume_relation *made = group->group;
    for (size_t i = made->key_count; i < made->column_count; i++)
        if (group->group_columns[i].fold == fold && group->group_columns[i].argument == at)
            return group->group_columns[i].reference;
    if (made->column_count == sizeof group->group_columns / sizeof *group->group_columns)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "aggregate in several subqueries",
                                "a subquery has too many aggregates");
    brume_type type = {BRUME_TYPE_BIGINT, 0, 0};
    if (fold == BRUME_FOLD_MIN || fold == BRUME_FOLD_MAX)
        type = argument->type;
    if (fold == BRUME_FOLD_SUM && argument->type.kind == BRUME_TYPE_DECIMAL)
        type = (brume_type){BRUME_TYPE_DECIMAL, 28, argument->type.scale};
    brume_expression *reference = brume_build_node(builder, BRUME_OPERATION_COLUMN, type, NULL, 0);
    if (!reference)
        return NULL;
    reference->relation = made;
    reference->column = made->column_count;
    reference->bounded = false;
    reference->nullable = true;
    if (fold == BRUME_FOLD_MIN || fold == BRUME_FOLD_MAX) {
        reference->bounds = argument->bounds;
        reference->bounded = argument->bounded;
        reference->max_length = argument->max_length;
        reference->inexact_key = argument->inexact_key;
    } else if (fold != BRUME_FOLD_SUM) {
        reference->bounds.low = 0;
        reference->nullable = false;
    }
    group->group_columns[made->column_count++] = (brume_relation_column){
        .reference = reference, .inside = reference, .fold = fold, .argument = at};
    return reference;
}

brume_node brume_walk_fold(brume_walk *walk, brume_walk_group *group, const PgQuery__FuncCall *call)
{
    brume_builder *builder = &walk->builder;
    const char *name = brume_walk_name(call->funcname, call->n_funcname);
    if (call->agg_within_group || call->n_agg_order || call->agg_filter || call->func_variadic)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "use CASE WHEN inside the aggregate",
                                "%.40s in this form is not supported in a subquery", name);
    if (strcmp(name, "count") == 0 && call->agg_star)
        return fold_column(walk, group, BRUME_FOLD_COUNT_ROWS, NULL);
    if (call->n_args != 1 || call->agg_star)
        return brume_build_fail(builder, BRUME_EARGUMENT, "write SUM(x)",
                                "%.40s takes one argument", name);
    brume_node argument = brume_walk_expression(walk, group->rows, NULL, call->args[0], true);
    if (argument && argument->untyped)
        argument = brume_build_convert(builder, argument, (brume_type){BRUME_TYPE_TEXT, 0, 0});
    if (!argument)
        return NULL;
    if (strcmp(name, "count") == 0)
        return fold_column(walk, group,
                           call->agg_distinct ? BRUME_FOLD_COUNT_DISTINCT : BRUME_FOLD_COUNT,
                           argument);
    if (call->agg_distinct)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "COUNT(DISTINCT x) is, per unit",
                                "%.40s(DISTINCT) is not supported", name);
    if ((strcmp(name, "min") == 0 || strcmp(name, "max") == 0)) {
        if (argument->type.kind == BRUME_TYPE_BOOLEAN)
            return brume_build_fail(builder, BRUME_EUNSUPPORTED, "CAST it to integer",
                                    "%.40s is not defined for booleans", name);
        return fold_column(walk, group, strcmp(name, "min") == 0 ? BRUME_FOLD_MIN : BRUME_FOLD_MAX,
                           argument);
    }
    bool sum = strcmp(name, "sum") == 0, average = strcmp(name, "avg") == 0;
    if (!sum && !average)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED,
                                "per unit: COUNT, SUM, AVG, MIN and MAX",
                                "%.40s is not supported in a subquery", name);
    if (!brume_type_is_number(argument->type))
        return brume_build_fail(builder, BRUME_EARGUMENT, "CAST the argument",
                                "%.40s needs a number", name);
    if (argument->type.kind == BRUME_TYPE_DOUBLE ||
        (argument->type.kind == BRUME_TYPE_DECIMAL && argument->type.precision > 18))
        return brume_build_fail(builder, BRUME_EUNSUPPORTED,
                                "CAST the argument to numeric(p,s), p at most 18",
                                "per unit, %.40s must be exact: integers and short decimals", name);
    brume_node total = fold_column(walk, group, BRUME_FOLD_SUM, argument);
    if (sum || !total)
        return total;
    brume_type real = {BRUME_TYPE_DOUBLE, 0, 0};
    brume_node count = fold_column(walk, group, BRUME_FOLD_COUNT, argument);
    brume_node ratio = brume_build_arithmetic(builder, BRUME_OPERATION_DIVIDE,
                                              brume_build_convert(builder, total, real),
                                              brume_build_convert(builder, count, real));
    brume_node widened = brume_build_convert(builder, argument, real);
    if (!ratio || !widened || !widened->bounded)
        return ratio;
    /* An average lies between the bounds; CLAMP makes that hold after rounding too. */
    char low[40], high[40];
    snprintf(low, sizeof low, "%.17g", widened->bounds.real_low);
    snprintf(high, sizeof high, "%.17g", widened->bounds.real_high);
    return brume_build_clamp(builder, ratio, low, high);
}

/* A key of the per-unit GROUP BY, if `node` is one. */
brume_node brume_walk_group_key(brume_walk *walk, brume_walk_group *group,
                                const PgQuery__Node *node)
{
    brume_builder *builder = &walk->builder, saved = *builder;
    brume_error ignored;
    if (brume_walk_has_aggregate(node) || node->node_case == PG_QUERY__NODE__NODE_A_CONST)
        return NULL;
    builder->error = &ignored;
    brume_node plain = brume_walk_expression(walk, group->rows, NULL, node, false);
    builder->error = saved.error;
    builder->status = saved.status;
    for (size_t i = 0; plain && i < group->group->key_count; i++)
        if (brume_expression_equal(group->base_columns[i].expression, plain))
            return group->group_columns[i].reference;
    return NULL;
}
