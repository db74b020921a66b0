/* Finding routes. */
#include "serve/http/route.h"

#include <string.h>

static const brume_http_route routes[] = {
#define ROUTE(method, path, needs, command, operand, summary)                                      \
    {method, path, BRUME_HTTP_ROUTE_##needs, command, operand, summary},
#include "serve/http/routes.def"
#undef ROUTE
};

const brume_http_route *brume_http_routes(size_t *count)
{
    *count = sizeof routes / sizeof *routes;
    return routes;
}

/* Does the path fit the pattern? Then *rest is set. */
static bool fits(const char *pattern, const char *path, const char **rest)
{
    const char *brace = strchr(pattern, '{');
    if (!brace) {
        *rest = "";
        return strcmp(pattern, path) == 0;
    }
    size_t length = (size_t)(brace - pattern);
    if (strncmp(pattern, path, length) != 0 || !path[length])
        return false;
    if (strcmp(brace, "{command}") != 0 && strchr(path + length, '/'))
        return false;
    *rest = path + length;
    return true;
}

const brume_http_route *brume_http_route_find(const char *method, const char *path,
                                              const char **rest, bool *other_method)
{
    const char *asked = strcmp(method, "HEAD") == 0 ? "GET" : method;
    *other_method = false;
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        if (!fits(routes[i].path, path, rest))
            continue;
        if (strcmp(routes[i].method, asked) == 0)
            return &routes[i];
        *other_method = true;
    }
    return NULL;
}

unsigned brume_http_route_status(brume_status status)
{
    switch (status) {
    case BRUME_OK:
        return 200;
    case BRUME_EARGUMENT:
    case BRUME_ESYNTAX:
    case BRUME_EOVERFLOW:
        return 400;
    case BRUME_EUNKNOWN:
        return 404;
    case BRUME_EBUDGET:
    case BRUME_EPOLICY:
        return 403;
    case BRUME_EHALTED:
        return 409;
    case BRUME_EUNSUPPORTED:
        return 422;
    case BRUME_ECANCELLED:
    case BRUME_EDISK:
    case BRUME_EMEMORY:
    case BRUME_ERANDOM:
        return 503;
    case BRUME_ESOURCE:
    case BRUME_EENGINE:
        return 502;
    case BRUME_EDAMAGED:
    case BRUME_EINTERNAL:
        return 500;
    }
    return 500;
}
