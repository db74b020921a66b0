/* How much clamping may have biased an answer.
 *
 * Promise: everything counted is 0 or 1 for each unit, and a function of that unit's rows alone. */
#include "query/plan/bias.h"

#include <math.h>

#include "base/error.h"
#include "query/price/error_bar.h"
#include "query/plan/plan_parts.h"
#include "query/sql/walk.h"

enum { MOST_CLAMPS = 16, MOST_FLAGS = 32 };

static const brume_type whole = {BRUME_TYPE_BIGINT, 0, 0};

/* ---- clamps ---- */

/* A clamp to bounds that its argument keeps by itself changes nothing. */
static bool bites(const brume_expression *clamp)
{
    const brume_expression *x = clamp->arguments[0];
    if (!x->bounded)
        return true;
    if (clamp->type.kind == BRUME_TYPE_DOUBLE || x->type.kind == BRUME_TYPE_DOUBLE)
        return x->type.kind != clamp->type.kind || x->bounds.real_low < clamp->bounds.real_low ||
               x->bounds.real_high > clamp->bounds.real_high;
    return x->type.scale != clamp->type.scale || x->bounds.low < clamp->bounds.low ||
           x->bounds.high > clamp->bounds.high;
}

bool brume_bias_may_clamp(const brume_expression *node)
{
    if (node->operation == BRUME_OPERATION_CLAMP && bites(node))
        return true;
    if (node->operation == BRUME_OPERATION_COLUMN &&
        node->relation->kind == BRUME_RELATION_SELECT &&
        brume_bias_may_clamp(node->relation->columns[node->column].expression))
        return true;
    if (node->operation == BRUME_OPERATION_COLUMN &&
        node->relation->kind == BRUME_RELATION_TIMELINE &&
        node->column < node->relation->key_count) {
        const brume_timeline *of = node->relation->columns[node->column].timeline;
        if (of->argument && brume_bias_may_clamp(of->argument))
            return true;
    }
    for (size_t i = 0; i < node->argument_count; i++)
        if (brume_bias_may_clamp(node->arguments[i]))
            return true;
    return false;
}

/* A column of a subquery that stands for another one, clamped, inside an aggregate: that other one;
 * else NULL. */
static const brume_expression *unclamped(const brume_expression *node)
{
    const brume_relation *from = node->relation;
    if (node->operation != BRUME_OPERATION_COLUMN || from->kind != BRUME_RELATION_SELECT)
        return NULL;
    for (size_t i = 0; i < from->column_count; i++)
        if (!brume_expression_equal(from->columns[i].reference, node) &&
            brume_expression_equal(from->columns[i].inside, node) &&
            !brume_bias_may_clamp(from->columns[i].expression))
            return from->columns[i].reference;
    return NULL;
}

/* Does a subquery clamp what the expression reads, where it cannot be seen from outside? */
static bool clamps_inside(const brume_expression *node)
{
    if (node->operation == BRUME_OPERATION_COLUMN && !unclamped(node) && brume_bias_may_clamp(node))
        return true;
    for (size_t i = 0; i < node->argument_count; i++)
        if (clamps_inside(node->arguments[i]))
            return true;
    return false;
}

/* Conditions "this clamp moved its value", of the clamps in the expression itself and of the
 * columns of the subquery that it reads. */
static void find_clamps(brume_builder *builder, const brume_expression *node, brume_node *moved,
                        size_t *count)
{
    const brume_expression *plain = unclamped(node);
    if (plain && *count < MOST_CLAMPS)
        moved[(*count)++] = brume_build_compare(builder, BRUME_OPERATION_NOT_EQUAL, plain, node);
    if (node->operation == BRUME_OPERATION_CLAMP && bites(node) && *count < MOST_CLAMPS)
        moved[(*count)++] =
            brume_build_compare(builder, BRUME_OPERATION_NOT_EQUAL, node->arguments[0], node);
    for (size_t i = 0; i < node->argument_count; i++)
        find_clamps(builder, node->arguments[i], moved, count);
}

static brume_node one_if(brume_builder *builder, brume_node condition)
{
    brume_node parts[] = {condition, brume_build_literal(builder, whole, "1"),
                          brume_build_literal(builder, whole, "0")};
    return condition ? brume_build_case(builder, parts, 3) : NULL;
}

/* 1 where a row's value is there and was clamped, else 0; NULL: no clamp that can be seen here, or
 * an expression too long to ask for. */
