/* The outer SELECT: keys, aggregates, and what is shown of them. */
#include "query/walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/wide.h"

enum { MOST_KEYS = 16, MOST_AGGREGATES = 200, MOST_OUTPUTS = 400 };

typedef const brume_release *release_node;

typedef struct outer {
    brume_walk *walk;
    brume_walk_scope *scope;
    brume_key keys[MOST_KEYS];
    size_t key_count;
    brume_aggregate aggregates[MOST_AGGREGATES];
    size_t aggregate_count;
} outer;

const char *brume_aggregate_word(brume_aggregate_kind kind)
{
    static const char *const words[] = {"count_rows",  "count",    "count_units", "sum",
                                        "avg",         "var_pop",  "var_samp",    "stddev_pop",
                                        "stddev_samp", "quantile", "mode"};
    return words[kind];
}

static release_node fail(outer *o, brume_status status, const char *hint, const char *message)
{
    brume_build_fail(&o->walk->builder, status, hint, "%s", message);
    return NULL;
}

static brume_release *make(outer *o, brume_release_kind kind, const release_node *arguments,
                           size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!arguments[i])
            return NULL;
    brume_release *node = brume_arena_allocate(o->walk->builder.arena, sizeof *node);
    release_node *own =
        count ? brume_arena_copy(o->walk->builder.arena, arguments, count * sizeof *own) : NULL;
    if (!node || (count && !own)) {
        fail(o, BRUME_EMEMORY, NULL, "out of memory");
        return NULL;
    }
    *node = (brume_release){.kind = kind, .argument_count = count, .arguments = own};
    return node;
}

/* ---- aggregates ---- */

static release_node add_aggregate(outer *o, brume_aggregate aggregate)
{
    size_t i = 0;
    for (; i < o->aggregate_count; i++) {
        const brume_aggregate *each = &o->aggregates[i];
        if (each->kind == aggregate.kind && !each->argument == !aggregate.argument &&
            each->fraction[0] == aggregate.fraction[0] &&
            each->fraction[1] == aggregate.fraction[1] &&
            (!each->argument || brume_expression_equal(each->argument, aggregate.argument)))
            break;
    }
    if (i == MOST_AGGREGATES)
        return fail(o, BRUME_EUNSUPPORTED, NULL, "too many aggregates");
    if (i == o->aggregate_count)
        o->aggregates[o->aggregate_count++] = aggregate;
    brume_release *node = make(o, BRUME_RELEASE_AGGREGATE, NULL, 0);
    if (node)
        node->index = i;
    return node;
}

/* The row expression of an aggregate's argument, under its FILTER. */
static brume_node argument_of(outer *o, const PgQuery__FuncCall *call, const PgQuery__Node *node,
                              bool inside)
{
    brume_builder *builder = &o->walk->builder;
    if (brume_walk_has_aggregate(node))
        return brume_build_fail(builder, BRUME_EUNSUPPORTED,
                                "aggregate in a subquery that groups by the unit first",
                                "an aggregate cannot stand inside an aggregate");
    brume_node value = brume_walk_expression(o->walk, o->scope, NULL, node, inside);
    if (value && value->untyped)
        value = brume_build_convert(builder, value, (brume_type){BRUME_TYPE_TEXT, 0, 0});
    if (!value || !call->agg_filter)
        return value;
    brume_node both[] = {brume_walk_expression(o->walk, o->scope, NULL, call->agg_filter, false),
                         value};
    return both[0] ? brume_build_case(builder, both, 2) : NULL;
}

/* A constant between 0 and 1 as a reduced fraction. */
static bool read_fraction(outer *o, const PgQuery__Node *node, bool descending, int64_t out[2])
{
    brume_node value = brume_walk_expression(o->walk, o->scope, NULL, node, false);
    if (!value)
        return false;
    brume_wide units;
    int scale;
    if (value->operation != BRUME_OPERATION_LITERAL || !value->text ||
        !brume_wide_parse(value->text, &units, &scale) || scale > 9 || units < 0 ||
        units > brume_wide_power(scale)) {
        fail(o, BRUME_EARGUMENT, "write a constant such as 0.25",
             "a percentile must be a constant between 0 and 1 with at most 9 decimals");
        return false;
    }
    int64_t a = (int64_t)units, b = (int64_t)brume_wide_power(scale);
    if (descending)
        a = b - a;
    int64_t x = a, y = b;
    while (y) {
        int64_t rest = x % y;
        x = y;
        y = rest;
    }
    out[0] = a / x;
    out[1] = b / x;
    return true;
}

