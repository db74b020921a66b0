/* Links: how a join finds out whose a row is.
 *
 * Invariant (proofs/links.md). A row of a scope is of one unit, and so is every protected row that
 * it is made of. Where the unit is still to be found (privacy LINK), the row has a link key that is
 * not `found`, and everything it is made of belongs to each unit that has a row with that key in
 * the table the link goes to; joining that table gives one row for each. */
#include "query/sql/walk_from.h"

#include <string.h>

/* ---- equal keys ---- */

static brume_walk_link link_of(const brume_link_key *left, const brume_link_key *right)
{
    if (left->found)
        return right->found ? BRUME_LINK_SAME_KEY : BRUME_LINK_TO_LEFT;
    return right->found ? BRUME_LINK_TO_RIGHT : BRUME_LINK_SIBLINGS;
}

/* The link that `a` of the left and `b` of the right being equal makes. */
static brume_walk_link link_by(const brume_walk_scope *left, const brume_walk_scope *right,
                               brume_node a, brume_node b)
{
    brume_walk_link best = BRUME_LINK_NONE;
    for (size_t i = 0; i < left->link_key_count; i++)
        for (size_t j = 0; j < right->link_key_count; j++) {
            const brume_link_key *one = &left->link_keys[i], *other = &right->link_keys[j];
            if (one->table == other->table && one->column == other->column &&
                brume_walk_is_column(one->node, a) && brume_walk_is_column(other->node, b) &&
                link_of(one, other) > best)
                best = link_of(one, other);
        }
    return best;
}

brume_walk_link brume_walk_find_link(const brume_walk_scope *left, const brume_walk_scope *right,
                                     brume_node condition, brume_node *equality)
{
    brume_walk_link best = BRUME_LINK_NONE;
    if (!condition)
        return best;
    if (condition->operation == BRUME_OPERATION_AND) {
        for (size_t i = 0; i < condition->argument_count; i++) {
            brume_node found = NULL;
            brume_walk_link each =
                brume_walk_find_link(left, right, condition->arguments[i], &found);
            if (each > best) {
                best = each;
                if (equality)
                    *equality = found;
            }
        }
        return best;
    }
    if (condition->operation != BRUME_OPERATION_EQUAL)
        return best;
    brume_node a = condition->arguments[0], b = condition->arguments[1];
    best = link_by(left, right, a, b);
    if (link_by(left, right, b, a) > best)
        best = link_by(left, right, b, a);
    if (best != BRUME_LINK_NONE && equality)
        *equality = condition;
    return best;
}

brume_node brume_walk_joining(const brume_walk_scope *left, const brume_walk_scope *right,
                              brume_node condition, bool *any)
{
    brume_node found = NULL;
    *any = left->relation->privacy == BRUME_PRIVACY_PUBLIC ||
           right->relation->privacy == BRUME_PRIVACY_PUBLIC;
    if (*any)
        return NULL;
    if (brume_walk_find_link(left, right, condition, &found) != BRUME_LINK_NONE)
        return found;
    return brume_walk_unit_equality(left, right, condition);
}

/* ---- the unit ---- */

bool brume_walk_resolve(brume_walk *walk, brume_walk_scope *scope)
{
    while (scope->relation->privacy == BRUME_PRIVACY_LINK) {
        const brume_link_key *key = NULL;
        for (size_t i = 0; i < scope->link_key_count && !key; i++)
            if (!scope->link_keys[i].found)
                key = &scope->link_keys[i];
        brume_walk_scope parent = {0};
        if (!key) {
            brume_build_fail(&walk->builder, BRUME_EINTERNAL, NULL, "a linked row has no link");
            return false;
        }
        if (!brume_walk_table_scope(walk, key->table, &parent))
            return false;
        brume_node equal = brume_build_compare(&walk->builder, BRUME_OPERATION_EQUAL, key->node,
                                               parent.relation->columns[key->column].reference);
        if (!equal || !brume_walk_join_scopes(walk, scope, &parent, BRUME_JOIN_INNER, equal))
            return false;
    }
    return true;
}

/* "on their units", and along what else. */
static bool refuse_join(brume_walk *walk, const brume_walk_scope *left,
                        const brume_walk_scope *right)
{
    bool linked = left->link_key_count || right->link_key_count;
    brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED,
                     linked ? "write ON child.KEY = parent.KEY as in the link, or ON a.UNIT = "
                              "b.UNIT; else a row would be made of rows of several units"
                            : "write ON a.UNIT = b.UNIT (AND ...)",
                     linked ? "protected tables can be joined only along a link or on their units"
                            : "datasets can be joined only on their units");
    return false;
}

bool brume_walk_match_units(brume_walk *walk, brume_walk_scope *left, brume_walk_scope *right,
                            brume_walk_link link, brume_node *condition)
{
    if (!brume_walk_resolve(walk, left) || !brume_walk_resolve(walk, right) ||
        !brume_walk_units_match(walk, left->relation, right->relation))
        return false;
    if (brume_walk_unit_equality(left, right, *condition))
        return true;
    if (link == BRUME_LINK_NONE)
        return refuse_join(walk, left, right);
    brume_node equal =
        brume_build_compare(&walk->builder, BRUME_OPERATION_EQUAL,
                            left->relation->columns[left->relation->unit].reference,
                            right->relation->columns[right->relation->unit].reference);
    brume_node both[] = {*condition, equal};
    *condition = equal ? brume_build_logic(&walk->builder, BRUME_OPERATION_AND, both, 2) : NULL;
    return *condition != NULL;
}

/* ---- keys of a join ---- */

static void add_keys(brume_walk_scope *joined, const brume_walk_scope *side, bool found)
{
    enum { MOST = sizeof joined->link_keys / sizeof *joined->link_keys };
    for (size_t i = 0; i < side->link_key_count; i++) {
        brume_link_key key = side->link_keys[i];
        key.found = key.found || found;
        /* One that does not fit can no longer be joined on; those still to be found stand first. */
        if (joined->link_key_count < MOST)
            joined->link_keys[joined->link_key_count++] = key;
    }
}

/* The keys that are still to be found stand first. */
static void order_keys(brume_walk_scope *scope)
{
    brume_link_key ordered[sizeof scope->link_keys / sizeof *scope->link_keys];
    size_t count = 0;
    for (int found = 0; found < 2; found++)
        for (size_t i = 0; i < scope->link_key_count; i++)
            if (scope->link_keys[i].found == (found != 0))
                ordered[count++] = scope->link_keys[i];
    memcpy(scope->link_keys, ordered, count * sizeof *ordered);
}

void brume_walk_join_keys(brume_walk_scope *joined, const brume_walk_scope *left,
                          const brume_walk_scope *right, brume_join kind, brume_walk_link link)
{
    brume_walk_scope sides[2] = {*left, *right};
    joined->link_key_count = 0;
    order_keys(&sides[0]);
    order_keys(&sides[1]);
    /* The side that the link goes to comes first: what it has still to find is what is left. */
    bool swap = link == BRUME_LINK_TO_RIGHT;
    for (int i = 0; i < 2; i++) {
        bool is_right = (i == 1) != swap;
        bool missing = is_right ? kind == BRUME_JOIN_LEFT || kind == BRUME_JOIN_FULL
                                : kind == BRUME_JOIN_RIGHT || kind == BRUME_JOIN_FULL;
        bool child = is_right ? link == BRUME_LINK_TO_LEFT : link == BRUME_LINK_TO_RIGHT;
        if (!missing)
            add_keys(joined, &sides[is_right], child);
    }
}
