/* From SQL text to a checked query. The text is parsed once: for the names of its tables, and then,
 * when what the catalog has to say of them is loaded, for the query. */
#ifndef BRUME_QUERY_PARSE_H
#define BRUME_QUERY_PARSE_H

#include <brume/session.h>
#include <pg_query/pg_query.pb-c.h>

#include "query/expression/query.h"

/* One SELECT as PostgreSQL's grammar reads it. */
typedef struct brume_sql brume_sql;

/* Parse the text. ESYNTAX: the text, with its position; EUNSUPPORTED: no single SELECT, or too long
 * or too deep. */
BRUME_MUST_USE brume_status brume_sql_parse(const char *text, brume_sql **out, brume_error *error);
void brume_sql_close(brume_sql *sql);

/* The statements of a text, parted by ;. Empty ones are left out; the last need not end. What is
 * wrong in one is for whoever parses it to say. Free with brume_sql_split_free. EMEMORY. */
BRUME_MUST_USE brume_status brume_sql_split(const char *text, char ***statements, size_t *count,
                                            brume_error *error);
void brume_sql_split_free(char **statements, size_t count);

/* The tree of the grammar; it belongs to `sql`. */
PgQuery__ParseResult *brume_sql_tree(const brume_sql *sql);

/* A table as a query calls it: DATASET.TABLE, or TABLE alone (dataset is NULL). */
typedef struct brume_sql_name {
    char *dataset, *table;
} brume_sql_name;

/* The names of the tables that it mentions, without a catalog: so that the caller can load what is
 * needed. Each name once; free with brume_sql_names_free. */
BRUME_MUST_USE brume_status brume_sql_names(const brume_sql *sql, brume_sql_name **names,
                                            size_t *count, brume_error *error);
void brume_sql_names_free(brume_sql_name *names, size_t count);

/* Check it against `catalog` (which must outlive the query). EUNKNOWN: a table or column, with the
 * nearest name as a hint; EUNSUPPORTED: SQL that brume refuses; EARGUMENT: missing bounds, wrong
 * types. Reads no row and knows no engine. */
BRUME_MUST_USE brume_status brume_sql_check(const brume_sql *sql, const brume_catalog *catalog,
                                            brume_query **query, brume_error *error);

/* Both at once, for a catalog that is known before. */
BRUME_MUST_USE brume_status brume_query_parse(const char *text, const brume_catalog *catalog,
                                              brume_query **query, brume_error *error);

/* Told of a table's name, and of the item of WITH that it means (NULL: none, it means a table). */
typedef void (*brume_sql_table_visitor)(void *context, PgQuery__RangeVar *table,
                                        const PgQuery__CommonTableExpr *item);

/* Visit the name of every table that is read in the tree of `select`, by reflection: none is
 * missed. (SELECT INTO names one that is written; it is refused where kinds of nodes are checked.)
 */
void brume_sql_visit_tables(const PgQuery__SelectStmt *select, brume_sql_table_visitor visit,
                            void *context);

#endif
