/* Calls that run, by user and ticket. Promises: running.h. */
#include "serve/http/running.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct call {
    uint64_t id;
    char *user, *ticket;
    struct call *next;
} call;

struct brume_http_running {
    pthread_mutex_t lock;
    call *first;
};

brume_http_running *brume_http_running_open(void)
{
    brume_http_running *running = calloc(1, sizeof *running);
    if (running)
        pthread_mutex_init(&running->lock, NULL);
    return running;
}

static void free_call(call *one)
{
    if (!one)
        return;
    free(one->user);
    free(one->ticket);
    free(one);
}

void brume_http_running_close(brume_http_running *running)
{
    if (!running)
        return;
    while (running->first) {
        call *one = running->first;
        running->first = one->next;
        free_call(one);
    }
    pthread_mutex_destroy(&running->lock);
    free(running);
}

void brume_http_running_add(brume_http_running *running, const char *user, const char *ticket,
                            uint64_t id)
{
    call *one = strlen(ticket) <= BRUME_HTTP_TICKET ? calloc(1, sizeof *one) : NULL;
    if (!one)
        return;
    one->id = id;
    one->user = strdup(user);
    one->ticket = strdup(ticket);
    if (!one->user || !one->ticket) {
        free_call(one);
        return;
    }
    pthread_mutex_lock(&running->lock);
    one->next = running->first;
    running->first = one;
    pthread_mutex_unlock(&running->lock);
}

void brume_http_running_remove(brume_http_running *running, uint64_t id)
{
    pthread_mutex_lock(&running->lock);
    call **place = &running->first;
    while (*place && (*place)->id != id)
        place = &(*place)->next;
    call *found = *place;
    if (found)
        *place = found->next;
    pthread_mutex_unlock(&running->lock);
    free_call(found);
}

void brume_http_running_cancel(brume_http_running *running, brume_pool *pool, const char *user,
                               const char *ticket)
{
    uint64_t ids[16]; /* more calls under one ticket than this: who asks again ends the others */
    size_t count = 0;
    pthread_mutex_lock(&running->lock);
    for (const call *one = running->first; one && count < sizeof ids / sizeof *ids; one = one->next)
        if (strcmp(one->user, user) == 0 && strcmp(one->ticket, ticket) == 0)
            ids[count++] = one->id;
    pthread_mutex_unlock(&running->lock);
    for (size_t i = 0; i < count; i++)
        brume_pool_cancel(pool, ids[i]);
}
