/* The names of the catalog: its relations with their columns, and its types. */
#ifndef BRUME_SERVE_PG_CATALOG_RELATION_H
#define BRUME_SERVE_PG_CATALOG_RELATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct brume_pg_relation {
    const char *schema, *name;
    uint32_t oid;
    const char *columns; /* "oid oid, relname name, ..." */
} brume_pg_relation;

extern const brume_pg_relation brume_pg_relations[];
extern const size_t brume_pg_relation_count;

/* NULL: there is none of this name. */
const brume_pg_relation *brume_pg_relation_find(const char *schema, const char *name);

/* Go through the columns of a relation: *at is the rest of the text. False at its end. */
enum { BRUME_PG_NAME_SIZE = 64 };
bool brume_pg_next_column(const char **at, char name[BRUME_PG_NAME_SIZE],
                          char type[BRUME_PG_NAME_SIZE]);

typedef struct brume_pg_type {
    uint32_t oid;
    const char *name, *sql_name;
    int length;
    char kind, category;
    bool preferred;
    uint32_t element, array;
    const char *input, *stored; /* stored: the type that DuckDB has in its place */
} brume_pg_type;

extern const brume_pg_type brume_pg_types[];
extern const size_t brume_pg_type_count;

/* By either name (also int, decimal, ... and domains of the information schema). *is_array: the
 * name was that of an array of it. NULL: not known. */
const brume_pg_type *brume_pg_type_named(const char *name, bool *is_array);

/* The type of the columns of this name, wherever they are. NULL: there is none. */
const brume_pg_type *brume_pg_type_of_column(const char *column, bool *is_array);

#endif
