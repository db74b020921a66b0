/* Joins: along which links they go, JOIN ... ON, USING and by comma, and semi-joins.
 *
 * Joins keep the unit: two protected sides must be joined on it or along a link; a public side may
 * be joined on anything, since that multiplies a unit's own rows only. Which rows a unit has in the
 * result is then a function of that unit's rows alone. */
#include "query/sql/walk.h"

#include <string.h>
#include <strings.h>

#include "query/print/print.h"

/* What a join of two protected sides on `condition` says of their links (proofs/links.md). */
typedef enum brume_walk_link {
    BRUME_LINK_NONE,
    BRUME_LINK_SAME_KEY, /* the key is equal that a link goes to, and the units may differ */
    BRUME_LINK_SIBLINGS, /* both are linked to the same rows, still to be found */
    BRUME_LINK_TO_LEFT,  /* a row of the right is whose the row of the left is */
    BRUME_LINK_TO_RIGHT, /* a row of the left is whose the row of the right is */
} brume_walk_link;

static brume_node walk_unit_equality(const brume_walk_scope *left, const brume_walk_scope *right,
                                     brume_node condition);

/* Links: how a join finds out whose a row is.
 *
 * Invariant (proofs/links.md). A row of a scope is of one unit, and so is every protected row that
 * it is made of. Where the unit is still to be found (privacy LINK), the row has a link key that is
 * not `found`, and everything it is made of belongs to each unit that has a row with that key in
 * the table the link goes to; joining that table gives one row for each. */

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

