/* The watch of a session's calls: cancelled from any thread, or by their deadline.
 *
 * Its thread, which runs only while there is a deadline, ends nothing but the call: a library
 * cannot end its host. */
#ifndef BRUME_SESSION_WATCH_H
#define BRUME_SESSION_WATCH_H

#include <pthread.h>
#include <stdbool.h>

#include <brume/session.h>

#include "query/release/spend.h"

typedef struct brume_session_watch {
    brume_watch watch; /* what commands are given */
    /* `lock` guards what is below it, and is held for moments only. */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* on the monotonic clock */
    brume_session_phase_word phase;
    const char *why; /* why the call is to stop; NULL: it is not */
    double start;    /* seconds of the monotonic clock */
    double limit;    /* the deadline of the whole call; infinite: none */
    double deadline; /* the same, but none while an answer is recorded and not out yet */
    char late[64];   /* what is said once the deadline has passed */
    bool has_timer, is_over;
    pthread_t timer;
    /* The engine that may be cancelled; `engine_lock` is held while it is. */
    pthread_mutex_t engine_lock;
    brume_engine *running;
    /* Whom to tell of phases; NULL: nobody. */
    void (*tell)(void *context, brume_session_phase_word phase);
    void *tell_context;
} brume_session_watch;

BRUME_MUST_USE brume_status brume_session_watch_open(brume_session_watch *watch,
                                                     brume_error *error);
void brume_session_watch_close(brume_session_watch *watch);

/* Around each call. */
void brume_session_watch_begin(brume_session_watch *watch);
void brume_session_watch_end(brume_session_watch *watch);

/* A brume_host's `watch`, with a brume_session_watch as its context. */
BRUME_MUST_USE brume_status brume_session_watch_call(brume_session_watch *watch, double timeout,
                                                     bool only_noted, const brume_watch **out,
                                                     brume_error *error);

/* From any thread. */
void brume_session_watch_cancel(brume_session_watch *watch);
const char *brume_session_watch_stopping(brume_session_watch *watch);
brume_session_phase_word brume_session_watch_phase(brume_session_watch *watch);

#endif
