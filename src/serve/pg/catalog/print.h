/* A SELECT of the catalog, translated from PostgreSQL's SQL to SQLite's, with the names and types
 * of its columns. Only relations of the catalog can be named. */
#ifndef BRUME_SERVE_PG_CATALOG_PRINT_H
#define BRUME_SERVE_PG_CATALOG_PRINT_H

#include "serve/pg/catalog/relation.h"
#include "serve/pg/table.h"
#include "serve/pg/tree.h"

typedef struct brume_pg_translation {
    char *sql;              /* NULL: something in it is not known here; then `reason` says what */
    brume_pg_table columns; /* names and types, also then */
    bool reads_catalog;     /* it names a relation */
    char reason[160];
} brume_pg_translation;

/* EMEMORY; EUNKNOWN: a relation that the catalog does not have. */
BRUME_MUST_USE brume_status brume_pg_translate(const PgQuery__SelectStmt *select,
                                               brume_pg_translation *out, brume_error *error);
void brume_pg_translation_clear(brume_pg_translation *translation);

/* ---- parts of the translation ---- */

/* SQL of an expression, and its type. */
typedef struct brume_pg_sql {
    const char *text;
    uint32_t type;
} brume_pg_sql;

/* A column that can be named in an expression: how it is called, and what is written for it. */
typedef struct brume_pg_named {
    const char *name, *written;
    uint32_t type;
} brume_pg_named;

/* An item of FROM, or of WITH. */
typedef struct brume_pg_source {
    const char *alias;
    uint32_t oid; /* of its relation, for tableoid; 0: none */
    brume_pg_named *columns;
    size_t count;
} brume_pg_source;

/* The names that an expression may use: those of its own SELECT, then of the SELECTs around it. */
typedef struct brume_pg_scope {
    const struct brume_pg_scope *outer;
    brume_pg_source sources[40], with[20];
    size_t source_count, with_count;
    const brume_pg_named *outputs; /* for ORDER BY and GROUP BY; else none */
    size_t output_count;
} brume_pg_scope;

typedef struct brume_pg_printer {
    void **memory; /* everything that is allocated, to be freed at the end */
    size_t memory_count, memory_room, bytes;
    bool failed, out_of_memory, reads_catalog, unknown_relation;
    char reason[160];
} brume_pg_printer;

/* Text that lives as long as the printer; "" if memory is out (the printer has failed then). */
const char *brume_pg_format_text(brume_pg_printer *printer, const char *format, ...)
    BRUME_PRINTF(2, 3);
void *brume_pg_print_allocate(brume_pg_printer *printer, size_t bytes);
/* Give up the translation; returns NULL, of the type text. */
brume_pg_sql brume_pg_print_fail(brume_pg_printer *printer, const char *reason, const char *what);

brume_pg_sql brume_pg_print_expression(brume_pg_printer *printer, const brume_pg_scope *scope,
                                       const PgQuery__Node *node);
brume_pg_sql brume_pg_print_function(brume_pg_printer *printer, const brume_pg_scope *scope,
                                     const PgQuery__FuncCall *call);
brume_pg_sql brume_pg_print_cast(brume_pg_printer *printer, brume_pg_sql value,
                                 const PgQuery__TypeName *type);
brume_pg_sql brume_pg_cast_to(brume_pg_printer *printer, brume_pg_sql value, uint32_t type);
/* A literal without a type takes that of what it is compared with. */
brume_pg_sql brume_pg_adapt(brume_pg_printer *printer, brume_pg_sql value, uint32_t type);
brume_pg_sql brume_pg_print_operator(brume_pg_printer *printer, const brume_pg_scope *scope,
                                     const PgQuery__AExpr *node);
/* "(a, b) ..." of PARTITION BY and the like: a list with commas. */
const char *brume_pg_print_order(brume_pg_printer *printer, const brume_pg_scope *scope,
                                 PgQuery__Node *const *list, size_t count);
const char *brume_pg_print_list(brume_pg_printer *printer, const brume_pg_scope *scope,
                                PgQuery__Node *const *list, size_t count);

/* A SELECT; its columns become those of `columns`. `single`: its one column is called c. */
const char *brume_pg_print_select(brume_pg_printer *printer, const brume_pg_scope *outer,
                                  const PgQuery__SelectStmt *select, bool single,
                                  brume_pg_source *columns);
/* Items of FROM, added to the scope. */
const char *brume_pg_print_from(brume_pg_printer *printer, brume_pg_scope *scope,
                                const PgQuery__Node *item);

/* The name of a function that gives the items of an array as rows (unnest, generate_series,
 * generate_subscripts); NULL: it is none. */
const char *brume_pg_series_name(const PgQuery__Node *node);
/* Its value, and the item of FROM, under `alias`, whose rows have it. */
brume_pg_sql brume_pg_print_series(brume_pg_printer *printer, const brume_pg_scope *scope,
                                   const PgQuery__FuncCall *call, const char *name,
                                   const char *alias, const char **from);

/* The name that PostgreSQL gives to a column of this expression. */
const char *brume_pg_column_name(const PgQuery__Node *node);

/* An identifier, or a text, quoted. */
const char *brume_pg_quote(brume_pg_printer *printer, const char *text, char quote);
const char *brume_pg_string_of(const PgQuery__Node *node); /* "" where it is no name */

#endif
