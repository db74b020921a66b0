/* An open connection to a PostgreSQL server. Shared by postgres.c (connecting, rows) and
 * postgres_catalog.c (columns of tables) and
 * postgres_view.c (what a table or view reads). */
#ifndef BRUME_ENGINE_POSTGRES_H
#define BRUME_ENGINE_POSTGRES_H

#include "engine/driver.h"
#include "engine/libpq.h"

typedef struct brume_postgres_table {
    char *schema, *name, *oid, *identity;
} brume_postgres_table;

typedef struct brume_postgres {
    PGconn *connection;
    PGcancel *cancel;
    char *server; /* the cluster's own identifier; host and port where it does not say */
    brume_postgres_table *sources;
    size_t source_count;
} brume_postgres;

/* BRUME_EENGINE, without the server's own words: they may quote rows. */
brume_status brume_postgres_failed(brume_postgres *state, brume_error *error);

/* The columns alone, which every opening compares with those that were recorded. */
brume_status brume_postgres_columns(brume_engine *engine, size_t index,
                                    brume_description *description, brume_error *error);

/* The driver's functions of these names. */
brume_status brume_postgres_describe(brume_engine *engine, size_t index,
                                     brume_description *description, brume_error *error);
/* Sets can_fail and is_opaque of what is read here (postgres_view.c). */
brume_status brume_postgres_look_through(brume_engine *engine, size_t index,
                                         brume_description *description, brume_error *error);
brume_status brume_postgres_marks(brume_engine *engine, size_t index, bool contents,
                                  brume_marks *marks, brume_error *error);

#endif
