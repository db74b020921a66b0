/* Addresses to listen on, and the files of TLS. */
#ifndef BRUME_SERVE_ADDRESS_H
#define BRUME_SERVE_ADDRESS_H

#include <stdbool.h>

#include <brume/status.h>

/* Listen on ADDRESS:PORT, where ADDRESS is an IPv4 address, an IPv6 address in brackets or
 * 'localhost'. Without `tls` only addresses of the machine itself are taken, unless `insecure`.
 * *out is a socket that listens and does not block; *port what it got. EARGUMENT, EDISK. */
BRUME_MUST_USE brume_status brume_listen(const char *text, bool tls, bool insecure, int *out,
                                         unsigned *port, brume_error *error);

/* The text of a PEM file, at most 1 MiB, which the caller clears and frees. `secret`: refuse a file
 * that others than its owner and group may read. EDISK, EPOLICY. */
BRUME_MUST_USE brume_status brume_read_pem(const char *path, bool secret, char **out,
                                           brume_error *error);

#endif
