/* Subqueries: row by row, or one row per unit (GROUP BY the unit).
 *
 * Either way the result carries the unit along, named or not. A subquery that would mix the rows of
 * several units (LIMIT, DISTINCT, aggregates over other groups, set operations) is refused. */
#include "query/sql/walk.h"

#include <strings.h>

/* The columns of a SELECT while they are collected. */
typedef struct outputs {
    brume_relation *relation;
    brume_relation_column *columns;
    size_t count, capacity;
} outputs;

static bool add_output(brume_walk *walk, outputs *out, const char *name, brume_node expression,
                       brume_node inside)
{
    brume_builder *builder = &walk->builder;
    brume_type text = {BRUME_TYPE_TEXT, 0, 0};
    if (expression && expression->untyped)
        expression = inside = brume_build_convert(builder, expression, text);
    if (!expression || !inside)
        return false;
    size_t needed = brume_expression_equal(expression, inside) ? 1 : 2;
    if (out->count + needed + 1 > out->capacity) {
        brume_build_fail(builder, BRUME_EUNSUPPORTED, NULL, "a subquery has too many columns");
        return false;
    }
    size_t at = out->count;
    brume_node reference = brume_walk_reference(walk, out->relation, at, expression);
    brume_node twin = needed == 1 ? reference
                                  : brume_walk_reference(walk, out->relation, at + 1, inside);
    if (!reference || !twin)
        return false;
    out->columns[at] = (brume_relation_column){
        .name = name, .reference = reference, .expression = expression, .inside = twin};
    if (needed == 2)
        out->columns[at + 1] =
            (brume_relation_column){.reference = twin, .expression = inside, .inside = twin};
    out->count += needed;
    return true;
}

/* Which output is exactly `node`; SIZE_MAX: none. */
static size_t find_output(const outputs *out, brume_node node)
{
    for (size_t i = 0; i < out->count; i++)
        if (brume_expression_equal(out->columns[i].expression, node))
            return i;
    return SIZE_MAX;
}

/* What stands for a column of the grouped rows after GROUP BY; NULL: it is no key. */
static brume_node key_of(const brume_walk_group *group, brume_node node)
{
    for (size_t i = 0; i < group->group->key_count; i++)
        if (brume_expression_equal(group->base_columns[i].expression, node))
            return group->group_columns[i].reference;
    return NULL;
}

/* The columns by which others may be linked to rows of the SELECT, or of its groups. */
static bool keep_link_keys(brume_walk *walk, outputs *out, const brume_walk_scope *scope,
                           const brume_walk_group *group)
{
    brume_link_key *keys =
        brume_arena_allocate(walk->builder.arena, (scope->link_key_count + 1) * sizeof *keys);
    if (!keys) {
        brume_build_fail(&walk->builder, BRUME_EMEMORY, NULL, "out of memory");
        return false;
    }
    for (size_t i = 0; i < scope->link_key_count; i++) {
        brume_node node = scope->link_keys[i].node;
        if (group)
            node = key_of(group, node);
        size_t at = node ? find_output(out, node) : SIZE_MAX;
        if (at == SIZE_MAX)
            continue;
        brume_link_key *key = &keys[out->relation->link_key_count++];
        *key = scope->link_keys[i];
        key->node = out->columns[at].reference;
    }
    out->relation->link_keys = keys;
    return true;
}

