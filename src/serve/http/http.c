/* The daemon: start and stop. Promises: http.h. */
#include "serve/http/http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "serve/http/server.h"

/* TLS 1.2 and 1.3, keys by (elliptic-curve) Diffie-Hellman, authenticated encryption only. */
static const char TLS_PRIORITIES[] =
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:+DHE-RSA:"
    "-CIPHER-ALL:+AES-256-GCM:+CHACHA20-POLY1305:+AES-128-GCM:-MAC-ALL:+AEAD:-SHA1:"
    "-SIGN-RSA-SHA1:-SIGN-ECDSA-SHA1:%SERVER_PRECEDENCE";

/* As many files as the system lets us have: a connection is one. */
static void raise_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit); /* fewer connections otherwise */
}

/* A path with a 0 in it stays as it was sent, which is no path of ours: texts end at a 0. */
static size_t unescape(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context, (void)connection;
    return strstr(text, "%00") ? strlen(text) : MHD_http_unescape(text);
}

struct MHD_Daemon *brume_http_start_daemon(brume_http *http, unsigned how)
{
    const brume_http_options *options = &http->options;
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)options->key},
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)options->certificate},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)TLS_PRIORITIES},
        {MHD_OPTION_END, 0, NULL},
    };
    const struct MHD_OptionItem *more = options->certificate ? tls : tls + 3;
    unsigned flags = how | MHD_ALLOW_SUSPEND_RESUME | (options->certificate ? MHD_USE_TLS : 0);
    unsigned idle = (unsigned)options->patience + 1;
    return MHD_start_daemon(
        flags, 0, NULL, NULL, brume_http_handle, http, MHD_OPTION_LISTEN_SOCKET, options->socket,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)BRUME_HTTP_CONNECTIONS,
        MHD_OPTION_CONNECTION_TIMEOUT, idle, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)65536,
        MHD_OPTION_NOTIFY_COMPLETED, brume_http_forget, http, MHD_OPTION_NOTIFY_CONNECTION,
        brume_http_patience_notice, http->patience, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_UNESCAPE_CALLBACK, unescape, NULL, MHD_OPTION_ARRAY, more, MHD_OPTION_END);
}

static void free_http(brume_http *http)
{
    brume_http_patience_close(http->patience);
    brume_http_running_close(http->running);
    brume_http_identities_close(http->identities);
    free(http);
}

static brume_status start(brume_http *http, brume_error *error)
{
    BRUME_TRY(brume_microhttpd_load(error));
    BRUME_TRY(brume_http_identities_open(http->options.ledger, &http->identities, error));
    http->patience = brume_http_patience_open(http->options.patience, http->options.guard);
    http->running = brume_http_running_open();
    if (!http->patience || !http->running)
        return brume_no_memory(error, "the server");
    http->daemon = brume_http_start_daemon(http, MHD_USE_EPOLL_INTERNAL_THREAD);
    if (!http->daemon)
        return brume_fail(error, BRUME_EDISK,
                          http->options.certificate ? "do the certificate and the key fit?" : NULL,
                          "cannot start to answer over HTTP");
    return BRUME_OK;
}

brume_status brume_http_start(const brume_http_options *options, brume_http **out,
                              brume_error *error)
{
    brume_http *http = calloc(1, sizeof *http);
    if (!http) {
        close(options->socket);
        return brume_no_memory(error, "the server");
    }
    http->options = *options;
    raise_file_limit();
    brume_status status = start(http, error);
    if (status != BRUME_OK) {
        close(options->socket);
        free_http(http);
        return status;
    }
    *out = http;
    return BRUME_OK;
}

void brume_http_quiesce(brume_http *http)
{
    if (!http)
        return;
    atomic_store(&http->stopping, true);
    MHD_socket listener = MHD_quiesce_daemon(http->daemon);
    if (listener != MHD_INVALID_SOCKET)
        close(listener);
}

void brume_http_stop(brume_http *http, double seconds)
{
    const struct timespec pause = {0, 10000000};
    if (!http)
        return;
    for (double waited = 0; waited < seconds && atomic_load(&http->open_requests) > 0;
         waited += 0.01)
        nanosleep(&pause, NULL);
    MHD_stop_daemon(http->daemon);
    free_http(http);
}
