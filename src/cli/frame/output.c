/* Standard output and standard error of the command line.
 *
 * Promises: standard output gets a command's answer whole or, if the command failed, not at all
 * (only streams go line by line); an error goes to standard error alone; a standard output that is
 * closed or full is an error with exit code 5, never silence and never a signal. */
#include "cli/frame/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "cli/frame/fail.h"
#include "cli/frame/pager.h"

brume_status brume_output_ready(brume_error *error)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is a full disk: an error, not a death */
    bool closed = fcntl(STDOUT_FILENO, F_GETFD) == -1 && errno == EBADF;
    for (int number = 0; number <= 2; number++)
        if (fcntl(number, F_GETFD) == -1 && errno == EBADF && open("/dev/null", O_RDWR) != number)
            return brume_cli_fail(error, BRUME_EDISK, NULL, "cannot open /dev/null");
    if (closed)
        return brume_cli_fail(error, BRUME_EDISK, "nothing was computed and nothing was spent",
                              "standard output is closed");
    return BRUME_OK;
}

bool brume_output_wants_colour(void)
{
    const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(none && *none) && terminal && strcmp(terminal, "dumb") != 0;
}

static brume_status write_all(const char *text, size_t length, brume_error *error)
{
    while (length > 0) {
        ssize_t written = write(STDOUT_FILENO, text, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return brume_cli_fail(error, BRUME_EDISK,
                                  errno == EPIPE ? "its reader closed it before the end" : NULL,
                                  "cannot write to standard output: %s", strerror(errno));
        text += written;
        length -= (size_t)written;
    }
    return BRUME_OK;
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
    if (paged && brume_page(text, length))
        return BRUME_OK;
    return write_all(text, length, error);
}

int brume_output_error(const char *command, bool json, const brume_error *error)
{
    int exit_code = brume_status_exit_code(error->status);
    json_t *object = json ? json_pack("{s:{s:s, s:s, s:s}}", "error", "code",
                                      brume_status_word(error->status), "message", error->message,
                                      "hint", error->hint)
                          : NULL;
    if (object) {
        json_dumpf(object, stderr, JSON_COMPACT);
        fputc('\n', stderr);
        json_decref(object);
        return exit_code;
    }
    fprintf(stderr, "brume%s%s: %s\n", command ? " " : "", command ? command : "", error->message);
    if (error->hint[0])
        fprintf(stderr, "  hint: %s\n", error->hint);
    return exit_code;
}
