/* A request from its first line to its answer. libmicrohttpd calls brume_http_handle when headers
 * are there, for each piece of the body, when it is whole, and after a resume. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include <jansson.h>

#include "base/error.h"
#include "serve/http/server.h"

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* ---- when the headers are there ---- */

static http_request *begin(brume_http *http, struct MHD_Connection *connection)
{
    http_request *request = calloc(1, sizeof *request);
    if (!request)
        return NULL;
    request->http = http;
    request->connection = connection;
    request->start = now();
    atomic_fetch_add(&http->open_requests, 1);
    return request;
}

static const char *header_of(const http_request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

/* ---- where the body ends ---- */

typedef struct framing {
    unsigned lengths, codings;
    bool is_wrong;
} framing;

static enum MHD_Result note_framing(void *context, enum MHD_ValueKind kind, const char *name,
                                    const char *value)
{
    framing *said = context;
    (void)kind;
    const char *text = value ? value : "";
    if (name[strcspn(name, " \t")])
        said->is_wrong = true;
    if (strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0) {
        said->lengths++;
        size_t digits = strspn(text, "0123456789");
        said->is_wrong = said->is_wrong || digits == 0 || digits > 18 || text[digits];
    }
    if (strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0) {
        said->codings++;
        said->is_wrong = said->is_wrong || strcasecmp(text, "chunked") != 0;
    }
    return MHD_YES;
}

/* Do the headers say in one way only where the body ends? A proxy before the server may take the
 * other one, and what it holds to be the rest of a body would be the request of somebody else. */
static bool is_framed(const http_request *request)
{
    framing said = {0};
    MHD_get_connection_values(request->connection, MHD_HEADER_KIND, note_framing, &said);
    return !said.is_wrong && said.lengths + said.codings <= 1;
}

static enum MHD_Result refuse_framing(http_request *request)
{
    request->closes = true;
    return brume_http_refuse(request, MHD_HTTP_BAD_REQUEST, "argument",
                             "the headers do not say clearly where the body ends",
                             "send one Content-Length, or Transfer-Encoding: chunked");
}

/* ---- who asks ---- */

/* Who asks; MHD_YES with request->code 0 means: go on. */
static enum MHD_Result check_token(http_request *request)
{
    brume_error error = {0};
    if (request->route->needs == BRUME_HTTP_ROUTE_NOBODY)
        return MHD_YES;
    brume_status status = brume_http_identify(request->http->identities,
                                              header_of(request, MHD_HTTP_HEADER_AUTHORIZATION),
                                              &request->user, &request->about, &error);
    if (status == BRUME_EPOLICY)
        return brume_http_refuse(request, MHD_HTTP_UNAUTHORIZED, "policy", error.message,
                                 error.hint);
    if (status != BRUME_OK)
        return brume_http_send_error(request, brume_http_route_status(status), &error);
    if (!brume_http_guard_records(request->http->options.guard))
        return brume_http_refuse(request, MHD_HTTP_SERVICE_UNAVAILABLE, "disk",
                                 "requests cannot be recorded now; nothing was spent",
                                 "the owner sees why: the disk may be full");
    if (!brume_http_patience_claim(request->http->patience, request->connection, request->user)) {
        request->closes = true;
        return brume_http_refuse(request, MHD_HTTP_TOO_MANY_REQUESTS, "cancelled",
                                 "too many connections with this token; nothing was spent",
                                 "close others first");
    }
    if (!brume_http_guard_pass(request->http->options.guard, request->user, now()))
        return brume_http_refuse(request, MHD_HTTP_TOO_MANY_REQUESTS, "cancelled",
                                 "too many requests with this token; nothing was spent",
                                 "ask again in a second");
    if (request->route->needs == BRUME_HTTP_ROUTE_OWNER &&
        strcmp(request->about.role, "owner") != 0)
        return brume_http_refuse(request, MHD_HTTP_FORBIDDEN, "policy", "only an owner may do this",
                                 NULL);
    return MHD_YES;
}

static enum MHD_Result check_body_headers(http_request *request)
{
    const char *type = header_of(request, MHD_HTTP_HEADER_CONTENT_TYPE);
    const char *length = header_of(request, MHD_HTTP_HEADER_CONTENT_LENGTH);
    if (strcmp(request->route->method, "POST") != 0)
        return MHD_YES;
    if (length && strtoull(length, NULL, 10) > BRUME_HTTP_BODY)
        return brume_http_refuse(request, MHD_HTTP_CONTENT_TOO_LARGE, "argument",
                                 "the body is larger than 1 MiB", NULL);
    if (!type || strncasecmp(type, "application/json", 16) != 0 ||
        (type[16] && type[16] != ';' && type[16] != ' '))
        return brume_http_refuse(request, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE, "argument",
                                 "the body must be JSON",
                                 "send the header Content-Type: application/json");
    return MHD_YES;
}

static enum MHD_Result check_headers(http_request *request, const char *url, const char *method)
{
    const char *rest = "";
    bool other_method = false, reads = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    if (!is_framed(request))
        return refuse_framing(request);
    request->route = brume_http_route_find(method, url, &rest, &other_method);
    if (!request->route && other_method)
        return brume_http_refuse(request, MHD_HTTP_METHOD_NOT_ALLOWED, "argument",
                                 "this path takes another method", "see /openapi.json");
    if (!request->route)
        return brume_http_send_file(request, reads ? url : "");
    request->rest = strdup(rest);
    if (!request->rest)
        return MHD_NO;
    enum MHD_Result result = check_token(request);
    return result == MHD_YES && !request->code ? check_body_headers(request) : result;
}

/* ---- the body ---- */

static enum MHD_Result take_body(http_request *request, const char *data, size_t length)
{
    if (request->is_too_large || request->length + length > BRUME_HTTP_BODY) {
        request->is_too_large = true;
        return MHD_YES;
    }
    if (request->length + length > request->room) {
        size_t room = request->room ? 2 * request->room : 4096;
        while (room < request->length + length)
            room *= 2;
        char *longer = realloc(request->body, room);
        if (!longer)
            return MHD_NO;
        request->body = longer;
        request->room = room;
    }
    memcpy(request->body + request->length, data, length);
    request->length += length;
    return MHD_YES;
}

/* Options in the URL of a GET, as texts; false: a name twice, or without memory. */
static enum MHD_Result add_argument(void *object, enum MHD_ValueKind kind, const char *name,
                                    const char *value)
{
    (void)kind;
    if (json_object_get(object, name) ||
        json_object_set_new(object, name, value ? json_string(value) : json_true()) != 0) {
        json_object_clear(object);
        json_object_set_new(object, "", json_null()); /* no option has this name: it is refused */
        return MHD_NO;
    }
    return MHD_YES;
}

static enum MHD_Result arguments_as_body(http_request *request)
{
    json_t *object = json_object();
    if (!object)
        return MHD_NO;
    MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND, add_argument, object);
    free(request->body);
    request->body = json_object_size(object) > 0 ? json_dumps(object, JSON_COMPACT) : NULL;
    request->length = request->body ? strlen(request->body) : 0;
    json_decref(object);
    return MHD_YES;
}

