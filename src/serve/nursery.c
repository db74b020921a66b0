/* The nursery, its children, and the server's end of both. Promises: nursery.h.
 *
 * The server and the nursery talk over a pair of sockets: the server sends a socket, which becomes
 * that of a new child, or the number of a child to be killed, and gets a number back. A child is
 * waited for only after it was killed by the server's word, so that its number is nobody else's. */
#include "serve/nursery.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "base/error.h"
#include "serve/pg/catalog/catalog.h"

enum { STACKS = 64 << 20, LOOK_AROUND = 100 };

struct brume_nursery {
    pid_t process;
    int socket; /* to it */
    const char *ledger;
    uint64_t memory;
    pthread_mutex_t lock; /* around a word and its answer */
};

struct brume_nursery_child {
    pid_t process;
    int socket;
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* ---- bytes ---- */

static bool send_all(int socket, const void *bytes, size_t length)
{
    const char *at = bytes;
    while (length > 0) {
        ssize_t sent = send(socket, at, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        at += sent;
        length -= (size_t)sent;
    }
    return true;
}

static bool read_all(int socket, void *bytes, size_t length)
{
    char *to = bytes;
    while (length > 0) {
        ssize_t got = recv(socket, to, length, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        to += got;
        length -= (size_t)got;
    }
    return true;
}

/* ---- one call of a session ---- */

char *brume_session_user(const brume_pool_request *request)
{
    json_t *object =
        json_pack("{s:s,s:I}", "user", request->user, "issued", (json_int_t)request->issued);
    char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    return text;
}

brume_status brume_call_session(brume_session *session, const brume_pool_request *request,
                                struct ArrowArrayStream *rows, char **json, brume_error *error)
{
    if (request->sql && strcmp(request->command, "query") == 0)
        return brume_session_query(session, request->sql, request->options, rows, json, error);
    if (request->sql && strcmp(request->command, "explain") == 0)
        return brume_session_explain(session, request->sql, request->options, json, error);
    if (request->sql && strcmp(request->command, "catalog") == 0)
        return brume_pg_catalog_call(session, request->sql, request->options, json, error);
    if (request->sql && strcmp(request->command, "released") == 0)
        return brume_session_run_released(request->sql, json, error);
    return brume_session_call(session, request->command, request->options, json, error);
}

/* ---- a child ---- */

/* What precedes an answer, or is all there is of an error. */
typedef struct reply {
    brume_status status;
    bool ends; /* the child has grown, and makes room for another */
    bool has_json;
    size_t length;
    brume_error error;
} reply;

/* What precedes the text of a call; of length 0: the call that runs is to be cancelled. */
typedef struct word {
    size_t length;
} word;

typedef struct child_state {
    int socket;
    const char *ledger;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    char *text;             /* a call that waits; NULL: none */
    brume_session *session; /* of the call that runs */
} child_state;

static _Noreturn void *listen_to_server(void *context)
{
    child_state *self = context;
    for (;;) {
        word next;
        if (!read_all(self->socket, &next, sizeof next))
            _exit(EXIT_SUCCESS); /* the server has gone */
        pthread_mutex_lock(&self->lock);
        if (next.length == 0) {
            if (self->session) /* one that has ended needs no end */
                brume_session_cancel(self->session);
        } else {
            self->text = calloc(1, next.length + 1);
            if (!self->text || !read_all(self->socket, self->text, next.length))
                _exit(EXIT_FAILURE);
            pthread_cond_signal(&self->changed);
        }
        pthread_mutex_unlock(&self->lock);
    }
}

static brume_status run_request(child_state *self, const brume_pool_request *request, char **json,
                                brume_error *error)
{
    brume_session *session = NULL;
    char *user = brume_session_user(request);
    if (!user)
        return brume_no_memory(error, "the session");
    brume_status status = brume_session_open(self->ledger, user, &session, error);
    free(user);
    if (status != BRUME_OK)
        return status;
    pthread_mutex_lock(&self->lock);
    self->session = session;
    pthread_mutex_unlock(&self->lock);
    status = brume_call_session(session, request, NULL, json, error);
    pthread_mutex_lock(&self->lock);
    self->session = NULL;
    pthread_mutex_unlock(&self->lock);
    brume_session_close(session);
    return status;
}

static brume_status run_text(child_state *self, const char *text, char **json, brume_error *error)
{
    json_t *call = json_loads(text, 0, NULL);
    const brume_pool_request request = {
        .user = json_string_value(json_object_get(call, "user")),
        .issued = (uint64_t)json_integer_value(json_object_get(call, "issued")),
        .command = json_string_value(json_object_get(call, "command")),
        .sql = json_string_value(json_object_get(call, "sql")),
        .options = json_string_value(json_object_get(call, "options"))};
    brume_status status = request.user && request.command ? run_request(self, &request, json, error)
                                                          : brume_no_memory(error, "the call");
    json_decref(call);
    return status;
}

/* Writable memory of this process in bytes, as RLIMIT_DATA counts it. */
static uint64_t own_memory(void)
{
    unsigned long long pages[6] = {0};
    FILE *file = fopen("/proc/self/statm", "re");
    bool read = file && fscanf(file, "%llu %llu %llu %llu %llu %llu", &pages[0], &pages[1],
                               &pages[2], &pages[3], &pages[4], &pages[5]) == 6;
    if (file)
        fclose(file);
    return read ? (uint64_t)pages[5] * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

/* The stacks of an engine's threads are not counted: how many there are is the machine's. */
static void limit_memory(uint64_t memory)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t stacks = (uint64_t)(processors > 0 ? processors + 2 : 2) * STACKS / 8;
    const struct rlimit data = {own_memory() + memory + stacks, own_memory() + memory + stacks};
    const struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_DATA, &data); /* to lower a limit is always allowed */
    (void)setrlimit(RLIMIT_CORE, &none);
}

static _Noreturn void run_child(int socket, const char *ledger, uint64_t memory)
{
    static child_state self = {.lock = PTHREAD_MUTEX_INITIALIZER,
                               .changed = PTHREAD_COND_INITIALIZER};
    pthread_t listener;
    uint64_t first = own_memory();
    self.socket = socket;
    self.ledger = ledger;
    limit_memory(memory);
    if (pthread_create(&listener, NULL, listen_to_server, &self) != 0)
        _exit(EXIT_FAILURE);
    for (;;) {
        char *text = NULL, *json = NULL;
        reply answer = {0};
        pthread_mutex_lock(&self.lock);
        while (!self.text)
            pthread_cond_wait(&self.changed, &self.lock);
        text = self.text;
        self.text = NULL;
        pthread_mutex_unlock(&self.lock);
        answer.status = run_text(&self, text, &json, &answer.error);
        free(text);
        answer.has_json = json != NULL;
        answer.length = json ? strlen(json) : 0;
        answer.ends = own_memory() - first > memory / 4;
        if (!send_all(socket, &answer, sizeof answer) || !send_all(socket, json, answer.length))
            _exit(EXIT_FAILURE);
        brume_free(json);
    }
}

/* ---- the nursery ---- */

/* A word of the server: a socket comes along for a new child; else `process` is to be killed. */
static ssize_t receive_word(int control, pid_t *process, int *socket)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } aside;
    struct iovec piece = {process, sizeof *process};
    struct msghdr message = {.msg_iov = &piece,
                             .msg_iovlen = 1,
                             .msg_control = aside.room,
                             .msg_controllen = sizeof aside.room};
    ssize_t got;
    do
        got = recvmsg(control, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    struct cmsghdr *first = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    *socket = -1;
    if (first && first->cmsg_type == SCM_RIGHTS)
        memcpy(socket, CMSG_DATA(first), sizeof *socket);
    return got;
}

static _Noreturn void run_nursery(int control, const char *ledger, uint64_t memory, pid_t server)
{
    /* Ctrl-C is for the whole group, and SIGTERM may be for the whole unit: the server says when
     * its calls end. */
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != server)
        _exit(EXIT_SUCCESS);
    for (;;) {
        pid_t process = 0, self = getpid();
        int socket = -1;
        if (receive_word(control, &process, &socket) != (ssize_t)sizeof process)
            _exit(EXIT_SUCCESS); /* the server has gone */
        if (socket < 0) {
            (void)kill(process, SIGKILL);
            (void)waitpid(process, NULL, 0);
        } else if ((process = fork()) == 0) {
            (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
            close(control);
            if (getppid() != self)
                _exit(EXIT_SUCCESS);
            run_child(socket, ledger, memory);
        }
        if (socket >= 0)
            close(socket);
        if (!send_all(control, &process, sizeof process))
            _exit(EXIT_SUCCESS);
    }
}

/* ---- the server's end ---- */

brume_status brume_nursery_open(const char *ledger, uint64_t memory, brume_nursery **out,
                                brume_error *error)
{
    int pair[2];
    pid_t server = getpid();
    brume_nursery *made = calloc(1, sizeof *made);
    if (!made || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        free(made);
        return brume_no_memory(error, "the server");
    }
    pid_t process = fork();
    if (process == 0) {
        close(pair[0]);
        run_nursery(pair[1], ledger, memory, server);
    }
    close(pair[1]);
    if (process < 0) {
        close(pair[0]);
        free(made);
        return brume_no_memory(error, "the server");
    }
    *made =
        (brume_nursery){.process = process, .socket = pair[0], .ledger = ledger, .memory = memory};
    pthread_mutex_init(&made->lock, NULL);
    *out = made;
    return BRUME_OK;
}

void brume_nursery_close(brume_nursery *nursery)
{
    if (!nursery)
        return;
    close(nursery->socket);
    (void)kill(nursery->process, SIGKILL); /* and by its death its children */
    while (waitpid(nursery->process, NULL, 0) < 0 && errno == EINTR)
        ;
    pthread_mutex_destroy(&nursery->lock);
    free(nursery);
}

/* Send a word, with a socket for a new child (-1: none); the number that comes back, or -1. */
static pid_t tell_nursery(brume_nursery *nursery, pid_t process, int socket)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } aside = {.room = {0}};
    struct iovec piece = {&process, sizeof process};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    if (socket >= 0) {
        message.msg_control = aside.room;
        message.msg_controllen = sizeof aside.room;
        struct cmsghdr *first = CMSG_FIRSTHDR(&message);
        first->cmsg_level = SOL_SOCKET;
        first->cmsg_type = SCM_RIGHTS;
        first->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(first), &socket, sizeof socket);
    }
    pthread_mutex_lock(&nursery->lock);
    bool good = sendmsg(nursery->socket, &message, MSG_NOSIGNAL) == (ssize_t)sizeof process &&
                read_all(nursery->socket, &process, sizeof process);
    pthread_mutex_unlock(&nursery->lock);
    return good ? process : -1;
}

