/* The messages of a connection that has started. Promises: connection.h. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "serve/pg/connection.h"

/* Seconds that the rest of a message may take once it has begun. */
static const double message_patience = 60;

static void ready(brume_pg_connection *connection)
{
    brume_pg_writer *out = &connection->wire->out;
    brume_pg_begin(out, 'Z');
    brume_pg_put8(out, (uint8_t)connection->transaction);
    brume_pg_end(out);
    (void)brume_pg_wire_flush(connection->wire);
}

static void fatal(brume_pg_connection *connection, const char *sqlstate, const char *message)
{
    brume_pg_report report = {.severity = "FATAL", .sqlstate = sqlstate, .message = message};
    brume_pg_put_report(&connection->wire->out, 'E', &report);
    (void)brume_pg_wire_flush(connection->wire);
}

/* ---- the simple protocol ---- */

static brume_status run_one(brume_pg_connection *connection, const char *text, brume_error *error)
{
    brume_pg_statement *typed = NULL;
    brume_pg_portal *portal = calloc(1, sizeof *portal);
    char *plain = NULL;
    brume_status status =
        portal && (portal->name = strdup("")) ? BRUME_OK : brume_no_memory(error, "the statement");
    if (status == BRUME_OK)
        status = brume_pg_statement_open(text, &typed, &connection->position, error);
    if (status == BRUME_OK && typed->parameter_count > 0)
        status = brume_pg_refuse(connection, "42P02", "bind values with the extended protocol",
                                 error, "there is no parameter $1");
    if (status == BRUME_OK)
        status = brume_pg_statement_text(typed, NULL, 0, &plain, error);
    if (status == BRUME_OK)
        status = brume_pg_statement_open(plain, &portal->statement, &connection->position, error);
    if (status == BRUME_OK)
        status = brume_pg_portal_execute(connection, portal, 0, true, error);
    brume_pg_statement_close(typed);
    brume_pg_portal_free(portal);
    free(plain);
    return status;
}

static brume_status run_all(brume_pg_connection *connection, const char *text, brume_error *error)
{
    char **list = NULL;
    size_t count = 0;
    brume_status status = brume_pg_split(text, &list, &count, &connection->position, error);
    if (status == BRUME_OK && count == 0)
        brume_pg_put_empty(&connection->wire->out, 'I');
    for (size_t i = 0; status == BRUME_OK && i < count; i++)
        status = run_one(connection, list[i], error);
    brume_pg_split_free(list, count);
    return status;
}

static void simple_query(brume_pg_connection *connection, brume_pg_reader *body)
{
    brume_error error;
    const char *text = brume_pg_get_text(body);
    brume_status status = brume_pg_is_read(body) ? run_all(connection, text, &error)
                                                 : brume_pg_refuse(connection, "08P01", NULL,
                                                                   &error, "malformed message");
    if (status != BRUME_OK)
        brume_pg_report_error(connection, &error);
    if (connection->transaction == 'I')
        brume_pg_drop_portal(connection, "");
    ready(connection);
}

/* ---- one message ---- */

static void extended(brume_pg_connection *connection, char type, brume_pg_reader *body)
{
    brume_error error;
    if (connection->skipping)
        return;
    if (brume_pg_extended(connection, type, body, &error) != BRUME_OK) {
        brume_pg_report_error(connection, &error);
        connection->skipping = true;
    }
    if (connection->wire->out.length > 1 << 16)
        (void)brume_pg_wire_flush(connection->wire);
}

static void sync_all(brume_pg_connection *connection)
{
    connection->skipping = false;
    if (connection->transaction == 'I')
        brume_pg_drop_portals(connection, true);
    ready(connection);
}

/* False: the connection ends. */
static bool take_message(brume_pg_connection *connection, char type, brume_pg_reader *body)
{
    switch (type) {
    case 'Q':
        connection->skipping = false;
        simple_query(connection, body);
        return true;
    case 'P':
    case 'B':
    case 'D':
    case 'E':
    case 'C':
        extended(connection, type, body);
        return true;
    case 'S':
        sync_all(connection);
        return true;
    case 'H':
        return brume_pg_wire_flush(connection->wire);
    case 'd': /* what is left of a COPY that was refused */
    case 'c':
    case 'f':
        return true;
    case 'F':
        brume_pg_report_error(connection,
                              &(brume_error){.status = BRUME_EUNSUPPORTED,
                                             .message = "function calls are not supported"});
        ready(connection);
        return true;
    case 'X':
        return false;
    default:
        fatal(connection, "08P01", "invalid frontend message type");
        return false;
    }
}

/* Read one message; false: the connection ends. */
static bool serve_one(brume_pg_connection *connection)
{
    brume_pg_wire *wire = connection->wire;
    uint8_t type = 0, head[4];
    wire->read_until = 0; /* idle as long as it likes */
    if (!brume_pg_wire_read(wire, &type, 1))
        return false;
    wire->read_until = brume_pg_now() + message_patience;
    if (!brume_pg_wire_read(wire, head, sizeof head))
        return false;
    brume_pg_reader reader = {.at = head, .left = sizeof head};
    uint32_t length = brume_pg_get32(&reader);
    if (length < 4 || length - 4 > BRUME_PG_MOST_BODY) {
        fatal(connection, "08P01", "invalid message length");
        return false;
    }
    uint8_t *body = malloc(length - 4 + (size_t)1);
    if (!body) {
        fatal(connection, "53200", "out of memory");
        return false;
    }
    bool goes_on = brume_pg_wire_read(wire, body, length - 4);
    brume_pg_reader whole = {.at = body, .left = length - 4};
    if (goes_on)
        goes_on = take_message(connection, (char)type, &whole);
    free(body);
    return goes_on && !wire->broken;
}

void brume_pg_serve(brume_pg_connection *connection)
{
    const atomic_bool *stopping = connection->wire->stopping;
    brume_pg_settings_report(connection->settings, &connection->wire->out);
    ready(connection);
    while (serve_one(connection))
        ;
    if (stopping && atomic_load(stopping)) {
        connection->wire->broken = false;
        fatal(connection, "57P01", "the server is being stopped");
    }
}
