/* EXISTS (SELECT ...), x IN (SELECT ...) and NOT of these, as conjuncts of WHERE; and subqueries
 * anywhere in an expression: EXISTS and IN as a column that says whether there is a match, one
 * aggregate as a LEFT JOIN with groups.
 *
 * Promise: what a unit's rows become depends on that unit's own rows in the other dataset alone,
 * since the units of both must be compared as equal; a public table may be looked up by anything.
 * Taking a unit out of the other dataset then
 *   - takes all its rows away (EXISTS, IN), or gives all of them back (NOT, where only the unit is
 *     compared): all against none, as an inner join;
 *   - turns some of its rows into others where NOT compares more than the unit: the other dataset's
 *     tables are charged as on the nullable side of an outer join.
 * NOT IN means "no equal row": NULLs in the list are ignored, so that nobody's missing value
 * decides about others. */
#include "query/sql/walk_from.h"

#include <string.h>

static const PgQuery__SubLink *sublink_of(const PgQuery__Node *node, bool *negated)
{
    *negated = false;
    if (node->node_case == PG_QUERY__NODE__NODE_BOOL_EXPR &&
        node->bool_expr->boolop == PG_QUERY__BOOL_EXPR_TYPE__NOT_EXPR &&
        node->bool_expr->n_args == 1) {
        *negated = true;
        node = node->bool_expr->args[0];
    }
    if (node->node_case != PG_QUERY__NODE__NODE_SUB_LINK || !node->sub_link->subselect ||
        node->sub_link->subselect->node_case != PG_QUERY__NODE__NODE_SELECT_STMT)
        return NULL;
    const PgQuery__SubLink *link = node->sub_link;
    if (link->sub_link_type == PG_QUERY__SUB_LINK_TYPE__EXISTS_SUBLINK)
        return link;
    const char *word = brume_walk_name(link->oper_name, link->n_oper_name);
    bool equality = link->n_oper_name == 0 || (word && strcmp(word, "=") == 0);
    return link->sub_link_type == PG_QUERY__SUB_LINK_TYPE__ANY_SUBLINK && link->testexpr && equality
               ? link
               : NULL;
}

bool brume_walk_is_semijoin(const PgQuery__Node *node)
{
    bool negated;
    return node && sublink_of(node, &negated);
}

/* ---- conditions ---- */

static bool in_sources(const brume_walk_scope *scope, brume_node column)
{
    for (const brume_walk_source *each = scope->sources; each; each = each->next)
        for (size_t i = 0; i < each->column_count; i++)
            if (brume_expression_equal(each->columns[i].reference, column) ||
                brume_expression_equal(each->columns[i].inside, column))
                return true;
    return false;
}

/* Are all columns of `node` those of `right`, or (where `units`) units of `left`? */
static bool reads_only(brume_node node, const brume_walk_scope *right, const brume_walk_scope *left,
                       bool units)
{
    if (node->operation == BRUME_OPERATION_COLUMN)
        return in_sources(right, node) || (units && brume_walk_is_unit(left, node));
    for (size_t i = 0; i < node->argument_count; i++)
        if (!reads_only(node->arguments[i], right, left, units))
            return false;
    return true;
}

static brume_node both(brume_walk *walk, brume_node a, brume_node b)
{
    brume_node pair[] = {a, b};
    return !a ? b : !b ? a : brume_build_logic(&walk->builder, BRUME_OPERATION_AND, pair, 2);
}

/* The conjuncts of `condition` that read `right` alone go to *own, the others to *shared. */
static bool split(brume_walk *walk, brume_node condition, const brume_walk_scope *left,
                  const brume_walk_scope *right, brume_node *own, brume_node *shared)
{
    if (!condition)
        return true;
    if (condition->operation == BRUME_OPERATION_AND) {
        for (size_t i = 0; i < condition->argument_count; i++)
            if (!split(walk, condition->arguments[i], left, right, own, shared))
                return false;
        return true;
    }
    brume_node *to = reads_only(condition, right, left, false) ? own : shared;
    *to = both(walk, *to, condition);
    return *to != NULL;
}

/* ---- the relation ---- */

static bool refuse(brume_walk *walk, brume_status status, const char *hint, const char *message)
{
    brume_build_fail(&walk->builder, status, hint, "%s", message);
    return false;
}

/* May rows of `left` depend on rows of `right` by this condition? Yes, where these are linked to a
 * row that the row of `left` holds, or both are linked to the same; else their units must be equal.
 */
