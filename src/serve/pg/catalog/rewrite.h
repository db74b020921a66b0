/* A SELECT of the catalog for DuckDB: the client's own tree, with other names in some places.
 *
 *  1. It names relations of relations.def, items of its own WITH, functions of functions.def and
 *     types of types.def, and nothing else: whatever DuckDB may have besides cannot be reached.
 *  2. Kinds of nodes that are not known here are refused. */
#ifndef BRUME_SERVE_PG_CATALOG_REWRITE_H
#define BRUME_SERVE_PG_CATALOG_REWRITE_H

#include "serve/pg/tree.h"

/* A column of the result, as far as the text of the query tells. */
typedef struct brume_pg_output {
    bool is_star; /* it stands for any number of columns */
    char name[64];
    uint32_t type; /* 0: that of the value */
} brume_pg_output;

typedef struct brume_pg_rewritten {
    char *sql; /* NULL: something in it is not known here; then `reason` says what. free() */
    char reason[160];
    bool reads_catalog; /* it names a relation */
    brume_pg_output *outputs;
    size_t output_count;
} brume_pg_rewritten;

/* The tree is changed. EMEMORY; EUNKNOWN: a relation that the catalog does not have. */
BRUME_MUST_USE brume_status brume_pg_rewrite(PgQuery__ParseResult *tree, brume_pg_rewritten *out,
                                             brume_error *error);
void brume_pg_rewritten_clear(brume_pg_rewritten *rewritten);

#endif
