/* One request of HTTP to a server, by libcurl. Promises: http.h.
 *
 * libcurl is loaded when the first request is made: it brings thirty libraries along, which every
 * other command would wait for. */
#include "cli/client/http.h"

#include <ctype.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CURL_DISABLE_TYPECHECK /* it makes macros of the functions */
#include <curl/curl.h>

#include "base/error.h"
#include "base/library.h"
#include "cli/client/url.h"

enum { CONNECT_SECONDS = 30 };

/* ---- libcurl ---- */

#define FUNCTIONS(EACH)                                                                            \
    EACH(curl_easy_cleanup)                                                                        \
    EACH(curl_easy_getinfo)                                                                        \
    EACH(curl_easy_init)                                                                           \
    EACH(curl_easy_perform)                                                                        \
    EACH(curl_easy_setopt)                                                                         \
    EACH(curl_easy_strerror)                                                                       \
    EACH(curl_global_init)                                                                         \
    EACH(curl_slist_append)                                                                        \
    EACH(curl_slist_free_all)

static struct {
#define POINTER(function) __typeof__(function) *function;
    FUNCTIONS(POINTER)
    bool is_loaded;
} lib;

static void load(void)
{
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    bool good = library != NULL;
#define FIND(function) good = good && brume_library_find(library, #function, &lib.function);
    FUNCTIONS(FIND)
    lib.is_loaded = good && lib.curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

static brume_status load_once(brume_error *error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (pthread_once(&once, load) != 0 || !lib.is_loaded)
        return brume_fail(error, BRUME_EUNSUPPORTED, "install libcurl (Debian: libcurl4)",
                          "'--server' needs the library libcurl.so.4");
    return BRUME_OK;
}

/* ---- the request ---- */

static bool is_token(const char *text)
{
    for (const char *c = text; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("-._~+/=", *c))
            return false;
    return *text != 0;
}

static brume_status check_token(const brume_http_place *place, const brume_url *url,
                                brume_error *error)
{
    if (!place->token || !*place->token)
        return brume_fail(error, BRUME_EARGUMENT,
                          "set $BRUME_TOKEN to what 'brume user add' has printed",
                          "a server needs a token");
    if (!is_token(place->token))
        return brume_fail(error, BRUME_EARGUMENT, "it is one word, as it was printed",
                          "$BRUME_TOKEN is not a token");
    if (!url->is_tls && !url->is_here)
        return brume_fail(error, BRUME_EARGUMENT, "use https://",
                          "http:// would send the token to '%.100s' for all to read", url->host);
    return BRUME_OK;
}

static char *address_of(const brume_url *url, const char *path)
{
    char *text = NULL;
    bool bare = strchr(url->host, ':') != NULL; /* an IPv6 address */
    int length = asprintf(&text, "%s://%s%s%s:%s%s%s", url->is_tls ? "https" : "http",
                          bare ? "[" : "", url->host, bare ? "]" : "", url->port, url->path, path);
    return length < 0 ? NULL : text;
}

/* Add a line; false if memory ran out. */
static bool add_header(struct curl_slist **headers, const char *name, const char *value)
{
    char *line = NULL;
    if (asprintf(&line, "%s%s", name, value) < 0)
        return false;
    struct curl_slist *longer = lib.curl_slist_append(*headers, line);
    free(line);
    *headers = longer ? longer : *headers;
    return longer != NULL;
}

static bool add_headers(struct curl_slist **headers, const brume_http_place *place)
{
    return add_header(headers, "Authorization: Bearer ", place->token) &&
           add_header(headers, "Content-Type: ", "application/json") &&
           add_header(headers, "Accept: ", "application/json, text/plain") &&
           (!place->ticket || add_header(headers, "Brume-Ticket: ", place->ticket)) &&
           /* for a long body libcurl would ask, and wait a second for the answer */
           add_header(headers, "Expect:", "");
}

/* ---- the answer ---- */

typedef struct received {
    char *text;
    size_t length, room;
    bool is_too_long, has_head;
} received;

static size_t take_body(char *bytes, size_t size, size_t count, void *context)
{
    received *all = context;
    size_t length = size * count;
    if (all->length + length > BRUME_HTTP_MOST) {
        all->is_too_long = true;
        return 0;
    }
    if (all->room - all->length <= length) {
        size_t room = 2 * (all->length + length);
        char *longer = realloc(all->text, room);
        if (!longer)
            return 0;
        all->text = longer;
        all->room = room;
    }
    memcpy(all->text + all->length, bytes, length);
    all->length += length;
    return length;
}

static size_t take_head(char *bytes, size_t size, size_t count, void *context)
{
    received *all = context;
    all->has_head = size * count == 2 && memcmp(bytes, "\r\n", 2) == 0;
    return size * count;
}

static brume_status unreachable(const brume_url *url, const char *why, brume_error *error)
{
    return brume_fail(error, BRUME_ESOURCE, "is it running, and is --server right?",
                      "cannot reach the server at %.100s, port %s: %.200s", url->host, url->port,
                      why);
}

static brume_status may_be_spent(const char *what, brume_error *error)
{
    return brume_fail(error, BRUME_ESOURCE,
                      "what was asked may be spent: ask it again, an answer that was recorded "
                      "is free",
                      "%s", what);
}

/* Why there is no whole answer. `why`: libcurl's words. */
static brume_status failed(CURLcode code, const char *why, const brume_http_place *place,
                           const brume_url *url, const received *all, brume_error *error)
{
    switch (code) {
    case CURLE_OUT_OF_MEMORY:
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    case CURLE_SSL_CACERT_BADFILE:
        return brume_fail(error, BRUME_EARGUMENT, "a file of certificates in PEM",
                          "'--server-ca' is '%.200s', which cannot be read",
                          place->ca ? place->ca : "");
    case CURLE_PEER_FAILED_VERIFICATION:
        return brume_fail(error, BRUME_ESOURCE,
                          "name who signed it with --server-ca FILE, if you trust them",
                          "the certificate of %.100s is refused: %.200s", url->host, why);
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT:
        return unreachable(url, why, error);
    case CURLE_SSL_CONNECT_ERROR:
        return unreachable(url, "it does not speak TLS as it should", error);
    case CURLE_UNSUPPORTED_PROTOCOL: /* what came does not begin with HTTP/ */
    case CURLE_WEIRD_SERVER_REPLY:
        return brume_fail(error, BRUME_ESOURCE, "is it a brume server?",
                          "the server's answer is not HTTP as it was asked for");
    case CURLE_FILESIZE_EXCEEDED:
        return brume_fail(error, BRUME_ESOURCE, NULL, "the server's answer is too long");
    case CURLE_WRITE_ERROR:
        return brume_fail(error, BRUME_EMEMORY, NULL,
                          all->is_too_long ? "the answer is too long" : "out of memory");
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
        return may_be_spent("the connection ended before the whole answer was there", error);
    default:
        return may_be_spent("the connection to the server was lost", error);
    }
}

/* Everything that a request is, but for its headers. */
static bool prepare(CURL *handle, const brume_http_place *place, const brume_url *url,
                    const char *address, const char *body)
{
#define SET(option, value) (lib.curl_easy_setopt(handle, option, value) == CURLE_OK)
    return SET(CURLOPT_URL, address) &&
           SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(body)) &&
           SET(CURLOPT_POSTFIELDS, body) &&
           SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_0) && SET(CURLOPT_PROXY, "") &&
           SET(CURLOPT_NOSIGNAL, 1L) && SET(CURLOPT_TCP_KEEPALIVE, 1L) &&
           SET(CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS) &&
           SET(CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)BRUME_HTTP_MOST) &&
           (!url->is_tls || SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2)) &&
           (!url->is_tls || !place->ca || SET(CURLOPT_CAINFO, place->ca)) &&
           (!url->is_tls || !place->ca || SET(CURLOPT_CAPATH, (char *)NULL));
}

