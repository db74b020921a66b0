/* Closing slow connections. Promises: patience.h. */
#include "serve/http/patience.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "serve/doorway.h"

/* Connections that wait for a request and are of nobody that is known. */
enum { MOST_UNKNOWN = 2048 };

typedef struct slow_link {
    int socket;
    brume_peer peer;
    double since; /* of waiting for a request; below 0: it is there */
    char *user;   /* whose it is; NULL: not known yet */
    struct slow_link *next, **place;
} slow_link;

struct brume_http_patience {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    double seconds;
    brume_http_guard *guard;
    bool ends;
    slow_link *first;
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void close_slow(brume_http_patience *patience)
{
    double time = now();
    for (slow_link *link = patience->first; link; link = link->next)
        if (link->since >= 0 && time - link->since > patience->seconds) {
            shutdown(link->socket, SHUT_RDWR); /* its owner closes it: the number stays taken */
            link->since = -1;
        }
}

static void *run(void *context)
{
    brume_http_patience *patience = context;
    pthread_mutex_lock(&patience->lock);
    while (!patience->ends) {
        struct timespec until;
        double pause = patience->seconds < 4 ? patience->seconds / 4 : 1;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += (time_t)pause;
        until.tv_nsec += (long)((pause - (double)(time_t)pause) * 1e9);
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&patience->changed, &patience->lock, &until);
        close_slow(patience);
    }
    pthread_mutex_unlock(&patience->lock);
    return NULL;
}

brume_http_patience *brume_http_patience_open(double seconds, brume_http_guard *guard)
{
    sigset_t all, before;
    brume_http_patience *patience = calloc(1, sizeof *patience);
    if (!patience)
        return NULL;
    pthread_mutex_init(&patience->lock, NULL);
    pthread_cond_init(&patience->changed, NULL);
    patience->seconds = seconds;
    patience->guard = guard;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool good = pthread_create(&patience->thread, NULL, run, patience) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (good)
        return patience;
    free(patience);
    return NULL;
}

void brume_http_patience_close(brume_http_patience *patience)
{
    if (!patience)
        return;
    pthread_mutex_lock(&patience->lock);
    patience->ends = true;
    pthread_cond_broadcast(&patience->changed);
    pthread_mutex_unlock(&patience->lock);
    pthread_join(patience->thread, NULL);
    pthread_cond_destroy(&patience->changed);
    pthread_mutex_destroy(&patience->lock);
    free(patience);
}

/* With the lock held: where many are unknown, one of them goes for the newcomer. */
static void make_place(brume_http_patience *patience, const brume_peer *newcomer)
{
    brume_doorway doorway = {.newcomer = *newcomer, .places = MOST_UNKNOWN};
    for (slow_link *link = patience->first; link; link = link->next)
        if (!link->user && link->since >= 0)
            brume_doorway_see(&doorway, &link->peer, link->since, link);
    slow_link *evicted = brume_doorway_evicted(&doorway);
    if (evicted) {
        shutdown(evicted->socket, SHUT_RDWR); /* as above */
        evicted->since = -1;
    }
}

static slow_link *start(brume_http_patience *patience, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    slow_link *link = info ? calloc(1, sizeof *link) : NULL;
    if (!link)
        return NULL; /* libmicrohttpd's own time-out remains */
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;
    link->socket = info->connect_fd;
    if (getpeername(link->socket, (struct sockaddr *)&address, &length) == 0)
        link->peer = brume_peer_of((struct sockaddr *)&address);
    make_place(patience, &link->peer);
    link->since = now();
    link->next = patience->first;
    link->place = &patience->first;
    if (link->next)
        link->next->place = &link->next;
    patience->first = link;
    return link;
}

static void disown(brume_http_patience *patience, slow_link *link)
{
    if (link->user)
        brume_http_guard_leave(patience->guard, link->user);
    free(link->user);
    link->user = NULL;
}

static void end(brume_http_patience *patience, slow_link *link)
{
    if (!link)
        return;
    disown(patience, link);
    *link->place = link->next;
    if (link->next)
        link->next->place = link->place;
    free(link);
}

void brume_http_patience_notice(void *context, struct MHD_Connection *connection, void **link,
                                enum MHD_ConnectionNotificationCode what)
{
    brume_http_patience *patience = context;
    pthread_mutex_lock(&patience->lock);
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        *link = start(patience, connection);
    } else {
        end(patience, *link);
        *link = NULL;
    }
    pthread_mutex_unlock(&patience->lock);
}

bool brume_http_patience_claim(brume_http_patience *patience, struct MHD_Connection *connection,
                               const char *user)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    bool good = true;
    pthread_mutex_lock(&patience->lock);
    slow_link *link = info ? info->socket_context : NULL;
    if (link && (!link->user || strcmp(link->user, user) != 0)) {
        disown(patience, link);
        char *copy = strdup(user);
        good = copy && brume_http_guard_enter(patience->guard, user);
        if (good)
            link->user = copy;
        else
            free(copy);
    }
    pthread_mutex_unlock(&patience->lock);
    return good;
}

static void set(brume_http_patience *patience, struct MHD_Connection *connection, double since)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    pthread_mutex_lock(&patience->lock);
    slow_link *link = info ? info->socket_context : NULL;
    if (link)
        link->since = since;
    pthread_mutex_unlock(&patience->lock);
}

void brume_http_patience_pause(brume_http_patience *patience, struct MHD_Connection *connection)
{
    set(patience, connection, -1);
}

void brume_http_patience_again(brume_http_patience *patience, struct MHD_Connection *connection)
{
    set(patience, connection, now());
}
