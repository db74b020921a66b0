/* FROM and WHERE: tables, subqueries, WITH items; what each gives to the scope. */
#include "query/sql/walk.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "query/sql/tree.h"

/* Tables of the catalog in FROM: their columns, whose their rows are, and how they are found. */

/* The columns by which a table is linked, and by which others are linked to it. */
static bool add_link_keys(brume_walk *walk, brume_relation *relation)
{
    const brume_catalog *catalog = walk->catalog;
    const brume_catalog_table *table = &catalog->tables[relation->table];
    brume_link_key *keys =
        brume_arena_allocate(walk->builder.arena, (catalog->table_count + 1) * sizeof *keys);
    if (!keys) {
        brume_build_fail(&walk->builder, BRUME_EMEMORY, NULL, "out of memory");
        return false;
    }
    size_t count = 0;
    if (table->privacy == BRUME_PRIVACY_LINK)
        keys[count++] = (brume_link_key){table->link.parent, table->link.parent_column,
                                         relation->columns[table->link.column].reference, false};
    for (size_t i = 0; i < catalog->table_count; i++) {
        const brume_catalog_table *child = &catalog->tables[i];
        if (child->privacy != BRUME_PRIVACY_LINK || child->link.parent != relation->table)
            continue;
        bool known = false;
        for (size_t j = 0; j < count; j++)
            known = known || (keys[j].found && keys[j].column == child->link.parent_column);
        if (!known)
            keys[count++] = (brume_link_key){relation->table, child->link.parent_column,
                                             relation->columns[child->link.parent_column].reference,
                                             true};
    }
    relation->link_keys = keys;
    relation->link_key_count = count;
    return true;
}

/* The column itself, with the bounds of its clamped values: it has no others. */
static brume_node within(brume_walk *walk, brume_node column, brume_node clamped)
{
    brume_expression *copy = brume_arena_copy(walk->builder.arena, column, sizeof *column);
    if (!copy)
        return brume_build_fail(&walk->builder, BRUME_EMEMORY, NULL, "out of memory");
    copy->bounds = clamped->bounds;
    copy->bounded = true;
    return copy;
}

/* A table of the catalog, by its place there; NULL: failed. */
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
        if (column->low && column->high &&
            (brume_type_is_number(column->type) || brume_type_is_time(column->type)))
            inside = brume_build_clamp(&walk->builder, reference, column->low, column->high);
        if (!inside)
            return NULL;
        if (column->bounds_read && !(reference = inside = within(walk, reference, inside)))
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
    if (!add_link_keys(walk, relation))
        return NULL;
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
    const char *blurs = relation->privacy == BRUME_PRIVACY_UNIT
                            ? brume_leaf_blurs_units(columns[relation->unit].leaf,
                                                     table->columns[relation->unit].native)
                            : NULL;
    if (blurs) { /* registered before this was asked */
        brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED, BRUME_UNIT_HINT,
                         "the unit column of '%.60s' cannot be one, because %s", table->name,
                         blurs);
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

static bool is_called(const brume_catalog_table *table, const char *dataset, const char *name,
                      bool any_case)
{
    const char *own = table->dataset ? table->dataset : table->name;
    if (dataset && *dataset && strcmp(own, dataset) != 0)
        return false;
    return (any_case ? strcasecmp(table->name, name) : strcmp(table->name, name)) == 0;
}

static bool no_table(brume_walk *walk, const char *dataset, const char *name)
{
    const brume_catalog *catalog = walk->catalog;
    const char *names[BRUME_WALK_COLUMNS];
    size_t count = 0;
    for (size_t i = 0; i < catalog->table_count && count < BRUME_WALK_COLUMNS; i++)
        names[count++] = catalog->tables[i].name;
    const char *near = brume_text_nearest(name, names, count);
    char hint[120] = "register it first";
    if (near)
        snprintf(hint, sizeof hint, "did you mean '%.80s'?", near);
    if (dataset && *dataset)
        brume_build_fail(&walk->builder, BRUME_EUNKNOWN, hint, "no table '%.60s' in '%.60s'", name,
                         dataset);
    else
        brume_build_fail(&walk->builder, BRUME_EUNKNOWN, hint, "no dataset '%.60s'", name);
    return false;
}

/* The table of that name, exactly, else without regard to case; `dataset` may be NULL or empty. One
 * alone must have it. False: failed. */
