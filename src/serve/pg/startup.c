/* How a connection starts. Promises: startup.h. */
#include "serve/pg/startup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum {
    PROTOCOL_3 = 3 << 16,
    SSL_REQUEST = 80877103,
    GSS_REQUEST = 80877104,
    CANCEL_REQUEST = 80877102,
    MOST_NAME = 63,
};

static bool end(brume_pg_connection *connection, const char *sqlstate, const char *message,
                const char *hint)
{
    brume_pg_report report = {
        .severity = "FATAL", .sqlstate = sqlstate, .message = message, .hint = hint};
    brume_pg_put_report(&connection->wire->out, 'E', &report);
    (void)brume_pg_wire_flush(connection->wire);
    return false;
}

static bool malformed(brume_pg_connection *connection)
{
    return end(connection, "08P01", "invalid startup packet", NULL);
}

/* One packet without a type; its body after the length. False: it did not come, or is too long. */
static bool read_packet(brume_pg_connection *connection, uint8_t body[BRUME_PG_MOST_STARTUP],
                        size_t *length)
{
    uint8_t head[4];
    if (!brume_pg_wire_read(connection->wire, head, sizeof head))
        return false;
    brume_pg_reader reader = {.at = head, .left = sizeof head};
    uint32_t said = brume_pg_get32(&reader);
    if (said < 8 || said > BRUME_PG_MOST_STARTUP)
        return malformed(connection);
    *length = said - 4;
    return brume_pg_wire_read(connection->wire, body, *length);
}

/* Answer a request for encryption with one byte. */
static bool answer_request(brume_pg_connection *connection, const brume_pg_host *host,
                           uint32_t code)
{
    brume_pg_wire *wire = connection->wire;
    bool offers = code == SSL_REQUEST && host->tls && !wire->tls;
    brume_pg_put8(&wire->out, offers ? 'S' : 'N');
    if (!brume_pg_wire_flush(wire))
        return false;
    return !offers || brume_pg_wire_start_tls(wire, host->tls);
}

static void cancel(const brume_pg_host *host, brume_pg_reader *body)
{
    uint32_t number = brume_pg_get32(body), key = brume_pg_get32(body);
    if (brume_pg_is_read(body))
        host->cancel(host->context, number, key);
}

/* ---- what it sets ---- */

/* "-c name=value --other=value": words parted by spaces, a backslash keeps what follows. */
static brume_status set_options(brume_pg_connection *connection, const char *text,
                                brume_error *error)
{
    char word[1024];
    bool named = false; /* after -c */
    while (*text) {
        size_t length = 0;
        while (*text == ' ' || *text == '\t')
            text++;
        if (!*text)
            break;
        for (; *text && *text != ' ' && *text != '\t' && length < sizeof word - 1; text++) {
            if (*text == '\\' && text[1])
                text++;
            word[length++] = *text;
        }
        word[length] = 0;
        if (strcmp(word, "-c") == 0) {
            named = true;
            continue;
        }
        char *name = named                                                        ? word
                     : strncmp(word, "-c", 2) == 0 || strncmp(word, "--", 2) == 0 ? word + 2
                                                                                  : NULL;
        char *value = name ? strchr(name, '=') : NULL;
        named = false;
        if (!value)
            return brume_fail(error, BRUME_EARGUMENT, "for example -c brume.epsilon=0.1",
                              "invalid command-line option \"%.100s\"", word);
        *value = 0;
        BRUME_TRY(brume_pg_set(connection->settings, name, value + 1, false, error));
    }
    return BRUME_OK;
}

/* Names and values, until an empty name. */
static brume_status read_parameters(brume_pg_connection *connection, brume_pg_reader *body,
                                    brume_error *error)
{
    const char *user = "", *database = NULL;
    for (;;) {
        const char *name = brume_pg_get_text(body);
        if (body->failed || !*name)
            break;
        const char *value = brume_pg_get_text(body);
        if (strcmp(name, "user") == 0)
            user = value;
        else if (strcmp(name, "database") == 0)
            database = value;
        else if (strcmp(name, "options") == 0)
            BRUME_TRY(set_options(connection, value, error));
        else if (strncmp(name, "_pq_.", 5) != 0 && strcmp(name, "replication") != 0)
            BRUME_TRY(brume_pg_set(connection->settings, name, value, false, error));
    }
    if (!brume_pg_is_read(body))
        return brume_pg_refuse(connection, "08P01", NULL, error, "invalid startup packet");
    if (!*user || strlen(user) > MOST_NAME)
        return brume_pg_refuse(connection, "28000", NULL, error,
                               "no user name is given, or too long a one");
    connection->user = strdup(user);
    connection->database = strdup(database && *database ? database : user);
    if (!connection->user || !connection->database)
        return brume_no_memory(error, "the connection");
    BRUME_TRY(brume_pg_note(connection->settings, "session_authorization", user, error));
    return BRUME_OK;
}

/* ---- who it is ---- */

static void put_authentication(brume_pg_writer *out, uint32_t code, const char *text)
{
    brume_pg_begin(out, 'R');
    brume_pg_put32(out, code);
    brume_pg_put_bytes(out, text, strlen(text));
    brume_pg_end(out);
}

/* The mechanisms that may be chosen, the better one first; an empty one ends the list. */
static void put_mechanisms(brume_pg_writer *out, bool can_bind)
{
    static const char both[] = "SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0"; /* and one more 0 behind it */
    const size_t first = sizeof "SCRAM-SHA-256-PLUS";
    brume_pg_begin(out, 'R');
    brume_pg_put32(out, 10);
    brume_pg_put_bytes(out, can_bind ? both : both + first,
                       can_bind ? sizeof both : sizeof both - first);
    brume_pg_end(out);
}

