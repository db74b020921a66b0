/* Streams: a question in, an answer out. Promises: <brume/session.h>.
 *
 * The command runs on a thread of its own from open to close, and waits there for questions: its
 * price, its rows and its noise live as long as they do on the command line, and what it promises
 * there holds here. One of the two threads waits while the other works.
 *
 * A source that outlives its command needs no thread any more once that has returned: it is asked
 * on the thread of the caller, which saves two changes of thread a question. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "command/frame/call.h"
#include "command/stream/stream.h"
#include "session/state.h"
#include "number/ball.h"

typedef enum stream_state {
    STARTING, /* the command has not come to its questions yet */
    WAITING,  /* for a question */
    ASKED,    /* and working */
    ANSWERED, /* with an answer, or with an error of the question */
    CLOSING,  /* no more questions will come */
    ENDED,    /* the command has returned */
} stream_state;

typedef struct brume_session_stream {
    brume_call call;
    brume_host host;
    pthread_t thread;
    pthread_mutex_t lock; /* guards what is below */
    pthread_cond_t changed;
    stream_state state;
    const char *question;
    char *answer;
    bool halted, gone;            /* gone: the command has returned */
    brume_status status, end;     /* of the question; of the command */
    brume_error error, end_error; /* likewise */
    /* Without a thread: what was kept when the command had returned, else without a `close`. */
    brume_stream_source kept;
    brume_stream_progress progress; /* of what was kept */
} brume_session_stream;

/* ---- on the stream's thread ---- */

static void set_state(brume_session_stream *stream, stream_state state)
{
    stream->state = state;
    pthread_cond_broadcast(&stream->changed);
}

/* With the lock held: wait for a question or the end, pausing several times a second. */
static brume_status wait_for_question(brume_session_stream *stream,
                                      const brume_stream_source *source,
                                      const brume_stream_progress *progress, brume_error *error)
{
    enum { NANOSECONDS = 200000000 };
    while (stream->state != ASKED && stream->state != CLOSING) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += NANOSECONDS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (pthread_cond_timedwait(&stream->changed, &stream->lock, &until) == 0)
            continue;
        pthread_mutex_unlock(&stream->lock);
        brume_status status = brume_stream_pause(source, progress, error);
        pthread_mutex_lock(&stream->lock);
        if (status != BRUME_OK)
            return status;
    }
    return BRUME_OK;
}

/* Answer one; *text is what was written. */
static brume_status answer_question(brume_call *call, const brume_stream_source *source,
                                    const char *question, brume_stream_progress *progress,
                                    char **text, brume_error *error)
{
    BRUME_TRY(brume_stream_answer_line(call, source, question, progress, error));
    brume_status status = brume_session_call_answer(call, text, error);
    rewind(call->out); /* a memory stream starts over */
    return status;
}

/* A brume_host's `questions`. */
static brume_status take_questions(void *context, brume_call *call,
                                   const brume_stream_source *source, brume_error *error)
{
    brume_session_stream *stream = ((brume_session *)context)->stream;
    if (source->close) { /* the thread that opens the stream looks here when this one has ended */
        stream->kept = *source;
        return BRUME_OK;
    }
    brume_stream_progress progress = {0};
    brume_status status = BRUME_OK;
    pthread_mutex_lock(&stream->lock);
    if (stream->state == STARTING)
        set_state(stream, WAITING);
    while (status == BRUME_OK && !progress.halted) {
        status = wait_for_question(stream, source, &progress, error);
        if (status != BRUME_OK || stream->state == CLOSING)
            break;
        pthread_mutex_unlock(&stream->lock);
        char *text = NULL;
        brume_error wrong = {0};
        brume_status asked =
            answer_question(call, source, stream->question, &progress, &text, &wrong);
        if (asked == BRUME_OK)
            status = brume_stream_pause(source, &progress, error);
        else if (!brume_stream_goes_on(asked))
            status = asked;
        if (asked != BRUME_OK && status != BRUME_OK && error)
            *error = wrong;
        pthread_mutex_lock(&stream->lock);
        stream->status = asked;
        stream->error = wrong;
        stream->answer = text;
        stream->halted = progress.halted;
        set_state(stream, ANSWERED);
    }
    pthread_mutex_unlock(&stream->lock);
    return status;
}