/* Complete the SELECT: its unit (appended if it was not asked for) and its grain. */
static bool finish(brume_walk *walk, outputs *out, const brume_relation *from, brume_node unit)
{
    brume_relation *relation = out->relation;
    relation->left = from;
    relation->privacy = from->privacy;
    if (from->privacy == BRUME_PRIVACY_UNIT) {
        size_t at = find_output(out, unit);
        if (at == SIZE_MAX) {
            at = out->count;
            if (!add_output(walk, out, NULL, unit, unit))
                return false;
        }
        relation->unit = at;
    }
    if (from->grain_known) {
        size_t *grain =
            brume_arena_allocate(walk->builder.arena, (from->grain_count + 1) * sizeof *grain);
        if (!grain) {
            brume_build_fail(&walk->builder, BRUME_EMEMORY, NULL, "out of memory");
            return false;
        }
        relation->grain_known = true;
        brume_row_scope rows = {from, relation->condition};
        for (size_t i = 0; i < from->grain_count; i++) {
            brume_node column = from->columns[from->grain[i]].reference;
            if (brume_scope_pins(rows, column)) /* ROW_NUMBER() = 1: it takes one value only */
                continue;
            size_t at = find_output(out, column);
            relation->grain_known = relation->grain_known && at != SIZE_MAX;
            grain[relation->grain_count++] = at;
        }
        relation->grain = grain;
        relation->grain_count = relation->grain_known ? relation->grain_count : 0;
    }
    relation->columns = out->columns;
    relation->column_count = out->count;
    return true;
}

static bool open_outputs(brume_walk *walk, outputs *out)
{
    out->capacity = 400;
    out->count = 0;
    out->relation = brume_walk_relation(walk, BRUME_RELATION_SELECT);
    out->columns = brume_arena_allocate(walk->builder.arena, out->capacity * sizeof *out->columns);
    if (out->relation && !out->columns)
        brume_build_fail(&walk->builder, BRUME_EMEMORY, NULL, "out of memory");
    return out->relation && out->columns;
}

/* * or t.*: everything that can be read. */
static bool add_star(brume_walk *walk, outputs *out, const brume_walk_scope *scope,
                     const PgQuery__ColumnRef *star)
{
    const char *table = NULL;
    if (star->n_fields == 2 && star->fields[0]->node_case == PG_QUERY__NODE__NODE_STRING)
        table = star->fields[0]->string->sval;
    bool any = false;
    for (const brume_walk_source *each = scope->sources; each; each = each->next) {
        if (table && strcasecmp(table, each->name) != 0)
            continue;
        any = true;
        for (size_t i = 0; i < each->column_count; i++)
            if (each->columns[i].name && (table || !each->columns[i].merged) &&
                each->columns[i].reference->type.kind != BRUME_TYPE_REFUSED &&
                !add_output(walk, out, each->columns[i].name, each->columns[i].reference,
                            each->columns[i].inside))
                return false;
    }
    if (!any)
        brume_build_fail(&walk->builder, BRUME_EUNKNOWN, NULL, "there is no '%.60s' in FROM",
                         table ? table : "");
    return any;
}

/* The outputs of a SELECT of rows. */
static bool walk_row_outputs(brume_walk *walk, const PgQuery__SelectStmt *select,
                             brume_walk_scope *scope, outputs *out)
{
    for (size_t i = 0; i < select->n_target_list; i++) {
        const PgQuery__ResTarget *target = select->target_list[i]->res_target;
        if (target->val->node_case == PG_QUERY__NODE__NODE_COLUMN_REF) {
            const PgQuery__ColumnRef *reference = target->val->column_ref;
            if (reference->fields[reference->n_fields - 1]->node_case ==
                PG_QUERY__NODE__NODE_A_STAR) {
                if (!add_star(walk, out, scope, reference))
                    return false;
                continue;
            }
        }
        const char *name = brume_walk_output_name(walk, target);
        if (!name || !add_output(walk, out, name,
                                 brume_walk_expression(walk, scope, NULL, target->val, false),
                                 brume_walk_expression(walk, scope, NULL, target->val, true)))
            return false;
    }
    return true;
}

