/* PostgreSQL over libpq.
 *
 * One connection, and more where rows are read in parts (postgres_parts.c). Everything that changes
 * the meaning of SQL is pinned (search_path, time zone, encoding, string syntax ...); the server
 * must be in UTF-8. A query runs in a transaction of its own, REPEATABLE READ and READ ONLY, and
 * its rows travel by COPY in binary: eight bytes big-endian for INTEGER and REAL, raw bytes for
 * TEXT. The end of the rows counts only when the server confirmed it. Notices and errors of the
 * server are never shown: they may quote rows. */
#include "engine/postgres.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "engine/copy.h"

enum { INT8_OID = 20, TEXT_OID = 25, FLOAT8_OID = 701 };

typedef struct postgres_state_of_rows {
    brume_copy *copy;
    bool copying, in_transaction;
} rows_state;

static void no_notice(void *context, const PGresult *result)
{
    (void)context;
    (void)result;
}

brume_status brume_postgres_failed(brume_postgres *state, brume_error *error)
{
    if (PQstatus(state->connection) != CONNECTION_OK)
        return brume_fail(error, BRUME_EENGINE, "is the server still running?",
                          "the connection to the PostgreSQL server was lost");
    return brume_fail(error, BRUME_EENGINE, "look into the server's log",
                      "PostgreSQL failed while it ran the query");
}

static brume_status denied_table(brume_error *error)
{
    return brume_fail(error, BRUME_ESOURCE, "GRANT SELECT on it to the user of the URL",
                      "the PostgreSQL user may not read the table");
}

bool brume_postgres_run(brume_postgres *state, const char *sql)
{
    PGresult *result = PQexec(state->connection, sql);
    bool done = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    return done;
}

/* ---- open ---- */

static bool settle(brume_postgres *state)
{
    static const char *const settings[] = {
        "SET search_path = pg_catalog, pg_temp",
        "SET client_encoding = 'UTF8'",
        "SET TimeZone = 'UTC'",
        "SET DateStyle = 'ISO, YMD'",
        "SET IntervalStyle = 'postgres'",
        "SET extra_float_digits = 1",
        "SET standard_conforming_strings = on",
        "SET backslash_quote = off",
        "SET transform_null_equals = off",
        "SET lc_numeric = 'C'",
        "SET lc_time = 'C'",
        "SET default_transaction_read_only = on",
        "SET statement_timeout = 0",
        "SET lock_timeout = 0",
        "SET idle_in_transaction_session_timeout = 0",
        "SET row_security = off",
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (!brume_postgres_run(state, settings[i]))
            return false;
    /* A server that can look whether its client is still there does so: a process that was ended at
     * its deadline leaves no query running. Older servers, and some systems, cannot. */
    if (PQserverVersion(state->connection) >= 140000)
        (void)brume_postgres_run(state, "SET client_connection_check_interval = '1s'");
    return true;
}

brume_status brume_postgres_connect(brume_postgres *state, const char *location,
                                    const char *password, brume_error *error)
{
    const char *const keywords[] = {"connect_timeout",
                                    "dbname",
                                    "client_encoding",
                                    "application_name",
                                    password ? "password" : NULL,
                                    NULL};
    const char *const values[] = {"10", location, "UTF8", "brume", password, NULL};
    state->connection = PQconnectdbParams(keywords, values, 1);
    if (!state->connection)
        return brume_no_memory(error, NULL);
    if (PQstatus(state->connection) != CONNECTION_OK)
        return brume_fail(error, BRUME_ESOURCE,
                          "check host, port, user, password and database of the URL",
                          "cannot connect to the PostgreSQL server");
    PQsetNoticeReceiver(state->connection, no_notice, NULL);
    const char *encoding = PQparameterStatus(state->connection, "server_encoding");
    if (!encoding || strcmp(encoding, "UTF8") != 0)
        return brume_fail(error, BRUME_EUNSUPPORTED, "move the table to a database in UTF8",
                          "the PostgreSQL database is not encoded in UTF8");
    if (PQserverVersion(state->connection) < 120000)
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL,
                          "this PostgreSQL server is older than version 12");
    if (!settle(state))
        return brume_postgres_failed(state, error);
    state->cancel = PQgetCancel(state->connection);
    return state->cancel ? BRUME_OK : brume_no_memory(error, NULL);
}