static void *run(void *context)
{
    brume_session_stream *stream = context;
    brume_environment before;
    brume_error error = {0};
    brume_status status = brume_environment_enter(&before, &error);
    if (status == BRUME_OK) {
        status = stream->call.command->run(&stream->call, &error);
        brume_environment_leave(&before);
    }
    pthread_mutex_lock(&stream->lock);
    stream->gone = true;
    stream->end = status;
    stream->end_error = error;
    if (stream->state != ANSWERED) /* the last answer is still to be fetched */
        set_state(stream, ENDED);
    pthread_mutex_unlock(&stream->lock);
    flint_cleanup(); /* what FLINT and MPFR keep for a thread */
    return NULL;
}

/* ---- on the caller's thread ---- */

static bool start_thread(brume_session_stream *stream)
{
    pthread_condattr_t monotonic;
    sigset_t all, before;
    if (pthread_condattr_init(&monotonic) != 0)
        return false;
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    bool good = pthread_cond_init(&stream->changed, &monotonic) == 0;
    pthread_condattr_destroy(&monotonic);
    if (!good)
        return false;
    pthread_mutex_init(&stream->lock, NULL);
    sigfillset(&all); /* signals are the host's */
    good = pthread_sigmask(SIG_SETMASK, &all, &before) == 0;
    if (good) {
        good = pthread_create(&stream->thread, NULL, run, stream) == 0;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    if (!good) {
        pthread_cond_destroy(&stream->changed);
        pthread_mutex_destroy(&stream->lock);
    }
    return good;
}

static void free_stream(brume_session_stream *stream)
{
    if (stream->kept.close)
        stream->kept.close(stream->kept.context);
    brume_session_call_close(&stream->call);
    free(stream->answer);
    free(stream);
}

/* Wait for the thread's end. */
static void join(brume_session_stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    if (stream->state != ENDED)
        set_state(stream, CLOSING);
    pthread_mutex_unlock(&stream->lock);
    pthread_join(stream->thread, NULL);
    pthread_cond_destroy(&stream->changed);
    pthread_mutex_destroy(&stream->lock);
}

/* End it and free everything. */
static brume_status end_stream(brume_session *session, brume_error *error)
{
    brume_session_stream *stream = session->stream;
    if (!stream->kept.close)
        join(stream);
    brume_status status = stream->end;
    if (status != BRUME_OK && error)
        *error = stream->end_error;
    session->stream = NULL;
    free_stream(stream);
    return status;
}

static brume_status open_stream(brume_session *session, const char *name, const char *options,
                                brume_error *error)
{
    const brume_command *command = NULL;
    BRUME_TRY(brume_session_command(name, &command, error));
    if (!command->answer)
        return brume_fail(error, BRUME_EARGUMENT,
                          "one of: stream above-threshold, stream "
                          "sparse-vector, stream pmw",
                          "'%s' is no stream", command->name);
    brume_session_stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return brume_no_memory(error, "a stream");
    brume_status status =
        brume_session_call_open(session, command, options, NULL, NULL, &stream->call, error);
    stream->host = session->host;
    stream->host.questions = take_questions;
    stream->host.write = NULL;
    stream->call.host = &stream->host;
    session->stream = status == BRUME_OK ? stream : NULL;
    if (status == BRUME_OK && !start_thread(stream))
        status = brume_no_memory(error, "the thread of a stream");
    if (status != BRUME_OK) {
        session->stream = NULL;
        free_stream(stream);
        return status;
    }
    pthread_mutex_lock(&stream->lock);
    while (stream->state == STARTING)
        pthread_cond_wait(&stream->changed, &stream->lock);
    bool ended = stream->state == ENDED;
    pthread_mutex_unlock(&stream->lock);
    if (!ended || !stream->kept.close)
        return ended ? end_stream(session, error) : BRUME_OK;
    join(stream);
    stream->state = WAITING;
    return stream->end != BRUME_OK ? end_stream(session, error) : BRUME_OK;
}

brume_status brume_session_stream_open(brume_session *session, const char *command,
                                       const char *options, brume_error *error)
{
    BRUME_TRY(brume_session_begin(session, false, error));
    brume_status status = open_stream(session, command, options, error);
    brume_session_end(session);
    return status;
}

static brume_status tell_end(const brume_session_stream *stream, brume_error *error)
{
    if (stream->end == BRUME_OK)
        return brume_fail(error, BRUME_EHALTED, "open another one", "the stream has ended");
    if (error)
        *error = stream->end_error;
    return stream->end;
}

/* With the lock held. */
static brume_status fetch_answer(brume_session_stream *stream, char **answer, bool *halted,
                                 brume_error *error)
{
    if (stream->state == ENDED) /* while it was waiting: cancelled, or the ledger failed */
        return tell_end(stream, error);
    brume_status status = stream->status;
    bool over = stream->gone || stream->halted ||
                (status != BRUME_OK && !brume_stream_goes_on(status));
    if (status != BRUME_OK && error)
        *error = stream->error;
    if (status == BRUME_OK && halted)
        *halted = stream->halted;
    if (status == BRUME_OK)
        *answer = stream->answer;
    stream->answer = NULL;
    set_state(stream, over ? ENDED : WAITING);
    return status;
}

static brume_status ask_kept(brume_session_stream *stream, const char *question, char **answer,
                             bool *halted, brume_error *error)
{
    brume_error wrong = {0};
    if (stream->state == ENDED)
        return tell_end(stream, error);
    brume_status status =
        answer_question(&stream->call, &stream->kept, question, &stream->progress, answer, &wrong);
    if (status != BRUME_OK && !brume_stream_goes_on(status)) {
        stream->end = status;
        stream->end_error = wrong;
    }
    if (stream->end != BRUME_OK || stream->progress.halted)
        stream->state = ENDED;
    if (status == BRUME_OK && halted)
        *halted = stream->progress.halted;
    if (status != BRUME_OK && error)
        *error = wrong;
    return status;
}

static brume_status ask(brume_session_stream *stream, const char *question, char **answer,
                        bool *halted, brume_error *error)
{
    if (stream->kept.close)
        return ask_kept(stream, question, answer, halted, error);
    pthread_mutex_lock(&stream->lock);
    if (stream->state == WAITING) {
        stream->question = question;
        set_state(stream, ASKED);
    }
    while (stream->state == ASKED)
        pthread_cond_wait(&stream->changed, &stream->lock);
    brume_status status = fetch_answer(stream, answer, halted, error);
    pthread_mutex_unlock(&stream->lock);
    return status;
}

brume_status brume_session_stream_ask(brume_session *session, const char *question, char **answer,
                                      bool *halted, brume_error *error)
{
    char *text = NULL;
    BRUME_TRY(brume_session_begin(session, true, error));
    brume_status status = BRUME_OK;
    if (!session->stream)
        status = brume_fail(error, BRUME_EARGUMENT, "open one with brume_session_stream_open",
                            "no stream is open in this session");
    else
        status = ask(session->stream, question, &text, halted, error);
    brume_session_end(session);
    if (status == BRUME_OK && answer)
        *answer = text;
    else
        free(text);
    return status;
}

brume_status brume_session_stream_close(brume_session *session, brume_error *error)
{
    BRUME_TRY(brume_session_begin(session, true, error));
    brume_status status = session->stream ? end_stream(session, error) : BRUME_OK;
    brume_session_end(session);
    return status;
}

void brume_session_stream_drop(brume_session *session)
{
    if (!session->stream)
        return;
    if (session->process == getpid()) {
        brume_status status = end_stream(session, NULL);
        (void)status; /* whoever wants to know closes the stream */
        brume_session_watch_end(&session->watch);
        return;
    }
    session->stream->call.kept_count = 0; /* the ledger is the other process's to close */
    free_stream(session->stream);         /* its thread is not here */
    session->stream = NULL;
}
