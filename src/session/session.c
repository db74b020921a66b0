/* Sessions: open, call by name, cancel, close. Promises: <brume/session.h>. */
#include "session/state.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <brume/version.h>

#include "base/error.h"
#include "engine/libduckdb.h"
#include "command/frame/call.h"
#include "command/frame/output.h"
#include "command/role.h"
#include "query/release/outer.h"

brume_status brume_session_load_duckdb(const char *path, brume_error *error)
{
    return brume_libduckdb_load_from(path, error);
}

const char *brume_session_version(void)
{
    return BRUME_VERSION;
}

void brume_free(void *memory)
{
    free(memory);
}

/* ---- what commands ask of their host ---- */

static brume_status take_text(void *context, const char *text, size_t length, brume_error *error)
{
    const brume_session *session = context;
    return session->take(session->take_context, text, length, error);
}

static void tell_note(void *context, const char *line)
{
    const brume_session *session = context;
    session->note(session->note_context, line);
}

static void tell_progress(void *context, const char *label, uint64_t done, uint64_t total)
{
    const brume_session *session = context;
    session->tell(session->tell_context, label, done, total);
}

static brume_status watch_call(void *context, const brume_call *call, bool only_noted,
                               const brume_watch **watch, brume_error *error)
{
    brume_session *session = context;
    return brume_session_watch_call(&session->watch, brume_call_real(call, "timeout", 0),
                                    only_noted, watch, error);
}

void brume_session_on_progress(brume_session *session,
                               void (*tell)(void *context, const char *label, uint64_t done,
                                            uint64_t total),
                               void *context)
{
    session->tell = tell;
    session->tell_context = context;
    session->host.progress = tell ? tell_progress : NULL;
}

void brume_session_on_phase(brume_session *session,
                            void (*tell)(void *context, brume_session_phase_word phase),
                            void *context)
{
    session->watch.tell = tell;
    session->watch.tell_context = context;
}

void brume_session_on_text(brume_session *session,
                           brume_status (*take)(void *context, const char *text, size_t length,
                                                brume_error *error),
                           void *context)
{
    session->take = take;
    session->take_context = context;
    session->host.write = take ? take_text : NULL;
}

void brume_session_on_note(brume_session *session, void (*note)(void *context, const char *line),
                           void *context)
{
    session->note = note;
    session->note_context = context;
    session->host.note = note ? tell_note : NULL;
}

void brume_session_on_public(brume_session *session,
                             brume_status (*ask)(void *context, const char *sql, char **json,
                                                 brume_error *error),
                             void *context)
{
    session->elsewhere.ask = ask;
    session->elsewhere.context = context;
    session->host.elsewhere = ask || session->elsewhere.run ? &session->elsewhere : NULL;
}

void brume_session_on_released(brume_session *session,
                               brume_status (*run)(void *context, const char *work, char **json,
                                                   brume_error *error),
                               void *context)
{
    session->elsewhere.run = run;
    session->elsewhere.run_context = context;
    session->host.elsewhere = run || session->elsewhere.ask ? &session->elsewhere : NULL;
}

brume_status brume_session_run_released(const char *work, char **json, brume_error *error)
{
    return brume_outer_call(work, json, error);
}

/* ---- opening ---- */

typedef struct open_options {
    bool colour, must_exist, input;
    char *user; /* the caller frees it */
    uint64_t issued;
} open_options;

/* "user" and "issued"; *taken says whether it was one of them. */
static brume_status read_user(const char *key, const json_t *value, open_options *out, bool *taken,
                              brume_error *error)
{
    *taken = strcmp(key, "user") == 0 || strcmp(key, "issued") == 0;
    if (!*taken)
        return BRUME_OK;
    if (strcmp(key, "issued") == 0) {
        if (!json_is_integer(value) || json_integer_value(value) < 0)
            return brume_fail(error, BRUME_EARGUMENT, NULL, "'issued' must be a row's number");
        out->issued = (uint64_t)json_integer_value(value);
        return BRUME_OK;
    }
    if (!json_is_string(value) || !*json_string_value(value))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'user' must be a name");
    free(out->user);
    out->user = strdup(json_string_value(value));
    return out->user ? BRUME_OK : brume_no_memory(error, "the session");
}

