/* A connection to a server, over TLS or not. */
#ifndef BRUME_CLI_CONNECTION_H
#define BRUME_CLI_CONNECTION_H

#include <stddef.h>

#include "cli/client/url.h"

typedef struct brume_connection brume_connection;

/* Connect; over TLS (1.2 or newer) verify that the certificate is the host's and is signed by who
 * is trusted: `ca`, a file, or the system's if it is NULL. ESOURCE; EARGUMENT: `ca` cannot be read.
 */
BRUME_MUST_USE brume_status brume_connection_open(const brume_url *url, const char *ca,
                                                  brume_connection **out, brume_error *error);
void brume_connection_close(brume_connection *connection);

BRUME_MUST_USE brume_status brume_connection_write(brume_connection *connection, const char *bytes,
                                                   size_t length, brume_error *error);

/* *got is 0 at its end. */
BRUME_MUST_USE brume_status brume_connection_read(brume_connection *connection, char *bytes,
                                                  size_t room, size_t *got, brume_error *error);

#endif
