/* A connection's bytes. Promises: wire.h. */
#include "serve/pg/wire.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include "base/error.h"

/* How long a peer may leave an answer unread, in seconds; how often a wait looks around, in ms. */
static const double write_patience = 60;
enum { LOOK_AROUND = 200 };

double brume_pg_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Wait until the socket can be read (or written). False: the deadline passed, or the server stops.
 */
static bool wait_for(const brume_pg_wire *wire, short events, double until)
{
    for (;;) {
        struct pollfd one = {.fd = wire->socket, .events = events};
        int ready = poll(&one, 1, LOOK_AROUND);
        if (ready > 0)
            return true;
        if ((ready < 0 && errno != EINTR) || (until > 0 && brume_pg_now() > until) ||
            (wire->stopping && atomic_load(wire->stopping)))
            return false;
    }
}

/* What a call of TLS that has not succeeded waits for; 0: it has failed. */
static short tls_waits_for(const brume_pg_wire *wire, int result)
{
    switch (SSL_get_error(wire->tls, result)) {
    case SSL_ERROR_WANT_READ:
        return POLLIN;
    case SSL_ERROR_WANT_WRITE:
        return POLLOUT;
    default:
        return 0;
    }
}

/* One piece of what the peer sent; 0: nothing will come. */
static size_t read_some(brume_pg_wire *wire, void *to, size_t length)
{
    if (wire->socket < 0) {
        long got = wire->feed(wire->context, to, length);
        return got > 0 ? (size_t)got : 0;
    }
    for (;;) {
        short waits = POLLIN;
        if (wire->tls) {
            ERR_clear_error();
            int got = SSL_read(wire->tls, to, (int)length);
            if (got > 0)
                return (size_t)got;
            waits = tls_waits_for(wire, got);
        } else {
            ssize_t got = recv(wire->socket, to, length, MSG_DONTWAIT);
            if (got >= 0)
                return (size_t)got;
            if (errno == EINTR)
                continue;
            waits = errno == EAGAIN ? POLLIN : 0;
        }
        if (!waits || !wait_for(wire, waits, wire->read_until))
            return 0;
    }
}

bool brume_pg_wire_read(brume_pg_wire *wire, void *to, size_t length)
{
    uint8_t *at = to;
    while (length > 0 && !wire->broken) {
        size_t have = wire->in_end - wire->in_at;
        size_t part = have < length ? have : length;
        memcpy(at, wire->in + wire->in_at, part);
        wire->in_at += part;
        at += part;
        length -= part;
        if (length > 0) {
            wire->in_at = 0;
            wire->in_end = read_some(wire, wire->in, sizeof wire->in);
            wire->broken = wire->in_end == 0;
        }
    }
    return !wire->broken;
}

/* One piece into the socket; 0: the peer does not take it. */
static size_t write_some(brume_pg_wire *wire, const void *from, size_t length)
{
    if (wire->socket < 0) {
        long gone = wire->drain(wire->context, from, length);
        return gone > 0 ? (size_t)gone : 0;
    }
    double until = brume_pg_now() + write_patience;
    for (;;) {
        short waits = POLLOUT;
        if (wire->tls) {
            ERR_clear_error();
            int gone = SSL_write(wire->tls, from, length > 16384 ? 16384 : (int)length);
            if (gone > 0)
                return (size_t)gone;
            waits = tls_waits_for(wire, gone);
        } else {
            ssize_t gone = send(wire->socket, from, length, MSG_DONTWAIT | MSG_NOSIGNAL);
            if (gone > 0)
                return (size_t)gone;
            if (gone < 0 && errno == EINTR)
                continue;
            waits = gone < 0 && errno == EAGAIN ? POLLOUT : 0;
        }
        if (!waits || !wait_for(wire, waits, until))
            return 0;
    }
}

bool brume_pg_wire_flush(brume_pg_wire *wire)
{
    size_t at = 0;
    wire->broken = wire->broken || wire->out.failed;
    while (at < wire->out.length && !wire->broken) {
        size_t gone = write_some(wire, wire->out.data + at, wire->out.length - at);
        at += gone;
        wire->broken = gone == 0;
    }
    wire->out.length = 0;
    return !wire->broken;
}