/* `equality`, if not NULL, becomes the conjunct that says so. */
static brume_walk_link walk_find_link(const brume_walk_scope *left, const brume_walk_scope *right,
                                      brume_node condition, brume_node *equality)
{
    brume_walk_link best = BRUME_LINK_NONE;
    if (!condition)
        return best;
    if (condition->operation == BRUME_OPERATION_AND) {
        for (size_t i = 0; i < condition->argument_count; i++) {
            brume_node found = NULL;
            brume_walk_link each = walk_find_link(left, right, condition->arguments[i], &found);
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
    if (walk_find_link(left, right, condition, &found) != BRUME_LINK_NONE)
        return found;
    return walk_unit_equality(left, right, condition);
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

/* Both sides get their units, and *condition says that these are equal: it does so already, or
 * (SAME_KEY) it is added. False: refused. */
static bool walk_match_units(brume_walk *walk, brume_walk_scope *left, brume_walk_scope *right,
                             brume_walk_link link, brume_node *condition)
{
    if (!brume_walk_resolve(walk, left) || !brume_walk_resolve(walk, right) ||
        !brume_walk_units_match(walk, left->relation, right->relation))
        return false;
    if (walk_unit_equality(left, right, *condition))
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

/* The link keys of a join: those of the sides whose rows cannot be missing. */
static void walk_join_keys(brume_walk_scope *joined, const brume_walk_scope *left,
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

/* A conjunct of `condition` that says the units of both sides are equal. */
static brume_node walk_unit_equality(const brume_walk_scope *left, const brume_walk_scope *right,
                                     brume_node condition)
{
    if (!condition)
        return NULL;
    if (condition->operation == BRUME_OPERATION_AND) {
        brume_node found = walk_unit_equality(left, right, condition->arguments[0]);
        return found ? found : walk_unit_equality(left, right, condition->arguments[1]);
    }
    if (condition->operation != BRUME_OPERATION_EQUAL)
        return NULL;
    brume_node a = condition->arguments[0], b = condition->arguments[1];
    if ((brume_walk_is_unit(left, a) && brume_walk_is_unit(right, b)) ||
        (brume_walk_is_unit(right, a) && brume_walk_is_unit(left, b)))
        return condition;
    return NULL;
}

/* Every table of `relation` is charged as on the nullable side of an outer join. */
static void walk_mark_nullable(brume_walk *walk, const brume_relation *relation)
{
    if (!relation)
        return;
    if (relation->kind == BRUME_RELATION_TABLE)
        for (size_t i = 0; i < walk->table_count; i++)
            if (walk->tables[i].table == relation->table)
                walk->tables[i].nullable_side = true;
    walk_mark_nullable(walk, relation->left);
    walk_mark_nullable(walk, relation->right);
}

static bool make_nullable(brume_walk *walk, brume_walk_scope *scope)
{
    for (brume_walk_source *each = scope->sources; each; each = each->next) {
        brume_relation_column *columns = brume_arena_copy(walk->builder.arena, each->columns,
                                                          each->column_count * sizeof *columns);
        if (!columns) {
            brume_build_fail(&walk->builder, BRUME_EMEMORY, NULL, "out of memory");
            return false;
        }
        for (size_t i = 0; i < each->column_count; i++) {
            columns[i].reference = brume_walk_nullable(walk, columns[i].reference);
            columns[i].inside = brume_walk_nullable(walk, columns[i].inside);
            if (!columns[i].reference || !columns[i].inside)
                return false;
        }
        each->columns = columns;
    }
    walk_mark_nullable(walk, scope->relation);
    return true;
}

/* A condition of ON is printed in place: what it computes of one side is bound there, and of both
 * it must need no let-steps on DuckDB and PostgreSQL. Spark needs some where these do not, and is
 * asked when it is printed. */
static bool walk_check_plain(brume_walk *walk, const brume_relation *left,
                             const brume_relation *right, brume_node condition)
{
    for (int dialect = 0; condition && dialect <= BRUME_DIALECT_POSTGRESQL; dialect++) {
        brume_printer printer = {.arena = walk->builder.arena,
                                 .dialect = (brume_dialect)dialect,
                                 .postgresql = dialect == BRUME_DIALECT_POSTGRESQL};
        const brume_relation *relations[] = {left, right};
        const char *from[] = {"", ""};
        brume_print_sides(&printer, condition, relations, from);
        (void)brume_print_expression(&printer, condition);
        if (printer.failed || printer.step_count) {
            brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED,
                             "compute the expression in a subquery and join on its column",
                             "a join condition is too complex");
            return false;
        }
    }
    return true;
}

bool brume_walk_units_match(brume_walk *walk, const brume_relation *left,
                            const brume_relation *right)
{
    brume_type_kind first = left->columns[left->unit].reference->type.kind;
    brume_type_kind second = right->columns[right->unit].reference->type.kind;
    bool integers = (first == BRUME_TYPE_INTEGER || first == BRUME_TYPE_BIGINT) &&
                    (second == BRUME_TYPE_INTEGER || second == BRUME_TYPE_BIGINT);
    if (first != second && !integers)
        brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED, NULL,
                         "the units of the joined datasets are of different types");
    return first == second || integers;
}

static bool is_public(const brume_walk_scope *scope)
{
    return scope->relation->privacy == BRUME_PRIVACY_PUBLIC;
}

/* May the two be joined, and along which link? Their units are found where they are needed, and
 * the condition is completed. A link gives the unit only where the row that it goes to cannot be
 * missing. False: refused. */
static bool check_units(brume_walk *walk, brume_walk_scope *left, brume_walk_scope *right,
                        brume_join kind, brume_node *condition, brume_walk_link *link)
{
    *link = BRUME_LINK_NONE;
    if (left->relation->privacy == BRUME_PRIVACY_ROW ||
        right->relation->privacy == BRUME_PRIVACY_ROW) {
        brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED,
                         "register it with a column as its unit",
                         "a dataset whose unit is the row cannot be joined");
        return false;
    }
    if (is_public(left) || is_public(right))
        return true;
    *link = walk_find_link(left, right, *condition, NULL);
    bool missing = kind == BRUME_JOIN_FULL ||
                   (kind == BRUME_JOIN_LEFT && *link == BRUME_LINK_TO_RIGHT) ||
                   (kind == BRUME_JOIN_RIGHT && *link == BRUME_LINK_TO_LEFT);
    if (*link > BRUME_LINK_SAME_KEY && !missing)
        return true;
    brume_walk_link known = *link;
    *link = BRUME_LINK_NONE;
    return walk_match_units(walk, left, right, known, condition);
}

/* The expression that holds the unit of the join's rows; NULL: there is none, or none yet (then
 * *privacy is not UNIT), or it failed. */
static brume_node unit_of_join(brume_walk *walk, const brume_relation *a, const brume_relation *b,
                               brume_join kind, brume_walk_link link, brume_privacy *privacy)
{
    const brume_relation *from = a->privacy == BRUME_PRIVACY_PUBLIC ? b : a;
    if (kind == BRUME_JOIN_RIGHT && b->privacy != BRUME_PRIVACY_PUBLIC)
        from = b;
    if (link == BRUME_LINK_TO_LEFT || link == BRUME_LINK_TO_RIGHT)
        from = link == BRUME_LINK_TO_LEFT ? a : b;
    *privacy = from->privacy;
    if (*privacy != BRUME_PRIVACY_UNIT)
        return NULL;
    brume_node unit = from->columns[from->unit].reference;
    if (kind == BRUME_JOIN_FULL) {
        brume_node units[2] = {brume_walk_nullable(walk, a->columns[a->unit].reference),
                               brume_walk_nullable(walk, b->columns[b->unit].reference)};
        return brume_build_choice(&walk->builder, BRUME_OPERATION_COALESCE, units, 2);
    }
    return unit;
}

/* The columns of both sides, by the references that the scopes have after the join, and room for
 * the unit. */
static bool join_columns(brume_walk *walk, const brume_walk_scope *left,
                         const brume_walk_scope *right, brume_relation_column **out, size_t *count)
{
    size_t most = 0;
    for (int side = 0; side < 2; side++)
        for (brume_walk_source *each = (side ? right : left)->sources; each; each = each->next)
            most += each->column_count;
    brume_relation_column *columns =
        brume_arena_allocate(walk->builder.arena, (most + 2) * sizeof *columns);
    if (!columns) {
        brume_build_fail(&walk->builder, BRUME_EMEMORY, NULL, "out of memory");
        return false;
    }
    *count = 0;
    for (int side = 0; side < 2; side++)
        for (brume_walk_source *each = (side ? right : left)->sources; each; each = each->next)
            for (size_t i = 0; i < each->column_count; i++)
                columns[(*count)++] = each->columns[i];
    *out = columns;
    return true;
}

/* The sources of both in one list, with different names. */
static bool join_sources(brume_walk *walk, brume_walk_scope *left, const brume_walk_scope *right)
{
    brume_walk_source **end = &left->sources;
    while (*end)
        end = &(*end)->next;
    *end = right->sources;
    for (brume_walk_source *each = left->sources; each; each = each->next)
        for (brume_walk_source *other = each->next; other; other = other->next)
            if (strcmp(each->name, other->name) == 0) {
                brume_build_fail(&walk->builder, BRUME_EARGUMENT,
                                 "give one of them another name with AS",
                                 "the name '%.60s' stands twice in FROM", each->name);
                return false;
            }
    return true;
}

/* The columns of a side that hold the unit or NULL; its units too where it `may_miss`. */
static void add_maybe_units(brume_walk_scope *joined, const brume_walk_scope *side, bool may_miss)
{
    enum { MOST = sizeof joined->maybe_units / sizeof *joined->maybe_units };
    for (size_t i = 0; i < side->maybe_unit_count && joined->maybe_unit_count < MOST; i++)
        joined->maybe_units[joined->maybe_unit_count++] = side->maybe_units[i];
    for (size_t i = 0; may_miss && i < side->unit_count && joined->maybe_unit_count < MOST; i++)
        joined->maybe_units[joined->maybe_unit_count++] = side->units[i];
}

/* One more conjunct of an inner join: where one side of an equality is the unit, so is the other.
 */
static bool add_equal_unit(void *context, brume_node condition)
{
    brume_walk_scope *scope = context;
    size_t most = sizeof scope->units / sizeof *scope->units;
    for (int i = 0; condition->operation == BRUME_OPERATION_EQUAL && i < 2; i++) {
        brume_node unit = condition->arguments[i], other = condition->arguments[1 - i];
        if (scope->unit_count < most && brume_walk_is_unit(scope, unit) &&
            !brume_walk_is_unit(scope, other))
            scope->units[scope->unit_count++] = brume_walk_narrowest(other);
    }
    return true;
}

/* A link to the unit gives its own column that unit: what holds of every row of the join says it,
 * and through several links the one equality leads to the next. */
static void add_equal_units(brume_walk_scope *scope)
{
    size_t before;
    do {
        before = scope->unit_count;
        (void)brume_scope_conditions((brume_row_scope){scope->relation, NULL}, add_equal_unit,
                                     scope);
    } while (scope->unit_count > before);
}

/* The scope of both: after an inner join on the units either side's column is the unit. */
static brume_walk_scope joined_scope(const brume_walk_scope *left, const brume_walk_scope *right,
                                     const brume_relation *made, brume_node unit)
{
    brume_walk_scope joined = *left;
    joined.relation = made;
    joined.unit_count = joined.maybe_unit_count = 0;
    if (made->privacy == BRUME_PRIVACY_UNIT)
        joined.units[joined.unit_count++] = unit;
    for (int side = 0; side < 2 && made->join == BRUME_JOIN_INNER; side++) {
        const brume_walk_scope *each = side ? right : left;
        for (size_t i = 0; i < each->unit_count && joined.unit_count < 8; i++)
            if (!brume_walk_is_unit(&joined, each->units[i]))
                joined.units[joined.unit_count++] = each->units[i];
    }
    for (int side = 0; side < 2; side++)
        add_maybe_units(&joined, side ? right : left,
                        made->join == BRUME_JOIN_FULL ||
                            made->join == (side ? BRUME_JOIN_LEFT : BRUME_JOIN_RIGHT));
    if (made->privacy == BRUME_PRIVACY_UNIT)
        add_equal_units(&joined);
    return joined;
}

/* Join `right` to `left` (which becomes the scope of both). */
bool brume_walk_join_scopes(brume_walk *walk, brume_walk_scope *left, brume_walk_scope *right,
                            brume_join kind, brume_node condition)
{
    brume_builder *builder = &walk->builder;
    brume_walk_link link;
    if (!check_units(walk, left, right, kind, &condition, &link))
        return false;
    const brume_relation *a = left->relation, *b = right->relation;
    bool left_public = is_public(left), right_public = is_public(right);
    if ((kind == BRUME_JOIN_LEFT && left_public && !right_public) ||
        (kind == BRUME_JOIN_RIGHT && right_public && !left_public) ||
        (kind == BRUME_JOIN_FULL && (left_public || right_public))) {
        brume_build_fail(builder, BRUME_EUNSUPPORTED,
                         "put the public table on the side that may be missing, or use JOIN",
                         "this outer join with a public table is not supported");
        return false;
    }
    if (!walk_check_plain(walk, a, b, condition))
        return false;
    brume_relation *made = brume_walk_relation(walk, BRUME_RELATION_JOIN);
    if (!made)
        return false;
    made->left = a;
    made->right = b;
    made->join = kind;
    made->condition = condition;
    if ((kind == BRUME_JOIN_LEFT || kind == BRUME_JOIN_FULL) && !make_nullable(walk, right))
        return false;
    if ((kind == BRUME_JOIN_RIGHT || kind == BRUME_JOIN_FULL) && !make_nullable(walk, left))
        return false;
    brume_relation_column *columns = NULL;
    size_t count = 0;
    if (!join_columns(walk, left, right, &columns, &count))
        return false;
    brume_node unit = unit_of_join(walk, a, b, kind, link, &made->privacy);
    if (made->privacy == BRUME_PRIVACY_UNIT && !unit)
        return false;
    made->columns = columns;
    made->column_count = count;
    if (made->privacy == BRUME_PRIVACY_UNIT) {
        /* The unit stands last, nameless. */
        columns[count] =
            (brume_relation_column){.reference = unit, .inside = unit, .expression = unit};
        made->unit = count;
        made->column_count = count + 1;
    }
    /* A FULL JOIN with more conditions may leave a unit one unmatched row on each side. */
    made->grain_known = kind != BRUME_JOIN_FULL && !left_public && !right_public &&
                        a->grain_known && b->grain_known && a->grain_count == 0 &&
                        b->grain_count == 0;
    if (!join_sources(walk, left, right))
        return false;
    brume_walk_scope joined = joined_scope(left, right, made, unit);
    walk_join_keys(&joined, left, right, kind, link);
    *left = joined;
    return true;
}

/* USING (a, b): equality of the columns of these names, left and right. */
static brume_node using_condition(brume_walk *walk, const PgQuery__JoinExpr *expression,
                                  brume_walk_scope *left, brume_walk_scope *right)
{
    brume_node all[8];
    if (expression->n_using_clause > 8)
        return brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED, NULL, "USING is too long");
    for (size_t i = 0; i < expression->n_using_clause; i++) {
        PgQuery__ColumnRef reference = PG_QUERY__COLUMN_REF__INIT;
        PgQuery__Node node = PG_QUERY__NODE__INIT;
        reference.n_fields = 1;
        reference.fields = &expression->using_clause[i];
        node.node_case = PG_QUERY__NODE__NODE_COLUMN_REF;
        node.column_ref = &reference;
        all[i] = brume_build_compare(&walk->builder, BRUME_OPERATION_EQUAL,
                                     brume_walk_expression(walk, left, NULL, &node, false),
                                     brume_walk_expression(walk, right, NULL, &node, false));
        if (!all[i])
            return NULL;
    }
    return brume_build_logic(&walk->builder, BRUME_OPERATION_AND, all, expression->n_using_clause);
}

/* After USING the right side's column has a name only with its table's. */
static bool hide_using(brume_walk *walk, const PgQuery__JoinExpr *expression, brume_join kind,
                       brume_walk_scope *left, brume_walk_scope *right)
{
    brume_walk_scope *hidden = kind == BRUME_JOIN_RIGHT ? left : right;
    if (kind == BRUME_JOIN_FULL) {
        brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED, "write FULL JOIN ... ON a.x = b.x",
                         "FULL JOIN with USING is not supported");
        return false;
    }
    for (brume_walk_source *each = hidden->sources; each; each = each->next) {
        brume_relation_column *columns = brume_arena_copy(walk->builder.arena, each->columns,
                                                          each->column_count * sizeof *columns);
        if (!columns) {
            brume_build_fail(&walk->builder, BRUME_EMEMORY, NULL, "out of memory");
            return false;
        }
        for (size_t i = 0; i < each->column_count; i++)
            for (size_t j = 0; j < expression->n_using_clause; j++)
                if (columns[i].name &&
                    strcasecmp(columns[i].name, expression->using_clause[j]->string->sval) == 0)
                    columns[i].merged = true;
        each->columns = columns;
    }
    return true;
}

