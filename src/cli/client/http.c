/* One request of HTTP to a server. Promises: http.h. */
#include "cli/client/http.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/client/connection.h"
#include "cli/client/url.h"
#include "base/error.h"

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

static char *write_request(const brume_http_place *place, const brume_url *url, const char *path,
                           const char *body)
{
    char *text = NULL;
    bool bare = strchr(url->host, ':') != NULL; /* an IPv6 address */
    int length = asprintf(&text,
                          "POST %s%s HTTP/1.0\r\nHost: %s%s%s:%s\r\nAuthorization: Bearer %s\r\n"
                          "Content-Type: application/json\r\nContent-Length: %zu\r\n"
                          "Accept: application/json, text/plain\r\n%s%s%s\r\n%s",
                          url->path, path, bare ? "[" : "", url->host, bare ? "]" : "", url->port,
                          place->token, strlen(body), place->ticket ? "Brume-Ticket: " : "",
                          place->ticket ? place->ticket : "", place->ticket ? "\r\n" : "", body);
    return length < 0 ? NULL : text;
}

/* ---- the answer ---- */

static brume_status cut_off(brume_error *error)
{
    return brume_fail(error, BRUME_ESOURCE,
                      "what was asked may be spent: ask it again, an answer that was recorded "
                      "is free",
                      "the connection ended before the whole answer was there");
}

/* Read what is there; *ended: nothing more will come. */
static brume_status read_more(brume_connection *connection, char **text, size_t *length,
                              size_t *room, bool *ended, brume_error *error)
{
    if (*room - *length < 4096) {
        size_t more = *room ? 2 * *room : 16384;
        char *longer = more <= 2u * BRUME_HTTP_MOST ? realloc(*text, more) : NULL;
        if (!longer)
            return brume_fail(error, BRUME_EMEMORY, NULL, "the answer is too long");
        *text = longer;
        *room = more;
    }
    size_t got = 0;
    brume_status status =
        brume_connection_read(connection, *text + *length, *room - *length - 1, &got, error);
    if (status != BRUME_OK)
        return status;
    *length += got;
    (*text)[*length] = 0;
    *ended = got == 0;
    return BRUME_OK;
}

/* The value of a header of the head, which ends before `end`; NULL: none. */
static const char *header(const char *head, const char *end, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = strstr(head, "\r\n"); line && line < end; line = strstr(line, "\r\n")) {
        line += 2;
        if (strncasecmp(line, name, length) == 0 && line[length] == ':')
            return line + length + 1 + strspn(line + length + 1, " \t");
    }
    return NULL;
}

/* The head is whole: the code, where the body begins, and its length (SIZE_MAX: to the end). */
static brume_status read_head(const char *text, const char *end, int *code, size_t *want,
                              brume_error *error)
{
    int minor = 0;
    const char *length = header(text, end, "Content-Length");
    if (sscanf(text, "HTTP/1.%d %3d", &minor, code) != 2 || header(text, end, "Transfer-Encoding"))
        return brume_fail(error, BRUME_ESOURCE, "is it a brume server?",
                          "the server's answer is not HTTP as it was asked for");
    *want = SIZE_MAX;
    if (length) {
        errno = 0;
        unsigned long long value = strtoull(length, NULL, 10);
        if (errno != 0 || !isdigit((unsigned char)*length) || value > BRUME_HTTP_MOST)
            return brume_fail(error, BRUME_ESOURCE, NULL, "the server's answer is too long");
        *want = (size_t)value;
    }
    return BRUME_OK;
}

static brume_status read_answer(brume_connection *connection, brume_http_answer *out,
                                brume_error *error)
{
    char *text = NULL;
    size_t length = 0, room = 0, want = SIZE_MAX, start = 0;
    bool ended = false;
    brume_status status = BRUME_OK;
    while (status == BRUME_OK && !ended &&
           !(start > 0 && want != SIZE_MAX && length >= start + want)) {
        status = read_more(connection, &text, &length, &room, &ended, error);
        const char *end = status == BRUME_OK && text && start == 0 ? strstr(text, "\r\n\r\n")
                                                                   : NULL;
        if (end) {
            start = (size_t)(end - text) + 4;
            status = read_head(text, end, &out->code, &want, error);
        }
    }
    if (status == BRUME_OK && (!text || start == 0 || (want != SIZE_MAX && length < start + want)))
        status = cut_off(error);
    if (status != BRUME_OK || !text) {
        free(text);
        return status;
    }
    out->length = want == SIZE_MAX ? length - start : want;
    memmove(text, text + start, out->length);
    text[out->length] = 0;
    out->body = text;
    return BRUME_OK;
}

brume_status brume_http_post(const brume_http_place *place, const char *path, const char *body,
                             brume_http_answer *out, brume_error *error)
{
    brume_url url;
    brume_connection *connection = NULL;
    brume_http_answer answer = {0};
    brume_status status = brume_url_parse(place->url, &url, error);
    if (status == BRUME_OK)
        status = check_token(place, &url, error);
    if (status != BRUME_OK)
        return status;
    char *request = write_request(place, &url, path, body);
    if (!request)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    status = brume_connection_open(&url, place->ca, &connection, error);
    if (status == BRUME_OK)
        status = brume_connection_write(connection, request, strlen(request), error);
    free(request);
    if (status == BRUME_OK)
        status = read_answer(connection, &answer, error);
    brume_connection_close(connection);
    if (status == BRUME_OK)
        *out = answer;
    return status;
}
