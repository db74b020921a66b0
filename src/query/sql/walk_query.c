/* The clauses of the outer SELECT: keys, outputs, HAVING, ORDER BY, LIMIT. */
#include "query/sql/walk_outer.h"

#include <stdio.h>
#include <string.h>

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

bool brume_walk_add_key(brume_walk_outer *o, const PgQuery__Node *node, size_t *place)
{
    *place = SIZE_MAX;
    if (brume_walk_has_aggregate(node)) {
        brume_walk_outer_fail(o, BRUME_EARGUMENT,
                              "aggregate per unit in a subquery, and group by that",
                              "an aggregate cannot stand in GROUP BY");
        return false;
    }
    brume_node key = brume_walk_expression(o->walk, o->scope, NULL, node, false);
    if (key && key->untyped)
        key = brume_build_convert(&o->walk->builder, key, (brume_type){BRUME_TYPE_TEXT, 0, 0});
    if (!key)
        return false;
    if (key->duration) {
        brume_walk_outer_fail(o, BRUME_EUNSUPPORTED,
                              "GROUP BY EXTRACT(day FROM a - b), or date_diff('day', b, a)",
                              "an interval cannot be a group key");
        return false;
    }
    if (key->inexact_key) {
        brume_walk_outer_fail(
            o, BRUME_EUNSUPPORTED,
            "round it: GROUP BY CAST(x AS numeric(p,s)) is not enough; use "
            "width_bucket or floor of the argument",
            "a group key made with ln, log, exp or power may differ between machines");
        return false;
    }
    if (key->operation == BRUME_OPERATION_LITERAL) /* a constant makes no groups */
        return true;
    for (size_t i = 0; i < o->key_count; i++)
        if (brume_expression_equal(o->keys[i].expression, key)) {
            *place = i;
            return true;
        }
    if (o->key_count == BRUME_WALK_KEYS) {
        brume_walk_outer_fail(o, BRUME_EUNSUPPORTED, "group by fewer columns",
                              "too many group keys");
        return false;
    }
    *place = o->key_count;
    brume_key *made = &o->keys[o->key_count++];
    *made = (brume_key){.expression = key, .plain = key};
    made->is_column = plain_column(key, &made->table, &made->column);
    made->tells_units = brume_walk_tells_units(o->walk, o->scope, key);
    made->names_unit = brume_walk_names_unit(o->scope, key);
    return true;
}

static bool add_key(brume_walk_outer *o, const PgQuery__Node *node)
{
    size_t place;
    return brume_walk_add_key(o, node, &place);
}

static bool read_count(brume_walk_outer *o, const PgQuery__Node *node, int64_t *out)
{
    if (!node || (node->node_case == PG_QUERY__NODE__NODE_A_CONST && node->a_const->isnull))
        return true;
    if (node->node_case != PG_QUERY__NODE__NODE_A_CONST ||
        node->a_const->val_case != PG_QUERY__A__CONST__VAL_IVAL || node->a_const->ival->ival < 0) {
        brume_walk_outer_fail(o, BRUME_EARGUMENT, "write LIMIT 10",
                              "LIMIT and OFFSET take a constant number of rows");
        return false;
    }
    *out = node->a_const->ival->ival;
    return true;
}

/* How many outputs an item of the SELECT list makes. */
static size_t outputs_of(const PgQuery__Node *item)
{
    const PgQuery__AArrayExpr *array = brume_walk_percentile_array(item->res_target->val);
    return array ? array->n_elements : 1;
}

/* The output that an item of the SELECT list made. */
static brume_formula_node output_at(brume_walk_outer *o, const PgQuery__SelectStmt *select,
                                    const brume_query *query, size_t item)
{
    size_t at = 0;
    if (brume_walk_percentile_array(select->target_list[item]->res_target->val))
        return brume_walk_outer_fail(o, BRUME_EUNSUPPORTED, "write the percentile in ORDER BY",
                                     "rows cannot be ordered by an array of percentiles");
    for (size_t i = 0; i < item; i++)
        at += outputs_of(select->target_list[i]);
    return query->outputs[at].value;
}