static release_node walk_within_group(outer *o, const PgQuery__FuncCall *call, const char *name)
{
    if (call->n_agg_order != 1 || call->agg_order[0]->node_case != PG_QUERY__NODE__NODE_SORT_BY)
        return fail(o, BRUME_EUNSUPPORTED, NULL, "WITHIN GROUP takes one ORDER BY expression");
    const PgQuery__SortBy *sort = call->agg_order[0]->sort_by;
    bool mode = strcmp(name, "mode") == 0;
    brume_aggregate aggregate = {.kind = mode ? BRUME_AGGREGATE_MODE : BRUME_AGGREGATE_QUANTILE};
    if (sort->sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_USING)
        return fail(o, BRUME_EUNSUPPORTED, NULL, "ORDER BY USING is not supported");
    if (call->n_args != (mode ? 0 : 1))
        return fail(o, BRUME_EARGUMENT, "write PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x)",
                    "wrong number of arguments");
    if (!mode && call->args[0]->node_case == PG_QUERY__NODE__NODE_A_ARRAY_EXPR)
        return fail(o, BRUME_EUNSUPPORTED, "write one PERCENTILE_CONT for each percentile",
                    "an array of percentiles is not supported");
    if (!mode &&
        !read_fraction(o, call->args[0], sort->sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_DESC,
                       aggregate.fraction))
        return NULL;
    aggregate.argument = argument_of(o, call, sort->node, !mode);
    if (mode && aggregate.argument && aggregate.argument->inexact_key)
        return fail(o, BRUME_EUNSUPPORTED, "round it with width_bucket or floor of the argument",
                    "a mode of ln, log, exp or power may differ between machines");
    return aggregate.argument ? add_aggregate(o, aggregate) : NULL;
}

static bool check_argument(outer *o, const char *name, brume_node argument)
{
    char type[BRUME_TYPE_NAME_SIZE];
    if (!argument)
        return false;
    if (!brume_type_is_number(argument->type)) {
        brume_build_fail(&o->walk->builder, BRUME_EARGUMENT, "CAST it to a number",
                         "%.40s needs a number, not a %s", name,
                         brume_type_name(argument->type, type));
        return false;
    }
    if (!argument->bounded) {
        brume_build_fail(&o->walk->builder, BRUME_EARGUMENT,
                         "the owner declares bounds (--bounds COLUMN=LO..HI), or write "
                         "CLAMP(x, LO, HI)",
                         "the argument of %.40s has no bounds", name);
        return false;
    }
    return true;
}

