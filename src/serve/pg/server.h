/* The server of the PostgreSQL protocol: it listens, and serves each connection in a thread.
 *
 *  1. Queries, explanations and everything else that reads the ledger run in the pool, as the user
 *     of the connection; nothing is kept of a user but the name, so that a removed one is refused
 *     at the next call.
 *  2. Addresses that are not of this machine alone need TLS: without a certificate they are
 *     refused, and connections in plain text too.
 *  3. A connection that has not said who it is within 30 seconds ends; a client that goes away
 *     while a query runs does not end it: the answer is recorded, and is read again for free. */
#ifndef BRUME_SERVE_PG_SERVER_H
#define BRUME_SERVE_PG_SERVER_H

#include "serve/pool.h"

typedef struct brume_pg_server brume_pg_server;

typedef struct brume_pg_options {
    const char *address;           /* ADDRESS:PORT; port 0: any that is free */
    const char *certificate, *key; /* PEM files; NULL: no TLS */
    const char *ledger;            /* NULL: as brume_session_open */
    size_t most;                   /* connections; 0: 1000 */
} brume_pg_options;

/* Listen. EARGUMENT: the address, the certificate or the key; EDISK: the address cannot be used. */
BRUME_MUST_USE brume_status brume_pg_server_open(const brume_pg_options *options, brume_pool *pool,
                                                 brume_pg_server **out, brume_error *error);

/* The port it listens on. */
int brume_pg_server_port(const brume_pg_server *server);

/* Stop listening, tell the clients, and wait for the threads: a query that runs is waited for, so
 * close the pool (which ends it) at the same time or before. NULL is nothing to close. */
void brume_pg_server_close(brume_pg_server *server);

#endif
