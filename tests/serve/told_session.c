/* Sessions that do as they are told, in place of the library's. */
#include "told_session.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <brume/session.h>
#include <jansson.h>

#include "check.h"
#include "serve/pool_state.h"

struct brume_session {
    char user[64];
    atomic_bool begun, cancelled;
    atomic_int phase;
    void (*tell)(void *context, brume_session_phase_word phase);
    void *tell_context;
    brume_status (*take)(void *context, const char *text, size_t length, brume_error *error);
    void *take_context;
};

struct told_sessions sessions;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

void nap(double seconds)
{
    struct timespec time = {(time_t)seconds, (long)((seconds - floor(seconds)) * 1e9)};
    nanosleep(&time, NULL);
}

brume_status brume_session_open(const char *ledger, const char *options, brume_session **out,
                                brume_error *error)
{
    (void)ledger;
    json_t *object = json_loads(options ? options : "{}", 0, NULL);
    const char *user = json_string_value(json_object_get(object, "user"));
    brume_status status = BRUME_OK;
    if (user && strcmp(user, "removed") == 0) {
        status = BRUME_EPOLICY;
        error->status = status;
    } else {
        brume_session *session = calloc(1, sizeof *session);
        assert_non_null(session);
        snprintf(session->user, sizeof session->user, "%s", user ? user : "");
        atomic_fetch_add(&sessions.opened, 1);
        *out = session;
    }
    json_decref(object);
    return status;
}

void brume_session_close(brume_session *session)
{
    if (session)
        atomic_fetch_add(&sessions.closed, 1);
    free(session);
}

void brume_session_cancel(brume_session *session)
{
    while (atomic_load(&sessions.cancelling_takes_long))
        nap(0.005);
    if (atomic_load(&session->begun))
        atomic_store(&session->cancelled, true);
    else
        atomic_store(&sessions.not_begun, false);
}

const char *brume_session_stopping(const brume_session *session)
{
    return atomic_load(&((brume_session *)(uintptr_t)session)->cancelled) ? "interrupted" : NULL;
}

brume_session_phase_word brume_session_phase(const brume_session *session)
{
    return (brume_session_phase_word)atomic_load(&((brume_session *)(uintptr_t)session)->phase);
}

void brume_free(void *memory)
{
    free(memory);
}

void brume_session_on_phase(brume_session *session,
                            void (*tell)(void *context, brume_session_phase_word phase),
                            void *context)
{
    session->tell = tell;
    session->tell_context = context;
}

void brume_session_on_text(brume_session *session,
                           brume_status (*take)(void *context, const char *text, size_t length,
                                                brume_error *error),
                           void *context)
{
    session->take = take;
    session->take_context = context;
}

void brume_session_on_public(brume_session *session,
                             brume_status (*ask)(void *context, const char *sql, char **json,
                                                 brume_error *error),
                             void *context)
{
    (void)session, (void)ask, (void)context;
}

void brume_session_on_released(brume_session *session,
                               brume_status (*run)(void *context, const char *work, char **json,
                                                   brume_error *error),
                               void *context)
{
    (void)session, (void)run, (void)context;
}

brume_status brume_session_run_released(const char *work, char **json, brume_error *error)
{
    (void)work, (void)json, (void)error;
    return BRUME_EUNSUPPORTED;
}

static void raise_to(atomic_int *most, int value)
{
    int now = atomic_load(most);
    while (now < value && !atomic_compare_exchange_weak(most, &now, value))
        ;
}

/* Do what the options say (told_session.h). */
static brume_status obey(brume_session *session, const json_t *told, char **answer,
                         brume_error *error)
{
    const char *dataset = json_string_value(json_object_get(told, "dataset"));
    int of = dataset && strcmp(dataset, "b") == 0;
    if (json_is_true(json_object_get(told, "late"))) {
        atomic_store(&sessions.not_begun, true);
        while (atomic_load(&sessions.not_begun))
            nap(0.005);
    }
    atomic_store(&session->begun, true);
    int now = atomic_fetch_add(&sessions.running[of], 1) + 1;
    raise_to(&sessions.most_running, now + atomic_load(&sessions.running[!of]));
    if (!of)
        raise_to(&sessions.most_of_a, now);
    pthread_mutex_lock(&log_lock);
    const char *say = json_string_value(json_object_get(told, "say"));
    strncat(sessions.order, say ? say : "", sizeof sessions.order - strlen(sessions.order) - 1);
    pthread_mutex_unlock(&log_lock);
    double rest = json_number_value(json_object_get(told, "nap"));
    bool hang = json_is_true(json_object_get(told, "hang"));
    atomic_store(&session->phase, BRUME_SESSION_RUNNING);
    if (hang)
        atomic_fetch_add(&sessions.hangs, 1);
    while (hang ? !atomic_load(&sessions.release_all)
                : rest > 0 && !atomic_load(&session->cancelled)) {
        nap(0.005);
        rest -= 0.005;
    }
    if (json_is_true(json_object_get(told, "record")) && session->tell) {
        session->tell(session->tell_context, BRUME_SESSION_SPENT);
        sessions.recorded = brume_pool_now();
    }
    const char *part = json_string_value(json_object_get(told, "part"));
    if (part)
        assert_int_equal(session->take(session->take_context, part, strlen(part), error), BRUME_OK);
    if (json_object_get(told, "phase") && session->tell)
        session->tell(session->tell_context,
                      (brume_session_phase_word)json_integer_value(json_object_get(told, "phase")));
    atomic_fetch_sub(&sessions.running[of], 1);
    if (json_is_true(json_object_get(told, "refuse"))) {
        error->status = BRUME_EBUDGET;
        return error->status;
    }
    if (json_is_true(json_object_get(told, "fail")) ||
        (!hang && atomic_load(&session->cancelled))) {
        error->status = BRUME_ECANCELLED;
        snprintf(error->message, sizeof error->message, "interrupted; the price stays spent");
        return error->status;
    }
    *answer = strdup(json_is_true(json_object_get(told, "cached")) ? "{\"cached\": true}" : "{}");
    return BRUME_OK;
}

brume_status brume_session_call(brume_session *session, const char *command, const char *options,
                                char **answer, brume_error *error)
{
    if (strcmp(command, "datasets") == 0 && !options) {
        *answer = strdup("{\"datasets\": [{\"name\": \"\\\"a\\\"\"}, {\"name\": \"\\\"b\\\"\"}]}");
        return BRUME_OK;
    }
    json_t *told = json_loads(options, 0, NULL);
    assert_non_null(told);
    brume_status status = obey(session, told, answer, error);
    json_decref(told);
    return status;
}

brume_status brume_session_query(brume_session *session, const char *sql, const char *options,
                                 struct ArrowArrayStream *rows, char **json, brume_error *error)
{
    (void)sql, (void)rows;
    return brume_session_call(session, "query", options, json, error);
}

brume_status brume_session_explain(brume_session *session, const char *sql, const char *options,
                                   char **json, brume_error *error)
{
    (void)sql;
    return brume_session_call(session, "explain", options, json, error);
}