static bool check_sides(brume_walk *walk, brume_walk_scope *left, brume_walk_scope *right,
                        brume_node *shared)
{
    if (right->relation->privacy == BRUME_PRIVACY_PUBLIC)
        return true;
    if (left->relation->privacy == BRUME_PRIVACY_PUBLIC ||
        left->relation->privacy == BRUME_PRIVACY_ROW ||
        right->relation->privacy == BRUME_PRIVACY_ROW)
        return refuse(walk, BRUME_EUNSUPPORTED, "both must be registered with a column as unit",
                      "EXISTS and IN over a protected dataset need a unit on both sides");
    brume_walk_link link = brume_walk_find_link(left, right, *shared, NULL);
    if (link == BRUME_LINK_TO_LEFT || link == BRUME_LINK_SIBLINGS)
        return true;
    if (link != BRUME_LINK_NONE)
        return brume_walk_match_units(walk, left, right, link, shared);
    if (!brume_walk_resolve(walk, left) || !brume_walk_resolve(walk, right) ||
        !brume_walk_units_match(walk, left->relation, right->relation))
        return false;
    if (!brume_walk_unit_equality(left, right, *shared))
        return refuse(walk, BRUME_EUNSUPPORTED,
                      "write EXISTS (SELECT 1 FROM b WHERE b.UNIT = a.UNIT AND ...), or a.UNIT IN "
                      "(SELECT UNIT FROM b WHERE ...)",
                      "a subquery in WHERE must compare the units: other persons' rows cannot "
                      "decide");
    return true;
}

/* One more column, the last: is there a match? */
static bool add_mark(brume_walk *walk, brume_relation *made)
{
    size_t count = made->column_count;
    brume_relation_column *columns =
        brume_arena_allocate(walk->builder.arena, (count + 1) * sizeof *columns);
    brume_expression *mark = brume_build_node(&walk->builder, BRUME_OPERATION_COLUMN,
                                              (brume_type){BRUME_TYPE_BOOLEAN, 0, 0}, NULL, 0);
    if (!columns || !mark)
        return refuse(walk, BRUME_EMEMORY, NULL, "out of memory");
    if (count)
        memcpy(columns, made->columns, count * sizeof *columns);
    mark->relation = made;
    mark->column = count;
    mark->nullable = false;
    columns[count] = (brume_relation_column){.reference = mark, .inside = mark};
    made->columns = columns;
    made->column_count = count + 1;
    return true;
}

/* The rows of `left` that have a match, those that have none, or all, with a column that says it.
 */
static bool add_relation(brume_walk *walk, brume_walk_scope *left, const brume_walk_scope *right,
                         brume_join join, brume_node own, brume_node shared)
{
    brume_relation *made = brume_walk_relation(walk, BRUME_RELATION_JOIN);
    const brume_relation *from = left->relation;
    if (!made || !brume_walk_check_plain(walk, from, right->relation, shared))
        return false;
    size_t number = made->number;
    *made = *from; /* the rows of `left`: its columns, unit and grain */
    made->kind = BRUME_RELATION_JOIN;
    made->number = number;
    made->join = join;
    made->left = from;
    made->right = right->relation;
    made->condition = shared;
    made->right_condition = own;
    if (join == BRUME_JOIN_MARK && !add_mark(walk, made))
        return false;
    if (join != BRUME_JOIN_SEMI && right->relation->privacy != BRUME_PRIVACY_PUBLIC && shared &&
        !reads_only(shared, right, left, true))
        brume_walk_mark_nullable(walk, right->relation);
    left->relation = made;
    return true;
}

/* ---- EXISTS ---- */

static bool check_subselect(brume_walk *walk, const PgQuery__SelectStmt *select)
{
    const char *hint = "write UNIT IN (SELECT UNIT FROM ... GROUP BY UNIT HAVING ...)";
    if (!brume_walk_check_select(walk, select))
        return false;
    if (select->n_group_clause || select->having_clause)
        return refuse(walk, BRUME_EUNSUPPORTED, hint,
                      "GROUP BY and HAVING in EXISTS are not supported");
    for (size_t i = 0; i < select->n_target_list; i++)
        if (select->target_list[i]->node_case != PG_QUERY__NODE__NODE_RES_TARGET ||
            brume_walk_has_aggregate(select->target_list[i]->res_target->val))
            return refuse(walk, BRUME_EUNSUPPORTED, hint,
                          "an aggregate in EXISTS is not supported");
    if (select->limit_count || select->limit_offset)
        return refuse(walk, BRUME_EUNSUPPORTED, "leave it out", "LIMIT in EXISTS is not supported");
    return true;
}

