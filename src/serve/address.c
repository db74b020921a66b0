/* Addresses and PEM files. Promises: address.h. */
#include "serve/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

typedef struct address {
    struct sockaddr_storage storage;
    socklen_t length;
    bool is_local; /* only the machine itself reaches it */
} address;

static brume_status wrong(const char *text, brume_error *error)
{
    return brume_fail(error, BRUME_EARGUMENT, "for example 127.0.0.1:8443 or [::1]:8443",
                      "'%.100s' is not ADDRESS:PORT", text);
}

static bool read_port(const char *text, in_port_t *out)
{
    char *end = NULL;
    if (*text < '0' || *text > '9')
        return false;
    unsigned long port = strtoul(text, &end, 10);
    *out = htons((uint16_t)port);
    return *end == 0 && port <= 65535;
}

static brume_status read_address(const char *text, address *out, brume_error *error)
{
    char host[64];
    in_port_t port = 0;
    const char *colon = strrchr(text, ':');
    *out = (address){0};
    if (!colon || (size_t)(colon - text) >= sizeof host || !read_port(colon + 1, &port))
        return wrong(text, error);
    snprintf(host, sizeof host, "%.*s", (int)(colon - text), text);
    size_t length = strlen(host);
    struct sockaddr_in *four = (struct sockaddr_in *)&out->storage;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)&out->storage;
    if (length > 2 && host[0] == '[' && host[length - 1] == ']') {
        host[length - 1] = 0;
        *six = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = port};
        out->length = sizeof *six;
        if (inet_pton(AF_INET6, host + 1, &six->sin6_addr) != 1)
            return wrong(text, error);
        out->is_local = IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
        return BRUME_OK;
    }
    *four = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = port};
    out->length = sizeof *four;
    const char *number = strcmp(host, "localhost") == 0 ? "127.0.0.1" : host;
    if (inet_pton(AF_INET, number, &four->sin_addr) != 1)
        return wrong(text, error);
    out->is_local = (ntohl(four->sin_addr.s_addr) >> 24) == 127;
    return BRUME_OK;
}

static unsigned port_of(int file)
{
    address got = {.length = sizeof got.storage};
    if (getsockname(file, (struct sockaddr *)&got.storage, &got.length) != 0)
        return 0;
    return ntohs(got.storage.ss_family == AF_INET6
                     ? ((struct sockaddr_in6 *)&got.storage)->sin6_port
                     : ((struct sockaddr_in *)&got.storage)->sin_port);
}

brume_status brume_listen(const char *text, bool tls, bool insecure, int *out, unsigned *port,
                          brume_error *error)
{
    address where;
    const int yes = 1;
    BRUME_TRY(read_address(text, &where, error));
    if (!where.is_local && !tls && !insecure)
        return brume_fail(error, BRUME_EPOLICY,
                          "give --tls-cert and --tls-key, or type --insecure where something else "
                          "encrypts",
                          "'%.100s' can be reached from other machines, and tokens would go there "
                          "in clear",
                          text);
    int file = socket(where.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    bool good = file >= 0 && setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
                bind(file, (struct sockaddr *)&where.storage, where.length) == 0 &&
                listen(file, 1024) == 0;
    if (!good) {
        int fault = errno;
        if (file >= 0)
            close(file);
        return brume_fail(error, BRUME_EDISK,
                          fault == EADDRINUSE ? "another program listens there: choose another port"
                                              : "is the address one of this machine's?",
                          "cannot listen on '%.100s': %s", text, strerror(fault));
    }
    *out = file;
    *port = port_of(file);
    return BRUME_OK;
}

/* ---- PEM ---- */

static brume_status check_file(int file, const char *path, bool secret, size_t *length,
                               brume_error *error)
{
    struct stat about;
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode))
        return brume_fail(error, BRUME_EDISK, NULL, "'%.200s' is not a file", path);
    if (about.st_size > 1 << 20)
        return brume_fail(error, BRUME_EDISK, NULL, "'%.200s' is too large for a PEM file", path);
    if (secret && (about.st_mode & 07))
        return brume_fail(error, BRUME_EPOLICY, "chmod 600 it",
                          "the key '%.200s' can be used by everybody on this machine", path);
    *length = (size_t)about.st_size;
    return BRUME_OK;
}

brume_status brume_read_pem(const char *path, bool secret, char **out, brume_error *error)
{
    size_t length = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return brume_fail(error, BRUME_EDISK, NULL, "cannot read '%.200s': %s", path,
                          strerror(errno));
    brume_status status = check_file(file, path, secret, &length, error);
    char *text = status == BRUME_OK ? calloc(1, length + 1) : NULL;
    if (status == BRUME_OK && !text)
        status = brume_no_memory(error, "the files of TLS");
    if (status == BRUME_OK && read(file, text, length) != (ssize_t)length)
        status = brume_fail(error, BRUME_EDISK, NULL, "cannot read all of '%.200s'", path);
    close(file);
    if (status == BRUME_OK)
        *out = text;
    else
        free(text);
    return status;
}