static release_node walk_aggregate(outer *o, const PgQuery__FuncCall *call)
{
    static const struct {
        const char *name;
        brume_aggregate_kind kind;
    } known[] = {
        {"sum", BRUME_AGGREGATE_SUM},
        {"avg", BRUME_AGGREGATE_AVG},
        {"var_pop", BRUME_AGGREGATE_VAR_POP},
        {"var_samp", BRUME_AGGREGATE_VAR_SAMP},
        {"variance", BRUME_AGGREGATE_VAR_SAMP},
        {"stddev_pop", BRUME_AGGREGATE_STDDEV_POP},
        {"stddev_samp", BRUME_AGGREGATE_STDDEV_SAMP},
        {"stddev", BRUME_AGGREGATE_STDDEV_SAMP},
        {"median", BRUME_AGGREGATE_QUANTILE},
    };
    brume_builder *builder = &o->walk->builder;
    const char *name = brume_walk_name(call->funcname, call->n_funcname);
    if (!name || call->over || call->func_variadic)
        return fail(o, BRUME_EUNSUPPORTED, "use GROUP BY", "window functions are not supported");
    if (strcmp(name, "min") == 0 || strcmp(name, "max") == 0) {
        brume_build_fail(builder, BRUME_EUNSUPPORTED,
                         "a single person can be the extreme: use PERCENTILE_CONT(0.05) or (0.95) "
                         "WITHIN GROUP (ORDER BY x)",
                         "%s cannot be released privately", name);
        return NULL;
    }
    bool within = strcmp(name, "percentile_cont") == 0 || strcmp(name, "percentile_disc") == 0 ||
                  strcmp(name, "mode") == 0;
    if (within && call->agg_within_group) {
        release_node node = walk_within_group(o, call, name);
        if (node && strcmp(name, "mode") != 0 &&
            !check_argument(o, name, o->aggregates[node->index].argument))
            return NULL;
        return node;
    }
    if (within || call->agg_within_group || call->n_agg_order)
        return fail(o, BRUME_EUNSUPPORTED,
                    "write PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x), MODE() WITHIN GROUP "
                    "(ORDER BY x)",
                    "this form of the aggregate is not supported");
    if (strcmp(name, "count") == 0) {
        brume_aggregate aggregate = {.kind = BRUME_AGGREGATE_COUNT_ROWS};
        if (call->agg_star && !call->agg_filter)
            return add_aggregate(o, aggregate);
        aggregate.kind = BRUME_AGGREGATE_COUNT;
        if (call->agg_star) { /* the rows that FILTER keeps */
            brume_type truth = {BRUME_TYPE_BOOLEAN, 0, 0};
            brume_node both[] = {
                brume_walk_expression(o->walk, o->scope, NULL, call->agg_filter, false),
                brume_build_literal(builder, truth, "true")};
            aggregate.argument = both[0] ? brume_build_case(builder, both, 2) : NULL;
            return aggregate.argument ? add_aggregate(o, aggregate) : NULL;
        }
        if (call->n_args != 1)
            return fail(o, BRUME_EARGUMENT, NULL, "COUNT takes one argument");
        aggregate.argument = argument_of(o, call, call->args[0], !call->agg_distinct);
        if (!aggregate.argument)
            return NULL;
        if (!call->agg_distinct)
            return add_aggregate(o, aggregate);
        if (call->agg_filter || !brume_walk_is_unit(o->scope, aggregate.argument))
            return fail(o, BRUME_EUNSUPPORTED,
                        "COUNT(DISTINCT the unit column) counts units; for others GROUP BY them",
                        "COUNT(DISTINCT) is supported for the unit column only");
        return add_aggregate(o, (brume_aggregate){.kind = BRUME_AGGREGATE_COUNT_UNITS});
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(name, known[i].name) != 0)
            continue;
        if (call->n_args != 1 || call->agg_star)
            return fail(o, BRUME_EARGUMENT, NULL, "the aggregate takes one argument");
        if (call->agg_distinct)
            return fail(o, BRUME_EUNSUPPORTED, NULL, "DISTINCT in this aggregate is not supported");
        brume_aggregate aggregate = {.kind = known[i].kind,
                                     .argument = argument_of(o, call, call->args[0], true)};
        if (aggregate.kind == BRUME_AGGREGATE_QUANTILE) {
            aggregate.fraction[0] = 1;
            aggregate.fraction[1] = 2;
        }
        return check_argument(o, name, aggregate.argument) ? add_aggregate(o, aggregate) : NULL;
    }
    brume_build_fail(builder, BRUME_EUNSUPPORTED,
                     "use COUNT, SUM, AVG, VAR_*, STDDEV_*, MEDIAN, PERCENTILE_CONT or MODE",
                     "the aggregate %.40s is not supported", name);
    return NULL;
}

/* ---- what is shown ---- */

static release_node walk_release(outer *o, const PgQuery__Node *node);

/* The key that `node` is, if it is one. */
static release_node find_key(outer *o, const PgQuery__Node *node)
{
    brume_builder *builder = &o->walk->builder, saved = *builder;
    brume_error ignored;
    if (o->key_count == 0 || brume_walk_has_aggregate(node) ||
        node->node_case == PG_QUERY__NODE__NODE_A_CONST)
        return NULL;
    builder->error = &ignored;
    brume_node plain = brume_walk_expression(o->walk, o->scope, NULL, node, false);
    builder->error = saved.error;
    builder->status = saved.status;
    for (size_t i = 0; plain && i < o->key_count; i++)
        if (brume_expression_equal(o->keys[i].expression, plain)) {
            brume_release *key = make(o, BRUME_RELEASE_KEY, NULL, 0);
            if (key)
                key->index = i;
            return key;
        }
    return NULL;
}