static brume_node clamped(brume_builder *builder, const brume_expression *argument)
{
    brume_node moved[MOST_CLAMPS];
    size_t count = 0;
    find_clamps(builder, argument, moved, &count);
    if (count == 0 || clamps_inside(argument) || builder->status != BRUME_OK)
        return NULL;
    brume_node both[] = {brume_build_test(builder, BRUME_OPERATION_IS_NOT_NULL, argument),
                         brume_build_logic(builder, BRUME_OPERATION_OR, moved, count)};
    return both[0] && both[1]
               ? one_if(builder, brume_build_logic(builder, BRUME_OPERATION_AND, both, 2))
               : NULL;
}

/* ---- one row per unit ---- */

/* Flags of rows, or of units: 0 or 1 each. */
typedef struct flags {
    brume_node node[MOST_FLAGS];
    size_t count;
} flags;

typedef struct nest {
    brume_walk walk;
    brume_query *query;
} nest;

static size_t largest_number(const brume_relation *relation)
{
    if (!relation)
        return 0;
    size_t left = largest_number(relation->left), right = largest_number(relation->right);
    size_t most = left > right ? left : right;
    return relation->number > most ? relation->number : most;
}

static brume_relation *add(nest *all, brume_relation_kind kind, const brume_relation *left,
                           size_t count)
{
    brume_relation *made = brume_walk_relation(&all->walk, kind);
    brume_relation_column *columns =
        made ? brume_arena_allocate(all->query->arena, (count + 1) * sizeof *columns) : NULL;
    if (!columns)
        return NULL;
    made->left = left;
    made->columns = columns;
    made->privacy = BRUME_PRIVACY_UNIT;
    return made;
}

/* One more column of a SELECT (`fold` is not read) or of a GROUP. */
static brume_node column(nest *all, brume_relation *relation, brume_node expression,
                         brume_fold fold, size_t argument)
{
    size_t at = relation->column_count++;
    brume_node like = expression;
    if (relation->kind == BRUME_RELATION_GROUP && at >= relation->key_count &&
        fold == BRUME_FOLD_COUNT_ROWS)
        like = brume_build_literal(&all->walk.builder, whole, "0");
    brume_node reference = like ? brume_walk_reference(&all->walk, relation, at, like) : NULL;
    /* cast: `columns` was made here and is still being filled */
    ((brume_relation_column *)relation->columns)[at] =
        (brume_relation_column){.reference = reference,
                                .inside = reference,
                                .expression = expression,
                                .fold = fold,
                                .argument = argument};
    return reference;
}

/* SELECT unit, flags; per unit the largest flags. What is left is one row per unit. */
static brume_status nest_units(nest *all, flags *of, brume_error *error)
{
    brume_query *query = all->query;
    brume_builder *builder = &all->walk.builder;
    size_t most = of->count + 1;
    brume_relation *rows = add(all, BRUME_RELATION_SELECT, query->from, most);
    brume_relation *units = rows ? add(all, BRUME_RELATION_GROUP, rows, most) : NULL;
    brume_relation *flagged = units ? add(all, BRUME_RELATION_SELECT, units, most) : NULL;
    if (!flagged)
        return brume_no_memory(error, "an estimate of bias");
    rows->condition = query->where;
    units->key_count = 1;
    brume_node unit = column(all, rows, query->unit, BRUME_FOLD_COUNT_ROWS, 0);
    unit = unit ? column(all, units, unit, BRUME_FOLD_COUNT_ROWS, 0) : NULL;
    query->unit = unit ? column(all, flagged, unit, BRUME_FOLD_COUNT_ROWS, 0) : NULL;
    for (size_t i = 0; query->unit && i < of->count; i++) {
        size_t at = rows->column_count;
        brume_node each = column(all, rows, of->node[i], BRUME_FOLD_COUNT_ROWS, 0);
        each = each ? column(all, units, each, BRUME_FOLD_MAX, at) : NULL;
        of->node[i] = each ? column(all, flagged, each, BRUME_FOLD_COUNT_ROWS, 0) : NULL;
        if (!of->node[i])
            query->unit = NULL;
    }
    if (!query->unit)
        return builder->status != BRUME_OK ? builder->status
                                           : brume_no_memory(error, "an estimate of bias");
    flagged->grain_known = true;
    query->from = flagged;
    query->where = NULL;
    return BRUME_OK;
}

/* ---- the plan ---- */

