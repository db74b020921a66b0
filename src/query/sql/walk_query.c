/* The clauses of the outer SELECT: keys, outputs, HAVING, ORDER BY, LIMIT. */
#include "query/sql/walk_outer.h"

#include <stdio.h>
#include <string.h>

#include "query/sql/walk.h"

static bool walk_add_key(brume_walk_outer *o, const PgQuery__Node *node, size_t *place);

/* The clauses of a SELECT, of a query or a subquery: WITH, what is refused as a whole, the items of
 * GROUP BY, and the names of outputs. */

bool brume_walk_with(brume_walk *walk, const PgQuery__SelectStmt *select,
                     const brume_walk_common **common)
{
    if (!select->with_clause)
        return true;
    if (select->with_clause->recursive) {
        brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED, "write the steps out as WITH items",
                         "WITH RECURSIVE is not supported");
        return false;
    }
    for (size_t i = 0; i < select->with_clause->n_ctes; i++) {
        const PgQuery__Node *node = select->with_clause->ctes[i];
        brume_walk_common *item = brume_arena_allocate(walk->builder.arena, sizeof *item);
        if (!item) {
            brume_build_fail(&walk->builder, BRUME_EMEMORY, NULL, "out of memory");
            return false;
        }
        if (node->node_case != PG_QUERY__NODE__NODE_COMMON_TABLE_EXPR ||
            node->common_table_expr->search_clause || node->common_table_expr->cycle_clause) {
            brume_walk_refuse(walk, node);
            return false;
        }
        *item =
            (brume_walk_common){node->common_table_expr->ctename, node->common_table_expr, *common};
        *common = item;
    }
    return true;
}

bool brume_walk_check_select(brume_walk *walk, const PgQuery__SelectStmt *select)
{
    brume_builder *builder = &walk->builder;
    const char *what = NULL, *hint = NULL;
    if (select->op != PG_QUERY__SET_OPERATION__SETOP_NONE) {
        what = "UNION, INTERSECT and EXCEPT of answers are";
        hint = "ask separate queries, or put UNION ALL in FROM";
    } else if (select->n_values_lists) {
        what = "VALUES is";
        hint = "declare a public table";
    } else if (select->into_clause) {
        what = "SELECT INTO is";
        hint = "the answer is printed: redirect it";
    } else if (select->n_window_clause) {
        what = "WINDOW is";
        hint = "use GROUP BY; shares and ranks can be made from the answer";
    } else if (select->n_locking_clause) {
        what = "FOR UPDATE is";
        hint = "leave it out: nothing is locked";
    }
    if (what)
        brume_build_fail(builder, BRUME_EUNSUPPORTED, hint, "%s not supported", what);
    return !what;
}

bool brume_walk_groups_by_all(const PgQuery__SelectStmt *select)
{
    if (select->n_group_clause != 1 ||
        select->group_clause[0]->node_case != PG_QUERY__NODE__NODE_A_CONST)
        return false;
    const PgQuery__AConst *constant = select->group_clause[0]->a_const;
    return !constant->isnull && constant->val_case == PG_QUERY__A__CONST__VAL_SVAL &&
           strcmp(constant->sval->sval, BRUME_WALK_ALL) == 0;
}

const PgQuery__Node *brume_walk_group_item(brume_walk *walk, const PgQuery__SelectStmt *select,
                                           const PgQuery__Node *item)
{
    brume_builder *builder = &walk->builder;
    if (item->node_case == PG_QUERY__NODE__NODE_GROUPING_SET) {
        brume_build_fail(builder, BRUME_EUNSUPPORTED, "use them in the outer SELECT",
                         "GROUPING SETS, ROLLUP and CUBE are not supported in a subquery");
        return NULL;
    }
    if (item->node_case == PG_QUERY__NODE__NODE_A_CONST) {
        const PgQuery__AConst *constant = item->a_const;
        if (constant->isnull || constant->val_case != PG_QUERY__A__CONST__VAL_IVAL ||
            constant->ival->ival < 1 || (size_t)constant->ival->ival > select->n_target_list) {
            brume_build_fail(builder, BRUME_EARGUMENT, "count the outputs from 1",
                             "a position in GROUP BY is not in the SELECT list");
            return NULL;
        }
        return select->target_list[constant->ival->ival - 1]->res_target->val;
    }
    if (item->node_case == PG_QUERY__NODE__NODE_COLUMN_REF && item->column_ref->n_fields == 1 &&
        item->column_ref->fields[0]->node_case == PG_QUERY__NODE__NODE_STRING) {
        const char *name = item->column_ref->fields[0]->string->sval;
        for (size_t i = 0; i < select->n_target_list; i++) {
            const PgQuery__ResTarget *target = select->target_list[i]->res_target;
            /* An output name, unless it renames an aggregate. */
            if (target->name && *target->name && strcmp(target->name, name) == 0 &&
                !brume_walk_has_aggregate(target->val))
                return target->val;
        }
    }
    return item;
}

