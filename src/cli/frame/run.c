/* Find the command, run it in a session, write the answer or the error. */
#include "cli/frame/run.h"

#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include <brume/session.h>
#include <brume/version.h>

#include "base/error.h"
#include "cli/client/remote.h"
#include "cli/frame/output.h"
#include "cli/frame/questions.h"

enum { BRUME_GRACE_SECONDS = 2 };

/* Ctrl-C and deadlines in a command that pays: it ends, soon, and says what became of the price.
 *
 * SIGINT, SIGTERM and the deadline are one thing: a wish to stop. While nothing is spent it ends
 * the process at once. Later it cancels the session's call and lets the ledger be written; what has
 * not ended by itself BRUME_GRACE_SECONDS after it is ended, whatever it hangs in, and a second
 * signal does not wait for that. In a command that neither pays nor has files to remove a signal
 * does what it does to any process. */

/* What is said when a call is ended in a phase, and while it takes long in it. */
static const struct {
    const char *rest, *hint, *meanwhile;
} said[] = {
    [BRUME_SESSION_IDLE] = {"nothing more was spent", "", NULL},
    [BRUME_SESSION_WORKING] = {"nothing was spent", "", NULL}, /* it may wait for what is typed */
    [BRUME_SESSION_STOPPABLE] = {"nothing was spent", "", "running"},
    [BRUME_SESSION_FREE] = {"nothing was spent", "", "preparing"},
    [BRUME_SESSION_RESERVING] = {"whether the price was spent is not known",
                                 "'brume history' shows it if it was", "charging the budget"},
    [BRUME_SESSION_RUNNING] = {"the price stays spent", "'brume history' shows it", "reading"},
    [BRUME_SESSION_SPENT] = {"the price stays spent", "'brume history' shows it", "recording"},
    [BRUME_SESSION_RECORDED] = {"the price stays spent",
                                "the answer is recorded: the same question again is free", NULL},
};

static struct {
    const char *command;
    bool json;
    int signals;     /* a descriptor */
    bool shows_time; /* while a call takes long; not in a stream, whose questions are typed */
    pthread_mutex_t lock;
    brume_session *session; /* guarded by the lock; NULL: it is closed */
} watched = {.lock = PTHREAD_MUTEX_INITIALIZER};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* ---- ending ---- */

/* Nothing but writing: stdio's own locks may be held for ever. */
static void end_process(brume_session_phase_word phase, const char *why)
{
    const char *rest = said[phase].rest, *hint = said[phase].hint;
    char text[512];
    if (watched.json)
        snprintf(text, sizeof text,
                 "%s{\"error\":{\"code\":\"%s\",\"message\":\"%s; %s\",\"hint\":\"%s\"}}\n",
                 brume_bar_eraser(), brume_status_word(BRUME_ECANCELLED), why, rest, hint);
    else
        snprintf(text, sizeof text, "%sbrume %s: %s; %s\n%s%s%s", brume_bar_eraser(),
                 watched.command, why, rest, *hint ? "  hint: " : "", hint, *hint ? "\n" : "");
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    _exit(written < 0 ? 1 : brume_status_exit_code(BRUME_ECANCELLED));
}

/* What the signal does to a process that does not care. */
static void die_by(int number)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    signal(number, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
    raise(number);
}

static void *cancel(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&watched.lock); /* a session that is being cancelled may not be closed */
    if (watched.session)
        brume_session_cancel(watched.session);
    pthread_mutex_unlock(&watched.lock);
    return NULL;
}

/* ---- waiting ---- */

/* Show how long a call has been running; `since` is when it was first seen to. */
static void show_time(brume_session *session, double *since)
{
    const char *meanwhile = said[brume_session_phase(session)].meanwhile;
    if (!meanwhile)
        *since = INFINITY;
    else if (isinf(*since))
        *since = now();
    else
        brume_bar_time(meanwhile, now() - *since);
}

/* Wait for a signal, so many seconds; 0: none came. */
static int wait_for_signal(double seconds)
{
    struct pollfd input = {.fd = watched.signals, .events = POLLIN};
    struct signalfd_siginfo signal;
    if (poll(&input, 1, (int)(seconds * 1000)) <= 0 ||
        read(watched.signals, &signal, sizeof signal) != sizeof signal)
        return 0;
    return (int)signal.ssi_signo;
}

