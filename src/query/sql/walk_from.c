/* FROM and WHERE: tables, subqueries, WITH items; what each gives to the scope. */
#include "query/sql/walk_from.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "query/sql/tree.h"

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
    node->duration = like->duration;
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
    *source = (brume_walk_source){own, relation->column_count, columns, NULL, NULL};
    brume_walk_source **end = &scope->sources;
    while (*end)
        end = &(*end)->next;
    *end = source;
    return true;
}

static void take_relation(brume_walk_scope *scope, const brume_relation *relation)
{
    scope->relation = relation;
    scope->unit_count = scope->maybe_unit_count = 0;
    if (relation->privacy == BRUME_PRIVACY_UNIT)
        scope->units[scope->unit_count++] = relation->columns[relation->unit].reference;
    enum { MOST = sizeof scope->link_keys / sizeof *scope->link_keys };
    scope->link_key_count = 0;
    for (size_t i = 0; i < relation->link_key_count && i < MOST; i++)
        scope->link_keys[scope->link_key_count++] = relation->link_keys[i];
}

bool brume_walk_table_scope(brume_walk *walk, size_t table, brume_walk_scope *scope)
{
    const brume_relation *relation = brume_walk_table(walk, table);
    if (relation)
        take_relation(scope, relation);
    return relation != NULL;
}

/* A whole number in a type that has all values of its own: in a narrower one some would be NULL. */
static bool is_widened(brume_node node)
{
    if (node->operation != BRUME_OPERATION_CAST)
        return false;
    brume_type_kind from = node->arguments[0]->type.kind;
    int digits = from == BRUME_TYPE_INTEGER ? 10 : 19;
    if (from != BRUME_TYPE_INTEGER && from != BRUME_TYPE_BIGINT)
        return false;
    return node->type.kind == BRUME_TYPE_BIGINT ||
           (node->type.kind == BRUME_TYPE_DECIMAL &&
            node->type.precision - node->type.scale >= digits);
}

brume_node brume_walk_narrowest(brume_node node)
{
    while (is_widened(node))
        node = node->arguments[0];
    return node;
}

bool brume_walk_is_column(brume_node known, brume_node node)
{
    return brume_expression_equal(known, brume_walk_narrowest(node));
}

bool brume_walk_is_unit(const brume_walk_scope *scope, brume_node node)
{
    for (size_t i = 0; i < scope->unit_count; i++)
        if (brume_walk_is_column(scope->units[i], node))
            return true;
    return false;
}

bool brume_walk_names_unit(const brume_walk_scope *scope, brume_node node)
{
    if (brume_walk_is_unit(scope, node))
        return true;
    for (size_t i = 0; i < scope->link_key_count; i++)
        if (scope->link_keys[i].found && brume_walk_is_column(scope->link_keys[i].node, node))
            return true;
    return false;
}

/* Is it a link that goes to the unit's column itself? */
static bool links_to_unit(const brume_catalog *catalog, const brume_link_key *key)
{
    size_t table = key->table, column = key->column;
    for (;;) {
        const brume_catalog_table *at = &catalog->tables[table];
        if (at->privacy == BRUME_PRIVACY_UNIT)
            return at->unit == column;
        if (at->privacy != BRUME_PRIVACY_LINK || at->link.column != column)
            return false;
        table = at->link.parent;
        column = at->link.parent_column;
    }
}

static bool is_unit_column(const brume_walk *walk, const brume_walk_scope *scope, brume_node node)
{
    if (brume_walk_is_unit(scope, node))
        return true;
    for (size_t i = 0; i < scope->maybe_unit_count; i++)
        if (brume_walk_is_column(scope->maybe_units[i], node))
            return true;
    for (size_t i = 0; i < scope->link_key_count; i++)
        if (brume_walk_is_column(scope->link_keys[i].node, node) &&
            links_to_unit(walk->catalog, &scope->link_keys[i]))
            return true;
    return false;
}

bool brume_walk_is_unit_or_null(const brume_walk *walk, const brume_walk_scope *scope,
                                brume_node node)
{
    if (brume_build_is_null(node) || is_unit_column(walk, scope, node))
        return true;
    if (is_widened(node))
        return brume_walk_is_unit_or_null(walk, scope, node->arguments[0]);
    if (node->operation == BRUME_OPERATION_NULLIF)
        return brume_walk_is_unit_or_null(walk, scope, node->arguments[0]);
    if (node->operation != BRUME_OPERATION_CASE && node->operation != BRUME_OPERATION_COALESCE)
        return false;
    bool is_case = node->operation == BRUME_OPERATION_CASE;
    for (size_t i = 0; i < node->argument_count; i++) {
        bool condition = is_case && i % 2 == 0 && i + 1 < node->argument_count;
        if (!condition && !brume_walk_is_unit_or_null(walk, scope, node->arguments[i]))
            return false;
    }
    return true;
}

