/* The tables that a query names, wherever they stand in it, and which of the names are of WITH.
 *
 * Scopes are those of SQL: a name of WITH is seen in the SELECT that it belongs to, in whatever
 * stands in that SELECT, and in the items of its WITH after it (WITH RECURSIVE: in all of them).
 * The innermost one counts. A name with a schema or a catalog is never one of WITH. */
#ifndef BRUME_QUERY_SCOPE_H
#define BRUME_QUERY_SCOPE_H

#include <pg_query/pg_query.pb-c.h>

/* Told of a table's name, and of the item of WITH that it means (NULL: none, it means a table). */
typedef void (*brume_sql_table_visitor)(void *context, PgQuery__RangeVar *table,
                                        const PgQuery__CommonTableExpr *item);

/* Visit the name of every table that is read in the tree of `select`, by reflection: none is
 * missed. (SELECT INTO names one that is written; it is refused where kinds of nodes are checked.)
 */
void brume_sql_visit_tables(const PgQuery__SelectStmt *select, brume_sql_table_visitor visit,
                            void *context);

#endif
