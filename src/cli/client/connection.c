/* A connection to a server, over TLS or not. */
#include "cli/client/connection.h"

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "base/error.h"

enum { CONNECT_SECONDS = 30 };

struct brume_connection {
    int socket;
    SSL_CTX *context;
    SSL *tls; /* NULL: without */
};

static brume_status unreachable(const brume_url *url, const char *why, brume_error *error)
{
    return brume_fail(error, BRUME_ESOURCE, "is it running, and is --server right?",
                      "cannot reach the server at %.100s, port %s: %s", url->host, url->port, why);
}

/* A connected socket of one of the addresses of the host, or -1 and errno. */
static int connect_to(const struct addrinfo *first)
{
    int file = -1;
    for (const struct addrinfo *at = first; at && file < 0; at = at->ai_next) {
        const struct timeval patience = {.tv_sec = CONNECT_SECONDS}, none = {0};
        const int yes = 1;
        file = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
        if (file < 0)
            continue;
        (void)setsockopt(file, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        (void)setsockopt(file, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
        if (connect(file, at->ai_addr, at->ai_addrlen) == 0) {
            (void)setsockopt(file, SOL_SOCKET, SO_SNDTIMEO, &none, sizeof none);
            return file;
        }
        int fault = errno == EINPROGRESS ? ETIMEDOUT : errno;
        close(file);
        errno = fault;
        file = -1;
    }
    return file;
}

static brume_status open_socket(const brume_url *url, int *out, brume_error *error)
{
    struct addrinfo *found = NULL, wanted = {.ai_socktype = SOCK_STREAM};
    int fault = getaddrinfo(url->host, url->port, &wanted, &found);
    if (fault != 0)
        return unreachable(url, gai_strerror(fault), error);
    *out = connect_to(found);
    fault = errno;
    freeaddrinfo(found);
    return *out >= 0 ? BRUME_OK : unreachable(url, strerror(fault), error);
}

/* ---- TLS ---- */

static brume_status make_context(const char *ca, SSL_CTX **out, brume_error *error)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    if (!context)
        return brume_fail(error, BRUME_EMEMORY, NULL, "libssl cannot be used");
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    bool good = SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1;
    bool trusts = ca ? SSL_CTX_load_verify_file(context, ca) == 1
                     : SSL_CTX_set_default_verify_paths(context) == 1;
    *out = context;
    if (!good)
        return brume_fail(error, BRUME_EMEMORY, NULL, "libssl cannot be used");
    if (!trusts && ca)
        return brume_fail(error, BRUME_EARGUMENT, "a file of certificates in PEM",
                          "'--server-ca' is '%.200s', which cannot be read", ca);
    return BRUME_OK;
}

/* The certificate must be for this name or address. */
static bool expect_host(SSL *tls, const brume_url *url)
{
    if (url->is_address)
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), url->host) == 1;
    SSL_set_hostflags(tls, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set1_host(tls, url->host) == 1 && SSL_set_tlsext_host_name(tls, url->host) == 1;
}

static brume_status start_tls(brume_connection *connection, const brume_url *url, const char *ca,
                              brume_error *error)
{
    brume_status status = make_context(ca, &connection->context, error);
    if (status != BRUME_OK)
        return status;
    SSL *tls = connection->tls = SSL_new(connection->context);
    if (!tls || !expect_host(tls, url) || SSL_set_fd(tls, connection->socket) != 1)
        return brume_fail(error, BRUME_EMEMORY, NULL, "libssl cannot be used");
    if (SSL_connect(tls) == 1)
        return BRUME_OK;
    long verdict = SSL_get_verify_result(tls);
    if (verdict != X509_V_OK)
        return brume_fail(error, BRUME_ESOURCE,
                          "name who signed it with --server-ca FILE, if you trust them",
                          "the certificate of %.100s is refused: %s", url->host,
                          X509_verify_cert_error_string(verdict));
    return unreachable(url, "it does not speak TLS as it should", error);
}

/* ---- open, close, read, write ---- */

brume_status brume_connection_open(const brume_url *url, const char *ca, brume_connection **out,
                                   brume_error *error)
{
    brume_connection *connection = calloc(1, sizeof *connection);
    if (!connection)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    connection->socket = -1;
    brume_status status = open_socket(url, &connection->socket, error);
    if (status == BRUME_OK && url->is_tls)
        status = start_tls(connection, url, ca, error);
    if (status != BRUME_OK)
        brume_connection_close(connection);
    else
        *out = connection;
    return status;
}

void brume_connection_close(brume_connection *connection)
{
    if (!connection)
        return;
    SSL_free(connection->tls);
    SSL_CTX_free(connection->context);
    if (connection->socket >= 0)
        close(connection->socket);
    free(connection);
}

static brume_status lost(brume_error *error)
{
    return brume_fail(error, BRUME_ESOURCE,
                      "what was asked may be spent: ask it again, an answer that was recorded "
                      "is free",
                      "the connection to the server was lost");
}

brume_status brume_connection_write(brume_connection *connection, const char *bytes, size_t length,
                                    brume_error *error)
{
    for (size_t done = 0; done < length;) {
        size_t now = 0;
        if (connection->tls) {
            if (SSL_write_ex(connection->tls, bytes + done, length - done, &now) != 1)
                return lost(error);
        } else {
            ssize_t sent = send(connection->socket, bytes + done, length - done, MSG_NOSIGNAL);
            if (sent < 0 && errno == EINTR)
                continue;
            if (sent <= 0)
                return lost(error);
            now = (size_t)sent;
        }
        done += now;
    }
    return BRUME_OK;
}

brume_status brume_connection_read(brume_connection *connection, char *bytes, size_t room,
                                   size_t *got, brume_error *error)
{
    *got = 0;
    if (connection->tls) {
        if (SSL_read_ex(connection->tls, bytes, room, got) == 1)
            return BRUME_OK;
        return SSL_get_error(connection->tls, 0) == SSL_ERROR_ZERO_RETURN ? BRUME_OK : lost(error);
    }
    for (;;) {
        ssize_t count = recv(connection->socket, bytes, room, 0);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return lost(error);
        *got = (size_t)count;
        return BRUME_OK;
    }
}