static bool walk_order(brume_walk_outer *o, const PgQuery__SelectStmt *select, brume_query *query)
{
    brume_query_order *order =
        brume_arena_allocate(o->walk->builder.arena, (select->n_sort_clause + 1) * sizeof *order);
    if (!order) {
        brume_walk_outer_fail(o, BRUME_EMEMORY, NULL, "out of memory");
        return false;
    }
    for (size_t i = 0; i < select->n_sort_clause; i++) {
        const PgQuery__Node *item = select->sort_clause[i];
        if (item->node_case != PG_QUERY__NODE__NODE_SORT_BY ||
            item->sort_by->sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_USING) {
            brume_walk_outer_fail(o, BRUME_EUNSUPPORTED, "write ORDER BY x DESC",
                                  "ORDER BY USING is not supported");
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
                constant->ival->ival < 1 || (size_t)constant->ival->ival > select->n_target_list) {
                brume_walk_outer_fail(o, BRUME_EARGUMENT, "count the outputs from 1",
                                      "a position in ORDER BY is not in the SELECT list");
                return false;
            }
            order[i].value = output_at(o, select, query, (size_t)constant->ival->ival - 1);
            if (!order[i].value)
                return false;
            continue;
        }
        if (node->node_case == PG_QUERY__NODE__NODE_COLUMN_REF && node->column_ref->n_fields == 1 &&
            node->column_ref->fields[0]->node_case == PG_QUERY__NODE__NODE_STRING)
            for (size_t j = 0; j < query->output_count && !order[i].value; j++)
                if (strcmp(query->outputs[j].name, node->column_ref->fields[0]->string->sval) == 0)
                    order[i].value = query->outputs[j].value;
        if (!order[i].value && !(order[i].value = brume_walk_formula(o, node)))
            return false;
    }
    query->order = order;
    query->order_count = select->n_sort_clause;
    return true;
}

/* The output's name followed by the percentile as it was typed: "age_0.25". */
static const char *element_name(brume_walk_outer *o, const char *name, const PgQuery__Node *node)
{
    char typed[64] = "", *own = NULL;
    const PgQuery__AConst *constant =
        node->node_case == PG_QUERY__NODE__NODE_A_CONST ? node->a_const : NULL;
    if (constant && constant->val_case == PG_QUERY__A__CONST__VAL_FVAL)
        snprintf(typed, sizeof typed, "%s%.40s", *constant->fval->fval == '.' ? "0" : "",
                 constant->fval->fval);
    else if (constant && constant->val_case == PG_QUERY__A__CONST__VAL_IVAL)
        snprintf(typed, sizeof typed, "%d", constant->ival->ival);
    size_t size = strlen(name) + strlen(typed) + 2;
    own = brume_arena_allocate(o->walk->builder.arena, size);
    if (own)
        snprintf(own, size, "%s_%s", name, typed);
    else
        brume_walk_outer_fail(o, BRUME_EMEMORY, NULL, "out of memory");
    return own;
}

/* PERCENTILE_CONT(ARRAY[a, b]): as if each element had been asked for by itself. */
static bool walk_array(brume_walk_outer *o, const PgQuery__ResTarget *target, const char *name,
                       brume_query_output *outputs)
{
    const PgQuery__AArrayExpr *array = brume_walk_percentile_array(target->val);
    for (size_t i = 0; i < array->n_elements; i++) {
        PgQuery__FuncCall call = *target->val->func_call;
        call.args = &array->elements[i];
        outputs[i].name = element_name(o, name, array->elements[i]);
        outputs[i].value = outputs[i].name ? brume_walk_aggregate(o, &call) : NULL;
        if (!outputs[i].value)
            return false;
    }
    return true;
}

