/* A connection of the wire protocol in memory: bytes in, bytes out, and a backend that counts. */
#ifndef BRUME_TEST_FAKE_BACKEND_H
#define BRUME_TEST_FAKE_BACKEND_H

#include "serve/pg/startup.h"

typedef struct fake_peer {
    const uint8_t *in;
    size_t in_length, at;
    uint8_t *out; /* all that was written */
    size_t out_length;
    /* Calls of the backend. */
    size_t explains, queries, others;
    char last_sql[2048], last_options[512];
} fake_peer;

/* A backend whose dataset `t` has the columns k (text), n (count) and a (average); `explain`
 * refuses texts with "bad" in them, and `query` answers three rows. */
brume_status fake_run(void *context, const char *command, const char *sql, const char *options,
                      char **json, brume_pg_outcome *outcome, brume_error *error);

/* A host whose only user is `alice` with the password `pencil` (RFC 7677 has its exchange). */
brume_status fake_find_user(void *context, const char *name, brume_user **user, brume_error *error);

/* Serve the bytes as the messages of a connection that has started. */
void fake_serve(fake_peer *peer, const uint8_t *bytes, size_t length);

/* Serve them from the first packet on. */
void fake_start(fake_peer *peer, const uint8_t *bytes, size_t length);

void fake_clear(fake_peer *peer);

#endif
