/* Giving the rows of a collection to a taker, in parts where that is quicker.
 *
 * Which table of a query may be read in parts:
 *
 * Argument. Let R(T) be the rows of a relation as a multiset, as a function of the rows of one
 * table T that stands in it once. Where R(T1 + T2) = R(T1) + R(T2) for every division of T, the
 * relation divides by T. A table divides by itself; a SELECT does if what it selects from does,
 * because each of its rows is made of one row; a join does by a table of a side of which it keeps
 * or drops every row on that row's own account: either side of an inner join, the left side of a
 * left, semi or anti join, the right side of a right join. The sum of two relations (UNION ALL)
 * does not, because the side without T would be repeated, nor does grouping.
 *
 * The other side of a join is read again for each part. So only joins with public tables count
 * here, which are small as a rule; T is then the only protected table, and stands there once. */
#include <stdlib.h>

#include "base/error.h"
#include "query/collect/collect_parts.h"

static bool is_public(const brume_relation *relation)
{
    if (!relation)
        return true;
    if (relation->kind == BRUME_RELATION_TABLE)
        return relation->privacy == BRUME_PRIVACY_PUBLIC;
    return is_public(relation->left) && is_public(relation->right);
}

static bool find(const brume_relation *relation, size_t *table)
{
    switch (relation->kind) {
    case BRUME_RELATION_TABLE:
        *table = relation->table;
        return relation->privacy != BRUME_PRIVACY_PUBLIC;
    case BRUME_RELATION_SELECT:
        return find(relation->left, table);
    case BRUME_RELATION_JOIN:
        break;
    default:
        return false;
    }
    bool left = relation->join != BRUME_JOIN_RIGHT && relation->join != BRUME_JOIN_FULL;
    bool right = relation->join == BRUME_JOIN_INNER || relation->join == BRUME_JOIN_RIGHT;
    return (left && is_public(relation->right) && find(relation->left, table)) ||
           (right && is_public(relation->left) && find(relation->right, table));
}

/* ---- scanning ---- */

/* One statement for each part of the table that is divided. */
static brume_status print_parts(const brume_collection *collection, brume_dialect dialect,
                                const char **tables, size_t table, const brume_parts *parts,
                                char **statements, brume_error *error)
{
    brume_status status = BRUME_OK;
    const char *whole = tables[table];
    for (size_t i = 0; status == BRUME_OK && i < parts->count; i++) {
        tables[table] = parts->texts[i];
        status = brume_collect_print_rows(collection, dialect, tables, &statements[i], error);
    }
    tables[table] = whole;
    return status;
}

brume_status brume_collect_scan(const brume_collection *collection, brume_engine *engine,
                                const char **tables, const brume_wire *wires, size_t wire_count,
                                brume_row_taker take, void *context, brume_error *error)
{
    size_t table = 0;
    brume_parts parts = {0};
    brume_dialect dialect = brume_engine_dialect(engine);
    if (find(collection->query->from, &table))
        BRUME_TRY(brume_engine_divide(engine, table, &parts, error));
    size_t count = parts.count > 0 ? parts.count : 1;
    char **statements = calloc(count, sizeof *statements);
    brume_status status = statements ? BRUME_OK : brume_no_memory(error, "the groups");
    if (status == BRUME_OK)
        status = parts.count > 0
                     ? print_parts(collection, dialect, tables, table, &parts, statements, error)
                     : brume_collect_print_rows(collection, dialect, tables, statements, error);
    if (status == BRUME_OK)
        status =
            parts.count > 0
                ? brume_engine_scan_parts(engine, (const char *const *)statements, count, wires,
                                          wire_count, take, context, error)
                : brume_engine_scan(engine, statements[0], wires, wire_count, take, context, error);
    for (size_t i = 0; statements && i < count; i++)
        free(statements[i]);
    free(statements);
    brume_parts_clear(&parts);
    return status;
}
