/* How a connection starts: TLS, who it is, what it sets; or that it cancels another one. */
#ifndef BRUME_SERVE_PG_STARTUP_H
#define BRUME_SERVE_PG_STARTUP_H

#include "serve/pg/connection.h"
#include "serve/pg/scram.h"

typedef struct brume_pg_host {
    SSL_CTX *tls;      /* NULL: TLS is not offered */
    bool requires_tls; /* of addresses that others than this machine reach */
    /* The user of a name, as brume_ledger_find_user. */
    brume_status (*find_user)(void *context, const char *name, brume_user **user,
                              brume_error *error);
    void (*cancel)(void *context, uint32_t number, uint32_t key);
    void *context;
} brume_pg_host;

/* Read the first packets. True: the user is known, and was sent AuthenticationOk; `connection` has
 * user, database and settings; nothing was flushed since. False: it has ended, whatever there was
 * to say was said. The wire's read deadline is the caller's. */
BRUME_MUST_USE bool brume_pg_startup(brume_pg_connection *connection, const brume_pg_host *host);

#endif
