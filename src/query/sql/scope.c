/* The tables that a query names: see the header.
 *
 * A SELECT is read in two parts, the items of its WITH and all the rest, because their scopes
 * differ. Scopes are a list on the stack, innermost first; how deep it can be is bounded by the
 * number of tokens (parse.c). */
#include "query/sql/scope.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/sql/parse.h"
#include "query/sql/tree.h"

typedef struct scope {
    const PgQuery__CommonTableExpr *item;
    const struct scope *outer;
} scope;

typedef struct reading {
    brume_sql_table_visitor visit;
    void *context;
    const scope *scope;
    const PgQuery__SelectStmt *inside; /* the SELECT whose parts are read; NULL: of an item */
} reading;

static const PgQuery__CommonTableExpr *find(const scope *in, const PgQuery__RangeVar *table)
{
    if ((table->schemaname && *table->schemaname) || (table->catalogname && *table->catalogname))
        return NULL;
    for (; in; in = in->outer)
        if (strcmp(in->item->ctename, table->relname) == 0)
            return in->item;
    return NULL;
}

static void read_select(const reading *how, const PgQuery__SelectStmt *select, size_t next,
                        const scope *outer);

static bool read_part(void *context, const ProtobufCMessage *message)
{
    const reading *how = context;
    const PgQuery__SelectStmt *inside = how->inside;
    if (inside && message == &inside->base)
        return true;
    if (inside && inside->with_clause && message == &inside->with_clause->base)
        return false; /* read_select reads it */
    if (message->descriptor == &pg_query__into_clause__descriptor)
        return false; /* what would be written, not read; every check of a query refuses it */
    if (message->descriptor == &pg_query__select_stmt__descriptor) {
        read_select(how, (const PgQuery__SelectStmt *)message, 0, how->scope);
        return false;
    }
    if (message->descriptor == &pg_query__range_var__descriptor) {
        PgQuery__RangeVar *table = (PgQuery__RangeVar *)message;
        how->visit(how->context, table, find(how->scope, table));
    }
    return true;
}

static void read_parts(const reading *how, const ProtobufCMessage *message,
                       const PgQuery__SelectStmt *inside, const scope *in)
{
    reading here = {how->visit, how->context, in, inside};
    brume_tree_visit(message, read_part, &here);
}

/* Read the items of its WITH from `next` on, and then the rest. */
static void read_select(const reading *how, const PgQuery__SelectStmt *select, size_t next,
                        const scope *outer)
{
    const PgQuery__WithClause *with = select->with_clause;
    if (with && next < with->n_ctes) {
        const PgQuery__CommonTableExpr *item = with->ctes[next]->common_table_expr;
        const scope here = {item, outer};
        if (!with->recursive)
            read_parts(how, &item->base, NULL, outer);
        read_select(how, select, next + 1, &here);
        return;
    }
    for (size_t i = 0; with && with->recursive && i < with->n_ctes; i++)
        read_parts(how, &with->ctes[i]->common_table_expr->base, NULL, outer);
    read_parts(how, &select->base, select, outer);
}

void brume_sql_visit_tables(const PgQuery__SelectStmt *select, brume_sql_table_visitor visit,
                            void *context)
{
    reading how = {visit, context, NULL, NULL};
    read_select(&how, select, 0, NULL);
}

/* ---- the names of tables ---- */

typedef struct names {
    brume_sql_name *names;
    size_t count;
    brume_status status;
    brume_error *error;
} names;

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static void add_name(void *context, PgQuery__RangeVar *table, const PgQuery__CommonTableExpr *item)
{
    names *found = context;
    const char *dataset = table->schemaname && *table->schemaname ? table->schemaname : NULL;
    if (item || found->status != BRUME_OK)
        return;
    if (table->catalogname && *table->catalogname) {
        found->status = brume_fail(found->error, BRUME_EUNSUPPORTED, "write DATASET.TABLE",
                                   "a table name of three parts is not supported");
        return;
    }
    for (size_t i = 0; i < found->count; i++)
        if (same_text(found->names[i].dataset, dataset) &&
            same_text(found->names[i].table, table->relname))
            return;
    brume_sql_name *grown = realloc(found->names, (found->count + 1) * sizeof *grown);
    if (grown)
        found->names = grown;
    brume_sql_name name = {dataset ? strdup(dataset) : NULL, strdup(table->relname)};
    if (!grown || !name.table || (dataset && !name.dataset)) {
        free(name.dataset);
        free(name.table);
        found->status = brume_no_memory(found->error, "a question");
        return;
    }
    grown[found->count++] = name;
}

brume_status brume_sql_names(const brume_sql *sql, brume_sql_name **list, size_t *count,
                             brume_error *error)
{
    names found = {.status = BRUME_OK, .error = error};
    brume_sql_visit_tables(brume_sql_tree(sql)->stmts[0]->stmt->select_stmt, add_name, &found);
    if (found.status != BRUME_OK) {
        brume_sql_names_free(found.names, found.count);
        return found.status;
    }
    *list = found.names;
    *count = found.count;
    return BRUME_OK;
}

void brume_sql_names_free(brume_sql_name *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(list[i].dataset);
        free(list[i].table);
    }
    free(list);
}
