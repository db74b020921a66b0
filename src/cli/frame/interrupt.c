/* Ctrl-C and deadlines: see the header.
 *
 * The signals are blocked everywhere, and a thread of its own waits for them and for the deadline.
 * It takes no lock that an engine, the ledger or a server could keep from it, so that it can always
 * end the process. Engines are cancelled on a further thread, because that may wait for a server.
 * The process may end anywhere: a killed process leaves a ledger that holds. */
#include "cli/frame/interrupt.h"

#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"

static const struct {
    const char *rest, *hint;
} said[] = {
    [BRUME_PHASE_FREE] = {"nothing was spent", ""},
    [BRUME_PHASE_RESERVING] = {"whether the price was spent is not known",
                               "'brume history' shows it if it was"},
    [BRUME_PHASE_RUNNING] = {"the price stays spent", "'brume history' shows it"},
    [BRUME_PHASE_SPENT] = {"the price stays spent", "'brume history' shows it"},
    [BRUME_PHASE_RECORDED] = {"the price stays spent",
                              "the answer is recorded: the same question again is free"},
};

/* `lock` guards what is below it, and is held for moments only. */
static struct {
    const brume_call *call;
    bool only_noted;
    double start;      /* all times: seconds of the monotonic clock */
    int signals, wake; /* descriptors */
    pthread_mutex_t lock;
    brume_phase phase;
    const char *why; /* why it is to stop; NULL: it is not */
    double deadline; /* infinite: none */
    char late[64];   /* what is said once it has passed */
} watched = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The engine that may be cancelled. `engine_lock` is held while it is. */
static pthread_mutex_t engine_lock = PTHREAD_MUTEX_INITIALIZER;
static brume_engine *running;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* ---- ending ---- */

/* With the lock held. Nothing but writing: stdio's own locks may be held for ever. */
static void end_process(void)
{
    const char *rest = said[watched.phase].rest, *hint = said[watched.phase].hint;
    const brume_call *call = watched.call;
    char text[512];
    if (call->json)
        snprintf(text, sizeof text,
                 "{\"error\":{\"code\":\"%s\",\"message\":\"%s; %s\",\"hint\":\"%s\"}}\n",
                 brume_status_word(BRUME_ECANCELLED), watched.why, rest, hint);
    else
        snprintf(text, sizeof text, "brume %s: %s; %s\n%s%s%s", call->command->name, watched.why,
                 rest, *hint ? "  hint: " : "", hint, *hint ? "\n" : "");
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    _exit(written < 0 ? 1 : brume_status_exit_code(BRUME_ECANCELLED));
}

static void *cancel_engine(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&engine_lock);
    if (running)
        brume_engine_cancel(running);
    pthread_mutex_unlock(&engine_lock);
    return NULL;
}

/* The first wish to stop, or one more. */
static void want_stop(const char *why)
{
    pthread_mutex_lock(&watched.lock);
    bool again = watched.why != NULL;
    if (!again)
        watched.why = why;
    if (again || (watched.phase == BRUME_PHASE_FREE && !watched.only_noted))
        end_process();
    pthread_mutex_unlock(&watched.lock);
    pthread_t thread;
    if (pthread_create(&thread, NULL, cancel_engine, NULL) == 0)
        pthread_detach(thread);
}

/* ---- waiting ---- */

/* Wait for a signal until then; false: the time is over, or there is a new deadline. */
static bool wait_for_signal(double until)
{
    struct pollfd both[] = {{.fd = watched.signals, .events = POLLIN},
                            {.fd = watched.wake, .events = POLLIN}};
    double left = until - now();
    left = left > 0 ? left : 0;
    struct timespec time = {0};
    if (left < 1e9) {
        time.tv_sec = (time_t)left;
        time.tv_nsec = (long)((left - floor(left)) * 1e9);
    }
    if (ppoll(both, 2, left < 1e9 ? &time : NULL, NULL) <= 0)
        return false;
    uint64_t woken;
    if (both[1].revents && read(watched.wake, &woken, sizeof woken) < 0)
        return false;
    struct signalfd_siginfo signal;
    return both[0].revents && read(watched.signals, &signal, sizeof signal) == sizeof signal;
}

