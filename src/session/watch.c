/* The watch of a session's calls. Promises: watch.h. */
#include "session/watch.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "base/error.h"

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* ---- stopping ---- */

static void cancel_engine(brume_session_watch *watch)
{
    pthread_mutex_lock(&watch->engine_lock); /* it may not be closed meanwhile */
    if (watch->running)
        brume_engine_cancel(watch->running);
    pthread_mutex_unlock(&watch->engine_lock);
}

void brume_session_watch_cancel(brume_session_watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    bool runs = watch->phase != BRUME_SESSION_IDLE;
    if (runs && !watch->why)
        watch->why = "interrupted";
    pthread_mutex_unlock(&watch->lock);
    if (runs)
        cancel_engine(watch);
}

/* ---- the deadline ---- */

static void *wait_for_deadline(void *context)
{
    brume_session_watch *watch = context;
    bool passed = false;
    pthread_mutex_lock(&watch->lock);
    while (!watch->is_over && !passed) {
        double until = watch->deadline;
        struct timespec time = {0};
        if (isfinite(until)) {
            time.tv_sec = (time_t)until;
            time.tv_nsec = (long)((until - floor(until)) * 1e9);
            pthread_cond_timedwait(&watch->changed, &watch->lock, &time);
        } else {
            pthread_cond_wait(&watch->changed, &watch->lock);
        }
        passed = !watch->is_over && now() >= watch->deadline;
    }
    if (passed && !watch->why)
        watch->why = watch->late;
    pthread_mutex_unlock(&watch->lock);
    if (passed)
        cancel_engine(watch);
    return NULL;
}

/* With the lock held. Signals are the host's: the thread gets none. */
static bool start_timer(brume_session_watch *watch)
{
    sigset_t all, before;
    sigfillset(&all);
    if (watch->has_timer || pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return watch->has_timer;
    watch->has_timer = pthread_create(&watch->timer, NULL, wait_for_deadline, watch) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return watch->has_timer;
}

/* ---- what commands call ---- */

static void enter(void *context, brume_phase phase, brume_engine *engine)
{
    static const brume_session_phase_word words[] = {
        [BRUME_PHASE_FREE] = BRUME_SESSION_FREE,
        [BRUME_PHASE_RESERVING] = BRUME_SESSION_RESERVING,
        [BRUME_PHASE_RUNNING] = BRUME_SESSION_RUNNING,
        [BRUME_PHASE_SPENT] = BRUME_SESSION_SPENT,
        [BRUME_PHASE_RECORDED] = BRUME_SESSION_RECORDED,
    };
    brume_session_watch *watch = context;
    pthread_mutex_lock(&watch->engine_lock);
    watch->running = engine;
    pthread_mutex_unlock(&watch->engine_lock);
    pthread_mutex_lock(&watch->lock);
    watch->phase = words[phase];
    /* Nothing is gained by ending a call whose answer is there; the next one of a script, or the
     * next stage of a query, has the same deadline as the first. */
    double deadline = phase == BRUME_PHASE_RECORDED ? INFINITY : watch->limit;
    if (deadline != watch->deadline)
        pthread_cond_broadcast(&watch->changed);
    watch->deadline = deadline;
    pthread_mutex_unlock(&watch->lock);
    if (watch->tell)
        watch->tell(watch->tell_context, words[phase]);
}

static const char *stopped(void *context)
{
    brume_session_watch *watch = context;
    pthread_mutex_lock(&watch->lock);
    const char *why = watch->why;
    pthread_mutex_unlock(&watch->lock);
    return why;
}

static void limit(void *context, double seconds)
{
    brume_session_watch *watch = context;
    pthread_mutex_lock(&watch->lock);
    if (!watch->why && watch->start + seconds < watch->limit) {
        watch->limit = watch->deadline = watch->start + seconds;
        snprintf(watch->late, sizeof watch->late, "the deadline of %g s has passed", seconds);
        if (!start_timer(watch)) { /* fail closed: without a thread nothing would end it */
            watch->why = "no thread could be started to keep the deadline";
        }
        pthread_cond_broadcast(&watch->changed);
    }
    pthread_mutex_unlock(&watch->lock);
}

brume_status brume_session_watch_call(brume_session_watch *watch, double timeout, bool only_noted,
                                      const brume_watch **out, brume_error *error)
{
    watch->watch.timeout = timeout;
    if (timeout > 0)
        limit(watch, timeout);
    pthread_mutex_lock(&watch->lock);
    watch->phase = only_noted ? BRUME_SESSION_STOPPABLE : BRUME_SESSION_FREE;
    const char *why = watch->why;
    pthread_mutex_unlock(&watch->lock);
    if (why)
        return brume_fail(error, BRUME_ECANCELLED, NULL, "%s; nothing was spent", why);
    *out = &watch->watch;
    return BRUME_OK;
}

/* ---- around calls ---- */

brume_status brume_session_watch_open(brume_session_watch *watch, brume_error *error)
{
    pthread_condattr_t monotonic;
    *watch = (brume_session_watch){.limit = INFINITY, .deadline = INFINITY};
    watch->watch =
        (brume_watch){.enter = enter, .stopped = stopped, .limit = limit, .context = watch};
    if (pthread_condattr_init(&monotonic) != 0)
        return brume_no_memory(error, NULL);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    bool good = pthread_cond_init(&watch->changed, &monotonic) == 0;
    pthread_condattr_destroy(&monotonic);
    if (!good)
        return brume_no_memory(error, NULL);
    pthread_mutex_init(&watch->lock, NULL); /* cannot fail without attributes */
    pthread_mutex_init(&watch->engine_lock, NULL);
    return BRUME_OK;
}

void brume_session_watch_close(brume_session_watch *watch)
{
    pthread_cond_destroy(&watch->changed);
    pthread_mutex_destroy(&watch->lock);
    pthread_mutex_destroy(&watch->engine_lock);
}

void brume_session_watch_begin(brume_session_watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    watch->phase = BRUME_SESSION_WORKING;
    watch->why = NULL;
    watch->start = now();
    watch->limit = watch->deadline = INFINITY;
    watch->is_over = watch->has_timer = false;
    watch->watch.timeout = 0;
    pthread_mutex_unlock(&watch->lock);
}

void brume_session_watch_end(brume_session_watch *watch)
{
    pthread_mutex_lock(&watch->engine_lock);
    watch->running = NULL;
    pthread_mutex_unlock(&watch->engine_lock);
    pthread_mutex_lock(&watch->lock);
    bool has_timer = watch->has_timer; /* it is joined once, also if this is called again */
    watch->has_timer = false;
    watch->is_over = true;
    watch->phase = BRUME_SESSION_IDLE;
    pthread_cond_broadcast(&watch->changed);
    pthread_mutex_unlock(&watch->lock);
    if (has_timer)
        pthread_join(watch->timer, NULL);
}

brume_session_phase_word brume_session_watch_phase(brume_session_watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    brume_session_phase_word phase = watch->phase;
    pthread_mutex_unlock(&watch->lock);
    return phase;
}

const char *brume_session_watch_stopping(brume_session_watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    const char *why = watch->phase == BRUME_SESSION_IDLE ? NULL : watch->why;
    pthread_mutex_unlock(&watch->lock);
    return why;
}
