/* Aggregate calls of the outer SELECT: what is measured. */
#include "query/sql/walk_outer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "query/expression/literal.h"

/* Sums that differ by constants: SUM(x), SUM(x + 1), SUM(x - 2) ... are all SUM(x) + c * COUNT(x).
 *
 * Where three or more of them are asked for, two numbers are measured instead of three or more,
 * each with a larger share of the price. That is the same number: every row that has an x has an x
 * + c, because the sum cannot overflow within the bounds of x. */

enum { LEAST = 3 };

/* The x of x + c, c + x and x - c, with c; NULL where the aggregate is no such sum. A plain SUM(x)
 * has the constant 0. */
static brume_node base_of(const brume_aggregate *aggregate, double *constant)
{
    brume_node sum = aggregate->argument;
    *constant = 0;
    if (aggregate->kind != BRUME_AGGREGATE_SUM)
        return NULL;
    bool added = sum->operation == BRUME_OPERATION_ADD;
    if ((!added && sum->operation != BRUME_OPERATION_SUBTRACT) ||
        sum->type.kind == BRUME_TYPE_DOUBLE)
        return sum;
    bool first = added && sum->arguments[0]->operation == BRUME_OPERATION_LITERAL;
    brume_node literal = sum->arguments[first ? 0 : 1], base = sum->arguments[first ? 1 : 0];
    if (literal->operation != BRUME_OPERATION_LITERAL || !literal->text ||
        base->nullable != sum->nullable || !base->bounded)
        return sum;
    *constant = strtod(literal->text, NULL);
    if (!added)
        *constant = -*constant;
    return fabs(*constant) < 0x1p53 ? base : sum;
}

/* The place of an aggregate among those that stay, added if it is new. */
static size_t place_of(brume_aggregate *kept, size_t *count, const brume_aggregate *aggregate)
{
    for (size_t i = 0; i < *count; i++)
        if (brume_aggregate_equal(&kept[i], aggregate))
            return i;
    kept[*count] = *aggregate;
    return (*count)++;
}

static brume_formula *leaf(brume_walk_outer *o, size_t index)
{
    brume_formula *node = brume_walk_outer_make(o, BRUME_FORMULA_AGGREGATE, NULL, 0);
    if (node)
        node->index = index;
    return node;
}

/* SUM(x) + constant * COUNT(x), in the place of `node`. */
static bool rewrite(brume_walk_outer *o, brume_formula *node, size_t sum, size_t count,
                    double constant)
{
    brume_formula *literal = brume_walk_outer_make(o, BRUME_FORMULA_LITERAL, NULL, 0);
    if (!literal)
        return false;
    literal->value = (brume_value){.kind = BRUME_VALUE_NUMBER, .number = constant};
    brume_formula_node product[] = {literal, leaf(o, count)};
    brume_formula_node both[] = {leaf(o, sum),
                                 brume_walk_outer_make(o, BRUME_FORMULA_MULTIPLY, product, 2)};
    const brume_formula *made = brume_walk_outer_make(o, BRUME_FORMULA_ADD, both, 2);
    if (made)
        *node = *made;
    return made != NULL;
}

/* Which aggregates are of a family of at least LEAST sums. */
static bool find_families(const brume_walk_outer *o, bool *shifted)
{
    bool any = false;
    double constant;
    for (size_t i = 0; i < o->aggregate_count; i++) {
        brume_node base = base_of(&o->aggregates[i], &constant);
        size_t alike = 0;
        for (size_t j = 0; base && j < o->aggregate_count; j++) {
            brume_node other = base_of(&o->aggregates[j], &constant);
            alike += other && brume_expression_equal(base, other);
        }
        shifted[i] = alike >= LEAST;
        any = any || shifted[i];
    }
    return any;
}

