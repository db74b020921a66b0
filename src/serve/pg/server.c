/* The server of the PostgreSQL protocol. Promises: server.h. */
#include "serve/pg/server.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <openssl/crypto.h>
#include <openssl/ssl.h>

#include "base/error.h"
#include "serve/doorway.h"
#include "serve/pg/startup.h"

/* MOST_UNKNOWN: connections on which no password was shown yet, apart from the others. */
enum {
    MOST_CONNECTIONS = 1000,
    MOST_UNKNOWN = 64,
    MOST_ENDING = 4 * MOST_UNKNOWN,
    STACK = 8 << 20,
    LOOK_AROUND = 200
};
static const double start_patience = 10;

typedef struct client {
    brume_pg_server *server;
    struct client *next;
    uint32_t number, key;
    brume_peer peer;
    double since;
    bool is_known, is_leaving; /* its password was right; it ends, or was told to */
    _Atomic uint64_t job;      /* that runs in the pool for it; 0: none */
    const char *user;
    uint64_t issued; /* the token that was shown */
    brume_pg_wire wire;
} client;

struct brume_pg_server {
    int socket;
    brume_pool *pool;
    char *ledger;
    brume_pg_host host;
    brume_http_guard *guard;
    size_t most;
    atomic_bool stopping;
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t ended;
    client *clients;
    size_t count; /* of them all, to be waited for */
    size_t known; /* whose passwords were right */
    uint32_t last_number;
};

/* ---- what connections need of the server ---- */

static brume_status find_user(void *context, const char *name, brume_user **user,
                              brume_error *error)
{
    const brume_pg_server *server = context;
    brume_ledger *ledger = NULL;
    BRUME_TRY(brume_ledger_open(server->ledger, BRUME_LEDGER_READ, &ledger, error));
    brume_status status = brume_ledger_find_user(ledger, name, (int64_t)time(NULL), user, error);
    brume_ledger_close(ledger);
    return status;
}

/* A request to cancel says which connection and its key; one that is wrong is told nothing. */
static void cancel(void *context, uint32_t number, uint32_t key)
{
    brume_pg_server *server = context;
    uint64_t job = 0;
    pthread_mutex_lock(&server->lock);
    for (client *one = server->clients; one; one = one->next)
        if (one->number == number && CRYPTO_memcmp(&one->key, &key, sizeof key) == 0)
            job = atomic_load(&one->job);
    pthread_mutex_unlock(&server->lock);
    if (job)
        brume_pool_cancel(server->pool, job);
}

/* A line of the log, in the words of HTTP. */
static void note(const client *self, const char *user, const char *what, unsigned code,
                 double start)
{
    if (self->server->guard)
        brume_http_guard_note(self->server->guard, user, "PG", what, code, brume_pg_now() - start);
}

/* Reading names of datasets, as the catalog does, is not counted. */
static bool may_pass(const client *self, const char *command, double now)
{
    bool counted = strcmp(command, "query") == 0 || strcmp(command, "explain") == 0;
    return !counted || !self->server->guard ||
           brume_http_guard_pass(self->server->guard, self->user, now);
}

static brume_status run(void *context, const char *command, const char *sql, const char *options,
                        char **json, brume_pg_outcome *outcome, brume_error *error)
{
    client *self = context;
    double start = brume_pg_now();
    brume_pool_request request = {.user = self->user,
                                  .issued = self->issued,
                                  .command = command,
                                  .sql = sql,
                                  .options = options};
    brume_pool_result result = {0};
    *outcome = (brume_pg_outcome){0};
    if (self->server->guard && !brume_http_guard_records(self->server->guard))
        return brume_fail(error, BRUME_EDISK, "the owner sees why: the disk may be full",
                          "requests cannot be recorded now; nothing was spent");
    if (!may_pass(self, command, start)) {
        outcome->busy = true;
        note(self, self->user, command, 429, start);
        return brume_fail(error, BRUME_ECANCELLED, "wait a second",
                          "too many requests; nothing was spent");
    }
    brume_status status =
        brume_pool_run(self->server->pool, &request, &self->job, &result, &outcome->busy);
    atomic_store(&self->job, 0);
    outcome->may_be_charged = result.may_be_charged;
    note(self, self->user, command, status == BRUME_OK ? 200 : outcome->busy ? 503 : 400, start);
    if (status == BRUME_OK) {
        *json = result.json;
        return status;
    }
    brume_free(result.json); /* of a script, which is not asked here */
    if (error)
        *error = result.error;
    return status;
}