/* DISTINCT ON (keys) ... ORDER BY keys, order: the first row of each unit and key is kept. */
static brume_node walk_first_rows(brume_walk *walk, const PgQuery__SelectStmt *select,
                                  brume_walk_scope *scope)
{
    brume_builder *builder = &walk->builder;
    brume_walk_context c = {walk, scope, NULL};
    brume_node keys[16];
    brume_timeline_order order[16];
    size_t key_count = select->n_distinct_clause, order_count = 0;
    bool named = false;
    if (key_count > 16 || select->n_sort_clause > 16)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, NULL, "DISTINCT ON is too long");
    for (size_t i = 0; i < key_count; i++) {
        const PgQuery__Node *item = brume_walk_group_item(walk, select, select->distinct_clause[i]);
        keys[i] = item ? brume_walk_expression(walk, scope, NULL, item, false) : NULL;
        if (!keys[i])
            return NULL;
        named = named || brume_walk_names_unit(scope, keys[i]);
    }
    if (!named)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED,
                                "write DISTINCT ON (the unit column, ...), one row per unit",
                                "DISTINCT ON must name the unit: other persons' rows cannot decide "
                                "which row is shown");
    for (size_t i = 0; i < select->n_sort_clause; i++) {
        const PgQuery__Node *item = select->sort_clause[i];
        if (item->node_case != PG_QUERY__NODE__NODE_SORT_BY)
            return brume_walk_refuse(walk, item);
        const PgQuery__Node *value = brume_walk_group_item(walk, select, item->sort_by->node);
        if (!value || !brume_walk_order_item(&c, item, value, &order[order_count]))
            return NULL;
        bool is_key = false;
        for (size_t j = 0; j < key_count; j++)
            is_key = is_key || brume_expression_equal(keys[j], order[order_count].value);
        order_count += !is_key;
    }
    brume_timeline_order *own =
        brume_arena_copy(builder->arena, order, (order_count + 1) * sizeof *own);
    if (!own)
        return brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
    brume_node number = brume_walk_row_number(&c, keys, key_count, own, order_count);
    return number ? brume_build_compare(builder, BRUME_OPERATION_EQUAL, number,
                                        brume_build_number(builder, "1"))
                  : NULL;
}

static bool is_distinct_on(const PgQuery__SelectStmt *select)
{
    return select->n_distinct_clause &&
           select->distinct_clause[0]->node_case != PG_QUERY__NODE__NODE__NOT_SET;
}

static const brume_relation *walk_rows(brume_walk *walk, const PgQuery__SelectStmt *select,
                                       brume_walk_scope *scope, brume_node where)
{
    outputs out;
    brume_walk_timeline *timeline = brume_arena_allocate(walk->builder.arena, sizeof *timeline);
    if (!timeline)
        brume_build_fail(&walk->builder, BRUME_EMEMORY, NULL, "out of memory");
    if (!timeline || !open_outputs(walk, &out))
        return NULL;
    brume_node first = NULL;
    bool good = true;
    scope->timeline = timeline;
    if (is_distinct_on(select))
        good = scope->relation->privacy == BRUME_PRIVACY_UNIT
                   ? (first = walk_first_rows(walk, select, scope)) != NULL
                   : (brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED,
                                       "register it with a column as its unit",
                                       "DISTINCT ON needs rows that have a unit"),
                      false);
    good = good && walk_row_outputs(walk, select, scope, &out);
    scope->timeline = NULL;
    if (!good)
        return NULL;
    const brume_relation *from =
        brume_walk_close_timeline(walk, timeline, scope->relation, &where, out.columns, out.count);
    if (!from)
        return NULL;
    out.relation->condition = first ? first : where;
    brume_node unit = from->privacy == BRUME_PRIVACY_UNIT ? from->columns[from->unit].reference
                                                          : NULL;
    return finish(walk, &out, from, unit) && keep_link_keys(walk, &out, scope, NULL) ? out.relation
                                                                                     : NULL;
}

bool brume_walk_add_group_key(brume_walk *walk, brume_walk_group *group, brume_node key)
{
    size_t at = group->group->key_count;
    if (at == 17) { /* sixteen, and the unit */
        brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED, NULL, "GROUP BY is too long");
        return false;
    }
    brume_node base = key ? brume_walk_reference(walk, group->base, at, key) : NULL;
    brume_node reference = key ? brume_walk_reference(walk, group->group, at, key) : NULL;
    if (!base || !reference)
        return false;
    group->base_columns[at] =
        (brume_relation_column){.reference = base, .expression = key, .inside = base};
    group->group_columns[at] = (brume_relation_column){.reference = reference, .inside = reference};
    group->base->column_count = group->group->column_count = group->group->key_count = at + 1;
    return true;
}

