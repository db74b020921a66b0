/* A connection after its start: what it has set, prepared and opened, and how statements run.
 *
 *  1. Only Execute, FETCH of a cursor for the first time and a simple query of datasets can cost
 *     anything; each goes through one call of `query`, whose price is on the ledger before there is
 *     an answer. Parse, Bind, Describe, DECLARE, catalogs, SET, SHOW and every error spend nothing.
 *  2. Everything else that is sent is a function of the statement, the settings, the policies and
 *     the journal: explain and the catalog read no row.
 *  3. BEGIN, COMMIT and ROLLBACK change nothing but settings and cursors: an answer that was given
 *     cannot be taken back, and its price stays spent. */
#ifndef BRUME_SERVE_PG_CONNECTION_H
#define BRUME_SERVE_PG_CONNECTION_H

#include <stdio.h>

#include "serve/pg/setting.h"
#include "serve/pg/statement.h"
#include "serve/pg/wire.h"

typedef struct brume_pg_outcome {
    bool busy;           /* it was refused because too many wait */
    bool may_be_charged; /* a price was written to the ledger, or nobody knows whether it was */
} brume_pg_outcome;

/* Who answers: the pool of the server, or what a test puts in its place. */
typedef struct brume_pg_backend {
    /* Run a command as the user of the connection; `sql` NULL: it has none, or in its options.
     * *outcome is set also on an error. The caller frees *json with brume_free. */
    brume_status (*run)(void *context, const char *command, const char *sql, const char *options,
                        char **json, brume_pg_outcome *outcome, brume_error *error);
    /* Keep so many bytes less for the user, and then so many more; false: there is no room for
     * more. NULL: any number. */
    bool (*hold)(void *context, size_t more, size_t less);
    void *context;
} brume_pg_backend;

enum { BRUME_PG_TAG = 64 }; /* bytes of a CommandComplete */

/* So many bytes are counted with what a user may keep. */
typedef struct brume_pg_held {
    const brume_pg_backend *backend;
    size_t bytes;
} brume_pg_held;

/* A statement that was prepared. */
typedef struct brume_pg_prepared {
    char *name;
    brume_pg_statement *statement;
    uint32_t *types; /* of its parameters; 0: not said */
    size_t type_count;
    bool is_described; /* the client was told the columns */
    brume_pg_table described;
    brume_pg_held held;
} brume_pg_prepared;

/* A statement that is bound to values, or a cursor. */
typedef struct brume_pg_portal {
    char *name;
    brume_pg_statement *statement; /* its text has literals in the place of parameters */
    brume_pg_table promised;       /* columns that the client was told of the prepared statement */
    brume_pg_formats formats;
    bool is_cursor, holds; /* WITH HOLD */
    bool has_columns;      /* `table` has its columns */
    bool is_run;           /* and its rows */
    brume_pg_table table;
    size_t at;              /* so many rows were sent; of a cursor: it stands on this row, from 1 */
    char tag[BRUME_PG_TAG]; /* CommandComplete, where it is not SELECT */
    brume_pg_held held;
} brume_pg_portal;

typedef struct brume_pg_connection {
    brume_pg_wire *wire;
    const brume_pg_backend *backend;
    brume_pg_settings *settings;
    char *user, *database;
    uint64_t issued; /* the journal row of the token that was shown */
    int32_t number;
    char transaction; /* 'I' none, 'T' in one, 'E' in one that failed */
    bool charged;     /* something was, in this transaction */
    int64_t spent;    /* in all, in units of 1e-12 of epsilon */
    bool skipping;    /* after an error of the extended protocol, until Sync */
    char sqlstate[6]; /* of the error that is on its way; empty: that of its status */
    int position;     /* of it in the statement; 0: none */
    brume_pg_prepared **prepared;
    size_t prepared_count;
    brume_pg_portal **portals;
    size_t portal_count;
    const brume_pg_portal *running; /* stays until it has run */
} brume_pg_connection;

