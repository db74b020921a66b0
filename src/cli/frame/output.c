/* Standard output and standard error of the command line.
 *
 * Promises: standard output gets a command's answer whole or, if the command failed, not at all
 * (only streams go line by line); an error goes to standard error alone; a standard output that is
 * closed or full is an error with exit code 5, never silence and never a signal. A terminal gets no
 * byte that it would obey but line ends, tabs and brume's own colours; a file or a pipe gets the
 * bytes as they are. */
#include "cli/frame/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"

/* The next piece of a text as a terminal gets it: its bytes, at most BRUME_TERMINAL_PIECE. Steps
 * over what it took. */
enum { BRUME_TERMINAL_PIECE = 4096 };

static bool page(const char *text, size_t length);

/* What a terminal gets: colour where it is wanted, and no character that it would obey. */

bool brume_terminal_wants_colour(void)
{
    const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(none && *none) && terminal && strcmp(terminal, "dumb") != 0;
}

/* The bytes at `text` that go to a terminal as they are. */
static size_t kept_on_terminal(const char *text, size_t length)
{
    /* what brume_bold, brume_dim and brume_plain write: in a name of the data it does no harm */
    static const char *const own[] = {"\n", "\t", "\033[0m", "\033[1m", "\033[2m"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        size_t most = strlen(own[i]);
        if (length >= most && memcmp(text, own[i], most) == 0 &&
            (own[i][0] != '\033' || brume_terminal_wants_colour()))
            return most;
    }
    return 0;
}

static size_t terminal_piece(const char **text, size_t *length, char piece[BRUME_TERMINAL_PIECE])
{
    size_t used = 0;
    while (*length > 0 && used + BRUME_VISIBLE_MOST <= BRUME_TERMINAL_PIECE) {
        size_t step = kept_on_terminal(*text, *length), shown = step;
        if (step > 0)
            memcpy(piece + used, *text, step);
        else
            step = brume_visible_character(*text, *length, piece + used, &shown);
        used += shown;
        *text += step;
        *length -= step;
    }
    return used;
}

brume_status brume_output_ready(brume_error *error)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is a full disk: an error, not a death */
    bool closed = fcntl(STDOUT_FILENO, F_GETFD) == -1 && errno == EBADF;
    for (int number = 0; number <= 2; number++)
        if (fcntl(number, F_GETFD) == -1 && errno == EBADF && open("/dev/null", O_RDWR) != number)
            return brume_fail(error, BRUME_EDISK, NULL, "cannot open /dev/null");
    if (closed)
        return brume_fail(error, BRUME_EDISK, "nothing was computed and nothing was spent",
                          "standard output is closed");
    return BRUME_OK;
}

