/* FROM: tables, subqueries, WITH items and joins.
 *
 * Joins keep the unit: two protected sides must be joined on it; a public side may be joined on
 * anything, since that multiplies a unit's own rows only. Which rows a unit has in the result is
 * then a function of that unit's rows alone. */
#include "query/walk.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "query/print.h"

brume_relation *brume_walk_relation(brume_walk *walk, brume_relation_kind kind)
{
    brume_relation *relation = brume_arena_allocate(walk->builder.arena, sizeof *relation);
    if (!relation) {
        brume_build_fail(&walk->builder, BRUME_EMEMORY, NULL, "out of memory");
        return NULL;
    }
    if (walk->relation_count >= 150) {
        brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED, NULL,
                         "too many tables and subqueries");
        return NULL;
    }
    relation->kind = kind;
    relation->number = walk->relation_count++;
    relation->privacy = BRUME_PRIVACY_PUBLIC;
    return relation;
}

brume_node brume_walk_reference(brume_walk *walk, const brume_relation *relation, size_t column,
                                brume_node like)
{
    brume_expression *node =
        brume_build_node(&walk->builder, BRUME_OPERATION_COLUMN, like->type, NULL, 0);
    if (!node)
        return NULL;
    node->relation = relation;
    node->column = column;
    node->bounds = like->bounds;
    node->nullable = like->nullable;
    node->bounded = like->bounded;
    node->inexact_key = like->inexact_key;
    node->max_length = like->max_length;
    return node;
}

brume_node brume_walk_nullable(brume_walk *walk, brume_node node)
{
    if (!node || node->nullable)
        return node;
    brume_expression *copy = brume_arena_copy(walk->builder.arena, node, sizeof *node);
    if (!copy)
        return brume_build_fail(&walk->builder, BRUME_EMEMORY, NULL, "out of memory");
    copy->nullable = true;
    return copy;
}

/* ---- tables ---- */

static const brume_relation *walk_table(brume_walk *walk, size_t index)
{
    const brume_catalog_table *table = &walk->catalog->tables[index];
    brume_relation *relation = brume_walk_relation(walk, BRUME_RELATION_TABLE);
    if (!relation)
        return NULL;
    brume_relation_column *columns =
        brume_arena_allocate(walk->builder.arena, (table->column_count + 1) * sizeof *columns);
    if (!columns) {
        brume_build_fail(&walk->builder, BRUME_EMEMORY, NULL, "out of memory");
        return NULL;
    }
    for (size_t i = 0; i < table->column_count; i++) {
        const brume_catalog_column *column = &table->columns[i];
        brume_node reference = brume_build_column(&walk->builder, relation, i, column->type,
                                                  !column->not_null ||
                                                      column->leaf != BRUME_LEAF_PLAIN ||
                                                      column->type.kind == BRUME_TYPE_TEXT);
        brume_node inside = reference;
        if (column->low && column->high && brume_type_is_number(column->type))
            inside = brume_build_clamp(&walk->builder, reference, column->low, column->high);
        if (!inside)
            return NULL;
        columns[i] = (brume_relation_column){.name = column->name,
                                             .reference = reference,
                                             .inside = inside,
                                             .table_column = i,
                                             .stored = column->name,
                                             .leaf = column->leaf};
    }
    relation->columns = columns;
    relation->column_count = table->column_count;
    relation->table = index;
    relation->privacy = table->privacy;
    relation->unit = table->privacy == BRUME_PRIVACY_UNIT ? table->unit : 0;
    relation->grain_known = table->privacy == BRUME_PRIVACY_ROW;
    if (table->privacy == BRUME_PRIVACY_PUBLIC) {
        for (size_t i = 0; i < walk->public_count; i++)
            if (walk->public_tables[i] == index)
                return relation;
        if (walk->public_count == 16) {
            brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED, NULL, "too many tables");
            return NULL;
        }
        walk->public_tables[walk->public_count++] = index;
        return relation;
    }
    if (relation->privacy == BRUME_PRIVACY_UNIT &&
        columns[relation->unit].reference->type.kind == BRUME_TYPE_REFUSED) {
        brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED, NULL,
                         "the unit column of '%.60s' has a type that brume does not read",
                         table->name);
        return NULL;
    }
    for (size_t i = 0; i < walk->table_count; i++)
        if (walk->tables[i].table == index)
            return relation;
    if (walk->table_count == 16) {
        brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED, NULL, "too many tables");
        return NULL;
    }
    walk->tables[walk->table_count++] = (brume_query_table){index, false};
    return relation;
}

