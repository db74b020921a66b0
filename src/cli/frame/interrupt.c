/* Ctrl-C and deadlines: see the header.
 *
 * The signals are blocked everywhere, and a thread of its own waits for them and looks at the
 * session. It takes no lock that an engine, the ledger or a server could keep from it, so that it
 * can always end the process. Calls are cancelled on a further thread, because that may wait for a
 * server. The process may end anywhere: a killed process leaves a ledger that holds. */
#include "cli/frame/interrupt.h"

#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/frame/bar.h"

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

brume_status brume_interrupt_watch(brume_session *session, const char *command, bool json,
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

void brume_interrupt_end(void)
{
    pthread_mutex_lock(&watched.lock);
    watched.session = NULL;
    pthread_mutex_unlock(&watched.lock);
    brume_bar_wipe();
}
