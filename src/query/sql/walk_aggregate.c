/* Aggregate calls of the outer SELECT: what is measured. */
#include "query/sql/walk_outer.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "query/expression/wide.h"

const char *brume_aggregate_word(brume_aggregate_kind kind)
{
    static const char *const words[] = {
        "count_rows", "count",          "count_units", "count_distinct", "sum",
        "avg",        "var_pop",        "var_samp",    "stddev_pop",     "stddev_samp",
        "quantile",   "mode",           "covar_pop",   "covar_samp",     "corr",
        "regr_slope", "regr_intercept", "regr_r2"};
    return words[kind];
}

static bool same_argument(const brume_expression *a, const brume_expression *b)
{
    return a && b ? brume_expression_equal(a, b) : !a && !b;
}

bool brume_aggregate_equal(const brume_aggregate *a, const brume_aggregate *b)
{
    return a->kind == b->kind && a->fraction[0] == b->fraction[0] &&
           a->fraction[1] == b->fraction[1] && same_argument(a->argument, b->argument) &&
           same_argument(a->other, b->other);
}

static brume_formula *add_aggregate(brume_walk_outer *o, brume_aggregate aggregate)
{
    size_t i = 0;
    while (i < o->aggregate_count && !brume_aggregate_equal(&o->aggregates[i], &aggregate))
        i++;
    if (i == BRUME_WALK_AGGREGATES) {
        brume_build_fail(&o->walk->builder, BRUME_EUNSUPPORTED, "ask in several queries",
                         "the query has more than %d aggregates", BRUME_WALK_AGGREGATES);
        return NULL;
    }
    if (i == o->aggregate_count)
        o->aggregates[o->aggregate_count++] = aggregate;
    brume_formula *node = brume_walk_outer_make(o, BRUME_FORMULA_AGGREGATE, NULL, 0);
    if (!node)
        return NULL;
    node->index = i;
    if (o->node_count < BRUME_WALK_NODES)
        o->nodes[o->node_count] = node;
    o->node_count++;
    return node;
}