static bool walk_exists(brume_walk *walk, const PgQuery__SelectStmt *select, brume_join join,
                        const brume_walk_common *common, brume_walk_scope *left)
{
    brume_walk_scope seen = *left, right = {.outer = &seen};
    brume_node condition, own = NULL, shared = NULL;
    seen.outer = NULL; /* one level of names is enough */
    if (!check_subselect(walk, select) || !brume_walk_with(walk, select, &common) ||
        !brume_walk_from(walk, select, common, &right, &condition) ||
        !split(walk, condition, left, &right, &own, &shared) ||
        !check_sides(walk, left, &right, &shared))
        return false;
    return add_relation(walk, left, &right, join, own, shared);
}

/* ---- IN ---- */

/* The column that the subquery selects, under a name of its own. */
static bool one_column(brume_walk *walk, const PgQuery__SelectStmt *select,
                       const brume_relation *relation, brume_walk_source *source)
{
    if (select->n_target_list != 1 || relation->column_count == 0 || !relation->columns[0].name)
        return refuse(walk, BRUME_EARGUMENT, "select one column", "IN takes one column");
    *source = (brume_walk_source){"", relation->column_count, relation->columns, NULL, NULL};
    return true;
}

static bool walk_in(brume_walk *walk, const PgQuery__SubLink *link, brume_join join,
                    const brume_walk_common *common, brume_walk_scope *left)
{
    PgQuery__SelectStmt plain = *link->subselect->select_stmt, *select = &plain;
    brume_builder *builder = &walk->builder;
    if (plain.n_distinct_clause == 1 &&
        plain.distinct_clause[0]->node_case == PG_QUERY__NODE__NODE__NOT_SET)
        plain.n_distinct_clause = 0; /* a list has the same members with and without it */
    brume_walk_source *source = brume_arena_allocate(builder->arena, sizeof *source);
    if (!source)
        return refuse(walk, BRUME_EMEMORY, NULL, "out of memory");
    brume_node value = brume_walk_expression(walk, left, NULL, link->testexpr, false);
    const brume_relation *relation = value ? brume_walk_select(walk, select, common) : NULL;
    if (!relation || !one_column(walk, select, relation, source))
        return false;
    brume_walk_scope right = {.sources = source, .relation = relation};
    if (relation->privacy == BRUME_PRIVACY_UNIT)
        right.units[right.unit_count++] = relation->columns[relation->unit].reference;
    brume_node equal =
        brume_build_compare(builder, BRUME_OPERATION_EQUAL, value, relation->columns[0].reference);
    for (size_t i = 0; i < relation->link_key_count && i < 16; i++)
        right.link_keys[right.link_key_count++] = relation->link_keys[i];
    if (!equal || !check_sides(walk, left, &right, &equal))
        return false;
    if (join == BRUME_JOIN_MARK && relation->privacy == BRUME_PRIVACY_PUBLIC)
        return refuse(walk, BRUME_EUNSUPPORTED,
                      "write EXISTS (SELECT 1 FROM public p WHERE p.y = x)",
                      "IN (SELECT ...) of a public table inside an expression is not supported");
    if (join == BRUME_JOIN_ANTI &&
        relation->privacy == BRUME_PRIVACY_PUBLIC) { /* as SQL has it with NULLs */
        brume_node any[] = {
            equal, brume_build_test(builder, BRUME_OPERATION_IS_NULL, value),
            brume_build_test(builder, BRUME_OPERATION_IS_NULL, relation->columns[0].reference)};
        equal = any[1] && any[2] ? brume_build_logic(builder, BRUME_OPERATION_OR, any, 3) : NULL;
        if (!equal)
            return false;
    }
    return add_relation(walk, left, &right, join, NULL, equal);
}

bool brume_walk_semijoin(brume_walk *walk, const PgQuery__Node *node,
                         const brume_walk_common *common, brume_walk_scope *scope)
{
    bool negated = false;
    const PgQuery__SubLink *link = sublink_of(node, &negated);
    if (++walk->depth > BRUME_WALK_DEPTH)
        return refuse(walk, BRUME_EUNSUPPORTED, NULL, "subqueries are nested too deeply");
    brume_join join = negated ? BRUME_JOIN_ANTI : BRUME_JOIN_SEMI;
    bool done = link->sub_link_type == PG_QUERY__SUB_LINK_TYPE__EXISTS_SUBLINK
                    ? walk_exists(walk, link->subselect->select_stmt, join, common, scope)
                    : walk_in(walk, link, join, common, scope);
    walk->depth--;
    return done;
}

/* ---- in an expression ---- */

/* A subquery of a scope, and what stands for it. */
struct brume_walk_match {
    const PgQuery__SubLink *link;
    brume_node value;
    struct brume_walk_match *next;
};

