/* Fuzz: any bytes on a connection of HTTP, through libmicrohttpd and the handlers of the server.
 * The first byte says where they are cut in two. There is one user, with the token "good" and no
 * rights of an owner; the pool answers every call at once.
 *
 * Nothing is asked without the token; answers of the server have its headers, and JSON where they
 * say so; what libmicrohttpd answers on its own repeats nothing of the request. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <jansson.h>

#include "base/error.h"
#include "serve/http/server.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- in the place of the ledger and the pool ---- */

static size_t asked;

brume_status brume_http_identities_open(const char *ledger, brume_http_identities **out,
                                        brume_error *error)
{
    (void)ledger, (void)out, (void)error;
    return BRUME_OK;
}

void brume_http_identities_close(brume_http_identities *identities)
{
    (void)identities;
}

brume_status brume_http_identify(brume_http_identities *identities, const char *header, char **user,
                                 brume_user_about *about, brume_error *error)
{
    (void)identities;
    if (!header || strcmp(header, "Bearer good") != 0)
        return brume_fail(error, BRUME_EPOLICY, NULL, "the token is not valid");
    *user = strdup("ann");
    *about = (brume_user_about){.role = "analyst"};
    return *user ? BRUME_OK : brume_no_memory(error, "the user");
}

brume_status brume_pool_submit(brume_pool *pool, const brume_pool_request *request,
                               brume_pool_done *done, void *context, uint64_t *id, bool *busy,
                               brume_error *error)
{
    brume_pool_result result = {0};
    (void)pool, (void)busy;
    json_t *options = json_loads(request->options, 0, NULL);
    if (!json_is_object(options) || json_object_get(options, "ledger"))
        abort();
    json_decref(options);
    asked++;
    *id = asked;
    if (asked % 8 == 0)
        return brume_fail(error, BRUME_ECANCELLED, "ask again in a while", "the server is busy");
    if (asked % 8 == 1)
        result.status = brume_fail(&result.error, BRUME_EBUDGET, NULL, "nothing is left");
    result.json = result.status == BRUME_OK ? strdup("{\"rows\":[]}") : NULL;
    done(context, &result);
    return BRUME_OK;
}

void brume_pool_cancel(brume_pool *pool, uint64_t id)
{
    (void)pool, (void)id;
}

void brume_pool_count(brume_pool *pool, brume_pool_counts *out)
{
    (void)pool;
    *out = (brume_pool_counts){0};
}

/* ---- the daemon, which waits for nothing by itself ---- */

static brume_http http = {.options = {.patience = 1e6}};
static __typeof__(MHD_run) *run;
static __typeof__(MHD_add_connection) *add_connection;

static void find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    if (!found)
        abort();
    memcpy(function, &found, sizeof found);
}

static void start(void)
{
    static const brume_http_guard_options unlimited = {0};
    static const struct sockaddr_in here = {.sin_family = AF_INET,
                                            .sin_addr = {.s_addr = 0x0100007f}}; /* 127.0.0.1 */
    brume_error error;
    void *library = dlopen("libmicrohttpd.so.12", RTLD_NOW);
    if (!library || brume_microhttpd_load(&error) != BRUME_OK)
        abort();
    find(library, "MHD_run", &run);
    find(library, "MHD_add_connection", &add_connection);
    http.options.guard = brume_http_guard_open(&unlimited);
    http.patience = brume_http_patience_open(http.options.patience, http.options.guard);
    http.running = brume_http_running_open();
    http.options.socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); /* nobody connects */
    if (bind(http.options.socket, (const struct sockaddr *)&here, sizeof here) != 0 ||
        listen(http.options.socket, 1) != 0)
        abort();
    http.daemon = brume_http_start_daemon(&http, MHD_NO_FLAG);
    if (!http.options.guard || !http.patience || !http.running || !http.daemon)
        abort();
}

/* ---- what comes back ---- */

enum { MOST = 1 << 20 };
static char answers[MOST + 1];
static size_t length;

/* Let the daemon work until it has nothing more to say; false: the connection is over. */
static bool work(int client)
{
    for (int idle = 0; idle < 3;) {
        if (run(http.daemon) != MHD_YES)
            abort();
        ssize_t got = recv(client, answers + length, MOST - length, MSG_DONTWAIT);
        if (got == 0)
            return false;
        idle = got > 0 ? 0 : idle + 1;
        length += got > 0 ? (size_t)got : 0;
        if (length == MOST)
            return false;
    }
    return true;
}

/* The first answer: its head, and its body if all of that is there and it is no answer to HEAD. */
static void check_answer(const uint8_t *data, size_t size)
{
    char *end = NULL, *said = NULL;
    answers[length] = 0;
    if (length == 0 || strncmp(answers, "HTTP/1.1 100 ", 13) == 0)
        return;
    if (strncmp(answers, "HTTP/1.", 7) != 0 || !(end = strstr(answers, "\r\n\r\n")))
        abort();
    *end = 0;
    bool is_own = strstr(answers, "\r\nContent-Security-Policy: default-src 'none'") != NULL;
    bool is_json = strstr(answers, "\r\nContent-Type: application/json") != NULL;
    said = strstr(answers, "\r\nContent-Length: ");
    size_t whole = said ? strtoull(said + 18, NULL, 10) : 0;
    const char *body = end + 4;
    size_t there = length - (size_t)(body - answers);
    bool is_there = whole > 0 && there >= whole && strncmp(body, "HTTP/1.", 7) != 0;
    if (is_own && is_json && is_there) {
        json_t *object = json_loadb(body, whole, 0, NULL);
        unsigned code = (unsigned)strtoul(answers + 9, NULL, 10);
        if (!json_is_object(object) || (code >= 400) != (json_object_get(object, "error") != NULL))
            abort();
        json_decref(object);
    }
    if (!is_own && is_there &&
        (whole > 400 || memchr(body, '{', whole) ||
         (size >= 24 && memmem(body, whole, data + size - 24, 24))))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct sockaddr_in peer = {.sin_family = AF_INET};
    int ends[2];
    if (!http.daemon)
        start();
    if (size < 2 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
        return 0;
    const uint8_t *bytes = data + 1;
    size_t left = size - 1, first = left * data[0] / 255, before = asked;
    length = 0;
    if (add_connection(http.daemon, ends[1], (const struct sockaddr *)&peer, sizeof peer) !=
        MHD_YES)
        abort();
    bool is_open = send(ends[0], bytes, first, MSG_NOSIGNAL) == (ssize_t)first && work(ends[0]);
    if (is_open && send(ends[0], bytes + first, left - first, MSG_NOSIGNAL) > 0)
        (void)work(ends[0]);
    check_answer(bytes, left);
    close(ends[0]);
    for (int i = 0; i < 100; i++) {
        const union MHD_DaemonInfo *info =
            MHD_get_daemon_info(http.daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
        if (info->num_connections == 0)
            break;
        run(http.daemon);
    }
    if (atomic_load(&http.open_requests) != 0)
        abort(); /* a request that is never forgotten */
    if (asked != before && !memmem(bytes, left, "good", 4))
        abort();
    return 0;
}