/* Until the deadline, and after the first wish to stop until the end of the grace. */
static void *guard(void *unused)
{
    (void)unused;
    bool stopping = false;
    double end = INFINITY;
    for (;;) {
        bool asked = wait_for_signal(end);
        pthread_mutex_lock(&watched.lock);
        if (!stopping)
            end = watched.deadline;
        pthread_mutex_unlock(&watched.lock);
        if (!asked && now() < end)
            continue;
        want_stop(asked ? "interrupted" : watched.late);
        stopping = true;
        end = now() + BRUME_GRACE_SECONDS;
    }
    return NULL;
}

/* ---- the watch ---- */

static void enter(void *context, brume_phase phase, brume_engine *engine)
{
    (void)context;
    pthread_mutex_lock(&engine_lock); /* an engine that is being cancelled may not be closed */
    running = engine;
    pthread_mutex_unlock(&engine_lock);
    pthread_mutex_lock(&watched.lock);
    watched.phase = phase;
    if (phase == BRUME_PHASE_RECORDED)
        watched.deadline = INFINITY;
    pthread_mutex_unlock(&watched.lock);
}

static const char *stopped(void *context)
{
    (void)context;
    pthread_mutex_lock(&watched.lock);
    const char *why = watched.why;
    pthread_mutex_unlock(&watched.lock);
    return why;
}

static void limit(void *context, double seconds)
{
    (void)context;
    pthread_mutex_lock(&watched.lock);
    if (!watched.why && watched.start + seconds < watched.deadline) {
        watched.deadline = watched.start + seconds;
        snprintf(watched.late, sizeof watched.late, "the deadline of %g s has passed", seconds);
    }
    pthread_mutex_unlock(&watched.lock);
    uint64_t one = 1;
    ssize_t written = write(watched.wake, &one, sizeof one);
    (void)written; /* a counter: it cannot be full */
}

static brume_status start(const brume_call *call, bool only_noted, const brume_watch **out,
                          brume_error *error)
{
    static brume_watch watch = {.enter = enter, .stopped = stopped, .limit = limit};
    watch.timeout = brume_call_real(call, "timeout", 0);
    watched.call = call;
    watched.only_noted = only_noted;
    watched.start = now();
    watched.deadline = INFINITY;
    sigset_t both;
    sigemptyset(&both);
    sigaddset(&both, SIGINT);
    sigaddset(&both, SIGTERM);
    pthread_t thread;
    watched.signals = signalfd(-1, &both, SFD_CLOEXEC);
    watched.wake = eventfd(0, EFD_CLOEXEC);
    if (watched.signals < 0 || watched.wake < 0 || pthread_sigmask(SIG_BLOCK, &both, NULL) != 0 ||
        pthread_create(&thread, NULL, guard, NULL) != 0)
        return brume_no_memory(error, "the thread that waits for signals");
    pthread_detach(thread);
    if (watch.timeout > 0)
        limit(NULL, watch.timeout);
    *out = &watch;
    return BRUME_OK;
}

brume_status brume_interrupt_watch(const brume_call *call, const brume_watch **watch,
                                   brume_error *error)
{
    return start(call, false, watch, error);
}

brume_status brume_interrupt_note(const brume_call *call, const brume_watch **watch,
                                  brume_error *error)
{
    return start(call, true, watch, error);
}

brume_status brume_interrupt_check(const brume_call *call, brume_error *error)
{
    if (!brume_call_has(call, "no-ledger") || !brume_call_has(call, "timeout"))
        return BRUME_OK;
    return brume_fail(error, BRUME_EARGUMENT, "leave it out: Ctrl-C ends it, and nothing is spent",
                      "'--timeout' is for registered datasets");
}
