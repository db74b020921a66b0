/* What a query of public tables shows, and its text: parts of public.h. */
#ifndef BRUME_QUERY_PUBLIC_OUTPUTS_H
#define BRUME_QUERY_PUBLIC_OUTPUTS_H

#include <pg_query.h>
#include <pg_query/pg_query.pb-c.h>

#include "query/expression/query.h"

/* The names in what is run of a table, by its place in the catalog, and of an item of WITH. */
enum { BRUME_PUBLIC_NAME = 40 };
void brume_public_table_name(size_t table, char name[BRUME_PUBLIC_NAME]);
void brume_public_with_name(size_t item, char name[BRUME_PUBLIC_NAME]);

/* The names of the outputs of a query whose tables have these names, * written out. EUNSUPPORTED: *
 * of something whose columns are not known. The caller frees the names and the list, also after an
 * error. */
BRUME_MUST_USE brume_status brume_public_outputs(const PgQuery__SelectStmt *select,
                                                 const brume_catalog *catalog, char ***names,
                                                 size_t *count, brume_error *error);

/* The name that PostgreSQL gives an output; it belongs to the tree. */
const char *brume_public_output_name(const PgQuery__ResTarget *target);

/* The statement that a tree is, printed anew; GROUP BY ALL as DuckDB has it. */
BRUME_MUST_USE brume_status brume_public_text(const PgQuery__ParseResult *tree, char **text,
                                              brume_error *error);

#endif