/* Does this column of the table tell the units apart, by what the owner declared: the unit's, an
 * identifier, or one that is linked to such a column? */
static bool tells_units(const brume_catalog *catalog, size_t table, size_t column)
{
    for (;;) {
        const brume_catalog_table *at = &catalog->tables[table];
        if (at->columns[column].is_identifier ||
            (at->privacy == BRUME_PRIVACY_UNIT && at->unit == column))
            return true;
        if (at->privacy != BRUME_PRIVACY_LINK || at->link.column != column)
            return false;
        table = at->link.parent;
        column = at->link.parent_column;
    }
}

bool brume_walk_tells_units(const brume_walk *walk, const brume_walk_scope *scope, brume_node node)
{
    if (brume_walk_is_unit(scope, node))
        return true;
    for (size_t i = 0; i < scope->link_key_count; i++) {
        const brume_link_key *key = &scope->link_keys[i];
        if (brume_walk_is_column(key->node, node) &&
            tells_units(walk->catalog, key->table, key->column))
            return true;
    }
    return false;
}

/* ---- items ---- */

/* The last source of the scope is this table: DATASET.TABLE.COLUMN may name its columns. */
static void name_dataset(const brume_walk_scope *scope, const brume_catalog_table *table)
{
    brume_walk_source *last = scope->sources;
    while (last->next)
        last = last->next;
    last->dataset = table->dataset ? table->dataset : table->name;
}

bool brume_walk_item(brume_walk *walk, const PgQuery__Node *node, const brume_walk_common *common,
                     brume_walk_scope *scope)
{
    const brume_relation *relation = NULL;
    switch (node->node_case) {
    case PG_QUERY__NODE__NODE_RANGE_VAR: {
        const PgQuery__RangeVar *table = node->range_var;
        bool qualified = table->schemaname && *table->schemaname;
        if (table->catalogname && *table->catalogname) {
            brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED, "write DATASET.TABLE",
                             "a table name of three parts is not supported");
            return false;
        }
        for (const brume_walk_common *each = qualified ? NULL : common; each && !relation;
             each = each->next)
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
        size_t index = 0;
        if (!brume_walk_find_table(walk, table->schemaname, table->relname, &index) ||
            !(relation = brume_walk_table(walk, index)) ||
            !add_source(walk, scope, table->relname, table->alias, relation))
            return false;
        if (!table->alias)
            name_dataset(scope, &walk->catalog->tables[index]);
        take_relation(scope, relation);
        return true;
    }
    case PG_QUERY__NODE__NODE_RANGE_SUBSELECT: {
        const PgQuery__RangeSubselect *subselect = node->range_subselect;
        if (subselect->lateral || !subselect->subquery ||
            subselect->subquery->node_case != PG_QUERY__NODE__NODE_SELECT_STMT) {
            brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED,
                             "write a subquery that stands by itself, joined on the unit",
                             "LATERAL is not supported");
            return false;
        }
        relation = brume_walk_select(walk, subselect->subquery->select_stmt, common);
        if (!relation || !add_source(walk, scope, "subquery", subselect->alias, relation))
            return false;
        take_relation(scope, relation);
        return true;
    }
    case PG_QUERY__NODE__NODE_JOIN_EXPR:
        return brume_walk_join(walk, node->join_expr, common, scope);
    case PG_QUERY__NODE__NODE_RANGE_FUNCTION:
        brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED, "name a registered dataset",
                         "a function in FROM is not supported");
        return false;
    case PG_QUERY__NODE__NODE_RANGE_TABLE_SAMPLE:
        brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED,
                         "ask for all rows: brume adds the noise", "TABLESAMPLE is not supported");
        return false;
    default:
        brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED,
                         "name a registered dataset, a subquery or a join",
                         "this kind of item in FROM is not supported");
        return false;
    }
}

/* The conjuncts of WHERE, and how many there are. */
static PgQuery__Node *const *conjuncts(PgQuery__Node *const *clause, size_t *count)
{
    const PgQuery__Node *node = *clause;
    *count = 1;
    if (!node || node->node_case != PG_QUERY__NODE__NODE_BOOL_EXPR ||
        node->bool_expr->boolop != PG_QUERY__BOOL_EXPR_TYPE__AND_EXPR)
        return clause;
    *count = node->bool_expr->n_args;
    return node->bool_expr->args;
}

static bool find_sublink(void *context, const ProtobufCMessage *message)
{
    bool *found = context;
    *found = *found || message->descriptor == &pg_query__sub_link__descriptor;
    return !*found;
}

