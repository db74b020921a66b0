/* What a connection has open: prepared statements, portals, cursors. Promises: connection.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "serve/pg/connection.h"
#include "serve/pg/connection.h"

/* ---- errors ---- */

#undef brume_pg_refuse
brume_status brume_pg_refuse(brume_pg_connection *connection, const char *sqlstate,
                             const char *hint, brume_error *error, const char *format, ...)
{
    char message[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    snprintf(connection->sqlstate, sizeof connection->sqlstate, "%s", sqlstate);
    return brume_fail(error, BRUME_EARGUMENT, hint, "%s", message);
}

void brume_pg_report_error(brume_pg_connection *connection, const brume_error *error)
{
    brume_pg_report report = {.severity = "ERROR",
                              .sqlstate = *connection->sqlstate
                                              ? connection->sqlstate
                                              : brume_status_sqlstate(error->status),
                              .message = error->message,
                              .hint = error->hint,
                              .position = connection->position};
    brume_pg_put_report(&connection->wire->out, 'E', &report);
    connection->sqlstate[0] = 0;
    connection->position = 0;
    if (connection->transaction == 'T')
        connection->transaction = 'E';
}

void brume_pg_notice(brume_pg_connection *connection, const char *severity, const char *sqlstate,
                     const char *message, const char *detail, const char *hint)
{
    brume_pg_report report = {.severity = severity,
                              .sqlstate = sqlstate,
                              .message = message,
                              .detail = detail,
                              .hint = hint};
    brume_pg_put_report(&connection->wire->out, 'N', &report);
}

/* ---- what a user may keep ---- */

static void let_go(brume_pg_held *held)
{
    if (held->bytes > 0)
        (void)held->backend->hold(held->backend->context, 0, held->bytes);
    *held = (brume_pg_held){0};
}

/* So many bytes in the place of those that were held before. */
static brume_status hold(brume_pg_connection *connection, brume_pg_held *held, size_t bytes,
                         brume_error *error)
{
    const brume_pg_backend *backend = connection->backend;
    let_go(held);
    if (!backend->hold)
        return BRUME_OK;
    if (!backend->hold(backend->context, bytes, 0))
        return brume_pg_refuse(
            connection, "53200",
            "close cursors and statements; what was paid for is read again, free of charge", error,
            "what your connections keep takes all the memory that there is for it");
    *held = (brume_pg_held){backend, bytes};
    return BRUME_OK;
}

/* ---- prepared statements ---- */

void brume_pg_prepared_free(brume_pg_prepared *prepared)
{
    let_go(&prepared->held);
    brume_pg_statement_close(prepared->statement);
    brume_pg_table_clear(&prepared->described);
    free(prepared->types);
    free(prepared->name);
    free(prepared);
}

brume_pg_prepared *brume_pg_find_prepared(const brume_pg_connection *connection, const char *name)
{
    for (size_t i = 0; i < connection->prepared_count; i++)
        if (strcmp(connection->prepared[i]->name, name) == 0)
            return connection->prepared[i];
    return NULL;
}

void brume_pg_drop_prepared(brume_pg_connection *connection, const char *name)
{
    size_t kept = 0;
    for (size_t i = 0; i < connection->prepared_count; i++)
        if (!name || strcmp(connection->prepared[i]->name, name) == 0)
            brume_pg_prepared_free(connection->prepared[i]);
        else
            connection->prepared[kept++] = connection->prepared[i];
    connection->prepared_count = kept;
}

/* Room for one more pointer in a list. */
static bool grow(void **list, size_t count)
{
    void *grown = realloc(*list, (count + 1) * sizeof(void *));
    if (grown)
        *list = grown;
    return grown != NULL;
}

/* Is there room for one more text? */
static bool has_room(const brume_pg_connection *connection, const char *text)
{
    size_t bytes = strlen(text);
    for (size_t i = 0; i < connection->prepared_count; i++)
        bytes += strlen(connection->prepared[i]->statement->text);
    for (size_t i = 0; i < connection->portal_count; i++)
        bytes += strlen(connection->portals[i]->statement->text);
    return bytes <= BRUME_PG_MOST_OPEN_BYTES;
}

brume_status brume_pg_add_prepared(brume_pg_connection *connection, brume_pg_prepared *prepared,
                                   brume_error *error)
{
    brume_status status = BRUME_OK;
    if (!*prepared->name)
        brume_pg_drop_prepared(connection, "");
    if (brume_pg_find_prepared(connection, prepared->name))
        status = brume_pg_refuse(connection, "42P05", NULL, error,
                                 "the prepared statement \"%.100s\" exists already",
                                 prepared->name);
    else if (connection->prepared_count >= BRUME_PG_MOST_OPEN ||
             !has_room(connection, prepared->statement->text))
        status = brume_pg_refuse(connection, "53400", "close some", error,
                                 "more than %d statements are prepared, or too long ones",
                                 BRUME_PG_MOST_OPEN);
    else if (!grow((void **)&connection->prepared, connection->prepared_count))
        status = brume_no_memory(error, "the statement");
    else
        status = hold(connection, &prepared->held, prepared->statement->bytes, error);
    if (status != BRUME_OK) {
        brume_pg_prepared_free(prepared);
        return status;
    }
    connection->prepared[connection->prepared_count++] = prepared;
    return BRUME_OK;
}

/* ---- portals ---- */

void brume_pg_portal_free(brume_pg_portal *portal)
{
    if (!portal)
        return;
    let_go(&portal->held);
    brume_pg_statement_close(portal->statement);
    brume_pg_table_clear(&portal->table);
    brume_pg_table_clear(&portal->promised);
    free(portal->formats.list);
    free(portal->name);
    free(portal);
}

brume_status brume_pg_portal_hold(brume_pg_connection *connection, brume_pg_portal *portal,
                                  brume_error *error)
{
    size_t bytes = portal->statement->bytes + brume_pg_table_bytes(&portal->table);
    brume_status status = hold(connection, &portal->held, bytes, error);
    if (status != BRUME_OK) {
        brume_pg_table_clear(&portal->table);
        portal->has_columns = portal->is_run = false;
    }
    return status;
}

brume_pg_portal *brume_pg_find_portal(const brume_pg_connection *connection, const char *name)
{
    for (size_t i = 0; i < connection->portal_count; i++)
        if (strcmp(connection->portals[i]->name, name) == 0)
            return connection->portals[i];
    return NULL;
}

void brume_pg_drop_portal(brume_pg_connection *connection, const char *name)
{
    size_t kept = 0;
    for (size_t i = 0; i < connection->portal_count; i++)
        if (strcmp(connection->portals[i]->name, name) == 0)
            brume_pg_portal_free(connection->portals[i]);
        else
            connection->portals[kept++] = connection->portals[i];
    connection->portal_count = kept;
}

void brume_pg_drop_portals(brume_pg_connection *connection, bool keep_held)
{
    size_t kept = 0;
    for (size_t i = 0; i < connection->portal_count; i++)
        if ((keep_held && connection->portals[i]->holds) ||
            connection->portals[i] == connection->running)
            connection->portals[kept++] = connection->portals[i];
        else
            brume_pg_portal_free(connection->portals[i]);
    connection->portal_count = kept;
}

brume_status brume_pg_add_portal(brume_pg_connection *connection, brume_pg_portal *portal,
                                 brume_error *error)
{
    brume_status status = BRUME_OK;
    if (!*portal->name)
        brume_pg_drop_portal(connection, "");
    if (brume_pg_find_portal(connection, portal->name))
        status = brume_pg_refuse(connection, "42P03", NULL, error,
                                 "the cursor \"%.100s\" exists already", portal->name);
    else if (connection->portal_count >= BRUME_PG_MOST_OPEN ||
             !has_room(connection, portal->statement->text))
        status = brume_pg_refuse(connection, "53400", "close some", error,
                                 "more than %d cursors are open, or too long ones",
                                 BRUME_PG_MOST_OPEN);
    else if (!grow((void **)&connection->portals, connection->portal_count))
        status = brume_no_memory(error, "the cursor");
    else
        status = brume_pg_portal_hold(connection, portal, error);
    if (status != BRUME_OK) {
        brume_pg_portal_free(portal);
        return status;
    }
    connection->portals[connection->portal_count++] = portal;
    return BRUME_OK;
}

void brume_pg_connection_clear(brume_pg_connection *connection)
{
    brume_pg_drop_portals(connection, false);
    brume_pg_drop_prepared(connection, NULL);
    free((void *)connection->portals);
    free((void *)connection->prepared);
    brume_pg_settings_close(connection->settings);
    free(connection->user);
    free(connection->database);
}