/* A call that runs: `session` is open while it does, and its functions take no lock for long. */
static void look(brume_session *session, int number, bool *stopping, double *end)
{
    brume_session_phase_word phase = brume_session_phase(session);
    const char *why = brume_session_stopping(session);
    if (number && !*stopping && phase <= BRUME_SESSION_WORKING)
        die_by(number);
    if (number && *stopping)
        end_process(phase, why ? why : "interrupted");
    if (!number && !why)
        return;
    if (phase == BRUME_SESSION_FREE || (*stopping && now() >= *end))
        end_process(phase, why ? why : "interrupted");
    if (*stopping)
        return;
    *stopping = true;
    *end = now() + BRUME_GRACE_SECONDS;
    pthread_t thread;
    if (number && pthread_create(&thread, NULL, cancel, NULL) == 0)
        pthread_detach(thread);
}

/* A deadline is the session's: it is looked for several times a second. */
static void *guard(void *unused)
{
    (void)unused;
    bool stopping = false;
    double end = INFINITY, since = INFINITY;
    for (;;) {
        int number = wait_for_signal(0.05);
        bool free_lock = pthread_mutex_trylock(&watched.lock) == 0;
        /* it is held for long by `cancel` only, and then the session is open */
        if (watched.session)
            look(watched.session, number, &stopping, &end);
        else if (number)
            die_by(number);
        if (watched.session && watched.shows_time && free_lock)
            show_time(watched.session, &since);
        if (free_lock)
            pthread_mutex_unlock(&watched.lock);
    }
    return NULL;
}

/* Watch the calls of a session from now on; `command` is named in the message, which is JSON if
 * `json`. Once a process, before other threads are started: they must not get the signals. EMEMORY
 * if its own thread cannot be started. */
static brume_status interrupt_watch(brume_session *session, const char *command, bool json,
                                    brume_error *error)
{
    watched.session = session;
    watched.command = command;
    watched.json = json;
    watched.shows_time = strncmp(command, "stream ", 7) != 0;
    sigset_t both;
    sigemptyset(&both);
    sigaddset(&both, SIGINT);
    sigaddset(&both, SIGTERM);
    pthread_t thread;
    watched.signals = signalfd(-1, &both, SFD_CLOEXEC);
    if (watched.signals < 0 || pthread_sigmask(SIG_BLOCK, &both, NULL) != 0 ||
        pthread_create(&thread, NULL, guard, NULL) != 0)
        return brume_fail(error, BRUME_EMEMORY, NULL,
                          "out of memory for the thread that waits for signals");
    pthread_detach(thread);
    return BRUME_OK;
}

/* The session is about to be closed: its thread leaves it alone from now on. */
static void interrupt_end(void)
{
    pthread_mutex_lock(&watched.lock);
    watched.session = NULL;
    pthread_mutex_unlock(&watched.lock);
    brume_bar_wipe();
}

typedef struct words {
    int count;
    char **word;
    bool json; /* --json is among them, before -- */
    char *command, *options;
    const brume_own_command *own;
    brume_remote remote; /* a server, if one was named */
} words;

static bool ask_json(int count, char **word)
{
    for (int i = 0; i < count && strcmp(word[i], "--") != 0; i++)
        if (strcmp(word[i], "--json") == 0)
            return true;
    return false;
}

static brume_status write_version(bool json, brume_error *error)
{
    char text[100];
    snprintf(text, sizeof text, json ? "{\"version\": \"%s\"}\n" : "brume %s\n", BRUME_VERSION);
    return brume_output_commit(text, strlen(text), error);
}

/* In a session that nobody else uses. */
static brume_status run_in(brume_session *session, const words *all, brume_error *error)
{
    char *answer = NULL;
    size_t length = 0;
    if (strncmp(all->command, "stream ", 7) == 0 && all->options)
        return brume_questions_from_input(session, all->command, all->options, all->json, error);
    brume_status status = brume_session_run(session, all->count, (const char *const *)all->word,
                                            &answer, &length, error);
    if (status == BRUME_OK)
        status = brume_output_commit(answer, length, error);
    brume_free(answer);
    return status;
}