static brume_nursery_child *start_child(brume_nursery *nursery)
{
    int pair[2];
    brume_nursery_child *child = calloc(1, sizeof *child);
    if (!child || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        free(child);
        return NULL;
    }
    *child = (brume_nursery_child){.process = tell_nursery(nursery, 0, pair[1]), .socket = pair[0]};
    close(pair[1]);
    if (child->process > 0)
        return child;
    close(child->socket);
    free(child);
    return NULL;
}

void brume_nursery_end(brume_nursery *nursery, brume_nursery_child *child)
{
    if (!child)
        return;
    close(child->socket);
    (void)tell_nursery(nursery, child->process, -1);
    free(child);
}

static bool send_call(const brume_nursery_child *child, const brume_pool_request *request)
{
    json_t *call = json_pack("{s:s,s:I,s:s,s:s?,s:s?}", "user", request->user, "issued",
                             (json_int_t)request->issued, "command", request->command, "sql",
                             request->sql, "options", request->options);
    char *text = call ? json_dumps(call, JSON_COMPACT) : NULL;
    word first = {text ? strlen(text) : 0};
    json_decref(call);
    bool good = text && send_all(child->socket, &first, sizeof first) &&
                send_all(child->socket, text, first.length);
    free(text);
    return good;
}

/* How a call is watched. */
typedef struct patience {
    bool (*stopped)(void *context);
    void *context;
    double grace, kill_at; /* kill_at: infinite until it was told to stop */
} patience;