const char *brume_walk_output_name(brume_walk *walk, const PgQuery__ResTarget *target)
{
    const char *name = target->name;
    const PgQuery__Node *value = target->val;
    while (value->node_case == PG_QUERY__NODE__NODE_TYPE_CAST && value->type_cast->arg)
        value = value->type_cast->arg;
    if ((!name || !*name) && value->node_case == PG_QUERY__NODE__NODE_COLUMN_REF) {
        const PgQuery__ColumnRef *reference = value->column_ref;
        const PgQuery__Node *last = reference->fields[reference->n_fields - 1];
        name = last->node_case == PG_QUERY__NODE__NODE_STRING ? last->string->sval : NULL;
    }
    if ((!name || !*name) && value->node_case == PG_QUERY__NODE__NODE_FUNC_CALL)
        name = brume_walk_name(value->func_call->funcname, value->func_call->n_funcname);
    if ((!name || !*name) && value->node_case == PG_QUERY__NODE__NODE_CASE_EXPR)
        name = "case";
    if ((!name || !*name) && value->node_case == PG_QUERY__NODE__NODE_COALESCE_EXPR)
        name = "coalesce";
    if ((!name || !*name) && value->node_case == PG_QUERY__NODE__NODE_GROUPING_FUNC)
        name = "grouping";
    if (!name || !*name)
        name = "?column?";
    char *own = brume_arena_text(walk->builder.arena, name);
    if (!own)
        brume_build_fail(&walk->builder, BRUME_EMEMORY, NULL, "out of memory");
    return own;
}

/* GROUP BY: keys, and the grouping sets of ROLLUP, CUBE and GROUPING SETS.
 *
 * Several sets are one GROUP BY over more rows: every row stands there once for each set, with the
 * number of the set as one more key, and NULL for the keys that the set has not. A row's copies are
 * its unit's, so that whatever holds of a unit with many rows in many groups holds here
 * (proofs/grouping-sets.md). */

typedef struct set_list {
    uint32_t sets[BRUME_WALK_SETS];
    size_t count;
} set_list;

static bool add_set(brume_walk_outer *o, set_list *list, uint32_t set)
{
    if (list->count == BRUME_WALK_SETS) {
        brume_build_fail(&o->walk->builder, BRUME_EUNSUPPORTED, "ask in several queries",
                         "GROUP BY has more than %d grouping sets", BRUME_WALK_SETS);
        return false;
    }
    list->sets[list->count++] = set;
    return true;
}

/* The keys that an element stands for: an expression, or several in brackets. */
static bool keys_of(brume_walk_outer *o, const PgQuery__SelectStmt *select,
                    const PgQuery__Node *node, uint32_t *keys)
{
    if (node->node_case == PG_QUERY__NODE__NODE_ROW_EXPR &&
        node->row_expr->row_format == PG_QUERY__COERCION_FORM__COERCE_IMPLICIT_CAST) {
        for (size_t i = 0; i < node->row_expr->n_args; i++)
            if (!keys_of(o, select, node->row_expr->args[i], keys))
                return false;
        return true;
    }
    size_t place = SIZE_MAX;
    const PgQuery__Node *item = brume_walk_group_item(o->walk, select, node);
    if (!item || !walk_add_key(o, item, &place))
        return false;
    if (place != SIZE_MAX)
        *keys |= UINT32_C(1) << place;
    return true;
}

static bool sets_of(brume_walk_outer *o, const PgQuery__SelectStmt *select,
                    const PgQuery__Node *node, set_list *out);

/* ROLLUP (the first ones), CUBE (any of them) and SETS (each by itself). */
static bool sets_of_elements(brume_walk_outer *o, const PgQuery__SelectStmt *select,
                             const PgQuery__GroupingSet *of, set_list *out)
{
    uint32_t elements[BRUME_WALK_KEYS] = {0};
    if (of->kind == PG_QUERY__GROUPING_SET_KIND__GROUPING_SET_SETS) {
        for (size_t i = 0; i < of->n_content; i++)
            if (!sets_of(o, select, of->content[i], out))
                return false;
        return true;
    }
    if (of->n_content > BRUME_WALK_KEYS) {
        brume_walk_outer_fail(o, BRUME_EUNSUPPORTED, "group by fewer columns",
                              "too many group keys");
        return false;
    }
    for (size_t i = 0; i < of->n_content; i++)
        if (!keys_of(o, select, of->content[i], &elements[i]))
            return false;
    bool cube = of->kind == PG_QUERY__GROUPING_SET_KIND__GROUPING_SET_CUBE;
    uint32_t most = cube ? UINT32_C(1) << of->n_content : (uint32_t)of->n_content + 1;
    for (uint32_t i = most; i-- > 0;) {
        uint32_t set = 0;
        for (size_t j = 0; j < of->n_content; j++)
            if (cube ? i >> (of->n_content - 1 - j) & 1 : j < i)
                set |= elements[j];
        if (!add_set(o, out, set))
            return false;
    }
    return true;
}