bool brume_walk_has_sublink(const PgQuery__Node *node)
{
    bool found = false;
    brume_tree_visit(node ? &node->base : NULL, find_sublink, &found);
    return found;
}

/* WHERE without its subqueries, which come after the joins. */
static bool walk_where(brume_walk *walk, PgQuery__Node *clause, brume_walk_scope *scope,
                       brume_node *where)
{
    brume_builder *builder = &walk->builder;
    size_t count, kept = 0;
    if (!clause)
        return true;
    if (brume_walk_has_aggregate(clause)) {
        brume_build_fail(builder, BRUME_EARGUMENT, "use HAVING",
                         "an aggregate cannot stand in WHERE");
        return false;
    }
    PgQuery__Node *const *parts = conjuncts(&clause, &count);
    brume_node *all = brume_arena_allocate(builder->arena, (count + 1) * sizeof *all);
    if (!all) {
        brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
        return false;
    }
    for (size_t i = 0; i < count; i++)
        if (!brume_walk_has_sublink(parts[i])) {
            all[kept] = brume_walk_expression(walk, scope, NULL, parts[i], false);
            if (!all[kept++])
                return false;
        }
    *where = kept ? brume_build_logic(builder, BRUME_OPERATION_AND, all, kept) : NULL;
    return *where || !kept;
}

static bool walk_semijoins(brume_walk *walk, PgQuery__Node *clause, const brume_walk_common *common,
                           brume_walk_scope *scope)
{
    size_t count;
    PgQuery__Node *const *parts = conjuncts(&clause, &count);
    for (size_t i = 0; clause && i < count; i++)
        if (brume_walk_is_semijoin(parts[i]) && !brume_walk_semijoin(walk, parts[i], common, scope))
            return false;
    return true;
}

/* The conjuncts with subqueries inside of other expressions, added to *where. */
static bool walk_sublinks(brume_walk *walk, PgQuery__Node *clause, brume_walk_scope *scope,
                          brume_node *where)
{
    size_t count;
    PgQuery__Node *const *parts = conjuncts(&clause, &count);
    for (size_t i = 0; clause && i < count; i++) {
        if (brume_walk_is_semijoin(parts[i]) || !brume_walk_has_sublink(parts[i]))
            continue;
        brume_node both[] = {*where, brume_walk_expression(walk, scope, NULL, parts[i], false)};
        if (both[1])
            both[1] = brume_build_logic(&walk->builder, BRUME_OPERATION_AND, &both[1], 1);
        if (!both[1])
            return false;
        *where = both[0] ? brume_build_logic(&walk->builder, BRUME_OPERATION_AND, both, 2)
                         : both[1];
        if (!*where)
            return false;
    }
    return true;
}

/* The items 1 to count - 1 of a comma join, each as soon as WHERE says how it joins what is there;
 * the first of those left where it does not say so of any. */
static bool join_listed(brume_walk *walk, brume_walk_scope *scope, brume_walk_scope *others,
                        size_t count, brume_node where)
{
    bool done[8] = {false};
    for (size_t left = count; left > 1; left--) {
        size_t next = 0;
        brume_node by = NULL;
        bool any = false;
        for (size_t i = 1; i < count && !by && !any; i++)
            if (!done[i]) {
                by = brume_walk_joining(scope, &others[i], where, &any);
                next = by || any || next == 0 ? i : next;
            }
        done[next] = true;
        if (!brume_walk_join_scopes(walk, scope, &others[next], BRUME_JOIN_INNER, by))
            return false;
    }
    return true;
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
    const brume_walk_scope *outer = scope->outer; /* WHERE may name it, FROM may not */
    scope->outer = NULL;
    if (!brume_walk_item(walk, select->from_clause[0], common, scope))
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
        if (!brume_walk_item(walk, select->from_clause[i], common, &others[i]))
            return false;
    for (size_t i = 1; i < select->n_from_clause; i++) {
        ends[i] = &scope->sources;
        while (*ends[i])
            ends[i] = &(*ends[i])->next;
        *ends[i] = others[i].sources;
    }
    scope->outer = outer;
    bool good = walk_where(walk, select->where_clause, scope, where);
    scope->outer = NULL;
    if (!good)
        return false;
    for (size_t i = select->n_from_clause; i-- > 1;)
        *ends[i] = NULL;
    if (!join_listed(walk, scope, others, select->n_from_clause, *where))
        return false;
    if (!walk_semijoins(walk, select->where_clause, common, scope))
        return false;
    scope->complete = true;
    scope->common = common;
    scope->outer = outer;
    good = walk_sublinks(walk, select->where_clause, scope, where);
    scope->outer = NULL;
    return good;
}
