/* The server of the PostgreSQL protocol: it listens, and serves each connection in a thread.
 *
 *  1. Queries, explanations and everything else that reads the ledger run in the pool, as the user
 *     of the connection; nothing is kept of a user but the name and which token it was, so that a
 *     removed user and a replaced token are refused at the next call.
 *  2. On addresses that are not of this machine alone, connections in plain text are refused.
 *  3. Each user may ask and explain at the rate of the server, over HTTP and here together. A line
 *     of the log tells who connected or asked, and how it ended: never what was asked.
 *  4. A connection that has not said who it is within 30 seconds ends; a client that goes away
 *     while a query runs does not end it: the answer is recorded, and is read again for free. */
#ifndef BRUME_SERVE_PG_SERVER_H
#define BRUME_SERVE_PG_SERVER_H

#include "serve/http/guard.h"
#include "serve/pool.h"

typedef struct brume_pg_server brume_pg_server;

typedef struct brume_pg_options {
    int socket;                    /* that listens (address.h); closed at the end, or on an error */
    const char *certificate, *key; /* texts in PEM; NULL: no TLS */
    bool insecure;                 /* also in plain text, whatever the address is */
    const char *ledger;            /* its path */
    brume_http_guard *guard;       /* counts, and writes lines of the log; NULL: none */
    size_t most;                   /* connections; 0: 1000 */
} brume_pg_options;

/* Serve what comes in at the socket. EARGUMENT: the certificate or the key; EMEMORY. */
BRUME_MUST_USE brume_status brume_pg_server_open(const brume_pg_options *options, brume_pool *pool,
                                                 brume_pg_server **out, brume_error *error);

/* Stop listening, tell the clients, and wait for the threads: a query that runs is waited for, so
 * close the pool (which ends it) at the same time or before. NULL is nothing to close. */
void brume_pg_server_close(brume_pg_server *server);

#endif