static release_node release_literal(outer *o, const PgQuery__AConst *constant)
{
    brume_release *node = make(o, BRUME_RELEASE_LITERAL, NULL, 0);
    if (!node || constant->isnull)
        return node;
    switch (constant->val_case) {
    case PG_QUERY__A__CONST__VAL_IVAL:
        node->value =
            (brume_value){.kind = BRUME_VALUE_NUMBER, .number = (double)constant->ival->ival};
        return node;
    case PG_QUERY__A__CONST__VAL_FVAL:
        node->value =
            (brume_value){.kind = BRUME_VALUE_NUMBER, .number = strtod(constant->fval->fval, NULL)};
        if (!(node->value.number < 1e300 && node->value.number > -1e300))
            return fail(o, BRUME_EARGUMENT, NULL, "a number is too large");
        return node;
    case PG_QUERY__A__CONST__VAL_BOOLVAL:
        node->value =
            (brume_value){.kind = BRUME_VALUE_BOOLEAN, .boolean = constant->boolval->boolval};
        return node;
    case PG_QUERY__A__CONST__VAL_SVAL:
        node->value =
            (brume_value){.kind = BRUME_VALUE_TEXT,
                          .text = brume_arena_text(o->walk->builder.arena, constant->sval->sval),
                          .length = strlen(constant->sval->sval)};
        return node->value.text ? node : fail(o, BRUME_EMEMORY, NULL, "out of memory");
    default:
        return fail(o, BRUME_EUNSUPPORTED, NULL, "bit strings are not supported");
    }
}

/* Both sides, the left one first, so that aggregates are numbered as they are written. */
static release_node walk_pair(outer *o, brume_release_kind kind, const PgQuery__Node *left,
                              const PgQuery__Node *right)
{
    release_node both[2];
    both[0] = walk_release(o, left);
    both[1] = walk_release(o, right);
    return make(o, kind, both, 2);
}

static release_node release_pair(outer *o, brume_release_kind kind, release_node a, release_node b)
{
    release_node both[] = {a, b};
    return make(o, kind, both, 2);
}

static release_node release_negated(outer *o, bool negated, release_node node)
{
    return negated ? make(o, BRUME_RELEASE_NOT, &node, 1) : node;
}

static release_node release_operator(outer *o, const PgQuery__AExpr *expression)
{
    static const struct {
        const char *name;
        brume_release_kind kind;
    } operators[] = {
        {"+", BRUME_RELEASE_ADD},      {"-", BRUME_RELEASE_SUBTRACT},
        {"*", BRUME_RELEASE_MULTIPLY}, {"/", BRUME_RELEASE_DIVIDE},
        {"=", BRUME_RELEASE_EQUAL},    {"<>", BRUME_RELEASE_NOT_EQUAL},
        {"<", BRUME_RELEASE_LESS},     {"<=", BRUME_RELEASE_LESS_EQUAL},
        {">", BRUME_RELEASE_GREATER},  {">=", BRUME_RELEASE_GREATER_EQUAL},
    };
    const char *name = brume_walk_name(expression->name, expression->n_name);
    const PgQuery__Node *right = expression->rexpr;
    release_node both[2];
    switch (expression->kind) {
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP:
        if (!name || !right)
            break;
        if (!expression->lexpr) {
            release_node a = walk_release(o, right);
            if (strcmp(name, "-") == 0)
                return make(o, BRUME_RELEASE_NEGATE, &a, 1);
            if (strcmp(name, "+") == 0)
                return a;
            break;
        }
        for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
            if (strcmp(name, operators[i].name) == 0)
                return walk_pair(o, operators[i].kind, expression->lexpr, right);
        break;
    case PG_QUERY__A__EXPR__KIND__AEXPR_NULLIF:
        return walk_pair(o, BRUME_RELEASE_NULLIF, expression->lexpr, right);
    case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN:
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN:
        if (!right || right->node_case != PG_QUERY__NODE__NODE_LIST || right->list->n_items != 2)
            break;
        both[0] =
            walk_pair(o, BRUME_RELEASE_GREATER_EQUAL, expression->lexpr, right->list->items[0]);
        both[1] = walk_pair(o, BRUME_RELEASE_LESS_EQUAL, expression->lexpr, right->list->items[1]);
        return release_negated(o, expression->kind == PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN,
                               make(o, BRUME_RELEASE_AND, both, 2));
    case PG_QUERY__A__EXPR__KIND__AEXPR_IN: {
        if (!right || right->node_case != PG_QUERY__NODE__NODE_LIST || right->list->n_items == 0)
            break;
        release_node any = NULL;
        for (size_t i = 0; i < right->list->n_items; i++) {
            release_node each =
                walk_pair(o, BRUME_RELEASE_EQUAL, expression->lexpr, right->list->items[i]);
            any = i ? release_pair(o, BRUME_RELEASE_OR, any, each) : each;
            if (!any)
                return NULL;
        }
        return release_negated(o, name && strcmp(name, "<>") == 0, any);
    }
    default:
        break;
    }
    return fail(o, BRUME_EUNSUPPORTED, "use + - * /, comparisons, AND, OR, NOT, CASE",
                "this operator is not supported on aggregates");
}

