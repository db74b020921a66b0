/* GROUP BY: keys, and the grouping sets of ROLLUP, CUBE and GROUPING SETS.
 *
 * Several sets are one GROUP BY over more rows: every row stands there once for each set, with the
 * number of the set as one more key, and NULL for the keys that the set has not. A row's copies are
 * its unit's, so that whatever holds of a unit with many rows in many groups holds here
 * (proofs/grouping-sets.md). */
#include "query/sql/walk_from.h"
#include "query/sql/walk_outer.h"

#include <stdio.h>

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
    if (!item || !brume_walk_add_key(o, item, &place))
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

bool brume_walk_grouping(brume_walk_outer *o, const PgQuery__SelectStmt *select)
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

bool brume_walk_group_sets(brume_walk_outer *o)
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
