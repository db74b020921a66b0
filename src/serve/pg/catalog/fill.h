/* The rows of the catalog: what a user may know of the datasets, in PostgreSQL's tables. */
#ifndef BRUME_SERVE_PG_CATALOG_FILL_H
#define BRUME_SERVE_PG_CATALOG_FILL_H

#include <jansson.h>
#include <sqlite3.h>

#include "serve/pg/connection.h"

/* Create all relations and fill them. `shown` is a list of the answers of `show`, one for each
 * dataset. EMEMORY. */
BRUME_MUST_USE brume_status brume_pg_catalog_fill(sqlite3 *database,
                                                  const brume_pg_connection *connection,
                                                  const json_t *shown, brume_error *error);

/* Fill in pg_settings again, with the values of now. EMEMORY. */
BRUME_MUST_USE brume_status brume_pg_catalog_fill_settings(sqlite3 *database,
                                                           const brume_pg_connection *connection,
                                                           brume_error *error);

#endif