static release_node release_list(outer *o, brume_release_kind kind, PgQuery__Node *const *nodes,
                                 size_t count)
{
    release_node *all = brume_arena_allocate(o->walk->builder.arena, (count + 1) * sizeof *all);
    if (!all)
        return fail(o, BRUME_EMEMORY, NULL, "out of memory");
    for (size_t i = 0; i < count; i++)
        all[i] = walk_release(o, nodes[i]);
    return make(o, kind, all, count);
}

static release_node release_case(outer *o, const PgQuery__CaseExpr *expression)
{
    size_t count = 2 * expression->n_args + 1;
    release_node *all = brume_arena_allocate(o->walk->builder.arena, count * sizeof *all);
    if (!all)
        return fail(o, BRUME_EMEMORY, NULL, "out of memory");
    for (size_t i = 0; i < expression->n_args; i++) {
        if (expression->args[i]->node_case != PG_QUERY__NODE__NODE_CASE_WHEN)
            return fail(o, BRUME_EUNSUPPORTED, NULL, "this CASE is not supported");
        all[2 * i] = walk_release(o, expression->args[i]->case_when->expr);
        if (expression->arg)
            all[2 * i] =
                release_pair(o, BRUME_RELEASE_EQUAL, walk_release(o, expression->arg), all[2 * i]);
        all[2 * i + 1] = walk_release(o, expression->args[i]->case_when->result);
    }
    if (expression->defresult)
        all[count - 1] = walk_release(o, expression->defresult);
    return make(o, BRUME_RELEASE_CASE, all, expression->defresult ? count : count - 1);
}

static release_node release_function(outer *o, const PgQuery__FuncCall *call)
{
    static const struct {
        const char *name;
        brume_release_kind kind;
    } functions[] = {
        {"abs", BRUME_RELEASE_ABS},      {"round", BRUME_RELEASE_ROUND},
        {"floor", BRUME_RELEASE_FLOOR},  {"ceil", BRUME_RELEASE_CEIL},
        {"ceiling", BRUME_RELEASE_CEIL}, {"sqrt", BRUME_RELEASE_SQRT},
        {"ln", BRUME_RELEASE_LN},        {"exp", BRUME_RELEASE_EXP},
    };
    const char *name = brume_walk_name(call->funcname, call->n_funcname);
    for (size_t i = 0; name && i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(name, functions[i].name) != 0)
            continue;
        int digits = 0;
        bool rounds = functions[i].kind == BRUME_RELEASE_ROUND;
        if (rounds && call->n_args == 2) {
            const PgQuery__Node *second = call->args[1];
            if (second->node_case != PG_QUERY__NODE__NODE_A_CONST || second->a_const->isnull ||
                second->a_const->val_case != PG_QUERY__A__CONST__VAL_IVAL ||
                abs(second->a_const->ival->ival) > 15)
                return fail(o, BRUME_EARGUMENT, NULL, "round takes a constant number of digits");
            digits = second->a_const->ival->ival;
        } else if (call->n_args != 1) {
            return fail(o, BRUME_EARGUMENT, NULL, "the function takes one argument");
        }
        release_node argument = walk_release(o, call->args[0]);
        brume_release *node = make(o, functions[i].kind, &argument, 1);
        if (node)
            node->digits = digits;
        return node;
    }
    return fail(o, BRUME_EUNSUPPORTED,
                "use abs, round, floor, ceil, sqrt, ln or exp; or GROUP BY the expression itself",
                "this function is not supported on aggregates and keys");
}