bool brume_walk_shifted_sums(brume_walk_outer *o)
{
    brume_arena *arena = o->walk->builder.arena;
    if (o->aggregate_count < LEAST || o->node_count > BRUME_WALK_NODES)
        return true;
    size_t old_count = o->aggregate_count, count = 0;
    bool *shifted = brume_arena_allocate(arena, old_count * sizeof *shifted);
    brume_aggregate *kept = brume_arena_allocate(arena, 2 * old_count * sizeof *kept);
    if (!shifted || !kept) {
        brume_walk_outer_fail(o, BRUME_EMEMORY, NULL, "out of memory");
        return false;
    }
    if (!find_families(o, shifted))
        return true;
    for (size_t i = 0; i < o->node_count; i++) {
        brume_formula *node = o->nodes[i];
        const brume_aggregate *aggregate = &o->aggregates[node->index];
        double constant = 0;
        brume_aggregate sum = *aggregate;
        if (shifted[node->index])
            sum.argument = base_of(aggregate, &constant);
        node->index = place_of(kept, &count, &sum);
        brume_aggregate values = {.kind = BRUME_AGGREGATE_COUNT, .argument = sum.argument};
        if (constant != 0 &&
            !rewrite(o, node, node->index, place_of(kept, &count, &values), constant))
            return false;
    }
    if (count > old_count) /* cannot be: three sums become a sum and a count at most */
        return brume_walk_outer_fail(o, BRUME_EINTERNAL, NULL, "aggregates were counted wrongly");
    memcpy(o->aggregates, kept, count * sizeof *kept);
    o->aggregate_count = count;
    return true;
}

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

/* Window functions: of the rows that are shown, which were released before. Post-processing. */

/* What frame_options of the grammar says (PostgreSQL's nodes/parsenodes.h): of the frames those
 * that begin with the first row and end with this one. */
enum {
    FRAME_TYPED = 0x1,
    FRAME_RANGE = 0x2,
    FRAME_ROWS = 0x4,
    FRAME_BETWEEN = 0x10,
    FRAME_FROM_FIRST = 0x20,
    FRAME_TO_CURRENT = 0x400,
};

static bool read_function(const PgQuery__FuncCall *call, brume_window_function *function,
                          bool *has_argument)
{
    static const struct {
        const char *name;
        brume_window_function function;
        bool has_argument;
    } known[] = {
        {"row_number", BRUME_WINDOW_ROW_NUMBER, false},
        {"rank", BRUME_WINDOW_RANK, false},
        {"dense_rank", BRUME_WINDOW_DENSE_RANK, false},
        {"sum", BRUME_WINDOW_SUM, true},
        {"avg", BRUME_WINDOW_AVG, true},
        {"min", BRUME_WINDOW_MIN, true},
        {"max", BRUME_WINDOW_MAX, true},
        {"count", BRUME_WINDOW_COUNT, true},
    };
    const char *name = brume_walk_name(call->funcname, call->n_funcname);
    if (call->agg_distinct || call->n_agg_order || call->agg_within_group || call->agg_filter ||
        call->func_variadic)
        return false;
    for (size_t i = 0; name && i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i].name) == 0) {
            *function = known[i].function;
            *has_argument = known[i].has_argument && !call->agg_star;
            if (call->agg_star)
                *function = BRUME_WINDOW_COUNT_ROWS;
            return call->n_args == *has_argument &&
                   (!call->agg_star || known[i].function == BRUME_WINDOW_COUNT);
        }
    return false;
}

static bool read_order(brume_walk_outer *o, const PgQuery__Node *node, bool *descending,
                       bool *nulls_first, const PgQuery__Node **value)
{
    if (node->node_case != PG_QUERY__NODE__NODE_SORT_BY ||
        node->sort_by->sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_USING) {
        brume_walk_outer_fail(o, BRUME_EUNSUPPORTED, "write ORDER BY x DESC",
                              "ORDER BY USING is not supported");
        return false;
    }
    const PgQuery__SortBy *sort = node->sort_by;
    *descending = sort->sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_DESC;
    *nulls_first =
        sort->sortby_nulls == PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_FIRST ||
        (sort->sortby_nulls != PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_LAST && *descending);
    *value = sort->node;
    return true;
}