static void write_note(void *context, const char *line)
{
    (void)context;
    brume_output_say(stderr, line);
    fputc('\n', stderr);
}

static brume_status run_command(const words *all, brume_error *error)
{
    brume_session *session = NULL;
    brume_status status = brume_session_open(
        NULL,
        brume_terminal_wants_colour() ? "{\"input\": true, \"colour\": true}" : "{\"input\": true}",
        &session, error);
    if (status != BRUME_OK)
        return status;
    brume_session_on_progress(session, brume_bar_show, NULL);
    brume_session_on_text(session, brume_output_write, NULL);
    brume_session_on_note(session, write_note, NULL);
    status = interrupt_watch(session, all->command, all->json, error);
    if (status == BRUME_OK)
        status = run_in(session, all, error);
    interrupt_end();
    brume_session_close(session);
    return status;
}

static const brume_own_command *find_own(const words *all)
{
    const brume_own_command *own = all->own;
    while (own && own->name && strcmp(own->name, all->command) != 0)
        own++;
    return own && own->name ? own : NULL;
}

static brume_status run_remote(const words *all, brume_error *error)
{
    char *answer = NULL;
    size_t length = 0;
    brume_status status = brume_remote_run(&all->remote, all->command, all->options, all->json,
                                           &answer, &length, error);
    if (status == BRUME_OK) {
        status = brume_output_commit(answer, length, error);
    } else if (answer) { /* of a script that ended midway: it is paid for */
        brume_error lost;
        if (brume_output_write(NULL, answer, length, &lost) != BRUME_OK)
            status = lost.status, *error = lost;
    }
    free(answer);
    return status;
}

/* The server of the shell, for the commands that it starts: its children have it too. */
static brume_remote of_the_shell;

/* Options of brume itself, which stand before the command. */
static brume_status take_server(words *all, brume_error *error)
{
    int used = 0;
    brume_status status = brume_remote_read(all->count, all->word, &all->remote, &used, error);
    all->count -= used;
    all->word += used;
    if (!all->remote.url)
        all->remote = of_the_shell;
    return status;
}

/* Run what the words say. */
static brume_status run_words(words *all, brume_error *error)
{
    brume_status read = take_server(all, error);
    if (read != BRUME_OK)
        return read;
    static char shell_word[] = "shell", *shell[] = {shell_word};
    if (all->count == 0 && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) {
        all->count = 1; /* "brume" alone on a terminal */
        all->word = shell;
    }
    if (all->count > 0 &&
        (strcmp(all->word[0], "--version") == 0 || strcmp(all->word[0], "-V") == 0))
        return write_version(all->json, error);
    brume_status status = brume_session_words(all->count, (const char *const *)all->word,
                                              &all->command, &all->options, error);
    if (!all->command)
        return status;
    bool is_remote = false;
    if (all->remote.url && status == BRUME_OK)
        status = brume_remote_takes(all->command, &is_remote, error);
    if (all->remote.url && status != BRUME_OK)
        return status; /* nothing runs here that was meant for there */
    bool is_stream = strncmp(all->command, "stream ", 7) == 0;
    if (is_remote && is_stream && strstr(all->options, "\"no-ledger\""))
        is_remote = false; /* it has no dataset, and runs here */
    if (is_remote && is_stream)
        return brume_remote_stream(&all->remote, all->command, all->options, all->json, error);
    if (is_remote)
        return run_remote(all, error);
    of_the_shell = all->remote;
    const brume_own_command *own = find_own(all);
    if (own && status != BRUME_OK)
        return status;
    /* JSON cannot say all that words can: what is wrong with others the command itself tells */
    return own ? own->run(all->options, error) : run_command(all, error);
}

int brume_run_words(int count, char **word, const brume_own_command *own)
{
    words all = {.count = count, .word = word, .json = ask_json(count, word), .own = own};
    brume_error error = {0};
    brume_status status = brume_output_ready(&error);
    if (status == BRUME_OK)
        status = run_words(&all, &error);
    int code = status == BRUME_OK ? 0 : brume_output_error(all.command, all.json, 0, &error);
    brume_free(all.command);
    brume_free(all.options);
    return code;
}