/* Statements, and portals; and bytes of the texts of both together. */
enum { BRUME_PG_MOST_OPEN = 1000, BRUME_PG_MOST_OPEN_BYTES = 4 << 20 };
enum { BRUME_PG_MOST_PARAMETERS = 1000 }; /* of a statement */

/* ---- errors ---- */

/* Fail with a SQLSTATE that status.def has not. */
brume_status brume_pg_refuse(brume_pg_connection *connection, const char *sqlstate,
                             const char *hint, brume_error *error, const char *format, ...)
    BRUME_PRINTF(5, 6);
/* The static analyser does not see that the result is never BRUME_OK. */
#ifdef __clang_analyzer__
#define brume_pg_refuse(connection, sqlstate, hint, error, ...)                                    \
    ((void)brume_pg_refuse(connection, sqlstate, hint, error, __VA_ARGS__), BRUME_EARGUMENT)
#endif

/* Write the error, and note that the transaction failed. */
void brume_pg_report_error(brume_pg_connection *connection, const brume_error *error);

void brume_pg_notice(brume_pg_connection *connection, const char *severity, const char *sqlstate,
                     const char *message, const char *detail, const char *hint);

/* ---- running (execute.c) ---- */

/* The columns of a portal, known without spending. */
BRUME_MUST_USE brume_status brume_pg_portal_describe(brume_pg_connection *connection,
                                                     brume_pg_portal *portal, brume_error *error);

/* Run it (once) and send at most `most` rows (0: all), then CommandComplete, PortalSuspended or
 * EmptyQueryResponse. `describe`: send RowDescription first, where there are columns. */
BRUME_MUST_USE brume_status brume_pg_portal_execute(brume_pg_connection *connection,
                                                    brume_pg_portal *portal, uint32_t most,
                                                    bool describe, brume_error *error);

/* ---- asking (ask.c) ---- */

/* The columns of a SELECT of datasets. Where all its tables are public, which is free, also the
 * rows: *is_run. */
BRUME_MUST_USE brume_status brume_pg_ask_describe(brume_pg_connection *connection, const char *sql,
                                                  brume_pg_table *table, bool *is_run,
                                                  brume_error *error);

/* Ask: columns and rows; tells the price in a notice. `known`: the columns that the client was
 * told, or none: where they are others it is refused, before anything is spent. */
BRUME_MUST_USE brume_status brume_pg_ask(brume_pg_connection *connection, const char *sql,
                                         const brume_pg_table *known, brume_pg_table *table,
                                         brume_error *error);

/* The text of EXPLAIN, a line a row. */
BRUME_MUST_USE brume_status brume_pg_ask_explain(brume_pg_connection *connection, const char *sql,
                                                 brume_pg_table *table, brume_error *error);

/* ---- telling about an answer (tell.c) ---- */

/* Warnings, then the price, the errors and what else is to be kept in mind, as notices. */
void brume_pg_tell(brume_pg_connection *connection, const json_t *answer);

/* The error bar of a cell: the noise, and the allowance for what a limit cut. False: none can be
 * claimed. */
bool brume_pg_bar(const json_t *answer, size_t row, size_t column, double *bar);

/* Fill in a tag. */
static inline void brume_pg_set_tag(char tag[BRUME_PG_TAG], const char *text)
{
    snprintf(tag, BRUME_PG_TAG, "%s", text);
}

/* ---- statements that are no queries (command.c, cursor.c) ---- */

/* SET, transactions, DEALLOCATE, DISCARD, ...: fills in the tag. */
BRUME_MUST_USE brume_status brume_pg_command(brume_pg_connection *connection,
                                             const PgQuery__Node *node, char tag[BRUME_PG_TAG],
                                             brume_error *error);
/* SHOW: columns and rows. */
BRUME_MUST_USE brume_status brume_pg_command_show(brume_pg_connection *connection,
                                                  const PgQuery__VariableShowStmt *show,
                                                  brume_pg_table *table, brume_error *error);