/* The keys of GROUP BY; *unit is the first that is the unit, SIZE_MAX if none says whose the rows
 * are. Where a key by which rows are linked says it, the unit is one more key. */
static bool walk_group_keys(brume_walk *walk, const PgQuery__SelectStmt *select,
                            brume_walk_group *group, size_t *unit)
{
    brume_builder *builder = &walk->builder;
    const brume_relation *from = group->rows->relation;
    bool named = false;
    *unit = SIZE_MAX;
    for (size_t i = 0; i < select->n_group_clause; i++) {
        const PgQuery__Node *item = brume_walk_group_item(walk, select, select->group_clause[i]);
        brume_node key = item ? brume_walk_expression(walk, group->rows, NULL, item, false) : NULL;
        if (key && key->untyped)
            key = brume_build_convert(builder, key, (brume_type){BRUME_TYPE_TEXT, 0, 0});
        if (!key || !brume_walk_add_group_key(walk, group, key))
            return false;
        if (*unit == SIZE_MAX && brume_walk_is_unit(group->rows, key))
            *unit = i;
        named = named || brume_walk_names_unit(group->rows, key);
    }
    if (*unit != SIZE_MAX || !named)
        return true;
    *unit = group->group->key_count;
    return brume_walk_add_group_key(walk, group, from->columns[from->unit].reference);
}

/* What is selected from the groups, and HAVING. */
static bool walk_group_outputs(brume_walk *walk, const PgQuery__SelectStmt *select,
                               brume_walk_group *group, outputs *out)
{
    if (!open_outputs(walk, out))
        return false;
    for (size_t i = 0; i < select->n_target_list; i++) {
        const PgQuery__ResTarget *target = select->target_list[i]->res_target;
        const char *name = brume_walk_output_name(walk, target);
        brume_node value =
            name ? brume_walk_expression(walk, group->rows, group, target->val, false) : NULL;
        brume_node inside =
            value ? brume_walk_expression(walk, group->rows, group, target->val, true) : NULL;
        if (!inside || !add_output(walk, out, name, value, inside))
            return false;
    }
    if (!select->having_clause)
        return true;
    brume_node condition =
        brume_walk_expression(walk, group->rows, group, select->having_clause, false);
    out->relation->condition =
        condition ? brume_build_logic(&walk->builder, BRUME_OPERATION_AND, &condition, 1) : NULL;
    return out->relation->condition != NULL;
}

/* One row for each unit and value of the other keys. */
static bool set_grain(brume_walk *walk, brume_walk_group *group)
{
    size_t count = group->group->key_count;
    size_t *grain = brume_arena_allocate(walk->builder.arena, count * sizeof *grain);
    if (!grain) {
        brume_build_fail(&walk->builder, BRUME_EMEMORY, NULL, "out of memory");
        return false;
    }
    for (size_t i = 0; i < count; i++)
        if (!brume_walk_is_unit(group->rows, group->base_columns[i].expression))
            grain[group->group->grain_count++] = i;
    group->group->grain = grain;
    group->group->grain_known = true;
    return true;
}