/* ---- answers of the server itself ---- */

static enum MHD_Result send_me(http_request *request)
{
    json_t *object =
        json_pack("{s:s,s:s,s:o}", "name", request->user, "role", request->about.role, "expires",
                  request->about.expires ? json_integer(request->about.expires) : json_null());
    char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    return brume_http_send(request, MHD_HTTP_OK, "application/json", text);
}

static enum MHD_Result send_metrics(http_request *request)
{
    brume_pool_counts counts = {0};
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(request->http->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
    brume_pool_count(request->http->options.pool, &counts);
    return brume_http_send(request, MHD_HTTP_OK, "text/plain; version=0.0.4; charset=utf-8",
                           brume_http_guard_metrics(request->http->options.guard, &counts,
                                                    info ? info->num_connections : 0));
}

static enum MHD_Result send_cancel(http_request *request)
{
    json_t *body = request->body ? json_loadb(request->body, request->length, 0, NULL) : NULL;
    const char *ticket = json_string_value(json_object_get(body, "ticket"));
    if (ticket)
        brume_http_running_cancel(request->http->running, request->http->options.pool,
                                  request->user, ticket);
    bool is_named = ticket != NULL;
    json_decref(body);
    if (!is_named)
        return brume_http_refuse(
            request, MHD_HTTP_BAD_REQUEST, "argument",
            "\"ticket\" is missing: the header Brume-Ticket of the call to end", NULL);
    return brume_http_send(request, MHD_HTTP_OK, "application/json", strdup("{\"status\":\"ok\"}"));
}

static enum MHD_Result send_own(http_request *request)
{
    const char *path = request->route->path;
    if (strcmp(path, "/v1/cancel") == 0)
        return send_cancel(request);
    if (strcmp(path, "/openapi.json") == 0)
        return brume_http_send(request, MHD_HTTP_OK, "application/json",
                               brume_http_route_openapi());
    if (strcmp(path, "/metrics") == 0)
        return send_metrics(request);
    if (strcmp(path, "/v1/me") == 0)
        return send_me(request);
    return brume_http_send(request, MHD_HTTP_OK, "application/json", strdup("{\"status\":\"ok\"}"));
}

/* ---- calls ---- */

static void take_result(void *context, brume_pool_result *result)
{
    http_request *request = context;
    request->result = *result;
    MHD_resume_connection(request->connection); /* libmicrohttpd's thread goes on from here */
}

/* The connection is suspended before the call can end. */
static void submit(http_request *request)
{
    const brume_pool_request job = {.user = request->user,
                                    .issued = request->about.issued,
                                    .command = request->call.command,
                                    .options = request->call.options};
    const char *ticket = header_of(request, "Brume-Ticket");
    MHD_suspend_connection(request->connection);
    request->is_submitted = true;
    brume_pool_result refused = {0};
    refused.status = brume_pool_submit(request->http->options.pool, &job, take_result, request,
                                       &request->job, NULL, &refused.error);
    if (refused.status != BRUME_OK)
        take_result(request, &refused);
    else if (ticket) /* the request is there until this thread goes on */
        brume_http_running_add(request->http->running, request->user, ticket, request->job);
}

static enum MHD_Result start_call(http_request *request)
{
    brume_error error = {0};
    brume_status status = brume_http_read_call(request->route, request->rest, request->body,
                                               request->length, &request->call, &error);
    if (status != BRUME_OK)
        return brume_http_send_error(request, brume_http_route_status(status), &error);
    submit(request);
    return MHD_YES;
}

static enum MHD_Result send_result(http_request *request)
{
    brume_pool_result *result = &request->result;
    if (result->status != BRUME_OK)
        return brume_http_send_failure(request, brume_http_route_status(result->status),
                                       &result->error, result->json);
    char *text = result->json;
    size_t length = strlen(text);
    if (!brume_http_guard_hold(request->http->options.guard, request->user, length))
        return brume_http_refuse(
            request, MHD_HTTP_SERVICE_UNAVAILABLE, "memory",
            "your answers that are on their way take all the memory that there "
            "is for them",
            "read those first; what was paid for is read again, free of charge");
    request->held = length;
    result->json = NULL;
    bool is_text = text[0] != '{';
    return brume_http_send(request, MHD_HTTP_OK,
                           is_text ? "text/plain; charset=utf-8" : "application/json", text);
}

static enum MHD_Result answer(http_request *request)
{
    if (request->is_too_large)
        return brume_http_refuse(request, MHD_HTTP_CONTENT_TOO_LARGE, "argument",
                                 "the body is larger than 1 MiB", NULL);
    if (atomic_load(&request->http->stopping))
        return brume_http_refuse(request, MHD_HTTP_SERVICE_UNAVAILABLE, "cancelled",
                                 "the server is stopping; nothing was spent", "ask again later");
    if (!request->route->command && !strchr(request->route->path, '{'))
        return send_own(request);
    if (strcmp(request->route->method, "POST") != 0 && arguments_as_body(request) != MHD_YES)
        return MHD_NO;
    return start_call(request);
}

enum MHD_Result brume_http_handle(void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *length, void **place)
{
    http_request *request = *place;
    (void)version;
    if (!request) {
        *place = request = begin(context, connection);
        return request ? check_headers(request, url, method) : MHD_NO;
    }
    if (request->code) { /* refused by its headers; what still comes is dropped */
        *length = 0;
        return MHD_YES;
    }
    if (*length > 0) {
        size_t count = *length;
        *length = 0;
        return take_body(request, data, count);
    }
    brume_http_patience_pause(request->http->patience, connection);
    return request->is_submitted ? send_result(request) : answer(request);
}

void brume_http_forget(void *context, struct MHD_Connection *connection, void **place,
                       enum MHD_RequestTerminationCode why)
{
    brume_http *http = context;
    http_request *request = *place;
    (void)why;
    brume_http_patience_again(http->patience, connection);
    if (!request)
        return;
    brume_http_guard_note(
        http->options.guard, request->user, request->route ? request->route->method : "GET",
        request->route ? request->route->path : "(page)", request->code, now() - request->start);
    if (request->job)
        brume_http_running_remove(http->running, request->job);
    if (request->held > 0)
        brume_http_guard_drop(http->options.guard, request->user, request->held);
    brume_http_call_clear(&request->call);
    brume_free(request->result.json);
    free(request->rest);
    free(request->user);
    free(request->body);
    free(request);
    *place = NULL;
    atomic_fetch_sub(&http->open_requests, 1);
}
