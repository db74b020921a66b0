/* A session, and what surrounds each of its calls. */
#ifndef BRUME_SESSION_STATE_H
#define BRUME_SESSION_STATE_H

#include <fenv.h>
#include <jansson.h>
#include <locale.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include <brume/session.h>
#include <brume/status.h>

#include "command/host.h"
#include "query/plan/plan.h"
#include "query/release/spend.h"

typedef struct brume_environment {
    locale_t locale, plain;
    fenv_t floats;
} brume_environment;

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

struct brume_session {
    pid_t process;       /* that opened it */
    atomic_bool busy;    /* a call runs */
    char *ledger, *user; /* NULL: none chosen; the owner at the shell */
    bool colour;
    brume_session_watch watch;
    brume_host host;
    brume_environment environment; /* of the host's thread, while a call runs */
    struct brume_session_stream *stream;
    void (*tell)(void *context, const char *label, uint64_t done, uint64_t total);
    void *tell_context;
    brume_status (*take)(void *context, const char *text, size_t length, brume_error *error);
    void *take_context;
    void (*note)(void *context, const char *line);
    void *note_context;
    brume_public_asker elsewhere; /* in force where the host has it */
};

/* Before and after what a call does. EARGUMENT: no session, one of another process, a busy one, or
 * one with an open stream unless `in_stream`. */
BRUME_MUST_USE brume_status brume_session_begin(brume_session *session, bool in_stream,
                                                brume_error *error);
void brume_session_end(brume_session *session);

/* The command of that name; EUNKNOWN with the nearest one. */
BRUME_MUST_USE brume_status brume_session_command(const char *name, const brume_command **out,
                                                  brume_error *error);

/* A call of it, with its output open, from options as text and, if it is not NULL, one more member,
 * which may not be among them. Close it also after a failure. */
BRUME_MUST_USE brume_status brume_session_call_open(brume_session *session,
                                                    const brume_command *command,
                                                    const char *options, const char *name,
                                                    const char *value, brume_call *call,
                                                    brume_error *error);
void brume_session_call_close(brume_call *call);

/* What it has written, as a text of the caller's. */
BRUME_MUST_USE brume_status brume_session_call_answer(brume_call *call, char **answer,
                                                      brume_error *error);

/* End the stream of a session, if there is one, whatever became of it. */
void brume_session_stream_drop(brume_session *session);

/* Enter it on the calling thread, until it is left. EMEMORY; EINTERNAL: the processor refuses. */
BRUME_MUST_USE brume_status brume_environment_enter(brume_environment *before, brume_error *error);
void brume_environment_leave(const brume_environment *before);

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

#endif