static bool find_table(brume_walk *walk, const char *name, size_t *index)
{
    const brume_catalog *catalog = walk->catalog;
    for (size_t i = 0; i < catalog->table_count; i++)
        if (strcmp(catalog->tables[i].name, name) == 0) {
            *index = i;
            return true;
        }
    for (size_t i = 0; i < catalog->table_count; i++)
        if (strcasecmp(catalog->tables[i].name, name) == 0) {
            *index = i;
            return true;
        }
    const char *names[BRUME_WALK_COLUMNS];
    size_t count = 0;
    for (; count < catalog->table_count && count < BRUME_WALK_COLUMNS; count++)
        names[count] = catalog->tables[count].name;
    const char *near = brume_text_nearest(name, names, count);
    char hint[120] = "register it first";
    if (near)
        snprintf(hint, sizeof hint, "did you mean '%.80s'?", near);
    brume_build_fail(&walk->builder, BRUME_EUNKNOWN, hint, "no dataset '%.60s'", name);
    return false;
}

/* Put `relation` into the scope under `name`. */
static bool add_source(brume_walk *walk, brume_walk_scope *scope, const char *name,
                       const PgQuery__Alias *alias, const brume_relation *relation)
{
    brume_builder *builder = &walk->builder;
    if (alias)
        name = alias->aliasname;
    for (brume_walk_source *each = scope->sources; each; each = each->next)
        if (strcmp(each->name, name) == 0) {
            brume_build_fail(builder, BRUME_EARGUMENT, "give one of them another name with AS",
                             "the name '%.60s' stands twice in FROM", name);
            return false;
        }
    brume_walk_source *source = brume_arena_allocate(builder->arena, sizeof *source);
    brume_relation_column *columns = brume_arena_copy(builder->arena, relation->columns,
                                                      relation->column_count * sizeof *columns);
    char *own = brume_arena_text(builder->arena, name);
    if (!source || !columns || !own) {
        brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
        return false;
    }
    if (alias && alias->n_colnames > relation->column_count) {
        brume_build_fail(builder, BRUME_EARGUMENT, NULL, "'%.60s' has fewer columns than names",
                         name);
        return false;
    }
    for (size_t i = 0; alias && i < alias->n_colnames; i++) {
        if (alias->colnames[i]->node_case != PG_QUERY__NODE__NODE_STRING) {
            brume_walk_refuse(walk, alias->colnames[i]);
            return false;
        }
        columns[i].name = brume_arena_text(builder->arena, alias->colnames[i]->string->sval);
        if (!columns[i].name) {
            brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
            return false;
        }
    }
    *source = (brume_walk_source){own, relation->column_count, columns, NULL};
    brume_walk_source **end = &scope->sources;
    while (*end)
        end = &(*end)->next;
    *end = source;
    return true;
}

static void take_relation(brume_walk_scope *scope, const brume_relation *relation)
{
    scope->relation = relation;
    scope->unit_count = 0;
    if (relation->privacy == BRUME_PRIVACY_UNIT)
        scope->units[scope->unit_count++] = relation->columns[relation->unit].reference;
}

bool brume_walk_is_unit(const brume_walk_scope *scope, brume_node node)
{
    /* Through a widening cast of the unit, and whether it may be missing or not. */
    while (node->operation == BRUME_OPERATION_CAST &&
           (node->type.kind == BRUME_TYPE_BIGINT || node->type.kind == BRUME_TYPE_DECIMAL) &&
           (node->arguments[0]->type.kind == BRUME_TYPE_INTEGER ||
            node->arguments[0]->type.kind == BRUME_TYPE_BIGINT))
        node = node->arguments[0];
    for (size_t i = 0; i < scope->unit_count; i++)
        if (brume_expression_equal(scope->units[i], node))
            return true;
    return false;
}