static bool walk_find_table(brume_walk *walk, const char *dataset, const char *name, size_t *index)
{
    const brume_catalog *catalog = walk->catalog;
    size_t found = 0;
    for (int any_case = 0; any_case < 2 && found == 0; any_case++)
        for (size_t i = 0; i < catalog->table_count; i++)
            if (is_called(&catalog->tables[i], dataset, name, any_case)) {
                *index = i;
                found++;
            }
    if (found == 0)
        return no_table(walk, dataset, name);
    if (found > 1)
        brume_build_fail(&walk->builder, BRUME_EARGUMENT, "write DATASET.TABLE",
                         "several datasets have a table '%.60s'", name);
    return found == 1;
}

/* UNION ALL in a subquery: the rows of both sides, each still whose it was.
 *
 * The two sides must be of one dataset: its neighbours differ in all rows of one unit, in all its
 * tables at once, so that a unit's rows of the union come and go together (proofs/links.md). */

typedef struct union_side {
    const brume_relation *from;
    brume_relation *made; /* its columns, in the types and the order of the union */
    brume_relation_column *columns;
} union_side;

static bool out_of_memory(brume_walk *walk)
{
    brume_build_fail(&walk->builder, BRUME_EMEMORY, NULL, "out of memory");
    return false;
}

/* Every protected table that a relation reads must be of the dataset of *first (NULL: none yet). */
static bool of_one_dataset(const brume_walk *walk, const brume_relation *relation,
                           const brume_catalog_table **first)
{
    if (!relation)
        return true;
    if (relation->kind == BRUME_RELATION_TABLE && relation->privacy != BRUME_PRIVACY_PUBLIC) {
        const brume_catalog_table *table = &walk->catalog->tables[relation->table];
        if (*first && table != *first && !brume_catalog_same_dataset(*first, table))
            return false;
        *first = table;
    }
    return of_one_dataset(walk, relation->left, first) &&
           of_one_dataset(walk, relation->right, first);
}

static bool check_sides(brume_walk *walk, const brume_relation *left, const brume_relation *right)
{
    const brume_catalog_table *first = NULL;
    const char *what = NULL, *hint = NULL;
    if (left->privacy == BRUME_PRIVACY_ROW || right->privacy == BRUME_PRIVACY_ROW) {
        what = "a dataset whose unit is the row cannot be part of UNION ALL";
        hint = "register it with a column as its unit";
    } else if (left->privacy != right->privacy) {
        what = "UNION ALL of a public table and a protected one is not supported";
        hint = "ask for them separately: the public one is free";
    } else if (!of_one_dataset(walk, left, &first) || !of_one_dataset(walk, right, &first)) {
        what = "UNION ALL of different datasets is not supported: nobody says that their units are "
               "the same";
        hint = "register them as the tables of one dataset, with --policy";
    }
    if (what)
        brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED, hint, "%s", what);
    return !what;
}

/* The columns that a side can be asked for by name, in order; returns how many. */
static size_t named(const brume_relation *relation, size_t *places, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < relation->column_count; i++)
        if (relation->columns[i].name) {
            if (count < most)
                places[count] = i;
            count++;
        }
    return count;
}

static bool open_side(brume_walk *walk, union_side *side, const brume_relation *from)
{
    side->from = from;
    side->made = brume_walk_relation(walk, BRUME_RELATION_SELECT);
    side->columns = brume_arena_allocate(walk->builder.arena,
                                         (2 * from->column_count + 1) * sizeof *side->columns);
    if (!side->made)
        return false;
    if (!side->columns)
        return out_of_memory(walk);
    side->made->left = from;
    side->made->columns = side->columns;
    side->made->privacy = from->privacy;
    return true;
}

static bool add_to_side(brume_walk *walk, union_side *side, const char *name, brume_node value)
{
    size_t at = side->made->column_count;
    brume_node reference = value ? brume_walk_reference(walk, side->made, at, value) : NULL;
    if (!reference)
        return false;
    side->columns[at] = (brume_relation_column){
        .name = name, .reference = reference, .expression = value, .inside = reference};
    side->made->column_count++;
    return true;
}

/* What is known of a column of the union: what is known of it on both sides. */
static brume_node hull(brume_walk *walk, const brume_relation *made, size_t at, brume_node a,
                       brume_node b)
{
    brume_expression like = *a;
    like.nullable = a->nullable || b->nullable;
    like.bounded = a->bounded && b->bounded;
    like.inexact_key = a->inexact_key || b->inexact_key;
    like.max_length = a->max_length > b->max_length ? a->max_length : b->max_length;
    if (b->bounds.low < a->bounds.low)
        like.bounds.low = b->bounds.low;
    if (b->bounds.high > a->bounds.high)
        like.bounds.high = b->bounds.high;
    if (b->bounds.real_low < a->bounds.real_low)
        like.bounds.real_low = b->bounds.real_low;
    if (b->bounds.real_high > a->bounds.real_high)
        like.bounds.real_high = b->bounds.real_high;
    return brume_walk_reference(walk, made, at, &like);
}