/* EXISTS, IN: the mark of the relation that is now the scope's. */
static brume_node walk_mark(brume_walk *walk, const PgQuery__SubLink *link, brume_walk_scope *scope)
{
    bool done =
        link->sub_link_type == PG_QUERY__SUB_LINK_TYPE__EXISTS_SUBLINK
            ? walk_exists(walk, link->subselect->select_stmt, BRUME_JOIN_MARK, scope->common, scope)
            : walk_in(walk, link, BRUME_JOIN_MARK, scope->common, scope);
    const brume_relation *made = scope->relation;
    return done ? made->columns[made->column_count - 1].reference : NULL;
}

/* One aggregate and no more clauses: a value for each row of `left`. */
static bool check_single(brume_walk *walk, const PgQuery__SelectStmt *select)
{
    const char *hint =
        "write (SELECT MIN(b.x) FROM b WHERE b.UNIT = a.UNIT), or join with a subquery "
        "in FROM that groups by the unit";
    if (!brume_walk_check_select(walk, select))
        return false;
    if (select->n_target_list != 1 || select->n_group_clause || select->having_clause ||
        select->n_distinct_clause || select->n_sort_clause || select->limit_count ||
        select->limit_offset ||
        select->target_list[0]->node_case != PG_QUERY__NODE__NODE_RES_TARGET ||
        !brume_walk_has_fold(select->target_list[0]->res_target->val))
        return refuse(walk, BRUME_EUNSUPPORTED, hint,
                      "a subquery for a value must be one aggregate without GROUP BY and LIMIT");
    return true;
}

/* Does `node` read no column of `right`? */
static bool reads_none(brume_node node, const brume_walk_scope *right)
{
    if (node->operation == BRUME_OPERATION_COLUMN && in_sources(right, node))
        return false;
    for (size_t i = 0; i < node->argument_count; i++)
        if (!reads_none(node->arguments[i], right))
            return false;
    return true;
}

/* Each conjunct of `shared` is an equality of something of `right`, by which its rows are grouped,
 * and something of `left`: *on says the same of the groups. */
static bool group_by_shared(brume_walk *walk, const brume_walk_scope *right, brume_node shared,
                            brume_walk_group *group, size_t *unit, brume_node *on)
{
    if (shared->operation == BRUME_OPERATION_AND) {
        for (size_t i = 0; i < shared->argument_count; i++)
            if (!group_by_shared(walk, right, shared->arguments[i], group, unit, on))
                return false;
        return true;
    }
    int side = -1;
    for (int i = 0; shared->operation == BRUME_OPERATION_EQUAL && i < 2; i++)
        if (reads_none(shared->arguments[1 - i], right) &&
            (reads_only(shared->arguments[i], right, right, true)))
            side = i;
    if (side < 0)
        return refuse(
            walk, BRUME_EUNSUPPORTED,
            "compare with = only; of earlier or later rows of the same unit use LAG, LEAD "
            "or COUNT(*) OVER (PARTITION BY the unit ORDER BY t) in a subquery",
            "a subquery for a value compares more than what is equal");
    brume_node key = shared->arguments[side];
    size_t at = group->group->key_count;
    if (!brume_walk_add_group_key(walk, group, key))
        return false;
    if (brume_walk_is_unit(right, key))
        *unit = at;
    brume_node equal = brume_build_compare(&walk->builder, BRUME_OPERATION_EQUAL,
                                           shared->arguments[1 - side],
                                           group->group_columns[at].reference);
    *on = equal ? both(walk, *on, equal) : NULL;
    return *on != NULL;
}