/* ---- joins ---- */

/* A conjunct of `condition` that says the units of both sides are equal. */
static brume_node unit_equality(const brume_walk_scope *left, const brume_walk_scope *right,
                                brume_node condition)
{
    if (!condition)
        return NULL;
    if (condition->operation == BRUME_OPERATION_AND) {
        brume_node found = unit_equality(left, right, condition->arguments[0]);
        return found ? found : unit_equality(left, right, condition->arguments[1]);
    }
    if (condition->operation != BRUME_OPERATION_EQUAL)
        return NULL;
    brume_node a = condition->arguments[0], b = condition->arguments[1];
    if ((brume_walk_is_unit(left, a) && brume_walk_is_unit(right, b)) ||
        (brume_walk_is_unit(right, a) && brume_walk_is_unit(left, b)))
        return condition;
    return NULL;
}

static void mark_nullable(brume_walk *walk, const brume_relation *relation)
{
    if (!relation)
        return;
    if (relation->kind == BRUME_RELATION_TABLE)
        for (size_t i = 0; i < walk->table_count; i++)
            if (walk->tables[i].table == relation->table)
                walk->tables[i].nullable_side = true;
    mark_nullable(walk, relation->left);
    mark_nullable(walk, relation->right);
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
    mark_nullable(walk, scope->relation);
    return true;
}

