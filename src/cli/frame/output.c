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
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "base/error.h"
#include "cli/frame/bar.h"
#include "cli/frame/pager.h"
#include "cli/frame/terminal.h"

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
        status = write_bytes(piece, brume_terminal_piece(&text, &length, piece), error);
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
        size_t size = brume_terminal_piece(&text, &length, piece);
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
    if (paged && brume_page(text, length))
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