/* The sets that one item of GROUP BY stands for, after those that are there. */
static bool sets_of(brume_walk_outer *o, const PgQuery__SelectStmt *select,
                    const PgQuery__Node *node, set_list *out)
{
    uint32_t set = 0;
    if (node->node_case != PG_QUERY__NODE__NODE_GROUPING_SET)
        return keys_of(o, select, node, &set) && add_set(o, out, set);
    if (node->grouping_set->kind == PG_QUERY__GROUPING_SET_KIND__GROUPING_SET_EMPTY)
        return add_set(o, out, 0);
    return sets_of_elements(o, select, node->grouping_set, out);
}

/* Every set of the one with every set of the other. */
static bool cross(brume_walk_outer *o, const set_list *a, const set_list *b, set_list *out)
{
    out->count = 0;
    for (size_t i = 0; i < a->count; i++)
        for (size_t j = 0; j < b->count; j++)
            if (!add_set(o, out, a->sets[i] | b->sets[j]))
                return false;
    return true;
}

/* No set twice: SQL would show its groups twice. */
static bool check_different(brume_walk_outer *o, set_list *list, bool distinct)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        bool again = false;
        for (size_t j = 0; j < kept; j++)
            again = again || list->sets[j] == list->sets[i];
        if (again && !distinct) {
            brume_walk_outer_fail(o, BRUME_EUNSUPPORTED, "write GROUP BY DISTINCT ...",
                                  "a grouping set stands twice in GROUP BY");
            return false;
        }
        if (!again)
            list->sets[kept++] = list->sets[i];
    }
    list->count = kept;
    return true;
}

/* The numbers of the sets, as a relation and as the last key. */
static bool add_numbers(brume_walk_outer *o)
{
    brume_builder *builder = &o->walk->builder;
    brume_relation *numbers = brume_walk_relation(o->walk, BRUME_RELATION_NUMBERS);
    brume_relation_column *column = brume_arena_allocate(builder->arena, sizeof *column);
    brume_expression *number = brume_build_node(builder, BRUME_OPERATION_COLUMN,
                                                (brume_type){BRUME_TYPE_INTEGER, 0, 0}, NULL, 0);
    if (!numbers || !column || !number || o->key_count == BRUME_WALK_KEYS) {
        brume_walk_outer_fail(o, BRUME_EUNSUPPORTED, "group by fewer columns",
                              "too many group keys");
        return false;
    }
    number->relation = numbers;
    number->bounds = (brume_bounds){.low = 0, .high = (brume_wide)o->set_count - 1};
    number->bounded = true;
    number->nullable = false;
    *column = (brume_relation_column){.reference = number, .inside = number};
    numbers->columns = column;
    numbers->column_count = 1;
    numbers->key_count = o->set_count;
    o->numbers = numbers;
    o->keys[o->key_count++] = (brume_key){.expression = number, .plain = number};
    return true;
}

/* GROUP BY: the keys and, of ROLLUP, CUBE and GROUPING SETS, the sets of them; the number of the
 * set is then one more key, the last. False: refused. */
static bool walk_grouping(brume_walk_outer *o, const PgQuery__SelectStmt *select)
{
    set_list all = {.sets = {0}, .count = 1}, product;
    for (size_t i = 0; i < select->n_group_clause; i++) {
        set_list item = {.count = 0};
        if (!sets_of(o, select, select->group_clause[i], &item) || !cross(o, &all, &item, &product))
            return false;
        all = product;
    }
    if (!check_different(o, &all, select->group_distinct))
        return false;
    o->set_count = all.count;
    for (size_t i = 0; i < all.count; i++)
        o->sets[i] = all.sets[i];
    return all.count == 1 || add_numbers(o);
}

/* The numbers of the sets that have the key, as literals; returns how many. */
static size_t sets_with(brume_walk_outer *o, size_t key, brume_node literals[BRUME_WALK_SETS])
{
    size_t count = 0;
    for (size_t i = 0; i < o->set_count; i++) {
        char text[24];
        snprintf(text, sizeof text, "%zu", i);
        if (o->sets[i] >> key & 1)
            literals[count++] = brume_build_literal(&o->walk->builder,
                                                    (brume_type){BRUME_TYPE_INTEGER, 0, 0}, text);
    }
    return count;
}

