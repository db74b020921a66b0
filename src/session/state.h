/* A session, and what surrounds each of its calls. */
#ifndef BRUME_SESSION_STATE_H
#define BRUME_SESSION_STATE_H

#include <stdatomic.h>
#include <sys/types.h>

#include <jansson.h>

#include <brume/session.h>

#include "command/host.h"
#include "query/plan/plan.h"
#include "session/environment.h"
#include "session/watch.h"

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

/* May the session's user make this call? BRUME_OK where it has none. EPOLICY. */
BRUME_MUST_USE brume_status brume_session_admit(const brume_session *session,
                                                const brume_call *call, brume_error *error);

/* What it has written, as a text of the caller's. */
BRUME_MUST_USE brume_status brume_session_call_answer(brume_call *call, char **answer,
                                                      brume_error *error);

/* Run it; EUNSUPPORTED, before anything is charged, for a stream. */
BRUME_MUST_USE brume_status brume_session_call_run(brume_call *call, char **answer,
                                                   brume_error *error);

/* End the stream of a session, if there is one, whatever became of it. */
void brume_session_stream_drop(brume_session *session);

#endif
