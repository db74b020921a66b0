/* Bodies of HTTP requests: any bytes become a call or an error, and a call has options that the
 * session can parse. The first byte chooses the route, the next 16 stand in its path. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "serve/http/body.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t count = 0;
    const brume_http_route *routes = brume_http_routes(&count);
    char rest[17] = {0};
    if (size < 17)
        return 0;
    const brume_http_route *route = &routes[data[0] % count];
    memcpy(rest, data + 1, 16);
    if (route->command && strcmp(route->command, "register") == 0)
        return 0; /* it may write a file */
    brume_http_call call = {0};
    brume_error error = {0};
    char path[64];
    const char *found = NULL;
    bool other = false;
    snprintf(path, sizeof path, "/v1/datasets/%s", rest);
    (void)brume_http_route_find("GET", path, &found, &other);
    brume_status status =
        brume_http_read_call(route, rest, (const char *)data + 17, size - 17, &call, &error);
    if (status == BRUME_OK) {
        json_t *options = json_loads(call.options, 0, NULL);
        if (!json_is_object(options) || json_object_get(options, "ledger") || !call.command)
            abort();
        json_decref(options);
    } else if (error.status != status || !error.message[0] || call.options) {
        abort();
    }
    brume_http_call_clear(&call);
    return 0;
}
