/* Tables of the catalog in FROM: their columns, whose their rows are, and how they are found. */
#include "query/sql/walk_from.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

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

const brume_relation *brume_walk_table(brume_walk *walk, size_t index)
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

bool brume_walk_find_table(brume_walk *walk, const char *dataset, const char *name, size_t *index)
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
