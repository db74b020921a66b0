/* An open connection to a PostgreSQL server. Shared by postgres.c (connecting, rows),
 * postgres_parts.c (several connections at once), postgres_catalog.c (columns of tables) and
 * postgres_view.c (what a table or view reads). */
#ifndef BRUME_ENGINE_POSTGRES_H
#define BRUME_ENGINE_POSTGRES_H

#include "engine/driver.h"
#include "engine/libpq.h"

typedef struct brume_postgres_table {
    char *schema, *name, *oid, *identity;
} brume_postgres_table;

enum { BRUME_POSTGRES_CONNECTIONS = 64 }; /* at most, of all scans of an engine */

typedef struct brume_postgres {
    PGconn *connection;
    PGcancel *cancel;
    char *location, *password; /* for more connections to the same server; the password or NULL */
    bool held;                 /* a transaction is open, in which statements run */
    /* Of all other connections that there were, which a cancel ends too. They live as long as the
     * engine, because a cancel may come at any moment; to a connection that has ended it does
     * nothing. */
    PGcancel *others[BRUME_POSTGRES_CONNECTIONS];
    atomic_size_t other_count;
    char *server; /* the cluster's own identifier; host and port where it does not say */
    brume_postgres_table *sources;
    size_t source_count;
} brume_postgres;

/* Connect, with the settings of every connection of brume. Close also what a failure left. */
brume_status brume_postgres_connect(brume_postgres *state, const char *location,
                                    const char *password, brume_error *error);
void brume_postgres_disconnect(brume_postgres *state);

/* Run a command that gives no rows. */
bool brume_postgres_run(brume_postgres *state, const char *sql);

/* One cell of one row, or NULL; *rows is how many rows there were, -1 on an error. */
char *brume_postgres_cell(brume_postgres *state, const char *sql, const char *const *parameters,
                          int count, int *rows);

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
bool brume_postgres_is_bytewise(brume_engine *engine, size_t index, const char *column);
brume_status brume_postgres_divide(brume_engine *engine, size_t index, brume_parts *parts,
                                   brume_error *error);
brume_status brume_postgres_scan_parts(brume_engine *engine, const char *const *statements,
                                       size_t count, const brume_wire *wires, size_t wire_count,
                                       brume_row_taker take, void *context, brume_error *error);

#endif
