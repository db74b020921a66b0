/* The OpenAPI document, made from the table of routes. */
#include <stdlib.h>
#include <string.h>

#include <brume/version.h>
#include <jansson.h>

#include "serve/http/route.h"

static json_t *responses(const brume_http_route *route)
{
    json_t *all = json_object();
    bool text = strcmp(route->path, "/metrics") == 0;
    json_object_set_new(all, "200",
                        json_pack("{s:s,s:{s:{}}}", "description",
                                  route->command ? "what the command answers with --json" : "done",
                                  "content", text ? "text/plain" : "application/json"));
    json_object_set_new(all, "default",
                        json_pack("{s:s,s:{s:{s:{s:s}}}}", "description", "an error", "content",
                                  "application/json", "schema", "$ref",
                                  "#/components/schemas/error"));
    return all;
}

static json_t *operation(const brume_http_route *route)
{
    json_t *one = json_pack("{s:s,s:o}", "summary", route->summary, "responses", responses(route));
    const char *brace = strchr(route->path, '{');
    if (!one)
        return NULL;
    if (route->needs == BRUME_HTTP_ROUTE_NOBODY)
        json_object_set_new(one, "security", json_array());
    if (brace)
        json_object_set_new(one, "parameters",
                            json_pack("[{s:s%,s:s,s:b,s:{s:s}}]", "name", brace + 1,
                                      strlen(brace) - 2, "in", "path", "required", 1, "schema",
                                      "type", "string"));
    if (strcmp(route->method, "POST") == 0)
        json_object_set_new(
            one, "requestBody",
            json_pack("{s:s,s:{s:{s:{s:s}}}}", "description",
                      "the options of the command by name; 'brume help COMMAND' lists them",
                      "content", "application/json", "schema", "type", "object"));
    return one;
}

static json_t *paths(void)
{
    json_t *all = json_object();
    size_t count = 0;
    const brume_http_route *routes = brume_http_routes(&count);
    for (size_t i = 0; all && i < count; i++) {
        json_t *path = json_object_get(all, routes[i].path);
        char method[8] = {0};
        for (size_t c = 0; c < sizeof method - 1 && routes[i].method[c]; c++)
            method[c] = (char)(routes[i].method[c] | 0x20); /* lower case of a letter */
        if (!path) {
            path = json_object();
            json_object_set_new(all, routes[i].path, path);
        }
        json_object_set_new(path, method, operation(&routes[i]));
    }
    return all;
}

static json_t *components(void)
{
    return json_pack("{s:{s:{s:s,s:s}},s:{s:{s:s,s:{s:{s:s,s:{s:{s:s},s:{s:s},s:{s:s}}}}}}}",
                     "securitySchemes", "token", "type", "http", "scheme", "bearer", "schemas",
                     "error", "type", "object", "properties", "error", "type", "object",
                     "properties", "code", "type", "string", "message", "type", "string", "hint",
                     "type", "string");
}

char *brume_http_route_openapi(void)
{
    json_t *document = json_pack("{s:s,s:{s:s,s:s},s:[{s:[]}],s:o,s:o}", "openapi", "3.1.0", "info",
                                 "title", "brume", "version", BRUME_VERSION, "security", "token",
                                 "paths", paths(), "components", components());
    char *text = document ? json_dumps(document, JSON_INDENT(1)) : NULL;
    json_decref(document);
    return text;
}