static bool is_known_frame(const PgQuery__WindowDef *over)
{
    int options = over->frame_options & ~(FRAME_TYPED | FRAME_BETWEEN);
    int ends = FRAME_FROM_FIRST | FRAME_TO_CURRENT;
    return (options == (FRAME_RANGE | ends) || options == (FRAME_ROWS | ends)) &&
           !over->start_offset && !over->end_offset;
}

/* The arguments of the formula, in the order of formula.h. */
static const brume_formula_node *walk_parts(brume_walk_outer *o, const PgQuery__FuncCall *call,
                                            brume_window *window, bool has_argument)
{
    const PgQuery__WindowDef *over = call->over;
    size_t count = 0, most = 1 + over->n_partition_clause + over->n_order_clause;
    brume_arena *arena = o->walk->builder.arena;
    brume_formula_node *parts = brume_arena_allocate(arena, most * sizeof *parts);
    bool *descending = brume_arena_allocate(arena, most * sizeof *descending);
    bool *nulls_first = brume_arena_allocate(arena, most * sizeof *nulls_first);
    if (!parts || !descending || !nulls_first) {
        brume_walk_outer_fail(o, BRUME_EMEMORY, NULL, "out of memory");
        return NULL;
    }
    o->in_window = true;
    if (has_argument)
        parts[count++] = brume_walk_formula(o, call->args[0]);
    for (size_t i = 0; i < over->n_partition_clause; i++)
        parts[count++] = brume_walk_formula(o, over->partition_clause[i]);
    for (size_t i = 0; i < over->n_order_clause; i++) {
        const PgQuery__Node *value = NULL;
        if (!read_order(o, over->order_clause[i], &descending[i], &nulls_first[i], &value))
            return NULL;
        parts[count++] = brume_walk_formula(o, value);
    }
    o->in_window = false;
    window->partition_count = over->n_partition_clause;
    window->order_count = over->n_order_clause;
    window->descending = descending;
    window->nulls_first = nulls_first;
    return parts;
}

/* A call with OVER: a function of the shown rows. */
static brume_formula_node walk_window(brume_walk_outer *o, const PgQuery__FuncCall *call)
{
    const PgQuery__WindowDef *over = call->over;
    bool has_argument = false;
    brume_window *window = brume_arena_allocate(o->walk->builder.arena, sizeof *window);
    if (!window)
        return brume_walk_outer_fail(o, BRUME_EMEMORY, NULL, "out of memory");
    if (o->in_window)
        return brume_walk_outer_fail(o, BRUME_EUNSUPPORTED, "use it in the SELECT list",
                                     "a window function cannot stand in HAVING or in another one");
    if (!read_function(call, &window->function, &has_argument))
        return brume_walk_outer_fail(
            o, BRUME_EUNSUPPORTED,
            "use row_number, rank, dense_rank, sum, avg, min, max or count, of released values",
            "this window function is not supported");
    if ((over->refname && *over->refname) || (over->name && *over->name) || !is_known_frame(over))
        return brume_walk_outer_fail(
            o, BRUME_EUNSUPPORTED,
            "write OVER (PARTITION BY a ORDER BY b), or with ROWS UNBOUNDED PRECEDING",
            "this window is not supported");
    if (o->window_count == BRUME_WALK_WINDOWS)
        return brume_walk_outer_fail(o, BRUME_EUNSUPPORTED, "ask in several queries",
                                     "the query has too many window functions");
    window->by_row = (over->frame_options & FRAME_ROWS) != 0;
    const brume_formula_node *parts = walk_parts(o, call, window, has_argument);
    if (!parts)
        return NULL;
    size_t count = (size_t)has_argument + window->partition_count + window->order_count;
    brume_formula *node = brume_walk_outer_make(o, BRUME_FORMULA_WINDOW, parts, count);
    if (!node)
        return NULL;
    node->window = window;
    o->windows[o->window_count++] = node; /* its index is known when all aggregates are */
    return node;
}

