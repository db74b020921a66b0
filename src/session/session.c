/* Sessions: open, call by name, cancel, close. Promises: <brume/session.h>. */
#include "session/state.h"

#include <fenv.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <brume/session.h>
#include <brume/status.h>
#include <brume/version.h>

#include "base/error.h"
#include "base/text.h"
#include "command/frame/call.h"
#include "command/frame/help.h"
#include "command/frame/output.h"
#include "command/role.h"
#include "engine/libduckdb.h"
#include "number/ball.h"
#include "query/release/outer.h"
#include "query/release/spend.h"

static brume_status session_admit(const brume_session *session, const brume_call *call,
                                  brume_error *error);
static brume_status session_call_run(brume_call *call, char **answer, brume_error *error);

/* The locale and the floating-point environment of a call.
 *
 * The locale and the floating-point environment of a call: those that brume was proven and tested
 * in, whatever the host has set.
 *
 * A host may have set a locale whose decimals have a comma, a rounding mode, or the mode in which
 * subnormal numbers are 0 (libraries that are compiled with -ffast-math set it when they are
 * loaded): certified bounds hold in none of these. */

brume_status brume_environment_enter(brume_environment *before, brume_error *error)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain)
        return brume_no_memory(error, NULL);
    if (fegetenv(&before->floats) != 0 || fesetenv(FE_DFL_ENV) != 0) {
        freelocale(plain);
        return brume_fail(error, BRUME_EINTERNAL, NULL,
                          "the floating-point environment cannot be set");
    }
    brume_thread_caches_free_at_end();
    before->plain = plain;
    before->locale = uselocale(plain);
    return BRUME_OK;
}

void brume_environment_leave(const brume_environment *before)
{
    uselocale(before->locale);
    freelocale(before->plain);
    fesetenv(&before->floats);
}

/* The watch of a session's calls. Promises: state.h.
 *
 * The watch of a session's calls: cancelled from any thread, or by their deadline.
 *
 * Its thread, which runs only while there is a deadline, ends nothing but the call: a library
 * cannot end its host. */

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

/* From any thread. */
static void session_watch_cancel(brume_session_watch *watch)
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

static brume_session_phase_word session_watch_phase(brume_session_watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    brume_session_phase_word phase = watch->phase;
    pthread_mutex_unlock(&watch->lock);
    return phase;
}

static const char *session_watch_stopping(brume_session_watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    const char *why = watch->phase == BRUME_SESSION_IDLE ? NULL : watch->why;
    pthread_mutex_unlock(&watch->lock);
    return why;
}

/* The words of a command line: which command and which options they say. */

/* What is made of the words, both of the caller's once they are there. */
typedef struct said {
    char *command, *options;
} said;

static brume_status put(said *out, const char *command, json_t *options, brume_error *error)
{
    free(out->command);
    out->command = strdup(command);
    out->options = options ? json_dumps(options, JSON_COMPACT) : NULL;
    json_decref(options);
    return out->command && out->options ? BRUME_OK : brume_no_memory(error, NULL);
}

/* The command "help" of `name`, which may be of two words, or of none. */
static brume_status put_help(said *out, const char *name, bool json, brume_error *error)
{
    json_t *list = json_array();
    const char *space = name ? strchr(name, ' ') : NULL;
    bool good = list != NULL;
    if (name && space)
        good = good &&
               json_array_append_new(list, json_stringn(name, (size_t)(space - name))) == 0 &&
               json_array_append_new(list, json_string(space + 1)) == 0;
    else if (name)
        good = good && json_array_append_new(list, json_string(name)) == 0;
    if (!good) {
        json_decref(list);
        return brume_no_memory(error, NULL);
    }
    return put(out, "help", json_pack("{s:b,s:o}", "json", json, "command", list), error);
}

static bool is_family(const char *word)
{
    size_t count;
    const brume_command *const *commands = brume_commands(&count);
    for (size_t i = 0; i < count; i++)
        if (brume_command_is_of(commands[i], word))
            return true;
    return false;
}

static brume_status missing(brume_error *error)
{
    return brume_fail(error, BRUME_EARGUMENT, "see 'brume help'", "a command is missing");
}

static bool is_utf8(int count, char **words)
{
    for (int i = 0; i < count; i++)
        if (!brume_utf8_is_text(words[i], strlen(words[i])))
            return false;
    return true;
}

