/* A connection's bytes: a socket, with or without TLS, or what a test puts in its place.
 *
 * Reads and writes block, but never longer than the deadline that is set, and end when the server
 * stops. After a failure nothing is read or written any more. */
#ifndef BRUME_SERVE_PG_WIRE_H
#define BRUME_SERVE_PG_WIRE_H

#include <stdatomic.h>

#include <openssl/types.h>

#include <brume/status.h>

#include "serve/pg/message.h"

typedef struct brume_pg_wire {
    int socket;                  /* -1: `feed` and `drain` stand in its place */
    SSL *tls;                    /* NULL: plain */
    const atomic_bool *stopping; /* of the server; NULL: none */
    double read_until;           /* on the monotonic clock; 0: no deadline */
    bool broken;
    uint8_t in[8192];
    size_t in_at, in_end;
    brume_pg_writer out;
    /* For tests: they take the place of reading and writing the socket. */
    long (*feed)(void *context, void *to, size_t length);
    long (*drain)(void *context, const void *from, size_t length);
    void *context;
} brume_pg_wire;

double brume_pg_now(void); /* seconds of the monotonic clock */

/* Read exactly so many bytes; false: they did not come, and the wire is broken. */
bool brume_pg_wire_read(brume_pg_wire *wire, void *to, size_t length);

/* Write what is in `out`; false: the peer does not take it, and the wire is broken. */
bool brume_pg_wire_flush(brume_pg_wire *wire);

/* Speak TLS from now on, as the server. False: the peer does not. Bytes that came before it are a
 * fault of the peer or of somebody between, and are refused. */
bool brume_pg_wire_start_tls(brume_pg_wire *wire, SSL_CTX *context);

/* The hash of the own certificate that a channel is bound to (tls-server-end-point, RFC 5929), of
 * at most 64 bytes; its length, 0: without TLS, or with a certificate that has none. */
size_t brume_pg_wire_binding(const brume_pg_wire *wire, uint8_t hash[64]);

/* Say goodbye and free what it has; the socket is closed. */
void brume_pg_wire_close(brume_pg_wire *wire);

/* A context with this certificate (and its chain) and key, as texts in PEM: TLS 1.2 and newer.
 * EARGUMENT: they cannot be read or do not belong together. Free with SSL_CTX_free. */
BRUME_MUST_USE brume_status brume_pg_tls_open(const char *certificate, const char *key,
                                              SSL_CTX **out, brume_error *error);

#endif
