/* Functions of one unit's rows inside a subquery: aggregates after GROUP BY, and calls with OVER,
 * DISTINCT and DISTINCT ON, which need the rows in an order.
 *
 * Promise (proofs/unit-local.md): what a unit's rows become is a function of that unit's rows
 * alone, as a multiset. Windows and groups have the unit among their keys whether it was written
 * there or not, and an order never depends on where a row lies: ties are broken by all columns that
 * anything above reads. */
#include "query/sql/walk.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* COUNT, SUM, AVG, MIN or MAX of one unit's rows, with FILTER in its argument. */
typedef struct brume_walk_folding {
    brume_fold fold;
    brume_node argument; /* NULL: COUNT(*) */
    bool average;        /* `fold` is SUM, to be divided by COUNT */
} brume_walk_folding;

/* After GROUP BY inside a per-unit subquery: its keys, and exact aggregates of one unit's rows. */

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

/* A column that a fold makes, its type and bounds; the caller says of which relation it is. */
static brume_expression *walk_fold_reference(brume_walk *walk, brume_fold fold, brume_node argument)
{
    brume_type type = {BRUME_TYPE_BIGINT, 0, 0};
    bool extreme = argument && (fold == BRUME_FOLD_MIN || fold == BRUME_FOLD_MAX);
    bool sum = argument && fold == BRUME_FOLD_SUM; /* else it counts */
    if (extreme)
        type = argument->type;
    if (sum && argument->type.kind == BRUME_TYPE_DECIMAL)
        type = (brume_type){BRUME_TYPE_DECIMAL, 28, argument->type.scale};
    brume_expression *reference =
        brume_build_node(&walk->builder, BRUME_OPERATION_COLUMN, type, NULL, 0);
    if (!reference)
        return NULL;
    reference->bounded = false;
    reference->nullable = true;
    reference->duration = argument && argument->duration && fold != BRUME_FOLD_COUNT &&
                          fold != BRUME_FOLD_COUNT_DISTINCT;
    if (extreme) {
        reference->bounds = argument->bounds;
        reference->bounded = argument->bounded;
        reference->max_length = argument->max_length;
        reference->inexact_key = argument->inexact_key;
    } else if (!sum) {
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
    brume_expression *reference = walk_fold_reference(walk, fold, argument);
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

/* A double within declared bounds is summed per unit as a decimal of twelve digits at least, as if
 * it was CAST: sums of doubles depend on the order of the rows. */
static brume_node exact(brume_builder *builder, brume_node node)
{
    enum { DIGITS = 12, WITH_ROOM = 18 };
    if (node->type.kind != BRUME_TYPE_DOUBLE || !node->bounded)
        return node;
    double most = fmax(fabs(node->bounds.real_low), fabs(node->bounds.real_high));
    int scale = DIGITS;
    for (double power = 1; scale >= 0 && power <= most; power *= 10)
        scale--;
    return scale < 0 ? node
                     : brume_build_cast(builder, node,
                                        (brume_type){BRUME_TYPE_DECIMAL, WITH_ROOM, scale});
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
                         "CAST the argument to numeric(p,s), p at most 18, or declare bounds of it",
                         "per unit, %.40s must be exact: integers and short decimals", name);
    return builder->status == BRUME_OK;
}

/* False: refused. */
static bool walk_read_fold(brume_walk_context *c, const PgQuery__FuncCall *call,
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
    if (argument && out->fold == BRUME_FOLD_SUM)
        argument = exact(builder, argument);
    if (!argument || !check_argument(c->walk, name, out->fold, argument->type))
        return false;
    if (call->agg_distinct)
        out->fold = BRUME_FOLD_COUNT_DISTINCT;
    out->argument = argument;
    return true;
}

static brume_node walk_average(brume_walk *walk, brume_node total, brume_node count,
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
    if (!walk_read_fold(&rows, call, &folding))
        return NULL;
    brume_node value = brume_walk_fold_column(walk, group, folding.fold, folding.argument);
    if (value && group->may_be_missing && folding.fold != BRUME_FOLD_SUM &&
        folding.fold != BRUME_FOLD_MIN && folding.fold != BRUME_FOLD_MAX) {
        brume_node parts[] = {value, brume_build_number(&walk->builder, "0")};
        return brume_build_choice(&walk->builder, BRUME_OPERATION_COALESCE, parts, 2);
    }
    if (!value || !folding.average)
        return value;
    return walk_average(walk, value,
                        brume_walk_fold_column(walk, group, BRUME_FOLD_COUNT, folding.argument),
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

enum { MOST_PARTS = 16, MOST_AWAY = 1000000 };

#define BRUME_WHOLE_FRAME "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"

static const brume_type BIGINT = {BRUME_TYPE_BIGINT, 0, 0};

/* ---- frames ---- */

/* What frame_options of the grammar says (PostgreSQL's nodes/parsenodes.h). */
enum {
    FRAME_TYPED = 0x1,
    FRAME_RANGE = 0x2,
    FRAME_ROWS = 0x4,
    FRAME_BETWEEN = 0x10,
    FRAME_FROM_FIRST = 0x20,
    FRAME_TO_LAST = 0x100,
    FRAME_FROM_CURRENT = 0x200,
    FRAME_TO_CURRENT = 0x400,
    FRAME_FROM_BEFORE = 0x800,
    FRAME_TO_BEFORE = 0x1000,
    FRAME_FROM_AFTER = 0x2000,
    FRAME_TO_AFTER = 0x4000,
};

static bool frame_rows(const PgQuery__Node *node, int *rows)
{
    const PgQuery__AConst *constant =
        node && node->node_case == PG_QUERY__NODE__NODE_A_CONST ? node->a_const : NULL;
    if (!constant || constant->isnull || constant->val_case != PG_QUERY__A__CONST__VAL_IVAL)
        return false;
    *rows = constant->ival->ival;
    return *rows >= 0 && *rows <= MOST_AWAY;
}

/* One end of a frame as SQL has it, and how many rows after the current one it is; false: it is not
 * known. */
static bool frame_end(int options, bool first, const PgQuery__Node *offset, char out[40], int *away)
{
    int rows = 0;
    bool before = options & (first ? FRAME_FROM_BEFORE : FRAME_TO_BEFORE);
    if (options & (first ? FRAME_FROM_FIRST : FRAME_TO_LAST)) {
        snprintf(out, 40, "UNBOUNDED %s", first ? "PRECEDING" : "FOLLOWING");
        *away = first ? INT_MIN : INT_MAX;
    } else if (options & (first ? FRAME_FROM_CURRENT : FRAME_TO_CURRENT)) {
        snprintf(out, 40, "CURRENT ROW");
        *away = 0;
    } else if ((options & FRAME_ROWS) && frame_rows(offset, &rows)) {
        snprintf(out, 40, "%d %s", rows, before ? "PRECEDING" : "FOLLOWING");
        *away = before ? -rows : rows;
    } else {
        return false;
    }
    return true;
}

/* The frame in full; NULL: refused. */
static const char *walk_frame(brume_walk_context *c, const PgQuery__WindowDef *over)
{
    enum {
        KNOWN = FRAME_TYPED | FRAME_RANGE | FRAME_ROWS | FRAME_BETWEEN | FRAME_FROM_FIRST |
                FRAME_TO_LAST | FRAME_FROM_CURRENT | FRAME_TO_CURRENT | FRAME_FROM_BEFORE |
                FRAME_TO_BEFORE | FRAME_FROM_AFTER | FRAME_TO_AFTER
    };
    int options = over->frame_options, first = 0, last = 0;
    char from[40], to[40], all[120];
    if ((options & ~KNOWN) || !frame_end(options, true, over->start_offset, from, &first) ||
        !frame_end(options, false, over->end_offset, to, &last) || first > last) {
        brume_build_fail(&c->walk->builder, BRUME_EUNSUPPORTED,
                         "write ROWS BETWEEN 6 PRECEDING AND CURRENT ROW, or join with the rows of "
                         "the time that is meant",
                         "this window frame is not supported");
        return NULL;
    }
    if (over->n_order_clause == 0 && (options & FRAME_RANGE)) /* all rows are alike in no order */
        snprintf(all, sizeof all, "%s", BRUME_WHOLE_FRAME);
    else
        snprintf(all, sizeof all, "%s BETWEEN %s AND %s", options & FRAME_ROWS ? "ROWS" : "RANGE",
                 from, to);
    char *text = brume_arena_text(c->walk->builder.arena, all);
    if (!text)
        brume_build_fail(&c->walk->builder, BRUME_EMEMORY, NULL, "out of memory");
    return text;
}

/* ---- PARTITION BY and ORDER BY ---- */

/* A part by which rows are put together or in order. */
static brume_node walk_part(brume_walk_context *c, const PgQuery__Node *node)
{
    brume_node part = brume_walk_node(c, node, false);
    if (part && part->untyped)
        part = brume_build_convert(&c->walk->builder, part, (brume_type){BRUME_TYPE_TEXT, 0, 0});
    if (part && part->inexact_key)
        return brume_build_fail(&c->walk->builder, BRUME_EUNSUPPORTED,
                                "order by what it is made of",
                                "an order made with ln, log, exp or power may differ between "
                                "machines");
    return part;
}

bool brume_walk_order_item(brume_walk_context *c, const PgQuery__Node *item,
                           const PgQuery__Node *value, brume_timeline_order *out)
{
    if (item->node_case != PG_QUERY__NODE__NODE_SORT_BY ||
        item->sort_by->sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_USING) {
        brume_build_fail(&c->walk->builder, BRUME_EUNSUPPORTED, "write ORDER BY x DESC",
                         "ORDER BY USING is not supported");
        return false;
    }
    const PgQuery__SortBy *sort = item->sort_by;
    out->descending = sort->sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_DESC;
    out->nulls_first =
        sort->sortby_nulls == PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_FIRST ||
        (sort->sortby_nulls != PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_LAST && out->descending);
    out->value = walk_part(c, value ? value : sort->node);
    return out->value != NULL;
}

/* Whose rows stand at this place: the rows of the FROM clause, or their groups. */
static const brume_relation *rows_of(const brume_walk_context *c)
{
    return c->group ? c->group->group : c->scope->relation;
}

/* Does a part of PARTITION BY say whose the rows are? After GROUP BY it is a key that does. */
static bool names_unit(const brume_walk_context *c, brume_node part)
{
    if (!c->group)
        return brume_walk_names_unit(c->scope, part);
    for (size_t i = 0; i < c->group->group->key_count; i++)
        if (brume_expression_equal(c->group->group_columns[i].reference, part))
            return brume_walk_names_unit(c->scope, c->group->base_columns[i].expression);
    return false;
}

/* The unit of those rows. */
static brume_node unit_of(const brume_walk_context *c)
{
    if (!c->group)
        return c->scope->relation->columns[c->scope->relation->unit].reference;
    for (size_t i = 0; i < c->group->group->key_count; i++)
        if (brume_walk_is_unit(c->scope, c->group->base_columns[i].expression))
            return c->group->group_columns[i].reference;
    return NULL;
}

/* The unit, and then the others that are not it. */
static bool set_partition(brume_walk_context *c, brume_timeline *over, const brume_node *keys,
                          size_t count)
{
    brume_node unit = unit_of(c);
    brume_node *all = brume_arena_allocate(c->walk->builder.arena, (count + 1) * sizeof *all);
    if (!all || !unit) {
        brume_build_fail(&c->walk->builder, all ? BRUME_EINTERNAL : BRUME_EMEMORY, NULL,
                         all ? "rows have no unit" : "out of memory");
        return false;
    }
    all[over->partition_count++] = unit;
    for (size_t i = 0; i < count; i++)
        if (!brume_expression_equal(keys[i], unit))
            all[over->partition_count++] = keys[i];
    over->partition = all;
    return true;
}

static bool walk_over_parts(brume_walk_context *c, const PgQuery__WindowDef *window,
                            brume_timeline *over)
{
    brume_builder *builder = &c->walk->builder;
    brume_node keys[MOST_PARTS];
    bool named = false;
    if (window->n_partition_clause > MOST_PARTS || window->n_order_clause > MOST_PARTS) {
        brume_build_fail(builder, BRUME_EUNSUPPORTED, NULL, "OVER is too long");
        return false;
    }
    for (size_t i = 0; i < window->n_partition_clause; i++) {
        keys[i] = walk_part(c, window->partition_clause[i]);
        if (!keys[i])
            return false;
        named = named || names_unit(c, keys[i]);
    }
    if (!named) {
        brume_build_fail(
            builder, BRUME_EUNSUPPORTED,
            "write OVER (PARTITION BY the unit column ORDER BY ...); ranks over all are "
            "made from the answer, in the outer SELECT",
            "a window in a subquery must be PARTITION BY the unit: other persons' rows "
            "cannot decide");
        return false;
    }
    brume_timeline_order *order =
        brume_arena_allocate(builder->arena, (window->n_order_clause + 1) * sizeof *order);
    if (!order) {
        brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
        return false;
    }
    for (size_t i = 0; i < window->n_order_clause; i++)
        if (!brume_walk_order_item(c, window->order_clause[i], NULL, &order[i]))
            return false;
    over->order = order;
    over->order_count = window->n_order_clause;
    return set_partition(c, over, keys, window->n_partition_clause);
}

/* ---- columns ---- */

static bool same_nodes(brume_node a, brume_node b)
{
    return a == b || (a && b && brume_expression_equal(a, b));
}

static bool same_call(const brume_timeline *a, const brume_timeline *b)
{
    if (a->function != b->function || a->fold != b->fold || a->number != b->number ||
        a->total != b->total || !same_nodes(a->argument, b->argument) ||
        !same_nodes(a->fallback, b->fallback) || a->partition_count != b->partition_count ||
        a->order_count != b->order_count || !a->frame != !b->frame ||
        (a->frame && strcmp(a->frame, b->frame) != 0))
        return false;
    for (size_t i = 0; i < a->partition_count; i++)
        if (!same_nodes(a->partition[i], b->partition[i]))
            return false;
    for (size_t i = 0; i < a->order_count; i++)
        if (!same_nodes(a->order[i].value, b->order[i].value) ||
            a->order[i].descending != b->order[i].descending ||
            a->order[i].nulls_first != b->order[i].nulls_first)
            return false;
    return true;
}

/* The type and the bounds of what the function gives. */
static brume_expression *reference_of(brume_walk *walk, const brume_timeline *over)
{
    if (over->function == BRUME_TIMELINE_FOLD)
        return walk_fold_reference(walk, over->fold, over->argument);
    brume_expression *node = brume_build_node(&walk->builder, BRUME_OPERATION_COLUMN,
                                              over->argument ? over->argument->type : BIGINT, NULL,
                                              0);
    if (!node)
        return NULL;
    node->bounded = false;
    node->nullable = over->argument != NULL;
    if (!over->argument) {
        node->bounds.low = 1;
        if (over->function == BRUME_TIMELINE_NTILE) {
            node->bounds.high = over->number;
            node->bounded = true;
        }
        return node;
    }
    brume_node x = over->argument, y = over->fallback;
    node->bounds = x->bounds;
    node->bounded = x->bounded;
    node->duration = x->duration;
    node->max_length = x->max_length;
    node->inexact_key = x->inexact_key;
    if (!y || brume_build_is_null(y))
        return node;
    node->bounded = x->bounded && y->bounded;
    node->inexact_key = x->inexact_key || y->inexact_key;
    node->max_length = y->max_length > x->max_length ? y->max_length : x->max_length;
    if (y->bounds.low < node->bounds.low)
        node->bounds.low = y->bounds.low;
    if (y->bounds.high > node->bounds.high)
        node->bounds.high = y->bounds.high;
    if (y->bounds.real_low < node->bounds.real_low)
        node->bounds.real_low = y->bounds.real_low;
    if (y->bounds.real_high > node->bounds.real_high)
        node->bounds.real_high = y->bounds.real_high;
    return node;
}

/* The column of the call, added if it is new. */
static brume_node column_of(brume_walk_context *c, const brume_timeline *over)
{
    brume_walk *walk = c->walk;
    brume_walk_timeline *timeline = c->scope->timeline;
    if (!timeline->made)
        timeline->made = brume_walk_relation(walk, BRUME_RELATION_TIMELINE);
    brume_relation *made = timeline->made;
    if (!made)
        return NULL;
    for (size_t i = 0; i < made->key_count; i++)
        if (same_call(timeline->columns[i].timeline, over))
            return timeline->columns[i].reference;
    if (made->key_count == sizeof timeline->columns / sizeof *timeline->columns)
        return brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED, "use several subqueries",
                                "a subquery has too many window functions");
    brume_expression *reference = reference_of(walk, over);
    brume_timeline *own = brume_arena_copy(walk->builder.arena, over, sizeof *over);
    if (!reference || !own)
        return brume_build_fail(&walk->builder, BRUME_EMEMORY, NULL, "out of memory");
    reference->relation = made;
    reference->column = made->key_count;
    timeline->columns[made->key_count++] =
        (brume_relation_column){.reference = reference, .inside = reference, .timeline = own};
    return reference;
}

brume_node brume_walk_row_number(brume_walk_context *c, const brume_node *keys, size_t key_count,
                                 const brume_timeline_order *order, size_t order_count)
{
    brume_timeline over = {.function = BRUME_TIMELINE_ROW_NUMBER,
                           .order = order,
                           .order_count = order_count,
                           .total = true};
    return set_partition(c, &over, keys, key_count) ? column_of(c, &over) : NULL;
}

/* ---- calls ---- */

static const struct known_call {
    const char *name;
    brume_timeline_function function;
    size_t least, most; /* arguments */
} known_calls[] = {
    {"row_number", BRUME_TIMELINE_ROW_NUMBER, 0, 0},
    {"rank", BRUME_TIMELINE_RANK, 0, 0},
    {"dense_rank", BRUME_TIMELINE_DENSE_RANK, 0, 0},
    {"ntile", BRUME_TIMELINE_NTILE, 1, 1},
    {"lag", BRUME_TIMELINE_LAG, 1, 3},
    {"lead", BRUME_TIMELINE_LEAD, 1, 3},
    {"first_value", BRUME_TIMELINE_FIRST_VALUE, 1, 1},
    {"last_value", BRUME_TIMELINE_LAST_VALUE, 1, 1},
};

static brume_node walk_argument(brume_walk_context *c, const PgQuery__Node *node, bool inside)
{
    brume_node argument = brume_walk_node(c, node, inside);
    if (argument && argument->untyped)
        argument =
            brume_build_convert(&c->walk->builder, argument, (brume_type){BRUME_TYPE_TEXT, 0, 0});
    return argument;
}

/* LAG(x, rows, fallback): both in one type. */
static bool walk_away(brume_walk_context *c, const PgQuery__FuncCall *call, brume_timeline *over)
{
    brume_builder *builder = &c->walk->builder;
    int rows = 1;
    if (call->n_args > 1 && !frame_rows(call->args[1], &rows)) {
        brume_build_fail(builder, BRUME_EARGUMENT, "write LAG(x, 2)",
                         "LAG and LEAD take a constant number of rows, from 0 to 1000000");
        return false;
    }
    over->number = rows;
    if (call->n_args < 3)
        return true;
    brume_type type;
    brume_node both[] = {over->argument, brume_walk_node(c, call->args[2], false)};
    if (!both[1] || !brume_build_common(builder, both, 2, &type))
        return false;
    over->argument = brume_build_convert(builder, both[0], type);
    over->fallback = brume_build_convert(builder, both[1], type);
    return over->argument && over->fallback;
}

/* FIRST_VALUE and LAST_VALUE take the first and last row of the frame. Where that is decided by
 * rows that are alike in the order (RANGE to or from the current row) it is the first or last of
 * these; everywhere else RANGE is ROWS, because the order is total. */
static bool take_ends(brume_walk_context *c, brume_timeline *over)
{
    bool first = over->function == BRUME_TIMELINE_FIRST_VALUE;
    bool range = strncmp(over->frame, "RANGE", 5) == 0;
    if (!range)
        return true;
    bool whole = strstr(over->frame, first ? "UNBOUNDED PRECEDING" : "UNBOUNDED FOLLOWING");
    over->frame = BRUME_WHOLE_FRAME;
    if (whole)
        return true;
    size_t count = over->partition_count, more = over->order_count;
    brume_node *all = brume_arena_allocate(c->walk->builder.arena, (count + more) * sizeof *all);
    if (!all) {
        brume_build_fail(&c->walk->builder, BRUME_EMEMORY, NULL, "out of memory");
        return false;
    }
    for (size_t i = 0; i < count + more; i++)
        all[i] = i < count ? over->partition[i] : over->order[i - count].value;
    over->partition = all;
    over->partition_count = count + more;
    over->order_count = 0;
    return true;
}

static brume_node walk_known(brume_walk_context *c, const PgQuery__FuncCall *call,
                             const struct known_call *known, brume_timeline *over, bool inside)
{
    brume_builder *builder = &c->walk->builder;
    int parts = 0;
    if (call->agg_filter || call->agg_distinct || call->n_agg_order || call->func_variadic ||
        call->agg_star || call->n_args < known->least || call->n_args > known->most)
        return brume_build_fail(builder, BRUME_EARGUMENT, "write LAG(x) OVER (...)",
                                "%.40s in this form is not supported", known->name);
    over->function = known->function;
    over->total = true;
    switch (known->function) {
    case BRUME_TIMELINE_RANK:
    case BRUME_TIMELINE_DENSE_RANK: /* the same for all that are alike in the order */
        if (over->order_count == 0)
            return brume_build_fail(builder, BRUME_EARGUMENT, "write OVER (... ORDER BY x)",
                                    "%.40s needs an order", known->name);
        over->total = false;
        over->frame = NULL;
        break;
    case BRUME_TIMELINE_NTILE:
        if (!frame_rows(call->args[0], &parts) || parts < 1)
            return brume_build_fail(builder, BRUME_EARGUMENT, "write NTILE(4)",
                                    "NTILE takes a constant number of parts");
        over->number = parts;
        over->frame = NULL;
        break;
    case BRUME_TIMELINE_LAG:
    case BRUME_TIMELINE_LEAD:
        over->argument = walk_argument(c, call->args[0], inside);
        if (!over->argument || !walk_away(c, call, over))
            return NULL;
        over->frame = NULL;
        break;
    case BRUME_TIMELINE_FIRST_VALUE:
    case BRUME_TIMELINE_LAST_VALUE:
        over->argument = walk_argument(c, call->args[0], inside);
        if (!over->argument || !take_ends(c, over))
            return NULL;
        break;
    default:
        over->frame = NULL;
    }
    return column_of(c, over);
}

/* COUNT, SUM, AVG, MIN and MAX of a frame. RANGE takes all rows that are alike in the order, as
 * SQL says; ROWS is by row, so that ties must be broken. */
static brume_node walk_running(brume_walk_context *c, const PgQuery__FuncCall *call,
                               brume_timeline *over)
{
    brume_walk_folding folding;
    if (call->agg_distinct)
        return brume_build_fail(&c->walk->builder, BRUME_EUNSUPPORTED,
                                "COUNT(DISTINCT x) is, with GROUP BY the unit",
                                "DISTINCT in a window function is not supported");
    if (!walk_read_fold(c, call, &folding))
        return NULL;
    over->function = BRUME_TIMELINE_FOLD;
    over->fold = folding.fold;
    over->argument = folding.argument;
    over->total = strncmp(over->frame, "ROWS", 4) == 0 &&
                  strcmp(over->frame, BRUME_WHOLE_FRAME) != 0;
    brume_node value = column_of(c, over);
    if (!value || !folding.average)
        return value;
    over->fold = BRUME_FOLD_COUNT;
    return walk_average(c->walk, value, column_of(c, over), folding.argument);
}

static brume_node walk_call(brume_walk_context *c, const PgQuery__FuncCall *call, bool inside)
{
    static const char *const folds[] = {"count", "sum", "avg", "min", "max"};
    brume_builder *builder = &c->walk->builder;
    const char *name = brume_walk_name(call->funcname, call->n_funcname);
    const PgQuery__WindowDef *window = call->over;
    brume_timeline over = {0};
    if ((window->refname && *window->refname) || (window->name && *window->name))
        return brume_build_fail(builder, BRUME_EUNSUPPORTED,
                                "write OVER (PARTITION BY ... ORDER BY ...)",
                                "a window with a name is not supported");
    over.frame = walk_frame(c, window);
    if (!over.frame || !walk_over_parts(c, window, &over))
        return NULL;
    for (size_t i = 0; i < sizeof known_calls / sizeof *known_calls; i++)
        if (strcmp(name, known_calls[i].name) == 0)
            return walk_known(c, call, &known_calls[i], &over, inside);
    for (size_t i = 0; i < sizeof folds / sizeof *folds; i++)
        if (strcmp(name, folds[i]) == 0)
            return walk_running(c, call, &over);
    return brume_build_fail(builder, BRUME_EUNSUPPORTED,
                            "use row_number, rank, dense_rank, ntile, lag, lead, first_value, "
                            "last_value, count, sum, avg, min or max",
                            "the window function %.40s is not supported", name);
}

brume_node brume_walk_over(brume_walk_context *c, const PgQuery__FuncCall *call, bool inside)
{
    brume_walk_timeline *timeline = c->scope->timeline;
    if (!timeline || timeline->inside || timeline->group != c->group)
        return brume_build_fail(&c->walk->builder, BRUME_EUNSUPPORTED,
                                "put it into the SELECT list of a subquery, and use its column",
                                "a window function cannot stand here");
    if (rows_of(c)->privacy != BRUME_PRIVACY_UNIT)
        return brume_build_fail(&c->walk->builder, BRUME_EUNSUPPORTED,
                                "register the table with a column as its unit",
                                "a window needs rows that have a unit");
    timeline->inside = true;
    brume_node value = walk_call(c, call, inside);
    timeline->inside = false;
    return value;
}

/* ---- the relation ---- */

typedef struct ties {
    const brume_relation *made; /* whose own columns are no ties */
    brume_node nodes[400];
    size_t count;
} ties;

static bool add_ties(ties *all, brume_node node)
{
    if (node->operation == BRUME_OPERATION_COLUMN && node->relation != all->made) {
        for (size_t i = 0; i < all->count; i++)
            if (brume_expression_equal(all->nodes[i], node))
                return true;
        if (all->count == sizeof all->nodes / sizeof *all->nodes)
            return false;
        all->nodes[all->count++] = node;
    }
    for (size_t i = 0; i < node->argument_count; i++)
        if (!add_ties(all, node->arguments[i]))
            return false;
    return true;
}

static bool add_parts(ties *all, const brume_timeline *over)
{
    bool good = (!over->argument || add_ties(all, over->argument)) &&
                (!over->fallback || add_ties(all, over->fallback));
    for (size_t i = 0; i < over->partition_count; i++)
        good = good && add_ties(all, over->partition[i]);
    for (size_t i = 0; i < over->order_count; i++)
        good = good && add_ties(all, over->order[i].value);
    return good;
}

static int compare_columns(const void *a, const void *b)
{
    brume_node x = *(const brume_node *)a, y = *(const brume_node *)b;
    if (x->relation->number != y->relation->number)
        return x->relation->number < y->relation->number ? -1 : 1;
    return (x->column > y->column) - (x->column < y->column);
}

/* All columns that the outputs or the functions read. */
static bool set_ties(brume_walk *walk, brume_relation *made, const brume_relation_column *values,
                     size_t count)
{
    brume_builder *builder = &walk->builder;
    ties *all = brume_arena_allocate(builder->arena, sizeof *all);
    if (!all) {
        brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
        return false;
    }
    all->made = made;
    bool good = true;
    for (size_t i = 0; i < count; i++)
        good = good && add_ties(all, values[i].expression);
    for (size_t i = 0; i < made->key_count; i++)
        good = good && add_parts(all, made->columns[i].timeline);
    if (!good) {
        brume_build_fail(builder, BRUME_EUNSUPPORTED, "select fewer columns",
                         "a subquery has too many columns");
        return false;
    }
    qsort(all->nodes, all->count, sizeof *all->nodes, compare_columns);
    made->ties = all->nodes;
    made->tie_count = all->count;
    return true;
}

/* A unit has each number of ROW_NUMBER once in each part of PARTITION BY, if the parts are columns.
 */
static bool set_grain(brume_walk *walk, brume_relation *made)
{
    for (size_t i = 0; i < made->key_count; i++) {
        const brume_timeline *over = made->columns[i].timeline;
        size_t *grain =
            brume_arena_allocate(walk->builder.arena, (over->partition_count + 1) * sizeof *grain);
        size_t count = 0;
        bool known = over->function == BRUME_TIMELINE_ROW_NUMBER;
        if (!grain) {
            brume_build_fail(&walk->builder, BRUME_EMEMORY, NULL, "out of memory");
            return false;
        }
        for (size_t j = 1; known && j < over->partition_count; j++) {
            size_t at = made->key_count;
            while (at < made->column_count &&
                   !brume_expression_equal(made->columns[at].reference, over->partition[j]))
                at++;
            known = at < made->column_count;
            grain[count++] = at;
        }
        grain[count++] = i;
        if (!known)
            continue;
        made->grain_known = true;
        made->grain = grain;
        made->grain_count = count;
        return true;
    }
    return true;
}

/* The grain of the rows below, whose columns come after those of the functions. */
static bool keep_grain(brume_walk *walk, brume_relation *made, const brume_relation *from)
{
    size_t *grain =
        brume_arena_allocate(walk->builder.arena, (from->grain_count + 1) * sizeof *grain);
    if (!grain) {
        brume_build_fail(&walk->builder, BRUME_EMEMORY, NULL, "out of memory");
        return false;
    }
    for (size_t i = 0; i < from->grain_count; i++)
        grain[i] = made->key_count + from->grain[i];
    made->grain_known = true;
    made->grain = grain;
    made->grain_count = from->grain_count;
    return true;
}

const brume_relation *brume_walk_close_timeline(brume_walk *walk, brume_walk_timeline *timeline,
                                                const brume_relation *from, brume_node *condition,
                                                const brume_relation_column *values, size_t count)
{
    brume_relation *made = timeline->made;
    if (!made)
        return from;
    made->column_count = made->key_count + from->column_count;
    brume_relation_column *columns =
        brume_arena_allocate(walk->builder.arena, made->column_count * sizeof *columns);
    if (!columns) {
        brume_build_fail(&walk->builder, BRUME_EMEMORY, NULL, "out of memory");
        return NULL;
    }
    memcpy(columns, timeline->columns, made->key_count * sizeof *columns);
    memcpy(columns + made->key_count, from->columns, from->column_count * sizeof *columns);
    made->columns = columns;
    made->left = from;
    made->condition = *condition;
    made->privacy = from->privacy;
    made->unit = made->key_count + from->unit;
    *condition = NULL;
    if (!set_ties(walk, made, values, count) ||
        !(from->grain_known ? keep_grain(walk, made, from) : set_grain(walk, made)))
        return NULL;
    return made;
}
