/* HTTP: JSON over libmicrohttpd, in one thread that waits for all connections (epoll).
 *
 *  1. A connection whose call runs is suspended: it costs memory, no thread.
 *  2. Tokens come in the header Authorization only, never in a cookie or a URL, so that no other
 *     page can use a reader's. They are checked before a body is read.
 *  3. A request must have come in whole within `patience` seconds of its connection or of the
 *     answer before; bodies have at most BRUME_HTTP_BODY bytes; a connection takes at most 64 KiB
 *     for headers.
 *  4. An answer that was paid for is on the ledger before it is sent: a client that has gone reads
 *     it again for free.
 *  5. Errors of authentication have one text. */
#ifndef BRUME_SERVE_HTTP_HTTP_H
#define BRUME_SERVE_HTTP_HTTP_H

#include "serve/http/guard.h"
#include "serve/pool.h"

enum { BRUME_HTTP_BODY = 1 << 20, BRUME_HTTP_CONNECTIONS = 8192 };

typedef struct brume_http brume_http;

typedef struct brume_http_options {
    const char *ledger;      /* its path */
    int socket;              /* that listens; taken over also on an error */
    const char *certificate; /* PEM texts; NULL: no TLS */
    const char *key;
    double patience; /* seconds */
    brume_pool *pool;
    brume_http_guard *guard;
} brume_http_options;

/* Start to answer. EDISK: the daemon cannot be started (keys that do not fit, too few files);
 * errors of opening the ledger. */
BRUME_MUST_USE brume_status brume_http_start(const brume_http_options *options, brume_http **out,
                                             brume_error *error);

/* Take no more connections and requests; those that run go on. */
void brume_http_quiesce(brume_http *http);

/* Wait at most `seconds` until all answers are sent, and end. The pool is stopped already: no call
 * runs. NULL is nothing to end. */
void brume_http_stop(brume_http *http, double seconds);

#endif
