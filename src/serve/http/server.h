/* What the files of the HTTP server share. */
#ifndef BRUME_SERVE_HTTP_SERVER_H
#define BRUME_SERVE_HTTP_SERVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <sys/socket.h>

#include "serve/http/body.h"
#include "serve/http/http.h"
#include "serve/http/identity.h"
#include "serve/http/libmicrohttpd.h"
#include "serve/http/patience.h"
#include "serve/http/running.h"

struct brume_http {
    brume_http_options options;
    struct MHD_Daemon *daemon;
    brume_http_identities *identities;
    brume_http_patience *patience;
    brume_http_running *running;
    atomic_bool stopping;
    atomic_uint open_requests;
};

typedef struct http_request {
    brume_http *http;
    struct MHD_Connection *connection;
    const brume_http_route *route; /* NULL: a file of the page, or nothing */
    char *rest, *user;
    brume_user_about about; /* of the token's owner */
    char *body;
    size_t length, room;
    bool is_too_large, is_whole, is_submitted;
    bool closes; /* the connection ends with the answer */
    double start;
    uint64_t job; /* of the pool; 0: none was accepted */
    brume_http_call call;
    brume_pool_result result;
    unsigned code; /* of the answer, once there is one */
    size_t held;   /* bytes of it, which are counted (guard.h) */
} http_request;

/* http.c: start libmicrohttpd with the server's options; `how`: its flags that say who waits for
 * connections. NULL: it cannot be. */
struct MHD_Daemon *brume_http_start_daemon(brume_http *http, unsigned how);

/* handle.c: libmicrohttpd's access handler. */
enum MHD_Result brume_http_handle(void *http, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *length, void **request);

/* libmicrohttpd tells that a request is over: free it. */
void brume_http_forget(void *http, struct MHD_Connection *connection, void **request,
                       enum MHD_RequestTerminationCode why);

/* respond.c: queue an answer. The text is taken over and freed with `free`. */
enum MHD_Result brume_http_send(http_request *request, unsigned code, const char *type, char *text);
enum MHD_Result brume_http_send_error(http_request *request, unsigned code,
                                      const brume_error *error);
/* The same for a call; `answers`, if not NULL, is what it had answered, and was paid for, before.
 */
enum MHD_Result brume_http_send_failure(http_request *request, unsigned code,
                                        const brume_error *error, const char *answers);
/* The same with words: {"error":{"code","message","hint"}}. */
enum MHD_Result brume_http_refuse(http_request *request, unsigned code, const char *word,
                                  const char *message, const char *hint);
/* A file of the page, or 404. */
enum MHD_Result brume_http_send_file(http_request *request, const char *path);

#endif
