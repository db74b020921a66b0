/* The names of the catalog: its relations with their columns, and its types. */
#ifndef BRUME_SERVE_PG_CATALOG_RELATION_H
#define BRUME_SERVE_PG_CATALOG_RELATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct brume_pg_relation {
    const char *schema, *name;
    uint32_t oid;
    char kind;
    const char *columns; /* "oid oid, relname name, ..." */
} brume_pg_relation;

extern const brume_pg_relation brume_pg_relations[];
extern const size_t brume_pg_relation_count;

/* NULL: there is none of this name. */
const brume_pg_relation *brume_pg_relation_find(const char *schema, const char *name);

/* Go through the columns of a relation, or of any text like its: *at is the rest of the text. False
 * at its end. */
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
    const char *input;
} brume_pg_type;

extern const brume_pg_type brume_pg_types[];
extern const size_t brume_pg_type_count;

/* By number, or by either name (also int, decimal, ... and domains of the information schema).
 * NULL: not known. */
const brume_pg_type *brume_pg_type_find(uint32_t oid);
const brume_pg_type *brume_pg_type_named(const char *name);

#endif
