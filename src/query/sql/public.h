/* A query that names public tables only: it needs no noise and no price, and any SELECT will do.
 *
 * The engine runs the query itself, so everything in it is on an allow-list: kinds of nodes, names
 * of functions, operators and types. Nothing on it reads anything but the tables that the query
 * names, writes anything, or depends on the clock, on chance or on the session. What is run is
 * printed from the tree that was checked, never the text as it was typed.
 *
 * No name reaches anything else that an engine has: each name of a table was found to mean a table
 * of the catalog or, in its scope (parse.c), an item of WITH, and both are printed under names that
 * brume gives (brume_table_0, brume_with_0), which stand before the query in one WITH, or in it. */
#ifndef BRUME_QUERY_PUBLIC_H
#define BRUME_QUERY_PUBLIC_H

#include <pg_query.h>
#include <pg_query/pg_query.pb-c.h>

#include "query/expression/query.h"
#include "query/sql/parse.h"

typedef struct brume_public_query {
    char *sql;    /* the SELECT; the tables by the names that brume gives */
    char **names; /* of its outputs */
    size_t output_count;
} brume_public_query;

/* Check the query, all of whose tables are the catalog's and public. EUNSUPPORTED: something that
 * is not on the list; EUNKNOWN: a name that no table has. */
BRUME_MUST_USE brume_status brume_sql_public(const brume_sql *sql, const brume_catalog *catalog,
                                             brume_public_query **out, brume_error *error);

/* The same for SQL over released tables (released.h), which runs in DuckDB alone and so has more
 * functions. */
BRUME_MUST_USE brume_status brume_sql_public_wide(const brume_sql *sql,
                                                  const brume_catalog *catalog,
                                                  brume_public_query **out, brume_error *error);

/* Is a function of this name computed from one row? False: of many, or it is not on the list. */
bool brume_public_is_of_row(const char *name);

void brume_public_query_close(brume_public_query *query);

/* What an engine is to run, in its dialect: outputs as texts, each followed by the name of its
 * type. `tables` is what follows FROM for each table of the catalog. Free *statement with free().
 */
BRUME_MUST_USE brume_status brume_public_query_print(const brume_public_query *query,
                                                     const brume_catalog *catalog,
                                                     brume_dialect dialect,
                                                     const char *const *tables, char **statement,
                                                     brume_error *error);

/* The name that PostgreSQL gives an output; it belongs to the tree. */
const char *brume_public_output_name(const PgQuery__ResTarget *target);

/* The statement that a tree is, printed anew; GROUP BY ALL as DuckDB has it. */
BRUME_MUST_USE brume_status brume_public_text(const PgQuery__ParseResult *tree, char **text,
                                              brume_error *error);

#endif
