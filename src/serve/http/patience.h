/* What is known of open connections: how long they have waited, and whose they are.
 *
 * Those whose request does not come in whole are closed: a client that sends a byte now and then
 * keeps libmicrohttpd's own time-out from passing. Includes connections on which TLS is never begun
 * or never finished. */
#ifndef BRUME_SERVE_HTTP_PATIENCE_H
#define BRUME_SERVE_HTTP_PATIENCE_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/socket.h>

#include "serve/http/guard.h"
#include "serve/http/libmicrohttpd.h"

typedef struct brume_http_patience brume_http_patience;

/* The guard counts connections of users. NULL without memory or threads. */
brume_http_patience *brume_http_patience_open(double seconds, brume_http_guard *guard);
void brume_http_patience_close(brume_http_patience *patience);

/* libmicrohttpd's notice of connections that begin and end. */
void brume_http_patience_notice(void *patience, struct MHD_Connection *connection, void **link,
                                enum MHD_ConnectionNotificationCode what);

/* A request has come in whole; it is over, and the next may come. */
void brume_http_patience_pause(brume_http_patience *patience, struct MHD_Connection *connection);
void brume_http_patience_again(brume_http_patience *patience, struct MHD_Connection *connection);

/* The connection is this user's from now on, until it ends or another user's token comes over it.
 * False: the user has as many as may be open. */
bool brume_http_patience_claim(brume_http_patience *patience, struct MHD_Connection *connection,
                               const char *user);

#endif
