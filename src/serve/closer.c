/* Closing windows of series. Promises: closer.h. */
#include "serve/closer.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <brume/session.h>
#include <jansson.h>

#include "base/error.h"
#include "serve/pool.h"

enum { PAUSE = 5, AGAIN = 60 }; /* seconds between looks, and after a failure */

struct brume_closer {
    double quantum;
    brume_http_guard *guard;
    pthread_t thread;
    pthread_mutex_t lock; /* guards what is below it */
    pthread_cond_t changed;
    bool stops;
    brume_session *session; /* of the thread; NULL: none is open */
    double start, looks;    /* of the update that runs; the next look, of CLOCK_MONOTONIC */
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* With the lock held: until then, or until it stops. */
static void wait_until(brume_closer *all, double time)
{
    while (!all->stops && now() < time) {
        const struct timespec until = {.tv_sec = (time_t)time,
                                       .tv_nsec = (long)((time - floor(time)) * 1e9)};
        pthread_cond_timedwait(&all->changed, &all->lock, &until);
    }
}

/* Rows were read, and their window is about to be recorded, where others see it. */
static void hold(void *context, brume_session_phase_word phase)
{
    brume_closer *all = context;
    if (phase != BRUME_SESSION_SPENT)
        return;
    pthread_mutex_lock(&all->lock);
    wait_until(all, all->start + brume_pool_leaving_time(now() - all->start, all->quantum));
    pthread_mutex_unlock(&all->lock);
}

static void tell(brume_closer *all, const char *event, const char *name, const char *more)
{
    char detail[160];
    snprintf(detail, sizeof detail, "%s%s%s", name, *more ? ": " : "", more);
    brume_http_guard_event(all->guard, event, detail);
}

/* Publish what has closed of one series. */
static void update(brume_closer *all, const char *name)
{
    brume_error error = {0};
    char *answer = NULL;
    json_t *options = json_pack("{s:s}", "name", name);
    char *text = options ? json_dumps(options, JSON_COMPACT) : NULL;
    json_decref(options);
    pthread_mutex_lock(&all->lock);
    all->start = now();
    bool stops = all->stops;
    pthread_mutex_unlock(&all->lock);
    if (text && !stops) {
        brume_status status =
            brume_session_call(all->session, "series update", text, &answer, &error);
        json_t *made = answer ? json_loads(answer, 0, NULL) : NULL;
        if (status != BRUME_OK)
            tell(all, "series failed", name, brume_status_word(status));
        else if (json_integer_value(json_object_get(made, "published")) > 0)
            tell(all, "series published", name,
                 json_string_value(json_object_get(made, "closed_until")));
        if (status != BRUME_OK)
            all->looks = now() + AGAIN;
        json_decref(made);
        brume_free(answer);
    }
    free(text);
}

/* Has its next window closed? "2026-03-05T00:00:00Z" compares as time does. */
static bool is_due(const json_t *series)
{
    const char *next = json_string_value(json_object_get(series, "next"));
    char moment[32];
    time_t seconds = time(NULL);
    struct tm utc;
    strftime(moment, sizeof moment, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&seconds, &utc));
    return next && !json_is_true(json_object_get(series, "ended")) && strcmp(next, moment) <= 0;
}

static void look(brume_closer *all)
{
    char *answer = NULL;
    size_t i;
    json_t *one;
    all->looks = now() + PAUSE;
    if (brume_session_call(all->session, "series list", "{}", &answer, NULL) != BRUME_OK)
        return; /* there is no ledger yet, or it is busy */
    json_t *list = json_loads(answer, 0, NULL);
    brume_free(answer);
    json_array_foreach (json_object_get(list, "series"), i, one)
        if (is_due(one))
            update(all, json_string_value(json_object_get(one, "series")));
    json_decref(list);
}

static void *run(void *context)
{
    brume_closer *all = context;
    pthread_mutex_lock(&all->lock);
    while (!all->stops) {
        pthread_mutex_unlock(&all->lock);
        look(all);
        pthread_mutex_lock(&all->lock);
        wait_until(all, all->looks);
    }
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

brume_status brume_closer_open(const char *ledger, double quantum, brume_http_guard *guard,
                               brume_closer **out, brume_error *error)
{
    pthread_condattr_t monotonic;
    brume_closer *all = calloc(1, sizeof *all);
    if (!all)
        return brume_no_memory(error, "the server");
    *all = (brume_closer){.quantum = quantum, .guard = guard};
    brume_status status = brume_session_open(ledger, NULL, &all->session, error);
    if (status != BRUME_OK) {
        free(all);
        return status;
    }
    brume_session_on_phase(all->session, hold, all);
    pthread_mutex_init(&all->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&all->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pthread_create(&all->thread, NULL, run, all) != 0) {
        brume_session_close(all->session);
        free(all);
        return brume_no_memory(error, "the server");
    }
    *out = all;
    return BRUME_OK;
}

void brume_closer_close(brume_closer *closer)
{
    if (!closer)
        return;
    pthread_mutex_lock(&closer->lock);
    closer->stops = true;
    pthread_cond_broadcast(&closer->changed);
    pthread_mutex_unlock(&closer->lock);
    brume_session_cancel(closer->session);
    pthread_join(closer->thread, NULL);
    brume_session_close(closer->session);
    pthread_cond_destroy(&closer->changed);
    pthread_mutex_destroy(&closer->lock);
    free(closer);
}