char *brume_postgres_cell(brume_postgres *state, const char *sql, const char *const *parameters,
                          int count, int *rows)
{
    PGresult *result = PQexecParams(state->connection, sql, count, NULL, parameters, NULL, NULL, 0);
    char *cell = NULL;
    *rows = PQresultStatus(result) == PGRES_TUPLES_OK ? PQntuples(result) : -1;
    if (*rows == 1 && !PQgetisnull(result, 0, 0))
        cell = strdup(PQgetvalue(result, 0, 0));
    PQclear(result);
    return cell;
}

static brume_status name_server(brume_postgres *state, brume_error *error)
{
    int rows = 0;
    state->server = brume_postgres_cell(
        state, "SELECT system_identifier::text FROM pg_catalog.pg_control_system()", NULL, 0,
        &rows);
    const char *host = PQhost(state->connection), *port = PQport(state->connection);
    if (!state->server)
        state->server = brume_engine_format("%s:%s", host ? host : "", port ? port : "");
    return state->server ? BRUME_OK : brume_no_memory(error, NULL);
}

static brume_status find_table(brume_postgres *state, const brume_source *source,
                               brume_postgres_table *found, brume_error *error)
{
    if (!source->table || !*source->table)
        return brume_fail(error, BRUME_EARGUMENT, "say which with --table SCHEMA.NAME",
                          "a PostgreSQL source needs a table");
    const char *dot = strchr(source->table, '.');
    found->schema = dot ? strndup(source->table, (size_t)(dot - source->table)) : strdup("public");
    found->name = strdup(dot ? dot + 1 : source->table);
    if (!found->schema || !found->name)
        return brume_no_memory(error, NULL);
    const char *const names[] = {found->schema, found->name};
    int rows = 0;
    found->oid =
        brume_postgres_cell(state,
                            "SELECT c.oid::text FROM pg_catalog.pg_class c JOIN "
                            "pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = "
                            "$1::name AND c.relname = $2::name AND c.relkind IN "
                            "('r','p','v','m','f')",
                            names, 2, &rows);
    if (rows < 0)
        return brume_postgres_failed(state, error);
    if (!found->oid)
        return brume_fail(error, BRUME_ESOURCE, "name it as SCHEMA.NAME, in its exact case",
                          "no table '%s' in the database", source->table);
    const char *const oid[] = {found->oid};
    char *denied = brume_postgres_cell(state,
                                       "SELECT 'denied' WHERE NOT "
                                       "pg_catalog.has_any_column_privilege($1::oid, 'SELECT')",
                                       oid, 1, &rows);
    free(denied);
    if (rows < 0)
        return brume_postgres_failed(state, error);
    if (rows > 0)
        return denied_table(error);
    found->identity = brume_engine_format("postgresql:%s/%s/%s.%s", state->server,
                                          PQdb(state->connection), found->schema, found->name);
    return found->identity ? BRUME_OK : brume_no_memory(error, NULL);
}

/* Find the table, and that it still has the recorded columns. */
static brume_status open_table(brume_engine *engine, size_t index, const brume_source *source,
                               brume_error *error)
{
    brume_postgres *state = engine->state;
    brume_postgres_table *found = &state->sources[index];
    BRUME_TRY(find_table(state, source, found, error));
    char *schema = brume_engine_quote(found->schema), *name = brume_engine_quote(found->name);
    if (schema && name)
        engine->tables[index] = brume_engine_format("%s.%s", schema, name);
    free(schema);
    free(name);
    if (!engine->tables[index])
        return brume_no_memory(error, NULL);
    brume_description now = {0};
    brume_status status = brume_postgres_columns(engine, index, &now, error);
    if (status == BRUME_OK)
        status = brume_engine_check_columns(source, &now, error);
    brume_description_clear(&now);
    return status;
}

static brume_status open_source(brume_engine *engine, size_t index, const brume_source *source,
                                brume_error *error)
{
    if (!source->relation)
        return open_table(engine, index, source, error);
    engine->tables[index] = strdup(source->relation);
    return engine->tables[index] ? BRUME_OK : brume_no_memory(error, NULL);
}