bool brume_walk_join(brume_walk *walk, const PgQuery__JoinExpr *expression,
                     const brume_walk_common *common, brume_walk_scope *scope)
{
    static const brume_join kinds[] = {
        [PG_QUERY__JOIN_TYPE__JOIN_INNER] = BRUME_JOIN_INNER,
        [PG_QUERY__JOIN_TYPE__JOIN_LEFT] = BRUME_JOIN_LEFT,
        [PG_QUERY__JOIN_TYPE__JOIN_FULL] = BRUME_JOIN_FULL,
        [PG_QUERY__JOIN_TYPE__JOIN_RIGHT] = BRUME_JOIN_RIGHT,
    };
    if (expression->is_natural || expression->alias || expression->join_using_alias ||
        expression->jointype < PG_QUERY__JOIN_TYPE__JOIN_INNER ||
        expression->jointype > PG_QUERY__JOIN_TYPE__JOIN_RIGHT) {
        brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED, "write JOIN ... ON a.UNIT = b.UNIT",
                         "NATURAL joins and aliases of joins are not supported");
        return false;
    }
    brume_walk_scope right = {0};
    brume_join kind = kinds[expression->jointype];
    if (!brume_walk_item(walk, expression->larg, common, scope) ||
        !brume_walk_item(walk, expression->rarg, common, &right))
        return false;
    brume_node condition = NULL;
    if (expression->n_using_clause) {
        for (size_t i = 0; i < expression->n_using_clause; i++)
            if (expression->using_clause[i]->node_case != PG_QUERY__NODE__NODE_STRING) {
                brume_walk_refuse(walk, expression->using_clause[i]);
                return false;
            }
        condition = using_condition(walk, expression, scope, &right);
        if (!condition || !hide_using(walk, expression, kind, scope, &right))
            return false;
    } else if (expression->quals) {
        /* ON sees both sides. */
        brume_walk_source **end = &scope->sources;
        while (*end)
            end = &(*end)->next;
        *end = right.sources;
        condition = brume_walk_expression(walk, scope, NULL, expression->quals, false);
        *end = NULL;
        condition = condition
                        ? brume_build_logic(&walk->builder, BRUME_OPERATION_AND, &condition, 1)
                        : NULL;
        if (!condition)
            return false;
    }
    return brume_walk_join_scopes(walk, scope, &right, kind, condition);
}

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
    brume_walk_link link = walk_find_link(left, right, *shared, NULL);
    if (link == BRUME_LINK_TO_LEFT || link == BRUME_LINK_SIBLINGS)
        return true;
    if (link != BRUME_LINK_NONE)
        return walk_match_units(walk, left, right, link, shared);
    if (!brume_walk_resolve(walk, left) || !brume_walk_resolve(walk, right) ||
        !brume_walk_units_match(walk, left->relation, right->relation))
        return false;
    if (!walk_unit_equality(left, right, *shared))
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
    if (!made || !walk_check_plain(walk, from, right->relation, shared))
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
        walk_mark_nullable(walk, right->relation);
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
        !walk_check_plain(walk, left->relation, group->group, on))
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
    walk_mark_nullable(walk, group->group);
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
    brume_walk_link by = walk_find_link(left, right, shared, NULL);
    if (!check_sides(walk, left, right, &shared) ||
        !walk_match_units(walk, left, right, by, &shared))
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
