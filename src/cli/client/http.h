/* One request of HTTP to a server, and its answer.
 *
 * Over https (TLS 1.2 or newer) the certificate and the name in it are verified; there is no way to
 * leave that out. A token is sent over http to this machine only. No proxy is asked, no redirection
 * followed, and nothing is sent twice. */
#ifndef BRUME_CLI_HTTP_H
#define BRUME_CLI_HTTP_H

#include <stddef.h>

#include <brume/status.h>

typedef struct brume_http_place {
    const char *url;    /* "https://host:8443", perhaps with a path before that of the request */
    const char *ca;     /* a file of certificates to trust; NULL: those of the system */
    const char *token;  /* sent as "Authorization: Bearer" */
    const char *ticket; /* names the call for who wants to end it; NULL: nothing does */
} brume_http_place;

typedef struct brume_http_answer {
    int code;      /* 200, 401, ... */
    char *body;    /* of `length` bytes and a 0 behind them; the caller frees it */
    size_t length; /* at most BRUME_HTTP_MOST */
} brume_http_answer;

enum { BRUME_HTTP_MOST = 1 << 30 };

/* POST a JSON text to `path`. EARGUMENT: the URL or the token cannot be used; ESOURCE: no server
 * there, or one that is not trusted, or no whole answer; EMEMORY. */
BRUME_MUST_USE brume_status brume_http_post(const brume_http_place *place, const char *path,
                                            const char *body, brume_http_answer *out,
                                            brume_error *error);

#endif
