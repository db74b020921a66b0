/* Start what was asked for, wait for a signal, end. Promises: serve.h. */
#include "ledger/ledger.h"
#include "serve/serve.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "serve/address.h"
#include "serve/closer.h"
#include "serve/nursery.h"
#include "serve/http/http.h"
#include "serve/pg/server.h"
#include "serve/pool.h"

/* Calls may end within so many seconds after a signal; answers be sent within so many more. */
static const double SECONDS_TO_END = 10, SECONDS_TO_SEND = 5;

static const uint64_t MEMORY = UINT64_C(1) << 30; /* bytes of a free call */

typedef struct server {
    const brume_serve_options *options;
    const char *ledger;
    char *certificate, *key, *requests;
    brume_nursery *nursery;
    brume_pool *pool;
    brume_http_guard *guard;
    brume_http *http;
    brume_pg_server *pg;
    brume_closer *closer;
} server;

static brume_status read_tls(server *all, brume_error *error)
{
    const brume_serve_options *options = all->options;
    if (!options->tls_cert != !options->tls_key)
        return brume_fail(error, BRUME_EARGUMENT, "give both, or neither",
                          "'--tls-cert' and '--tls-key' belong together");
    if (!options->tls_cert)
        return BRUME_OK;
    BRUME_TRY(brume_read_pem(options->tls_cert, false, &all->certificate, error));
    return brume_read_pem(options->tls_key, true, &all->key, error);
}

static brume_status start_http(server *all, brume_error *error)
{
    const brume_serve_options *options = all->options;
    int socket = -1;
    unsigned port = 0;
    if (!options->listen)
        return BRUME_OK;
    BRUME_TRY(brume_listen(options->listen, all->certificate != NULL, options->insecure, &socket,
                           &port, error));
    const brume_http_options http = {.ledger = all->ledger,
                                     .socket = socket,
                                     .certificate = all->certificate,
                                     .key = all->key,
                                     .patience = options->patience,
                                     .pool = all->pool,
                                     .guard = all->guard};
    BRUME_TRY(brume_http_start(&http, &all->http, error));
    if (options->greeting) {
        const char *colon = strrchr(options->listen, ':');
        fprintf(options->greeting, "%s %s://%.*s:%u\n",
                options->check ? "ready to listen on" : "listening on",
                all->certificate ? "https" : "http", (int)(colon - options->listen),
                options->listen, port);
        fflush(options->greeting);
    }
    return BRUME_OK;
}

static brume_status start_pg(server *all, brume_error *error)
{
    const brume_serve_options *options = all->options;
    int socket = -1;
    unsigned port = 0;
    if (!options->pg)
        return BRUME_OK;
    BRUME_TRY(brume_listen(options->pg, all->certificate != NULL, options->insecure, &socket, &port,
                           error));
    const brume_pg_options pg = {.socket = socket,
                                 .certificate = all->certificate,
                                 .key = all->key,
                                 .insecure = options->insecure,
                                 .ledger = all->ledger,
                                 .guard = all->guard};
    BRUME_TRY(brume_pg_server_open(&pg, all->pool, &all->pg, error));
    if (options->greeting) {
        const char *colon = strrchr(options->pg, ':');
        fprintf(options->greeting, "%s postgresql://%.*s:%u\n",
                options->check ? "ready to listen on" : "listening on", (int)(colon - options->pg),
                options->pg, port);
        fflush(options->greeting);
    }
    return BRUME_OK;
}

/* Where requests are recorded: beside the ledger, of one on a server in this folder, unless said.
 * NULL: nowhere, because none will come, or no memory. */
static const char *requests_file(server *all)
{
    if (all->options->check)
        return NULL;
    if (all->options->requests)
        return all->options->requests;
    const char *beside = brume_ledger_is_on_a_server(all->ledger) ? "brume" : all->ledger;
    if (asprintf(&all->requests, "%s.requests", beside) < 0)
        all->requests = NULL;
    return all->requests;
}

static brume_status start(server *all, brume_error *error)
{
    const brume_serve_options *options = all->options;
    const brume_pool_options pool = {.ledger = all->ledger,
                                     .workers = options->workers,
                                     .queue = options->queue,
                                     .deadline = options->deadline,
                                     .quantum = options->quantum,
                                     .share = options->share,
                                     .nursery = all->nursery};
    if (!options->listen && !options->pg)
        return brume_fail(error, BRUME_EARGUMENT, "for example --listen 127.0.0.1:8443",
                          "there is nothing to listen on");
    BRUME_TRY(read_tls(all, error));
    const brume_http_guard_options guard = {.rate = options->rate,
                                            .connections = options->connections,
                                            .memory = options->memory ? options->memory : MEMORY,
                                            .log = options->log,
                                            .requests = requests_file(all)};
    all->guard = guard.requests || options->check ? brume_http_guard_open(&guard) : NULL;
    if (!all->guard)
        return brume_no_memory(error, "the server");
    if (!options->check) /* no request may come before it is known that it can be recorded */
        brume_http_guard_event(all->guard, "starting", NULL);
    BRUME_TRY(brume_pool_open(&pool, &all->pool, error));
    BRUME_TRY(start_http(all, error));
    BRUME_TRY(start_pg(all, error));
    return options->check
               ? BRUME_OK
               : brume_closer_open(all->ledger, options->quantum, all->guard, &all->closer, error);
}

static void end(server *all)
{
    brume_http_quiesce(all->http);
    brume_closer_close(all->closer);
    brume_pool_stop(all->pool, SECONDS_TO_END);
    brume_http_stop(all->http, SECONDS_TO_SEND);
    brume_pg_server_close(all->pg);
    brume_pool_close(all->pool, 0); /* nobody asks any more */
    brume_nursery_close(all->nursery);
    if (all->guard)
        brume_http_guard_event(all->guard, "stopped", NULL);
    brume_http_guard_close(all->guard);
    free(all->requests);
    free(all->certificate);
    if (all->key)
        explicit_bzero(all->key, strlen(all->key));
    free(all->key);
}

static const char *ledger_of(const brume_serve_options *options)
{
    const char *path = options->ledger ? options->ledger : getenv("BRUME_LEDGER");
    return path && *path ? path : "brume.db";
}

brume_status brume_serve(const brume_serve_options *options, brume_error *error)
{
    server all = {.options = options, .ledger = ledger_of(options)};
    sigset_t ends;
    int got = 0;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    pthread_sigmask(SIG_BLOCK, &ends, NULL); /* before any thread: they all inherit it */
    signal(SIGPIPE, SIG_IGN); /* a client that has gone is an error of its connection only */
    signal(SIGXFSZ, SIG_IGN); /* so is a limit on files, as a full disk */
    /* first of all, while there is one thread and nothing that a child should not have */
    brume_status status = brume_nursery_open(all.ledger, options->memory ? options->memory : MEMORY,
                                             &all.nursery, error);
    if (status == BRUME_OK)
        status = start(&all, error);
    if (status == BRUME_OK && !options->check) {
        brume_http_guard_event(all.guard, "started", NULL);
        sigwait(&ends, &got);
        brume_http_guard_event(all.guard, "stopping", got == SIGTERM ? "SIGTERM" : "SIGINT");
    }
    end(&all);
    return status;
}
