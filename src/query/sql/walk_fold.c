/* After GROUP BY inside a per-unit subquery: its keys, and exact aggregates of one unit's rows. */
#include "query/sql/walk_timeline.h"

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

brume_expression *brume_walk_fold_reference(brume_walk *walk, brume_fold fold, brume_node argument)
{
    brume_type type = {BRUME_TYPE_BIGINT, 0, 0};
    if (fold == BRUME_FOLD_MIN || fold == BRUME_FOLD_MAX)
        type = argument->type;
    if (fold == BRUME_FOLD_SUM && argument->type.kind == BRUME_TYPE_DECIMAL)
        type = (brume_type){BRUME_TYPE_DECIMAL, 28, argument->type.scale};
    brume_expression *reference =
        brume_build_node(&walk->builder, BRUME_OPERATION_COLUMN, type, NULL, 0);
    if (!reference)
        return NULL;
    reference->bounded = false;
    reference->nullable = true;
    reference->duration = argument && argument->duration && fold != BRUME_FOLD_COUNT &&
                          fold != BRUME_FOLD_COUNT_DISTINCT;
    if (fold == BRUME_FOLD_MIN || fold == BRUME_FOLD_MAX) {
        reference->bounds = argument->bounds;
        reference->bounded = argument->bounded;
        reference->max_length = argument->max_length;
        reference->inexact_key = argument->inexact_key;
    } else if (fold != BRUME_FOLD_SUM) {
        reference->bounds.low = 0;
        reference->nullable = false;
    } else if (argument->bounds.low >= 0) {
        reference->bounds.low = 0;
    }
    return reference;
}

brume_node brume_walk_fold_column(brume_walk *walk, brume_walk_group *group, brume_fold fold,
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
    brume_expression *reference = brume_walk_fold_reference(walk, fold, argument);
    if (!reference)
        return NULL;
    reference->nullable = reference->nullable || group->may_be_missing;
    reference->relation = made;
    reference->column = made->column_count;
    group->group_columns[made->column_count++] = (brume_relation_column){
        .reference = reference, .inside = reference, .fold = fold, .argument = at};
    return reference;
}

/* ---- calls ---- */

/* The argument where FILTER keeps the row, else NULL; `argument` NULL: of COUNT(*). */
static brume_node filtered(brume_walk_context *c, const PgQuery__FuncCall *call,
                           brume_node argument)
{
    brume_builder *builder = &c->walk->builder;
    if (!call->agg_filter)
        return argument;
    brume_node parts[] = {brume_walk_node(c, call->agg_filter, false),
                          call->agg_star ? brume_build_number(builder, "1") : argument};
    return parts[0] && parts[1] ? brume_build_case(builder, parts, 2) : NULL;
}

static bool check_argument(brume_walk *walk, const char *name, brume_fold fold, brume_type type)
{
    brume_builder *builder = &walk->builder;
    if ((fold == BRUME_FOLD_MIN || fold == BRUME_FOLD_MAX) && type.kind == BRUME_TYPE_BOOLEAN)
        brume_build_fail(builder, BRUME_EUNSUPPORTED, "CAST it to integer",
                         "%.40s is not defined for booleans", name);
    else if (fold == BRUME_FOLD_SUM && !brume_type_is_number(type))
        brume_build_fail(builder, BRUME_EARGUMENT, "CAST the argument", "%.40s needs a number",
                         name);
    else if (fold == BRUME_FOLD_SUM && (type.kind == BRUME_TYPE_DOUBLE ||
                                        (type.kind == BRUME_TYPE_DECIMAL && type.precision > 18)))
        brume_build_fail(builder, BRUME_EUNSUPPORTED,
                         "CAST the argument to numeric(p,s), p at most 18",
                         "per unit, %.40s must be exact: integers and short decimals", name);
    return builder->status == BRUME_OK;
}