/* One more column of both sides and of the union: `a` beside `b` in a type that both widen to. */
static bool add_column(brume_walk *walk, union_side sides[2], brume_relation *made,
                       brume_relation_column *columns, const char *name, brume_node a, brume_node b)
{
    brume_builder *builder = &walk->builder;
    brume_node both[2] = {a, b};
    brume_type type;
    if (!brume_build_common(builder, both, 2, &type))
        return false;
    for (int i = 0; i < 2; i++)
        if (!add_to_side(walk, &sides[i], name, brume_build_convert(builder, both[i], type)))
            return false;
    size_t at = made->column_count;
    brume_node reference =
        hull(walk, made, at, sides[0].columns[at].reference, sides[1].columns[at].reference);
    if (!reference)
        return false;
    columns[at] =
        (brume_relation_column){.name = name, .reference = reference, .inside = reference};
    made->column_count++;
    return true;
}

/* Named columns by their places, each with what stands for it inside an aggregate; then the unit.
 */
static bool add_columns(brume_walk *walk, union_side sides[2], brume_relation *made,
                        brume_relation_column *columns)
{
    enum { MOST = 400 };
    size_t left[MOST], right[MOST];
    const brume_relation *a = sides[0].from, *b = sides[1].from;
    size_t count = named(a, left, MOST);
    if (count != named(b, right, MOST) || count > MOST) {
        brume_build_fail(&walk->builder, BRUME_EARGUMENT, "name the columns instead of *",
                         "the sides of UNION ALL have different numbers of columns");
        return false;
    }
    made->unit = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        const brume_relation_column *x = &a->columns[left[i]], *y = &b->columns[right[i]];
        size_t at = made->column_count;
        if (!add_column(walk, sides, made, columns, x->name, x->reference, y->reference))
            return false;
        if (left[i] == a->unit && right[i] == b->unit)
            made->unit = at;
        if (x->inside == x->reference && y->inside == y->reference)
            continue;
        if (!add_column(walk, sides, made, columns, NULL, x->inside, y->inside))
            return false;
        columns[at].inside = columns[at + 1].reference;
    }
    if (a->privacy != BRUME_PRIVACY_UNIT)
        return true;
    if (!brume_walk_units_match(walk, a, b) || made->unit != SIZE_MAX)
        return walk->builder.status == BRUME_OK;
    made->unit = made->column_count;
    return add_column(walk, sides, made, columns, NULL, a->columns[a->unit].reference,
                      b->columns[b->unit].reference);
}

const brume_relation *brume_walk_union(brume_walk *walk, const PgQuery__SelectStmt *select,
                                       const brume_walk_common *common)
{
    if (select->op != PG_QUERY__SET_OPERATION__SETOP_UNION || !select->all) {
        brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED,
                         "use UNION ALL, which keeps whose each row is",
                         "UNION without ALL, INTERSECT and EXCEPT are not supported");
        return NULL;
    }
    const brume_relation *left = brume_walk_select(walk, select->larg, common);
    const brume_relation *right = left ? brume_walk_select(walk, select->rarg, common) : NULL;
    if (!right || !check_sides(walk, left, right))
        return NULL;
    union_side sides[2];
    brume_relation *made = brume_walk_relation(walk, BRUME_RELATION_UNION);
    brume_relation_column *columns =
        brume_arena_allocate(walk->builder.arena, (2 * left->column_count + 1) * sizeof *columns);
    if (!made || !open_side(walk, &sides[0], left) || !open_side(walk, &sides[1], right))
        return NULL;
    if (!columns) {
        out_of_memory(walk);
        return NULL;
    }
    if (!add_columns(walk, sides, made, columns))
        return NULL;
    made->privacy = left->privacy;
    made->left = sides[0].made;
    made->right = sides[1].made;
    made->columns = columns;
    for (int i = 0; i < 2; i++)
        sides[i].made->unit = made->unit;
    return made;
}

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
    const brume_relation *relation = walk_table(walk, table);
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
        if (!walk_find_table(walk, table->schemaname, table->relname, &index) ||
            !(relation = walk_table(walk, index)) ||
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

/* Is there a subquery in the expression? */
static bool walk_has_sublink(const PgQuery__Node *node)
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
        if (!walk_has_sublink(parts[i])) {
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
        if (brume_walk_is_semijoin(parts[i]) || !walk_has_sublink(parts[i]))
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
