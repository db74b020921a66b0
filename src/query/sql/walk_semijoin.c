/* EXISTS (SELECT ...), x IN (SELECT ...) and NOT of these, as conjuncts of WHERE.
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

static bool add_relation(brume_walk *walk, brume_walk_scope *left, const brume_walk_scope *right,
                         bool negated, brume_node own, brume_node shared)
{
    brume_relation *made = brume_walk_relation(walk, BRUME_RELATION_JOIN);
    const brume_relation *from = left->relation;
    if (!made || !brume_walk_check_plain(walk, shared))
        return false;
    size_t number = made->number;
    *made = *from; /* the rows of `left`: its columns, unit and grain */
    made->kind = BRUME_RELATION_JOIN;
    made->number = number;
    made->join = negated ? BRUME_JOIN_ANTI : BRUME_JOIN_SEMI;
    made->left = from;
    made->right = right->relation;
    made->condition = shared;
    made->right_condition = own;
    if (negated && right->relation->privacy != BRUME_PRIVACY_PUBLIC && shared &&
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

static bool walk_exists(brume_walk *walk, const PgQuery__SelectStmt *select, bool negated,
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
    return add_relation(walk, left, &right, negated, own, shared);
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

static bool walk_in(brume_walk *walk, const PgQuery__SubLink *link, bool negated,
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
    if (negated && relation->privacy == BRUME_PRIVACY_PUBLIC) { /* as SQL has it with NULLs */
        brume_node any[] = {
            equal, brume_build_test(builder, BRUME_OPERATION_IS_NULL, value),
            brume_build_test(builder, BRUME_OPERATION_IS_NULL, relation->columns[0].reference)};
        equal = any[1] && any[2] ? brume_build_logic(builder, BRUME_OPERATION_OR, any, 3) : NULL;
        if (!equal)
            return false;
    }
    return add_relation(walk, left, &right, negated, NULL, equal);
}

bool brume_walk_semijoin(brume_walk *walk, const PgQuery__Node *node,
                         const brume_walk_common *common, brume_walk_scope *scope)
{
    bool negated = false;
    const PgQuery__SubLink *link = sublink_of(node, &negated);
    if (++walk->depth > BRUME_WALK_DEPTH)
        return refuse(walk, BRUME_EUNSUPPORTED, NULL, "subqueries are nested too deeply");
    bool done = link->sub_link_type == PG_QUERY__SUB_LINK_TYPE__EXISTS_SUBLINK
                    ? walk_exists(walk, link->subselect->select_stmt, negated, common, scope)
                    : walk_in(walk, link, negated, common, scope);
    walk->depth--;
    return done;
}