/* Read so many bytes of the answer, at most until it is time to kill the child. */
static bool read_patiently(const brume_nursery_child *child, void *bytes, size_t length,
                           patience *until)
{
    static const word cancel = {0};
    char *to = bytes;
    while (length > 0) {
        struct pollfd one = {.fd = child->socket, .events = POLLIN};
        ssize_t got = 0;
        if (isinf(until->kill_at) && until->stopped && until->stopped(until->context)) {
            until->kill_at = now() + until->grace;
            (void)!send_all(child->socket, &cancel,
                            sizeof cancel); /* it dies if it does not hear */
        }
        if (now() >= until->kill_at)
            return false;
        if (poll(&one, 1, LOOK_AROUND) <= 0)
            continue;
        got = recv(child->socket, to, length, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            return false;
        to += got > 0 ? got : 0;
        length -= got > 0 ? (size_t)got : 0;
    }
    return true;
}

static brume_status say_gone(const patience *until, brume_error *error)
{
    if (!isinf(until->kill_at))
        return brume_fail(error, BRUME_ECANCELLED, NULL,
                          "the call was cancelled; nothing was spent");
    return brume_fail(error, BRUME_EMEMORY, "ask for less at once; nothing was spent",
                      "the call needs more memory than a free call may have");
}

brume_status brume_nursery_run(brume_nursery *nursery, brume_nursery_child **child,
                               const brume_pool_request *request, bool (*stopped)(void *context),
                               void *context, double grace, char **json, brume_error *error)
{
    patience until = {.stopped = stopped, .context = context, .grace = grace, .kill_at = INFINITY};
    reply answer = {0};
    char *text = NULL;
    if (!*child)
        *child = start_child(nursery);
    if (!*child)
        return brume_no_memory(error, "the call");
    bool good = send_call(*child, request) &&
                read_patiently(*child, &answer, sizeof answer, &until) &&
                answer.length <= nursery->memory && (text = malloc(answer.length + 1)) &&
                read_patiently(*child, text, answer.length, &until);
    if (!good || answer.ends) {
        brume_nursery_end(nursery, *child);
        *child = NULL;
    }
    if (!good) {
        free(text);
        return say_gone(&until, error);
    }
    text[answer.length] = 0;
    if (answer.has_json && answer.status == BRUME_OK)
        *json = text;
    else
        free(text);
    if (answer.status != BRUME_OK && error)
        *error = answer.error;
    return answer.status;
}