/* Expressions over keys and aggregates: what is shown of what was released. */

brume_formula_node brume_walk_outer_fail(brume_walk_outer *o, brume_status status, const char *hint,
                                         const char *message)
{
    brume_build_fail(&o->walk->builder, status, hint, "%s", message);
    return NULL;
}

brume_formula *brume_walk_outer_make(brume_walk_outer *o, brume_formula_kind kind,
                                     const brume_formula_node *arguments, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!arguments[i])
            return NULL;
    brume_formula *node = brume_arena_allocate(o->walk->builder.arena, sizeof *node);
    brume_formula_node *own =
        count ? brume_arena_copy(o->walk->builder.arena, arguments, count * sizeof *own) : NULL;
    if (!node || (count && !own)) {
        brume_walk_outer_fail(o, BRUME_EMEMORY, NULL, "out of memory");
        return NULL;
    }
    *node = (brume_formula){.kind = kind, .argument_count = count, .arguments = own};
    return node;
}

/* The key that `node` is, if it is one. */
static brume_formula_node find_key(brume_walk_outer *o, const PgQuery__Node *node)
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
            brume_formula *key = brume_walk_outer_make(o, BRUME_FORMULA_KEY, NULL, 0);
            if (key)
                key->index = i;
            return key;
        }
    return NULL;
}

static brume_formula_node formula_literal(brume_walk_outer *o, const PgQuery__AConst *constant)
{
    brume_formula *node = brume_walk_outer_make(o, BRUME_FORMULA_LITERAL, NULL, 0);
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
            return brume_walk_outer_fail(o, BRUME_EARGUMENT, NULL, "a number is too large");
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
        return node->value.text ? node
                                : brume_walk_outer_fail(o, BRUME_EMEMORY, NULL, "out of memory");
    default:
        return brume_walk_outer_fail(o, BRUME_EUNSUPPORTED, NULL, "bit strings are not supported");
    }
}

/* Both sides, the left one first, so that aggregates are numbered as they are written. */
static brume_formula_node walk_pair(brume_walk_outer *o, brume_formula_kind kind,
                                    const PgQuery__Node *left, const PgQuery__Node *right)
{
    brume_formula_node both[2];
    both[0] = brume_walk_formula(o, left);
    both[1] = brume_walk_formula(o, right);
    return brume_walk_outer_make(o, kind, both, 2);
}

static brume_formula_node formula_pair(brume_walk_outer *o, brume_formula_kind kind,
                                       brume_formula_node a, brume_formula_node b)
{
    brume_formula_node both[] = {a, b};
    return brume_walk_outer_make(o, kind, both, 2);
}

static brume_formula_node formula_negated(brume_walk_outer *o, bool negated,
                                          brume_formula_node node)
{
    return negated ? brume_walk_outer_make(o, BRUME_FORMULA_NOT, &node, 1) : node;
}

