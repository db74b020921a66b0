/* Queries of the catalog (pg_catalog, information_schema, or no table at all).
 *
 * A database in memory, made for the connection from what `datasets` and `show` tell its user, has
 * PostgreSQL's catalogs: the tables and columns of the datasets as public facts, and nothing else.
 * A query is translated for it (print.h) and runs there. It cannot reach any data, because
 * there is none: no file is open, no other database can be attached, and nothing but reading is
 * allowed. What cannot be translated has no rows, under the right names. */
#ifndef BRUME_SERVE_PG_CATALOG_H
#define BRUME_SERVE_PG_CATALOG_H

#include "serve/pg/connection.h"

typedef struct brume_pg_catalog brume_pg_catalog;

/* Run one SELECT; columns and rows. ESYNTAX, EUNKNOWN (a relation), EUNSUPPORTED (a function
 * without a table that is not known; too much work), and the errors of `datasets` and `show`. */
BRUME_MUST_USE brume_status brume_pg_catalog_query(brume_pg_connection *connection, const char *sql,
                                                   brume_pg_table *table, brume_error *error);

void brume_pg_catalog_close(brume_pg_catalog *catalog);

#endif