static release_node walk_release(outer *o, const PgQuery__Node *node)
{
    if (o->walk->builder.status != BRUME_OK || !node)
        return NULL;
    release_node key = find_key(o, node);
    if (key || o->walk->builder.status != BRUME_OK)
        return key;
    switch (node->node_case) {
    case PG_QUERY__NODE__NODE_A_CONST:
        return release_literal(o, node->a_const);
    case PG_QUERY__NODE__NODE_A_EXPR:
        return release_operator(o, node->a_expr);
    case PG_QUERY__NODE__NODE_BOOL_EXPR:
        return release_list(
            o,
            node->bool_expr->boolop == PG_QUERY__BOOL_EXPR_TYPE__AND_EXPR  ? BRUME_RELEASE_AND
            : node->bool_expr->boolop == PG_QUERY__BOOL_EXPR_TYPE__OR_EXPR ? BRUME_RELEASE_OR
                                                                           : BRUME_RELEASE_NOT,
            node->bool_expr->args, node->bool_expr->n_args);
    case PG_QUERY__NODE__NODE_NULL_TEST: {
        if (node->null_test->argisrow)
            return fail(o, BRUME_EUNSUPPORTED, NULL, "rows are not supported");
        release_node argument = walk_release(o, node->null_test->arg);
        return release_negated(
            o, node->null_test->nulltesttype == PG_QUERY__NULL_TEST_TYPE__IS_NOT_NULL,
            make(o, BRUME_RELEASE_IS_NULL, &argument, 1));
    }
    case PG_QUERY__NODE__NODE_COALESCE_EXPR:
        return release_list(o, BRUME_RELEASE_COALESCE, node->coalesce_expr->args,
                            node->coalesce_expr->n_args);
    case PG_QUERY__NODE__NODE_MIN_MAX_EXPR:
        return release_list(o,
                            node->min_max_expr->op == PG_QUERY__MIN_MAX_OP__IS_GREATEST
                                ? BRUME_RELEASE_GREATEST
                                : BRUME_RELEASE_LEAST,
                            node->min_max_expr->args, node->min_max_expr->n_args);
    case PG_QUERY__NODE__NODE_CASE_EXPR:
        return release_case(o, node->case_expr);
    case PG_QUERY__NODE__NODE_TYPE_CAST: {
        /* Released values are numbers: casts between numbers change nothing but integers. */
        const char *name =
            brume_walk_name(node->type_cast->type_name->names, node->type_cast->type_name->n_names);
        release_node argument = walk_release(o, node->type_cast->arg);
        if (name && (strcmp(name, "float8") == 0 || strcmp(name, "numeric") == 0))
            return argument;
        if (name && (strcmp(name, "int4") == 0 || strcmp(name, "int8") == 0))
            return make(o, BRUME_RELEASE_ROUND, &argument, 1);
        return fail(o, BRUME_EUNSUPPORTED, NULL, "this cast of an aggregate is not supported");
    }
    case PG_QUERY__NODE__NODE_FUNC_CALL:
        if (node->func_call->over)
            return fail(o, BRUME_EUNSUPPORTED, "use GROUP BY",
                        "window functions are not supported");
        if (brume_walk_is_aggregate(node))
            return walk_aggregate(o, node->func_call);
        return release_function(o, node->func_call);
    case PG_QUERY__NODE__NODE_COLUMN_REF: {
        const PgQuery__ColumnRef *reference = node->column_ref;
        if (reference->fields[reference->n_fields - 1]->node_case == PG_QUERY__NODE__NODE_A_STAR)
            return fail(o, BRUME_EUNSUPPORTED, "ask for aggregates: COUNT(*), AVG(x) ...",
                        "SELECT * would return rows of persons");
        if (!brume_walk_expression(o->walk, o->scope, NULL, node, false))
            return NULL;
        return fail(o, BRUME_EARGUMENT, "add it to GROUP BY, or put it in an aggregate",
                    "a column is neither grouped nor aggregated: rows of persons are not released");
    }
    default:
        brume_walk_refuse(o->walk, node);
        return NULL;
    }
}

/* ---- clauses ---- */

/* The catalog's column that a key is, through plain subquery columns. */
static bool plain_column(brume_node node, size_t *table, size_t *column)
{
    while (node->operation == BRUME_OPERATION_COLUMN) {
        const brume_relation *relation = node->relation;
        if (relation->kind == BRUME_RELATION_TABLE) {
            *table = relation->table;
            *column = relation->columns[node->column].table_column;
            return true;
        }
        if (relation->kind == BRUME_RELATION_SELECT)
            node = relation->columns[node->column].expression;
        else if (relation->kind == BRUME_RELATION_GROUP && node->column < relation->key_count)
            node = relation->left->columns[node->column].expression;
        else
            return false;
    }
    return false;
}