/* A message of the type p; its body, to be freed. NULL: it did not come. */
static uint8_t *read_password(brume_pg_connection *connection, brume_pg_reader *body)
{
    uint8_t head[5];
    if (!brume_pg_wire_flush(connection->wire) ||
        !brume_pg_wire_read(connection->wire, head, sizeof head))
        return NULL;
    brume_pg_reader reader = {.at = head + 1, .left = 4};
    uint32_t length = brume_pg_get32(&reader);
    if (head[0] != 'p' || length < 4 || length - 4 > BRUME_PG_MOST_PASSWORD) {
        (void)end(connection, "08P01", "expected a SASL response", NULL);
        return NULL;
    }
    uint8_t *bytes = malloc(length - 4 + (size_t)1);
    if (bytes && !brume_pg_wire_read(connection->wire, bytes, length - 4)) {
        free(bytes);
        return NULL;
    }
    *body = (brume_pg_reader){.at = bytes, .left = length - 4};
    return bytes;
}

static bool refuse_login(brume_pg_connection *connection)
{
    return end(connection, "28P01", "password authentication failed",
               "the user is the name that the owner gave, the password is the token");
}

static bool first_message(brume_pg_connection *connection, brume_pg_scram *scram)
{
    brume_pg_reader body = {0};
    brume_error error;
    uint8_t *bytes = read_password(connection, &body);
    if (!bytes)
        return false;
    const char *mechanism = brume_pg_get_text(&body);
    uint32_t length = brume_pg_get32(&body);
    const uint8_t *message = brume_pg_get_bytes(&body, length);
    brume_status status = BRUME_ESYNTAX;
    snprintf(error.message, sizeof error.message, "malformed SASL message");
    error.hint[0] = 0;
    scram->is_bound = strcmp(mechanism, "SCRAM-SHA-256-PLUS") == 0;
    if (brume_pg_is_read(&body) && (scram->is_bound || strcmp(mechanism, "SCRAM-SHA-256") == 0))
        status = brume_pg_scram_begin(scram, message, length, &error);
    free(bytes);
    if (status != BRUME_OK)
        return end(connection, "08P01", error.message, error.hint);
    put_authentication(&connection->wire->out, 11, scram->server_first);
    return true;
}

static bool final_message(brume_pg_connection *connection, brume_pg_scram *scram)
{
    brume_pg_reader body = {0};
    brume_error error;
    bool accepted = false;
    char final[BRUME_PG_SCRAM_TEXT];
    uint8_t *bytes = read_password(connection, &body);
    if (!bytes)
        return false;
    brume_status status = brume_pg_scram_end(scram, body.at, body.left, &accepted, final, &error);
    free(bytes);
    if (status != BRUME_OK)
        return end(connection, "08P01", error.message, NULL);
    if (!accepted)
        return refuse_login(connection);
    put_authentication(&connection->wire->out, 12, final);
    put_authentication(&connection->wire->out, 0, "");
    return true;
}

static bool authenticate(brume_pg_connection *connection, const brume_pg_host *host)
{
    brume_user *user = NULL;
    brume_error error;
    if (host->find_user(host->context, connection->user, &user, &error) != BRUME_OK)
        return end(connection, brume_status_sqlstate(error.status), "users cannot be read now",
                   NULL);
    brume_pg_scram scram = {.verifier = user->scram, .is_mock = user->role == BRUME_ROLE_NONE};
    connection->issued = user->issued;
    brume_user_close(user);
    scram.binding_length = brume_pg_wire_binding(connection->wire, scram.binding);
    put_mechanisms(&connection->wire->out, scram.binding_length > 0);
    return first_message(connection, &scram) && final_message(connection, &scram);
}

bool brume_pg_startup(brume_pg_connection *connection, const brume_pg_host *host)
{
    uint8_t packet[BRUME_PG_MOST_STARTUP];
    size_t length = 0;
    for (int requests = 0; requests < 4; requests++) {
        if (!read_packet(connection, packet, &length))
            return false;
        brume_pg_reader body = {.at = packet, .left = length};
        uint32_t code = brume_pg_get32(&body);
        if (code == SSL_REQUEST || code == GSS_REQUEST) {
            if (!answer_request(connection, host, code))
                return false;
            continue;
        }
        if (code == CANCEL_REQUEST) {
            cancel(host, &body);
            return false;
        }
        if (code >> 16 != PROTOCOL_3 >> 16)
            return end(connection, "08P01", "only protocol 3 is spoken", NULL);
        if (host->requires_tls && !connection->wire->tls)
            return end(connection, "28000", "this server speaks TLS only",
                       "connect with sslmode=require or stronger");
        brume_error error;
        brume_status status = read_parameters(connection, &body, &error);
        if (status != BRUME_OK)
            return end(connection,
                       *connection->sqlstate ? connection->sqlstate : brume_status_sqlstate(status),
                       error.message, error.hint);
        if (code != PROTOCOL_3) { /* a newer minor version: say which one is spoken */
            brume_pg_begin(&connection->wire->out, 'v');
            brume_pg_put32(&connection->wire->out, PROTOCOL_3);
            brume_pg_put32(&connection->wire->out, 0);
            brume_pg_end(&connection->wire->out);
        }
        brume_pg_settings_started(connection->settings);
        return authenticate(connection, host);
    }
    return malformed(connection);
}