static brume_status write_bytes(const char *text, size_t length, brume_error *error)
{
    while (length > 0) {
        ssize_t written = write(STDOUT_FILENO, text, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return brume_fail(error, BRUME_EDISK,
                              errno == EPIPE ? "its reader closed it before the end" : NULL,
                              "cannot write to standard output: %s", strerror(errno));
        text += written;
        length -= (size_t)written;
    }
    return BRUME_OK;
}

static brume_status write_all(const char *text, size_t length, brume_error *error)
{
    char piece[BRUME_TERMINAL_PIECE];
    brume_bar_wipe();
    if (!isatty(STDOUT_FILENO))
        return write_bytes(text, length, error);
    brume_status status = BRUME_OK;
    while (status == BRUME_OK && length > 0)
        status = write_bytes(piece, terminal_piece(&text, &length, piece), error);
    return status;
}

void brume_output_say(FILE *file, const char *text)
{
    char piece[BRUME_TERMINAL_PIECE];
    size_t length = strlen(text);
    bool terminal = isatty(fileno(file));
    if (!terminal)
        fputs(text, file);
    while (terminal && length > 0) {
        size_t size = terminal_piece(&text, &length, piece);
        fwrite(piece, 1, size, file);
    }
}

brume_status brume_output_write(void *context, const char *text, size_t length, brume_error *error)
{
    (void)context;
    return write_all(text, length, error);
}

static bool paged;

void brume_output_page_long_answers(void)
{
    paged = true;
}

brume_status brume_output_commit(const char *text, size_t length, brume_error *error)
{
    brume_bar_wipe();
    if (paged && page(text, length))
        return BRUME_OK;
    return write_all(text, length, error);
}

int brume_output_error(const char *command, bool json, uint64_t line, const brume_error *error)
{
    const char *hint = error->hint;
    json_t *object = json ? json_pack("{s:{s:s, s:s, s:s}}", "error", "code",
                                      brume_status_word(error->status), "message", error->message,
                                      "hint", hint)
                          : NULL;
    if (object && line > 0)
        json_object_set_new(object, "index", json_integer((json_int_t)line));
    char *text = object ? json_dumps(object, JSON_COMPACT) : NULL, place[40] = "";
    json_decref(object);
    if (line > 0)
        snprintf(place, sizeof place, ": line %" PRIu64, line);
    if (!text && asprintf(&text, "brume%s%s%s: %s%s%s", command ? " " : "", command ? command : "",
                          place, error->message, *hint ? "\n  hint: " : "", hint) < 0)
        text = NULL;
    brume_output_say(stderr, text ? text : error->message);
    fputc('\n', stderr);
    free(text);
    return brume_status_exit_code(error->status);
}

/* Progress on standard error. Promises: the header.
 *
 * Progress on standard error, for work over a second and only on a terminal: a bar where somebody
 * knows how much there is to do, else the time that has passed. What is shown follows from the
 * clock, from the phase of the call and from numbers that commands choose to tell. */

enum { BAR = 30 };

#define ERASE "\r\033[K"

/* The bar of the work that is running. */
static struct {
    pthread_mutex_t lock;
    bool running, terminal;
    atomic_bool shown;
    unsigned second; /* the last that was drawn */
    struct timespec start;
} bar = {.lock = PTHREAD_MUTEX_INITIALIZER};

static double seconds_between(struct timespec from, struct timespec to)
{
    return (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
}

/* stdio's lock may be held by a thread that hangs. */
static void draw(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return; /* it is only shown */
}

static void wipe(void)
{
    if (atomic_exchange(&bar.shown, false))
        draw(ERASE);
}

static void show(const char *label, uint64_t done, uint64_t total)
{
    struct timespec now;
    char text[256];
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!bar.running) {
        bar.running = true;
        bar.terminal = isatty(STDERR_FILENO);
        bar.start = now;
    }
    if (!bar.terminal || seconds_between(bar.start, now) < 1)
        return;
    if (total == 0) {
        snprintf(text, sizeof text, ERASE "%s: %llu", label, (unsigned long long)done);
    } else {
        double share = (double)done / (double)total;
        int full = (int)(share * BAR);
        snprintf(text, sizeof text, ERASE "%s [%.*s%*s] %3.0f %%", label, full,
                 "##############################", BAR - full, "", 100 * share);
    }
    atomic_store(&bar.shown, true);
    draw(text);
}

void brume_bar_show(void *context, const char *label, uint64_t done, uint64_t total)
{
    (void)context;
    pthread_mutex_lock(&bar.lock);
    if (label) {
        show(label, done, total);
    } else {
        bar.running = false;
        wipe();
    }
    pthread_mutex_unlock(&bar.lock);
}

/* Would a write be taken at once, and by whom this process belongs to? A stopped terminal would
 * hold the thread, and one in the foreground of others would stop the process. */
static bool takes_output(void)
{
    struct pollfd output = {.fd = STDERR_FILENO, .events = POLLOUT};
    return isatty(STDERR_FILENO) && tcgetpgrp(STDERR_FILENO) == getpgrp() &&
           poll(&output, 1, 0) == 1 && (output.revents & POLLOUT);
}

void brume_bar_time(const char *label, double seconds)
{
    char text[128];
    if (seconds < 1 || pthread_mutex_trylock(&bar.lock) != 0)
        return;
    if (!bar.running && bar.second != (unsigned)seconds && takes_output()) {
        bar.second = (unsigned)seconds;
        snprintf(text, sizeof text, ERASE "%s: %u s", label, bar.second);
        atomic_store(&bar.shown, true);
        draw(text);
    }
    pthread_mutex_unlock(&bar.lock);
}

void brume_bar_wipe(void)
{
    pthread_mutex_lock(&bar.lock);
    wipe();
    pthread_mutex_unlock(&bar.lock);
}

const char *brume_bar_eraser(void)
{
    return atomic_load(&bar.shown) ? ERASE : "";
}

/* A pager for answers that are longer than the terminal.
 *
 * A pager for answers that are longer than the terminal. */

static size_t lines_of(const char *text, size_t length)
{
    size_t lines = 0;
    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    return lines;
}

static bool is_longer_than_terminal(const char *text, size_t length)
{
    struct winsize size;
    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0)
        return false;
    return lines_of(text, length) >= size.ws_row;
}

/* Start `sh -c command` with its standard input from `input`, and with no signal blocked or
 * ignored: commands that pay block some (frame/run.c). */
static bool start(char *command, int input, pid_t *child)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGINT);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGXFSZ);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    char shell[] = "/bin/sh", option[] = "-c";
    char *words[] = {shell, option, command, NULL};
    bool started = posix_spawn(child, shell, &files, &attributes, words, environ) == 0;
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return started;
}

/* A pager that is left early closes the pipe; that is no error. */
static bool write_until_closed(int file, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t written = write(file, text, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        text += written;
        length -= (size_t)written;
    }
    return true;
}

/* As the terminal would get it: what a pager does not understand it passes on. */
static void write_to_pager(int file, const char *text, size_t length)
{
    char piece[BRUME_TERMINAL_PIECE];
    while (length > 0 && write_until_closed(file, piece, terminal_piece(&text, &length, piece)))
        ;
}

/* Show the text by $PAGER (else less) if standard output is a terminal with fewer lines than it
 * has, and wait until it was left; false if there is no terminal, no need or no pager, and nothing
 * was shown. */
static bool page(const char *text, size_t length)
{
    const char *chosen = getenv("PAGER");
    char *command = strdup(chosen && *chosen ? chosen : "less -FRX 2>/dev/null || cat");
    int ends[2];
    pid_t child = 0;
    if (!command || !is_longer_than_terminal(text, length) || pipe2(ends, O_CLOEXEC) != 0) {
        free(command);
        return false;
    }
    void (*interrupt)(int) = signal(SIGINT, SIG_IGN); /* the pager has its own use for Ctrl-C */
    bool started = start(command, ends[0], &child);
    close(ends[0]);
    if (started)
        write_to_pager(ends[1], text, length);
    close(ends[1]);
    while (started && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    signal(SIGINT, interrupt);
    free(command);
    return started;
}