static bool add_key(outer *o, const PgQuery__Node *node)
{
    if (brume_walk_has_aggregate(node)) {
        fail(o, BRUME_EARGUMENT, NULL, "an aggregate cannot stand in GROUP BY");
        return false;
    }
    brume_node key = brume_walk_expression(o->walk, o->scope, NULL, node, false);
    if (key && key->untyped)
        key = brume_build_convert(&o->walk->builder, key, (brume_type){BRUME_TYPE_TEXT, 0, 0});
    if (!key)
        return false;
    if (key->inexact_key) {
        fail(o, BRUME_EUNSUPPORTED,
             "round it: GROUP BY CAST(x AS numeric(p,s)) is not enough; use "
             "width_bucket or floor of the argument",
             "a group key made with ln, log, exp or power may differ between machines");
        return false;
    }
    for (size_t i = 0; i < o->key_count; i++)
        if (brume_expression_equal(o->keys[i].expression, key))
            return true;
    if (o->key_count == MOST_KEYS) {
        fail(o, BRUME_EUNSUPPORTED, NULL, "too many group keys");
        return false;
    }
    brume_key *made = &o->keys[o->key_count++];
    *made = (brume_key){.expression = key};
    made->is_column = plain_column(key, &made->table, &made->column);
    return true;
}

static bool read_count(outer *o, const PgQuery__Node *node, int64_t *out)
{
    if (!node || (node->node_case == PG_QUERY__NODE__NODE_A_CONST && node->a_const->isnull))
        return true;
    if (node->node_case != PG_QUERY__NODE__NODE_A_CONST ||
        node->a_const->val_case != PG_QUERY__A__CONST__VAL_IVAL || node->a_const->ival->ival < 0) {
        fail(o, BRUME_EARGUMENT, NULL, "LIMIT and OFFSET take a constant number of rows");
        return false;
    }
    *out = node->a_const->ival->ival;
    return true;
}

static bool walk_order(outer *o, const PgQuery__SelectStmt *select, brume_query *query)
{
    brume_query_order *order =
        brume_arena_allocate(o->walk->builder.arena, (select->n_sort_clause + 1) * sizeof *order);
    if (!order) {
        fail(o, BRUME_EMEMORY, NULL, "out of memory");
        return false;
    }
    for (size_t i = 0; i < select->n_sort_clause; i++) {
        const PgQuery__Node *item = select->sort_clause[i];
        if (item->node_case != PG_QUERY__NODE__NODE_SORT_BY ||
            item->sort_by->sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_USING) {
            fail(o, BRUME_EUNSUPPORTED, NULL, "ORDER BY USING is not supported");
            return false;
        }
        const PgQuery__SortBy *sort = item->sort_by;
        order[i].descending = sort->sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_DESC;
        order[i].nulls_first = sort->sortby_nulls == PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_FIRST ||
                               (sort->sortby_nulls != PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_LAST &&
                                order[i].descending);
        const PgQuery__Node *node = sort->node;
        if (node->node_case == PG_QUERY__NODE__NODE_A_CONST) {
            const PgQuery__AConst *constant = node->a_const;
            if (constant->isnull || constant->val_case != PG_QUERY__A__CONST__VAL_IVAL ||
                constant->ival->ival < 1 || (size_t)constant->ival->ival > query->output_count) {
                fail(o, BRUME_EARGUMENT, "count the outputs from 1",
                     "a position in ORDER BY is not in the SELECT list");
                return false;
            }
            order[i].value = query->outputs[constant->ival->ival - 1].value;
            continue;
        }
        if (node->node_case == PG_QUERY__NODE__NODE_COLUMN_REF && node->column_ref->n_fields == 1 &&
            node->column_ref->fields[0]->node_case == PG_QUERY__NODE__NODE_STRING)
            for (size_t j = 0; j < query->output_count && !order[i].value; j++)
                if (strcmp(query->outputs[j].name, node->column_ref->fields[0]->string->sval) == 0)
                    order[i].value = query->outputs[j].value;
        if (!order[i].value && !(order[i].value = walk_release(o, node)))
            return false;
    }
    query->order = order;
    query->order_count = select->n_sort_clause;
    return true;
}

static bool walk_outputs(outer *o, const PgQuery__SelectStmt *select, brume_query *query)
{
    if (select->n_target_list > MOST_OUTPUTS || select->n_target_list == 0) {
        fail(o, BRUME_EUNSUPPORTED, NULL, "no outputs, or too many");
        return false;
    }
    brume_query_output *outputs =
        brume_arena_allocate(o->walk->builder.arena, select->n_target_list * sizeof *outputs);
    if (!outputs) {
        fail(o, BRUME_EMEMORY, NULL, "out of memory");
        return false;
    }
    for (size_t i = 0; i < select->n_target_list; i++) {
        const PgQuery__ResTarget *target = select->target_list[i]->res_target;
        outputs[i].name = brume_walk_output_name(o->walk, target);
        outputs[i].value = outputs[i].name ? walk_release(o, target->val) : NULL;
        if (!outputs[i].value)
            return false;
    }
    query->outputs = outputs;
    query->output_count = select->n_target_list;
    return true;
}