/* A condition of ON is printed in place: it must need no let-steps on either engine. */
static bool check_plain(brume_walk *walk, brume_node condition)
{
    for (int dialect = 0; condition && dialect < 2; dialect++) {
        brume_printer printer = {.arena = walk->builder.arena,
                                 .dialect = (brume_dialect)dialect,
                                 .postgresql = dialect == BRUME_DIALECT_POSTGRESQL};
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

/* Join `right` to `left` (which becomes the scope of both). */
static bool join(brume_walk *walk, brume_walk_scope *left, brume_walk_scope *right, brume_join kind,
                 brume_node condition)
{
    brume_builder *builder = &walk->builder;
    const brume_relation *a = left->relation, *b = right->relation;
    bool left_public = a->privacy == BRUME_PRIVACY_PUBLIC;
    bool right_public = b->privacy == BRUME_PRIVACY_PUBLIC;
    if (a->privacy == BRUME_PRIVACY_ROW || b->privacy == BRUME_PRIVACY_ROW) {
        brume_build_fail(builder, BRUME_EUNSUPPORTED, "register it with a column as its unit",
                         "a dataset whose unit is the row cannot be joined");
        return false;
    }
    if (!left_public && !right_public) {
        brume_type_kind first = a->columns[a->unit].reference->type.kind;
        brume_type_kind second = b->columns[b->unit].reference->type.kind;
        bool integers = (first == BRUME_TYPE_INTEGER || first == BRUME_TYPE_BIGINT) &&
                        (second == BRUME_TYPE_INTEGER || second == BRUME_TYPE_BIGINT);
        if (first != second && !integers) {
            brume_build_fail(builder, BRUME_EUNSUPPORTED, NULL,
                             "the units of the joined datasets are of different types");
            return false;
        }
        if (!unit_equality(left, right, condition)) {
            brume_build_fail(builder, BRUME_EUNSUPPORTED, "write ON a.UNIT = b.UNIT (AND ...)",
                             "datasets can be joined only on their units");
            return false;
        }
    }
    if ((kind == BRUME_JOIN_LEFT && left_public && !right_public) ||
        (kind == BRUME_JOIN_RIGHT && right_public && !left_public) ||
        (kind == BRUME_JOIN_FULL && (left_public || right_public))) {
        brume_build_fail(builder, BRUME_EUNSUPPORTED,
                         "put the public table on the side that may be missing, or use JOIN",
                         "this outer join with a public table is not supported");
        return false;
    }
    if (!check_plain(walk, condition))
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
    /* Columns of both sides, by the references that the scopes now have. */
    size_t count = 0;
    for (int side = 0; side < 2; side++)
        for (brume_walk_source *each = (side ? right : left)->sources; each; each = each->next)
            count += each->column_count;
    brume_relation_column *columns =
        brume_arena_allocate(builder->arena, (count + 2) * sizeof *columns);
    if (!columns) {
        brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
        return false;
    }
    count = 0;
    for (int side = 0; side < 2; side++)
        for (brume_walk_source *each = (side ? right : left)->sources; each; each = each->next)
            for (size_t i = 0; i < each->column_count; i++)
                columns[count++] = each->columns[i];
    /* The unit of the result. */
    brume_node units[2] = {left_public ? NULL : a->columns[a->unit].reference,
                           right_public ? NULL : b->columns[b->unit].reference};
    brume_node unit = units[0] ? units[0] : units[1];
    if (kind == BRUME_JOIN_RIGHT && units[1])
        unit = units[1];
    if (kind == BRUME_JOIN_FULL) {
        units[0] = brume_walk_nullable(walk, units[0]);
        units[1] = brume_walk_nullable(walk, units[1]);
        unit = brume_build_choice(builder, BRUME_OPERATION_COALESCE, units, 2);
        if (!unit)
            return false;
    }
    made->columns = columns;
    made->column_count = count;
    made->privacy = left_public && right_public ? BRUME_PRIVACY_PUBLIC : BRUME_PRIVACY_UNIT;
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
    brume_walk_source **end = &left->sources;
    while (*end)
        end = &(*end)->next;
    *end = right->sources;
    for (brume_walk_source *each = left->sources; each; each = each->next)
        for (brume_walk_source *other = each->next; other; other = other->next)
            if (strcmp(each->name, other->name) == 0) {
                brume_build_fail(builder, BRUME_EARGUMENT, "give one of them another name with AS",
                                 "the name '%.60s' stands twice in FROM", each->name);
                return false;
            }
    brume_walk_scope joined = *left;
    joined.relation = made;
    joined.unit_count = 0;
    if (made->privacy == BRUME_PRIVACY_UNIT)
        joined.units[joined.unit_count++] = unit;
    /* After an inner join on the units either side's column is the unit. */
    for (int side = 0; side < 2 && kind == BRUME_JOIN_INNER; side++) {
        const brume_walk_scope *each = side ? right : left;
        for (size_t i = 0; i < each->unit_count && joined.unit_count < 8; i++)
            if (!brume_walk_is_unit(&joined, each->units[i]))
                joined.units[joined.unit_count++] = each->units[i];
    }
    *left = joined;
    return true;
}

static bool walk_item(brume_walk *walk, const PgQuery__Node *node, const brume_walk_common *common,
                      brume_walk_scope *scope);

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

/* After USING the right side's column has no name of its own any more. */
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
                    columns[i].name = NULL;
        each->columns = columns;
    }
    return true;
}

static bool walk_join(brume_walk *walk, const PgQuery__JoinExpr *expression,
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
    if (!walk_item(walk, expression->larg, common, scope) ||
        !walk_item(walk, expression->rarg, common, &right))
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
    return join(walk, scope, &right, kind, condition);
}

