/* A connection of the wire protocol in memory. */
#include "fake_backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include "base/error.h"
#include "serve/pg/catalog/catalog.h"

static const char explanation[] =
    "{\"columns\":[{\"name\":\"k\",\"role\":\"key\",\"type\":\"text\"},"
    "{\"name\":\"n\",\"role\":\"value\",\"type\":\"bigint\"},"
    "{\"name\":\"a\",\"role\":\"value\",\"type\":\"double\"}],"
    "\"cost\":{\"epsilon\":0.1,\"delta\":0,\"rho\":null}}";
static const char answer[] = "{\"columns\":[{\"name\":\"k\",\"role\":\"key\"},"
                             "{\"name\":\"n\",\"role\":\"value\",\"error_95\":3.5},"
                             "{\"name\":\"a\",\"role\":\"value\",\"error_95\":2.25}],"
                             "\"rows\":[[\"x\",7,1.5],[\"y\",8,null],[null,9,0.1]],"
                             "\"cost\":{\"epsilon\":0.1,\"delta\":0,\"rho\":null},"
                             "\"remaining\":{\"epsilon\":0.9,\"delta\":1e-6},\"cached\":false}";
/* A query with "cut" in it: limits cut something, or nobody knows what, and no group is shown. */
static const char cut_answer[] =
    "{\"columns\":[{\"name\":\"k\",\"role\":\"key\"},"
    "{\"name\":\"n\",\"role\":\"value\",\"error_95\":3.5,\"cut_allowance\":20000,\"biased\":true},"
    "{\"name\":\"a\",\"role\":\"value\",\"error_95\":2.25,\"cut_allowance\":null,\"cut_known\":false}],"
    "\"rows\":[[\"x\",7,1.5]],\"warnings\":[\"'y' is not in the domain\"],\"threshold\":40,"
    "\"notes\":[\"Each patient counts with at most 9 visits.\",\"a: Pay more.\"],"
    "\"cost\":{\"epsilon\":0.1,\"delta\":2.00001e-8,\"rho\":null},"
    "\"remaining\":{\"epsilon\":0.9,\"delta\":1.9999999999999996e-7},\"cached\":false}";
static const char shown[] =
    "{\"dataset\":\"t\",\"unit\":\"who\",\"columns\":[{\"name\":\"who\",\"type\":\"text\"},"
    "{\"name\":\"k\",\"type\":\"text\",\"domain\":[\"x\",\"y\"]},"
    "{\"name\":\"v\",\"type\":\"decimal(9,2)\",\"low\":\"0.00\",\"high\":\"5.00\"}]}";

brume_status fake_run(void *context, const char *command, const char *sql, const char *options,
                      char **json, brume_pg_outcome *outcome, brume_error *error)
{
    fake_peer *peer = context;
    const char *text = "{}";
    *outcome = (brume_pg_outcome){0};
    if (sql)
        snprintf(peer->last_sql, sizeof peer->last_sql, "%s", sql);
    if (options)
        snprintf(peer->last_options, sizeof peer->last_options, "%s", options);
    if (strcmp(command, "catalog") == 0) {
        json_t *list = json_pack("[o]", json_loads(shown, 0, NULL));
        brume_status status = brume_pg_catalog_answer(list, sql, options, json, error);
        peer->others++;
        json_decref(list);
        return status;
    }
    if (sql && strstr(sql, "bad"))
        return brume_fail(error, BRUME_EUNSUPPORTED, "ask better", "this is bad");
    if (strcmp(command, "explain") == 0) {
        peer->explains++;
        text = sql ? explanation : "a plan\nof two lines\n";
    } else if (strcmp(command, "query") == 0) {
        peer->queries++;
        text = sql && strstr(sql, "cut") ? cut_answer : answer;
    } else {
        peer->others++;
    }
    *json = strdup(text);
    return *json ? BRUME_OK : brume_no_memory(error, "the answer");
}

/* What SCRAM-SHA-256 keeps of a password. */
static void make_verifier(const char *password, brume_scram_verifier *out)
{
    uint8_t salted[32], client[32];
    unsigned length = 32;
    (void)EVP_DecodeBlock(out->salt, (const uint8_t *)"W22ZaJ0SNY7soEsUEjb6", 20);
    out->salt[15] = 0;
    out->iterations = 4096;
    PKCS5_PBKDF2_HMAC(password, -1, out->salt, BRUME_SCRAM_SALT, 4096, EVP_sha256(), 32, salted);
    HMAC(EVP_sha256(), salted, 32, (const uint8_t *)"Client Key", 10, client, &length);
    SHA256(client, 32, out->stored_key);
    HMAC(EVP_sha256(), salted, 32, (const uint8_t *)"Server Key", 10, out->server_key, &length);
}

brume_status fake_find_user(void *context, const char *name, brume_user **user, brume_error *error)
{
    brume_user *made = calloc(1, sizeof *made);
    (void)context;
    if (!made || !(made->name = strdup(name))) {
        free(made);
        return brume_no_memory(error, "the user");
    }
    made->role = strcmp(name, "alice") == 0 ? BRUME_ROLE_ANALYST : BRUME_ROLE_NONE;
    static brume_scram_verifier kept; /* it takes a while */
    if (!kept.iterations)
        make_verifier("pencil", &kept);
    made->scram = kept;
    *user = made;
    return BRUME_OK;
}

static long feed(void *context, void *to, size_t length)
{
    fake_peer *peer = context;
    size_t left = peer->in_length - peer->at, part = left < length ? left : length;
    memcpy(to, peer->in + peer->at, part);
    peer->at += part;
    return (long)part;
}

static long drain(void *context, const void *from, size_t length)
{
    fake_peer *peer = context;
    uint8_t *grown = realloc(peer->out, peer->out_length + length);
    if (!grown)
        return -1;
    memcpy(grown + peer->out_length, from, length);
    peer->out = grown;
    peer->out_length += length;
    return (long)length;
}

static void ignore_cancel(void *context, uint32_t number, uint32_t key)
{
    (void)context;
    (void)number;
    (void)key;
}

static void serve(fake_peer *peer, const uint8_t *bytes, size_t length, bool started)
{
    brume_pg_wire *wire = calloc(1, sizeof *wire);
    brume_pg_backend backend = {.run = fake_run, .context = peer};
    brume_pg_host host = {.find_user = fake_find_user, .cancel = ignore_cancel};
    if (!wire)
        return;
    *wire = (brume_pg_wire){.socket = -1, .feed = feed, .drain = drain, .context = peer};
    peer->in = bytes;
    peer->in_length = length;
    peer->at = 0;
    brume_pg_connection connection = {.wire = wire,
                                      .backend = &backend,
                                      .settings = brume_pg_settings_open(),
                                      .number = 1,
                                      .transaction = 'I'};
    bool goes_on = started;
    if (started) {
        connection.user = strdup("alice");
        connection.database = strdup("brume");
    } else {
        goes_on = brume_pg_startup(&connection, &host);
    }
    if (goes_on)
        brume_pg_serve(&connection);
    brume_pg_connection_clear(&connection);
    brume_pg_wire_close(wire);
    free(wire);
}

void fake_serve(fake_peer *peer, const uint8_t *bytes, size_t length)
{
    serve(peer, bytes, length, true);
}

void fake_start(fake_peer *peer, const uint8_t *bytes, size_t length)
{
    serve(peer, bytes, length, false);
}

void fake_clear(fake_peer *peer)
{
    free(peer->out);
    *peer = (fake_peer){0};
}
