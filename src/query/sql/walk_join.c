/* Joins: JOIN ... ON, USING, and by comma.
 *
 * Joins keep the unit: two protected sides must be joined on it or along a link (walk_link.c); a
 * public side may be joined on anything, since that multiplies a unit's own rows only. Which rows a
 * unit has in the result is then a function of that unit's rows alone. */
#include "query/sql/walk_from.h"

#include <string.h>
#include <strings.h>

#include "query/print/print.h"

/* A conjunct of `condition` that says the units of both sides are equal. */
brume_node brume_walk_unit_equality(const brume_walk_scope *left, const brume_walk_scope *right,
                                    brume_node condition)
{
    if (!condition)
        return NULL;
    if (condition->operation == BRUME_OPERATION_AND) {
        brume_node found = brume_walk_unit_equality(left, right, condition->arguments[0]);
        return found ? found : brume_walk_unit_equality(left, right, condition->arguments[1]);
    }
    if (condition->operation != BRUME_OPERATION_EQUAL)
        return NULL;
    brume_node a = condition->arguments[0], b = condition->arguments[1];
    if ((brume_walk_is_unit(left, a) && brume_walk_is_unit(right, b)) ||
        (brume_walk_is_unit(right, a) && brume_walk_is_unit(left, b)))
        return condition;
    return NULL;
}

void brume_walk_mark_nullable(brume_walk *walk, const brume_relation *relation)
{
    if (!relation)
        return;
    if (relation->kind == BRUME_RELATION_TABLE)
        for (size_t i = 0; i < walk->table_count; i++)
            if (walk->tables[i].table == relation->table)
                walk->tables[i].nullable_side = true;
    brume_walk_mark_nullable(walk, relation->left);
    brume_walk_mark_nullable(walk, relation->right);
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
    brume_walk_mark_nullable(walk, scope->relation);
    return true;
}

/* A condition of ON is printed in place: what it computes of one side is bound there, and of both
 * it must need no let-steps on DuckDB and PostgreSQL. Spark needs some where these do not, and is
 * asked when it is printed. */
bool brume_walk_check_plain(brume_walk *walk, const brume_relation *left,
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
    *link = brume_walk_find_link(left, right, *condition, NULL);
    bool missing = kind == BRUME_JOIN_FULL ||
                   (kind == BRUME_JOIN_LEFT && *link == BRUME_LINK_TO_RIGHT) ||
                   (kind == BRUME_JOIN_RIGHT && *link == BRUME_LINK_TO_LEFT);
    if (*link > BRUME_LINK_SAME_KEY && !missing)
        return true;
    brume_walk_link known = *link;
    *link = BRUME_LINK_NONE;
    return brume_walk_match_units(walk, left, right, known, condition);
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
    if (!brume_walk_check_plain(walk, a, b, condition))
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
    brume_walk_join_keys(&joined, left, right, kind, link);
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