static brume_formula_node formula_operator(brume_walk_outer *o, const PgQuery__AExpr *expression)
{
    static const struct {
        const char *name;
        brume_formula_kind kind;
    } operators[] = {
        {"+", BRUME_FORMULA_ADD},      {"-", BRUME_FORMULA_SUBTRACT},
        {"*", BRUME_FORMULA_MULTIPLY}, {"/", BRUME_FORMULA_DIVIDE},
        {"=", BRUME_FORMULA_EQUAL},    {"<>", BRUME_FORMULA_NOT_EQUAL},
        {"<", BRUME_FORMULA_LESS},     {"<=", BRUME_FORMULA_LESS_EQUAL},
        {">", BRUME_FORMULA_GREATER},  {">=", BRUME_FORMULA_GREATER_EQUAL},
    };
    const char *name = brume_walk_name(expression->name, expression->n_name);
    const PgQuery__Node *right = expression->rexpr;
    brume_formula_node both[2];
    switch (expression->kind) {
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP:
        if (!name || !right)
            break;
        if (!expression->lexpr) {
            brume_formula_node a = brume_walk_formula(o, right);
            if (strcmp(name, "-") == 0)
                return brume_walk_outer_make(o, BRUME_FORMULA_NEGATE, &a, 1);
            if (strcmp(name, "+") == 0)
                return a;
            break;
        }
        for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
            if (strcmp(name, operators[i].name) == 0)
                return walk_pair(o, operators[i].kind, expression->lexpr, right);
        break;
    case PG_QUERY__A__EXPR__KIND__AEXPR_NULLIF:
        return walk_pair(o, BRUME_FORMULA_NULLIF, expression->lexpr, right);
    case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN:
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN:
        if (!right || right->node_case != PG_QUERY__NODE__NODE_LIST || right->list->n_items != 2)
            break;
        both[0] =
            walk_pair(o, BRUME_FORMULA_GREATER_EQUAL, expression->lexpr, right->list->items[0]);
        both[1] = walk_pair(o, BRUME_FORMULA_LESS_EQUAL, expression->lexpr, right->list->items[1]);
        return formula_negated(o, expression->kind == PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN,
                               brume_walk_outer_make(o, BRUME_FORMULA_AND, both, 2));
    case PG_QUERY__A__EXPR__KIND__AEXPR_IN: {
        if (!right || right->node_case != PG_QUERY__NODE__NODE_LIST || right->list->n_items == 0)
            break;
        brume_formula_node any = NULL;
        for (size_t i = 0; i < right->list->n_items; i++) {
            brume_formula_node each =
                walk_pair(o, BRUME_FORMULA_EQUAL, expression->lexpr, right->list->items[i]);
            any = i ? formula_pair(o, BRUME_FORMULA_OR, any, each) : each;
            if (!any)
                return NULL;
        }
        return formula_negated(o, name && strcmp(name, "<>") == 0, any);
    }
    default:
        break;
    }
    return brume_walk_outer_fail(o, BRUME_EUNSUPPORTED,
                                 "use + - * /, comparisons, AND, OR, NOT, CASE",
                                 "this operator is not supported on aggregates");
}

static brume_formula_node formula_list(brume_walk_outer *o, brume_formula_kind kind,
                                       PgQuery__Node *const *nodes, size_t count)
{
    brume_formula_node *all =
        brume_arena_allocate(o->walk->builder.arena, (count + 1) * sizeof *all);
    if (!all)
        return brume_walk_outer_fail(o, BRUME_EMEMORY, NULL, "out of memory");
    for (size_t i = 0; i < count; i++)
        all[i] = brume_walk_formula(o, nodes[i]);
    return brume_walk_outer_make(o, kind, all, count);
}

static brume_formula_node formula_case(brume_walk_outer *o, const PgQuery__CaseExpr *expression)
{
    size_t count = 2 * expression->n_args + 1;
    brume_formula_node *all = brume_arena_allocate(o->walk->builder.arena, count * sizeof *all);
    if (!all)
        return brume_walk_outer_fail(o, BRUME_EMEMORY, NULL, "out of memory");
    for (size_t i = 0; i < expression->n_args; i++) {
        if (expression->args[i]->node_case != PG_QUERY__NODE__NODE_CASE_WHEN)
            return brume_walk_outer_fail(o, BRUME_EUNSUPPORTED, NULL, "this CASE is not supported");
        all[2 * i] = brume_walk_formula(o, expression->args[i]->case_when->expr);
        if (expression->arg)
            all[2 * i] = formula_pair(o, BRUME_FORMULA_EQUAL,
                                      brume_walk_formula(o, expression->arg), all[2 * i]);
        all[2 * i + 1] = brume_walk_formula(o, expression->args[i]->case_when->result);
    }
    if (expression->defresult)
        all[count - 1] = brume_walk_formula(o, expression->defresult);
    return brume_walk_outer_make(o, BRUME_FORMULA_CASE, all,
                                 expression->defresult ? count : count - 1);
}