/* Rows are kept until they are sent or the cursor is closed, statements until they are. */
static bool hold(void *context, size_t more, size_t less)
{
    const client *self = context;
    brume_http_guard *guard = self->server->guard;
    if (!guard)
        return true;
    brume_http_guard_drop(guard, self->user, less);
    return more == 0 || brume_http_guard_hold(guard, self->user, more);
}

/* ---- one connection ---- */

static void put_key(client *self)
{
    brume_pg_begin(&self->wire.out, 'K');
    brume_pg_put32(&self->wire.out, self->number);
    brume_pg_put32(&self->wire.out, self->key);
    brume_pg_end(&self->wire.out);
}

/* Among the users' connections; false: there are as many as there may be. */
static bool become_known(client *self)
{
    brume_pg_server *server = self->server;
    pthread_mutex_lock(&server->lock);
    self->is_known = server->known < server->most;
    server->known += self->is_known ? 1 : 0;
    pthread_mutex_unlock(&server->lock);
    return self->is_known;
}

/* Count the connection; false: as many as may be open are, and the client was told. */
static bool enter(client *self, const brume_pg_connection *connection)
{
    bool room = become_known(self);
    const brume_pg_report report = {.severity = "FATAL",
                                    .sqlstate = "53300",
                                    .message = room ? "too many connections of this user"
                                                    : "too many connections",
                                    .hint = room ? "close others first" : "try again later"};
    if (room &&
        (!self->server->guard || brume_http_guard_enter(self->server->guard, connection->user)))
        return true;
    brume_pg_put_report(&self->wire.out, 'E', &report);
    (void)brume_pg_wire_flush(&self->wire);
    return false;
}

static void serve_client(client *self)
{
    brume_pg_backend backend = {.run = run, .hold = hold, .context = self};
    brume_pg_connection connection = {.wire = &self->wire,
                                      .backend = &backend,
                                      .settings = brume_pg_settings_open(),
                                      .number = (int32_t)self->number,
                                      .transaction = 'I'};
    double start = brume_pg_now();
    self->wire.read_until = start + start_patience;
    bool started = connection.settings && brume_pg_startup(&connection, &self->server->host);
    if (connection.user) /* who it said it was: known if it has started */
        note(self, started ? connection.user : NULL, "connect", started ? 200 : 401, start);
    if (started && !enter(self, &connection))
        started = false;
    if (started) {
        self->user = connection.user;
        self->issued = connection.issued;
        put_key(self);
        brume_pg_serve(&connection);
        brume_pg_drop_portals(&connection, false); /* while the user is still counted */
        brume_pg_drop_prepared(&connection, NULL);
        if (self->server->guard)
            brume_http_guard_leave(self->server->guard, connection.user);
    }
    brume_pg_connection_clear(&connection);
}

static void forget(client *self)
{
    brume_pg_server *server = self->server;
    pthread_mutex_lock(&server->lock);
    self->is_leaving = true; /* from here on nobody shuts its socket */
    pthread_mutex_unlock(&server->lock);
    brume_pg_wire_close(&self->wire);
    pthread_mutex_lock(&server->lock);
    for (client **at = &server->clients; *at; at = &(*at)->next)
        if (*at == self) {
            *at = self->next;
            break;
        }
    server->count--;
    server->known -= self->is_known ? 1 : 0;
    pthread_cond_signal(&server->ended);
    pthread_mutex_unlock(&server->lock);
    free(self);
}

static void *client_thread(void *argument)
{
    serve_client(argument);
    forget(argument);
    return NULL;
}

/* ---- taking connections ---- */

