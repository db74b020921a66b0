/* The table of routes (routes.def), and what it makes: dispatch, the OpenAPI document. */
#ifndef BRUME_SERVE_HTTP_ROUTE_H
#define BRUME_SERVE_HTTP_ROUTE_H

#include <stdbool.h>
#include <stddef.h>

#include <brume/status.h>

typedef enum brume_http_route_needs {
    BRUME_HTTP_ROUTE_NOBODY,
    BRUME_HTTP_ROUTE_TOKEN,
    BRUME_HTTP_ROUTE_OWNER,
} brume_http_route_needs;

typedef struct brume_http_route {
    const char *method, *path;
    brume_http_route_needs needs;
    const char *command; /* NULL: the server's own answer, or the command of the path */
    const char *operand;
    const char *summary;
} brume_http_route;

const brume_http_route *brume_http_routes(size_t *count);

/* The route of a method and a path; *rest is what stands in place of the name in braces ("" if the
 * route has none), inside `path`. HEAD is GET. NULL: no such path, or (*other_method) none with
 * this method. A name is not empty, and has no further '/' unless it is that of a command. */
const brume_http_route *brume_http_route_find(const char *method, const char *path,
                                              const char **rest, bool *other_method);

/* The OpenAPI 3.1 document, which the caller frees; NULL without memory. */
char *brume_http_route_openapi(void);

/* The status code of HTTP for a status of brume. */
unsigned brume_http_route_status(brume_status status);

#endif