static bool walk_outputs(brume_walk_outer *o, const PgQuery__SelectStmt *select, brume_query *query)
{
    size_t count = 0;
    bool empty = false;
    for (size_t i = 0; i < select->n_target_list; i++) {
        size_t more = outputs_of(select->target_list[i]);
        empty = empty || more == 0;
        count += more > BRUME_WALK_OUTPUTS ? BRUME_WALK_OUTPUTS + 1 : more;
    }
    if (count == 0 || empty) {
        brume_walk_outer_fail(o, BRUME_EUNSUPPORTED, "ask for COUNT(*), SUM, AVG, MEDIAN ...",
                              "the query has no outputs, or an array of none");
        return false;
    }
    if (count > BRUME_WALK_OUTPUTS) {
        brume_build_fail(&o->walk->builder, BRUME_EUNSUPPORTED, "ask in several queries",
                         "the query has more than %d outputs", BRUME_WALK_OUTPUTS);
        return false;
    }
    brume_query_output *outputs =
        brume_arena_allocate(o->walk->builder.arena, count * sizeof *outputs);
    if (!outputs) {
        brume_walk_outer_fail(o, BRUME_EMEMORY, NULL, "out of memory");
        return false;
    }
    size_t at = 0;
    for (size_t i = 0; i < select->n_target_list; i++) {
        const PgQuery__ResTarget *target = select->target_list[i]->res_target;
        const char *name = brume_walk_output_name(o->walk, target);
        if (!name)
            return false;
        if (brume_walk_percentile_array(target->val)) {
            if (!walk_array(o, target, name, &outputs[at]))
                return false;
        } else {
            outputs[at].name = name;
            outputs[at].value = brume_walk_formula(o, target->val);
            if (!outputs[at].value)
                return false;
        }
        at += outputs_of(select->target_list[i]);
    }
    query->outputs = outputs;
    query->output_count = count;
    return true;
}

/* Has each unit one row at most? */
static bool is_one_row(const brume_relation *relation, brume_node where)
{
    for (size_t i = 0; relation->grain_known && i < relation->grain_count; i++)
        if (!brume_scope_pins((brume_row_scope){relation, where},
                              relation->columns[relation->grain[i]].reference))
            return false;
    return relation->grain_known;
}

/* Whether each unit has one row at most in a group: the grain is among the keys. */
static bool grain_in_keys(const brume_walk_outer *o, const brume_relation *relation,
                          brume_node where)
{
    if (!relation->grain_known)
        return false;
    for (size_t i = 0; i < relation->grain_count; i++) {
        brume_node column = relation->columns[relation->grain[i]].reference;
        bool found = brume_scope_pins((brume_row_scope){relation, where}, column);
        for (size_t j = 0; j < o->key_count; j++)
            found = found || brume_expression_equal(o->keys[j].expression, column);
        if (!found)
            return false;
    }
    return true;
}

/* DISTINCT of groups: where every key is shown, no two rows are alike, and it changes nothing. */
static bool shows_keys(brume_walk_outer *o, const PgQuery__SelectStmt *select)
{
    size_t shown = 0;
    for (size_t i = 0; i < o->key_count; i++)
        for (size_t j = 0; j < select->n_target_list; j++) {
            const PgQuery__Node *value = select->target_list[j]->res_target->val;
            brume_node node = brume_walk_has_aggregate(value)
                                  ? NULL
                                  : brume_walk_expression(o->walk, o->scope, NULL, value, false);
            if (node && brume_expression_equal(node, o->keys[i].expression)) {
                shown++;
                break;
            }
        }
    if (shown == o->key_count)
        return true;
    brume_walk_outer_fail(o, BRUME_EUNSUPPORTED,
                          "show every key of GROUP BY, or leave DISTINCT out",
                          "DISTINCT of groups whose keys are not all shown is not supported");
    return false;
}