static brume_status read_options(const char *text, open_options *out, brume_error *error)
{
    json_t *options = NULL, *value;
    const char *key;
    brume_status status = BRUME_OK;
    BRUME_TRY(brume_options_parse(text, &options, error));
    json_object_foreach (options, key, value) {
        bool taken = false;
        status = read_user(key, value, out, &taken, error);
        if (status != BRUME_OK)
            break;
        if (taken)
            continue;
        bool *place = strcmp(key, "colour") == 0       ? &out->colour
                      : strcmp(key, "must_exist") == 0 ? &out->must_exist
                      : strcmp(key, "input") == 0      ? &out->input
                                                       : NULL;
        if (place && json_is_boolean(value))
            *place = json_is_true(value);
        else if (place)
            status = brume_fail(error, BRUME_EARGUMENT, NULL, "'%s' must be true or false", key);
        else
            status = brume_fail(error, BRUME_EUNKNOWN,
                                "one of: colour, input, issued, must_exist, user",
                                "unknown option '%.100s' of a session", key);
    }
    json_decref(options);
    if (status != BRUME_OK) {
        free(out->user);
        out->user = NULL;
    }
    return status;
}

static brume_status open_to_read(const brume_session *session, brume_ledger **out,
                                 brume_error *error)
{
    const char *path = session->ledger ? session->ledger : getenv("BRUME_LEDGER");
    return brume_ledger_open(path && *path ? path : "brume.db", BRUME_LEDGER_READ, out, error);
}

static brume_status check_ledger(brume_session *session, brume_error *error)
{
    brume_ledger *ledger = NULL;
    BRUME_TRY(brume_session_begin(session, false, error));
    brume_status status = open_to_read(session, &ledger, error);
    brume_ledger_close(ledger);
    brume_session_end(session);
    return status;
}

brume_status brume_session_open(const char *ledger, const char *options, brume_session **out,
                                brume_error *error)
{
    open_options typed = {0};
    if (!out)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "there is no place for the session");
    BRUME_TRY(read_options(options, &typed, error));
    brume_session *session = calloc(1, sizeof *session);
    char *path = ledger && *ledger ? strdup(ledger) : NULL;
    brume_status status = session && (path || !ledger || !*ledger)
                              ? brume_session_watch_open(&session->watch, error)
                              : brume_no_memory(error, "the session");
    if (status != BRUME_OK) {
        free(typed.user);
        free(path);
        free(session);
        return status;
    }
    session->process = getpid();
    session->ledger = path;
    session->user = typed.user;
    session->colour = typed.colour;
    session->host = (brume_host){.reads_input = typed.input,
                                 .ledger = path,
                                 .user = typed.user,
                                 .issued = typed.issued,
                                 .watch = watch_call,
                                 .context = session};
    status = typed.must_exist ? check_ledger(session, error) : BRUME_OK;
    if (status != BRUME_OK)
        brume_session_close(session);
    else
        *out = session;
    return status;
}

void brume_session_close(brume_session *session)
{
    if (!session)
        return;
    brume_session_stream_drop(session);
    if (session->process == getpid()) /* in a child it would wait for a thread that is not there */
        brume_session_watch_close(&session->watch);
    free(session->ledger);
    free(session->user);
    free(session);
}

/* ---- around a call ---- */

brume_status brume_session_begin(brume_session *session, bool in_stream, brume_error *error)
{
    if (!session)
        return brume_fail(error, BRUME_EARGUMENT, "open one with brume_session_open",
                          "there is no session");
    if (session->process != getpid())
        return brume_fail(error, BRUME_EARGUMENT, "open a session of its own after the fork",
                          "the session belongs to another process");
    if (session->stream && !in_stream)
        return brume_fail(error, BRUME_EARGUMENT, "close it first, or open one more session",
                          "a stream is open in this session");
    if (atomic_exchange(&session->busy, true))
        return brume_fail(error, BRUME_EARGUMENT, "open a session for each thread",
                          "the session is in use by another thread");
    brume_status status = brume_environment_enter(&session->environment, error);
    if (status != BRUME_OK)
        atomic_store(&session->busy, false);
    else if (!in_stream)
        brume_session_watch_begin(&session->watch);
    return status;
}

void brume_session_end(brume_session *session)
{
    if (!session->stream)
        brume_session_watch_end(&session->watch);
    brume_environment_leave(&session->environment);
    atomic_store(&session->busy, false);
}

void brume_session_cancel(brume_session *session)
{
    if (session && session->process == getpid())
        brume_session_watch_cancel(&session->watch);
}

brume_session_phase_word brume_session_phase(const brume_session *session)
{
    if (!session || session->process != getpid())
        return BRUME_SESSION_IDLE;
    return brume_session_watch_phase((brume_session_watch *)(uintptr_t)&session->watch);
}

const char *brume_session_stopping(const brume_session *session)
{
    if (!session || session->process != getpid())
        return NULL;
    return brume_session_watch_stopping((brume_session_watch *)(uintptr_t)&session->watch);
}