static brume_status postgres_driver_open(brume_engine *engine, const brume_source *sources,
                                         size_t count, brume_error *error)
{
    BRUME_TRY(brume_libpq_load(error));
    brume_postgres *state = calloc(1, sizeof *state);
    if (!state)
        return brume_no_memory(error, NULL);
    engine->state = state;
    state->sources = calloc(count, sizeof *state->sources);
    if (!state->sources)
        return brume_no_memory(error, NULL);
    state->source_count = count;
    for (size_t i = 1; i < count; i++)
        if (strcmp(sources[i].location, sources[0].location) != 0)
            return brume_fail(error, BRUME_EUNSUPPORTED, "register both with the same URL",
                              "tables of different PostgreSQL URLs cannot be read in one query");
    state->location = strdup(sources[0].location);
    state->password = sources[0].password ? strdup(sources[0].password) : NULL;
    if (!state->location || (sources[0].password && !state->password))
        return brume_no_memory(error, NULL);
    BRUME_TRY(brume_postgres_connect(state, state->location, state->password, error));
    BRUME_TRY(name_server(state, error));
    for (size_t i = 0; i < count; i++)
        BRUME_TRY(open_source(engine, i, &sources[i], error));
    return BRUME_OK;
}

void brume_postgres_disconnect(brume_postgres *state)
{
    if (state->cancel)
        PQfreeCancel(state->cancel);
    PQfinish(state->connection);
    state->cancel = NULL;
    state->connection = NULL;
}

static void postgres_driver_close(brume_engine *engine)
{
    brume_postgres *state = engine->state;
    if (!state)
        return;
    brume_postgres_disconnect(state);
    for (size_t i = 0; i < atomic_load(&state->other_count); i++)
        PQfreeCancel(state->others[i]);
    free(state->location);
    free(state->password);
    free(state->server);
    for (size_t i = 0; i < state->source_count; i++) {
        free(state->sources[i].schema);
        free(state->sources[i].name);
        free(state->sources[i].oid);
        free(state->sources[i].identity);
    }
    free(state->sources);
    free(state);
    engine->state = NULL;
}

/* ---- rows ---- */

static brume_status check_result_types(brume_postgres *state, const char *sql,
                                       const brume_rows *rows, brume_error *error)
{
    static const Oid travels[] = {[BRUME_WIRE_INTEGER] = INT8_OID,
                                  [BRUME_WIRE_REAL] = FLOAT8_OID,
                                  [BRUME_WIRE_TEXT] = TEXT_OID};
    /* Preparing by the extended protocol also refuses more than one statement. */
    PGresult *result = PQprepare(state->connection, "", sql, 0, NULL);
    bool prepared = PQresultStatus(result) == PGRES_COMMAND_OK;
    const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    bool denied = sqlstate && strcmp(sqlstate, "42501") == 0;
    PQclear(result);
    if (denied)
        return denied_table(error);
    if (!prepared)
        return brume_postgres_failed(state, error);
    result = PQdescribePrepared(state->connection, "");
    bool fits = PQresultStatus(result) == PGRES_COMMAND_OK &&
                PQnfields(result) == (int)rows->wire_count;
    for (int i = 0; fits && i < PQnfields(result); i++)
        fits = PQftype(result, i) == travels[rows->wires[i]];
    PQclear(result);
    if (fits)
        return BRUME_OK;
    if (PQstatus(state->connection) != CONNECTION_OK)
        return brume_postgres_failed(state, error);
    return brume_fail(error, BRUME_EINTERNAL, NULL, "the result has other columns");
}

static brume_status postgres_driver_select(brume_engine *engine, const char *sql, brume_rows *rows,
                                           brume_error *error)
{
    brume_postgres *state = engine->state;
    rows_state *own = calloc(1, sizeof *own);
    if (!own)
        return brume_no_memory(error, NULL);
    rows->state = own;
    BRUME_TRY(brume_copy_open(rows->wires, rows->wire_count, &own->copy, error));
    if (strncmp(sql, "SELECT ", 7) != 0)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "only a single SELECT may run");
    if (!state->held &&
        !brume_postgres_run(state, "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"))
        return brume_postgres_failed(state, error);
    own->in_transaction = !state->held;
    BRUME_TRY(check_result_types(state, sql, rows, error));
    char *copy = brume_engine_format("COPY (%s) TO STDOUT (FORMAT binary)", sql);
    if (!copy)
        return brume_no_memory(error, NULL);
    PGresult *result = PQexec(state->connection, copy);
    free(copy);
    own->copying = PQresultStatus(result) == PGRES_COPY_OUT;
    PQclear(result);
    if (own->copying)
        return BRUME_OK;
    return brume_postgres_failed(state, error);
}