static void turn_away(int socket)
{
    brume_pg_writer out = {0};
    brume_pg_report report = {.severity = "FATAL",
                              .sqlstate = "53300",
                              .message = "too many connections",
                              .hint = "try again later"};
    brume_pg_put_report(&out, 'E', &report);
    if (!out.failed && send(socket, out.data, out.length, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        errno = 0; /* nobody is there to be told */
    brume_pg_writer_free(&out);
    close(socket);
}

static bool start_thread(client *self)
{
    pthread_t thread;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    bool started = pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0 &&
                   pthread_attr_setstacksize(&attributes, STACK) == 0 &&
                   pthread_create(&thread, &attributes, client_thread, self) == 0;
    pthread_attr_destroy(&attributes);
    return started;
}

/* With the lock held: where many are unknown, one of them goes for the newcomer. */
static void make_place(brume_pg_server *server, const client *newcomer)
{
    brume_doorway doorway = {.newcomer = newcomer->peer, .places = MOST_UNKNOWN};
    for (client *one = server->clients; one; one = one->next)
        if (!one->is_known && !one->is_leaving)
            brume_doorway_see(&doorway, &one->peer, one->since, one);
    client *evicted = brume_doorway_evicted(&doorway);
    if (evicted) {
        evicted->is_leaving = true;
        shutdown(evicted->wire.socket, SHUT_RDWR); /* its thread closes it */
    }
}

static void take_client(brume_pg_server *server, int socket)
{
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;
    client *self = calloc(1, sizeof *self);
    const int yes = 1;
    (void)setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    (void)setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
    if (!self || getrandom(&self->key, sizeof self->key, 0) != (ssize_t)sizeof self->key) {
        free(self);
        turn_away(socket);
        return;
    }
    self->server = server;
    self->wire.socket = socket;
    self->wire.stopping = &server->stopping;
    self->since = brume_pg_now();
    if (getpeername(socket, (struct sockaddr *)&address, &length) == 0)
        self->peer = brume_peer_of((struct sockaddr *)&address);
    pthread_mutex_lock(&server->lock);
    make_place(server, self);
    bool room = server->count < server->most + MOST_ENDING;
    if (room) {
        self->number = ++server->last_number & INT32_MAX;
        self->next = server->clients;
        server->clients = self;
        server->count++;
    }
    pthread_mutex_unlock(&server->lock);
    if (!room) {
        free(self);
        turn_away(socket);
    } else if (!start_thread(self)) {
        forget(self);
    }
}

static void *accept_thread(void *argument)
{
    brume_pg_server *server = argument;
    while (!atomic_load(&server->stopping)) {
        struct pollfd one = {.fd = server->socket, .events = POLLIN};
        if (poll(&one, 1, LOOK_AROUND) <= 0)
            continue;
        int socket = accept4(server->socket, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (socket >= 0)
            take_client(server, socket);
        else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
            nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
    return NULL;
}

/* ---- opening and closing ---- */

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)address;
        return ntohl(four->sin_addr.s_addr) >> 24 == 127;
    }
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)address;
    return address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

static brume_status open_parts(brume_pg_server *server, const brume_pg_options *options,
                               brume_error *error)
{
    struct sockaddr_storage bound = {0};
    socklen_t length = sizeof bound;
    if (!(server->ledger = strdup(options->ledger)))
        return brume_no_memory(error, "the server");
    if (getsockname(server->socket, (struct sockaddr *)&bound, &length) != 0)
        return brume_fail(error, BRUME_EDISK, NULL, "the socket cannot be used");
    server->host.requires_tls = !options->insecure && !is_loopback((const struct sockaddr *)&bound);
    if (options->certificate)
        BRUME_TRY(brume_pg_tls_open(options->certificate, options->key, &server->host.tls, error));
    server->has_thread = pthread_create(&server->thread, NULL, accept_thread, server) == 0;
    return server->has_thread ? BRUME_OK : brume_no_memory(error, "the server");
}

brume_status brume_pg_server_open(const brume_pg_options *options, brume_pool *pool,
                                  brume_pg_server **out, brume_error *error)
{
    brume_pg_server *server = calloc(1, sizeof *server);
    if (!server) {
        close(options->socket);
        return brume_no_memory(error, "the server");
    }
    server->socket = options->socket;
    server->pool = pool;
    server->guard = options->guard;
    server->most = options->most ? options->most : MOST_CONNECTIONS;
    server->host = (brume_pg_host){.find_user = find_user, .cancel = cancel, .context = server};
    pthread_mutex_init(&server->lock, NULL);
    pthread_cond_init(&server->ended, NULL);
    brume_status status = open_parts(server, options, error);
    if (status != BRUME_OK)
        brume_pg_server_close(server);
    else
        *out = server;
    return status;
}

void brume_pg_server_close(brume_pg_server *server)
{
    if (!server)
        return;
    atomic_store(&server->stopping, true);
    if (server->has_thread)
        pthread_join(server->thread, NULL);
    pthread_mutex_lock(&server->lock);
    while (server->count > 0)
        pthread_cond_wait(&server->ended, &server->lock);
    pthread_mutex_unlock(&server->lock);
    if (server->socket >= 0)
        close(server->socket);
    SSL_CTX_free(server->host.tls);
    pthread_cond_destroy(&server->ended);
    pthread_mutex_destroy(&server->lock);
    free(server->ledger);
    free(server);
}
