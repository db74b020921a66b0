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

/* The columns by which others may be linked to rows of the SELECT. */
static bool keep_link_keys(brume_walk *walk, outputs *out, const brume_walk_scope *scope)
{
    brume_link_key *keys =
        brume_arena_allocate(walk->builder.arena, (scope->link_key_count + 1) * sizeof *keys);
    if (!keys) {
        brume_build_fail(&walk->builder, BRUME_EMEMORY, NULL, "out of memory");
        return false;
    }
    for (size_t i = 0; i < scope->link_key_count; i++) {
        size_t at = find_output(out, scope->link_keys[i].node);
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
        for (size_t i = 0; i < from->grain_count; i++) {
            grain[i] = find_output(out, from->columns[from->grain[i]].reference);
            relation->grain_known = relation->grain_known && grain[i] != SIZE_MAX;
        }
        relation->grain = grain;
        relation->grain_count = relation->grain_known ? from->grain_count : 0;
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
            if (each->columns[i].name &&
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

static const brume_relation *walk_rows(brume_walk *walk, const PgQuery__SelectStmt *select,
                                       brume_walk_scope *scope, brume_node where)
{
    outputs out;
    if (!open_outputs(walk, &out))
        return NULL;
    for (size_t i = 0; i < select->n_target_list; i++) {
        const PgQuery__ResTarget *target = select->target_list[i]->res_target;
        if (target->val->node_case == PG_QUERY__NODE__NODE_COLUMN_REF) {
            const PgQuery__ColumnRef *reference = target->val->column_ref;
            if (reference->fields[reference->n_fields - 1]->node_case ==
                PG_QUERY__NODE__NODE_A_STAR) {
                if (!add_star(walk, &out, scope, reference))
                    return NULL;
                continue;
            }
        }
        const char *name = brume_walk_output_name(walk, target);
        if (!name || !add_output(walk, &out, name,
                                 brume_walk_expression(walk, scope, NULL, target->val, false),
                                 brume_walk_expression(walk, scope, NULL, target->val, true)))
            return NULL;
    }
    out.relation->condition = where;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a FROM clause made the scope */
    const brume_relation *from = scope->relation;
    brume_node unit = from->privacy == BRUME_PRIVACY_UNIT ? from->columns[from->unit].reference
                                                          : NULL;
    return finish(walk, &out, from, unit) && keep_link_keys(walk, &out, scope) ? out.relation
                                                                               : NULL;
}

/* The keys of GROUP BY, as columns of the relation below and of the groups; *unit is the first that
 * is the unit, SIZE_MAX if none is. */
static bool walk_group_keys(brume_walk *walk, const PgQuery__SelectStmt *select,
                            brume_walk_group *group, size_t *unit)
{
    brume_builder *builder = &walk->builder;
    *unit = SIZE_MAX;
    if (select->n_group_clause > 16) {
        brume_build_fail(builder, BRUME_EUNSUPPORTED, NULL, "GROUP BY is too long");
        return false;
    }
    for (size_t i = 0; i < select->n_group_clause; i++) {
        const PgQuery__Node *item = brume_walk_group_item(walk, select, select->group_clause[i]);
        brume_node key = item ? brume_walk_expression(walk, group->rows, NULL, item, false) : NULL;
        if (key && key->untyped)
            key = brume_build_convert(builder, key, (brume_type){BRUME_TYPE_TEXT, 0, 0});
        if (!key)
            return false;
        brume_node base = brume_walk_reference(walk, group->base, i, key);
        brume_node reference = brume_walk_reference(walk, group->group, i, key);
        if (!base || !reference)
            return false;
        group->base_columns[i] =
            (brume_relation_column){.reference = base, .expression = key, .inside = base};
        group->group_columns[i] =
            (brume_relation_column){.reference = reference, .inside = reference};
        group->base->column_count = group->group->column_count = group->group->key_count = i + 1;
        if (*unit == SIZE_MAX && brume_walk_is_unit(group->rows, key))
            *unit = i;
    }
    return true;
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
        if (!value || !add_output(walk, out, name, value, value))
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
                         "ask it by itself; or GROUP BY the unit column (and others), one row per "
                         "unit: of a linked table, that of the joined table that has it",
                         "a subquery aggregates over several units");
        return NULL;
    }
    outputs out;
    if (!walk_group_outputs(walk, select, group, &out))
        return NULL;
    group->base->left = scope->relation;
    group->base->condition = where;
    group->base->columns = group->base_columns;
    group->base->privacy = BRUME_PRIVACY_UNIT;
    group->base->unit = unit;
    group->group->left = group->base;
    group->group->columns = group->group_columns;
    group->group->privacy = BRUME_PRIVACY_UNIT;
    group->group->unit = unit;
    if (!set_grain(walk, group))
        return NULL;
    return finish(walk, &out, group->group, group->group_columns[unit].reference) ? out.relation
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
    if (select->n_distinct_clause || select->n_sort_clause || select->limit_count ||
        select->limit_offset) {
        brume_build_fail(builder, BRUME_EUNSUPPORTED, "use them in the outer SELECT",
                         "DISTINCT, ORDER BY, LIMIT and OFFSET are not supported in a subquery");
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
        aggregated = aggregated ||
                     brume_walk_has_aggregate(select->target_list[i]->res_target->val);
    }
    if (!brume_walk_with(walk, select, &common) ||
        !brume_walk_from(walk, select, common, scope, &where) || !brume_walk_resolve(walk, scope))
        return NULL;
    const brume_relation *relation = aggregated ? walk_per_unit(walk, select, scope, where)
                                                : walk_rows(walk, select, scope, where);
    walk->depth--;
    return relation;
}