/* A number that is written down, with a sign or without; false: something else is. */
static bool read_number(const PgQuery__Node *node, double *out)
{
    const PgQuery__AConst *constant =
        node->node_case == PG_QUERY__NODE__NODE_A_CONST ? node->a_const : NULL;
    if (!constant || constant->isnull ||
        (constant->val_case != PG_QUERY__A__CONST__VAL_IVAL &&
         constant->val_case != PG_QUERY__A__CONST__VAL_FVAL))
        return false;
    *out = constant->val_case == PG_QUERY__A__CONST__VAL_IVAL ? (double)constant->ival->ival
                                                              : strtod(constant->fval->fval, NULL);
    return *out < 1e300 && *out > -1e300;
}

/* released(value, error_95): a number that was released before. Without its error none is known. */
static brume_formula_node formula_released(brume_walk_outer *o, const PgQuery__FuncCall *call)
{
    double value = 0, error_95 = INFINITY;
    if (call->n_args < 1 || call->n_args > 2 || !read_number(call->args[0], &value) ||
        (call->n_args == 2 && (!read_number(call->args[1], &error_95) || !(error_95 >= 0))))
        return brume_walk_outer_fail(o, BRUME_EARGUMENT, "such as released(41.5, 0.2)",
                                     "released takes a number and its error, 0 or more");
    brume_formula *node = brume_walk_outer_make(o, BRUME_FORMULA_LITERAL, NULL, 0);
    if (node) {
        node->value = (brume_value){.kind = BRUME_VALUE_NUMBER, .number = value};
        node->released = true;
        node->error_95 = error_95;
    }
    return node;
}

/* A text that is written down and cast to a number is that number. */
static brume_formula_node as_number(brume_walk_outer *o, brume_formula_node argument)
{
    if (!argument || argument->kind != BRUME_FORMULA_LITERAL ||
        argument->value.kind != BRUME_VALUE_TEXT)
        return argument;
    char *end = NULL;
    double number = strtod(argument->value.text, &end);
    if (end == argument->value.text || *end || !(fabs(number) < 1e300))
        return brume_walk_outer_fail(o, BRUME_EARGUMENT, NULL,
                                     "a text that is cast to a number is none");
    brume_formula *node = brume_walk_outer_make(o, BRUME_FORMULA_LITERAL, NULL, 0);
    if (node)
        node->value = (brume_value){.kind = BRUME_VALUE_NUMBER, .number = number};
    return node;
}

/* power(x, 2): x times x, so that its bar follows as that of a product does. */
static brume_formula_node formula_power(brume_walk_outer *o, const PgQuery__FuncCall *call)
{
    enum { MOST = 8 };
    const PgQuery__Node *second = call->n_args == 2 ? call->args[1] : NULL;
    bool whole = second && second->node_case == PG_QUERY__NODE__NODE_A_CONST &&
                 !second->a_const->isnull &&
                 second->a_const->val_case == PG_QUERY__A__CONST__VAL_IVAL &&
                 second->a_const->ival->ival >= 1 && second->a_const->ival->ival <= MOST;
    if (!whole)
        return brume_walk_outer_fail(o, BRUME_EUNSUPPORTED, "write power(x, 2), or sqrt(x)",
                                     "power of an aggregate takes a whole number from 1 to 8");
    brume_formula_node x = brume_walk_formula(o, call->args[0]), product = x;
    for (int i = 1; i < second->a_const->ival->ival; i++) {
        brume_formula_node both[] = {product, x};
        product = brume_walk_outer_make(o, BRUME_FORMULA_MULTIPLY, both, 2);
    }
    return product;
}