/* The least share that all protected tables of the query allow; 0: not allowed. */
static double share_of(const brume_plan *plan, const brume_plan_table *tables)
{
    double least = 1;
    for (size_t i = 0; i < plan->query->table_count; i++) {
        brume_decimal share = {0};
        const char *typed = tables[plan->query->tables[i].table].policy->bias_share;
        if (!typed || brume_decimal_parse(typed, &share, NULL) != BRUME_OK)
            return 0;
        least = fmin(least, brume_decimal_lower(&share));
    }
    return least <= 0.5 ? least : 0;
}

/* One row per unit, all in one group: how many there are, and the sum of each flag. */
static brume_status collect_flags(const flags *of, const brume_query *query,
                                  brume_measurement *bias, brume_error *error)
{
    brume_plan_value *values = brume_arena_allocate(query->arena, (of->count + 1) * sizeof *values);
    if (!values)
        return brume_no_memory(error, "an estimate of bias");
    for (size_t i = 0; i < of->count; i++)
        values[i] = (brume_plan_value){
            .argument = of->node[i], .grid = of->node[i], .low = 0, .high = 1, .step = 1};
    bias->collection = (brume_collection){
        .query = query, .max_groups = 1, .cells = 1, .value_count = of->count, .values = values};
    bias->count = 1 + of->count;
    return BRUME_OK;
}

static brume_status plan_bias(const brume_plan *plan, brume_measurement *bias, brume_error *error)
{
    const brume_query *query = plan->query;
    nest all = {.walk = {.builder = {.arena = query->arena, .error = error},
                         .relation_count = largest_number(query->from) + 1},
                .query = brume_arena_copy(query->arena, query, sizeof *query)};
    brume_builder *builder = &all.walk.builder;
    if (!all.query)
        return brume_no_memory(error, "an estimate of bias");
    flags of = {.count = 0};
    for (size_t i = 0; i < BRUME_BIAS_VALUES; i++)
        bias->bias.clamped[i] = BRUME_NOT_MEASURED;
    for (size_t i = 0; i < plan->value_count && i < BRUME_BIAS_VALUES; i++) {
        brume_builder apart = {.arena = query->arena}; /* its failure is no reason to refuse */
        brume_node flag = plan->values[i].declared || plan->values[i].is_square
                              ? NULL
                              : clamped(&apart, plan->values[i].argument);
        if (!flag)
            continue;
        bias->bias.clamped[i] = (int)(1 + of.count);
        of.node[of.count++] = flag;
    }
    if (of.count == 0)
        return BRUME_OK;
    all.query->where = brume_plan_answered_rows(plan, builder);
    if (builder->status != BRUME_OK)
        return builder->status;
    if (plan->bounded || plan->by_totals) /* a unit has several rows */
        BRUME_TRY(nest_units(&all, &of, error));
    all.query->key_count = all.query->aggregate_count = 0;
    all.query->one_row_per_unit = true;
    return collect_flags(&of, all.query, bias, error);
}

brume_status brume_bias_plan(brume_plan *plan, const brume_plan_table *tables, brume_error *error)
{
    brume_measurement bias = {.kind = BRUME_MEASUREMENT_BIAS, .share = share_of(plan, tables)};
    /* With several grouping sets every row stands there more than once: not estimated. */
    if (!(bias.share > 0) || plan->query->aggregate_count == 0 || plan->query->set_count > 1)
        return BRUME_OK;
    BRUME_TRY(plan_bias(plan, &bias, error));
    if (bias.count > 0)
        plan->measurements[plan->measurement_count++] = bias;
    return BRUME_OK;
}

/* ---- JSON ---- */

bool brume_bias_add_json(const brume_measurement *bias, json_t *list)
{
    bool laplace = bias->noise == BRUME_NOISE_DISCRETE_LAPLACE;
    for (size_t i = 0; i < bias->count; i++) {
        const char *word = i == 0 ? "bias: units" : "bias: units clamped";
        json_t *one = json_pack("{s:s,s:s,s:f,s:f,s:f,s:f}", "measure", word, "mechanism",
                                laplace ? "discrete_laplace" : "discrete_gaussian", "sensitivity",
                                1.0, "share", bias->share / (double)bias->count,
                                laplace ? "scale" : "sigma", bias->scale, "error_95",
                                brume_error_width(bias->noise, bias->scale, 0.05));
        for (size_t v = 0; one && v < BRUME_BIAS_VALUES; v++)
            if (bias->bias.clamped[v] == (int)i)
                json_object_set_new(one, "expression", json_integer((json_int_t)v + 1));
        if (!one || json_array_append_new(list, one) != 0)
            return false;
    }
    return true;
}