/* The row expression of an aggregate's argument, under its FILTER. */
static brume_node argument_of(brume_walk_outer *o, const PgQuery__FuncCall *call,
                              const PgQuery__Node *node, bool inside)
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
static bool read_fraction(brume_walk_outer *o, const PgQuery__Node *node, bool descending,
                          int64_t out[2])
{
    brume_node value = brume_walk_expression(o->walk, o->scope, NULL, node, false);
    if (!value)
        return false;
    brume_wide units;
    int scale;
    if (value->operation != BRUME_OPERATION_LITERAL || !value->text ||
        !brume_wide_parse(value->text, &units, &scale) || scale > 9 || units < 0 ||
        units > brume_wide_power(scale)) {
        brume_walk_outer_fail(
            o, BRUME_EARGUMENT, "write a constant such as 0.25",
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

/* ARRAY[...], also with a cast around it; else NULL. */
static const PgQuery__AArrayExpr *array_of(const PgQuery__Node *node)
{
    if (node && node->node_case == PG_QUERY__NODE__NODE_TYPE_CAST)
        node = node->type_cast->arg;
    return node && node->node_case == PG_QUERY__NODE__NODE_A_ARRAY_EXPR ? node->a_array_expr : NULL;
}

const PgQuery__AArrayExpr *brume_walk_percentile_array(const PgQuery__Node *node)
{
    if (!node || node->node_case != PG_QUERY__NODE__NODE_FUNC_CALL)
        return NULL;
    const PgQuery__FuncCall *call = node->func_call;
    const char *name = brume_walk_name(call->funcname, call->n_funcname);
    bool percentile =
        name && (strcmp(name, "percentile_cont") == 0 || strcmp(name, "percentile_disc") == 0);
    return percentile && call->agg_within_group && call->n_args == 1 ? array_of(call->args[0])
                                                                     : NULL;
}

static bool check_argument(brume_walk_outer *o, const char *name, brume_node argument)
{
    char type[BRUME_TYPE_NAME_SIZE];
    if (!argument)
        return false;
    if (argument->duration) {
        brume_build_fail(
            &o->walk->builder, BRUME_EUNSUPPORTED,
            "take EXTRACT(epoch FROM a - b), a number of seconds, or EXTRACT(day FROM a "
            "- b)",
            "%.40s of an interval is not supported", name);
        return false;
    }
    if (!brume_type_is_number(argument->type)) {
        bool extreme = strcmp(name, "min") == 0 || strcmp(name, "max") == 0;
        bool time = argument->type.kind == BRUME_TYPE_DATE ||
                    argument->type.kind == BRUME_TYPE_TIMESTAMP;
        brume_build_fail(
            &o->walk->builder, BRUME_EARGUMENT,
            argument->operation == BRUME_OPERATION_LITERAL
                ? "in single quotes it is a text: a column stands in double quotes, or in none"
            : time    ? "write CLAMP(CAST(x AS date) - DATE '2000-01-01', 0, 36500): days"
            : extreme ? "the first or last text is one person's: GROUP BY it, or CAST it to a "
                        "number"
                      : "CAST it to a number",
            "%.40s needs a number, not a %s", name, brume_type_name(argument->type, type));
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

/* A date or timestamp (to the second) as a number that has its order and bounds of its own; else
 * `argument`. */
static brume_node number_of_time(brume_builder *builder, brume_node argument,
                                 brume_formula_kind *shown_as)
{
    brume_type date = {BRUME_TYPE_DATE, 0, 0};
    brume_type seconds = {BRUME_TYPE_BIGINT, 0, 0};
    brume_node days, whole, parts[] = {brume_build_untyped(builder, "epoch"), argument};
    switch (argument->type.kind) {
    case BRUME_TYPE_DATE:
        *shown_as = BRUME_FORMULA_DATE;
        days = brume_build_arithmetic(builder, BRUME_OPERATION_SUBTRACT, argument,
                                      brume_build_literal(builder, date, "1970-01-01"));
        /* 0001-01-01 to 9999-12-31: no date is outside. */
        return days && days->bounded ? days
                                     : brume_build_clamp(builder, days, "-719162", "2932896");
    case BRUME_TYPE_TIMESTAMP:
        *shown_as = BRUME_FORMULA_TIMESTAMP;
        whole = brume_build_function(builder, "extract", parts, 2);
        whole = whole ? brume_build_function(builder, "floor", &whole, 1) : NULL;
        whole = whole ? brume_build_cast(builder, whole, seconds) : NULL;
        return whole && whole->bounded
                   ? whole
                   : brume_build_clamp(builder, whole, "-62135596800", "253402300799");
    default:
        return argument;
    }
}

/* MEDIAN, PERCENTILE_*, MIN, MAX. A minimum is one person's value, so MIN and MAX are the quantiles
 * 0.01 and 0.99; the answer says so. Times are measured as numbers and shown as times. */
static brume_formula_node add_quantile(brume_walk_outer *o, const char *name,
                                       brume_aggregate aggregate)
{
    brume_formula_kind shown_as = BRUME_FORMULA_AGGREGATE;
    bool lowest = strcmp(name, "min") == 0, highest = strcmp(name, "max") == 0;
    if (aggregate.argument)
        aggregate.argument = number_of_time(&o->walk->builder, aggregate.argument, &shown_as);
    if (!check_argument(o, name, aggregate.argument))
        return NULL;
    if (strcmp(name, "median") == 0) {
        aggregate.fraction[0] = 1;
        aggregate.fraction[1] = 2;
    } else if (lowest || highest) {
        aggregate.fraction[0] = lowest ? 1 : 99;
        aggregate.fraction[1] = 100;
    }
    brume_formula *node = add_aggregate(o, aggregate);
    if (!node)
        return NULL;
    node->extreme = lowest || highest;
    brume_formula_node argument = node;
    return shown_as == BRUME_FORMULA_AGGREGATE ? node
                                               : brume_walk_outer_make(o, shown_as, &argument, 1);
}

static brume_formula_node walk_within_group(brume_walk_outer *o, const PgQuery__FuncCall *call,
                                            const char *name)
{
    if (call->n_agg_order != 1 || call->agg_order[0]->node_case != PG_QUERY__NODE__NODE_SORT_BY)
        return brume_walk_outer_fail(o, BRUME_EUNSUPPORTED,
                                     "write MODE() WITHIN GROUP (ORDER BY x)",
                                     "WITHIN GROUP takes one ORDER BY expression");
    const PgQuery__SortBy *sort = call->agg_order[0]->sort_by;
    bool mode = strcmp(name, "mode") == 0;
    brume_aggregate aggregate = {.kind = mode ? BRUME_AGGREGATE_MODE : BRUME_AGGREGATE_QUANTILE};
    if (sort->sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_USING)
        return brume_walk_outer_fail(o, BRUME_EUNSUPPORTED, "write ORDER BY x or ORDER BY x DESC",
                                     "ORDER BY USING is not supported");
    if (call->n_args != (mode ? 0 : 1))
        return brume_walk_outer_fail(o, BRUME_EARGUMENT,
                                     "write PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x)",
                                     "wrong number of arguments");
    if (!mode && array_of(call->args[0]))
        return brume_walk_outer_fail(o, BRUME_EUNSUPPORTED,
                                     "name it alone in the SELECT list, or write one "
                                     "PERCENTILE_CONT for each percentile",
                                     "an array of percentiles cannot be part of an expression");
    if (!mode &&
        !read_fraction(o, call->args[0], sort->sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_DESC,
                       aggregate.fraction))
        return NULL;
    aggregate.argument = argument_of(o, call, sort->node, !mode);
    if (mode && aggregate.argument && aggregate.argument->duration)
        return brume_walk_outer_fail(o, BRUME_EUNSUPPORTED, "take EXTRACT(day FROM a - b)",
                                     "a mode of intervals is not supported");
    if (mode && aggregate.argument && aggregate.argument->inexact_key)
        return brume_walk_outer_fail(o, BRUME_EUNSUPPORTED,
                                     "round it with width_bucket or floor of the argument",
                                     "a mode of ln, log, exp or power may differ between machines");
    if (!aggregate.argument)
        return NULL;
    aggregate.tells_units = brume_walk_tells_units(o->walk, o->scope, aggregate.argument);
    return mode ? add_aggregate(o, aggregate) : add_quantile(o, name, aggregate);
}

static bool is_quantile(const char *name)
{
    return strcmp(name, "quantile_cont") == 0 || strcmp(name, "quantile_disc") == 0 ||
           strcmp(name, "quantile") == 0 || strcmp(name, "approx_quantile") == 0;
}

/* DuckDB's quantile_cont(x, q): percentile_cont(q) of x. */
static brume_formula_node walk_quantile(brume_walk_outer *o, const PgQuery__FuncCall *call,
                                        const char *name)
{
    brume_aggregate aggregate = {.kind = BRUME_AGGREGATE_QUANTILE};
    if (call->n_args != 2 || call->agg_star || call->agg_distinct)
        return brume_walk_outer_fail(o, BRUME_EARGUMENT, "write quantile_cont(x, 0.9)",
                                     "the aggregate takes a value and a number between 0 and 1");
    if (array_of(call->args[1]))
        return brume_walk_outer_fail(o, BRUME_EUNSUPPORTED,
                                     "write PERCENTILE_CONT(ARRAY[...]) WITHIN GROUP (ORDER BY x)",
                                     "a list of quantiles is not supported in this form");
    if (!read_fraction(o, call->args[1], false, aggregate.fraction))
        return NULL;
    aggregate.argument = argument_of(o, call, call->args[0], true);
    if (!aggregate.argument)
        return NULL;
    aggregate.tells_units = brume_walk_tells_units(o->walk, o->scope, aggregate.argument);
    return add_quantile(o, name, aggregate);
}

/* What to write instead of an aggregate that is not answered. */
static const char *hint_for(const char *name)
{
    static const struct {
        const char *names, *hint;
    } hints[] = {
        {" bool_and bool_or every ", "use COUNT(*) FILTER (WHERE ...): one person can decide it"},
        {" array_agg string_agg json_agg any_value first last ",
         "it would show rows of persons: GROUP BY the column"},
        {" regr_sxx regr_syy regr_sxy ",
         "use REGR_COUNT(y, x) times VAR_POP(x), VAR_POP(y) or COVAR_POP(y, x)"},
        {" approx_count_distinct ", "write COUNT(DISTINCT x)"},
    };
    char word[48];
    snprintf(word, sizeof word, " %.40s ", name);
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (strstr(hints[i].names, word))
            return hints[i].hint;
    static const char *const known[] = {"count", "sum", "avg", "median", "stddev", "variance"};
    static const char *const meant[] = {"did you mean COUNT?",  "did you mean SUM?",
                                        "did you mean AVG?",    "did you mean MEDIAN?",
                                        "did you mean STDDEV?", "did you mean VARIANCE?"};
    const char *near = brume_text_nearest(name, known, sizeof known / sizeof *known);
    for (size_t i = 0; near && i < sizeof known / sizeof *known; i++)
        if (near == known[i])
            return meant[i];
    return "use COUNT, SUM, AVG, VAR_*, STDDEV_*, MEDIAN, PERCENTILE_CONT or MODE";
}

/* Is the name one of these, and of which kind is it? */
typedef struct named_kind {
    const char *name;
    brume_aggregate_kind kind;
} named_kind;

/* `value` in the rows where `other` is not NULL either. */
static brume_node where_both(brume_builder *builder, brume_node value, brume_node other)
{
    brume_node parts[] = {brume_build_test(builder, BRUME_OPERATION_IS_NOT_NULL, other), value};
    return other->nullable && parts[0] ? brume_build_case(builder, parts, 2) : value;
}

/* CORR(y, x) and the like: of the rows in which neither is NULL. */
static brume_formula_node walk_joint(brume_walk_outer *o, const PgQuery__FuncCall *call,
                                     const char *name, brume_aggregate_kind kind)
{
    brume_builder *builder = &o->walk->builder;
    if (call->n_args != 2 || call->agg_star || call->agg_distinct)
        return brume_walk_outer_fail(o, BRUME_EARGUMENT, "write CORR(y, x), REGR_SLOPE(y, x)",
                                     "the aggregate takes two arguments");
    brume_node y = argument_of(o, call, call->args[0], true);
    brume_node x = y ? argument_of(o, call, call->args[1], true) : NULL;
    if (!y || !x || !check_argument(o, name, y) || !check_argument(o, name, x))
        return NULL;
    brume_aggregate aggregate = {
        .kind = kind, .argument = where_both(builder, y, x), .other = where_both(builder, x, y)};
    if (!aggregate.argument || !aggregate.other)
        return NULL;
    if (strcmp(name, "regr_avgx") == 0)
        aggregate.argument = aggregate.other;
    if (!brume_aggregate_is_joint(kind))
        aggregate.other = NULL;
    return add_aggregate(o, aggregate);
}

static brume_formula_node refuse_distinct(brume_walk_outer *o, const char *name)
{
    brume_build_fail(&o->walk->builder, BRUME_EUNSUPPORTED,
                     "aggregate once per unit in a subquery that groups by the unit",
                     "DISTINCT in %.40s is not supported", name);
    return NULL;
}

/* The values of (a, b, ...) as one text that is another one for each combination: the length of
 * each before it, and n for NULL. `whole`: NULL where one of them is, as in COUNT(DISTINCT a, b);
 * a row (a, b) is never NULL. */
static brume_node combined(brume_walk_outer *o, const PgQuery__FuncCall *call,
                           PgQuery__Node *const *items, size_t count, bool whole)
{
    brume_builder *builder = &o->walk->builder;
    const brume_type text = {BRUME_TYPE_TEXT, 0, 0};
    brume_node all = NULL;
    for (size_t i = 0; i < count; i++) {
        brume_node item = argument_of(o, call, items[i], false);
        if (item && item->inexact_key)
            return item; /* refused by the caller */
        item = item ? brume_build_cast(builder, item, text) : NULL;
        brume_node length = item ? brume_build_function(builder, "length", &item, 1) : NULL;
        brume_node parts[] = {length ? brume_build_cast(builder, length, text) : NULL,
                              brume_build_literal(builder, text, ":"), item};
        brume_node one = parts[0] ? brume_build_choice(builder, BRUME_OPERATION_JOIN_TEXT, parts, 3)
                                  : NULL;
        brume_node or_null[] = {one, brume_build_literal(builder, text, "n")};
        if (one && !whole && item->nullable)
            one = brume_build_choice(builder, BRUME_OPERATION_COALESCE, or_null, 2);
        brume_node both[] = {all, one};
        all = all && one ? brume_build_choice(builder, BRUME_OPERATION_JOIN_TEXT, both, 2) : one;
        if (!all)
            return NULL;
    }
    if (whole || !call->agg_filter) /* of a row that FILTER leaves out nothing counts */
        return all;
    brume_node kept[] = {brume_walk_expression(o->walk, o->scope, NULL, call->agg_filter, false),
                         all};
    return kept[0] ? brume_build_case(builder, kept, 2) : NULL;
}

/* COUNT(*), COUNT(x) and COUNT(DISTINCT unit). */
static brume_formula_node walk_count(brume_walk_outer *o, const PgQuery__FuncCall *call)
{
    brume_builder *builder = &o->walk->builder;
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
    const PgQuery__RowExpr *row = call->n_args == 1 &&
                                          call->args[0]->node_case == PG_QUERY__NODE__NODE_ROW_EXPR
                                      ? call->args[0]->row_expr
                                      : NULL;
    if (call->n_args != 1 && !(call->agg_distinct && call->n_args > 1))
        return brume_walk_outer_fail(o, BRUME_EARGUMENT, "write COUNT(*) or COUNT(x)",
                                     "COUNT takes one argument");
    if (call->agg_distinct && row)
        aggregate.argument = combined(o, call, row->args, row->n_args, false);
    else if (call->n_args > 1)
        aggregate.argument = combined(o, call, call->args, call->n_args, true);
    else
        aggregate.argument = argument_of(o, call, call->args[0], !call->agg_distinct);
    if (!aggregate.argument)
        return NULL;
    if (!call->agg_distinct)
        return add_aggregate(o, aggregate);
    if (aggregate.argument->inexact_key)
        return brume_walk_outer_fail(
            o, BRUME_EUNSUPPORTED, "round it with width_bucket or floor of the argument",
            "how many values ln, log, exp or power have may differ between machines");
    aggregate.kind = BRUME_AGGREGATE_COUNT_DISTINCT;
    if (!brume_walk_is_unit_or_null(o->walk, o->scope, aggregate.argument))
        return add_aggregate(o, aggregate);
    aggregate.kind = BRUME_AGGREGATE_COUNT_UNITS;
    if (brume_walk_is_unit(o->scope, aggregate.argument)) /* never NULL: else the row is nobody's */
        aggregate.argument = NULL;
    return add_aggregate(o, aggregate);
}

brume_formula_node brume_walk_aggregate(brume_walk_outer *o, const PgQuery__FuncCall *call)
{
    static const named_kind known[] = {
        {"sum", BRUME_AGGREGATE_SUM},
        {"avg", BRUME_AGGREGATE_AVG},
        {"var_pop", BRUME_AGGREGATE_VAR_POP},
        {"var_samp", BRUME_AGGREGATE_VAR_SAMP},
        {"variance", BRUME_AGGREGATE_VAR_SAMP},
        {"stddev_pop", BRUME_AGGREGATE_STDDEV_POP},
        {"stddev_samp", BRUME_AGGREGATE_STDDEV_SAMP},
        {"stddev", BRUME_AGGREGATE_STDDEV_SAMP},
        {"median", BRUME_AGGREGATE_QUANTILE},
        {"min", BRUME_AGGREGATE_QUANTILE},
        {"max", BRUME_AGGREGATE_QUANTILE},
    };
    static const named_kind joint[] = {
        {"covar_pop", BRUME_AGGREGATE_COVAR_POP},
        {"covar_samp", BRUME_AGGREGATE_COVAR_SAMP},
        {"corr", BRUME_AGGREGATE_CORR},
        {"regr_slope", BRUME_AGGREGATE_REGR_SLOPE},
        {"regr_intercept", BRUME_AGGREGATE_REGR_INTERCEPT},
        {"regr_r2", BRUME_AGGREGATE_REGR_R2},
        {"regr_count", BRUME_AGGREGATE_COUNT},
        {"regr_avgy", BRUME_AGGREGATE_AVG},
        {"regr_avgx", BRUME_AGGREGATE_AVG},
    };
    brume_builder *builder = &o->walk->builder;
    const char *name = brume_walk_name(call->funcname, call->n_funcname);
    if (!name || call->over || call->func_variadic)
        return brume_walk_outer_fail(o, BRUME_EUNSUPPORTED,
                                     "use GROUP BY; shares and ranks can be made from the answer",
                                     "window functions are not supported");
    bool within = strcmp(name, "percentile_cont") == 0 || strcmp(name, "percentile_disc") == 0 ||
                  strcmp(name, "mode") == 0;
    if (within && call->agg_within_group)
        return walk_within_group(o, call, name);
    if (within || call->agg_within_group || call->n_agg_order)
        return brume_walk_outer_fail(
            o, BRUME_EUNSUPPORTED,
            "write PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x), MODE() WITHIN GROUP "
            "(ORDER BY x)",
            "this form of the aggregate is not supported");
    if (strcmp(name, "count") == 0)
        return walk_count(o, call);
    for (size_t i = 0; i < sizeof joint / sizeof *joint; i++)
        if (strcmp(name, joint[i].name) == 0)
            return walk_joint(o, call, name, joint[i].kind);
    if (is_quantile(name))
        return walk_quantile(o, call, name);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(name, known[i].name) != 0)
            continue;
        if (call->n_args != 1 || call->agg_star)
            return brume_walk_outer_fail(o, BRUME_EARGUMENT, "write AVG(x)",
                                         "the aggregate takes one argument");
        if (call->agg_distinct)
            return refuse_distinct(o, name);
        brume_aggregate aggregate = {.kind = known[i].kind,
                                     .argument = argument_of(o, call, call->args[0], true)};
        if (aggregate.kind == BRUME_AGGREGATE_QUANTILE)
            return add_quantile(o, name, aggregate);
        return check_argument(o, name, aggregate.argument) ? add_aggregate(o, aggregate) : NULL;
    }
    brume_build_fail(builder, BRUME_EUNSUPPORTED, hint_for(name),
                     "the aggregate %.40s is not supported", name);
    return NULL;
}
