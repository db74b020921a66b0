/* Functions of PostgreSQL that SQLite lacks, for the database of the catalog. */
#ifndef BRUME_SERVE_PG_CATALOG_SQLITE_H
#define BRUME_SERVE_PG_CATALOG_SQLITE_H

#include <stdio.h>

#include <sqlite3.h>

#include "serve/pg/connection.h"

/* Add them; functions about the connection ask `connection`, which must outlive the database. */
BRUME_MUST_USE brume_status brume_pg_add_functions(sqlite3 *database,
                                                   brume_pg_connection *connection,
                                                   brume_error *error);

/* Functions of texts and arrays alone. */
BRUME_MUST_USE brume_status brume_pg_add_text_functions(sqlite3 *database, brume_error *error);
BRUME_MUST_USE brume_status brume_pg_add_array_functions(sqlite3 *database, brume_error *error);
BRUME_MUST_USE brume_status brume_pg_add_array_aggregates(sqlite3 *database, brume_error *error);

/* Write an item into an array's text, quoted where that is needed; NULL is an item too. */
void brume_pg_write_item(FILE *out, const char *item);

/* LIKE with % and _ and \, in time text times pattern at most. */
bool brume_pg_is_like(const char *text, const char *pattern, bool fold);

typedef struct brume_pg_sqlite_function {
    const char *name;
    int arguments; /* -1: any number */
    void (*run)(sqlite3_context *, int, sqlite3_value **);
} brume_pg_sqlite_function;
BRUME_MUST_USE brume_status brume_pg_add_list(sqlite3 *database,
                                              const brume_pg_sqlite_function *list, size_t count,
                                              void *context, brume_error *error);

#endif