/* The rows of `left`, each with the one group of `right` that is equal to it, or with none. */
static brume_node join_groups(brume_walk *walk, const PgQuery__Node *value, brume_walk_scope *left,
                              brume_walk_scope *right, brume_node own, brume_node shared)
{
    brume_walk_group *group = brume_arena_allocate(walk->builder.arena, sizeof *group);
    if (!group)
        return brume_build_fail(&walk->builder, BRUME_EMEMORY, NULL, "out of memory");
    group->rows = right;
    group->base = brume_walk_relation(walk, BRUME_RELATION_SELECT);
    group->group = brume_walk_relation(walk, BRUME_RELATION_GROUP);
    brume_relation *made = brume_walk_relation(walk, BRUME_RELATION_JOIN);
    brume_node on = NULL;
    size_t unit = SIZE_MAX;
    if (!group->base || !group->group || !made ||
        !group_by_shared(walk, right, shared, group, &unit, &on) ||
        !brume_walk_check_plain(walk, left->relation, group->group, on))
        return NULL;
    if (unit == SIZE_MAX) /* cannot be: the units are compared */
        return brume_build_fail(&walk->builder, BRUME_EINTERNAL, NULL, "groups have no unit");
    for (size_t i = 0; i < group->group->key_count; i++) {
        brume_node key = brume_walk_nullable(walk, group->group_columns[i].reference);
        group->group_columns[i].reference = group->group_columns[i].inside = key;
    }
    group->may_be_missing = true;
    brume_node result = brume_walk_expression(walk, right, group, value, false);
    if (!result)
        return NULL;
    group->base->left = right->relation;
    group->base->condition = own;
    group->base->columns = group->base_columns;
    group->base->privacy = group->group->privacy = BRUME_PRIVACY_UNIT;
    group->base->unit = group->group->unit = unit;
    group->group->left = group->base;
    group->group->columns = group->group_columns;
    size_t number = made->number;
    *made = *left->relation; /* its columns, unit and grain: there is one group at most */
    made->kind = BRUME_RELATION_JOIN;
    made->number = number;
    made->join = BRUME_JOIN_LEFT;
    made->left = left->relation;
    made->right = group->group;
    made->condition = on;
    made->right_condition = NULL;
    brume_walk_mark_nullable(walk, group->group);
    left->relation = made;
    return result;
}

/* (SELECT one aggregate FROM ... WHERE b.UNIT = a.UNIT AND ...) */
static brume_node walk_single(brume_walk *walk, const PgQuery__SubLink *link,
                              brume_walk_scope *left)
{
    const PgQuery__SelectStmt *select = link->subselect->select_stmt;
    const brume_walk_common *common = left->common;
    brume_walk_scope seen = *left,
                     *right = brume_arena_allocate(walk->builder.arena, sizeof *right);
    brume_node condition, own = NULL, shared = NULL;
    if (!right)
        return brume_build_fail(&walk->builder, BRUME_EMEMORY, NULL, "out of memory");
    seen.outer = NULL;
    right->outer = &seen;
    bool good = check_single(walk, select) && brume_walk_with(walk, select, &common) &&
                brume_walk_from(walk, select, common, right, &condition) &&
                split(walk, condition, left, right, &own, &shared);
    right->outer = NULL;
    if (!good)
        return NULL;
    if (right->relation->privacy == BRUME_PRIVACY_PUBLIC)
        return brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED,
                                "join with the public table in FROM",
                                "a subquery for a value of a public table is not supported here");
    if (!shared)
        return brume_build_fail(
            &walk->builder, BRUME_EUNSUPPORTED,
            "in WHERE, HAVING, FILTER or beside aggregates it is asked first; a "
            "value of the row's own unit: (SELECT MAX(b.x) FROM b WHERE b.UNIT = "
            "a.UNIT)",
            "a subquery over all rows cannot stand inside an aggregate or a key");
    brume_walk_link by = brume_walk_find_link(left, right, shared, NULL);
    if (!check_sides(walk, left, right, &shared) ||
        !brume_walk_match_units(walk, left, right, by, &shared))
        return NULL;
    return join_groups(walk, select->target_list[0]->res_target->val, left, right, own, shared);
}

brume_node brume_walk_sublink(brume_walk *walk, brume_walk_scope *scope,
                              const PgQuery__SubLink *link)
{
    PgQuery__Node node = PG_QUERY__NODE__INIT;
    node.node_case = PG_QUERY__NODE__NODE_SUB_LINK;
    node.sub_link = (PgQuery__SubLink *)link; /* cast: it is only read */
    for (const struct brume_walk_match *each = scope->matches; each; each = each->next)
        if (each->link == link) /* an output is walked twice */
            return each->value;
    bool single = link->sub_link_type == PG_QUERY__SUB_LINK_TYPE__EXPR_SUBLINK && link->subselect &&
                  link->subselect->node_case == PG_QUERY__NODE__NODE_SELECT_STMT;
    if (!scope->complete || (!single && !brume_walk_is_semijoin(&node)))
        return brume_walk_refuse(walk, &node);
    if (!brume_walk_resolve(walk, scope))
        return NULL;
    if (++walk->depth > BRUME_WALK_DEPTH)
        return brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED, NULL,
                                "subqueries are nested too deeply");
    brume_node value = single ? walk_single(walk, link, scope) : walk_mark(walk, link, scope);
    walk->depth--;
    struct brume_walk_match *match = brume_arena_allocate(walk->builder.arena, sizeof *match);
    if (!value || !match)
        return value ? brume_build_fail(&walk->builder, BRUME_EMEMORY, NULL, "out of memory")
                     : NULL;
    *match = (struct brume_walk_match){link, value, scope->matches};
    scope->matches = match;
    return value;
}