static brume_formula_node formula_function(brume_walk_outer *o, const PgQuery__FuncCall *call)
{
    static const struct {
        const char *name;
        brume_formula_kind kind;
    } functions[] = {
        {"abs", BRUME_FORMULA_ABS},      {"round", BRUME_FORMULA_ROUND},
        {"floor", BRUME_FORMULA_FLOOR},  {"ceil", BRUME_FORMULA_CEIL},
        {"ceiling", BRUME_FORMULA_CEIL}, {"sqrt", BRUME_FORMULA_SQRT},
        {"ln", BRUME_FORMULA_LN},        {"exp", BRUME_FORMULA_EXP},
    };
    const char *name = brume_walk_name(call->funcname, call->n_funcname);
    if (name && strcmp(name, "released") == 0)
        return formula_released(o, call);
    if (name && (strcmp(name, "power") == 0 || strcmp(name, "pow") == 0))
        return formula_power(o, call);
    bool chooses = name && (strcmp(name, "if") == 0 || strcmp(name, "iff") == 0);
    if (name && (strcmp(name, "ifnull") == 0 || strcmp(name, "nvl") == 0 || chooses)) {
        if (call->n_args < 2 || call->n_args > (chooses ? 3 : 2))
            return brume_walk_outer_fail(o, BRUME_EARGUMENT, NULL, "wrong number of arguments");
        return formula_list(o, chooses ? BRUME_FORMULA_CASE : BRUME_FORMULA_COALESCE, call->args,
                            call->n_args);
    }
    for (size_t i = 0; name && i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(name, functions[i].name) != 0)
            continue;
        int digits = 0;
        bool rounds = functions[i].kind == BRUME_FORMULA_ROUND;
        if (rounds && call->n_args == 2) {
            const PgQuery__Node *second = call->args[1];
            if (second->node_case != PG_QUERY__NODE__NODE_A_CONST || second->a_const->isnull ||
                second->a_const->val_case != PG_QUERY__A__CONST__VAL_IVAL ||
                abs(second->a_const->ival->ival) > 15)
                return brume_walk_outer_fail(o, BRUME_EARGUMENT, NULL,
                                             "round takes a constant number of digits");
            digits = second->a_const->ival->ival;
        } else if (call->n_args != 1) {
            return brume_walk_outer_fail(o, BRUME_EARGUMENT, NULL,
                                         "the function takes one argument");
        }
        brume_formula_node argument = brume_walk_formula(o, call->args[0]);
        brume_formula *node = brume_walk_outer_make(o, functions[i].kind, &argument, 1);
        if (node)
            node->digits = digits;
        return node;
    }
    brume_build_fail(
        &o->walk->builder, BRUME_EUNSUPPORTED,
        "use abs, round, floor, ceil, sqrt, power, ln or exp; or GROUP BY the expression itself",
        "the function %.40s is not supported on aggregates and keys", name ? name : "");
    return NULL;
}

