/* The address of a server as it is typed. */
#include "cli/client/url.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static brume_status bad(const char *text, brume_error *error)
{
    return brume_fail(error, BRUME_EARGUMENT, "write https://HOST:PORT", "'--server' is '%.100s'",
                      text);
}

/* Letters that need no quoting in a path or a host. */
static bool is_plain(const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "-._~/:";
    return strspn(text, plain) == strlen(text);
}

static bool is_port(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    return digits >= 1 && digits <= 5 && !text[digits] && atoi(text) >= 1 && atoi(text) <= 65535;
}

/* Cut `rest` into host, port and path, in place. False: not an address. */
static bool cut(char *rest, brume_url *out)
{
    char *path = strchr(rest, '/'), *host = rest, *port = NULL;
    if (path) {
        size_t length = strlen(path);
        while (length > 0 && path[length - 1] == '/')
            path[--length] = 0;
        if (length >= sizeof out->path || !is_plain(path))
            return false;
        memcpy(out->path, path, length + 1);
        *path = 0;
    }
    if (*host == '[') {
        char *end = strchr(host, ']');
        if (!end || (end[1] && end[1] != ':'))
            return false;
        *end = 0;
        port = end[1] ? end + 2 : NULL;
        host++;
    } else if ((port = strchr(host, ':'))) {
        *port++ = 0;
    }
    if (!*host || strlen(host) >= sizeof out->host || !is_plain(host) || (port && !is_port(port)))
        return false;
    snprintf(out->host, sizeof out->host, "%s", host);
    snprintf(out->port, sizeof out->port, "%s", port ? port : out->is_tls ? "443" : "80");
    return true;
}

brume_status brume_url_parse(const char *text, brume_url *out, brume_error *error)
{
    brume_url url = {.is_tls = strncmp(text, "https://", 8) == 0};
    if (!url.is_tls && strncmp(text, "http://", 7) != 0)
        return bad(text, error);
    char *rest = strdup(text + (url.is_tls ? 8 : 7));
    if (!rest)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    bool good = cut(rest, &url);
    free(rest);
    if (!good)
        return bad(text, error);
    struct in_addr four;
    struct in6_addr six;
    bool is_four = inet_pton(AF_INET, url.host, &four) == 1;
    bool is_six = inet_pton(AF_INET6, url.host, &six) == 1;
    url.is_address = is_four || is_six;
    url.is_here = (is_four && ntohl(four.s_addr) >> 24 == 127) ||
                  (is_six && IN6_IS_ADDR_LOOPBACK(&six)) || strcmp(url.host, "localhost") == 0;
    *out = url;
    return BRUME_OK;
}