bool brume_walk_read_fold(brume_walk_context *c, const PgQuery__FuncCall *call,
                          brume_walk_folding *out)
{
    static const struct {
        const char *name;
        brume_fold fold;
    } known[] = {{"count", BRUME_FOLD_COUNT},
                 {"sum", BRUME_FOLD_SUM},
                 {"avg", BRUME_FOLD_SUM},
                 {"min", BRUME_FOLD_MIN},
                 {"max", BRUME_FOLD_MAX}};
    brume_builder *builder = &c->walk->builder;
    const char *name = brume_walk_name(call->funcname, call->n_funcname);
    size_t i = 0, count = sizeof known / sizeof *known;
    while (i < count && strcmp(name, known[i].name) != 0)
        i++;
    if (call->agg_within_group || call->n_agg_order || call->func_variadic)
        brume_build_fail(builder, BRUME_EUNSUPPORTED, "use CASE WHEN inside the aggregate",
                         "%.40s in this form is not supported in a subquery", name);
    else if (i == count)
        brume_build_fail(builder, BRUME_EUNSUPPORTED, "per unit: COUNT, SUM, AVG, MIN and MAX",
                         "%.40s is not supported in a subquery", name);
    else if (call->agg_star ? i > 0 : call->n_args != 1)
        brume_build_fail(builder, BRUME_EARGUMENT, "write SUM(x)", "%.40s takes one argument",
                         name);
    else if (call->agg_distinct && i > 0)
        brume_build_fail(builder, BRUME_EUNSUPPORTED, "COUNT(DISTINCT x) is, per unit",
                         "%.40s(DISTINCT) is not supported", name);
    if (builder->status != BRUME_OK)
        return false;
    *out = (brume_walk_folding){known[i].fold, NULL, strcmp(name, "avg") == 0};
    if (call->agg_star && !call->agg_filter) {
        out->fold = BRUME_FOLD_COUNT_ROWS;
        return true;
    }
    brume_node argument = call->agg_star ? NULL : brume_walk_node(c, call->args[0], true);
    argument = filtered(c, call, argument);
    if (argument && argument->untyped)
        argument = brume_build_convert(builder, argument, (brume_type){BRUME_TYPE_TEXT, 0, 0});
    if (!argument || !check_argument(c->walk, name, out->fold, argument->type))
        return false;
    if (call->agg_distinct)
        out->fold = BRUME_FOLD_COUNT_DISTINCT;
    out->argument = argument;
    return true;
}

brume_node brume_walk_average(brume_walk *walk, brume_node total, brume_node count,
                              brume_node argument)
{
    brume_builder *builder = &walk->builder;
    brume_type real = {BRUME_TYPE_DOUBLE, 0, 0};
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

brume_node brume_walk_fold(brume_walk *walk, brume_walk_group *group, const PgQuery__FuncCall *call)
{
    brume_walk_context rows = {walk, group->rows, NULL};
    brume_walk_folding folding;
    if (!brume_walk_read_fold(&rows, call, &folding))
        return NULL;
    brume_node value = brume_walk_fold_column(walk, group, folding.fold, folding.argument);
    if (value && group->may_be_missing && folding.fold != BRUME_FOLD_SUM &&
        folding.fold != BRUME_FOLD_MIN && folding.fold != BRUME_FOLD_MAX) {
        brume_node parts[] = {value, brume_build_number(&walk->builder, "0")};
        return brume_build_choice(&walk->builder, BRUME_OPERATION_COALESCE, parts, 2);
    }
    if (!value || !folding.average)
        return value;
    return brume_walk_average(
        walk, value, brume_walk_fold_column(walk, group, BRUME_FOLD_COUNT, folding.argument),
        folding.argument);
}

/* What stands for the key inside aggregates: a column with declared bounds has them after GROUP BY
 * too. */
static brume_node clamped_key(brume_walk *walk, brume_walk_group *group, const PgQuery__Node *node,
                              brume_node plain, brume_node reference)
{
    brume_node inside = brume_walk_expression(walk, group->rows, NULL, node, true);
    if (!inside || inside->operation != BRUME_OPERATION_CLAMP ||
        !brume_expression_equal(inside->arguments[0], plain))
        return inside ? reference : NULL;
    brume_expression *clamped =
        brume_build_node(&walk->builder, BRUME_OPERATION_CLAMP, inside->type, &reference, 1);
    if (!clamped)
        return NULL;
    clamped->text = inside->text;
    clamped->bounds = inside->bounds;
    clamped->bounded = inside->bounded;
    clamped->nullable = reference->nullable;
    return clamped;
}

/* A key of the per-unit GROUP BY, if `node` is one. */
brume_node brume_walk_group_key(brume_walk *walk, brume_walk_group *group,
                                const PgQuery__Node *node, bool inside)
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
            return inside ? clamped_key(walk, group, node, plain, group->group_columns[i].reference)
                          : group->group_columns[i].reference;
    return NULL;
}