static brume_status read_words(int count, char **words, said *out, brume_error *error)
{
    int at = 0, used = 0;
    bool json = brume_words_ask_json(count, words), help = false;
    while (at < count && strcmp(words[at], "--json") == 0)
        at++; /* `brume --json noise ...` is what people type too */
    if (at == count)
        return missing(error);
    if (brume_is_help(words[at]))
        return put_help(out, NULL, json, error);
    if (count - at >= 2 && brume_is_help(words[at + 1]) && is_family(words[at]))
        return put_help(out, words[at], json, error);
    const brume_command *found = NULL;
    brume_call call = {.json = json};
    BRUME_TRY(brume_find_command(count - at, words + at, &found, &used, error));
    out->command = strdup(found->name);
    if (!out->command)
        return brume_no_memory(error, NULL);
    brume_status status =
        brume_call_parse(found, count - at - used, words + at + used, &call, &help, error);
    if (status == BRUME_OK && !help && !is_utf8(count, words))
        status = brume_fail(error, BRUME_EARGUMENT, NULL, "a word is not valid UTF-8");
    else if (status == BRUME_OK)
        status = help ? put_help(out, found->name, json, error)
                      : put(out, found->name, brume_call_to_json(&call), error);
    brume_call_close(&call);
    return status;
}

brume_status brume_session_words(int count, const char *const *words, char **command,
                                 char **options, brume_error *error)
{
    said made = {0};
    brume_status status = read_words(count, (char **)(uintptr_t)words, &made, error);
    if (made.command)
        *command = made.command;
    if (status == BRUME_OK)
        *options = made.options;
    else
        free(made.options);
    return status;
}

/* ---- running them ---- */

/* Help, or the call that the words make; its output is open. */
static brume_status run_call(const brume_session *session, int count, char **words,
                             brume_call *call, char **answer, brume_error *error)
{
    int at = 0, used = 0;
    bool help = false;
    while (at < count && strcmp(words[at], "--json") == 0)
        at++;
    if (at == count)
        return missing(error);
    const brume_command *found = NULL;
    brume_status status = BRUME_OK;
    if (brume_is_help(words[at])) {
        status = brume_write_overview(call, error);
    } else if (!(count - at >= 2 && brume_is_help(words[at + 1]) &&
                 brume_write_family_help(call, words[at], &status, error))) {
        BRUME_TRY(brume_find_command(count - at, words + at, &found, &used, error));
        BRUME_TRY(
            brume_call_parse(found, count - at - used, words + at + used, call, &help, error));
        if (!help) {
            BRUME_TRY(session_admit(session, call, error));
            return session_call_run(call, answer, error);
        }
        status = brume_write_help(call, found, error);
    }
    return status == BRUME_OK ? brume_session_call_answer(call, answer, error) : status;
}

brume_status brume_session_run(brume_session *session, int count, const char *const *words,
                               char **answer, size_t *length, brume_error *error)
{
    char *text = NULL, **all = (char **)(uintptr_t)words;
    BRUME_TRY(brume_session_begin(session, false, error));
    brume_call call = {.host = &session->host,
                       .colour = session->colour,
                       .json = brume_words_ask_json(count, all)};
    brume_status status = brume_call_open_output(&call, error);
    if (status == BRUME_OK)
        status = run_call(session, count, all, &call, &text, error);
    if (status == BRUME_OK && length)
        *length = call.buffer_length;
    brume_session_call_close(&call);
    brume_session_end(session);
    if (status == BRUME_OK && answer)
        *answer = text;
    else
        free(text);
    return status;
}

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
        session_watch_cancel(&session->watch);
}

brume_session_phase_word brume_session_phase(const brume_session *session)
{
    if (!session || session->process != getpid())
        return BRUME_SESSION_IDLE;
    return session_watch_phase((brume_session_watch *)(uintptr_t)&session->watch);
}

const char *brume_session_stopping(const brume_session *session)
{
    if (!session || session->process != getpid())
        return NULL;
    return session_watch_stopping((brume_session_watch *)(uintptr_t)&session->watch);
}

/* ---- a call ---- */

/* May the session's user make this call? BRUME_OK where it has none. EPOLICY. */
static brume_status session_admit(const brume_session *session, const brume_call *call,
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
        status = session_admit(session, call, error);
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

/* Run it; EUNSUPPORTED, before anything is charged, for a stream. */
static brume_status session_call_run(brume_call *call, char **answer, brume_error *error)
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
        status = session_call_run(&call, answer, error);
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