bool brume_pg_wire_start_tls(brume_pg_wire *wire, SSL_CTX *context)
{
    if (wire->socket < 0 || wire->in_at != wire->in_end)
        return false;
    wire->tls = SSL_new(context);
    if (!wire->tls || SSL_set_fd(wire->tls, wire->socket) != 1)
        return false;
    for (;;) {
        ERR_clear_error();
        int done = SSL_accept(wire->tls);
        if (done == 1)
            return true;
        short waits = tls_waits_for(wire, done);
        if (!waits || !wait_for(wire, waits, wire->read_until))
            return false;
    }
}

size_t brume_pg_wire_binding(const brume_pg_wire *wire, uint8_t hash[64])
{
    const X509 *own = wire->tls ? SSL_get_certificate(wire->tls) : NULL;
    int kind = NID_undef;
    unsigned length = 0;
    if (!own || X509_get_signature_info((X509 *)(uintptr_t)own, &kind, NULL, NULL, NULL) != 1 ||
        kind == NID_undef)
        return 0;
    /* the hash of its signature, but no weaker one than SHA-256 */
    const EVP_MD *digest = kind == NID_md5 || kind == NID_sha1 ? EVP_sha256()
                                                               : EVP_get_digestbynid(kind);
    if (!digest || EVP_MD_get_size(digest) > 64 || X509_digest(own, digest, hash, &length) != 1)
        return 0;
    return length;
}

void brume_pg_wire_close(brume_pg_wire *wire)
{
    if (wire->tls) {
        ERR_clear_error();
        if (!wire->broken)
            (void)SSL_shutdown(wire->tls);
        SSL_free(wire->tls);
    }
    if (wire->socket >= 0)
        close(wire->socket);
    brume_pg_writer_free(&wire->out);
    wire->tls = NULL;
    wire->socket = -1;
    wire->broken = true;
}

/* The certificate first, then those that signed it. */
static bool use_certificates(SSL_CTX *context, const char *text)
{
    BIO *in = BIO_new_mem_buf(text, -1);
    X509 *own = in ? PEM_read_bio_X509_AUX(in, NULL, NULL, NULL) : NULL;
    bool good = own && SSL_CTX_use_certificate(context, own) == 1;
    X509_free(own);
    while (good) {
        X509 *signer = PEM_read_bio_X509(in, NULL, NULL, NULL);
        if (!signer)
            break;
        if (SSL_CTX_add0_chain_cert(context, signer) != 1) {
            X509_free(signer);
            good = false;
        }
    }
    BIO_free(in);
    return good;
}

static bool use_key(SSL_CTX *context, const char *text)
{
    BIO *in = BIO_new_mem_buf(text, -1);
    EVP_PKEY *key = in ? PEM_read_bio_PrivateKey(in, NULL, NULL, NULL) : NULL;
    bool good = key && SSL_CTX_use_PrivateKey(context, key) == 1 &&
                SSL_CTX_check_private_key(context) == 1;
    EVP_PKEY_free(key);
    BIO_free(in);
    return good;
}

brume_status brume_pg_tls_open(const char *certificate, const char *key, SSL_CTX **out,
                               brume_error *error)
{
    static const char hint[] = "PEM files: the certificate with its chain, and its private key";
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (!context)
        return brume_no_memory(error, "TLS");
    SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
                                     SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    brume_status status = BRUME_OK;
    if (SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1 ||
        SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20") != 1)
        status = brume_fail(error, BRUME_EINTERNAL, NULL, "TLS cannot be set up");
    else if (!use_certificates(context, certificate))
        status = brume_fail(error, BRUME_EARGUMENT, hint, "the certificate cannot be read");
    else if (!use_key(context, key))
        status = brume_fail(error, BRUME_EARGUMENT, hint,
                            "the key cannot be read, or is not that of the certificate");
    ERR_clear_error();
    if (status != BRUME_OK)
        SSL_CTX_free(context);
    else
        *out = context;
    return status;
}
