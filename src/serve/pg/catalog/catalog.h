/* Queries of the catalog (pg_catalog, information_schema, or no table at all).
 *
 * A DuckDB in memory has PostgreSQL's catalogs: the tables and columns of the datasets, as
 * `datasets` and `show` tell them to the user, and nothing else. A query runs there as the client
 * wrote it, with other names in some places (rewrite.h).
 *
 *  1. It cannot reach any data, because there is none: no file, no network, no other database, no
 *     setting, and no name that is not in relations.def, functions.def and types.def.
 *  2. It runs where free work does (nursery.h): in a process with little memory that is killed when
 *     it does not end in time.
 *  3. What DuckDB does not take has no rows, under the right names. */
#ifndef BRUME_SERVE_PG_CATALOG_H
#define BRUME_SERVE_PG_CATALOG_H

#include <jansson.h>

#include <brume/session.h>

#include "serve/pg/connection.h"

/* Run one SELECT; columns and rows. ESYNTAX, EUNKNOWN (a relation), EUNSUPPORTED (a function
 * without a table that is not known; too much work), and the errors of `datasets` and `show`. */
BRUME_MUST_USE brume_status brume_pg_catalog_query(brume_pg_connection *connection, const char *sql,
                                                   brume_pg_table *table, brume_error *error);

/* The other end of it, the command "catalog": {"columns": [[name, type], ...], "rows": [[text or
 * null, ...], ...], "silent": why there are no rows, "refused": why there is no answer}. `options`
 * is {"user", "database", "number", "settings": [[name, value, description], ...]}. */
BRUME_MUST_USE brume_status brume_pg_catalog_call(brume_session *session, const char *sql,
                                                  const char *options, char **json,
                                                  brume_error *error);

/* The same of these answers of `show`. */
BRUME_MUST_USE brume_status brume_pg_catalog_answer(const json_t *shown, const char *sql,
                                                    const char *options, char **json,
                                                    brume_error *error);

#endif
