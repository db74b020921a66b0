/* A pager for answers that are longer than the terminal. */
#include "cli/frame/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/frame/terminal.h"

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
 * ignored: commands that pay block some (frame/interrupt.c). */
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
    while (length > 0 &&
           write_until_closed(file, piece, brume_terminal_piece(&text, &length, piece)))
        ;
}

bool brume_page(const char *text, size_t length)
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