static bool walk_item(brume_walk *walk, const PgQuery__Node *node, const brume_walk_common *common,
                      brume_walk_scope *scope)
{
    const brume_relation *relation = NULL;
    switch (node->node_case) {
    case PG_QUERY__NODE__NODE_RANGE_VAR: {
        const PgQuery__RangeVar *table = node->range_var;
        if ((table->catalogname && *table->catalogname) ||
            (table->schemaname && *table->schemaname)) {
            brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED,
                             "use the name the dataset was registered with",
                             "a qualified table name is not supported");
            return false;
        }
        for (const brume_walk_common *each = common; each && !relation; each = each->next)
            if (strcmp(each->name, table->relname) == 0) {
                if (each->definition->ctequery->node_case != PG_QUERY__NODE__NODE_SELECT_STMT) {
                    brume_walk_refuse(walk, each->definition->ctequery);
                    return false;
                }
                relation =
                    brume_walk_select(walk, each->definition->ctequery->select_stmt, each->next);
                if (!relation)
                    return false;
                PgQuery__Alias names = PG_QUERY__ALIAS__INIT;
                names.aliasname = table->relname;
                if (table->alias)
                    names = *table->alias;
                if (!names.n_colnames) {
                    names.n_colnames = each->definition->n_aliascolnames;
                    names.colnames = each->definition->aliascolnames;
                }
                if (!add_source(walk, scope, table->relname, &names, relation))
                    return false;
                take_relation(scope, relation);
                return true;
            }
        size_t index;
        if (!find_table(walk, table->relname, &index) || !(relation = walk_table(walk, index)) ||
            !add_source(walk, scope, table->relname, table->alias, relation))
            return false;
        take_relation(scope, relation);
        return true;
    }
    case PG_QUERY__NODE__NODE_RANGE_SUBSELECT: {
        const PgQuery__RangeSubselect *subselect = node->range_subselect;
        if (subselect->lateral || !subselect->subquery ||
            subselect->subquery->node_case != PG_QUERY__NODE__NODE_SELECT_STMT) {
            brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED, NULL, "LATERAL is not supported");
            return false;
        }
        relation = brume_walk_select(walk, subselect->subquery->select_stmt, common);
        if (!relation || !add_source(walk, scope, "subquery", subselect->alias, relation))
            return false;
        take_relation(scope, relation);
        return true;
    }
    case PG_QUERY__NODE__NODE_JOIN_EXPR:
        return walk_join(walk, node->join_expr, common, scope);
    case PG_QUERY__NODE__NODE_RANGE_FUNCTION:
        brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED, "name a registered dataset",
                         "a function in FROM is not supported");
        return false;
    case PG_QUERY__NODE__NODE_RANGE_TABLE_SAMPLE:
        brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED, NULL, "TABLESAMPLE is not supported");
        return false;
    default:
        brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED, NULL,
                         "this kind of item in FROM is not supported");
        return false;
    }
}

bool brume_walk_from(brume_walk *walk, const PgQuery__SelectStmt *select,
                     const brume_walk_common *common, brume_walk_scope *scope, brume_node *where)
{
    brume_builder *builder = &walk->builder;
    *where = NULL;
    if (select->n_from_clause == 0) {
        brume_build_fail(builder, BRUME_EUNSUPPORTED, "name a registered dataset in FROM",
                         "a SELECT without FROM is not supported");
        return false;
    }
    if (!walk_item(walk, select->from_clause[0], common, scope))
        return false;
    /* A comma join: all sources in one scope first, so that WHERE can name them. */
    brume_walk_scope others[8];
    memset(others, 0, sizeof others);
    if (select->n_from_clause > 8) {
        brume_build_fail(builder, BRUME_EUNSUPPORTED, NULL, "too many items in FROM");
        return false;
    }
    brume_walk_source **ends[8];
    for (size_t i = 1; i < select->n_from_clause; i++)
        if (!walk_item(walk, select->from_clause[i], common, &others[i]))
            return false;
    for (size_t i = 1; i < select->n_from_clause; i++) {
        ends[i] = &scope->sources;
        while (*ends[i])
            ends[i] = &(*ends[i])->next;
        *ends[i] = others[i].sources;
    }
    if (select->where_clause) {
        if (brume_walk_has_aggregate(select->where_clause)) {
            brume_build_fail(builder, BRUME_EARGUMENT, "use HAVING",
                             "an aggregate cannot stand in WHERE");
            return false;
        }
        brume_node condition =
            brume_walk_expression(walk, scope, NULL, select->where_clause, false);
        *where = condition ? brume_build_logic(builder, BRUME_OPERATION_AND, &condition, 1) : NULL;
        if (!*where)
            return false;
    }
    for (size_t i = select->n_from_clause; i-- > 1;)
        *ends[i] = NULL;
    for (size_t i = 1; i < select->n_from_clause; i++)
        if (!join(walk, scope, &others[i], BRUME_JOIN_INNER,
                  unit_equality(scope, &others[i], *where)))
            return false;
    return true;
}