/* ---- a call ---- */

brume_status brume_session_admit(const brume_session *session, const brume_call *call,
                                 brume_error *error)
{
    brume_ledger *ledger = NULL;
    brume_role role = BRUME_ROLE_NONE;
    if (!session->user)
        return BRUME_OK;
    BRUME_TRY(open_to_read(session, &ledger, error));
    brume_status status = brume_ledger_check_user(ledger, session->user, session->host.issued,
                                                  (int64_t)time(NULL), &role, error);
    brume_ledger_close(ledger);
    return status == BRUME_OK ? brume_role_check(role, call, error) : status;
}

brume_status brume_session_command(const char *name, const brume_command **out, brume_error *error)
{
    char text[100], *second = NULL;
    int used = 0;
    if (!name || !*name)
        return brume_fail(error, BRUME_EARGUMENT, "for example 'budget'", "a command is missing");
    *out = brume_command_by_name(name);
    if (*out)
        return BRUME_OK;
    snprintf(text, sizeof text, "%.99s", name);
    second = strchr(text, ' ');
    if (second)
        *second++ = 0;
    const brume_command *found = NULL;
    BRUME_TRY(brume_find_command(second ? 2 : 1, (char *[]){text, second}, &found, &used, error));
    return brume_fail(error, BRUME_EUNKNOWN, "see 'help'", "unknown command '%.100s'", name);
}

brume_status brume_session_call_open(brume_session *session, const brume_command *command,
                                     const char *options, const char *name, const char *value,
                                     brume_call *call, brume_error *error)
{
    json_t *object = NULL;
    *call = (brume_call){.host = &session->host, .colour = session->colour};
    BRUME_TRY(brume_options_parse(options, &object, error));
    brume_status status = BRUME_OK;
    if (name && json_object_get(object, name))
        status =
            brume_fail(error, BRUME_EARGUMENT, NULL, "'%s' is not an option of this call", name);
    else if (name && !value)
        status = brume_fail(error, BRUME_EARGUMENT, NULL, "'%s' is missing", name);
    else if (name && json_object_set_new(object, name, json_string(value)) != 0)
        status = brume_fail(error, BRUME_EARGUMENT, NULL, "'%s' is not UTF-8", name);
    if (status == BRUME_OK)
        status = brume_call_from_json(command, object, call, error);
    json_decref(object);
    if (status == BRUME_OK)
        status = brume_session_admit(session, call, error);
    if (status == BRUME_OK)
        status = brume_call_open_output(call, error);
    return status;
}

void brume_session_call_close(brume_call *call)
{
    brume_call_close(call);
    brume_call_close_output(call);
}

brume_status brume_session_call_answer(brume_call *call, char **answer, brume_error *error)
{
    BRUME_TRY(brume_call_output(call, error));
    char *text = malloc(call->buffer_length + 1);
    if (!text)
        return brume_no_memory(error, "the answer");
    memcpy(text, call->buffer, call->buffer_length);
    text[call->buffer_length] = 0;
    *answer = text;
    return BRUME_OK;
}

static brume_status refuse_stream(const brume_command *command, brume_error *error)
{
    return brume_fail(error, BRUME_EUNSUPPORTED, "open it as a stream, then ask",
                      "'%s' answers questions one by one, not in one call", command->name);
}

brume_status brume_session_call_run(brume_call *call, char **answer, brume_error *error)
{
    if (call->command->answer)
        return refuse_stream(call->command, error);
    BRUME_TRY(call->command->run(call, error));
    return brume_session_call_answer(call, answer, error);
}

static brume_status run(brume_session *session, const char *name, const char *options,
                        char **answer, brume_error *error)
{
    const brume_command *command = NULL;
    brume_call call;
    BRUME_TRY(brume_session_command(name, &command, error));
    if (command->answer)
        return refuse_stream(command, error);
    brume_status status =
        brume_session_call_open(session, command, options, NULL, NULL, &call, error);
    if (status == BRUME_OK)
        status = brume_session_call_run(&call, answer, error);
    brume_session_call_close(&call);
    return status;
}

brume_status brume_session_call(brume_session *session, const char *command, const char *options,
                                char **answer, brume_error *error)
{
    char *text = NULL;
    BRUME_TRY(brume_session_begin(session, false, error));
    brume_status status = run(session, command, options, &text, error);
    brume_session_end(session);
    if (status != BRUME_OK)
        return status;
    if (answer)
        *answer = text;
    else
        free(text);
    return BRUME_OK;
}