static bool walk_keys(brume_walk_outer *o, const PgQuery__SelectStmt *select)
{
    bool aggregated = select->having_clause != NULL;
    for (size_t i = 0; i < select->n_target_list; i++) {
        if (select->target_list[i]->node_case != PG_QUERY__NODE__NODE_RES_TARGET ||
            !select->target_list[i]->res_target->val) {
            brume_walk_outer_fail(o, BRUME_EUNSUPPORTED, NULL, "this output is not supported");
            return false;
        }
        aggregated = aggregated ||
                     brume_walk_has_aggregate(select->target_list[i]->res_target->val);
    }
    if (brume_walk_groups_by_all(select)) {
        for (size_t i = 0; i < select->n_target_list; i++) {
            const PgQuery__Node *value = select->target_list[i]->res_target->val;
            if (!brume_walk_has_aggregate(value) && !add_key(o, value))
                return false;
        }
        return true;
    }
    if (!brume_walk_grouping(o, select))
        return false;
    if (select->n_distinct_clause == 0)
        return true;
    bool plain = select->n_distinct_clause == 1 &&
                 select->distinct_clause[0]->node_case == PG_QUERY__NODE__NODE__NOT_SET;
    if (!plain) {
        brume_walk_outer_fail(o, BRUME_EUNSUPPORTED, "use GROUP BY",
                              "DISTINCT ON is not supported");
        return false;
    }
    if (aggregated || select->n_group_clause)
        return shows_keys(o, select);
    for (size_t i = 0; i < select->n_target_list; i++)
        if (!add_key(o, select->target_list[i]->res_target->val))
            return false;
    return true;
}

/* One dataset: its neighbours differ in all its tables at once, so that taking a unit out takes all
 * its rows of any join away and turns none into another (proofs/links.md). */
static void forget_missing_sides(brume_walk *walk)
{
    const brume_catalog_table *tables = walk->catalog->tables;
    for (size_t i = 1; i < walk->table_count; i++)
        if (!brume_catalog_same_dataset(&tables[walk->tables[0].table],
                                        &tables[walk->tables[i].table]))
            return;
    for (size_t i = 0; i < walk->table_count; i++)
        walk->tables[i].nullable_side = false;
}

bool brume_walk_query(brume_walk *walk, const PgQuery__SelectStmt *select, brume_query *query)
{
    brume_builder *builder = &walk->builder;
    brume_walk_outer *o = brume_arena_allocate(builder->arena, sizeof *o);
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
        !brume_walk_from(walk, select, common, scope, &where) || !brume_walk_resolve(walk, scope) ||
        !walk_keys(o, select) || !walk_outputs(o, select, query))
        return false;
    o->named = query;
    o->in_window = true; /* HAVING comes before them */
    if (select->having_clause && !(query->having = brume_walk_formula(o, select->having_clause)))
        return false;
    o->in_window = false;
    if (!walk_order(o, select, query) || !read_count(o, select->limit_count, &query->limit) ||
        !read_count(o, select->limit_offset, &query->offset))
        return false;
    if (select->limit_option == PG_QUERY__LIMIT_OPTION__LIMIT_OPTION_WITH_TIES) {
        brume_walk_outer_fail(o, BRUME_EUNSUPPORTED, "write LIMIT n", "WITH TIES is not supported");
        return false;
    }
    if (o->key_count == 0 && o->aggregate_count == 0) {
        brume_walk_outer_fail(o, BRUME_EUNSUPPORTED, "ask for aggregates: COUNT(*), AVG(x) ...",
                              "a query must aggregate or group");
        return false;
    }
    if (walk->table_count == 0) {
        brume_walk_outer_fail(o, BRUME_EUNSUPPORTED, "query a public table in its own database",
                              "the query reads no protected dataset");
        return false;
    }
    forget_missing_sides(walk);
    query->set_count = o->set_count;
    query->one_row_per_unit = is_one_row(scope->relation, where);
    if (!brume_walk_group_sets(o))
        return false;
    const brume_relation *from = scope->relation;
    query->from = from;
    query->where = where;
    query->unit = from->privacy == BRUME_PRIVACY_UNIT ? from->columns[from->unit].reference : NULL;
    query->one_row_per_group = grain_in_keys(o, from, where);
    query->tables = walk->tables;
    query->table_count = walk->table_count;
    query->public_tables = walk->public_tables;
    query->public_count = walk->public_count;
    if (!brume_walk_shifted_sums(o))
        return false;
    for (size_t i = 0; i < o->window_count; i++)
        o->windows[i]->index = o->aggregate_count + i;
    query->windows = (const brume_formula *const *)o->windows;
    query->window_count = o->window_count;
    query->keys = o->keys;
    query->key_count = o->key_count;
    query->aggregates = o->aggregates;
    query->aggregate_count = o->aggregate_count;
    return true;
}
