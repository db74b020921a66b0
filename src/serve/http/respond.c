/* Answers: their headers, errors as JSON, files of the page. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "serve/http/server.h"
#include "serve/page/page.h"

/* Everything of the page is the server's own; nothing is inline, and no text becomes markup or
 * script. Downloads are made by the page itself, from blobs, which no directive governs. */
static const char CONTENT_POLICY[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";

/* On every answer. */
static void add_headers(const http_request *request, struct MHD_Response *response)
{
    static const char *const headers[][2] = {
        {"Content-Security-Policy", CONTENT_POLICY},
        {"X-Content-Type-Options", "nosniff"},
        {"X-Frame-Options", "DENY"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Permissions-Policy", "camera=(), geolocation=(), microphone=()"},
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        MHD_add_response_header(response, headers[i][0], headers[i][1]);
    if (request->http->options.certificate)
        MHD_add_response_header(response, "Strict-Transport-Security", "max-age=31536000");
}

static enum MHD_Result queue(http_request *request, unsigned code, const char *type,
                             struct MHD_Response *response)
{
    if (!response)
        return MHD_NO;
    add_headers(request, response);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    if (code == MHD_HTTP_UNAUTHORIZED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
    if (code == MHD_HTTP_TOO_MANY_REQUESTS || code == MHD_HTTP_SERVICE_UNAVAILABLE)
        MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, "1");
    if (request->closes)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    request->code = code;
    enum MHD_Result result = MHD_queue_response(request->connection, code, response);
    MHD_destroy_response(response);
    return result;
}

enum MHD_Result brume_http_send(http_request *request, unsigned code, const char *type, char *text)
{
    if (!text)
        return MHD_NO; /* without memory: the connection is closed */
    struct MHD_Response *response =
        MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_FREE);
    if (!response) {
        free(text);
        return MHD_NO;
    }
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    return queue(request, code, type, response);
}

static enum MHD_Result send_fault(http_request *request, unsigned code, const char *word,
                                  const char *message, const char *hint, const char *answers)
{
    json_t *object = json_pack("{s:{s:s,s:s,s:s},s:s*}", "error", "code", word, "message", message,
                               "hint", hint ? hint : "", "answers", answers);
    char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    return brume_http_send(request, code, "application/json", text);
}

enum MHD_Result brume_http_refuse(http_request *request, unsigned code, const char *word,
                                  const char *message, const char *hint)
{
    return send_fault(request, code, word, message, hint, NULL);
}

enum MHD_Result brume_http_send_failure(http_request *request, unsigned code,
                                        const brume_error *error, const char *answers)
{
    return send_fault(request, code, brume_status_word(error->status), error->message, error->hint,
                      answers);
}

enum MHD_Result brume_http_send_error(http_request *request, unsigned code,
                                      const brume_error *error)
{
    return brume_http_send_failure(request, code, error, NULL);
}

enum MHD_Result brume_http_send_file(http_request *request, const char *path)
{
    const brume_page_file *file = brume_page_find(path);
    if (!file)
        return brume_http_refuse(request, MHD_HTTP_NOT_FOUND, "unknown", "there is nothing here",
                                 "see /openapi.json");
    const char *known = MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND,
                                                    MHD_HTTP_HEADER_IF_NONE_MATCH);
    bool is_known = known && strcmp(known, file->tag) == 0;
    struct MHD_Response *response = MHD_create_response_from_buffer(
        is_known ? 0 : file->length, (void *)(uintptr_t)file->bytes, MHD_RESPMEM_PERSISTENT);
    if (!response)
        return MHD_NO;
    MHD_add_response_header(response, MHD_HTTP_HEADER_ETAG, file->tag);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
    return queue(request, is_known ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK, file->type, response);
}