/* Send it, and wait for the answer. */
static brume_status exchange(CURL *handle, const struct curl_slist *headers,
                             const brume_http_place *place, const brume_url *url,
                             brume_http_answer *out, brume_error *error)
{
    char why[CURL_ERROR_SIZE] = "";
    received all = {.text = malloc(16384), .room = 16384};
    long code = 0;
    if (!all.text || !SET(CURLOPT_HTTPHEADER, headers) || !SET(CURLOPT_ERRORBUFFER, why) ||
        !SET(CURLOPT_WRITEFUNCTION, take_body) || !SET(CURLOPT_WRITEDATA, &all) ||
        !SET(CURLOPT_HEADERFUNCTION, take_head) || !SET(CURLOPT_HEADERDATA, &all)) {
        free(all.text);
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    }
    CURLcode result = lib.curl_easy_perform(handle);
    (void)SET(CURLOPT_ERRORBUFFER, (char *)NULL); /* it ends with this function */
    if (result == CURLE_OK && !all.has_head)
        result = CURLE_PARTIAL_FILE;
    if (result == CURLE_OK)
        result = lib.curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &code);
    if (result != CURLE_OK) {
        free(all.text);
        return failed(result, *why ? why : lib.curl_easy_strerror(result), place, url, &all, error);
    }
    all.text[all.length] = 0;
    *out = (brume_http_answer){.code = (int)code, .body = all.text, .length = all.length};
    return BRUME_OK;
}

brume_status brume_http_post(const brume_http_place *place, const char *path, const char *body,
                             brume_http_answer *out, brume_error *error)
{
    brume_url url;
    BRUME_TRY(brume_url_parse(place->url, &url, error));
    BRUME_TRY(check_token(place, &url, error));
    BRUME_TRY(load_once(error));
    CURL *handle = lib.curl_easy_init();
    struct curl_slist *headers = NULL;
    char *address = address_of(&url, path);
    brume_status status = handle && address && prepare(handle, place, &url, address, body) &&
                                  add_headers(&headers, place)
                              ? exchange(handle, headers, place, &url, out, error)
                              : brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    lib.curl_slist_free_all(headers);
    free(address);
    lib.curl_easy_cleanup(handle);
    return status;
}