static const brume_relation *walk_per_unit(brume_walk *walk, const PgQuery__SelectStmt *select,
                                           brume_walk_scope *scope, brume_node where)
{
    brume_builder *builder = &walk->builder;
    const char *hint = "GROUP BY the unit column (and others), one row per unit";
    if (scope->relation->privacy != BRUME_PRIVACY_UNIT) {
        brume_build_fail(builder, BRUME_EUNSUPPORTED, hint,
                         "a subquery can aggregate only a dataset with a unit column");
        return NULL;
    }
    brume_walk_group *group = brume_arena_allocate(builder->arena, sizeof *group);
    if (!group) {
        brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
        return NULL;
    }
    group->rows = scope;
    group->base = brume_walk_relation(walk, BRUME_RELATION_SELECT);
    group->group = brume_walk_relation(walk, BRUME_RELATION_GROUP);
    size_t unit = SIZE_MAX;
    if (!group->base || !group->group || !walk_group_keys(walk, select, group, &unit))
        return NULL;
    if (unit == SIZE_MAX) {
        brume_build_fail(builder, BRUME_EUNSUPPORTED,
                         "ask it by itself; or GROUP BY the unit column or a key that tables are "
                         "linked by (and others), one row per unit",
                         "a subquery aggregates over several units");
        return NULL;
    }
    outputs out;
    brume_walk_timeline *timeline = brume_arena_allocate(builder->arena, sizeof *timeline);
    if (!timeline) {
        brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
        return NULL;
    }
    timeline->group = group;
    group->group->privacy = BRUME_PRIVACY_UNIT;
    scope->timeline = timeline;
    bool good = walk_group_outputs(walk, select, group, &out);
    scope->timeline = NULL;
    if (!good)
        return NULL;
    group->base->left = scope->relation;
    group->base->condition = where;
    group->base->columns = group->base_columns;
    group->base->privacy = BRUME_PRIVACY_UNIT;
    group->base->unit = unit;
    group->group->left = group->base;
    group->group->columns = group->group_columns;
    group->group->unit = unit;
    if (!set_grain(walk, group))
        return NULL;
    const brume_relation *from = brume_walk_close_timeline(
        walk, timeline, group->group, &out.relation->condition, out.columns, out.count);
    return from && finish(walk, &out, from, group->group_columns[unit].reference) &&
                   keep_link_keys(walk, &out, scope, group)
               ? out.relation
               : NULL;
}

/* Does an output say whose the rows are? Links that are kept do, and the unit by its name. */
static bool shows_unit(const brume_walk_scope *scope, const brume_relation *rows)
{
    for (size_t i = 0; i < rows->column_count; i++) {
        brume_node value = rows->columns[i].expression;
        if (!rows->columns[i].name)
            continue;
        if ((rows->privacy == BRUME_PRIVACY_UNIT && i == rows->unit) ||
            brume_walk_names_unit(scope, value))
            return true;
        for (size_t j = 0; j < rows->link_key_count; j++)
            if (rows->link_keys[j].found &&
                brume_expression_equal(rows->link_keys[j].node, rows->columns[i].reference))
                return true;
    }
    return false;
}

/* SELECT DISTINCT: one row for each unit and value of the outputs, which must show whose they are.
 * What stands for an output inside aggregates follows from it, or is the least of what does. */
static const brume_relation *walk_distinct(brume_walk *walk, const brume_relation *rows,
                                           bool shows_unit)
{
    brume_builder *builder = &walk->builder;
    if (rows->privacy != BRUME_PRIVACY_UNIT || !shows_unit) {
        brume_build_fail(builder, BRUME_EUNSUPPORTED,
                         "SELECT DISTINCT the unit column and others, one row per unit",
                         "DISTINCT in a subquery must show the unit: other persons' rows cannot "
                         "decide what is shown");
        return NULL;
    }
    brume_walk_group *group = brume_arena_allocate(builder->arena, sizeof *group);
    brume_walk_scope *scope = brume_arena_allocate(builder->arena, sizeof *scope);
    if (!group || !scope) {
        brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
        return NULL;
    }
    scope->relation = rows;
    scope->units[scope->unit_count++] = rows->columns[rows->unit].reference;
    group->rows = scope;
    group->base = brume_walk_relation(walk, BRUME_RELATION_SELECT);
    group->group = brume_walk_relation(walk, BRUME_RELATION_GROUP);
    outputs out;
    if (!group->base || !group->group || !open_outputs(walk, &out))
        return NULL;
    size_t unit = SIZE_MAX;
    for (size_t i = 0; i < rows->column_count; i++)
        if (rows->columns[i].name || i == rows->unit) {
            if (i == rows->unit)
                unit = group->group->key_count;
            if (!brume_walk_add_group_key(walk, group, rows->columns[i].reference))
                return NULL;
        }
    size_t key = 0;
    for (size_t i = 0; i < rows->column_count; i++) {
        if (!rows->columns[i].name && i != rows->unit)
            continue;
        brume_node plain = group->group_columns[key++].reference, inside = plain;
        if (!brume_expression_equal(rows->columns[i].reference, rows->columns[i].inside) &&
            plain->type.kind != BRUME_TYPE_BOOLEAN)
            inside = brume_walk_fold_column(walk, group, BRUME_FOLD_MIN, rows->columns[i].inside);
        if (!inside || !add_output(walk, &out, rows->columns[i].name, plain, inside))
            return NULL;
    }
    group->base->left = rows;
    group->base->columns = group->base_columns;
    group->base->privacy = group->group->privacy = BRUME_PRIVACY_UNIT;
    group->base->unit = group->group->unit = unit;
    group->group->left = group->base;
    group->group->columns = group->group_columns;
    if (!set_grain(walk, group))
        return NULL;
    for (size_t i = 0; i < rows->link_key_count && i < 16; i++)
        scope->link_keys[scope->link_key_count++] = rows->link_keys[i];
    return finish(walk, &out, group->group, group->group_columns[unit].reference) &&
                   keep_link_keys(walk, &out, scope, group)
               ? out.relation
               : NULL;
}