/* Every row of the scope, once for each set. */
static bool join_numbers(brume_walk_outer *o)
{
    const brume_relation *rows = o->scope->relation;
    brume_arena *arena = o->walk->builder.arena;
    brume_relation *made = brume_walk_relation(o->walk, BRUME_RELATION_JOIN);
    brume_relation_column *columns =
        brume_arena_allocate(arena, (rows->column_count + 1) * sizeof *columns);
    size_t *grain = brume_arena_allocate(arena, (rows->grain_count + 1) * sizeof *grain);
    if (!made || !columns || !grain) {
        brume_walk_outer_fail(o, BRUME_EMEMORY, NULL, "out of memory");
        return false;
    }
    for (size_t i = 0; i < rows->column_count; i++)
        columns[i] = rows->columns[i];
    columns[rows->column_count] = o->numbers->columns[0];
    for (size_t i = 0; i < rows->grain_count; i++)
        grain[i] = rows->grain[i];
    grain[rows->grain_count] = rows->column_count;
    size_t number = made->number;
    *made = *rows;
    made->kind = BRUME_RELATION_JOIN;
    made->number = number;
    made->left = rows;
    made->right = o->numbers;
    made->join = BRUME_JOIN_INNER;
    made->condition = made->right_condition = NULL;
    made->columns = columns;
    made->column_count = rows->column_count + 1;
    made->grain = grain;
    made->grain_count = rows->grain_known ? rows->grain_count + 1 : 0;
    o->scope->relation = made;
    return true;
}

/* When everything is walked: let every row of the scope stand there once for each set, and group by
 * NULL instead of a key in the sets that have it not. */
static bool walk_group_sets(brume_walk_outer *o)
{
    brume_builder *builder = &o->walk->builder;
    if (!o->numbers)
        return true;
    brume_node number = o->numbers->columns[0].reference;
    for (size_t k = 0; k + 1 < o->key_count; k++) {
        brume_node literals[BRUME_WALK_SETS];
        size_t count = sets_with(o, k, literals);
        for (size_t i = 0; i < o->set_count; i++)
            o->keys[k].sets |= (uint64_t)(o->sets[i] >> k & 1) << i;
        if (count == o->set_count)
            continue;
        brume_node parts[] = {brume_build_in(builder, false, number, literals, count),
                              o->keys[k].plain};
        o->keys[k].expression = brume_build_case(builder, parts, 2);
        if (!o->keys[k].expression)
            return false;
    }
    o->keys[o->key_count - 1].sets = UINT64_MAX;
    return join_numbers(o);
}

static brume_formula_node make_number(brume_walk_outer *o, double value)
{
    brume_formula *node = brume_walk_outer_make(o, BRUME_FORMULA_LITERAL, NULL, 0);
    if (node)
        node->value = (brume_value){.kind = BRUME_VALUE_NUMBER, .number = value};
    return node;
}

brume_formula_node brume_walk_grouping_function(brume_walk_outer *o,
                                                const PgQuery__GroupingFunc *call)
{
    size_t places[BRUME_WALK_KEYS];
    if (call->n_args > BRUME_WALK_KEYS)
        return brume_walk_outer_fail(o, BRUME_EUNSUPPORTED, NULL,
                                     "GROUPING has too many arguments");
    for (size_t i = 0; i < call->n_args; i++) {
        brume_formula_node key = brume_walk_formula(o, call->args[i]);
        if (!key)
            return NULL;
        if (key->kind != BRUME_FORMULA_KEY)
            return brume_walk_outer_fail(o, BRUME_EARGUMENT, "name a key of GROUP BY",
                                         "GROUPING takes keys of GROUP BY");
        places[i] = key->index;
    }
    if (!o->numbers)
        return make_number(o, 0);
    brume_formula_node parts[2 * BRUME_WALK_SETS];
    brume_formula *number = brume_walk_outer_make(o, BRUME_FORMULA_KEY, NULL, 0);
    if (number)
        number->index = o->key_count - 1;
    for (size_t s = 0; s < o->set_count; s++) {
        uint32_t bits = 0;
        for (size_t i = 0; i < call->n_args; i++)
            bits = 2 * bits + !(o->sets[s] >> places[i] & 1);
        brume_formula_node both[] = {number, make_number(o, (double)s)};
        parts[2 * s] = brume_walk_outer_make(o, BRUME_FORMULA_EQUAL, both, 2);
        parts[2 * s + 1] = make_number(o, bits);
    }
    return brume_walk_outer_make(o, BRUME_FORMULA_CASE, parts, 2 * o->set_count);
}

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

/* A key of GROUP BY; *place is which it is, SIZE_MAX for a constant. False: refused. */
static bool walk_add_key(brume_walk_outer *o, const PgQuery__Node *node, size_t *place)
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
    return walk_add_key(o, node, &place);
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
    if (!walk_grouping(o, select))
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
    if (!walk_group_sets(o))
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