BRUME_MUST_USE brume_status brume_pg_declare(brume_pg_connection *connection,
                                             const brume_pg_statement *statement,
                                             brume_error *error);
BRUME_MUST_USE brume_status brume_pg_close_cursor(brume_pg_connection *connection,
                                                  const PgQuery__ClosePortalStmt *close,
                                                  char tag[BRUME_PG_TAG], brume_error *error);
/* The columns of a FETCH (those of its cursor). */
BRUME_MUST_USE brume_status brume_pg_fetch_describe(brume_pg_connection *connection,
                                                    const PgQuery__FetchStmt *fetch,
                                                    brume_pg_table *table, brume_error *error);
/* Its rows; runs the cursor's query if it has not run. */
BRUME_MUST_USE brume_status brume_pg_fetch(brume_pg_connection *connection,
                                           const PgQuery__FetchStmt *fetch, brume_pg_table *table,
                                           char tag[BRUME_PG_TAG], brume_error *error);

/* ---- PREPARE and EXECUTE (prepare.c) ---- */

/* Prepares a SELECT, of datasets or of the catalog; nothing runs. */
BRUME_MUST_USE brume_status brume_pg_prepare(brume_pg_connection *connection,
                                             const brume_pg_statement *statement,
                                             brume_error *error);
/* Puts the query in the place of an EXECUTE, with the constants as its parameters; any other
 * statement stays as it is. */
BRUME_MUST_USE brume_status brume_pg_resolve(brume_pg_connection *connection,
                                             brume_pg_portal *portal, brume_error *error);

/* ---- what is open (open.c) ---- */

brume_pg_prepared *brume_pg_find_prepared(const brume_pg_connection *connection, const char *name);
brume_pg_portal *brume_pg_find_portal(const brume_pg_connection *connection, const char *name);

/* Take it into the list, in the place of an unnamed one; it is freed on an error too. SQLSTATE
 * 42P05, 42P03: there is one of the name; 53400: too much is open. */
BRUME_MUST_USE brume_status brume_pg_add_prepared(brume_pg_connection *connection,
                                                  brume_pg_prepared *prepared, brume_error *error);
BRUME_MUST_USE brume_status brume_pg_add_portal(brume_pg_connection *connection,
                                                brume_pg_portal *portal, brume_error *error);
void brume_pg_prepared_free(brume_pg_prepared *prepared);
void brume_pg_drop_prepared(brume_pg_connection *connection, const char *name); /* NULL: all */
void brume_pg_drop_portal(brume_pg_connection *connection, const char *name);

/* Portals end with the transaction; cursors WITH HOLD stay after COMMIT, if `keep_held`. */
void brume_pg_drop_portals(brume_pg_connection *connection, bool keep_held);
void brume_pg_portal_free(brume_pg_portal *portal);

/* Count what a portal keeps, its rows if it has run, with what its user may keep; refused, it has
 * not run. */
BRUME_MUST_USE brume_status brume_pg_portal_hold(brume_pg_connection *connection,
                                                 brume_pg_portal *portal, brume_error *error);

/* ---- messages (serve.c, extended.c) ---- */

/* A portal of a prepared statement with these values in it. */
BRUME_MUST_USE brume_status brume_pg_bind(brume_pg_connection *connection,
                                          const brume_pg_prepared *prepared, const char *name,
                                          const brume_pg_value *values, brume_pg_portal **out,
                                          brume_error *error);

/* Parse, Bind, Describe, Execute, Close: one message. */
BRUME_MUST_USE brume_status brume_pg_extended(brume_pg_connection *connection, char type,
                                              brume_pg_reader *body, brume_error *error);

/* Serve messages until the client or the server ends it. The start-up is done. */
void brume_pg_serve(brume_pg_connection *connection);

void brume_pg_connection_clear(brume_pg_connection *connection);

#endif