/* Whether each unit has one row at most in a group: the grain is among the keys. */
static bool grain_in_keys(const outer *o, const brume_relation *relation)
{
    if (!relation->grain_known)
        return false;
    for (size_t i = 0; i < relation->grain_count; i++) {
        bool found = false;
        for (size_t j = 0; j < o->key_count; j++)
            found = found ||
                    brume_expression_equal(o->keys[j].expression,
                                           relation->columns[relation->grain[i]].reference);
        if (!found)
            return false;
    }
    return true;
}

static bool walk_keys(outer *o, const PgQuery__SelectStmt *select)
{
    bool aggregated = select->having_clause != NULL;
    for (size_t i = 0; i < select->n_target_list; i++) {
        if (select->target_list[i]->node_case != PG_QUERY__NODE__NODE_RES_TARGET ||
            !select->target_list[i]->res_target->val) {
            fail(o, BRUME_EUNSUPPORTED, NULL, "this output is not supported");
            return false;
        }
        aggregated = aggregated ||
                     brume_walk_has_aggregate(select->target_list[i]->res_target->val);
    }
    for (size_t i = 0; i < select->n_group_clause; i++) {
        const PgQuery__Node *item = brume_walk_group_item(o->walk, select, select->group_clause[i]);
        if (!item || !add_key(o, item))
            return false;
    }
    if (select->n_distinct_clause == 0)
        return true;
    bool plain = select->n_distinct_clause == 1 &&
                 select->distinct_clause[0]->node_case == PG_QUERY__NODE__NODE__NOT_SET;
    if (!plain || aggregated || select->n_group_clause) {
        fail(o, BRUME_EUNSUPPORTED, "use GROUP BY", "DISTINCT in this place is not supported");
        return false;
    }
    for (size_t i = 0; i < select->n_target_list; i++)
        if (!add_key(o, select->target_list[i]->res_target->val))
            return false;
    return true;
}

bool brume_walk_query(brume_walk *walk, const PgQuery__SelectStmt *select, brume_query *query)
{
    brume_builder *builder = &walk->builder;
    outer *o = brume_arena_allocate(builder->arena, sizeof *o);
    brume_walk_scope *scope = brume_arena_allocate(builder->arena, sizeof *scope);
    if (!o || !scope) {
        brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
        return false;
    }
    o->walk = walk;
    o->scope = scope;
    const brume_walk_common *common = NULL;
    brume_node where;
    query->limit = -1;
    if (!brume_walk_check_select(walk, select) || !brume_walk_with(walk, select, &common) ||
        !brume_walk_from(walk, select, common, scope, &where) || !walk_keys(o, select) ||
        !walk_outputs(o, select, query))
        return false;
    if (select->having_clause && !(query->having = walk_release(o, select->having_clause)))
        return false;
    if (!walk_order(o, select, query) || !read_count(o, select->limit_count, &query->limit) ||
        !read_count(o, select->limit_offset, &query->offset))
        return false;
    if (select->limit_option == PG_QUERY__LIMIT_OPTION__LIMIT_OPTION_WITH_TIES) {
        fail(o, BRUME_EUNSUPPORTED, NULL, "WITH TIES is not supported");
        return false;
    }
    if (o->key_count == 0 && o->aggregate_count == 0) {
        fail(o, BRUME_EUNSUPPORTED, "ask for aggregates: COUNT(*), AVG(x) ...",
             "a query must aggregate or group");
        return false;
    }
    if (walk->table_count == 0) {
        fail(o, BRUME_EUNSUPPORTED, "query a public table in its own database",
             "the query reads no protected dataset");
        return false;
    }
    const brume_relation *from = scope->relation;
    query->from = from;
    query->where = where;
    query->unit = from->privacy == BRUME_PRIVACY_UNIT ? from->columns[from->unit].reference : NULL;
    query->one_row_per_unit = from->grain_known && from->grain_count == 0;
    query->one_row_per_group = grain_in_keys(o, from);
    query->tables = walk->tables;
    query->table_count = walk->table_count;
    query->public_tables = walk->public_tables;
    query->public_count = walk->public_count;
    query->keys = o->keys;
    query->key_count = o->key_count;
    query->aggregates = o->aggregates;
    query->aggregate_count = o->aggregate_count;
    return true;
}
