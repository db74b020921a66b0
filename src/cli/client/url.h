/* The address of a server as it is typed: https://host:8443, http://127.0.0.1:8080,
 * https://[::1]/x. */
#ifndef BRUME_CLI_URL_H
#define BRUME_CLI_URL_H

#include <stdbool.h>

#include <brume/status.h>

typedef struct brume_url {
    bool is_tls;
    bool is_here;    /* the host is this machine: localhost, 127.x.y.z, ::1 */
    bool is_address; /* the host is an address, not a name */
    char host[256], port[8];
    char path[256]; /* before the path of a request; "" or "/x", without a slash at its end */
} brume_url;

/* EARGUMENT: not such a text. */
BRUME_MUST_USE brume_status brume_url_parse(const char *text, brume_url *out, brume_error *error);

#endif