const brume_relation *brume_walk_select(brume_walk *walk, const PgQuery__SelectStmt *select,
                                        const brume_walk_common *common)
{
    brume_builder *builder = &walk->builder;
    brume_walk_scope *scope = brume_arena_allocate(builder->arena, sizeof *scope);
    if (!scope) {
        brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
        return NULL;
    }
    if (walk->depth >= BRUME_WALK_DEPTH)
        brume_build_fail(builder, BRUME_EUNSUPPORTED, NULL, "subqueries are nested too deeply");
    bool is_union = select->op != PG_QUERY__SET_OPERATION__SETOP_NONE;
    if (builder->status != BRUME_OK || (!is_union && !brume_walk_check_select(walk, select)))
        return NULL;
    bool on = is_distinct_on(select);
    if ((select->n_sort_clause && !on) || select->limit_count || select->limit_offset) {
        brume_build_fail(
            builder, BRUME_EUNSUPPORTED,
            "use them in the outer SELECT; the first rows of each unit: ROW_NUMBER() OVER "
            "(PARTITION BY the unit ORDER BY x) AS n, and WHERE n <= 3 outside",
            "ORDER BY, LIMIT and OFFSET are not supported in a subquery");
        return NULL;
    }
    walk->depth++;
    if (is_union) {
        const brume_relation *both =
            brume_walk_with(walk, select, &common) ? brume_walk_union(walk, select, common) : NULL;
        walk->depth--;
        return both;
    }
    brume_node where;
    bool aggregated = select->n_group_clause > 0 || select->having_clause;
    for (size_t i = 0; i < select->n_target_list; i++) {
        if (select->target_list[i]->node_case != PG_QUERY__NODE__NODE_RES_TARGET) {
            brume_walk_refuse(walk, select->target_list[i]);
            return NULL;
        }
        aggregated = aggregated || brume_walk_has_fold(select->target_list[i]->res_target->val);
    }
    if (!brume_walk_with(walk, select, &common) ||
        !brume_walk_from(walk, select, common, scope, &where) || !brume_walk_resolve(walk, scope))
        return NULL;
    if (on && aggregated) {
        brume_build_fail(builder, BRUME_EUNSUPPORTED, "group in a subquery of its own",
                         "DISTINCT ON of groups is not supported");
        return NULL;
    }
    const brume_relation *relation = aggregated ? walk_per_unit(walk, select, scope, where)
                                                : walk_rows(walk, select, scope, where);
    if (relation && select->n_distinct_clause && !on)
        relation = walk_distinct(walk, relation, shows_unit(scope, relation));
    walk->depth--;
    return relation;
}