brume_formula_node brume_walk_formula(brume_walk_outer *o, const PgQuery__Node *node)
{
    if (o->walk->builder.status != BRUME_OK || !node)
        return NULL;
    brume_formula_node key = find_key(o, node);
    if (key || o->walk->builder.status != BRUME_OK)
        return key;
    switch (node->node_case) {
    case PG_QUERY__NODE__NODE_A_CONST:
        return formula_literal(o, node->a_const);
    case PG_QUERY__NODE__NODE_A_EXPR:
        return formula_operator(o, node->a_expr);
    case PG_QUERY__NODE__NODE_BOOL_EXPR:
        return formula_list(
            o,
            node->bool_expr->boolop == PG_QUERY__BOOL_EXPR_TYPE__AND_EXPR  ? BRUME_FORMULA_AND
            : node->bool_expr->boolop == PG_QUERY__BOOL_EXPR_TYPE__OR_EXPR ? BRUME_FORMULA_OR
                                                                           : BRUME_FORMULA_NOT,
            node->bool_expr->args, node->bool_expr->n_args);
    case PG_QUERY__NODE__NODE_NULL_TEST: {
        if (node->null_test->argisrow)
            return brume_walk_outer_fail(o, BRUME_EUNSUPPORTED, NULL, "rows are not supported");
        brume_formula_node argument = brume_walk_formula(o, node->null_test->arg);
        return formula_negated(
            o, node->null_test->nulltesttype == PG_QUERY__NULL_TEST_TYPE__IS_NOT_NULL,
            brume_walk_outer_make(o, BRUME_FORMULA_IS_NULL, &argument, 1));
    }
    case PG_QUERY__NODE__NODE_GROUPING_FUNC:
        return brume_walk_grouping_function(o, node->grouping_func);
    case PG_QUERY__NODE__NODE_COALESCE_EXPR:
        return formula_list(o, BRUME_FORMULA_COALESCE, node->coalesce_expr->args,
                            node->coalesce_expr->n_args);
    case PG_QUERY__NODE__NODE_MIN_MAX_EXPR:
        return formula_list(o,
                            node->min_max_expr->op == PG_QUERY__MIN_MAX_OP__IS_GREATEST
                                ? BRUME_FORMULA_GREATEST
                                : BRUME_FORMULA_LEAST,
                            node->min_max_expr->args, node->min_max_expr->n_args);
    case PG_QUERY__NODE__NODE_CASE_EXPR:
        return formula_case(o, node->case_expr);
    case PG_QUERY__NODE__NODE_TYPE_CAST: {
        /* Released values are numbers: casts between numbers change nothing but integers. */
        const char *name =
            brume_walk_name(node->type_cast->type_name->names, node->type_cast->type_name->n_names);
        brume_formula_node argument = as_number(o, brume_walk_formula(o, node->type_cast->arg));
        if (name && (strcmp(name, "float8") == 0 || strcmp(name, "numeric") == 0))
            return argument;
        if (name && (strcmp(name, "int4") == 0 || strcmp(name, "int8") == 0))
            return brume_walk_outer_make(o, BRUME_FORMULA_ROUND, &argument, 1);
        return brume_walk_outer_fail(o, BRUME_EUNSUPPORTED, NULL,
                                     "this cast of an aggregate is not supported");
    }
    case PG_QUERY__NODE__NODE_FUNC_CALL:
        if (node->func_call->over)
            return walk_window(o, node->func_call);
        if (brume_walk_is_aggregate(node))
            return brume_walk_aggregate(o, node->func_call);
        return formula_function(o, node->func_call);
    case PG_QUERY__NODE__NODE_COLUMN_REF: {
        const PgQuery__ColumnRef *reference = node->column_ref;
        if (reference->fields[reference->n_fields - 1]->node_case == PG_QUERY__NODE__NODE_A_STAR)
            return brume_walk_outer_fail(o, BRUME_EUNSUPPORTED,
                                         "ask for aggregates: COUNT(*), AVG(x) ...",
                                         "SELECT * would return rows of persons");
        for (size_t i = 0; o->named && reference->n_fields == 1 && i < o->named->output_count; i++)
            if (strcmp(o->named->outputs[i].name, reference->fields[0]->string->sval) == 0)
                return o->named->outputs[i].value;
        if (!brume_walk_expression(o->walk, o->scope, NULL, node, false))
            return NULL;
        brume_build_fail(
            &o->walk->builder, BRUME_EARGUMENT, "add it to GROUP BY, or put it in an aggregate",
            "the column '%.60s' is neither grouped nor aggregated: rows of persons are not released",
            reference->fields[reference->n_fields - 1]->string->sval);
        return NULL;
    }
    default:
        brume_walk_refuse(o->walk, node);
        return NULL;
    }
}