/* The server must say that the copy is complete, and a transaction of its own must end. */
static bool confirm_end(brume_postgres *state, rows_state *own)
{
    bool complete = brume_copy_is_complete(own->copy);
    PGresult *result;
    while ((result = PQgetResult(state->connection))) {
        complete = complete && PQresultStatus(result) == PGRES_COMMAND_OK;
        PQclear(result);
    }
    own->copying = false;
    complete = complete && (!own->in_transaction || brume_postgres_run(state, "COMMIT"));
    own->in_transaction = own->in_transaction && !complete;
    return complete;
}

static brume_status postgres_driver_next(brume_rows *rows, brume_error *error)
{
    brume_postgres *state = rows->engine->state;
    rows_state *own = rows->state;
    brume_copy_start(own->copy);
    while (own->copying && !brume_copy_is_full(own->copy)) {
        char *message = NULL;
        int length = PQgetCopyData(state->connection, &message, 0);
        if (length > 0) {
            brume_status status =
                brume_copy_take(own->copy, (const unsigned char *)message, (size_t)length, error);
            PQfreemem(message);
            BRUME_TRY(status);
        } else if (length == -2 || !confirm_end(state, own)) {
            return brume_postgres_failed(state, error);
        }
    }
    rows->chunk.row_count = brume_copy_columns(own->copy, rows->columns);
    return BRUME_OK;
}

static void postgres_driver_finish(brume_rows *rows)
{
    brume_postgres *state = rows->engine->state;
    rows_state *own = rows->state;
    if (!own)
        return;
    if (own->copying) {
        char ignored[256];
        PQcancel(state->cancel, ignored, sizeof ignored);
        char *message = NULL;
        while (PQgetCopyData(state->connection, &message, 0) > 0)
            PQfreemem(message);
        PGresult *result;
        while ((result = PQgetResult(state->connection)) &&
               PQresultStatus(result) != PGRES_COPY_OUT)
            PQclear(result);
        PQclear(result);
    }
    if (own->in_transaction)
        (void)brume_postgres_run(state, "ROLLBACK");
    brume_copy_close(own->copy);
    free(own);
}

/* ---- one snapshot for several statements ---- */

static brume_status postgres_driver_retain(brume_engine *engine, brume_error *error)
{
    brume_postgres *state = engine->state;
    if (!brume_postgres_run(state, "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"))
        return brume_postgres_failed(state, error);
    state->held = true;
    /* Partitions that lie on other servers are added up there, where PostgreSQL can. */
    (void)brume_postgres_run(state, "SET LOCAL enable_partitionwise_aggregate = on");
    return BRUME_OK;
}

/* Nothing was written: that it ends is all that matters. */
static void postgres_driver_release(brume_engine *engine)
{
    brume_postgres *state = engine->state;
    (void)brume_postgres_run(state, "ROLLBACK");
    state->held = false;
}

static void postgres_driver_cancel(brume_engine *engine)
{
    brume_postgres *state = engine->state;
    char ignored[256];
    PQcancel(state->cancel, ignored, sizeof ignored);
    size_t others = atomic_load(&state->other_count);
    for (size_t i = 0; i < others; i++)
        PQcancel(state->others[i], ignored, sizeof ignored);
}

const brume_driver brume_driver_postgresql = {
    .dialect = BRUME_DIALECT_POSTGRESQL,
    .open = postgres_driver_open,
    .close = postgres_driver_close,
    .describe = brume_postgres_describe,
    .marks = brume_postgres_marks,
    .select = postgres_driver_select,
    .next = postgres_driver_next,
    .finish = postgres_driver_finish,
    .divide = brume_postgres_divide,
    .scan_parts = brume_postgres_scan_parts,
    .is_bytewise = brume_postgres_is_bytewise,
    .retain = postgres_driver_retain,
    .release = postgres_driver_release,
    .cancel = postgres_driver_cancel,
};
